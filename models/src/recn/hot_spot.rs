//! The steady state of a hot spot: what round robin at the leaves of its tree leaves to other traffic.

use flitwise_language::network::SIDE;
use flitwise_language::scenario::Organisation;

/// A hot spot at its height: in every switch of the first stage hot hosts and victims share the link to the hot host.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HotSpot {
    /// `N`: hosts.
    pub hosts: u32,
    /// `c`: hot hosts at every switch of the first stage.
    pub hot: u32,
    /// Other hosts that send, at every switch of the first stage; they send to all hosts alike.
    pub victims: u32,
    /// `ρ`: what each of those sends, as a share of its link.
    pub rate: f64,
    /// `g`: time for which a victim's packets that leave the tree one after another take its turns there, over the time
    /// of those that stay; 0 where they have queues of their own.
    pub away: f64,
}

impl HotSpot {
    /// `φ`: what an input of the tree that never misses a turn carries into it, as a share of the link.
    ///
    /// ```text
    /// N/k c φ + v φ / (1 + g φ) = 1,    v victims of the switch whose queues are served
    /// ```
    pub fn share(&self) -> f64 {
        let always = f64::from(self.hosts / SIDE) * f64::from(self.hot);
        let (victims, away) = (f64::from(self.victims), self.away);
        // always g φ² + (always + victims - g) φ = 1
        let linear = always + victims - away;
        let square = always * away;
        let share = 2.0 / (linear + (linear * linear + 4.0 * square).sqrt());
        if share.is_finite() && share > 0.0 { share.min(1.0) } else { 1.0 }
    }

    /// `φ_v = φ / (1 + g φ)`: what a victim carries into it.
    fn of_victim(&self) -> f64 {
        self.share() / (1.0 + self.away * self.share())
    }

    /// What each victim sends, as a share of its link.
    ///
    /// One queue couples all of it to the part `1/k` that goes into the tree, virtual output queues of a switch that
    /// part alone, and queues of their own for the tree nothing:
    ///
    /// ```text
    /// r = min(ρ, k φ_v);    r = ρ (1 - 1/k) + min(ρ/k, φ_v);    r = ρ
    /// ```
    pub fn victim_rate(&self, organisation: Organisation) -> f64 {
        let (side, share) = (f64::from(SIDE), self.of_victim());
        match organisation {
            _ if self.hot == 0 => self.rate,
            Organisation::OneQueue | Organisation::FourQueues => self.rate.min(side * share),
            Organisation::VoqSwitch => self.rate * (1.0 - 1.0 / side) + (self.rate / side).min(share),
            _ => self.rate,
        }
    }

    /// What all victims deliver, without their packets to the hot host, and the full link to that, in links.
    ///
    /// ```text
    /// T = N_v r (N - 2) / (N - 1) + 1
    /// ```
    pub fn throughput(&self, organisation: Organisation) -> f64 {
        let victims = f64::from(self.victims * (self.hosts / SIDE));
        let hosts = f64::from(self.hosts);
        victims * self.victim_rate(organisation) * (hosts - 2.0) / (hosts - 1.0) + 1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steady_states_of_the_corner_cases() {
        let spot = |rate| HotSpot { hosts: 64, hot: 1, victims: 3, rate, away: 0.0 };
        assert!((spot(0.5).share() - 1.0 / 19.0).abs() < 1e-15);
        let victims = |rate, organisation| 48.0 * spot(rate).victim_rate(organisation);
        assert!((victims(1.0, Organisation::OneQueue) - 10.1).abs() < 0.05);
        assert!((victims(0.5, Organisation::VoqSwitch) - 20.5).abs() < 0.05);
        assert!((victims(1.0, Organisation::VoqSwitch) - 38.5).abs() < 0.05);
        for (rate, wanted) in [(0.5, 24.62), (1.0, 48.24)] {
            let found = spot(rate).throughput(Organisation::Recn);
            assert!((found - wanted).abs() < 0.005, "{found}");
        }
        // 48 packets that leave at 1.5 packets a packet time, for 16 that stay
        let turns = HotSpot { away: 2.0, ..spot(1.0) };
        let all = 16.0 * turns.share() + 3.0 * turns.of_victim();
        assert!((all - 1.0).abs() < 1e-12, "{all}");
        assert!((turns.throughput(Organisation::OneQueue) - 10.1).abs() < 0.1, "{turns:?}");
        let cold = HotSpot { hot: 0, ..spot(0.7) };
        assert_eq!(cold.victim_rate(Organisation::OneQueue), 0.7);
    }
}
