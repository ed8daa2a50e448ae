//! `flitwise explain`: documents are valid, LaTeX compiles, what cannot be answered is explained all the same.

use std::fs;
use std::process::Command;

use crate::process::{assert_close, assert_valid, flitwise, json};
use serde_json::Value;

/// All steps of a document.
fn steps(document: &Value) -> impl Iterator<Item = &Value> {
    let sections = document["sections"].as_array().unwrap().iter();
    sections.flat_map(|section| section["parts"].as_array().unwrap()).filter(|part| part["kind"] == "step")
}

fn value_of(document: &Value, left: &str) -> Value {
    let mut instances = steps(document).flat_map(|step| step["instances"].as_array().unwrap());
    let found = instances.find(|instance| instance["of"]["text"] == left);
    found.unwrap_or_else(|| panic!("no {left}"))["value"].clone()
}

#[test]
fn documents_are_valid_and_agree_with_solve() {
    for preset in ["router16", "router16-on-off", "cube5"] {
        let document = json(&["explain", "--preset", preset, "--format", "json"]);
        assert_valid(&document, "explain");
        assert_eq!(document["schema"], "flitwise.explain/1");
        assert_eq!(document["outcome"], "answered");
        let solved = json(&["solve", "--preset", preset, "--model", "published", "--format", "json"]);
        for class in solved["classes"].as_array().unwrap() {
            let name = class["name"].as_str().unwrap();
            let latency = class["network_latency_cycles"].as_f64().unwrap();
            assert_close(&value_of(&document, &format!("L_{name}")), latency, 1e-12);
        }
    }
    let document = json(&["explain", "--model", "refined", "--format", "json"]);
    assert_valid(&document, "explain");
}

/// The parts of a message's way add up to the latency from end to end that `solve` prints.
#[test]
fn parts_add_up_to_the_latency_from_end_to_end() {
    for kind in ["interface.kind=qos", "interface.kind=traditional"] {
        let of = ["--preset", "router-nic-quick", "--set", "mix.load=0.5", "--set", kind, "--format", "json"];
        let explained = json(&[&["explain"], &of[..]].concat());
        assert_valid(&explained, "explain");
        let solved = json(&[&["solve"], &of[..]].concat());
        for class in solved["classes"].as_array().unwrap() {
            let name = class["name"].as_str().unwrap();
            let whole = class["end_to_end_latency_cycles"].as_f64().unwrap();
            let value = |part: &str| value_of(&explained, &format!("{part}_{name}"));
            assert_close(&value("E"), whole, 1e-12);
            let parts = ["doorbell", "bus", "wire", "L", "receive"].map(|part| value(part).as_f64().unwrap());
            assert!((parts.iter().sum::<f64>() - whole).abs() < 1e-9 * whole, "{name}: {parts:?}");
        }
    }
}

/// Equations (1) to (19) of a single router, (10) to (23) and the appendix of a hypercube.
#[test]
fn every_equation_of_the_paper_is_there() {
    let numbers = |preset: &str| {
        let document = json(&["explain", "--preset", preset, "--format", "json"]);
        let numbers: Vec<String> =
            steps(&document).map(|step| step["equation"].as_str().unwrap().to_owned()).collect();
        numbers.join(" ")
    };
    let (router, cube) = (numbers("router16"), numbers("cube6"));
    for number in [1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 18, 19] {
        assert!(router.contains(&format!("({number})")), "({number}) in {router}");
    }
    for number in
        ["(6)", "(7)", "(8)", "(10)", "(11)", "(12)", "(13)", "(14)", "(20)-(22)", "(23)", "A.1", "A.2"]
    {
        assert!(cube.contains(number), "{number} in {cube}");
    }
}

#[test]
fn what_is_not_answered_is_explained_with_an_exit_code() {
    for (arguments, code, says) in [
        (&["--set", "router.scheduler=fifo"][..], 2, "no fifo scheduler"),
        (&["--set", "class.R1.rate=0.03"], 0, "is saturated, so that it waits without end"),
        (&["--preset", "cube6", "--set", "class.R1.rate=0.5"], 0, "leaves no idle cycle"),
        (&["--preset", "router16-on-off"], 0, "no waiting time under ON/OFF sources"),
    ] {
        let output = flitwise(&[&["explain"], arguments].concat());
        assert_eq!(output.status.code(), Some(code));
        let words = String::from_utf8(output.stdout).unwrap();
        let words: Vec<&str> = words.split_whitespace().collect();
        assert!(words.join(" ").contains(says), "{says}");
    }
}

#[test]
fn diagrams_are_of_the_link_asked_for() {
    let drawn = |arguments: &[&str]| {
        let output = flitwise(&[&["explain"], arguments].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(drawn(&["--diagram", "svg"]).starts_with("<svg"));
    let dot = drawn(&["--diagram", "dot"]);
    assert!(dot.starts_with("digraph") && dot.matches("->").count() == 8, "{dot}");
    let channel = |channel: &str| drawn(&["--preset", "cube6", "--channel", channel, "--diagram", "dot"]);
    assert_ne!(channel("0"), channel("ejection"));
}

#[test]
fn unknown_formats_are_refused_with_those_there_are() {
    for (arguments, known) in [
        (["--format", "markdown"], "possible values: terminal, latex, html, json"),
        (["--diagram", "tikz"], "possible values: svg, dot"),
    ] {
        let output = flitwise(&[&["explain"], &arguments[..]].concat());
        assert_eq!(output.status.code(), Some(2));
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(error.contains(arguments[1]) && error.contains(known), "{error}");
    }
}

/// Bars are rules as long as their parts, and the chain is in the table of states.
#[test]
fn latex_needs_no_package_for_drawings() {
    let text = flitwise(&["explain", "--format", "latex"]).stdout;
    let text = String::from_utf8(text).unwrap();
    assert!(!text.contains("tikz"));
    assert!(text.contains(r"\textcolor[gray]{0.25}{\rule{"), "{text}");
    let width = |rule: &str| rule.split_once("cm}").and_then(|(width, _)| width.parse::<f64>().ok());
    let bars = text.lines().filter(|line| line.contains("{0.5cm}"));
    let bars = bars.map(|bar| bar.split(r"\rule{").skip(1).filter_map(width).sum::<f64>());
    let bars: Vec<f64> = bars.collect();
    assert_eq!(bars.len(), 3);
    assert!(bars.iter().all(|bar| (bar - 14.0).abs() < 0.01), "{bars:?}");
}

#[test]
fn latex_compiles() {
    if Command::new("pdflatex").arg("--version").output().is_err() {
        // a message beside a passed test: there is nothing to compile with
        let _ = std::io::Write::write_all(&mut std::io::stderr(), b"skipped: no pdflatex at hand\n");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for arguments in [
        &["--preset", "router16"][..],
        &["--preset", "cube5", "--class", "R2", "--from", "00000", "--to", "10110"],
        &["--preset", "router16-3rt", "--class", "R1"],
        &["--model", "refined"],
        &["--set", "router.scheduler=fifo"],
    ] {
        let text = flitwise(&[&["explain", "--format", "latex"], arguments].concat()).stdout;
        fs::write(folder.path().join("explained.tex"), text).unwrap();
        let mut tex = Command::new("pdflatex");
        tex.args(["-interaction=nonstopmode", "-halt-on-error", "explained.tex"]).current_dir(folder.path());
        let output = tex.output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stdout));
    }
}
