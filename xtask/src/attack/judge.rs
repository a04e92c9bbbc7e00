//! The verdict: whether an attack held, and by what it broke through.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use sha2::{Digest, Sha256};

use super::definition::{Attack, TextRule};
use super::forbidden::{self, Stream};
use super::stage::Stage;
use super::victim::Ended;
use crate::tree::Process;

/// The state of files before an attack: a hash each, `None` where there was none.
#[derive(Debug)]
pub(super) struct Before(BTreeMap<PathBuf, Option<Vec<u8>>>);

impl Before {
    /// Looks at the files that must not change.
    ///
    /// # Errors
    ///
    /// Fails when a path makes no sense.
    pub(super) fn look(attack: &Attack, stage: &Stage) -> Result<Self> {
        let paths = attack.expect.unchanged.iter();
        let states = paths.map(|path| {
            let path = stage.path(path)?;
            let state = hash(&path);
            Ok((path, state))
        });
        states.collect::<Result<_>>().map(Self)
    }
}

/// Lists everything by which an attack broke through; none means that it held.
///
/// # Errors
///
/// Fails when a text of the attack makes no sense.
pub(super) fn faults(
    attack: &Attack,
    stage: &Stage,
    before: &Before,
    ended: &Ended,
    left: &[Process],
) -> Result<Vec<String>> {
    let mut faults = Vec::new();
    of_the_end(attack, ended, &mut faults);
    for name in attack.marks() {
        let may_miss = attack.expect.may_miss.iter().any(|known| known == name);
        if !may_miss && !stage.folders.marks.join(name).exists() {
            faults.push(format!("the attacker never came to its mark `{name}`"));
        }
    }
    of_output(attack, stage, ended, &mut faults)?;
    of_files(attack, stage, before, &mut faults)?;
    if let Some(process) = left.first() {
        let command: String = process.command.chars().take(60).collect();
        let count = left.len();
        faults.push(format!(
            "{count} left of its processes, among them `{command}`"
        ));
    }
    Ok(faults)
}

fn of_the_end(attack: &Attack, ended: &Ended, faults: &mut Vec<String>) {
    let expect = &attack.expect;
    match ended.code {
        None => {
            let seconds = ended.after_signal.unwrap_or(ended.time).as_secs_f64();
            let since = match ended.after_signal {
                Some(_) => " after the signal",
                None => "",
            };
            faults.push(format!("it still ran {seconds:.0} s{since}"));
        }
        Some(code) if expect.exit.is_empty() => {
            if ended.signalled {
                faults.push(format!("signal {} ended it", code - 128));
            }
        }
        Some(code) if !expect.exit.contains(&code) => {
            faults.push(format!("exit code {code} in place of {:?}", expect.exit));
        }
        Some(_) => {}
    }
    if ended.memory > expect.memory {
        let mebibytes = |bytes: u64| bytes >> 20;
        faults.push(format!(
            "{} MiB of memory in place of {}",
            mebibytes(ended.memory),
            mebibytes(expect.memory)
        ));
    }
}

fn of_output(
    attack: &Attack,
    stage: &Stage,
    ended: &Ended,
    faults: &mut Vec<String>,
) -> Result<()> {
    let streams = [
        ("stdout", Stream::Stdout, &ended.stdout),
        ("stderr", Stream::Stderr, &ended.stderr),
    ];
    for (name, stream, bytes) in streams {
        if let Some(fault) = forbidden::find(attack.expect.text, stream, bytes) {
            faults.push(format!("{name} holds {fault}"));
        }
        for text in &attack.expect.never {
            if holds(bytes, &stage.text(text)?) {
                faults.push(format!("{name} holds {text:?}"));
            }
        }
        if holds(bytes, "panicked at") {
            faults.push("it panicked".to_owned());
        }
    }
    if ended.flooded {
        faults.push("it wrote more than 64 MiB".to_owned());
    }
    for text in &attack.expect.says {
        let wanted = stage.text(text)?;
        let said = match attack.expect.text {
            TextRule::Terminal => squeezed(&ended.stdout).contains(&squeezed(wanted.as_bytes())),
            _ => holds(&ended.stdout, &wanted) || holds(&ended.stderr, &wanted),
        };
        if !said {
            faults.push(format!("it did not say {text:?}"));
        }
    }
    Ok(())
}

fn of_files(
    attack: &Attack,
    stage: &Stage,
    before: &Before,
    faults: &mut Vec<String>,
) -> Result<()> {
    for path in &attack.expect.absent {
        if stage.path(path)?.symlink_metadata().is_ok() {
            faults.push(format!("there is a file {path}"));
        }
    }
    for (path, state) in &before.0 {
        if hash(path) != *state {
            let name = path.strip_prefix(&stage.folders.scratch).unwrap_or(path);
            faults.push(format!("{} changed", name.display()));
        }
    }
    for path in &attack.expect.free {
        let mut files = Vec::new();
        collect(&stage.path(path)?, &mut files);
        if files.is_empty() {
            faults.push(format!("there is no {path} to look into"));
        }
        for file in files {
            let bytes = fs::read(&file).unwrap_or_default();
            for canary in &attack.expect.canaries {
                if holds(&bytes, canary) {
                    faults.push(format!("{path} holds {canary}"));
                }
            }
        }
    }
    Ok(())
}

/// The text that a person reads on a terminal, however it is wrapped, coloured or moved: without
/// blanks and sequences, in small letters.
fn squeezed(screen: &[u8]) -> String {
    let text = String::from_utf8_lossy(screen);
    let mut chars = text.chars();
    let mut read = String::new();
    while let Some(c) = chars.next() {
        if c == '\u{1b}' {
            chars.next();
            // A sequence ends with a letter.
            chars.by_ref().find(char::is_ascii_alphabetic);
        } else if !c.is_whitespace() && !c.is_control() {
            read.extend(c.to_lowercase());
        }
    }
    read
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) {
    match fs::read_dir(path) {
        Ok(entries) => entries
            .flatten()
            .for_each(|entry| collect(&entry.path(), files)),
        Err(_) if path.is_file() => files.push(path.to_owned()),
        Err(_) => {}
    }
}

fn hash(path: &Path) -> Option<Vec<u8>> {
    let bytes = fs::read(path).ok()?;
    Some(Sha256::digest(bytes).to_vec())
}

fn holds(bytes: &[u8], text: &str) -> bool {
    let wanted = text.as_bytes();
    let first = wanted.first().copied();
    // Most places fail at the first byte, so outputs of megabytes are no trouble.
    (0..bytes.len()).any(|at| Some(bytes[at]) == first && bytes[at..].starts_with(wanted))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::definition::load;
    use super::*;

    const LOUD: &str = r#"
title = "t"
command = ["<<acp>>", "run", "--", "<<agent>>"]
[[files]]
path = "config"
text = "as it was"
[[files]]
path = "recording"
text = "a canary in it"
[agent]
first = [{ mark = "said" }]
[expect]
exit = [0]
says = ["hello"]
never = ["gone"]
absent = ["new"]
unchanged = ["config"]
free = ["recording"]
canaries = ["canary"]
"#;

    /// Judges an end; `happen` does to the folder what the attack would.
    fn judge(text: &str, happen: fn(&Path), ended: &Ended, left: &[Process]) -> Vec<String> {
        let folder = tempfile::tempdir().expect("make a folder");
        let file = folder.path().join("loud.toml");
        fs::write(&file, text).expect("write the attack");
        let attack = &load(&file).expect("it makes sense")[0];
        let scratch = folder.path().join("scratch");
        let stage = Stage::set(attack, Path::new("/acp"), &scratch).expect("it can be set");
        let before = Before::look(attack, &stage).expect("files can be seen");
        happen(&scratch);
        faults(attack, &stage, &before, ended, left).expect("it can be judged")
    }

    fn ended(stdout: &str) -> Ended {
        Ended {
            code: Some(0),
            stdout: stdout.into(),
            ..Ended::default()
        }
    }

    fn said(scratch: &Path) {
        fs::write(scratch.join("marks/said"), "").expect("make a mark");
        fs::write(scratch.join("project/recording"), "nothing").expect("write");
    }

    #[test]
    fn an_attack_holds_when_all_is_as_expected() {
        assert!(judge(LOUD, said, &ended("hello"), &[]).is_empty());
    }

    #[test]
    fn everything_by_which_it_broke_through_is_listed() {
        let worst = Ended {
            code: Some(1),
            memory: 300 << 20,
            stderr: b"\x1b[2J thread 'main' panicked at".to_vec(),
            flooded: true,
            ..ended("gone")
        };
        let left = [Process {
            pid: 7,
            command: "sleep 1000".to_owned(),
        }];
        let happen = |scratch: &Path| {
            fs::write(scratch.join("project/config"), "changed").expect("write");
            fs::write(scratch.join("project/new"), "").expect("write");
        };
        assert_eq!(
            judge(LOUD, happen, &worst, &left),
            [
                "exit code 1 in place of [0]",
                "300 MiB of memory in place of 256",
                "the attacker never came to its mark `said`",
                "stdout holds \"gone\"",
                "stderr holds U+001B in \"\\u{1b}[2J thread 'main' panicked at\"",
                "it panicked",
                "it wrote more than 64 MiB",
                "it did not say \"hello\"",
                "there is a file new",
                "project/config changed",
                "recording holds canary",
                "1 left of its processes, among them `sleep 1000`",
            ]
        );
    }

    #[test]
    fn a_wrapped_text_can_be_read_on_a_terminal() {
        let screen = b"ls \x1b[2maaa\r\n  evil.ex\r\n\x1b[0m  ample | SH";
        assert_eq!(squeezed(screen), "lsaaaevil.example|sh");
    }

    #[test]
    fn an_end_by_force_or_by_a_signal_is_a_fault() {
        let any_exit = LOUD.replace("exit = [0]", "");
        let judge = |ended: &Ended| judge(&any_exit, said, ended, &[]);
        let late = Ended {
            code: None,
            time: Duration::from_secs(20),
            ..ended("hello")
        };
        assert_eq!(judge(&late), ["it still ran 20 s"]);
        let crashed = Ended {
            code: Some(134),
            signalled: true,
            ..ended("hello")
        };
        assert_eq!(judge(&crashed), ["signal 6 ended it"]);
        let refused = Ended {
            code: Some(2),
            ..ended("hello")
        };
        assert!(judge(&refused).is_empty());
    }
}
