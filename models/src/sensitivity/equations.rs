//! The equations of [KYD05] once more, each applied once to numbers that carry their slopes.
//!
//! The solver's own ([`published`](crate::published)) are for plain numbers, start anywhere and must find the fixed
//! point; these stand at a point that is known, and a test holds their values to the solver's over random scenarios.
//! Readings R1-R12 are those of the README.

use super::dual::{Dual, root};
use super::stationary;

/// Stands for a downward rate that is not positive (R6), as in the solver \[1/cycle\].
const TINY: f64 = 1e-14;
/// Stands for the rate of a silent class, as in the solver \[1/cycle\].
const SILENT: f64 = 1e-20;

/// One class at every node.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flow {
    /// Which class of the scenario it is.
    pub(super) class: usize,
    /// `λ^g` \[messages/cycle\].
    pub(super) rate: Dual,
    /// `M` \[flits\].
    pub(super) message: Dual,
    /// `b_s` \[flits\].
    pub(super) buffer: Dual,
}

impl Flow {
    /// `m = max(b_s, M)` \[flits\].
    pub(super) fn room(&self) -> Dual {
        self.buffer.max(self.message)
    }

    /// `1 + 2 m / M`.
    pub(super) fn exponent(&self) -> Dual {
        1.0 + 2.0 * self.room() / self.message
    }

    /// (3), (11): `P_b = load^(1 + 2 m / M)`, with R2.
    pub(super) fn blocking_probability(&self, load: Dual) -> Dual {
        load.min(Dual::constant(1.0)).powf(self.exponent())
    }
}

/// (3)-(5): what stands in front of the headers of one class.
#[derive(Clone, Copy, Debug)]
pub(super) struct Blocking {
    /// `λ'` \[messages/cycle\].
    pub(super) accepted_rate: Dual,
    /// `B̄` \[flits\].
    pub(super) length: Dual,
}

impl Blocking {
    pub(super) fn at(latency: Dual, flow: &Flow) -> Self {
        let offered_load = latency * flow.rate;
        // (3) with (4) in terms of y = L̄ λ':  y + L̄ λ^g y^exponent = L̄ λ^g
        let load = root(0.0, offered_load.value.min(1.0), |load| {
            let probability = flow.blocking_probability(load);
            let slope =
                if load.value > 0.0 { flow.exponent() * probability / load } else { Dual::constant(0.0) };
            (load + offered_load * probability - offered_load, 1.0 + offered_load * slope)
        });
        let probability = flow.blocking_probability(load);
        Self {
            // (4): λ' = (1 - P_b) λ^g
            accepted_rate: load / latency,
            // (5): B̄ = P_b (max(b_s, M) + M / 2)
            length: probability * (flow.room() + flow.message / 2.0),
        }
    }
}

/// One class on one link, as its chain sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Visitor {
    pub(super) rate: Dual,
    pub(super) fixed_cycles: Dual,
    pub(super) flits: Dual,
}

/// (6)-(8): the chain of one link.
#[derive(Clone, Debug)]
pub(super) struct Sharing {
    /// `π_∅`.
    pub(super) idle: Dual,
    /// `S_c` of every class.
    pub(super) cycles_per_flit: Vec<Dual>,
}

impl Sharing {
    pub(super) fn of(vticks: &[Dual], visitors: &[Visitor]) -> Self {
        let classes = visitors.len();
        // (7): S_c(Z) = Vtick_c Σ_{j in Z} 1 / Vtick_j; c's own term is 1
        let cycles_per_flit = |class: usize, set: usize| -> Dual {
            let others = (0..classes).filter(|other| *other != class && set >> other & 1 == 1);
            1.0 + others.map(|other| vticks[class] / vticks[other]).sum::<Dual>()
        };
        let occupancy = stationary::probabilities(classes, |class, set| {
            let visitor = &visitors[class];
            if set >> class & 1 == 0 {
                // Z \ {c} -> Z: λ_c
                return Dual { value: visitor.rate.value.max(SILENT), ..visitor.rate };
            }
            // Z -> Z \ {c}: 1 / L_c(Z) - λ_c
            let stay = visitor.fixed_cycles + visitor.flits * cycles_per_flit(class, set);
            let down = 1.0 / stay - visitor.rate;
            if down.value >= TINY { down } else { Dual::constant(TINY) }
        });
        let mean = |class: usize| {
            let sets = || (0..1 << classes).filter(move |set| set >> class & 1 == 1);
            let cycles: Dual = sets().map(|set| occupancy[set] * cycles_per_flit(class, set)).sum();
            // (6) with (8): S_c = Σ_Z S_c(Z) π_Z / Σ_Y π_Y
            cycles / sets().map(|set| occupancy[set]).sum::<Dual>()
        };
        Self { idle: occupancy[0], cycles_per_flit: (0..classes).map(mean).collect() }
    }

    /// Of a link that no real-time class uses.
    pub(super) fn none() -> Self {
        Self { idle: Dual::constant(1.0), cycles_per_flit: Vec::new() }
    }
}

/// Real-time traffic as a best-effort message meets it on a link: (9), (13).
#[derive(Clone, Copy, Debug)]
pub(super) struct RealTimeLoad {
    /// `π_∅`.
    pub(super) idle: Dual,
    /// `Σ λ_c` \[messages/cycle\].
    pub(super) rate: Dual,
}

impl RealTimeLoad {
    fn busy(self) -> Dual {
        1.0 - self.idle
    }

    fn busy_period(self) -> Dual {
        if self.rate.value == 0.0 { Dual::constant(0.0) } else { self.busy() / (self.idle * self.rate) }
    }

    /// (9) with R4.
    pub(super) fn cycles_per_flit(self, real_time_flits: Dual, message: Dual) -> Dual {
        // S_C = [1 + ρ_r M_r / (2 M_C (1 - ρ_r))] / (1 - ρ_r)
        (1.0 + self.busy() * real_time_flits / (2.0 * message * self.idle)) / self.idle
    }

    /// (13).
    pub(super) fn cycles_per_flit_on_channel(self, m: Dual) -> Dual {
        // S_m(s) = (M + M ρ_r) π_∅ + (M + Busy) (1 + ρ_r) (1 - π_∅)
        let cycles =
            (m + m * self.busy()) * self.idle + (m + self.busy_period()) * (1.0 + self.busy()) * self.busy();
        cycles / m
    }

    /// Below (13).
    pub(super) fn cycles_per_flit_at_ejection(self, m: Dual, cycles_per_flit: Dual, middle: Dual) -> Dual {
        // M_s = max(M, (M - 1) S_{C,s} + 1 - Bmid(C,s))
        let spread = m.max((m - 1.0) * cycles_per_flit + 1.0 - middle);
        // S_m(n) = M_s (1 + ρ_r) π_∅ + (M_s / 2 + Busy + M / 2) (1 + ρ_r) (1 - π_∅)
        let cycles = spread * (1.0 + self.busy()) * self.idle
            + (spread / 2.0 + self.busy_period() + m / 2.0) * (1.0 + self.busy()) * self.busy();
        cycles / m
    }
}

/// R4: `Σ λ M² / Σ λ M` \[flits\].
pub(super) fn length_biased_mean(rates_and_lengths: impl Iterator<Item = (Dual, Dual)> + Clone) -> Dual {
    let flits: Dual = rates_and_lengths.clone().map(|(rate, length)| rate * length).sum();
    let squares: Dual = rates_and_lengths.map(|(rate, length)| rate * length * length).sum();
    if flits.value == 0.0 { Dual::constant(0.0) } else { squares / flits }
}

/// (15): `W̄ = λ^g (L̄² + (L̄ - T)²) / (2 (1 - λ^g L̄)) + S̄`.
pub(super) fn source_wait(rate: Dual, latency: Dual, transfer: Dual, cycles_per_flit: Dual) -> Dual {
    let load = rate * latency;
    let variance = (latency - transfer) * (latency - transfer);
    rate * (latency * latency + variance) / (2.0 * (1.0 - load)) + cycles_per_flit
}
