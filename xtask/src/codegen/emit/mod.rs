//! Rust for each shape.

mod docs;
pub(crate) mod json_schema;
pub(crate) mod list;
pub(crate) mod methods;
pub(crate) mod mismatch;
mod names;
mod object;
mod tagged;
mod untagged;

use std::collections::BTreeMap;

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

use super::lower::{Definition, Shape, Type};

/// Writes all types.
pub(crate) fn types(lowered: &BTreeMap<String, Definition>) -> TokenStream {
    let items = items(lowered);
    quote! {
        use indexmap::IndexMap;
        use serde::de::{Error, MapAccess, SeqAccess, Visitor};
        use serde::ser::SerializeMap;
        use serde::{Deserialize, Deserializer, Serialize, Serializer};
        use std::fmt;
        use std::sync::Arc;

        use crate::patch::Patch;
        use crate::codec::forgive::forgive_by_slice;
        use crate::codec::name::{id, string_enum};
        use crate::codec::object::{ReadMembers, WriteMembers, object, skip_members, whole};
        use crate::codec::rule::{
            Change, Items, May, Must, Omitted, OnError, OnNull, Pairs, Plain, Sparse, Strict,
        };
        use crate::codec::secret::Hide;
        use crate::codec::union::{self, Looked};
        use crate::codec::{Meta, RawJson, Unrecognized};

        #items
    }
}

/// Writes all types, without the imports.
pub(crate) fn items(lowered: &BTreeMap<String, Definition>) -> TokenStream {
    lowered
        .values()
        .map(|definition| self::definition(definition, lowered))
        .collect()
}

/// Writes one definition.
fn definition(definition: &Definition, lowered: &BTreeMap<String, Definition>) -> TokenStream {
    let name = ident(&definition.name);
    let about = docs::lines(&definition.about, &definition.name);
    match &definition.shape {
        Shape::Id => names::id(&name, &about),
        Shape::Number(r#type) => names::number(&name, &about, r#type),
        Shape::Strings { values, default } => {
            names::strings(&name, &about, values, default.as_deref())
        }
        Shape::Object(object) => object::emit(definition, object, &about, lowered),
        Shape::Tagged(tagged) => tagged::emit(&name, &about, tagged),
        Shape::ByMember(variants) => untagged::by_member(&name, &about, variants),
        Shape::ByElement(variants) => untagged::by_element(&name, &about, variants),
        Shape::Scalars(variants) => untagged::scalars(&name, &about, variants),
        Shape::Handwritten(_) | Shape::Envelope | Shape::Extension => TokenStream::new(),
    }
}

/// Returns the Rust type of a value.
fn rust_type(r#type: &Type, lowered: &BTreeMap<String, Definition>) -> TokenStream {
    match r#type {
        Type::Text => quote!(String),
        Type::Bool => quote!(bool),
        Type::U16 => quote!(u16),
        Type::U32 => quote!(u32),
        Type::U64 => quote!(u64),
        Type::I32 => quote!(i32),
        Type::I64 => quote!(i64),
        Type::F64 => quote!(f64),
        Type::Raw => quote!(RawJson),
        Type::Meta => quote!(Meta),
        Type::List(inner) => {
            let inner = rust_type(inner, lowered);
            quote!(Vec<#inner>)
        }
        Type::Map(inner) => {
            let inner = rust_type(inner, lowered);
            quote!(IndexMap<String, #inner>)
        }
        Type::Of(name) => match lowered.get(name).map(|target| &target.shape) {
            Some(Shape::Handwritten(path)) => {
                let path: syn::Path = syn::parse_str(path).unwrap_or_else(|_| ident(name).into());
                quote!(#path)
            }
            _ => {
                let name = ident(name);
                quote!(#name)
            }
        },
    }
}

/// Makes an identifier; the lowering has checked that it can be one.
fn ident(name: &str) -> Ident {
    Ident::new(name, Span::call_site())
}

/// Makes a payload its union.
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
