//! `on-off-pareto` sources: streams whose ON periods and pauses have Pareto lengths, as in Willinger, Taqqu, Sherman
//! and Wilson, *Self-similarity through high-variability* (IEEE/ACM Trans. Networking 5 (1997) 71-86). The sum of many
//! is self-similar with the Hurst parameter `(3 - alpha) / 2`; a stream is bursty, its mean rate is that of its periods
//! and its peak rate `1 / spacing`.

use flitwise_language::scenario::{Towards, least_pause};

use super::Process;
use super::destinations::draw;
use super::random::{Random, uniform};

/// ON periods and pauses of a stream.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Periods {
    alpha: f64,
    most: u32,
    least_pause: f64,
    /// Time between messages of an ON period.
    pub spacing: f64,
}

/// A Pareto number of index `alpha`, at least `least`.
fn pareto(random: &mut Random, alpha: f64, least: f64) -> f64 {
    least * uniform(random).powf(-1.0 / alpha)
}

impl Periods {
    /// Periods of a stream whose messages are `interval` apart on average, in its unit: pauses and the numbers of
    /// messages in between have the index `alpha`, of messages there are at most `most`.
    pub fn new(interval: f64, alpha: f64, spacing: f64, most: u32) -> Self {
        let least_pause = least_pause(interval, alpha, spacing, most).max(0.0);
        Self { alpha, most, least_pause, spacing }
    }

    /// What is left of a pause at a time that falls into one.
    pub fn first_pause(&self, random: &mut Random) -> f64 {
        let Self { alpha, least_pause, .. } = *self;
        let left = uniform(random);
        // 1 - F(x) of the residual law: 1 - x / mean up to the least pause, (1 / alpha) (least / x)^(alpha - 1) beyond
        if left >= 1.0 / alpha {
            (1.0 - left) * alpha / (alpha - 1.0) * least_pause
        } else {
            least_pause * (alpha * left).powf(-1.0 / (alpha - 1.0))
        }
    }

    /// A pause between two bursts \[cycles\].
    pub fn pause(&self, random: &mut Random) -> f64 {
        pareto(random, self.alpha, self.least_pause)
    }

    /// Messages of an ON period.
    pub fn messages(&self, random: &mut Random) -> u32 {
        pareto(random, self.alpha, 2.0).min(f64::from(self.most)) as u32
    }
}

/// A stream. All messages of an ON period go to one node.
pub(super) struct OnOffPareto {
    periods: Periods,
    next: f64,
    /// Messages left in the ON period.
    left: u32,
    /// Whether the latest message begins an ON period, or ends one.
    begins: bool,
    ends: bool,
    /// Where the messages of the ON period go.
    destination: u32,
}

impl OnOffPareto {
    /// From `start` on.
    pub(super) fn new(random: &mut Random, start: f64, periods: Periods) -> Self {
        let next = start + periods.first_pause(random);
        Self { periods, next, left: 0, begins: false, ends: false, destination: 0 }
    }
}

impl Process for OnOffPareto {
    fn next_before(&mut self, random: &mut Random, limit: f64) -> Option<f64> {
        if std::mem::take(&mut self.ends) {
            self.next += self.periods.pause(random);
        }
        let time = self.next;
        if time > limit {
            return None;
        }
        self.begins = self.left == 0;
        if self.begins {
            self.left = self.periods.messages(random);
        }
        self.left -= 1;
        self.ends = self.left == 0;
        if !self.ends {
            self.next += self.periods.spacing;
        }
        Some(time)
    }

    fn destination(&mut self, random: &mut Random, towards: &Towards<'_>) -> u32 {
        if self.begins {
            self.destination = draw(random, towards);
        }
        self.destination
    }
}

#[cfg(test)]
mod tests {
    use super::super::random::stream;
    use super::*;

    /// Sample means of a light law (index 3, within 1 % with 200,000 draws) against those of the formulas.
    #[test]
    fn periods_have_their_means() {
        let (mut random, draws) = (stream(1, 0, 0), 200_000);
        let periods = Periods::new(100.0, 3.0, 10.0, 512);
        let mut mean = |draw: &dyn Fn(&mut Random) -> f64| {
            (0..draws).map(|_| draw(&mut random)).sum::<f64>() / f64::from(draws)
        };
        let messages = mean(&|random| f64::from(periods.messages(random)));
        let pause = mean(&|random| periods.pause(random));
        assert!(
            (messages / flitwise_language::scenario::mean_burst(3.0, 512) - 1.0).abs() < 0.01,
            "{messages}"
        );
        assert!(((pause + (messages - 1.0) * 10.0) / messages / 100.0 - 1.0).abs() < 0.01, "{pause}");
        // the residual pause: E[X^2] / 2 E[X] = least alpha / (alpha - 2) / 2 (alpha - 1) / alpha
        let first = mean(&|random| periods.first_pause(random));
        let wanted = periods.least_pause;
        assert!((first / wanted - 1.0).abs() < 0.02, "{first} {wanted}");
    }
}
