//! From a scenario to an [`Answer`].

use super::closed_network::{Chain, ClosedNetwork};
use super::connections::{Admitted, admit};
use super::lane_shares;
use super::latency::{Credits, Latencies, posting};
use super::power::{Accounts, Power};
use super::problem::{Class, Loads, Problem};
use super::record_law::{deadline_missing_probability, measured_frames};
use super::windows::{InjectionQueue, saturated_interface_time};
use crate::answer::{Answer, ClassAnswer, Report, Saturation, TimesAnswer};
use crate::fixed_point;
use crate::model::{Model, Options};
use flitwise_language::quantity::Quantity;
use flitwise_language::scenario::{
    ClassKind, CompletionQueues, CongestionControl, CreditReturn, FrameDeadline, PowerControl, Restore,
    Scenario, UnitsSpec,
};
use flitwise_language::section::{Cell, Layout, Section, Sections};

/// What this model has not.
pub(crate) const LACKS: [Quantity; 12] = [
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
    Quantity::SourceLoad,
    Quantity::Margin,
];

/// What changes nothing in an answer.
const IDLE: &str = "virtual_channels without connections, vtick, interface.injection, connections.spread, \
                    connections.on without [power], congestion.real_time_drop, include_interface, gather, raise, \
                    lower and initial, power.epoch and spare_factor: they change nothing here. Lanes are taken to be \
                    many enough, and messages of connections are none dropped";

/// What to know of every deadline that follows the latest frame.
const RECORDS: &str = "frame_deadline: a ratchet is missed by records, (H_n - 1) / (n - 1) of n frames of a stream \
                       whatever the network; [measure] with an end says how many there are. The model has no law of \
                       delays, so no share of frames behind a playout delay and no time by which they are late";

/// Why there is no number of power where nothing else is the matter.
const NO_POWER: &str = "there is no budget, or what saturated classes leave to others is not known";

/// Why a level is saturated.
#[derive(Clone, Debug)]
struct Overload {
    bottleneck: String,
    because: String,
    /// On all rates.
    factor: f64,
    /// Whether the network is full, not the interface alone.
    is_network: bool,
    /// Of credits returned at delivery: from posting until the credit is back \[cycles\].
    posted: Option<f64>,
}

/// A scenario, solved.
struct Solution<'s> {
    scenario: &'s Scenario,
    problem: Problem,
    loads: Loads,
    /// By class.
    admitted: Vec<Option<Admitted>>,
    /// By level.
    overloads: [Option<Overload>; 3],
    power: Option<Power>,
    notes: Vec<String>,
}

impl<'s> Solution<'s> {
    fn new(scenario: &'s Scenario) -> Self {
        let (mut problem, mut notes) = (Problem::new(scenario), Vec::new());
        let mut admitted = Vec::new();
        for (place, class) in scenario.classes().iter().enumerate() {
            let found = class.connections.map(|_| admit(scenario, &mut problem, place));
            admitted.push(match found {
                Some(Err(because)) => {
                    notes.push(format!(
                        "[admission]: no share of refused connections of {}: {because}; loads and power are those \
                         of all of them",
                        class.name
                    ));
                    None
                }
                Some(Ok(admitted)) => Some(admitted),
                None => None,
            });
        }
        let mut overloads = [None, None, None];
        for (level, overload) in overloads.iter_mut().enumerate() {
            if level == ClassKind::BestEffort.level() {
                *overload = energy(scenario, &mut problem).or_else(|| windows(scenario, &mut problem));
            }
            let of_network = network(scenario, &mut problem, level);
            // the channel is full before the account is where both are
            *overload = of_network.or(overload.take());
        }
        let loads = problem.loads();
        let power = Power::of(scenario, &problem, &loads);
        Self { scenario, problem, loads, admitted, overloads, power, notes }
    }

    /// Whether more of a higher level is offered than gets through, so that what is left is not known.
    fn is_squeezed(&self, level: usize) -> bool {
        self.overloads[..level].iter().any(Option::is_some)
    }

    fn overload(&self, class: &Class) -> Option<&Overload> {
        self.overloads[class.kind.level()].as_ref().filter(|_| class.rate > 0.0)
    }
}

/// What fills a channel of a network with classes up to a level; they carry what fits then.
fn network(scenario: &Scenario, problem: &mut Problem, level: usize) -> Option<Overload> {
    let loads = problem.loads();
    let few = few_posted(scenario, problem, &loads, level);
    let left = few.map_or(1.0, |(_, lost)| 1.0 - lost);
    let factor = problem.largest_factor(&loads, level)? * left;
    if factor > 1.0 {
        return None;
    }
    problem.cut(level, factor);
    let fullest = problem.fullest(&loads, level)?;
    let own = loads[level][fullest.channel] / problem.capacities[fullest.channel];
    let (channel, load) = (problem.words(fullest.channel), fullest.used + own * (1.0 / left - 1.0));
    let behind = match few {
        Some((posted, lost)) if lost > 0.02 => format!(" behind interfaces with {posted} messages"),
        _ => String::new(),
    };
    Some(Overload {
        because: format!("{channel} is asked for {load:.4} of what it carries{behind}"),
        bottleneck: channel,
        factor: 1.0 / load,
        is_network: true,
        posted: None,
    })
}

/// Messages of best effort that an interface has posted at most, and the share of the throughput that is lost for it.
///
/// Sources whose messages all wait for the same full channel leave the others idle, fewer the more messages each has
/// posted. The form and both constants are fitted to saturated meshes of 4 x 2 to 8 x 8 nodes, within 2 % of them all.
///
/// ```text
/// 0.255 C^-0.6 / γ,   γ the load of the fullest channel for a load of 1 of each node
/// ```
fn few_posted(scenario: &Scenario, problem: &Problem, loads: &Loads, level: usize) -> Option<(u32, f64)> {
    let is_gated = level == ClassKind::BestEffort.level() && !problem.is_router();
    let class = problem.classes.iter().find(|class| class.kind.level() == level).filter(|_| is_gated)?;
    let room = scenario.channel_adapter()?.buffer_messages.unwrap_or(u32::MAX);
    let at_injection = Credits::of(scenario).filter(|credits| credits.back == CreditReturn::Injection);
    let sides = scenario.topology().sides();
    let posted = at_injection.map_or(room, |credits| {
        let queues = credits.shares(problem, class, &sides, 0).len() as u32;
        credits.each.saturating_mul(queues).min(room)
    });
    let (injected, network) = loads[level].split_at(problem.nodes as usize);
    let each = injected.iter().sum::<f64>() / problem.nodes;
    let greatest = network.iter().copied().fold(0.0, f64::max) / each;
    (greatest > 0.0 && greatest.is_finite())
        .then(|| (posted, (0.255 * f64::from(posted).powf(-0.6) / greatest).min(0.9)))
}

/// What empties accounts of energy.
fn energy(scenario: &Scenario, problem: &mut Problem) -> Option<Overload> {
    let accounts = Accounts::of(scenario)?;
    let place = problem.classes.iter().position(|class| class.kind == ClassKind::BestEffort)?;
    let class = &problem.classes[place];
    let shares: Vec<f64> = (0..class.senders.len())
        .map(|sender| match accounts.saturation(problem, class, sender) {
            Some(most) if class.rate > 0.0 => most / class.rate,
            _ => f64::INFINITY,
        })
        .collect();
    let factor = shares.iter().copied().fold(f64::INFINITY, f64::min);
    for route in &mut problem.classes[place].routes {
        route.carried *= shares[route.sender].min(1.0);
    }
    let short = shares.iter().filter(|share| **share <= 1.0).count();
    (short > 0).then(|| Overload {
        bottleneck: "energy account of the interface".to_owned(),
        because: format!(
            "accounts of {short} of {} interfaces pay for less than they are asked for",
            shares.len()
        ),
        factor,
        is_network: false,
        posted: None,
    })
}

/// What credits that are returned at delivery let through, all sources backlogged, if that is less than offered.
fn windows(scenario: &Scenario, problem: &mut Problem) -> Option<Overload> {
    let credits = Credits::of(scenario).filter(|credits| credits.back == CreditReturn::Delivery)?;
    let place = problem.classes.iter().position(|class| class.kind == ClassKind::BestEffort)?;
    let (class, loads) = (&problem.classes[place], problem.loads());
    let sides = scenario.topology().sides();
    let service = |(channel, capacity): (usize, &f64)| {
        let above = loads[0][channel] + loads[1][channel];
        class.flits / (capacity - above).max(1e-6)
    };
    let services = problem.capacities.iter().enumerate().map(service).collect();
    let chain = |sender: usize| {
        let queues = credits.shares(problem, class, &sides, sender).len() as f64;
        let (mut visits, mut alone) = (vec![0.0; problem.capacities.len()], credits.ack_delay);
        for route in class.routes.iter().filter(|route| route.sender == sender) {
            problem.path(route).channels.iter().for_each(|channel| visits[*channel] += route.share);
            alone += route.share * problem.alone(class, route);
        }
        let visits = visits.into_iter().enumerate().filter(|(_, visits)| *visits > 0.0).collect();
        Chain { packets: f64::from(credits.each) * queues, alone, visits }
    };
    let chains: Vec<Chain> = (0..class.senders.len()).map(chain).collect();
    let (flow, _) = ClosedNetwork { services, chains }.solve().ok()?;
    let shares: Vec<f64> = flow
        .throughputs
        .iter()
        .map(|most| if class.rate > 0.0 { most / class.rate } else { f64::INFINITY })
        .collect();
    let factor = shares.iter().copied().fold(f64::INFINITY, f64::min);
    let times = flow.times.iter().sum::<f64>() / (flow.times.len() as f64).max(1.0);
    (factor <= 1.0).then(|| {
        for route in &mut problem.classes[place].routes {
            route.carried *= shares[route.sender].min(1.0);
        }
        Overload {
            bottleneck: "credits that are returned at delivery".to_owned(),
            because: format!("a credit is back after {times:.1} cycles, with all of them taken"),
            factor,
            is_network: true,
            posted: Some(times - credits.ack_delay),
        }
    })
}

pub(super) fn answer(scenario: &Scenario, options: &Options) -> Answer {
    let solution = Solution::new(scenario);
    let latencies = Latencies::new(&solution.problem, &solution.loads);
    let classes: Vec<ClassAnswer> = (0..scenario.classes().len())
        .map(|place| class_answer(&solution, &latencies, place, options))
        .collect();
    let of_requests = solution.admitted.iter().flatten().filter_map(|admitted| admitted.report.clone());
    let report = of_requests.fold(fixed_point::Report::default(), fixed_point::Report::then);
    let lanes = lane_shares::section(scenario, &solution.problem, &solution.loads);
    let sections = [Some(flow(&solution)), lanes];
    let sections: Vec<Section> = sections.into_iter().flatten().collect();
    let is_known = !solution.is_squeezed(2);
    let of_power = solution.power.as_ref().filter(|_| is_known).map(|power| power.section.clone());
    Answer {
        model: Model::Admission,
        scenario: scenario.spec().clone(),
        report: Report::new(report, options.details),
        saturated: classes.iter().any(|class| class.saturated),
        classes,
        validity: None,
        sections: Sections(sections.into_iter().chain(of_power).collect()),
        notes: notes(&solution),
    }
}

fn notes(solution: &Solution<'_>) -> Vec<String> {
    let (scenario, mut notes) = (solution.scenario, solution.notes.clone());
    let spec = scenario.spec();
    if let Some(congestion) = spec.congestion {
        match congestion.control {
            CongestionControl::AtLeastOne | CongestionControl::SelfTuned => notes.push(format!(
                "congestion.control: the model has no number for {}; the answer is that without control",
                congestion.control.word()
            )),
            CongestionControl::Credit
                if congestion.return_at == CreditReturn::Delivery
                    && congestion.queues != CompletionQueues::Global =>
            {
                notes.push(
                    "congestion.queues: credits returned at delivery are taken as those of one queue".into(),
                );
            }
            _ => {}
        }
    }
    if let Some(power) = spec.power {
        match power.control {
            PowerControl::PowerHerd => notes.push(
                "power.control: the model has the load at which powerherd first stops a router, and nothing of what \
                 that costs; the answer is that without control"
                    .into(),
            ),
            PowerControl::Credit if power.restore == Restore::Arrival => {
                notes.push("power.restore: energy that comes back at arrival holds nothing back".into());
            }
            _ => {}
        }
    }
    if scenario.classes().iter().any(|class| !class.frame_deadline.is_empty()) {
        notes.push(RECORDS.to_owned());
    }
    notes.push(IDLE.to_owned());
    notes
}

/// Parts of the time in front of the network \[cycles\].
struct Before {
    posting: f64,
    queueing: f64,
    interface: f64,
}

/// None where a class saturates.
fn before(solution: &Solution<'_>, latencies: &Latencies<'_>, place: usize) -> Option<Before> {
    let (scenario, problem) = (solution.scenario, &solution.problem);
    let class = &problem.classes[place];
    let room = scenario.channel_adapter().and_then(|adapter| adapter.buffer_messages).unwrap_or(u32::MAX);
    let is_gated = class.kind == ClassKind::BestEffort;
    let credits = Credits::of(scenario).filter(|one| is_gated && one.back == CreditReturn::Injection);
    let accounts = Accounts::of(scenario).filter(|_| is_gated);
    let sides = scenario.topology().sides();
    let (mut for_credits, mut for_energy) = (0.0, 0.0);
    let senders = (class.senders.len() as f64).max(1.0);
    for (sender, node) in class.senders.iter().enumerate() {
        let load: f64 = solution.loads[..=class.kind.level()].iter().map(|loads| loads[*node as usize]).sum();
        let queue = InjectionQueue { message_flits: class.flits, load };
        for_credits += match &credits {
            Some(credits) => {
                posting(queue, credits.each.min(room), &credits.shares(problem, class, &sides, sender))?
            }
            None => posting(queue, room, &[1.0])?,
        };
        for_energy += accounts.as_ref().map_or(Some(0.0), |one| one.posting(problem, class, sender))?;
    }
    let (for_credits, for_energy) = (for_credits / senders, for_energy / senders);
    let wait = latencies.source_wait(class)?;
    let queueing = 1.0 + (wait - for_credits).max(0.0);
    let interface = queueing + class.flits - 1.0 + latencies.held_back(class)?;
    Some(Before { posting: for_credits + for_energy, queueing, interface })
}

fn class_answer(
    solution: &Solution<'_>,
    latencies: &Latencies<'_>,
    place: usize,
    options: &Options,
) -> ClassAnswer {
    let (spec, class) = (&solution.scenario.classes()[place], &solution.problem.classes[place]);
    let overload = solution.overload(class);
    let mut answer = ClassAnswer::of(spec);
    answer.set_distributions(spec, Err("the admission model has means of latencies, no distribution"));
    set_groups(solution, place, &mut answer);
    answer.transfer_cycles = class.mean(|route| Some(solution.problem.alone(class, route)));
    let excess = latencies.excess(class);
    answer.network_latency_cycles =
        answer.transfer_cycles.zip(excess).map(|(transfer, excess)| transfer + excess);
    if !solution.is_squeezed(class.kind.level()) {
        let carried = class.carried_rate();
        answer.accepted_rate_messages_per_cycle = Some(carried);
        answer.utilization = Some(carried * class.flits);
    }
    let before = before(solution, latencies, place).filter(|_| overload.is_none());
    set_times(solution, place, before.as_ref(), &mut answer);
    let because = match overload {
        Some(overload) => format!("saturated: {}", overload.because),
        None if solution.is_squeezed(class.kind.level()) => {
            "what saturated classes above it leave is not known".to_owned()
        }
        None => "a channel on the way is full".to_owned(),
    };
    for quantity in Quantity::MEANS.iter().filter(|quantity| !quantity.is_by_place()) {
        if answer.means.get(*quantity).is_none() {
            let is_lacked = LACKS.contains(quantity);
            let lack = "a quantity that the admission model does not have";
            let because = if is_lacked { lack } else { because.as_str() };
            answer.reasons.insert(quantity.field().to_owned(), because.to_owned());
        }
    }
    if let Some(overload) = overload {
        answer.saturated = true;
        let mut saturation = Saturation::new(&overload.bottleneck, &overload.because);
        if options.saturation_loads {
            saturation.set_load(Ok(overload.factor), spec.rate);
        }
        answer.saturation = Some(saturation);
    }
    answer
}

/// Waiting and its parts, and all together.
fn set_times(solution: &Solution<'_>, place: usize, before: Option<&Before>, answer: &mut ClassAnswer) {
    let class = &solution.problem.classes[place];
    let network = answer.network_latency_cycles;
    answer.waiting_cycles = before.map(|before| before.posting + before.queueing);
    answer.total_latency_cycles =
        network.zip(answer.waiting_cycles).map(|(network, waiting)| network + waiting);
    let overload = solution.overload(class);
    let posted = overload.and_then(|overload| overload.posted);
    let in_interface = overload.filter(|one| one.is_network && one.posted.is_none()).and_then(|_| {
        let credits = Credits::of(solution.scenario)
            .filter(|one| one.back == CreditReturn::Injection && one.queues == CompletionQueues::Global)?;
        saturated_interface_time(credits.each, class.flits, class.carried_rate() * class.flits)
    });
    if solution.scenario.channel_adapter().is_some() {
        let means = answer.means.clone();
        answer.means = means.with_adapters(|quantity| match quantity {
            Quantity::PostingDelay => before.map(|before| before.posting),
            Quantity::QueueingDelay => before.map(|before| before.queueing),
            Quantity::PostedLatency => {
                before.zip(network).map(|(before, network)| before.queueing + network).or(posted)
            }
            Quantity::InterfaceTime => before.map(|before| before.interface).or(in_interface),
            _ => None,
        });
    }
    let cycle_ns = solution.scenario.spec().units.as_ref().and_then(UnitsSpec::cycle_ns);
    answer.times = cycle_ns.and_then(|ns| {
        let us = |cycles: Option<f64>| Some(cycles? * ns / 1e3);
        Some(TimesAnswer {
            network_latency_us: us(answer.network_latency_cycles)?,
            waiting_us: us(answer.waiting_cycles)?,
            total_latency_us: us(answer.total_latency_cycles)?,
        })
    });
}

/// Connections, power and frames.
fn set_groups(solution: &Solution<'_>, place: usize, answer: &mut ClassAnswer) {
    let admitted = solution.admitted[place].as_ref();
    let frames = solution.scenario.frames(place);
    let is_stopped = solution.power.as_ref().is_some_and(|power| power.is_stopped);
    let power = solution.power.as_ref().filter(|_| !solution.is_squeezed(2) && !is_stopped);
    let means = answer.means.clone();
    answer.means = means
        .with_connections(|quantity| match quantity {
            Quantity::RejectedShare => Some(admitted?.rejected),
            Quantity::ConnectionSetUp => admitted?.set_up,
            Quantity::ConnectionsHeld => Some(admitted?.held),
            _ => None,
        })
        .with_power(|quantity| match quantity {
            Quantity::Power => Some(power?.mean),
            Quantity::PowerDeviation => Some(power?.deviation),
            Quantity::PowerViolations => power?.violations,
            _ => None,
        })
        .with_frame_deadlines(|quantity| match quantity {
            Quantity::RatchetMisses => ratchet_misses(solution.scenario, place),
            _ => None,
        })
        .with_frames(|quantity| match quantity {
            Quantity::FrameInterval => Some(frames.as_ref()?.interval),
            _ => None,
        });
    let mut lacks = |group: &[Quantity], because: &str| {
        for quantity in group {
            if answer.means.get(*quantity).is_none() {
                answer.reasons.insert(quantity.field().to_owned(), because.to_owned());
            }
        }
    };
    if frames.is_some() {
        lacks(Quantity::FRAMES, "the admission model has no law of the delays of frames");
        lacks(
            Quantity::FRAME_DEADLINES,
            "it takes a ratchet, an end of the run, and for the time a law of the delays of frames",
        );
    }
    if solution.scenario.classes()[place].connections.is_some() {
        lacks(Quantity::CONNECTIONS, "no connection is admitted, or the share of them is not known");
    }
    if solution.scenario.spec().power.is_some() {
        let stopped = "PowerHerd stops routers at this load, and the model does not know what that costs";
        lacks(Quantity::POWER, if is_stopped { stopped } else { NO_POWER });
    }
}

/// Share of frames that are records; none without such a deadline, or without an end of the run.
fn ratchet_misses(scenario: &Scenario, place: usize) -> Option<f64> {
    let has_ratchet = scenario.classes()[place].frame_deadline.contains(&FrameDeadline::Ratchet);
    deadline_missing_probability(measured_frames(scenario, place).filter(|_| has_ratchet)?)
}

/// What classes offer and get through.
fn flow(solution: &Solution<'_>) -> Section {
    let mut section = Section::new("flow", "Offered and carried", Layout::Rows)
        .column("class", "class", "")
        .keyed()
        .column("offered_flits_per_cycle_node", "offered", "flits/cycle/node")
        .column("throughput_flits_per_cycle_node", "carried", "flits/cycle/node")
        .column("dropped_share", "dropped", "");
    let congestion = solution.scenario.spec().congestion;
    let drops = congestion.is_some_and(|one| one.control == CongestionControl::Credit && one.real_time_drop);
    for (spec, class) in solution.scenario.classes().iter().zip(&solution.problem.classes) {
        let share = class.flits * class.senders.len() as f64 / solution.problem.nodes;
        let carried = (!solution.is_squeezed(class.kind.level())).then(|| class.carried_rate() * share);
        let dropped = (!drops || class.connections.is_none()).then_some(0.0);
        section.rows.push(vec![
            spec.name.as_str().into(),
            (class.rate * share).into(),
            carried.into(),
            dropped.map(Cell::from).into(),
        ]);
    }
    section
}
