//! Unions without a tag: told by their members, by their elements, or by trying.

use std::collections::BTreeMap;

use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;

use super::{docs, from, ident, rust_type};
use crate::codegen::lower::{MemberVariant, Type};
use crate::codegen::names;

pub(super) fn by_member(
    name: &Ident,
    about: &TokenStream,
    variants: &[MemberVariant],
) -> TokenStream {
    let (declarations, froms) = member_variants(name, variants);
    let keys = variants.iter().map(|variant| &variant.key);
    let reads = variants.iter().enumerate().map(|(place, variant)| {
        let place = Literal::usize_unsuffixed(place);
        let variant = ident(&names::variant(&variant.title));
        quote!(Some(#place) => Self::#variant(ReadMembers::read_members(members)?),)
    });
    let writes = variants.iter().map(|variant| {
        let variant = ident(&names::variant(&variant.title));
        quote!(Self::#variant(payload) => payload.write_members(map),)
    });
    quote! {
        #about
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum #name {
            #declarations
            /// An object that this version of the protocol does not know.
            Unrecognized(RawJson),
        }

        #froms

        impl<'de> ReadMembers<'de> for #name {
            fn read_members<A: MapAccess<'de>>(map: A) -> Result<Self, A::Error> {
                let (place, members) = union::find_key(map, &[#(#keys),*])?;
                let read = match place {
                    #(#reads)*
                    _ => Self::Unrecognized(union::collect(None, members)?),
                };
                Ok(read)
            }
        }

        impl WriteMembers for #name {
            fn write_members<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
                match self {
                    #(#writes)*
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
    let (declarations, froms) = member_variants(name, variants);
    let keys = variants.iter().map(|variant| &variant.key);
    let reads = variants.iter().enumerate().map(|(place, variant)| {
        let place = Literal::usize_unsuffixed(place);
        let variant = ident(&names::variant(&variant.title));
        quote!(Looked::Key(#place, first) => #name::#variant(union::read_rest(first, seq)?),)
    });
    let writes = variants.iter().map(|variant| {
        let variant = ident(&names::variant(&variant.title));
        quote!(Self::#variant(items) => items.serialize(serializer),)
    });
    let empty = variants
        .first()
        .map(|variant| ident(&names::variant(&variant.title)));
    quote! {
        #about
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum #name {
            #declarations
            /// An array whose elements this version of the protocol does not know.
            Unrecognized(RawJson),
        }

        #froms

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
                            #(#reads)*
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

        impl Serialize for #name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    #(#writes)*
                    Self::Unrecognized(other) => other.serialize(serializer),
                }
            }
        }

        forgive_by_slice!(#name);
    }
}

pub(super) fn scalars(
    name: &Ident,
    about: &TokenStream,
    variants: &[(String, String, Type)],
) -> TokenStream {
    let declarations = variants.iter().map(|(title, about, r#type)| {
        let about = docs::lines(about, &format!("{title}."));
        let variant = ident(&names::variant(title));
        let payload = rust_type(r#type, &BTreeMap::new());
        quote!(#about #variant(#payload),)
    });
    let froms = variants.iter().map(|(title, _, r#type)| {
        from(
            name,
            &names::variant(title),
            &rust_type(r#type, &BTreeMap::new()),
            quote!(payload),
        )
    });
    let text_from = variants
        .iter()
        .filter(|(_, _, r#type)| *r#type == Type::Text)
        .map(|(title, ..)| {
            from(
                name,
                &names::variant(title),
                &quote!(&str),
                quote!(payload.to_owned()),
            )
        });
    let reads = variants.iter().map(|(title, ..)| {
        let variant = ident(&names::variant(title));
        quote! {
            if let Ok(value) = raw.parse() {
                return Ok(Self::#variant(value));
            }
        }
    });
    let writes = variants.iter().map(|(title, ..)| {
        let variant = ident(&names::variant(title));
        quote!(Self::#variant(value) => value.serialize(serializer),)
    });
    quote! {
        #about
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum #name {
            #(#declarations)*
            /// A value of a kind that this version of the protocol does not know.
            Unrecognized(RawJson),
        }

        #(#froms)*
        #(#text_from)*

        impl<'de> Deserialize<'de> for #name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let raw = RawJson::deserialize(deserializer)?;
                #(#reads)*
                Ok(Self::Unrecognized(raw))
            }
        }

        impl Serialize for #name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    #(#writes)*
                    Self::Unrecognized(other) => other.serialize(serializer),
                }
            }
        }

        forgive_by_slice!(#name);
    }
}

fn member_variants(name: &Ident, variants: &[MemberVariant]) -> (TokenStream, TokenStream) {
    let declarations = variants.iter().map(|variant| {
        let about = docs::lines(&variant.about, &format!("{}.", variant.title));
        let variant_name = ident(&names::variant(&variant.title));
        let payload = rust_type(&variant.payload, &BTreeMap::new());
        quote!(#about #variant_name(#payload),)
    });
    let froms = variants.iter().map(|variant| {
        let payload = rust_type(&variant.payload, &BTreeMap::new());
        from(
            name,
            &names::variant(&variant.title),
            &payload,
            quote!(payload),
        )
    });
    (quote!(#(#declarations)*), quote!(#(#froms)*))
}
