//! Puts the scenarios of the suite into the crate.
//!
//! A list by hand would be forgotten; a macro would not see new files.

use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let root = env::var("CARGO_MANIFEST_DIR").map_err(io::Error::other)?;
    let out = env::var("OUT_DIR").map_err(io::Error::other)?;
    let mut text = String::new();
    for side in ["agent", "client"] {
        let folder = Path::new(&root).join("suite").join(side);
        println!("cargo::rerun-if-changed={}", folder.display());
        let mut files = Vec::new();
        for entry in fs::read_dir(&folder)? {
            files.push(entry?.path());
        }
        files.retain(|file| file.extension().is_some_and(|ending| ending == "acpt"));
        files.sort();
        text.push_str(&format!(
            "const {}: &[(&str, &str)] = &[\n",
            side.to_uppercase()
        ));
        for file in files {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            text.push_str(&format!(
                "    ({:?}, include_str!({:?})),\n",
                format!("{side}/{name}"),
                file.display().to_string(),
            ));
        }
        text.push_str("];\n");
    }
    fs::write(Path::new(&out).join("suite.rs"), text)
}
