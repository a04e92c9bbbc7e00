//! Unions: enums, and how their variants are read and written.

use std::collections::BTreeMap;

use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;

use super::{docs, ident, rust_type};
use crate::codegen::lower::{MemberVariant, Payload, Tagged, Type, Variant};
use crate::codegen::names;

pub(super) fn tagged(name: &Ident, about: &TokenStream, tagged: &Tagged) -> TokenStream {
    let absent = tagged.absent.as_ref().map(|absent| &absent.variant);
    let all: Vec<&Variant> = tagged.variants.iter().chain(absent).collect();
    let declarations = all.iter().map(|variant| {
        let about = docs::lines(&variant.about, &format!("`{}`.", variant.wire));
        let variant_name = ident(&names::variant(&variant.wire));
        let payload = payload_type(variant).map(|payload| quote!((#payload)));
        quote!(#about #variant_name #payload,)
    });
    let reads = tagged.variants.iter().map(|variant| {
        let wire = &variant.wire;
        let read = read(variant);
        quote!(Some(#wire) => #read,)
    });
    let tag = &tagged.tag;
    let rest = absent_arms(tagged);
    let writes = all.iter().map(|variant| write(variant, absent, tag));
    let tags = all.iter().map(|variant| {
        let wire = &variant.wire;
        let variant_name = ident(&names::variant(wire));
        let ignore = payload_type(variant).map(|_| quote!((_)));
        quote!(Self::#variant_name #ignore => #wire,)
    });
    let froms = froms(name, &all);
    let tag_about = format!(
        " Returns the name of the variant, as `{tag}` {} it on the wire.",
        if absent.is_some() {
            "could give"
        } else {
            "gives"
        }
    );
    quote! {
        #about
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum #name {
            #(#declarations)*
            /// A variant that this version of the protocol does not name.
            Unrecognized(Unrecognized),
        }

        impl #name {
            #[doc = #tag_about]
            pub fn tag(&self) -> &str {
                match self {
                    #(#tags)*
                    Self::Unrecognized(other) => other.tag(),
                }
            }
        }

        #froms

        impl<'de> ReadMembers<'de> for #name {
            #[inline]
            fn read_members<A: MapAccess<'de>>(map: A) -> Result<Self, A::Error> {
                let (tag, members) = union::find_tag(map, #tag)?;
                let read = match tag.as_deref() {
                    #(#reads)*
                    #rest
                };
                Ok(read)
            }
        }

        impl WriteMembers for #name {
            #[inline]
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

/// What is done with no tag, and with an unknown one.
fn absent_arms(tagged: &Tagged) -> TokenStream {
    let tag = &tagged.tag;
    let collect = quote!(Unrecognized::collect(#tag, other, members)?);
    match &tagged.absent {
        None => quote! {
            Some(other) => Self::Unrecognized(#collect),
            None => return Err(A::Error::missing_field(#tag)),
        },
        Some(absent) => {
            let wire = &absent.variant.wire;
            let read = read(&absent.variant);
            let by_title = absent.by_title.then(|| quote!(| Some(#wire)));
            let unknown = match &absent.variant.payload {
                Payload::Single(key, _) if absent.takes_unknown => {
                    let variant_name = ident(&names::variant(wire));
                    quote! {{
                        let other = #collect;
                        match other.member(#key) {
                            Some(value) => Self::#variant_name(value),
                            None => Self::Unrecognized(other),
                        }
                    }}
                }
                _ => quote!(Self::Unrecognized(#collect)),
            };
            quote! {
                None #by_title => #read,
                Some(other) => #unknown,
            }
        }
    }
}

fn payload_type(variant: &Variant) -> Option<TokenStream> {
    let payload = match &variant.payload {
        Payload::None => return None,
        Payload::Members(name) => {
            let name = ident(name);
            quote!(#name)
        }
        Payload::Single(_, r#type) => rust_type(r#type, &BTreeMap::new()),
    };
    Some(if variant.boxed {
        quote!(Box<#payload>)
    } else {
        payload
    })
}

fn read(variant: &Variant) -> TokenStream {
    let name = ident(&names::variant(&variant.wire));
    match &variant.payload {
        Payload::None => quote! {{
            skip_members(members)?;
            Self::#name
        }},
        Payload::Members(_) => quote!(Self::#name(ReadMembers::read_members(members)?)),
        Payload::Single(key, _) => quote!(Self::#name(union::read_single(members, #key)?)),
    }
}

fn write(variant: &Variant, absent: Option<&Variant>, tag: &str) -> TokenStream {
    let wire = &variant.wire;
    let name = ident(&names::variant(wire));
    let is_absent = absent.is_some_and(|absent| std::ptr::eq(absent, variant));
    let entry = (!is_absent).then(|| quote!(map.serialize_entry(#tag, #wire)?;));
    match &variant.payload {
        Payload::None => quote!(Self::#name => map.serialize_entry(#tag, #wire),),
        Payload::Members(_) => quote! {
            Self::#name(payload) => {
                #entry
                payload.write_members(map)
            }
        },
        Payload::Single(key, _) => quote! {
            Self::#name(value) => {
                #entry
                map.serialize_entry(#key, value)
            }
        },
    }
}

/// Makes a payload its union, where only one variant has it.
fn froms(union: &Ident, variants: &[&Variant]) -> TokenStream {
    let froms = variants.iter().filter_map(|variant| {
        let Payload::Members(payload) = &variant.payload else {
            return None;
        };
        let alone = variants
            .iter()
            .filter(|other| other.payload == variant.payload)
            .count()
            == 1;
        alone.then(|| {
            let boxed = variant.boxed.then(|| quote!(Box::new(payload)));
            from(
                union,
                &names::variant(&variant.wire),
                &{
                    let payload = ident(payload);
                    quote!(#payload)
                },
                boxed.unwrap_or_else(|| quote!(payload)),
            )
        })
    });
    quote!(#(#froms)*)
}

fn from(union: &Ident, variant: &str, payload: &TokenStream, value: TokenStream) -> TokenStream {
    let variant = ident(variant);
    quote! {
        impl From<#payload> for #union {
            fn from(payload: #payload) -> Self {
                Self::#variant(#value)
            }
        }
    }
}

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
