//! Energy of packets, power of a network, and the loads that a power budget allows.
//!
//! The mean is exact whatever controls the packets: rates times energies. Variations are those of shot noise (N.
//! Campbell, Proc. Cambridge Phil. Soc. 15 (1909) 117): packets come at random and each spreads its energy over its
//! time in the network. Bounds are H. Chernoff's (Ann. Math. Stat. 23 (1952) 493), proven for packets that come at
//! random and book all their energy at once.

use crate::queueing::{Chernoff, Jump, Shot, ShotNoise};

/// Packets of a source, or of a network.
#[derive(Clone, Debug, PartialEq)]
pub struct PacketEnergies {
    /// Share of the packets, energy \[pJ\], and time over which it is spread \[cycles\].
    kinds: Vec<(f64, f64, f64)>,
}

impl PacketEnergies {
    /// Packets of any kinds: shares of them that add up to 1, energies \[pJ\], and times over which these are spread
    /// \[cycles\].
    pub fn of_kinds(kinds: Vec<(f64, f64, f64)>) -> Self {
        Self { kinds }
    }

    /// `E[E_R]`: mean energy of a packet \[pJ\].
    pub fn mean(&self) -> f64 {
        self.kinds.iter().fold(0.0, |sum, (share, energy, _)| sum + share * energy)
    }

    /// `E[E_R²]` \[pJ²\].
    pub fn second_moment(&self) -> f64 {
        self.kinds.iter().fold(0.0, |sum, (share, energy, _)| sum + share * energy * energy)
    }

    /// Power over windows of `window` cycles with `rate` packets per cycle: mean and variance. The variance is an upper
    /// estimate, see [`smoothing`].
    ///
    /// ```text
    /// Var = Λ Σ p_R E_R² (T - min(L_R, T)/3) / T²
    /// ```
    pub fn power(&self, rate: f64, window: f64) -> ShotNoise {
        let shot = |(share, energy, duration): &(f64, f64, f64)| Shot {
            rate: share * rate,
            energy: *energy,
            duration: *duration,
        };
        ShotNoise { window, shots: self.kinds.iter().map(shot).collect() }
    }

    /// `ln` of the bound on the probability that the power of a window is `power` or more \[pJ/cycle\].
    ///
    /// ```text
    /// ln P <= -sup_θ (θ x T - Λ T Σ p_R (e^(θ E_R) - 1))
    /// ```
    pub fn log_tail_bound(&self, rate: f64, window: f64, power: f64) -> f64 {
        let jump = |(share, energy, _): &(f64, f64, f64)| Jump { rate: share * rate, energy: *energy };
        let threshold = power * window;
        if threshold <= 0.0 {
            return 0.0;
        }
        Chernoff { window, threshold, jumps: self.kinds.iter().map(jump).collect() }.log_bound()
    }

    /// Largest rate at which the mean power is `budget` \[packets/cycle\]; none where packets take no energy.
    pub fn largest_rate(&self, budget: f64) -> Option<f64> {
        let mean = self.mean();
        (mean > 0.0).then(|| budget.max(0.0) / mean)
    }

    /// Largest rate at which no more than a share `exceeded` of the windows is above `budget`, by Chernoff's bound
    /// \[packets/cycle\].
    pub fn largest_rate_within(&self, budget: f64, window: f64, exceeded: f64) -> Option<f64> {
        let most = self.largest_rate(budget)?;
        // the bound rises with the rate, from 0 to 1 at the largest mean; rates of any size count
        let wanted = exceeded.clamp(f64::MIN_POSITIVE, 1.0).ln();
        let (mut low, mut high) = (LOWEST, 0.0);
        for _ in 0..BISECTIONS {
            let middle = f64::midpoint(low, high);
            if self.log_tail_bound(most * middle.exp(), window, budget) <= wanted {
                low = middle;
            } else {
                high = middle;
            }
        }
        Some(if low > LOWEST { most * low.exp() } else { 0.0 })
    }

    /// Rate at which credit power control saturates a source \[packets/cycle\]: its account of `account` pJ comes
    /// back after `window` cycles, and half of the next packet's energy lies idle on average. None where packets take
    /// no energy.
    ///
    /// ```text
    /// A / (T E1) (1 - E2 / (2 E1 A))
    /// ```
    pub fn saturation_under_credits(&self, account: f64, window: f64) -> Option<f64> {
        let (mean, second) = (self.mean(), self.second_moment());
        // below one packet the account sends one packet in a window
        (mean > 0.0).then(|| (account - second / (2.0 * mean)).max(0.0) / (window * mean))
    }
}

/// `ln` of the smallest rate that is looked for, in terms of the largest.
const LOWEST: f64 = -700.0;
/// Halvings of that range: to the last digits.
const BISECTIONS: u32 = 64;

/// Part of the variance that saturated links leave, with the load `ρ_max` of the most loaded channel: fitted to
/// windows of 500 cycles, packets of 40 flits and `ρ_max` of 0.3 to 0.75, where deviations are within 6 %; beyond,
/// the value at 0.75.
pub fn smoothing(load_max: f64) -> f64 {
    // 1 - 1.2 ρ_max²
    1.0 - 1.2 * load_max.clamp(0.0, 0.75).powi(2)
}

/// Load at which PowerHerd first stops a router: `Π / (n max_r e_r)`, with the energy that each router takes for a
/// unit of the load \[pJ/cycle\]. None where none takes any.
pub fn first_throttling(budget: f64, routers: &[f64]) -> Option<f64> {
    let most = routers.iter().copied().fold(0.0, f64::max);
    (most > 0.0).then(|| budget.max(0.0) / (routers.len() as f64 * most))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admission::{Path, assert_near, channels, mesh, paths};

    use flitwise_language::scenario::Energies;

    const FLITS: f64 = 40.0;
    const NODES: f64 = 16.0;
    /// Those of the chapter, links of 128 bits.
    const ENERGIES: Energies = Energies {
        buffer_read: 31.125,
        buffer_write: 27.075,
        arbitration: 6.10086,
        crossbar: 68.475,
        link: 10.21 * 128.0,
        injection_link: 0.0,
        interface: 0.0,
    };

    /// Packets of `flits` flits through routers of five stages, with shares of them by network channels crossed.
    fn packets(flits: f64, hops: &[(f64, u32)]) -> PacketEnergies {
        // a packet alone takes P - 1 + P h + M cycles
        let kind = |(share, hops): &(f64, u32)| {
            let hops = f64::from(*hops);
            (*share, flits * ENERGIES.flit(hops), 4.0 + 5.0 * hops + flits)
        };
        PacketEnergies::of_kinds(hops.iter().map(kind).collect())
    }

    fn of_paths<'a>(paths: impl Iterator<Item = &'a Path>) -> PacketEnergies {
        let hops: Vec<u32> = paths.map(Path::hops).collect();
        let shares: Vec<(f64, u32)> = hops.iter().map(|one| (1.0 / hops.len() as f64, *one)).collect();
        packets(FLITS, &shares)
    }

    fn of_mesh() -> PacketEnergies {
        of_paths(paths(&*mesh(4)).iter())
    }

    fn rate(load: f64) -> f64 {
        NODES * load / FLITS
    }

    #[test]
    fn mean_and_deviation_are_those_of_the_chapter() {
        let packets = of_mesh();
        assert_near(packets.power(rate(1.0), 500.0).mean(), 66_964.0, 1e-5);
        let printed = [(0.3, 2604.0), (0.4, 2838.0), (0.5, 2913.0), (0.6, 2804.0), (0.7, 2443.0)];
        for (load, deviation) in printed {
            let power = packets.power(rate(load), 500.0);
            assert_near(power.deviation() * smoothing(load * 16.0 / 15.0).sqrt(), deviation, 5e-4);
        }
    }

    /// Budget: the linear mean at half load.
    #[test]
    fn largest_loads_are_those_of_the_chapter() {
        let packets = of_mesh();
        let budget = 66_964.0 / 2.0;
        assert_near(packets.largest_rate(budget).unwrap(), rate(0.5), 1e-4);
        for (exceeded, load) in [(1e-2, 0.351), (1e-3, 0.322), (1e-6, 0.262)] {
            let found = packets.largest_rate_within(budget, 500.0, exceeded).unwrap();
            assert!((found * FLITS / NODES - load).abs() < 6e-4, "{exceeded}: {}", found * FLITS / NODES);
            assert_near(packets.log_tail_bound(found, 500.0, budget), exceeded.ln(), 1e-6);
        }
    }

    #[test]
    fn credits_saturate_at_the_printed_load() {
        let (budget, window) = (33_482.0, 500.0);
        let paths = paths(&*mesh(4));
        let rates = paths.chunk_by(|a, b| a.source == b.source).map(|paths| {
            let packets = of_paths(paths.iter());
            let rate = packets.saturation_under_credits(budget * window / NODES, window).unwrap();
            (rate * FLITS / NODES, rate * packets.mean())
        });
        let (load, power) = rates.fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        assert!((load - 0.462).abs() < 6e-4, "{load}");
        assert_near(power, 30_331.0, 1e-3);
    }

    /// Each router takes for what crosses it and leaves it over links.
    #[test]
    fn the_centre_throttles_first() {
        let network = mesh(4);
        let mut routers = vec![0.0; 16];
        assert_eq!(channels(&*network), 16 + 16 * network.ports() as usize);
        for path in paths(&*network) {
            for channel in &path.channels[1..] {
                let is_last = Some(channel) == path.channels.last();
                let router = (channel - 16) / network.ports() as usize;
                routers[router] += (ENERGIES.router() + if is_last { 0.0 } else { ENERGIES.link }) / 15.0;
            }
        }
        assert_near(routers.iter().sum::<f64>() / 16.0, 4185.0, 1e-4);
        assert!((first_throttling(33_482.0, &routers).unwrap() - 0.362).abs() < 6e-4, "{routers:?}");
        assert_eq!(first_throttling(1.0, &[]), None);
    }

    #[test]
    fn the_ends_have_numbers() {
        let packets = of_mesh();
        let silent = packets.power(0.0, 500.0);
        assert_eq!((silent.mean(), silent.deviation()), (0.0, 0.0));
        assert_eq!(packets.log_tail_bound(0.0, 500.0, 1.0), f64::NEG_INFINITY);
        assert_eq!(packets.log_tail_bound(0.1, 500.0, 0.0), 0.0);
        assert_eq!(packets.largest_rate_within(0.0, 500.0, 0.01), Some(0.0));
        assert_near(packets.largest_rate_within(1e4, 500.0, 1.0).unwrap(), 1e4 / packets.mean(), 1e-9);
        assert!(packets.largest_rate_within(1e4, 500.0, 0.0).unwrap() < 1e-6);
        assert_eq!(packets.saturation_under_credits(1.0, 500.0), Some(0.0));
        let nothing = self::packets(FLITS, &[]);
        assert_eq!((nothing.largest_rate(1.0), nothing.saturation_under_credits(1.0, 5.0)), (None, None));
        // one router, no link
        let one = self::packets(1.0, &[(1.0, 0)]);
        assert_near(one.mean(), 190.975_86, 1e-7);
        assert_eq!([smoothing(0.0), smoothing(0.75)], [1.0, smoothing(9.0)]);
    }
}
