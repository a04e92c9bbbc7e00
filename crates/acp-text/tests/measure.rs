//! Cutting and measuring.

use acp_text::{
    Secret, cut_bytes, cut_chars, escape_json, fit, fit_end, json_text, last_bytes, one_line,
    shorten_bytes, shorten_chars, shorten_counted, shorten_middle, shorten_width, width,
};
use proptest::prelude::*;

#[test]
fn one_line_of_bounded_length() {
    assert_eq!(one_line("abcdef", 4), "abc…");
    assert_eq!(one_line("abcd", 4), "abcd");
    assert_eq!(one_line("\u{1b}[2J", 4), "");
    assert_eq!(one_line(&"x".repeat(1 << 20), 3), "xx…");
    assert_eq!(
        one_line(&format!("{}rm", "\u{200b}".repeat(9000)), 80),
        "rm"
    );
}

#[test]
fn shortened_texts_say_so_where_there_is_room() {
    assert_eq!(shorten_bytes("日本語", 9), "日本語");
    assert_eq!(shorten_bytes("日本語", 8), "日…");
    assert_eq!(shorten_bytes("日本語", 3), "…");
    assert_eq!(shorten_bytes("日本語", 2), "");
    assert_eq!(shorten_chars("日本語", 2), "日…");
    assert_eq!(shorten_chars("日本語", 0), "");
    assert_eq!(last_bytes("日本語", 4), "語");
    assert_eq!(last_bytes("日本語", 99), "日本語");
    assert_eq!(shorten_counted("日本語", 2), "日本… (9 bytes)");
    assert_eq!(shorten_counted("日本語", 3), "日本語");
    assert_eq!(shorten_middle("abcdefgh", 4), "ab … gh");
    assert_eq!(shorten_middle("abcd", 4), "abcd");
}

#[test]
fn cuts_fall_between_characters_that_are_seen() {
    assert_eq!(shorten_width("abcdef", 6, "…"), "abcdef");
    assert_eq!(shorten_width("abcdef", 5, "…"), "abcd…");
    assert_eq!(shorten_width("日本語", 5, "…"), "日本…");
    assert_eq!(shorten_width("日本語", 4, "…"), "日…");
    assert_eq!(
        shorten_width("e\u{301}e\u{301}e\u{301}", 2, "…"),
        "e\u{301}…"
    );
    assert_eq!(
        shorten_width("👩\u{200d}👩\u{200d}👧", 5, "…"),
        "👩\u{200d}👩…"
    );
    assert_eq!(shorten_width("abc", 1, "…"), "…");
    assert_eq!(fit("abc", 0), "");
    assert_eq!(fit_end("日本語", 5), "本語");
    assert_eq!(fit_end("abc", 9), "abc");
    assert_eq!(width("﷽"), 12);
}

#[test]
fn strings_of_json() {
    assert_eq!(json_text(r#" "a\nb" "#).as_deref(), Some("a\nb"));
    assert_eq!(json_text(r#""\ud83d\ude00\/""#).as_deref(), Some("😀/"));
    assert_eq!(json_text(r#""a\ud800b""#).as_deref(), Some("a\u{fffd}b"));
    for other in ["null", "7", "[1, 2]", r#"["a"]"#, "{}", "true", "\""] {
        assert_eq!(json_text(other), None, "{other}");
    }
}

#[test]
fn json_for_a_screen_means_the_same() {
    let text = "\"a\u{9b}2J é\u{7f} \u{a0}\u{80}\u{202e}你\u{e0041}\u{2028}\"";
    let escaped = escape_json(text);
    assert!(!escaped.contains(|c: char| c.is_control() || c > '\u{ffff}'));
    assert!(escaped.contains("\\u202e") && escaped.contains("\\udb40\\udc41"));
    let (before, after): (String, String) = (
        serde_json::from_str(text).unwrap(),
        serde_json::from_str(&escaped).unwrap(),
    );
    assert_eq!(before, after);
}

#[test]
fn nothing_shows_a_secret() {
    let secrets = [Secret::from("s3cret"), Secret::from(String::from("s3cret"))];
    let shown = format!("{secrets:?} {secrets:#?}");
    assert!(!shown.contains("s3cret"), "{shown}");
    assert!(shown.contains("***"), "{shown}");
    assert!(!secrets[0].is_empty() && Secret::from("").is_empty());
}

proptest! {
    #[test]
    fn cutting_is_exact(text in "\\PC{0,40}", max in 0_usize..60) {
        let chars: String = text.chars().take(max).collect();
        prop_assert_eq!(cut_chars(&text, max), chars);
        // The longest beginning that fits, found from the characters.
        let longest = (0..=text.chars().count())
            .map(|n| text.chars().take(n).collect::<String>())
            .rfind(|beginning| beginning.len() <= max)
            .unwrap_or_default();
        prop_assert_eq!(cut_bytes(&text, max), longest);
        let shown = shorten_bytes(&text, max);
        prop_assert!(shown.len() <= max);
        prop_assert_eq!(shown == text, text.len() <= max);
        let end = last_bytes(&text, max);
        prop_assert!(text.ends_with(end) && end.len() <= max);
        prop_assert!(text.len() - end.len() < 4 + text.len().saturating_sub(max));
        prop_assert!(one_line(&text, max).chars().count() <= max);
        prop_assert!(width(fit(&text, max)) <= max && width(fit_end(&text, max)) <= max);
    }
}
