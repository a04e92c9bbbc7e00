use std::collections::{BTreeSet, HashMap};

use serde::Deserialize;

use super::*;

#[derive(Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(rename_all = "camelCase")]
enum Engine {
    Sqlite,
    /// For many machines.
    #[schemars(title = "PostgreSQL")]
    Postgres,
    InMemory,
}

#[derive(Debug, Deserialize, JsonSchema, PartialEq, Eq, PartialOrd, Ord)]
enum Extra {
    Backup,
    Metrics,
}

/// Where the data go.
#[derive(Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
struct Database {
    /// The one to use.
    engine: Engine,
    #[schemars(title = "Its name", length(min = 2, max = 8))]
    name: String,
    port: Option<u16>,
    #[schemars(range(min = 0.5, max = 2.0))]
    load_factor: f64,
    #[serde(default)]
    read_only: bool,
    extras: BTreeSet<Extra>,
    fallback: Option<Engine>,
    #[serde(default = "two")]
    max_connections: u64,
    #[schemars(extend("format" = "date"))]
    since: Option<String>,
}

fn two() -> u64 {
    2
}

fn texts_of(options: &[FormOption]) -> Vec<(&str, &str, Option<&str>)> {
    let texts = options.iter().map(|option| {
        let description = option.description.as_deref();
        (&*option.id, &*option.title, description)
    });
    texts.collect()
}

#[test]
fn a_struct_is_a_form() {
    let question = Question::of::<Database>().unwrap();
    assert_eq!(question.description.as_deref(), Some("Where the data go."));
    let fields = &question.form.fields;
    let names: Vec<_> = fields.iter().map(|field| field.name.as_str()).collect();
    let want = [
        "engine",
        "name",
        "port",
        "load_factor",
        "read_only",
        "extras",
        "fallback",
        "max_connections",
        "since",
    ];
    assert_eq!(names, want, "the order of the type");
    let get = |name: &str| fields.iter().find(|field| field.name == name).unwrap();
    let summary = |name: &str| {
        let field = get(name);
        (&*field.title, field.is_required, field.default.clone())
    };
    assert_eq!(summary("engine"), ("Engine", true, None));
    assert_eq!(
        get("engine").description.as_deref(),
        Some("The one to use.")
    );
    assert_eq!(summary("name"), ("Its name", true, None));
    assert_eq!(summary("port"), ("Port", false, None));
    assert_eq!(summary("load_factor"), ("Load factor", true, None));
    let unset = Some(FormValue::Flag(false));
    assert_eq!(summary("read_only"), ("Read only", false, unset));
    assert_eq!(summary("fallback"), ("Fallback", false, None));
    let default = Some(FormValue::Integer(2));
    assert_eq!(
        summary("max_connections"),
        ("Max connections", false, default)
    );

    let FieldKind::Select { options } = &get("engine").kind else {
        panic!("{:?}", get("engine"));
    };
    let want = [
        ("sqlite", "Sqlite", None),
        ("postgres", "PostgreSQL", Some("For many machines.")),
        ("inMemory", "In memory", None),
    ];
    assert_eq!(texts_of(options), want);
    assert!(matches!(&get("fallback").kind, FieldKind::Select { options } if options.len() == 3));
    assert_eq!(
        get("name").kind,
        FieldKind::Text(TextRule::new().with_min_chars(2).with_max_chars(8))
    );
    assert_eq!(
        get("port").kind,
        FieldKind::Integer {
            min: Some(0),
            max: Some(65535)
        }
    );
    assert_eq!(
        get("load_factor").kind,
        FieldKind::Number {
            min: Some(0.5),
            max: Some(2.0)
        }
    );
    assert_eq!(get("read_only").kind, FieldKind::Confirm);
    assert!(matches!(
        &get("extras").kind,
        FieldKind::MultiSelect { options, min: None, max: None } if options.len() == 2
    ));
    assert_eq!(
        get("since").kind,
        FieldKind::Text(TextRule::new().with_format(TextFormat::Date))
    );
}

#[test]
fn an_answer_becomes_the_type() {
    let question = Question::of::<Database>().unwrap();
    let text = |text: &str| FormValue::Text(text.into());
    let answer = [
        ("engine", text("inMemory")),
        ("name", text("main")),
        ("load_factor", FormValue::Integer(1)),
        ("extras", FormValue::Choices(vec!["Metrics".into()])),
    ];
    let answer: BTreeMap<_, _> = answer.map(|(name, value)| (name.to_owned(), value)).into();
    question.form.check_answer(&answer).unwrap();
    let decoded: Database = question.decode(answer).unwrap();
    let want = Database {
        engine: Engine::InMemory,
        name: "main".into(),
        port: None,
        load_factor: 1.0,
        read_only: false,
        extras: BTreeSet::from([Extra::Metrics]),
        fallback: None,
        max_connections: 2,
        since: None,
    };
    assert_eq!(decoded, want);
}

#[test]
fn one_value_is_a_form_of_one_field() {
    fn ask<T: JsonSchema + DeserializeOwned>(answer: FormValue) -> T {
        let question = Question::of::<T>().unwrap();
        let answer = BTreeMap::from([(ANSWER.to_owned(), answer)]);
        question.form.check_answer(&answer).unwrap();
        question.decode(answer).unwrap()
    }
    assert_eq!(ask::<String>(FormValue::Text("Ada".into())), "Ada");
    assert_eq!(
        ask::<Engine>(FormValue::Text("postgres".into())),
        Engine::Postgres
    );
    assert_eq!(ask::<u8>(FormValue::Integer(7)), 7);
    assert_eq!(ask::<f32>(FormValue::Number(0.5)), 0.5);
    assert!(ask::<bool>(FormValue::Flag(true)));
    let chosen = FormValue::Choices(vec!["Backup".into()]);
    assert_eq!(ask::<Vec<Extra>>(chosen), [Extra::Backup]);
    assert!(form_of::<Option<bool>>().is_ok_and(|form| !form.fields[0].is_required));
}

#[derive(JsonSchema, Deserialize)]
struct Nested {
    #[expect(dead_code, reason = "only its schema is looked at")]
    inner: Inner,
}

#[derive(JsonSchema, Deserialize)]
#[expect(dead_code, reason = "only its schema is looked at")]
struct Inner {
    text: String,
}

#[derive(JsonSchema, Deserialize)]
#[expect(dead_code, reason = "only its schema is looked at")]
enum WithData {
    None,
    Some(u8),
}

#[derive(JsonSchema, Deserialize)]
#[expect(dead_code, reason = "only its schema is looked at")]
struct Recursive {
    next: Option<Box<Recursive>>,
}

#[derive(JsonSchema, Deserialize)]
#[expect(dead_code, reason = "only its schema is looked at")]
struct Pattern {
    #[schemars(regex(pattern = "^[a-z]+$"))]
    word: String,
}

#[derive(JsonSchema, Deserialize)]
struct Nothing {}

#[test]
fn what_no_form_can_ask_for() {
    fn check<T: JsonSchema + DeserializeOwned>(want: &str) {
        let error = form_of::<T>().map(|form| panic!("{form:?}"));
        let error = error
            .unwrap_or_else(|error: QuestionError| error)
            .to_string();
        assert!(error.contains(want), "{error}");
    }
    check::<Nested>("ask for a Nested: `inner` is neither");
    check::<WithData>("is neither");
    check::<Recursive>("`next` is neither");
    check::<Vec<String>>("a list of something else than choices");
    check::<Vec<Inner>>("a list of something else");
    check::<(u8, u8)>("is a list of something else");
    check::<HashMap<String, String>>("additionalProperties");
    check::<Pattern>("`word` is bound by `pattern`");
    check::<Nothing>("ask for a Nothing: it");
    check::<()>("is neither");
    check::<serde_json::Value>("is neither");
}
