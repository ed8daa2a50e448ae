//! Parts of the latency and the wait at the source: (10), (14), (15), (1).

use super::Subject;
use crate::explain::derivation::Derivation;
use crate::explain::equations as eq;
use crate::explain::formula::significant;

impl Subject<'_> {
    /// The parts of the network latency, and the bar that they make.
    pub(super) fn parts(&self, derivation: &mut Derivation) {
        let (classes, answers): (Vec<_>, Vec<_>) = self.answered().unzip();
        if classes.is_empty() {
            return;
        }
        let section = derivation.section("Where the cycles of a message go");
        if self.record.cube.is_none() {
            for equation in [&eq::TRANSFER, &eq::BLOCKING, &eq::SHARING] {
                self.of_classes(section, equation, &classes);
            }
        } else {
            for equation in [&eq::TRANSFER_PATH, &eq::BLOCKING_PATH, &eq::SHARING_PATH] {
                self.along_paths(section, equation, &classes);
            }
        }
        self.of_classes(section, &eq::SUM, &classes);
        for answer in answers {
            let known = |cycles: Option<f64>| cycles.unwrap_or(f64::NAN);
            let waiting = answer.waiting_cycles.map(|cycles| ("waiting", cycles));
            let parts = [
                ("transfer", known(answer.transfer_cycles)),
                ("blocking", known(answer.blocking_cycles)),
                ("sharing", known(answer.sharing_cycles)),
            ];
            section.bar(&answer.name, parts.into_iter().chain(waiting));
        }
    }

    /// (15) and (1).
    pub(super) fn source(&self, derivation: &mut Derivation) {
        let answered = || self.answered().filter(|(class, _)| class.lone_latency.is_some());
        let classes: Vec<_> = answered().map(|(class, _)| class).collect();
        if classes.is_empty() {
            return;
        }
        let section = derivation.section("Waiting at the source");
        if self.record.cube.is_some() {
            self.along_paths(section, &eq::MEAN_SHARE_FIRST, &classes);
            self.of_classes(section, &eq::LONE_PATH, &classes);
        } else {
            self.of_classes(section, &eq::LONE, &classes);
        }
        self.of_classes(section, &eq::VARIANCE, &classes);
        self.of_classes(section, &eq::SOURCE_LOAD, &classes);
        let waiting = answered().filter(|(_, answer)| answer.waiting_cycles.is_some());
        let waiting: Vec<_> = waiting.map(|(class, _)| class).collect();
        if !waiting.is_empty() {
            self.of_classes(section, &eq::WAIT, &waiting);
            self.of_classes(section, &eq::TOTAL, &waiting);
        }
        for (class, answer) in answered() {
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
