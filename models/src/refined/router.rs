//! The single router: every class on its own, with what the others do to it.

use std::rc::Rc;

use super::burst_phases::BurstPhases;
use super::grid::Grid;
use super::higher_classes::{HigherClasses, Siblings};
use super::interface::Interface;
use super::iteration::{Detail, Endpoint, Iteration};
use super::law::Law;
use super::link_sharing::{Clock, LinkSharing};
use super::solution::{Delays, Outcome, Parts, Solution, Start, Warm, on_wider_lattices};
use super::source::Source;
use super::station::{LinkEnvironment, Overload, Place, Shape, Station};
use super::{Class, Problem, Resolution};

/// The environment of one class, at its interface and at an output.
struct Environments {
    interface: Interface,
    environment: LinkEnvironment,
}

/// All classes of a single router with `ports` ports.
pub(super) fn solve(
    problem: &Problem,
    ports: u32,
    resolution: &Resolution,
    wanted: &[usize],
    warm: &dyn Fn(usize) -> Option<Warm>,
) -> Vec<Result<Solution, Overload>> {
    let real_time: Vec<Class> = problem.real_time().collect();
    let share = InputShare::new(problem, &real_time, f64::from(ports), resolution);
    let solve = |index: usize| {
        let mut known: Option<(f64, Option<Rc<Interference>>)> = None;
        on_wider_lattices(&resolution.reaching(problem, index), warm(index).as_ref(), |resolution, start| {
            let grid = Grid::down_to(resolution.cells, resolution.nothing);
            // what does not depend on the number of cells
            let chains = match &known {
                Some((unit, chains)) if *unit == resolution.unit => chains.clone(),
                _ => {
                    let own = problem.position_in_real_time(index);
                    let chains = own
                        .map(|own| Rc::new(Interference::new(problem, &real_time, own, &share, resolution)));
                    known = Some((resolution.unit, chains.clone()));
                    chains
                }
            };
            let surroundings =
                surroundings(problem, index, &grid, &real_time, &share, chains.as_deref(), resolution)?;
            one(problem, index, &grid, &surroundings, share.other_inputs, resolution, start)
        })
    };
    wanted.iter().copied().map(solve).collect()
}

/// What of the traffic at an output comes over the own input.
struct InputShare {
    /// `a = (n - 1) / n`
    other_inputs: f64,
    /// Load of each real-time class, and how much of it lags: messages of the own input contend only as far as they
    /// lag behind, since its link brings one flit at a time.
    loads: Vec<(f64, f64)>,
    /// What the other classes do to each real-time class, with so many cycles per cell and steps.
    sharings: Vec<Rc<LinkSharing>>,
    unit: f64,
    steps: usize,
}

/// What the other real-time classes do to one, on the output link and at the interface.
struct Interference {
    sharing: Rc<LinkSharing>,
    /// None without clocks.
    interface: Option<BurstPhases>,
}

impl Interference {
    fn new(
        problem: &Problem,
        real_time: &[Class],
        own: usize,
        share: &InputShare,
        resolution: &Resolution,
    ) -> Self {
        let (unit, steps) = (resolution.unit, resolution.steps);
        let sharing = if (share.unit, share.steps) == (unit, steps) {
            Rc::clone(&share.sharings[own])
        } else {
            Rc::new(LinkSharing::new(real_time, own, Clock::of(problem, share.other_inputs), unit, steps))
        };
        Self { sharing, interface: problem.clocked.then(|| BurstPhases::new(real_time, own, unit, steps)) }
    }
}

impl InputShare {
    fn new(problem: &Problem, real_time: &[Class], ports: f64, resolution: &Resolution) -> Self {
        let a = (ports - 1.0) / ports;
        let (unit, steps) = (resolution.unit, resolution.coarse());
        let sharings: Vec<Rc<LinkSharing>> = (0..real_time.len())
            .map(|own| Rc::new(LinkSharing::new(real_time, own, Clock::of(problem, a), unit, steps)))
            .collect();
        let load = |(class, sharing): (&Class, &Rc<LinkSharing>)| {
            // M/D/1
            let (l, m) = (class.rate * a, class.message + 1.0);
            let wait = l * m * m / 2.0 / (1.0 - l * m).max(0.05);
            let lag = wait + sharing.mean_delay();
            (class.load(), (lag / class.message).min(1.0))
        };
        let loads = real_time.iter().zip(&sharings).map(load).collect();
        Self { other_inputs: a, loads, sharings, unit, steps }
    }

    /// `f' = f / (1 - (1 - f) Σ)`: share of the messages present that contends, given that the own input brings nothing
    /// else at the moment; the class itself left out.
    fn met(&self, own: Option<usize>) -> f64 {
        let a = self.other_inputs;
        let others = || self.loads.iter().enumerate().filter(|(d, _)| Some(*d) != own).map(|(_, load)| load);
        let all: f64 = others().map(|(load, _)| load).sum();
        let lagging: f64 = others().map(|(load, lag)| load * lag).sum();
        let f = if all > 0.0 { a + (1.0 - a) * lagging / all } else { a };
        f / (1.0 - (1.0 - f) * all).max(0.05)
    }
}

fn surroundings(
    problem: &Problem,
    index: usize,
    grid: &Grid,
    real_time: &[Class],
    share: &InputShare,
    chains: Option<&Interference>,
    resolution: &Resolution,
) -> Result<Environments, Overload> {
    let (a, unit) = (share.other_inputs, resolution.unit);
    let Some((own, Interference { sharing, interface })) = problem.position_in_real_time(index).zip(chains)
    else {
        let load: f64 = real_time.iter().map(Class::load).sum();
        let above = HigherClasses::new(grid, real_time, unit).ok_or(Overload { load, place: Place::Link })?;
        let (rate, met) = (problem.classes[index].rate * unit, share.met(None));
        let environment = above.environment(grid, (a, met), rate, &Siblings::NONE);
        return Ok(Environments {
            interface: above.interface(grid, real_time, &problem.classes[index], unit),
            environment,
        });
    };
    let interface = if let Some(gaps) = interface {
        gaps.interface(grid, own, unit)
    } else {
        let at_interface = sharing.environment(grid, real_time, own, (1.0, 1.0), 0.0, unit);
        let header_wait = sharing.header_wait(real_time, own, unit);
        Interface::without_clocks(grid, &at_interface, problem.classes[index].message / unit, header_wait)
    };
    let environment =
        sharing.environment(grid, real_time, own, (a, share.met(Some(own))), interface.gap, unit);
    Ok(Environments { interface, environment })
}

/// The fixed point of one class.
fn one(
    problem: &Problem,
    index: usize,
    grid: &Grid,
    surroundings: &Environments,
    other_inputs: f64,
    resolution: &Resolution,
    start: Option<&Start>,
) -> Result<Outcome, Overload> {
    let class = &problem.classes[index];
    let unit = resolution.unit;
    let shape = Shape::of(problem, class, unit);
    let rate = class.rate * unit;
    let Environments { interface, environment } = surroundings;
    let whole = interface.gaps_over(grid, shape.message);
    if !(resolution.laws || whole.iter().all(|law| resolution.holds(law))) {
        return Ok(Outcome::TooNarrow(None, Detail::default()));
    }
    let rest = interface.gaps_over(grid, shape.rest());
    let coming = grid.law(interface.coming.over(grid, shape.rest()));
    let work = interface.work_inside(grid, shape);
    let nobody = Law::zero();
    let station = Station::new(grid, shape, environment, rate * other_inputs, f64::INFINITY, &nobody)
        // n - 1 of a = (n - 1) / n
        .with_other_inputs(other_inputs / (1.0 - other_inputs));
    let source = Source {
        grid,
        shape,
        rate,
        bursts: class.bursts_in(unit),
        gaps: &whole,
        coming: &coming,
        work: work.as_ref(),
        quiet: problem.quiet_beside(index),
        set_up: &interface.set_up,
        header_wait: interface.header_wait,
    };
    let held = [rest[0].less(shape.buffer), rest[1].less(shape.buffer)];
    let iteration = Iteration {
        station: &station,
        source: &source,
        chained: None,
        over_outputs: None,
        gaps: &whole,
        held: &held,
        message: (class.message + 1.0) / unit,
    };
    let mut report = Detail::default();
    let settled = iteration.settle(start.map(|start| &start.state), resolution, &mut report)?;
    if settled.narrow {
        return Ok(Outcome::TooNarrow(Some(Start { state: settled.state, on_the_way: None }), report));
    }
    let found = latency(problem, class, resolution, (&station, shape), &whole, settled);
    Ok(Outcome::Solution(Solution { detail: report, ..found }))
}

/// The latencies of a class whose queues have settled, with gaps of whole messages at the interface (`whole`).
fn latency(
    problem: &Problem,
    class: &Class,
    resolution: &Resolution,
    (station, shape): (&Station, Shape),
    whole: &[Law; 2],
    Endpoint { met, queued, state, .. }: Endpoint,
) -> Solution {
    let unit = resolution.unit;
    let pace = (shape.message + shape.header + met.blocked.mean()) * unit;
    // L = P - 1 + M + E[delay of the tail], of messages that find the interface free and of others
    let in_buffer = &queued.in_buffer;
    let each = || in_buffer.shares().into_iter().zip(in_buffer.waits.iter().zip(whole));
    let (mut delays, mut parts) = (Vec::new(), Vec::new());
    let mean = if resolution.laws {
        let laws: Vec<(f64, Law)> =
            each().map(|(share, (waits, gaps))| (share, station.passage(waits, &met, gaps))).collect();
        let law = Law::mix(&laws);
        let mean = law.mean();
        let (lone, on_links) = (problem.stages - 1.0 + class.message, vec![(1.0, 0)]);
        delays.push(Delays { hops: None, share: 1.0, lone, on_links, law });
        mean
    } else {
        parts.push(met.blocked.clone());
        parts.extend(whole.clone());
        each().map(|(share, (waits, gaps))| share * station.mean_passage(waits, &met, gaps)).sum()
    };
    let [granted, link] = [met.granted.mean(), met.waits.link.mean()].map(|cells| cells * unit);
    let Parts { input, arbitration, output, gaps } =
        Parts::of(mean * unit, in_buffer.mean() * unit, granted, link);
    Solution {
        transfer: problem.stages - 1.0 + class.message,
        input,
        arbitration,
        output,
        gaps,
        waiting: 1.0 + queued.waiting * unit + problem.longer_wait(class, queued.load),
        source_load: queued.load,
        pace,
        rate: class.rate,
        delays,
        parts,
        unit,
        detail: Detail::default(),
        warm: Warm { start: Start { state, on_the_way: None }, unit, cells: resolution.cells },
    }
}
