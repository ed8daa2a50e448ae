//! Network latency of real time and best effort in one router: §6.3, §6.4.
//!
//! Flits of a message compete at its input port and at its output port. The latency of either kind of traffic is
//!
//! ```text
//! L = P - 1 + M (1 + excess)
//! ```
//!
//! Lanes beyond saturation ([`super::lanes`]) have no latency.
//!
//! What can be derived, and how good it is (*: a prototype's numbers; P: simulated here with Poisson messages on 40
//! lanes, 8 ports, `M` 20, Vtick 94):
//!
//! - FIFO, greedy. A greedy matching serves a port with `k` candidates on average, Poisson distributed, with
//!   probability `u = k / (1 + k)` ([`super::lanes`]). By Little's law a message takes `k M / u`, which is
//!   `M / (1 - u)`, so that `a = 1`. Simulated (P) 0.94 at `u` 0.1, 1.12 at 0.5, 1.33 at 0.8; fitted 1.17.
//! - VirtualClock and fair queueing: [`real_time_excess`].
//! - Best effort: [`best_effort_excess`], greedy [`greedy_excess`]. Matching of what real time leaves would give
//!   `M / ((1 - ρ_R)(1 - ρ))`, 14 to 43 % below the ten points* of Table V.

use super::crossbar::{Contention, Order};
use super::waiting::PeriodicQueue;
use flitwise_language::scenario::CircuitVtick;

/// Excess over that of processor sharing at one port with one order for all: fitted.
const IN_ORDER: f64 = 1.17;

/// What a message loses to others at the two ports of a router, in messages.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PortExcess {
    /// At its input port, which its injection link feeds.
    pub input: f64,
    /// At its output port.
    pub output: f64,
}

impl PortExcess {
    /// Both.
    pub fn sum(&self) -> f64 {
        self.input + self.output
    }

    /// So many times as much at either.
    pub(super) fn times(self, factor: f64) -> Self {
        Self { input: factor * self.input, output: factor * self.output }
    }
}

/// Excess of the real-time latency at a router of `inputs` ports with `lanes` virtual channels of real time, whose
/// load is `u`, below 1. `wait` is that for a link in order of joining, `W` of [`super::PeriodicQueue`] \[messages\].
///
/// Links share: a message that meets others takes `2 W` longer, as in processor sharing. On its injection link it meets
/// those of the other virtual channels only, at its output those of the other inputs:
///
/// ```text
/// input   s 2 W (1 - 1/V) g,   output   2 W (1 - 1/n) g
/// ```
///
/// - `s`: with fair queueing 1. Stamps of a VirtualClock let the message go first that has sent less. Of two messages
///   that overlap the first one is delayed by all of the other, and the other one by the half of it that is left: `3/2`
///   of what either is by sharing. Behind the injection link flits come apart, and are shared.
/// - `g`: a greedy matching loses slots, `1 + .4 u`, chosen on 60 routers. In a full crossbar it is 1 with a
///   VirtualClock; flits that share both links by turns wait for both at once, `1 - .4 u`, chosen on 24 routers.
pub fn real_time_excess(
    contention: Contention,
    (lanes, inputs): (f64, f64),
    load: f64,
    wait: f64,
) -> PortExcess {
    let first = match contention.order {
        Order::VirtualClock => 1.5,
        Order::FairQueueing => 1.0,
        Order::Fifo => {
            let half = 0.5 * IN_ORDER * load / (1.0 - load);
            return PortExcess { input: half, output: half };
        }
    };
    let lost = match (contention.is_multiplexed, contention.order) {
        (true, _) => 0.4 * load,
        (false, Order::FairQueueing) => -0.4 * load,
        (false, _) => 0.0,
    };
    let shared = 2.0 * wait * (1.0 + lost);
    PortExcess {
        input: first * shared * (1.0 - 1.0 / lanes.max(1.0)),
        output: shared * (1.0 - 1.0 / inputs.max(1.0)),
    }
}

/// Excess of the latency in a full crossbar of `inputs` ports whose links serve in order of joining: messages pass an
/// injection link one after another, and flits of those that overlap alternate at the output. At a light load two
/// messages that overlap wait for each other, `u`; in a queue one waits for the other, `W` of a link with so many
/// streams, and the own input brings none at the same time:
///
/// ```text
/// (1 - 1/n) (W + u / 2)
/// ```
pub(super) fn in_order_excess(inputs: f64, load: f64, wait: f64) -> f64 {
    (1.0 - 1.0 / inputs) * (wait + load / 2.0)
}

/// Real-time messages of a class on a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Flow {
    /// Load \[flits/cycle\].
    pub(super) load: f64,
    /// `M`.
    pub(super) message_flits: f64,
    /// Time between flits of a stream \[cycles\].
    pub(super) vtick: f64,
}

/// How much longer than with messages all alike the excess of a class is, on a link with several classes `l` of load
/// `ρ_l`, `M_l` and `v_l`. The message with the earliest stamp goes first, so that of a message of class `l` no more
/// flits go before the last one of `M` flits than have stamps below `M v`, at both stations:
///
/// ```text
/// x_l = min(1, M v / (M_l v_l)),   r = Σ ρ_l x_l
/// e = 2 r / (1 - r) + Σ ρ_l x_l² M_l / M / (2 (1 - r)²),   g = e / (e of x_l = 1, M_l = M)
/// ```
///
/// One class gains what others lose, so that the mean of `g` over the flits would be 1 if work were conserved in
/// flits. Divided by the root of that mean it is nearest to the simulation, chosen on 12 routers.
pub(super) fn least_attained(flows: &[Flow], own: (f64, f64)) -> f64 {
    let load: f64 = flows.iter().map(|flow| flow.load).sum();
    let excess = |seen: f64, square: f64| 2.0 * seen / (1.0 - seen) + square / (2.0 * (1.0 - seen).powi(2));
    let gain = |(message_flits, vtick): (f64, f64)| {
        let (mut seen, mut square) = (0.0, 0.0);
        for flow in flows {
            let length = flow.message_flits / message_flits;
            let share = (vtick / (length * flow.vtick)).min(1.0);
            seen += flow.load * share;
            square += flow.load * share * share * length;
        }
        excess(seen, square) / excess(load, load)
    };
    if load <= 0.0 || flows.len() < 2 {
        return 1.0;
    }
    let mean =
        flows.iter().map(|flow| flow.load * gain((flow.message_flits, flow.vtick))).sum::<f64>() / load;
    gain(own) / mean.sqrt()
}

/// Excess of the best-effort latency at one link beneath a real-time load `ρ_R`, in messages; `load` is `ρ`, that of
/// both, below 1. `lengths` is the mean length of a message that a random flit belongs to, over that of the class. Low
/// priority in preemptive-resume M/D/1:
///
/// ```text
/// ρ_R / (1 - ρ_R) + ρ / (2 (1 - ρ_R) (1 - ρ))
/// ```
///
/// In a full crossbar a message meets those of the other inputs so, and real time goes before it on its injection link.
pub fn best_effort_excess(real_time: f64, load: f64, lengths: f64) -> f64 {
    let (left, free) = (1.0 - real_time, 1.0 - load);
    real_time / left + lengths * load / (2.0 * left * free)
}

/// The same in a greedy crossbar of `n` inputs, with `e` of [`best_effort_excess`] at either port. At its output a
/// message meets those of the other inputs. A matching loses slots, the more the nearer it is to what the virtual
/// channels carry, `L` of it: `.6` and the power are chosen on 60 routers.
///
/// ```text
/// e (2 - 1/n) / (1 - .6 (1 - 1/n) L³)
/// ```
pub(super) fn greedy_excess(link: f64, inputs: f64, share: f64) -> f64 {
    let others = 1.0 - 1.0 / inputs.max(1.0);
    link * (1.0 + others) / (1.0 - 0.6 * others * share.min(1.0).powi(3))
}

/// Excess of the latency with so many circuits at a port, each of a load of `one`, in messages, at both ports of a
/// router together. It is that of real time with twice the mean wait `W` of nD/D/1 in the place of `u / (1 - u)`, which
/// is twice that of M/D/1: the messages of the other circuits come periodically. Clocks restart with every message.
///
/// `a` is 2.8 for a greedy crossbar, 2.3, fitted to streams of frames, over the ratio of nD/D/1 and M/D/1 where that
/// was measured (77 streams, 0.817: 0.81), and 2.35, fitted to two points, for a full one. Simulated (8 ports of 24
/// virtual channels, messages of 20, loads of 0.24 to 0.85): latencies +7 to -7 %.
fn circuit_excess(contention: Contention, circuits: u32, one: f64) -> f64 {
    if circuits < 2 || one <= 0.0 {
        return 0.0;
    }
    let weight = if contention.is_multiplexed { 2.8 } else { 2.35 };
    let queue = PeriodicQueue { sources: circuits, load: f64::from(circuits) * one };
    // a 2 W
    weight * 2.0 * queue.mean_wait()
}

/// Circuits with clocks that run on from message to message, and whose rates are all reserved, on one link: an order of
/// the circuits that stays for many messages.
///
/// What a circuit has sent beyond its rate is a random walk without drift. So the clocks of two circuits differ by far
/// more than a message takes, and flits of the one that is less ahead go first. Circuit `j` has `j` others above it,
/// any `j` alike, and preemptive-resume service: [`PeriodicQueue`] of those `j` has the mean work `V_j`, and while it
/// is done, circuits come that are not part of it. Load `σ_j = j ρ`, of one circuit `ρ`, time in messages:
///
/// ```text
/// wait    w = 1/n Σ_j V_j / (1 - σ_j + ρ V_j / σ_j)
/// stretch s = 1/n Σ_j σ_j / (1 - σ_j)
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
struct RunningClocks {
    wait: f64,
    stretch: f64,
}

impl RunningClocks {
    /// Of 0, 1, .. up to `most` circuits, which load a link by less than 1.
    fn up_to(most: u32, one: f64) -> Vec<Self> {
        let mut sums = Self { wait: 0.0, stretch: 0.0 };
        let mut all = vec![sums];
        for above in 0..most {
            let load = f64::from(above) * one;
            if load > 0.0 {
                let work = PeriodicQueue { sources: above, load }.mean_work();
                let (free, work_of_one) = (1.0 - load, work / f64::from(above));
                // V_j / (1 - σ_j + ρ V_j / σ_j), with ρ / σ_j = 1 / j
                sums.wait += work / (free + work_of_one);
                // σ_j / (1 - σ_j)
                sums.stretch += load / free;
            }
            let circuits = f64::from(above + 1);
            all.push(Self { wait: sums.wait / circuits, stretch: sums.stretch / circuits });
        }
        all
    }
}

/// What a message on a circuit loses to other circuits, by the number of circuits on a link, in messages.
#[derive(Clone, Debug)]
pub(super) struct CircuitDelays {
    /// At the input port, and at the output port of a router.
    input: Vec<f64>,
    output: Vec<f64>,
    /// At the interface.
    waiting: Vec<f64>,
    /// Deviation of the delay of a message, as a share of its mean.
    pub(super) variation: f64,
}

/// Deviation of what a message is delayed by others, as a share of its mean. Its delay adds up over its flits and over
/// two ports, so it varies less than an exponential one. Simulated: .43 to .58, for video of 80 to 100 % at loads of
/// 0.7 to 0.9.
pub(super) const DELAY_VARIATION: f64 = 0.5;
/// The same of circuits in an order that stays. Simulated: 1.0 to 1.8, at loads of 0.28 to 0.69.
const ORDERED_VARIATION: f64 = 1.2;
/// Share of [`RunningClocks::wait`] at the interface that is left where two deviations more than the mean are reserved:
/// few frames are longer. Fitted; simulated .05 to .12, the more the more frames vary.
const BEYOND_PEAK: f64 = 0.07;

impl CircuitDelays {
    /// Up to `most` circuits on a link, each of a load of `one`; together they load it by less than 1.
    ///
    /// With clocks that restart or that reserve the peak half of [`circuit_excess`] is lost at each port. With clocks
    /// of the mean a greedy crossbar has two links, each with [`RunningClocks`], nothing fitted. A full one has the
    /// output link, and the injection link stretches the message, too; the larger one of two alike exponential
    /// stretches is 3/2 of their mean.
    pub(super) fn new(contention: Contention, vtick: CircuitVtick, most: u32, one: f64) -> Self {
        let restarts = vtick == CircuitVtick::Frame;
        let running = if restarts { Vec::new() } else { RunningClocks::up_to(most, one) };
        let of_clocks = |of: fn(&RunningClocks) -> f64| running.iter().map(of).collect::<Vec<f64>>();
        if vtick == CircuitVtick::Mean {
            let output = of_clocks(|clocks| clocks.wait + clocks.stretch);
            let input =
                if contention.is_multiplexed { output.clone() } else { of_clocks(|one| one.stretch / 2.0) };
            return Self { input, output, waiting: of_clocks(|one| one.wait), variation: ORDERED_VARIATION };
        }
        let port: Vec<f64> =
            (0..=most).map(|circuits| circuit_excess(contention, circuits, one) / 2.0).collect();
        let waiting = if restarts { vec![0.0] } else { of_clocks(|one| BEYOND_PEAK * one.wait) };
        Self { input: port.clone(), output: port, waiting, variation: DELAY_VARIATION }
    }

    /// Between whole numbers of circuits, which are means, on a line.
    fn at(of: &[f64], circuits: f64) -> f64 {
        let below = (circuits.max(0.0) as usize).min(of.len() - 1);
        let above = (below + 1).min(of.len() - 1);
        of[below] + (circuits - below as f64) * (of[above] - of[below])
    }

    /// At an input and an output port, or at the link of its way that has the second most circuits and the one that has
    /// the most, \[messages\].
    pub(super) fn excess(&self, input: f64, output: f64) -> f64 {
        Self::at(&self.input, input) + Self::at(&self.output, output)
    }

    /// At the interface of a node with so many circuits \[messages\].
    pub(super) fn waiting(&self, circuits: f64) -> f64 {
        Self::at(&self.waiting, circuits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GREEDY: Contention = Contention { is_multiplexed: true, order: Order::VirtualClock };
    const FULL: Contention = Contention { is_multiplexed: false, order: Order::VirtualClock };
    /// Circuits of 8 ports of 24 virtual channels, a load of 0.0405 each, messages of 20 flits: simulated network
    /// latencies \[cycles\] at so many circuits of every node, placed at random. That outputs have a few more or less
    /// matters little at these loads.
    #[test]
    fn messages_on_circuits_wait_for_other_circuits() {
        for (circuits, simulated) in [(6, 34.6), (12, 62.1), (16, 96.5)] {
            let latency = 22.0 + 20.0 * circuit_excess(GREEDY, circuits, 417.2 / 10_312.5);
            assert!((latency / simulated - 1.0).abs() < 0.08, "{circuits}: {latency}");
        }
        assert_eq!(circuit_excess(GREEDY, 1, 0.04), 0.0);
        assert!(circuit_excess(FULL, 12, 0.04) < circuit_excess(GREEDY, 12, 0.04));
    }

    /// The same by the clock of a circuit, and the wait at the interface beyond a cycle.
    #[test]
    fn clocks_that_run_on_make_an_order_of_circuits() {
        use CircuitVtick::{Frame, Mean, Peak};
        let points = [
            (GREEDY, Mean, [(7, 30.1, 1.54), (12, 43.0, 3.97), (17, 68.1, 9.10)]),
            (FULL, Mean, [(7, 28.9, 1.54), (12, 37.8, 3.97), (17, 52.0, 8.90)]),
            (GREEDY, Peak, [(7, 38.7, 0.10), (12, 63.2, 0.28), (17, 107.0, 0.77)]),
            (FULL, Peak, [(7, 37.4, 0.10), (12, 58.6, 0.28), (17, 95.3, 0.69)]),
        ];
        for (contention, vtick, points) in points {
            for (circuits, simulated, waiting) in points {
                let delays = CircuitDelays::new(contention, vtick, circuits, 417.2 / 10_312.5);
                let count = f64::from(circuits);
                let latency = 22.0 + 20.0 * delays.excess(count, count);
                assert!((latency / simulated - 1.0).abs() < 0.05, "{vtick:?} {circuits}: {latency}");
                let found = 20.0 * delays.waiting(count);
                assert!((found / waiting - 1.0).abs() < 0.2, "{vtick:?} {circuits}: {found}");
            }
        }
        let frame = CircuitDelays::new(GREEDY, Frame, 12, 0.04);
        assert_eq!(frame.waiting(12.0), 0.0);
        // both ports together, and between whole numbers on a line
        assert!((frame.excess(12.0, 12.0) - circuit_excess(GREEDY, 12, 0.04)).abs() < 1e-12);
        let between = [11.0, 11.5, 12.0].map(|circuits| frame.excess(circuits, 0.0));
        assert!((between[1] - f64::midpoint(between[0], between[2])).abs() < 1e-12);
        // a circuit alone meets nobody, and no load no one
        for vtick in CircuitVtick::ALL {
            let alone = CircuitDelays::new(GREEDY, vtick, 1, 0.04);
            assert_eq!((alone.excess(1.0, 1.0), alone.waiting(1.0)), (0.0, 0.0));
            let idle = CircuitDelays::new(FULL, vtick, 3, 0.0);
            assert_eq!((idle.excess(3.0, 3.0), idle.waiting(3.0)), (0.0, 0.0));
        }
    }

    /// 80:20 at .8 with headers: * 17.9 us, of which `P - 1` and `M` are 24 cycles of .08 us.
    #[test]
    fn a_full_crossbar_has_one_station() {
        let real_time = 0.64 * 1.0633;
        let excess = best_effort_excess(real_time, real_time + 0.16, 1.0);
        assert!(((4.0 + 20.0 * (1.0 + excess)) * 0.08 / 17.9 - 1.0).abs() < 0.13);
        // one input has no others at its output, and nothing carried is lost
        assert_eq!(greedy_excess(excess, 1.0, 0.9), excess);
        assert_eq!(greedy_excess(excess, 2.0, 0.0), 1.5 * excess);
    }

    /// A message among few others, in the limit of light loads: the other one is met at either port, whole or half.
    #[test]
    fn stamps_delay_the_message_that_came_first() {
        let (load, wait) = (1e-6, 0.5e-6);
        let of = |contention| real_time_excess(contention, (4.0, 8.0), load, wait);
        let [clock, fair] =
            [Order::VirtualClock, Order::FairQueueing].map(|order| of(Contention { order, ..FULL }));
        assert!((clock.input / (1.5 * 0.75 * load) - 1.0).abs() < 1e-5, "{clock:?}");
        assert!((fair.input / (0.75 * load) - 1.0).abs() < 1e-5, "{fair:?}");
        assert!((fair.output / clock.output - 1.0).abs() < 1e-5, "{fair:?}");
        assert_eq!(real_time_excess(GREEDY, (1.0, 1.0), 0.5, 0.3), PortExcess::default());
    }

    #[test]
    fn nothing_offered_is_no_excess() {
        for contention in [GREEDY, FULL] {
            assert_eq!(real_time_excess(contention, (16.0, 8.0), 0.0, 0.0).sum(), 0.0);
        }
    }
}
