//! How many streams end at an output, and the load up to which hardly any of them jitters for that: §6.6.

/// How streams find their destinations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// Draws until a virtual channel has room for another stream.
    Capped {
        /// Streams that a port takes: `V_R s_max`.
        room: u64,
    },
    /// Any node alike.
    Uniform,
    /// As many at each output.
    Balanced,
}

/// Share of the streams at outputs of which one would overflow that may jitter in a load that counts as free of it.
const FEW: f64 = 0.01;

/// Probability that `k` of the streams of all `outputs`, `streams` each on average, end at one output, `k = 0, 1, ..`:
/// hypergeometric, binomial or constant.
///
/// ```text
/// capped   P(k + 1) / P(k) = (R - k)(n - k) / ((k + 1)(o R - R - n + k + 1)),  n streams, o outputs of room R
/// uniform  P(k + 1) / P(k) = (n - k) / ((k + 1)(o - 1))
/// ```
pub fn streams_at_an_output(placement: Placement, streams: u64, outputs: u64) -> Vec<f64> {
    let (all, others) = (streams.saturating_mul(outputs) as f64, outputs.saturating_sub(1) as f64);
    match placement {
        Placement::Capped { room } if room > streams && outputs > 0 => {
            let room = room as f64;
            let least = (all - others * room).max(0.0);
            let mode = (all + 1.0) * (room + 1.0) / (outputs as f64 * room + 2.0);
            by_ratios(least, mode, room.min(all), |k| {
                (room - k) * (all - k) / ((k + 1.0) * (others * room - all + k + 1.0))
            })
        }
        Placement::Uniform if outputs > 1 => {
            // beyond twelve deviations there is nothing
            let mean = streams as f64;
            let most = all.min(mean + 60.0 + (12.0 * mean.sqrt()).floor());
            by_ratios(0.0, (all + 1.0) / (others + 1.0), most, |k| (all - k) / ((k + 1.0) * others))
        }
        _ => (0..=streams).map(|k| f64::from(u8::from(k == streams))).collect(),
    }
}

/// Probabilities of `0, 1, ..` up to `most` by the ratio of each to the one before it, from the `mode` on either side;
/// below `least` there are none.
fn by_ratios(least: f64, mode: f64, most: f64, ratio: impl Fn(f64) -> f64) -> Vec<f64> {
    let mode = mode.floor().clamp(least, most);
    let mut law = vec![0.0; most as usize + 1];
    law[mode as usize] = 1.0;
    for k in mode as usize..most as usize {
        law[k + 1] = law[k] * ratio(k as f64);
    }
    for k in (least as usize..mode as usize).rev() {
        law[k] = law[k + 1] / ratio(k as f64);
    }
    let sum: f64 = law.iter().sum();
    law.iter_mut().for_each(|share| *share /= sum);
    law
}

/// Share of the streams that end at outputs with more than `most` of them.
pub fn share_beyond(at_an_output: &[f64], most: u64) -> f64 {
    let streams = |from: usize| -> f64 {
        at_an_output.iter().enumerate().skip(from).map(|(count, share)| count as f64 * share).sum()
    };
    let all = streams(0);
    if all > 0.0 {
        (streams(usize::try_from(most).unwrap_or(usize::MAX).saturating_add(1)) / all).min(1.0)
    } else {
        0.0
    }
}

/// Most streams per node of which 1 % at most are at outputs that more than `most` streams end at.
pub fn jitter_free_streams(placement: impl Fn(u64) -> Placement, outputs: u64, most: u64) -> u64 {
    let (mut good, mut bad) = (0, most + 1);
    // the share grows with the streams
    while bad - good > 1 {
        let streams = u64::midpoint(good, bad);
        let at_an_output = streams_at_an_output(placement(streams), streams, outputs);
        if share_beyond(&at_an_output, most) <= FEW { good = streams } else { bad = streams }
    }
    good
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mediaworm::assert_near;

    /// 100 Mbps, 24 virtual channels, load .8: 20 +- 1.71 streams, 23 and more with probability .061.
    #[test]
    fn capped_streams_are_hypergeometric() {
        let law = streams_at_an_output(Placement::Capped { room: 24 }, 20, 8);
        let moment =
            |power: i32| law.iter().enumerate().map(|(k, p)| (k as f64).powi(power) * p).sum::<f64>();
        assert_near(moment(0), 1.0, 1e-10);
        assert_near(moment(1), 20.0, 1e-10);
        assert_near((moment(2) - 400.0).sqrt(), 1.71, 2e-3);
        assert_near(law[23..].iter().sum::<f64>(), 0.061, 1e-2);
    }

    /// By their definitions, in logarithms.
    #[test]
    fn laws_are_hypergeometric_and_binomial() {
        use statrs::distribution::{Binomial, Discrete, Hypergeometric};
        for (streams, outputs, room) in
            [(20, 8, 24), (12, 8, 13), (3, 2, 5), (1, 16, 2), (0, 4, 3), (77, 8, 78)]
        {
            let capped = streams_at_an_output(Placement::Capped { room }, streams, outputs);
            let law = Hypergeometric::new(outputs * room, room, streams * outputs).unwrap();
            let uniform = streams_at_an_output(Placement::Uniform, streams, outputs);
            let even = Binomial::new(1.0 / outputs as f64, streams * outputs).unwrap();
            for (found, exact) in [(capped, &law as &dyn Discrete<u64, f64>), (uniform, &even)] {
                for (k, share) in found.iter().enumerate() {
                    assert!((share - exact.pmf(k as u64)).abs() < 1e-11, "{streams} {outputs} {room} {k}");
                }
            }
        }
    }

    #[test]
    fn other_placements() {
        let uniform = streams_at_an_output(Placement::Uniform, 20, 8);
        assert_near(uniform.iter().sum::<f64>(), 1.0, 1e-9);
        let balanced = streams_at_an_output(Placement::Balanced, 20, 8);
        assert_eq!((share_beyond(&balanced, 20), share_beyond(&balanced, 19)), (0.0, 1.0));
        assert_eq!(share_beyond(&[], 3), 0.0);
        // one node, no room left, no streams
        assert_eq!(streams_at_an_output(Placement::Uniform, 5, 1)[5], 1.0);
        assert_eq!(streams_at_an_output(Placement::Capped { room: 5 }, 5, 8)[5], 1.0);
        assert_eq!(streams_at_an_output(Placement::Uniform, 0, 8)[0], 1.0);
    }

    #[test]
    fn fewer_streams_than_fit_are_free_of_jitter() {
        assert_eq!(jitter_free_streams(|_| Placement::Balanced, 8, 22), 22);
        let capped = jitter_free_streams(|_| Placement::Capped { room: 24 }, 8, 22);
        let uniform = jitter_free_streams(|_| Placement::Uniform, 8, 22);
        assert!(uniform < capped && capped < 22, "{uniform}, {capped}");
        let share =
            |streams| share_beyond(&streams_at_an_output(Placement::Capped { room: 24 }, streams, 8), 22);
        assert!(share(capped) <= FEW && share(capped + 1) > FEW);
        assert_eq!(jitter_free_streams(|_| Placement::Uniform, 8, 0), 0);
    }
}
