//! From what was found to an [`Answer`]: names, reasons, notes.

use super::laws::Laws;
use super::solution::Solution;
use super::station::{Overload, Place};
use super::{Options, Parts, Problem, saturation};
use crate::answer::{Answer, ClassAnswer, Report, Saturation};
use crate::lattice::Distribution;
use crate::model::Model;
use crate::paths::ChannelLoads;
use flitwise_language::quantity::Quantity;
use flitwise_language::scenario::{ClassKind, Scenario};

/// What the published model has and this one has not.
pub(crate) const LACKS: [Quantity; 5] = [
    Quantity::BlockingProbability,
    Quantity::BlockingLength,
    Quantity::CyclesPerFlit,
    Quantity::RouterLoad,
    Quantity::AcceptedRate,
];

pub(super) fn answer(scenario: &Scenario, problem: &Problem, solved: Parts, options: &Options) -> Answer {
    let Parts { report, found, laws, work } = solved;
    let mut classes: Vec<ClassAnswer> = scenario.classes().iter().map(ClassAnswer::of).collect();
    for ((place, class), answer) in scenario.classes().iter().enumerate().zip(&mut classes) {
        match problem.places.iter().position(|active| *active == place) {
            None => silent(class, answer),
            Some(active) => match &found[active] {
                Ok(found) => {
                    self::found(class, found, answer);
                    let laws = laws.get(active).map(|laws| laws.as_ref().map_err(|because| *because));
                    let laws = laws.unwrap_or(Err("distributions were not asked for"));
                    distributions(class, laws, options, answer);
                }
                Err(overloaded) => {
                    full(class, *overloaded, answer);
                    name_bottleneck(scenario, place, *overloaded, answer);
                }
            },
        }
    }
    if options.saturation_loads {
        let saturated: Vec<usize> = (0..classes.len()).filter(|class| classes[*class].saturated).collect();
        for (class, factor) in saturated.iter().zip(saturation::load_factors(scenario, &saturated, work)) {
            if let Some(saturation) = &mut classes[*class].saturation {
                saturation.set_load(factor, scenario.classes()[*class].rate);
            }
        }
    }
    let saturated = classes.iter().any(|class| class.saturated);
    let mut notes = Vec::new();
    note_bursts(scenario, &mut notes);
    note_bottleneck(scenario, &mut notes);
    let small = scenario.small_buffers();
    notes.extend(
        small.map(|note| format!("{note}; messages of more flits take longer than the latencies tell")),
    );
    if saturated && classes.iter().any(|class| !class.saturated) {
        notes.push(
            "beside saturated classes the others are answered as if all of their messages came".to_owned(),
        );
    }
    Answer {
        model: Model::Refined,
        scenario: scenario.spec().clone(),
        report: Report::new(report, options.details),
        saturated,
        classes,
        validity: None,
        sections: Default::default(),
        notes,
    }
}

/// In meshes and tori channels differ, and where classes have destinations of their own: which is full first.
fn note_bottleneck(scenario: &Scenario, notes: &mut Vec<String>) {
    let network = scenario.topology();
    let is_uniform = (0..scenario.classes().len()).all(|class| scenario.is_uniform(class));
    if is_uniform && (network.routers() == 1 || network.as_hypercube().is_some()) {
        return;
    }
    notes.extend((0..scenario.classes().len()).filter_map(|class| scenario.fixed_points(class)));
    if let Some(bound) = ChannelLoads::of(scenario).bottleneck() {
        notes.push(format!(
            "the most loaded channel is the {} with {:.4} flits/cycle: it is full at {:.4} times these rates",
            bound.channel,
            bound.load,
            bound.at_load_factor()
        ));
    }
}

fn note_bursts(scenario: &Scenario, notes: &mut Vec<String>) {
    let bursty = |kind| {
        let of_kind = scenario.classes().iter().filter(move |class| class.kind == kind && class.rate > 0.0);
        of_kind.filter(|class| class.source.is_bursty()).count()
    };
    if bursty(ClassKind::RealTime) > 0
        && scenario.classes().iter().filter(|class| class.rate > 0.0).count() > 1
    {
        notes.push(
            "bursts of a class are followed in its own queue at the source, and by best effort at the same interface; \
             to others its messages come as from a Poisson source"
                .to_owned(),
        );
    }
}

/// A class that sends nothing.
fn silent(class: &flitwise_language::scenario::ClassSpec, answer: &mut ClassAnswer) {
    let because = "its rate is 0: the refined model answers for classes that send";
    answer.lacks_means(because);
    answer.set_distributions(class, Err(because));
}

fn found(class: &flitwise_language::scenario::ClassSpec, found: &Solution, answer: &mut ClassAnswer) {
    let latency = found.latency();
    answer.network_latency_cycles = Some(latency);
    answer.transfer_cycles = Some(found.transfer);
    answer.blocking_cycles = Some(found.input + found.arbitration);
    answer.sharing_cycles = Some(found.output + found.gaps);
    answer.input_cycles = Some(found.input);
    answer.arbitration_cycles = Some(found.arbitration);
    answer.output_cycles = Some(found.output);
    answer.gap_cycles = Some(found.gaps);
    answer.waiting_cycles = Some(found.waiting);
    answer.total_latency_cycles = Some(latency + found.waiting);
    answer.source_load = Some(found.source_load);
    answer.utilization = Some(found.rate * f64::from(class.message_flits));
    for quantity in LACKS {
        let field = quantity.field();
        answer.reasons.insert(field.to_owned(), "a quantity of the published model".to_owned());
    }
}

/// Deadlines and percentiles, by the laws of the class if they are asked for and there are any.
fn distributions(
    class: &flitwise_language::scenario::ClassSpec,
    laws: Result<&Laws, &str>,
    options: &Options,
    answer: &mut ClassAnswer,
) {
    let Laws { delays, unit } = match laws {
        Ok(laws) => laws,
        Err(because) => return answer.set_distributions(class, Err(because)),
    };
    let by_hops: Vec<Distribution> = delays.iter().map(|delays| delays.distribution(*unit)).collect();
    let all = Distribution::mixture(delays.iter().map(|delays| delays.share).zip(&by_hops));
    // those that cross no channel have no row
    let staying = delays.iter().filter(|delays| delays.hops == Some(0)).count();
    let has_hops = delays.iter().all(|delays| delays.hops.is_some());
    let by_hops = if has_hops { &by_hops[staying..] } else { &[] };
    answer.set_distributions(class, Ok((&all, by_hops)));
    if options.details {
        answer.show_distributions(&all, by_hops);
    }
}

/// A class without a steady state.
/// Where channels are told apart, the one that is full by its load alone.
fn name_bottleneck(scenario: &Scenario, class: usize, overloaded: Overload, answer: &mut ClassAnswer) {
    let is_uniform = (0..scenario.classes().len()).all(|class| scenario.is_uniform(class));
    if is_uniform || !matches!(overloaded.place, Place::Channel | Place::Ejection) {
        return;
    }
    let bound = ChannelLoads::of(scenario).bound(scenario, class).filter(|bound| bound.load >= 1.0);
    if let (Some(bound), Some(saturation)) = (bound, &mut answer.saturation) {
        saturation.bottleneck = format!("the {}", bound.channel);
        saturation.because = format!("the {} is offered {:.4} flits/cycle", bound.channel, bound.load);
    }
}

fn full(class: &flitwise_language::scenario::ClassSpec, overloaded: Overload, answer: &mut ClassAnswer) {
    let Overload { load, place } = overloaded;
    let bottleneck = match place {
        Place::Source => "the source queue with the input channel behind it",
        Place::Crossbar => "the virtual channel of an output",
        Place::Link => "an output link",
        Place::Channel => "a network channel",
        Place::Ejection => "an ejection link",
    };
    let because = format!("{bottleneck} has load {load:.4} (rate times time that each message holds it)");
    let missing = format!("saturated: {because}");
    answer.lacks_means(&missing);
    for quantity in LACKS {
        let field = quantity.field();
        answer.reasons.insert(field.to_owned(), "a quantity of the published model".to_owned());
    }
    answer.set_distributions(class, Err(&missing));
    answer.saturated = true;
    if place == Place::Source {
        answer.source_load = Some(load);
        answer.reasons.remove("source_load");
    }
    answer.saturation = Some(Saturation::new(bottleneck, because));
}
