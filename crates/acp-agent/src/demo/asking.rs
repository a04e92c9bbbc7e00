//! What the demo agent asks the user.

use std::collections::BTreeSet;

use acp_host::OpenUrl;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

use super::DemoAgent;
use crate::kit::{Turn, TurnError, UserAnswer};

/// A plant to choose. Its schema is written by hand, for this crate does without
/// the derive macro; `#[derive(JsonSchema)]` does the same.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "lowercase")]
enum Plant {
    Fern,
    Ivy,
    Cactus,
}

impl JsonSchema for Plant {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Plant".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"oneOf": [
            {"const": "fern", "title": "Fern", "description": "Likes the shade"},
            {"const": "ivy", "title": "Ivy", "description": "Climbs"},
            {"const": "cactus", "title": "Cactus"},
        ]})
    }
}

/// One of everything that a form can hold.
#[derive(Debug, Deserialize)]
struct Order {
    name: String,
    email: Option<String>,
    plant: Plant,
    gifts: BTreeSet<Plant>,
    pots: u8,
    litres: f64,
    #[serde(default)]
    express: bool,
}

impl JsonSchema for Order {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Order".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let (plant, plants) = (
            Plant::json_schema(generator),
            BTreeSet::<Plant>::json_schema(generator),
        );
        json_schema!({
            "type": "object",
            "description": "An order of plants. Nothing is bought.",
            "properties": {
                "name": {"type": "string", "description": "For whom it is",
                    "minLength": 1, "maxLength": 64},
                "email": {"type": "string", "format": "email", "title": "E-mail"},
                "plant": plant,
                "gifts": plants,
                "pots": {"type": "integer", "minimum": 0, "maximum": 9, "default": 1},
                "litres": {"type": "number", "minimum": 0.5, "maximum": 10.0, "default": 2.5},
                "express": {"type": "boolean", "default": false},
            },
            "required": ["name", "plant", "gifts", "pots", "litres"],
        })
    }
}

impl DemoAgent {
    /// Asks for a choice.
    pub(super) async fn ask_choice(&self, turn: &Turn) -> Result<(), TurnError> {
        let answer = turn.ask::<Plant>("Which plant shall I water?").or_text();
        match answer.await? {
            UserAnswer::Given(plant) => self.say(turn, &format!("I water the {plant:?}.\n")).await,
            UserAnswer::Declined => self.say(turn, "You do not want to say.\n").await,
            UserAnswer::Dismissed => self.say(turn, "You did not answer.\n").await,
            // The next prompt answers.
            UserAnswer::InWords => Ok(()),
        }
    }

    /// Asks for one of everything that a form can hold.
    pub(super) async fn ask_form(&self, turn: &Turn) -> Result<(), TurnError> {
        if !turn.setup().client.forms {
            return self.say(turn, "You show no forms.\n").await;
        }
        match turn.ask::<Order>("What do you order?").await?.given() {
            Some(order) => {
                let Order {
                    name,
                    email,
                    plant,
                    gifts,
                    pots,
                    litres,
                    express,
                } = order;
                let email = email.unwrap_or_else(|| "nobody".into());
                let text = format!(
                    "For {name} ({email}): {plant:?}, {} gifts, {pots} pots, {litres} litres, \
                     express {express}.\n",
                    gifts.len()
                );
                self.say(turn, &text).await
            }
            None => self.say(turn, "You order nothing.\n").await,
        }
    }

    /// Sends the user to an address.
    pub(super) async fn send_away(&self, turn: &Turn) -> Result<(), TurnError> {
        if !turn.setup().client.urls {
            return self.say(turn, "You open no addresses.\n").await;
        }
        let url = "https://agentclientprotocol.com/";
        if self.visit(turn, "Read about the protocol.", url).await? {
            self.say(turn, "Welcome back.\n").await
        } else {
            self.say(turn, "You stay here.\n").await
        }
    }

    /// Asks for a secret, which no form may do: what is entered at the address,
    /// neither the client nor an agent hears.
    pub(super) async fn ask_secret(&self, turn: &Turn) -> Result<(), TurnError> {
        if !turn.setup().client.urls {
            let text = "You open no addresses, and here I may not ask.\n";
            return self.say(turn, text).await;
        }
        let url = "https://example.com/tell-a-secret";
        if self.visit(turn, "Tell your secret there.", url).await? {
            self.say(turn, "Your secret is safe.\n").await
        } else {
            self.say(turn, "You keep it.\n").await
        }
    }

    /// Sends the user to an address; whether they went, and came back.
    async fn visit(&self, turn: &Turn, why: &str, url: &str) -> Result<bool, TurnError> {
        let Some(visit) = turn.send_to(why, OpenUrl::new(url)).await? else {
            return Ok(false);
        };
        self.rest(turn, 10).await?;
        visit.done().await?;
        Ok(true)
    }
}
