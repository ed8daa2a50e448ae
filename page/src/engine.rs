//! Requests and their answers.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use flitwise_experiment::{ReadFile, supports};
use flitwise_figures::draw::{Style, Theme};
use flitwise_language::document::edited;
use flitwise_language::scenario::{Document, Fault, PRESETS, Place, Preset, Scenario};
use flitwise_models::model::{Failure, Model};
use flitwise_validation::advice::other_ways;
use rayon::ThreadPool;
use serde::Serialize;

use crate::request::{Contents, NoAnswer, PresetLine, Request, StyleWords, Text};
use crate::simulation::Simulation;
use crate::{curve, form, pictures, tables, wording};

/// The time since a moment that is the same for all calls.
pub type Clock = Arc<dyn Fn() -> Duration + Send + Sync>;

/// The name of the text in faults.
pub(crate) const TEXT_NAME: &str = "scenario.toml";
/// The longest text of a scenario \[bytes\], as of the command.
const LONGEST_TEXT: usize = 1 << 20;

/// Files that a scenario names are not there.
pub(crate) const READ: &ReadFile<'static> =
    &|_| Err(io::Error::new(io::ErrorKind::Unsupported, "the page reads no files; the command does"));

/// What answers requests; it has at most one simulation under way.
pub struct Engine {
    clock: Clock,
    workers: Arc<ThreadPool>,
    simulation: Option<Simulation>,
}

impl Engine {
    /// With a clock, which decides when a slice of a simulation ends, and threads. In a browser the only worker is the
    /// calling thread.
    pub fn new(clock: Clock, workers: Arc<ThreadPool>) -> Self {
        Self { clock, workers, simulation: None }
    }

    /// Whether a simulation is under way.
    pub fn is_simulating(&self) -> bool {
        self.simulation.is_some()
    }

    /// The answer to a request, both as JSON. Whatever is asked, there is one.
    pub fn answer(&mut self, request: &str) -> String {
        let asked = serde_json::from_str::<Request>(request);
        let asked = asked.map_err(|error| NoAnswer::new(format!("found no request ({error}), wanted one")));
        let answer = asked.and_then(|asked| self.answer_to(asked));
        answer
            .or_else(|fault| written(&fault))
            .unwrap_or_else(|fault| format!("{{\"fault\":{:?}}}", fault.fault))
    }

    /// In a browser pictures and all other answers are modules of their own: what is absent in one is linked in the
    /// other.
    fn answer_to(&mut self, request: Request) -> Result<String, NoAnswer> {
        const DRAWS: bool = cfg!(feature = "pictures");
        const ANSWERS: bool = cfg!(feature = "answers");
        match request {
            Request::Figures { text } if DRAWS => written(&pictures::offered(&text)?),
            Request::Figure { figure, text, style } if DRAWS => {
                written(&pictures::figure(&figure, &text, drawn(style)?)?)
            }
            Request::Station { stations, over, style } if DRAWS => {
                written(&pictures::stations(&stations, over.as_ref(), drawn(style)?)?)
            }
            other if ANSWERS => self.other_answer(other),
            _ => Err(NoAnswer::new("found a request that this module has no answer to")),
        }
    }

    fn other_answer(&mut self, request: Request) -> Result<String, NoAnswer> {
        match request {
            Request::Figures { .. } | Request::Figure { .. } | Request::Station { .. } => {
                Err(NoAnswer::new("found a picture, wanted another request of this module"))
            }
            Request::Contents {} => written(&contents()),
            Request::Preset { name } => written(&Text { text: preset(&name)?.text.to_owned() }),
            Request::Scenario { text } => written(&form::form(&text)),
            Request::Set { text, key, value: typed } => {
                let place = Place::Setting(format!("--set {key}={typed}").into());
                let text = edited(&text, &key, &typed, &place).map_err(|faults| NoAnswer::of(&faults))?;
                written(&Text { text })
            }
            Request::Solve { text, model, expected_errors, style } => {
                written(&tables::solved(&document(&text)?, model, expected_errors, drawn(style)?)?)
            }
            Request::Distribution { text, model, style } => {
                written(&curve::distribution(&document(&text)?, model, drawn(style)?)?)
            }
            Request::Curve { text, over, couple, models, simulated, style } => {
                let grid = curve::grid(document(&text)?, &over, &couple)?;
                written(&curve::curve(&grid, &models, &simulated, drawn(style)?)?)
            }
            Request::Commands { text, preset, model, over, couple, run } => {
                let document = document(&text)?;
                scenario(&document)?;
                let over = over.as_deref().map(|over| (over, couple.as_slice()));
                written(&wording::commands(&document, preset.as_deref(), model, over, &run))
            }
            Request::SimulateStart { text, set, run } => {
                self.simulation = None;
                let mut document = document(&text)?;
                for one in &set {
                    let place = Place::Setting(format!("--set {}={}", one.key, one.value).into());
                    document.set(&one.key, &one.value, &place).map_err(|fault| NoAnswer::of(&[fault]))?;
                }
                let scenario = to_simulate(&document)?;
                let (clock, workers) = (Arc::clone(&self.clock), Arc::clone(&self.workers));
                let simulation = self.simulation.insert(Simulation::begin(scenario, &run, clock, workers)?);
                written(&simulation.state(false))
            }
            Request::SimulateStep { milliseconds } => {
                if !(0.0..=60_000.0).contains(&milliseconds) {
                    let fault = format!("milliseconds: found {milliseconds}, wanted 0 to 60000");
                    return Err(NoAnswer::new(fault));
                }
                let length = Duration::from_secs_f64(milliseconds / 1e3);
                self.simulate(|simulation| simulation.step(length))
            }
            Request::SimulateStop {} => self.simulate(Simulation::stop),
        }
    }

    /// Goes on with the simulation that is under way; one that has ended is gone.
    fn simulate(
        &mut self,
        work: impl FnOnce(&mut Simulation) -> Result<bool, Vec<Fault>>,
    ) -> Result<String, NoAnswer> {
        let Some(simulation) = &mut self.simulation else {
            return Err(NoAnswer::new("found no simulation under way, wanted simulate_start before"));
        };
        let answer = match work(simulation) {
            Ok(ended) => {
                let answer = written(&simulation.state(ended));
                if !ended {
                    return answer;
                }
                answer
            }
            Err(faults) => Err(NoAnswer::of(&faults)),
        };
        self.simulation = None;
        answer
    }
}

fn written(answer: &impl Serialize) -> Result<String, NoAnswer> {
    serde_json::to_string(answer).map_err(|error| NoAnswer::new(error.to_string()))
}

fn contents() -> Contents {
    let line = |preset: &Preset| PresetLine { name: preset.name, group: preset.group, about: preset.about };
    Contents { flitwise_version: env!("CARGO_PKG_VERSION"), presets: PRESETS.iter().map(line).collect() }
}

fn preset(name: &str) -> Result<&'static Preset, NoAnswer> {
    Preset::find(name).map_err(|near| {
        let help = near.map_or_else(String::new, |near| format!("\n  help: did you mean {near}?"));
        NoAnswer::new(format!("found no preset \"{name}\"{help}"))
    })
}

fn drawn(style: StyleWords) -> Result<Style, NoAnswer> {
    let theme = if style.dark { Theme::Dark } else { Theme::Light };
    let width = style.width.unwrap_or(Style::default().width);
    if !(200..=4_000).contains(&width) {
        return Err(NoAnswer::new(format!("style.width: found {width}, wanted 200 to 4000 pixels")));
    }
    Ok(Style { theme, width, ..Style::default() })
}

pub(crate) fn document(text: &str) -> Result<Document, NoAnswer> {
    if text.len() > LONGEST_TEXT {
        return Err(NoAnswer::new(format!("{TEXT_NAME}: found more than 1 MiB, wanted a scenario file")));
    }
    Document::parse(TEXT_NAME, text).map_err(|faults| NoAnswer::of(&faults))
}

pub(crate) fn scenario(document: &Document) -> Result<Scenario, NoAnswer> {
    document.scenario().map_err(|faults| NoAnswer::of(&faults))
}

/// The scenario, if it can be simulated.
pub(crate) fn to_simulate(document: &Document) -> Result<Scenario, NoAnswer> {
    let scenario = scenario(document)?;
    match supports(&scenario, READ) {
        Ok(()) => Ok(scenario),
        Err(faults) => {
            let placed = faults.into_iter().map(|fault| match fault.place {
                Place::Program => Fault { place: document.place_of(&fault.key).clone(), ..fault },
                _ => fault,
            });
            Err(NoAnswer::of(&placed.collect::<Vec<_>>()))
        }
    }
}

/// The model that is asked, or the usual one, if it has all of the scenario.
pub(crate) fn answering(
    document: &Document,
    scenario: &Scenario,
    model: Option<Model>,
) -> Result<Model, NoAnswer> {
    let model = model.unwrap_or_else(|| Model::usual(scenario));
    model.supports(scenario).map(|()| model).map_err(|failure| refused(document, &failure))
}

/// A model's failure as the command words it.
pub(crate) fn refused(document: &Document, failure: &Failure) -> NoAnswer {
    let lines = failure.lines(|key| document.place_of(key).to_string());
    let help = other_ways(document, failure, READ);
    NoAnswer::new(lines.join("\n") + &help.map_or_else(String::new, |help| format!("\n  help: {help}")))
}
