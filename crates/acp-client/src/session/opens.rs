//! The answers that open a session, with what older agents say in them.

use acp_protocol::RawJson;
use acp_protocol::lenient::{self, Forgiven};
use acp_protocol::method::{Request, Side};
use acp_protocol::v1::{
    SessionConfigOption, SessionConfigOptionCategory, SessionConfigSelect,
    SessionConfigSelectOption,
};
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

/// The id of the option that stands for the models of an older agent.
pub(super) const MODEL_OPTION: &str = "model";

/// A request that opens a session, whose answer may name models as agents did before
/// models were an option of the session.
#[derive(Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Opens<R>(pub(super) R);

impl<R: Request> Request for Opens<R> {
    const METHOD: &'static str = R::METHOD;
    const SERVED_BY: Side = Side::Agent;
    type Response = Opened<R::Response>;
}

/// The answer to such a request.
#[derive(Debug, Serialize)]
pub(super) struct Opened<T> {
    pub(super) answer: T,
    pub(super) models: Option<OlderModels>,
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Opened<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Besides {
            models: Option<RawJson>,
        }
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        let answer = serde_json::from_str(raw.get()).map_err(D::Error::custom)?;
        let besides: Option<Besides> = serde_json::from_str(raw.get()).unwrap_or_default();
        let models = besides.and_then(|besides| besides.models);
        Ok(Self {
            answer,
            models: models.and_then(|models| OlderModels::read(&models)),
        })
    }
}

/// The models of an agent that has no option for them; set by `session/set_model`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OlderModels {
    available_models: Vec<OlderModel>,
    current_model_id: String,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct OlderModel {
    model_id: String,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    description: Option<String>,
}

impl OlderModels {
    fn read(models: &RawJson) -> Option<Self> {
        let read = models.parse::<Option<Self>>();
        let forgiven = match read {
            Ok(_) => Forgiven::Older,
            Err(_) => Forgiven::Value,
        };
        lenient::report("Opened", "models", forgiven);
        read.ok().flatten()
    }

    /// Notes which one is set.
    pub(super) fn set(&mut self, model: &str) {
        model.clone_into(&mut self.current_model_id);
    }

    /// Shows them as the option that newer agents have.
    pub(super) fn as_option(&self) -> SessionConfigOption {
        let values = self.available_models.iter().map(|model| {
            let name = model.name.as_deref().unwrap_or(&model.model_id);
            let mut value = SessionConfigSelectOption::new(&*model.model_id, name);
            value.description.clone_from(&model.description);
            value
        });
        let values: Vec<_> = values.collect();
        let select = SessionConfigSelect::new(&*self.current_model_id, values);
        SessionConfigOption::new(MODEL_OPTION, "Model", select)
            .with_category(SessionConfigOptionCategory::Model)
    }
}
