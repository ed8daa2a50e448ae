//! Waits in the input channels of later routers.

use realfft::num_complex::Complex64;

use super::super::ecube_paths::Output;
use super::super::grid::{Grid, Transform, product};
use super::super::law::Law;
use super::super::station::OutputDelays;
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
    /// `D` as far as the channel has room.
    pub(super) ahead: Law,
}

impl OneClass<'_> {
    /// Waits in the input channel of each dimension.
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
    pub(super) fn in_channel(&self, stations: &Stations, gaps: f64, held: &Blocking) -> Vec<ChannelWait> {
        let (grid, shape, rate) = (self.grid, self.shape, self.channel.rate);
        let arriving = grid.law(self.gaps_of_mean(gaps).over(grid, shape.message));
        let covered = Law::constant(shape.header - self.hidden());
        let room = Law::constant((shape.buffer - shape.credit).max(0.0));
        let between_crossbars = Law::constant((2.0 * shape.buffer - 5.0 / 3.0 * shape.credit).max(0.0));
        let wait = |s: u32| {
            let different = self.paths.crossing(Output { from: None, to: Some(s) }).different;
            let more = |held_up: &Law, between: f64| {
                grid.excess(held_up, &arriving.plus(between)).max(&covered.less(between))
            };
            let more = [ALONE, CLOSE].map(|state| {
                let held_up = self.held_up_ahead(stations, held, s, state);
                [more(&held_up, shape.idle), more(&held_up, shape.header)]
            });
            let between = different * shape.idle + (1.0 - different) * shape.header;
            let follows = (rate * (shape.message + between + arriving.mean())).min(0.98);
            let more = more.map(|more| more.map(|law| grid.transform(&law)));
            let trains = Trains { grid, follows, different, decay: (-rate).exp(), more };
            let (alone, behind) = trains.waits();
            let laws = trains.by_predecessor(alone, &behind);
            // a hole that a burst leaves stalls long messages of a train at once, not one behind the other
            let ahead = if shape.is_short() && self.interface.work.is_some() {
                Law::zero()
            } else {
                trains.mixture(&laws).min(&between_crossbars)
            };
            let within = laws.each_ref().map(|law| law.min(&room));
            let inside = trains.mean(&within);
            // the chain of full buffers tells what becomes of the rest of long messages; a hole that a burst leaves
            // holds up all messages of a train at once, and they wait for it at the output
            let cut = shape.is_short() || self.interface.work.is_some();
            let laws = if cut { within } else { laws };
            ChannelWait { mean: trains.mean(&laws), inside, laws, ahead }
        };
        (0..self.dimension).map(wait).collect()
    }

    /// `x + H` of a predecessor in the channel of dimension `s`, alone or behind another.
    fn held_up_ahead(&self, stations: &Stations, held: &Blocking, s: u32, state: usize) -> Law {
        let (grid, shape) = (self.grid, self.shape);
        let part = |(share, output): (f64, Output)| {
            let station = &stations.known[stations.place(output)].1;
            let OutputDelays { waits, blocked, .. } = &station.met;
            if shape.is_short() {
                let held = if output.to.is_none() { &held.on_ejection } else { &held.on_channel };
                return (share, grid.sum(&waits.grant, held));
            }
            // as often as it waits for its class
            let [alone, behind] = &station.own;
            let as_often = alone.positive() / station.met.own.positive().max(1e-12);
            let as_often = as_often.min(1.0);
            let alone = blocked.sometimes(as_often);
            let same = if state == ALONE { 0.0 } else { self.paths.same(output) };
            (share, Law::mixture(&[(1.0 - same, &alone), (same, behind)]))
        };
        let parts: Vec<(f64, Law)> = self.paths.onward(s).map(part).collect();
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
