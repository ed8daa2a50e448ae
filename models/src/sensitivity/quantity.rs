//! What of an answer is asked about.

use schemars::JsonSchema;
use serde::Serialize;

use crate::answer::{Answer, ClassAnswer};
use crate::document::{Fault, Place, nearest, one_of};

/// A quantity of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Quantity {
    /// `L̄` \[cycles\].
    NetworkLatency,
    /// Part of it: flits of the same class in front \[cycles\].
    Blocking,
    /// Part of it: what sharing links with other classes adds \[cycles\].
    Sharing,
    /// `W̄`: at the source \[cycles\].
    Waiting,
    /// `L̄ + W̄` \[cycles\].
    TotalLatency,
    /// `λ' M`: load of a link by the class \[flits/cycle\].
    Utilization,
    /// `L̄ λ'`: load of the router, of the busiest channel of a cube; the published model's.
    RouterLoad,
    /// Share of the messages whose network latency exceeds a deadline.
    MissProbability,
}

impl Quantity {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::NetworkLatency,
        Self::Blocking,
        Self::Sharing,
        Self::Waiting,
        Self::TotalLatency,
        Self::Utilization,
        Self::RouterLoad,
        Self::MissProbability,
    ];

    /// Those that are meant where none is named: what every model has.
    pub const USUAL: [Self; 7] = [
        Self::NetworkLatency,
        Self::Blocking,
        Self::Sharing,
        Self::Waiting,
        Self::TotalLatency,
        Self::Utilization,
        Self::MissProbability,
    ];

    /// The word for it on the command line and in output.
    pub const fn word(self) -> &'static str {
        match self {
            Self::NetworkLatency => "network-latency",
            Self::Blocking => "blocking",
            Self::Sharing => "sharing",
            Self::Waiting => "waiting",
            Self::TotalLatency => "total-latency",
            Self::Utilization => "utilization",
            Self::RouterLoad => "router-load",
            Self::MissProbability => "miss-probability",
        }
    }

    /// Its unit; a probability or a load has none.
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Utilization | Self::RouterLoad | Self::MissProbability => "1",
            _ => "cycles",
        }
    }

    /// The quantity of that word.
    ///
    /// # Errors
    /// When there is none, with the nearest that there is.
    pub fn find(word: &str) -> Result<Self, Fault> {
        let words = || Self::ALL.iter().map(|quantity| quantity.word());
        Self::ALL.into_iter().find(|quantity| quantity.word() == word.trim()).ok_or_else(|| Fault {
            place: Place::Setting(format!("--output-quantity {word}").into()),
            key: String::new(),
            found: format!("no quantity \"{word}\""),
            wanted: format!("one of {}", one_of(words())),
            help: nearest(word, words()).map(|near| format!("did you mean {near}?")),
        })
    }
}

/// One number of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Output {
    /// Place of the class in the scenario.
    pub(super) class: usize,
    pub(super) quantity: Quantity,
    /// Which of the class's deadlines, for miss probabilities.
    pub(super) deadline: Option<usize>,
}

impl Output {
    /// All that the classes and quantities asked for have in `answer`.
    pub(super) fn all(answer: &Answer, classes: &[usize], quantities: &[Quantity]) -> Vec<Self> {
        let of_class = |class: &usize| {
            let class = *class;
            let deadlines = answer.classes[class].deadlines.len();
            quantities.iter().flat_map(move |quantity| {
                let deadlines: Vec<Option<usize>> = match quantity {
                    Quantity::MissProbability => (0..deadlines).map(Some).collect(),
                    _ => vec![None],
                };
                deadlines.into_iter().map(move |deadline| Self { class, quantity: *quantity, deadline })
            })
        };
        classes.iter().flat_map(of_class).collect()
    }

    /// Its value, or why there is none.
    pub(super) fn value(&self, answer: &Answer) -> Result<f64, String> {
        let class = &answer.classes[self.class];
        let (number, field) = match self.quantity {
            Quantity::NetworkLatency => (class.network_latency_cycles, "network_latency_cycles"),
            Quantity::Blocking => (class.blocking_cycles, "blocking_cycles"),
            Quantity::Sharing => (class.sharing_cycles, "sharing_cycles"),
            Quantity::Waiting => (class.waiting_cycles, "waiting_cycles"),
            Quantity::TotalLatency => (class.total_latency_cycles, "total_latency_cycles"),
            Quantity::Utilization => (class.utilization, "utilization"),
            Quantity::RouterLoad => (class.router_load, "router_load"),
            Quantity::MissProbability => {
                let Some(deadline) = self.deadline.and_then(|index| class.deadlines.get(index)) else {
                    return Err("the class has no such deadline".to_owned());
                };
                return deadline.miss_probability.ok_or_else(|| {
                    deadline.reason.clone().unwrap_or_else(|| "it has no distribution".to_owned())
                });
            }
        };
        number.filter(|number| number.is_finite()).ok_or_else(|| why(class, field))
    }
}

fn why(class: &ClassAnswer, field: &str) -> String {
    let saturated = class.saturation.as_ref().map(|saturation| format!("saturated: {}", saturation.because));
    class.reasons.get(field).cloned().or(saturated).unwrap_or_else(|| "the model has none".to_owned())
}
