use std::path::Path;

use super::OsSandbox;

#[cfg(unix)]
#[test]
fn a_profile_of_macos_names_each_grant() {
    let home = tempdir("profile");
    let project = home.join("a \"project\"");
    std::fs::create_dir_all(&project).unwrap();
    let sandbox = OsSandbox::new(&home).with_writable(&project);
    let write = |sandbox: &OsSandbox| {
        let scratch = Path::new("/private/tmp");
        super::seatbelt::profile(sandbox, Path::new("/bin/sh"), None, scratch).unwrap()
    };
    let text = write(&sandbox);
    assert!(text.starts_with("(version 1)\n(deny default)\n"), "{text}");
    let granted = format!(
        "(allow file-read* file-write* (subpath \"{}/a \\\"project\\\"\"))",
        home.canonicalize().unwrap().display()
    );
    assert!(text.contains(&granted), "{text}");
    assert!(text.contains("mDNSResponder"), "{text}");
    let open = text.matches('(').count();
    assert_eq!(open, text.matches(')').count(), "{text}");

    let text = write(&sandbox.without_network());
    assert!(
        !text.contains("mDNSResponder") && text.contains("localhost"),
        "{text}"
    );
    std::fs::remove_dir_all(home).unwrap();
}

fn tempdir(name: &str) -> std::path::PathBuf {
    let path = std::env::temp_dir().join(format!("acp-sandbox-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&path).unwrap();
    path
}
