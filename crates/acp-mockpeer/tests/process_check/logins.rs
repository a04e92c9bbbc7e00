//! An agent that wants a login before it opens a session.

use crate::{Folder, PROGRAM, SESSION, check};

const LOCKED: &str = "\
allow: rules
whenever -> initialize
  <- result {\"authMethods\": [{\"id\": \"key\", \"name\": \"By a key\"}]}
end
whenever -> session/new
  <- error -32000
end
whenever -> authenticate {\"methodId\": \"key\"}
  <- result {}
  whenever -> session/new
    <- result {\"sessionId\": \"$s\"}
  end
end
";

#[test]
fn without_a_login_it_is_said_what_is_missing() {
    let folder = Folder::new(&[
        ("session.acpt", SESSION),
        ("locked.txt", LOCKED),
        ("profile.toml", "login = \"key\"\n"),
    ]);
    let with = |args: &[&str]| {
        let args = [&["--scenario", "session.acpt"], args].concat();
        check(
            &folder,
            &args,
            &[PROGRAM, "agent", "--script", "locked.txt"],
        )
    };
    with(&[]).ends_with(0).says(&[
        "the agent wants a login: it offers `key`; a profile may say `login`: session\n",
        "1 skipped\n",
        "but 1 scenario could not be asked: the agent wants a login first, and a profile may say which.",
    ]);
    with(&["--set", "login=face"])
        .ends_with(0)
        .says(&["the agent wants a login: it offers `key`, and not `face`: session\n"]);
    for known in [["--profile", "profile.toml"], ["--set", "login=key"]] {
        with(&known).ends_with(0).says(&["1 passed\n"]);
    }
}
