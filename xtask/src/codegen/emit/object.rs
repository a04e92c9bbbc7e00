//! Structs, their constructors, and the table of their members.

use std::collections::BTreeMap;

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::{docs, ident, rust_type};
use crate::codegen::lower::{Definition, Field, FlatField, Object, Presence, Shape, Type};

pub(super) fn emit(
    definition: &Definition,
    object: &Object,
    about: &TokenStream,
    lowered: &BTreeMap<String, Definition>,
) -> TokenStream {
    let name = ident(&definition.name);
    let has_default = object.has_default();
    let derive_default = has_default.then(|| quote!(Default,));
    let has_secret = object.fields.iter().any(|field| field.secret);
    let derive_debug = (!has_secret).then(|| quote!(Debug,));
    let debug = has_secret.then(|| debug(&definition.name, object));
    let parts = parts(object);
    let fields = parts.iter().map(|part| part.declaration(lowered));
    let constructor = constructor(&parts, has_default, lowered);
    let setters = object
        .fields
        .iter()
        .filter_map(|field| setter(field, lowered));
    let table = table(&name, &parts);
    // The specification answers `session/load` and others with `result: null`.
    let is_answer = definition.method.is_some() && has_default;
    let whole = if is_answer {
        quote!(whole!(#name or null);)
    } else {
        quote!(whole!(#name);)
    };
    quote! {
        #about
        #[derive(Clone, #derive_debug #derive_default PartialEq)]
        #[non_exhaustive]
        pub struct #name {
            #(#fields)*
        }

        impl #name {
            #constructor
            #(#setters)*
        }

        #debug

        #table
        #whole
    }
}

/// One field of a struct: a member, or a union among the members.
enum Part<'a> {
    Member(&'a Field),
    Flat(&'a FlatField),
}

/// Puts the union behind the members, and before `_meta`.
fn parts(object: &Object) -> Vec<Part<'_>> {
    let (meta, members): (Vec<&Field>, Vec<&Field>) =
        object.fields.iter().partition(|field| field.key == "_meta");
    let flat = object.flat.iter().map(Part::Flat);
    members
        .into_iter()
        .map(Part::Member)
        .chain(flat)
        .chain(meta.into_iter().map(Part::Member))
        .collect()
}

impl Part<'_> {
    fn declaration(&self, lowered: &BTreeMap<String, Definition>) -> TokenStream {
        match self {
            Part::Member(field) => {
                let about = docs::lines(docs::member(field), &format!("`{}`.", field.key));
                let name = ident(&field.name);
                let r#type = field_type(field, lowered);
                quote!(#about pub #name: #r#type,)
            }
            Part::Flat(flat) => {
                let about = docs::lines(&flat.about, &flat.name);
                let (name, union) = (ident(&flat.name), ident(&flat.union));
                quote!(#about pub #name: #union,)
            }
        }
    }
}

/// The table by which the members are read and written.
fn table(name: &Ident, parts: &[Part<'_>]) -> TokenStream {
    let rows = parts.iter().map(|part| match part {
        Part::Member(field) => {
            let name = ident(&field.name);
            let key = &field.key;
            let presence = ident(&format!("{:?}", field.presence));
            let reading = ident(&format!("{:?}", field.reading));
            let alias = field.alias.as_ref().map(|alias| quote!(| #alias));
            quote!(#name: #presence<#reading> = #key #alias,)
        }
        Part::Flat(..) => TokenStream::new(),
    });
    let rows: Vec<_> = rows.collect();
    let flat = parts
        .iter()
        .enumerate()
        .find_map(|(place, part)| match part {
            Part::Flat(flat) => Some((place, ident(&flat.name))),
            Part::Member(_) => None,
        });
    match flat {
        None => quote!(object!(#name { #(#rows)* });),
        Some((place, flat)) => {
            let (early, late) = rows.split_at(place);
            quote!(object!(#name { #(#early)* } flat #flat { #(#late)* });)
        }
    }
}

fn field_type(field: &Field, lowered: &BTreeMap<String, Definition>) -> TokenStream {
    let value = value_type(field, lowered);
    match field.presence {
        Presence::May => quote!(Option<#value>),
        Presence::Change => quote!(Patch<#value>),
        Presence::Must | Presence::Plain | Presence::Sparse => value,
    }
}

fn value_type(field: &Field, lowered: &BTreeMap<String, Definition>) -> TokenStream {
    let value = rust_type(&field.r#type, lowered);
    if field.boxed {
        quote!(Box<#value>)
    } else {
        value
    }
}

fn constructor(
    parts: &[Part<'_>],
    has_default: bool,
    lowered: &BTreeMap<String, Definition>,
) -> TokenStream {
    if has_default {
        return quote! {
            /// Makes one in which everything has its default.
            pub fn new() -> Self {
                Self::default()
            }
        };
    }
    let arguments = parts.iter().filter_map(|part| match part {
        Part::Member(field) if field.presence == Presence::Must => {
            let name = ident(&field.name);
            let (argument, _) = conversion(&field.r#type, &name, lowered);
            Some(quote!(#name: #argument))
        }
        Part::Member(_) => None,
        Part::Flat(flat) => {
            let (name, union) = (ident(&flat.name), ident(&flat.union));
            Some(quote!(#name: impl Into<#union>))
        }
    });
    let values = parts.iter().map(|part| match part {
        Part::Member(field) if field.presence == Presence::Must => {
            let name = ident(&field.name);
            let (_, value) = conversion(&field.r#type, &name, lowered);
            if value.to_string() == field.name {
                quote!(#name)
            } else {
                quote!(#name: #value)
            }
        }
        Part::Member(field) => {
            let name = ident(&field.name);
            let value = match field.presence {
                Presence::May => quote!(None),
                Presence::Change => quote!(Patch::Keep),
                _ => quote!(Default::default()),
            };
            quote!(#name: #value)
        }
        Part::Flat(flat) => {
            let name = ident(&flat.name);
            quote!(#name: #name.into())
        }
    });
    quote! {
        /// Makes one from what is required.
        pub fn new(#(#arguments),*) -> Self {
            Self { #(#values),* }
        }
    }
}

fn setter(field: &Field, lowered: &BTreeMap<String, Definition>) -> Option<TokenStream> {
    if field.presence == Presence::Must {
        return None;
    }
    let name = ident(&field.name);
    let method = format_ident!("with_{}", field.name);
    let about = format!(" Sets [`{0}`](Self::{0}).", field.name);
    let (argument, value) = if field.presence == Presence::Change {
        let value = value_type(field, lowered);
        (quote!(impl Into<Patch<#value>>), quote!(#name.into()))
    } else {
        let (argument, value) = conversion(&field.r#type, &name, lowered);
        let value = if field.boxed {
            quote!(Box::new(#value))
        } else {
            value
        };
        let value = if field.presence == Presence::May {
            quote!(Some(#value))
        } else {
            value
        };
        (argument, value)
    };
    Some(quote! {
        #[doc = #about]
        #[must_use]
        pub fn #method(mut self, #name: #argument) -> Self {
            self.#name = #value;
            self
        }
    })
}

/// Returns the type of an argument, and how the value is made of it.
fn conversion(
    r#type: &Type,
    name: &Ident,
    lowered: &BTreeMap<String, Definition>,
) -> (TokenStream, TokenStream) {
    let value = rust_type(r#type, lowered);
    match r#type {
        Type::Text | Type::Raw => (quote!(impl Into<#value>), quote!(#name.into())),
        Type::Of(target) if !is_plain_object(target, lowered) => {
            (quote!(impl Into<#value>), quote!(#name.into()))
        }
        Type::List(inner) if **inner == Type::Text => (
            quote!(impl IntoIterator<Item = impl Into<String>>),
            quote!(#name.into_iter().map(Into::into).collect()),
        ),
        Type::List(inner) => {
            let inner = rust_type(inner, lowered);
            (
                quote!(impl IntoIterator<Item = #inner>),
                quote!(#name.into_iter().collect()),
            )
        }
        Type::Map(inner) => {
            let inner = rust_type(inner, lowered);
            (
                quote!(impl IntoIterator<Item = (impl Into<String>, impl Into<#inner>)>),
                quote!(#name.into_iter().map(|(name, value)| (name.into(), value.into())).collect()),
            )
        }
        _ => (value, quote!(#name)),
    }
}

/// Tells whether nothing but itself can be made into the type.
fn is_plain_object(name: &str, lowered: &BTreeMap<String, Definition>) -> bool {
    matches!(
        lowered.get(name).map(|definition| &definition.shape),
        Some(Shape::Object(_))
    )
}

/// A `Debug` that hides the secret fields.
fn debug(name: &str, object: &Object) -> TokenStream {
    let r#type = ident(name);
    let fields = object.fields.iter().map(|field| {
        let field_name = ident(&field.name);
        let text = &field.name;
        if field.secret {
            quote!(.field(#text, &self.#field_name.hide()))
        } else {
            quote!(.field(#text, &self.#field_name))
        }
    });
    quote! {
        impl fmt::Debug for #r#type {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.debug_struct(#name) #(#fields)* .finish()
            }
        }
    }
}
