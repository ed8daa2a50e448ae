//! The published model explained, from the record of its solve.

mod chain;
mod deadlines;
mod hypercube;
mod path;
mod router;
mod source;
mod symbols;

use flitwise_language::scenario::{ClassKind, Scenario};
use flitwise_models::answer::{Answer, ClassAnswer};
use flitwise_models::published::{ClassRecord, IterationRecord, Record, Status};

use super::derivation::{Application, Derivation, Entry, Equation, Section};
use super::equations as eq;
use super::formula::significant;

pub(super) use chain::picture;

/// What there is to explain with.
pub(super) struct Subject<'e> {
    pub(super) scenario: &'e Scenario,
    /// None if the iteration did not converge.
    pub(super) answer: Option<&'e Answer>,
    pub(super) record: &'e Record,
    /// The only class that is asked about.
    pub(super) only: Option<usize>,
    /// The link whose chain is shown.
    pub(super) link: usize,
    /// From node to node.
    pub(super) way: Option<(u32, u32)>,
}

/// More unknowns than this are not listed.
const MOST_UNKNOWNS: usize = 8;

impl<'e> Subject<'e> {
    /// All of it.
    pub(super) fn derivation(&self) -> Derivation {
        let mut derivation = Derivation::default();
        self.question(derivation.section("What is asked"));
        if self.record.cube.is_some() {
            self.hypercube(&mut derivation);
        } else {
            self.router(&mut derivation);
        }
        derivation
    }

    fn name(&self, class: usize) -> String {
        self.scenario.classes()[class].name.clone()
    }

    fn wants(&self, class: usize) -> bool {
        self.only.is_none_or(|only| only == class)
    }

    /// Real-time classes that share links, wanted or not, in the order of bits.
    fn real_time(&self) -> impl Iterator<Item = &'e ClassRecord> {
        self.record.classes.iter().filter(|class| class.kind == ClassKind::RealTime)
    }

    /// Classes that are asked about and have an answer.
    fn answered(&self) -> impl Iterator<Item = (&'e ClassRecord, &'e ClassAnswer)> {
        let wanted = self.record.classes.iter().filter(|class| self.wants(class.class));
        let answered = wanted.filter_map(|record| Some((record, &self.answer?.classes[record.class])));
        answered.filter(|(_, answer)| answer.network_latency_cycles.is_some())
    }

    /// One equation over classes.
    fn of_classes(&self, section: &mut Section, equation: &Equation, classes: &[&ClassRecord]) {
        section.step(
            equation,
            classes.iter().map(|class| Application::by(self.names(class), self.of_class(class))),
        );
    }

    /// One equation with sums over the first channels of classes.
    fn along_paths(&self, section: &mut Section, equation: &Equation, classes: &[&ClassRecord]) {
        section.step(
            equation,
            classes.iter().map(|class| Application::by(self.names(class), self.along(class))),
        );
    }

    fn question(&self, section: &mut Section) {
        let scenario = self.scenario;
        let router = scenario.router();
        let network = scenario.topology().description();
        section.text(format!(
            "Wanted is the mean latency of each class, `Latency_{{c}} = L_{{c}} + W_{{c}}` (1): in the network, and \
             waiting at the source. The system is {network}; routers have P = {} pipeline stages of one cycle and \
             buffers of b = {} flits per virtual channel.",
            router.pipeline_stages, router.buffer_flits
        ));
        let row = |class: &flitwise_language::scenario::ClassSpec| {
            vec![
                Entry::from(class.name.as_str()),
                class.kind.word().into(),
                class.rate.into(),
                f64::from(class.message_flits).into(),
            ]
        };
        let heads = ["class", "kind", "λ^g [messages/cycle/node]", "M [flits]"];
        section.table(&heads, scenario.classes().iter().map(row).collect());
        let wanted = self.record.classes.iter().filter(|class| self.wants(class.class));
        self.of_classes(section, &eq::ROOM, &wanted.collect::<Vec<_>>());
        let by_rate = |class: &&ClassRecord| {
            self.scenario.classes()[class.class].vtick.is_none() && class.offered_rate > 0.0
        };
        let vticks: Vec<_> = self.real_time().filter(by_rate).collect();
        if !vticks.is_empty() {
            self.of_classes(section, &eq::VTICK, &vticks);
        }
        for class in self.real_time().filter(|class| !by_rate(class)) {
            let vtick = significant(class.vtick.unwrap_or_default());
            let why = match self.scenario.classes()[class.class].vtick {
                Some(_) => "by the scenario",
                None => "as any will do where no real-time class sends",
            };
            section.text(format!("The Vtick of {} is {vtick} cycles/flit, {why}.", self.name(class.class)));
        }
        for note in self.answer.iter().flat_map(|answer| &answer.notes) {
            section.text(format!("Note: {note}."));
        }
        self.unanswered(section);
    }

    /// Classes without numbers, and why.
    fn unanswered(&self, section: &mut Section) {
        let Some(answer) = self.answer else {
            section.text(
                "The iteration below did not reach a fixed point, so there is no answer: what follows is how far it \
                 came.",
            );
            return;
        };
        for (class, answer) in answer.classes.iter().enumerate().filter(|(class, _)| self.wants(*class)) {
            if let Some(because) = answer.reasons.get("network_latency_cycles") {
                section.text(format!("{} has no latency: {because}.", answer.name));
                let record = self.record.classes.iter().find(|record| record.class == class);
                let met = record.and_then(|record| record.met.as_ref());
                if let Some((met, link)) = met.and_then(|met| Some((met, met.full?))) {
                    section.text(format!(
                        "There the chain of real-time classes is idle with probability {} only; best effort counts \
                         as never served up to 1e-9 (R6).",
                        significant(met.loads[link].idle)
                    ));
                }
            }
        }
    }

    /// How the unknowns were found.
    fn iterations(&self, section: &mut Section, best_effort: bool) {
        let of = |run: &&IterationRecord| {
            let class = run.unknowns.first().map(|(class, _)| *class);
            let kind = class.map(|class| self.scenario.classes()[class].kind);
            (kind == Some(ClassKind::BestEffort)) == best_effort
        };
        let Some(run) = self.record.iterations.iter().find(of) else { return };
        section.text(
            "Each latency stands on both sides of these equations. From the latencies of an empty network the \
             right sides are computed, put in on the left, and so on until nothing changes: since every step rises, \
             the lowest fixed point is met first (R5).",
        );
        let shown = run.unknowns.iter().enumerate().filter(|(_, (class, _))| self.wants(*class));
        let shown: Vec<(usize, String)> = shown
            .take(MOST_UNKNOWNS)
            .map(|(place, (class, channel))| {
                let name = self.name(*class);
                (place, channel.map_or_else(|| format!("L_{name}"), |s| format!("L_{name},{s}")))
            })
            .collect();
        let mut heads = vec!["iteration"];
        heads.extend(shown.iter().map(|(_, name)| name.as_str()));
        heads.push("residual");
        let row = |(number, point): (usize, &[f64])| {
            let residual =
                run.report.residuals.get(number - 1).copied().filter(|residual| *residual < f64::MAX);
            let mut row = vec![Entry::from(number.to_string())];
            row.extend(shown.iter().map(|(place, _)| Entry::from(point[*place])));
            row.push(residual.map_or(Entry::from("-"), |residual| Entry::from(format!("{residual:.1e}"))));
            row
        };
        section.table(&heads, run.history.numbered().map(row).collect());
        let end = match run.report.status {
            Status::Converged => "the fixed point",
            Status::OutOfIterations => "no fixed point, and no more iterations are allowed",
            Status::NotFinite => "numbers that are not finite",
        };
        section.text(format!(
            "After {} iterations: {end}. The residual is the largest relative change of an unknown in one step; at the \
             end it is {:.1e}.",
            run.report.iterations, run.report.residual
        ));
    }
}
