//! What stands before the first step.

use expect_test::expect;

use crate::check;

#[test]
fn headers() {
    check(
        "",
        expect![[r#"
        bad.acpt:1:1: expected a step such as `-> initialize`, found the end of the file
          1 |
            | ^"#]],
    );
    check(
        "# only a comment\n",
        expect![[r#"
        bad.acpt:2:1: expected a step such as `-> initialize`, found the end of the file
          2 |
            | ^"#]],
    );
    check(
        "porves: R1\n-> initialize\n",
        expect![[r#"
            bad.acpt:1:1: there is no field `porves`; there are proves, tck, side, needs, allow, patience, limit, task, level
              1 | porves: R1
                | ^"#]],
    );
    check(
        "proves:\n-> initialize\n",
        expect![[r#"
        bad.acpt:1:8: expected ids of requirements, such as `R117 R120`, found the end of the line
          1 | proves:
            |        ^"#]],
    );
    check(
        "side: server\n-> initialize\n",
        expect![[r#"
        bad.acpt:1:7: expected `agent` or `client`: the only side this scenario tests, found `server`
          1 | side: server
            |       ^"#]],
    );
    check(
        "needs: agent flying\n-> initialize\n",
        expect![[r#"
        bad.acpt:1:14: the pinned schema knows no capability `flying` of the agent
          1 | needs: agent flying
            |              ^"#]],
    );
    check(
        "needs: loadSession\n-> initialize\n",
        expect![[r#"
        bad.acpt:1:8: expected a side and a capability of it, such as `agent sessionCapabilities.list`, found `loadSession`
          1 | needs: loadSession
            |        ^"#]],
    );
    check(
        "allow: nosie\n-> initialize\n",
        expect![[r#"
        bad.acpt:1:8: there is no check `nosie`; there are noise, unfinished-line, envelope, shape, unknown-method, unknown-answer, reused-id, uninitialized, unknown-session, unadvertised, rules, unexpected
          1 | allow: nosie
            |        ^"#]],
    );
    check(
        "patience: soon\n-> initialize\n",
        expect![[r#"
        bad.acpt:1:11: expected a time such as `300ms`, `2s` or `1m`, found `soon`
          1 | patience: soon
            |           ^"#]],
    );
    check(
        "limit: 40h\n-> initialize\n",
        expect![[r#"
        bad.acpt:1:8: expected a time such as `300ms`, `2s` or `1m`, found `40h`
          1 | limit: 40h
            |        ^"#]],
    );
}
