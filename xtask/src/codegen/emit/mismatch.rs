//! The shapes of all definitions as data, by which `acp_protocol::mismatch` names what
//! decoding refuses.

use std::collections::BTreeMap;

use anyhow::{Result, bail};
use proc_macro2::TokenStream;
use quote::quote;

use super::{ident, methods};
use crate::codegen::lower::{
    Definition, Field, MemberVariant, Object, Payload, Presence, Shape, Tagged, Type, Variant,
};
use crate::codegen::names;

/// Writes a static for each definition, and the tables that find it.
pub(crate) fn emit(lowered: &BTreeMap<String, Definition>) -> Result<TokenStream> {
    let shapes = Shapes(lowered);
    let mut statics = TokenStream::new();
    let mut rows = TokenStream::new();
    for (name, definition) in lowered {
        if matches!(
            definition.shape,
            Shape::Handwritten(_) | Shape::Envelope | Shape::Extension
        ) {
            continue;
        }
        let constant = ident(&names::constant(name));
        let shape = shapes.definition(definition)?;
        statics.extend(quote!(static #constant: Shape = #shape;));
        rows.extend(quote!(#name => &#constant,));
    }
    let (mut params, mut results) = (TokenStream::new(), TokenStream::new());
    for (method, request, response) in methods::messages(lowered)? {
        let request = ident(&names::constant(request));
        params.extend(quote!(#method => &#request,));
        if let Some(response) = response {
            let response = ident(&names::constant(response));
            results.extend(quote!(#method => &#response,));
        }
    }
    let table = |name: &str, about: &str, rows: TokenStream| {
        let name = ident(name);
        quote! {
            #[doc = #about]
            pub(super) fn #name(name: &str) -> Option<&'static Shape> {
                Some(match name {
                    #rows
                    _ => return None,
                })
            }
        }
    };
    let params = table("params", " The parameters of a method.", params);
    let results = table("result", " The result of a method.", results);
    let definitions = table("definition", " A definition by its name.", rows);
    Ok(quote! {
        use super::shape::{Absent, Member, Need, Payload, Reading, Shape};

        #params
        #results
        #definitions
        #statics
    })
}

struct Shapes<'a>(&'a BTreeMap<String, Definition>);

impl Shapes<'_> {
    fn definition(&self, definition: &Definition) -> Result<TokenStream> {
        Ok(match &definition.shape {
            Shape::Id | Shape::Strings { .. } => quote!(Shape::Text),
            Shape::Number(r#type) => self.value(r#type)?,
            Shape::Object(object) => self.object(definition, object)?,
            Shape::Tagged(tagged) => self.tagged(tagged)?,
            Shape::ByMember(variants) => {
                let variants = self.by_member(variants, |payload| payload)?;
                quote!(Shape::ByMember(&[#variants]))
            }
            Shape::ByElement(variants) => {
                let element = |payload| match payload {
                    Type::List(inner) => *inner,
                    other => other,
                };
                let variants = self.by_member(variants, element)?;
                quote!(Shape::ByElement(&[#variants]))
            }
            // A member that no variant takes is kept as it came.
            Shape::Scalars(_) => quote!(Shape::Any),
            Shape::Handwritten(_) | Shape::Envelope | Shape::Extension => {
                bail!("definition `{}`: has no shape", definition.name)
            }
        })
    }

    /// The shape of a value.
    fn value(&self, r#type: &Type) -> Result<TokenStream> {
        Ok(match r#type {
            Type::Text => quote!(Shape::Text),
            Type::Bool => quote!(Shape::Bool),
            Type::U16 => quote!(Shape::U16),
            Type::U32 => quote!(Shape::U32),
            Type::U64 => quote!(Shape::U64),
            // None has been needed so far, and a shape without use is dead code.
            Type::I32 => bail!("`Shape` has no numbers of 32 bits with a sign: add them"),
            Type::I64 => quote!(Shape::I64),
            Type::F64 => quote!(Shape::F64),
            Type::Raw => quote!(Shape::Any),
            Type::Meta => quote!(Shape::AnyObject),
            Type::List(inner) => {
                let inner = self.reference(inner)?;
                quote!(Shape::List(#inner))
            }
            Type::Map(inner) => {
                let inner = self.reference(inner)?;
                quote!(Shape::Map(#inner))
            }
            Type::Of(name) => match self.0.get(name).map(|target| &target.shape) {
                Some(Shape::Handwritten(path)) => match path.rsplit("::").next() {
                    Some("RequestId") => quote!(Shape::RequestId),
                    _ => bail!("the shape of `{path}`, which is written by hand, is not known"),
                },
                _ => bail!("`{name}` is a definition of its own"),
            },
        })
    }

    /// A reference to the shape of a value.
    fn reference(&self, r#type: &Type) -> Result<TokenStream> {
        if let Type::Of(name) = r#type
            && !matches!(
                self.0.get(name).map(|target| &target.shape),
                Some(Shape::Handwritten(_))
            )
        {
            let constant = ident(&names::constant(name));
            return Ok(quote!(&#constant));
        }
        let shape = self.value(r#type)?;
        Ok(quote!(&#shape))
    }

    fn object(&self, definition: &Definition, object: &Object) -> Result<TokenStream> {
        let members = object.fields.iter().map(|field| self.member(field));
        let members = members.collect::<Result<TokenStream>>()?;
        let flat = match &object.flat {
            Some(flat) => {
                let union = ident(&names::constant(&flat.union));
                quote!(Some(&#union))
            }
            None => quote!(None),
        };
        let or_null = definition.method.is_some() && object.has_default();
        Ok(quote!(Shape::Object { members: &[#members], flat: #flat, or_null: #or_null }))
    }

    fn member(&self, field: &Field) -> Result<TokenStream> {
        let key = &field.key;
        let need = match (field.presence, &field.alias) {
            (Presence::Must, None) => quote!(Required),
            (Presence::Must, Some(alias)) => quote!(RequiredOr(#alias)),
            (_, Some(_)) => bail!("`{key}` has an alias and is not required"),
            (Presence::Plain | Presence::Sparse, None) => quote!(Optional),
            (Presence::May | Presence::Change, None) => quote!(Nullable),
        };
        let reading = ident(&format!("{:?}", field.reading));
        let shape = self.reference(&field.r#type)?;
        Ok(quote! {
            Member { key: #key, need: Need::#need, reading: Reading::#reading, shape: #shape },
        })
    }

    fn tagged(&self, tagged: &Tagged) -> Result<TokenStream> {
        let tag = &tagged.tag;
        let variants = tagged.variants.iter().map(|variant| {
            let wire = &variant.wire;
            let payload = self.payload(variant)?;
            Ok(quote!((#wire, #payload),))
        });
        let variants = variants.collect::<Result<TokenStream>>()?;
        let absent = match &tagged.absent {
            None => quote!(None),
            Some(absent) => {
                let wire = &absent.variant.wire;
                let title = match absent.by_title {
                    true => quote!(Some(#wire)),
                    false => quote!(None),
                };
                let payload = self.payload(&absent.variant)?;
                quote!(Some(Absent { title: #title, payload: #payload }))
            }
        };
        Ok(quote!(Shape::Tagged { tag: #tag, variants: &[#variants], absent: #absent }))
    }

    fn payload(&self, variant: &Variant) -> Result<TokenStream> {
        Ok(match &variant.payload {
            Payload::None => quote!(Payload::Nothing),
            Payload::Members(name) => {
                let constant = ident(&names::constant(name));
                quote!(Payload::Members(&#constant))
            }
            Payload::Single(key, r#type) => {
                let shape = self.reference(r#type)?;
                quote!(Payload::Single(#key, #shape))
            }
        })
    }

    fn by_member(
        &self,
        variants: &[MemberVariant],
        object: impl Fn(Type) -> Type,
    ) -> Result<TokenStream> {
        let variants = variants.iter().map(|variant| {
            let key = &variant.key;
            let shape = self.reference(&object(variant.payload.clone()))?;
            Ok(quote!((#key, #shape),))
        });
        variants.collect()
    }
}
