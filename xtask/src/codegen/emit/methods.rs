//! The method table.

use std::collections::BTreeMap;

use anyhow::{Result, bail};
use proc_macro2::TokenStream;
use quote::quote;

use super::ident;
use crate::codegen::load::Side;
use crate::codegen::lower::{Definition, Shape};
use crate::codegen::names;

/// One method, and the definitions of its messages.
#[derive(Debug)]
struct Method<'a> {
    name: &'a str,
    side: Side,
    kind: Kind<'a>,
}

#[derive(Debug)]
enum Kind<'a> {
    Request { params: &'a str, result: &'a str },
    Notification { params: &'a str },
}

/// Writes constants, pairs and tables.
pub(crate) fn emit(lowered: &BTreeMap<String, Definition>) -> Result<TokenStream> {
    let methods = pair(lowered)?;
    let constants = methods.iter().map(|method| {
        let constant = ident(&names::constant(method.name));
        let name = method.name;
        let about = format!(" `{name}`: {}.", served(method));
        quote!(#[doc = #about] pub const #constant: &str = #name;)
    });
    let impls = methods.iter().map(implementation);
    let rows = methods.iter().map(|method| {
        let constant = ident(&names::constant(method.name));
        let side = side(method.side);
        match method.kind {
            Kind::Request { .. } => quote!(Method::request(#constant, #side)),
            Kind::Notification { .. } => quote!(Method::notification(#constant, #side)),
        }
    });
    let tables = [
        (Side::Agent, "AgentMethod", "The methods that agents serve."),
        (
            Side::Client,
            "ClientMethod",
            "The methods that clients serve.",
        ),
        (
            Side::Protocol,
            "ProtocolMethod",
            "The methods that both sides serve.",
        ),
    ]
    .into_iter()
    .filter_map(|(side, name, about)| {
        let of_side: Vec<_> = methods
            .iter()
            .filter(|method| method.side == side)
            .collect();
        (!of_side.is_empty()).then(|| table(name, about, &of_side))
    });
    Ok(quote! {
        use super::generated::*;
        use crate::method::{Method, Notification, Request, Side};

        #(#constants)*

        /// All methods, by name.
        pub const ALL: &[Method] = &[#(#rows),*];

        #(#tables)*
        #(#impls)*
    })
}

/// Returns each method with the definitions of its parameters and of its result.
pub(super) fn messages(
    lowered: &BTreeMap<String, Definition>,
) -> Result<Vec<(&str, &str, Option<&str>)>> {
    let messages = pair(lowered)?.into_iter().map(|method| match method.kind {
        Kind::Request { params, result } => (method.name, params, Some(result)),
        Kind::Notification { params } => (method.name, params, None),
    });
    Ok(messages.collect())
}

/// Joins the definitions of each method, by their endings.
fn pair(lowered: &BTreeMap<String, Definition>) -> Result<Vec<Method<'_>>> {
    let mut messages: BTreeMap<&str, (Side, Vec<&str>)> = BTreeMap::new();
    for definition in lowered.values() {
        let Some((method, side)) = &definition.method else {
            continue;
        };
        if !matches!(definition.shape, Shape::Object(_)) {
            bail!(
                "definition `{}`: is a message and no object",
                definition.name
            );
        }
        let (known_side, names) = messages.entry(method).or_insert((*side, Vec::new()));
        if known_side != side {
            bail!("method `{method}`: its definitions name different sides");
        }
        names.push(&definition.name);
    }
    messages
        .into_iter()
        .map(|(name, (side, definitions))| {
            let ending = |end: &str| definitions.iter().copied().find(|name| name.ends_with(end));
            let kind = match (
                ending("Request"),
                ending("Response"),
                ending("Notification"),
            ) {
                (Some(params), Some(result), None) => Kind::Request { params, result },
                (None, None, Some(params)) => Kind::Notification { params },
                _ => bail!(
                    "method `{name}`: has neither a request with its response nor a notification, \
                     but {}",
                    definitions.join(", ")
                ),
            };
            let wanted = if matches!(kind, Kind::Request { .. }) {
                2
            } else {
                1
            };
            if definitions.len() != wanted {
                bail!(
                    "method `{name}`: has more messages than it can: {}",
                    definitions.join(", ")
                );
            }
            Ok(Method { name, side, kind })
        })
        .collect()
}

fn side(side: Side) -> TokenStream {
    match side {
        Side::Agent => quote!(Side::Agent),
        Side::Client => quote!(Side::Client),
        Side::Protocol => quote!(Side::Both),
    }
}

fn served(method: &Method<'_>) -> &'static str {
    match (method.side, &method.kind) {
        (Side::Agent, Kind::Request { .. }) => "a request that agents serve",
        (Side::Agent, Kind::Notification { .. }) => "a notification for agents",
        (Side::Client, Kind::Request { .. }) => "a request that clients serve",
        (Side::Client, Kind::Notification { .. }) => "a notification for clients",
        (Side::Protocol, Kind::Request { .. }) => "a request that both sides serve",
        (Side::Protocol, Kind::Notification { .. }) => "a notification for either side",
    }
}

fn implementation(method: &Method<'_>) -> TokenStream {
    let constant = ident(&names::constant(method.name));
    let side = side(method.side);
    match &method.kind {
        Kind::Request { params, result } => {
            let (params, result) = (ident(params), ident(result));
            quote! {
                impl Request for #params {
                    const METHOD: &'static str = #constant;
                    const SERVED_BY: Side = #side;
                    type Response = #result;
                }
            }
        }
        Kind::Notification { params } => {
            let params = ident(params);
            quote! {
                impl Notification for #params {
                    const METHOD: &'static str = #constant;
                    const SERVED_BY: Side = #side;
                }
            }
        }
    }
}

/// An enum of the methods of one side, so that a match over it misses none.
fn table(name: &str, about: &str, methods: &[&Method<'_>]) -> TokenStream {
    let name = ident(name);
    let about = format!(" {about}\n\n A `match` without `_` over it serves all of them.");
    let about = about.lines().map(|line| quote!(#[doc = #line]));
    let variants: Vec<_> = methods
        .iter()
        .map(|method| ident(&names::variant(method.name)))
        .collect();
    let constants: Vec<_> = methods
        .iter()
        .map(|method| ident(&names::constant(method.name)))
        .collect();
    let abouts = methods
        .iter()
        .map(|method| format!(" `{}`: {}.", method.name, served(method)));
    quote! {
        #(#about)*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum #name {
            #(#[doc = #abouts] #variants,)*
        }

        impl #name {
            /// All of them, by name.
            pub const ALL: &'static [Self] = &[#(Self::#variants),*];

            /// Finds a method by its name.
            pub fn find(name: &str) -> Option<Self> {
                match name {
                    #(#constants => Some(Self::#variants),)*
                    _ => None,
                }
            }

            /// Returns the name.
            pub fn name(self) -> &'static str {
                match self {
                    #(Self::#variants => #constants,)*
                }
            }
        }
    }
}
