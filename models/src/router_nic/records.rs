//! What the paper's deadline missing probability measures: records.
//!
//! Frame `k` of a stream is due when the latest earlier one came, counted from the start of its own interval: its
//! offset `a_k` is compared with `D_k = max(a_0 .. a_(k-1))`, and the frame misses if it is a *record*. For
//! independent offsets of one continuous law, whatever it is, that has the probability `1 / (k + 1)`, independently
//! for each `k` (Rényi 1962; Arnold, Balakrishnan, Nagaraja, Records, Wiley 1998). So a network in steady state does
//! not show: a share of .02 to .03 says that streams had about 156 to 258 frames. What shows is a change of the law,
//! [`phase_records`], and saturation, where every frame comes later than the one before. A network with little jitter
//! gains relatively more of it at each change, so that a better one can have more misses; their *time*, and the misses
//! of a playout delay, do tell networks apart.
//!
//! Measured* shares over 20 frames are .128, .138 and .149 (± .03), expected is .1323.

use statrs::function::harmonic::harmonic;

use super::integral::integral;

/// Digits of the integrals.
const TOLERANCE: f64 = 1e-10;
/// `-ln` of what is left out of a law's tail.
const REACH: f64 = 30.0;
/// Meetings of a message with others per unit of load: with those before and those after it, at two links.
const MEETINGS: f64 = 4.0;

/// Probability that frame `earlier` of a stream, counted from 0, misses: `1 / (k + 1)`.
pub fn miss_probability(earlier: u32) -> f64 {
    1.0 / (f64::from(earlier) + 1.0)
}

/// Share of frames `1 .. K - 1` that miss, where the law of offsets does not change; frame 0 has no deadline, and with
/// fewer than two frames none is counted.
///
/// ```
/// use flitwise_models::router_nic::stationary_miss_probability;
///
/// assert_eq!(format!("{:.4}", stationary_miss_probability(197).unwrap()), "0.0248");
/// assert_eq!(format!("{:.4}", stationary_miss_probability(21).unwrap()), "0.1323"); // of 20 frames
/// assert_eq!(stationary_miss_probability(1), None);
/// ```
pub fn stationary_miss_probability(frames: u32) -> Option<f64> {
    // DMP = (H_K - 1) / (K - 1)
    (frames > 1).then(|| (harmonic(u64::from(frames)) - 1.0) / (f64::from(frames) - 1.0))
}

/// Probability that an offset exceeds all earlier ones, for independent offsets of any continuous laws:
///
/// ```text
/// P = ∫ Π_(j<k) F_j dF_k = ∫ Π_(j<k) F_j(x(t)) exp(-t) dt,   F_k(x(t)) = 1 - exp(-t)
/// ```
///
/// `earlier(x)` is the probability that all earlier offsets are below `x`, the product of their distribution
/// functions; `quantile(t)` is the offset that the frame exceeds with probability `exp(-t)`.
///
/// ```
/// use flitwise_models::router_nic::records::record_probability;
///
/// // exponential offsets: three of mean 1, then one of mean 2
/// let below = |x: f64| (1.0 - (-x).exp()).powi(3);
/// let found = record_probability(below, |t| 2.0 * t);
/// assert!((found - 16.0 / 35.0).abs() < 1e-8);
/// ```
pub fn record_probability(earlier: impl Fn(f64) -> f64, quantile: impl Fn(f64) -> f64) -> f64 {
    integral(|t| earlier(quantile(t)) * (-t).exp(), 0.0, REACH, TOLERANCE)
}

/// Mean time by which frame `earlier` misses, if it does, in terms of the mean largest of as many offsets as there are
/// before it, and of one more \[their unit\]. For a tail that is exponential of mean `θ` it is `θ` whatever the frame.
pub fn missing_time(earlier: u32, largest_before: f64, largest_with: f64) -> f64 {
    // DMT_k = (k + 1) (E max_(k+1) - E max_k)
    (f64::from(earlier) + 1.0) * (largest_with - largest_before)
}

/// Law of what a frame comes later than the earliest possible: nothing if its last message meets no other, else
/// exponential.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExcessLaw {
    /// `1 - exp(-4 R)`: probability of meeting another message at one of two links.
    pub met: f64,
    /// `θ`: mean excess of those that do \[cycles\].
    pub mean: f64,
}

impl ExcessLaw {
    /// Of messages with a mean excess `e` \[cycles\] over an idle network, at a real-time load `R` of a node
    /// \[flits/cycle\].
    ///
    /// ```
    /// use flitwise_models::router_nic::{ExcessLaw, RealTimePath};
    ///
    /// // 80 % of video at a load of .8, with 2.5 % of header flits; a cycle is 80 ns
    /// let load = 0.8 * 0.8 * 1.025;
    /// let latency = RealTimePath::router(load, 12.0).latency().unwrap();
    /// let law = ExcessLaw::new(latency.excess(), load);
    /// assert_eq!(format!("{:.4} ms", law.mean * 80e-6), "0.0293 ms");
    /// ```
    pub fn new(excess: f64, load: f64) -> Self {
        let met = -(-MEETINGS * load).exp_m1();
        // θ = e / (1 - exp(-4 R))
        Self { met, mean: if met > 0.0 { excess / met } else { 0.0 } }
    }

    /// Probability of an excess above `time` \[cycles\].
    pub fn exceeds(&self, time: f64) -> f64 {
        match (time < 0.0, self.mean > 0.0) {
            (true, _) => 1.0,
            // (1 - exp(-4 R)) exp(-t / θ)
            (false, true) => self.met * (-time / self.mean).exp(),
            (false, false) => 0.0,
        }
    }

    /// Probability that a frame misses a playout delay \[cycles\], where an idle network takes `idle_latency`, `P + M`
    /// \[cycles\]. An order of magnitude only: where it is small, uneven placement of streams makes the tail.
    pub fn playout_miss_probability(&self, delay: f64, idle_latency: f64) -> f64 {
        // (1 - exp(-4 R)) exp(-(D - P - M) / θ)
        self.exceeds(delay - idle_latency)
    }

    /// `-ln P(met)`, or [`REACH`] where next to nothing is met: below it lie the frames that meet nobody.
    fn threshold(&self) -> f64 {
        if self.met > 0.0 && self.mean > 0.0 { (-self.met.ln()).min(REACH) } else { REACH }
    }

    /// The distribution function at a place of the other law `own` that this one exceeds with probability `exp(-t)`.
    /// The frames that meet nobody are in an order by chance, the same places for both laws.
    fn below(&self, own: &Self, t: f64) -> f64 {
        let threshold = own.threshold();
        if t < threshold {
            // a share u of those of `own` that meet nobody, 1 - exp(-t) = u (1 - met)
            let place = -(-t).exp_m1() / -(-threshold).exp_m1();
            return (1.0 - self.exceeds(0.0)) * place;
        }
        1.0 - self.exceeds((t - threshold) * own.mean)
    }
}

/// Frames of a stream whose offsets have one law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Phase {
    /// The law.
    pub law: ExcessLaw,
    /// How many frames.
    pub frames: u32,
}

/// What becomes of the frames of a phase.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PhaseRecords {
    /// Frames counted: all but the first one of the stream.
    pub frames: u32,
    /// Expected number of misses, where no two offsets are equal.
    pub misses: f64,
    /// The same, where frames that meet nobody have equal offsets and do not miss.
    pub misses_met: f64,
    /// Mean of the times by which frames that meet another message miss \[cycles\]; none where nothing is met.
    pub missing_time: Option<f64>,
}

impl PhaseRecords {
    /// `DMP`; none without a frame that is counted.
    pub fn miss_probability(&self) -> Option<f64> {
        (self.frames > 0).then(|| self.misses / f64::from(self.frames))
    }

    /// `DMP` where frames that meet nobody do not miss.
    pub fn miss_probability_met(&self) -> Option<f64> {
        (self.frames > 0).then(|| self.misses_met / f64::from(self.frames))
    }
}

/// Misses in each of successive phases of a stream, whose deadline lives on from phase to phase. Law `G` of `n` frames
/// behind frames of laws `F`:
///
/// ```text
/// P(frame j of the phase misses) = ∫ Π F^(frames) G^j dG
/// misses = ∫ Π F^(frames) (1 - G^n) dt,   G = 1 - exp(-t)
/// ```
///
/// A first phase has `H_n - 1` misses. Behind frames of a law with less jitter frame `j` misses with a probability
/// between that of a stream in steady state, `1 / (K_1 + j + 1)`, and that of a new one, `1 / (j + 1)`.
///
/// ```
/// use flitwise_models::router_nic::{ExcessLaw, Phase, phase_records};
///
/// let phase = |excess, load| Phase { law: ExcessLaw::new(excess, load), frames: 10 };
/// let [first, more] = phase_records(&[phase(20.0, 0.16), phase(80.0, 0.41)])[..] else { panic!("two phases") };
/// assert_eq!(format!("{:.3}", first.miss_probability().unwrap()), "0.214"); // (H_10 - 1) / 9
/// assert_eq!(format!("{:.3}", more.miss_probability().unwrap()), "0.181"); // 0.067 without a change
/// ```
pub fn phase_records(phases: &[Phase]) -> Vec<PhaseRecords> {
    let of = |at: usize| records_behind(&phases[..at], &phases[at]);
    (0..phases.len()).map(of).collect()
}

/// The same of one phase.
fn records_behind(earlier: &[Phase], phase: &Phase) -> PhaseRecords {
    let law = phase.law;
    let count = f64::from(phase.frames);
    let is_first = earlier.iter().all(|before| before.frames == 0);
    let misses_at = |t: f64| {
        let below = |before: &Phase| before.law.below(&law, t).powf(f64::from(before.frames));
        let own = -(-t).exp_m1();
        // Π F^(frames) (1 - G^n)
        earlier.iter().map(below).product::<f64>() * (1.0 - own.powf(count))
    };
    let threshold = law.threshold();
    let end = REACH + (count + 1.0).ln();
    let misses_met = integral(misses_at, threshold, end, TOLERANCE);
    let by_chance = integral(misses_at, 0.0, threshold, TOLERANCE);
    // the first frame of the stream is a record without a deadline: with probability `met` one that meets another
    let (first, first_met) = if is_first && phase.frames > 0 { (1.0, law.exceeds(0.0)) } else { (0.0, 0.0) };
    PhaseRecords {
        frames: if is_first { phase.frames.saturating_sub(1) } else { phase.frames },
        misses: (misses_met + by_chance - first).max(0.0),
        misses_met: (misses_met - first_met).max(0.0),
        missing_time: (law.exceeds(0.0) > 0.0).then_some(law.mean),
    }
}

#[cfg(test)]
mod tests {
    use statrs::distribution::{ContinuousCDF, Normal};

    use super::*;
    use crate::router_nic::{RealTimePath, assert_digits, assert_near};

    /// Uniform numbers of a fixed seed (SplitMix64).
    struct Uniform(u64);

    impl Uniform {
        fn draw(&mut self) -> f64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = self.0;
            z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            ((z ^ z >> 31) >> 11) as f64 / (1u64 << 53) as f64
        }

        fn excess(&mut self, law: &ExcessLaw) -> f64 {
            let exceeded = self.draw();
            // below 0 in an order by chance
            if exceeded > law.met { -self.draw() } else { -law.mean * (exceeded / law.met).ln() }
        }
    }

    /// Misses in each of the phases, with and without those of frames that meet nobody, and time missed, over
    /// `streams`.
    fn simulated(phases: &[Phase], streams: u32) -> Vec<[f64; 3]> {
        let mut draws = Uniform(1);
        let mut sums = vec![[0.0; 3]; phases.len()];
        for _ in 0..streams {
            let mut due = None;
            for (phase, sums) in phases.iter().zip(&mut sums) {
                for _ in 0..phase.frames {
                    let offset = draws.excess(&phase.law);
                    if let Some(due) = due.filter(|due| offset > *due) {
                        sums[0] += 1.0;
                        sums[1] += f64::from(u8::from(offset > 0.0));
                        sums[2] += offset.max(0.0) - f64::max(due, 0.0);
                    }
                    due = Some(due.map_or(offset, |due: f64| due.max(offset)));
                }
            }
        }
        sums.iter().map(|sums| sums.map(|sum| sum / f64::from(streams))).collect()
    }

    fn at(share: f64, channels: f64) -> ExcessLaw {
        let load = 0.8 * share * 1.025;
        ExcessLaw::new(RealTimePath::router(load, channels).latency().unwrap().excess(), load)
    }

    #[test]
    fn the_law_of_records_has_the_digits_written_down() {
        for (frames, expected) in [(197, "0.0248"), (156, "0.030"), (258, "0.020"), (21, "0.1323")] {
            assert_digits(stationary_miss_probability(frames).unwrap(), expected);
        }
        let mean = (1..21).map(miss_probability).sum::<f64>() / 20.0;
        assert_near(mean, stationary_miss_probability(21).unwrap(), 1e-14);
        assert_near(stationary_miss_probability(2).unwrap(), 0.5, 1e-14);
        assert_eq!((stationary_miss_probability(0), stationary_miss_probability(1)), (None, None));
    }

    /// `θ` at a load of .8 [ms]; measured* .0024 .0045 .0085 .0141 .0197.
    #[test]
    fn missing_times_have_the_digits_written_down() {
        let points = [
            (0.2, 3.0, "0.0033"),
            (0.3, 5.0, "0.0044"),
            (0.5, 8.0, "0.0081"),
            (0.7, 11.0, "0.0175"),
            (0.8, 12.0, "0.0293"),
        ];
        for (share, channels, expected) in points {
            assert_digits(at(share, channels).mean * 80e-6, expected);
        }
    }

    /// Playout delay of .1 ms.
    #[test]
    fn playout_misses_have_the_digits_written_down() {
        let at = |load: f64, channels: f64| {
            let latency = RealTimePath::router(load, channels).latency().unwrap();
            ExcessLaw::new(latency.excess(), load).playout_miss_probability(1250.0, 45.0)
        };
        assert_digits(at(0.64 * 1.025, 12.0), "0.035");
        assert_digits(at(0.72 * 1.025, 12.0), "0.30");
        assert_digits(at(0.45 * 1.025, 8.0), "0.0001");
        let law = ExcessLaw::new(100.0, 0.4);
        assert_eq!(law.playout_miss_probability(44.0, 45.0), 1.0);
        let misses = [45.0, 100.0, 1000.0].map(|delay| law.playout_miss_probability(delay, 45.0));
        assert!(misses.is_sorted_by(|earlier, later| earlier > later));
        let idle = ExcessLaw::new(0.0, 0.0);
        assert_eq!(
            (idle.mean, idle.exceeds(0.0), idle.playout_miss_probability(45.0, 45.0)),
            (0.0, 0.0, 0.0)
        );
    }

    /// Whatever the law, a stream that does not change has the law of records.
    #[test]
    fn phases_of_one_law_are_a_stream_in_steady_state() {
        for law in [ExcessLaw::new(30.0, 0.2), ExcessLaw::new(900.0, 0.9), ExcessLaw::new(0.0, 0.0)] {
            let phases = [(1, 0.0), (9, 1.0), (40, 10.0), (0, 50.0), (147, 50.0)];
            let found = phase_records(&phases.map(|(frames, _)| Phase { law, frames }));
            for ((frames, before), found) in phases.into_iter().zip(found) {
                let harmonic = |count: f64| (1..=count as u32).map(|k| 1.0 / f64::from(k)).sum::<f64>();
                let expected = harmonic(before + f64::from(frames)) - harmonic(f64::max(before, 1.0));
                assert!((found.misses - expected).abs() < 1e-7, "{law:?} {frames}: {found:?}, {expected}");
                assert!(found.misses_met <= found.misses + 1e-9);
            }
        }
        let lone = phase_records(&[Phase { law: ExcessLaw::new(1.0, 0.1), frames: 1 }])[0];
        assert_eq!((lone.frames, lone.miss_probability()), (0, None));
        assert!(lone.misses < 1e-9 && lone.misses_met < 1e-9);
        assert!(phase_records(&[]).is_empty());
    }

    /// The paper's five phases by direct simulation of independent offsets: 20,000 streams of ten frames a phase,
    /// within 4 standard deviations.
    #[test]
    fn changes_of_the_mix_are_those_of_drawn_offsets() {
        let shares = [(0.2, 3.0), (0.3, 5.0), (0.5, 8.0), (0.7, 11.0), (0.8, 12.0)];
        let phases = shares.map(|(share, channels)| Phase { law: at(share, channels), frames: 10 });
        let streams = 20_000;
        let drawn = simulated(&phases, streams);
        for ((found, drawn), phase) in phase_records(&phases).iter().zip(drawn).zip(phases) {
            // a miss is a trial of its own: the variance of their number is below the mean
            let within = 4.0 * (found.misses / f64::from(streams)).sqrt();
            assert!((found.misses - drawn[0]).abs() < within, "{found:?}, {drawn:?}");
            assert!((found.misses_met - drawn[1]).abs() < within, "{found:?}, {drawn:?}");
            assert!((drawn[2] / drawn[1] / phase.law.mean - 1.0).abs() < 0.05, "{found:?}, {drawn:?}");
            assert_eq!(found.missing_time, Some(phase.law.mean));
        }
    }

    /// `1 / (K_1 + j + 1) <= P <= 1 / (j + 1)` where jitter grows; fewer than that where it falls.
    #[test]
    fn a_change_is_between_a_new_stream_and_an_old_one() {
        let (calm, wild) = (ExcessLaw::new(20.0, 0.16), ExcessLaw::new(200.0, 0.6));
        let last = |before: ExcessLaw, after: ExcessLaw, frames| {
            let phases = [(before, 30), (after, frames)].map(|(law, frames)| Phase { law, frames });
            phase_records(&phases)[1].misses
        };
        for frames in [1, 5, 50] {
            let (new, old): (f64, f64) = (0..frames)
                .map(|j| (1.0 / f64::from(j + 1), 1.0 / f64::from(30 + j + 1)))
                .fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
            let found = last(calm, wild, frames);
            assert!(old < found && found < new, "{frames}: {found}");
            assert!(last(wild, calm, frames) < old);
            assert_near(last(wild, wild, frames), old, 1e-6);
        }
    }

    #[test]
    fn an_exponential_tail_misses_by_its_mean() {
        // E max of k exponential offsets of mean 1 is H_k
        for earlier in [1, 2, 7, 100] {
            let largest = harmonic(u64::from(earlier));
            assert_near(missing_time(earlier, largest, harmonic(u64::from(earlier) + 1)), 1.0, 1e-10);
        }
    }

    /// Messages at `k T / N` put the last one at `T - T / N`, so that the largest of the frames are the records:
    /// frames of the paper's seven sequences in the order I B B P B B P .., each with a deviation of 20 %.
    #[test]
    fn even_pacing_has_records_of_sizes() {
        let sequences = [
            [430.2, 295.6, 194.2],
            [839.4, 680.6, 401.0],
            [534.7, 569.4, 387.8],
            [393.3, 340.3, 241.4],
            [350.6, 242.9, 172.9],
            [974.7, 721.9, 529.6],
            [637.6, 536.0, 394.3],
        ];
        let kinds = [0, 2, 2, 1, 2, 2, 1, 2, 2, 1, 2, 2];
        let unit = Normal::standard();
        let mut misses = [0.0; 21];
        for sizes in sequences {
            for start in 0..kinds.len() {
                let size = |frame: usize| sizes[kinds[(start + frame) % kinds.len()]];
                for (frame, misses) in misses.iter_mut().enumerate().skip(1) {
                    let count =
                        |kind: usize| (0..frame).filter(|j| kinds[(start + j) % kinds.len()] == kind).count();
                    let counts = [0, 1, 2].map(count);
                    let earlier = |x: f64| -> f64 {
                        let below =
                            |kind: usize| unit.cdf((x / sizes[kind] - 1.0) / 0.2).powi(counts[kind] as i32);
                        [0, 1, 2].map(below).iter().product()
                    };
                    let quantile =
                        |t: f64| size(frame) * (1.0 + 0.2 * -unit.inverse_cdf((-t).exp()).max(-6.0));
                    *misses += record_probability(earlier, quantile) / (7.0 * 12.0);
                }
            }
        }
        for (frame, expected) in [(1, "0.500"), (2, "0.333"), (3, "0.199"), (4, "0.180"), (5, "0.167")] {
            assert_digits(misses[frame], expected);
        }
        assert_digits(misses[1..].iter().sum::<f64>() / 20.0, "0.1225");
    }
}
