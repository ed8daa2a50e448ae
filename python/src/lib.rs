//! The extension module of the Python package: commands are called in this process, and what they print is passed on.
//!
//! Python holds what is Python's: names of options become options of the command, JSON becomes objects. Whatever the
//! command can be asked, Python can.

mod call;
mod table;

use flitwise::figures::published::PUBLISHED;
use flitwise::language::scenario::PRESETS;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Built-in scenarios: name, paper and what each is.
#[pyfunction]
fn presets() -> Vec<(&'static str, &'static str, &'static str)> {
    PRESETS.iter().map(|preset| (preset.name, preset.group, preset.about)).collect()
}

/// Built-in figures: number and title.
#[pyfunction]
fn figures() -> Vec<(&'static str, String)> {
    let title = |one: &flitwise::figures::published::Published| {
        one.figure().map_or_else(|_| String::new(), |figure| figure.title)
    };
    PUBLISHED.iter().map(|one| (one.number(), title(one))).collect()
}

/// A value of JSON as a file of TOML.
#[pyfunction]
fn to_toml(json: &str) -> PyResult<String> {
    let value: toml::Table = serde_json::from_str(json).map_err(unfit)?;
    toml::to_string(&value).map_err(unfit)
}

fn unfit(error: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}

#[pymodule(gil_used = false)]
mod _engine {
    #[pymodule_export]
    use super::call::call;
    #[pymodule_export]
    use super::table::Table;
    #[pymodule_export]
    use super::{figures, presets, to_toml};

    /// Version of flitwise.
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}
