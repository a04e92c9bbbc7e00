//! Events of a host as the wire can carry them: paths are absolute, numbers finite.

use std::path::{Path, PathBuf};

use acp_host::{EmitError, EventBody, GateKind, ToolCall, ToolContent, ToolLocation};

/// Makes the paths of an event absolute, from the folder of its session.
///
/// # Errors
///
/// [`EmitError::NotFinite`] where an amount is no number: JSON would have to say `null`.
pub(super) fn fit(body: &mut EventBody, folder: &Path) -> Result<(), EmitError> {
    match body {
        EventBody::ToolRequested(tool) | EventBody::ToolStarted(tool) => fit_tool(tool, folder),
        EventBody::ToolProgressed(progress) => {
            fit_locations(progress.locations.iter_mut().flatten(), folder);
            fit_contents(progress.content.iter_mut().flatten(), folder);
        }
        EventBody::ToolCompleted(end) => fit_contents(&mut end.content, folder),
        EventBody::GateOpened(gate) => {
            if let GateKind::Permission { tool, .. } = &mut gate.kind {
                fit_tool(tool, folder);
            }
        }
        EventBody::ContextMeasured(context) => {
            let cost = context.cost.as_ref();
            if cost.is_some_and(|cost| !cost.amount.is_finite()) {
                return Err(EmitError::NotFinite);
            }
        }
        _ => {}
    }
    Ok(())
}

fn fit_tool(tool: &mut ToolCall, folder: &Path) {
    fit_locations(&mut tool.locations, folder);
    fit_contents(&mut tool.content, folder);
}

fn fit_locations<'a>(locations: impl IntoIterator<Item = &'a mut ToolLocation>, folder: &Path) {
    for location in locations {
        fit_path(&mut location.path, folder);
    }
}

fn fit_contents<'a>(contents: impl IntoIterator<Item = &'a mut ToolContent>, folder: &Path) {
    for content in contents {
        if let ToolContent::Diff(diff) = content {
            fit_path(&mut diff.path, folder);
        }
    }
}

/// Joins a relative path to the folder, without the dots of `./src` and `.`.
fn fit_path(path: &mut PathBuf, folder: &Path) {
    if path.is_absolute() {
        return;
    }
    let mut whole = folder.to_path_buf();
    whole.extend(path.components().filter(|part| part.as_os_str() != "."));
    *path = whole;
}

#[cfg(test)]
mod tests {
    use acp_host::{ContextUse, Cost, Diff, Gate, ToolEnd, ToolProgress};

    use super::*;

    fn shown(mut body: EventBody) -> String {
        fit(&mut body, Path::new("/home/ada")).unwrap();
        format!("{body:?}")
    }

    #[test]
    #[cfg(unix)]
    fn paths_become_absolute() {
        let check = |path: &str, want: &str| {
            let mut path = PathBuf::from(path);
            fit_path(&mut path, Path::new("/home/ada"));
            assert_eq!(path, Path::new(want));
        };
        check("notes.md", "/home/ada/notes.md");
        check("./src/../notes.md", "/home/ada/src/../notes.md");
        check("", "/home/ada");
        check(".", "/home/ada");
        check("/etc/hosts", "/etc/hosts");
    }

    #[test]
    #[cfg(unix)]
    fn every_event_with_paths_is_fitted() {
        let diff = || ToolContent::Diff(Diff::new("seen.md", "new"));
        let tool = || {
            ToolCall::new("t", "edit", "Edit")
                .with_locations(vec![ToolLocation::new("seen.md")])
                .with_content(diff())
        };
        let mut progress = ToolProgress::new("t");
        progress.locations = Some(vec![ToolLocation::new("seen.md")]);
        progress.content = Some(vec![diff()]);
        for (body, count) in [
            (EventBody::ToolRequested(Box::new(tool())), 2),
            (EventBody::ToolStarted(Box::new(tool())), 2),
            (EventBody::ToolProgressed(Box::new(progress)), 2),
            (
                EventBody::ToolCompleted(Box::new(ToolEnd::completed("t").with_content(diff()))),
                1,
            ),
            (
                EventBody::GateOpened(Box::new(Gate::permission("g", tool()))),
                2,
            ),
        ] {
            let shown = shown(body);
            assert_eq!(
                shown.matches("\"/home/ada/seen.md\"").count(),
                count,
                "{shown}"
            );
            assert_eq!(shown.matches("seen.md").count(), count, "{shown}");
        }
    }

    #[test]
    fn an_amount_is_a_number() {
        let mut context = ContextUse::new(1, 2);
        for (amount, want) in [
            (1.5, Ok(())),
            (f64::NAN, Err(EmitError::NotFinite)),
            (f64::INFINITY, Err(EmitError::NotFinite)),
        ] {
            context.cost = Some(Box::new(Cost::new(amount, "EUR")));
            let mut body = EventBody::ContextMeasured(context.clone());
            assert_eq!(fit(&mut body, Path::new("/")), want);
        }
    }
}
