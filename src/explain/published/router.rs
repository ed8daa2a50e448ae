//! A single router: (2)-(9).

use flitwise_models::answer::ClassAnswer;
use flitwise_models::published::{Blocking, ClassRecord};
use flitwise_models::scenario::ClassKind;

use super::Explained;
use crate::explain::derivation::{Derivation, Found, Section};
use crate::explain::equations as eq;
use crate::explain::formula::Values;

/// A class of a router with all that (2)-(5) need.
type Blocked<'e> = (&'e ClassRecord, &'e ClassAnswer, Blocking);

impl<'e> Explained<'e> {
    pub(super) fn router(&self, derivation: &mut Derivation) {
        let kind = |kind: ClassKind| {
            let answered = self.answered().filter(move |(class, _)| class.kind == kind);
            answered.filter_map(|(class, answer)| Some((class, answer, class.blocking?))).collect::<Vec<_>>()
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
    fn latency(&self, section: &mut Section, classes: &[Blocked<'e>]) {
        let names = |class: &ClassRecord| vec![("c", self.name(class.class))];
        let stages = self.record.stages;
        section.step(
            &eq::LATENCY,
            classes.iter().map(|(class, answer, blocking)| {
                let values = Values::of([
                    ("P", stages),
                    ("M_{c}", class.buffering.message_flits),
                    ("B_{c}", blocking.length),
                    ("S_{c}", answer.cycles_per_flit.unwrap_or(f64::NAN)),
                ]);
                Found::new(names(class), values, answer.network_latency_cycles.unwrap_or(f64::NAN))
            }),
        );
        section.step(
            &eq::BLOCKED,
            classes.iter().map(|(class, _, blocking)| {
                let values = Values::of([
                    ("L_{c}", class.latencies[0]),
                    ("λ'_{c}", blocking.accepted_rate),
                    ("m_{c}", class.buffering.room()),
                    ("M_{c}", class.buffering.message_flits),
                ]);
                Found::new(names(class), values, blocking.probability)
            }),
        );
        section.step(
            &eq::ACCEPTED,
            classes.iter().map(|(class, _, blocking)| {
                let values =
                    Values::of([("P_{b,c}", blocking.probability), ("λ_{c}^{g}", class.offered_rate)]);
                Found::new(names(class), values, blocking.accepted_rate)
            }),
        );
        section.step(
            &eq::LENGTH,
            classes.iter().map(|(class, _, blocking)| {
                let values = Values::of([
                    ("P_{b,c}", blocking.probability),
                    ("m_{c}", class.buffering.room()),
                    ("M_{c}", class.buffering.message_flits),
                ]);
                Found::new(names(class), values, blocking.length)
            }),
        );
    }

    /// (9) and R4.
    fn best_effort(&self, section: &mut Section, classes: &[Blocked<'e>]) {
        for (class, _, _) in classes {
            let Some(met) = &class.met else { continue };
            let load = met.loads[0];
            let names = || vec![("C", self.name(class.class))];
            section.step(
                &eq::LINK_LOAD,
                [Found::new(Vec::new(), Values::of([("π_{∅}", load.idle)]), load.busy())],
            );
            let of = |class: &ClassRecord| {
                let rate = class.blocking.map_or(f64::NAN, |blocking| blocking.accepted_rate);
                vec![("λ'_{j}", rate), ("M_{j}", class.buffering.message_flits)]
            };
            let met_flits = met.message_flits.unwrap_or(f64::NAN);
            if met_flits > 0.0 {
                let values = Values::default().and("j", self.real_time().map(of));
                section.step(&eq::MET_LENGTH, [Found::new(Vec::new(), values, met_flits)]);
            } else {
                section.text("No real-time message comes, so that best effort has the link for itself.");
            }
            let values = Values::of([
                ("ρ_{r}", load.busy()),
                ("M_{r}", met_flits),
                ("M_{C}", class.buffering.message_flits),
            ]);
            let cycles = class.cycles_per_flit.first().copied().unwrap_or(f64::NAN);
            section.step(&eq::BEST_EFFORT, [Found::new(names(), values, cycles)]);
        }
    }
}
