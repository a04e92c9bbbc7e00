//! Ids, numbers and string enums.

use std::collections::BTreeMap;

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::{docs, ident, rust_type};
use crate::codegen::lower::{StringValue, Type};
use crate::codegen::names;

pub(super) fn id(name: &Ident, about: &TokenStream) -> TokenStream {
    quote! {
        #about
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct #name(Arc<str>);

        id!(#name);
    }
}

pub(super) fn number(name: &Ident, about: &TokenStream, r#type: &Type) -> TokenStream {
    let number = rust_type(r#type, &BTreeMap::new());
    quote! {
        #about
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct #name(pub #number);

        impl From<#number> for #name {
            fn from(number: #number) -> Self {
                Self(number)
            }
        }

        impl fmt::Display for #name {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(out)
            }
        }
    }
}

pub(super) fn strings(
    name: &Ident,
    about: &TokenStream,
    values: &[StringValue],
    default: Option<&str>,
) -> TokenStream {
    let variants = values.iter().map(|value| {
        let variant = ident(&names::variant(&value.wire));
        let about = docs::lines(&value.about, &format!("`{}`.", value.wire));
        let is_default = (default == Some(value.wire.as_str())).then(|| quote!(#[default]));
        quote!(#about #is_default #variant,)
    });
    let rows = values.iter().map(|value| {
        let variant = ident(&names::variant(&value.wire));
        let wire = &value.wire;
        quote!(#variant = #wire)
    });
    let derive_default = default.map(|_| quote!(Default,));
    quote! {
        #about
        #[derive(Clone, Debug, #derive_default PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum #name {
            #(#variants)*
            /// A value that this version of the protocol does not name.
            Unrecognized(Box<str>),
        }

        string_enum!(#name { #(#rows),* });
    }
}
