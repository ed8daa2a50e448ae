//! What `flitwise simulate` promises to programs: documents, traces, reproducibility and good manners.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::process::{assert_close, assert_valid, command, fed, flitwise, json, piped, signal};
use serde_json::Value;

/// A file of this test alone.
fn scratch(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name)
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

/// Takes out what depends on the machine.
fn without_times(document: &mut Value) -> &Value {
    let run = document["run"].as_object_mut().unwrap();
    for key in ["threads", "flit_hops_per_second", "simulation_seconds", "wall_seconds"] {
        assert!(run.remove(key).is_some_and(|value| value.is_number()), "{key}");
    }
    document
}

#[test]
fn documents_have_the_fields_of_solve_each_with_its_interval_and_keep_to_their_schema() {
    for preset in ["router16", "cube5"] {
        let document = json(&["simulate", "--preset", preset, "--precision", "5%", "--format", "json"]);
        assert_valid(&document, "simulate");
        assert_valid(&document["scenario"], "scenario");
        assert_eq!(document["schema"], "flitwise.simulate/2");
        assert_eq!(document["flitwise_version"], env!("CARGO_PKG_VERSION"));
        assert_eq!(document["saturated"], false);

        let solved = json(&["solve", "--preset", preset, "--format", "json"]);
        let classes = document["classes"].as_array().unwrap();
        for (class, solved) in classes.iter().zip(solved["classes"].as_array().unwrap()) {
            assert_eq!((&class["name"], &class["kind"]), (&solved["name"], &solved["kind"]));
            for field in ["network_latency_cycles", "waiting_cycles", "total_latency_cycles"] {
                assert!(solved[field].is_number());
                let found = &class[field];
                let mean = found["mean"].as_f64().unwrap();
                let half_width = found["half_width_95"].as_f64().unwrap();
                assert!(0.0 < half_width && half_width < mean, "{field}: {found}");
                assert!(found["messages"].as_u64().unwrap() > 100, "{field}: {found}");
            }
            let deadlines = class["deadlines"].as_array().unwrap();
            for (found, solved) in deadlines.iter().zip(solved["deadlines"].as_array().unwrap()) {
                assert_eq!(found["deadline_cycles"], solved["deadline_cycles"]);
                assert_eq!(found["hops"], solved["hops"]);
                let miss = &found["miss_probability"];
                let [mean, lower, upper] =
                    ["mean", "lower_95", "upper_95"].map(|key| miss[key].as_f64().unwrap());
                assert!(lower < mean && mean < upper, "{miss}");
                let wider = (mean - lower).max(upper - mean);
                assert_close(&miss["half_width_95"], wider, 1e-12);
            }
            for percentile in keys(&solved["latency_percentiles_cycles"]) {
                assert!(class["latency_percentiles_cycles"].get(percentile).is_some(), "{percentile}");
            }
        }
        let run = &document["run"];
        for key in ["warmup_cycles", "replications", "simulated_cycles", "flit_hops", "messages", "seed"] {
            assert!(run[key].as_u64().unwrap() > 0, "{key}");
        }
        assert_eq!((&run["stopped_by"], &run["partial"]), (&"precision".into(), &false.into()));
    }
}

#[test]
fn the_same_seed_gives_the_same_bits_on_any_number_of_threads() {
    let run = |arguments: &[&str]| {
        let fixed = ["simulate", "--preset", "cube5", "--precision", "4%", "--format", "json"];
        json(&[&fixed[..], arguments].concat())
    };
    let mut documents = [run(&["--threads", "1"]), run(&["--threads", "2"]), run(&["--seed", "1"])];
    let [one, two, three] = documents.each_mut().map(without_times);
    assert_eq!(one, two);
    assert_eq!(one, three);
    let mut other = run(&["--seed", "2"]);
    assert_ne!(one["classes"], without_times(&mut other)["classes"]);
}

#[test]
fn every_row_of_a_trace_is_a_message_of_the_results() {
    let path = scratch("every-row.csv");
    fs::write(&path, "what was there before, which is longer than nothing").unwrap();
    let trace = ["--trace", path.to_str().unwrap()];
    let name = "class.R1.name=\"R 1 \\\"first\\\"\"";
    let arguments = ["simulate", "--preset", "cube5", "--precision", "5%", "--format", "json", "--set", name];
    let mut document = json(&[&arguments[..], &trace].concat());
    // being traced changes nothing
    assert_eq!(without_times(&mut document), without_times(&mut json(&arguments)));

    let mut reader = csv::Reader::from_path(&path).unwrap();
    let heads = "replication,class,source_node,destination_node,hops,generated_cycle,entered_cycle,\
                 delivered_cycle,waiting_cycles,network_latency_cycles,\
                 transfer_cycles,input_cycles,arbitration_cycles,output_cycles,gap_cycles";
    assert_eq!(reader.headers().unwrap().iter().collect::<Vec<_>>().join(","), heads);
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert_eq!(document["run"]["messages"], rows.len());
    let number = |row: &csv::StringRecord, column: usize| row[column].parse::<u64>().unwrap();
    for row in &rows {
        let hops = (number(row, 2) ^ number(row, 3)).count_ones();
        assert_eq!(u64::from(hops), number(row, 4), "{row:?}");
        assert_eq!(number(row, 6) - number(row, 5), number(row, 8), "{row:?}");
        assert_eq!(number(row, 7) - number(row, 6) + 1, number(row, 9), "{row:?}");
        assert_eq!(number(row, 10), 5 - 1 + 5 * u64::from(hops) + 32, "{row:?}");
        assert_eq!((10..15).map(|column| number(row, column)).sum::<u64>(), number(row, 9), "{row:?}");
    }
    for class in document["classes"].as_array().unwrap() {
        let columns = [
            ("waiting_cycles", 8),
            ("network_latency_cycles", 9),
            ("transfer_cycles", 10),
            ("input_cycles", 11),
            ("arbitration_cycles", 12),
            ("output_cycles", 13),
            ("gap_cycles", 14),
        ];
        for (field, column) in columns {
            let of_class = rows.iter().filter(|row| class["name"] == row[1]);
            let values: Vec<f64> = of_class.map(|row| number(row, column) as f64).collect();
            assert_eq!(class[field]["messages"], values.len());
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            assert_close(&class[field]["mean"], mean, 1e-9);
        }
    }
    fs::remove_file(path).unwrap();
}

/// Behind host buses a row has the parts from end to end, which add up.
#[test]
fn a_trace_has_what_interfaces_add() {
    let path = scratch("interfaces.csv");
    let mix = ["mix.real_time_shares=[0.5]", "mix.duration=1 frame", "mix.load=0.3", "interface.kind=qos"];
    let mut arguments =
        vec!["simulate", "--preset", "router-nic-quick", "--replications", "1", "--format", "json"];
    arguments.extend(mix.iter().flat_map(|setting| ["--set", setting]));
    arguments.extend(["--trace", path.to_str().unwrap()]);
    let document = json(&arguments);
    let mut reader = csv::Reader::from_path(&path).unwrap();
    let heads: Vec<String> = reader.headers().unwrap().iter().map(str::to_owned).collect();
    let place = |field: &str| heads.iter().position(|head| head == field).expect(field);
    let whole = place("end_to_end_latency_cycles");
    let parts = ["doorbell_cycles", "bus_cycles", "wire_cycles", "network_latency_cycles", "receive_cycles"]
        .map(place);
    let (mut sum, mut messages) = (0, 0);
    for row in reader.records().map(Result::unwrap) {
        let number = |column: usize| row[column].parse::<u64>().unwrap();
        assert_eq!(parts.into_iter().map(number).sum::<u64>(), number(whole), "{row:?}");
        if &row[1] == "video" {
            (sum, messages) = (sum + number(whole), messages + 1);
        }
    }
    assert!(
        messages > 100 && heads.last().is_some_and(|head| head == "preemptions_per_message"),
        "{heads:?}"
    );
    let video =
        document["classes"].as_array().unwrap().iter().find(|class| class["name"] == "video").unwrap();
    assert_close(&video["end_to_end_latency_cycles"]["mean"], sum as f64 / messages as f64, 1e-9);
    fs::remove_file(path).unwrap();
}

#[test]
fn a_command_that_is_refused_leaves_files_alone() {
    let (kept, new) = (scratch("kept.csv"), scratch("never-made.csv"));
    fs::write(&kept, "dear\n").unwrap();
    for path in [&kept, &new] {
        let output = flitwise(&["simulate", "--trace", path.to_str().unwrap(), "--precision", "0"]);
        assert_eq!(output.status.code(), Some(2));
    }
    assert_eq!(fs::read_to_string(&kept).unwrap(), "dear\n");
    assert!(!new.exists());

    let scenario = scratch("spared.toml");
    let text = flitwise(&["presets", "show", "router16"]).stdout;
    fs::write(&scenario, &text).unwrap();
    let path = scenario.to_str().unwrap();
    let output = flitwise(&["simulate", path, "--trace", path]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("found the scenario file"));
    assert_eq!(fs::read(&scenario).unwrap(), text);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_reported_and_a_failed_trace_does_not_cost_the_results() {
    let quick = ["simulate", "--precision", "10%"];
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = command(&quick).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot write the output"));

    let output = flitwise(&[&quick[..], &["--trace", "/dev/full", "--format", "json"]].concat());
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot write the trace /dev/full"));
    assert_valid(&serde_json::from_slice(&output.stdout).unwrap(), "simulate");
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_prints_what_it_has_and_ends_with_130() {
    for name in ["INT", "TERM"] {
        let path = scratch(&format!("interrupted-{name}.csv"));
        let _ = fs::remove_file(&path);
        let endless = ["simulate", "--precision", "0.01%", "--max-messages", "1e12", "--format", "json"];
        let child = piped(command(&endless).args(["--trace", path.to_str().unwrap()]));
        let rows = || fs::metadata(&path).map_or(0, |file| file.len());
        let started = Instant::now();
        while rows() < 100_000 && started.elapsed() < Duration::from_secs(60) {
            std::thread::sleep(Duration::from_millis(5));
        }
        signal(&child, &format!("-{name}"));
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130), "{name}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "error: interrupted: the results are partial\n");
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_valid(&document, "simulate");
        let run = &document["run"];
        assert_eq!((&run["partial"], &run["stopped_by"]), (&true.into(), &"interrupted".into()));
        let rows = csv::Reader::from_path(&path).unwrap().records().map(Result::unwrap).count();
        assert!(rows > 1_000);
        assert_eq!(run["messages"], rows);
        fs::remove_file(path).unwrap();
    }
}

/// Whatever is asked, no number that is none gets out: `null`, `-` or nothing stands for it.
#[test]
fn odd_scenarios_are_answered_without_a_number_that_is_none() {
    let only_best_effort = "[network]\ntopology = \"hypercube\"\ndimension = 1\n\n\
                            [[class]]\nname = \"BE\"\nkind = \"best-effort\"\nrate = 0.001\n";
    let cases: &[&[&str]] = &[
        &["--set", "class.*.rate=0"],
        &["--set", "class.*.rate=1e-12", "--max-messages", "2000"],
        &["--set", "class.R1.rate=0", "--set", "class.R2.rate=0"],
        &["-"],
        &["--set", "class.*.rate=1", "--max-messages", "20000", "--replications", "2"],
        &["--set", "class.BE.rate=0.03"],
        &["--replications", "1"],
        &["--replications", "1", "--max-messages", "1", "--warmup", "0"],
        &["--max-messages", "1"],
        &["--set", "network.ports=2", "--set", "class.*.message_flits=1", "--set", "router.buffer_flits=1"],
    ];
    for case in cases {
        for format in ["json", "csv", "table", "markdown"] {
            let words = [&["simulate", "--precision", "10%", "--format", format], *case].concat();
            let output = fed(&words, only_best_effort.as_bytes());
            let text = String::from_utf8(output.stdout).unwrap();
            assert_eq!(
                output.status.code(),
                Some(0),
                "{case:?}: {}",
                String::from_utf8_lossy(&output.stderr)
            );
            assert!(output.stderr.is_empty(), "{case:?}");
            let mut words = text.split(|c: char| !c.is_alphanumeric());
            assert!(!words.any(|word| ["NaN", "inf"].contains(&word)), "{case:?}: {text}");
            match format {
                "json" => assert_valid(&serde_json::from_str(&text).unwrap(), "simulate"),
                "table" => {
                    let wide = text.lines().find(|line| line.chars().count() > 100);
                    assert_eq!(wide, None, "{case:?}");
                }
                _ => {}
            }
        }
    }
}

/// An empty answer says that it is partial, and the command fails.
#[test]
fn nothing_measured_in_the_time_allowed_is_an_error() {
    let output = flitwise(&["simulate", "--preset", "cube6", "--max-time", "0.0001s", "--format", "json"]);
    assert_eq!(output.status.code(), Some(1));
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(
        message.starts_with(
            "error: nothing was measured: --max-time 0.0001s was over before the end of the warm-up"
        ),
        "{message}"
    );
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_valid(&document, "simulate");
    let run = &document["run"];
    let found = (&run["partial"], &run["stopped_by"], &run["messages"]);
    assert_eq!(found, (&true.into(), &"max-time".into(), &0.into()));
}

/// The table says for which class the precision holds and why it is better than the one asked for.
#[test]
fn a_run_that_went_on_says_why() {
    let output = flitwise(&["simulate", "--precision", "20%", "--max-messages", "1e5", "--quiet"]);
    let text = String::from_utf8(output.stdout).unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        text.contains("for the network latency of BE, wanted ±20 %; the backlog of R2 could not be"),
        "{text}"
    );
}

#[test]
fn tables_fit_100_columns() {
    for case in [
        &["--preset", "cube7", "--set", "class.R1.name=a_name_of_very_many_letters_that_must_not_burst_it"][..],
        &["--set", "class.BE.rate=1", "--max-messages", "50000"],
    ] {
        let output = flitwise(&[&["simulate", "--precision", "10%"][..], case].concat());
        assert!(output.status.success() && output.stderr.is_empty());
        for line in String::from_utf8(output.stdout).unwrap().lines() {
            assert!(line.chars().count() <= 100, "{line}");
        }
    }
}
