//! Secrets planted in many shapes: none of them comes through, however the text arrives.

use acp_text::Redactor;

const PLANTED: &str = include_str!("corpus/planted.txt");

/// Characters of a secret that give it away.
const PART: usize = 8;

/// A text with secrets in it.
struct Planted {
    shape: &'static str,
    text: String,
    secrets: Vec<String>,
}

fn planted() -> Vec<Planted> {
    let mut shape = "";
    let mut all = Vec::new();
    for line in PLANTED.lines() {
        if let Some(name) = line.strip_prefix("## ") {
            shape = name;
        } else if !shape.is_empty() && !line.is_empty() {
            let marked = line.replace('⏎', "\n").replace('⇥', "\t");
            let secrets = marked.split('«').skip(1);
            let secrets = secrets.map(|part| part.split('»').next().unwrap().to_owned());
            all.push(Planted {
                shape,
                secrets: secrets.collect(),
                text: marked.replace(['«', '»'], ""),
            });
        }
    }
    all
}

/// A redactor of a user with the variables of the corpus.
fn redactor() -> Redactor {
    let lines = PLANTED.lines().filter_map(|line| line.strip_prefix("$ "));
    Redactor::new().with_variables(lines.map(|line| line.split_once('=').unwrap()))
}

impl Planted {
    /// Returns the part of a secret that a text shows.
    fn shown_in<'a>(&self, text: &'a str) -> Option<&'a str> {
        self.secrets.iter().find_map(|secret| {
            let chars: Vec<char> = secret.chars().collect();
            let mut parts = chars.windows(PART.min(chars.len()));
            parts.find_map(|part| {
                let part: String = part.iter().collect();
                let at = text.find(&part)?;
                Some(&text[at..at + part.len()])
            })
        })
    }

    /// Notes what a text shows.
    fn look(&self, redacted: &str, shown: &mut String) {
        if let Some(part) = self.shown_in(redacted) {
            let Self { shape, text, .. } = self;
            *shown += &format!("{shape}: {part} of {text}\n  in {redacted}\n");
        }
    }
}

#[test]
fn there_are_300_in_60_shapes() {
    let all = planted();
    let mut shapes: Vec<&str> = all.iter().map(|planted| planted.shape).collect();
    shapes.dedup();
    let secrets = all.iter().map(|planted| planted.secrets.len());
    assert!(shapes.len() >= 60, "{} shapes", shapes.len());
    assert!(secrets.sum::<usize>() >= 300);
    for planted in &all {
        assert!(!planted.secrets.is_empty(), "{}", planted.text);
        assert!(
            planted.shown_in(&planted.text).is_some(),
            "{}",
            planted.text
        );
    }
}

#[test]
fn none_comes_through_at_once() {
    let redactor = redactor();
    let mut shown = String::new();
    for planted in planted() {
        let text = &planted.text;
        let message = serde_json::json!({"params": {"text": text}}).to_string();
        let mut all = vec![
            redactor.redact(text),
            redactor.redact_part(text),
            redactor.redact(&message),
        ];
        all.extend(redactor.redact_json(text.as_bytes()));
        all.extend(redactor.redact_json(message.as_bytes()));
        for end in 0..text.len() {
            planted.look(&redactor.redact_beginning(text, end), &mut shown);
        }
        for redacted in all {
            planted.look(&redacted, &mut shown);
            let again = redactor.redact(&redacted);
            if again != redacted {
                shown += &format!("{redacted}\n  became {again}\n");
            }
        }
    }
    assert!(shown.is_empty(), "{shown}");
}

#[test]
fn none_comes_through_a_stream_that_is_split_at_any_byte() {
    let redactor = redactor();
    let mut shown = String::new();
    for planted in planted() {
        let bytes = planted.text.as_bytes();
        for at in 0..bytes.len() {
            let mut stream = redactor.stream();
            let mut out = stream.push(&bytes[..at]);
            out += &stream.push(&bytes[at..]);
            out += &stream.finish();
            planted.look(&out, &mut shown);
            if !shown.is_empty() {
                break;
            }
        }
        let mut stream = redactor.stream();
        let mut out: String = bytes.iter().map(|byte| stream.push(&[*byte])).collect();
        out += &stream.finish();
        planted.look(&out, &mut shown);
    }
    assert!(shown.is_empty(), "{shown}");
}
