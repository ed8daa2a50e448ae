//! Effective bisection over a sweep: what flows have of a link by the loads of their paths, and what packets measure.
//!
//! Curves are means over [`TRIALS`] random pairings of the nodes (Hoefler, Schneider, Lumsdaine, CLUSTER 2008). Markers
//! are the throughput of a few of these, simulated with every sender at the full rate of its link; the interval is that
//! of the mean over them.

use flitwise_experiment::statistics::{Batch, mean_of};
use flitwise_language::quantity::{Measure, Quantity};
use flitwise_language::scenario::{DestinationSpec, Scenario};
use flitwise_models::model::Refusal;
use flitwise_models::paths::{effective_bisection, supports_bisection};

use super::lines::{Lines, Point, Series};
use super::*;

/// Pairings whose mean is drawn as a curve.
const TRIALS: u32 = 300;
/// Pairings that are simulated, unless the figure says how many, and the most.
const USUAL_SIMULATED: u32 = 4;
const MOST_SIMULATED: u32 = 32;

/// Effective bisection over a sweep.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    x: Sweep,
    /// The number of the pairing.
    trial: Sweep,
    variants: Vec<Variant>,
}

impl FigureFile for Question {
    const WORD: &'static str = "bisection";
    const KEYS: &'static [&'static str] = &["x", "variant", "trials", "sources"];

    /// The curves are always there.
    fn sources() -> (&'static [Origin], Vec<Origin>) {
        (&[Origin::Simulation], Vec::new())
    }

    fn read(reading: &mut Reading<'_>, root: &Table<'_>, scenario: Option<&Scenario>) -> Option<Self> {
        let x = reading.sweep(root, "x");
        let variants = reading.variants(root);
        let trials = reading.reader.whole(root, "trials").unwrap_or(USUAL_SIMULATED);
        if !(2..=MOST_SIMULATED).contains(&trials) {
            reading.refuse(root, "trials", trials.to_string(), &format!("2 to {MOST_SIMULATED}"));
            return None;
        }
        let (scenario, x) = (scenario?, x?);
        let class = scenario.classes().first()?;
        let is_full = |class| scenario.switch().is_some() && scenario.offered_share(class) > 1.0 - 1e-6;
        if scenario.classes().len() > 1 || !is_full(0) || !is_bisection(scenario) {
            let found = "something else".to_owned();
            let wanted =
                "packet switches and one class, with rate = \"100 %\" and destination = { bisection = 1 }";
            reading.refuse(root, "scenario", found, wanted);
            return None;
        }
        let key = format!("class.{}.destination.bisection", class.name);
        let trial = x.along(key, (1..=trials).map(f64::from).collect());
        Some(Self { x, trial, variants })
    }
}

/// Whether the class sends between random halves.
fn is_bisection(scenario: &Scenario) -> bool {
    matches!(&scenario.classes()[0].destination, DestinationSpec::Paired(pairs) if pairs.bisection.is_some())
}

impl FigureKind for Question {
    fn points(&self) -> Vec<Spot<'_>> {
        let rows = self
            .variants
            .iter()
            .flat_map(|variant| self.trial.values.iter().map(move |trial| (variant, *trial)));
        let row = |(variant, trial)| {
            let spot =
                move |x: &f64| Spot { variant: Some(variant), at: vec![(&self.x, *x), (&self.trial, trial)] };
            self.x.values.iter().map(spot)
        };
        rows.flat_map(row).collect()
    }

    fn swept(&self) -> Option<&Sweep> {
        Some(&self.x)
    }

    fn rows(&self) -> Vec<String> {
        let row = |variant: &Variant, trial: &f64| match variant.label.as_str() {
            "" => format!("trial {trial}"),
            label => format!("{label}, trial {trial}"),
        };
        let of_variant =
            |variant| self.trial.values.iter().map(move |trial| row(variant, trial)).collect::<Vec<_>>();
        self.variants.iter().flat_map(of_variant).collect()
    }

    /// No model answers; the exact curves are the figure's own.
    fn is_settled(&self) -> bool {
        false
    }

    fn needs_no_model(&self) -> bool {
        true
    }

    fn content(&self, figure: &Figure, runs: Runs<'_>, notes: &mut Vec<Note>) -> Content {
        let (values, trials) = (&self.x.values, self.trial.values.len());
        let class = &figure.scenario().classes()[0].name;
        let mut series = Vec::new();
        for (style, variant) in self.variants.iter().enumerate() {
            let label = if variant.label.is_empty() { class } else { &variant.label };
            let at = |x: &f64| figure.at(Some(variant), &[(&self.x, *x)]).ok();
            let of = |origin, points| Series {
                label: label.clone(),
                panel: 0,
                style,
                variant: 0,
                origin,
                points,
                saturated_from: None,
            };
            let exact: Vec<Point> = values.iter().filter_map(|x| Some(exact(*x, &at(x)?))).collect();
            if exact.iter().any(|point| point.y.is_some()) {
                // packets of a flow may go ways of their own
                let is_drawn = values.iter().filter_map(at).any(|one| one.topology().drawn_ways() > 1);
                let label = if is_drawn { format!("{label}, a way for each flow") } else { label.clone() };
                series.push(Series { label, ..of(Origin::Exact, exact) });
            }
            if runs.simulations.is_empty() {
                continue;
            }
            let of_variant = &runs.simulations[style * trials * values.len()..][..trials * values.len()];
            let measured = values.iter().enumerate().filter_map(|(place, x)| {
                let each = of_variant.iter().skip(place).step_by(values.len());
                Some(measured(*x, &at(x)?, each))
            });
            series.push(of(Origin::Simulation, measured.collect()));
        }
        let trials = format!("curves are means over {TRIALS} random pairings, markers over {trials} of them");
        notes.push(Note { place: note::Place::default(), text: trials });
        Content::Lines(Lines {
            x: self.x.axis.clone(),
            y: Axis::of("bandwidth of a flow", "of a link"),
            y_range: Some((0.0, 1.0)),
            panels: Vec::new(),
            series,
            errors: Vec::new(),
            measured_as_curves: false,
            printed_by: None,
        })
    }
}

/// The effective bisection of the network of a scenario; no value where its switches choose.
fn exact(x: f64, scenario: &Scenario) -> Point {
    let network = scenario.topology();
    let both_ways = match &scenario.classes()[0].destination {
        DestinationSpec::Paired(pairs) => pairs.both_ways.unwrap_or(true),
        _ => true,
    };
    let found: Result<f64, Refusal> = supports_bisection(&*network, TRIALS).map(|()| {
        let each = effective_bisection(&*network, TRIALS, both_ways);
        each.iter().sum::<f64>() / each.len() as f64
    });
    Point { x, y: found.ok(), lower_95: None, upper_95: None, saturated: false }
}

/// Throughput of a sender as a share of its link, over all trials.
fn measured<'s>(x: f64, scenario: &Scenario, trials: impl Iterator<Item = &'s Simulation>) -> Point {
    let throughput = Measure { quantity: Quantity::Throughput, hops: None, deadline_cycles: None };
    // gigabits per second are bits per nanosecond
    let link = scenario.switch().map_or(1.0, |switch| switch.link_rate / 8.0);
    let all = link * scenario.senders(0).len().max(1) as f64;
    let share = |one: &Simulation| Some(one.classes.first()?.value(throughput)?.value / all);
    let each: Vec<Vec<Batch>> =
        trials.filter_map(share).map(|share| vec![Batch { count: 1, sum: share }]).collect();
    let found = mean_of(&each);
    let width = found.as_ref().and_then(|found| found.half_width_95);
    let mean = found.map(|found| found.mean);
    let end = |sign: f64| Some(mean? + sign * width?);
    Point { x, y: mean, lower_95: end(-1.0), upper_95: end(1.0), saturated: false }
}

#[cfg(test)]
mod tests {
    use flitwise_experiment::Settings;

    use super::super::tests::simulated;
    use super::*;

    const FIGURE: &str = "title = \"t\"\nkind = \"bisection\"\ntrials = 3\nsources = [\"simulation\"]\n[scenario]\n\
        network = { topology = \"fat-tree\", levels = 2, radix = 4 }\nswitch = { organisation = \"one-queue\" }\n\
        measure = { warm_up = \"5 us\", end = \"25 us\" }\n\
        class = [{ name = \"all\", rate = \"100 %\", destination = { bisection = 1 } }]\n\
        [x]\nkey = \"network.radix\"\nvalues = [4, 6]\n[[variant]]\nlabel = \"fixed\"\n[[variant]]\n\
        label = \"chosen\"\nset = { \"network.routing\" = \"adaptive-up\" }\n";

    fn figure(text: &str) -> Result<Figure, Vec<Fault>> {
        Figure::from_toml("t.toml", text, "t", &|_| unreachable!("no file is named"))
    }

    /// Curves where paths are fixed; markers of both, below one, and packets get no more than paths allow.
    #[test]
    fn measured_bandwidth_is_beside_that_of_paths() {
        let figure = figure(FIGURE).unwrap();
        let settings = Settings { replications: Some(2), ..Settings::default() };
        let picture = figure.picture(&simulated(&figure, &settings));
        let Content::Lines(lines) = &picture.content else { panic!("{picture:?}") };
        let found: Vec<_> = lines.series.iter().map(|one| (one.label.as_str(), one.origin)).collect();
        let (exact, simulation) = (Origin::Exact, Origin::Simulation);
        assert_eq!(found, [("fixed", exact), ("fixed", simulation), ("chosen", simulation)]);
        for (place, x) in [4.0, 6.0].into_iter().enumerate() {
            let values = lines.series.iter().map(|series| series.points[place]);
            let values: Vec<f64> =
                values.map(|point| (point.x == x).then_some(point.y.unwrap()).unwrap()).collect();
            assert!(values.iter().all(|value| (0.3..1.0).contains(value)), "{values:?}");
            assert!(values[1] < values[0] + 0.1, "{values:?}");
        }
        assert_eq!(figure.place_words(0), "network.radix 4 (fixed, trial 1)");
    }

    #[test]
    fn what_is_no_bisection_is_refused() {
        for (from, to, key) in [
            ("destination = { bisection = 1 }", "destination = \"uniform\"", "scenario"),
            ("rate = \"100 %\"", "rate = \"50 %\"", "scenario"),
            ("trials = 3", "trials = 1", "trials"),
            ("trials = 3", "trials = 33", "trials"),
        ] {
            let faults = figure(&FIGURE.replace(from, to)).unwrap_err();
            assert!(faults.iter().any(|fault| fault.key == key), "{to}: {faults:?}");
        }
    }
}
