//! The built command, run from outside, and its documents.

#![allow(dead_code, reason = "every test uses some of it")]

use std::io::Write;
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;

pub(crate) fn flitwise(arguments: &[&str]) -> Output {
    // never the store of whoever runs the tests
    let store = concat!(env!("CARGO_TARGET_TMPDIR"), "/store");
    command(arguments).env("FLITWISE_STORE", store).output().unwrap()
}

/// The built command, not yet started.
pub(crate) fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_flitwise"));
    command.args(arguments);
    command
}

/// The command with `text` on its standard input.
pub(crate) fn fed(arguments: &[&str], text: &[u8]) -> Output {
    let mut child = piped(command(arguments).stdin(Stdio::piped()));
    // a child that does not read has closed it
    let _ = child.stdin.take().unwrap().write_all(text);
    child.wait_with_output().unwrap()
}

/// Starts a command whose output is read later.
pub(crate) fn piped(command: &mut Command) -> Child {
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Sends a signal such as `-INT` to a process.
pub(crate) fn signal(child: &Child, signal: &str) {
    let sent = Command::new("kill").args([signal, &child.id().to_string()]).status();
    assert!(sent.unwrap().success());
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
