//! Where an answer stands among the scenarios that were checked by simulation: what error to expect there.
//!
//! The errors are those of the held-out set, `flitwise verify --accuracy --format csv`: random scenarios that were
//! simulated for this table after the model had been chosen on others ([`super::accuracy`]). They are looked up by family of scenarios and
//! by load as a share of that at which the first class saturates.

use super::accuracy::{self, ErrorRow};
use crate::answer::{Answer, ExpectedError, ExpectedErrors, Validity};
use crate::scenario::{ClassKind, NetworkSpec, Scenario, Scheduler, SourceSpec};

/// The family of the random scenarios that a scenario is like.
fn family(scenario: &Scenario) -> &'static str {
    let bursts = scenario.classes().iter().any(|class| class.source != SourceSpec::Poisson);
    let other = scenario.router().scheduler != Scheduler::VirtualClock;
    let short = scenario.classes().iter().any(|class| class.message_flits > scenario.router().buffer_flits);
    let of = |router, cube| match scenario.network() {
        NetworkSpec::Router { .. } => router,
        NetworkSpec::Hypercube { .. } => cube,
    };
    match (bursts, other, short) {
        (true, ..) => of("router-on-off", "cube-on-off"),
        (false, true, _) => of("router-other-scheduler", "cube-other-scheduler"),
        (false, false, true) => of("router-short-buffer", "cube-short-buffer"),
        (false, false, false) => of("router", "cube"),
    }
}

/// In what a scenario lies outside all that was checked.
fn outside(scenario: &Scenario) -> Vec<String> {
    let mut outside = Vec::new();
    let mut within = |value: f64, (low, high): (f64, f64), what: &str| {
        if !(low..=high).contains(&value) {
            outside.push(format!("{what} {value}: checked from {low} to {high}"));
        }
    };
    match scenario.network() {
        NetworkSpec::Router { ports } => within(f64::from(ports), (2.0, 64.0), "ports"),
        NetworkSpec::Hypercube { dimension } => within(f64::from(dimension), (2.0, 8.0), "dimension"),
    }
    let router = scenario.router();
    within(f64::from(router.pipeline_stages), (3.0, 7.0), "pipeline stages");
    within(f64::from(router.buffer_flits), (4.0, 128.0), "buffer flits");
    for class in scenario.classes() {
        within(f64::from(class.message_flits), (8.0, 128.0), &format!("message flits of {}", class.name));
    }
    let real_time = scenario.classes().iter().filter(|class| class.kind == ClassKind::RealTime).count();
    within(real_time as f64, (0.0, 4.0), "real-time classes");
    outside
}

/// Load as a share of that at which a class saturates, by the load of its queue at the source: messages wait longer
/// the higher the load, so that the queue's load rises faster than the rates. In a lone class with head-of-line
/// blocking at 35, 65 and 85 % of saturation it is 0.23, 0.50 and 0.75.
fn share_of_saturation(source_load: f64) -> f64 {
    source_load.max(0.0).powf(0.7)
}

/// Puts the errors to expect into the answer.
pub(super) fn judge(scenario: &Scenario, answer: &mut Answer) {
    let family = family(scenario);
    let shares = answer.classes.iter().map(|class| match (class.saturated, class.source_load) {
        (true, _) => 1.0,
        (false, load) => share_of_saturation(load.unwrap_or(0.0)),
    });
    let share = shares.fold(0.0, f64::max);
    let mut outside = outside(scenario);
    let highest =
        accuracy::holdout().iter().filter_map(|row| row.load_share_of_saturation).fold(0.0, f64::max);
    if share > highest + 0.05 {
        outside.push(format!(
            "about {:.0} % of the saturation load: checked up to {:.0} %",
            share * 100.0,
            highest * 100.0
        ));
    }
    for class in &mut answer.classes {
        if class.saturated || class.network_latency_cycles.is_none() {
            continue;
        }
        // the lowest load checked that is not below this one, or the highest of all
        let kind = class.kind.word();
        let error = |quantity: &str| {
            let is_meant = |row: &&ErrorRow| (row.family, row.kind, row.quantity) == (family, kind, quantity);
            let of = accuracy::holdout().iter().filter(is_meant);
            let mut of: Vec<(f64, &ErrorRow)> =
                of.filter_map(|row| Some((row.load_share_of_saturation?, row))).collect();
            of.sort_by(|a, b| a.0.total_cmp(&b.0));
            let found = of.iter().find(|(load, _)| *load >= share).or(of.last());
            found.map(|(_, row)| ExpectedError { mean: row.mean, worst: row.worst.abs() })
        };
        class.expected_errors = Some(ExpectedErrors {
            network_latency_percent: error("network-latency"),
            waiting_percent: error("waiting"),
            total_latency_percent: error("total-latency"),
            miss_probability: error("miss-probability"),
        });
    }
    answer.validity =
        Some(Validity { family: family.to_owned(), load_share_of_saturation: share.min(1.0), outside });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Model, Options};
    use crate::scenario::ScenarioSpec;

    #[test]
    fn errors_grow_with_the_load_and_limits_are_named() {
        let at = |factor: f64, ports: u32| {
            let mut spec = ScenarioSpec { network: NetworkSpec::Router { ports }, ..ScenarioSpec::default() };
            spec.classes.iter_mut().for_each(|class| class.rate *= factor);
            Model::Refined.solve(&spec.check().unwrap(), &Options::default()).unwrap()
        };
        let error =
            |answer: &Answer| answer.classes[2].expected_errors.unwrap().waiting_percent.unwrap().mean;
        let (low, high) = (at(0.3, 16), at(1.0, 16));
        assert!(error(&low) < error(&high));
        assert!(high.validity.unwrap().outside.is_empty());
        assert!(at(0.3, 100).validity.unwrap().outside[0].starts_with("ports 100"));
    }
}
