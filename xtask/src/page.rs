//! Pages of the documentation, in which a part between two marks is written by a program.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

/// The lines around what is written.
pub(crate) struct Marks {
    pub(crate) begin: &'static str,
    pub(crate) end: &'static str,
}

impl Marks {
    /// Returns the page with another text between the marks.
    ///
    /// # Errors
    ///
    /// Fails when a mark is missing.
    pub(crate) fn replace(&self, page: &str, text: &str) -> Result<String> {
        let parts = page
            .split_once(self.begin)
            .and_then(|(before, rest)| Some((before, rest.split_once(self.end)?.1)));
        let (before, after) =
            parts.with_context(|| format!("no place for it: {}{}", self.begin, self.end))?;
        Ok(format!("{before}{}{text}{}{after}", self.begin, self.end))
    }

    /// Writes a text between the marks of a page; tells whether that changed the page.
    ///
    /// # Errors
    ///
    /// Fails when the page cannot be read or written, or a mark is missing.
    pub(crate) fn write(&self, page: &Path, text: &str) -> Result<bool> {
        let name = page.display();
        let old = fs::read_to_string(page).with_context(|| format!("failed to read {name}"))?;
        let new = self.replace(&old, text).with_context(|| name.to_string())?;
        if old != new {
            fs::write(page, &new).with_context(|| format!("failed to write {name}"))?;
        }
        Ok(old != new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_between_the_marks_changes() {
        let marks = Marks {
            begin: "<!-- begin -->\n",
            end: "<!-- end -->\n",
        };
        let page = |text: &str| format!("# Title\n\n<!-- begin -->\n{text}<!-- end -->\n\nMore.\n");
        let folder = tempfile::tempdir().expect("make a folder");
        let file = folder.path().join("page.md");
        fs::write(&file, page("old\n")).expect("write the page");
        assert!(marks.write(&file, "new\n").expect("it has its marks"));
        assert_eq!(fs::read_to_string(&file).expect("read it"), page("new\n"));
        assert!(!marks.write(&file, "new\n").expect("it has its marks"));
        let error = marks
            .replace("# Title\n", "new\n")
            .expect_err("it has none");
        assert!(error.to_string().contains("<!-- begin -->"), "{error}");
    }
}
