//! How many streams end at an output, and the load up to which hardly any of them jitters for that: §6.6.

use statrs::distribution::{Binomial, Discrete, Hypergeometric};

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
pub fn streams_at_an_output(placement: Placement, streams: u64, outputs: u64) -> Vec<f64> {
    let all = streams * outputs;
    let values = |most: u64, of: &dyn Fn(u64) -> f64| (0..=most).map(of).collect();
    match placement {
        Placement::Capped { room } if room > streams => {
            match Hypergeometric::new(outputs * room, room, all) {
                Ok(law) => values(room, &|k| law.pmf(k)),
                Err(_) => Vec::new(),
            }
        }
        Placement::Uniform if outputs > 1 => match Binomial::new(1.0 / outputs as f64, all) {
            // beyond twelve deviations there is nothing
            Ok(law) => values(all.min(streams + 60 + 12 * (streams as f64).sqrt() as u64), &|k| law.pmf(k)),
            Err(_) => Vec::new(),
        },
        _ => values(streams, &|k| f64::from(u8::from(k == streams))),
    }
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
