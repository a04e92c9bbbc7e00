//! The peers: `tests/interop/{agents,clients}/NAME/recipe.toml`, and a home for each.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use super::outcome::Known;

/// How a peer is installed and started, and what is known of it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Recipe {
    /// The name of its folder.
    #[serde(skip)]
    pub(super) name: String,
    /// Its name and version, for people.
    pub(super) title: String,
    /// Packages of npm, each with its version.
    #[serde(default)]
    pub(super) npm: Vec<String>,
    /// Those of these packages whose scripts run when they are installed, and why they must.
    /// All others, and what they need, are unpacked only.
    #[serde(default)]
    pub(super) npm_scripts: BTreeMap<String, String>,
    /// Packages of pip, each with its version.
    #[serde(default)]
    pub(super) pip: Vec<String>,
    /// A source package of pip with its version, unpacked into `{install}/source`.
    pub(super) source: Option<String>,
    /// It is a program of `tests/interop/rust-sdk`, which is built into `{install}`.
    #[serde(default)]
    pub(super) rust_sdk: bool,
    /// It is a program of ours: of the workspace in this folder, whose build is `{install}`.
    pub(super) own: Option<String>,
    /// It is driven with `--all` alone: it is large, slow or not free.
    #[serde(default)]
    pub(super) only_with_all: bool,
    /// It talks to no model, so `acp run` has nothing to ask it.
    #[serde(default)]
    pub(super) without_model: bool,
    /// The mode in which it asks before it acts, where that is not the first.
    pub(super) asking_mode: Option<String>,
    /// The option, `ID=VALUE`, that makes it ask questions.
    pub(super) question_option: Option<String>,
    /// What it answers to a plain prompt, where that is not what the model says.
    pub(super) hello: Option<String>,
    /// What is known of it.
    #[serde(default)]
    pub(super) known: Known,
    /// How it is judged.
    #[serde(default)]
    pub(super) judge: Judging,
    /// The program and its arguments.
    command: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    #[serde(skip)]
    folder: PathBuf,
}

/// How `acp check` judges a peer.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Judging {
    /// It is judged on every run, not only with `--all`: that takes seconds.
    #[serde(default)]
    pub(super) always: bool,
    /// How many of its processes there may be at once, where that is not the judge's choice.
    pub(super) jobs: Option<usize>,
    /// The adapter of a client and its arguments; a client without one is not judged.
    adapter: Option<Vec<String>>,
    /// The rules that it seems to break, or scenarios that find another fault, and why a
    /// person would not say so.
    #[serde(default)]
    pub(super) doubtful: BTreeMap<String, String>,
    /// What is to be known of what it does break, by rule or scenario.
    #[serde(default)]
    pub(super) notes: BTreeMap<String, String>,
    /// The rules that it breaks on some runs and not on others, and when.
    #[serde(default, rename = "by-chance")]
    pub(super) by_chance: BTreeMap<String, String>,
}

/// What the words in braces of a recipe stand for.
#[derive(Debug)]
pub(super) struct Places {
    /// `{install}`: where its packages are.
    pub(super) install: PathBuf,
    /// `{home}`: the home it is given.
    pub(super) home: PathBuf,
    /// `{model}`: the address of the model.
    pub(super) model: String,
}

/// Reads every recipe of a folder, by name.
///
/// # Errors
///
/// Fails when one cannot be read, or names a package without its version.
pub(super) fn load_all(folder: &Path) -> Result<Vec<Recipe>> {
    let entries = fs::read_dir(folder)
        .with_context(|| format!("failed to list the recipes in {}", folder.display()))?;
    let mut recipes = Vec::new();
    for entry in entries {
        recipes.push(load(&entry?.path())?);
    }
    recipes.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(recipes)
}

fn load(folder: &Path) -> Result<Recipe> {
    let path = folder.join("recipe.toml");
    let text = fs::read_to_string(&path);
    let text = text.with_context(|| format!("failed to read {}", path.display()))?;
    let mut recipe: Recipe =
        toml::from_str(&text).with_context(|| format!("failed to parse {}", path.display()))?;
    for package in &recipe.npm {
        let version = package.rsplit_once('@').map_or("", |(_, version)| version);
        ensure!(
            is_version(version),
            "{package} of {} is not pinned",
            path.display()
        );
    }
    for (name, reason) in &recipe.npm_scripts {
        let mut names = recipe
            .npm
            .iter()
            .filter_map(|package| package.rsplit_once('@'));
        ensure!(
            names.any(|(package, _)| package == name) && !reason.trim().is_empty(),
            "`npm-scripts` of {} names {name}, which is not in `npm` or has no reason",
            path.display()
        );
    }
    for package in recipe.pip.iter().chain(&recipe.source) {
        let version = package.split_once("==").map_or("", |(_, version)| version);
        ensure!(
            is_version(version),
            "{package} of {} is not pinned",
            path.display()
        );
    }
    let name = folder.file_name().unwrap_or_default();
    recipe.name = name.to_string_lossy().into_owned();
    recipe.folder = folder.to_path_buf();
    Ok(recipe)
}

fn is_version(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit()) && text.contains('.')
}

impl Recipe {
    /// Returns the program and its arguments.
    pub(super) fn command(&self, places: &Places) -> Vec<String> {
        self.command
            .iter()
            .map(|word| self.fill(word, places))
            .collect()
    }

    /// Returns the adapter by which a client is judged.
    pub(super) fn adapter(&self, places: &Places) -> Option<Vec<String>> {
        let words = self.judge.adapter.as_ref()?;
        Some(words.iter().map(|word| self.fill(word, places)).collect())
    }

    /// Returns the variables it wants, besides those that every agent gets.
    pub(super) fn env(&self, places: &Places) -> Vec<(String, String)> {
        let filled = |(name, value): (&String, &String)| (name.clone(), self.fill(value, places));
        self.env.iter().map(filled).collect()
    }

    /// Makes a fresh home and lays the files of the recipe into it.
    ///
    /// # Errors
    ///
    /// Fails when a file cannot be read or written.
    pub(super) fn make_home(&self, places: &Places) -> Result<()> {
        if places.home.exists() {
            fs::remove_dir_all(&places.home)
                .context("failed to remove the home of a former run")?;
        }
        fs::create_dir_all(&places.home).context("failed to make a home")?;
        let template = self.folder.join("home");
        if template.exists() {
            self.lay(&template, &places.home, places)?;
        }
        Ok(())
    }

    fn lay(&self, from: &Path, to: &Path, places: &Places) -> Result<()> {
        let entries =
            fs::read_dir(from).with_context(|| format!("failed to list {}", from.display()))?;
        for entry in entries {
            let entry = entry?;
            let (from, to) = (entry.path(), to.join(entry.file_name()));
            if entry.file_type()?.is_dir() {
                fs::create_dir_all(&to)?;
                self.lay(&from, &to, places)?;
            } else {
                let text = fs::read_to_string(&from)?;
                fs::write(&to, self.fill(&text, places))
                    .with_context(|| format!("failed to write {}", to.display()))?;
            }
        }
        Ok(())
    }

    fn fill(&self, text: &str, places: &Places) -> String {
        text.replace("{install}", &places.install.to_string_lossy())
            .replace("{home}", &places.home.to_string_lossy())
            .replace("{recipe}", &self.folder.to_string_lossy())
            .replace("{model}", &places.model)
    }
}

#[cfg(test)]
mod tests {
    use super::super::agents::of_agents;
    use super::super::check::{knows, of_clients};
    use super::*;
    use crate::workspace;

    fn places(folder: &Path) -> Places {
        Places {
            install: folder.join("install"),
            home: folder.join("home"),
            model: "http://127.0.0.1:9".to_owned(),
        }
    }

    #[test]
    fn the_recipes_are_pinned_and_name_what_there_is() {
        let folder = tempfile::tempdir().expect("make a folder");
        let places = places(folder.path());
        for (kind, checks) in [("agents", of_agents()), ("clients", of_clients())] {
            let recipes = load_all(&workspace::root().join("tests/interop").join(kind));
            let recipes = recipes.expect("the recipes can be read");
            assert!(recipes.len() >= 3);
            for recipe in recipes {
                let env = recipe.env(&places).into_iter().map(|(_, value)| value);
                for word in recipe.command(&places).into_iter().chain(env) {
                    assert!(!word.contains('{'), "{}: {word}", recipe.name);
                }
                for name in recipe.known.lacks.iter().chain(recipe.known.differs.keys()) {
                    assert!(knows(&checks, name), "{}: {name} is no check", recipe.name);
                }
            }
        }
    }

    #[test]
    fn a_home_is_fresh_and_filled() {
        let folder = tempfile::tempdir().expect("make a folder");
        let template = folder.path().join("agent/home/.config");
        fs::create_dir_all(&template).expect("make the template");
        fs::write(template.join("a.toml"), "url = \"{model}/v1\"").expect("write the template");
        let recipe = "title = \"A\"\nnpm = [\"@a/a@1.2.3\"]\ncommand = [\"a\"]";
        fs::write(folder.path().join("agent/recipe.toml"), recipe).expect("write the recipe");
        let recipe = load(&folder.path().join("agent")).expect("the recipe can be read");
        let places = places(folder.path());
        fs::create_dir_all(&places.home).expect("make a former home");
        fs::write(places.home.join("old"), "").expect("write into the former home");
        recipe.make_home(&places).expect("make the home");
        let text = fs::read_to_string(places.home.join(".config/a.toml"));
        assert_eq!(
            text.expect("the file is there"),
            "url = \"http://127.0.0.1:9/v1\""
        );
        assert!(!places.home.join("old").exists());
    }

    #[test]
    fn a_package_without_a_version_is_an_error() {
        for line in [
            "npm = [\"@a/a\"]",
            "npm = [\"a@latest\"]",
            "pip = [\"a>=1.0\"]",
        ] {
            let folder = tempfile::tempdir().expect("make a folder");
            let recipe = format!("title = \"A\"\n{line}\ncommand = [\"a\"]");
            fs::write(folder.path().join("recipe.toml"), recipe).expect("write the recipe");
            let error = load(folder.path()).expect_err("the package is not pinned");
            assert!(error.to_string().contains("is not pinned"), "{error}");
        }
    }
}
