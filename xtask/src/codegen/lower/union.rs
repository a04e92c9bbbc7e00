//! Unions, and how their variants are told apart.

use anyhow::{Context, Result, bail};

use super::{
    Absent, Lowering, MemberVariant, Payload, Shape, StringValue, Tagged, Type, Variant, type_of,
};
use crate::codegen::load::{Additional, Schema};
use crate::codegen::names;
use crate::codegen::overlay::Mark;

impl Lowering<'_> {
    /// Finds the shape of a union from its branches.
    pub(super) fn union(&self, name: &str, schema: &Schema, branches: &[Schema]) -> Result<Shape> {
        if schema.one_of.is_some() && schema.any_of.is_some() {
            bail!("is two unions at once");
        }
        if branches
            .iter()
            .all(|branch| branch.one_type() == Some("string"))
        {
            return strings(branches);
        }
        if let Some(tag) = branches.iter().find_map(tag_of) {
            let tagged = self.tagged(name, tag, branches)?;
            if let Some(discriminator) = &schema.discriminator
                && discriminator.property_name != tag
            {
                bail!(
                    "is told by `{}`, but its branches by `{tag}`",
                    discriminator.property_name
                );
            }
            return Ok(Shape::Tagged(tagged));
        }
        if branches.iter().all(|branch| branch.target().is_some()) {
            return Ok(Shape::ByMember(self.by_member(branches, Schema::target)?));
        }
        if branches.iter().all(|branch| element(branch).is_some()) {
            return Ok(Shape::ByElement(self.by_member(branches, element)?));
        }
        if branches
            .iter()
            .all(|branch| branch.target().is_none() && branch.title.is_some())
        {
            return scalars(branches);
        }
        bail!("is a union of a shape that the generator does not know")
    }

    fn tagged(&self, name: &str, tag: &str, branches: &[Schema]) -> Result<Tagged> {
        let mut tagged = Tagged {
            tag: tag.to_owned(),
            variants: Vec::new(),
            absent: None,
            mended: self.overlay.marks(Mark::Mended, name),
        };
        let mut other = false;
        for branch in branches {
            if let Some(found) = tag_of(branch) {
                if found != tag {
                    bail!("branches are told by `{tag}` and by `{found}`");
                }
                tagged
                    .variants
                    .push(self.tagged_variant(name, tag, branch)?);
            } else if is_other(tag, branch) {
                if std::mem::replace(&mut other, true) {
                    bail!("has two branches for unknown tags");
                }
            } else {
                let absent = Absent {
                    variant: self.untagged_variant(name, branch)?,
                    by_title: true,
                    takes_unknown: self.overlay.marks(Mark::LenientFallback, name),
                };
                if tagged.absent.replace(absent).is_some() {
                    bail!("has two branches without a tag");
                }
            }
        }
        if let Some(absent) = &mut tagged.absent {
            absent.by_title = !other;
        }
        Ok(tagged)
    }

    fn tagged_variant(&self, union: &str, tag: &str, branch: &Schema) -> Result<Variant> {
        let member = branch.members().find(|(key, _)| *key == tag);
        let wire = member
            .and_then(|(_, schema)| schema.const_text())
            .unwrap_or_default();
        if !branch.requires(tag) {
            bail!("branch `{wire}` does not require its tag");
        }
        let others: Vec<_> = branch.members().filter(|(key, _)| *key != tag).collect();
        let payload = match (branch.target(), others.as_slice()) {
            (Some(target), []) => Payload::Members(target.to_owned()),
            (None, []) if branch.all_of.is_none() => Payload::None,
            (None, [(key, value)]) if branch.all_of.is_none() && branch.requires(key) => {
                Payload::Single((*key).clone(), type_of(value)?)
            }
            _ => bail!("branch `{wire}` has members of its own: give them a definition"),
        };
        self.variant(union, wire, branch, payload)
    }

    fn untagged_variant(&self, union: &str, branch: &Schema) -> Result<Variant> {
        let title = branch
            .title
            .as_deref()
            .context("a branch has neither tag nor title")?;
        let members: Vec<_> = branch.members().collect();
        let payload = match (branch.target(), members.as_slice()) {
            (Some(target), []) => Payload::Members(target.to_owned()),
            (None, [(key, value)]) if branch.all_of.is_none() && branch.requires(key) => {
                Payload::Single((*key).clone(), type_of(value)?)
            }
            _ => bail!("branch `{title}` is of a shape that the generator does not know"),
        };
        self.variant(union, title, branch, payload)
    }

    fn variant(
        &self,
        union: &str,
        wire: &str,
        branch: &Schema,
        payload: Payload,
    ) -> Result<Variant> {
        let boxed = self
            .overlay
            .marks_member(Mark::Boxed, union, &names::variant(wire));
        Ok(Variant {
            wire: wire.to_owned(),
            about: self.about(branch)?,
            payload,
            boxed,
        })
    }

    /// Finds the member that only one branch has, in the objects that `object` names: the
    /// branches themselves, or their elements.
    fn by_member(
        &self,
        branches: &[Schema],
        object: impl Fn(&Schema) -> Option<&str>,
    ) -> Result<Vec<MemberVariant>> {
        let objects = branches
            .iter()
            .map(|branch| self.resolve(object(branch).unwrap_or_default()))
            .collect::<Result<Vec<_>>>()?;
        let variant = |(branch, own): (&Schema, &&Schema)| {
            let (title, key) = telling(branch, own, &objects)?;
            Ok(MemberVariant {
                title,
                about: self.about(branch)?,
                key,
                payload: type_of(branch)?,
            })
        };
        branches.iter().zip(&objects).map(variant).collect()
    }

    /// Returns what a branch, or else the definition it stands for, says of itself.
    fn about(&self, branch: &Schema) -> Result<String> {
        if let Some(about) = &branch.description {
            return Ok(about.clone());
        }
        let target = branch
            .target()
            .map(|target| self.resolve(target))
            .transpose()?;
        Ok(target
            .and_then(|target| target.description.clone())
            .unwrap_or_default())
    }
}

fn element(branch: &Schema) -> Option<&str> {
    branch.items.as_deref().and_then(Schema::target)
}

/// Returns the title of a branch and a required member that only it has.
fn telling(branch: &Schema, own: &Schema, all: &[&Schema]) -> Result<(String, String)> {
    let title = branch.title.clone().context("a branch has no title")?;
    let others = || all.iter().filter(|other| !std::ptr::eq(**other, own));
    let key = own
        .required
        .iter()
        .find(|key| others().all(|other| other.members().all(|(member, _)| member != *key)))
        .with_context(|| format!("nothing tells branch `{title}` from the others"))?;
    Ok((title, key.clone()))
}

/// Returns the name of the member whose value is given.
fn tag_of(branch: &Schema) -> Option<&str> {
    branch
        .members()
        .find(|(_, member)| member.const_text().is_some())
        .map(|(key, _)| key.as_str())
}

/// Tells whether a branch takes every tag that no other branch has.
fn is_other(tag: &str, branch: &Schema) -> bool {
    let any_members = branch.additional_properties == Some(Additional::Any(true))
        || branch.unevaluated_properties == Some(true);
    branch.not.is_some() && any_members && branch.requires(tag)
}

fn strings(branches: &[Schema]) -> Result<Shape> {
    let mut values = Vec::new();
    let mut open = false;
    for branch in branches {
        match branch.const_text() {
            Some(wire) => values.push(StringValue {
                wire: wire.to_owned(),
                about: branch.description.clone().unwrap_or_default(),
            }),
            None if std::mem::replace(&mut open, true) => {
                bail!("has two branches for unknown values")
            }
            None => {}
        }
    }
    let default = match values.as_slice() {
        [only] if !open => Some(only.wire.clone()),
        _ => None,
    };
    Ok(Shape::Strings { values, default })
}

fn scalars(branches: &[Schema]) -> Result<Shape> {
    let mut variants = Vec::new();
    for branch in branches {
        let title = branch.title.clone().unwrap_or_default();
        let r#type = type_of(branch).with_context(|| format!("branch `{title}`"))?;
        if r#type == Type::I64 && variants.iter().any(|(_, _, earlier)| *earlier == Type::F64) {
            bail!("branch `{title}` can never be reached: a number comes first");
        }
        variants.push((
            title,
            branch.description.clone().unwrap_or_default(),
            r#type,
        ));
    }
    Ok(Shape::Scalars(variants))
}
