//! Any JSON, for property tests of what reads and writes it.

use proptest::prelude::*;
use serde_json::Value;

/// Trees a few levels deep, with texts of one's own in them.
pub(crate) fn any_tree<S: Strategy<Value = String> + 'static>(
    text: fn() -> S,
) -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 6, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            proptest::collection::btree_map(text(), inner, 0..6)
                .prop_map(|members| members.into_iter().collect()),
        ]
    })
}
