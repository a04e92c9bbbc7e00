//! What a read gives.

use std::fs::{self, File};
use std::io::Write as _;

use acp_client::{MissingFiles, WorkspaceFiles};

use crate::support::{Tree, ok, refused};

/// Empty files too (B097).
#[tokio::test]
async fn text_comes_byte_by_byte() {
    let tree = Tree::new();
    let files = tree.files().await;
    let path = tree.at("ws/app/text");
    for text in [
        "",
        "\n",
        "a\r\nb\r\n",
        "a\nb",
        "\u{feff}a\n\n",
        "a\0b\u{1b}[0m",
    ] {
        fs::write(&path, text).unwrap();
        assert_eq!(files.read(&path).await, ok(text));
        assert_eq!(files.lines(&path, 1, None).await, ok(text));
    }
    fs::write(&path, "a\r\nb\r\nc").unwrap();
    assert_eq!(files.lines(&path, 2, 1).await, ok("b\r\n"));
    assert_eq!(files.lines(&path, 2, None).await, ok("b\r\nc"));
    assert_eq!(files.lines(&path, None, 1).await, ok("a\r\n"));
    assert_eq!(files.lines(&path, None, 0).await, ok(""));
    assert_eq!(files.lines(&path, 9, 1).await, ok(""));
}

#[tokio::test]
async fn lines_of_a_huge_file_are_read_without_the_rest() {
    let tree = Tree::new();
    let path = tree.at("ws/app/huge");
    let mut huge = File::create(&path).unwrap();
    for line in 1..=20 {
        writeln!(huge, "line {line}").unwrap();
    }
    huge.set_len(3 << 30).unwrap();
    let files = tree.files().await;
    let lines = files.lines(&path, 1, 10).await.unwrap();
    assert_eq!(lines.lines().count(), 10);
    assert!(lines.ends_with("line 10\n"));
    assert_eq!(files.lines(&path, 20, 1).await, ok("line 20\n"));
    let too_large = refused("more than 10485760");
    assert_eq!(files.read(&path).await, too_large);
    assert_eq!(files.lines(&path, 21, None).await, too_large);
}

#[tokio::test]
async fn the_bound_is_for_the_answer() {
    let tree = Tree::new();
    let files = tree.files_by(WorkspaceFiles::new().with_max_read(8)).await;
    let path = tree.at("ws/app/text");
    fs::write(&path, "1234567\n").unwrap();
    assert_eq!(files.read(&path).await, ok("1234567\n"));
    fs::write(&path, "1234567\n2345678\n").unwrap();
    assert_eq!(files.read(&path).await, refused("more than 8"));
    assert_eq!(files.lines(&path, 2, 1).await, ok("2345678\n"));
}

#[tokio::test]
async fn what_is_no_text_is_said_to_be_none() {
    let tree = Tree::new();
    let files = tree.files().await;
    let path = tree.at("ws/app/data");
    fs::write(&path, b"text\n\xff\xfe\nmore\n").unwrap();
    assert_eq!(files.read(&path).await, refused("no text"));
    assert_eq!(files.lines(&path, 2, 1).await, refused("no text"));
    assert_eq!(files.lines(&path, 1, 1).await, ok("text\n"));
    assert_eq!(files.lines(&path, 3, None).await, ok("more\n"));
}

#[tokio::test]
async fn a_missing_file_answers_as_the_option_says() {
    let tree = Tree::new();
    let names = ["none", "src/none", "no/such/folder", "src/main.rs/none"];
    let files = tree.files().await;
    for name in names {
        let path = tree.at("ws/app").join(name);
        assert_eq!(files.read(&path).await, refused("not found"), "{name}");
    }
    let options = WorkspaceFiles::new().with_missing_files(MissingFiles::Empty);
    let files = tree.files_by(options).await;
    for name in names {
        let path = tree.at("ws/app").join(name);
        assert_eq!(files.read(&path).await, ok(""), "{name}");
        assert_eq!(files.lines(&path, 3, 1).await, ok(""), "{name}");
    }
    assert_eq!(files.read(tree.at("out/none")).await, refused("outside"));
    assert_eq!(files.read(tree.at("ws/app/src")).await, refused("no file"));
    assert_eq!(tree.names("ws/app"), ["src"], "nothing is made by reading");
}
