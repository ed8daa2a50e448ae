//! An n-cube with e-cube routing: §3.2 and §3.4.2 of [KYD05], Eqs. (10)-(14), (20)-(23).
//!
//! As in a single router, real-time classes are solved together and best effort after them. The unknowns of a
//! class are `L_{c,s}`, the mean latency of messages that start on channel `s = 0..n`, and `L_{c,n}`, the time
//! at the ejection channel.

use super::best_effort::RealTimeLoad;
use super::deadline::BlockingLength;
use super::ecube_traffic::EcubeRoutes;
use super::middle_blocking::{MiddleBlocking, MiddleLength};
use super::record::{ClassRecord, CubeRecord, IterationRecord, MetRecord, PathRecord, Record};
use super::sharing::{LinkChain, Shares, Sharing, Visitor};
use super::solution::{Channel, ChannelSolution, ClassSolution, Latencies, NoSolution, Outcome, Starved};
use super::source_wait::SourceWait;
use super::traffic::{Flow, Traffic};
use super::{DistributionRange, Solved};
use crate::fixed_point::{self, History, Report, Status, root_of_increasing};
use crate::lattice::{Distribution, sums_of_chosen_terms};
use crate::scenario::ClassKind;

/// The most iterations: where a thousand do not lead to the point, more hardly ever do.
const MOST_ITERATIONS: u32 = 10_000;

/// Whether a source of this load, `λ^g L`, has no steady state; not a number counts as such.
fn beyond_saturation(load: f64) -> bool {
    load.is_nan() || load >= 1.0
}

/// What depends on the cube alone.
struct Cube {
    n: usize,
    /// `P` \[cycles\].
    stages: f64,
    routes: EcubeRoutes,
    middle: MiddleBlocking,
    /// `f_s`.
    started: Vec<f64>,
    /// `P - 1 + P h_s` \[cycles\].
    header: Vec<f64>,
    /// `h̄ / n`: rate of a channel per message accepted.
    per_channel: f64,
}

/// Blocking of one class all along its paths, (11), (12) and A.2.
#[derive(Clone, Debug, Default)]
struct PathBlocking {
    /// `λ_c` \[messages/cycle/node\].
    accepted_rate: f64,
    /// `P_b,c^s`, the ejection channel last.
    probabilities: Vec<f64>,
    /// `λ^first_{c,s} / λ_c`.
    shares_started: Vec<f64>,
    /// `Bmid(c,s)` \[flits\].
    middle: Vec<MiddleLength>,
    /// `O_c` \[flits\].
    ejection: f64,
}

/// A class that a channel has closed itself to (R6): `P_b = 1` there, and A.2 divides by zero.
#[derive(Clone, Copy, Debug, Default)]
struct Closing {
    /// How often the iteration has run into it.
    met: u32,
    /// The channel, once the class is given up.
    channel: Option<usize>,
}

/// Next `L_s`, as a part of the present one, where (10) has no value.
const PULLED_BACK: f64 = 0.999;
/// After so many encounters a class is given up.
const PATIENCE_AT_CLOSED_CHANNEL: u32 = 5000;

impl Closing {
    /// Next `L_s` for a class that starts on channel `s` at `latency`, where (10) says `next`.
    ///
    /// `Bmid` falls without bound as `P_b^s` nears 1, so that (10) throws `L_s` from one end to the other. One
    /// Newton step in `L_s` alone is taken instead where the right side falls with it: the fixed point is the
    /// same.
    fn tempered(&mut self, s: usize, latency: f64, next: f64, slope: f64) -> f64 {
        if self.channel.is_some() {
            return latency;
        }
        let tempered = latency + (next - latency) / (1.0 + f64::max(0.0, -slope));
        if tempered.is_finite() && tempered > 0.0 {
            return tempered;
        }
        self.met += 1;
        if self.met > PATIENCE_AT_CLOSED_CHANNEL {
            self.channel = Some(s);
        }
        PULLED_BACK * latency
    }
}

impl Cube {
    fn new(dimension: u32, stages: u32) -> Self {
        let n = dimension as usize;
        let stages = f64::from(stages);
        let routes = EcubeRoutes::new(n);
        Self {
            n,
            stages,
            middle: MiddleBlocking::new(&routes),
            started: (0..n).map(|s| routes.share_started(s)).collect(),
            header: (0..n).map(|s| stages - 1.0 + stages * routes.mean_hops_from(s)).collect(),
            per_channel: routes.mean_hops() / n as f64,
            routes,
        }
    }

    /// Blocking of a class with the given `L_{c,s}`, the ejection channel last.
    fn blocking(&self, flow: &Flow, latencies: &[f64]) -> PathBlocking {
        let buffering = flow.buffering;
        let exponent = buffering.exponent();
        // (11) with (12): λ = Σ_s (1 - P_b^s(λ)) g f_s, where P_b^s(λ) = (L_s λ h̄ / n)^(1 + 2 m / M)
        let accepted_rate = root_of_increasing(0.0, flow.rate, |rate| {
            let (mut turned_away, mut slope) = (0.0, 0.0);
            for (share, latency) in self.started.iter().zip(latencies) {
                let load = latency * rate * self.per_channel;
                let probability = buffering.probability(load);
                turned_away += share * probability;
                if rate > 0.0 && load < 1.0 {
                    slope += share * exponent * probability / rate;
                }
            }
            (rate - flow.rate * (1.0 - turned_away), 1.0 + flow.rate * slope)
        });
        let on_channel = |s: usize| latencies[s] * accepted_rate * self.per_channel;
        let mut probabilities: Vec<f64> = (0..self.n).map(|s| buffering.probability(on_channel(s))).collect();
        // of a silent class the limit: what a message of it would meet
        let accepted: f64 = self.started.iter().zip(&probabilities).map(|(f, p)| f * (1.0 - p)).sum();
        let shares_started: Vec<f64> =
            self.started.iter().zip(&probabilities).map(|(f, p)| f * (1.0 - p) / accepted).collect();
        let middle = self.middle.lengths(&probabilities, &shares_started, buffering);
        // R7: (11) at the ejection channel
        let at_ejection = buffering.probability(latencies[self.n] * accepted_rate);
        probabilities.push(at_ejection);
        let ejection = at_ejection * (buffering.room() / 2.0 + buffering.message_flits / 2.0);
        PathBlocking { accepted_rate, probabilities, shares_started, middle, ejection }
    }

    /// `I_{c,s} + Bmid(c,s)` \[flits\].
    fn flits_on_way(&self, flow: &Flow, blocking: &PathBlocking, s: usize) -> f64 {
        // I = P_b^s m / 2
        blocking.probabilities[s] * flow.buffering.room() / 2.0 + blocking.middle[s].flits
    }

    /// How (10) changes with `L_{c,s}` through `P_b,c^s` alone: negative where `Bmid` falls faster than `I`
    /// rises.
    fn slope(
        &self,
        flow: &Flow,
        blocking: &PathBlocking,
        s: usize,
        latency: f64,
        cycles_per_flit: f64,
    ) -> f64 {
        // dP_b / dL = (1 + 2 m / M) P_b / L
        let slope = flow.buffering.exponent() * blocking.probabilities[s] / latency;
        slope * (flow.buffering.room() / 2.0 + blocking.middle[s].slope) * cycles_per_flit
    }
}

/// Solves an n-cube; `start` are `L_{c,s}` from which the iteration may set out, below the answer; `recorded` asks
/// for the working memory of the last iteration.
pub(super) fn solve(
    (dimension, stages): (u32, u32),
    traffic: &Traffic,
    options: &fixed_point::Options,
    start: Option<&[f64]>,
    range: Option<DistributionRange>,
    recorded: bool,
) -> Solved {
    let cube = Cube::new(dimension, stages);
    let most = options.max_iterations.min(MOST_ITERATIONS);
    let options = &fixed_point::Options { max_iterations: most, ..*options };
    let n = cube.n;
    let classes = &traffic.real_time;
    let shares = Shares::new(&traffic.vticks);
    let mut chain = LinkChain::new(classes.len());
    // chains of the network channels and, last, of the ejection channel
    let mut sharing = vec![Sharing::unknown(classes.len()); n + 1];
    let mut blocking = vec![PathBlocking::default(); classes.len()];
    let mut closing = vec![Closing::default(); classes.len()];
    let mut visitors: Vec<Visitor> = Vec::with_capacity(classes.len());

    let zero_load = || {
        let of_class = |flow: &Flow| {
            let on_way = cube.header.iter().map(|header| header + flow.message()).collect::<Vec<_>>();
            on_way.into_iter().chain([cube.stages - 1.0 + flow.message()])
        };
        classes.iter().flat_map(of_class).collect()
    };
    let mut latencies: Vec<f64> = start.map_or_else(zero_load, <[f64]>::to_vec);
    let mut history = recorded.then(History::default);
    // of every link, for the record
    let mut seen: Vec<Vec<Visitor>> = vec![Vec::new(); if recorded { n + 1 } else { 0 }];
    let report = if classes.is_empty() {
        Report::default()
    } else {
        fixed_point::solve(&mut latencies, options, |latencies, next| {
            if let Some(history) = &mut history {
                history.note(latencies);
            }
            visitors.clear();
            for (class, flow) in classes.iter().enumerate() {
                blocking[class] = cube.blocking(flow, &latencies[class * (n + 1)..(class + 1) * (n + 1)]);
                visitors.push(Visitor {
                    rate: blocking[class].accepted_rate,
                    fixed_cycles: cube.stages - 1.0,
                    flits: blocking[class].ejection + flow.message(),
                });
            }
            // R8: the ejection channel first, its mean shares stand in the stays of the others
            let (network, ejection) = sharing.split_at_mut(n);
            let ejection = &mut ejection[0];
            chain.solve(&shares, &visitors, ejection);
            if let Some(seen) = seen.get_mut(n) {
                seen.clone_from(&visitors);
            }
            let at_ejection: Vec<f64> =
                (0..classes.len()).map(|c| visitors[c].flits * ejection.cycles_per_flit[c]).collect();
            for (s, link) in network.iter_mut().enumerate() {
                visitors.clear();
                for (class, flow) in classes.iter().enumerate() {
                    let given_up = closing[class].channel.is_some();
                    let flits = cube.flits_on_way(flow, &blocking[class], s);
                    let fixed_cycles = cube.header[s] + at_ejection[class];
                    visitors.push(Visitor {
                        rate: blocking[class].accepted_rate * cube.per_channel,
                        // a class given up does not go away
                        fixed_cycles: if given_up { f64::INFINITY } else { fixed_cycles },
                        flits: if given_up || !flits.is_finite() { 0.0 } else { flits },
                    });
                }
                chain.solve(&shares, &visitors, link);
                if let Some(seen) = seen.get_mut(s) {
                    seen.clone_from(&visitors);
                }
                for (class, flow) in classes.iter().enumerate() {
                    let latency = latencies[class * (n + 1) + s];
                    let cycles_per_flit = link.cycles_per_flit[class];
                    // (10): L_s = P - 1 + P h_s + (O + M) S_n + (I + Bmid) S_s
                    let new = cube.header[s]
                        + at_ejection[class]
                        + cube.flits_on_way(flow, &blocking[class], s) * cycles_per_flit;
                    let slope = cube.slope(flow, &blocking[class], s, latency, cycles_per_flit);
                    next[class * (n + 1) + s] = closing[class].tempered(s, latency, new, slope);
                }
            }
            for (class, flits) in at_ejection.iter().enumerate() {
                let at = class * (n + 1) + n;
                // R7: L_n = P - 1 + (O + M) S_n
                let given_up = closing[class].channel.is_some();
                next[at] = if given_up { latencies[at] } else { cube.stages - 1.0 + flits };
            }
        })
    };
    let overloaded = |class: usize| {
        let path = &blocking[class];
        let mean: f64 =
            path.shares_started.iter().zip(&latencies[class * (n + 1)..]).map(|(w, l)| w * l).sum();
        beyond_saturation(classes[class].rate * mean)
    };
    let unsettled = report.status != Status::Converged && (0..classes.len()).all(overloaded);
    let mut answered = report.status == Status::Converged || unsettled;
    let mut outcomes = Vec::new();
    for (class, flow) in classes.iter().enumerate() {
        if unsettled {
            let found = Err(NoSolution::Unsettled);
            outcomes.push(Outcome { class: flow.class, found });
            continue;
        }
        let path = &blocking[class];
        let on_channel = |s: usize| sharing[s].cycles_per_flit[class];
        let cycles = PathCycles {
            on_channel: (0..n).map(on_channel).collect(),
            at_ejection: vec![on_channel(n); n],
            idle: sharing.iter().map(Sharing::idle).collect(),
        };
        let found = cube.class_solution(flow, path, &cycles, closing[class]).map(|mut found| {
            found.starved = sharing.iter().enumerate().find_map(|(s, link)| {
                let channel = if s == n { Channel::Ejection } else { Channel::Network(s) };
                link.starved_in[class].map(|company| Starved { channel, company })
            });
            found.latencies = range.map(|range| cube.latencies(class, flow, path, &sharing, &shares, range));
            found
        });
        outcomes.push(Outcome { class: flow.class, found });
    }
    let mut record = history.map(|history| {
        let class = |(class, flow): (usize, &Flow)| {
            let on_link = |s: usize| sharing[s].cycles_per_flit[class];
            ClassRecord {
                latencies: latencies[class * (n + 1)..(class + 1) * (n + 1)].to_vec(),
                path: Some((&blocking[class]).into()),
                cycles_per_flit: (0..n).map(on_link).collect(),
                cycles_per_flit_at_ejection: vec![on_link(n); n],
                ..ClassRecord::of(flow, ClassKind::RealTime)
            }
        };
        let iterated = IterationRecord { unknowns: unknowns(classes, n), history, report: report.clone() };
        Record {
            stages: cube.stages,
            classes: classes.iter().enumerate().map(class).collect(),
            links: Vec::new(),
            iterations: if classes.is_empty() { Vec::new() } else { vec![iterated] },
            cube: Some(CubeRecord {
                routes: cube.routes.clone(),
                middle: cube.middle.clone(),
                shares_started: cube.started.clone(),
                header_cycles: cube.header.clone(),
                per_channel: cube.per_channel,
            }),
        }
    });
    let report = match traffic.best_effort {
        None => report,
        Some(flow) => {
            let total: f64 = blocking.iter().map(|path| path.accepted_rate).sum();
            let loads: Vec<RealTimeLoad> = sharing
                .iter()
                .enumerate()
                .map(|(s, link)| RealTimeLoad {
                    idle: if classes.is_empty() { 1.0 } else { link.idle() },
                    rate: if s == n { total } else { total * cube.per_channel },
                })
                .collect();
            let (found, own) = if unsettled {
                (Err(NoSolution::Unsettled), Report::default())
            } else {
                best_effort(&cube, &flow, &loads, options, record.as_mut())
            };
            answered &= own.status == Status::Converged || found.is_err();
            outcomes.push(Outcome { class: flow.class, found });
            report.then(own)
        }
    };
    if let Some(record) = &mut record {
        if !classes.is_empty() {
            record.links = Record::links(&shares, seen, sharing);
        }
        record.complete(traffic, &outcomes, n);
    }
    Solved { report, answered, outcomes, state: latencies, record }
}

/// What is iterated: `L_{c,s}` of every class, the ejection channel last.
fn unknowns(classes: &[Flow], n: usize) -> Vec<(usize, Option<usize>)> {
    classes.iter().flat_map(|flow| (0..=n).map(|s| (flow.class, Some(s)))).collect()
}

impl From<&PathBlocking> for PathRecord {
    fn from(path: &PathBlocking) -> Self {
        let PathBlocking { accepted_rate, probabilities, shares_started, middle, ejection } = path.clone();
        Self { accepted_rate, probabilities, shares_started, middle, ejection }
    }
}

/// Best effort: (10) and (11) with the cycles per flit of (13) and below it.
fn best_effort(
    cube: &Cube,
    flow: &Flow,
    loads: &[RealTimeLoad],
    options: &fixed_point::Options,
    record: Option<&mut Record>,
) -> (Result<ClassSolution, NoSolution>, Report) {
    let n = cube.n;
    let mut own = ClassRecord::of(flow, ClassKind::BestEffort);
    let full = loads.iter().position(|load| !load.leaves_room());
    own.met = Some(MetRecord { loads: loads.to_vec(), message_flits: None, full });
    if let Some(full) = full {
        record.into_iter().for_each(|record| record.classes.push(own.clone()));
        let channel = if full == n { Channel::Ejection } else { Channel::Network(full) };
        return (Err(NoSolution::NoRoom { channel }), Report::default());
    }
    let message = flow.message();
    let mut cycles = PathCycles {
        on_channel: loads[..n].iter().map(|load| load.cycles_per_flit_on_channel(message)).collect(),
        at_ejection: vec![1.0; n],
        idle: loads.iter().map(|load| load.idle).collect(),
    };
    // R9: S_{C,n}^(s) follows from the channel on which the message started
    let at_ejection = |cycles: &PathCycles, middle: f64, s: usize| {
        loads[n].cycles_per_flit_at_ejection(message, cycles.on_channel[s], middle)
    };
    let zero_load = |s: usize| cube.header[s] + message * at_ejection(&cycles, 0.0, s);
    let mut latencies: Vec<f64> = (0..n).map(zero_load).collect();
    let spread: f64 = (0..n).map(|s| cube.started[s] * at_ejection(&cycles, 0.0, s)).sum();
    latencies.push(cube.stages - 1.0 + message * spread);

    let mut path = PathBlocking::default();
    let mut closing = Closing::default();
    let mut history = record.is_some().then(History::default);
    let report = fixed_point::solve(&mut latencies, options, |latencies, next| {
        if let Some(history) = &mut history {
            history.note(latencies);
        }
        if closing.channel.is_some() {
            next.copy_from_slice(latencies);
            return;
        }
        path = cube.blocking(flow, latencies);
        let mut mean = 0.0;
        for s in 0..n {
            cycles.at_ejection[s] = at_ejection(&cycles, path.middle[s].flits, s);
            mean += path.shares_started[s] * cycles.at_ejection[s];
            // (10)
            let new = cube.header[s]
                + (path.ejection + message) * cycles.at_ejection[s]
                + cube.flits_on_way(flow, &path, s) * cycles.on_channel[s];
            let slope = cube.slope(flow, &path, s, latencies[s], cycles.on_channel[s]);
            next[s] = closing.tempered(s, latencies[s], new, slope);
        }
        let ejected = cube.stages - 1.0 + (path.ejection + message) * mean;
        next[n] = if ejected.is_finite() { ejected } else { latencies[n] };
    });
    if let Some((record, history)) = record.zip(history) {
        own.latencies = latencies.clone();
        own.path = Some((&path).into());
        own.cycles_per_flit = cycles.on_channel.clone();
        own.cycles_per_flit_at_ejection = cycles.at_ejection.clone();
        record.classes.push(own);
        let unknowns = unknowns(&[*flow], n);
        record.iterations.push(IterationRecord { unknowns, history, report: report.clone() });
    }
    let mean: f64 = path.shares_started.iter().zip(&latencies).map(|(w, l)| w * l).sum();
    if report.status != Status::Converged && beyond_saturation(flow.rate * mean) {
        return (Err(NoSolution::Unsettled), report);
    }
    (cube.class_solution(flow, &path, &cycles, closing), report)
}

/// Cycles per flit of one class all along its paths.
struct PathCycles {
    /// `S_{c,s}`.
    on_channel: Vec<f64>,
    /// `S_{c,n}` for messages that started on channel `s`; real-time classes have one value.
    at_ejection: Vec<f64>,
    /// `π_∅` of every chain, the ejection channel last.
    idle: Vec<f64>,
}

impl Cube {
    fn class_solution(
        &self,
        flow: &Flow,
        path: &PathBlocking,
        cycles: &PathCycles,
        closing: Closing,
    ) -> Result<ClassSolution, NoSolution> {
        if let Some(channel) = closing.channel {
            return Err(NoSolution::Closed { channel: Channel::Network(channel) });
        }
        let n = self.n;
        let weighted =
            |of: &dyn Fn(usize) -> f64| -> f64 { (0..n).map(|s| path.shares_started[s] * of(s)).sum() };
        let on_way = |s: usize| self.flits_on_way(flow, path, s);
        let ejected = path.ejection + flow.message();
        // L_c = Σ_s L_{c,s} λ^first_{c,s} / λ_c, part by part
        let blocking = path.ejection + weighted(&on_way);
        let transfer = weighted(&|s| self.header[s]) + flow.message();
        let sharing =
            weighted(&|s| ejected * (cycles.at_ejection[s] - 1.0) + on_way(s) * (cycles.on_channel[s] - 1.0));
        let latency = transfer + blocking + sharing;
        let lone_latency = self.stages - 1.0 + self.stages * self.routes.mean_hops() + flow.message();
        // (14)
        let cycles_per_flit = weighted(&|s| cycles.on_channel[s]);
        let mut channels: Vec<ChannelSolution> = (0..n)
            .map(|s| ChannelSolution {
                channel: Channel::Network(s),
                latency: self.header[s] + ejected * cycles.at_ejection[s] + on_way(s) * cycles.on_channel[s],
                rate: path.accepted_rate * self.per_channel,
                started_rate: path.accepted_rate * path.shares_started[s],
                blocking_probability: path.probabilities[s],
                blocking_length: path.probabilities[s] * flow.buffering.room() / 2.0,
                middle_length: path.middle[s].flits,
                cycles_per_flit: cycles.on_channel[s],
                idle: cycles.idle[s],
            })
            .collect();
        let at_ejection = weighted(&|s| cycles.at_ejection[s]);
        channels.push(ChannelSolution {
            channel: Channel::Ejection,
            latency: self.stages - 1.0 + ejected * at_ejection,
            rate: path.accepted_rate,
            started_rate: 0.0,
            blocking_probability: path.probabilities[n],
            blocking_length: path.ejection,
            middle_length: 0.0,
            cycles_per_flit: at_ejection,
            idle: cycles.idle[n],
        });
        let busiest = channels.iter().map(|c| c.latency * c.rate).fold(0.0, f64::max);
        let turned_away: f64 = (0..n).map(|s| self.started[s] * path.probabilities[s]).sum();
        Ok(ClassSolution {
            transfer,
            lone_latency,
            blocking,
            sharing,
            blocking_probability: turned_away,
            blocking_length: blocking,
            cycles_per_flit,
            utilization: path.accepted_rate * flow.message(),
            router_load: busiest.min(1.0),
            accepted_rate: path.accepted_rate,
            source_load: flow.rate * latency,
            wait: SourceWait::new(flow.rate, latency, lone_latency, cycles_per_flit),
            starved: None,
            channels,
            latencies: None,
        })
    }

    /// (20)-(23): network channels delay by the flits that block, the ejection channel by those and the message;
    /// R11: all paths of a length are equally likely.
    fn latencies(
        &self,
        class: usize,
        flow: &Flow,
        path: &PathBlocking,
        sharing: &[Sharing],
        shares: &Shares,
        range: DistributionRange,
    ) -> Latencies {
        let message = flow.message() as u32;
        let limit = range.cycles / (self.n + 1);
        let completion = |s: usize, own_flits: u32| {
            let blocking = BlockingLength::of(path.probabilities[s], flow.buffering);
            sharing[s].company(class, shares).completion(blocking, own_flits, limit)
        };
        let on_channels: Vec<Vec<f64>> = (0..self.n).map(|s| completion(s, 0)).collect();
        let at_ejection = completion(self.n, message);
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
                let header = self.stages as u32 * (index as u32 + 2) - 1; // P - 1 + P h
                Distribution::new(header, &sum)
            })
            .collect();
        let shares = (1..=self.n).map(|h| self.routes.share_of_hops(h));
        Latencies { all: Distribution::mixture(shares.zip(&by_hops)), by_hops }
    }
}
