//! `flitwise presets`.

use flitwise_language::scenario::PRESETS;

use crate::args::PresetAction;
use crate::outcome::Exit;
use crate::{input, output};

pub(crate) fn run(action: Option<&PresetAction>) -> Result<(), Exit> {
    match action {
        None | Some(PresetAction::List) => {
            let width = PRESETS.iter().map(|preset| preset.name.len()).max().unwrap_or(0);
            let line = |preset: &flitwise_language::scenario::Preset| {
                format!("{:width$}  {}\n", preset.name, preset.about)
            };
            output::write(PRESETS.iter().map(line).collect::<String>().as_bytes())
        }
        Some(PresetAction::Show { name }) => output::write(input::preset(name)?.text.as_bytes()),
    }
}
