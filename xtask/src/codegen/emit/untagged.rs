//! Unions without a tag: told by their members, by their elements, or by trying.

use std::collections::BTreeMap;

use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;

use super::{docs, from, ident, rust_type};
use crate::codegen::lower::{MemberVariant, Type};
use crate::codegen::names;

/// A union of these variants, each with its payload, and the conversions into it.
struct Union<'a> {
    name: &'a Ident,
    about: &'a TokenStream,
    /// What an unrecognized value is, up to the verb.
    other: &'static str,
    /// The title, the documentation and the payload of each variant.
    variants: Vec<(&'a str, &'a str, &'a Type)>,
}

impl Union<'_> {
    fn idents(&self) -> Vec<Ident> {
        let titles = self.variants.iter();
        titles
            .map(|(title, ..)| ident(&names::variant(title)))
            .collect()
    }

    fn emit(&self) -> TokenStream {
        let Self { name, about, .. } = self;
        let other = format!(
            " {} this version of the protocol does not know.",
            self.other
        );
        let declarations = self.variants.iter().map(|(title, about, r#type)| {
            let about = docs::lines(about, &format!("{title}."));
            let variant = ident(&names::variant(title));
            let payload = rust_type(r#type, &BTreeMap::new());
            quote!(#about #variant(#payload),)
        });
        let froms = self.variants.iter().map(|(title, _, r#type)| {
            let payload = rust_type(r#type, &BTreeMap::new());
            from(name, &names::variant(title), &payload, quote!(payload))
        });
        quote! {
            #about
            #[derive(Clone, Debug, PartialEq)]
            #[non_exhaustive]
            pub enum #name {
                #(#declarations)*
                #[doc = #other]
                Unrecognized(RawJson),
            }

            #(#froms)*
        }
    }

    /// Writes whichever value there is, and how a value is forgiven.
    fn serialized(&self) -> TokenStream {
        let (name, variants) = (self.name, self.idents());
        quote! {
            impl Serialize for #name {
                fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                    match self {
                        #(Self::#variants(value) => value.serialize(serializer),)*
                        Self::Unrecognized(other) => other.serialize(serializer),
                    }
                }
            }

            forgive_by_slice!(#name);
        }
    }
}

fn of_members<'a>(
    name: &'a Ident,
    about: &'a TokenStream,
    other: &'static str,
    variants: &'a [MemberVariant],
) -> Union<'a> {
    let variant = |one: &'a MemberVariant| (one.title.as_str(), one.about.as_str(), &one.payload);
    Union {
        name,
        about,
        other,
        variants: variants.iter().map(variant).collect(),
    }
}

pub(super) fn by_member(
    name: &Ident,
    about: &TokenStream,
    variants: &[MemberVariant],
) -> TokenStream {
    let union = of_members(name, about, "An object that", variants);
    let (declared, idents) = (union.emit(), union.idents());
    let keys = variants.iter().map(|variant| &variant.key);
    let places = (0..variants.len()).map(Literal::usize_unsuffixed);
    quote! {
        #declared

        impl<'de> ReadMembers<'de> for #name {
            fn read_members<A: MapAccess<'de>>(map: A) -> Result<Self, A::Error> {
                let (place, members) = union::find_key(map, &[#(#keys),*])?;
                let read = match place {
                    #(Some(#places) => Self::#idents(ReadMembers::read_members(members)?),)*
                    _ => Self::Unrecognized(union::collect(None, members)?),
                };
                Ok(read)
            }
        }

        impl WriteMembers for #name {
            fn write_members<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
                match self {
                    #(Self::#idents(payload) => payload.write_members(map),)*
                    Self::Unrecognized(other) => other.write_members(map),
                }
            }
        }

        whole!(#name);
    }
}

pub(super) fn by_element(
    name: &Ident,
    about: &TokenStream,
    variants: &[MemberVariant],
) -> TokenStream {
    let union = of_members(name, about, "An array whose elements", variants);
    let (declared, idents, serialized) = (union.emit(), union.idents(), union.serialized());
    let keys = variants.iter().map(|variant| &variant.key);
    let places = (0..variants.len()).map(Literal::usize_unsuffixed);
    let empty = idents.first();
    quote! {
        #declared

        impl<'de> Deserialize<'de> for #name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct ArrayVisitor;

                impl<'de> Visitor<'de> for ArrayVisitor {
                    type Value = #name;

                    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                        out.write_str("an array")
                    }

                    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                        let read = match union::look_at_first(&mut seq, &[#(#keys),*])? {
                            Looked::Empty => #name::#empty(Vec::new()),
                            #(Looked::Key(#places, first) => {
                                let elements = union::elements(first, seq)?;
                                match union::read_all(&elements) {
                                    Ok(all) => #name::#idents(all),
                                    Err(error) => #name::mix(&elements).ok_or(error).map_err(A::Error::custom)?,
                                }
                            })*
                            Looked::Key(_, first) | Looked::Unknown(first) => {
                                #name::Unrecognized(union::collect_rest(first, seq)?)
                            }
                        };
                        Ok(read)
                    }
                }

                deserializer.deserialize_seq(ArrayVisitor)
            }
        }

        #serialized
    }
}

pub(super) fn scalars(
    name: &Ident,
    about: &TokenStream,
    variants: &[(String, String, Type)],
) -> TokenStream {
    let parts = variants.iter();
    let parts = parts.map(|(title, about, r#type)| (title.as_str(), about.as_str(), r#type));
    let union = Union {
        name,
        about,
        other: "A value of a kind that",
        variants: parts.collect(),
    };
    let (declared, idents, serialized) = (union.emit(), union.idents(), union.serialized());
    let texts = variants.iter().filter(|(.., r#type)| *r#type == Type::Text);
    let text_from = texts.map(|(title, ..)| {
        let payload = quote!(payload.to_owned());
        from(name, &names::variant(title), &quote!(&str), payload)
    });
    quote! {
        #declared
        #(#text_from)*

        impl<'de> Deserialize<'de> for #name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let raw = RawJson::deserialize(deserializer)?;
                #(
                    if let Ok(value) = raw.parse() {
                        return Ok(Self::#idents(value));
                    }
                )*
                Ok(Self::Unrecognized(raw))
            }
        }

        #serialized
    }
}
