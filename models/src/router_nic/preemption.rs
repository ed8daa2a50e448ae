//! What preemption in the input buffer, acceleration and blocks cost.
//!
//! A preempted message is closed with a dummy tail and goes on behind a dummy header, past the decoder and the arbiter
//! again. What of it is past the decoder when it is preempted, its *residue*, crosses in front of the preempting one.
//! With acceleration it does so before all classes; without it, by its own class, so that real time of other virtual
//! channels goes first and the preempting message waits for it: the inversion of the paper's Fig. 7.

use super::real_time::{first_come, least_attained};
use super::{Part, Saturated, steady};

/// Dummy flits of a preemption: a tail and a header.
pub const DUMMY_FLITS: f64 = 2.0;
/// Stages that hide the closing of a message: decoder and arbiter of the preempting one, and that the preempted one
/// passes again.
const HIDDEN_STAGES: f64 = 2.0;

/// Whether flits of a lower class that are in the way of a higher one go first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Acceleration {
    /// They cross before all classes.
    On,
    /// They cross by their class, below real time of this load of a port, `R` \[flits/cycle\].
    Off {
        /// `R`.
        real_time_load: f64,
    },
}

impl Acceleration {
    /// Cycles in which so many flits cross: each needs one free of real time at its input and at its output. An upper
    /// estimate where real time pauses.
    fn crossing(self, flits: f64) -> Result<f64, Saturated> {
        match self {
            Self::On => Ok(flits),
            // n / (1 - R)²
            Self::Off { real_time_load } => Ok(flits / (1.0 - steady(Part::Link, real_time_load)?).powi(2)),
        }
    }

    /// Delay of a preempting message by the residue of the preempted one, where messages cross in blocks \[cycles\].
    ///
    /// ```
    /// use flitwise_models::router_nic::{Acceleration, Blocks};
    ///
    /// let without = Acceleration::Off { real_time_load: 0.5 };
    /// assert_eq!(Acceleration::On.delay(Blocks::FLITS), Ok(0.0));
    /// assert_eq!(without.delay(Blocks::FLITS), Ok(6.0));
    /// assert_eq!(Acceleration::On.delay(Blocks { flits: 10.0 }), Ok(4.5));
    /// ```
    ///
    /// # Errors
    /// Where real time leaves nothing.
    pub fn delay(self, blocks: Blocks) -> Result<f64, Saturated> {
        // accelerated max(0, n - 2), else n / (1 - R)² - 2
        Ok((self.crossing(blocks.residue())? - HIDDEN_STAGES).max(0.0))
    }

    /// Mean delay of a message whose output virtual channel is held by a lower message of `message_flits` from another
    /// input \[cycles\].
    ///
    /// # Errors
    /// Where real time leaves nothing.
    pub fn holder_delay(self, message_flits: f64) -> Result<f64, Saturated> {
        // M / 2, or M / 2 / (1 - R)²
        self.crossing(message_flits / 2.0)
    }
}

/// Virtual channels that a class shares with a lower one: a message whose output virtual channel is held by a message
/// of the lower class from another input waits until that one is through.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SharedChannels {
    /// Share of the class's virtual channels that the lower class may take, too.
    pub shared: f64,
    /// Probability that a holder comes from another input.
    pub foreign: f64,
    /// Load of the lower class \[flits/cycle\].
    pub load: f64,
    /// Virtual channels of the lower class.
    pub virtual_channels: f64,
    /// `M` of the lower class \[flits\].
    pub message_flits: f64,
    /// How long a message of it holds an output virtual channel \[cycles\].
    pub held_cycles: f64,
}

/// Mean rest of the time that a virtual channel is held, over its mean: between those of a constant, 1/2, and of an
/// exponential one, 1.
const REST: f64 = 0.75;

impl SharedChannels {
    /// Mean delay of a message by holders of its output virtual channel \[cycles\]. Flits of the holder that are still
    /// at their interface come as slowly as they would; acceleration helps those at the router only.
    ///
    /// ```text
    /// p 3/4 H,   p = o (1 - 1/n) B H / (M r_B);   without acceleration + p M / 2 (1 / (1 - R)² - 1)
    /// ```
    ///
    /// # Errors
    /// Where real time leaves nothing.
    pub fn delay(&self, acceleration: Acceleration) -> Result<f64, Saturated> {
        let held = self.load * self.held_cycles / (self.message_flits * self.virtual_channels);
        let met = self.shared * self.foreign * held.min(1.0);
        let slower = acceleration.holder_delay(self.message_flits)? - self.message_flits / 2.0;
        Ok(met * (REST * self.held_cycles + slower))
    }
}

/// Delay of a message by preemptions of it and, nested, of those that preempt it, where messages of these lengths
/// preempt and nobody else contends: exact \[cycles\]. Those that preempt are not delayed.
///
/// ```
/// use flitwise_models::router_nic::preemption::delay_of_preempted;
///
/// assert_eq!(delay_of_preempted(&[40.0]), 44.0);
/// assert_eq!(delay_of_preempted(&[40.0, 20.0]), 68.0); // real time, itself preempted by control
/// ```
pub fn delay_of_preempted(preempting_flits: &[f64]) -> f64 {
    // M_h + 4: two dummies, two stages again
    preempting_flits.iter().map(|flits| flits + DUMMY_FLITS + HIDDEN_STAGES).sum()
}

/// Largest share of the flits of a link that are dummies, from messages that may preempt \[messages/cycle\] and all
/// flits \[flits/cycle\]; at a router a message preempts one other at most.
pub fn most_dummies(preempting_rate: f64, flit_rate: f64) -> f64 {
    // 2 (preempting messages) / (all flits)
    if flit_rate > 0.0 { DUMMY_FLITS * preempting_rate / flit_rate } else { 0.0 }
}

/// Blocks of flits that cross without an interruption.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Blocks {
    /// `k`: flits of a block.
    pub flits: f64,
}

impl Blocks {
    /// Flit by flit.
    pub const FLITS: Self = Self { flits: 1.0 };

    /// `n`: mean number of flits that a preempting header finds in its way: the rest of a block, a residue, a dummy
    /// tail \[flits\].
    pub fn residue(self) -> f64 {
        // (k - 1) / 2 + 2
        (self.flits - 1.0) / 2.0 + 2.0
    }

    /// By how much mean real-time latency changes against flit by flit \[cycles\], for loads `R < 1` of real time and
    /// `B` of best effort \[flits/cycle\]. Real time pays for blocks of best effort, once for each of its own, and
    /// gains what least attained service loses to first come, first served. So blocks hurt where best effort dominates
    /// and help the mean where real time does.
    ///
    /// ```
    /// use flitwise_models::router_nic::Blocks;
    ///
    /// let change = |flits, real_time, best_effort| Blocks { flits }.real_time_change(40.0, real_time, best_effort);
    /// assert_eq!(format!("{:+.1}", change(5.0, 0.12, 0.48)), "+6.8"); // measured* +5.1
    /// assert_eq!(format!("{:+.1}", change(10.0, 0.48, 0.12)), "-16.5"); // measured* -13.1
    /// ```
    pub fn real_time_change(self, message_flits: f64, real_time_load: f64, best_effort_load: f64) -> f64 {
        let gained = least_attained(real_time_load) - first_come(real_time_load);
        self.change(message_flits, gained, best_effort_load)
    }

    /// The same, where sharing a link flit by flit takes `gained` longer than first come, first served, over service.
    pub fn change(self, message_flits: f64, gained: f64, best_effort_load: f64) -> f64 {
        let (block, further) = (self.flits, self.flits - 1.0);
        // dT(k) = (M / k) ((k - 1) / 2) B - 1.5 M (FB(R) - FCFS(R)) (k - 1) / (M - 1)
        message_flits / block * (further / 2.0) * best_effort_load
            - 1.5 * message_flits * gained * further / (message_flits - 1.0)
    }
}

/// A path of control messages, which go before all others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ControlPath {
    /// `M_c` \[flits\].
    pub message_flits: f64,
    /// `P` \[cycles\].
    pub pipeline_stages: f64,
    /// `h`: channels between routers.
    pub hops: f64,
}

impl ControlPath {
    /// Wait at the interface \[cycles\]: the next cycle.
    pub const WAITING: f64 = 1.0;

    /// Network latency \[cycles\]: exact while no lower message holds its virtual channel and no residue its port.
    ///
    /// ```
    /// use flitwise_models::router_nic::ControlPath;
    ///
    /// let path = ControlPath { message_flits: 20.0, pipeline_stages: 5.0, hops: 0.0 };
    /// assert_eq!((path.network_latency(), ControlPath::WAITING), (24.0, 1.0));
    /// ```
    pub fn network_latency(&self) -> f64 {
        // P - 1 + P h + M_c
        self.pipeline_stages - 1.0 + self.pipeline_stages * self.hops + self.message_flits
    }

    /// Largest total latency with acceleration \[cycles\], behind `own_flits` of control in front of it, where
    /// messages of lower classes have at most `longest_flits` \[flits\]: at each router one of them may hold its
    /// output.
    pub fn latency_bound(&self, own_flits: f64, longest_flits: f64) -> f64 {
        let routers = self.hops + 1.0;
        // + own class in front + M - 1 per router
        Self::WAITING + self.network_latency() + own_flits + (longest_flits - 1.0) * routers
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::router_nic::{assert_digits, assert_near};

    /// At .6: best effort and real time by shares of 20:80 and 80:20.
    #[test]
    fn blocks_have_the_digits_written_down() {
        let at =
            |flits, share: f64| Blocks { flits }.real_time_change(40.0, 0.6 * share, 0.6 * (1.0 - share));
        for (flits, share, expected) in
            [(5.0, 0.2, "6.8"), (10.0, 0.2, "6.6"), (5.0, 0.8, "-6.4"), (10.0, 0.8, "-16.5")]
        {
            assert_digits(at(flits, share), expected);
        }
        assert_eq!(at(1.0, 0.5), 0.0);
        // whole messages, without best effort: nothing is shared, which costs 1.5 times as much at two links as at one
        let gained = 1.5 * 40.0 * (least_attained(0.4) - first_come(0.4));
        assert_near(Blocks { flits: 40.0 }.real_time_change(40.0, 0.4, 0.0), -gained, 1e-13);
    }

    #[test]
    fn acceleration_hides_a_residue_of_flits() {
        let without = |real_time_load| Acceleration::Off { real_time_load };
        assert_eq!(without(0.0).delay(Blocks::FLITS), Acceleration::On.delay(Blocks::FLITS));
        assert_near(without(0.5).holder_delay(40.0).unwrap(), 80.0, 1e-14);
        assert_eq!(Acceleration::On.holder_delay(40.0), Ok(20.0));
        let delays = [0.0, 0.3, 0.6, 0.9].map(|load| without(load).delay(Blocks { flits: 5.0 }).unwrap());
        assert!(delays.is_sorted_by(|lower, higher| lower < higher));
        assert_eq!(without(1.0).delay(Blocks::FLITS), Err(Saturated { part: Part::Link, load: 1.0 }));
    }

    #[test]
    fn preemption_costs_two_flits() {
        // messages of 40 flits, all real time: of a load of .5 each, every other message may preempt
        assert_near(most_dummies(0.5 / 40.0, 1.0), 0.025, 1e-14);
        assert_eq!((most_dummies(0.0, 0.0), delay_of_preempted(&[])), (0.0, 0.0));
    }

    #[test]
    fn control_is_bounded() {
        let path = ControlPath { message_flits: 20.0, pipeline_stages: 5.0, hops: 1.0 };
        assert_eq!(path.network_latency(), 29.0);
        assert_eq!(path.latency_bound(20.0, 40.0), 1.0 + 29.0 + 20.0 + 2.0 * 39.0);
        assert_eq!(path.latency_bound(0.0, 1.0), ControlPath::WAITING + path.network_latency());
    }

    #[test]
    fn holders_delay_more_without_acceleration() {
        let channels = SharedChannels {
            shared: 0.5,
            foreign: 0.75,
            load: 0.3,
            virtual_channels: 10.0,
            message_flits: 40.0,
            held_cycles: 100.0,
        };
        // p = 1/2 3/4 .3 100 / 400, and 3/4 of 100 cycles
        assert_near(channels.delay(Acceleration::On).unwrap(), 0.028_125 * 75.0, 1e-12);
        // M / 2 (1 / (1 - R)² - 1) more
        let without = channels.delay(Acceleration::Off { real_time_load: 0.5 }).unwrap();
        assert_near(without, 0.028_125 * 135.0, 1e-12);
        assert!(channels.delay(Acceleration::Off { real_time_load: 1.0 }).is_err());
        let apart = SharedChannels { shared: 0.0, ..channels };
        assert_eq!(apart.delay(Acceleration::On), Ok(0.0));
    }
}
