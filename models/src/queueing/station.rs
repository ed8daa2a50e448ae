//! A checked station and how it answers.

use super::{
    CustomersAnswer, DiscriminatorySharing, Engset, ErlangB, Kind, Md1, Measures, Mg1, Mm1, Mm1K, MmC,
    NonPreemptive, PreemptiveResume, ProcessorSharing, StationAnswer, Steady, TailAnswer, Vacations,
    cumulated_loads,
};

/// A station whose parameters have been checked: see [`super::Question::check`].
#[derive(Clone, Debug, PartialEq)]
pub struct Station {
    kind: Kind,
    parameters: Vec<(&'static str, f64)>,
    named: Vec<Named>,
    form: Form,
}

/// What a class is called, and the spread of its service where it was asked for.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Named {
    pub(super) name: String,
    pub(super) scv: Option<f64>,
}

/// The stations themselves.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Form {
    Mm1(Mm1),
    Md1(Md1),
    Mg1 { station: Mg1, third_moment: Option<f64> },
    Vacations(Vacations),
    Mm1K(Mm1K),
    MmC(MmC),
    ErlangB(ErlangB),
    Engset(Engset),
    NonPreemptive(NonPreemptive),
    PreemptiveResume(PreemptiveResume),
    ProcessorSharing(ProcessorSharing),
    DiscriminatorySharing(DiscriminatorySharing),
}

/// What is the same in every answer for customers.
struct Asked {
    rate: f64,
    mean: f64,
    scv: Option<f64>,
    servers: f64,
}

impl Asked {
    fn one_server(rate: f64, mean: f64, scv: Option<f64>) -> Self {
        Self { rate, mean, scv, servers: 1.0 }
    }

    fn load(&self) -> f64 {
        self.rate * self.mean / self.servers
    }
}

impl Station {
    pub(super) fn new(
        kind: Kind,
        parameters: Vec<(&'static str, f64)>,
        named: Vec<Named>,
        form: Form,
    ) -> Self {
        Self { kind, parameters, named, form }
    }

    /// Which station it is.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Its answer, with the distributions at the given times \[cycles\] where the station has them.
    pub fn answer(&self, times: &[f64]) -> StationAnswer {
        let classes = self.classes(times);
        let load: f64 = match &self.form {
            Form::NonPreemptive(NonPreemptive { classes })
            | Form::PreemptiveResume(PreemptiveResume { classes }) => {
                cumulated_loads(classes).last().copied().unwrap_or_default()
            }
            Form::DiscriminatorySharing(station) => station.load(),
            _ => classes.iter().map(|class| class.load).sum(),
        };
        let busy = self.all_busy(load);
        let notes = classes.iter().filter(|class| class.saturated).map(|class| self.note(class)).collect();
        StationAnswer {
            parameters: self.parameters.iter().copied().collect(),
            load,
            all_busy_probability: busy,
            saturated: classes.iter().any(|class| class.saturated),
            classes,
            notes,
        }
    }

    fn all_busy(&self, load: f64) -> f64 {
        match &self.form {
            Form::Mm1K(station) => station.utilization(),
            Form::ErlangB(station) => station.blocking_probability(),
            Form::Engset(station) => station.all_busy_probability(),
            Form::MmC(station) => station.wait_probability().reached().unwrap_or(1.0),
            _ => load.min(1.0),
        }
    }

    /// Why a class has no steady state.
    fn note(&self, class: &CustomersAnswer) -> String {
        let CustomersAnswer { name, load, .. } = class;
        let load = shown(*load);
        match &self.form {
            Form::NonPreemptive(_) | Form::PreemptiveResume(_) if class.arrival_rate_per_cycle == 0.0 => {
                format!(
                    "{name} would never be served: what goes before it asks for {load} of the server's time"
                )
            }
            Form::NonPreemptive(_) | Form::PreemptiveResume(_) => {
                format!("{name} is saturated: it and what goes before it ask for {load} of the server's time")
            }
            Form::DiscriminatorySharing(_) => {
                format!("{name} is saturated: all together ask for {load} of the server's time")
            }
            Form::MmC(_) => format!("saturated: {load} of the servers' time is asked for"),
            _ => format!("saturated: {load} of the server's time is asked for"),
        }
    }

    /// One answer per class.
    fn classes(&self, times: &[f64]) -> Vec<CustomersAnswer> {
        let one = |answer: CustomersAnswer| vec![answer];
        match &self.form {
            Form::Mm1(station) => {
                let asked = Asked::one_server(station.rate, station.mean, Some(1.0));
                let tail = tails(times, |t| (station.wait_exceeds(t), station.response_exceeds(t)));
                let answer = queueing(&asked, station.measures());
                one(CustomersAnswer { tail, ..answer.spread(station.wait_second_moment()) })
            }
            Form::Md1(station) => {
                let asked = Asked::one_server(station.rate, station.mean, Some(0.0));
                let tail = tails(times, |t| (station.wait_exceeds(t), station.response_exceeds(t)));
                let answer = queueing(&asked, station.measures());
                one(CustomersAnswer { tail, ..answer.spread(station.wait_second_moment()) })
            }
            Form::Mg1 { station, third_moment } => {
                let scv = self.parameter("service_scv");
                let answer =
                    queueing(&Asked::one_server(station.rate, station.service.mean, scv), station.measures());
                one(match third_moment {
                    Some(third) => answer.spread(station.wait_second_moment(*third)),
                    None => answer,
                })
            }
            Form::Vacations(station) => {
                let scv = self.parameter("service_scv");
                let asked = Asked::one_server(station.rate, station.service.mean, scv);
                let answer = queueing(&asked, station.measures());
                let wait_probability = answer.wait_probability.map(|_| 1.0);
                one(CustomersAnswer { wait_probability, ..answer })
            }
            Form::Mm1K(station) => {
                let asked = Asked::one_server(station.rate, station.mean, Some(1.0));
                // who is let in finds what there would be with one place less
                let found = (station.capacity > 1)
                    .then(|| Mm1K { capacity: station.capacity - 1, ..*station }.utilization());
                let answer = lossy(&asked, station.measures());
                one(CustomersAnswer { wait_probability: Some(found.unwrap_or(0.0)), ..answer })
            }
            Form::MmC(station) => {
                let servers = f64::from(station.servers);
                let asked = Asked { rate: station.rate, mean: station.mean, scv: Some(1.0), servers };
                let tail = tails(times, |t| (station.wait_exceeds(t), station.response_exceeds(t)));
                let answer = queueing(&asked, station.measures()).spread(station.wait_second_moment());
                let wait_probability = station.wait_probability().reached();
                one(CustomersAnswer { tail, wait_probability, ..answer })
            }
            Form::ErlangB(station) => {
                let servers = f64::from(station.servers);
                let asked = Asked { rate: station.rate, mean: station.mean, scv: None, servers };
                one(lossy(&asked, station.measures()))
            }
            Form::Engset(station) => {
                let (measures, servers) = (station.measures(), f64::from(station.servers));
                let asked = Asked { rate: measures.arrival_rate, mean: station.mean, scv: None, servers };
                one(lossy(&asked, measures))
            }
            Form::NonPreemptive(station) => self.non_preemptive(station),
            Form::PreemptiveResume(station) => self.preemptive_resume(station),
            Form::ProcessorSharing(station) => {
                let asked = Asked::one_server(station.rate, station.mean, None);
                let answer = queueing(&asked, station.measures());
                one(CustomersAnswer { wait_probability: None, ..answer })
            }
            Form::DiscriminatorySharing(station) => self.discriminatory_sharing(station),
        }
    }

    fn non_preemptive(&self, station: &NonPreemptive) -> Vec<CustomersAnswer> {
        let busy = cumulated_loads(&station.classes).last().map_or(0.0, |load| load.min(1.0));
        let answers = self.by_priority(&station.classes, station.measures(), station.utilizations());
        let waits = |answer: CustomersAnswer| {
            let wait_probability = (!answer.saturated).then_some(busy);
            CustomersAnswer { wait_probability, ..answer }
        };
        answers.map(waits).collect()
    }

    fn preemptive_resume(&self, station: &PreemptiveResume) -> Vec<CustomersAnswer> {
        let answers = self.by_priority(&station.classes, station.measures(), station.utilizations());
        let with = |(answer, before): (CustomersAnswer, Steady<f64>)| CustomersAnswer {
            mean_wait_before_service_cycles: before.reached(),
            ..answer
        };
        answers.zip(station.waits_before_service()).map(with).collect()
    }

    fn discriminatory_sharing(&self, station: &DiscriminatorySharing) -> Vec<CustomersAnswer> {
        let load = station.load();
        let answer = |((class, means), named): ((&super::Sharer, Steady<Measures>), &Named)| {
            let asked = Asked::one_server(class.rate, class.mean, Some(1.0));
            let answer = queueing(&asked, means);
            // of what is too little for all, nobody can say who gets how much
            let shared = |own: Option<f64>| own.filter(|_| !answer.saturated);
            CustomersAnswer {
                name: named.name.clone(),
                load,
                weight: Some(class.weight),
                wait_probability: None,
                utilization: shared(answer.utilization),
                throughput_per_cycle: shared(answer.throughput_per_cycle),
                ..answer.clone()
            }
        };
        station.classes.iter().zip(station.measures()).zip(&self.named).map(answer).collect()
    }

    /// Answers of classes in order of priority.
    fn by_priority(
        &self,
        classes: &[super::Customers],
        means: Vec<Steady<Measures>>,
        utilizations: Vec<f64>,
    ) -> impl Iterator<Item = CustomersAnswer> {
        let loads = cumulated_loads(classes);
        let all = classes.iter().zip(means).zip(utilizations).zip(loads).zip(&self.named);
        all.map(|((((class, means), utilization), load), named)| {
            let answer = queueing(&Asked::one_server(class.rate, class.service.mean, named.scv), means);
            let served = if answer.saturated { utilization / class.service.mean } else { class.rate };
            CustomersAnswer {
                name: named.name.clone(),
                load,
                utilization: Some(utilization),
                throughput_per_cycle: Some(served),
                wait_probability: None,
                ..answer
            }
        })
    }

    fn parameter(&self, field: &str) -> Option<f64> {
        self.parameters.iter().find(|(name, _)| *name == field).map(|(_, value)| *value)
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

/// All are let in; who finds all servers busy waits.
fn queueing(asked: &Asked, means: Steady<Measures>) -> CustomersAnswer {
    let load = asked.load();
    let steady = means.reached();
    let utilization = load.min(1.0);
    let throughput = if steady.is_some() { asked.rate } else { asked.servers / asked.mean };
    CustomersAnswer {
        name: "all".to_owned(),
        arrival_rate_per_cycle: asked.rate,
        mean_service_cycles: asked.mean,
        service_scv: asked.scv,
        weight: None,
        load,
        saturated: steady.is_none(),
        utilization: Some(utilization),
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
fn lossy(asked: &Asked, means: Measures) -> CustomersAnswer {
    CustomersAnswer {
        utilization: Some(means.utilization),
        throughput_per_cycle: Some(means.throughput),
        blocking_probability: means.blocking_probability,
        wait_probability: Some(0.0),
        ..queueing(asked, Steady::Reached(means))
    }
}

impl CustomersAnswer {
    /// With the standard deviation that follows from the second moment of the wait.
    fn spread(self, second_moment: Steady<f64>) -> Self {
        let variance = second_moment.reached().zip(self.mean_wait_cycles);
        let deviation = variance.map(|(second, wait)| (second - wait * wait).max(0.0).sqrt());
        Self { wait_standard_deviation_cycles: deviation, ..self }
    }
}

fn tails(times: &[f64], exceeds: impl Fn(f64) -> (Steady<f64>, Steady<f64>)) -> Vec<TailAnswer> {
    let at = |time: &f64| {
        let (wait, response) = exceeds(*time);
        TailAnswer {
            time_cycles: *time,
            wait_exceeds_probability: wait.reached(),
            response_exceeds_probability: response.reached(),
        }
    };
    times.iter().map(at).collect()
}

#[cfg(test)]
mod tests;
