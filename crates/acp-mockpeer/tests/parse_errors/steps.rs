//! Messages, bytes and times.

use expect_test::expect;

use crate::check;

#[test]
fn steps() {
    check(
        "initialize\n",
        expect![[r#"
        bad.acpt:1:1: expected a step (`->` the client, `<-` the agent) or a block, found `initialize`
          1 | initialize
            | ^"#]],
    );
    check(
        "->\n",
        expect![[r#"
        bad.acpt:1:3: expected a method, `result`, `error` or another step, found the end of the line
          1 | ->
            |   ^"#]],
    );
    check(
        "-> session/promt\n",
        expect![[r#"
        bad.acpt:1:4: there is no `session/promt`; did you mean `session/prompt`?
          1 | -> session/promt
            |    ^"#]],
    );
    check(
        "-> session/dance\n",
        expect![[r#"
        bad.acpt:1:4: there is no `session/dance`; did you mean `session/cancel`?
          1 | -> session/dance
            |    ^"#]],
    );
    check(
        "-> session/update\n",
        expect![[r#"
        bad.acpt:1:4: it is the agent that sends `session/update`; write `raw` before it if the client is meant to
          1 | -> session/update
            |    ^"#]],
    );
    check(
        "-> initialize {} {}\n",
        expect![[r#"
            bad.acpt:1:18: expected the end of the line, `as`, `with id`, `within`, `for` or how it is written, found `{`
              1 | -> initialize {} {}
                |                  ^"#]],
    );
    check(
        "-> initialize within soon\n",
        expect![[r#"
        bad.acpt:1:22: expected a time such as `300ms`, `2s` or `1m`, found `soon`
          1 | -> initialize within soon
            |                      ^"#]],
    );
    check(
        "-> initialize as\n",
        expect![[r#"
        bad.acpt:1:17: expected a name for the request, found the end of the line
          1 | -> initialize as
            |                 ^"#]],
    );
    check(
        "-> session/cancel as c\n",
        expect![[r#"
        bad.acpt:1:4: only a request has an answer to be named with `as`
          1 | -> session/cancel as c
            |    ^"#]],
    );
    check(
        "-> initialize* as c\n",
        expect![[r#"
        bad.acpt:1:4: a line that may come more or less than once cannot be named or answer
          1 | -> initialize* as c
            |    ^"#]],
    );
    check(
        "-> exit 3\n",
        expect![[r#"
        bad.acpt:1:4: it is the agent that exits: `<- exit`
          1 | -> exit 3
            |    ^"#]],
    );
    check(
        "<- signal SIGTERM\n",
        expect![[r#"
        bad.acpt:1:4: it is the client that sends signals: `-> signal`; an agent ends by `<- exit by`
          1 | <- signal SIGTERM
            |    ^"#]],
    );
    check(
        "<- exit 300\n",
        expect![[r#"
        bad.acpt:1:9: expected an exit code from 0 to 255, found `300`
          1 | <- exit 300
            |         ^"#]],
    );
    check(
        "<- exit by SIGSLEEP\n",
        expect![[r#"
        bad.acpt:1:12: expected a signal: SIGHUP, SIGINT, SIGQUIT, SIGABRT, SIGKILL, SIGTERM, found `SIGSLEEP`
          1 | <- exit by SIGSLEEP
            |            ^"#]],
    );
    check(
        "<- hex 7b 7\n",
        expect![[r#"
        bad.acpt:1:11: expected bytes as pairs of hexadecimal digits, such as `7b 7d 0a`, found `7`
          1 | <- hex 7b 7
            |           ^"#]],
    );
    check(
        "<- text hello\n",
        expect![[r#"
        bad.acpt:1:9: expected a string in quotes, found `hello`
          1 | <- text hello
            |         ^"#]],
    );
    check(
        "<- line of 2GiB\n",
        expect![[r#"
        bad.acpt:1:12: expected a size such as `64`, `64KiB` or `40MiB`, found `2GiB`
          1 | <- line of 2GiB
            |            ^"#]],
    );
    check(
        "<- nothing\n",
        expect![[r#"
        bad.acpt:1:11: expected `for` and a time: `nothing for 300ms`, found the end of the line
          1 | <- nothing
            |           ^"#]],
    );
    check(
        "<- stop\n",
        expect![[r#"
        bad.acpt:1:8: expected `reading` after `stop`, found the end of the line
          1 | <- stop
            |        ^"#]],
    );
    check(
        "<- read fast\n",
        expect![[r#"
        bad.acpt:1:9: expected `on` or `slowly` after `read`, found `fast`
          1 | <- read fast
            |         ^"#]],
    );
    check(
        "<- stderr\n",
        expect![[r#"
        bad.acpt:1:10: expected a text in quotes or `flood of SIZE`, found the end of the line
          1 | <- stderr
            |          ^"#]],
    );
    check(
        "<- message\n",
        expect![[r#"
        bad.acpt:1:11: expected the whole message: `{"jsonrpc": "2.0", …}`, found the end of the line
          1 | <- message
            |           ^"#]],
    );
    check(
        "<- any {}\n",
        expect![[r#"
        bad.acpt:1:8: `any` takes no pattern; `message {…}` is the word for a whole message
          1 | <- any {}
            |        ^"#]],
    );
    check(
        "<- never session/update within 3s\n",
        expect![[r#"
        bad.acpt:1:9: `never` and `ignore` stand from here on; they take a message and nothing else
          1 | <- never session/update within 3s
            |         ^"#]],
    );
    check(
        "-> initialize split in two\n",
        expect![[r#"
        bad.acpt:1:21: expected `at` or `every` after `split`, found `in`
          1 | -> initialize split in two
            |                     ^"#]],
    );
    check(
        "-> initialize ended by magic\n",
        expect![[r#"
        bad.acpt:1:24: expected `by crlf`, `by lf` or `by nothing` after `ended`, found `magic`
          1 | -> initialize ended by magic
            |                        ^"#]],
    );
}

/// What stands between blocks and is none of the words.
#[test]
fn words_in_any_order() {
    check(
        "-> initialize\nany order\n  <- result\n  and\nend\n",
        expect![[r#"
        bad.acpt:4:3: expected a step (`->` the client, `<-` the agent) or a block, found `and`
          4 |   and
            |   ^"#]],
    );
    check(
        "-> initialize\nany order\n  optional\n    <- result\n  end\nend\n",
        expect![[r#"
            bad.acpt:3:3: only messages can come in any order
              3 |   optional
                |   ^"#]],
    );
}
