//! A program that is executed after a fork, without memory being asked for there.
//!
//! `unsafe` for `execve` itself, which takes arrays of pointers.
#![allow(unsafe_code)]

use std::ffi::{CString, OsStr};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::ptr;

/// A program with its arguments and environment, as `execve` takes them.
pub(super) struct Image {
    program: CString,
    args: Pointers,
    variables: Pointers,
}

/// Strings and the array of pointers to them, with a null behind the last.
struct Pointers {
    pointers: Vec<*const libc::c_char>,
    /// Owns what the pointers point to, which does not move with this vector.
    _strings: Vec<CString>,
}

// SAFETY: the pointers point to the strings beside them, which nobody changes.
unsafe impl Send for Pointers {}
// SAFETY: as above.
unsafe impl Sync for Pointers {}

impl Image {
    pub(super) fn shell(script: &str) -> io::Result<Self> {
        let args = vec![
            c"sh".to_owned(),
            c"-c".to_owned(),
            CString::new(script)?,
            c"acp-orphan-guard".to_owned(),
        ];
        Ok(Self::new(c"/bin/sh".to_owned(), args, Vec::new()))
    }

    pub(super) fn new(program: CString, args: Vec<CString>, variables: Vec<CString>) -> Self {
        Self {
            program,
            args: Pointers::new(args),
            variables: Pointers::new(variables),
        }
    }

    /// Returns only when it does not work.
    pub(super) fn execute(&self) -> io::Error {
        let (args, variables) = (
            self.args.pointers.as_ptr(),
            self.variables.pointers.as_ptr(),
        );
        // SAFETY: strings with a NUL behind and arrays with a null behind, all alive.
        unsafe { libc::execve(self.program.as_ptr(), args, variables) };
        io::Error::last_os_error()
    }
}

impl Pointers {
    fn new(strings: Vec<CString>) -> Self {
        let pointers = strings.iter().map(|string| string.as_ptr());
        Self {
            pointers: pointers.chain([ptr::null()]).collect(),
            _strings: strings,
        }
    }
}

pub(super) fn c_string(text: &OsStr) -> io::Result<CString> {
    Ok(CString::new(text.as_bytes())?)
}
