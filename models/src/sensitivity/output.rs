//! What of an answer is asked about.

use super::forward::DIFFERENTIABLE;
use crate::answer::Answer;
use flitwise_language::document::{Fault, Place, one_of};
use flitwise_language::quantity::{Measure, Quantity, Unit};
use flitwise_language::scenario::Scenario;

/// The quantities of frames, where there are any.
fn of_frames(scenario: &Scenario) -> &'static [Quantity] {
    let has_frames = scenario.classes().iter().any(|class| class.source.has_frames());
    if has_frames { Quantity::FRAMES } else { &[] }
}

/// The quantities that are meant where none is named: those of messages that every model has, and the interval of
/// frames.
pub(super) fn usual(scenario: &Scenario) -> Vec<Quantity> {
    let means = DIFFERENTIABLE.into_iter().filter(|quantity| *quantity != Quantity::RouterLoad);
    // the interval and its deviation
    let of_frames = of_frames(scenario).iter().take(2).copied();
    let of_packets =
        Quantity::PACKETS.iter().filter(|_| scenario.spec().groups().contains(&Quantity::PACKETS));
    means.chain(of_frames).chain(of_packets.copied()).chain([Quantity::MissProbability]).collect()
}

/// The quantities that may be asked for: means of messages, frames and packets, and miss probabilities.
pub fn known_quantities() -> Vec<Quantity> {
    let groups = Quantity::FRAMES.iter().chain(Quantity::PACKETS);
    let means = Quantity::MEANS.iter().chain(groups).copied();
    means.chain([Quantity::MissProbability]).collect()
}

/// The quantity of a scenario by the word typed for `--output-quantity`.
///
/// # Errors
/// When there is none, with the nearest that there is.
pub fn find_quantity(word: &str, scenario: &Scenario) -> Result<Quantity, Fault> {
    let groups = scenario.spec().groups();
    let is_known = |quantity: &Quantity| {
        Quantity::GROUPS.iter().all(|group| !group.contains(quantity) || groups.contains(group))
    };
    let known: Vec<Quantity> = known_quantities().into_iter().filter(is_known).collect();
    Quantity::find(word.trim()).filter(|quantity| known.contains(quantity)).ok_or_else(|| Fault {
        place: Place::Setting(format!("--output-quantity {word}").into()),
        key: String::new(),
        found: format!("no quantity \"{word}\""),
        wanted: format!("one of {}", one_of(known.iter().map(|quantity| quantity.word()))),
        help: Quantity::nearest(word, &known).map(|near| format!("did you mean {near}?")),
    })
}

/// The unit of a derivative's numerator or denominator; a probability or a load has 1.
pub(super) fn dimension(unit: Unit) -> &'static str {
    match unit.word() {
        "" => "1",
        word => word,
    }
}

/// One number of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Output {
    /// Place of the class in the scenario.
    pub(super) class: usize,
    pub(super) measure: Measure,
}

impl Output {
    /// All that the classes and quantities asked for have in `answer`.
    pub(super) fn all(answer: &Answer, classes: &[usize], quantities: &[Quantity]) -> Vec<Self> {
        let of_class = |class: usize| {
            let deadlines = &answer.classes[class].deadlines;
            let has_frames = answer.scenario.classes[class].source.has_frames();
            let has = move |quantity: &&Quantity| has_frames || !quantity.is_of_frames();
            let measures = quantities.iter().filter(has).flat_map(move |quantity| match quantity {
                Quantity::MissProbability => {
                    deadlines.iter().map(|found| Measure::miss(found.deadline_cycles, found.hops)).collect()
                }
                quantity => vec![Measure::from(*quantity)],
            });
            measures.map(move |measure| Self { class, measure })
        };
        classes.iter().flat_map(|class| of_class(*class)).collect()
    }

    /// Its value, or why there is none.
    pub(super) fn value(&self, answer: &Answer) -> Result<f64, String> {
        let class = &answer.classes[self.class];
        let saturated = || class.saturation.as_ref().map(|found| format!("saturated: {}", found.because));
        let reason = || class.reason(self.measure).or_else(saturated);
        let value = class.value(self.measure).filter(|number| number.is_finite());
        value.ok_or_else(|| reason().unwrap_or_else(|| "the model has none".to_owned()))
    }
}
