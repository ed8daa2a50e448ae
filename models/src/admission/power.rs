//! Power of the network: its mean, how it varies, and the loads that a budget allows.

use statrs::function::erf::erfc;

use super::Path;
use super::energy::{PacketEnergies, first_throttling, smoothing};
use super::problem::{Class, Loads, Problem, Route};
use flitwise_language::scenario::{
    ClassKind, Connections, Energies, PowerControl, PowerSpec, Restore, Scenario, UnitsSpec,
};
use flitwise_language::section::{Layout, Section};

/// Accounts of energy of best effort under credit power control.
pub(super) struct Accounts {
    /// `A` \[pJ\].
    account: f64,
    /// `T`: after which energy comes back \[cycles\].
    period: f64,
    energies: Energies,
}

impl Accounts {
    /// None with another control; none, too, where energy comes back when a message should have arrived, which holds
    /// nothing back.
    pub(super) fn of(scenario: &Scenario) -> Option<Self> {
        let (budget, share) = scenario.credit_budget()?;
        let spec = scenario.spec().power.filter(|spec| spec.restore == Restore::Window)?;
        let period = f64::from(spec.account);
        let nodes = f64::from(scenario.topology().nodes());
        let account = budget * (1.0 - share) * period / nodes;
        Some(Self { account, period, energies: scenario.energies()? })
    }

    /// Messages of a sender.
    fn packets(&self, problem: &Problem, class: &Class, sender: usize) -> PacketEnergies {
        let kind = |route: &Route| {
            let hops = f64::from(problem.path(route).hops());
            (route.share, class.flits * self.energies.flit(hops), problem.alone(class, route))
        };
        PacketEnergies::of_kinds(
            class.routes.iter().filter(|route| route.sender == sender).map(kind).collect(),
        )
    }

    /// Rate at which the account of a sender saturates \[messages/cycle\]; none where messages take no energy.
    ///
    /// An account that is smaller than a message pays for one as soon as it is full.
    pub(super) fn saturation(&self, problem: &Problem, class: &Class, sender: usize) -> Option<f64> {
        let packets = self.packets(problem, class, sender);
        let rate = packets.saturation_under_credits(self.account, self.period)?;
        Some(rate.max((self.account / packets.mean()).min(1.0) / self.period))
    }

    /// Part of the variance of random messages that accounts leave: `1 - u²` on average, none of an account that is
    /// always in use, which pays for as much in any time `T`.
    fn evenness(&self, problem: &Problem, class: &Class) -> f64 {
        let of = |sender: usize| {
            let most = self.saturation(problem, class, sender).unwrap_or(f64::INFINITY);
            1.0 - (class.rate / most).min(1.0).powi(2)
        };
        let senders = class.senders.len();
        (0..senders).map(of).sum::<f64>() / (senders as f64).max(1.0)
    }

    /// Mean time that messages of a sender wait for energy \[cycles\]; none where the account saturates.
    ///
    /// An account is a group of as many servers as it pays for, each busy for `T`: the wait of M/G/k after H.
    /// Sakasegawa (Ann. Inst. Stat. Math. 29 (1977) 67), with the variation of energies in the place of that of times.
    ///
    /// ```text
    /// T ρ^(sqrt(2 (k + 1)) - 1) / (k (1 - ρ)) (c² / 2),   c² = E2 / E1² - 1
    /// ```
    pub(super) fn posting(&self, problem: &Problem, class: &Class, sender: usize) -> Option<f64> {
        let Some(most) = self.saturation(problem, class, sender) else { return Some(0.0) };
        let (load, servers) = (class.rate / most, (most * self.period).max(1e-9));
        let packets = self.packets(problem, class, sender);
        let variation = (packets.second_moment() / packets.mean().powi(2) - 1.0).max(0.0);
        let time = if servers < 1.0 { 1.0 / most } else { self.period };
        let servers = servers.max(1.0);
        let waits = time * load.powf((2.0 * (servers + 1.0)).sqrt() - 1.0) / (servers * (1.0 - load));
        (load < 1.0).then_some(waits * (1.0 + variation) / 2.0)
    }
}

/// Power over windows.
pub(super) struct Power {
    pub(super) mean: f64,
    pub(super) deviation: f64,
    /// Share of windows above the budget, if there is one.
    pub(super) violations: Option<f64>,
    /// Whether PowerHerd stops routers at this load, which takes power to what the model does not know.
    pub(super) is_stopped: bool,
    pub(super) section: Section,
}

/// Part of a variance that connections have of that of as many random messages: in a window a connection that is ON
/// sends so many messages or one more, and is ON or OFF for longer than that.
///
/// ```text
/// (q f (1 - f) + q (1 - q) (T/D)² v) / (q T/D),   D = M/p, q = r/p, f the fraction in T/D
/// ```
///
/// `v` is the part of the variance of ON and OFF that is left over a window: `2 τ² (T/τ - 1 + e^(-T/τ)) / T²`, with
/// `1/τ` the sum of the rates of both changes.
fn burstiness(class: &Class, connections: Connections, window: f64) -> f64 {
    let on = (connections.mean / connections.peak).min(1.0);
    let messages = window * connections.peak / class.flits;
    let fraction = messages - messages.floor();
    let time = (connections.on * (1.0 - on)).max(f64::MIN_POSITIVE);
    let windows = window / time;
    let left = if windows > 1e-6 { 2.0 * (windows + (-windows).exp_m1()) / windows.powi(2) } else { 1.0 };
    (fraction * (1.0 - fraction) / messages + (1.0 - on) * messages * left.min(1.0)).max(0.0)
}

/// Messages of classes that are carried, and their rate in the network \[messages/cycle\].
fn packets<'c>(
    problem: &Problem,
    energies: &Energies,
    classes: impl IntoIterator<Item = &'c Class>,
) -> (PacketEnergies, f64) {
    let mut kinds: Vec<(f64, f64, f64)> = Vec::new();
    let most = problem.paths.iter().map(Path::hops).max().unwrap_or(0) as usize;
    for class in classes {
        let mut by_hops = vec![(0.0, 0.0); most + 1];
        for route in &class.routes {
            let of_hops = &mut by_hops[problem.path(route).hops() as usize];
            of_hops.0 += class.rate * route.share * route.carried;
            of_hops.1 = problem.alone(class, route);
        }
        let used = by_hops.into_iter().enumerate().filter(|(_, (rate, _))| *rate > 0.0);
        kinds.extend(used.map(|(hops, (rate, time))| (rate, class.flits * energies.flit(hops as f64), time)));
    }
    let rate: f64 = kinds.iter().map(|kind| kind.0).sum();
    if rate > 0.0 {
        kinds.iter_mut().for_each(|kind| kind.0 /= rate);
    }
    (PacketEnergies::of_kinds(kinds), rate)
}

impl Power {
    /// None without a table of power.
    pub(super) fn of(scenario: &Scenario, problem: &Problem, loads: &Loads) -> Option<Self> {
        let (spec, energies) = (scenario.spec().power?, scenario.energies()?);
        let window = f64::from(spec.window);
        let (all, rate) = packets(problem, &energies, &problem.classes);
        let mean = all.power(rate, window).mean();
        let most = problem.fullest(loads, 2).map_or(0.0, |fullest| loads_at(loads, fullest.channel));
        let deviation = (variance(scenario, problem, &energies, window) * smoothing(most)).sqrt();
        let budget = scenario.power_budget();
        let violations = budget.map(|budget| above(mean, deviation, budget));
        let mut table = section(scenario, problem, &energies, (mean, deviation));
        if let (Some(budget), Some(violations)) = (budget, violations) {
            table = table
                .with("budget_pj_per_cycle", "budget", "pJ/cycle", budget)
                .with("violations_share", "windows above it", "", violations)
                .with(
                    "violations_bound",
                    "at most, by Chernoff",
                    "",
                    all.log_tail_bound(rate, window, budget).exp().min(1.0),
                );
            let flits = all_flits(problem) / problem.nodes;
            table = largest_loads(table, (&all, rate, flits), window, budget);
            table = of_controls(table, scenario, problem, &spec, (&energies, budget));
        }
        let herds = budget.filter(|_| spec.control == PowerControl::PowerHerd);
        let is_stopped = herds.and_then(|budget| first_stop(problem, &energies, budget));
        let is_stopped = is_stopped.is_some_and(|factor| factor < 1.0);
        Some(Self { mean, deviation, violations, is_stopped, section: table })
    }
}

fn loads_at(loads: &Loads, channel: usize) -> f64 {
    loads.iter().map(|loads| loads[channel]).sum()
}

/// Variance of the power of windows before links smooth it.
fn variance(scenario: &Scenario, problem: &Problem, energies: &Energies, window: f64) -> f64 {
    let of_class = |(place, class): (usize, &Class)| {
        let (packets, rate) = packets(problem, energies, [class]);
        let burstiness = class
            .connections
            .filter(|_| !scenario.classes()[place].source.has_frames())
            .map_or(1.0, |connections| burstiness(class, connections, window));
        let is_paid = class.kind == ClassKind::BestEffort && rate > 0.0;
        let accounts = Accounts::of(scenario).filter(|_| is_paid);
        packets.power(rate, window).variance()
            * burstiness
            * accounts.map_or(1.0, |accounts| accounts.evenness(problem, class))
    };
    problem.classes.iter().enumerate().map(of_class).sum()
}

/// `P(window > budget)` by a normal law.
fn above(mean: f64, deviation: f64, budget: f64) -> f64 {
    if deviation > 0.0 {
        erfc((budget - mean) / deviation / std::f64::consts::SQRT_2) / 2.0
    } else {
        f64::from(mean > budget)
    }
}

/// Flits that are carried \[flits/cycle\].
fn all_flits(problem: &Problem) -> f64 {
    let of_class = |class: &Class| class.carried_rate() * class.flits * class.senders.len() as f64;
    problem.classes.iter().map(of_class).sum()
}

/// Power in all and by part.
fn section(
    scenario: &Scenario,
    problem: &Problem,
    energies: &Energies,
    (mean, deviation): (f64, f64),
) -> Section {
    let mut table = Section::new("power", "Power of the network", Layout::Record).with(
        "power_pj_per_cycle",
        "power",
        "pJ/cycle",
        mean,
    );
    if let Some(cycle_ns) = scenario.spec().units.as_ref().and_then(UnitsSpec::cycle_ns) {
        // pJ/ns are mW
        table = table.with("power_watts", "the same", "W", mean * 1e-3 / cycle_ns);
    }
    let (mut routers, mut links) = (0.0, 0.0);
    for class in &problem.classes {
        for route in &class.routes {
            let flits = class.rate * class.flits * route.share * route.carried;
            let hops = f64::from(problem.path(route).hops());
            routers += flits * (hops + 1.0);
            links += flits * hops;
        }
    }
    let buffers = 2.0 * (energies.buffer_read + energies.buffer_write);
    table
        .with("buffers_pj_per_cycle", "buffers", "pJ/cycle", routers * buffers)
        .with("arbitration_pj_per_cycle", "arbitration", "pJ/cycle", routers * energies.arbitration)
        .with("crossbars_pj_per_cycle", "crossbars", "pJ/cycle", routers * energies.crossbar)
        .with(
            "links_pj_per_cycle",
            "links",
            "pJ/cycle",
            links * energies.link + all_flits(problem) * energies.source(),
        )
        .with("deviation_pj_per_cycle", "deviation of windows", "pJ/cycle", deviation)
}

/// Largest loads of all classes, mixed as they are, under the budget \[flits/cycle/node\].
fn largest_loads(
    mut table: Section,
    (packets, rate, flits): (&PacketEnergies, f64, f64),
    window: f64,
    budget: f64,
) -> Section {
    let load = |found: Option<f64>| found.filter(|_| rate > 0.0).map(|most| most / rate * flits);
    table = table.with(
        "largest_load",
        "largest load by the mean",
        "flits/cycle/node",
        load(packets.largest_rate(budget)),
    );
    for (exceeded, field, head) in [
        (1e-2, "largest_load_1e_2", "largest load, 1e-2 above"),
        (1e-3, "largest_load_1e_3", "largest load, 1e-3 above"),
        (1e-6, "largest_load_1e_6", "largest load, 1e-6 above"),
    ] {
        let found = load(packets.largest_rate_within(budget, window, exceeded));
        table = table.with(field, head, "flits/cycle/node", found);
    }
    table
}

/// Where power control begins to hold messages back.
fn of_controls(
    mut table: Section,
    scenario: &Scenario,
    problem: &Problem,
    spec: &PowerSpec,
    (energies, budget): (&Energies, f64),
) -> Section {
    if let Some(accounts) = Accounts::of(scenario) {
        let class = problem.classes.iter().find(|class| class.kind == ClassKind::BestEffort);
        let load = class.and_then(|class| {
            let of = |sender| accounts.saturation(problem, class, sender);
            let most: Option<f64> = (0..class.senders.len()).map(of).sum();
            Some(most? * class.flits / (class.senders.len() as f64).max(1.0))
        });
        let head = "most that accounts pay for";
        table = table.with("accounts_load", head, "flits/cycle/node", load.filter(|load| load.is_finite()));
    }
    if spec.control == PowerControl::PowerHerd {
        let load = all_flits(problem) / problem.nodes;
        let first = first_stop(problem, energies, budget).map(|factor| factor * load);
        table = table.with("first_throttling_load", "PowerHerd stops first at", "flits/cycle/node", first);
    }
    table
}

/// What all loads are multiplied by when PowerHerd first stops a router.
fn first_stop(problem: &Problem, energies: &Energies, budget: f64) -> Option<f64> {
    let mut routers = vec![0.0; problem.routers()];
    for class in &problem.classes {
        for route in &class.routes {
            let flits = class.rate * class.flits * route.share * route.carried;
            let path = problem.path(route);
            for (at, channel) in path.channels.iter().enumerate() {
                let Some(router) = problem.router_before(*channel) else { continue };
                let link = if at + 1 < path.channels.len() { energies.link } else { 0.0 };
                routers[router] += flits * (energies.router() + link);
            }
        }
    }
    first_throttling(budget, &routers)
}
