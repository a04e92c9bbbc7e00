//! What is said of texts that are no scenarios: file, line, and what was expected.

use acp_mockpeer::Scenario;
use expect_test::{Expect, expect};

#[track_caller]
#[expect(clippy::needless_pass_by_value, reason = "reads better at the calls")]
fn check(text: &str, expected: Expect) {
    let error = match Scenario::parse("bad.acpt", text) {
        Ok(_) => "it was read without complaint".to_owned(),
        Err(error) => error.to_string(),
    };
    expected.assert_eq(&error);
}

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

#[test]
fn patterns() {
    check(
        "-> initialize {\n",
        expect![[r#"
        bad.acpt:2:1: expected a member in quotes or `}`, found the end of the file
          2 |
            | ^"#]],
    );
    check(
        "-> initialize {\"a\": }\n",
        expect![[r#"
        bad.acpt:1:21: expected a value or a pattern, found `}`
          1 | -> initialize {"a": }
            |                     ^"#]],
    );
    check(
        "-> initialize {\"a\" 1}\n",
        expect![[r#"
        bad.acpt:1:20: expected `:`, found `1`
          1 | -> initialize {"a" 1}
            |                    ^"#]],
    );
    check(
        "-> initialize {\"a\": 1,}\n",
        expect![[r#"
        bad.acpt:1:23: expected a member in quotes, found `}`
          1 | -> initialize {"a": 1,}
            |                       ^"#]],
    );
    check(
        "-> initialize {a: 1}\n",
        expect![[r#"
        bad.acpt:1:16: expected a member in quotes or `}`, found `a:`
          1 | -> initialize {a: 1}
            |                ^"#]],
    );
    check(
        "-> initialize {\"a\": 1, \"a\": 2}\n",
        expect![[r#"
        bad.acpt:1:24: `a` is there twice
          1 | -> initialize {"a": 1, "a": 2}
            |                        ^"#]],
    );
    check(
        "-> initialize {\"a\": 01}\n",
        expect![[r#"
        bad.acpt:1:21: `01` is no JSON number
          1 | -> initialize {"a": 01}
            |                     ^"#]],
    );
    check(
        "-> initialize {\"a\": \"b}\n",
        expect![[r#"
        bad.acpt:1:21: this string has no closing quote on its line
          1 | -> initialize {"a": "b}
            |                     ^"#]],
    );
    check(
        "-> initialize {\"a\": \"\\q\"}\n",
        expect![[r#"
        bad.acpt:1:21: this is no JSON string: invalid escape
          1 | -> initialize {"a": "\q"}
            |                     ^"#]],
    );
    check(
        "-> initialize {\"a\": [1 2]}\n",
        expect![[r#"
        bad.acpt:1:24: expected `,` or `]`, found `2`
          1 | -> initialize {"a": [1 2]}
            |                        ^"#]],
    );
    check(
        "-> initialize {\"a\": maybe}\n",
        expect![[r#"
        bad.acpt:1:21: expected a value or a pattern, found `maybe`
          1 | -> initialize {"a": maybe}
            |                     ^"#]],
    );
    check(
        "-> initialize {\"a\": /[/}\n",
        expect![[r#"
        bad.acpt:1:21: this is no regular expression: unclosed character class
          1 | -> initialize {"a": /[/}
            |                     ^"#]],
    );
    check(
        "-> initialize {\"a\": /x}\n",
        expect![[r#"
        bad.acpt:1:21: this regular expression has no closing `/` on its line
          1 | -> initialize {"a": /x}
            |                     ^"#]],
    );
    check(
        "-> initialize {\"a\": $}\n",
        expect![[r#"
        bad.acpt:1:21: expected a name such as `$session`, found `$`
          1 | -> initialize {"a": $}
            |                     ^"#]],
    );
    check(
        "-> initialize {\"a\": only [1]}\n",
        expect![[r#"
        bad.acpt:1:26: expected `{` after `only`, found `[`
          1 | -> initialize {"a": only [1]}
            |                          ^"#]],
    );
}

#[test]
fn answers() {
    check(
        "<- result\n",
        expect![[r#"
        bad.acpt:1:4: no request of the client waits for an answer here
          1 | <- result
            |    ^"#]],
    );
    check(
        "-> initialize\n-> session/new\n<- result\n",
        expect![[r#"
        bad.acpt:3:4: the requests of lines 1 and 2 wait for an answer here; give them names with `as NAME` and say which one is meant: `result of NAME`
          3 | <- result
            |    ^"#]],
    );
    check(
        "-> initialize as a\n<- result of b\n",
        expect![[r#"
        bad.acpt:2:4: no request above is called `b`; a request gets its name with `as b`
          2 | <- result of b
            |    ^"#]],
    );
    check(
        "-> initialize as a\n-> result of a\n",
        expect![[r#"
        bad.acpt:2:4: `a` was asked by the client itself, in line 1
          2 | -> result of a
            |    ^"#]],
    );
    check(
        "-> initialize as a\n<- result of a\n<- result of a\n",
        expect![[r#"
            bad.acpt:3:4: the request of line 1 is answered in line 2 already; write `raw` before `result` to answer it twice
              3 | <- result of a
                |    ^"#]],
    );
    check(
        "-> initialize as a\n-> session/new as a\n",
        expect![[r#"
        bad.acpt:2:4: the request of line 1 is called `a` and still waits for its answer
          2 | -> session/new as a
            |    ^"#]],
    );
    check(
        "-> initialize\n<- answer {}\n",
        expect![[r#"
        bad.acpt:2:11: `answer` takes no pattern; say `result` or `error`, or `either … or … end`
          2 | <- answer {}
            |           ^"#]],
    );
    check(
        "-> initialize\n<- result?\n",
        expect![[r#"
        bad.acpt:2:4: a line that may come more or less than once cannot be named or answer
          2 | <- result?
            |    ^"#]],
    );
}

#[test]
fn blocks() {
    check(
        "either\n-> initialize\n",
        expect![[r#"
        bad.acpt:3:1: the `either` of line 1 has no `end`
          3 |
            | ^"#]],
    );
    check(
        "either\n-> initialize\nend\n",
        expect![[r#"
        bad.acpt:1:1: this `either` has no `or`
          1 | either
            | ^"#]],
    );
    check(
        "either\n-> initialize\nor\nend\n",
        expect![[r#"
        bad.acpt:4:1: this branch of the `either` of line 1 is empty; `optional` is the word for what may be left out
          4 | end
            | ^"#]],
    );
    check(
        "either\n-> initialize\nor\n<- session/update\nend\n",
        expect![[r#"
            bad.acpt:1:1: every branch has to begin with a step of the same side: who begins, chooses
              1 | either
                | ^"#]],
    );
    check(
        "-> initialize\nend\n",
        expect![[r#"
        bad.acpt:2:1: no block is open that `end` belongs to
          2 | end
            | ^"#]],
    );
    check(
        "optional\nend\n",
        expect![[r#"
        bad.acpt:2:1: the `optional` of line 1 is empty
          2 | end
            | ^"#]],
    );
    check(
        "optional\n-> initialize\nor\n-> logout\nend\n",
        expect![[r#"
        bad.acpt:3:1: expected `end` of the `optional` of line 1, found `or`
          3 | or
            | ^"#]],
    );
    check(
        "repeat many\n-> logout\nend\n",
        expect![[r#"
        bad.acpt:1:8: expected a number from 1 to 1000000, found `many`
          1 | repeat many
            |        ^"#]],
    );
    check(
        "repeat 3 as i\n-> logout\nend\n",
        expect![[r#"
        bad.acpt:1:13: expected a name such as `$i`, found `i`
          1 | repeat 3 as i
            |             ^"#]],
    );
    check(
        "any\n-> logout\nend\n",
        expect![[r#"
        bad.acpt:1:4: expected `order` after `any`, found the end of the line
          1 | any
            |    ^"#]],
    );
    check(
        "any order\n-> logout\n<- session/update\nend\n",
        expect![[r#"
            bad.acpt:1:1: messages in any order have to be of one side
              1 | any order
                | ^"#]],
    );
    check(
        "any order\n-> wait 3s\nend\n",
        expect![[r#"
        bad.acpt:1:1: only messages can come in any order
          1 | any order
            | ^"#]],
    );
    check(
        "any order\n-> wait 3s\n",
        expect![[r#"
        bad.acpt:3:1: the `any order` of line 1 has no `end`
          3 |
            | ^"#]],
    );
    check(
        "whenever initialize\n<- result\nend\n",
        expect![[r#"
        bad.acpt:1:10: expected `->` or `<-` and the message that is meant, found `initialize`
          1 | whenever initialize
            |          ^"#]],
    );
    check(
        "whenever -> logout*\n<- result\nend\n",
        expect![[r#"
        bad.acpt:1:10: `whenever` means every time already
          1 | whenever -> logout*
            |          ^"#]],
    );
    check(
        "not exercised\n",
        expect![[r#"
        bad.acpt:1:14: expected a string in quotes, found the end of the line
          1 | not exercised
            |              ^"#]],
    );
    check(
        "ether\n-> logout\nor\n<- result\nend\n",
        expect![[r#"
        bad.acpt:1:1: there is no `ether`; did you mean `either`?
          1 | ether
            | ^"#]],
    );
}

#[test]
fn places_are_counted_in_characters() {
    check(
        "-> session/prompt {\"prompt\": [\"größe\", ü]}\n",
        expect![[r#"
            bad.acpt:1:40: expected a value or a pattern, found `ü`
              1 | -> session/prompt {"prompt": ["größe", ü]}
                |                                        ^"#]],
    );
    check(
        "-> session/prompt {\n  \"prompt\": [ # the blocks\n    {\"type\": \"text\", \"text\": oops}\n  ]\n}\n",
        expect![[r#"
            bad.acpt:3:30: expected a value or a pattern, found `oops`
              3 |     {"type": "text", "text": oops}
                |                              ^"#]],
    );
}

/// Whatever is cut off or missing, it is told and not tripped over.
#[test]
fn texts_that_are_cut_or_miss_a_letter() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/scenarios");
    let mut read = 0_u32;
    for side in ["agent", "client"] {
        for file in std::fs::read_dir(format!("{folder}/{side}")).unwrap() {
            let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
            for (at, c) in text.char_indices().step_by(7) {
                let _ = Scenario::parse("cut", &text[..at]).map_err(|error| error.to_string());
                let missing = format!("{}{}", &text[..at], &text[at + c.len_utf8()..]);
                let _ = Scenario::parse("missing", &missing).map_err(|error| error.to_string());
                read += 2;
            }
        }
    }
    assert!(read > 5_000, "only {read} texts were read");
}

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
