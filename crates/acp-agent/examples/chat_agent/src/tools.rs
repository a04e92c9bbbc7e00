//! What the model can do, and who is asked before.

use acp_agent::{
    host::{Diff, ToolContent, ToolKind},
    kit::{RunningTool, ToolDraft, Turn, TurnError},
};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};

use crate::{
    agent::ACT,
    conversation::Call,
    workspace::{Trouble, Workspace},
};

/// What the API is told of the tools.
pub(crate) fn definitions() -> Vec<Value> {
    let text = |about: &str| json!({"type": "string", "description": about});
    let tool = |name: &str, about: &str, properties: Value| {
        let required: Vec<_> = properties.as_object().into_iter().flatten().collect();
        let required: Vec<_> = required.into_iter().map(|(name, _)| name).collect();
        json!({"type": "function", "function": {
            "name": name,
            "description": about,
            "parameters": {
                "type": "object",
                "properties": properties,
                "required": required,
                "additionalProperties": false,
            },
        }})
    };
    vec![
        tool(
            "read_file",
            "Reads a text file.",
            json!({"path": text("Relative to the folder of the session, or absolute.")}),
        ),
        tool(
            "write_file",
            "Writes all of a text file. Read it first if it may be there already.",
            json!({
                "path": text("Relative to the folder of the session, or absolute."),
                "content": text("All that the file is to hold."),
            }),
        ),
        tool(
            "shell",
            "Runs a command line of the shell in the folder of the session, and waits for its end.",
            json!({"command": text("The command line.")}),
        ),
    ]
}

#[derive(Deserialize)]
struct Read {
    path: String,
}

#[derive(Deserialize)]
struct Write {
    path: String,
    content: String,
}

#[derive(Deserialize)]
struct Run {
    command: String,
}

/// Runs a tool that the model calls, shows it, and gives what the model is told
/// of it. What the model does wrong, it is told; only what ends the turn is an
/// error.
pub(crate) async fn run(turn: &Turn, call: &Call) -> Result<String, TurnError> {
    let workspace = Workspace::new(turn);
    let name = call.function.name.as_str();
    match name {
        "read_file" => match arguments::<Read>(call) {
            Ok(asked) => read(turn, &workspace, asked).await,
            Err(why) => refuse(turn, name, why).await,
        },
        "write_file" => match arguments::<Write>(call) {
            Ok(asked) => write(turn, &workspace, asked).await,
            Err(why) => refuse(turn, name, why).await,
        },
        "shell" => match arguments::<Run>(call) {
            Ok(asked) => run_command(turn, &workspace, asked).await,
            Err(why) => refuse(turn, name, why).await,
        },
        _ => refuse(turn, name, "there is no such tool".to_owned()).await,
    }
}

fn arguments<T: DeserializeOwned>(call: &Call) -> Result<T, String> {
    let read = serde_json::from_str(&call.function.arguments);
    read.map_err(|error| format!("the arguments cannot be read: {error}"))
}

/// Shows a call that cannot be run.
async fn refuse(turn: &Turn, name: &str, why: String) -> Result<String, TurnError> {
    let tool = turn.tool(name, format!("Use {name}")).start().await?;
    tool.fail(why.as_str()).await?;
    Ok(why)
}

async fn read(turn: &Turn, workspace: &Workspace<'_>, asked: Read) -> Result<String, TurnError> {
    let path = workspace.path(&asked.path);
    let draft = turn
        .tool("read_file", format!("Read {}", asked.path))
        .kind(ToolKind::Read)
        .location(&path)
        .input(&json!({ "path": asked.path }))?;
    // What lies in the folder of the session was opened for the agent.
    let tool = if workspace.holds(&path).await {
        draft.start().await?
    } else {
        match allowed(turn, draft).await? {
            Ok(tool) => tool,
            Err(why) => return Ok(why),
        }
    };
    match workspace.read(&path).await {
        Ok(text) => {
            let shown = vec![ToolContent::text(text.as_str())];
            tool.complete_with(shown, &text).await?;
            Ok(text)
        }
        Err(trouble) => fail(tool, trouble).await,
    }
}

async fn write(turn: &Turn, workspace: &Workspace<'_>, asked: Write) -> Result<String, TurnError> {
    let path = workspace.path(&asked.path);
    let mut diff = Diff::new(&path, asked.content.as_str());
    if let Ok(old) = workspace.read(&path).await {
        diff = diff.with_old_text(old);
    }
    let draft = turn
        .tool("write_file", format!("Write {}", asked.path))
        .kind(ToolKind::Edit)
        .location(&path)
        .input(&json!({ "path": asked.path, "content": asked.content }))?
        .diff(diff.clone());
    let tool = match allowed(turn, draft).await? {
        Ok(tool) => tool,
        Err(why) => return Ok(why),
    };
    match workspace.write(&path, &asked.content).await {
        Ok(()) => {
            let told = format!("{} is written", asked.path);
            tool.complete_with(vec![ToolContent::Diff(diff)], &told)
                .await?;
            Ok(told)
        }
        Err(trouble) => fail(tool, trouble).await,
    }
}

async fn run_command(
    turn: &Turn,
    workspace: &Workspace<'_>,
    asked: Run,
) -> Result<String, TurnError> {
    let draft = turn
        .tool("shell", format!("Run {}", asked.command))
        .kind(ToolKind::Execute)
        .input(&json!({ "command": asked.command }))?;
    let tool = match allowed(turn, draft).await? {
        Ok(tool) => tool,
        Err(why) => return Ok(why),
    };
    match workspace.run(&asked.command, &tool).await {
        Ok(ran) => {
            let told = format!("{}\n{}", ran.how, ran.output);
            tool.complete_with(vec![ran.shown], &told).await?;
            Ok(told)
        }
        Err(trouble) => fail(tool, trouble).await,
    }
}

/// Announces a tool and starts it, if the mode or the user allows that.
async fn allowed<'t>(
    turn: &'t Turn,
    draft: ToolDraft<'t>,
) -> Result<Result<RunningTool<'t>, String>, TurnError> {
    let tool = draft.announce().await?;
    let may = turn.mode().as_deref() == Some(ACT) || turn.ask_permission(&tool).await?.is_allowed();
    if !may {
        let why = "the user did not allow it";
        tool.fail(why).await?;
        return Ok(Err(why.to_owned()));
    }
    tool.start().await?;
    Ok(Ok(tool))
}

/// Ends a tool badly, and tells the model why; a turn that nobody wants any more
/// ends.
async fn fail(tool: RunningTool<'_>, trouble: Trouble) -> Result<String, TurnError> {
    match trouble {
        Trouble::Ended(error) => Err(error),
        Trouble::Told(why) => {
            tool.fail(why.as_str()).await?;
            Ok(why)
        }
    }
}
