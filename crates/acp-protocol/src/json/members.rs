//! The members of an object and the elements of an array, one by one, each as its text.

use std::borrow::Cow;

use super::reader::{Reader, Result};

/// Goes through the members of an object.
///
/// It makes sure that each value is JSON, up to the depth that can be decoded; of one that
/// is nested deeper it only finds the end.
pub(crate) struct Members<'a> {
    reader: Reader<'a>,
    is_first: bool,
}

/// Begins to go through the members of an object; `None` where the text is of another
/// kind.
pub(crate) fn members(text: &str) -> Option<Members<'_>> {
    let mut reader = Reader::new(text);
    reader.take(b'{').then_some(Members {
        reader,
        is_first: true,
    })
}

impl<'a> Members<'a> {
    /// The next member, or `None` behind the last.
    ///
    /// # Errors
    ///
    /// Fails where the text is no JSON.
    pub(crate) fn next(&mut self) -> Result<Option<(Cow<'a, str>, &'a str)>> {
        let is_first = std::mem::take(&mut self.is_first);
        if self.reader.take(b'}') {
            return Ok(None);
        }
        if !is_first {
            self.reader.expect(b',')?;
        }
        let key = self.reader.name()?;
        self.reader.expect(b':')?;
        Ok(Some((key, self.reader.value()?)))
    }

    /// The value of the last member of this name; `None` where there is none.
    ///
    /// # Errors
    ///
    /// Fails where the text is no JSON.
    pub(crate) fn find(mut self, name: &str) -> Result<Option<&'a str>> {
        let mut found = None;
        while let Some((key, value)) = self.next()? {
            if key == name {
                found = Some(value);
            }
        }
        Ok(found)
    }

    /// The text behind the object, once its last member was read.
    pub(crate) fn rest(&self) -> &'a str {
        self.reader.rest()
    }
}

/// Goes through the elements of an array, as [`Members`] through an object.
pub(crate) struct Elements<'a> {
    reader: Reader<'a>,
    is_first: bool,
}

/// Begins to go through the elements of an array; `None` where the text is of another
/// kind.
pub(crate) fn elements(text: &str) -> Option<Elements<'_>> {
    let mut reader = Reader::new(text);
    reader.take(b'[').then_some(Elements {
        reader,
        is_first: true,
    })
}

impl<'a> Elements<'a> {
    /// The next element, or `None` behind the last.
    ///
    /// # Errors
    ///
    /// Fails where the text is no JSON.
    pub(crate) fn next(&mut self) -> Result<Option<&'a str>> {
        let is_first = std::mem::take(&mut self.is_first);
        if self.reader.take(b']') {
            return Ok(None);
        }
        if !is_first {
            self.reader.expect(b',')?;
        }
        self.reader.value().map(Some)
    }
}
