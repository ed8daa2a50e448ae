//! A single router: (2)-(9).

use flitwise_language::scenario::ClassKind;
use flitwise_models::published::ClassRecord;

use super::Subject;
use crate::explain::derivation::{Application, Derivation, Section};
use crate::explain::equations as eq;
use crate::explain::formula::Values;

impl Subject<'_> {
    pub(super) fn router(&self, derivation: &mut Derivation) {
        let kind = |kind: ClassKind| {
            let answered = self.answered().map(|(class, _)| class).filter(|class| class.blocking.is_some());
            answered.filter(move |class| class.kind == kind).collect::<Vec<_>>()
        };
        let real_time = kind(ClassKind::RealTime);
        if !real_time.is_empty() {
            self.latency(derivation.section("Network latency and blocking of real-time classes"), &real_time);
        }
        if !self.record.links.is_empty() {
            self.chain(derivation.section("Sharing of the output link"));
            self.iterations(derivation.section("How the unknowns are found"), false);
        }
        let best_effort = kind(ClassKind::BestEffort);
        if !best_effort.is_empty() {
            let section = derivation.section("Best effort: what real-time classes leave");
            self.best_effort(section, &best_effort);
            self.latency(section, &best_effort);
            self.iterations(section, true);
        }
        self.parts(derivation);
        self.source(derivation);
        self.deadlines(derivation);
    }

    /// (2)-(5).
    fn latency(&self, section: &mut Section, classes: &[&ClassRecord]) {
        for equation in [&eq::LATENCY, &eq::BLOCKED, &eq::ACCEPTED, &eq::LENGTH] {
            self.of_classes(section, equation, classes);
        }
    }

    /// (9) and R4.
    fn best_effort(&self, section: &mut Section, classes: &[&ClassRecord]) {
        for class in classes {
            let Some(met) = &class.met else { continue };
            let load = met.loads[0];
            let names = || vec![("C", self.name(class.class))];
            section.step(
                &eq::LINK_LOAD,
                [Application::new(Vec::new(), Values::of([("π_{∅}", load.idle)]), load.busy())],
            );
            let of = |class: &ClassRecord| {
                let rate = class.blocking.map_or(f64::NAN, |blocking| blocking.accepted_rate);
                vec![("λ'_{j}", rate), ("M_{j}", class.buffering.message_flits)]
            };
            let met_flits = met.message_flits.unwrap_or(f64::NAN);
            if met_flits > 0.0 {
                let values = Values::default().and("j", self.real_time().map(of));
                section.step(&eq::MET_LENGTH, [Application::new(Vec::new(), values, met_flits)]);
            } else {
                section.text("No real-time message comes, so that best effort has the link for itself.");
            }
            let values = Values::of([
                ("ρ_{r}", load.busy()),
                ("M_{r}", met_flits),
                ("M_{C}", class.buffering.message_flits),
            ]);
            let cycles = class.cycles_per_flit.first().copied().unwrap_or(f64::NAN);
            section.step(&eq::BEST_EFFORT, [Application::new(names(), values, cycles)]);
        }
    }
}
