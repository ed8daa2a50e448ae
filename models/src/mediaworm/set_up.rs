//! Set-up of circuits in a whole network, §1.7 and §6.8: streams that ask one after another, or circuits that come and
//! go.
//!
//! In one router a channel behind the crossbar is all that an attempt asks for: occupancies of streams that ask one
//! after another are a chain, and circuits that come and go find an Erlang station of one server at each virtual
//! channel. Over several routers the same virtual channel must be free on every channel; the numbers of circuits take
//! the place of their distribution there, and a channel is free, the one before it being free, with
//!
//! ```text
//! (1 - q) / (1 - q_both),   q_both: share of the virtual channels that circuits over both channels take
//! ```
//!
//! (Barry and Humblet, IEEE JSAC 14 (1996) 858: without conversion of wavelengths).

use std::collections::BTreeMap;

use crate::queueing::ErlangB;
use flitwise_language::network::{Hop, Network};
use flitwise_language::scenario::{CircuitsSpec, Scenario};

use super::circuits::drawn_loss;

/// What becomes of the circuits that are asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SetUp {
    /// Circuits asked for, attempts at them, dropped ones, and circuits that are set up; where they come and go, per
    /// circuit asked for.
    pub asked: f64,
    /// See above.
    pub attempts: f64,
    /// See above.
    pub dropped: f64,
    /// See above.
    pub established: f64,
    /// From the first probe to the acknowledgement of a circuit that is set up \[cycles\].
    pub delay: f64,
    /// Circuits that stand at once.
    pub standing: f64,
}

/// What circuits have of a network between two of its nodes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Way {
    /// How many circuits take it.
    pub(super) circuits: f64,
    /// Channels between routers.
    pub(super) hops: u32,
    /// Circuits on its links: on the first, and the two largest of all of them.
    pub(super) first: f64,
    pub(super) most: [f64; 2],
}

/// Occupancies of less weight are left out.
const NOTHING: f64 = 1e-15;
/// Most nodes of a network whose paths are gone through one by one.
pub(super) const MOST_NODES: u32 = 256;

/// Circuits of a class: streams at each node, or circuits that come and go; and the ways of those that stay, over
/// several routers.
pub(super) fn set_up(scenario: &Scenario, class: usize) -> Option<(SetUp, Vec<Way>)> {
    let (spec, frames) = (scenario.circuits()?, scenario.frames(class)?);
    let network = scenario.topology();
    let lanes = scenario.classes()[class].virtual_channels;
    let pool = spec.pool.unwrap_or(lanes);
    let probe = f64::from(scenario.router().pipeline_stages);
    if network.most_hops() > 0 {
        return Some(Paths::new(&network, pool, probe).solve(spec, frames.streams, lanes));
    }
    let nodes = network.nodes();
    let found = match spec.attempts.zip(spec.holding) {
        Some((rate, holding)) => {
            coming(Calls { rate, holding, retries: spec.retries }, (nodes, lanes, pool), probe)
        }
        None => one_after_another(frames.streams * nodes, pool * nodes, spec.attempts_per_stream, probe),
    };
    Some((found, Vec::new()))
}

/// What a stream does that tries up to `most` times, each time with success `p`: probability of success, mean attempts,
/// and mean dropped ones before a success.
fn tries(p: f64, most: f64) -> (f64, f64, f64) {
    if p <= 0.0 {
        return (0.0, most, 0.0);
    }
    let all_fail = if p < 1.0 { (most * (-p).ln_1p()).exp() } else { 0.0 };
    let success = 1.0 - all_fail;
    // a geometric number cut off at `most`
    (success, success / p, (1.0 - p) / p - most * all_fail / success)
}

/// Streams that draw of one pool, one after another; exact where all its virtual channels are alike.
fn one_after_another(streams: u32, pool: u32, most: u32, probe: f64) -> SetUp {
    let all = f64::from(pool);
    let mut found = SetUp { asked: streams.into(), ..SetUp::default() };
    // probabilities of `first`, `first + 1`, .. circuits
    let (mut first, mut law) = (0usize, vec![1.0]);
    let mut delays = 0.0;
    for _ in 0..streams {
        let mut next = vec![0.0; law.len() + 1];
        for (at, weight) in law.iter().enumerate() {
            let (success, attempts, before) = tries(1.0 - (first + at) as f64 / all, most.into());
            found.attempts += weight * attempts;
            found.established += weight * success;
            delays += weight * success * (probe * before + probe + 1.0);
            next[at] += weight * (1.0 - success);
            next[at + 1] += weight * success;
        }
        let skipped = next.iter().position(|weight| *weight > NOTHING).unwrap_or(0);
        let kept = next.iter().rposition(|weight| *weight > NOTHING).unwrap_or(0);
        (first, law) = (first + skipped, next[skipped..=kept].to_vec());
    }
    found.dropped = found.attempts - found.established;
    found.delay = delays / found.established;
    found.standing = found.established;
    found
}

/// Circuits that come and go at a node.
#[derive(Clone, Copy)]
struct Calls {
    rate: f64,
    holding: f64,
    retries: u32,
}

impl Calls {
    /// A circuit of which each attempt succeeds with `p`, a dropped one takes `lost` and the last one `last` cycles;
    /// injection lanes are `lanes` servers.
    fn outcome(self, p: f64, (lost, last): (f64, f64), lanes: u32) -> Outcome {
        let most = f64::from(self.retries) + 1.0;
        let (success, attempts, before) = tries(p, most);
        let delay = lost * before + last;
        let held = success * (delay + self.holding) + (1.0 - success) * most * lost;
        let no_lane = ErlangB { rate: self.rate * held, mean: 1.0, servers: lanes }.blocking_probability();
        Outcome { enters: 1.0 - no_lane, success, attempts, delay }
    }
}

struct Outcome {
    /// Probability of a free injection lane.
    enters: f64,
    success: f64,
    attempts: f64,
    delay: f64,
}

impl Outcome {
    fn set_up(&self, coming: Calls, nodes: f64) -> SetUp {
        let established = self.enters * self.success;
        let attempts = self.enters * self.attempts;
        SetUp {
            asked: 1.0,
            attempts,
            dropped: attempts - established,
            established,
            delay: self.delay,
            standing: nodes * coming.rate * established * coming.holding,
        }
    }
}

/// Steps of a fixed point that is met sooner, and its tolerance.
const MOST_STEPS: u32 = 500;
const CLOSE: f64 = 1e-12;

/// One router: every virtual channel behind it is a server, which the injection links thin out.
fn coming(coming: Calls, (nodes, lanes, pool): (u32, u32, u32), probe: f64) -> SetUp {
    let mut enters = 1.0;
    for _ in 0..MOST_STEPS {
        // the lane is taken before the acknowledgement
        let traffic = coming.rate * enters * (coming.holding + 1.0) / f64::from(pool);
        let retries = f64::from(coming.retries) + 1.0;
        let taken = drawn_loss(traffic, coming.retries).powf(1.0 / retries);
        let outcome = coming.outcome(1.0 - taken, (probe, probe + 1.0), lanes);
        if (outcome.enters - enters).abs() < CLOSE {
            return outcome.set_up(coming, nodes.into());
        }
        enters = f64::midpoint(enters, outcome.enters);
    }
    let traffic = coming.rate * enters * (coming.holding + 1.0) / f64::from(pool);
    let taken = drawn_loss(traffic, coming.retries).powf(1.0 / (f64::from(coming.retries) + 1.0));
    coming.outcome(1.0 - taken, (probe, probe + 1.0), lanes).set_up(coming, nodes.into())
}

/// All paths of a network, and what circuits take of its channels.
struct Paths {
    /// By source and destination: the pairs of a channel and the place of it with the one before it.
    paths: Vec<Vec<Vec<(usize, usize)>>>,
    channels: usize,
    couples: usize,
    pool: f64,
    probe: f64,
}

/// Circuits on each channel, on each two in a row, and from each source to each destination.
#[derive(Clone)]
struct Occupancy {
    channel: Vec<f64>,
    both: Vec<f64>,
    pair: Vec<Vec<f64>>,
}

/// What an attempt of a node meets: its success, and cycles of one that is dropped and of one that is not.
struct Attempt {
    success: f64,
    lost: f64,
    last: f64,
    /// By destination: its success.
    each: Vec<f64>,
}

impl Paths {
    fn new(network: &Network, pool: u32, probe: f64) -> Self {
        let mut couples: BTreeMap<(usize, usize), usize> = BTreeMap::new();
        let nodes = network.nodes();
        let mut path = |source: u32, destination: u32| {
            let mut before = None;
            let couple = |hop: Hop| {
                let channel = (hop.router * network.ports() + hop.port) as usize;
                let next = couples.len() + 1;
                // 0: none before it
                let couple = before.map_or(0, |before| *couples.entry((before, channel)).or_insert(next));
                before = Some(channel);
                (channel, couple)
            };
            network.path(source, destination, 0).map(couple).collect()
        };
        let others = |source: u32| {
            (0..nodes).filter(move |destination| *destination != source || network.self_traffic())
        };
        let paths: Vec<Vec<_>> =
            (0..nodes).map(|source| others(source).map(|to| path(source, to)).collect()).collect();
        let channels = (network.routers() * network.ports()) as usize;
        Self { paths, channels, couples: couples.len() + 1, pool: pool.into(), probe }
    }

    fn attempt(&self, source: usize, taken: &Occupancy) -> Attempt {
        let paths = &self.paths[source];
        let share = 1.0 / paths.len() as f64;
        let (mut each, mut lost, mut last) = (Vec::with_capacity(paths.len()), 0.0, 0.0);
        for path in paths {
            let mut free = 1.0;
            for (at, (channel, couple)) in path.iter().enumerate() {
                let part = |circuits: f64| (1.0 - circuits / self.pool).max(0.0);
                let both = part(taken.both[*couple]);
                let pass = if both > 0.0 { (part(taken.channel[*channel]) / both).min(1.0) } else { 0.0 };
                lost += share * free * (1.0 - pass) * self.probe * (at + 1) as f64;
                free *= pass;
            }
            last += free * (self.probe + 1.0) * path.len() as f64;
            each.push(free);
        }
        let all: f64 = each.iter().sum();
        let success = all * share;
        let lost = if success < 1.0 { lost / (1.0 - success) } else { 0.0 };
        Attempt { success, lost, last: if all > 0.0 { last / all } else { 0.0 }, each }
    }

    /// So many circuits of a node are added, to destinations as attempts reach them.
    fn add(&self, source: usize, attempt: &Attempt, circuits: f64, taken: &mut Occupancy) {
        let all: f64 = attempt.each.iter().sum();
        if all <= 0.0 {
            return;
        }
        let pairs = self.paths[source].iter().zip(&attempt.each).zip(&mut taken.pair[source]);
        for ((path, free), pair) in pairs {
            let weight = circuits * free / all;
            *pair += weight;
            for (channel, couple) in path {
                taken.channel[*channel] += weight;
                taken.both[*couple] += if *couple > 0 { weight } else { 0.0 };
            }
        }
    }

    fn none(&self) -> Occupancy {
        let pair = self.paths.iter().map(|paths| vec![0.0; paths.len()]).collect();
        Occupancy { channel: vec![0.0; self.channels], both: vec![0.0; self.couples], pair }
    }

    fn solve(&self, spec: CircuitsSpec, streams: u32, lanes: u32) -> (SetUp, Vec<Way>) {
        match spec.attempts.zip(spec.holding) {
            Some((rate, holding)) => {
                (self.coming(Calls { rate, holding, retries: spec.retries }, lanes), Vec::new())
            }
            None => {
                let (found, taken) = self.one_after_another(streams, spec.attempts_per_stream.into());
                (found, self.ways(&taken))
            }
        }
    }

    fn one_after_another(&self, streams: u32, most: f64) -> (SetUp, Occupancy) {
        let (mut taken, mut found, mut delays) = (self.none(), SetUp::default(), 0.0);
        for _ in 0..streams {
            for source in 0..self.paths.len() {
                let attempt = self.attempt(source, &taken);
                let (success, attempts, before) = tries(attempt.success, most);
                found.asked += 1.0;
                found.attempts += attempts;
                found.established += success;
                delays += success * (attempt.lost * before + attempt.last);
                self.add(source, &attempt, success, &mut taken);
            }
        }
        let delay = if found.established > 0.0 { delays / found.established } else { 0.0 };
        let dropped = found.attempts - found.established;
        (SetUp { dropped, delay, standing: found.established, ..found }, taken)
    }

    /// Every way that circuits take.
    fn ways(&self, taken: &Occupancy) -> Vec<Way> {
        let mut ways = Vec::new();
        for (paths, pairs) in self.paths.iter().zip(&taken.pair) {
            let first: f64 = pairs.iter().sum();
            for (path, circuits) in paths.iter().zip(pairs).filter(|(_, circuits)| **circuits > 0.0) {
                let mut most = [first, 0.0];
                for (channel, _) in path {
                    let here = taken.channel[*channel];
                    most = if here > most[0] { [here, most[0]] } else { [most[0], most[1].max(here)] };
                }
                ways.push(Way { circuits: *circuits, hops: path.len() as u32 - 1, first, most });
            }
        }
        ways
    }

    fn coming(&self, coming: Calls, lanes: u32) -> SetUp {
        let (mut taken, nodes) = (self.none(), self.paths.len());
        let mut found = SetUp::default();
        for _ in 0..MOST_STEPS {
            let mut next = self.none();
            found = SetUp::default();
            for source in 0..nodes {
                let attempt = self.attempt(source, &taken);
                let outcome = coming.outcome(attempt.success, (attempt.lost, attempt.last), lanes);
                let one = outcome.set_up(coming, 1.0);
                self.add(source, &attempt, one.standing, &mut next);
                found.attempts += one.attempts / nodes as f64;
                found.dropped += one.dropped / nodes as f64;
                found.established += one.established / nodes as f64;
                found.delay += one.delay * one.established / nodes as f64;
                found.standing += one.standing;
            }
            found.delay /= if found.established > 0.0 { found.established } else { 1.0 };
            let mut change = 0.0f64;
            let pairs =
                taken.channel.iter_mut().zip(&next.channel).chain(taken.both.iter_mut().zip(&next.both));
            for (old, new) in pairs {
                change = change.max((*new - *old).abs());
                *old = f64::midpoint(*old, *new);
            }
            if change < CLOSE * self.pool {
                break;
            }
        }
        SetUp { asked: 1.0, ..found }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{attempts, established};
    use super::*;
    use crate::mediaworm::assert_near;

    #[test]
    fn one_router_has_the_moments_of_single_draws() {
        let found = one_after_another(187, 192, 1_000_000, 5.0);
        assert_near(found.attempts, attempts(192, 187).0, 1e-9);
        assert_near(found.established, 187.0, 1e-12);
        assert_near(found.delay, (5.0 * found.attempts + 187.0) / 187.0, 1e-9);
        // no second try: as many draws as streams
        let single = one_after_another(160, 192, 1, 5.0);
        assert_near(single.established, established(192, 160.0), 1e-9);
        assert_near(single.attempts, 160.0, 1e-12);
        assert_near(single.delay, 6.0, 1e-12);
        // more streams than virtual channels: the others try in vain
        let full = one_after_another(10, 8, 5, 5.0);
        assert!(full.established < 8.0 && full.attempts <= 50.0, "{full:?}");
    }

    #[test]
    fn few_circuits_that_come_and_go_are_an_erlang_station() {
        let one = Calls { rate: 1e-6, holding: 1e6, retries: 0 };
        // plenty of injection lanes: loss a / (1 + a), a = 1 / 4
        let found = coming(one, (8, 64, 4), 5.0);
        assert_near(found.established, 0.8, 1e-5);
        assert_near(found.dropped / found.attempts, 0.2, 1e-5);
        let again = coming(Calls { retries: 1, rate: 4e-6, ..one }, (8, 64, 4), 5.0);
        assert_near((again.dropped / again.attempts).powi(2), drawn_loss(1.0, 1), 1e-5);
        assert_near(again.established, 1.0 - drawn_loss(1.0, 1), 1e-5);
    }
}
