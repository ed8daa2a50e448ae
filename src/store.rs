//! `flitwise store`.

use flitwise_validation::store::{Store, StoreError};

use crate::args::{StoreAction, StoreCommand};
use crate::outcome::Exit;
use crate::output;

pub(crate) fn run(args: &StoreCommand) -> Result<(), Exit> {
    let directory = args.store.clone().or_else(Store::default_directory);
    let directory = directory.ok_or_else(|| {
        Exit::input("found no cache directory of the user, wanted --store DIR or the variable FLITWISE_STORE")
    })?;
    if !directory.exists() {
        return output::write(format!("{}: nothing has been kept yet\n", directory.display()).as_bytes());
    }
    let failed = |error: StoreError| Exit::input(format!("the store cannot be read: {error}"));
    let store = Store::open(&directory).map_err(failed)?;
    match args.action.as_ref().unwrap_or(&StoreAction::Show) {
        StoreAction::Show => {
            let survey = store.survey().map_err(failed)?;
            let text = format!(
                "{}\n{} scenarios, {} records, {}; {} files in quarantine\n",
                store.directory().display(),
                survey.keys,
                survey.records,
                bytes(survey.bytes),
                survey.quarantined
            );
            output::write(text.as_bytes())
        }
        StoreAction::Check => {
            let check = store.check().map_err(failed)?;
            let size = bytes(check.bytes);
            let mut text = match check.notices.len() {
                0 => format!("sound: {} records, {size}\n", check.records),
                1 => format!("1 file is broken; {} records, {size}, are sound\n", check.records),
                broken => {
                    format!("{broken} files are broken; {} records, {size}, are sound\n", check.records)
                }
            };
            for notice in &check.notices {
                text.push_str(&format!("{notice}\n"));
            }
            output::write(text.as_bytes())?;
            match check.notices.len() {
                0 => Ok(()),
                broken => Err(Exit::Differs(format!("{broken} files of the store are not believed"))),
            }
        }
    }
}

/// A number of bytes in short.
fn bytes(number: u64) -> String {
    match number {
        0..10_000 => format!("{number} bytes"),
        10_000..10_000_000 => format!("{:.1} kB", number as f64 / 1e3),
        _ => format!("{:.1} MB", number as f64 / 1e6),
    }
}
