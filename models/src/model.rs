//! The models there are: each answers the same [`Scenario`] with an [`Answer`].
//!
//! ```
//! use flitwise_models::model::{Model, Options};
//! use flitwise_language::scenario::ScenarioSpec;
//!
//! let scenario = ScenarioSpec::default().check().unwrap(); // Table 1
//! let answer = Model::Published.solve(&scenario, &Options::default()).unwrap();
//! assert_eq!(answer.model, Model::Published);
//! assert_eq!(answer.model.to_string(), "published");
//! ```

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer::Answer;
use crate::fixed_point::{self, Report};
use crate::{accuracy, admission, mediaworm, published, recn, refined, router_nic};
use flitwise_language::quantity::Quantity;
use flitwise_language::scenario::{Read, Scenario, Scheduler, Unread};

/// What a model says of itself, in its own folder.
pub(crate) struct Declaration {
    /// Its name: in files, in output and on the command line.
    pub(crate) word: &'static str,
    /// Its name in legends of figures.
    pub(crate) legend: &'static str,
    /// What it is, in half a sentence.
    pub(crate) described: &'static str,
    /// Whether it answers where no model is named; the first in the list that has all of the scenario does.
    pub(crate) is_usual: bool,
    /// Whether its answer is of a run with an end, and not of a steady state.
    pub(crate) is_of_runs: bool,
    /// Whether it is made for such a system: [`Model::made_for`].
    pub(crate) made_for: fn(&Scenario) -> bool,
    /// Whether it has no number for a quantity, whatever the scenario.
    pub(crate) lacks: fn(Quantity) -> bool,
    /// Whether it has all that a scenario holds.
    pub(crate) supports: fn(&Scenario) -> Result<(), Failure>,
    /// Its answer.
    pub(crate) solve: fn(&Scenario, &Options) -> Result<Answer, Failure>,
}

macro_rules! models {
    ($($(#[$text:meta])* $name:ident: $declaration:expr,)+) => {
        /// A model.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        pub enum Model {
            $($(#[$text])* $name,)+
        }

        impl Model {
            /// All of them.
            pub const ALL: [Self; [$($declaration.word),+].len()] = [$(Self::$name),+];

            const fn declaration(self) -> &'static Declaration {
                match self {
                    $(Self::$name => &$declaration,)+
                }
            }
        }
    };
}

models! {
    /// Kim, Yum and Das, Performance Evaluation 60 (2005), as printed: [`published`].
    Published: published::MODEL,
    /// Our own, which follows the simulator's routers stage by stage: [`refined`].
    Refined: refined::MODEL,
    /// Streams of frames through crossbars that virtual channels share: [`mediaworm`].
    Mediaworm: mediaworm::MODEL,
    /// Routers with levels, changing mixes, interfaces behind a host bus: [`router_nic`].
    RouterNic: router_nic::MODEL,
    /// Routers with lane arbiters: admission, congestion and power control: [`admission`].
    Admission: admission::MODEL,
    /// Packet switches in multistage networks, and congestion trees: [`recn`].
    Recn: recn::MODEL,
}

/// Keys that steer what a simulation measures: no steady state depends on them.
const OF_MEASURING: Read = Read::Keys("measure", &["warm_up", "end", "bin"]);

impl Model {
    /// Those of messages that come one by one, which answer the same scenarios.
    pub const OF_MESSAGES: [Self; 2] = [Self::Published, Self::Refined];

    /// The one that answers where none is named, if it has all that the scenario holds: see [`Model::usual`].
    pub const DEFAULT: Self = Self::Refined;

    /// The one that answers a scenario where none is named: the first that has all of it, else the one made for it.
    pub fn usual(scenario: &Scenario) -> Self {
        let fits = |model: &Self| model.declaration().is_usual && model.supports(scenario).is_ok();
        Self::ALL.into_iter().find(fits).unwrap_or_else(|| Self::made_for(scenario))
    }

    /// The first that is made for such a system: of messages that come one by one, of frames, or of packet switches.
    pub fn made_for(scenario: &Scenario) -> Self {
        let is_made = |model: &Self| (model.declaration().made_for)(scenario);
        Self::ALL.into_iter().find(is_made).unwrap_or(Self::DEFAULT)
    }

    /// Its name: in files, in output and on the command line.
    pub const fn word(self) -> &'static str {
        self.declaration().word
    }

    /// Its name in legends of figures.
    pub const fn legend(self) -> &'static str {
        self.declaration().legend
    }

    /// What it is, in half a sentence.
    pub const fn described(self) -> &'static str {
        self.declaration().described
    }

    /// Whether it has no number for a quantity, whatever the scenario.
    pub fn lacks(self, quantity: Quantity) -> bool {
        (self.declaration().lacks)(quantity)
    }

    /// Whether it has distributions of latencies, not means alone.
    pub fn has_distributions(self) -> bool {
        !self.lacks(Quantity::P50)
    }

    /// Answers a scenario.
    ///
    /// # Errors
    /// When the scenario holds something that the model has not, or no fixed point is found. Saturation is no
    /// error.
    pub fn solve(self, scenario: &Scenario, options: &Options) -> Result<Answer, Failure> {
        let answer = (self.declaration().solve)(scenario, options)?;
        Ok(self.completed(scenario, options, answer))
    }

    /// Answers a scenario from a warm start, where that is the model's own and leads to the same answer, and hands
    /// out the next one. All but the published model set out afresh each time.
    ///
    /// # Errors
    /// As [`Model::solve`].
    pub fn solve_from(
        self,
        scenario: &Scenario,
        options: &Options,
        start: Option<&WarmStart>,
    ) -> Result<(Answer, WarmStart), Failure> {
        match self {
            Self::Published => {
                let start = start.and_then(|start| match start {
                    WarmStart::Published(start) => Some(start),
                    WarmStart::None(_) => None,
                });
                let (answer, next) = published::solve_from(scenario, options, start)?;
                Ok((self.completed(scenario, options, answer), WarmStart::Published(next)))
            }
            _ => Ok((self.solve(scenario, options)?, WarmStart::None(self))),
        }
    }

    /// Whether the model has all that the scenario holds.
    ///
    /// # Errors
    /// What it has not.
    pub fn supports(self, scenario: &Scenario) -> Result<(), Failure> {
        (self.declaration().supports)(scenario)
    }

    /// Refuses every key that is not among what the model reads.
    pub(crate) fn reads_all(self, scenario: &Scenario, reads: &[Read]) -> Result<(), Failure> {
        let refusal = |one: &Unread| Refusal { key: one.key.clone(), because: one.because() };
        let mut unread = scenario.unread(&[reads, &[OF_MEASURING]].concat());
        let is_of_switches = reads.iter().any(|read| matches!(read, Read::Keys("switch", _)));
        for system in ["switch", "network.topology"].into_iter().take(1 + usize::from(is_of_switches)) {
            // all else follows from there being no such systems in the model
            if unread.iter().any(|one| one.key == system) {
                unread.retain(|one| one.key == system);
            }
        }
        let refusals: Vec<Refusal> = unread.iter().map(refusal).collect();
        if refusals.is_empty() { Ok(()) } else { Err(Failure::Refused { model: self, refusals }) }
    }

    /// The answer with what every model says: the errors to expect, if they are asked for, and a note on steady states.
    fn completed(self, scenario: &Scenario, options: &Options, mut answer: Answer) -> Answer {
        if options.expected_errors {
            accuracy::judge(scenario, &mut answer);
        }
        answer.notes.extend(self.of_steady_state(scenario));
        answer
    }

    /// What to know of the answer of a model of steady states to a scenario that says what to measure of a run.
    fn of_steady_state(self, scenario: &Scenario) -> Option<String> {
        if self.declaration().is_of_runs {
            return None;
        }
        match scenario.terminating() {
            Some(run) => Some(format!(
                "[measure]: the answer is of the steady state, not of a run of {} cycles from an empty network",
                run.cycles
            )),
            None => scenario.warm_up_cycles().map(|_| {
                "[measure]: the answer is of the steady state, which no warm-up changes; simulations have one"
                    .to_owned()
            }),
        }
    }
}

/// Whether a scenario is of routers and of messages that come one by one, without lane arbiters.
pub(crate) fn is_of_messages(scenario: &Scenario) -> bool {
    scenario.switch().is_none() && !has_frames(scenario) && !has_lane_arbiters(scenario)
}

/// Whether a scenario is of routers with lane arbiters.
pub(crate) fn has_lane_arbiters(scenario: &Scenario) -> bool {
    scenario.switch().is_none() && scenario.router().scheduler == Scheduler::LaneArbiter
}

/// Whether classes of a scenario send frames.
pub(crate) fn has_frames(scenario: &Scenario) -> bool {
    scenario.classes().iter().any(|class| class.source.has_frames())
}

impl std::fmt::Display for Model {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.word())
    }
}

/// What to compute and when to stop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// When the fixed point counts as found.
    pub fixed_point: fixed_point::Options,
    /// Whether to compute distributions: deadlines and percentiles.
    pub distributions: bool,
    /// Whether to find the load at which a saturated class saturates.
    pub saturation_loads: bool,
    /// Whether to report channel by channel, the distributions and the residual of every step.
    pub details: bool,
    /// Whether to tell how far off the simulation the answer is to be expected, for which the load of saturation is
    /// searched.
    pub expected_errors: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            fixed_point: fixed_point::Options::default(),
            distributions: true,
            saturation_loads: true,
            details: false,
            expected_errors: false,
        }
    }
}

/// What a scenario holds that a model has not.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    /// Its key, such as `router.scheduler`.
    pub key: String,
    /// What the model has instead and what to do; it goes on from "the published model", such as `has no fifo
    /// scheduler`.
    pub because: String,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Failure {
    /// The scenario is sound but holds something that the model has not.
    Refused {
        /// Which model.
        model: Model,
        /// What it has not, at least one.
        refusals: Vec<Refusal>,
    },
    /// The iteration found no fixed point.
    NotConverged {
        /// Which model.
        model: Model,
        /// The account of the iteration.
        report: Report,
    },
}

impl Failure {
    /// Whose failure it is.
    pub fn model(&self) -> Model {
        match self {
            Self::Refused { model, .. } | Self::NotConverged { model, .. } => *model,
        }
    }

    /// In words, a line for each refusal, behind the place where its key stands.
    pub fn lines(&self, place: impl Fn(&str) -> String) -> Vec<String> {
        match self {
            Self::Refused { model, refusals } => {
                let line = |Refusal { key, because }: &Refusal| {
                    format!("{}{key}: the {model} model {because}", place(key))
                };
                refusals.iter().map(line).collect()
            }
            Self::NotConverged { model, report } => {
                vec![format!("the {model} model did not converge: {report}")]
            }
        }
    }

    /// Whether the scenario is outside the model, rather than the answer not found.
    pub fn is_refusal(&self) -> bool {
        matches!(self, Self::Refused { .. })
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.lines(|_| String::new()).join("; "))
    }
}

impl std::error::Error for Failure {}

/// A place from which the iteration of a similar scenario may set out: one model's answer to this one.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "there is one at a time, and most hold the large variant")]
pub enum WarmStart {
    /// Of the published model.
    Published(published::WarmStart),
    /// None, of a model that sets out afresh: an answer must not depend on the ones before it.
    None(Model),
}

impl WarmStart {
    /// Whose answer it is.
    pub fn model(&self) -> Model {
        match self {
            Self::Published(_) => Model::Published,
            Self::None(model) => *model,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flitwise_language::scenario::ScenarioSpec;

    fn table_1() -> Scenario {
        ScenarioSpec::default().check().unwrap()
    }

    #[test]
    fn words_are_those_of_files() {
        for model in Model::ALL {
            assert_eq!(serde_json::to_value(model).unwrap(), model.word());
            assert_eq!(model.to_string(), model.word());
        }
    }

    #[test]
    fn a_model_answers_in_its_own_name() {
        for model in Model::ALL {
            match model.solve(&table_1(), &Options::default()) {
                Ok(answer) => assert_eq!(answer.model, model),
                Err(failure) => assert_eq!(failure.model(), model),
            }
            assert_eq!(
                model.supports(&table_1()).err().map(|failure| failure.model()).unwrap_or(model),
                model
            );
        }
        let published = Model::Published.solve(&table_1(), &Options::default()).unwrap();
        let directly = published::solve(&table_1(), &Options::default()).unwrap();
        assert_eq!(serde_json::to_value(published).unwrap(), serde_json::to_value(directly).unwrap());
    }

    #[test]
    fn a_warm_start_is_of_one_model() {
        let (_, start) = Model::Published.solve_from(&table_1(), &Options::default(), None).unwrap();
        assert_eq!(start.model(), Model::Published);
        let cold = Model::Refined.solve_from(&table_1(), &Options::default(), None);
        let warm = Model::Refined.solve_from(&table_1(), &Options::default(), Some(&start));
        let words = |found: Result<(Answer, WarmStart), Failure>| match found {
            Ok((answer, next)) => (serde_json::to_value(answer).unwrap(), Some(next)),
            Err(failure) => (serde_json::Value::String(failure.to_string()), None),
        };
        assert_eq!(words(warm), words(cold), "another model's warm start is none");
    }

    #[test]
    fn failures_name_the_model() {
        let report =
            Report { status: fixed_point::Status::OutOfIterations, iterations: 7, ..Report::default() };
        for model in Model::ALL {
            let refusal =
                Refusal { key: "router.scheduler".to_owned(), because: "has no fifo scheduler".to_owned() };
            let refused = Failure::Refused { model, refusals: vec![refusal] };
            assert_eq!(
                refused.to_string(),
                format!("router.scheduler: the {model} model has no fifo scheduler")
            );
            let lost = Failure::NotConverged { model, report: report.clone() };
            assert!(
                lost.to_string()
                    .starts_with(&format!("the {model} model did not converge: not converged after 7"))
            );
        }
    }
}
