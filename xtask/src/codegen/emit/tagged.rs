//! Unions told by a tag: enums, and how their variants are read and written.

use std::collections::BTreeMap;

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::{docs, from, ident, rust_type};
use crate::codegen::lower::{Payload, Tagged, Variant};
use crate::codegen::names;

pub(super) fn emit(name: &Ident, about: &TokenStream, tagged: &Tagged) -> TokenStream {
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
        None if tagged.mended => quote! {
            Some(other) => Self::mend(#collect),
            None => return Err(A::Error::missing_field(#tag)),
        },
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
    let entry = (!is_absent).then(|| quote!(union::write_tag(map, #tag, #wire)?;));
    match &variant.payload {
        Payload::None => quote!(Self::#name => union::write_tag(map, #tag, #wire),),
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
