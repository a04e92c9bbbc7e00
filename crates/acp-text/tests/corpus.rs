//! Each attack and each shape of a secret that was ever met.

use acp_text::{
    CharClass, Clean, Cleaner, Layout, REDACTED, RedactStream, Redactor, clean, visible,
};
use proptest::prelude::*;

const CLEANING: &str = include_str!("corpus/cleaning.txt");
const SECRETS: &str = include_str!("corpus/secrets.txt");
const KEPT: &str = include_str!("corpus/kept.txt");
const REDACTIONS: &str = include_str!("corpus/redacted.txt");

fn cases(corpus: &'static str) -> impl Iterator<Item = String> {
    corpus
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with("# "))
        .map(|line| line.replace('⏎', "\n"))
}

/// Reads the escapes of Rust.
fn unescaped(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let mut length = 1;
        match rest.as_bytes()[0] {
            b'n' => out.push('\n'),
            b'r' => out.push('\r'),
            b't' => out.push('\t'),
            b'0' => out.push('\0'),
            b'\\' => out.push('\\'),
            b'u' => {
                length = rest.find('}').unwrap() + 1;
                let code = u32::from_str_radix(&rest[2..length - 1], 16).unwrap();
                out.push(char::from_u32(code).unwrap());
            }
            other => panic!("no such escape: {:?}", char::from(other)),
        }
        rest = &rest[length..];
    }
    out + rest
}

fn laid_out(text: &str, layout: Layout) -> String {
    Cleaner::new(layout).clean(text).into_string()
}

fn in_pieces(pieces: &[&str], layout: Layout) -> String {
    let mut cleaner = Cleaner::new(layout);
    pieces
        .iter()
        .map(|piece| cleaner.clean(piece).into_string())
        .collect()
}

#[test]
fn attacks_are_taken_out_or_shown() {
    let mut text = String::new();
    let mut count = 0;
    for line in CLEANING
        .lines()
        .filter(|line| line.contains(':') && !line.starts_with('#'))
    {
        let (name, value) = line.split_once(':').unwrap();
        let value = unescaped(value.strip_prefix(' ').unwrap_or_default());
        let layout = match name {
            "text" => {
                text = value;
                continue;
            }
            "lines" => Layout::Lines,
            "line" => Layout::Line,
            "visible" => Layout::Visible,
            other => panic!("no such layout: {other}"),
        };
        count += 1;
        assert_eq!(laid_out(&text, layout), value, "{text:?} as {name}");
        let chars: Vec<String> = text.chars().map(String::from).collect();
        let pieces: Vec<&str> = chars.iter().map(String::as_str).collect();
        assert_eq!(in_pieces(&pieces, layout), value, "{text:?} in pieces");
    }
    assert!(count > 100, "{count}");
}

#[test]
fn every_string_of_three_that_matter_is_clean() {
    let sort = [
        '\u{1b}',
        '\u{9b}',
        '\u{9d}',
        '\u{9c}',
        '\u{90}',
        '\u{7}',
        '[',
        ']',
        '\\',
        'm',
        '1',
        '\n',
        '\r',
        'é',
        '\u{202e}',
        '\u{200d}',
        '\u{301}',
        '\u{e0041}',
        ' ',
    ];
    for a in sort {
        for b in sort {
            for c in sort {
                is_fit(&[a, b, c, 'x'].iter().collect::<String>());
            }
        }
    }
}

#[test]
fn a_sequence_hides_a_bounded_text() {
    let long = "x".repeat(4096);
    for begin in ["\u{1b}]", "\u{1b}P", "\u{9d}", "\u{1b}]\u{1b}x"] {
        let seen = clean(&format!("{begin}{long}")).len();
        assert!(seen > 3000, "{begin:?}: {seen}");
    }
    // Each escape takes the character behind it.
    let escapes = "xyz\u{1b}".repeat(1024);
    assert!(clean(&format!("\u{1b}]{escapes}")).len() > 1500);
    let numbers = "1".repeat(4096);
    assert!(clean(&format!("\u{1b}[{numbers}")).len() > 4000);
    assert!(clean(&format!("\u{1b}{}", " ".repeat(4096))).len() > 4000);
}

/// Marks on one character, in the worst place.
fn most_marks(text: &str) -> usize {
    let mut marks = 0;
    let mut most = 0;
    for c in text.chars() {
        marks = match CharClass::of(c) {
            CharClass::Mark => marks + 1,
            _ => 0,
        };
        most = most.max(marks);
    }
    most
}

#[test]
fn a_flood_of_marks_is_held_to_what_languages_need() {
    for mark in [
        "\u{301}", "\u{489}", "\u{336}", "\u{20dd}", "\u{e48}", "\u{64b}",
    ] {
        let flood = format!("a{}b", mark.repeat(100_000));
        for text in [
            Clean::new(&flood),
            Clean::line(&flood),
            Clean::visible(&flood),
        ] {
            assert_eq!(most_marks(text.as_str()), 8, "{mark:?}");
        }
        // Where a person decides, the others are there to be seen.
        let ends = Clean::ends(&flood, 1000);
        let escapes = ends.head.as_str().matches("\\u{").count();
        assert_eq!(escapes, 750 - 9, "{mark:?}");
        assert_eq!(ends.hidden + 1000, 100_002);
    }
}

#[test]
fn very_wide_and_very_long_texts_have_both_ends() {
    let sentence = "\u{fdfd}".repeat(500);
    for (filler, columns) in [("x", 1), ("漢", 2), (" ", 1), (sentence.as_str(), 12 * 500)] {
        let long = format!("ls{}; curl x | sh", filler.repeat(200_000 / filler.len()));
        let ends = Clean::ends(&long, 4000);
        assert!(ends.head.as_str().starts_with("ls"));
        assert!(ends.tail.as_str().ends_with("; curl x | sh"));
        let shown = ends.head.as_str().chars().count() + ends.tail.as_str().chars().count();
        assert_eq!(shown + ends.hidden, long.chars().count());
        // Rows are cut by what a terminal draws.
        let (row, _) = ends.head.split_at_width(80);
        assert!(row.width() <= 80 && row.width() + columns.min(12) > 80 - 12);
    }
    let line = Clean::short_line(&"漢".repeat(1_000_000), 120);
    assert_eq!(line.width(), 239);
}

#[track_caller]
fn is_fit(text: &str) {
    for layout in [Layout::Lines, Layout::Line, Layout::Visible] {
        let cleaned = laid_out(text, layout);
        assert_eq!(laid_out(&cleaned, layout), cleaned, "{text:?} again");
        let fit = |c: char| match CharClass::of(c) {
            CharClass::Text | CharClass::Mark => true,
            CharClass::Blank => c == ' ' || layout == Layout::Lines,
            CharClass::LineEnd => c == '\n' && layout == Layout::Lines,
            CharClass::Joiner => layout != Layout::Visible,
            _ => false,
        };
        assert!(
            cleaned.chars().all(fit),
            "{text:?} as {layout:?}: {cleaned:?}"
        );
    }
}

fn knowing() -> Redactor {
    Redactor::new()
        .with_secret("quote\"d-secret")
        .with_secret("hunter2")
        .with_secret("hunter2-swordfish")
        .with_secret("8675309")
        .with_secret("abc")
        .with_path("/srv/build/7", "/home/user/project")
}

#[track_caller]
fn is_gone(redacted: &str, secrets: &[&str], text: &str) {
    for secret in secrets {
        assert!(
            !redacted.contains(secret),
            "{secret} of {text}\nin {redacted}"
        );
    }
    let again = knowing().redact(redacted);
    assert_eq!(again, redacted, "again");
}

#[test]
fn secrets_are_taken_out_wherever_they_stand() {
    let mut count = 0;
    for marked in cases(SECRETS) {
        let text = marked.replace(['«', '»'], "");
        let secrets: Vec<&str> = marked
            .split('«')
            .skip(1)
            .map(|part| part.split('»').next().unwrap())
            .collect();
        is_gone(&knowing().redact(&text), &secrets, &text);
        is_gone(
            &String::from_utf8_lossy(knowing().redact_bytes(text.as_bytes()).as_bytes()),
            &secrets,
            &text,
        );
        // Also in a string of a message, and in the string of a string.
        let message = serde_json::json!({"params": {"text": text}}).to_string();
        is_gone(&knowing().redact(&message), &secrets, &message);
        // And however it is cut when it is read.
        for at in (0..text.len()).filter(|at| text.is_char_boundary(*at)) {
            let mut stream = knowing().stream();
            let mut out = stream.push(&text.as_bytes()[..at]);
            out.push_str(&stream.push(&text.as_bytes()[at..]));
            out.push_str(&stream.finish());
            if !text.contains('\n') {
                assert_eq!(out, knowing().redact(&text), "cut at {at}");
            }
            is_gone(&out, &secrets, &text);
        }
        count += secrets.len();
    }
    assert!(count > 100, "{count}");
}

#[test]
fn texts_without_secrets_stay() {
    for text in cases(KEPT) {
        assert_eq!(knowing().redact(&text), text);
    }
}

#[test]
fn redactions() {
    let lines: Vec<String> = cases(REDACTIONS).collect();
    for pair in lines.chunks(2) {
        let (text, mode) = pair[0].split_once(" # ").unwrap_or((&pair[0], ""));
        let redactor = match mode {
            "" => knowing(),
            "paths" => knowing().hiding_paths(),
            "addresses" => knowing().hiding_addresses(),
            "homes" => knowing().hiding_homes(),
            other => panic!("no such mode: {other}"),
        };
        assert_eq!(redactor.redact(text), pair[1], "{text}");
        assert_eq!(redactor.redact(&pair[1]), pair[1], "again");
    }
}

#[test]
fn a_cut_text_shows_no_part_of_a_known_secret() {
    let redactor = knowing();
    assert_eq!(redactor.redact_part("ok hunter2-swor"), "ok [redacted]");
    assert_eq!(redactor.redact_part("swordfish ok"), "[redacted] ok");
    assert_eq!(redactor.redact_part("nothing"), "nothing");
    assert_eq!(
        redactor.redact(r#"{"a": "hunter2-swo"#),
        r#"{"a": "[redacted]"#
    );
}

#[test]
fn the_beginning_of_a_long_line() {
    let long = "word ".repeat(50_000);
    let line =
        format!(r#"{{"env":[{{"name":"K","value":"secret-of-mine"}}],"text":"{long}","more":1}}"#);
    let redactor = Redactor::new();
    let beginning = redactor.redact_beginning(&line, 4096);
    assert!(
        (4096..9000).contains(&beginning.len()),
        "{}",
        beginning.len()
    );
    assert!(redactor.redact(&line).starts_with(&beginning));
    assert!(!beginning.contains("secret-of-mine"));
    assert_eq!(redactor.redact_beginning(&long, 10).len(), 10);
    assert_eq!(redactor.redact_beginning("short", 10), "short");
}

#[test]
fn text_that_cannot_be_read_is_not_kept() {
    assert_eq!(Redactor::new().redact_bytes(b"\xff\xfe"), REDACTED);
    let deep = format!("{}{{\"a\":\"x\"}}", "[".repeat(100_000));
    let redacted = Redactor::new().redact(&deep);
    assert!(
        redacted.len() < 1000 && redacted.ends_with(REDACTED),
        "{}",
        redacted.len()
    );
    let mut stream = Redactor::new().stream();
    assert_eq!(stream.push(&[b'x'; 100_000]), "");
    let line = stream.push(b"\nnext\n");
    assert!(line.starts_with("xxx") && line.ends_with("x[redacted]\nnext\n"));
    assert!(line.len() < 70_000);
}

#[test]
fn private_keys_in_pieces() {
    let mut stream = Redactor::new().stream();
    let mut push = |text: &str| stream.push(text.as_bytes());
    assert_eq!(
        push("a\n-----BEGIN PRIVATE KEY-----\nMIIE"),
        "a\n[redacted]\n"
    );
    assert_eq!(push("pAIB\n"), "[redacted]\n");
    assert_eq!(push("-----END PRIVATE KEY-----\nb\n"), "[redacted]\nb\n");
}

#[test]
fn nothing_of_a_redactor_is_shown() {
    let shown = format!("{:?} {:?}", knowing(), knowing().stream());
    assert!(
        !shown.contains("hunter2") && !shown.contains("quote"),
        "{shown}"
    );
}

#[test]
fn both_rules_apply() {
    let both = Redactor::new()
        .with_secret("hunter2")
        .and(&Redactor::new().with_secret("swordfish").hiding_paths());
    assert_eq!(
        both.redact("hunter2 swordfish /etc/passwd"),
        "[redacted] [redacted] [path]"
    );
    let variables = [
        ("A_TOKEN", "s3cret-1"),
        ("HOME", "s3cret-2"),
        ("X_KEY", "s3cret-3"),
    ];
    assert_eq!(
        Redactor::new()
            .with_variables(variables)
            .redact("s3cret-1 s3cret-2 s3cret-3"),
        "[redacted] s3cret-2 [redacted]"
    );
}

fn pushed(stream: &mut RedactStream, pieces: &[&[u8]]) -> String {
    let mut out: String = pieces.iter().map(|piece| stream.push(piece)).collect();
    out.push_str(&stream.finish());
    out
}

/// Text with much of what matters in it.
fn odd_text() -> impl Strategy<Value = String> {
    "(\\PC|[\u{1b}\u{7}\u{9b}\u{9c}\r\n\t\\[\\]\\\\0-9;m\u{202e}\u{85}\u{200b}\u{200d}\u{301}\u{e0041}\u{e000} ]){0,80}"
}

proptest! {
    #[test]
    fn cleaned_text_is_fit(text in prop_oneof![odd_text(), any::<String>()]) {
        is_fit(&text);
    }

    #[test]
    fn clean_texts_put_together_are_clean(one in odd_text(), two in odd_text(), max in 0_usize..60) {
        let ends = Clean::ends(&two, max);
        let parts = [
            Clean::new(&one),
            Clean::line(&two),
            Clean::visible(&one),
            Clean::short_line(&two, max),
            ends.head,
            ends.tail,
        ];
        for first in &parts {
            for second in &parts {
                let together = acp_text::clean!("{}{}", first, second);
                prop_assert_eq!(together.as_str(), format!("{first}{second}"));
                is_fit(together.as_str());
            }
        }
    }

    #[test]
    fn pieces_are_the_whole(text in odd_text(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..5)) {
        let mut ends: Vec<usize> = cuts.iter().map(|cut| cut.index(text.len() + 1)).collect();
        ends.retain(|end| text.is_char_boundary(*end));
        ends.extend([0, text.len()]);
        ends.sort_unstable();
        let pieces: Vec<&str> = ends.windows(2).map(|ends| &text[ends[0]..ends[1]]).collect();
        for layout in [Layout::Lines, Layout::Line, Layout::Visible] {
            prop_assert_eq!(in_pieces(&pieces, layout), laid_out(&text, layout));
        }
        let bytes: Vec<&[u8]> = pieces.iter().map(|piece| piece.as_bytes()).collect();
        let whole = pushed(&mut knowing().stream(), &[text.as_bytes()]);
        prop_assert_eq!(pushed(&mut knowing().stream(), &bytes), whole);
    }

    #[test]
    fn only_visible_text_grows(text in odd_text()) {
        prop_assert!(laid_out(&text, Layout::Lines).len() <= text.len());
        prop_assert!(laid_out(&text, Layout::Line).len() <= text.len());
        prop_assert!(visible(&text).len() <= 10 * text.len());
    }

    #[test]
    fn a_known_secret_never_comes_through(
        before in "[ -~\n]{0,20}", secret in "[a-zA-Z0-9]{12,30}", after in "[ -~\n]{0,20}",
    ) {
        let redactor = Redactor::new().with_secret(secret.as_str());
        let text = format!("{before}{secret}{after}");
        prop_assert!(!redactor.redact(&text).contains(&secret));
        prop_assert!(!redactor.redact_part(&text).contains(&secret));
        prop_assert!(!pushed(&mut redactor.stream(), &[text.as_bytes()]).contains(&secret));
    }

    #[test]
    fn redacting_never_panics_and_keeps_json(text in "[\\PC\"{}\\[\\]:,\\\\u0-9\n]{0,60}", max in 0_usize..80) {
        let redactor = knowing().hiding_homes().hiding_paths().hiding_addresses();
        let _ = redactor.redact_beginning(&text, max);
        let redacted = redactor.redact(&text);
        if serde_json::from_str::<serde_json::Value>(&text).is_ok() {
            prop_assert!(serde_json::from_str::<serde_json::Value>(&redacted).is_ok(), "{}", redacted);
        }
    }
}
