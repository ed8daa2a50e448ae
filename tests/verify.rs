//! What `flitwise verify` promises to programs: documents, exit codes, the store.

#![allow(clippy::unwrap_used)]

mod command;

use std::fs;
use std::path::PathBuf;

use command::{assert_close, assert_valid, flitwise, json};

/// A file of this test alone.
fn scratch(name: &str, text: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, text).unwrap();
    path
}

/// A claim that holds, of which something is expected.
fn lone_message(expect: &str) -> String {
    format!(
        "[[claim]]\nname = \"lone\"\ntext = \"A lone message takes 36 cycles.\"\nsource = \"us\"\nkind = \"value\"\n\
         by = \"published\"\nscenario = {{ preset = \"router16\", set = {{ \"class.*.rate\" = 1e-9 }} }}\n\
         quantity = \"network-latency\"\nclass = \"R1\"\nvalue = 36\nplus_minus = 0.01\n{expect}\n"
    )
}

#[test]
fn a_verdict_that_has_changed_gives_exit_code_1() {
    let right = scratch("verify-right.toml", &lone_message("expect = \"held\""));
    let output = flitwise(&["verify", right.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));

    let wrong = lone_message("expect = \"not held\"\nreason = \"we were mistaken\"");
    let wrong = scratch("verify-wrong.toml", &wrong);
    let output = flitwise(&["verify", wrong.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(printed.contains("held       CHANGED"), "{printed}");
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(said, "error: 1 verdict has changed, 0 are undecided\n");
}

#[test]
fn documents_keep_to_their_schema() {
    let path = scratch("verify-json.toml", &lone_message("expect = \"held\""));
    let document = json(&["verify", path.to_str().unwrap(), "--no-store", "--format", "json"]);
    assert_valid(&document, "verify");
    assert_eq!(document["schema"], "flitwise.verify/1");
    assert_eq!(document["summary"]["held"], 1);
    let claim = &document["claims"][0];
    assert_eq!((&claim["name"], &claim["verdict"]), (&"lone".into(), &"held".into()));
    assert_eq!((&claim["kind"], &claim["to"]), (&"value".into(), &36.01.into()));
    assert_eq!(claim["findings"].as_array().unwrap().len(), 1);
    assert_close(&claim["findings"][0]["value"]["value"], 36.0, 0.01);
}

#[test]
fn what_was_simulated_is_kept() {
    let text =
        lone_message("expect = \"held\"").replace("\"published\"", "\"simulation\"").replace("1e-9", "1e-5");
    let text = text.replace("plus_minus = 0.01", "plus_minus = 0.5");
    let path = scratch("verify-store.toml", &text);
    let store = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("verify-store");
    let _ = fs::remove_dir_all(&store);
    let (path, store) = (path.to_str().unwrap(), store.to_str().unwrap());
    let run = || flitwise(&["verify", path, "--store", store, "--precision", "5%", "--format", "json"]);
    let (first, second) = (run(), run());
    assert_eq!(first.status.code(), Some(0), "{}", String::from_utf8_lossy(&first.stderr));
    assert_eq!(first.stdout, second.stdout);
    assert!(fs::read_dir(store).unwrap().count() > 0);
}
