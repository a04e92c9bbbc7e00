use super::*;

fn read(line: &[u8], limits: &Limits) -> Result<Head, Refused> {
    super::check(line, limits).and_then(|()| super::read(line))
}

#[track_caller]
fn check(line: &str, expected: &str) {
    let told = |head: Result<Head, Refused>| match head {
        Ok(head) => {
            let body = match &head.body {
                Body::Absent => "-",
                Body::Exact(range) => &line[range.clone()],
                Body::From(start) => &line[*start..],
            };
            let method = match &head.method {
                Some(Method::Span(range)) => line[range.clone()].to_owned(),
                Some(Method::Text(text)) => format!("{text} (escaped)"),
                None => "-".to_owned(),
            };
            format!("{:?} {:?} {method} {body}", head.shape, head.id)
        }
        Err(refused) => format!(
            "{:?} {:?} {:?}",
            refused.issues, refused.id, refused.attempt
        ),
    };
    assert_eq!(
        told(read(line.as_bytes(), &Limits::default())),
        expected,
        "{line}"
    );
}

#[test]
fn shapes() {
    check(
        r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{}}"#,
        "Request Some(Number(1)) m {}",
    );
    check(
        r#"{"params":[1],"method":"m","id":"a","jsonrpc":"2.0"}"#,
        r#"Request Some(Text("a")) m [1]"#,
    );
    check(r#"{"jsonrpc":"2.0","method":"m"}"#, "Notification None m -");
    check(
        r#"{"jsonrpc":"2.0","method":"session\/update","params":{}}"#,
        "Notification None session/update (escaped) {}",
    );
    check(
        r#"{"jsonrpc":"2.0","id":1,"result":null,"later":1}"#,
        "Result Some(Number(1)) - null,\"later\":1}",
    );
    check(
        r#"{"jsonrpc":"2.0","later":1,"id":1,"result":null}"#,
        "Result Some(Number(1)) - null",
    );
    check(
        r#"{"jsonrpc":"2.0","id":"","error":{"code":-1,"message":"no","data":1}}"#,
        r#"Error Some(Text("")) - {"code":-1,"message":"no","data":1}"#,
    );
}

#[test]
fn the_fast_scan_reads_what_comes_in_floods() {
    let update =
        r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{}}}"#;
    assert_eq!(scan(update.as_bytes()).unwrap().body, Body::From(52));
    assert!(scan(r#"{"jsonrpc":"2.0","id":7,"result":{}}"#.as_bytes()).is_some());
    for unsure in [
        r#"{"method":"session/update","params":{"update":{}}}"#,
        r#"{"jsonrpc":"2.0","method":"session/update","params":{"update":{}},"id":1}"#,
        r#"{"jsonrpc":"2.0","id":1,"id":2,"result":{}}"#,
        r#"{"jsonrpc":"1.0","id":1,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":01,"result":{}}"#,
    ] {
        assert_eq!(scan(unsure.as_bytes()), None, "{unsure}");
    }
}

#[test]
fn refusals() {
    check("", "{MalformedJson} None Unknown");
    check("{\"jsonrpc\":", "{MalformedJson} None Unknown");
    check("[]", "{NotAnObject} None Unknown");
    check("7", "{NotAnObject} None Unknown");
    check("null", "{NotAnObject} None Unknown");
    check("{} {}", "{TrailingData} None Unknown");
    check(
        r#"{"jsonrpc":"2.0","id":1,"id":1,"method":"m"}"#,
        "{DuplicateField} Some(Number(1)) Call",
    );
    check(
        r#"{"id":1,"method":"m"}"#,
        "{WrongVersion} Some(Number(1)) Call",
    );
    check(
        r#"{"jsonrpc":"2.0","id":1,"method":""}"#,
        "{InvalidMethodType} Some(Number(1)) Call",
    );
    check(
        r#"{"jsonrpc":"2.0","id":1,"method":null}"#,
        "{InvalidMethodType} Some(Number(1)) Call",
    );
    check(
        r#"{"jsonrpc":"2.0","id":1.0,"method":"m"}"#,
        "{InvalidIdType} None Call",
    );
    check(
        r#"{"jsonrpc":"2.0","id":1e2,"method":"m"}"#,
        "{InvalidIdType} None Call",
    );
    check(
        r#"{"jsonrpc":"2.0","id":{},"method":"m"}"#,
        "{InvalidIdType} None Call",
    );
    check(
        r#"{"jsonrpc":"2.0","id":9223372036854775808,"method":"m"}"#,
        "{InvalidIdType} None Call",
    );
    check(
        r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#,
        "{AmbiguousShape} Some(Null) Call",
    );
    check(
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":"x"}}"#,
        "{MalformedErrorObject} Some(Number(1)) Answer",
    );
    check(
        r#"{"id":1,"result":1,"error":{"code":1,"message":""},"jsonrpc":"2.0"}"#,
        "{BothResultAndError} Some(Number(1)) Answer",
    );
    check(
        r#"{"jsonrpc":"2.0","id":null,"result":1}"#,
        "{MissingId} Some(Null) Answer",
    );
    check(
        r#"{"jsonrpc":"2.0","id":1}"#,
        "{AmbiguousShape} Some(Number(1)) Unknown",
    );
    check(
        r#"{"jsonrpc":"2.0","id":1,"method":"m","result":1}"#,
        "{AmbiguousShape} Some(Number(1)) Call",
    );
}

#[test]
fn nesting_is_limited_to_the_last_level() {
    let nest = |levels: usize| {
        format!(
            r#"{{"jsonrpc":"2.0","method":"m","params":{}{}}}"#,
            "[".repeat(levels),
            "]".repeat(levels)
        )
    };
    assert!(read(nest(127).as_bytes(), &Limits::default()).is_ok());
    let refused = read(nest(128).as_bytes(), &Limits::default()).unwrap_err();
    assert_eq!(format!("{:?}", refused.issues), "{ExcessiveNesting}");
    let quoted = format!(
        r#"{{"jsonrpc":"2.0","method":"m","params":"{}\"["}}"#,
        "[".repeat(500)
    );
    assert!(read(quoted.as_bytes(), &Limits::default()).is_ok());
}

#[test]
fn invalid_utf8_is_malformed() {
    let refused = read(
        b"{\"jsonrpc\":\"2.0\",\"method\":\"\xff\"}",
        &Limits::default(),
    )
    .unwrap_err();
    assert_eq!(format!("{:?}", refused.issues), "{MalformedJson}");
}

proptest::proptest! {
    /// Whatever stands in a request, and in whatever order: the scan says what the
    /// parse says, or nothing.
    #[test]
    fn the_scan_of_a_request_is_its_parse(
        members in proptest::collection::vec(
            proptest::sample::select(vec![
                r#""jsonrpc":"2.0""#,
                r#""jsonrpc" : "2.0" "#,
                r#""jsonrpc":"1.0""#,
                r#""id":1"#,
                r#""id":"a""#,
                r#""id":-0"#,
                r#""id":null"#,
                r#""method":"m""#,
                r#""method":"""#,
                r#""method":"m\n""#,
                "\"method\":\"m\n\"",
                r#""method":7"#,
                r#""params":{"a":[1,"}"]}"#,
                r#""params": null "#,
                r#""params":7"#,
                r#""params":{"a":}"#,
                r#""result":{}"#,
                r#""later":{}"#,
            ]),
            2..6,
        ),
        end in proptest::sample::select(vec!["}", " } ", "}}", ",}", ""]),
    ) {
        let line = format!("{{{}{end}", members.join(","));
        if let Some(scanned) = scan(line.as_bytes())
            && scanned.shape == Shape::Request
        {
            assert_eq!(parse(line.as_bytes()), Ok(scanned), "{line}");
        }
    }
}

#[test]
fn values_are_limited_outside_of_texts() {
    let limits = Limits::default().with_max_values(1000);
    let wrap =
        |params: &str| format!(r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{params}}}"#);
    // The object of the message, its four members and the array count for five.
    let many = |count: usize| wrap(&format!("[{}0]", "0,".repeat(count)));
    assert!(read(many(995).as_bytes(), &limits).is_ok());
    let refused = read(many(996).as_bytes(), &limits).unwrap_err();
    assert_eq!(
        format!(
            "{:?} {:?} {:?}",
            refused.issues, refused.id, refused.attempt
        ),
        "{ExcessiveValues} Some(Number(1)) Call"
    );
    let nested = wrap(&format!("[{}0]", "[],".repeat(500)));
    assert!(read(nested.as_bytes(), &limits).is_err());
    let text = wrap(&format!(
        r#"{{"a":"{}\"{}"}}"#,
        ",[{".repeat(2000),
        ",".repeat(2000)
    ));
    assert!(read(text.as_bytes(), &limits).is_ok());
}

#[test]
fn ids_are_no_longer_than_a_kibibyte() {
    for version in ["\"jsonrpc\":\"2.0\",", ""] {
        let request = |length: usize| {
            let id = "i".repeat(length);
            // With the version last, the full parse reads it.
            let last = if version.is_empty() {
                ",\"jsonrpc\":\"2.0\""
            } else {
                ""
            };
            format!(r#"{{{version}"id":"{id}","method":"m","params":{{}}{last}}}"#)
        };
        assert!(read(request(1024).as_bytes(), &Limits::default()).is_ok());
        let refused = read(request(1025).as_bytes(), &Limits::default()).unwrap_err();
        assert_eq!(format!("{:?}", refused.issues), "{InvalidIdType}");
    }
}
