//! What messages look like, and which request an answer is of.

use expect_test::expect;

use crate::check;

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
