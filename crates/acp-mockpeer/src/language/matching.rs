//! Whether a value is what a pattern says, and what its names stand for.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use crate::language::pattern::{Element, Kind, Object, Part, Pattern, Template, quoted};

/// What names stand for.
pub(crate) type Bindings = BTreeMap<Arc<str>, Value>;

/// Why a value is not what was expected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("at {path}: expected {expected}, got {got}")]
pub(crate) struct Mismatch {
    /// Where, such as `params.update.kind`.
    pub(crate) path: String,
    pub(crate) expected: String,
    pub(crate) got: String,
}

/// Compares a value (`None`: it is not there) with a pattern and binds names.
///
/// When it does not match, some names may have been bound all the same.
pub(crate) fn matches(
    pattern: &Pattern,
    value: Option<&Value>,
    bindings: &mut Bindings,
    path: &str,
) -> Result<(), Mismatch> {
    let mismatch = |expected: &dyn std::fmt::Display| {
        Err(Mismatch {
            path: path.to_owned(),
            expected: expected.to_string(),
            got: value.map_or_else(|| "nothing".to_owned(), shortened),
        })
    };
    let Some(present) = value else {
        return match pattern {
            Pattern::Absent => Ok(()),
            Pattern::OneOf(all) if all.iter().any(|one| matches!(one, Pattern::Absent)) => Ok(()),
            Pattern::Not(inner) if matches(inner, None, &mut bindings.clone(), path).is_err() => {
                Ok(())
            }
            _ => mismatch(pattern),
        };
    };
    let fits = match pattern {
        Pattern::Null => present.is_null(),
        Pattern::Bool(expected) => present.as_bool() == Some(*expected),
        Pattern::Number(expected) => same_number(expected, present),
        Pattern::Text(template) => {
            // What a name stands for need not be a text.
            let bound = template.name().and_then(|name| bindings.get(name));
            if bound.is_some_and(|bound| equal(bound, present)) {
                return Ok(());
            }
            match present.as_str() {
                Some(text) => return text_matches(template, text, bindings, path),
                None => false,
            }
        }
        Pattern::Array(elements) => match present.as_array() {
            Some(values) => return array(elements, values, bindings, path),
            None => false,
        },
        Pattern::Object(object) => match present.as_object() {
            Some(members) => return object_matches(object, members, bindings, path),
            None => false,
        },
        Pattern::Any(kind) => is_kind(*kind, present),
        Pattern::Absent => false,
        Pattern::Name(name) => match bindings.get(name) {
            Some(bound) if equal(bound, present) => true,
            Some(bound) => return mismatch(&format!("${name}, which is {}", shortened(bound))),
            None => {
                bindings.insert(name.clone(), present.clone());
                true
            }
        },
        Pattern::Regex(regex) => present.as_str().is_some_and(|text| regex.is_match(text)),
        Pattern::Not(inner) => {
            // What stands behind `not` binds nothing.
            matches(inner, value, &mut bindings.clone(), path).is_err()
        }
        Pattern::OneOf(all) => {
            for one in all {
                let mut tried = bindings.clone();
                if matches(one, value, &mut tried, path).is_ok() {
                    *bindings = tried;
                    return Ok(());
                }
            }
            false
        }
    };
    if fits { Ok(()) } else { mismatch(pattern) }
}

fn object_matches(
    object: &Object,
    members: &serde_json::Map<String, Value>,
    bindings: &mut Bindings,
    path: &str,
) -> Result<(), Mismatch> {
    for (key, pattern) in &object.members {
        matches(pattern, members.get(key), bindings, &below(path, key))?;
    }
    if object.only {
        let mut unnamed = members.iter();
        if let Some((key, value)) = unnamed.find(|(key, _)| !object.members.contains_key(*key)) {
            return Err(Mismatch {
                path: below(path, key),
                expected: "nothing, since only the named members may be there".to_owned(),
                got: shortened(value),
            });
        }
    }
    Ok(())
}

fn array(
    elements: &[Element],
    values: &[Value],
    bindings: &mut Bindings,
    path: &str,
) -> Result<(), Mismatch> {
    if !elements
        .iter()
        .any(|element| matches!(element, Element::Rest))
    {
        for (index, (element, value)) in elements.iter().zip(values).enumerate() {
            if let Element::One(pattern) = element {
                matches(pattern, Some(value), bindings, &format!("{path}[{index}]"))?;
            }
        }
        if elements.len() == values.len() {
            return Ok(());
        }
        return Err(Mismatch {
            path: path.to_owned(),
            expected: format!("an array of {} (`...` stands for more)", elements.len()),
            got: format!("one of {}", values.len()),
        });
    }
    let mut closest = None;
    if gaps(elements, values, 0, bindings, path, &mut closest) {
        return Ok(());
    }
    Err(closest.unwrap_or_else(|| Mismatch {
        path: path.to_owned(),
        expected: Pattern::Array(elements.to_vec()).to_string(),
        got: format!("{} values", values.len()),
    }))
}

/// Tries every length of each `...`, the shortest first.
fn gaps(
    elements: &[Element],
    values: &[Value],
    index: usize,
    bindings: &mut Bindings,
    path: &str,
    closest: &mut Option<Mismatch>,
) -> bool {
    match elements.split_first() {
        None => values.get(index).is_none(),
        Some((Element::Rest, rest)) => (index..=values.len()).any(|next| {
            let mut tried = bindings.clone();
            let found = gaps(rest, values, next, &mut tried, path, closest);
            if found {
                *bindings = tried;
            }
            found
        }),
        Some((Element::One(pattern), rest)) => {
            let at = format!("{path}[{index}]");
            match matches(pattern, values.get(index), bindings, &at) {
                Ok(()) => gaps(rest, values, index + 1, bindings, path, closest),
                Err(mismatch) => {
                    closest.get_or_insert(mismatch);
                    false
                }
            }
        }
    }
}

/// Compares a text; one name in it that stands for nothing yet takes what is left.
fn text_matches(
    template: &Template,
    text: &str,
    bindings: &mut Bindings,
    path: &str,
) -> Result<(), Mismatch> {
    let mismatch = |expected: String| {
        Err(Mismatch {
            path: path.to_owned(),
            expected,
            got: quoted(text),
        })
    };
    let mut before = String::new();
    let mut after = String::new();
    let mut unbound: Option<&Arc<str>> = None;
    for part in &template.parts {
        let piece = match part {
            Part::Literal(literal) => literal.clone(),
            Part::Name(name) => match bindings.get(name) {
                Some(Value::String(bound)) => bound.clone(),
                Some(bound) if template.parts.len() > 1 => bound.to_string(),
                Some(bound) => return mismatch(format!("${name}, which is {}", shortened(bound))),
                None if unbound.is_some() => {
                    return mismatch(format!("{template}, in which ${name} has no value yet"));
                }
                None => {
                    unbound = Some(name);
                    continue;
                }
            },
        };
        match unbound {
            None => before.push_str(&piece),
            Some(_) => after.push_str(&piece),
        }
    }
    let Some(name) = unbound else {
        return match text == before {
            true => Ok(()),
            false if template.literal().is_some() => mismatch(template.to_string()),
            false => mismatch(format!("{template}, which is {}", quoted(&before))),
        };
    };
    let inner = text
        .strip_prefix(before.as_str())
        .and_then(|rest| rest.strip_suffix(after.as_str()));
    match inner {
        Some(inner) => {
            bindings.insert(name.clone(), inner.into());
            Ok(())
        }
        None => mismatch(template.to_string()),
    }
}

fn is_kind(kind: Kind, value: &Value) -> bool {
    match kind {
        Kind::Value => true,
        Kind::String => value.is_string(),
        Kind::Number => value.is_number(),
        Kind::Integer => value.is_i64() || value.is_u64(),
        Kind::Boolean => value.is_boolean(),
        Kind::Object => value.is_object(),
        Kind::Array => value.is_array(),
    }
}

fn same_number(expected: &str, value: &Value) -> bool {
    match serde_json::from_str::<Value>(expected) {
        Ok(expected) => equal(&expected, value),
        Err(_) => false,
    }
}

/// Compares values; `1` and `1.0` are one number, `"1"` is none.
fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(x), Value::Number(y)) => x == y || x.as_f64() == y.as_f64(),
        _ => a == b,
    }
}

fn below(path: &str, key: &str) -> String {
    if path.is_empty() {
        key.to_owned()
    } else {
        format!("{path}.{key}")
    }
}

/// Writes a value as JSON, cut to a length that people read.
pub(crate) fn shortened(value: &Value) -> String {
    acp_text::shorten_chars(&value.to_string(), 160)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::lone_pattern;

    /// Compares, with `$known` bound to `"k"`; shows what else was bound, or why not.
    #[track_caller]
    fn check(pattern: &str, value: &str, expected: &str) {
        let pattern = lone_pattern(pattern).unwrap_or_else(|error| panic!("{error}"));
        let value: Option<Value> =
            (!value.is_empty()).then(|| serde_json::from_str(value).unwrap());
        let mut bindings = Bindings::from([("known".into(), "k".into())]);
        let got = match matches(&pattern, value.as_ref(), &mut bindings, "x") {
            Ok(()) => {
                bindings.remove("known");
                let bound = bindings
                    .iter()
                    .map(|(name, value)| format!("${name} = {value}"));
                bound.collect::<Vec<_>>().join(", ")
            }
            Err(mismatch) => mismatch.to_string(),
        };
        assert_eq!(got, expected);
    }

    #[test]
    fn plain_values() {
        check("null", "null", "");
        check("null", "", "at x: expected null, got nothing");
        check("true", "false", "at x: expected true, got false");
        check("1", "1", "");
        check("1", "1.0", "");
        check("1.50", "1.5", "");
        check("1", "\"1\"", "at x: expected 1, got \"1\"");
        check("\"a\"", "\"a\"", "");
        check("\"a\"", "\"b\"", "at x: expected \"a\", got \"b\"");
        check("\"$$known\"", "\"$known\"", "");
    }

    #[test]
    fn kinds() {
        for (kind, yes, no) in [
            ("string", "\"\"", "1"),
            ("number", "1.5", "\"1\""),
            ("integer", "-1", "1.5"),
            ("boolean", "false", "null"),
            ("object", "{}", "[]"),
            ("array", "[]", "{}"),
        ] {
            check(&format!("any {kind}"), yes, "");
            let expected = format!("at x: expected any {kind}, got {no}");
            check(&format!("any {kind}"), no, &expected);
        }
        check("any", "null", "");
        check("any", "", "at x: expected any, got nothing");
        check("absent", "", "");
        check("absent", "null", "at x: expected absent, got null");
    }

    #[test]
    fn objects_by_subset() {
        check("{}", "{\"a\": 1}", "");
        check("{\"a\": 1}", "{\"b\": 2, \"a\": 1}", "");
        check(
            "{\"a\": {\"b\": 1}}",
            "{\"a\": {\"b\": 2}}",
            "at x.a.b: expected 1, got 2",
        );
        check("{\"a\": any}", "{}", "at x.a: expected any, got nothing");
        check(
            "{\"a\": absent}",
            "{\"a\": null}",
            "at x.a: expected absent, got null",
        );
        check("{\"a\": absent | null}", "{\"a\": null}", "");
        check("{\"a\": absent | null}", "{}", "");
        check("only {\"a\": 1}", "{\"a\": 1}", "");
        check(
            "only {\"a\": 1}",
            "{\"a\": 1, \"b\": 2}",
            "at x.b: expected nothing, since only the named members may be there, got 2",
        );
        check("{}", "[]", "at x: expected {}, got []");
    }

    #[test]
    fn arrays() {
        check("[]", "[]", "");
        check("[1, 2]", "[1, 2]", "");
        check(
            "[1]",
            "[1, 2]",
            "at x: expected an array of 1 (`...` stands for more), got one of 2",
        );
        check("[1, 3]", "[1, 2]", "at x[1]: expected 3, got 2");
        check("[1, ...]", "[1, 2, 3]", "");
        check("[..., 3]", "[1, 2, 3]", "");
        check("[..., 2, ...]", "[1, 2, 3]", "");
        check("[..., 4, ...]", "[1, 2]", "at x[0]: expected 4, got 1");
        check(
            "[..., {\"a\": $v}, ..., 9]",
            "[{\"b\": 1}, {\"a\": 7}, 8, 9]",
            "$v = 7",
        );
        check("[...]", "[]", "");
    }

    #[test]
    fn names() {
        check("$new", "{\"a\": 1}", "$new = {\"a\":1}");
        check("\"$new\"", "\"v\"", "$new = \"v\"");
        check("\"$new\"", "5", "at x: expected \"$new\", got 5");
        check("$known", "\"k\"", "");
        check(
            "$known",
            "\"j\"",
            "at x: expected $known, which is \"k\", got \"j\"",
        );
        check(
            "\"$known\"",
            "\"j\"",
            "at x: expected \"$known\", which is \"k\", got \"j\"",
        );
        check("[$new, $new]", "[1, 1]", "$new = 1");
        check(
            "[$new, $new]",
            "[1, 2]",
            "at x[1]: expected $new, which is 1, got 2",
        );
        check("\"a/$known/b\"", "\"a/k/b\"", "");
        check(
            "\"a/$known/b\"",
            "\"a/j/b\"",
            "at x: expected \"a/$known/b\", which is \"a/k/b\", got \"a/j/b\"",
        );
        check("\"a/$new/b\"", "\"a/j/b\"", "$new = \"j\"");
        check("\"${known}s-$new\"", "\"ks-1\"", "$new = \"1\"");
        check(
            "\"$one$two\"",
            "\"ab\"",
            "at x: expected \"$one$two\", in which $two has no value yet, got \"ab\"",
        );
        check("not $known", "\"j\"", "");
        check(
            "not $known",
            "\"k\"",
            "at x: expected not $known, got \"k\"",
        );
        check("not $new", "\"k\"", "at x: expected not $new, got \"k\"");
    }

    #[test]
    fn alternatives() {
        check("1 | 2", "2", "");
        check("1 | 2", "3", "at x: expected 1 | 2, got 3");
        check(
            "{\"a\": $v, \"b\": 1} | {\"a\": $w}",
            "{\"a\": 5, \"b\": 2}",
            "$w = 5",
        );
        check("not 1 | 2", "2", "");
        check("/^ab?$/", "\"a\"", "");
        check("/^ab?$/", "\"abc\"", "at x: expected /^ab?$/, got \"abc\"");
        check("/a\\/b/", "\"a/b\"", "");
        check("/1/", "1", "at x: expected /1/, got 1");
    }
}
