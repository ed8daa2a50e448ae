//! Who crosses which channel of an n-cube under e-cube routing: §3.2.1 and appendix A.1 of [KYD05].
//!
//! Everything here depends on the dimension alone.

/// Routes of an n-cube with `N = 2^n` nodes and destinations uniform over the other `N - 1`, lowest
/// dimension first. Channels are numbered by dimension, `s = 0..n`.
#[derive(Clone, Debug, PartialEq)]
pub struct EcubeRoutes {
    dimension: usize,
    /// `C(i, j)`, row `i`.
    binomials: Vec<Vec<f64>>,
}

impl EcubeRoutes {
    /// Routes of the cube of the given dimension.
    pub fn new(dimension: usize) -> Self {
        let mut binomials: Vec<Vec<f64>> = vec![vec![1.0]];
        for i in 1..=dimension {
            let above = &binomials[i - 1];
            let inner = (1..i).map(|j| above[j - 1] + above[j]);
            binomials.push(std::iter::once(1.0).chain(inner).chain(std::iter::once(1.0)).collect());
        }
        Self { dimension, binomials }
    }

    /// `n`.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// `C(i, j)`; 0 outside `0 <= j <= i`.
    pub fn choose(&self, i: usize, j: usize) -> f64 {
        self.binomials[i].get(j).copied().unwrap_or(0.0)
    }

    /// `P_k = C(n, k) / (N - 1)`: share of messages that cross `k` channels; 0 outside `1..=n`.
    pub fn share_of_hops(&self, k: usize) -> f64 {
        let others = f64::from(1u32 << self.dimension) - 1.0;
        if k == 0 { 0.0 } else { self.choose(self.dimension, k) / others }
    }

    /// `P_k / C(n, k)`: share of messages with one given set of `k` channels.
    pub fn share_of_path(&self, k: usize) -> f64 {
        self.share_of_hops(k) / self.choose(self.dimension, k)
    }

    /// `h̄ = Σ k P_k`: mean number of channels crossed.
    pub fn mean_hops(&self) -> f64 {
        (1..=self.dimension).map(|k| k as f64 * self.share_of_hops(k)).sum()
    }

    /// `h_s = Σ_k (k + 1) C(n-s-1, k) / 2^(n-s-1)`: mean hops of a message whose first channel is `s`.
    pub fn mean_hops_from(&self, s: usize) -> f64 {
        let later = self.dimension - s - 1;
        let hops = |k: usize| (k + 1) as f64 * self.choose(later, k) / f64::from(1u32 << later);
        (0..=later).map(hops).sum()
    }

    /// `f_s = Σ_k P_k C(n-s-1, k-1) / C(n, k)`: share of messages whose first channel is `s`, (A.1).
    pub fn share_started(&self, s: usize) -> f64 {
        let later = self.dimension - s - 1;
        (1..=self.dimension - s).map(|k| self.share_of_path(k) * self.choose(later, k - 1)).sum()
    }

    /// `λ^{t,s} / λ`: messages that pass on over channel `s` of a node, per message generated there, (A.1).
    pub fn share_passing(&self, s: usize) -> f64 {
        let (n, later) = (self.dimension, self.dimension - s - 1);
        let passing = |k: usize| -> f64 {
            let first = usize::max(2, (k + s + 1).saturating_sub(n));
            let paths = |j: usize| self.choose(s, j - 1) * self.choose(later, k - j);
            self.share_of_path(k) * (first..=usize::min(s + 1, k)).map(paths).sum::<f64>()
        };
        (2..=n).map(passing).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_close(a: f64, b: f64) {
        assert!((a - b).abs() <= 1e-13 * b.abs().max(1.0), "{a} is not {b}");
    }

    /// Every message has just one first channel.
    #[test]
    fn first_channels_share_all_messages() {
        for n in 1..=16 {
            let routes = EcubeRoutes::new(n);
            assert_close((0..n).map(|s| routes.share_started(s)).sum(), 1.0);
            assert_close((1..=n).map(|k| routes.share_of_hops(k)).sum(), 1.0);
        }
    }

    /// A.1: what starts on a channel plus what passes it is the same on every channel, h̄ / n.
    #[test]
    fn every_channel_carries_the_same_traffic() {
        for n in 1..=16 {
            let routes = EcubeRoutes::new(n);
            for s in 0..n {
                let total = routes.share_started(s) + routes.share_passing(s);
                assert_close(total, routes.mean_hops() / n as f64);
            }
        }
    }

    /// Small cubes, every pair of nodes walked.
    #[test]
    fn shares_agree_with_every_path_walked() {
        for n in 1..=8usize {
            let routes = EcubeRoutes::new(n);
            let others = (1u32 << n) - 1;
            let all = f64::from(others);
            for s in 0..n {
                let first: Vec<u32> =
                    (1..=others).filter(|path| path.trailing_zeros() as usize == s).collect();
                let hops: u32 = first.iter().map(|path| path.count_ones()).sum();
                let over = (1..=others).filter(|path| path >> s & 1 == 1).count();
                assert_close(routes.share_started(s), first.len() as f64 / all);
                assert_close(routes.mean_hops_from(s), f64::from(hops) / first.len() as f64);
                assert_close(routes.share_passing(s), (over - first.len()) as f64 / all);
            }
        }
    }
}
