//! `flitwise presets`.

use flitwise_language::scenario::{PRESETS, Preset, ScenarioSpec};
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::{PresetAction, PresetFormat};
use crate::outcome::Exit;
use crate::{input, output};

pub(crate) fn run(action: Option<&PresetAction>) -> Result<(), Exit> {
    match action {
        None | Some(PresetAction::List) => {
            let width = PRESETS.iter().map(|preset| preset.name.len()).max().unwrap_or(0);
            let line = |preset: &Preset| format!("{:width$}  {}\n", preset.name, preset.about);
            output::write(PRESETS.iter().map(line).collect::<String>().as_bytes())
        }
        Some(PresetAction::Show { name, format: PresetFormat::Toml }) => {
            output::write(input::preset(name)?.text.as_bytes())
        }
        Some(PresetAction::Show { name, format: PresetFormat::Json }) => {
            output::write_json(&PresetDocument::of(input::preset(name)?))
        }
    }
}

/// The answer of `flitwise presets show --format json`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PresetDocument {
    /// `flitwise.preset/1`.
    schema: &'static str,
    /// Version of flitwise that made it.
    flitwise_version: &'static str,
    /// Its name.
    name: &'static str,
    /// What it is, in one line.
    about: &'static str,
    /// All of its values; `source` has the documents and ranges of those that have one.
    scenario: ScenarioSpec,
}

impl PresetDocument {
    fn of(preset: &Preset) -> Self {
        Self {
            schema: "flitwise.preset/1",
            flitwise_version: env!("CARGO_PKG_VERSION"),
            name: preset.name,
            about: preset.about,
            scenario: preset.scenario().spec().clone(),
        }
    }
}
