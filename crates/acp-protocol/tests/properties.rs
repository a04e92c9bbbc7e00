//! What holds for every message: its members may come in any order, and what we
//! write we read again.

#[rustfmt::skip]
mod definitions;
mod fixpoint;

use std::fmt::{Debug, Write as _};
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use acp_protocol::lenient;
use acp_protocol::v1::*;
use definitions::each_definition;
use indexmap::IndexMap;
use proptest::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

#[derive(serde::Deserialize)]
struct Case {
    wire: Box<RawValue>,
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    #[test]
    fn order_of_members_does_not_matter(seed: u64) {
        let mut order = Order(seed | 1);
        macro_rules! shuffle_each {
            ($($name:ident: $type:ty,)*) => { $(
                shuffle::<$type>(stringify!($name), &mut order);
            )* };
        }
        each_definition!(shuffle_each);
    }
}

fn shuffle<T: DeserializeOwned + PartialEq + Debug>(name: &str, order: &mut Order) {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../tests/corpus/v1/{name}.json"));
    let cases: IndexMap<String, Case> =
        serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    for (case, Case { wire }) in cases {
        let shuffled = order.shuffle(wire.get());
        let read = serde_json::from_str::<T>(wire.get());
        let again = serde_json::from_str::<T>(&shuffled);
        match (read, again) {
            (Ok(read), Ok(again)) => assert_eq!(read, again, "{name}, {case}: {shuffled}"),
            (Err(_), Err(_)) => {}
            (read, again) => panic!("{name}, {case}: {read:?}, but {shuffled} is {again:?}"),
        }
    }
}

/// A sequence of choices (xorshift).
struct Order(u64);

impl Order {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % bound as u64).unwrap()
    }

    /// Puts the members of every object into another order.
    fn shuffle(&mut self, text: &str) -> String {
        let mut out = String::new();
        if text.starts_with('{') {
            let mut rest: IndexMap<String, Box<RawValue>> = serde_json::from_str(text).unwrap();
            while !rest.is_empty() {
                let place = self.below(rest.len());
                let (key, value) = rest.swap_remove_index(place).unwrap();
                let comma = if out.is_empty() { "" } else { "," };
                let _ = write!(out, "{comma}{key:?}:{}", self.shuffle(value.get()));
            }
            format!("{{{out}}}")
        } else if text.starts_with('[') {
            let items: Vec<Box<RawValue>> = serde_json::from_str(text).unwrap();
            let items: Vec<String> = items.iter().map(|item| self.shuffle(item.get())).collect();
            format!("[{}]", items.join(","))
        } else {
            text.to_owned()
        }
    }
}

/// All messages of the corpus, as text.
static MESSAGES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus/v1");
    let mut messages = Vec::new();
    for file in fs::read_dir(folder).unwrap() {
        let text = fs::read_to_string(file.unwrap().path()).unwrap();
        let cases: IndexMap<String, Case> = serde_json::from_str(&text).unwrap();
        messages.extend(cases.values().map(|case| case.wire.get().to_owned()));
    }
    messages.sort();
    messages.dedup();
    messages
});

#[test]
fn every_message_is_a_fixpoint_of_every_definition() {
    assert!(MESSAGES.len() > 700, "{}", MESSAGES.len());
    for message in MESSAGES.iter() {
        fixpoint::check(message.as_bytes());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    /// Parts of messages, put together as they should not be.
    #[test]
    fn spoilt_message_is_refused_or_a_fixpoint(
        one: prop::sample::Index,
        other: prop::sample::Index,
        cut: prop::sample::Index,
        from: prop::sample::Index,
        length in 0..12_usize,
    ) {
        let (one, other) = (one.get(&MESSAGES).as_bytes(), other.get(&MESSAGES).as_bytes());
        let (cut, from) = (cut.index(one.len()), from.index(other.len()));
        let end = (from + length).min(other.len());
        let mut spoilt = [&one[..cut], &other[from..end]].concat();
        fixpoint::check(&[spoilt.as_slice(), &one[cut..]].concat());
        spoilt.extend_from_slice(&one[(cut + length).min(one.len())..]);
        fixpoint::check(&spoilt);
    }
}

proptest! {
    #[test]
    fn updates_are_read_as_they_were_written(update in update(), session in ".{0,12}") {
        holds(&update.for_session(session))?;
    }

    #[test]
    fn permission_requests_are_read_as_they_were_written(
        call in tool_call_update(),
        options in prop::collection::vec(permission_option(), 0..4),
    ) {
        holds(&RequestPermissionRequest::new("session-1", call, options))?;
    }

    #[test]
    fn elicitations_are_read_as_they_were_written(request in elicitation()) {
        holds(&request)?;
    }
}

/// Writes a value, reads it again from text and from a tree, and writes that.
fn holds<T>(value: &T) -> Result<(), TestCaseError>
where
    T: Serialize + DeserializeOwned + PartialEq + Debug,
{
    let text = serde_json::to_string(value).unwrap();
    let (read, notes) = lenient::collect(|| serde_json::from_str::<T>(&text));
    let read = read.map_err(|error| TestCaseError::fail(format!("{error}: {text}")))?;
    prop_assert_eq!(&read, value);
    prop_assert_eq!(notes, []);
    prop_assert_eq!(serde_json::to_string(&read).unwrap(), text.clone());
    let tree = serde_json::to_value(value).unwrap();
    prop_assert_eq!(&serde_json::from_value::<T>(tree).unwrap(), value);
    Ok(())
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![".{0,20}", "[a-z\"\\\\\n\u{1}\u{1f600}]{0,8}"]
}

/// A value of its own, or one that is unknown.
fn name<T: From<String> + Debug>(known: &'static [&'static str]) -> impl Strategy<Value = T> {
    prop_oneof![
        prop::sample::select(known).prop_map(str::to_owned),
        "_[a-z]{1,8}"
    ]
    .prop_map(T::from)
}

fn raw() -> impl Strategy<Value = RawJson> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        any::<i64>().prop_map(|number| number.to_string()),
        any::<bool>().prop_map(|truth| truth.to_string()),
        text().prop_map(|text| serde_json::to_string(&text).unwrap()),
    ];
    let value = leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3)
                .prop_map(|items| format!("[{}]", items.join(", "))),
            inner.prop_map(|value| format!("{{\"a b\" : {value}}}")),
        ]
    });
    // `null` stands for an absent value.
    value
        .prop_filter("not null", |text| text != "null")
        .prop_map(|text| serde_json::from_str(&text).unwrap())
}

fn content() -> impl Strategy<Value = ContentBlock> {
    prop_oneof![
        4 => text().prop_map(ContentBlock::text),
        1 => (text(), text()).prop_map(|(data, kind)| ContentBlock::image(data, kind)),
        1 => (text(), text(), any::<Option<i64>>()).prop_map(|(name, uri, size)| {
            let mut link = ResourceLink::new(name, uri);
            link.size = size;
            link.into()
        }),
        1 => (text(), text()).prop_map(|(content, uri)| {
            ContentBlock::resource(EmbeddedResource::new(TextResourceContents::new(content, uri)))
        }),
        1 => raw().prop_map(|raw| {
            let text = format!("{{\"x\":{raw},\"type\":\"_other\",\"text\":[]}}");
            serde_json::from_str(&text).unwrap()
        }),
    ]
}

fn tool_content() -> impl Strategy<Value = ToolCallContent> {
    prop_oneof![
        content().prop_map(ToolCallContent::from),
        (text(), any::<Option<String>>(), text()).prop_map(|(path, old, new)| {
            let mut diff = Diff::new(path, new);
            diff.old_text = old;
            diff.into()
        }),
        text().prop_map(ToolCallContent::terminal),
    ]
}

fn tool_call_update() -> impl Strategy<Value = ToolCallUpdate> {
    let locations = prop::collection::vec((text(), any::<u32>()), 0..3);
    (
        text(),
        prop::option::of(text()),
        prop::option::of(name(&["read", "edit", "switch_mode"])),
        prop::option::of(name(&["pending", "failed"])),
        prop::option::of(prop::collection::vec(tool_content(), 0..3)),
        prop::option::of(locations),
        prop::option::of(raw()),
    )
        .prop_map(|(id, title, kind, status, content, locations, raw)| {
            let mut update = ToolCallUpdate::new(id);
            update.title = title;
            update.kind = kind;
            update.status = status;
            update.content = content;
            update.locations = locations.map(|locations| {
                let at = |(path, line)| ToolCallLocation::at_line(path, line);
                locations.into_iter().map(at).collect()
            });
            update.raw_output = raw;
            update
        })
}

fn patch() -> impl Strategy<Value = Patch<String>> {
    prop_oneof![
        Just(Patch::Keep),
        Just(Patch::Clear),
        text().prop_map(Patch::Set)
    ]
}

fn update() -> impl Strategy<Value = SessionUpdate> {
    let entry = (
        text(),
        name(&["high", "low"]),
        name(&["pending", "completed"]),
    )
        .prop_map(
            |(text, priority, status): (_, PlanEntryPriority, PlanEntryStatus)| {
                PlanEntry::new(text, priority, status)
            },
        );
    prop_oneof![
        (content(), prop::option::of(text())).prop_map(|(content, id)| {
            let mut chunk = ContentChunk::new(content);
            chunk.message_id = id.map(MessageId::from);
            SessionUpdate::AgentMessageChunk(chunk)
        }),
        tool_call_update().prop_map(SessionUpdate::from),
        (tool_call_update(), text()).prop_map(|(update, title)| {
            let mut call = ToolCall::new(update.tool_call_id.clone(), title);
            update.apply_to(&mut call);
            call.into()
        }),
        prop::collection::vec(entry, 0..4).prop_map(|entries| Plan::new(entries).into()),
        (patch(), patch()).prop_map(|(title, time)| {
            SessionInfoUpdate::new()
                .with_title(title)
                .with_updated_at(time)
                .into()
        }),
        (text(), prop::collection::vec(content(), 0..3), patch()).prop_map(
            |(id, summary, error)| {
                CompactionUpdate::new(id, CompactionStatus::Completed)
                    .with_summary(summary)
                    .with_error(error)
                    .into()
            }
        ),
        (any::<u64>(), any::<u64>(), any::<f32>()).prop_map(|(used, size, amount)| {
            let amount = f64::from(if amount.is_finite() { amount } else { 0.0 });
            UsageUpdate::new(used, size)
                .with_cost(Cost::new(amount, "EUR"))
                .into()
        }),
    ]
}

fn permission_option() -> impl Strategy<Value = PermissionOption> {
    (text(), text(), name(&["allow_once", "reject_always"])).prop_map(
        |(id, label, kind): (_, _, PermissionOptionKind)| PermissionOption::new(id, label, kind),
    )
}

fn elicitation() -> impl Strategy<Value = CreateElicitationRequest> {
    let property = prop_oneof![
        text().prop_map(|title| StringPropertySchema::new().with_title(title).into()),
        any::<(i64, i64)>().prop_map(|(low, high)| {
            let schema = IntegerPropertySchema::new()
                .with_minimum(low)
                .with_maximum(high);
            ElicitationPropertySchema::from(schema)
        }),
        prop::collection::vec(text(), 0..3).prop_map(|values| {
            let items = MultiSelectItems::from(StringMultiSelectItems::new(values));
            MultiSelectPropertySchema::new(items).into()
        }),
    ];
    let scope = prop_oneof![
        text().prop_map(|session| ElicitationSessionScope::new(session).into()),
        any::<i64>().prop_map(|id| ElicitationScope::from(ElicitationRequestScope::new(id))),
    ];
    let form =
        (prop::collection::vec((text(), property), 0..4), scope).prop_map(|(properties, scope)| {
            let schema = ElicitationSchema::new().with_properties(properties);
            ElicitationMode::from(ElicitationFormMode::new(schema, scope))
        });
    (text(), form).prop_map(|(message, mode)| CreateElicitationRequest::new(message, mode))
}
