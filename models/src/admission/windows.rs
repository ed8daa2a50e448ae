//! Waits of best effort over many lanes, and credits that are returned when a packet has left its interface.
//!
//! A gate of `C` credits reorders nothing: it keeps packets beyond the first `C` of a node in front of the interface,
//! so that it only shows where more than `C` wait. The queue of a node is an M/D/1 queue (L. Kleinrock, Queueing
//! Systems I, 1975, 5.4).

use crate::fixed_point::root_of_increasing;

/// Constants of [`ManyLanes`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ManyLanes {
    /// `c`: load at which a network channel of many lanes is full \[flits/cycle\].
    pub capacity: f64,
    /// Waits in terms of those of M/D/1 queues.
    pub factor: f64,
}

impl ManyLanes {
    /// Fitted on a 4x4 mesh at 40 to 80 % load, where latencies are within 5.3 %; a 5x5 mesh was not fitted.
    pub const FITTED: Self = Self { capacity: 0.912, factor: 1.33 };

    /// Mean network latency over a path whose network and ejection channels have these loads \[cycles\]; none where
    /// one of them is full. `lone` is that of a packet alone, `P - 1 + P h + M`.
    pub fn latency(&self, lone: f64, message_flits: f64, network: &[f64], ejection: f64) -> Option<f64> {
        // (M/2) ρ / (1 - ρ/c), c = 1 for the ejection channel
        let wait = |load: f64, capacity: f64| {
            (load < capacity).then(|| message_flits / 2.0 * load / (1.0 - load / capacity))
        };
        let waits = network.iter().map(|load| wait(*load, self.capacity)).chain([wait(ejection, 1.0)]);
        // L = P - 1 + P h + M + 1.33 Σ wait
        waits.sum::<Option<f64>>().map(|waits| lone + self.factor * waits)
    }

    /// Load that saturates a network whose greatest channel has `greatest` flits for each flit of the load.
    pub fn saturation(&self, greatest: f64) -> f64 {
        self.capacity / greatest
    }
}

/// Mean wait of a packet at its interface before it starts on the injection link \[cycles\]; an upper estimate, up to
/// 25 % above what is measured at loads up to 0.6. None at load 1 and above.
pub fn queueing_delay(message_flits: f64, load: f64) -> Option<f64> {
    // 1/2 + M g / (2 (1 - g))
    (load < 1.0).then(|| 0.5 + message_flits * load / (2.0 * (1.0 - load)))
}

/// Packets of a node that are not over its injection link yet: an M/D/1 queue with a geometric tail.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InjectionQueue {
    /// `M`: flits of a packet.
    pub message_flits: f64,
    /// `ρ = λ M`: load of the injection link \[flits/cycle\].
    pub load: f64,
}

/// Where the time of a packet goes in front of the network.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GateTimes {
    /// Until it is posted \[cycles\].
    pub posting: f64,
    /// From then on until its tail is over the injection link \[cycles\].
    pub interface: f64,
}

impl InjectionQueue {
    /// `-ln η`: rate at which the tail of the queue falls with every packet; none at load 1 and above.
    fn decay(&self) -> Option<f64> {
        let load = self.load.max(f64::MIN_POSITIVE);
        if load >= 1.0 {
            return None;
        }
        // z = exp(λ M (z - 1)), z = exp(y) > 1: y = ρ (e^y - 1), beyond the minimum at -ln ρ
        let least = -load.ln();
        Some(root_of_increasing(least, 2.0 * least + 2.0, |y| (load * y.exp_m1() - y, load * y.exp() - 1.0)))
    }

    /// `P(Q >= j) = ρ η^(j-1)`, and 1 for none; at load 1 and above the queue is as long as you like.
    pub fn tail(&self, packets: u32) -> f64 {
        match (packets, self.decay()) {
            (0, _) | (_, None) => 1.0,
            // P(Q >= j) = ρ η^(j-1)
            (_, Some(decay)) => self.load.max(0.0) * (-decay * (f64::from(packets) - 1.0)).exp(),
        }
    }

    /// Times with `credits` credits; none without a credit, and at load 1 and above: see
    /// [`saturated_interface_time`] and [`ManyLanes::saturation`], beyond which no queue of packets ends.
    ///
    /// By Little's law, posting takes `E[(Q - C)+] / λ` and the interface `E[min(Q, C)] / λ`.
    pub fn times(&self, credits: u32) -> Option<GateTimes> {
        let decay = self.decay().filter(|_| credits > 0)?;
        let beyond = (-decay * f64::from(credits)).exp();
        // E[(Q - C)+] = ρ η^C / (1 - η), E[min(Q, C)] = ρ (1 - η^C) / (1 - η), λ = ρ / M
        let all = self.message_flits / -(-decay).exp_m1();
        let interface = all * -(-decay * f64::from(credits)).exp_m1();
        // what a simulation of any length would not see is none
        let posting = Some(all * beyond).filter(|posting| *posting > 1e-6).unwrap_or(0.0);
        Some(GateTimes { posting, interface })
    }
}

/// Time from posting until the tail is over the injection link where all credits are always taken \[cycles\]:
/// `C M / θ`, with the throughput `θ` of the node \[flits/cycle\]. None without throughput.
///
/// ```
/// use flitwise_models::admission::windows::saturated_interface_time;
///
/// assert_eq!(saturated_interface_time(200, 40.0, 0.8356).map(f64::round), Some(9_574.0));
/// ```
pub fn saturated_interface_time(credits: u32, message_flits: f64, throughput: f64) -> Option<f64> {
    (throughput > 0.0).then(|| f64::from(credits) * message_flits / throughput)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admission::{assert_near, channels, mesh, paths};

    /// Mean latency of a mesh at a load, packets of 40 flits, 5 stages.
    fn mesh_latency(side: u32, load: f64) -> Option<f64> {
        let network = mesh(side);
        let (paths, nodes) = (paths(&*network), f64::from(side * side));
        let mut loads = vec![0.0; channels(&*network)];
        for channel in paths.iter().flat_map(|path| &path.channels) {
            loads[*channel] += load / (nodes - 1.0);
        }
        let of_path = |path: &crate::admission::Path| {
            let loads: Vec<f64> = path.channels[1..].iter().map(|channel| loads[*channel]).collect();
            let (ejection, network) = loads.split_last()?;
            let lone = 4.0 + 5.0 * f64::from(path.hops()) + 40.0;
            ManyLanes::FITTED.latency(lone, 40.0, network, *ejection)
        };
        paths.iter().map(of_path).sum::<Option<f64>>().map(|sum| sum / paths.len() as f64)
    }

    #[test]
    fn latencies_of_a_mesh_are_those_of_the_chapter() {
        let of = |load| mesh_latency(5, load).map(f64::round);
        assert_eq!((of(0.4), of(0.6)), (Some(156.0), Some(364.0)));
        assert_near(mesh_latency(4, 0.0).unwrap(), 4.0 + 5.0 * 8.0 / 3.0 + 40.0, 1e-12);
        assert_eq!(mesh_latency(4, 0.9), None);
        assert_near(ManyLanes::FITTED.saturation(16.0 / 15.0), 0.855, 1e-12);
        // one node: no network channel
        assert_eq!(ManyLanes::FITTED.latency(44.0, 40.0, &[], 0.0), Some(44.0));
        assert_eq!(ManyLanes::FITTED.latency(44.0, 40.0, &[], f64::INFINITY), None);
    }

    /// Measured at 0.7 are 48 cycles, 2 % more.
    #[test]
    fn queueing_is_an_upper_estimate() {
        for (load, measured) in [(0.4, 11.0), (0.5, 14.6), (0.6, 23.0), (0.7, 47.16)] {
            let delay = queueing_delay(40.0, load).unwrap();
            assert!(delay >= measured && delay <= 1.41 * measured, "{load}: {delay}");
        }
        assert_eq!((queueing_delay(40.0, 0.0), queueing_delay(40.0, 1.0)), (Some(0.5), None));
    }

    #[test]
    fn the_tail_solves_its_equation() {
        for load in [1e-300, 1e-9, 0.1, 0.5, 0.9, 0.999, 1.0 - 1e-9] {
            let queue = InjectionQueue { message_flits: 40.0, load };
            let decay = queue.decay().unwrap();
            assert!((load * decay.exp_m1() - decay).abs() <= 1e-9 * decay, "{load}: {decay}");
            let times = [1, 7, u32::MAX].map(|credits| queue.times(credits).unwrap());
            for time in times {
                // the sum is that without control
                assert_near(time.posting + time.interface, times[0].posting + times[0].interface, 1e-9);
            }
            assert_near(times[0].interface, 40.0, 1e-12);
        }
        // near saturation 1/η - 1 = 2 (1 - ρ)
        let near = InjectionQueue { message_flits: 40.0, load: 1.0 - 1e-6 }.decay().unwrap();
        assert_near(near, 2e-6, 1e-3);
    }

    #[test]
    fn gates_are_shut_where_many_wait() {
        let queue = InjectionQueue { message_flits: 40.0, load: 0.8 };
        assert_eq!((queue.tail(0), queue.tail(1)), (1.0, 0.8));
        assert!(queue.tail(200) < 1e-30 && queue.times(200).unwrap().posting < 1e-30);
        assert!(queue.times(2).unwrap().posting > 10.0);
        let silent = InjectionQueue { load: 0.0, ..queue };
        assert!(silent.tail(1) == 0.0 && silent.times(1).unwrap().posting < 1e-300);
        for load in [1.0, f64::INFINITY] {
            let full = InjectionQueue { load, ..queue };
            assert_eq!((full.tail(1_000), full.times(9)), (1.0, None));
        }
        assert_eq!(queue.times(0), None);
    }

    #[test]
    fn saturated_values_are_those_of_the_chapter() {
        assert_near(saturated_interface_time(50, 40.0, 0.8254).unwrap(), 2_423.0, 1e-3);
        assert_eq!(saturated_interface_time(9, 40.0, 0.0), None);
    }
}
