//! What all stations answer alike, with the unit of every number in its name.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

/// A station's answer.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct StationAnswer {
    /// What it was asked about as a whole; what concerns a class stands with the class.
    pub parameters: BTreeMap<&'static str, f64>,
    /// Share of the servers' time that all who come ask for: arrival rate times mean service, by the number of
    /// servers.
    pub load: f64,
    /// Share of the time in which all servers are busy.
    pub all_busy_probability: f64,
    /// Whether any class is saturated.
    pub saturated: bool,
    /// What only this station answers, by name with its unit.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(default)]
    pub values: BTreeMap<&'static str, f64>,
    /// One answer per class, in the order of the question; one named `all` where there are no classes.
    pub classes: Vec<CustomersAnswer>,
    /// Saturated classes, with the load that does it.
    pub notes: Vec<String>,
}

/// A station's answer for one class of customers. What a saturated class has no steady value of is null.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CustomersAnswer {
    /// Its name; `all` where there are no classes.
    pub name: String,
    /// `λ`, let in or not.
    pub arrival_rate_per_cycle: f64,
    /// `E[S]`.
    pub mean_service_cycles: f64,
    /// Squared coefficient of variation of the service; null where it does not matter.
    pub service_scv: Option<f64>,
    /// Its weight, where customers share by weights.
    pub weight: Option<f64>,
    /// Share of the servers' time that it asks for, with all that goes before it; one or more is saturated
    /// wherever all are let in.
    pub load: f64,
    /// Whether its queue grows without bound.
    pub saturated: bool,
    /// Share of each server's time that it gets; null where classes that share are saturated.
    pub utilization: Option<f64>,
    /// What is served per cycle.
    pub throughput_per_cycle: Option<f64>,
    /// Probability that an arrival is turned away.
    pub blocking_probability: f64,
    /// Probability that one let in has to wait; null where no closed form is known.
    pub wait_probability: Option<f64>,
    /// Mean wait of those let in: the response without the service.
    pub mean_wait_cycles: Option<f64>,
    /// Standard deviation of the wait; null where no closed form is known, or the third moment is not.
    pub wait_standard_deviation_cycles: Option<f64>,
    /// Mean wait until service begins, where it is interrupted later; else null.
    pub mean_wait_before_service_cycles: Option<f64>,
    /// Mean response of those let in: wait and service.
    pub mean_response_cycles: Option<f64>,
    /// Mean number of those who wait.
    pub mean_number_waiting: Option<f64>,
    /// Mean number of those who wait or are served.
    pub mean_number_in_system: Option<f64>,
    /// The distributions at the times asked about.
    pub tail: Vec<TailAnswer>,
}

/// Probabilities that wait and response take longer than a time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TailAnswer {
    /// The time.
    pub time_cycles: f64,
    /// Probability that the wait takes longer; null if saturated.
    pub wait_exceeds_probability: Option<f64>,
    /// Probability that the response takes longer; null if saturated.
    pub response_exceeds_probability: Option<f64>,
}
