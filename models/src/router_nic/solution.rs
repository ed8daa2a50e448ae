//! From the phases of a scenario to an [`Answer`].

use super::problem::{Class, NetworkLatency, Problem};
use super::{ExcessLaw, InterfaceLatency, Phase, Saturated, phase_records};
use crate::answer::{Answer, ClassAnswer, Report, Saturation, TimesAnswer};
use crate::fixed_point;
use crate::model::{Model, Options};
use flitwise_language::quantity::Quantity;
use flitwise_language::scenario::{FrameDeadline, RunPhase, Scenario, UnitsSpec};
use flitwise_language::section::{Cell, Layout, Section, Sections};

/// What this model has not.
pub(crate) const LACKS: [Quantity; 11] = [
    Quantity::Blocking,
    Quantity::Sharing,
    Quantity::Input,
    Quantity::Arbitration,
    Quantity::Output,
    Quantity::Gaps,
    Quantity::BlockingProbability,
    Quantity::BlockingLength,
    Quantity::CyclesPerFlit,
    Quantity::RouterLoad,
    Quantity::AcceptedRate,
];

/// What changes nothing in an answer.
const IDLE: &str = "router.scheduler (which of the fine-grained ones), router.buffer_flits, router.output_lanes, \
                    interface.buffer: they change nothing here. Buffers are taken to hold a message, and dummy flits \
                    are left out";

/// Steps of the search for a load of saturation: 1e-9 of it.
const SEARCH_STEPS: u32 = 40;
/// Factor on all loads up to which saturation is looked for.
const MOST_FACTOR: f64 = 1e6;

/// A phase and what becomes of it.
struct PhaseSolution {
    /// Share of real time, where a mix has one.
    share: Option<f64>,
    /// From its beginning to its end \[cycles\].
    duration: f64,
    problem: Problem,
    /// In the order of the problem's classes.
    latencies: Vec<Result<NetworkLatency, Saturated>>,
    end_to_end: Option<Vec<Result<InterfaceLatency, Saturated>>>,
}

impl PhaseSolution {
    fn new(scenario: &Scenario, duration: f64) -> Self {
        let problem = Problem::new(scenario);
        let (latencies, end_to_end) = solved(&problem);
        let share = scenario.spec().phases.first().and_then(|phase| phase.real_time_share);
        Self { share, duration, problem, latencies, end_to_end }
    }

    /// A class of the scenario, if it sends in this phase, and its place among those that do.
    fn class(&self, place: usize) -> Option<(usize, &Class)> {
        self.problem.classes.iter().enumerate().find(|(_, class)| class.place == place)
    }

    /// What saturates a class, if anything does: on its way or at the interface.
    fn saturated(&self, at: usize) -> Option<Saturated> {
        let of_interface = self.end_to_end.as_ref().and_then(|all| all[at].err());
        self.latencies[at].err().or(of_interface)
    }
}

impl PhaseSolution {
    /// By how much frames of a class come later than the earliest possible, and how long their last message takes then
    /// \[cycles\]; `None` where it saturates. That message has half the flits on average.
    ///
    /// The larger part of what it waits, in front of the link or behind it, is taken as exponential where another
    /// message is met, the smaller one as its mean.
    fn frames_late(&self, at: usize, class: &Class) -> Option<(ExcessLaw, f64)> {
        let latency = self.latencies[at].as_ref().ok().filter(|_| self.saturated(at).is_none())?;
        let problem = &self.problem;
        let host = self.end_to_end.as_ref().and_then(|all| all[at].as_ref().ok());
        let waited =
            host.map_or(0.0, |host| host.total() - host.network - problem.host_time(class.message_flits));
        let before = waited + latency.link_wait;
        let behind = latency.excess + latency.waiting - 1.0 - latency.link_wait;
        let (most, met) = (f64::max(before, behind), problem.load_in_front());
        let law = if (problem.is_traditional || before > behind) && met > 0.0 {
            // of one queue: met as often as it is busy
            ExcessLaw { met: met.min(1.0), mean: most / met.min(1.0) }
        } else {
            ExcessLaw::new(most, class.load)
        };
        let last = class.message_flits.midpoint(1.0);
        let alone = latency.transfer - class.message_flits + last + problem.host_time(last);
        Some((law, 1.0 + alone + f64::min(before, behind)))
    }
}

type Latencies = (Vec<Result<NetworkLatency, Saturated>>, Option<Vec<Result<InterfaceLatency, Saturated>>>);

fn solved(problem: &Problem) -> Latencies {
    let mut latencies: Vec<_> = problem.classes.iter().map(|class| problem.latency(class)).collect();
    let end_to_end = problem.end_to_end(&mut latencies);
    (latencies, end_to_end)
}

pub(super) fn answer(scenario: &Scenario, options: &Options) -> Answer {
    let phases = scenario.phases();
    let solutions: Vec<PhaseSolution> = if phases.is_empty() {
        vec![PhaseSolution::new(scenario, 1.0)]
    } else {
        let solved = |phase: &RunPhase| PhaseSolution::new(&phase.scenario, phase.ends - phase.begins);
        phases.iter().map(solved).collect()
    };
    let classes: Vec<ClassAnswer> = (0..scenario.classes().len())
        .map(|place| class_answer(scenario, place, &solutions, options))
        .collect();
    let mut notes = Vec::new();
    notes.extend(overloads(&solutions));
    let has_ratchet =
        scenario.classes().iter().any(|class| class.frame_deadline.contains(&FrameDeadline::Ratchet));
    if has_ratchet {
        notes.push(super::RECORDS.to_owned());
    }
    notes.push(IDLE.to_owned());
    if scenario.router().block_flits > 1 && scenario.topology().routers() > 1 {
        notes.push(
            "router.block_flits: what blocks cost is known of a single router, and taken for this network"
                .into(),
        );
    }
    let first = if phases.is_empty() {
        deadlines(scenario, &solutions)
    } else {
        Some(phase_rows(scenario, &solutions))
    };
    let sections = first.into_iter().chain(stations(&solutions));
    Answer {
        model: Model::RouterNic,
        scenario: scenario.spec().clone(),
        report: Report::new(fixed_point::Report::default(), options.details),
        saturated: classes.iter().any(|class| class.saturated),
        classes,
        validity: None,
        sections: Sections(sections.collect()),
        notes,
    }
}

/// A class in the phases in which it sends.
struct Sending<'s> {
    /// A phase, and the class with its place there.
    phases: Vec<(&'s PhaseSolution, usize, &'s Class)>,
}

impl<'s> Sending<'s> {
    fn new(place: usize, solutions: &'s [PhaseSolution]) -> Self {
        let phase = |phase: &'s PhaseSolution| phase.class(place).map(|(at, class)| (phase, at, class));
        Self { phases: solutions.iter().filter_map(phase).collect() }
    }

    /// Mean over all messages of the run; `None` where a phase has none.
    fn mean(&self, of: impl Fn(&PhaseSolution, usize) -> Option<f64>) -> Option<f64> {
        let (mut sum, mut all) = (0.0, 0.0);
        for (phase, at, class) in &self.phases {
            let messages = phase.duration * class.rate;
            sum += messages * of(phase, *at)?;
            all += messages;
        }
        Some(sum / all)
    }

    fn network(&self, of: fn(&NetworkLatency) -> f64) -> Option<f64> {
        self.mean(|phase, at| phase.latencies[at].as_ref().ok().map(of))
    }

    fn interface(&self, of: fn(&InterfaceLatency) -> f64) -> Option<f64> {
        self.mean(|phase, at| phase.end_to_end.as_ref()?[at].as_ref().ok().map(of))
    }

    /// Mean load over time \[flits/cycle\].
    fn load(&self) -> f64 {
        let sum = |of: fn(&PhaseSolution, &Class) -> f64| -> f64 {
            self.phases.iter().map(|(phase, _, class)| of(phase, class)).sum()
        };
        sum(|phase, class| phase.duration * class.load) / sum(|phase, _| phase.duration)
    }
}

/// Means of a class over all messages of a run; of none that saturates in a phase.
fn class_answer(
    scenario: &Scenario,
    place: usize,
    solutions: &[PhaseSolution],
    options: &Options,
) -> ClassAnswer {
    let spec = &scenario.classes()[place];
    let mut answer = ClassAnswer::of(spec);
    for lack in LACKS {
        let because = "a quantity that the router-nic model does not have";
        answer.reasons.insert(lack.field().to_owned(), because.to_owned());
    }
    answer.set_distributions(spec, Err("the router-nic model has means of latencies, no distribution"));
    let sending = Sending::new(place, solutions);
    if sending.phases.is_empty() {
        answer.lacks_means("its rate is 0: the router-nic model answers for classes that send");
        return answer;
    }
    answer.utilization = Some(sending.load());
    let saturated = sending.phases.iter().find_map(|(phase, at, _)| Some((*phase, phase.saturated(*at)?)));
    let Some((phase, why)) = saturated else {
        set_latencies(&sending, scenario, &mut answer);
        return answer;
    };
    let within = phase.share.filter(|_| solutions.len() > 1);
    let within = within.map_or(String::new(), |share| format!(" at a real-time share of {share}"));
    let because = format!("{why}{within}");
    answer.lacks_means(&format!("saturated: {because}"));
    answer.reasons.remove(Quantity::Utilization.field());
    answer.saturated = true;
    let mut saturation = Saturation::new(why.part.described(), because);
    if options.saturation_loads {
        let factor = saturation_factor(place, solutions);
        saturation.set_load(factor.ok_or("no load was found at which it saturates"), spec.rate);
    }
    answer.saturation = Some(saturation);
    answer
}

/// Latencies of a class that has a steady state in all phases, and their parts.
fn set_latencies(sending: &Sending<'_>, scenario: &Scenario, answer: &mut ClassAnswer) {
    answer.transfer_cycles = sending.network(|one| one.transfer);
    answer.network_latency_cycles = sending.network(|one| one.transfer + one.excess);
    answer.source_load = sending.network(|one| one.held_share);
    // behind a host bus all that comes before the header's entry is waiting
    let host = sending.interface(before_the_wire).unwrap_or(0.0);
    let at_wire = sending.network(|one| one.waiting);
    answer.waiting_cycles = at_wire.map(|waiting| waiting + host);
    answer.total_latency_cycles =
        answer.network_latency_cycles.zip(answer.waiting_cycles).map(|(network, waiting)| network + waiting);
    let (send_setup, means) = (sending.interface(|one| one.send_setup), answer.means.clone());
    answer.means = means.with_interfaces(|quantity| match quantity {
        Quantity::EndToEndLatency => sending.interface(InterfaceLatency::total),
        Quantity::Doorbell => sending.interface(|one| one.firmware),
        Quantity::HostBus => sending.interface(|one| one.send_bus),
        Quantity::Wire => Some(send_setup? + at_wire?),
        Quantity::Receive => sending.interface(|one| one.receive_bus),
        _ => None,
    });
    let cycle_ns = scenario.spec().units.as_ref().and_then(UnitsSpec::cycle_ns);
    answer.times = cycle_ns.and_then(|ns| {
        let us = |cycles: Option<f64>| Some(cycles? * ns / 1e3);
        Some(TimesAnswer {
            network_latency_us: us(answer.network_latency_cycles)?,
            waiting_us: us(answer.waiting_cycles)?,
            total_latency_us: us(answer.total_latency_cycles)?,
        })
    });
}

/// The factor on all loads at which a class saturates in the first of the phases.
fn saturation_factor(place: usize, solutions: &[PhaseSolution]) -> Option<f64> {
    let is_saturated = |factor: f64| {
        solutions.iter().any(|phase| {
            let Some((at, _)) = phase.class(place) else { return false };
            let problem = phase.problem.scaled(factor);
            let (latencies, end_to_end) = solved(&problem);
            latencies[at].is_err() || end_to_end.is_some_and(|all| all[at].is_err())
        })
    };
    let (mut low, mut high) = (0.0, 1.0);
    while !is_saturated(high) {
        (low, high) = (high, 2.0 * high);
        if high > MOST_FACTOR {
            return None;
        }
    }
    for _ in 0..SEARCH_STEPS {
        let middle = (low + high) / 2.0;
        if is_saturated(middle) { high = middle } else { low = middle }
    }
    Some(high)
}

/// A row for each phase and class, with the fields of a simulated run.
fn phase_rows(scenario: &Scenario, solutions: &[PhaseSolution]) -> Section {
    let has_host = solutions.iter().any(|phase| phase.end_to_end.is_some());
    let misses = misses(scenario, solutions);
    let mut rules: Vec<&str> = Vec::new();
    for miss in &misses {
        if !rules.contains(&miss.rule.as_str()) {
            rules.push(&miss.rule);
        }
    }
    let mut section = Section::new("phases", "Phase by phase", Layout::Rows)
        .column("phase", "phase", "")
        .column("real_time_share", "share", "")
        .column("class", "class", "")
        .keyed()
        .column("offered_flits_per_cycle_node", "offered", "flits/cycle");
    let latencies = [Quantity::NetworkLatency, Quantity::Waiting, Quantity::TotalLatency];
    for quantity in latencies.iter().chain(&[Quantity::EndToEndLatency][..usize::from(has_host)]) {
        section = section.column(quantity.field(), quantity.head(), quantity.unit().word());
    }
    for rule in &rules {
        let head = rule.replace('_', " ");
        section = section
            .column(format!("{rule}_deadline_missing_probability"), format!("{head} missed"), "")
            .column(format!("{rule}_deadline_missing_time_cycles"), format!("{head} by"), "cycles");
    }
    section = section.column("saturated_by", "saturated by", "");
    for (number, phase) in solutions.iter().enumerate() {
        for (place, spec) in scenario.classes().iter().enumerate() {
            let Some((at, class)) = phase.class(place) else { continue };
            let latency = phase.latencies[at].as_ref().ok();
            let host = phase.end_to_end.as_ref().and_then(|all| all[at].as_ref().ok());
            let why = phase.saturated(at);
            let before = host.map_or(0.0, before_the_wire);
            let of = |number: Option<f64>| Cell::from(number.filter(|_| why.is_none()));
            let mut row: Vec<Cell> = vec![
                (number as u64 + 1).into(),
                phase.share.into(),
                spec.name.as_str().into(),
                class.load.into(),
                of(latency.map(|one| one.transfer + one.excess)),
                of(latency.map(|one| one.waiting + before)),
                of(latency.map(|one| one.total() + before)),
            ];
            if has_host {
                row.push(of(host.map(InterfaceLatency::total)));
            }
            for rule in &rules {
                let is_it = |miss: &&Miss| miss.class == place && miss.phase == number && miss.rule == *rule;
                let found = misses.iter().find(is_it);
                row.push(found.and_then(|miss| miss.probability).into());
                row.push(found.and_then(|miss| miss.time).into());
            }
            row.push(why.map(|why| why.part.described()).into());
            section.rows.push(row);
        }
    }
    section
}

/// What a message spends at the interface of its sender before it is given to the link \[cycles\].
fn before_the_wire(host: &InterfaceLatency) -> f64 {
    host.firmware + host.send_bus + host.send_setup
}

/// Frames of a class that miss their deadline in a phase.
struct Miss {
    class: usize,
    phase: usize,
    /// Such as `ratchet` or `playout_1250`.
    rule: String,
    probability: Option<f64>,
    /// By how much \[cycles\].
    time: Option<f64>,
}

/// Frames that miss their deadlines, up to the first phase in which their class saturates: later deadlines are those of
/// late frames.
fn misses(scenario: &Scenario, solutions: &[PhaseSolution]) -> Vec<Miss> {
    let mut misses = Vec::new();
    let classes = scenario.classes().iter().enumerate().filter(|(_, class)| !class.frame_deadline.is_empty());
    for (place, spec) in classes {
        let Some(interval) = scenario.frames(place).map(|frames| frames.interval) else { continue };
        let steady = solutions.iter().map_while(|phase| {
            let (at, class) = phase.class(place)?;
            let (law, idle) = phase.frames_late(at, class)?;
            let frames = (phase.duration / interval).round() as u32;
            Some((Phase { law, frames }, idle))
        });
        let (phases, idle): (Vec<Phase>, Vec<f64>) = steady.unzip();
        let records = phase_records(&phases);
        let is_run = !scenario.spec().phases.is_empty();
        for (number, ((phase, idle), records)) in phases.iter().zip(&idle).zip(&records).enumerate() {
            let mut miss = |rule: String, probability, time| {
                misses.push(Miss { class: place, phase: number, rule, probability, time });
            };
            for rule in &spec.frame_deadline {
                match rule {
                    // a steady state has no number of frames
                    FrameDeadline::Ratchet if !is_run => {}
                    FrameDeadline::Ratchet => {
                        miss("ratchet".to_owned(), records.miss_probability(), records.missing_time);
                    }
                    FrameDeadline::Playout { delays } => {
                        for delay in delays {
                            // an exponential time is as long again whatever has passed
                            let time = (phase.law.mean > 0.0).then_some(phase.law.mean);
                            let missed = phase.law.playout_miss_probability(*delay, *idle);
                            miss(format!("playout_{delay}"), Some(missed), time);
                        }
                    }
                }
            }
        }
    }
    misses
}

/// Frames that miss their deadlines in a steady state.
fn deadlines(scenario: &Scenario, solutions: &[PhaseSolution]) -> Option<Section> {
    let mut section = Section::new("frame_deadlines", "Deadlines of frames", Layout::Rows)
        .column("class", "class", "")
        .column("rule", "rule", "")
        .column("deadline_missing_probability", "missed", "")
        .column("deadline_missing_time_cycles", "late by", "cycles");
    let row = |miss: Miss| {
        let name = scenario.classes()[miss.class].name.as_str();
        vec![name.into(), miss.rule.as_str().into(), miss.probability.into(), miss.time.into()]
    };
    section.rows = misses(scenario, solutions).into_iter().map(row).collect();
    (!section.rows.is_empty()).then_some(section)
}

/// Loads of the stations of interfaces behind a host bus.
fn stations(solutions: &[PhaseSolution]) -> Option<Section> {
    let mut section = Section::new("utilization", "Loads of interfaces", Layout::Rows)
        .column("phase", "phase", "")
        .column("firmware_utilization", "firmware", "")
        .column("bus_utilization", "host bus", "")
        .column("wire_utilization", "wire", "");
    for (number, phase) in solutions.iter().enumerate() {
        let loads = phase.problem.stations()?;
        let cells = [loads.firmware, loads.bus, loads.wire].map(Cell::from);
        section.rows.push(std::iter::once(Cell::from(number as u64 + 1)).chain(cells).collect());
    }
    Some(section)
}

/// Parts of interfaces that are asked for more than they do.
fn overloads(solutions: &[PhaseSolution]) -> Vec<String> {
    let mut notes = Vec::new();
    for (number, phase) in solutions.iter().enumerate() {
        let Some(loads) = phase.problem.stations() else { continue };
        let parts = [("firmware", loads.firmware), ("the host bus", loads.bus), ("the wire", loads.wire)];
        for (part, load) in parts.into_iter().filter(|(_, load)| *load >= 1.0) {
            let place = if solutions.len() > 1 { format!("phase {}: ", number + 1) } else { String::new() };
            notes.push(format!("[interface]: {place}{part} has a load of {load:.3}; it is full at 1"));
        }
    }
    notes
}
