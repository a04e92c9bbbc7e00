//! `acp-mockpeer check`, and `acp check`.

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use acp_process::Launch;
use acp_text::{Clean, ScreenText};

use super::{EXIT_CONFIG, EXIT_FAILED, Misuse, print, say};
use crate::judge::{
    Expected, Format, Judge, Judged, Lines, MOST_JOBS, Profile, Report, ReportLook, ScenarioState,
};
use crate::language::Scenario;
use acp_recording::PeerSide;
use acp_recording::cli::{absolute, find_program};

/// Exit code: the command line cannot be followed.
pub const EXIT_USAGE: u8 = 2;

/// Exit code: the program under test could not be started.
pub const EXIT_UNSTARTABLE: u8 = 3;

/// Exit code: somebody stopped it.
pub const EXIT_INTERRUPTED: u8 = 130;

const HELP: &str = "\
The program is started once for each scenario, with a folder of its own to work in.

A client is started on its own stdin and stdout, and we are its agent; with --spawn
it starts its agent itself, by the command in ACP_CHECK_AGENT (a JSON array). What it
is to do is in ACP_CHECK_TASK (a JSON array of arrays), the folder in ACP_CHECK_CWD.
A client that cannot do that exits with 75.

Exit codes:
    0  all is as it has to be, or as expected
    1  a scenario failed, or the list of expected failures is not up to date
    2  usage: the command line, a profile or the list cannot be followed
    3  the program could not be started
   78  a scenario is wrong itself
  130  stopped before the end
";

/// Arguments of `check`.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct CheckArgs {
    /// What the program is
    #[arg(long, value_name = "ROLE", default_value = "agent", value_parser = ["agent", "client"])]
    role: String,
    /// Let a client start its agent itself
    #[arg(long)]
    spawn: bool,
    /// Play these files, or all in a folder, in place of the built-in scenarios
    #[arg(long, value_name = "FILE", num_args = 1..)]
    scenario: Vec<PathBuf>,
    /// Play only scenarios with this text in their name or title, or for this rule
    #[arg(long, value_name = "TEXT|RULE")]
    filter: Vec<String>,
    /// How the report is written: for terminals (human), programs (json), CI (junit),
    /// browsers (html)
    #[arg(long, value_name = "FORMAT", value_parser = ["human", "json", "junit", "html"])]
    format: Option<String>,
    /// Write the report into a file; without --format its ending says how, and there
    /// may be several
    #[arg(long, value_name = "FILE")]
    output: Vec<PathBuf>,
    /// A list of failures that are known: any other, and any that passes now, is an error
    #[arg(long, value_name = "FILE")]
    expected: Option<PathBuf>,
    /// How many scenarios are played at once, at most 8 [default: the number of processors]
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// What is known of the program: its words, its pace, its environment
    #[arg(long, value_name = "FILE")]
    profile: Option<PathBuf>,
    /// Say what a name of the scenarios stands for
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,
    /// Count what should be otherwise as a failure
    #[arg(long)]
    strict: bool,
    /// List the scenarios and play none
    #[arg(long)]
    list: bool,
    /// Spoil a valid conversation by chance, and see whether the program survives it;
    /// the same seed spoils it in the same way
    #[arg(long, value_name = "SEED", conflicts_with_all = ["scenario", "filter", "list", "expected"])]
    chaos: Option<u64>,
    /// How many rounds of chaos there are, each with a process of its own
    #[arg(long, value_name = "N", default_value_t = 100, requires = "chaos")]
    rounds: u32,
    /// Play this round of chaos only
    #[arg(
        long,
        value_name = "ROUND",
        requires = "chaos",
        conflicts_with = "rounds"
    )]
    round: Option<u32>,
    /// Say only these lines of the round, as a report names them: `2,4/1`
    #[arg(long, value_name = "LINES", requires = "round")]
    lines: Option<Lines>,
    /// The program and its arguments
    #[arg(last = true, value_name = "CMD")]
    command: Vec<OsString>,
}

/// Does what the arguments of `check` say.
///
/// `agent` is how this program is told to be the mock agent: with `--spawn` a
/// client is given it.
#[must_use]
pub fn check(args: &CheckArgs, agent: &[&OsStr]) -> ExitCode {
    let done = match args.list {
        true => list(args),
        false => judge(args, agent),
    };
    match done {
        Ok(code) => ExitCode::from(code),
        Err(Wrong(code, why)) => {
            say(why);
            ExitCode::from(code)
        }
    }
}

/// Why nothing was judged, and the exit code that says so.
struct Wrong(u8, String);

impl<T: Into<Misuse>> From<T> for Wrong {
    fn from(misuse: T) -> Self {
        Self(EXIT_USAGE, misuse.into().0)
    }
}

impl CheckArgs {
    fn role(&self) -> PeerSide {
        PeerSide::named(&self.role).unwrap_or(PeerSide::Agent)
    }

    /// Reads every scenario there is.
    fn scenarios(&self) -> Result<Vec<Scenario>, Wrong> {
        if self.scenario.is_empty() {
            return Ok(crate::suite::scenarios(self.role()).to_vec());
        }
        let mut scenarios = Vec::new();
        for path in &self.scenario {
            for file in files(path)? {
                let loaded = Scenario::load(&file);
                scenarios.push(loaded.map_err(|error| Wrong(EXIT_CONFIG, Misuse::from(error).0))?);
            }
        }
        Ok(scenarios)
    }

    fn is_chosen(&self, scenario: &Scenario) -> bool {
        let header = &scenario.header;
        let fits = |filter: &String| {
            let rule = header
                .proves
                .iter()
                .any(|rule| rule.eq_ignore_ascii_case(filter));
            let tck = header.tck.iter().any(|id| id.eq_ignore_ascii_case(filter));
            let named = crate::judge::plain_name(&scenario.file).contains(filter.as_str());
            rule || tck || named || header.title.contains(filter.as_str())
        };
        self.filter.is_empty() || self.filter.iter().any(fits)
    }

    /// Says where the report goes, and how it is written there.
    fn outputs(&self) -> Result<Vec<(Option<&Path>, Format)>, Misuse> {
        let named = self.format.as_deref();
        let named: Option<Format> = named.and_then(|name| name.parse().ok());
        if named.is_some() && self.output.len() > 1 {
            return Err(Misuse(
                "with --format there is one --output; without it their endings say how".to_owned(),
            ));
        }
        let mut outputs = Vec::new();
        for path in &self.output {
            let ending = path.extension().and_then(OsStr::to_str).unwrap_or_default();
            let format = named.or_else(|| Format::of_ending(ending)).ok_or_else(|| {
                Misuse(format!(
                    "--output {}: expected a file that ends with .html, .json, .xml or .txt, or \
                     --format",
                    path.display()
                ))
            })?;
            outputs.push((Some(path.as_path()), format));
        }
        // What is not in a file, people read here.
        match (outputs.is_empty(), named) {
            (true, Some(format)) => outputs.push((None, format)),
            _ => outputs.push((None, Format::Human)),
        }
        Ok(outputs)
    }

    /// Returns the words by which the program is judged so again.
    fn words(&self, agent: &[&OsStr]) -> Vec<String> {
        // How we are told to be the mock agent tells which program we are.
        let mut words: Vec<String> = match agent {
            [_] => vec!["acp-mockpeer".to_owned(), "check".to_owned()],
            _ => vec!["acp".to_owned(), "check".to_owned()],
        };
        if self.role() == PeerSide::Client {
            words.extend(["--role", "client"].map(str::to_owned));
        }
        if self.spawn {
            words.push("--spawn".to_owned());
        }
        if let Some(profile) = &self.profile {
            words.push("--profile".to_owned());
            words.push(profile.to_string_lossy().into_owned());
        }
        for setting in &self.set {
            words.extend(["--set".to_owned(), setting.clone()]);
        }
        words
    }

    fn judge(&self, agent: &[&OsStr]) -> Result<Judge, Wrong> {
        let Some((program, arguments)) = self.command.split_first() else {
            return Err(Misuse("expected the program behind `--`".to_owned()).into());
        };
        let role = self.role();
        if self.spawn && role == PeerSide::Agent {
            return Err(Misuse("--spawn is for clients: --role client".to_owned()).into());
        }
        let profile = match &self.profile {
            Some(path) => Profile::load(path)?,
            None => Profile::default(),
        };
        let program = find_program(program).map_err(|Misuse(why)| Wrong(EXIT_UNSTARTABLE, why))?;
        // It is started where we are: its arguments may name files from here.
        let launch = Launch::new(program).with_args(arguments);
        let mut judge = Judge::new(role, launch, profile)?;
        for setting in &self.set {
            let (name, value) = super::setting(setting)?;
            judge.values.push((name.to_owned(), value.into()));
        }
        if let Some(jobs) = self.jobs {
            if !(1..=MOST_JOBS).contains(&jobs) {
                return Err(Misuse(format!("--jobs {jobs}: expected 1 to {MOST_JOBS}")).into());
            }
            judge.jobs = jobs;
        }
        judge.strict = self.strict;
        judge.lines = self.lines.clone();
        judge.words = Some(self.words(agent));
        if self.spawn {
            let own = std::env::current_exe().and_then(|path| absolute(&path));
            let own = own?;
            let mut command = vec![own.into_os_string()];
            command.extend(agent.iter().map(OsString::from));
            command.push("--join".into());
            judge.agent = Some(command);
        }
        Ok(judge)
    }
}

/// Lists the scenarios of a path: itself, or those of a folder.
fn files(path: &Path) -> Result<Vec<PathBuf>, Misuse> {
    if !path.is_dir() {
        return Ok(vec![path.to_path_buf()]);
    }
    let entries = std::fs::read_dir(path)
        .map_err(|error| Misuse(format!("read {}: {error}", path.display())))?;
    let paths = entries.flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> = paths
        .filter(|path| path.extension().is_some_and(|ending| ending == "acpt"))
        .collect();
    files.sort();
    match files.is_empty() {
        true => Err(Misuse(format!("{} holds no scenario", path.display()))),
        false => Ok(files),
    }
}

fn list(args: &CheckArgs) -> Result<u8, Wrong> {
    let mut text = String::new();
    for scenario in args.scenarios()?.iter().filter(|one| args.is_chosen(one)) {
        let header = &scenario.header;
        let name = crate::judge::plain_name(&scenario.file);
        text.push_str(&format!("{name}\n    {}\n", header.title));
        if !header.proves.is_empty() {
            text.push_str(&format!("    {}\n", header.proves.join(" ")));
        }
    }
    Ok(print(|to| to.write_all(text.as_bytes()))?)
}

fn judge(args: &CheckArgs, agent: &[&OsStr]) -> Result<u8, Wrong> {
    let rounds = match args.round {
        Some(round) => round..=round,
        None => 1..=args.rounds,
    };
    let (mut all, mut chosen) = (Vec::new(), Vec::new());
    if args.chaos.is_none() {
        all = args.scenarios()?;
        chosen.extend(all.iter().filter(|one| args.is_chosen(one)).cloned());
        if chosen.is_empty() {
            let why = "no scenario is chosen; --list shows what there is";
            return Err(Misuse(why.to_owned()).into());
        }
    }
    let expected = args.expected.as_deref().map(Expected::load).transpose();
    let expected = expected?;
    let outputs = args.outputs()?;
    let judge = args.judge(agent)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    let count = match args.chaos {
        Some(_) => rounds.clone().count(),
        None => chosen.len(),
    };
    let mut progress = Progress::new(count);
    let mut report = runtime.block_on(async {
        let stop = async {
            // Where no signal can be waited for, none stops us in good order.
            if super::told_to_end().await.is_err() {
                std::future::pending::<()>().await;
            }
        };
        let progress = |judged: &Judged| progress.done(judged);
        match args.chaos {
            Some(seed) => judge.run_chaos(seed, rounds, stop, progress).await,
            None => judge.run(chosen, stop, progress).await,
        }
    });
    if let Some(expected) = &expected {
        report = report.with_expected(expected, &all);
    }
    let mut code = code(&report);
    for (path, format) in outputs {
        let colours = path.is_none() && wants_colours();
        let text = report.render(format, ReportLook { colours });
        match path {
            None => {
                print(|to| to.write_all(text.as_bytes()))?;
            }
            Some(path) => {
                if let Err(error) = std::fs::write(path, text) {
                    say(format_args!("--output {}: {error}", path.display()));
                    code = EXIT_USAGE;
                }
            }
        }
    }
    Ok(code)
}

/// Says in a number what came of it.
fn code(report: &Report) -> u8 {
    match report.count(ScenarioState::Broken) {
        _ if report.interrupted => EXIT_INTERRUPTED,
        _ if report.unstartable.is_some() => EXIT_UNSTARTABLE,
        1.. => EXIT_CONFIG,
        _ if report.passed() => 0,
        _ => EXIT_FAILED,
    }
}

fn wants_colours() -> bool {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    acp_process::stdio::stdout_is_terminal()
        && set("NO_COLOR").is_none()
        && set("TERM").is_none_or(|term| term != "dumb")
}

/// Tells people at a terminal how far it is.
struct Progress {
    shown: bool,
    done: usize,
    all: usize,
}

impl Progress {
    fn new(all: usize) -> Self {
        Self {
            shown: acp_process::stdio::stderr_is_terminal(),
            done: 0,
            all,
        }
    }

    fn done(&mut self, judged: &Judged) {
        self.done += 1;
        if self.shown {
            let width = self.all.to_string().len();
            let state = judged.state.name();
            let name = crate::player::shown(judged.name.as_bytes());
            let line = format!("{:>width$}/{}  {state:13}  {name}", self.done, self.all);
            let mut text = ScreenText::from(Clean::new(&line));
            text.end_line();
            // Nobody misses it where standard error is gone.
            let _ = acp_process::stdio::stderr().write(&text);
        }
    }
}
