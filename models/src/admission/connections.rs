//! Connections of a class: how many are refused, and what those that stand send.

use super::problem::Problem;
use super::rejection::{LossNetwork, Rejections, Route, circuits, held};
use crate::fixed_point::Report;
use flitwise_language::scenario::{AdmissionSpec, Connections, Energies, Requests, Reserve, Scenario};

/// What becomes of the requests of a class.
#[derive(Clone, Debug)]
pub(super) struct Admitted {
    /// Share of all requests.
    pub(super) rejected: f64,
    /// Mean over those that are admitted; none where none are \[cycles\].
    pub(super) set_up: Option<f64>,
    /// Connections that stand, of all nodes.
    pub(super) held: f64,
    /// The account of the iteration, if there is one.
    pub(super) report: Option<Report>,
}

/// Circuits of all channels together, up to which their states are looked at one by one.
const MOST_CIRCUITS: u64 = 200_000;

/// Admits connections of a class, whose routes then carry what these send.
///
/// # Errors
/// Why there is no number; all are taken to be admitted then.
pub(super) fn admit(scenario: &Scenario, problem: &mut Problem, place: usize) -> Result<Admitted, String> {
    let Some(connections) = problem.classes[place].connections else {
        return Err("the class has no connections".to_owned());
    };
    let spec = scenario.spec();
    let rejected = match spec.admission.filter(|admission| admission.test) {
        None => None,
        Some(admission) => Some(rejections(scenario, problem, place, (admission, connections))?),
    };
    let (rejected, report) = rejected.map_or((None, None), |(rejected, report)| (Some(rejected), report));
    let delay = scenario.signal_delay();
    let class = &mut problem.classes[place];
    let (mut accepted, mut hops) = (0.0, 0.0);
    for (at, route) in class.routes.iter_mut().enumerate() {
        route.carried *= rejected.as_ref().map_or(1.0, |rejected| 1.0 - rejected.routes[at]);
        accepted += route.share * route.carried;
        hops += route.share * route.carried * (f64::from(problem.paths[route.path].hops()) + 1.0);
    }
    // 2 (h + 1) d_s, in-band less what the ends save
    let set_up =
        (accepted > 0.0 && spec.admission.is_some()).then(|| 2.0 * hops / accepted * delay.hop - delay.ends);
    let held = connections.requests.wanted() * accepted;
    Ok(Admitted { rejected: rejected.map_or(0.0, |rejected| rejected.share), set_up, held, report })
}

fn rejections(
    scenario: &Scenario,
    problem: &Problem,
    place: usize,
    asked: (AdmissionSpec, Connections),
) -> Result<(Rejections, Option<Report>), String> {
    let (network, requests) = network(scenario, problem, place, asked);
    if network.circuits.iter().map(|circuits| u64::from(*circuits)).sum::<u64>() > MOST_CIRCUITS {
        return Err(format!("channels have more than {MOST_CIRCUITS} circuits together"));
    }
    match requests {
        Some(requests) => Ok((network.at_start(requests), None)),
        None => {
            let (rejections, report) = network.pairs().map_err(|report| format!("{report}"))?;
            Ok((rejections, Some(report)))
        }
    }
}

/// Channels as groups of circuits, with the requests of a node where all are made at the start.
///
/// A budget of power is one more channel at each router, which holds as many circuits as their mean energy allows.
fn network(
    scenario: &Scenario,
    problem: &Problem,
    place: usize,
    (admission, connections): (AdmissionSpec, Connections),
) -> (LossNetwork, Option<f64>) {
    let width = width(Some(&admission), &connections);
    let (class, count) = (&problem.classes[place], problem.capacities.len());
    let (budget, delay) = (router_budget(scenario), scenario.signal_delay());
    let (wanted, requests, holding) = match connections.requests {
        Requests::AtStart { count, .. } => (f64::from(count), Some(f64::from(count)), 1.0),
        Requests::Poisson { erlangs, holding } => (erlangs, None, holding),
    };
    let (mut routes, mut offered) = (Vec::new(), vec![0.0; count + problem.routers()]);
    // connections and energy of a flit at each router
    let mut energy = vec![(0.0, 0.0); problem.routers()];
    for route in &class.routes {
        let path = problem.path(route);
        let mut channels = path.channels.clone();
        if let Some((_, energies)) = budget {
            let last = path.channels.len() - 1;
            for (at, channel) in path.channels.iter().enumerate() {
                let Some(router) = problem.router_before(*channel) else { continue };
                channels.push(count + router);
                let of_link = if at < last { energies.link } else { 0.0 };
                energy[router].0 += route.share;
                energy[router].1 += route.share * (energies.router() + of_link);
            }
        }
        let rate = wanted * route.share / holding;
        let holding = if requests.is_some() { 1.0 } else { held(holding, path.hops(), delay) };
        channels.iter().for_each(|channel| offered[*channel] += rate * holding);
        routes.push(Route { source: route.sender, channels, rate, holding, width: 1 });
    }
    let room = |(channel, offered): (usize, &f64)| {
        let limit = match (channel.checked_sub(count), budget) {
            (None, _) => circuits(admission.limit_share, width),
            (Some(router), Some((budget, _))) if energy[router].1 > 0.0 => {
                circuits(budget, width * energy[router].1 / energy[router].0)
            }
            _ => u32::MAX,
        };
        limit.min(enough(*offered))
    };
    let circuits = offered.iter().enumerate().map(room).collect();
    (LossNetwork { circuits, routes }, requests)
}

/// Circuits that so many calls, on average, never fill.
fn enough(calls: f64) -> u32 {
    (calls + 12.0 * calls.sqrt() + 60.0).ceil() as u32
}

/// `Π_RT / R`: what connections may take at each router under credit power control \[pJ/cycle\].
fn router_budget(scenario: &Scenario) -> Option<(f64, Energies)> {
    let (budget, share) = scenario.credit_budget()?;
    Some((budget * share / f64::from(scenario.topology().routers()), scenario.energies()?))
}

/// What connections hold of each channel \[flits/cycle\].
pub(super) fn reserved(scenario: &Scenario) -> Result<Vec<f64>, String> {
    let mut problem = Problem::new(scenario);
    let mut held = vec![0.0; problem.capacities.len()];
    for place in 0..scenario.classes().len() {
        let Some(connections) = problem.classes[place].connections else { continue };
        admit(scenario, &mut problem, place)?;
        let width = width(scenario.spec().admission.as_ref(), &connections);
        for route in &problem.classes[place].routes {
            let each = connections.requests.wanted() * route.share * route.carried * width;
            problem.path(route).channels.iter().for_each(|channel| held[*channel] += each);
        }
    }
    Ok(held)
}

/// What an account counts of a connection \[flits/cycle\].
fn width(admission: Option<&AdmissionSpec>, connections: &Connections) -> f64 {
    match admission.map(|admission| admission.reserve) {
        Some(Reserve::Peak) => connections.peak,
        _ => connections.mean,
    }
}
