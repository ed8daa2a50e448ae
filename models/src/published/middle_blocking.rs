//! Blocking between the first router of a path and the last: appendix A.2 of [KYD05], after Kim and Das (IEEE
//! Trans. Comput. 43, 1994).

use super::blocking::Buffering;
use super::ecube_traffic::EcubeRoutes;
use crate::scalar::Scalar;

/// The coefficients of A.2, which depend on the dimension alone.
#[derive(Clone, Debug, PartialEq)]
pub struct MiddleBlocking {
    /// `P_1 / n`: share of messages that cross one given channel and no other.
    one_hop: f64,
    /// `1 - Pt_s`.
    goes_on: Vec<f64>,
    /// `H(j|s)`, row `s`.
    met_later: Vec<Vec<f64>>,
    /// The quotient of sums in `Bmid`, row `s`.
    crossed_later: Vec<Vec<f64>>,
}

/// `Bmid(c, s)` of one first channel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MiddleLength<T = f64> {
    /// The length \[flits\].
    pub flits: T,
    /// Its derivative by `P_b,c^s`, all else kept: never positive, since `λ^first_{c,s}` stands below the line.
    pub slope: T,
    /// `d_{c,s}`: what a header that is blocked on the channel has in front of it there and further on \[flits\].
    pub delay: T,
    /// `1 - P_1 λ_c / (n λ^first_{c,s})`: share of the messages that go on to other channels.
    pub going_on: T,
    /// What those have in front of them \[flits\].
    pub chained: T,
}

impl MiddleBlocking {
    /// Coefficients for the given cube.
    pub fn new(routes: &EcubeRoutes) -> Self {
        let n = routes.dimension();
        let path = |k: usize| routes.share_of_path(k);
        // S_s(j) = Σ_{m=j}^{n-s-1} C(n-s-1, m) Σ_{k=0}^{s} P_{m+k+1} C(s, k) / C(n, m+k+1)
        let sum_from = |s: usize, j: usize| -> f64 {
            let through = |m: usize| (0..=s).map(|k| path(m + k + 1) * routes.choose(s, k)).sum::<f64>();
            (j..n - s).map(|m| routes.choose(n - s - 1, m) * through(m)).sum()
        };
        // Pt_s = Σ_{k=0}^{s} P_{k+1} C(s, k) / C(n, k+1) / S_s(0)
        let ends =
            |s: usize| (0..=s).map(|k| path(k + 1) * routes.choose(s, k)).sum::<f64>() / sum_from(s, 0);
        // H(j|s) = Σ_m Σ_k P_{m+k+2} C(n-j-1, m) C(s, k) / C(n, m+k+2) (m + 1) / S_s(1)
        let met = |s: usize, j: usize| -> f64 {
            let met = |m: usize, k: usize| {
                path(m + k + 2) * routes.choose(n - j - 1, m) * routes.choose(s, k) * (m + 1) as f64
            };
            (0..n - j).map(|m| (0..=s).map(|k| met(m, k)).sum::<f64>()).sum::<f64>() / sum_from(s, 1)
        };
        // [Σ_m P_{m+2} (m+1) C(n-j-1, m) / C(n, m+2)] / [Σ_m P_{m+2} C(n-s-1, m+1) / C(n, m+2)]
        let crossed = |s: usize, j: usize| -> f64 {
            let over: f64 =
                (0..n - j).map(|m| path(m + 2) * (m + 1) as f64 * routes.choose(n - j - 1, m)).sum();
            let under: f64 = (0..n - s - 1).map(|m| path(m + 2) * routes.choose(n - s - 1, m + 1)).sum();
            over / under
        };
        let table = |entry: &dyn Fn(usize, usize) -> f64| {
            let row = |s: usize| (0..n).map(|j| if j > s { entry(s, j) } else { 0.0 }).collect();
            (0..n).map(row).collect()
        };
        Self {
            one_hop: routes.share_of_hops(1) / n as f64,
            goes_on: (0..n).map(|s| 1.0 - ends(s)).collect(),
            met_later: table(&met),
            crossed_later: table(&crossed),
        }
    }

    /// `P_1 / n`: share of messages that cross one given channel and no other.
    pub fn one_hop(&self) -> f64 {
        self.one_hop
    }

    /// `1 - Pt_s`: share of the messages on channel `s` that go on to others.
    pub fn goes_on(&self, s: usize) -> f64 {
        self.goes_on[s]
    }

    /// `H(j|s)`: how often a message on channel `s` that goes on is met by blocking on channel `j > s`.
    pub fn met_later(&self, s: usize, j: usize) -> f64 {
        self.met_later[s][j]
    }

    /// The quotient of sums in `Bmid(c, s)`: the same of a message that starts on channel `s`.
    pub fn crossed_later(&self, s: usize, j: usize) -> f64 {
        self.crossed_later[s][j]
    }

    /// `Bmid(c, s)`: mean blocking length in the middle of the path, for every first channel `s` \[flits\], and
    /// how it falls with `P_b,c^s` of that channel itself.
    ///
    /// `probabilities` are `P_b,c^s`, `shares_started` are `λ^first_{c,s} / λ_c`. The first factor is negative
    /// where a channel turns away so many new messages that fewer than `P_1 λ_c / n` are left to start on it;
    /// it is kept as printed.
    pub fn lengths<T: Scalar>(
        &self,
        probabilities: &[T],
        shares_started: &[T],
        buffering: Buffering<T>,
    ) -> Vec<MiddleLength<T>> {
        let n = self.goes_on.len();
        let (room, message) = (buffering.room(), buffering.message_flits);
        // d_s = ½ [m + M + (1 - Pt_s) Σ_{j>s} P_b^j (d_j + m) H(j|s)]
        let mut delay = vec![T::zero(); n];
        for s in (0..n).rev() {
            let later = |j: usize| probabilities[j] * (delay[j] + room) * self.met_later[s][j];
            let chained: T = (s + 1..n).map(later).sum();
            delay[s] = (room + message + chained * self.goes_on[s]) * 0.5;
        }
        // Bmid = (1 - P_1 λ / (n λ^first_s)) Σ_{j>s} P_b^j (m + d_j) [..] / [..];  0 for s = n-1
        let length = |s: usize| {
            let later = |j: usize| probabilities[j] * (room + delay[j]) * self.crossed_later[s][j];
            let chained: T = (s + 1..n).map(later).sum();
            let delay = delay[s];
            if s + 1 == n {
                let none = T::zero();
                return MiddleLength { flits: none, slope: none, delay, going_on: none, chained: none };
            }
            let ends_here = T::from(self.one_hop) / shares_started[s];
            let slope = -chained * ends_here / (T::one() - probabilities[s]);
            let going_on = T::one() - ends_here;
            MiddleLength { flits: going_on * chained, slope, delay, going_on, chained }
        };
        (0..n).map(length).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE_1: Buffering = Buffering { message_flits: 32.0, buffer_flits: 32.0 };

    fn lengths(n: usize, probability: f64) -> Vec<f64> {
        let routes = EcubeRoutes::new(n);
        let started: Vec<f64> = (0..n).map(|s| routes.share_started(s)).collect();
        let lengths = MiddleBlocking::new(&routes).lengths(&vec![probability; n], &started, TABLE_1);
        lengths.iter().map(|length| length.flits).collect()
    }

    #[test]
    fn the_slope_is_that_of_the_length() {
        let routes = EcubeRoutes::new(4);
        let middle = MiddleBlocking::new(&routes);
        let at = |p: f64| {
            let probabilities = [p, 0.2, 0.1, 0.3];
            // λ^first / λ, the sum below the line kept
            let started: Vec<f64> =
                (0..4).map(|s| routes.share_started(s) * (1.0 - probabilities[s]) / 0.7).collect();
            middle.lengths(&probabilities, &started, TABLE_1)[0]
        };
        let difference = (at(0.4001).flits - at(0.3999).flits) / 0.0002;
        assert!((difference / at(0.4).slope - 1.0).abs() < 1e-6);
    }

    #[test]
    fn nothing_blocks_where_nothing_is_blocked() {
        for n in 1..=16 {
            assert!(lengths(n, 0.0).iter().all(|length| *length == 0.0));
        }
    }

    /// The last channel has nothing behind it; before it, every channel has more behind it than the next.
    #[test]
    fn a_longer_way_is_blocked_more() {
        for n in 1..=16 {
            let lengths = lengths(n, 0.05);
            assert_eq!(lengths[n - 1], 0.0);
            assert!(lengths.windows(2).all(|pair| pair[0] > pair[1] && pair[0].is_finite()), "{lengths:?}");
        }
    }

    /// Two dimensions by hand: messages that start on channel 0 go on over channel 1 with probability one half,
    /// d_1 = (m + M) / 2, and the two quotients of sums are 1.
    #[test]
    fn the_square_by_hand() {
        let expected = 0.5 * 0.05 * (32.0 + 32.0);
        assert!((lengths(2, 0.05)[0] - expected).abs() < 1e-14);
    }
}
