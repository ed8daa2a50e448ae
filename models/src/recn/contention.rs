//! Waits at inputs: one packet at a time crosses from an input, and a queue that holds several outputs' packets stops
//! at its head.
//!
//! Rates are shares of a crossbar output here, and times are those of a packet over the crossbar.

use crate::fixed_point::root_of_increasing;

/// How often an output that is idle finds the inputs of its packets busy with others, over what it would be if they
/// were so at any time: measured with 64 hosts, `voq-switch`, crossbars as fast as links, .81 to .87 at loads of .5
/// to .85.
const BUSY: f64 = 0.84;

/// What packets for an output wait longer than at the output alone, as a share of that wait, where inputs have a queue
/// for each output. Of its packets `a_i / ρ` come from input `i`, which carries `R_i` in all:
///
/// ```text
/// W = W_out / (1 - B),    B = .84 Σ (a_i / ρ) (R_i - a_i)
/// ```
///
/// An output with packets is idle for a part `B` of the time that it has left over, since their inputs are busy with
/// others; it takes packets of any free input meanwhile. None where `B` is 1 or more.
pub(super) fn input_share(output: &[f64], inputs: &[f64]) -> Option<f64> {
    let load: f64 = output.iter().sum();
    let others = output.iter().zip(inputs).map(|(rate, all)| rate / load.max(1e-300) * (all - rate));
    let busy = BUSY * others.sum::<f64>();
    (busy < 1.0).then(|| busy / (1.0 - busy))
}

/// Part of [`input_share`] that is left with a crossbar `s` times as fast as links: packets come over a link, `s` times
/// the time of a crossing apart, so that only one that was held up for longer than `s - 1` meets the next one.
///
/// ```text
/// (2 - s)²
/// ```
pub(super) fn met_share(speedup: f64) -> f64 {
    (2.0 - speedup).max(0.0).powi(2)
}

/// Packets that wait at each input, where it has a queue for each output; none where an output is full.
pub(super) fn waiting(rates: &[&[f64]], factor: f64) -> Option<Vec<f64>> {
    let inputs = rates.first().map_or(0, |one| one.len());
    let mut carried = vec![0.0; inputs];
    for output in rates {
        carried.iter_mut().zip(*output).for_each(|(all, rate)| *all += factor * rate);
    }
    let mut waiting = vec![0.0; inputs];
    for output in rates.iter().filter(|output| output.iter().any(|rate| *rate > 0.0)) {
        let output: Vec<f64> = output.iter().map(|rate| factor * rate).collect();
        let load: f64 = output.iter().sum();
        if load >= 1.0 {
            return None;
        }
        let wait = super::link_wait(&output, 1.0) * (1.0 + input_share(&output, &carried)?);
        waiting.iter_mut().zip(&output).for_each(|(waiting, rate)| *waiting += rate * wait);
    }
    Some(waiting)
}

/// Packets that wait at an input with `q` queues that hold packets for any output, where `v` would with a queue for
/// each: a packet waits behind others in its queue if all queues have some. None from `v = q` on.
///
/// ```text
/// n = v / (1 - P),    P = (n / (1 + n))^q
/// ```
pub(super) fn waiting_in(queues: f64, apart: f64) -> Option<f64> {
    if apart >= queues {
        return None;
    }
    /// More wait only next to the pole.
    const MOST: f64 = 1e9;
    let apart_of = |number: f64| number * (1.0 - (number / (1.0 + number)).powf(queues));
    Some(root_of_increasing(apart, MOST, |number| (apart_of(number) - apart, f64::NAN)))
}

/// The factor by which the rates over a crossbar can grow until `q` packets would wait at an input with a queue for
/// each output, the pole of [`waiting_in`].
pub(super) fn queues_limit(rates: &[&[f64]], queues: f64) -> f64 {
    let fullest = rates.iter().map(|one| one.iter().sum::<f64>()).fold(1e-9, f64::max);
    let most =
        |factor: f64| waiting(rates, factor).map_or(f64::INFINITY, |all| all.into_iter().fold(0.0, f64::max));
    root_of_increasing(0.0, 1.0 / fullest, |factor| (most(factor) - queues, f64::NAN))
}

/// Queues that RECN sets aside for heads of line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct HeadsAside {
    /// Packets at which an egress port detects a tree.
    pub(super) detection: f64,
    /// `s`: speed of the crossbar over that of a link.
    pub(super) speedup: f64,
}

impl HeadsAside {
    /// Share of what heads of line cost that RECN gives back, at the load `θ` that they limit one queue to.
    ///
    /// An output with many heads fills its egress port by `1 - 1/s` of a packet with each crossing. Lengths beyond
    /// one packet fall off by `e` every `x` packets; a share that turns at `e^-5` is in keeping with simulated
    /// saturation of 64 hosts with crossbars 1 to 1.375 times as fast as links and detection at 1 to 32 packets.
    ///
    /// ```text
    /// x = (1 - 1/s) / (1 - θ),    1 / (1 + exp(((D - 1) / x - 5) / .8))
    /// ```
    pub(super) fn share(&self, limit: f64) -> f64 {
        let falls = (1.0 - 1.0 / self.speedup) / (1.0 - limit).max(1e-9);
        if falls <= 0.0 { 0.0 } else { 1.0 / (1.0 + (((self.detection - 1.0) / falls - 5.0) / 0.8).exp()) }
    }

    /// What packets wait for heads of line, in packet times on a link, where one queue has them wait so long: three
    /// eighths of the time in which an egress port grows to detection are the most.
    ///
    /// ```text
    /// 1 / W = 1 / W_1 + 1 / C,    C = 3/8 (D - 1) / (s - 1)
    /// ```
    pub(super) fn wait(&self, one_queue: f64) -> f64 {
        let most = 0.375 * (self.detection - 1.0) / (self.speedup - 1.0).max(1e-9);
        if one_queue.is_finite() { one_queue * most / (one_queue + most).max(1e-300) } else { most }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_queues_saturate_as_simulated() {
        let even: &[f64] = &[0.25; 4];
        // 64 hosts, 128 packets a queue, a crossbar as fast as the links: .851
        let found = queues_limit(&[even; 4], 4.0);
        assert!((found - 0.851).abs() < 0.01, "{found}");
        let apart: [&[f64]; 2] = [&[1.0, 0.0], &[0.0, 1.0]];
        assert!(queues_limit(&apart, 4.0) > 0.999);
        assert!(waiting_in(4.0, 0.1).unwrap() - 0.1 < 1e-4 && waiting_in(4.0, 4.0).is_none());
        // one queue: n = v / (1 - v)
        assert!((waiting_in(1.0, 0.5).unwrap() - 1.0).abs() < 1e-6);
    }

    /// Throughput of one queue with crossbars 1.125 and 1.25 times as fast as links is .678 and .774; with detection at
    /// 2 and 4 packets .959 and .967, at 12 as with one queue.
    #[test]
    fn low_thresholds_set_heads_aside() {
        for (speedup, limit, low, high) in [(1.125, 0.737, 2.0, 12.0), (1.25, 0.819, 4.0, 12.0)] {
            let of = |detection| HeadsAside { detection, speedup }.share(limit);
            assert!(of(low) > 0.9 && of(high) < 0.05, "{speedup}: {} {}", of(low), of(high));
        }
        assert_eq!(HeadsAside { detection: 2.0, speedup: 1.0 }.share(0.655), 0.0);
    }
}
