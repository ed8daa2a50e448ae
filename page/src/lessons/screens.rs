//! What the page of a lesson adds to its text: a prediction to make first, and screens that move.
//!
//! ```toml
//! commands = ["flitwise simulate --set class.R1.rate=0.005"]    # asked beside those of the text, numbered after them
//!
//! [prediction]
//! ask = "How long is R2's network latency then?"
//! value = "network latency of R2, command 2"    # numbers of answers; + - * / from left to right
//! unit = "cycles"                               # of a number that is marked on a line
//! from = 30
//! to = 80
//!
//! # or words in place of unit, from and to, from the smallest value to the largest
//! choices = [{ text = "less than R1 loses", below = 0.95 }, { text = "as much", below = 1.05 }, { text = "more" }]
//!
//! [[screen]]
//! title = "Who sends less waits more"
//! about = "In Markdown: what to look at."
//! preset = "router16"                           # those of command 1 without it
//! set = ["class.R1.rate=0.005"]
//! knob = { key = "class.R2.vtick", label = "Vtick", unit = "cycles/flit", from = 6, to = 25, step = 0.5, at = 12.5 }
//! solve = true                                  # tables and bars of the usual model, or of the first of `models`
//! titles = ["Frames"]                           # of those tables; the first one without it
//! models = ["published", "refined"]             # for curves
//! over = "class.R1.rate=0.001:0.008:30"         # a curve
//! distribution = true
//! simulate = 0.02                               # may be simulated to this precision; along the curve if there is one
//! replications = 2                              # of a run that ends by itself
//! figure = "kind = \"chain\""                   # the file of a figure; without [scenario] and title
//! stations = { ask = "station", stations = [..] }    # in place of a scenario
//! sides = [{ label = "one queue", set = [..] }, { label = "RECN", set = [..] }]    # beside each other, one seed
//! says = [{ of = "waiting of BE", above = 100, text = "What that means." }]        # while it is so
//! ```

use flitwise_language::document::{Place, edited};
use flitwise_language::scenario::Preset;
use serde::{Deserialize, Serialize};

use super::numbers::Formula;

/// What a page adds to its lesson.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Screens {
    /// Commands that are asked beside those of the text.
    #[serde(default)]
    pub commands: Vec<String>,
    /// What to predict.
    pub prediction: Prediction,
    /// What moves.
    pub screen: Vec<Screen>,
}

/// A question whose answer is marked before it is seen.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prediction {
    /// The question.
    pub ask: String,
    /// The answer: a [`Formula`].
    pub value: String,
    /// Its unit.
    #[serde(default)]
    pub unit: String,
    /// Where the line of numbers begins.
    pub from: Option<f64>,
    /// Where it ends.
    pub to: Option<f64>,
    /// Answers in words, from the smallest value to the largest.
    #[serde(default)]
    pub choices: Vec<Choice>,
}

/// An answer in words.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    /// The answer.
    pub text: String,
    /// It is right for values from the choice before up to this; none: for all larger ones.
    pub below: Option<f64>,
}

/// A scenario with a knob, and what is shown of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Screen {
    /// What it shows.
    pub title: String,
    /// What to look at, in Markdown.
    pub about: String,
    /// The scenario; that of the first command without it.
    #[serde(default, skip_serializing)]
    pub preset: Option<String>,
    /// Values that are set.
    #[serde(default, skip_serializing)]
    pub set: Vec<String>,
    /// What can be moved.
    pub knob: Option<Knob>,
    /// Whether a model's answer is shown.
    #[serde(default)]
    pub solve: bool,
    /// Models of curves, the first one of answers; by default the usual one.
    #[serde(default)]
    pub models: Vec<String>,
    /// A curve, as `--over` takes it.
    pub over: Option<String>,
    /// As `--couple` takes them.
    #[serde(default)]
    pub couple: Vec<String>,
    /// Titles of the tables to show of an answer; the first one without them.
    #[serde(default)]
    pub titles: Vec<String>,
    /// Whether the whole distribution is shown.
    #[serde(default)]
    pub distribution: bool,
    /// To which precision it may be simulated; `None`: not at all.
    pub simulate: Option<f64>,
    /// Replications of runs that end by themselves.
    pub replications: Option<u32>,
    /// The file of a figure without its title and scenario.
    pub figure: Option<String>,
    /// Stations of textbooks in place of a scenario: a request of the engine. A knob sets a parameter of those that
    /// have it.
    pub stations: Option<serde_json::Value>,
    /// Scenarios beside each other.
    #[serde(default)]
    pub sides: Vec<Side>,
    /// Sentences for states.
    #[serde(default)]
    pub says: Vec<Saying>,
}

/// The key that a screen moves.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Knob {
    /// As `--set` takes it.
    pub key: String,
    /// What it is called.
    pub label: String,
    /// Its unit.
    #[serde(default)]
    pub unit: String,
    /// Where it begins.
    pub from: f64,
    /// Where it ends.
    pub to: f64,
    /// How far it moves at a time.
    pub step: f64,
    /// Where it stands at first.
    pub at: f64,
    /// How its number is written; `{}` stands for the number.
    #[serde(default = "bare")]
    pub written: String,
    /// What else is set with it; `{}` stands for its number, `{/2}` for half of it,
    /// `{72/}` for 72 divided by it.
    #[serde(default)]
    pub with: Vec<String>,
}

fn bare() -> String {
    "{}".to_owned()
}

/// One of several scenarios.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Side {
    /// What it is called.
    pub label: String,
    /// Values that are set.
    pub set: Vec<String>,
}

/// A sentence that is shown while a number of the answer is in a range.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Saying {
    /// The number, as a [`Reference`](super::Reference) without its command.
    pub of: String,
    /// Shown while it is at least this.
    pub above: Option<f64>,
    /// Shown while it is less than this.
    pub below: Option<f64>,
    /// The sentence.
    pub text: String,
}

impl Screens {
    /// Reads them.
    ///
    /// # Errors
    /// What is wrong with the text, with its line.
    pub fn read(text: &str) -> Result<Self, String> {
        toml::from_str(text).map_err(|error| error.to_string())
    }
}

impl Prediction {
    /// The answer.
    pub fn formula(&self) -> Option<Formula> {
        Formula::read(&self.value)
    }
}

/// The text of a preset with values set, comments left out.
pub(super) fn with_settings(preset: &str, settings: &[&str]) -> Result<String, String> {
    let preset = Preset::find(preset).map_err(|_| format!("found no preset {preset}"))?;
    let is_comment = |line: &&str| line.starts_with('#');
    let text = preset.text.lines().filter(|line| !is_comment(line)).collect::<Vec<_>>().join("\n");
    set(text.trim().to_owned() + "\n", settings)
}

/// A text with values set.
pub(super) fn set(text: String, settings: &[&str]) -> Result<String, String> {
    settings.iter().try_fold(text, |text, setting| {
        let (key, value) = setting.split_once('=').ok_or_else(|| format!("{setting}: wanted KEY=VALUE"))?;
        let said = |faults: Vec<_>| faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
        edited(&text, key, value, &Place::Setting((*setting).into())).map_err(said)
    })
}
