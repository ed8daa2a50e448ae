//! The anchored model: documents, columns, what is kept, and what is refused.

use serde_json::Value;

use crate::process::{assert_valid, flitwise, json};

const AXIS: &str = "class.R1.rate=0.001:0.006:6";

/// A sweep with coarse anchors, with further arguments.
fn sweep<'a>(more: &[&'a str]) -> Vec<&'a str> {
    let asked =
        ["sweep", "--model", "anchored", "--precision", "10%", "--anchors", "3", "--quiet", "--over", AXIS];
    [&asked[..], more].concat()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn a_document_names_anchors_and_every_number_has_its_interval() {
    let document = json(&sweep(&["--no-store", "--format", "json"]));
    assert_valid(&document, "sweep");
    assert_eq!(document["model"], "anchored");
    let anchors = document["anchoring"]["anchors"].as_array().unwrap();
    assert_eq!(anchors.len(), 3);
    assert_eq!(anchors[0]["set"][0]["value"], "0.006", "the highest load comes first");
    assert!(
        anchors.iter().all(|one| one["from_store"] == false && one["messages"].as_u64().unwrap() > 1_000)
    );
    let points = document["points"].as_array().unwrap();
    let is_anchor = |point: &&Value| point["is_anchor"] == true;
    assert_eq!((points.len(), points.iter().filter(is_anchor).count()), (6, 3));
    for point in points {
        for (class, intervals) in
            point["classes"].as_array().unwrap().iter().zip(point["intervals_95"].as_array().unwrap())
        {
            assert_eq!(class["name"], intervals["name"]);
            for field in
                ["network_latency_cycles", "waiting_cycles", "total_latency_cycles", "sharing_cycles"]
            {
                let (value, interval) = (class[field].as_f64().unwrap(), &intervals[field]);
                let [lower, upper] = ["lower_95", "upper_95"].map(|end| interval[end].as_f64().unwrap());
                assert!(
                    lower <= value && value <= upper && lower < upper,
                    "{field}: {lower} {value} {upper}"
                );
            }
            let misses = class["deadlines"].as_array().unwrap().len();
            assert_eq!(intervals["deadlines"].as_array().unwrap().len(), misses);
        }
    }
}

/// At points that are no anchors the intervals hold what simulations of another seed say.
#[test]
fn intervals_hold_simulations_at_points_that_are_no_anchors() {
    let axis = "class.R1.rate=0.001:0.006:11";
    let asked = ["--model", "anchored", "--precision", "4%", "--anchors", "3", "--over", axis, "--no-store"];
    let document = json(&[&["sweep"], &asked[..], &["--quiet", "--format", "json"]].concat());
    let points = document["points"].as_array().unwrap();
    let others = points.iter().filter(|point| point["is_anchor"] == false).step_by(3);
    let (mut held, mut all) = (0, 0);
    for point in others {
        let set = format!("class.R1.rate={}", point["set"][0]["value"].as_str().unwrap());
        let simulate =
            ["simulate", "--seed", "2", "--precision", "2%", "--quiet", "--format", "json", "--set"];
        let simulated = json(&[&simulate[..], &[&set]].concat());
        for class in 0..3 {
            let of = |field: &str| {
                let own = &point["intervals_95"][class][field];
                let [lower, upper] = ["lower_95", "upper_95"].map(|end| own[end].as_f64().unwrap());
                let found = &simulated["classes"][class][field];
                let [mean, half] = ["mean", "half_width_95"].map(|key| found[key].as_f64().unwrap());
                // both are uncertain, independently
                let (middle, own) = (f64::midpoint(lower, upper), 0.5 * (upper - lower));
                (mean - middle).abs() <= own.hypot(half)
            };
            for field in ["network_latency_cycles", "waiting_cycles", "total_latency_cycles"] {
                held += u32::from(of(field));
                all += 1;
            }
        }
    }
    // 27 numbers, of which about 1 in 20 may lie outside
    assert!(all == 27 && held >= 24, "{held} of {all}");
}

/// Where simulating every point costs no more than anchors, that is done, and said.
#[test]
fn few_points_are_all_simulated() {
    let asked =
        ["sweep", "--model", "anchored", "--precision", "20%", "--no-store", "--format", "json", "--over"];
    let output = flitwise(&[&asked[..], &["class.R1.rate=0.002:0.006:5"]].concat());
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let points = document["points"].as_array().unwrap();
    assert!(points.len() == 5 && points.iter().all(|point| point["is_anchor"] == true));
    let notes = text(&output.stderr);
    assert!(notes.contains("all 5 points are simulated, to ±20 %"), "{notes}");
}

#[test]
fn rows_have_columns_for_every_interval() {
    let output = flitwise(&sweep(&["--no-store"]));
    let mut rows = csv::Reader::from_reader(output.stdout.as_slice());
    let heads: Vec<String> = rows.headers().unwrap().iter().map(str::to_owned).collect();
    for head in ["is_anchor", "beyond_anchors", "waiting_cycles_lower_95", "latency_p99_cycles_upper_95"] {
        assert!(heads.iter().any(|known| known == head), "{head} is not among {heads:?}");
    }
    assert!(heads.contains(&"miss_probability_at_47_cycles_upper_95".to_owned()));
    assert_eq!(rows.records().map(|row| assert_eq!(row.unwrap().len(), heads.len())).count(), 18);
    let notes = text(&output.stderr);
    assert!(notes.contains("3 anchors: class.R1.rate=0.006; class.R1.rate=0.001;"), "{notes}");
}

#[test]
fn anchors_come_from_the_store_once_they_are_there() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let store = folder.path().to_str().unwrap();
    let first = json(&sweep(&["--store", store, "--format", "json"]));
    let again = json(&sweep(&["--store", store, "--format", "json"]));
    let flags = |document: &Value| -> Vec<bool> {
        let anchors = document["anchoring"]["anchors"].as_array().unwrap();
        anchors.iter().map(|one| one["from_store"].as_bool().unwrap()).collect()
    };
    assert_eq!((flags(&first), flags(&again)), (vec![false; 3], vec![true; 3]));
    assert_eq!(first["points"], again["points"]);
    // one thread gives the same numbers
    let alone = json(&sweep(&["--no-store", "--threads", "1", "--format", "json"]));
    assert_eq!(first["points"], alone["points"]);
}

#[test]
fn plans_are_anchored_in_the_space_of_what_is_varied() {
    let coarse = ["--model", "anchored", "--precision", "20%", "--no-store", "--quiet", "--format", "json"];
    let plan = |asked: &[&str]| {
        let document = json(&[&["plan"][..], asked, &coarse[..]].concat());
        assert_valid(&document, "plan");
        assert_eq!(document["model"], "anchored");
        document
    };
    let load = plan(&["max-load", "--require", "BE: total <= 120", "--anchors", "3"]);
    let [lower, upper] = [0, 1].map(|end| load["factor_interval_95"][end].as_f64().unwrap());
    let factor = load["factor"].as_f64().unwrap();
    assert!(lower < factor && factor < upper, "{lower} {factor} {upper}");
    assert!((0.75..1.0).contains(&factor), "the scenario itself has 150 cycles: {factor}");
    let chosen = plan(&["choose", "--vary", "router.buffer_flits=8,32,128", "--minimise", "BE: network"]);
    assert_eq!(chosen["anchoring"]["anchors"].as_array().unwrap().len(), 3);
    assert!(chosen["value"].as_f64().unwrap() > 36.0);
}

#[test]
fn a_single_scenario_is_answered_by_its_simulation() {
    let asked = ["--precision", "10%", "--format", "json", "--quiet"];
    let document = json(&[&["solve", "--model", "anchored", "--no-store"], &asked[..]].concat());
    assert_valid(&document, "simulate");
    let simulated = json(&[&["simulate"], &asked[..]].concat());
    for (class, simulated) in [0, 1, 2].map(|at| (&document["classes"][at], &simulated["classes"][at])) {
        // all but the numbers by hops
        for field in
            ["name", "network_latency_cycles", "waiting_cycles", "deadlines", "latency_percentiles_cycles"]
        {
            assert_eq!(class[field], simulated[field], "{field}");
        }
    }
    let notes = document["notes"].as_array().unwrap();
    assert!(notes.iter().any(|note| note.as_str().unwrap().contains("is its own anchor")), "{notes:?}");
}

#[test]
fn sensitivities_are_those_of_simulated_scenarios_with_intervals() {
    let document = json(&[
        "sensitivity",
        "--model",
        "anchored",
        "--precision",
        "4%",
        "--no-store",
        "--quiet",
        "--parameter",
        "class.BE.rate",
        "--parameter",
        "router.buffer_flits",
        "--quantity",
        "network-latency",
        "--format",
        "json",
    ]);
    assert_valid(&document, "sensitivity");
    assert_eq!(document["model"], "anchored");
    let number = |value: &Value| value.as_f64().unwrap_or_else(|| panic!("{value}"));
    for output in document["outputs"].as_array().unwrap() {
        assert!(number(&output["value_half_width_95"]) < 0.05 * number(&output["value"]));
        for one in output["sensitivities"].as_array().unwrap() {
            let (elasticity, width) = (number(&one["elasticity"]), number(&one["elasticity_half_width_95"]));
            assert!(width > 1e-3 && width < 0.5, "{elasticity} ±{width}");
        }
    }
    // best effort waits for its own messages: more of them, longer
    assert!(number(&document["outputs"][2]["sensitivities"][0]["elasticity"]) > 0.2);
}

#[test]
fn a_figure_has_curves_with_intervals_and_anchors() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let figure = folder.path().join("small.toml");
    let lines = [
        "title = \"Latency\"",
        "kind = \"lines\"",
        "scenario = { preset = \"router16\" }",
        "[x]",
        "key = \"class.R1.rate\"",
        "label = \"load\"",
        "values = [0.001, 0.002, 0.003, 0.004, 0.005]",
        "[y]",
        "quantity = \"network-latency\"",
    ];
    let lines = lines.join("\n");
    std::fs::write(&figure, lines).unwrap();
    let out = folder.path().to_str().unwrap();
    let asked = [
        "--model",
        "anchored",
        "--anchors",
        "3",
        "--precision",
        "20%",
        "--no-store",
        "--quiet",
        "--out",
        out,
    ];
    let output = flitwise(&[&["figure", figure.to_str().unwrap()], &asked[..]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let document: Value =
        serde_json::from_slice(&std::fs::read(folder.path().join("small.json")).unwrap()).unwrap();
    assert_valid(&document, "figure");
    let series = document["series"].as_array().unwrap();
    assert_eq!(series.len(), 6, "a curve and its anchors for each of three classes");
    for one in series {
        let points = one["points"].as_array().unwrap();
        assert_eq!(points.len() == 3, one["origin"] == "simulation");
        assert!(points.iter().all(|point| point["lower_95"].as_f64() < point["upper_95"].as_f64()), "{one}");
    }
    assert_eq!(document["simulation"]["points"].as_array().unwrap().len(), 3);
    assert!(document["rebuild"].as_str().unwrap().contains("--model anchored --anchors 3"));
    assert!(document["notes"][0].as_str().unwrap().starts_with("3 anchors: class.R1.rate="));
}

#[test]
fn what_cannot_be_anchored_is_refused() {
    let refused = [
        (&["sweep", "--model", "anchored", "--over", "class.R1.rate=0.002"][..], "found one value only"),
        (
            &["sweep", "--model", "anchored", "--over", AXIS, "--anchors", "2"],
            "found too few for 1 axis, wanted 3",
        ),
        (&["sweep", "--model", "anchored", "--over", AXIS, "--anchors", "0"], "wanted 1 to 200 simulations"),
        (&["sweep", "--over", AXIS, "--anchors", "4"], "wanted --model anchored with it"),
        (&["sweep", "--over", AXIS, "--seed", "2"], "--seed: found a model that simulates nothing"),
        (&["sweep", "--model", "anchored", "--over", AXIS, "--precision", "0"], "--precision 0: found 0"),
        (
            &["sweep", "--model", "anchored", "--over", "router.scheduler=virtual-clock,fair-queueing"],
            "found values that are not all numbers of one unit",
        ),
        (
            &[
                "sweep",
                "--model",
                "anchored",
                "--over",
                "class.BE.rate=0.3,0.4",
                "--set",
                "class.R1.rate=0.3",
            ],
            "found no point at which a class sends and is steady",
        ),
        (
            &["sweep", "--model", "anchored", "--preset", "router16", "--over", "network.ports=100,200"],
            "to simulate",
        ),
        (&["solve", "--model", "anchored", "--details"], "answers a single scenario by its simulation"),
        (&["solve", "--precision", "2%"], "--precision: found a model that simulates nothing"),
        (&["sensitivity", "--model", "anchored", "--anchors", "4"], "too few for 11 parameters, wanted 23"),
        (
            &["sensitivity", "--model", "anchored", "--set", "class.*.rate=0.3"],
            "found no class that sends and is steady",
        ),
        (&["sensitivity", "--no-store"], "--no-store: found a model that simulates nothing"),
        (&["figure", "5", "--model", "anchored"], "figure 5: found no curves along an axis"),
        (&["figure", "4a", "--model", "anchored", "--anchors", "2"], "too few for 1 axis, wanted 3"),
        (&["figure", "4a", "--anchors", "4"], "wanted --model anchored with it"),
        (&["explain", "--model", "anchored"], "no equation leads to them"),
        (&["compare", "--model", "anchored"], "it has learnt from the simulation"),
        (&["verify", "--model", "anchored"], "claims are about models that answer without simulation"),
        (&["report", "--model", "anchored", "--out", "nowhere"], "help: flitwise figure --model anchored"),
        (&["plan", "max-load", "--model", "anchored"], "found margin, wanted a latency"),
        (&["plan", "max-load", "--anchors", "4"], "wanted --model anchored with it"),
    ];
    for (asked, wanted) in refused {
        let output =
            flitwise(&[asked, &["--quiet"][..]].concat()[..asked.len() + usize::from(asked[0] == "sweep")]);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{asked:?}: {said}");
        assert!(said.contains(wanted), "{asked:?}: {said}");
    }
    let axes =
        ["R1.rate=0.001,0.002", "R2.rate=0.001,0.002", "BE.rate=0.001,0.002", "R1.message_flits=16,32"];
    let axes = axes.map(|axis| format!("class.{axis}"));
    let mut asked = vec!["sweep", "--model", "anchored", "--over", "router.buffer_flits=32,64"];
    axes.iter().for_each(|axis| asked.extend(["--over", axis]));
    let said = text(&flitwise(&asked).stderr);
    assert!(said.contains("found 5 axes, wanted 4 at most"), "{said}");
}
