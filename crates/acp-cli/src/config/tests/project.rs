//! What a project may say, and what it may not.

use super::*;

#[test]
fn a_project_chooses_and_is_careful_and_no_more() {
    let world = World::new().project(
        "agent = \"codex\"\nmodel = \"gpt\"\nmode = \"read-only\"\nstart_timeout = 90\n\
         allow = \"all\"\nfiles = \"write\"\nterminals = true\nregistry = \"/r.json\"\n\
         trust = [\"/\"]\n[mcp.x]\ncommand = \"x\"\n[agents.codex]\ncommand = \"/evil\"\n",
    );
    world.check(Flags::default(), expect![[r#"
        Known("codex")
        agent = "codex" (~/project/.acp.toml, line 1)
        model = "gpt" (~/project/.acp.toml, line 2)
        mode = "read-only" (~/project/.acp.toml, line 3)
        start_timeout = 90 (~/project/.acp.toml, line 4)
        ! `trust` of ~/project/.acp.toml, line 9 is ignored: only your own file says what is trusted
        ! `agents` of ~/project/.acp.toml, line 12 is ignored: it names programs or addresses, and this folder is not trusted
        ! `mcp` of ~/project/.acp.toml, line 10 is ignored: it names programs or addresses, and this folder is not trusted
        ! `registry` of ~/project/.acp.toml, line 8 is ignored: it names programs or addresses, and this folder is not trusted
        ! `allow` of ~/project/.acp.toml, line 5 is ignored: it allows more than you do, and this folder is not trusted
        ! `files` of ~/project/.acp.toml, line 6 is ignored: it allows more than you do, and this folder is not trusted
        ! `terminals` of ~/project/.acp.toml, line 7 is ignored: it allows more than you do, and this folder is not trusted
        ! if you trust what the project says, write trust = ["~/project"] into ~/.config/acp/config.toml
    "#]]);
    let configuration = world.load(Flags::default()).unwrap();
    assert_eq!(configuration.registry.get("codex").unwrap().command, "npx");
    assert!(configuration.mcp_servers().unwrap().is_empty());
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
        "#]],
        );
    // The environment of this one call widens nothing for the project.
    World::new()
        .project("allow = \"reads\"\n")
        .variable("ACP_ALLOW", "all")
        .check(Flags::default(), expect![[r#"
            Demo
            allow = "all" (ACP_ALLOW)
            ! `allow` of ~/project/.acp.toml, line 1 is ignored: it allows more than you do, and this folder is not trusted
            ! if you trust what the project says, write trust = ["~/project"] into ~/.config/acp/config.toml
        "#]]);
}

#[test]
fn modes_of_a_project_are_careful_ones() {
    let mode = |global: &str, project: &str, expected: Expect| {
        World::new()
            .global(global)
            .project(project)
            .check(Flags::default(), expected);
    };
    mode(
        "",
        "mode = \"bypassPermissions\"\n",
        expect![[r#"
            Demo
            ! `mode` of ~/project/.acp.toml, line 1 is ignored: an agent may do more in that mode, and this folder is not trusted
            ! if you trust what the project says, write trust = ["~/project"] into ~/.config/acp/config.toml
        "#]],
    );
    mode(
        "",
        "agent = \"claude\"\nmode = \"default\"\n",
        expect![[r#"
            Known("claude")
            agent = "claude" (~/project/.acp.toml, line 1)
            mode = "default" (~/project/.acp.toml, line 2)
        "#]],
    );
    // It is known of an agent, not of whichever it will be.
    mode(
        "agent = \"claude\"\n",
        "mode = \"default\"\n",
        expect![[r#"
        Known("claude")
        agent = "claude" (~/.config/acp/config.toml, line 1)
        ! `mode` of ~/project/.acp.toml, line 1 is ignored: an agent may do more in that mode, and this folder is not trusted
        ! if you trust what the project says, write trust = ["~/project"] into ~/.config/acp/config.toml
    "#]],
    );
    // Who chose a stricter one keeps it.
    mode(
        "agent = \"claude\"\nmode = \"plan\"\n",
        "mode = \"default\"\n",
        expect![[r#"
            Known("claude")
            agent = "claude" (~/.config/acp/config.toml, line 1)
            mode = "plan" (~/.config/acp/config.toml, line 2)
            ! `mode` of ~/project/.acp.toml, line 1 is ignored: an agent may do more in that mode, and this folder is not trusted
            ! if you trust what the project says, write trust = ["~/project"] into ~/.config/acp/config.toml
        "#]],
    );
    mode(
        "",
        "agent = \"codex\"\nmode = \"default\"\n",
        expect![[r#"
            Known("codex")
            agent = "codex" (~/project/.acp.toml, line 1)
            ! `mode` of ~/project/.acp.toml, line 2 is ignored: an agent may do more in that mode, and this folder is not trusted
            ! if you trust what the project says, write trust = ["~/project"] into ~/.config/acp/config.toml
        "#]],
    );
}

#[test]
fn agents_of_a_project_can_be_made_to_ask() {
    World::new()
        .global("agent = \"claude\"\n")
        .project("agent = \"pi\"\nmodel = \"x\"\neffort = \"high\"\n")
        .check(Flags::default(), expect![[r#"
            Known("claude")
            agent = "claude" (~/.config/acp/config.toml, line 1)
            ! `agent` of ~/project/.acp.toml, line 1 is ignored: it runs tools without asking, and this folder is not trusted
            ! if you trust what the project says, write trust = ["~/project"] into ~/.config/acp/config.toml
        "#]]);
    // Who chose it themselves knows it.
    World::new()
        .global("agent = \"pi\"\n")
        .project("agent = \"pi\"\n")
        .check(
            Flags::default(),
            expect![[r#"
            Known("pi")
            agent = "pi" (~/project/.acp.toml, line 1)
        "#]],
        );
}

#[test]
fn a_project_knows_no_agents_but_its_users() {
    World::new()
        .project("agent = \"ada\"\n[agents.ada]\ncommand = \"ada\"\n")
        .check(
            Flags::default(),
            expect![[r#"
                failed to find the agent `ada` (~/project/.acp.toml, line 1)
                  `acp agents` lists those that are known; any other agent can be given by its command, after --
            "#]],
        );
    World::new()
        .global("[agents.ada]\ncommand = \"ada\"\n")
        .project("agent = \"ada\"\n")
        .check(
            Flags::default(),
            expect![[r#"
            Known("ada")
            agent = "ada" (~/project/.acp.toml, line 1)
        "#]],
        );
}

#[test]
fn a_trusted_project_says_everything() {
    let project = "agent = \"ada\"\nmode = \"yolo\"\nallow = \"all\"\n\
                   [agents.ada]\ncommand = \"ada\"\n[mcp.x]\nurl = \"https://x.example\"\n";
    World::new()
        .global("trust = [\"~/project\"]\n[mcp.x]\nurl = \"http://y.example\"\n")
        .project(project)
        .check(
            Flags::default(),
            expect![[r#"
            Known("ada")
            agent = "ada" (~/project/.acp.toml, line 1)
            mode = "yolo" (~/project/.acp.toml, line 2)
            allow = "all" (~/project/.acp.toml, line 3)
            mcp x (~/project/.acp.toml, line 6)
        "#]],
        );
    // One folder, and no other: neither above nor below.
    for other in ["~", "~/project/.git", "/none/such"] {
        let world = World::new()
            .global(&format!("trust = [\"{other}\"]\n"))
            .project("allow = \"all\"\n");
        let configuration = world.load(Flags::default()).unwrap();
        assert_eq!(configuration.settings.allow.value, AllowLevel::None);
    }
}
