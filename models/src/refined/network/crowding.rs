//! Paths that are crowded for as long as a message is on them.
//!
//! Along a path each station takes its delays as independent. In fact messages that share a path stay together: where
//! one was held up the others are behind it, and it meets them again further on. Means hardly change by this, but the
//! far end of the distribution does, the more routers the longer. With `u` the largest share of time that messages of
//! the class hold a virtual channel of the path, over `h` hops,
//!
//! ```text
//! e = 1 - (1 - 0.08 u²)^(h + 1),   D' = D 2              with probability e
//!                                  D' = D (1 - 2 e) / (1 - e)     otherwise,   so that E[D'] = E[D]
//! ```
//!
//! Both constants are fitted: 2 to 6-cubes at 51 and 85 % of saturation, 0.08 to percentiles of the cubes of the tuning
//! set. In the cubes of the held-out set 99th percentiles are 8.2 % off with them and 10.5 % without, those at 85 % of
//! saturation 15 and 21 %; miss probabilities 0.0489 and 0.0492.

use super::super::law::Law;
use super::OneClass;
use super::along_path::Path;
use super::stations::Stations;

/// How often a router of the path is crowded, over `u²`.
const HOW_OFTEN: f64 = 0.08;
/// By how much delays are longer then.
const LONGER: f64 = 2.0;
/// Largest `e`: others keep two thirds of their delay.
const MOST: f64 = 0.25;

impl OneClass<'_> {
    /// The delay of tails on a path if it may be crowded; that of best effort is left as it is.
    pub(super) fn where_crowded(&self, delay: Law, path: &Path, stations: &Stations) -> Law {
        if self.own.is_none() {
            return delay;
        }
        let held = path.stops.iter().map(|stop| stations.mean(&stop.stations, |station| station.held));
        mixed(&delay, chance(held.fold(0.0, f64::max), path.stops.len()))
    }
}

/// `e` for so many routers.
fn chance(held: f64, routers: usize) -> f64 {
    (1.0 - (1.0 - HOW_OFTEN * held * held).powf(routers as f64)).min(MOST)
}

fn mixed(delay: &Law, crowded: f64) -> Law {
    let otherwise = (1.0 - LONGER * crowded) / (1.0 - crowded);
    Law::mix(&[(1.0 - crowded, delay.stretched(otherwise)), (crowded, delay.stretched(LONGER))])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crowded_paths_lengthen_the_tail_and_leave_the_mean() {
        let delay = Law::mix(&[(0.5, Law::constant(4.0)), (0.5, Law::constant(30.0))]);
        for (held, routers) in [(0.0, 7), (0.3, 2), (0.6, 7), (0.98, 17), (0.98, 1000)] {
            let crowded = chance(held, routers);
            let found = mixed(&delay, crowded);
            assert!((found.mean() - delay.mean()).abs() < 1e-9, "{held} {routers}: {}", found.mean());
            let tail = found.probabilities().iter().skip(31).sum::<f64>();
            assert!((tail - crowded / 2.0).abs() < 1e-12, "{held} {routers}: {tail}");
        }
        assert_eq!(chance(0.0, 7), 0.0);
        assert!((chance(0.5, 1) - 0.02).abs() < 1e-12 && chance(0.5, 7) > chance(0.5, 2));
        assert_eq!(chance(1.0, 10_000), MOST);
    }
}
