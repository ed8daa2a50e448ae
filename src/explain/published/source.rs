//! Where the cycles go, and the wait at the source: (10) parted, (14), (15), (1).

use flitwise_models::answer::ClassAnswer;
use flitwise_models::published::{ClassRecord, SourceWait};

use super::Explained;
use crate::explain::derivation::{Bar, Derivation, Found, Part};
use crate::explain::equations as eq;
use crate::explain::formula::{Values, significant};

/// A number that a class with an answer has.
pub(super) fn known(number: Option<f64>) -> f64 {
    number.unwrap_or(f64::NAN)
}

impl<'e> Explained<'e> {
    fn names(&self, class: &ClassRecord) -> Vec<(&'static str, String)> {
        vec![("c", self.name(class.class))]
    }

    /// The parts of the network latency, and the bar that they make.
    pub(super) fn parts(&self, derivation: &mut Derivation) {
        let classes: Vec<_> = self.answered().collect();
        if classes.is_empty() {
            return;
        }
        let section = derivation.section("Where the cycles of a message go");
        let each = |values: &dyn Fn(&ClassRecord, &ClassAnswer) -> Values,
                    value: &dyn Fn(&ClassAnswer) -> Option<f64>| {
            let found = |(class, answer): &(&ClassRecord, &ClassAnswer)| {
                Found::new(self.names(class), values(class, answer), known(value(answer)))
            };
            classes.iter().map(found).collect::<Vec<_>>()
        };
        let transfer = |answer: &ClassAnswer| answer.transfer_cycles;
        let blocking = |answer: &ClassAnswer| answer.blocking_cycles;
        let sharing = |answer: &ClassAnswer| answer.sharing_cycles;
        let message = |class: &ClassRecord| ("M_{c}", class.buffering.message_flits);
        if self.record.cube.is_none() {
            let length = |answer: &ClassAnswer| ("B_{c}", known(answer.blocking_length_flits));
            let stages = ("P", self.record.stages);
            section.step(&eq::TRANSFER, each(&|class, _| Values::of([stages, message(class)]), &transfer));
            section.step(&eq::BLOCKING, each(&|_, answer| Values::of([length(answer)]), &blocking));
            let with_share = |class: &ClassRecord, answer: &ClassAnswer| {
                Values::of([message(class), length(answer), ("S_{c}", known(answer.cycles_per_flit))])
            };
            section.step(&eq::SHARING, each(&with_share, &sharing));
        } else {
            section.step(&eq::TRANSFER_PATH, each(&|class, answer| self.along(class, answer), &transfer));
            section.step(&eq::BLOCKING_PATH, each(&|class, answer| self.along(class, answer), &blocking));
            section.step(&eq::SHARING_PATH, each(&|class, answer| self.along(class, answer), &sharing));
        }
        let parts = |_: &ClassRecord, answer: &ClassAnswer| {
            Values::of([
                ("transfer_{c}", known(transfer(answer))),
                ("blocking_{c}", known(blocking(answer))),
                ("sharing_{c}", known(sharing(answer))),
            ])
        };
        section.step(&eq::SUM, each(&parts, &|answer| answer.network_latency_cycles));
        for (_, answer) in &classes {
            let waiting = answer.waiting_cycles.map(|cycles| ("waiting", cycles));
            let parts = [
                ("transfer", known(answer.transfer_cycles)),
                ("blocking", known(answer.blocking_cycles)),
                ("sharing", known(answer.sharing_cycles)),
            ];
            let parts = parts.into_iter().chain(waiting).collect();
            section.parts.push(Part::Bar(Bar { class: answer.name.clone(), parts }));
        }
    }

    /// (15) and (1).
    pub(super) fn source(&self, derivation: &mut Derivation) {
        let classes: Vec<(&ClassRecord, &ClassAnswer, f64)> = self
            .answered()
            .filter_map(|(class, answer)| Some((class, answer, class.lone_latency?)))
            .collect();
        if classes.is_empty() {
            return;
        }
        let section = derivation.section("Waiting at the source");
        let cube = self.record.cube.as_ref();
        if cube.is_some() {
            section.step(
                &eq::MEAN_SHARE_FIRST,
                classes.iter().map(|(class, answer, _)| {
                    Found::new(self.names(class), self.along(class, answer), known(answer.cycles_per_flit))
                }),
            );
        }
        section.step(
            if cube.is_some() { &eq::LONE_PATH } else { &eq::LONE },
            classes.iter().map(|(class, _, lone)| {
                let mut values =
                    Values::of([("P", self.record.stages), ("M_{c}", class.buffering.message_flits)]);
                values.symbols.extend(cube.map(|cube| ("h", cube.routes.mean_hops())));
                Found::new(self.names(class), values, *lone)
            }),
        );
        section.step(
            &eq::VARIANCE,
            classes.iter().map(|(class, answer, lone)| {
                let latency = known(answer.network_latency_cycles);
                let values = Values::of([("L_{c}", latency), ("T_{c}", *lone)]);
                Found::new(self.names(class), values, SourceWait::variance(latency, *lone))
            }),
        );
        let load = |(class, answer, _): &(&ClassRecord, &ClassAnswer, f64)| {
            let values = Values::of([
                ("λ_{c}^{g}", class.offered_rate),
                ("L_{c}", known(answer.network_latency_cycles)),
            ]);
            Found::new(self.names(class), values, known(answer.source_load))
        };
        section.step(&eq::SOURCE_LOAD, classes.iter().map(load));
        let waiting: Vec<_> =
            classes.iter().filter(|(_, answer, _)| answer.waiting_cycles.is_some()).collect();
        if !waiting.is_empty() {
            section.step(
                &eq::WAIT,
                waiting.iter().map(|(class, answer, lone)| {
                    let latency = known(answer.network_latency_cycles);
                    let values = Values::of([
                        ("λ_{c}^{g}", class.offered_rate),
                        ("L_{c}", latency),
                        ("δ_{c}^{2}", SourceWait::variance(latency, *lone)),
                        ("S_{c}", known(answer.cycles_per_flit)),
                    ]);
                    Found::new(self.names(class), values, known(answer.waiting_cycles))
                }),
            );
            section.step(
                &eq::TOTAL,
                waiting.iter().map(|(class, answer, _)| {
                    let values = Values::of([
                        ("L_{c}", known(answer.network_latency_cycles)),
                        ("W_{c}", known(answer.waiting_cycles)),
                    ]);
                    Found::new(self.names(class), values, known(answer.total_latency_cycles))
                }),
            );
        }
        for (class, answer, _) in &classes {
            if let Some(saturation) = &answer.saturation {
                let from = match (saturation.at_load_factor, saturation.at_rate_messages_per_cycle) {
                    (Some(factor), Some(rate)) => format!(
                        "; it is so from {} times all these rates on, its own being {} messages/cycle then",
                        significant(factor),
                        significant(rate)
                    ),
                    _ => String::new(),
                };
                let name = self.name(class.class);
                section.text(format!(
                    "{name} is saturated, so that it waits without end: {}{from}.",
                    saturation.because
                ));
            } else if let Some(because) = answer.reasons.get("waiting_cycles") {
                section.text(format!("{} has no wait here: {because}.", self.name(class.class)));
            }
        }
    }
}
