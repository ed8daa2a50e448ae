//! What flits cost, the accounts of interfaces, and routers that stop where their budget is used up (K13 to K15).

use std::collections::BTreeSet;

use flitwise_language::scenario::{Crossbar, Energies, PowerControl, PowerSpec, Restore, Scenario};

use super::super::rules::{End, Rules};
use super::TwinActivity;
use super::settings::Settings;
use crate::FlitMoves;

/// What a flit does that costs energy.
#[derive(Clone, Copy)]
pub(super) enum Move {
    Injects,
    Crosses,
    Links,
    Ejects,
}

/// K13: what it costs \[pJ\].
pub(super) fn cost(energies: &Energies, what: Move) -> f64 {
    let Energies { buffer_read, buffer_write, arbitration, crossbar, link, injection_link, interface } =
        energies;
    match what {
        Move::Injects => injection_link + interface + buffer_write,
        Move::Crosses => buffer_read + crossbar + arbitration + buffer_write,
        Move::Links => buffer_read + link + buffer_write,
        Move::Ejects => *buffer_read,
    }
}

/// The count of flits that have done it.
pub(super) fn count(moves: &mut FlitMoves, what: Move) -> &mut u64 {
    match what {
        Move::Injects => &mut moves.injected,
        Move::Crosses => &mut moves.crossed,
        Move::Links => &mut moves.linked,
        Move::Ejects => &mut moves.ejected,
    }
}

/// K14: energy accounts of the interfaces.
pub(super) struct Accounts {
    power: Option<PowerSpec>,
    /// `A`, of each interface \[pJ\].
    all: f64,
    /// By interface: energy that was taken, and the cycle from which on it is usable again.
    taken: Vec<Vec<(u64, f64)>>,
    /// By interface: when messages were posted, and their energy.
    posted: Vec<Vec<(u64, f64)>>,
}

impl Accounts {
    pub(super) fn new(settings: &Settings, nodes: usize) -> Self {
        let power = settings.power.filter(|power| power.control == PowerControl::Credit);
        let share = power.and_then(|power| power.real_time_share).unwrap_or(settings.real_time_share);
        let cycles = power.map_or(0.0, |power| f64::from(power.account));
        Self {
            power,
            all: settings.budget * (1.0 - share) * cycles / nodes as f64,
            taken: vec![Vec::new(); nodes],
            posted: vec![Vec::new(); nodes],
        }
    }

    /// Whether a best-effort message that needs so much may be posted; then it is taken, for the time that the message
    /// takes to arrive or longer.
    pub(super) fn take(&mut self, node: usize, needed: f64, arrives_in: u64, now: u64) -> bool {
        let Some(power) = self.power else { return true };
        let taken: f64 = self.taken[node].iter().map(|(_, energy)| energy).sum();
        let is_full = self.taken[node].is_empty();
        if needed > self.all - taken && !is_full {
            return false;
        }
        let account = u64::from(power.account);
        let after = match power.restore {
            Restore::Arrival => arrives_in,
            Restore::Window => {
                let worth = (needed * f64::from(power.account) / self.all).ceil() as u64;
                account.max(arrives_in).max(worth)
            }
        };
        self.taken[node].push((now.saturating_add(after), needed));
        self.posted[node].push((now, needed));
        if power.restore == Restore::Window {
            self.posted[node].retain(|(cycle, _)| cycle + account > now);
            let of_window: f64 = self.posted[node].iter().map(|(_, energy)| energy).sum();
            assert!(of_window <= (self.all + needed) * (1.0 + 1e-9), "more than the account and a message");
        }
        true
    }

    /// Energy that is usable from now on.
    pub(super) fn arrive(&mut self, now: u64) {
        self.taken.iter_mut().for_each(|taken| taken.retain(|(usable, _)| *usable > now));
    }

    /// Whether all accounts are full.
    pub(super) fn are_full(&self) -> bool {
        self.taken.iter().all(Vec::is_empty)
    }
}

/// K15: routers with budgets.
pub(super) struct PowerHerd {
    power: PowerSpec,
    /// `Pi` over an epoch \[pJ\].
    all: f64,
    /// Its part of a router.
    base: f64,
    /// The most that a router can use in a cycle.
    worst: f64,
    /// Whether that is a bound: not so where every lane sends a flit.
    is_bounded: bool,
    /// By router: others to which a link leads or from which one comes.
    neighbours: Vec<BTreeSet<usize>>,
    /// By router, in this epoch.
    budget: Vec<f64>,
    moves: Vec<FlitMoves>,
    used: Vec<f64>,
    energies: Energies,
    pub(super) stopped: Vec<bool>,
}

impl PowerHerd {
    /// Of scenarios with this control.
    pub(super) fn new(scenario: &Scenario, settings: &Settings, rules: &Rules) -> Option<Self> {
        let power = settings.power.filter(|power| power.control == PowerControl::PowerHerd)?;
        let (_, routers, ports) = rules.size();
        let mut neighbours = vec![BTreeSet::new(); routers];
        for (router, port) in (0..routers).flat_map(|router| (0..ports).map(move |port| (router, port))) {
            if let End::Input { router: other, .. } = rules.end_of(router, port) {
                neighbours[router].insert(other);
                neighbours[other].insert(router);
            }
        }
        let of_port = |what| cost(&settings.energies, what);
        let of_port = of_port(Move::Crosses) + of_port(Move::Links) + of_port(Move::Injects);
        let all = settings.budget * f64::from(power.epoch);
        let base = all / routers as f64;
        let mut herd = Self {
            power,
            all,
            base,
            worst: ports as f64 * of_port,
            is_bounded: scenario.router().crossbar == Crossbar::Multiplexed,
            neighbours,
            budget: vec![base; routers],
            moves: vec![FlitMoves::default(); routers],
            used: vec![0.0; routers],
            energies: settings.energies,
            stopped: vec![false; routers],
        };
        herd.stop();
        Some(herd)
    }

    /// A flit has moved at the cost of a router. Energies are added kind by kind, so that no order of events shows.
    pub(super) fn book(&mut self, router: usize, what: Move) {
        *count(&mut self.moves[router], what) += 1;
        let FlitMoves { injected, crossed, linked, ejected } = self.moves[router];
        let of = |flits: u64, what: Move| flits as f64 * cost(&self.energies, what);
        self.used[router] = of(injected, Move::Injects)
            + of(crossed, Move::Crosses)
            + of(linked, Move::Links)
            + of(ejected, Move::Ejects);
    }

    /// Routers stop that could exceed their budget in the next cycle.
    fn stop(&mut self) {
        for router in 0..self.used.len() {
            self.stopped[router] |= self.used[router] + self.worst > self.budget[router];
        }
    }

    /// After each cycle.
    pub(super) fn end_of_cycle(&mut self, now: u64, activity: &mut TwinActivity) {
        let used: f64 = self.used.iter().sum();
        activity.largest_epoch = activity.largest_epoch.max(used);
        assert!(!self.is_bounded || used <= self.all * (1.0 + 1e-9), "an epoch above the budget");
        self.stop();
        if (now + 1).is_multiple_of(self.power.epoch.into()) {
            self.exchange();
            self.used.fill(0.0);
            self.moves.fill(FlitMoves::default());
            self.stopped.fill(false);
            self.stop();
        }
    }

    /// Routers that did not stop give what they can spare to neighbours that did.
    fn exchange(&mut self) {
        self.budget.fill(self.base);
        for router in (0..self.used.len()).filter(|router| !self.stopped[*router]) {
            let stopped: Vec<usize> =
                self.neighbours[router].iter().copied().filter(|other| self.stopped[*other]).collect();
            let spare = (self.base - self.power.spare_factor * self.used[router]).max(0.0);
            if !stopped.is_empty() {
                self.budget[router] -= spare;
                stopped.iter().for_each(|other| self.budget[*other] += spare / stopped.len() as f64);
            }
        }
        let all: f64 = self.budget.iter().sum();
        assert!((all - self.all).abs() <= self.all * 1e-9, "budgets add up to that of the network");
    }

    /// Routers that are stopped.
    pub(super) fn stopped_routers(&self) -> usize {
        self.stopped.iter().filter(|stopped| **stopped).count()
    }
}
