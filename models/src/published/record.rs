//! What a solve leaves behind: every quantity of its last iteration, and the way there.
//!
//! Nothing here is computed for the record: it is the working memory of the iteration, handed out. What the
//! equations pass through on the way ([`Visitor::departure`], [`Sharing::given_present`], the terms of
//! [`MiddleLength`]) is asked of the same functions that the iteration asks.

use std::rc::Rc;

use super::best_effort::RealTimeLoad;
use super::blocking::{Blocking, Buffering};
use super::hypercube::Cube;
use super::middle_blocking::MiddleLength;
use super::sharing::{Departure, Shares, Sharing, Visitor};
use super::solution::{Channel, Outcome};
use super::traffic::{Flow, Traffic};
use crate::fixed_point::{History, Report};
use crate::scalar::Scalar;
use flitwise_language::scenario::ClassKind;

/// The record of one solve.
#[derive(Clone, Debug)]
pub struct Record<T = f64> {
    /// `P` \[cycles\].
    pub stages: T,
    /// Real-time classes that share links, in the order of the bits of sets, then best effort. Classes that no link
    /// reserves anything for are left out.
    pub classes: Vec<ClassRecord<T>>,
    /// The chain of each link: of the output, or of network channels `0..n` and the ejection channel. Empty without
    /// real-time classes.
    pub links: Vec<LinkRecord<T>>,
    /// The iterations one after the other: of real-time classes together, of best effort.
    pub iterations: Vec<IterationRecord>,
    /// What depends on the dimension alone, of a hypercube.
    pub cube: Option<Cube<T>>,
}

/// One class at the last iteration.
#[derive(Clone, Debug)]
pub struct ClassRecord<T = f64> {
    /// Place in the scenario.
    pub class: usize,
    /// How links treat it.
    pub kind: ClassKind,
    /// `λ^g` \[messages/cycle\].
    pub offered_rate: T,
    /// `M`, `b_s` and what follows.
    pub buffering: Buffering<T>,
    /// `Vtick` of a real-time class \[cycles/flit\].
    pub vtick: Option<T>,
    /// Latencies from which the last iteration set out: `L_c`, or `L_{c,s}` for `s = 0..n` and `L_{c,n}`
    /// \[cycles\]. Empty if there was no iteration.
    pub latencies: Vec<T>,
    /// (3)-(5), in a single router.
    pub blocking: Option<Blocking<T>>,
    /// (10)-(12) and A.2, in a hypercube.
    pub path: Option<PathRecord<T>>,
    /// `S`: cycles per flit at the output, or on channels `0..n`; empty where unknown.
    pub cycles_per_flit: Vec<T>,
    /// `S_n` in a hypercube, for messages that started on channel `0..n`; real-time classes have one value.
    pub cycles_per_flit_at_ejection: Vec<T>,
    /// `T_c`: latency of a lone message, as (15) takes it \[cycles\]; `None` without an answer.
    pub lone_latency: Option<T>,
    /// R6: the link, as an index to the links of the record, and the set of classes in which the class is served more
    /// slowly than it comes.
    pub starved: Option<(usize, usize)>,
    /// Real-time traffic as best effort meets it.
    pub met: Option<MetRecord<T>>,
}

/// Blocking all along the paths of a class.
#[derive(Clone, Debug, PartialEq)]
pub struct PathRecord<T = f64> {
    /// `λ_c` \[messages/cycle/node\].
    pub accepted_rate: T,
    /// `P_b,c^s`, the ejection channel last.
    pub probabilities: Vec<T>,
    /// `λ^first_{c,s} / λ_c`.
    pub shares_started: Vec<T>,
    /// `Bmid(c,s)` and what it is made of.
    pub middle: Vec<MiddleLength<T>>,
    /// `O_c` \[flits\].
    pub ejection: T,
}

/// What real-time traffic does to best effort.
#[derive(Clone, Debug, PartialEq)]
pub struct MetRecord<T = f64> {
    /// On each link.
    pub loads: Vec<RealTimeLoad<T>>,
    /// `M_r`, R4, in a single router \[flits\].
    pub message_flits: Option<T>,
    /// The first link, if any, on which nothing is left.
    pub full: Option<usize>,
}

/// The chain of one link at the last iteration.
#[derive(Clone, Debug)]
pub struct LinkRecord<T = f64> {
    /// (7).
    pub shares: Rc<Shares<T>>,
    /// What comes, by class.
    pub visitors: Vec<Visitor<T>>,
    /// (6), (8).
    pub sharing: Sharing<T>,
}

impl<T: Scalar> LinkRecord<T> {
    /// A link before anything is known of it.
    pub(super) fn new(shares: &Rc<Shares<T>>) -> Self {
        let classes = shares.classes();
        let visitors = Vec::with_capacity(classes);
        Self { shares: Rc::clone(shares), visitors, sharing: Sharing::unknown(classes) }
    }

    /// Number of states `2^k`.
    pub fn states(&self) -> usize {
        self.sharing.occupancy.len()
    }

    /// How `class` leaves the state `set`, which holds it.
    pub fn departure(&self, class: usize, set: usize) -> Departure<T> {
        self.visitors[class].departure(self.shares.cycles_per_flit(class, set))
    }

    /// The rate at which `class` comes to the state `set` or leaves it \[1/cycle\].
    pub fn rate(&self, class: usize, set: usize) -> T {
        match set >> class & 1 {
            0 => self.visitors[class].arrival_rate(),
            _ => self.departure(class, set).rate,
        }
    }
}

/// One iteration.
#[derive(Clone, Debug)]
pub struct IterationRecord {
    /// What is iterated: place of the class in the scenario, and the channel in a hypercube, `n` for ejection.
    pub unknowns: Vec<(usize, Option<usize>)>,
    /// Points at which the equations were evaluated \[cycles\].
    pub history: History,
    /// How it ended, with the residual of every step.
    pub report: Report,
}

impl<T: Scalar> Record<T> {
    /// Of a network in which nothing is known yet.
    pub(super) fn new(stages: T, cube: Option<Cube<T>>) -> Self {
        Self { stages, classes: Vec::new(), links: Vec::new(), iterations: Vec::new(), cube }
    }

    /// Takes down an iteration, if there was one.
    pub(super) fn iterated(
        &mut self,
        unknowns: Vec<(usize, Option<usize>)>,
        history: Option<History>,
        report: &Report,
    ) {
        let run = |history| IterationRecord { unknowns, history, report: report.clone() };
        self.iterations.extend(history.map(run));
    }

    /// What the outcomes say beside the working memory; links are counted with `ejection` as the last.
    pub(super) fn complete(&mut self, traffic: &Traffic<T>, outcomes: &[Outcome<T>], ejection: usize) {
        for record in &mut self.classes {
            let place = traffic.real_time.iter().position(|flow| flow.class == record.class);
            record.vtick = place.map(|place| traffic.vticks[place]);
            let found = outcomes.iter().find(|outcome| outcome.class == record.class);
            if let Some(Ok(found)) = found.map(|outcome| outcome.found.as_ref()) {
                record.lone_latency = Some(found.lone_latency);
                record.starved = found.starved.map(|starved| {
                    let link = match starved.channel {
                        Channel::Output => 0,
                        Channel::Network(s) => s,
                        Channel::Ejection => ejection,
                    };
                    (link, starved.company)
                });
            }
        }
    }
}

impl<T: Scalar> PathRecord<T> {
    /// Before anything is known.
    pub(super) fn unknown() -> Self {
        Self {
            accepted_rate: T::zero(),
            probabilities: Vec::new(),
            shares_started: Vec::new(),
            middle: Vec::new(),
            ejection: T::zero(),
        }
    }
}

impl<T: Scalar> ClassRecord<T> {
    /// Of a class of which nothing is known but what comes.
    pub(super) fn of(flow: &Flow<T>, kind: ClassKind) -> Self {
        Self {
            class: flow.class,
            kind,
            offered_rate: flow.rate,
            buffering: flow.buffering,
            vtick: None,
            latencies: Vec::new(),
            blocking: None,
            path: None,
            cycles_per_flit: Vec::new(),
            cycles_per_flit_at_ejection: Vec::new(),
            lone_latency: None,
            starved: None,
            met: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::published::{Options, solve, solve_recorded};
    use flitwise_language::scenario::Preset;

    /// Recording changes no number, and the record is of the point that is answered.
    #[test]
    fn a_recorded_solve_answers_the_same() {
        for preset in Preset::of("kyd05") {
            for factor in [1.0, 0.3, 2.5] {
                let mut spec = preset.scenario().spec().clone();
                spec.classes.iter_mut().for_each(|class| class.rate *= factor);
                let scenario = spec.check().unwrap();
                let options = Options { details: true, ..Options::default() };
                let plain = solve(&scenario, &options).unwrap();
                let (recorded, record) = solve_recorded(&scenario, &options);
                let (recorded, record) = (recorded.unwrap(), record.unwrap());
                let text = |answer| serde_json::to_string(answer).unwrap();
                assert_eq!(text(&plain), text(&recorded), "{} times {factor}", preset.name);
                let iterations: u32 = record.iterations.iter().map(|run| run.report.iterations).sum();
                assert_eq!(iterations, plain.report.iterations);
                for run in &record.iterations {
                    assert_eq!(run.history.points, run.report.iterations as usize);
                }
            }
        }
    }

    #[test]
    fn the_chains_of_the_record_are_balanced() {
        for preset in Preset::of("kyd05") {
            let (answer, record) = solve_recorded(&preset.scenario(), &Options::default());
            let (answer, record) = (answer.unwrap(), record.unwrap());
            for link in &record.links {
                assert!((link.sharing.occupancy.iter().sum::<f64>() - 1.0).abs() < 1e-12);
                let classes = link.visitors.len();
                for set in 0..link.states() {
                    let out: f64 = (0..classes).map(|class| link.rate(class, set)).sum();
                    let from = |class: usize| set ^ (1 << class);
                    let into: f64 = (0..classes)
                        .map(|class| link.sharing.occupancy[from(class)] * link.rate(class, from(class)))
                        .sum();
                    assert!((into / (out * link.sharing.occupancy[set]) - 1.0).abs() < 1e-11);
                }
            }
            if record.cube.is_none() {
                for class in &record.classes {
                    let found = answer.classes[class.class].network_latency_cycles.unwrap();
                    assert!((class.latencies[0] / found - 1.0).abs() < 1e-12);
                }
            }
        }
    }
}
