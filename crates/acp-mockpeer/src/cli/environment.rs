//! Variables of the environment that change what the mock agent does.
//!
//! They are read once, and what is not exactly one of the accepted values is
//! refused: a mock that guesses makes tests that prove nothing.

use std::ffi::OsString;
use std::path::PathBuf;

/// What the environment says.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Environment {
    /// Exit at once with this code.
    pub(super) exit_code: Option<u8>,
    /// Write a line that is no JSON first.
    pub(super) malformed_output: bool,
    /// Exit as soon as the first message was written.
    pub(super) die_after_init: bool,
    /// Play this scenario.
    pub(super) script: Option<PathBuf>,
}

impl Environment {
    /// Reads the environment of this process.
    pub(super) fn read() -> Result<Self, String> {
        Self::from(|name| std::env::var_os(name))
    }

    fn from(variable: impl Fn(&str) -> Option<OsString>) -> Result<Self, String> {
        // Empty is as good as unset.
        let value = |name: &str| variable(name).filter(|value| !value.is_empty());
        let text = |name: &str| match value(name).map(OsString::into_string) {
            None => Ok(None),
            Some(Ok(text)) => Ok(Some(text)),
            Some(Err(_)) => Err(format!("{name} is not UTF-8")),
        };
        let flag = |name: &str| match text(name)?.as_deref() {
            None => Ok(false),
            Some("1") => Ok(true),
            Some(other) => Err(format!("{name}={other}: only 1 is accepted")),
        };
        let exit_code = match text("ACP_MOCK_EXIT_CODE")? {
            None => None,
            Some(code) => {
                let digits = code.bytes().all(|byte| byte.is_ascii_digit());
                let number = code.parse().ok().filter(|_| digits);
                let number = number.ok_or_else(|| {
                    format!("ACP_MOCK_EXIT_CODE={code}: only 0 to 255 are accepted")
                })?;
                Some(number)
            }
        };
        Ok(Self {
            exit_code,
            malformed_output: flag("ACP_MOCK_MALFORMED_OUTPUT")?,
            die_after_init: flag("ACP_MOCK_DIE_AFTER_INIT")?,
            script: value("ACP_MOCK_SCRIPT").map(PathBuf::from),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, value: &str, expected: &Result<Environment, &str>) {
        let read = Environment::from(|asked| (asked == name).then(|| value.into()));
        let read = read.as_ref().map_err(String::as_str);
        assert_eq!(read, expected.as_ref().map_err(|error| *error));
    }

    #[test]
    fn exactly_what_is_accepted() {
        let none = || Ok(Environment::default());
        let code = |exit_code| {
            Ok(Environment {
                exit_code: Some(exit_code),
                ..Environment::default()
            })
        };
        let name = "ACP_MOCK_EXIT_CODE";
        check(name, "", &none());
        check(name, "0", &code(0));
        check(name, "255", &code(255));
        for bad in ["256", "-1", "+1", "1 ", "one", "1.0"] {
            let error = format!("{name}={bad}: only 0 to 255 are accepted");
            check(name, bad, &Err(&error));
        }
        for name in ["ACP_MOCK_MALFORMED_OUTPUT", "ACP_MOCK_DIE_AFTER_INIT"] {
            check(name, "", &none());
            for bad in ["0", "true", "yes", "01", " 1"] {
                check(
                    name,
                    bad,
                    &Err(&format!("{name}={bad}: only 1 is accepted")),
                );
            }
        }
        check(
            "ACP_MOCK_MALFORMED_OUTPUT",
            "1",
            &Ok(Environment {
                malformed_output: true,
                ..Environment::default()
            }),
        );
        check(
            "ACP_MOCK_DIE_AFTER_INIT",
            "1",
            &Ok(Environment {
                die_after_init: true,
                ..Environment::default()
            }),
        );
        check(
            "ACP_MOCK_SCRIPT",
            "a.acpt",
            &Ok(Environment {
                script: Some("a.acpt".into()),
                ..Environment::default()
            }),
        );
        check("ACP_MOCK_OTHER", "x", &none());
    }
}
