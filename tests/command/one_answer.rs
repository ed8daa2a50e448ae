//! Every command gives the same numbers for the same scenario: R1 at .008, R2 at .004, best effort next to saturation,
//! where the least difference between two ways of solving shows.

use crate::process::{flitwise, json};
use serde_json::Value;

const SCENARIO: [&str; 4] = ["--set", "class.R1.rate=0.008", "--set", "class.R2.rate=0.004"];

const QUANTITIES: [&str; 9] = [
    "network_latency_cycles",
    "waiting_cycles",
    "total_latency_cycles",
    "blocking_cycles",
    "input_cycles",
    "arbitration_cycles",
    "output_cycles",
    "gap_cycles",
    "source_load",
];

fn solved() -> Value {
    json(&[&["solve", "--format", "json"][..], &SCENARIO].concat())
}

fn assert_same(found: &Value, solved: &Value, what: &str) {
    for (found, solved) in found.as_array().unwrap().iter().zip(solved.as_array().unwrap()) {
        for quantity in QUANTITIES {
            assert!(solved[quantity].is_number(), "{quantity}");
            assert_eq!(found[quantity], solved[quantity], "{what}: {} {quantity}", solved["name"]);
        }
    }
}

#[test]
fn solve_and_sweep_with_and_without_distributions_agree() {
    let solved = solved();
    let over = "class.R1.rate=0.007,0.008,0.0075";
    for means_only in [&[][..], &["--means-only"]] {
        let asked = ["sweep", "--format", "json", "--set", "class.R2.rate=0.004", "--over", over];
        let sweep = json(&[&asked[..], means_only].concat());
        assert_same(&sweep["points"][1]["classes"], &solved["classes"], "sweep");
    }
}

#[test]
fn explain_shows_what_solve_says() {
    let solved = solved();
    let output = flitwise(&[&["explain", "--model", "refined"][..], &SCENARIO].concat());
    let page = String::from_utf8(output.stdout).unwrap();
    for class in solved["classes"].as_array().unwrap() {
        for quantity in ["network_latency_cycles", "total_latency_cycles"] {
            // explain shows six digits, whatever follows them cut off here
            let number = class[quantity].as_f64().unwrap();
            let number: String = number.to_string().chars().take(6).collect();
            assert!(page.contains(&number), "{} {quantity} {number}:\n{page}", class["name"]);
        }
    }
}

#[test]
fn sensitivity_starts_from_what_solve_says() {
    let solved = solved();
    let asked = ["sensitivity", "--parameter", "class.R1.rate", "--class", "BE", "--format", "json"];
    let document = json(&[&asked[..], &SCENARIO].concat());
    let mut compared = 0;
    for output in document["outputs"].as_array().unwrap() {
        let field = match output["quantity"].as_str().unwrap() {
            "network-latency" => "network_latency_cycles",
            "waiting" => "waiting_cycles",
            "total-latency" => "total_latency_cycles",
            _ => continue,
        };
        assert_eq!(output["value"], solved["classes"][2][field], "{field}");
        compared += 1;
    }
    assert!(compared > 0, "no quantity to compare");
}

#[test]
fn plan_judges_by_what_solve_says() {
    let asked = ["plan", "max-load", "--require", "BE: total <= 1000", "--format", "json"];
    let plan = json(&[&asked[..], &SCENARIO].concat());
    let rates = ["R1", "R2", "BE"].map(|class| format!("class.{class}.rate={}", plan["rates"][class]));
    let sets: Vec<&str> = rates.iter().flat_map(|rate| ["--set", rate]).collect();
    let solved = json(&[&["solve", "--format", "json"][..], &sets].concat());
    let (planned, total) = (&plan["requirements"][0]["value"], &solved["classes"][2]["total_latency_cycles"]);
    let (planned, total) = (planned.as_f64().unwrap(), total.as_f64().unwrap());
    assert!((planned / total - 1.0).abs() < 1e-9, "{planned} {total}");
}
