//! From the loads of a scenario to an [`Answer`].

use statrs::distribution::{ContinuousCDF, Normal};

use super::crossbar::{Contention, Order};
use super::frame_interval::{CountLaw, FrameSize, MessageCount, deviation, mean_interval, pacing_variance};
use super::latency::{CircuitDelays, DELAY_VARIATION};
use super::load::FrameLayout;
use super::placement::{Placement, jitter_free_streams, streams_at_an_output};
use super::problem::{Class, Delays, Limit, Problem};
use super::set_up::{SetUp, Way, set_up};
use super::waiting::{Interface, PeriodicQueue};
use crate::answer::{Answer, ClassAnswer, FrameAnswer, LanesAnswer, Report, Saturation, TimesAnswer};
use crate::fixed_point;
use crate::model::{Model, Options};
use flitwise_language::quantity::{Means, Quantity};
use flitwise_language::scenario::{
    self, CircuitVtick, ClassSpec, FrameLaw, FrameSizes, FrameSource, Pacing, Scenario, SourceSpec, VcChoice,
};

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

/// Deviations of intervals that count as jitter, and of their mean, as parts of the interval.
const JITTER: f64 = 0.05;
const DRIFT: f64 = 0.01;
/// `P` of messages on circuits, which pass stages 2 and 3 by.
const CIRCUIT_STAGES: f64 = 3.0;

pub(super) fn answer(scenario: &Scenario, problem: &Problem, options: &Options) -> Answer {
    let mut classes: Vec<ClassAnswer> = scenario.classes().iter().map(ClassAnswer::of).collect();
    for (spec, answer) in scenario.classes().iter().zip(&mut classes) {
        let because = "a quantity that the mediaworm model does not have";
        LACKS
            .iter()
            .for_each(|lack| drop(answer.reasons.insert(lack.field().to_owned(), because.to_owned())));
        if spec.rate <= 0.0 {
            answer.lacks_means("its rate is 0: the mediaworm model answers for classes that send");
        }
        answer.set_distributions(spec, Err("the mediaworm model has means of latencies, no distribution"));
    }
    let cycle_ns = scenario.spec().units.as_ref().and_then(scenario::UnitsSpec::cycle_ns);
    for class in problem.classes.iter().filter(|_| scenario.circuits().is_none()) {
        solve_class(problem, class, cycle_ns, &mut classes[class.place]);
    }
    for (class, answer) in classes.iter_mut().enumerate() {
        if let Some((found, ways)) = set_up(scenario, class) {
            let circuits = (class, found.standing, ways.as_slice());
            let latencies = on_circuits(scenario, problem, circuits, cycle_ns, answer);
            if let Err(because) = latencies {
                answer.lacks_means(because);
            }
            circuit_means(scenario, class, &found, answer);
        }
    }
    let mut notes = placement_notes(problem, &classes);
    notes.extend(unread(scenario));
    Answer {
        model: Model::Mediaworm,
        scenario: scenario.spec().clone(),
        report: Report::new(fixed_point::Report::default(), options.details),
        saturated: classes.iter().any(|class| class.saturated),
        classes,
        validity: None,
        sections: Default::default(),
        notes,
    }
}

/// Quantities of the set-up of circuits, and their load.
fn circuit_means(scenario: &Scenario, class: usize, found: &SetUp, answer: &mut ClassAnswer) {
    let nodes = f64::from(scenario.topology().nodes());
    let share = found.established / found.asked;
    answer.reasons.remove(Quantity::Utilization.field());
    answer.set_up_probability = Some(share);
    answer.circuits_established = Some(found.standing);
    answer.circuit_drop_share = Some(found.dropped / found.attempts);
    answer.set_up_delay_cycles = Some(found.delay);
    let stream = scenario.stream_load(class);
    answer.circuit_load = stream.map(|load| load * found.standing / nodes);
    let is_dynamic = scenario.circuits().is_some_and(|circuits| circuits.is_dynamic());
    if !is_dynamic {
        answer.circuit_attempts = Some(found.attempts);
        answer.circuits_dropped = Some(found.dropped);
        answer.utilization = Some(scenario.flit_rate(class) * share);
    }
}

/// Circuits of a class that stay.
struct StaticCircuits<'p> {
    class: &'p Class,
    vtick: CircuitVtick,
    /// Circuits of a node, and load of each on a link \[flits/cycle\].
    streams: u32,
    one: f64,
}

/// What messages on circuits take: mean number of channels between routers, and what they lose to other circuits on
/// their way and at the interface \[messages\].
struct OnCircuits {
    hops: f64,
    excess: f64,
    waiting: f64,
    variation: f64,
    /// What jitters first, and circuits on it.
    bottleneck: (&'static str, f64),
}

/// Load at which circuits have no latency.
const FULL: &str = "circuits may offer a link more than it carries";

impl StaticCircuits<'_> {
    /// In one router. Circuits end at an output as streams that are capped there do.
    fn one_router(&self, problem: &Problem, frames: &FrameSource) -> Result<OnCircuits, &'static str> {
        let law = streams_at_an_output(
            placement(problem, self.class, frames),
            self.streams.into(),
            problem.nodes.into(),
        );
        let most = law.iter().rposition(|share| *share > 1e-9).unwrap_or(0) as u32;
        let most = self.streams.max(most);
        if f64::from(most) * self.one >= 1.0 {
            return Err(FULL);
        }
        let delays = CircuitDelays::new(problem.contention, self.vtick, most, self.one);
        let streams = f64::from(self.streams);
        let weighted = (0..).zip(&law).skip(1).filter(|(_, share)| **share > 1e-4);
        let (circuits, sum) = weighted.fold((0.0, 0.0), |(all, sum), (count, share)| {
            let weight = f64::from(count) * share;
            (all + weight, sum + weight * delays.excess(streams, count.into()))
        });
        Ok(OnCircuits {
            hops: 0.0,
            excess: sum / circuits,
            waiting: delays.waiting(streams),
            variation: delays.variation,
            bottleneck: ("an output link", streams),
        })
    }

    /// Over several routers. Messages that one link has put in a row meet each other no more, so that those of two
    /// links count, of which there are most circuits: of one router these are its two ports.
    fn several_routers(&self, problem: &Problem, ways: &[Way]) -> Result<OnCircuits, &'static str> {
        let most = ways.iter().map(|way| way.most[0]).fold(0.0, f64::max);
        if most.ceil() * self.one >= 1.0 {
            return Err(FULL);
        }
        let delays = CircuitDelays::new(problem.contention, self.vtick, most.ceil() as u32, self.one);
        let all: f64 = ways.iter().map(|way| way.circuits).sum();
        let mean =
            |of: &dyn Fn(&Way) -> f64| ways.iter().map(|way| way.circuits * of(way)).sum::<f64>() / all;
        Ok(OnCircuits {
            hops: mean(&|way| way.hops.into()),
            excess: mean(&|way| delays.excess(way.most[1], way.most[0])),
            waiting: mean(&|way| delays.waiting(way.first)),
            variation: delays.variation,
            bottleneck: ("the link with the most circuits", most),
        })
    }
}

/// Latency and frames of streams whose circuits stay; so many stand.
///
/// A circuit owns its lanes. So a message competes with messages of other circuits that share a link with it, only;
/// messages of each come periodically. See [`CircuitDelays`].
///
/// # Errors
/// Why there is none.
fn on_circuits(
    scenario: &Scenario,
    problem: &Problem,
    (place, standing, ways): (usize, f64, &[Way]),
    cycle_ns: Option<f64>,
    answer: &mut ClassAnswer,
) -> Result<(), &'static str> {
    let staying = scenario.circuits().filter(|circuits| !circuits.is_dynamic());
    let class = problem.classes.iter().find(|class| class.place == place);
    let streams = (standing / f64::from(problem.nodes)).round() as u32;
    let known = class.and_then(|class| Some((class, class.frames.as_ref()?, staying?)));
    let Some((class, frames, circuits)) = known.filter(|_| streams > 0) else {
        return Err("latencies are known of circuits that stay");
    };
    let one = class.load / f64::from(frames.streams);
    // as many circuits end at an output as its virtual channels, at most
    let placement = scenario::Placement::Capped;
    let capped = FrameSource { streams, placement, streams_per_vc: 1, ..frames.clone() };
    let standing = StaticCircuits { class, vtick: circuits.vtick, streams, one };
    let found = if problem.hops > 0.0 {
        standing.several_routers(problem, ways)?
    } else {
        standing.one_router(problem, &capped)?
    };
    let message = class.lanes.message_flits;
    let transfer = CIRCUIT_STAGES - 1.0 + message + CIRCUIT_STAGES * found.hops;
    let (excess, beyond) = (message * found.excess, message * found.waiting);
    let (bottleneck, circuits) = found.bottleneck;
    let load = one * circuits;
    let limit = Limit { bottleneck: bottleneck.to_owned(), load, carried: 1.0, factor: 1.0 / load };
    set_latency(answer, (transfer, excess, 1.0 + beyond), cycle_ns);
    let varying = found.variation * (excess + beyond);
    let frames = (&capped, &PacingEffect::of(&capped));
    frame_means(problem, class, frames, (&limit, Some((transfer + excess, varying))), answer);
    let frames = frame_answer(problem, class, frames, &limit, (&answer.means, cycle_ns));
    answer.frames = Some(FrameAnswer { delay_deviation_cycles: Some(varying), ..frames });
    Ok(())
}

/// Transfer, excess and wait at the interface \[cycles\] make the latencies of an answer.
fn set_latency(
    answer: &mut ClassAnswer,
    (transfer, excess, waiting): (f64, f64, f64),
    cycle_ns: Option<f64>,
) {
    let latency = transfer + excess;
    answer.transfer_cycles = Some(transfer);
    (answer.network_latency_cycles, answer.waiting_cycles) = (Some(latency), Some(waiting));
    answer.total_latency_cycles = Some(latency + waiting);
    answer.times = cycle_ns.map(|ns| {
        let us = |cycles: f64| cycles * ns / 1e3;
        TimesAnswer {
            network_latency_us: us(latency),
            waiting_us: us(waiting),
            total_latency_us: us(latency + waiting),
        }
    });
}

fn solve_class(problem: &Problem, class: &Class, cycle_ns: Option<f64>, answer: &mut ClassAnswer) {
    let Some(limit) = problem.limit(class) else { return };
    answer.lanes = Some(LanesAnswer {
        bottleneck: limit.bottleneck.clone(),
        load_flits_per_cycle: limit.load,
        saturates_at_flits_per_cycle: limit.carried,
        at_load_factor: limit.factor,
    });
    answer.utilization = Some(class.load);
    let mut delay = None;
    if limit.factor <= 1.0 {
        saturated(class, &limit, answer);
    } else {
        let Delays { excess_cycles, lane, front } = problem.delays(class);
        let interface = Interface { lane, front, ..problem.interface(class) };
        let waiting = waiting(problem, class, interface);
        let excess = excess_cycles + problem.lane_wait(class, interface);
        let transfer = problem.stages - 1.0 + class.lanes.message_flits + problem.stages * problem.hops;
        set_latency(answer, (transfer, excess, waiting), cycle_ns);
        answer.source_load = Some(lane.share);
        delay = Some((transfer + excess, DELAY_VARIATION * (excess + waiting)));
    }
    if let Some(frames) = &class.frames {
        let frames = (frames, &PacingEffect::of(frames));
        frame_means(problem, class, frames, (&limit, delay), answer);
        answer.frames = Some(frame_answer(problem, class, frames, &limit, (&answer.means, cycle_ns)));
    }
}

/// Wait at the interface \[cycles\].
fn waiting(problem: &Problem, class: &Class, interface: Interface) -> f64 {
    let (real_time, best_effort) = problem.injected;
    let (length, all) = (problem.mean_length(), real_time + best_effort);
    let streams = class.frames.as_ref().map_or(f64::INFINITY, |frames| frames.streams.into());
    let queue = PeriodicQueue::beside_poisson(problem.streams(), real_time, all);
    if !class.is_real_time {
        let above = if problem.contention.has_priority() { real_time } else { 0.0 };
        return match problem.contention {
            Contention { is_multiplexed: false, order: Order::Fifo } => 1.0 + length * queue.mean_work(),
            _ => {
                let evenness = problem.evenness(problem.streams(), real_time, all);
                interface.best_effort(length * evenness, above, all)
            }
        };
    }
    let lanes = interface.real_time(streams / class.lanes.count);
    if problem.contention.has_priority() {
        return lanes;
    }
    // in order of joining the injection link is a queue for real time, too; behind it no lane of a full crossbar waits
    length * queue.mean_wait() + if problem.contention.is_multiplexed { lanes } else { 1.0 }
}

fn saturated(class: &Class, limit: &Limit, answer: &mut ClassAnswer) {
    let Limit { bottleneck, load, carried, factor } = limit.clone();
    let because = format!(
        "it loads {bottleneck} with {load:.4} flits/cycle, of which at most {carried:.4} get through"
    );
    answer.lacks_means(&format!("saturated: {because}"));
    answer.reasons.remove(Quantity::Utilization.field());
    answer.saturated = true;
    let mut saturation = Saturation::new(bottleneck, because);
    saturation.set_load(Ok(factor), class.load / class.lanes.message_flits);
    answer.saturation = Some(saturation);
}

/// Streams of a class that have frames of the same sizes.
struct Kind {
    /// Share of the streams of a node.
    share: f64,
    /// Counts of messages of their frames, in the order in which they come.
    counts: Vec<MessageCount>,
    /// Distribution of that count, where all frames are alike and vary.
    law: Option<CountLaw>,
}

/// What the pacing of messages does to intervals.
struct PacingEffect {
    /// Where messages of a frame are spread over its interval.
    kinds: Vec<Kind>,
    /// Variance of the intervals by pacing alone \[cycles²\].
    variance: f64,
    /// Mean time from the start of a frame to that of its last message \[cycles\].
    last: f64,
}

impl PacingEffect {
    fn of(frames: &FrameSource) -> Self {
        if frames.pacing != Pacing::Even {
            return Self { kinds: Vec::new(), variance: 0.0, last: frames.interval };
        }
        let framing = FrameLayout {
            message_flits: frames.message_flits.into(),
            header_flits: frames.header_flits.into(),
        };
        let kind = |(share, sizes): (f64, &FrameSizes)| {
            let law = match sizes {
                FrameSizes::Alike(law) => CountLaw::of(size(law), framing),
                _ => None,
            };
            let counts = match &law {
                Some(law) => vec![law.moments(framing.payload_flits())],
                None => {
                    let count = |frame| MessageCount::of(size(&sizes.law(frame)), framing);
                    (0..sizes.period()).map(count).collect()
                }
            };
            Kind { share, counts, law }
        };
        let kinds: Vec<Kind> = shares_of_kinds(frames).zip(&frames.sizes).map(kind).collect();
        let (mut variance, mut last) = (0.0, 0.0);
        for Kind { share, counts, .. } in &kinds {
            let wait = counts.iter().map(|count| 1.0 - count.reciprocal_mean).sum::<f64>();
            variance += share * pacing_variance(frames.interval, counts);
            last += share * frames.interval * wait / counts.len() as f64;
        }
        Self { kinds, variance, last }
    }

    /// Share of intervals that exceed `T` by more than a twentieth; delays of successive frames differ with the
    /// deviation `delay_deviation`. What a pattern repeats is normal about its steps.
    fn late_share(&self, period: f64, delay_deviation: f64) -> f64 {
        let excess = JITTER * period;
        let of_normal = |step: f64, deviation: f64| match Normal::new(step, deviation) {
            Ok(normal) if deviation > 0.0 => normal.sf(excess),
            _ => f64::from(u8::from(step > excess)),
        };
        if self.kinds.is_empty() {
            return of_normal(0.0, delay_deviation);
        }
        let of_kind = |Kind { share, counts, law }: &Kind| {
            if let Some(law) = law {
                return share * law.late_share(period, excess, delay_deviation);
            }
            let next = counts.iter().cycle().skip(1);
            let late = counts.iter().zip(next).map(|(one, next)| {
                let variance = period * period * (one.reciprocal_variance + next.reciprocal_variance);
                let step = period * (one.reciprocal_mean - next.reciprocal_mean);
                of_normal(step, (variance + delay_deviation * delay_deviation).sqrt())
            });
            share * late.sum::<f64>() / counts.len() as f64
        };
        self.kinds.iter().map(of_kind).sum()
    }
}

/// Correlation of the delays of successive frames: everything repeats after an interval where all that competes is of
/// one size and one interval. Otherwise a message finds the share `s` of it that repeats, in both frames: `s²`, chosen.
///
/// In a greedy crossbar ports take turns at equal stamps, and an interval is no whole number of turns. So two headers
/// that wait for a lane swap now and then, which moves all behind them. With `q`, the share of the time that a lane is
/// held, `1 - r = .3 (1 - exp(-(q / .33)³))`, fitted to eleven loads of 4, 8 and 16 virtual channels.
fn repeats(problem: &Problem, class: &Class, frames: &FrameSource, held_share: Option<f64>) -> f64 {
    let is_constant = |sizes: &FrameSizes| matches!(sizes, FrameSizes::Alike(law) if law.deviation == 0.0);
    let repeats = |other: &FrameSource| {
        other.sizes.iter().all(is_constant)
            && (other.interval - frames.interval).abs() < 1e-9 * frames.interval
    };
    if !repeats(frames) {
        return 0.0;
    }
    let (mut same, mut all) = (0.0, 0.0);
    for other in problem.classes.iter().filter(|other| problem.are_alike(class, other)) {
        all += other.load;
        same += if other.frames.as_ref().is_some_and(repeats) { other.load } else { 0.0 };
    }
    let turns = held_share.filter(|_| problem.contention.is_multiplexed).unwrap_or(0.0);
    (same / all).powi(2) * (1.0 - 0.3 * (1.0 - (-(turns / 0.33).powi(3)).exp()))
}

/// Share of the streams of a node that have each kind of sizes.
fn shares_of_kinds(frames: &FrameSource) -> impl Iterator<Item = f64> {
    let (kinds, streams) = (frames.sizes.len(), frames.streams as usize);
    (0..kinds).map(move |at| (at..streams).step_by(kinds).count() as f64 / streams.max(1) as f64)
}

fn size(law: &FrameLaw) -> FrameSize {
    FrameSize { mean_flits: law.mean, deviation_flits: law.deviation }
}

/// Quantities of frames; `delay` is the network latency, and the deviation of delays.
fn frame_means(
    problem: &Problem,
    class: &Class,
    (frames, paced): (&FrameSource, &PacingEffect),
    (limit, delay): (&Limit, Option<(f64, f64)>),
    answer: &mut ClassAnswer,
) {
    let mean = mean_interval_of(problem, class, frames, limit);
    answer.frame_interval_cycles = Some(mean);
    let Some((latency, varying)) = delay else {
        let because = "saturated: frames fall behind more and more";
        let missing = Quantity::FRAMES.iter().filter(|quantity| **quantity != Quantity::FrameInterval);
        missing.for_each(|one| drop(answer.reasons.insert(one.field().to_owned(), because.to_owned())));
        return;
    };
    let is_independent = |sizes: &FrameSizes| matches!(sizes, FrameSizes::Alike(law) if law.deviation > 0.0);
    let repeats = repeats(problem, class, frames, answer.source_load);
    let sigma = deviation(paced.variance, varying * varying, repeats);
    let late = paced.late_share(frames.interval, (2.0 * (1.0 - repeats)).sqrt() * varying);
    answer.frame_interval_deviation_cycles = Some(sigma);
    answer.frame_interval_deviation_per_stream_cycles = Some(sigma);
    answer.frame_latency_cycles = Some(paced.last + latency + answer.waiting_cycles.unwrap_or(0.0));
    // no approximation is good for more digits
    answer.late_frames = Some(if late < 1e-12 { 0.0 } else { late });
    // an early frame makes one interval short and the next one long
    answer.frame_interval_autocorrelation = frames.sizes.iter().all(is_independent).then_some(-0.5);
    if answer.frame_interval_autocorrelation.is_none() {
        let field = Quantity::FrameIntervalAutocorrelation.field().to_owned();
        answer.reasons.insert(field, "known where sizes of successive frames are independent".to_owned());
    }
}

fn frame_answer(
    problem: &Problem,
    class: &Class,
    (frames, paced): (&FrameSource, &PacingEffect),
    limit: &Limit,
    (means, cycle_ns): (&Means<f64>, Option<f64>),
) -> FrameAnswer {
    let period = frames.interval;
    let (mean, sigma) = (means.frame_interval_cycles, means.frame_interval_deviation_cycles);
    let (free, bottleneck) = jitter_free(problem, class, frames, limit);
    let ms = |cycles: Option<f64>| Some(cycles? * cycle_ns? / 1e6);
    FrameAnswer {
        streams: frames.streams,
        frame_interval_ms: ms(mean),
        frame_interval_deviation_ms: ms(sigma),
        pacing_deviation_cycles: paced.variance.sqrt(),
        delay_deviation_cycles: means
            .total_latency_cycles
            .zip(means.transfer_cycles)
            .map(|(all, lone)| DELAY_VARIATION * (all - lone)),
        delay_correlation: repeats(problem, class, frames, means.source_load),
        jitter_free: mean.is_some_and(|mean| mean <= (1.0 + DRIFT) * period)
            && sigma.is_some_and(|sigma| sigma <= JITTER * period),
        jitter_free_streams: free,
        jitter_free_load: f64::from(free) * class.load / f64::from(frames.streams.max(1)),
        jitter_free_bottleneck: bottleneck,
    }
}

/// How so many streams per node find their outputs, in one router; as many at each in networks of several.
fn placement(problem: &Problem, class: &Class, frames: &FrameSource) -> Placement {
    let room = u64::from(frames.streams_per_vc).saturating_mul(class.lanes.count as u64);
    match frames.placement {
        _ if problem.hops > 0.0 => Placement::Balanced,
        scenario::Placement::Capped => Placement::Capped { room },
        scenario::Placement::Uniform => Placement::Uniform,
        scenario::Placement::Balanced => Placement::Balanced,
    }
}

/// Mean interval over all streams: those at an output with too many of them get what it carries, in turn.
fn mean_interval_of(problem: &Problem, class: &Class, frames: &FrameSource, limit: &Limit) -> f64 {
    let streams = u64::from(frames.streams);
    let law = streams_at_an_output(placement(problem, class, frames), streams, problem.nodes.into());
    let one = limit.load / streams.max(1) as f64;
    let (mut all, mut sum) = (0.0, 0.0);
    for (count, share) in law.iter().enumerate() {
        let weight = count as f64 * share;
        all += weight;
        sum += weight * mean_interval(frames.interval, count as f64 * one, limit.carried.min(1.0));
    }
    if all > 0.0 { sum / all } else { mean_interval(frames.interval, limit.load, limit.carried.min(1.0)) }
}

/// Most streams per node that are free of jitter, and what limits them.
fn jitter_free(problem: &Problem, class: &Class, frames: &FrameSource, limit: &Limit) -> (u32, String) {
    let one = limit.load / f64::from(frames.streams.max(1));
    let most = (limit.carried.min(1.0) / one * (1.0 - 1e-9)).min(1e5) as u64;
    let free = jitter_free_streams(|_| placement(problem, class, frames), problem.nodes.into(), most);
    let room = match placement(problem, class, frames) {
        Placement::Capped { room } => room,
        _ => u64::MAX,
    };
    let bottleneck = if free.min(room) < most {
        if room <= free {
            "the room for streams".to_owned()
        } else {
            "the placement of streams on outputs".to_owned()
        }
    } else {
        limit.bottleneck.clone()
    };
    (free.min(room) as u32, bottleneck)
}

/// Keys of routers at values that the model was not compared with simulations at.
fn unread(scenario: &Scenario) -> Vec<String> {
    let (router, sends) = (scenario.router(), |class: &&ClassSpec| class.rate > 0.0);
    let mut sending = scenario.classes().iter().filter(sends);
    let is_met = |class: &ClassSpec| (1..=2).contains(&(router.buffer_flits / class.message_flits.max(1)));
    let buffers = (!sending.clone().all(is_met)).then(|| {
        format!(
            "router.buffer_flits: answers were compared with simulations for buffers of one and two messages, and {} \
             flits are another length; the simulated latency of best effort is up to half as long in shorter buffers",
            router.buffer_flits
        )
    });
    // a circuit has its own
    let is_chosen = scenario.circuits().is_none() && sending.any(|class| class.virtual_channels > 1);
    let is_free = router.vc_choice == VcChoice::Free && is_chosen;
    let choice = is_free.then(|| {
        "router.vc_choice: the model is fitted to drawn virtual channels; where messages take any free one, waits and \
         latencies differ by tens of percent"
            .to_owned()
    });
    buffers.into_iter().chain(choice).collect()
}

/// Outputs at which more streams end than they carry, though the mean of them carries its load.
fn placement_notes(problem: &Problem, answers: &[ClassAnswer]) -> Vec<String> {
    let note = |class: &Class| {
        let (answer, frames) = (&answers[class.place], class.frames.as_ref()?);
        let lanes = answer.lanes.as_ref().filter(|_| !answer.saturated)?;
        let one = lanes.load_flits_per_cycle / f64::from(frames.streams.max(1));
        let streams = u64::from(frames.streams);
        let law = streams_at_an_output(placement(problem, class, frames), streams, problem.nodes.into());
        let most = (lanes.saturates_at_flits_per_cycle.min(1.0) / one) as u64;
        let beyond = super::placement::share_beyond(&law, most);
        (beyond > 0.001).then(|| {
            format!(
                "{:.1} % of the streams of {} end at outputs with more than {most} of them, which \
                 jitter: placement makes it",
                100.0 * beyond,
                answer.name
            )
        })
    };
    let network = (problem.hops > 0.0).then(|| {
        "placement of streams is left out in networks of several routers: each output counts as loaded alike".to_owned()
    });
    let frames = problem.classes.iter().any(|class| class.frames.is_some());
    problem.classes.iter().filter_map(note).chain(network.filter(|_| frames)).collect()
}

/// Whether a source is one of those that the model has, for a class of its kind.
pub(super) fn has_source(source: &SourceSpec, is_real_time: bool) -> bool {
    if is_real_time { source.has_frames() } else { matches!(source, SourceSpec::Poisson) }
}
