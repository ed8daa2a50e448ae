//! Energy of flits, and what keeps power below a budget: accounts of interfaces (K14) and budgets of routers (K15).

use std::cmp::Reverse;

use flitwise_language::scenario::{Energies, PowerControl, Restore, Scenario};

use super::congestion::Returns;
use crate::wiring::{End, Wiring};

/// Flits by what they did, each of which costs energy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlitMoves {
    /// Into the network over injection links.
    pub injected: u64,
    /// Across crossbars.
    pub crossed: u64,
    /// Over links between routers.
    pub linked: u64,
    /// Out of the network over ejection links.
    pub ejected: u64,
}

impl FlitMoves {
    /// Their energy by what it is spent on: buffers, arbitration, crossbars, links and interfaces (K13) \[pJ\].
    pub fn energy_by_part(&self, energies: &Energies) -> [f64; 4] {
        let Energies { buffer_read, buffer_write, arbitration, crossbar, link, .. } = *energies;
        let [injected, crossed, linked, ejected] =
            [self.injected, self.crossed, self.linked, self.ejected].map(|flits| flits as f64);
        let both = buffer_read + buffer_write;
        [
            injected * buffer_write + (crossed + linked) * both + ejected * buffer_read,
            crossed * arbitration,
            crossed * crossbar,
            linked * link + injected * energies.source(),
        ]
    }

    /// Their energy \[pJ\].
    pub fn energy(&self, energies: &Energies) -> f64 {
        self.energy_by_part(energies).iter().sum()
    }

    /// Those of both.
    pub fn and(self, other: Self) -> Self {
        Self {
            injected: self.injected + other.injected,
            crossed: self.crossed + other.crossed,
            linked: self.linked + other.linked,
            ejected: self.ejected + other.ejected,
        }
    }
}

/// What flits do, window by window from the first cycle on.
#[derive(Clone, Debug)]
pub(crate) struct EnergyMeter {
    window: u64,
    /// The cycle after the window under way.
    ends: u64,
    pub(crate) moves: FlitMoves,
    windows: Vec<FlitMoves>,
}

impl EnergyMeter {
    /// `None` where nothing is asked of power.
    pub(crate) fn new(scenario: &Scenario) -> Option<Self> {
        let window = u64::from(scenario.spec().power?.window);
        Some(Self { window, ends: window, moves: FlitMoves::default(), windows: Vec::new() })
    }

    /// A cycle begins.
    #[inline]
    pub(crate) fn begins(&mut self, now: u64) {
        while now >= self.ends {
            self.windows.push(std::mem::take(&mut self.moves));
            self.ends += self.window;
        }
    }

    /// What flits did in every whole window before cycle `now`.
    pub(crate) fn windows(&self, now: u64) -> Vec<FlitMoves> {
        let mut all = self.clone();
        all.begins(now);
        all.windows
    }
}

/// Credit power control: every interface has an account of energy, from which messages of best effort are paid.
pub(crate) struct EnergyAccounts {
    energies: Energies,
    pipeline_stages: u64,
    /// What an account holds \[pJ\], and the time whose energy that is \[cycles\].
    account: f64,
    period: u64,
    restore: Restore,
    /// By node: what is taken, and by how many messages.
    taken: Vec<(f64, u32)>,
    returns: Returns,
}

impl EnergyAccounts {
    /// `None` with another control or none.
    pub(crate) fn new(scenario: &Scenario) -> Option<Self> {
        let (budget, real_time_share) = scenario.credit_budget()?;
        let spec = scenario.spec().power?;
        let nodes = scenario.topology().nodes();
        let account = budget * (1.0 - real_time_share) * f64::from(spec.account) / f64::from(nodes);
        Some(Self {
            energies: scenario.energies()?,
            pipeline_stages: scenario.router().pipeline_stages.into(),
            account,
            period: spec.account.into(),
            restore: spec.restore,
            taken: vec![(0.0, 0); nodes as usize],
            returns: Returns::new(),
        })
    }

    /// A message over so many network channels, of so many flits, is paid in cycle `now`, if the account has as much or
    /// is full; so many flits are before it in its interface.
    pub(crate) fn takes(&mut self, node: u32, (hops, flits): (u32, u32), before: u64, now: u64) -> bool {
        let energy = self.energies.flit(hops.into()) * f64::from(flits);
        let (taken, messages) = &mut self.taken[node as usize];
        if *messages > 0 && energy > self.account - *taken {
            return false;
        }
        (*taken, *messages) = (*taken + energy, *messages + 1);
        let arrives = (u64::from(hops) + 1) * self.pipeline_stages - 1 + u64::from(flits) + before;
        let earned = (energy * self.period as f64 / self.account).ceil().min(1e15) as u64;
        let after = match self.restore {
            Restore::Arrival => arrives,
            Restore::Window => self.period.max(arrives).max(earned),
        };
        self.returns.push(Reverse((now + after, node, energy.to_bits())));
        true
    }

    /// The node of a message whose energy is back by cycle `now`.
    pub(crate) fn comes_back(&mut self, now: u64) -> Option<u32> {
        self.next().filter(|cycle| *cycle <= now)?;
        let Reverse((_, node, energy)) = self.returns.pop()?;
        let (taken, messages) = &mut self.taken[node as usize];
        *messages -= 1;
        // nothing is left of rounding
        *taken = if *messages == 0 { 0.0 } else { *taken - f64::from_bits(energy) };
        Some(node)
    }

    /// When energy comes back next.
    pub(crate) fn next(&self) -> Option<u64> {
        self.returns.peek().map(|Reverse((cycle, ..))| *cycle)
    }
}

/// PowerHerd: a router stops where its budget of an epoch could be passed in the next cycle, and passes on what it does
/// not need.
pub(crate) struct Herd {
    epoch: u64,
    /// The cycle after the epoch under way.
    ends: u64,
    spare_factor: f64,
    /// Energy of all routers in an epoch, and the most of one in a cycle \[pJ\].
    base: f64,
    worst: f64,
    /// Energies of what a flit does: injection, crossing, link, ejection \[pJ\].
    moves: [f64; 4],
    /// By router: what flits did in the epoch, its budget, and whether it has stopped.
    moved: Vec<[u32; 4]>,
    budgets: Vec<f64>,
    stopped: Vec<bool>,
    is_any_stopped: bool,
    /// By router: those that a link leads to or comes from.
    neighbours: Vec<Vec<u32>>,
    /// Routers in which something has moved in this cycle.
    active: Vec<u32>,
    /// Cycles in which a router stood still, over all routers.
    pub(crate) stopped_cycles: u64,
}

/// K13: energies of an injection, a crossing, a link and an ejection \[pJ\].
fn of_moves(energies: &Energies) -> [f64; 4] {
    let Energies { buffer_read, buffer_write, arbitration, crossbar, link, injection_link, interface } =
        *energies;
    [
        injection_link + interface + buffer_write,
        buffer_read + crossbar + arbitration + buffer_write,
        buffer_read + link + buffer_write,
        buffer_read,
    ]
}

/// With PowerHerd: the budget of a router in an epoch, and the most that it may use in a cycle \[pJ\].
pub(crate) fn herd_of(scenario: &Scenario) -> Option<(f64, f64)> {
    let spec = scenario.spec().power.filter(|spec| spec.control == PowerControl::PowerHerd)?;
    let (budget, energies, network) = (scenario.power_budget()?, scenario.energies()?, scenario.topology());
    let [injects, crosses, links, _] = of_moves(&energies);
    let ports = network.ports() + u32::from(scenario.has_signals_in_band());
    let worst = f64::from(ports) * (crosses + links + injects);
    Some((budget * f64::from(spec.epoch) / f64::from(network.routers()), worst))
}

/// What a flit does that costs energy.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Move {
    /// It leaves an injection link into the router.
    Injects,
    /// It crosses.
    Crosses,
    /// It leaves over a link to another router.
    Links,
    /// It leaves the network.
    Ejects,
}

impl Herd {
    /// `None` with another control or none.
    pub(crate) fn new(scenario: &Scenario, wiring: &Wiring) -> Option<Self> {
        let spec = scenario.spec().power.filter(|spec| spec.control == PowerControl::PowerHerd)?;
        let ((base, worst), energies) = (herd_of(scenario)?, scenario.energies()?);
        let moves = of_moves(&energies);
        let routers = wiring.routers();
        let mut neighbours = vec![Vec::new(); routers as usize];
        for link in 0..routers * wiring.ports() {
            let from = link / wiring.ports();
            if let (Some(_), End::Input { router: to, .. }) = (wiring.channel(link), wiring.end(link)) {
                for (one, other) in [(from, to), (to, from)] {
                    if !neighbours[one as usize].contains(&other) {
                        neighbours[one as usize].push(other);
                    }
                }
            }
        }
        let (epoch, routers) = (u64::from(spec.epoch), routers as usize);
        Some(Self {
            epoch,
            ends: epoch,
            spare_factor: spec.spare_factor,
            base,
            worst,
            moves,
            moved: vec![[0; 4]; routers],
            budgets: vec![base; routers],
            stopped: vec![worst > base; routers],
            is_any_stopped: worst > base,
            neighbours,
            active: Vec::new(),
            stopped_cycles: 0,
        })
    }

    /// Whether a router stands still.
    #[inline]
    pub(crate) fn is_stopped(&self, router: usize) -> bool {
        self.stopped[router]
    }

    /// A flit moves at the cost of a router.
    #[inline]
    pub(crate) fn moves(&mut self, router: usize, what: Move) {
        self.moved[router][what as usize] += 1;
        self.active.push(router as u32);
    }

    /// Energy of a router in the epoch, added kind by kind, so that no order of events shows \[pJ\].
    fn used(&self, router: usize) -> f64 {
        let [injects, crosses, links, ejects] = self.moved[router].map(f64::from);
        let [of_injection, of_crossing, of_link, of_ejection] = self.moves;
        injects * of_injection + crosses * of_crossing + links * of_link + ejects * of_ejection
    }

    /// A cycle has ended.
    pub(crate) fn ends(&mut self, now: u64) {
        if self.is_any_stopped {
            self.stopped_cycles += self.stopped.iter().filter(|stopped| **stopped).count() as u64;
        }
        while let Some(router) = self.active.pop() {
            let router = router as usize;
            if self.used(router) + self.worst > self.budgets[router] {
                (self.stopped[router], self.is_any_stopped) = (true, true);
            }
        }
        self.begins(now + 1);
    }

    /// A cycle begins: epochs that have ended pass on what was not needed.
    pub(crate) fn begins(&mut self, now: u64) {
        while now >= self.ends {
            self.exchange();
            self.ends += self.epoch;
            if !self.is_any_stopped && now >= self.ends {
                // nothing was used since
                self.ends += (now - self.ends) / self.epoch * self.epoch;
            }
        }
    }

    fn exchange(&mut self) {
        let mut budgets = vec![self.base; self.budgets.len()];
        for (router, neighbours) in self.neighbours.iter().enumerate() {
            let spare = (self.base - self.spare_factor * self.used(router)).max(0.0);
            let in_need = neighbours.iter().filter(|other| self.stopped[**other as usize]);
            let count = in_need.clone().count();
            if self.stopped[router] || count == 0 {
                continue;
            }
            budgets[router] -= spare;
            for other in in_need {
                budgets[*other as usize] += spare / count as f64;
            }
        }
        self.budgets = budgets;
        self.moved.fill([0; 4]);
        for (stopped, budget) in self.stopped.iter_mut().zip(&self.budgets) {
            *stopped = self.worst > *budget;
        }
        self.is_any_stopped = self.stopped.contains(&true);
    }
}
