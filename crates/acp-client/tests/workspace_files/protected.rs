//! Writes to paths that grant rights or run code.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use acp_client::{ProtectedPaths, ProtectedWrite, WorkspaceFiles};

use crate::support::{Tree, ok, refused};

const GIT: &str = "protected: version control runs commands and hooks that are named there";

#[tokio::test]
async fn protected_paths_are_not_written() {
    let tree = Tree::new();
    fs::create_dir_all(tree.at("ws/app/.git/hooks")).unwrap();
    tree.put("ws/app/.git/config", "mine");
    tree.link("ws/app/innocent", ".git");
    tree.link("ws/app/later", ".git/hooks/pre-commit");
    tree.link("ws/app/settings", tree.at("ws/app/.git/config"));
    let files = tree.files().await;
    for path in [
        ".git/config",
        ".GIT/config",
        ".git/hooks/pre-commit",
        "src/.git/config",
        "innocent/config",
        "settings",
    ] {
        let path = tree.at("ws/app").join(path);
        assert_eq!(files.write(&path, "evil").await, refused(GIT), "{path:?}");
    }
    for path in [
        ".acp.toml",
        ".envrc",
        ".vscode/tasks.json",
        ".github/workflows/x.yml",
    ] {
        let written = files.write(tree.at("ws/app").join(path), "evil").await;
        assert!(written.unwrap_err().starts_with("protected: "), "{path}");
    }
    // A link to nothing is followed nowhere.
    let later = files.write(tree.at("ws/app/later"), "evil").await;
    assert_eq!(later, refused("dangling"));
    assert_eq!(tree.text("ws/app/.git/config"), "mine");
    assert_eq!(tree.names("ws/app/.git/hooks"), [""; 0]);
    // Nothing was made on the way either.
    assert_eq!(
        tree.names("ws/app"),
        [".git", "innocent", "later", "settings", "src"]
    );
    assert_eq!(files.read(tree.at("ws/app/.git/config")).await, ok("mine"));
}

#[tokio::test]
async fn another_name_of_a_protected_file_is_not_written_through() {
    let tree = Tree::new();
    tree.put("ws/app/.acp.toml", "mine");
    fs::hard_link(tree.at("ws/app/.acp.toml"), tree.at("ws/app/notes")).unwrap();
    let files = tree.files().await;
    files.write(tree.at("ws/app/notes"), "text").await.unwrap();
    assert_eq!(tree.text("ws/app/.acp.toml"), "mine");
}

#[tokio::test]
async fn more_paths_can_be_protected() {
    let tree = Tree::new();
    let protected = ProtectedPaths::new().with("src").unwrap();
    let files = WorkspaceFiles::new().with_protected_paths(protected);
    let files = tree.files_by(files).await;
    let written = files.write(tree.at("ws/app/src/main.rs"), "x").await;
    assert!(written.unwrap_err().ends_with("it was declared protected"));
    files.write(tree.at("ws/app/other"), "x").await.unwrap();
}

#[tokio::test]
async fn a_person_allows_each_by_its_name() {
    let tree = Tree::new();
    let (yes, asked) = (
        Arc::new(AtomicBool::new(true)),
        Arc::new(AtomicUsize::new(0)),
    );
    let target = tree.at("ws/app/.git/config").canonicalize();
    assert!(target.is_err(), "there is none yet");
    let person = {
        let (yes, asked) = (Arc::clone(&yes), Arc::clone(&asked));
        move |write: ProtectedWrite| {
            let (yes, asked) = (Arc::clone(&yes), Arc::clone(&asked));
            async move {
                assert!(write.target.ends_with("ws/app/.git/config"));
                assert_eq!(&*write.content, "text");
                asked.fetch_add(1, Ordering::Relaxed);
                yes.load(Ordering::Relaxed)
            }
        }
    };
    let files = WorkspaceFiles::new().with_protected_writes(person);
    let files = tree.files_by(files).await;
    let path = tree.at("ws/app/.git/config");
    files.write(&path, "text").await.unwrap();
    files.write(&path, "text").await.unwrap();
    assert_eq!(tree.text("ws/app/.git/config"), "text");
    assert_eq!(asked.load(Ordering::Relaxed), 2, "a yes is for one write");
    yes.store(false, Ordering::Relaxed);
    tree.put("ws/app/.git/config", "mine");
    let written = files.write(&path, "text").await;
    assert_eq!(written, refused("denied"));
    assert_eq!(tree.text("ws/app/.git/config"), "mine");
    files.write(tree.at("ws/app/plain"), "x").await.unwrap();
    assert_eq!(asked.load(Ordering::Relaxed), 3);
}

#[tokio::test]
async fn a_yes_is_for_the_place_that_was_shown() {
    let tree = Tree::new();
    fs::create_dir_all(tree.at("ws/app/.vscode")).unwrap();
    fs::create_dir_all(tree.at("ws/app/.git")).unwrap();
    tree.link("ws/app/place", ".vscode");
    let (link, git) = (tree.at("ws/app/place"), tree.at("ws/app/.git"));
    // While the person thinks, the link comes to lead elsewhere.
    let person = move |write: ProtectedWrite| {
        assert!(write.target.ends_with(".vscode/config"));
        fs::remove_file(&link).unwrap();
        std::os::unix::fs::symlink(&git, &link).unwrap();
        async { true }
    };
    let files = WorkspaceFiles::new().with_protected_writes(person);
    let files = tree.files_by(files).await;
    let written = files.write(tree.at("ws/app/place/config"), "evil").await;
    assert_eq!(written, refused(GIT));
    assert_eq!(tree.names("ws/app/.git"), [""; 0]);
}
