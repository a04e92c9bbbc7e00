//! Questions of the demo agent to the user.

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

/// One field of each kind that a form can hold.
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
                "name": {"type": "string", "description": "The name of the recipient",
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
    pub(super) async fn ask_choice(&self, turn: &Turn) -> Result<String, TurnError> {
        let answer = turn.ask::<Plant>("Which plant shall I water?").or_text();
        Ok(match answer.await? {
            UserAnswer::Given(plant) => format!("Watering the {plant:?}.\n"),
            UserAnswer::Declined => "You declined to answer.\n".to_owned(),
            UserAnswer::Dismissed => "You did not answer.\n".to_owned(),
            // The next prompt answers.
            UserAnswer::InWords => String::new(),
        })
    }

    /// Asks for a value of each kind that a form can hold.
    pub(super) async fn ask_form(&self, turn: &Turn) -> Result<String, TurnError> {
        if !turn.setup().client.forms {
            return Ok("Your client does not show forms.\n".to_owned());
        }
        let Some(order) = turn.ask::<Order>("What do you order?").await?.given() else {
            return Ok("You ordered nothing.\n".to_owned());
        };
        let email = order.email.as_deref().unwrap_or("no e-mail");
        Ok(format!(
            "For {} ({email}): {:?}, {} gifts, {} pots, {} litres, express {}.\n",
            order.name,
            order.plant,
            order.gifts.len(),
            order.pots,
            order.litres,
            order.express
        ))
    }

    /// Asks the user to open a web page.
    pub(super) async fn ask_to_visit(&self, turn: &Turn) -> Result<String, TurnError> {
        let url = "https://agentclientprotocol.com/";
        let answers = ["Welcome back.\n", "You did not open the page.\n"];
        self.visit(turn, "Read about the protocol.", url, answers)
            .await
    }

    /// Asks for a secret, which no form may do: neither the client nor an agent
    /// sees what is entered on the page.
    pub(super) async fn ask_secret(&self, turn: &Turn) -> Result<String, TurnError> {
        let url = "https://example.com/enter-a-secret";
        let answers = ["Your secret is safe.\n", "You entered no secret.\n"];
        self.visit(turn, "Enter your secret on this page.", url, answers)
            .await
    }

    /// Sends the user to a page, and returns the first answer if they went and
    /// came back, else the second.
    async fn visit(
        &self,
        turn: &Turn,
        why: &str,
        url: &str,
        [visited, stayed]: [&str; 2],
    ) -> Result<String, TurnError> {
        if !turn.setup().client.urls {
            return Ok("Your client does not open web pages.\n".to_owned());
        }
        let Some(visit) = turn.send_to(why, OpenUrl::new(url)).await? else {
            return Ok(stayed.to_owned());
        };
        self.rest(turn, 10).await?;
        visit.done().await?;
        Ok(visited.to_owned())
    }
}
