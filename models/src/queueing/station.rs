//! A textbook queue, what its file declares of it, and how it answers.

use super::parameter::shared::{MEAN, RATE, SCV};
use super::{
    Customers, CustomersAnswer, Kind, Measures, Parameter, StationAnswer, Steady, TailAnswer, cumulated_loads,
};

/// A textbook queue: what it asks and how it answers, declared once in its file.
pub(super) trait TextbookQueue: Sized {
    /// What it wants to know as a whole.
    const PARAMETERS: &'static [Parameter] = &[];
    /// What it wants to know of each class of customers; nothing: it knows no classes.
    const CLASS_PARAMETERS: &'static [Parameter] = &[];
    /// The distributions of wait and response, where a closed form is known.
    const EXCEEDS: Option<Exceeds<Self>> = None;

    /// The queue of checked values.
    fn of(station: &Station) -> Self;

    /// One answer per class, in the order of the question; one where there are no classes.
    fn answers(&self, station: &Station) -> Vec<CustomersAnswer>;

    /// Load of the station: that of the last class, which has what goes before it.
    fn load(classes: &[CustomersAnswer]) -> f64 {
        classes.last().map_or(0.0, |class| class.load)
    }

    /// Share of the time in which all servers are busy, at this load.
    fn all_busy(&self, load: f64) -> f64 {
        load.min(1.0)
    }

    /// What only this station answers: names with their units.
    fn values(&self, _station: &Station) -> Vec<(&'static str, f64)> {
        Vec::new()
    }

    /// Why a class has no steady state: `load` of the server's time is asked for.
    fn saturated(_class: &CustomersAnswer, load: &str) -> String {
        format!("saturated: {load} of the server's time is asked for")
    }

    /// What is wrong with values that are each within their domain.
    fn contradiction(_station: &Station) -> Option<Contradiction> {
        None
    }
}

/// Probabilities that wait and response take longer than a time \[cycles\].
pub(super) type Exceeds<Q> = fn(&Q, f64) -> (Steady<f64>, Steady<f64>);

/// A value that the others exclude.
pub(super) struct Contradiction {
    pub(super) parameter: Parameter,
    /// What is wanted instead.
    pub(super) wanted: String,
}

/// [`TextbookQueue`] as a value.
pub(super) struct Declaration {
    pub(super) manual: &'static str,
    pub(super) parameters: &'static [Parameter],
    pub(super) class_parameters: &'static [Parameter],
    pub(super) has_distribution: bool,
    contradiction: fn(&Station) -> Option<Contradiction>,
    answer: fn(&Station, &[f64]) -> StationAnswer,
}

impl Declaration {
    /// `manual` is the page, in Markdown.
    pub(super) fn of<Q: TextbookQueue>(manual: &'static str) -> Self {
        Self {
            manual,
            parameters: Q::PARAMETERS,
            class_parameters: Q::CLASS_PARAMETERS,
            has_distribution: Q::EXCEEDS.is_some(),
            contradiction: Q::contradiction,
            answer: answer::<Q>,
        }
    }
}

/// A station whose parameters have been checked: see [`super::Question::check`].
#[derive(Clone, Debug, PartialEq)]
pub struct Station {
    pub(super) kind: Kind,
    pub(super) values: Values,
    /// The values of each class.
    pub(super) classes: Vec<Values>,
}

/// Values of parameters, each within its domain.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Values {
    /// What the class is called; `all` for the station itself.
    pub(super) name: String,
    pub(super) numbers: Vec<(&'static Parameter, f64)>,
}

impl Values {
    /// The value of a parameter that is required or has a default.
    pub(super) fn get(&self, wanted: Parameter) -> f64 {
        self.optional(wanted).expect("a parameter of this station, required or with a default")
    }

    /// The value of a parameter that may be left out.
    pub(super) fn optional(&self, wanted: Parameter) -> Option<f64> {
        self.numbers.iter().find(|(parameter, _)| parameter.key == wanted.key).map(|(_, value)| *value)
    }
}

impl Station {
    /// Which station it is.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Its answer, with the distributions at the given times \[cycles\] where the station has them.
    pub fn answer(&self, times: &[f64]) -> StationAnswer {
        (self.kind.declaration().answer)(self, times)
    }

    /// Its classes.
    pub(super) fn customers(&self) -> Vec<Customers> {
        let of = |values: &Values| Customers::new(values.get(RATE), values.get(MEAN), values.get(SCV));
        self.classes.iter().map(of).collect()
    }

    pub(super) fn contradiction(&self) -> Option<Contradiction> {
        (self.kind.declaration().contradiction)(self)
    }
}

fn answer<Q: TextbookQueue>(station: &Station, times: &[f64]) -> StationAnswer {
    let queue = Q::of(station);
    let mut classes = queue.answers(station);
    for (class, values) in classes.iter_mut().zip(&station.classes) {
        class.name.clone_from(&values.name);
    }
    if let Some(exceeds) = Q::EXCEEDS {
        let tail = |time: &f64| {
            let (wait, response) = exceeds(&queue, *time);
            TailAnswer {
                time_cycles: *time,
                wait_exceeds_probability: wait.reached(),
                response_exceeds_probability: response.reached(),
            }
        };
        classes.iter_mut().for_each(|class| class.tail = times.iter().map(tail).collect());
    }
    let load = Q::load(&classes);
    let saturated = classes.iter().filter(|class| class.saturated);
    StationAnswer {
        parameters: station
            .values
            .numbers
            .iter()
            .map(|(parameter, value)| (parameter.field, *value))
            .collect(),
        load,
        all_busy_probability: queue.all_busy(load),
        saturated: classes.iter().any(|class| class.saturated),
        values: queue.values(station).into_iter().collect(),
        notes: saturated.map(|class| Q::saturated(class, &shown(class.load))).collect(),
        classes,
    }
}

/// A load in a sentence: four decimals, and more where those would say that it is one.
fn shown(load: f64) -> String {
    match load {
        _ if load > 1.0 && load < 1.000_05 => load.to_string(),
        _ if load >= 1e5 => format!("{load:.3e}"),
        _ => format!("{load:.4}"),
    }
}

/// What customers ask of the servers.
pub(super) struct Demand {
    /// `λ` \[1/cycle\].
    pub(super) rate: f64,
    /// `E[S]` \[cycles\].
    pub(super) mean: f64,
    /// Squared coefficient of variation of the service; none where it does not matter.
    pub(super) scv: Option<f64>,
    pub(super) servers: u32,
}

impl Demand {
    /// All are let in; who finds all servers busy waits.
    pub(super) fn queueing(&self, means: Steady<Measures>) -> CustomersAnswer {
        let servers = f64::from(self.servers);
        let load = self.rate * self.mean / servers;
        let steady = means.reached();
        let throughput = if steady.is_some() { self.rate } else { servers / self.mean };
        CustomersAnswer {
            name: "all".to_owned(),
            arrival_rate_per_cycle: self.rate,
            mean_service_cycles: self.mean,
            service_scv: self.scv,
            weight: None,
            load,
            saturated: steady.is_none(),
            utilization: Some(load.min(1.0)),
            throughput_per_cycle: Some(throughput),
            blocking_probability: 0.0,
            wait_probability: steady.map(|_| load),
            mean_wait_cycles: steady.map(|means| means.mean_wait),
            wait_standard_deviation_cycles: None,
            mean_wait_before_service_cycles: None,
            mean_response_cycles: steady.map(|means| means.mean_response),
            mean_number_waiting: steady.map(|means| means.mean_number_waiting),
            mean_number_in_system: steady.map(|means| means.mean_number_in_system),
            tail: Vec::new(),
        }
    }

    /// Some are turned away, so that there is a steady state at any load.
    pub(super) fn lossy(&self, means: Measures) -> CustomersAnswer {
        CustomersAnswer {
            utilization: Some(means.utilization),
            throughput_per_cycle: Some(means.throughput),
            blocking_probability: means.blocking_probability,
            wait_probability: Some(0.0),
            ..self.queueing(Steady::Reached(means))
        }
    }
}

impl CustomersAnswer {
    /// There is a server for everyone: no load, and nobody waits.
    pub(super) fn unlimited(rate: f64, mean: f64) -> Self {
        let customers = Customers::new(rate, mean, 0.0);
        let means = Measures { utilization: 0.0, ..Measures::of_wait(&customers, 0.0) };
        let answer = Demand { rate, mean, scv: None, servers: 1 }.queueing(Steady::Reached(means));
        Self { load: 0.0, utilization: None, wait_probability: Some(0.0), ..answer }
    }

    /// With the standard deviation that follows from the second moment of the wait.
    pub(super) fn spread(self, second_moment: Steady<f64>) -> Self {
        let variance = second_moment.reached().zip(self.mean_wait_cycles);
        let deviation = variance.map(|(second, wait)| (second - wait * wait).max(0.0).sqrt());
        Self { wait_standard_deviation_cycles: deviation, ..self }
    }
}

/// Answers of classes in order of priority, each with the load of itself and all before it.
pub(super) fn answers_by_priority(
    station: &Station,
    classes: &[Customers],
    means: Vec<Steady<Measures>>,
    utilizations: Vec<f64>,
) -> impl Iterator<Item = CustomersAnswer> {
    let loads = cumulated_loads(classes);
    let answers = classes.iter().zip(means).zip(utilizations).zip(loads).zip(&station.classes);
    answers.map(|((((class, means), utilization), load), values)| {
        let Customers { rate, service } = *class;
        let scv = values.optional(SCV);
        let answer = Demand { rate, mean: service.mean, scv, servers: 1 }.queueing(means);
        let served = if answer.saturated { utilization / service.mean } else { rate };
        CustomersAnswer {
            load,
            utilization: Some(utilization),
            throughput_per_cycle: Some(served),
            wait_probability: None,
            ..answer
        }
    })
}

/// Why a class in order of priority has no steady state.
pub(super) fn saturated_by_priority(class: &CustomersAnswer, load: &str) -> String {
    let name = &class.name;
    if class.arrival_rate_per_cycle == 0.0 {
        format!("{name} would never be served: what goes before it asks for {load} of the server's time")
    } else {
        format!("{name} is saturated: it and what goes before it ask for {load} of the server's time")
    }
}

#[cfg(test)]
mod tests;
