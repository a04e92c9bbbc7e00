//! Rules that are demanded, and mutants that break them.

use expect_test::expect;

use crate::check;

#[test]
fn rules() {
    check(
        "-> initialize\n<- result for R999\n",
        expect![[r#"
        bad.acpt:2:15: there is no rule R999
          2 | <- result for R999
            |               ^"#]],
    );
    check(
        "-> initialize\n<- result for R024\n",
        expect![[r#"
        bad.acpt:2:15: R024 binds the client, and this is what the agent does: Send the newest protocol version the client supports
          2 | <- result for R024
            |               ^"#]],
    );
    check(
        "-> initialize\n<- result for\n",
        expect![[r#"
        bad.acpt:2:14: expected the id of a rule, such as `R120`, found the end of the line
          2 | <- result for
            |              ^"#]],
    );
    check(
        "-> initialize\n<- any\n  for R027 {}\n",
        expect![[r#"
        bad.acpt:3:3: only a message of a kind, a result or an error has something in it for a rule
          3 |   for R027 {}
            |   ^"#]],
    );
    check(
        "-> initialize\n<- result\n  for R027\n",
        expect![[r#"
        bad.acpt:3:11: expected a value or a pattern, found the end of the line
          3 |   for R027
            |           ^"#]],
    );
}

#[test]
fn mutants() {
    let after = |mutant: &str| format!("-> initialize\n<- result\n  mutant {mutant}\n");
    check(
        &after("R027 R028 drop"),
        expect![[r#"
        bad.acpt:3:10: a mutant breaks one rule; write a line for each
          3 |   mutant R027 R028 drop
            |          ^"#]],
    );
    check(
        &after("R027 dorp"),
        expect![[r#"
        bad.acpt:3:15: there is no edit `dorp`; there are drop, twice, later, sooner, set, remove, error, result, insert, bytes, hex, close
          3 |   mutant R027 dorp
            |               ^"#]],
    );
    check(
        &after("R027 explode"),
        expect![[r#"
        bad.acpt:3:15: there is no edit `explode`; there are drop, twice, later, sooner, set, remove, error, result, insert, bytes, hex, close
          3 |   mutant R027 explode
            |               ^"#]],
    );
    check(
        &after("R027 set result..x 1"),
        expect![[r#"
        bad.acpt:3:19: `result..x` is no place in a message
          3 |   mutant R027 set result..x 1
            |                   ^"#]],
    );
    check(
        &after("R027 set result.x any"),
        expect![[r#"
        bad.acpt:3:28: `any` cannot be sent
          3 |   mutant R027 set result.x any
            |                            ^"#]],
    );
    check(
        &after("R027 insert {} instead"),
        expect![[r#"
        bad.acpt:3:25: expected `before` or `after`, found `instead`
          3 |   mutant R027 insert {} instead
            |                         ^"#]],
    );
    check(
        &after("R027 hex \"7b7d\" before"),
        expect![[r#"
        bad.acpt:3:19: expected pairs of hexadecimal digits
          3 |   mutant R027 hex "7b7d" before
            |                   ^"#]],
    );
    check(
        "-> initialize\n<- result\n-> session/new\n<- session/update\n  mutant R040 error -32603\n",
        expect![[r#"
        bad.acpt:5:15: only a result or an error can be another answer
          5 |   mutant R040 error -32603
            |               ^"#]],
    );
    check(
        &after("R027 close"),
        expect![[r#"
        bad.acpt:3:20: expected `after`, found the end of the line
          3 |   mutant R027 close
            |                    ^"#]],
    );
    check(
        "-> initialize\n<- close\n  mutant R027 twice\n",
        expect![[r#"
            bad.acpt:3:15: what is no message can be left out, `drop`, or another comes first, `insert MESSAGE before`
              3 |   mutant R027 twice
                |               ^"#]],
    );
}
