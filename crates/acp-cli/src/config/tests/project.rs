//! What a project may say, and what it may not.

use super::*;

const EVERYTHING: &str = "agent = \"codex\"\nmodel = \"gpt\"\neffort = \"high\"\nmode = \"read-only\"\n\
    timeout = \"9h\"\nidle_timeout = \"none\"\nstart_timeout = 90\nallow = \"all\"\nfiles = \"write\"\n\
    terminals = true\ncolor = \"never\"\nprotect = [\"infra\"]\nregistry = \"/r.json\"\n\
    [mcp.x]\ncommand = \"x\"\n[agents.codex]\ncommand = \"/evil\"\n";

#[test]
fn a_project_tightens_and_no_more() {
    let world = World::new()
        .global("timeout = \"1h\"\n")
        .project(EVERYTHING);
    world.check(Flags::default(), expect![[r#"
        Demo
        mode = "read-only" (~/project/.acp.toml, line 4)
        timeout = 3600 (~/.config/acp/config.toml, line 1)
        > ~/project/.acp.toml sets mode = "read-only", its own `protect`
        ! `agents` of ~/project/.acp.toml, line 16 is ignored: it names programs or addresses, and this file is not trusted
        ! `mcp` of ~/project/.acp.toml, line 14 is ignored: it names programs or addresses, and this file is not trusted
        ! `registry` of ~/project/.acp.toml, line 13 is ignored: it names programs or addresses, and this file is not trusted
        ! `agent` of ~/project/.acp.toml, line 1 is ignored: only a file that you trust chooses it
        ! `model` of ~/project/.acp.toml, line 2 is ignored: only a file that you trust chooses it
        ! `effort` of ~/project/.acp.toml, line 3 is ignored: only a file that you trust chooses it
        ! `timeout` of ~/project/.acp.toml, line 5 is ignored: it takes longer than you allow, and this file is not trusted
        ! `idle_timeout` of ~/project/.acp.toml, line 6 is ignored: it takes longer than you allow, and this file is not trusted
        ! `start_timeout` of ~/project/.acp.toml, line 7 is ignored: it takes longer than you allow, and this file is not trusted
        ! `allow` of ~/project/.acp.toml, line 8 is ignored: it allows more than you do, and this file is not trusted
        ! `files` of ~/project/.acp.toml, line 9 is ignored: it allows more than you do, and this file is not trusted
        ! `terminals` of ~/project/.acp.toml, line 10 is ignored: it allows more than you do, and this file is not trusted
        ! `color` of ~/project/.acp.toml, line 11 is ignored: only a file that you trust chooses it
        ! if you trust ~/project/.acp.toml, read it, then run `acp config trust`
    "#]]);
    let configuration = world.load(Flags::default()).unwrap();
    assert_eq!(configuration.registry.get("codex").unwrap().command, "npx");
    assert!(configuration.mcp_servers().unwrap().is_empty());
    let infra = Path::new("/p/infra/main.tf");
    assert!(configuration.protected.find_spelled(infra).is_some());
}

#[test]
fn a_project_allows_at_most_what_its_user_does() {
    World::new()
        .global("allow = \"edits\"\nfiles = \"write\"\nterminals = true\n")
        .project("allow = \"edits\"\nfiles = \"read\"\nterminals = false\n")
        .check(
            Flags::default(),
            expect![[r#"
            Demo
            allow = "edits" (~/project/.acp.toml, line 1)
            files = "read" (~/project/.acp.toml, line 2)
            terminals = false (~/project/.acp.toml, line 3)
            > ~/project/.acp.toml sets allow = "edits", files = "read", terminals = false
        "#]],
        );
    // The environment of this one call widens nothing for the project.
    World::new()
        .project("allow = \"reads\"\n")
        .variable("ACP_ALLOW", "all")
        .check(Flags::default(), expect![[r#"
            Demo
            allow = "all" (ACP_ALLOW)
            ! `allow` of ~/project/.acp.toml, line 1 is ignored: it allows more than you do, and this file is not trusted
            ! if you trust ~/project/.acp.toml, read it, then run `acp config trust`
        "#]]);
}

#[test]
fn a_project_shortens_times_and_lengthens_none() {
    let denied = |global: &str, project: &str| {
        let world = World::new().global(global).project(project);
        let configuration = world.load(Flags::default()).unwrap();
        let notes = configuration.notes.iter();
        notes.map(|note| note.name).collect::<Vec<_>>().join(" ")
    };
    for (global, project, expected) in [
        ("", "timeout = \"99h\"", ""),
        ("timeout = 60", "timeout = 60", ""),
        ("timeout = 60", "timeout = 61", "timeout"),
        ("", "idle_timeout = \"30m\"", ""),
        ("", "idle_timeout = \"31m\"", "idle_timeout"),
        ("", "idle_timeout = \"none\"", "idle_timeout"),
        ("idle_timeout = \"none\"", "idle_timeout = \"none\"", ""),
        ("idle_timeout = 60", "idle_timeout = 61", "idle_timeout"),
        ("", "start_timeout = 30", ""),
        ("", "start_timeout = 31", "start_timeout"),
        ("start_timeout = 100", "start_timeout = 90", ""),
    ] {
        assert_eq!(denied(global, project), expected, "{global}; {project}");
    }
}

#[test]
fn modes_of_a_project_are_careful_ones() {
    let mode = |global: &str, project: &str| {
        let world = World::new().global(global).project(project);
        let mode = world.load(Flags::default()).unwrap().settings.mode.value;
        mode.map(|mode| mode.to_string()).unwrap_or_default()
    };
    for (global, project, expected) in [
        ("", "mode = \"plan\"", "plan"),
        ("", "mode = \"bypassPermissions\"", ""),
        ("", "agent = \"claude\"\nmode = \"default\"", ""),
        ("mode = \"plan\"", "mode = \"read-only\"", "read-only"),
        ("mode = \"plan\"", "mode = \"ask\"", "plan"),
        ("mode = \"yolo\"", "mode = \"ask\"", "ask"),
        ("mode = \"plan\"", "mode = \"default\"", "plan"),
    ] {
        assert_eq!(mode(global, project), expected, "{global}; {project}");
    }
}

#[test]
fn a_project_names_the_agent_that_its_user_chose() {
    World::new()
        .global("agent = \"pi\"\n")
        .project("agent = \"pi\"\nmode = \"ask\"\n")
        .check(
            Flags::default(),
            expect![[r#"
            Known("pi")
            agent = "pi" (~/project/.acp.toml, line 1)
            mode = "ask" (~/project/.acp.toml, line 2)
            > ~/project/.acp.toml sets agent = "pi", mode = "ask"
        "#]],
        );
}

#[test]
fn a_trusted_project_says_everything() {
    let project = "agent = \"ada\"\nmode = \"yolo\"\nallow = \"all\"\nidle_timeout = \"none\"\n\
                   [agents.ada]\ncommand = \"ada\"\n[mcp.x]\nurl = \"https://x.example\"\n";
    World::new()
        .global("[mcp.x]\nurl = \"http://y.example\"\n")
        .project(project)
        .trusting()
        .check(Flags::default(), expect![[r#"
            Known("ada")
            agent = "ada" (~/project/.acp.toml, line 1)
            mode = "yolo" (~/project/.acp.toml, line 2)
            idle_timeout = "none" (~/project/.acp.toml, line 4)
            allow = "all" (~/project/.acp.toml, line 3)
            mcp x (~/project/.acp.toml, line 7)
            > ~/project/.acp.toml sets agent = "ada", mode = "yolo", idle_timeout = "none", allow = "all", its own `mcp`, its own `agents`
        "#]]);
}

#[cfg(unix)]
#[test]
fn trust_ends_with_any_change() {
    use std::os::unix::fs::PermissionsExt;

    let world = World::new().project("allow = \"all\"\n").trusting();
    let file = world.path("project/.acp.toml");
    let mode = |path: &Path, mode| {
        std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
    };
    let trust = || {
        let configuration = world.load(Flags::default()).unwrap();
        let trust = configuration.project.as_ref().unwrap().trust.clone();
        let is_trusted = trust == Trust::Trusted;
        let allow = configuration.settings.allow.value;
        assert_eq!(allow == AllowLevel::All, is_trusted, "{trust:?}");
        // A person who trusted it is told, also where nothing is denied.
        assert_eq!(configuration.warnings().is_empty(), is_trusted);
        trust
    };
    assert_eq!(trust(), Trust::Trusted);
    std::fs::write(&file, "allow = \"all\" \n").unwrap();
    assert_eq!(trust(), Trust::Changed("its text"));
    std::fs::write(&file, "allow = \"all\"\n").unwrap();
    assert_eq!(trust(), Trust::Trusted, "it is as it was");
    mode(&file, 0o755);
    assert_eq!(trust(), Trust::Changed("its mode"));
    for exposed in [0o664, 0o646] {
        mode(&file, exposed);
        assert!(matches!(trust(), Trust::Unsafe(_)), "{exposed:o}");
    }
    mode(&file, 0o644);
    assert_eq!(trust(), Trust::Trusted);
    mode(&world.path("project"), 0o777);
    assert!(matches!(trust(), Trust::Unsafe(_)));
    mode(&world.path("project"), 0o755);
    // A file that others may write to has no say.
    mode(&world.path(".local/state/acp/trust"), 0o777);
    assert_eq!(trust(), Trust::Never);
    mode(&world.path(".local/state/acp/trust"), 0o700);
    let store = TrustStore::of(&world.surroundings());
    store.forget(&file).unwrap();
    assert_eq!(trust(), Trust::Never);
}

#[test]
fn trust_is_of_one_file() {
    let world = World::new().project("allow = \"all\"\n").trusting();
    std::fs::create_dir(world.path("project/inner")).unwrap();
    let inner = world.path("project/inner/.acp.toml");
    std::fs::copy(world.path("project/.acp.toml"), inner).unwrap();
    let folder = world.path("project/inner");
    let configuration = load(&folder, Flags::default(), world.surroundings()).unwrap();
    assert_eq!(configuration.project.unwrap().trust, Trust::Never);
    assert_eq!(configuration.settings.allow.value, AllowLevel::None);
}

#[test]
fn a_record_of_trust_that_is_too_large_counts_for_nothing() {
    let world = World::new().project("allow = \"all\"\n").trusting();
    let folder = world.path(".local/state/acp/trust");
    let record = std::fs::read_dir(folder).unwrap().next().unwrap();
    let record = record.unwrap().path();
    let mut text = std::fs::read_to_string(&record).unwrap();
    let size = usize::try_from(super::super::limits::MAX_TRUST).unwrap();
    text.push_str(&" ".repeat(size - text.len()));
    let trust = |text: &str| {
        std::fs::write(&record, text).unwrap();
        let configuration = world.load(Flags::default()).unwrap();
        configuration.project.unwrap().trust
    };
    assert_eq!(trust(&text), Trust::Trusted);
    assert_eq!(trust(&format!("{text} ")), Trust::Never);
}
