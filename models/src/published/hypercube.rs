//! An n-cube with e-cube routing: §3.2 and §3.4.2 of [KYD05], Eqs. (10)-(14), (20)-(23).
//!
//! As in a single router, real-time classes are solved together and best effort after them. The unknowns of a
//! class are `L_{c,s}`, the mean latency of messages that start on channel `s = 0..n`, and `L_{c,n}`, the time
//! at the ejection channel.

use std::rc::Rc;

use super::best_effort::RealTimeLoad;
use super::deadline::BlockingLength;
use super::ecube_traffic::EcubeRoutes;
use super::middle_blocking::MiddleBlocking;
use super::record::{ClassRecord, LinkRecord, MetRecord, PathRecord, Record};
use super::sharing::{LinkChain, Shares, Visitor};
use super::solution::{Channel, ChannelSolution, ClassSolution, Latencies, NoSolution, Outcome, Starvation};
use super::source_wait::SourceWait;
use super::traffic::{Flow, Traffic};
use super::{DistributionRange, Parts};
use crate::fixed_point::{Iterate, Report, Status};
use crate::lattice::{Distribution, sums_of_chosen_terms};
use crate::scalar::Scalar;
use flitwise_language::scenario::ClassKind;

/// What depends on the network alone.
#[derive(Clone, Debug)]
pub struct Cube<T = f64> {
    /// `P` \[cycles\].
    pub stages: T,
    /// A.1.
    pub routes: EcubeRoutes,
    /// Coefficients of A.2.
    pub middle: MiddleBlocking,
    /// `f_s`.
    pub shares_started: Vec<f64>,
    /// `P - 1 + P h_s` \[cycles\].
    pub header_cycles: Vec<T>,
    /// `h̄ / n`: rate of a channel per message accepted.
    pub per_channel: f64,
}

/// A class that a channel has closed itself to (R6): `P_b = 1` there, and A.2 divides by zero.
#[derive(Clone, Copy, Debug, Default)]
struct ClosedChannel {
    /// How often the iteration has run into it.
    met: u32,
    /// The channel, once the class is given up.
    channel: Option<usize>,
}

/// Next `L_s`, as a part of the present one, where (10) has no value.
const PULLED_BACK: f64 = 0.999;
/// After so many encounters a class is given up.
const PATIENCE_AT_CLOSED_CHANNEL: u32 = 5000;

impl ClosedChannel {
    /// Next `L_s` for a class that starts on channel `s` at `latency`, where (10) says `next`.
    ///
    /// `Bmid` falls without bound as `P_b^s` nears 1, so that (10) throws `L_s` from one end to the other. One
    /// Newton step in `L_s` alone is taken instead where the right side falls with it: the fixed point is the
    /// same.
    fn tempered<T: Scalar>(&mut self, s: usize, latency: T, next: T, slope: T) -> T {
        if self.channel.is_some() {
            return latency;
        }
        let tempered = latency + (next - latency) / (1.0 + f64::max(0.0, -slope.re()));
        if tempered.re().is_finite() && tempered.re() > 0.0 {
            return tempered;
        }
        self.met += 1;
        if self.met > PATIENCE_AT_CLOSED_CHANNEL {
            self.channel = Some(s);
        }
        latency * PULLED_BACK
    }
}

/// Whether a source of this load, `λ^g L`, has no steady state; not a number counts as such.
fn beyond_saturation<T: Scalar>(flow: &Flow<T>, path: &PathRecord<T>, latencies: &[T]) -> bool {
    let mean: T = path.shares_started.iter().zip(latencies).map(|(w, l)| *w * *l).sum();
    let load = (flow.rate * mean).re();
    load.is_nan() || load >= 1.0
}

impl<T: Scalar> Cube<T> {
    fn new(dimension: u32, stages: T) -> Self {
        let n = dimension as usize;
        let routes = EcubeRoutes::new(n);
        Self {
            stages,
            middle: MiddleBlocking::new(&routes),
            shares_started: (0..n).map(|s| routes.share_started(s)).collect(),
            header_cycles: (0..n).map(|s| stages - 1.0 + stages * routes.mean_hops_from(s)).collect(),
            per_channel: routes.mean_hops() / n as f64,
            routes,
        }
    }

    fn n(&self) -> usize {
        self.header_cycles.len()
    }

    /// Blocking of a class with the given `L_{c,s}`, the ejection channel last: (11), (12) and A.2.
    fn blocking(&self, flow: &Flow<T>, latencies: &[T]) -> PathRecord<T> {
        let (n, buffering) = (self.n(), flow.buffering);
        let exponent = buffering.exponent();
        // (11) with (12): λ = Σ_s (1 - P_b^s(λ)) g f_s, where P_b^s(λ) = (L_s λ h̄ / n)^(1 + 2 m / M)
        let accepted_rate = T::root(0.0, flow.rate.re(), |rate: T| {
            let (mut turned_away, mut slope) = (T::zero(), T::zero());
            for (share, latency) in self.shares_started.iter().zip(latencies) {
                let load = *latency * rate * self.per_channel;
                let probability = buffering.probability(load);
                turned_away += probability * *share;
                if rate > 0.0 && load < 1.0 {
                    slope += exponent * *share * probability / rate;
                }
            }
            (rate - flow.rate * (T::one() - turned_away), flow.rate * slope + 1.0)
        });
        let on_channel = |s: usize| latencies[s] * accepted_rate * self.per_channel;
        let mut probabilities: Vec<T> = (0..n).map(|s| buffering.probability(on_channel(s))).collect();
        // of a silent class the limit: what a message of it would meet
        let admitted = |s: usize| (T::one() - probabilities[s]) * self.shares_started[s];
        let accepted: T = (0..n).map(admitted).sum();
        let shares_started: Vec<T> = (0..n).map(|s| admitted(s) / accepted).collect();
        let middle = self.middle.lengths(&probabilities, &shares_started, buffering);
        // R7: (11) at the ejection channel
        let at_ejection = buffering.probability(latencies[n] * accepted_rate);
        probabilities.push(at_ejection);
        // O = P_b^n (m / 2 + M / 2)
        let ejection = at_ejection * (buffering.room() / 2.0 + buffering.message_flits / 2.0);
        PathRecord { accepted_rate, probabilities, shares_started, middle, ejection }
    }

    /// `I_{c,s} + Bmid(c,s)` \[flits\].
    fn flits_on_way(&self, flow: &Flow<T>, path: &PathRecord<T>, s: usize) -> T {
        // I = P_b^s m / 2
        path.probabilities[s] * flow.buffering.room() / 2.0 + path.middle[s].flits
    }

    /// (10): the next `L_{c,s}` of a class whose own flits and `O_c` take `at_ejection` cycles.
    fn latency_from(
        &self,
        s: usize,
        (flow, path): (&Flow<T>, &PathRecord<T>),
        at_ejection: T,
        cycles_per_flit: T,
    ) -> T {
        // L_s = P - 1 + P h_s + (O + M) S_n + (I + Bmid) S_s
        self.header_cycles[s] + at_ejection + self.flits_on_way(flow, path, s) * cycles_per_flit
    }

    /// How (10) changes with `L_{c,s}` through `P_b,c^s` alone: negative where `Bmid` falls faster than `I`
    /// rises.
    fn slope(&self, s: usize, (flow, path): (&Flow<T>, &PathRecord<T>), latency: T, cycles_per_flit: T) -> T {
        // dP_b / dL = (1 + 2 m / M) P_b / L
        let slope = flow.buffering.exponent() * path.probabilities[s] / latency;
        slope * (flow.buffering.room() / 2.0 + path.middle[s].slope) * cycles_per_flit
    }
}

/// The real-time classes at one point of the iteration.
struct RealTime<'t, T> {
    cube: &'t Cube<T>,
    classes: &'t [Flow<T>],
    chain: LinkChain<T>,
    /// The network channels and, last, the ejection channel.
    links: Vec<LinkRecord<T>>,
    paths: Vec<PathRecord<T>>,
    closing: Vec<ClosedChannel>,
}

impl<T: Scalar> RealTime<'_, T> {
    /// The latencies that follow from `latencies`.
    fn apply(&mut self, latencies: &[T], next: &mut [T]) {
        let (cube, n) = (self.cube, self.cube.n());
        for ((path, flow), latencies) in self.paths.iter_mut().zip(self.classes).zip(latencies.chunks(n + 1))
        {
            *path = cube.blocking(flow, latencies);
        }
        // R8: the ejection channel first, its mean shares stand in the stays of the others
        let (network, ejection) = self.links.split_at_mut(n);
        let LinkRecord { shares, visitors, sharing } = &mut ejection[0];
        visitors.clear();
        visitors.extend(self.paths.iter().zip(self.classes).map(|(path, flow)| Visitor {
            rate: path.accepted_rate,
            fixed_cycles: cube.stages - 1.0,
            flits: path.ejection + flow.message(),
        }));
        self.chain.solve(shares, visitors, sharing);
        // (O + M) S_n
        let at_ejection: Vec<T> = visitors
            .iter()
            .zip(&sharing.cycles_per_flit)
            .map(|(visitor, cycles)| visitor.flits * *cycles)
            .collect();
        for (s, link) in network.iter_mut().enumerate() {
            let LinkRecord { shares, visitors, sharing } = link;
            visitors.clear();
            for (class, of) in self.classes.iter().zip(&self.paths).enumerate() {
                let (flits, given_up) =
                    (cube.flits_on_way(of.0, of.1, s), self.closing[class].channel.is_some());
                visitors.push(Visitor {
                    rate: of.1.accepted_rate * cube.per_channel,
                    // a class given up does not go away
                    fixed_cycles: match given_up {
                        true => T::from(f64::INFINITY),
                        false => cube.header_cycles[s] + at_ejection[class],
                    },
                    flits: if given_up || !flits.re().is_finite() { T::zero() } else { flits },
                });
            }
            self.chain.solve(shares, visitors, sharing);
            for (class, of) in self.classes.iter().zip(&self.paths).enumerate() {
                let place = class * (n + 1) + s;
                let cycles_per_flit = sharing.cycles_per_flit[class];
                let new = cube.latency_from(s, of, at_ejection[class], cycles_per_flit);
                let slope = cube.slope(s, of, latencies[place], cycles_per_flit);
                next[place] = self.closing[class].tempered(s, latencies[place], new, slope);
            }
        }
        for (class, flits) in at_ejection.into_iter().enumerate() {
            let place = class * (n + 1) + n;
            // R7: L_n = P - 1 + (O + M) S_n
            let given_up = self.closing[class].channel.is_some();
            next[place] = if given_up { latencies[place] } else { cube.stages - 1.0 + flits };
        }
    }

    /// Cycles per flit of a class; it has the same share at the ejection channel wherever it started.
    fn cycles(&self, class: usize) -> PathCycles<T> {
        let mut on_channel: Vec<T> =
            self.links.iter().map(|link| link.sharing.cycles_per_flit[class]).collect();
        let at_ejection = on_channel.pop().into_iter().cycle().take(self.cube.n()).collect();
        PathCycles {
            on_channel,
            at_ejection,
            idle: self.links.iter().map(|link| link.sharing.idle()).collect(),
        }
    }

    fn outcome(
        &self,
        class: usize,
        range: Option<DistributionRange>,
    ) -> Result<ClassSolution<T>, NoSolution> {
        let (cube, flow, path) = (self.cube, &self.classes[class], &self.paths[class]);
        let mut found = cube.class_solution(flow, path, &self.cycles(class), self.closing[class])?;
        found.starved = self.links.iter().enumerate().find_map(|(s, link)| {
            let channel = if s == cube.n() { Channel::Ejection } else { Channel::Network(s) };
            link.sharing.starved_in[class].map(|company| Starvation { channel, company })
        });
        found.latencies = range.map(|range| cube.latencies(class, flow, path, &self.links, range));
        Ok(found)
    }

    /// What best effort meets on each link.
    fn loads(&self) -> Vec<RealTimeLoad<T>> {
        let n = self.cube.n();
        let total: T = self.paths.iter().map(|path| path.accepted_rate).sum();
        let load = |(s, link): (usize, &LinkRecord<T>)| RealTimeLoad {
            idle: if self.classes.is_empty() { T::one() } else { link.sharing.idle() },
            rate: if s == n { total } else { total * self.cube.per_channel },
        };
        self.links.iter().enumerate().map(load).collect()
    }

    fn record(&self, class: usize, latencies: &[T]) -> ClassRecord<T> {
        let PathCycles { on_channel, at_ejection, .. } = self.cycles(class);
        let unknowns = self.cube.n() + 1;
        ClassRecord {
            latencies: latencies[class * unknowns..][..unknowns].to_vec(),
            path: Some(self.paths[class].clone()),
            cycles_per_flit: on_channel,
            cycles_per_flit_at_ejection: at_ejection,
            ..ClassRecord::of(&self.classes[class], ClassKind::RealTime)
        }
    }
}

/// Solves an n-cube; `start` are `L_{c,s}` from which the iteration may set out, below the answer.
pub(super) fn solve<T: Scalar>(
    dimension: u32,
    traffic: &Traffic<T>,
    start: Option<&[T]>,
    range: Option<DistributionRange>,
    iterate: &mut impl Iterate<T>,
) -> Parts<T> {
    let cube = Cube::new(dimension, traffic.stages);
    let n = cube.n();
    let classes = &traffic.real_time;
    let shares = Rc::new(Shares::new(&traffic.vticks));
    let mut real_time = RealTime {
        cube: &cube,
        classes,
        chain: LinkChain::new(classes.len()),
        links: (0..=n).map(|_| LinkRecord::new(&shares)).collect(),
        paths: vec![PathRecord::unknown(); classes.len()],
        closing: vec![ClosedChannel::default(); classes.len()],
    };
    let zero_load = || {
        let headers = || cube.header_cycles.iter().copied().chain([traffic.before_flits()]);
        classes.iter().flat_map(|flow| headers().map(|header| header + flow.message())).collect()
    };
    let mut latencies: Vec<T> = start.map_or_else(zero_load, <[T]>::to_vec);
    let (report, history) = iterate.reach(&mut latencies, |latencies, next| real_time.apply(latencies, next));

    let overloaded = |class: usize| {
        beyond_saturation(&classes[class], &real_time.paths[class], &latencies[class * (n + 1)..])
    };
    let unsettled = report.status != Status::Converged && (0..classes.len()).all(overloaded);
    let mut answered = report.status == Status::Converged || unsettled;
    let outcome = |(class, flow): (usize, &Flow<T>)| Outcome {
        class: flow.class,
        found: if unsettled { Err(NoSolution::Unsettled) } else { real_time.outcome(class, range) },
    };
    let mut outcomes: Vec<Outcome<T>> = classes.iter().enumerate().map(outcome).collect();
    let mut record = iterate.records().then(|| {
        let mut record = Record::new(traffic.stages, Some(cube.clone()));
        record.iterated(unknowns(classes, n), history, &report);
        record.classes = (0..classes.len()).map(|class| real_time.record(class, &latencies)).collect();
        record
    });
    let report = match traffic.best_effort {
        None => report,
        Some(flow) => {
            let (found, own) = if unsettled {
                (Err(NoSolution::Unsettled), Report::default())
            } else {
                best_effort(&cube, &flow, real_time.loads(), iterate, record.as_mut())
            };
            answered &= own.status == Status::Converged || found.is_err();
            outcomes.push(Outcome { class: flow.class, found });
            report.then(own)
        }
    };
    if let Some(record) = &mut record {
        record.links = if classes.is_empty() { Vec::new() } else { real_time.links };
        record.complete(traffic, &outcomes, n);
    }
    Parts { report, answered, outcomes, state: latencies, record }
}

/// What is iterated: `L_{c,s}` of every class, the ejection channel last.
fn unknowns<T>(classes: &[Flow<T>], n: usize) -> Vec<(usize, Option<usize>)> {
    classes.iter().flat_map(|flow| (0..=n).map(|s| (flow.class, Some(s)))).collect()
}

/// Best effort at one point of the iteration: (10) and (11) with the cycles per flit of (13) and below it.
struct BestEffort<'t, T> {
    cube: &'t Cube<T>,
    flow: &'t Flow<T>,
    at_ejection: RealTimeLoad<T>,
    cycles: PathCycles<T>,
    path: PathRecord<T>,
    closing: ClosedChannel,
}

impl<T: Scalar> BestEffort<'_, T> {
    /// R9: `S_{C,n}^(s)` follows from the channel on which the message started, and from `Bmid` of its way.
    fn cycles_at_ejection(&self, s: usize, middle: T) -> T {
        self.at_ejection.cycles_per_flit_at_ejection(self.flow.message(), self.cycles.on_channel[s], middle)
    }

    fn zero_load(&self) -> Vec<T> {
        let (cube, message) = (self.cube, self.flow.message());
        let at_ejection = |s: usize| self.cycles_at_ejection(s, T::zero());
        let spread: T = (0..cube.n()).map(|s| at_ejection(s) * cube.shares_started[s]).sum();
        let on_way = (0..cube.n()).map(|s| cube.header_cycles[s] + message * at_ejection(s));
        on_way.chain([cube.stages - 1.0 + message * spread]).collect()
    }

    /// The latencies that follow from `latencies`.
    fn apply(&mut self, latencies: &[T], next: &mut [T]) {
        if self.closing.channel.is_some() {
            next.copy_from_slice(latencies);
            return;
        }
        let (cube, flow, n) = (self.cube, self.flow, self.cube.n());
        self.path = cube.blocking(flow, latencies);
        let ejected = self.path.ejection + flow.message();
        let mut mean = T::zero();
        for s in 0..n {
            let at_ejection = self.cycles_at_ejection(s, self.path.middle[s].flits);
            self.cycles.at_ejection[s] = at_ejection;
            mean += self.path.shares_started[s] * at_ejection;
            let (of, cycles_per_flit) = ((flow, &self.path), self.cycles.on_channel[s]);
            let new = cube.latency_from(s, of, ejected * at_ejection, cycles_per_flit);
            let slope = cube.slope(s, of, latencies[s], cycles_per_flit);
            next[s] = self.closing.tempered(s, latencies[s], new, slope);
        }
        // R7, R9
        let at_ejection = cube.stages - 1.0 + ejected * mean;
        next[n] = if at_ejection.re().is_finite() { at_ejection } else { latencies[n] };
    }
}

fn best_effort<T: Scalar>(
    cube: &Cube<T>,
    flow: &Flow<T>,
    loads: Vec<RealTimeLoad<T>>,
    iterate: &mut impl Iterate<T>,
    record: Option<&mut Record<T>>,
) -> (Result<ClassSolution<T>, NoSolution>, Report) {
    let n = cube.n();
    let mut own = ClassRecord::of(flow, ClassKind::BestEffort);
    let full = loads.iter().position(|load| !load.leaves_room());
    let on_channel = |load: &RealTimeLoad<T>| load.cycles_per_flit_on_channel(flow.message());
    let cycles = PathCycles {
        on_channel: loads[..n].iter().map(on_channel).collect(),
        at_ejection: vec![T::one(); n],
        idle: loads.iter().map(|load| load.idle).collect(),
    };
    let at_ejection = loads[n];
    own.met = Some(MetRecord { loads, message_flits: None, full });
    if let Some(full) = full {
        record.into_iter().for_each(|record| record.classes.push(own.clone()));
        let channel = if full == n { Channel::Ejection } else { Channel::Network(full) };
        return (Err(NoSolution::NoRoom { channel }), Report::default());
    }
    let mut state = BestEffort {
        cube,
        flow,
        at_ejection,
        cycles,
        path: PathRecord::unknown(),
        closing: ClosedChannel::default(),
    };
    let mut latencies = state.zero_load();
    let (report, history) = iterate.reach(&mut latencies, |latencies, next| state.apply(latencies, next));
    let BestEffort { cycles, path, closing, .. } = state;
    let found = if report.status != Status::Converged && beyond_saturation(flow, &path, &latencies) {
        Err(NoSolution::Unsettled)
    } else {
        cube.class_solution(flow, &path, &cycles, closing)
    };
    if let Some(record) = record {
        own.latencies = latencies;
        own.path = Some(path);
        own.cycles_per_flit = cycles.on_channel;
        own.cycles_per_flit_at_ejection = cycles.at_ejection;
        record.classes.push(own);
        record.iterated(unknowns(&[*flow], n), history, &report);
    }
    (found, report)
}

/// Cycles per flit of one class all along its paths.
struct PathCycles<T> {
    /// `S_{c,s}`.
    on_channel: Vec<T>,
    /// `S_{c,n}` for messages that started on channel `s`; real-time classes have one value.
    at_ejection: Vec<T>,
    /// `π_∅` of every chain, the ejection channel last.
    idle: Vec<T>,
}

impl<T: Scalar> Cube<T> {
    fn class_solution(
        &self,
        flow: &Flow<T>,
        path: &PathRecord<T>,
        cycles: &PathCycles<T>,
        closing: ClosedChannel,
    ) -> Result<ClassSolution<T>, NoSolution> {
        if let Some(channel) = closing.channel {
            return Err(NoSolution::Closed { channel: Channel::Network(channel) });
        }
        let n = self.n();
        let weighted =
            |of: &dyn Fn(usize) -> T| -> T { (0..n).map(|s| path.shares_started[s] * of(s)).sum() };
        let on_way = |s: usize| self.flits_on_way(flow, path, s);
        let ejected = path.ejection + flow.message();
        // L_c = Σ_s L_{c,s} λ^first_{c,s} / λ_c, part by part
        let blocking = path.ejection + weighted(&on_way);
        let transfer = weighted(&|s| self.header_cycles[s]) + flow.message();
        let sharing =
            weighted(&|s| ejected * (cycles.at_ejection[s] - 1.0) + on_way(s) * (cycles.on_channel[s] - 1.0));
        let latency = transfer + blocking + sharing;
        let lone_latency = self.stages - 1.0 + self.stages * self.routes.mean_hops() + flow.message();
        // (14)
        let cycles_per_flit = weighted(&|s| cycles.on_channel[s]);
        let channels = self.channels(flow, path, cycles, weighted(&|s| cycles.at_ejection[s]));
        let busiest = channels.iter().map(|c| c.latency * c.rate).fold(T::zero(), T::max);
        let turned_away: T = (0..n).map(|s| path.probabilities[s] * self.shares_started[s]).sum();
        Ok(ClassSolution {
            transfer,
            lone_latency,
            blocking,
            sharing,
            blocking_probability: turned_away,
            blocking_length: blocking,
            cycles_per_flit,
            utilization: path.accepted_rate * flow.message(),
            router_load: busiest.min(T::one()),
            accepted_rate: path.accepted_rate,
            source_load: flow.rate * latency,
            wait: SourceWait::new(flow.rate, latency, lone_latency, cycles_per_flit),
            starved: None,
            channels,
            latencies: None,
        })
    }

    /// The class on each channel; `at_ejection` is its mean `S_n`.
    fn channels(
        &self,
        flow: &Flow<T>,
        path: &PathRecord<T>,
        cycles: &PathCycles<T>,
        at_ejection: T,
    ) -> Vec<ChannelSolution<T>> {
        let n = self.n();
        let ejected = path.ejection + flow.message();
        let network = (0..n).map(|s| ChannelSolution {
            channel: Channel::Network(s),
            latency: self.latency_from(
                s,
                (flow, path),
                ejected * cycles.at_ejection[s],
                cycles.on_channel[s],
            ),
            rate: path.accepted_rate * self.per_channel,
            started_rate: path.accepted_rate * path.shares_started[s],
            blocking_probability: path.probabilities[s],
            blocking_length: path.probabilities[s] * flow.buffering.room() / 2.0,
            middle_length: path.middle[s].flits,
            cycles_per_flit: cycles.on_channel[s],
            idle: cycles.idle[s],
        });
        let ejection = ChannelSolution {
            channel: Channel::Ejection,
            latency: self.stages - 1.0 + ejected * at_ejection,
            rate: path.accepted_rate,
            started_rate: T::zero(),
            blocking_probability: path.probabilities[n],
            blocking_length: path.ejection,
            middle_length: T::zero(),
            cycles_per_flit: at_ejection,
            idle: cycles.idle[n],
        };
        network.chain([ejection]).collect()
    }

    /// (20)-(23): network channels delay by the flits that block, the ejection channel by those and the message;
    /// R11: all paths of a length are equally likely.
    fn latencies(
        &self,
        class: usize,
        flow: &Flow<T>,
        path: &PathRecord<T>,
        links: &[LinkRecord<T>],
        range: DistributionRange,
    ) -> Latencies {
        let n = self.n();
        let limit = range.cycles / (n + 1);
        let completion = |s: usize, own_flits: u32| {
            let blocking = BlockingLength::of(path.probabilities[s], flow.buffering);
            links[s].sharing.company(class, &links[s].shares).completion(blocking, own_flits, limit)
        };
        let on_channels: Vec<Vec<f64>> = (0..n).map(|s| completion(s, 0)).collect();
        let at_ejection = completion(n, flow.message().re() as u32);
        let complete = |list: &Vec<f64>| list.iter().sum::<f64>() > 1.0 - 1e-9;
        let known = on_channels
            .iter()
            .chain([&at_ejection])
            .filter(|list| !complete(list))
            .map(Vec::len)
            .min()
            .unwrap_or(usize::MAX);
        let by_hops: Vec<Distribution> = sums_of_chosen_terms(&on_channels, &at_ejection)
            .into_iter()
            .enumerate()
            .map(|(index, mut sum)| {
                sum.truncate(known);
                let header = self.stages.re() as u32 * (index as u32 + 2) - 1; // P - 1 + P h
                Distribution::new(header, &sum)
            })
            .collect();
        let shares = (1..=n).map(|h| self.routes.share_of_hops(h));
        Latencies { all: Distribution::mixture(shares.zip(&by_hops)), by_hops }
    }
}
