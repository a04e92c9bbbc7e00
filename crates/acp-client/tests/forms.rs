//! Whether an answer fits a form, held against a validator of JSON Schema.

use acp_client::ElicitationAnswer;
use acp_client::elicitation::{ElicitationForm, FieldError};
use acp_protocol::v1::{ElicitationContentValue, ElicitationSchema, StringFormat};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

fn schema(properties: Value, required: Value) -> ElicitationSchema {
    let schema = json!({"type": "object", "properties": properties, "required": required});
    serde_json::from_value(schema).unwrap()
}

/// Makes an answer of a JSON object.
fn answer(content: &Map<String, Value>) -> ElicitationAnswer {
    content
        .iter()
        .fold(ElicitationAnswer::accept(), |answer, (name, value)| {
            let value: ElicitationContentValue = serde_json::from_value(value.clone()).unwrap();
            answer.with(name.as_str(), value)
        })
}

/// Checks the field `f` of a form that has no other.
#[track_caller]
fn check(property: &Value, value: Value, expected: Option<FieldError>) {
    let schema = schema(json!({ "f": property }), json!([]));
    let content = Map::from_iter([("f".to_owned(), value)]);
    let found = ElicitationForm::new(&schema).check(&answer(&content));
    let found = found.err().map(|faults| {
        assert_eq!(faults.len(), 1);
        assert_eq!(faults[0].field, "f");
        faults[0].misfit.clone()
    });
    assert_eq!(found, expected, "{property} {content:?}");
}

#[test]
fn text() {
    let short = json!({"type": "string", "minLength": 2, "maxLength": 3});
    check(&short, json!("ab"), None);
    check(&short, json!("äöü"), None);
    check(&short, json!("é"), Some(FieldError::TooShort { least: 2 }));
    check(&short, json!("abcd"), Some(FieldError::TooLong { most: 3 }));
    let not_text = Some(FieldError::WrongType { expected: "string" });
    check(&short, json!(12), not_text.clone());
    check(&short, json!(true), not_text.clone());
    check(&short, json!(["ab"]), not_text.clone());
    check(&short, json!(null), not_text.clone());
    check(&short, json!({"ab": 1}), not_text);
}

#[test]
fn choices() {
    let plain = json!({"type": "string", "enum": ["a", "b"]});
    check(&plain, json!("b"), None);
    check(&plain, json!("c"), Some(FieldError::NoSuchChoice));
    let titled = json!({"type": "string", "oneOf": [{"const": "a", "title": "A"}]});
    check(&titled, json!("a"), None);
    check(&titled, json!("A"), Some(FieldError::NoSuchChoice));
    let several = json!({
        "type": "array", "minItems": 1, "maxItems": 2,
        "items": {"anyOf": [{"const": "a", "title": "A"}, {"const": "b", "title": "B"}, {"const": "c", "title": "C"}]},
    });
    check(&several, json!(["c", "a"]), None);
    check(&several, json!(["a", "d"]), Some(FieldError::NoSuchChoice));
    check(&several, json!([]), Some(FieldError::TooShort { least: 1 }));
    check(
        &several,
        json!(["a", "b", "c"]),
        Some(FieldError::TooLong { most: 2 }),
    );
    check(
        &several,
        json!("a"),
        Some(FieldError::WrongType { expected: "array" }),
    );
}

#[test]
fn numbers() {
    let whole = json!({"type": "integer", "minimum": -1, "maximum": 1});
    check(&whole, json!(0), None);
    check(&whole, json!(-2), Some(FieldError::TooSmall));
    check(&whole, json!(2), Some(FieldError::TooGreat));
    check(
        &whole,
        json!(0.5),
        Some(FieldError::WrongType {
            expected: "integer",
        }),
    );
    check(
        &whole,
        json!("0"),
        Some(FieldError::WrongType {
            expected: "integer",
        }),
    );
    let any = json!({"type": "number", "minimum": 0.5, "maximum": 1.5});
    check(&any, json!(0.5), None);
    check(&any, json!(1), None);
    check(&any, json!(0), Some(FieldError::TooSmall));
    check(&any, json!(2), Some(FieldError::TooGreat));
    check(&any, json!(1.75), Some(FieldError::TooGreat));
    check(
        &any,
        json!(true),
        Some(FieldError::WrongType { expected: "number" }),
    );
    let schema = schema(json!({"f": any}), json!([]));
    for strange in [f64::NAN, f64::INFINITY] {
        let faults =
            ElicitationForm::new(&schema).check(&ElicitationAnswer::accept().with("f", strange));
        assert_eq!(faults.unwrap_err().len(), 1, "JSON has no {strange}");
    }
}

#[test]
fn patterns_and_formats() {
    let pattern = json!({"type": "string", "pattern": "^v[0-9]+$"});
    check(&pattern, json!("v12"), None);
    check(&pattern, json!("v12\n"), Some(FieldError::PatternMismatch));
    let part = json!({"type": "string", "pattern": "b+"});
    check(&part, json!("abba"), None);
    // What cannot be read here, or costs too much, is left to the agent.
    for unread in [
        "(?=x)",
        "(",
        "((a{1,1000}){1,1000}){1,1000}",
        &"a".repeat(1025),
    ] {
        check(
            &json!({"type": "string", "pattern": unread}),
            json!("y"),
            None,
        );
    }
    // Much work for those who try each way in turn.
    let text = "a".repeat(1000) + "b";
    let slow = json!({"type": "string", "pattern": "^(a+)+$"});
    check(&slow, json!(text), Some(FieldError::PatternMismatch));
    let date = json!({"type": "string", "format": "date"});
    check(&date, json!("2026-11-30"), None);
    let misfit = FieldError::FormatMismatch(StringFormat::Date);
    check(&date, json!("30.11.2026"), Some(misfit));
    check(
        &json!({"type": "string", "format": "_moon"}),
        json!("x"),
        None,
    );
}

#[test]
fn what_nobody_knows_cannot_be_filled_in() {
    let odd = json!({"type": "_slider", "from": 1});
    check(&odd, json!(1), Some(FieldError::UnknownKind));
    let items = json!({"type": "array", "items": {"type": "number"}});
    check(&items, json!(["1"]), Some(FieldError::UnknownKind));
    let properties = json!({"a": {"type": "string"}, "b": odd, "c": items});
    let needless = schema(properties.clone(), json!(["a"]));
    let form = ElicitationForm::new(&needless);
    assert!(form.is_answerable());
    assert!(form.is_required("a") && !form.is_required("b"));
    let shown: Vec<_> = form.fields().map(|(name, _)| name).collect();
    assert_eq!(shown, ["a"], "R222");
    form.check(&ElicitationAnswer::accept().with("a", "x"))
        .unwrap();
    for impossible in [json!(["a", "b"]), json!(["c"]), json!(["never heard of"])] {
        assert!(!ElicitationForm::new(&schema(properties.clone(), impossible)).is_answerable());
    }
    let mut list = needless;
    list.kind = "list".into();
    let form = ElicitationForm::new(&list);
    assert!(!form.is_answerable());
    form.check(&ElicitationAnswer::accept().with("a", "x"))
        .unwrap_err();
    form.check(&ElicitationAnswer::decline()).unwrap();
}

#[test]
fn fields_are_checked_one_by_one() {
    let schema = schema(
        json!({"a": {"type": "string"}, "b": {"type": "boolean"}}),
        json!(["a"]),
    );
    let form = ElicitationForm::new(&schema);
    let answer = ElicitationAnswer::accept().with("b", "yes").with("c", 1);
    assert_eq!(form.check_field(&answer, "a"), Err(FieldError::Missing));
    let wrong = FieldError::WrongType {
        expected: "boolean",
    };
    assert_eq!(form.check_field(&answer, "b"), Err(wrong));
    assert_eq!(form.check_field(&answer, "c"), Err(FieldError::NoSuchField));
    assert_eq!(
        form.check_field(&answer.clone().with("b", true), "b"),
        Ok(())
    );
    let faults = form.check(&answer).unwrap_err();
    let said: Vec<_> = faults.iter().map(ToString::to_string).collect();
    assert_eq!(
        said,
        [
            r#""a" must be filled in"#,
            r#""b" must be of the type boolean"#,
            r#""c" is no field of the form"#,
        ]
    );
}

#[test]
fn what_the_agent_proposes_is_filled_in() {
    let schema = schema(
        json!({
            "a": {"type": "string", "default": "x"},
            "b": {"type": "number", "default": 1.5},
            "c": {"type": "integer", "default": 2},
            "d": {"type": "boolean", "default": false},
            "e": {"type": "array", "items": {"type": "string", "enum": ["p", "q"]}, "default": ["q"]},
            "f": {"type": "string"},
        }),
        json!(["a"]),
    );
    let expected = ElicitationAnswer::accept()
        .with("a", "x")
        .with("b", 1.5)
        .with("c", 2)
        .with("d", false)
        .with_choices("e", ["q"]);
    assert_eq!(ElicitationForm::new(&schema).defaults(), expected);
    ElicitationForm::new(&schema).check(&expected).unwrap();
}

/// Properties of every kind, with bounds that random values meet and miss.
fn property() -> impl Strategy<Value = Value> {
    let bounds = || (prop::option::of(-3..3i64), prop::option::of(-3..3i64));
    let lengths = || (prop::option::of(0..3u32), prop::option::of(0..3u32));
    let choices = || prop::collection::vec("[abc]", 1..4);
    let with = |mut property: Value, low: (&str, Value), high: (&str, Value)| {
        for (name, bound) in [low, high] {
            if !bound.is_null() {
                property[name] = bound;
            }
        }
        property
    };
    let titled = |choices: &[String]| {
        let mut options: Vec<Value> = Vec::new();
        for choice in choices {
            let option = json!({"const": choice, "title": "t"});
            // One of them must match, not two.
            if !options.contains(&option) {
                options.push(option);
            }
        }
        json!(options)
    };
    prop_oneof![
        (
            lengths(),
            prop::option::of(prop::sample::select(vec!["^a", "b$", "[ab]{2}", "."]))
        )
            .prop_map(move |((least, most), pattern)| {
                let property = with(
                    json!({"type": "string"}),
                    ("minLength", json!(least)),
                    ("maxLength", json!(most)),
                );
                with(property, ("pattern", json!(pattern)), ("", Value::Null))
            }),
        choices().prop_map(|choices| json!({"type": "string", "enum": choices})),
        choices().prop_map(move |choices| json!({"type": "string", "oneOf": titled(&choices)})),
        bounds().prop_map(move |(least, most)| with(
            json!({"type": "integer"}),
            ("minimum", json!(least)),
            ("maximum", json!(most))
        )),
        bounds().prop_map(move |(least, most)| with(
            json!({"type": "number"}),
            (
                "minimum",
                json!(least.map(|least| 0.5 + f64::from(i8::try_from(least).unwrap())))
            ),
            ("maximum", json!(most))
        )),
        Just(json!({"type": "boolean"})),
        (choices(), lengths(), any::<bool>()).prop_map(move |(choices, (least, most), plain)| {
            let items = if plain {
                json!({"type": "string", "enum": choices})
            } else {
                json!({"anyOf": titled(&choices)})
            };
            with(
                json!({"type": "array", "items": items}),
                ("minItems", json!(least)),
                ("maxItems", json!(most)),
            )
        }),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        "[abcä]{0,4}".prop_map(Value::from),
        (-4..4i64).prop_map(Value::from),
        // Never whole: 1.0 is an integer for JSON Schema and none for the protocol's types.
        (-4..4i8).prop_map(|number| json!(f64::from(number) + 0.25)),
        any::<bool>().prop_map(Value::from),
        prop::collection::vec("[abcd]", 0..4).prop_map(Value::from),
    ]
}

proptest! {
    #[test]
    fn a_validator_of_json_schema_agrees(
        properties in prop::collection::btree_map("[p-s]", property(), 1..4),
        required in prop::collection::btree_set("[p-s]", 0..3),
        content in prop::collection::btree_map("[p-s]", value(), 0..4),
    ) {
        let properties = Value::Object(properties.into_iter().collect());
        let content: Map<String, Value> = content.into_iter().collect();
        let ours = schema(properties.clone(), json!(required));
        let theirs = json!({
            "type": "object", "properties": properties, "required": required,
            // What was not asked for is not sent.
            "additionalProperties": false,
        });
        let expected = jsonschema::is_valid(&theirs, &Value::Object(content.clone()));
        let found = ElicitationForm::new(&ours).check(&answer(&content));
        prop_assert_eq!(found.is_ok(), expected, "{} {:?} {:?}", theirs, content, found);
    }
}
