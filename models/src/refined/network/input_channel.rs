//! Waits in the input channels of later routers.

use realfft::num_complex::Complex64;

use super::super::grid::{Grid, Transform, product};
use super::super::law::Law;
use super::super::paths::Output;
use super::super::station::{OutputDelays, Shape};
use super::super::tail_and_header::{ALONE, CLOSE, STATES};
use super::stations::Stations;
use super::{Blocking, OneClass};

/// Wait of a header in an input channel, behind a predecessor that in general wants another output \[cells\].
pub(super) struct ChannelWait {
    /// `D` by how the message comes behind its predecessor.
    pub(super) laws: [Law; STATES],
    /// Over all messages.
    pub(super) mean: f64,
    /// The part of it that is waited inside the channel, not in the output buffer upstream.
    pub(super) inside: f64,
    /// `z`: how long the tail is kept from the crossbar upstream since the channel is full.
    pub(super) full: Law,
    /// `D` as far as the channel has room.
    pub(super) ahead: Law,
}

impl OneClass<'_> {
    /// Waits in each input channel.
    ///
    /// A message is held up as long as its predecessor, which waited `D` itself, and by what holds up that one beyond
    /// what the link upstream had put between the two already. Messages come in trains, in which a share `u` follows
    /// another: at once, `s = 1`, if the two had come over different inputs (`S_2`), or else `s = H` apart. Between two
    /// trains the channel idles for a time `Exp(λ_c)`. With `x_0` and `x_1` for what blocks the first of a train and
    /// the others at their output ([`super::OneClass::own_waits`])
    ///
    /// ```text
    /// Y_i(s) = (max(x_i + H - G, H - A) - s)+,   u = λ_c (M + G + s)
    /// D = (1 - u) Y_0 * D_0 + u Y_1 * D,   D_0 = (D - Exp(λ_c))+     means over s: who follows, who does not
    /// D(s) = (1 - u) Y_0(s) * D_0 + u Y_1(s) * D
    /// ```
    ///
    /// (Lindley's recursion; that trains are geometric is our approximation). Inside the channel it waits as far as the
    /// rest of the predecessor fits into the buffer, no longer than `b - 3`; what is left of `D` it waits in the output
    /// buffer upstream, or before it (not so where messages are longer than the buffer, nor in best effort beside
    /// bursts: there it is left to other parts). Where all `x` are alike the mean is that of two queues M/G/1 in a
    /// row within a few per cent.
    ///
    /// A tail crosses the router upstream when the flit `2 b` places ahead, one of a message before it, has crossed
    /// this one: `z = (D' - K - E)+` later than a lone one, `K = 2 b - 5` (three cycles on the way, one of credit for
    /// each buffer), where `E` are the pauses between the `floor(2 b / M) - 1` messages between. What its predecessor
    /// waited for longer than that it has waited upstream: `D' = min(D, K + E) * Y`. So each message is kept from the
    /// crossbar for no longer than what holds up its predecessor. `z` is a part of `x` at the router upstream: later
    /// dimensions first. The wait `D` itself is told here once, whole, wherever it is waited.
    pub(super) fn in_channel(&self, stations: &Stations, gaps: f64, held: &Blocking) -> Vec<ChannelWait> {
        let (grid, shape) = (self.grid, self.shape);
        let arriving = grid.law(self.gaps_of_mean(gaps).over(grid, shape.message));
        let covered = Law::constant(shape.header - self.hidden());
        let room = Law::constant((shape.buffer - shape.credit).max(0.0));
        let room_for = BetweenCrossbars::new(shape);
        let mut full: Vec<Law> = vec![Law::zero(); self.paths.channels.len()];
        let mut wait = |s: u32| {
            let different = self.paths.different(s);
            let rate = self.rate * self.kinds.own_rate(s);
            let more = |held_up: &Law, between: f64| {
                grid.excess(held_up, &arriving.plus(between)).max(&covered.less(between))
            };
            let more = [ALONE, CLOSE].map(|state| {
                let held_up = self.held_up_ahead(stations, held, &full, s, state);
                [more(&held_up, shape.idle), more(&held_up, shape.header)]
            });
            let between = different * shape.idle + (1.0 - different) * shape.header;
            let follows = (rate * (shape.message + between + arriving.mean())).min(0.98);
            let more = more.map(|more| more.map(|law| grid.transform(&law)));
            let trains = Trains { grid, follows, different, decay: (-rate).exp(), more };
            let (alone, behind) = trains.waits();
            let laws = trains.by_predecessor(alone.clone(), &behind);
            // min(D, K + pauses) * Y, or no more than K where the flit 2 b ahead is one of the own message
            let most = room_for.most(grid, follows, trains.decay);
            // a hole that a burst leaves stalls long messages of a train at once, not one behind the other
            let ahead = if shape.is_short() && self.interface.work.is_some() {
                Law::zero()
            } else if room_for.messages > 0.0 {
                let (first, behind) = (alone.min(&most), grid.law(behind).min(&most));
                let [_, close, spaced] = trains.by_predecessor(first, &grid.transform(&behind));
                trains.mixture(&[alone, close, spaced])
            } else {
                trains.mixture(&laws).min(&most)
            };
            let full_channel = if shape.is_short() { Law::zero() } else { grid.excess(&ahead, &most) };
            full[s as usize] = full_channel.clone();
            let within = laws.each_ref().map(|law| law.min(&room));
            let inside = trains.mean(&within);
            // the chain of full buffers tells what becomes of the rest of long messages; a hole that a burst leaves
            // holds up all messages of a train at once, and they wait for it at the output
            let cut = shape.is_short() || self.interface.work.is_some();
            let laws = if cut { within } else { laws };
            ChannelWait { mean: trains.mean(&laws), inside, laws, full: full_channel, ahead }
        };
        // later dimensions first
        let mut found: Vec<ChannelWait> =
            (0..self.paths.channels.len() as u32).rev().map(&mut wait).collect();
        found.reverse();
        found
    }

    /// `x + H` of a predecessor in the channel of dimension `s`, alone or behind another; `full` of later dimensions.
    fn held_up_ahead(&self, stations: &Stations, held: &Blocking, full: &[Law], s: u32, state: usize) -> Law {
        let (grid, shape) = (self.grid, self.shape);
        let part = |&(share, output): &(f64, Output)| {
            let station = &stations.known[stations.place(output)].1;
            let OutputDelays { waits, blocked, .. } = &station.met;
            if shape.is_short() {
                let held = if self.paths.is_end(output.to) { &held.on_ejection } else { &held.on_channel };
                return (share, grid.sum(&waits.grant, held));
            }
            // as often as it waits for its class
            let [alone, behind] = &station.own;
            let as_often = alone.positive() / station.met.own.positive().max(1e-12);
            let as_often = as_often.min(1.0);
            let mut alone = blocked.sometimes(as_often);
            let mut behind = behind.clone();
            if let Some(full) = full.get(output.to as usize).filter(|z| z.positive() > 0.0) {
                let held = grid.sum(&waits.grant.sometimes(as_often), full);
                alone = alone.max_in_step(&held);
                behind = grid.sum(&behind, full);
            }
            let same = if state == ALONE { 0.0 } else { self.paths.same(output) };
            (share, Law::mixture(&[(1.0 - same, &alone), (same, &behind)]))
        };
        let parts: Vec<(f64, Law)> = self.paths.onward(s).iter().map(part).collect();
        Law::mix(&parts).plus(shape.header)
    }
}

/// Messages of a channel in trains of geometric length.
struct Trains<'g> {
    grid: &'g Grid,
    /// `u`: probability that a message follows another.
    follows: f64,
    /// Probability that the two had come over different inputs.
    different: f64,
    /// `exp(-λ_c)`: the pause between two trains exceeds a cell.
    decay: f64,
    /// `Y_i(s)` of a predecessor that is the first of a train (0) or a later one (1), at both distances `s`.
    more: [[Transform; 2]; 2],
}

impl Trains<'_> {
    /// `Y_i`, whatever the distance.
    fn at_any_distance(&self, state: usize) -> Transform {
        let mean = |(close, spaced): (&Complex64, &Complex64)| {
            close * self.different + spaced * (1.0 - self.different)
        };
        self.more[state][0].iter().zip(&self.more[state][1]).map(mean).collect()
    }

    /// `D_0` and `D = (1 - u) Y_0 D_0 / (1 - u Y_1)`.
    fn waits(&self) -> (Law, Transform) {
        const ROUNDS: usize = 4;
        let ahead: Transform = self
            .at_any_distance(0)
            .iter()
            .zip(&self.at_any_distance(1))
            .map(|(first, later)| first * (1.0 - self.follows) / (1.0 - later * self.follows))
            .collect();
        let mut alone = Law::zero();
        let mut behind = ahead.clone();
        for _ in 0..ROUNDS {
            alone = less_exponential(&self.grid.law(behind), self.decay);
            behind = product(&ahead, &self.grid.transform(&alone));
        }
        (alone, behind)
    }

    /// `D_0`, and `D(s) = (1 - u) Y_0(s) * D_0 + u Y_1(s) * D` at both distances.
    fn by_predecessor(&self, alone: Law, behind: &Transform) -> [Law; STATES] {
        let first = self.grid.transform(&alone);
        let next = |i: usize| {
            let sum = |(((first, behind), x), y): (((&Complex64, &Complex64), &Complex64), &Complex64)| {
                first * x * (1.0 - self.follows) + behind * y * self.follows
            };
            let more = first.iter().zip(behind).zip(&self.more[0][i]).zip(&self.more[1][i]);
            self.grid.law(more.map(sum).collect())
        };
        let [close, spaced] = [next(0), next(1)];
        [alone, close, spaced]
    }

    /// Shares of messages by how they come behind their predecessors.
    fn shares(&self) -> [f64; STATES] {
        [1.0 - self.follows, self.follows * self.different, self.follows * (1.0 - self.different)]
    }

    fn mixture(&self, laws: &[Law; STATES]) -> Law {
        let [alone, close, spaced] = self.shares();
        Law::mixture(&[(alone, &laws[0]), (close, &laws[1]), (spaced, &laws[2])])
    }

    fn mean(&self, laws: &[Law; STATES]) -> f64 {
        let [alone, close, spaced] = self.shares();
        alone * laws[0].mean() + close * laws[1].mean() + spaced * laws[2].mean()
    }
}

/// Room for flits between two crossbars.
struct BetweenCrossbars {
    /// `K = 2 b - 5` \[cells\]
    flits: f64,
    /// Whole messages of `2 b` flits.
    messages: f64,
}

impl BetweenCrossbars {
    /// Two buffers, less three cycles on the way and one of credit for each, as three are between header and header.
    fn new(shape: Shape) -> Self {
        let slots = 2.0 * shape.buffer;
        let flits = (slots - 5.0 / 3.0 * shape.credit).max(0.0);
        Self { flits, messages: (slots / shape.message + 1e-9).floor() }
    }

    /// `K + E`: flits, and `Exp(λ_c)` with the probability `1 - u` between each two messages.
    fn most(&self, grid: &Grid, follows: f64, decay: f64) -> Law {
        let between = self.messages - 1.0;
        if between < 1.0 {
            return Law::constant(self.flits);
        }
        let pause = |z: &Complex64| {
            let idle = (1.0 - decay) / (1.0 - z * decay);
            ((1.0 - follows) * idle + follows).powf(between)
        };
        grid.law(grid.points().iter().map(pause).collect()).plus(self.flits)
    }
}

/// `(X - E)+` of an exponential time that exceeds a cell with the probability `decay`.
pub(super) fn less_exponential(law: &Law, decay: f64) -> Law {
    let mut sum = 0.0;
    let mut weights: Vec<f64> = law.probabilities().to_vec();
    for p in weights.iter_mut().rev() {
        sum = sum * decay + *p;
        *p = sum * (1.0 - decay);
    }
    weights[0] += 1.0 - weights.iter().sum::<f64>();
    Law::of(weights)
}
