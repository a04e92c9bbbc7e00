//! The order in which a type declares its fields and variants.
//!
//! The schema of a type is a map and sorts them by name. The type's `Deserialize` knows
//! their order: it names them before it reads the first value, and nothing is ever read.

use std::fmt;

use acp_host::FieldKind;
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor,
    value::StrDeserializer,
};

type Names = &'static [&'static str];

/// The names of a type, in their order.
#[derive(Clone, Debug, Default)]
pub(super) struct Order {
    /// The fields of a struct, each with the variants of its enum; none where the type
    /// is no struct or does not say.
    fields: Vec<(&'static str, Names)>,
    /// The variants of an enum, or of the list of one.
    variants: Names,
}

impl Order {
    pub(super) fn of<T: DeserializeOwned>() -> Self {
        let named = name::<T>(None);
        let field = |at: usize, name| (name, self::name::<T>(Some(at)).variants);
        let fields = named.fields.iter().enumerate();
        Self {
            fields: fields.map(|(at, name)| field(at, *name)).collect(),
            variants: named.variants,
        }
    }

    /// The place of a field; those that are not known come last.
    pub(super) fn place(&self, field: &str) -> usize {
        place(self.fields.iter().map(|(name, _)| *name), field)
    }

    /// Puts the choices of a field in order, or those of the type itself. In a schema,
    /// choices with a description stand apart from those without one.
    pub(super) fn sort_choices(&self, field: Option<&str>, kind: &mut FieldKind) {
        if let FieldKind::Select { options } | FieldKind::MultiSelect { options, .. } = kind {
            options.sort_by_key(|option| self.place_of_choice(field, &option.id));
        }
    }

    fn place_of_choice(&self, field: Option<&str>, choice: &str) -> usize {
        let variants = match field {
            None => self.variants,
            Some(field) => {
                let known = self.fields.iter().find(|(name, _)| *name == field);
                known.map_or(&[][..], |(_, variants)| variants)
            }
        };
        place(variants.iter().copied(), choice)
    }
}

fn place(mut names: impl Iterator<Item = &'static str>, wanted: &str) -> usize {
    names.position(|name| name == wanted).unwrap_or(usize::MAX)
}

/// The names that a type gave.
#[derive(Default)]
struct Named {
    fields: Names,
    variants: Names,
}

/// Lets a type name what it is made of, or what one of its fields is made of.
fn name<T: DeserializeOwned>(field: Option<usize>) -> Named {
    let mut named = Named::default();
    // It always fails: there is no value.
    let _ = T::deserialize(Probe {
        named: &mut named,
        field,
    });
    named
}

/// Notes the names that it is told, and gives no value.
struct Probe<'a> {
    named: &'a mut Named,
    /// The field of the struct to look into.
    field: Option<usize>,
}

/// The end of every probe.
#[derive(Debug)]
struct Seen;

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("there is no value")
    }
}

impl std::error::Error for Seen {}

impl serde::de::Error for Seen {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self
    }
}

impl<'de> Deserializer<'de> for Probe<'_> {
    type Error = Seen;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Seen> {
        Err(Seen)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: Names,
        visitor: V,
    ) -> Result<V::Value, Seen> {
        match self.field.and_then(|at| fields.get(at)) {
            Some(key) => visitor.visit_map(OneField {
                key,
                named: self.named,
            }),
            None => {
                self.named.fields = fields;
                Err(Seen)
            }
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: Names,
        _: V,
    ) -> Result<V::Value, Seen> {
        self.named.variants = variants;
        Err(Seen)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Seen> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Seen> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Seen> {
        visitor.visit_seq(self)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf
        unit unit_struct tuple tuple_struct map identifier ignored_any
    }
}

/// A list whose first element is looked into.
impl<'de> SeqAccess<'de> for Probe<'_> {
    type Error = Seen;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Seen> {
        seed.deserialize(Probe {
            named: self.named,
            field: None,
        })
        .map(Some)
    }
}

/// A struct of one field.
struct OneField<'a> {
    key: &'static str,
    named: &'a mut Named,
}

impl<'de> MapAccess<'de> for OneField<'_> {
    type Error = Seen;

    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Seen> {
        seed.deserialize(StrDeserializer::new(self.key)).map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Seen> {
        seed.deserialize(Probe {
            named: self.named,
            field: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde::Deserialize;

    use super::*;

    #[derive(Deserialize, PartialEq, Eq, PartialOrd, Ord)]
    #[serde(rename_all = "lowercase")]
    enum Size {
        Small,
        Large,
        Huge,
    }

    #[derive(Deserialize)]
    #[serde(transparent)]
    struct Chosen(#[allow(dead_code, reason = "only its type is looked at")] Size);

    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    #[allow(dead_code, reason = "only its type is looked at")]
    struct Parcel {
        zip_code: String,
        size: Size,
        again: Option<Size>,
        all: BTreeSet<Size>,
        wrapped: Chosen,
        at: u8,
    }

    #[test]
    fn fields_and_variants_keep_their_order() {
        let order = Order::of::<Parcel>();
        let names: Vec<_> = order.fields.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, ["zipCode", "size", "again", "all", "wrapped", "at"]);
        for field in ["size", "again", "all", "wrapped"] {
            let places = ["small", "large", "huge", "tiny"]
                .map(|choice| order.place_of_choice(Some(field), choice));
            assert_eq!(places, [0, 1, 2, usize::MAX], "{field}");
        }
        assert_eq!(order.place("at"), 5);
        assert_eq!(order.place("unknown"), usize::MAX);
        assert_eq!(order.place_of_choice(Some("at"), "small"), usize::MAX);
        for variants in [Order::of::<Size>(), Order::of::<Vec<Option<Size>>>()] {
            assert_eq!(variants.place_of_choice(None, "huge"), 2);
        }
    }
}
