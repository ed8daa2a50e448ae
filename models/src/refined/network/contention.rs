//! What a class meets of itself at the outputs of a cube.

use std::collections::HashMap;

use super::super::ablation::{Step, without};
use super::super::grid::{Grid, product};
use super::super::law::Law;
use super::super::paths::Output;
use super::super::station::{LinkEnvironment, OutputDelays};
use super::input_channel::less_exponential;
use super::{Blocking, OneClass};

/// Messages of the own class ahead at an output.
pub(super) struct OutputContention {
    /// `C` \[cells\]
    pub(super) completion: f64,
    /// `λ` of the class on a virtual channel \[messages/cell\].
    rate: f64,
    /// `w`: mean wait in messages.
    pub(super) wait: f64,
    /// `w_0`: of those that come at any moment.
    alone: f64,
    /// `Σ (1 - exp(-u_j (1 + w)))`: others that go before a message directly behind one of its input.
    came: f64,
    /// `(v_d + I - G)+`
    slower: Law,
    /// `z`: how much longer full buffers further on let a message hold the output.
    pub(super) held_up: Law,
}

/// Mean waits of the messages of one input for an output, in messages.
#[derive(Clone, Copy, Default)]
struct InputWaits {
    wait: f64,
    alone: f64,
    came: f64,
}

impl InputWaits {
    fn part(self, share: f64) -> Self {
        Self { wait: self.wait * share, alone: self.alone * share, came: self.came * share }
    }

    fn add(&mut self, share: f64, of: &Self) {
        self.wait += share * of.wait;
        self.alone += share * of.alone;
        self.came += share * of.came;
    }
}

impl OutputContention {
    /// `u = λ C`: share of the time in which messages of the class hold a virtual channel.
    pub(super) fn held(&self) -> f64 {
        (self.rate * self.completion).min(0.98)
    }
}

impl OneClass<'_> {
    /// What a class meets of itself at outputs that it loads by `u = λ C`, of which input `j` brings `u_j = p_j u`; a
    /// mean over outputs that are met so often.
    ///
    /// An input brings its messages one after another, so that of each no more than one asks for the output at a time.
    /// A message that arrives at any moment meets one of input `j` being sent, `u_j / 2`, or waiting, by Little's law
    /// `u_j w_j`. The share `u_i` follows directly behind a message of the own input for the same output. It meets all
    /// that asked while that one waited and was sent, none of which has been begun, and what others delayed that one by
    /// on the link beyond the gaps in which it had come, `(v_d + I - G)+`, as far as it left the crossbar, `b` (our own
    /// approximation, a mean-value analysis):
    ///
    /// ```text
    /// w_0 = Σ u_j (1/2 + w_j),   w_1 = Σ (1 - exp(-u_j (1 + w_i))) + E[(v_d + I - G)+] / C     sums over j != i
    /// w_i = (1 - u_i) w_0 + u_i w_1,   C = (M + 1) S / (1 - σ)
    /// ```
    ///
    /// With messages in other virtual channels it shares the link, `S` ([`super::lanes`]), and one that comes with gaps
    /// inside keeps its own for `G` longer: `C` is that much more.
    ///
    /// From an interface with more virtual channels than lead on from the output, the part `a` of its messages is in
    /// others than the message, and comes interleaved with it: `w_0` has `a u_i` more, `w_1` has `1 - exp(-a u_i)`
    /// more, and `(1 - a) u_i` follow directly behind (our approximation).
    pub(super) fn contended(
        &self,
        outputs: &[(f64, Output)],
        environment: &LinkEnvironment,
        gaps: f64,
        held: &Blocking,
    ) -> OutputContention {
        let grid = self.grid;
        let held_up = held.over(outputs);
        let z = if self.shape.is_short() { 0.0 } else { held_up.mean() };
        let completion = |to: u32| self.completion(to, gaps) + z;
        let delayed =
            grid.sum(&environment.set_up, &grid.law(environment.in_step.over(grid, self.shape.message)));
        let slower = grid.excess(&delayed, &self.gaps[0]).min(&Law::constant(self.shape.buffer));
        let (mut mean_completion, mut rate, mut all) = (0.0, 0.0, 0.0);
        let mut known: HashMap<u32, Vec<InputWaits>> = HashMap::new();
        let mut mean = InputWaits::default();
        for (share, output) in outputs {
            let inputs = self.paths.inputs(output.to);
            let (completion, lane_rate) = (completion(output.to), self.lane_rate(output.to));
            all += share;
            mean_completion += share / all * (completion - mean_completion);
            rate += share / all * (lane_rate - rate);
            let of_inputs = known.entry(output.to).or_insert_with(|| {
                let load = (lane_rate * completion).min(0.98);
                let loads: Vec<f64> = inputs.iter().map(|(_, share)| share * load).collect();
                let shortened = self.kinds.waits_for_lane(output.to, load);
                // of later inputs those of other virtual channels come as classes that share the link
                let beside =
                    |from: &Option<u32>| if from.is_none() { self.kinds.beside(output.to) } else { 0.0 };
                let beside: Vec<f64> = inputs.iter().map(|(from, _)| beside(from)).collect();
                let waits = waits(&loads, &beside, slower.mean() / completion);
                waits.into_iter().map(|of| of.part(shortened)).collect()
            });
            // inputs of a dimension are met as often as they bring messages; none at an ejection link at which a
            // message starts in a cube
            let input = self.paths.input(*output);
            let own = || inputs.iter().zip(&*of_inputs).filter(|((from, _), _)| *from == input);
            let all: f64 = own().map(|((_, share), _)| share).sum();
            for ((_, part), of) in own() {
                mean.add(share * (part / all), of);
            }
        }
        let InputWaits { wait, alone, came } = mean;
        OutputContention { completion: mean_completion, rate, wait, alone, came, slower, held_up }
    }

    /// `C` without what holds messages up further on \[cells\], of messages that come with gaps of a mean.
    fn completion(&self, to: u32, gaps: f64) -> f64 {
        let (link, in_service) = (&self.links[self.kinds.of(to)], self.kinds.in_service(to));
        let alone = (self.shape.message + self.shape.idle) / (1.0 - link.first).max(0.02);
        alone * in_service + if in_service > 1.0 { gaps } else { 0.0 }
    }

    /// Rate of the own messages that contend for an output, that of a queue M/D/1 of the mean wait:
    /// `l C = 2 w / (1 + 2 w)`; not more than there are.
    pub(super) fn contending_rate(&self, contended: &OutputContention) -> f64 {
        let OutputContention { completion, rate, wait, .. } = contended;
        (2.0 * wait / (1.0 + 2.0 * wait) / completion).min(*rate)
    }

    /// Waits behind the own class: of those that come at any moment, `w_0` on average, and directly behind a message of
    /// the own input for the same output: whole messages, as many as came, and `(v_d + I - G)+`.
    pub(super) fn own_waits(
        &self,
        environment: &LinkEnvironment,
        contended: &OutputContention,
        met: &OutputDelays,
    ) -> [Law; 2] {
        let (grid, m) = (self.grid, self.shape.message);
        let OutputContention { wait, alone, came, slower, held_up, .. } = contended;
        let positive = met.own.positive();
        if *wait < 1e-9 || positive < 1e-12 {
            return [met.own.clone(), Law::zero()];
        }
        let whole = product(&grid.delay(m + self.shape.idle), &environment.lagging.over(grid, m));
        let whole = if self.shape.is_short() || held_up.positive() <= 0.0 {
            whole
        } else {
            product(&whole, &grid.transform(held_up))
        };
        let exponent: Vec<_> = whole.iter().map(|z| z - 1.0).collect();
        let came = grid.law(grid.compound(&exponent, *came));
        [met.own.sometimes((alone / wait).min(1.0)), grid.sum(&came, slower)]
    }

    /// Waits for the link behind the own class, of those that come at any moment and of those directly behind a message
    /// of the own input for the same output.
    ///
    /// The crossbar puts the messages of all inputs in sequence; what others delay one by on the link beyond the gaps
    /// in which it had come, `J = (v_d + I - G)+`, the next one finds, if it follows at once, as `u_B = λ (C - E[J])`
    /// do; between two trains the crossbar's output idles for `Exp(λ)`. So delays add up along a train (Lindley's
    /// recursion):
    ///
    /// ```text
    /// X_1 = X + J,   X_0 = (X + J - Exp(λ))+,   X = (1 - u_B) X_0 + u_B X_1
    /// ```
    ///
    /// A message that waits for its class waits `X` besides; a message that meets none of its class meets nothing of
    /// it. Best effort waits for all of a priority queue, which includes it (our approximations).
    pub(super) fn link_waits(&self, contended: &OutputContention, at_crossbar: &[Law; 2]) -> [Law; 2] {
        if self.own.is_none() || without(Step::Trains) {
            return at_crossbar.clone();
        }
        let OutputContention { completion, slower, rate, .. } = contended;
        let rate = *rate;
        let follows = rate * (completion - slower.mean());
        let along = along_trains(self.grid, slower, rate, follows);
        let [alone, behind] = at_crossbar;
        let waiting = self.grid.sum(&alone.given_positive(), &along).sometimes(alone.positive());
        [waiting, self.grid.sum(behind, &along)]
    }
}

/// `X` in trains in which so many follow another at once and each adds a delay.
fn along_trains(grid: &Grid, adds: &Law, rate: f64, follows: f64) -> Law {
    const ROUNDS: usize = 6;
    let follows = follows.clamp(0.0, 0.95);
    let adds = grid.transform(adds);
    let mut after_idle = Law::zero();
    let mut along = Law::zero();
    for _ in 0..ROUNDS {
        // X = (1 - u) X_0 / (1 - u J)
        let first = grid.transform(&after_idle);
        let sum: Vec<_> =
            first.iter().zip(&adds).map(|(x, j)| x * (1.0 - follows) / (1.0 - j * follows)).collect();
        after_idle = less_exponential(&grid.law(product(&sum, &adds)), (-rate).exp());
        along = grid.law(sum.into_iter().collect());
    }
    along
}

/// Waits at an output of which the inputs bring such loads, the part `beside` of each interleaved with the message
/// itself; followers find `more` besides.
///
/// For given numbers that came, each wait is linear in what all inputs ask for, `S = Σ u_j (1/2 + w_j)`, so that only
/// these numbers are iterated.
fn waits(loads: &[f64], beside: &[f64], more: f64) -> Vec<InputWaits> {
    const ROUNDS: u32 = 200;
    let mut waits = vec![InputWaits::default(); loads.len()];
    // w = slope S + constant
    let mut lines = vec![(0.0, 0.0); loads.len()];
    let mut came = Came::new(loads);
    for _ in 0..ROUNDS {
        let (mut constant, mut slope) = (0.0, 0.0);
        for (i, own) in loads.iter().enumerate() {
            // one that is interleaved is met when half of it is left, which lasts as long as a whole one
            let beside = own * beside[i];
            let (behind, first) = (own - beside, 1.0 - own + beside);
            waits[i].came = came.of_others(*own, 1.0 + waits[i].wait) + (1.0 - (-beside).exp());
            let scale = 1.0 / (1.0 + first * own);
            let all = first * (beside - 0.5 * own) + behind * (waits[i].came + more);
            lines[i] = (first * scale, all * scale);
            slope += own * lines[i].0;
            constant += own * (0.5 + lines[i].1);
        }
        let asked = constant / (1.0 - slope);
        let mut change = 0.0_f64;
        for (i, own) in loads.iter().enumerate() {
            let wait = (lines[i].0 * asked + lines[i].1).max(0.0);
            change = change.max((wait - waits[i].wait).abs());
            waits[i].wait = wait;
            waits[i].alone = (asked - own * (0.5 + wait)).max(0.0) + own * beside[i];
        }
        if change < 1e-9 {
            break;
        }
    }
    waits
}

/// `Σ (1 - exp(-u_j x))`: inputs of loads `u_j` that ask for an output within `x` messages.
///
/// The nodes of a router bring equal loads: their exponential is computed once. Where many loads differ, as under a
/// traffic matrix, the sum is computed at places of a grid and interpolated by a cubic. With `n` inputs the error is
/// below `n` times `1e-8`.
struct Came {
    /// Loads, and how many inputs bring each.
    alike: Vec<(f64, f64)>,
    /// The sum and its slope at places `STEP^k`; none as long as it is not asked for.
    at: Vec<Option<(f64, f64)>>,
}

impl Came {
    /// Up to so many different loads there is no grid.
    const MOST_ALIKE: usize = 8;
    const STEP: f64 = 1.02;

    fn new(loads: &[f64]) -> Self {
        let mut alike: Vec<(f64, f64)> = Vec::new();
        for load in loads {
            match alike.iter_mut().find(|(of, _)| of == load) {
                Some((_, count)) => *count += 1.0,
                None => alike.push((*load, 1.0)),
            }
        }
        Self { alike, at: Vec::new() }
    }

    /// Of all inputs but one of load `own`, within `x >= 1`.
    fn of_others(&mut self, own: f64, x: f64) -> f64 {
        let of = |load: f64| 1.0 - (-load * x).exp();
        if self.alike.len() > Self::MOST_ALIKE {
            return self.of_all(x) - of(own);
        }
        let others = |(load, count): &(f64, f64)| (count - f64::from(u8::from(*load == own))) * of(*load);
        self.alike.iter().map(others).sum()
    }

    /// Of all inputs: the cubic that has the sums and slopes at both ends of a step.
    fn of_all(&mut self, x: f64) -> f64 {
        let place = (x.ln() / Self::STEP.ln()).clamp(0.0, 1e4) as usize;
        let ((low, slope_low), (high, slope_high)) = (self.known(place), self.known(place + 1));
        let begin = Self::STEP.powi(place as i32);
        let width = begin * (Self::STEP - 1.0);
        let t = (x - begin) / width;
        let (rest, both) = (1.0 - t, t * (1.0 - t));
        rest * low
            + t * high
            + both * (rest * (width * slope_low - (high - low)) - t * (width * slope_high - (high - low)))
    }

    fn known(&mut self, place: usize) -> (f64, f64) {
        if place >= self.at.len() {
            self.at.resize(place + 1, None);
        }
        let alike = &self.alike;
        *self.at[place].get_or_insert_with(|| {
            let x = Self::STEP.powi(place as i32);
            alike.iter().fold((0.0, 0.0), |(sum, slope), (load, count)| {
                let not_yet = (-load * x).exp();
                (sum + count * (1.0 - not_yet), slope + count * load * not_yet)
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queueing::Md1;

    #[test]
    fn inputs_wait_for_each_other() {
        // nobody else; many small inputs are a queue M/D/1
        assert!(waits(&[0.6], &[0.0], 0.0)[0].wait < 1e-15);
        for load in [0.1_f64, 0.4, 0.7] {
            let many = waits(&[load / 400.0; 400], &[0.0; 400], 0.0);
            let exact = Md1 { rate: load, mean: 1.0 }.measures().reached().unwrap().mean_wait;
            assert!((many[0].wait / exact - 1.0).abs() < 0.01, "{} {exact}", many[0].wait);
            // fewer inputs, shorter waits
            let two = waits(&[load / 2.0; 2], &[0.0; 2], 0.0);
            assert!(two[0].wait < 0.75 * exact, "{} {exact}", two[0].wait);
        }
    }

    /// What is solved for satisfies the equations, with loads that differ and parts that are interleaved.
    #[test]
    fn waits_satisfy_their_equations() {
        let (loads, beside, more) = ([0.3, 0.2, 0.1, 0.1, 0.15], [0.0, 0.5, 0.0, 1.0, 0.2], 0.7);
        let found = waits(&loads, &beside, more);
        for (i, of) in found.iter().enumerate() {
            let others = || (0..loads.len()).filter(|j| *j != i);
            let part = loads[i] * beside[i];
            let alone = others().map(|j| loads[j] * (0.5 + found[j].wait)).sum::<f64>() + part;
            let asked = |load: f64| 1.0 - (-load * (1.0 + of.wait)).exp();
            let came = others().map(|j| asked(loads[j])).sum::<f64>() + 1.0 - (-part).exp();
            let behind = loads[i] - part;
            let wait = (1.0 - behind) * alone + behind * (came + more);
            assert!((of.wait - wait).abs() < 1e-8, "{} {wait}", of.wait);
            assert!((of.alone - alone).abs() < 1e-8 && (of.came - came).abs() < 1e-8);
        }
    }

    /// Between the places of the grid the cubic is the sum, of loads that all differ.
    #[test]
    fn what_came_is_told_between_places() {
        let loads: Vec<f64> = (1..=60).map(|place| 0.9 * f64::from(place * place) / 3600.0).collect();
        let mut came = Came::new(&loads);
        for x in [1.0, 1.001, 1.5, 2.0, 7.77, 60.0, 1000.0, 1e6] {
            let exact = loads[1..].iter().map(|load| 1.0 - (-load * x).exp()).sum::<f64>();
            let found = came.of_others(loads[0], x);
            assert!((found - exact).abs() < 1e-8 * 60.0, "{x}: {found}, {exact}");
        }
        let mut few = Came::new(&loads[..8]);
        let exact = loads[1..8].iter().map(|load| 1.0 - (-load * 3.0).exp()).sum::<f64>();
        assert!((few.of_others(loads[0], 3.0) - exact).abs() < 1e-14);
    }

    #[test]
    fn delays_add_up_along_trains() {
        let grid = Grid::of(2048);
        let mean = |follows| along_trains(&grid, &Law::constant(2.0), 1e-6, follows).mean();
        // J u / (1 - u), as idle times are long
        for follows in [0.0, 0.3, 0.8] {
            let exact = 2.0 * follows / (1.0 - follows);
            assert!((mean(follows) - exact).abs() < 0.01 * (1.0 + exact), "{} {exact}", mean(follows));
        }
    }
}
