//! What a write does.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

use acp_client::WorkspaceFiles;

use crate::support::{Tree, ok, refused};

fn mode(tree: &Tree, below: &str) -> u32 {
    tree.at(below).metadata().unwrap().mode() & 0o7777
}

#[tokio::test]
async fn a_write_makes_what_is_missing_and_leaves_nothing_else() {
    let tree = Tree::new();
    let files = tree.files().await;
    files.write(tree.at("ws/app/new"), "text").await.unwrap();
    files.write(tree.at("ws/app/a/b/c"), "").await.unwrap();
    files
        .write(tree.at("ws/app/src/main.rs"), "fn main() {}\r\n")
        .await
        .unwrap();
    assert_eq!(tree.text("ws/app/new"), "text");
    assert_eq!(tree.text("ws/app/a/b/c"), "");
    assert_eq!(tree.text("ws/app/src/main.rs"), "fn main() {}\r\n");
    assert_eq!(tree.names("ws/app"), ["a", "new", "src"]);
    assert_eq!(tree.names("ws/app/src"), ["main.rs"]);
    assert_eq!(tree.names("ws/app/a/b"), ["c"]);
    // Like any file that is made here.
    tree.put("ws/app/like", "");
    assert_eq!(mode(&tree, "ws/app/new"), mode(&tree, "ws/app/like"));
}

#[tokio::test]
async fn a_write_keeps_the_mode() {
    let tree = Tree::new();
    let files = tree.files().await;
    for (set, kept) in [
        (0o755, 0o755),
        (0o640, 0o640),
        (0o600, 0o600),
        (0o4755, 0o755),
    ] {
        let path = tree.at("ws/app/src/main.rs");
        fs::set_permissions(&path, Permissions::from_mode(set)).unwrap();
        files.write(&path, "x").await.unwrap();
        assert_eq!(mode(&tree, "ws/app/src/main.rs"), kept, "{set:o}");
    }
}

#[tokio::test]
async fn a_write_keeps_the_owner_where_it_may() {
    let tree = Tree::new();
    let path = tree.at("ws/app/src/main.rs");
    if std::os::unix::fs::chown(&path, Some(4321), Some(1234)).is_err() {
        return; // Only a privileged process can make the case.
    }
    let files = tree.files().await;
    files.write(&path, "x").await.unwrap();
    let now = path.metadata().unwrap();
    assert_eq!((now.uid(), now.gid()), (4321, 1234));
}

#[tokio::test]
async fn a_file_that_may_not_be_written_is_not_replaced() {
    let tree = Tree::new();
    let path = tree.at("ws/app/src/main.rs");
    fs::set_permissions(&path, Permissions::from_mode(0o444)).unwrap();
    if fs::OpenOptions::new().write(true).open(&path).is_ok() {
        return; // To a privileged process the mode says nothing.
    }
    let files = tree.files().await;
    let refusal = files.write(&path, "x").await.unwrap_err();
    assert!(refusal.contains("PermissionDenied"), "{refusal}");
    assert_eq!(tree.text("ws/app/src/main.rs"), "inside");
    assert_eq!(tree.names("ws/app/src"), ["main.rs"]);
}

#[tokio::test]
async fn a_write_has_a_bound() {
    let tree = Tree::new();
    let files = tree.files_by(WorkspaceFiles::new().with_max_write(4)).await;
    let path = tree.at("ws/app/new");
    assert_eq!(files.write(&path, "12345").await, refused("more than 4"));
    assert!(!path.exists());
    files.write(&path, "1234").await.unwrap();
    let default = tree.files().await;
    let most = "x".repeat(10 << 20);
    default.write(&path, &most).await.unwrap();
    assert_eq!(default.read(&path).await, ok(&most));
    let more = format!("{most}x");
    let refusal = default.write(&path, &more).await;
    assert_eq!(refusal, refused("more than 10485760"));
    assert_eq!(default.read(&path).await, ok(&most));
}

#[tokio::test]
async fn whoever_has_the_file_open_keeps_the_old_text() {
    let tree = Tree::new();
    let files = tree.files().await;
    let path = tree.at("ws/app/src/main.rs");
    let old = fs::File::open(&path).unwrap();
    files.write(&path, "new").await.unwrap();
    assert_eq!(std::io::read_to_string(old).unwrap(), "inside");
    assert_eq!(tree.text("ws/app/src/main.rs"), "new");
}
