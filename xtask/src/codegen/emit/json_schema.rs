//! `JsonSchema` of the types: the published definitions themselves.

use std::collections::BTreeMap;

use proc_macro2::TokenStream;
use quote::quote;

use super::{ident, rust_type};
use crate::codegen::lower::{Definition, Shape, Type};

/// Writes an implementation for each type.
pub(crate) fn emit(lowered: &BTreeMap<String, Definition>) -> TokenStream {
    let owners: BTreeMap<&str, &str> = lowered
        .values()
        .filter_map(|definition| match &definition.shape {
            Shape::Object(object) => object
                .flat
                .as_ref()
                .map(|flat| (flat.union.as_str(), definition.name.as_str())),
            _ => None,
        })
        .collect();
    let types: Vec<_> = lowered
        .values()
        .filter(|definition| !matches!(definition.shape, Shape::Envelope | Shape::Extension))
        .collect();
    let definitions = types
        .iter()
        .filter(|definition| !owners.contains_key(definition.name.as_str()))
        .map(|definition| {
            let name = ident(&definition.name);
            let path = path(&definition.name, lowered);
            quote!(#name = #path,)
        });
    let unions = owners.iter().map(|(union, owner)| {
        let (union, owner) = (ident(union), ident(owner));
        quote!(#union = #owner,)
    });
    let references = types
        .iter()
        .filter(|definition| !owners.contains_key(definition.name.as_str()))
        .map(|definition| {
            let name = &definition.name;
            let path = path(name, lowered);
            quote!(#name => generator.subschema_for::<#path>(),)
        });
    quote! {
        use schemars::{Schema, SchemaGenerator};

        use super::generated::*;
        use crate::codec::json_schema::published;

        published!(definition { #(#definitions)* });
        published!(branches { #(#unions)* });

        /// Refers to a definition.
        fn reference(name: &str, generator: &mut SchemaGenerator) -> Schema {
            match name {
                #(#references)*
                // Every definition that another refers to has a type.
                _ => Schema::default(),
            }
        }
    }
}

fn path(name: &str, lowered: &BTreeMap<String, Definition>) -> TokenStream {
    match lowered.get(name).map(|definition| &definition.shape) {
        Some(Shape::Handwritten(_)) => rust_type(&Type::Of(name.to_owned()), lowered),
        _ => {
            let name = ident(name);
            quote!(#name)
        }
    }
}
