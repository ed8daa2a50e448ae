//! The built command, run from outside, and its documents.

#![allow(dead_code, reason = "every test uses some of it")]

use std::process::{Command, Output};

use serde_json::Value;

pub(crate) fn flitwise(arguments: &[&str]) -> Output {
    // never the store of whoever runs the tests
    let store = concat!(env!("CARGO_TARGET_TMPDIR"), "/store");
    let mut command = Command::new(env!("CARGO_BIN_EXE_flitwise"));
    command.args(arguments).env("FLITWISE_STORE", store).output().unwrap()
}

pub(crate) fn json(arguments: &[&str]) -> Value {
    let output = flitwise(arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.stderr.is_empty(), "messages beside an answer");
    serde_json::from_slice(&output.stdout).unwrap()
}

pub(crate) fn assert_close(found: &Value, expected: f64, tolerance: f64) {
    let found = found.as_f64().unwrap();
    assert!((found - expected).abs() <= tolerance, "{found} is not {expected}");
}

/// Every number of a document is finite, and every `null` stands where it may.
pub(crate) fn assert_valid(document: &Value, schema: &str) {
    let schema = json(&["schema", schema]);
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> =
        validator.iter_errors(document).map(|e| format!("{}: {e}", e.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:#?}");
}
