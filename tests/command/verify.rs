//! What `flitwise verify` promises to programs: documents, exit codes, the store.

use std::fs;
use std::path::PathBuf;

use crate::process::{assert_close, assert_valid, flitwise, json};

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

/// A set of a single scenario, quick to simulate.
const SET: &str = "seed = 7\nloads = [0.3, 0.6]\nprecision = 0.1\nmax_flit_hops = 1e7\n[[family]]\nname = \"cube\"\n\
                   count = 1\ntopology = \"hypercube\"\ndimension = [2, 2]\nbest_effort = 1\n";

#[test]
fn accuracy_is_told_point_by_point_and_kept() {
    let path = scratch("verify-accuracy.toml", SET);
    let store = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("verify-accuracy-store");
    let _ = fs::remove_dir_all(&store);
    let (path, store) = (path.to_str().unwrap(), store.to_str().unwrap());
    let options =
        ["--accuracy", "--set", path, "--store", store, "--model", "published", "--precision", "10%"];
    let arguments = [&["verify"], options.as_slice(), &["--format", "json"]].concat();
    let document = json(&arguments);
    assert_valid(&document, "accuracy");
    assert_eq!(document["schema"], "flitwise.accuracy/4");
    assert_eq!((&document["model"], &document["partial"]), (&"published".into(), &false.into()));
    let case = &document["cases"][0];
    assert_eq!(case["name"], "cube-01");
    assert_eq!(case["saturation"].as_array().unwrap().len(), 3);
    let points = case["points"].as_array().unwrap();
    let factors: Vec<f64> = points.iter().map(|point| point["factor"].as_f64().unwrap()).collect();
    assert!((factors[1] / factors[0] - 2.0).abs() < 1e-9, "{factors:?}");
    assert_close(&case["saturation_factor"], factors[0] / 0.3, 1e-9);
    let class = &points[0]["classes"][0];
    let hops = class["simulated"]["hops"].as_array().unwrap();
    assert_eq!(hops.len(), 2);
    // P - 1 + P h + M
    assert_eq!(
        (&hops[0]["misses"]["first_cycle"], &hops[1]["misses"]["first_cycle"]),
        (&41.into(), &46.into())
    );
    let misses =
        class["errors"].as_array().unwrap().iter().filter(|error| error["quantity"] == "miss-probability");
    assert_eq!(misses.filter(|error| error["error"].is_number()).count(), 2, "one per number of hops");
    // the point can be looked up: its scenario is one that simulate takes
    let scenario = scratch("verify-accuracy-case.toml", case["scenario"].as_str().unwrap());
    let solved = json(&["solve", scenario.to_str().unwrap(), "--format", "json"]);
    assert_eq!(solved["classes"].as_array().unwrap().len(), 3);

    let again = json(&arguments);
    assert_eq!(document, again, "all of it is from the store");
    let rows = flitwise(&[&["verify"], options.as_slice(), &["--format", "csv"]].concat());
    let rows = String::from_utf8(rows.stdout).unwrap();
    let command = format!("# flitwise verify --accuracy --set {path} --model published --format csv\n");
    assert!(rows.starts_with(&command), "{rows}");
    let head =
        "\ncase,load,factor,class,kind,region,network_latency_cycles,network-latency,waiting,total-latency,";
    assert!(rows.contains(head), "{rows}");
    let r1 = format!("cube-01,0.3,{},R1,real-time,cube,", factors[0]);
    assert_eq!(rows.lines().filter(|row| row.starts_with(&r1)).count(), 1, "{rows}");
    assert_eq!(
        rows.lines().filter(|row| row.starts_with("cube-01,")).count(),
        6,
        "three classes at two loads"
    );
}

#[test]
fn a_set_of_streams_may_be_a_file() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/verify.in/small-streams.toml");
    let options = ["verify", "--accuracy", "--set", path, "--no-store", "--precision", "20%"];
    let document = json(&[options.as_slice(), &["--format", "json"]].concat());
    assert_valid(&document, "accuracy");
    assert_eq!((&document["schema"], &document["set"]), (&"flitwise.accuracy/4".into(), &path.into()));
    assert_eq!(document["model"], "mediaworm");
    let points: Vec<_> = document["cases"].as_array().unwrap().iter().map(|case| &case["points"]).collect();
    assert_eq!(points.len(), 2);
    // two loads of each, and a scenario that other commands take
    for point in points.iter().flat_map(|points| points.as_array().unwrap()) {
        let scenario = scratch("verify-streams-case.toml", point["scenario"].as_str().unwrap());
        let solved = json(&["solve", scenario.to_str().unwrap(), "--format", "json"]);
        assert_eq!((&solved["model"], &solved["saturated"]), (&"mediaworm".into(), &false.into()));
    }
    let summary = document["summary"].as_array().unwrap();
    let row = |quantity: &str| {
        let is_it = |row: &&serde_json::Value| {
            row["family"] == "all routers" && row["kind"] == "real-time" && row["quantity"] == quantity
        };
        summary.iter().find(|row| is_it(row) && row["load"].is_null()).unwrap()
    };
    assert_eq!(
        (&row("network-latency")["count"], &row("network-latency")["target"]["worst"]),
        (&4.into(), &10.0.into())
    );
    assert!(row("waiting")["target"].is_null() && row("waiting")["met"].is_null());
    // the same rows as text, and as a table
    let rows = flitwise(&[options.as_slice(), &["--format", "csv"]].concat());
    let rows = String::from_utf8(rows.stdout).unwrap();
    assert_eq!(rows.lines().filter(|row| row.contains(",RT,real-time,streams-router,")).count(), 4, "{rows}");
    let table = String::from_utf8(flitwise(&options).stdout).unwrap();
    assert!(table.contains("Routers, real-time, all loads") && table.contains("cameras, BE"), "{table}");
    assert!(table.contains("model mediaworm: 2 scenarios, 4 points; set "), "{table}");
}
