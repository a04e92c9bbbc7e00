//! Modes and options, good and bad.

use acp_client::{ClientError, Session};
use acp_protocol::v1::{
    SessionConfigId, SessionConfigOption, SessionConfigOptionKind, SessionConfigSelectOptions,
    SessionConfigValueId,
};

use super::prompts::hello;
use crate::peer::Peer;
use crate::report::{Outcome, Trouble, absent, check, expect, failed, refused};

/// Tries everything about modes and options.
pub(super) async fn all(peer: &Peer) {
    check("mode", mode(peer)).await;
    check("option", option(peer)).await;
    check("option-value", option_value(peer)).await;
    check("option-id", option_id(peer)).await;
}

/// Sets another mode than the current one, and one that nobody offers.
async fn mode(peer: &Peer) -> Outcome {
    let mut session = peer.open().await?;
    let modes = session.modes().ok_or_else(|| absent("it has no modes"))?;
    let others = modes.available_modes.into_iter().map(|mode| mode.id);
    let others = others.filter(|id| *id != modes.current_mode_id);
    // Some modes need a folder that the agent trusts.
    let mut set = Err(absent("it has one mode"));
    for other in others {
        let answer = session.control().set_mode(other.clone()).await;
        set = answer.map_err(Trouble::from);
        if set.is_ok() {
            let now = session.modes().map(|modes| modes.current_mode_id);
            expect(
                now.as_ref() == Some(&other),
                format!("the mode is {now:?} now"),
            )?;
            break;
        }
    }
    set?;
    match session.control().set_mode("no-such-mode").await {
        Err(ClientError::UnknownMode { .. }) => {}
        other => return Err(failed(format!("a mode that is not there: {other:?}"))),
    }
    hello(peer, &mut session).await
}

/// An option with a list of values.
struct Select {
    id: SessionConfigId,
    current: SessionConfigValueId,
    values: Vec<SessionConfigValueId>,
}

/// Finds the options that have a list of values.
fn selects(session: &Session) -> Vec<Select> {
    let options = session.config_options().unwrap_or_default();
    let select = |option: SessionConfigOption| match option.kind {
        SessionConfigOptionKind::Select(select) => Some(Select {
            id: option.id,
            current: select.current_value,
            values: match select.options {
                SessionConfigSelectOptions::Ungrouped(options) => {
                    options.into_iter().map(|option| option.value).collect()
                }
                SessionConfigSelectOptions::Grouped(groups) => {
                    let options = groups.into_iter().flat_map(|group| group.options);
                    options.map(|option| option.value).collect()
                }
                _ => Vec::new(),
            },
        }),
        _ => None,
    };
    options.into_iter().filter_map(select).collect()
}

/// Sets an option to another value than the current one.
async fn option(peer: &Peer) -> Outcome {
    let session = peer.open().await?;
    let mut selects = selects(&session).into_iter();
    let choice = selects.find_map(|select| {
        let other = select.values.iter().find(|value| **value != select.current);
        other.map(|other| (select.id.clone(), other.clone()))
    });
    let (id, value) = choice.ok_or_else(|| absent("it has no option with two values"))?;
    let control = session.control();
    control.set_config_option(id.clone(), value.clone()).await?;
    let now = self::selects(&session)
        .into_iter()
        .find(|select| select.id == id);
    let now = now.map(|select| select.current);
    expect(
        now.as_ref() == Some(&value),
        format!("its value is {now:?} now"),
    )
}

async fn option_value(peer: &Peer) -> Outcome {
    let session = peer.open().await?;
    let select = selects(&session).into_iter().next();
    let select = select.ok_or_else(|| absent("it has no options"))?;
    let control = session.control();
    refused(
        control.set_config_option(select.id, "no-such-value").await,
        "a value that is not there",
    )
}

async fn option_id(peer: &Peer) -> Outcome {
    let session = peer.open().await?;
    if session.config_options().is_none() {
        return Err(absent("it has no options"));
    }
    let control = session.control();
    refused(
        control.set_config_option("no-such-option", "on").await,
        "an option that is not there",
    )
}
