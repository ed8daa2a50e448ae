//! Where a number comes from: a model, a model corrected by simulations, a simulation, or a paper.

use flitwise_language::scenario::Scenario;
use flitwise_models::model::Model;
use schemars::JsonSchema;
use serde::{Serialize, Serializer};

/// Where numbers come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Origin {
    /// A model.
    Model(Model),
    /// The refined model corrected by simulations.
    Anchored,
    /// The flit simulator.
    #[default]
    Simulation,
    /// Numbers that a paper prints.
    Printed,
    /// What the scenario itself says, such as a budget.
    Given,
    /// What follows from the network alone, such as loads and bandwidths of paths.
    Exact,
}

const MODELS: usize = Model::ALL.len();

/// All models, and `last` as often as there is room.
const fn models_and<const N: usize>(last: Origin) -> [Origin; N] {
    let mut all = [last; N];
    let mut at = 0;
    while at < MODELS {
        all[at] = Origin::Model(Model::ALL[at]);
        at += 1;
    }
    all
}

impl Origin {
    /// The published model.
    pub const PUBLISHED: Self = Self::Model(Model::Published);
    /// The refined model.
    pub const REFINED: Self = Self::Model(Model::Refined);
    /// The analysis of congestion trees in packet switches.
    pub const RECN: Self = Self::Model(Model::Recn);

    /// All of them.
    pub const ALL: [Self; MODELS + 5] = {
        let mut all = models_and(Self::Simulation);
        all[MODELS] = Self::Anchored;
        all[MODELS + 2] = Self::Printed;
        all[MODELS + 3] = Self::Given;
        all[MODELS + 4] = Self::Exact;
        all
    };

    /// Those that a file may name: models and the simulation.
    pub const NAMED: [Self; MODELS + 1] = models_and(Self::Simulation);

    /// Those that the file of a figure over time may name, all that it can have unless it does.
    pub const OVER_TIME: [Self; 3] = [Self::RECN, Self::Model(Model::Admission), Self::Simulation];

    /// What a figure shows that does not say: the published model, the model that answers by default, and the
    /// simulation; of a scenario that neither is made for, the model that is.
    pub fn usual(scenario: Option<&Scenario>) -> Vec<Self> {
        match scenario.map(Model::usual) {
            Some(model) if !Model::OF_MESSAGES.contains(&model) => vec![model.into(), Self::Simulation],
            _ => vec![Self::PUBLISHED, Model::DEFAULT.into(), Self::Simulation],
        }
    }

    /// The model, if it is one that answers without simulation.
    pub fn model(self) -> Option<Model> {
        match self {
            Self::Model(model) => Some(model),
            Self::Anchored | Self::Simulation | Self::Printed | Self::Given | Self::Exact => None,
        }
    }

    /// What it is called in legends.
    pub fn legend(self) -> &'static str {
        match self {
            Self::Model(model) => model.legend(),
            Self::Anchored => "anchored model",
            Self::Simulation => "simulation",
            Self::Printed => "printed in the paper",
            Self::Given => "given by the scenario",
            Self::Exact => "exact",
        }
    }

    /// What it is called in files.
    pub fn word(self) -> &'static str {
        match self {
            Self::Model(model) => model.word(),
            Self::Anchored => "anchored",
            Self::Simulation => "simulation",
            Self::Printed => "printed",
            Self::Given => "given",
            Self::Exact => "exact",
        }
    }
}

impl From<Model> for Origin {
    fn from(model: Model) -> Self {
        Self::Model(model)
    }
}

impl Serialize for Origin {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

impl JsonSchema for Origin {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Origin".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let words = Self::ALL.map(Self::word);
        schemars::json_schema!({ "type": "string", "description": "Where numbers come from.", "enum": words })
    }
}
