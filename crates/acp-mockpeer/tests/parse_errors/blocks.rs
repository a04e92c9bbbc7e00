//! Choices, repetitions and standing rules.

use expect_test::expect;

use crate::check;

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
