//! What `acp check` says of the peers: which rules of the protocol each of them keeps.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use regex::Regex;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::program;
use super::recipe::Judging;

/// How long all scenarios with one peer may take.
const LIMIT: Duration = Duration::from_secs(40 * 60);

/// Scenarios, each with its rule, in which an agent does something only when its model wants it to. The scripted
/// model does not, so that nothing is said against the agent.
const OF_THE_MODEL: [(&str, &str); 2] = [
    ("agent/plan_is_reported", "R136"),
    ("agent/tool_use_is_reported", "R127"),
];

/// Lines of a conversation that are shown around the one that is wrong, and their length.
const AROUND: usize = 2;
const LINE: usize = 220;

/// What one program was found to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Judged {
    pub(super) program: String,
    pub(super) role: String,
    pub(super) date: String,
    /// What came of each rule that binds this side.
    pub(super) rules: BTreeMap<String, String>,
    /// The rules that another run may find kept or broken.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(super) by_chance: BTreeSet<String>,
    pub(super) disagreements: Vec<Disagreement>,
}

/// Where a program does otherwise than a rule says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Disagreement {
    pub(super) scenario: String,
    /// Failed, warned or doubtful.
    pub(super) state: String,
    pub(super) rules: Vec<Rule>,
    pub(super) seen: String,
    /// What a person says to it.
    pub(super) note: Option<String>,
    pub(super) transcript: Vec<String>,
}

/// A rule, as the report tells it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Rule {
    pub(super) id: String,
    pub(super) level: String,
    pub(super) text: String,
    pub(super) source: String,
}

impl Judged {
    /// Counts the rules with one of some states.
    pub(super) fn count(&self, states: &[&str]) -> usize {
        let all = self.rules.values();
        all.filter(|state| states.contains(&state.as_str())).count()
    }

    /// Returns the rules that are broken on every run.
    fn failed(&self) -> BTreeSet<&str> {
        let all = self.rules.iter().filter(|(_, state)| *state == "failed");
        let all = all.filter(|(id, _)| !self.by_chance.contains(*id));
        all.map(|(id, _)| id.as_str()).collect()
    }
}

/// What is judged.
pub(super) struct Suspect<'a> {
    /// Its name and version.
    pub(super) title: &'a str,
    pub(super) role: &'static str,
    pub(super) command: Vec<String>,
    pub(super) judging: &'a Judging,
    /// What the judge is told of it.
    pub(super) profile: PathBuf,
    /// The file for the report; a page for browsers is put beside it.
    pub(super) report: PathBuf,
}

/// Plays scenarios against a program.
///
/// # Errors
///
/// Fails when the judge cannot be run, or finds that a scenario itself is wrong.
pub(super) fn judge(
    suspect: &Suspect<'_>,
    mut check: Command,
    filter: &[String],
) -> Result<Judged> {
    check.args(["check", "--role", suspect.role, "--profile"]);
    check.arg(&suspect.profile);
    let report = &suspect.report;
    for output in [report, &report.with_extension("html")] {
        check.arg("--output").arg(output);
    }
    if let Some(jobs) = suspect.judging.jobs {
        check.args(["--jobs", &jobs.to_string()]);
    }
    for filter in filter {
        check.args(["--filter", filter]);
    }
    check.arg("--").args(&suspect.command);
    let ended = program::run(check, LIMIT, None)?;
    let code = ended.status.and_then(|status| status.code());
    ensure!(
        matches!(code, Some(0 | 1)),
        "the judge of {} ended with {:?}: {}",
        suspect.title,
        ended.status,
        ended.stderr
    );
    let text = fs::read_to_string(report).context("failed to read the report of the judge")?;
    let report: Value = serde_json::from_str(&text).context("failed to parse the report")?;
    let judged = read(suspect, &report)?;
    eprintln!(
        "judged  {}: {} rules kept, {} broken ({:.0} s)",
        suspect.title,
        judged.count(&["passed"]),
        judged.count(&["failed"]),
        ended.time.as_secs_f64()
    );
    Ok(judged)
}

fn read(suspect: &Suspect<'_>, report: &Value) -> Result<Judged> {
    let began = text(&report["began"]);
    let known: Vec<Rule> = serde_json::from_value(report["rules"].clone())
        .context("failed to read the rules of the report")?;
    let states = report["rules"].as_array().into_iter().flatten();
    let mut rules: BTreeMap<String, String> = states
        .map(|rule| (text(&rule["id"]), text(&rule["state"])))
        .collect();
    let mut disagreements = Vec::new();
    for scenario in report["scenarios"].as_array().into_iter().flatten() {
        let name = text(&scenario["name"]);
        for fault in scenario["faults"].as_array().into_iter().flatten() {
            let ids = fault["rules"].as_array().into_iter().flatten().map(text);
            let ids: Vec<String> = ids.collect();
            let of_the_model = |id: &String| OF_THE_MODEL.contains(&(&name, id));
            if !ids.is_empty() && ids.iter().all(of_the_model) {
                for id in ids {
                    rules.insert(id, "not exercised".to_owned());
                }
                continue;
            }
            let judging = suspect.judging;
            let doubt = said(&judging.doubtful, &name, &ids);
            let note = doubt
                .or_else(|| said(&judging.by_chance, &name, &ids))
                .or_else(|| said(&judging.notes, &name, &ids));
            if doubt.is_some() {
                for id in &ids {
                    rules.insert(id.clone(), "doubtful".to_owned());
                }
            }
            let state = match (doubt, &fault["doubtful"], &fault["fails"]) {
                (Some(_), _, _) | (_, Value::Bool(true), _) => "doubtful",
                (_, _, Value::Bool(true)) => "failed",
                _ => "warned",
            };
            let broken = known.iter().filter(|rule| ids.contains(&rule.id));
            let broken: Vec<Rule> = broken.cloned().collect();
            let seen = nameless(&neutral(&text(&fault["summary"])));
            // What a program does in every conversation is told once.
            let told = |one: &Disagreement| one.seen == seen && one.rules == broken;
            if disagreements.iter().any(told) {
                continue;
            }
            disagreements.push(Disagreement {
                state: state.to_owned(),
                rules: broken,
                seen,
                note: note.cloned(),
                transcript: excerpt(&scenario["transcript"], &fault["entry"]),
                scenario: name.clone(),
            });
        }
    }
    Ok(Judged {
        program: suspect.title.to_owned(),
        role: suspect.role.to_owned(),
        date: began.chars().take(10).collect(),
        rules,
        by_chance: suspect.judging.by_chance.keys().cloned().collect(),
        disagreements,
    })
}

/// Returns what a person says of these rules, of each of them; where none is named, of the
/// scenario that found fault.
fn said<'a>(
    all: &'a BTreeMap<String, String>,
    scenario: &str,
    ids: &[String],
) -> Option<&'a String> {
    if ids.is_empty() {
        return all.get(scenario);
    }
    let said = ids.iter().map(|id| all.get(id));
    said.collect::<Option<Vec<_>>>()?.first().copied()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Returns the lines of a conversation around one, which is marked.
fn excerpt(transcript: &Value, entry: &Value) -> Vec<String> {
    let Some(all) = transcript.as_array().filter(|all| !all.is_empty()) else {
        return Vec::new();
    };
    let wrong = entry.as_u64().and_then(|entry| usize::try_from(entry).ok());
    let middle = wrong.unwrap_or(all.len() - 1).min(all.len() - 1);
    let shown = all.iter().enumerate().skip(middle.saturating_sub(AROUND));
    let line = |(number, entry): (usize, &Value)| {
        let arrow = match entry["dir"].as_str() {
            Some("client->agent") => "->",
            Some("agent->client") => "<-",
            _ => return None,
        };
        let mark = if Some(number) == wrong { ">" } else { " " };
        let line = neutral(entry["line"].as_str()?);
        let more = if line.chars().count() > LINE {
            "…"
        } else {
            ""
        };
        let line: String = line.chars().take(LINE).collect();
        Some(format!("{mark} {arrow} {line}{more}"))
    };
    shown.take(2 * AROUND + 1).filter_map(line).collect()
}

/// Takes out the name of the folder of the scenario, which differs on every run.
fn neutral(line: &str) -> String {
    static FOLDER: LazyLock<Regex> = LazyLock::new(|| expression(r"/tmp/acp-check-[0-9A-Za-z]*"));
    FOLDER.replace_all(line, "/tmp/acp-check-…").into_owned()
}

/// Takes out the names that a program makes up anew on every run: numbers that are a
/// time, and ids that are a UUID.
fn nameless(line: &str) -> String {
    static MADE_UP: LazyLock<Regex> = LazyLock::new(|| {
        expression(r"\b[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}\b|[0-9]{6,}")
    });
    MADE_UP.replace_all(line, "…").into_owned()
}

fn expression(text: &str) -> Regex {
    Regex::new(text).expect("this is a regular expression")
}

/// What was found of all programs, as it is kept.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Results {
    pub(super) acp: String,
    pub(super) programs: Vec<Judged>,
}

impl Results {
    /// Reads what was found before; nothing where there is no file.
    ///
    /// # Errors
    ///
    /// Fails when the file cannot be read.
    pub(super) fn load(path: &Path) -> Result<Self> {
        if !path.exists() {
            return Ok(Self::default());
        }
        let text = fs::read_to_string(path);
        let text = text.with_context(|| format!("failed to read {}", path.display()))?;
        serde_json::from_str(&text).with_context(|| format!("failed to parse {}", path.display()))
    }

    /// Puts in what was found now, in place of what is known of the same programs.
    pub(super) fn put(&mut self, found: Vec<Judged>) {
        for judged in found {
            let same =
                |other: &Judged| other.program == judged.program && other.role == judged.role;
            match self.programs.iter().position(same) {
                Some(at) => self.programs[at] = judged,
                None => self.programs.push(judged),
            }
        }
    }

    /// Tells where programs break other rules now than is known of them.
    pub(super) fn news(&self, found: &[Judged]) -> Vec<String> {
        let mut news = Vec::new();
        for judged in found {
            let known = self
                .programs
                .iter()
                .find(|known| known.program == judged.program);
            let known = known.map(Judged::failed).unwrap_or_default();
            for id in judged.failed().difference(&known) {
                news.push(format!("{} breaks {id}", judged.program));
            }
            let kept = |id: &&&str| {
                judged
                    .rules
                    .get(**id)
                    .is_some_and(|state| state == "passed")
            };
            for id in known.iter().filter(kept) {
                news.push(format!("{} keeps {id} now", judged.program));
            }
        }
        news
    }

    /// Writes the file.
    ///
    /// # Errors
    ///
    /// Fails when it cannot be written.
    pub(super) fn save(&self, path: &PathBuf) -> Result<()> {
        fs::create_dir_all(path.parent().context("the file is in a folder")?)?;
        let text = serde_json::to_string_pretty(self)? + "\n";
        fs::write(path, text).with_context(|| format!("failed to write {}", path.display()))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn judged(recipe: &str) -> Judged {
        let rule = |id: &str, state: &str| json!({"id": id, "level": "MUST", "text": "Do it", "source": "doc:1", "state": state});
        let fault = |id: &str| json!({"rules": [id], "fails": true, "doubtful": false, "summary": "in /tmp/acp-check-a1/project", "entry": 1});
        let transcript = json!([
            {"t": 0, "dir": "client->agent", "line": "{}"},
            {"t": 1, "dir": "agent->client", "line": "wrong"},
        ]);
        let report = json!({
            "began": "2026-11-30T11:00:00Z",
            "rules": [rule("R001", "passed"), rule("R120", "failed"), rule("R136", "failed")],
            "scenarios": [
                {"name": "agent/cancel", "faults": [fault("R120")], "transcript": transcript},
                {"name": "agent/plan_is_reported", "faults": [fault("R136")], "transcript": []},
            ],
        });
        let judging = toml::from_str(recipe).expect("the recipe can be read");
        let suspect = Suspect {
            title: "one 1.0",
            role: "agent",
            command: Vec::new(),
            judging: &judging,
            profile: PathBuf::new(),
            report: PathBuf::new(),
        };
        read(&suspect, &report).expect("the report can be read")
    }

    #[test]
    fn a_report_becomes_what_is_kept() {
        let judged = judged("");
        assert_eq!(judged.date, "2026-11-30");
        assert_eq!(judged.rules["R120"], "failed");
        assert_eq!(judged.rules["R136"], "not exercised");
        let [one] = judged.disagreements.as_slice() else {
            panic!("{:?}", judged.disagreements);
        };
        assert_eq!(
            (one.state.as_str(), one.rules[0].id.as_str()),
            ("failed", "R120")
        );
        assert_eq!(one.seen, "in /tmp/acp-check-…/project");
        assert_eq!(one.transcript, ["  -> {}", "> <- wrong"]);
    }

    #[test]
    fn names_made_up_on_every_run_are_not_kept() {
        #[track_caller]
        fn check(line: &str, expected: &str) {
            assert_eq!(nameless(line), expected);
        }
        check("at result: 12345 of R120", "at result: 12345 of R120");
        check(
            "the call \"shell_1796043526408_0\"",
            "the call \"shell_…_0\"",
        );
        check("é 90ebb68a-4c8a-43bd-a6e7-f8228b786668.", "é ….");
        check("a-b-c-d-e", "a-b-c-d-e");
        check("", "");
    }

    #[test]
    fn what_a_person_doubts_is_doubtful() {
        let judged = judged("[doubtful]\nR120 = \"it was done before\"");
        assert_eq!(judged.rules["R120"], "doubtful");
        assert_eq!(judged.disagreements[0].state, "doubtful");
        assert_eq!(
            judged.disagreements[0].note.as_deref(),
            Some("it was done before")
        );
    }

    #[test]
    fn what_a_person_says_stands_beside_it() {
        let noted = judged("[notes]\nR120 = \"its model said so\"");
        assert_eq!(noted.rules["R120"], "failed");
        assert_eq!(
            noted.disagreements[0].note.as_deref(),
            Some("its model said so")
        );
    }

    #[test]
    fn what_comes_by_chance_is_no_news() {
        let known = Results::default();
        let now = judged("[by-chance]\nR120 = \"it is a race\"");
        assert_eq!(now.disagreements[0].state, "failed");
        assert_eq!(now.disagreements[0].note.as_deref(), Some("it is a race"));
        assert!(known.news(&[now]).is_empty());
    }

    #[test]
    fn what_is_otherwise_than_known_is_told() {
        let mut known = Results::default();
        let now = [judged("")];
        assert_eq!(known.news(&now), ["one 1.0 breaks R120"]);
        known.put(now.to_vec());
        assert!(known.news(&now).is_empty());
        let mut better = judged("");
        better.rules.insert("R120".to_owned(), "passed".to_owned());
        assert_eq!(known.news(&[better.clone()]), ["one 1.0 keeps R120 now"]);
        known.put(vec![better]);
        assert_eq!(known.programs.len(), 1);
    }
}
