//! An attack as a data file of `tests/attacks` says it.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use super::script::Script;
use super::units::{read_bytes, read_time};

/// Texts that every attack may name.
const SHARED: &str = "shared.toml";

/// One attack: a hostile party, a command of ours, and how that has to end.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Attack {
    /// The name of its file, and of the variant.
    #[serde(skip)]
    pub(super) name: String,
    /// Where it stands, for the process that plays it.
    #[serde(skip)]
    pub(super) file: PathBuf,
    /// The harm that is tried.
    pub(super) title: String,
    /// Part of the short run of CI.
    #[serde(default)]
    pub(super) fast: bool,
    /// Programs without which it cannot be tried.
    #[serde(default)]
    pub(super) needs: Vec<String>,
    /// The command of the victim.
    pub(super) command: Vec<String>,
    #[serde(default)]
    pub(super) env: BTreeMap<String, String>,
    /// Texts with names; a variant may have others.
    #[serde(default)]
    pub(super) parts: BTreeMap<String, String>,
    /// Files and links that are there before.
    #[serde(default)]
    pub(super) files: Vec<Planted>,
    /// Commands that run before, outside of what is measured; each has to succeed.
    #[serde(default)]
    pub(super) prepare: Vec<Vec<String>>,
    /// Commands that run after the victim, whose output is judged along with its own.
    #[serde(default)]
    pub(super) then: Vec<Vec<String>>,
    /// Keys for a victim that runs on a terminal; without them it has none.
    pub(super) keys: Option<Vec<Keys>>,
    /// A signal for the victim.
    pub(super) stop: Option<Stop>,
    /// The hostile agent, which the victim starts as `<<agent>>`.
    pub(super) agent: Option<Script>,
    /// The hostile client, which starts the victim: `<<client>>` before its command.
    pub(super) client: Option<Script>,
    #[serde(default)]
    pub(super) expect: Expect,
    /// The same with other parts, each an attack of its own.
    #[serde(default)]
    variants: BTreeMap<String, Variant>,
    /// Ways in which the victim is ended: each variant is tried with each.
    #[serde(default)]
    ends: BTreeMap<String, Variant>,
}

/// In which way a variant differs.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Variant {
    title: Option<String>,
    fast: Option<bool>,
    command: Option<Vec<String>>,
    keys: Option<Vec<Keys>>,
    stop: Option<Stop>,
    agent: Option<Script>,
    client: Option<Script>,
    expect: Option<Expect>,
    #[serde(default)]
    parts: BTreeMap<String, String>,
}

/// A file, a folder or a link that is there before the attack.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Planted {
    pub(super) path: String,
    /// Its content; without it and without a link it is a folder.
    pub(super) text: Option<String>,
    pub(super) link: Option<String>,
    /// Its rights, octal.
    pub(super) mode: Option<String>,
}

/// Keys that are pressed once a text stands on the terminal.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Keys {
    pub(super) wait: String,
    pub(super) press: String,
}

/// A signal that the victim gets once the attacker has reached a mark.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Stop {
    /// `TERM` or `INT`.
    pub(super) signal: String,
    pub(super) at: String,
    /// How long the victim may take from then on.
    #[serde(deserialize_with = "read_time")]
    pub(super) within: Duration,
}

/// How it has to end. What is not said here is checked of every attack: text, memory, time,
/// no panic, no process left, and that the attacker reached all of its marks.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(super) struct Expect {
    /// Exit codes that are right; without them any but a signal's.
    pub(super) exit: Vec<i32>,
    /// The most memory of the tree.
    #[serde(deserialize_with = "read_bytes")]
    pub(super) memory: u64,
    /// The longest that the victim may run.
    #[serde(deserialize_with = "read_time")]
    pub(super) within: Duration,
    /// The way that output is checked for commands to terminals.
    pub(super) text: TextRule,
    /// Texts that must not be in the output.
    pub(super) never: Vec<String>,
    /// Texts of which the output has to hold each.
    pub(super) says: Vec<String>,
    /// Files that must not be there.
    pub(super) absent: Vec<String>,
    /// Files that must be as they were.
    pub(super) unchanged: Vec<String>,
    /// Files and folders that must hold none of `canaries`.
    pub(super) free: Vec<String>,
    pub(super) canaries: Vec<String>,
    /// Marks that the attacker may miss, as a victim may stop listening.
    pub(super) may_miss: Vec<String>,
}

/// The largest sum of memory of a tree, if the file of the attack names no lower one.
const MEMORY: u64 = 256 << 20;

impl Default for Expect {
    fn default() -> Self {
        Self {
            exit: Vec::new(),
            memory: MEMORY,
            within: Duration::from_secs(20),
            text: TextRule::default(),
            never: Vec::new(),
            says: Vec::new(),
            absent: Vec::new(),
            unchanged: Vec::new(),
            free: Vec::new(),
            canaries: Vec::new(),
            may_miss: Vec::new(),
        }
    }
}

/// Which characters the output of a victim may hold.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum TextRule {
    /// No controls, no bidi, nothing invisible, on either stream.
    #[default]
    Clean,
    /// The same of stderr; on stdout JSON, in which no control may stand as it is.
    Json,
    /// The same of stderr alone: stdout belongs to the protocol, or is a pipe into which the
    /// text of an agent passes as it is.
    Stderr,
    /// A terminal: the program's own colours and cursor may be there, nothing else.
    Terminal,
}

/// Reads the attacks of a folder, each variant as one of its own, sorted by name.
///
/// # Errors
///
/// Fails when a file cannot be read or makes no sense.
pub(super) fn load_all(folder: &Path) -> Result<Vec<Attack>> {
    let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let mut attacks = Vec::new();
    for entry in entries {
        let file = entry?.path();
        let is_data = file.extension() == Some(OsStr::new("toml"));
        if is_data && file.file_name() != Some(OsStr::new(SHARED)) {
            attacks.extend(load(&file)?);
        }
    }
    attacks.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(attacks)
}

/// Reads the attacks of one file.
///
/// # Errors
///
/// Fails when the file cannot be read or makes no sense.
pub(super) fn load(file: &Path) -> Result<Vec<Attack>> {
    let read = |file: &Path| {
        fs::read_to_string(file).with_context(|| format!("failed to read {}", file.display()))
    };
    let shared = match file.with_file_name(SHARED) {
        shared if shared.exists() => toml::from_str(&read(&shared)?)?,
        _ => BTreeMap::new(),
    };
    let understood = parse(&read(file)?, file, &shared);
    understood.with_context(|| file.display().to_string())
}

fn parse(text: &str, file: &Path, shared: &BTreeMap<String, String>) -> Result<Vec<Attack>> {
    let mut attack: Attack = toml::from_str(text)?;
    let stem = file.file_stem().context("the file has a name")?;
    attack.name = stem.to_string_lossy().into_owned();
    file.clone_into(&mut attack.file);
    let own = std::mem::replace(&mut attack.parts, shared.clone());
    attack.parts.extend(own);
    let variants = std::mem::take(&mut attack.variants);
    let ends = std::mem::take(&mut attack.ends);
    let mut attacks = attack.vary_all(variants);
    if !ends.is_empty() {
        let with_ends = attacks.iter();
        attacks = with_ends
            .flat_map(|attack| attack.vary_all(ends.clone()))
            .collect();
    }
    for attack in &attacks {
        attack
            .check()
            .with_context(|| format!("attack {}", attack.name))?;
    }
    Ok(attacks)
}

impl Attack {
    /// Returns the marks that its attacker makes.
    pub(super) fn marks(&self) -> Vec<&str> {
        let scripts = [&self.agent, &self.client].into_iter().flatten();
        scripts.flat_map(Script::marks).collect()
    }

    /// Returns the attack with each of these differences; without any it stays as it is.
    fn vary_all(&self, variants: BTreeMap<String, Variant>) -> Vec<Self> {
        if variants.is_empty() {
            return vec![self.clone()];
        }
        let variants = variants.into_iter();
        let varied = variants.map(|(name, variant)| self.vary(&name, variant));
        varied.collect()
    }

    fn vary(&self, name: &str, variant: Variant) -> Self {
        let mut attack = self.clone();
        attack.name = format!("{}/{name}", self.name);
        attack.parts.extend(variant.parts);
        if let Some(title) = variant.title {
            attack.title = title;
        }
        if let Some(fast) = variant.fast {
            attack.fast = fast;
        }
        if let Some(command) = variant.command {
            attack.command = command;
        }
        if let Some(expect) = variant.expect {
            attack.expect = expect;
        }
        attack.keys = variant.keys.or(attack.keys);
        attack.stop = variant.stop.or(attack.stop);
        attack.agent = variant.agent.or(attack.agent);
        attack.client = variant.client.or(attack.client);
        attack
    }

    /// Refuses an attack that could hold without having happened.
    fn check(&self) -> Result<()> {
        ensure!(!self.command.is_empty(), "it has no command");
        let marks = self.marks();
        let scripted = self.agent.is_some() || self.client.is_some();
        ensure!(
            !scripted || !marks.is_empty(),
            "its script has no `mark`, so nobody knows whether it was played"
        );
        ensure!(
            scripted || !self.expect.says.is_empty() || !self.expect.exit.is_empty(),
            "it has no script, so it has to expect an exit code or a text"
        );
        let known = |name: &String| marks.contains(&name.as_str());
        let mut named = self.expect.may_miss.iter();
        ensure!(named.all(known), "`may-miss` names no mark of its script");
        if let Some(stop) = &self.stop {
            ensure!(known(&stop.at), "`stop` waits for no mark of its script");
        }
        ensure!(
            self.expect.free.is_empty() == self.expect.canaries.is_empty(),
            "`free` and `canaries` need each other"
        );
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::workspace::root;

    fn of(text: &str) -> Result<Vec<Attack>> {
        parse(text, Path::new("/attacks/loud.toml"), &BTreeMap::new())
    }

    #[test]
    fn each_variant_is_an_attack() {
        let text = "title = \"t\"\ncommand = [\"acp\"]\nparts.a = \"one\"\nexpect.exit = [2]\n\
            [variants.low]\nparts.a = \"two\"\n[variants.high]\ncommand = [\"acp\", \"run\"]";
        let attacks = of(text).expect("it makes sense");
        let told: Vec<_> = attacks
            .iter()
            .map(|attack| (&*attack.name, &*attack.parts["a"], attack.command.len()))
            .collect();
        assert_eq!(told, [("loud/high", "one", 2), ("loud/low", "two", 1)]);
    }

    #[test]
    fn each_variant_is_tried_with_each_end() {
        let text = "title = \"t\"\ncommand = [\"acp\"]\nexpect.exit = [2]\n\
            agent.first = [{ mark = \"said\" }]\n\
            [variants.deep]\n[variants.wide]\nfast = true\n\
            [ends.late]\nparts.limit = \"3s\"\n\
            [ends.term]\nstop = { signal = \"TERM\", at = \"said\", within = \"9s\" }";
        let attacks = of(text).expect("it makes sense");
        let told: Vec<_> = attacks
            .iter()
            .map(|attack| (&*attack.name, attack.stop.is_some(), attack.fast))
            .collect();
        assert_eq!(
            told,
            [
                ("loud/deep/late", false, false),
                ("loud/deep/term", true, false),
                ("loud/wide/late", false, true),
                ("loud/wide/term", true, true),
            ]
        );
    }

    #[test]
    fn an_attack_that_might_not_happen_is_refused() {
        let error = |text: &str| format!("{:#}", of(text).expect_err("it makes no sense"));
        let head = "title = \"t\"\ncommand = [\"acp\"]\n";
        let silent = error(&format!("{head}agent = {{}}"));
        assert!(silent.contains("has no `mark`"), "{silent}");
        assert!(error(head).contains("it has no script"));
        let free = error(&format!("{head}expect.exit = [0]\nexpect.free = [\"a\"]"));
        assert!(free.contains("need each other"), "{free}");
    }

    #[test]
    fn every_file_of_the_battery_makes_sense() {
        let attacks = load_all(&root().join("tests/attacks")).expect("they make sense");
        assert!(attacks.len() >= 40, "{}", attacks.len());
        let names: BTreeSet<_> = attacks.iter().map(|attack| &attack.name).collect();
        assert_eq!(names.len(), attacks.len());
        assert!(attacks.iter().any(|attack| attack.fast));
    }
}
