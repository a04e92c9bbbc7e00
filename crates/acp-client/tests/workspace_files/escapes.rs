//! Ways out of the workspace, and ways that only look like it (B096, B099).

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;

use acp_client::{MissingFiles, SessionFolders, WorkspaceFiles};
use proptest::prelude::*;
use rustix::fs::{CWD, FileType, Mode, mknodat};

use crate::support::{Files, Tree, ok, refused};

#[tokio::test]
async fn a_name_that_begins_alike_is_another_folder() {
    let tree = Tree::new();
    let files = tree.files().await;
    for outside in ["ws/app-evil/x", "out/x", "ws", ""] {
        assert_eq!(files.read(tree.at(outside)).await, refused("outside"));
        assert_eq!(files.write(tree.at(outside), "x").await, refused("outside"));
    }
    assert_eq!(files.read("/etc/passwd").await, refused("outside"));
    tree.check_outside();
}

#[tokio::test]
async fn the_root_goes_by_its_given_and_its_real_name() {
    let tree = Tree::new();
    tree.link("alias", "ws/app");
    let folders = SessionFolders::new(tree.at("alias/"));
    let files = Files::open(&WorkspaceFiles::new(), &folders).await;
    for name in ["alias/src/main.rs", "ws/app/src/main.rs"] {
        assert_eq!(files.read(tree.at(name)).await, ok("inside"), "{name}");
    }
    files.write(tree.at("alias/new"), "new").await.unwrap();
    assert_eq!(tree.text("ws/app/new"), "new");
}

#[tokio::test]
async fn links_that_lead_out_are_refused() {
    let tree = Tree::new();
    tree.link("ws/app/absolute", tree.at("out/x"));
    tree.link("ws/app/relative", "../../out/x");
    tree.link("ws/app/folder", tree.at("out"));
    tree.link("ws/app/above", "..");
    tree.link("ws/app/second", "absolute");
    tree.link("ws/app/evil", "../app-evil/x");
    tree.link("ws/app/system", "/proc/self/cwd/Cargo.toml");
    tree.link("ws/app/later", tree.at("out/later"));
    let files = tree.files().await;
    for name in [
        "absolute",
        "relative",
        "folder/x",
        "folder/new",
        "above/app-evil/x",
        // The link itself leads out, whatever comes behind it.
        "above/app/src/main.rs",
        "second",
        "evil",
        "system",
        "later",
    ] {
        let path = tree.at("ws/app").join(name);
        assert_eq!(files.read(&path).await, refused("outside"), "{name}");
        assert_eq!(files.write(&path, "x").await, refused("outside"), "{name}");
    }
    tree.check_outside();
}

#[tokio::test]
async fn links_that_stay_inside_are_followed() {
    let tree = Tree::new();
    tree.link("ws/app/absolute", tree.at("ws/app/src/main.rs"));
    tree.link("ws/app/folder", "src");
    tree.link("ws/app/src/back", "../absolute");
    tree.link("ws/app/around", "../app/src/../src/main.rs");
    let files = tree.files().await;
    for name in [
        "absolute",
        "folder/main.rs",
        "src/back",
        "folder/back",
        "around",
    ] {
        let path = tree.at("ws/app").join(name);
        assert_eq!(files.read(&path).await, ok("inside"), "{name}");
        files.write(&path, name).await.unwrap();
        assert_eq!(tree.text("ws/app/src/main.rs"), name);
        tree.put("ws/app/src/main.rs", "inside");
    }
    let link = tree.at("ws/app/absolute").symlink_metadata().unwrap();
    assert!(
        link.is_symlink(),
        "a write goes through the link and leaves it"
    );
    files
        .write(tree.at("ws/app/folder/new/deep"), "x")
        .await
        .unwrap();
    assert_eq!(tree.text("ws/app/src/new/deep"), "x");
}

#[tokio::test]
async fn links_lead_from_root_to_root() {
    let tree = Tree::new();
    tree.link("ws/app/other", tree.at("out/x"));
    tree.link("ws/app/beside", "../../out/x");
    let both = SessionFolders::new(tree.at("ws/app")).with_additional([tree.at("out")]);
    let files = Files::open(&WorkspaceFiles::new(), &both).await;
    assert_eq!(files.read(tree.at("out/x")).await, ok("SECRET"));
    assert_eq!(files.read(tree.at("ws/app/other")).await, ok("SECRET"));
    assert_eq!(files.read(tree.at("ws/app/beside")).await, ok("SECRET"));
    files
        .write(tree.at("ws/app/beside"), "shared")
        .await
        .unwrap();
    assert_eq!(tree.text("out/x"), "shared");
}

#[tokio::test]
async fn links_to_nowhere_are_refused() {
    let tree = Tree::new();
    tree.link("ws/app/nowhere", "src/later");
    tree.link("ws/app/far", tree.at("ws/app/no/such/folder"));
    tree.link("ws/app/circle", "circle");
    tree.link("ws/app/there", "back");
    tree.link("ws/app/back", "there");
    for missing in [MissingFiles::Refuse, MissingFiles::Empty] {
        let files = WorkspaceFiles::new().with_missing_files(missing);
        let files = tree.files_by(files).await;
        for name in ["nowhere", "far", "far/x", "circle", "there", "back/x"] {
            let path = tree.at("ws/app").join(name);
            assert_eq!(files.read(&path).await, refused("dangling"), "{name}");
            let write = files.write(&path, "x").await;
            assert_eq!(write, refused("dangling"), "{name}");
        }
    }
    assert_eq!(tree.names("ws/app/src"), ["main.rs"]);
}

#[tokio::test]
async fn what_is_no_regular_file_is_refused_and_hangs_nobody() {
    let tree = Tree::new();
    let pipe = tree.at("ws/app/pipe");
    mknodat(CWD, &pipe, FileType::Fifo, Mode::RWXU, 0).unwrap();
    let _socket = UnixListener::bind(tree.at("ws/app/socket")).unwrap();
    let files = tree.files().await;
    for name in ["pipe", "socket", "src", ""] {
        let path = tree.at("ws/app").join(name);
        assert_eq!(files.read(&path).await, refused("no file"), "{name}");
        assert_eq!(files.write(&path, "x").await, refused("no file"), "{name}");
    }
    let below = tree.at("ws/app/src/main.rs/x");
    assert_eq!(files.read(&below).await, refused("not found"));
    assert_eq!(files.write(&below, "x").await, refused("not found"));
    assert_eq!(tree.names("ws/app"), ["pipe", "socket", "src"]);
}

#[tokio::test]
async fn another_name_of_a_file_is_the_file_until_it_is_written() {
    let tree = Tree::new();
    fs::hard_link(tree.at("out/x"), tree.at("ws/app/hard")).unwrap();
    let files = tree.files().await;
    assert_eq!(files.read(tree.at("ws/app/hard")).await, ok("SECRET"));
    files.write(tree.at("ws/app/hard"), "mine").await.unwrap();
    assert_eq!(tree.text("ws/app/hard"), "mine");
    tree.check_outside();
}

#[tokio::test]
async fn a_root_is_what_was_opened_and_not_its_name() {
    let tree = Tree::new();
    let shared = WorkspaceFiles::new();
    let files = tree.files_by(shared.clone()).await;
    fs::rename(tree.at("ws/app"), tree.at("moved")).unwrap();
    tree.link("ws/app", tree.at("out"));
    assert_eq!(files.read(tree.at("ws/app/x")).await, refused("not found"));
    assert_eq!(
        files.read(tree.at("ws/app/src/main.rs")).await,
        ok("inside")
    );
    files.write(tree.at("ws/app/y"), "mine").await.unwrap();
    assert_eq!(tree.text("moved/y"), "mine");
    tree.check_outside();
    // A session that is opened now works in what the name means now.
    let files = tree.files_by(shared).await;
    assert_eq!(files.read(tree.at("ws/app/x")).await, ok("SECRET"));
}

#[tokio::test]
async fn a_folder_that_is_not_there_holds_nothing() {
    let tree = Tree::new();
    let folders = SessionFolders::new(tree.at("gone")).with_additional(["relative"]);
    let files = Files::open(&WorkspaceFiles::new(), &folders).await;
    for path in [tree.at("gone/x"), tree.at("out/x"), "relative/x".into()] {
        assert_eq!(files.read(&path).await, refused("outside"));
        assert_eq!(files.write(&path, "x").await, refused("outside"));
    }
    assert!(!tree.at("gone").exists());
}

#[tokio::test]
async fn names_may_be_strange() {
    let tree = Tree::new();
    let files = tree.files().await;
    for name in ["ö/日本語 🦀", " ", "a\nb", "-rf", "..x", "...", "\\..\\x"] {
        let path = tree.at("ws/app/strange").join(name);
        files.write(&path, name).await.unwrap();
        assert_eq!(files.read(&path).await, ok(name));
    }
    let long = tree.at("ws/app").join("x".repeat(300));
    assert_eq!(files.read(&long).await, refused("not found"));
    assert_eq!(files.write(&long, "x").await, refused("not found"));
}

/// What links in a made-up workspace lead to. Nothing outside leads in again.
const TARGETS: [&str; 12] = [
    "a",
    "b",
    "./a/file",
    "a/b",
    "../app/b",
    "..",
    "../../out",
    "/ABSOLUTE/ws/app/a",
    "/ABSOLUTE/out/x",
    "/ABSOLUTE/ws/app/a/./b",
    "a/../b",
    "file",
];

/// Makes a folder, if no link is on the way to it; tells whether it is there.
fn is_folder(folder: &Path) -> bool {
    folder.canonicalize().is_ok_and(|real| real == folder)
        || folder.parent().is_some_and(is_folder) && fs::create_dir(folder).is_ok()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// The system follows links too, only that it does not mind where they lead.
    #[test]
    fn what_is_read_is_what_the_system_reads_if_that_is_inside(
        links in prop::collection::btree_map("(a/)?(b/)?[abc]", 0..TARGETS.len(), 1..6),
        paths in prop::collection::vec("([abc]/){0,3}(file|x|[abc])", 8),
    ) {
        let tree = Tree::new();
        let app = tree.at("ws/app");
        let root = tree.at("");
        let root = root.to_str().unwrap().trim_end_matches('/');
        for (link, target) in &links {
            let target = TARGETS[*target].replace("/ABSOLUTE", root);
            let link = app.join(link);
            // A link may be in the way of a folder, and a folder in that of a link.
            let _ = is_folder(link.parent().unwrap()).then(|| symlink(target, &link));
        }
        for folder in ["", "a", "b", "a/b"] {
            let folder = app.join(folder);
            if is_folder(&folder) {
                fs::write(folder.join("file"), folder.to_str().unwrap()).unwrap();
            }
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let files = tree.files().await;
            for path in paths {
                let path = app.join(path);
                let inside = |real: &Path| real.starts_with(&app) && real.is_file();
                let expected = path.canonicalize().ok().filter(|real| inside(real));
                let expected = expected.map(|real| fs::read_to_string(real).unwrap());
                assert_eq!(files.read(&path).await.ok(), expected, "{path:?} with {links:?}");
            }
        });
        tree.check_outside();
    }
}
