//! What `flitwise compare` promises to programs: its numbers are those of `solve` and `simulate`, its documents keep
//! to their schema, and what is in the store is not simulated again.

use std::collections::BTreeMap;
use std::process::Output;

use crate::process::{assert_close, assert_valid, flitwise, json};
use serde_json::Value;

const COARSE: [&str; 4] = ["--precision", "5%", "--max-messages", "20000"];

fn compare(arguments: &[&str]) -> Output {
    flitwise(&[&["compare"][..], &COARSE, arguments].concat())
}

#[test]
fn a_comparison_ends_when_its_time_is_over() {
    let line = "--preset cube6 --no-store --precision 0.01% --max-messages 1e9 --max-time 3s --format json";
    let arguments: Vec<&str> = ["compare"].into_iter().chain(line.split(' ')).collect();
    let begun = std::time::Instant::now();
    let output = flitwise(&arguments);
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_valid(&document, "compare");
    // a busy machine may not have come to the end of the warm-up
    let run = &document["points"][0]["run"];
    let nothing = run["messages"] == 0;
    assert_eq!(run["stopped_by"], "max-time");
    assert!(matches!(output.status.code(), Some(0 | 1)), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stderr).contains("nothing was measured"), nothing);
    assert!(begun.elapsed() < std::time::Duration::from_secs(60));
    let refused = flitwise(&["compare", "--max-time", "1e308s"]);
    assert_eq!(refused.status.code(), Some(2));
}

/// One model alone has the rows that it has beside the other; one that has no answer is refused, with its name.
#[test]
fn each_model_alone_is_what_it_is_beside_the_other() {
    let store = tempfile::tempdir().unwrap();
    let kept = ["--store", store.path().to_str().unwrap()];
    let both = document(&kept);
    assert_eq!(both["schema"], "flitwise.compare/3");
    for model in ["published", "refined"] {
        let arguments = [&kept[..], &["--model", model, "--format", "json"]].concat();
        let refused =
            both["points"][0]["failures"].as_array().unwrap().iter().any(|one| one["model"] == model);
        if refused {
            let output = compare(&arguments);
            assert_eq!(output.status.code(), Some(2));
            let message = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(message.contains(&format!("the {model} model")), "{message}");
            assert!(message.contains("flitwise simulate answers it"), "{message}");
            continue;
        }
        let alone = document(&[&kept[..], &["--model", model]].concat());
        let of_both = rows(&both["points"][0]).iter().filter(|row| row["model"] == model);
        let known = |row: &&Value| row["verdict"] != "no-model";
        assert!(rows(&alone["points"][0]).iter().filter(known).eq(of_both.filter(known)), "{model}");
    }
}

/// A file of numbers, and the depth of a pipeline that it tells.
#[test]
fn numbers_from_elsewhere_keep_to_their_schema_and_tell_a_depth() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/against.in/measured.csv");
    let fit = "router.pipeline_stages=1..12";
    let line = ["compare", "--against", file, "--model", "refined", "--fit", fit, "--format", "json"];
    let output = flitwise(&line);
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_valid(&document, "against");
    assert_eq!(document["fitted"][0]["value"], 6.0);
    assert_eq!(document["scenario"]["router"]["pipeline_stages"], 6);
    assert_eq!(document["numbers"].as_array().unwrap().len(), 10);
}

/// The document, whatever the verdict.
fn document(arguments: &[&str]) -> Value {
    let output = compare(&[arguments, &["--format", "json"]].concat());
    assert!(matches!(output.status.code(), Some(0 | 1)), "{}", String::from_utf8_lossy(&output.stderr));
    let document = serde_json::from_slice(&output.stdout).unwrap();
    assert_valid(&document, "compare");
    document
}

fn rows(point: &Value) -> &[Value] {
    point["rows"].as_array().unwrap()
}

/// The class of that name in a document of `solve` or `simulate`.
fn class<'d>(document: &'d Value, name: &Value) -> &'d Value {
    document["classes"].as_array().unwrap().iter().find(|class| class["name"] == *name).unwrap()
}

/// What a class of another document says of the row's quantity.
fn looked_up<'d>(class: &'d Value, row: &Value) -> &'d Value {
    match row["quantity"].as_str().unwrap() {
        "network-latency" => &class["network_latency_cycles"],
        "waiting" => &class["waiting_cycles"],
        "total-latency" => &class["total_latency_cycles"],
        "blocking" => &class["blocking_cycles"],
        "sharing" => &class["sharing_cycles"],
        "miss-probability" => {
            let is_it = |found: &&Value| {
                found["deadline_cycles"] == row["deadline_cycles"] && found["hops"] == row["hops"]
            };
            let deadlines = class["deadlines"].as_array().unwrap();
            &deadlines.iter().find(is_it).unwrap()["miss_probability"]
        }
        percentile if percentile.starts_with('p') => &class["latency_percentiles_cycles"][percentile],
        other => panic!("{other}"),
    }
}

#[test]
fn its_numbers_are_those_of_solve_and_simulate() {
    for asked in [
        &["--preset", "router16", "--seed", "7"][..],
        &["--preset", "cube5"],
        &["--preset", "cube5", "--set", "class.R2.deadlines=[{ hops = 2, deadlines = [60, 90] }]"],
        &["--set", "class.BE.rate=0.03"],
    ] {
        let compared = document(&[asked, &["--model", "published", "--no-store"]].concat());
        let model: Vec<&str> =
            asked.iter().copied().filter(|word| *word != "--seed" && *word != "7").collect();
        let published = ["--model", "published"];
        let solved = json(&[&["solve", "--format", "json"], &published[..], &model[..]].concat());
        let simulated = json(&[&["simulate", "--format", "json"], &COARSE[..], asked].concat());
        let point = &compared["points"][0];
        assert!(rows(point).len() > 20);
        for row in rows(point) {
            let of_model = looked_up(class(&solved, &row["class"]), row);
            assert_eq!(&row["model_value"].as_f64(), &of_model.as_f64(), "{row}");

            let found = looked_up(class(&simulated, &row["class"]), row);
            let of = |key: &str| found[key].as_f64().unwrap();
            if found.is_null() {
                assert!(row["simulated"].is_null(), "{row}");
                continue;
            }
            let here = &row["simulated"];
            let is_percentile = row["quantity"].as_str().unwrap().starts_with('p');
            assert_close(&here["value"], of(if is_percentile { "value" } else { "mean" }), 1e-12);
            if found.get("lower_95").is_some() {
                for end in ["lower_95", "upper_95"] {
                    assert_eq!(here[end].as_f64(), found[end].as_f64(), "{row}");
                }
            } else if found["half_width_95"].is_number() {
                assert_close(&here["lower_95"], of("mean") - of("half_width_95"), 1e-9);
                assert_close(&here["upper_95"], of("mean") + of("half_width_95"), 1e-9);
            }
            let difference = row["model_value"].as_f64().map(|model| model - here["value"].as_f64().unwrap());
            if let (Some(difference), true) = (difference, row["difference"].is_number()) {
                assert_close(&row["difference"], difference, 1e-9);
            }
        }
        for key in ["seed", "messages", "replications", "warmup_cycles", "simulated_cycles", "stopped_by"] {
            assert_eq!(point["run"][key], simulated["run"][key], "{key}");
        }
    }
}

#[test]
fn verdicts_add_up_and_decide_the_exit_code() {
    let quiet =
        ["--model", "published", "--no-store", "--set", "class.*.rate=1e-4", "--quantity", "network-latency"];
    let kept = compare(&quiet);
    assert_eq!((kept.status.code(), kept.stderr.as_slice()), (Some(0), &b""[..]));
    let broken = compare(&[&quiet[..], &["--tolerance", "0"]].concat());
    assert_eq!(broken.status.code(), Some(1));
    assert_eq!(String::from_utf8_lossy(&broken.stderr), "error: 1 difference beyond the tolerance of 0 %\n");

    let found = document(&["--no-store"]);
    let models = found["models"].as_array().unwrap();
    for model in models {
        let of = |verdict: &str| {
            let rows = rows(&found["points"][0]).iter();
            rows.filter(|row| row["model"] == model["model"] && row["verdict"] == verdict).count()
        };
        assert_eq!((&model["agree"], &model["close"]), (&of("agrees").into(), &of("close").into()));
        assert_eq!(model["beyond_tolerance"], of("off"), "nothing is saturated");
    }
    let answered = models.len() + found["points"][0]["failures"].as_array().unwrap().len();
    assert_eq!(answered, 2, "every model is compared, or says why not");
    let off = rows(&found["points"][0]).iter().filter(|row| row["verdict"] == "off").count();
    assert_eq!(found["beyond_tolerance"], off);
    for row in rows(&found["points"][0]) {
        let [model, lower, upper] =
            [&row["model_value"], &row["simulated"]["lower_95"], &row["simulated"]["upper_95"]]
                .map(Value::as_f64);
        let (Some(model), Some(lower), Some(upper)) = (model, lower, upper) else { continue };
        let percent = row["difference_percent"].as_f64().unwrap().abs();
        let verdict = match (lower <= model && model <= upper, percent <= 5.0) {
            (true, _) => "agrees",
            (false, true) => "close",
            (false, false) => "off",
        };
        assert_eq!(row["verdict"], verdict, "{row}");
    }
}

#[test]
fn along_an_axis_crossings_lie_between_the_points_and_the_csv_holds_the_same_rows() {
    let store = tempfile::tempdir().unwrap();
    let asked = [
        "--store",
        store.path().to_str().unwrap(),
        "--over",
        "class.R1.rate=0.0001:0.0091:4",
        "--couple",
        "class.R2.rate=class.R1.rate/2",
        "--model",
        "published",
        "--quantity",
        "network-latency",
        "--quantity",
        "waiting",
    ];
    let found = document(&asked);
    let points = found["points"].as_array().unwrap();
    assert_eq!(points.len(), 4);
    assert_eq!(points[3]["set"][1]["key"], "class.R2.rate");
    assert_eq!(points[3]["set"][1]["value"], "0.00455");
    let crossings = found["crossings"].as_array().unwrap();
    assert_eq!(crossings.len(), 6);
    for crossing in crossings {
        assert_eq!(crossing["key"], "class.R1.rate");
        for found in crossing["found"].as_array().unwrap() {
            let at = found["at"].as_f64().unwrap();
            assert!(at <= found["before"].as_f64().unwrap(), "{crossing}");
            assert!(found["after"].as_f64().is_none_or(|after| after <= at), "{crossing}");
        }
    }
    assert!(crossings.iter().any(|crossing| !crossing["found"].as_array().unwrap().is_empty()));

    let csv = compare(&[&asked[..], &["--format", "csv"]].concat());
    let mut csv = csv::Reader::from_reader(csv.stdout.as_slice());
    let csv: Vec<BTreeMap<String, String>> = csv.deserialize().map(Result::unwrap).collect();
    let rows = points.iter().flat_map(|point| rows(point).iter().map(move |row| (point, row)));
    assert_eq!(csv.len(), rows.clone().count());
    for (line, (point, row)) in csv.iter().zip(rows) {
        assert_eq!(
            (&point["set"][0]["value"], &row["class"]),
            (&line["class.R1.rate"].clone().into(), &line["class"].clone().into())
        );
        assert_eq!(line["quantity"], row["quantity"].as_str().unwrap());
        assert_eq!(line["model_value"].parse().ok(), row["model_value"].as_f64());
        assert_eq!(line["simulated"].parse().ok(), row["simulated"]["value"].as_f64());
        assert_eq!(line["verdict"].replace(' ', "-"), row["verdict"].as_str().unwrap());
    }
}

#[test]
fn what_is_in_the_store_is_printed_byte_for_byte() {
    let store = tempfile::tempdir().unwrap();
    let asked = ["--store", store.path().to_str().unwrap(), "--over", "class.BE.rate=0.001,0.02"];
    for format in ["json", "csv", "table", "markdown"] {
        let once = compare(&[&asked[..], &["--format", format]].concat());
        let again = compare(&[&asked[..], &["--format", format, "--threads", "1"]].concat());
        assert_eq!(once, again, "{format}");
        assert_eq!(once.status.code(), Some(1));
    }
}

/// Whatever is asked, no number that is none gets out.
#[test]
fn odd_questions_are_answered_without_a_number_that_is_none() {
    let cases: &[&[&str]] = &[
        &["--set", "class.*.rate=0"],
        &["--set", "class.*.rate=0.5"],
        &["--set", "class.R1.rate=0", "--set", "class.R2.rate=0"],
        &["--tolerance", "0", "--set", "class.*.rate=1e-12", "--max-messages", "10"],
        &["--over", "class.R1.rate=0.005"],
        &["--over", "class.R1.rate=0,1", "--over", "class.BE.rate=0,1"],
        &["--over", "class.R1.name=A,B"],
        &["--over", "router.scheduler=virtual-clock,fair-queueing", "--quantity", "p99"],
        &["--preset", "cube5", "--set", "network.dimension=1", "--set", "class.*.deadlines=[1]"],
    ];
    for case in cases {
        for format in ["json", "csv", "table", "markdown"] {
            let coarse = if case.contains(&"--max-messages") { &COARSE[..2] } else { &COARSE[..] };
            let output = flitwise(&[&["compare", "--no-store", "--format", format], coarse, case].concat());
            let text = String::from_utf8(output.stdout).unwrap();
            assert!(matches!(output.status.code(), Some(0 | 1)), "{case:?}: {:?}", output.status);
            let mut words = text.split(|c: char| !c.is_alphanumeric());
            assert!(!words.any(|word| ["NaN", "inf"].contains(&word)), "{case:?}: {text}");
            if format == "json" {
                assert_valid(&serde_json::from_str(&text).unwrap(), "compare");
            }
        }
    }
}

/// The points of a document without the times that they took.
fn without_times(mut document: Value) -> Value {
    for point in document["points"].as_array_mut().unwrap() {
        for key in ["simulation_seconds", "wall_seconds", "flit_hops_per_second", "threads"] {
            point["run"].as_object_mut().unwrap().remove(key).unwrap();
        }
    }
    document["points"].take()
}

/// Replications that another question left in the store are used, and that is said; `--fresh` leaves them out.
#[test]
fn numbers_do_not_hang_on_the_history_of_the_store_unless_they_say_so() {
    let folder = tempfile::tempdir().unwrap();
    let [empty, used] = ["empty", "used"].map(|name| folder.path().join(name).display().to_string());
    let run = |store: &str, precision: &str, more: &[&str]| {
        let small = ["--set", "network.ports=4", "--model", "published", "--precision", precision];
        let output = flitwise(&[&["compare", "--store", store], &small[..], more].concat());
        assert!(matches!(output.status.code(), Some(0 | 1)), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let points = |store: &str, more: &[&str]| {
        let text = run(store, "4%", &[more, &["--format", "json"]].concat());
        without_times(serde_json::from_str(&text).unwrap())
    };
    let alone = points(&empty, &[]);
    assert_eq!(alone[0]["run"]["more_than_asked"], false);
    run(&used, "4%", &[]);
    run(&used, "1%", &[]);

    let with_more = points(&used, &[]);
    assert_eq!(with_more[0]["run"]["more_than_asked"], true);
    let replications = |points: &Value| points[0]["run"]["replications"].as_u64().unwrap();
    assert!(replications(&with_more) > replications(&alone));
    assert_ne!(with_more[0]["rows"], alone[0]["rows"]);
    let said = run(&used, "4%", &[]);
    assert!(said.contains("--fresh") && said.contains(&format!("{} replications", replications(&with_more))));

    assert_eq!(points(&used, &["--fresh"]), alone);
    assert!(!run(&used, "4%", &["--fresh"]).contains("--fresh"));
    // and whatever is left there by that, the others' numbers stay
    assert_eq!(points(&used, &[]), with_more);
}
