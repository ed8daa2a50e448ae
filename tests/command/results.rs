//! What programs read: JSON and CSV as documented, by the schemas that the command prints.

use crate::process::{assert_close, assert_valid, command, fed, flitwise, json, piped};
use serde_json::Value;

#[test]
fn the_16_port_router_has_the_numbers_of_the_second_implementation() {
    let answer = json(&["solve", "--preset", "router16", "--model", "published", "--format", "json"]);
    assert_eq!(answer["schema"], "flitwise.solve/3");
    assert_eq!(answer["model"], "published");
    assert_eq!(answer["report"]["status"], "converged");
    assert_eq!(answer["saturated"], false);
    let r1 = &answer["classes"][0];
    assert_eq!((&r1["name"], &r1["kind"]), (&"R1".into(), &"real-time".into()));
    assert_close(&r1["network_latency_cycles"], 39.383_974_843_636_48, 1e-9);
    assert_close(&r1["waiting_cycles"], 5.957_739_412_903_321, 1e-9);
    assert_close(&r1["total_latency_cycles"], 45.341_714_256_539_8, 1e-9);
    assert_eq!(r1["deadlines"][0]["deadline_cycles"], 42);
    assert_eq!(r1["deadlines"][0]["hops"], Value::Null);
    assert_close(&r1["deadlines"][0]["miss_probability"], 0.123_079_801_014_96, 1e-9);
    let parts = ["transfer_cycles", "blocking_cycles", "sharing_cycles"];
    let sum: f64 = parts.iter().map(|part| r1[part].as_f64().unwrap()).sum();
    assert_close(&r1["network_latency_cycles"], sum, 1e-9);
    assert_eq!(r1["latency_percentiles_cycles"]["p99.9"], 124);
    assert_close(&answer["classes"][1]["deadlines"][1]["miss_probability"], 0.269_161_656_291_30, 1e-9);
    assert_close(&answer["classes"][2]["network_latency_cycles"], 70.308_802_625_024_8, 1e-9);
}

/// Commands that print JSON, their words parted by bars; `SMALL` is a router that is simulated in next to no time.
const COMMANDS: &str = "\
solve
solve|--preset|cube5|--model|published|--details
solve|--preset|cube6-on-off
solve|--preset|cube6|--details
solve|--preset|cube5|--set|class.R1.rate=0.05|--set|class.BE.deadlines=[60]
solve|--set|class.*.rate=0.05
solve|--set|class.R1.rate=0.05
solve|--set|class.*.rate=0
solve|--set|class.R2.rate=0
solve|--preset|mesh4x4
solve|--preset|mesh4x4|--set|router.scheduler=fifo
solve|--preset|recn64-quick
solve|--preset|recn64-quick|--set|switch.organisation=one-queue
solve|--distribution
solve|--distribution|--preset|cube5|--model|published
solve|--distribution|--set|class.*.rate=0
solve|--preset|mesh4x4|--bisection|3
presets|show|ndr-2048
solve|--distribution|--set|class.R1.rate=0.05
sweep|--over|class.R1.rate=0.001:0.03:4|--model|published
sensitivity|--model|published
sensitivity|--model|published|--set|class.BE.rate=0.03
sensitivity|--model|published|--preset|cube5|--parameter|class.*.rate
sensitivity|--parameter|router.buffer_flits|--class|R1
sensitivity|--parameter|class.R1.rate|--output-quantity|router-load
simulate|SMALL
simulate|--preset|recn64-quick|--set|measure.end=160 us|--replications|2
simulate|--details|SMALL|--set|class.*.destination={ hot = 1, share = 0.2 }
compare|SMALL|--no-store
compare|SMALL|--no-store|--fresh|--over|class.BE.rate=0.001,0.1
plan|max-load|SMALL|--no-store|--confirm|--require|*: margin >= 0.2|--model|published
plan|choose|SMALL|--no-store|--confirm|--vary|router.buffer_flits=8,32|--minimise|BE: total|--model|published
plan|region|--axes|class.R1.rate,class.BE.rate|--points|8|--model|published
plan|max-load|--require|*: router-load <= 0.5|--model|published
compare|--against|MEASURED|--fit|router.pipeline_stages=4..7
verify|CLAIMS|--no-store
verify|--accuracy|--set|SET|--no-store|--precision|20%|--model|published
verify|--accuracy|--set|streams|--only|multiplexed-01|--no-store|--precision|20%|--max-messages|20000
verify|--accuracy|--set|STREAMS|--no-store|--precision|20%
verify|--accuracy|--set|anchored|--only|short-01|--no-store|--max-messages|20000
explain|--model|published
explain|--preset|cube5
station|md1|--rate|0.01|--mean|32";
const SMALL: &str = "--set|network.ports=4|--set|class.R1.rate=0.001|--set|class.R2.rate=0.0005|\
                     --precision|20%|--max-messages|2000";
const CLAIM: &str = r#"
[[claim]]
name = "lone"
text = "A lone message takes 36 cycles."
source = "us"
kind = "value"
by = "simulation"
scenario = { preset = "router16", set = { "class.*.rate" = 1e-5 } }
quantity = "network-latency"
class = "R1"
value = 36
plus_minus = 1
expect = "held"
"#;

/// Documents of every command that prints or writes JSON, by the command.
fn documents(folder: &std::path::Path) -> Vec<(String, Value)> {
    let golden = |name: &str| format!("{}/tests/golden/{name}", env!("CARGO_MANIFEST_DIR"));
    let claims = folder.join("claims.toml");
    std::fs::write(&claims, CLAIM).unwrap();
    let (claims, set) = (claims.to_str().unwrap(), golden("verify.in/small-set.toml"));
    let (streams, measured) = (golden("verify.in/small-streams.toml"), golden("against.in/measured.csv"));
    let print = |command: &str| {
        let command = command
            .replace("SMALL", SMALL)
            .replace("CLAIMS", claims)
            .replace("SET", &set)
            .replace("STREAMS", &streams)
            .replace("MEASURED", &measured);
        let words: Vec<&str> = command.split('|').chain(["--format", "json"]).collect();
        let output = flitwise(&words);
        // a comparison may differ
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(matches!(output.status.code(), Some(0 | 1)), "{command}: {said}");
        let document = serde_json::from_slice(&output.stdout);
        (command.clone(), document.unwrap_or_else(|error| panic!("{command}: {error}")))
    };
    let mut documents: Vec<(String, Value)> = COMMANDS.lines().map(print).collect();
    for name in ["lines", "stacked", "distribution", "chain"] {
        let figure = golden(&format!("figures/{name}.toml"));
        let out = ["figure", &figure, "--out", folder.to_str().unwrap(), "--no-store"];
        let coarse = ["--precision", "20%", "--max-messages", "2000"];
        assert!(flitwise(&[&out[..], &coarse].concat()).status.success());
        let text = std::fs::read(folder.join(format!("{name}.json"))).unwrap();
        documents.push((format!("figure {name}"), serde_json::from_slice(&text).unwrap()));
    }
    documents.extend(of_campaign(folder));
    documents
}

/// Documents of a small campaign.
fn of_campaign(folder: &std::path::Path) -> [(String, Value); 3] {
    let (file, shared) = (folder.join("mine.toml"), folder.join("shared"));
    let text = "precision = \"20%\"\nmax-messages = \"2000\"\n[[study]]\nname = \"load\"\npreset = \"router16\"\n\
                over = [\"class.R1.rate=0.002,0.1\"]\n";
    std::fs::write(&file, text).unwrap();
    let (file, at) = (file.to_str().unwrap(), shared.to_str().unwrap());
    assert!(flitwise(&["campaign", "run", file, "--folder", at, "--quiet"]).status.success());
    let study = std::fs::read(shared.join("out/studies/load.json")).unwrap();
    [
        ("campaign plan".to_owned(), json(&["campaign", "plan", file, "--format", "json"])),
        ("campaign status".to_owned(), json(&["campaign", "status", at, "--format", "json"])),
        ("campaign run".to_owned(), serde_json::from_slice(&study).unwrap()),
    ]
}

/// What `flitwise schema` prints schemas of.
fn schemas() -> Vec<String> {
    let help = String::from_utf8(flitwise(&["schema", "--help"]).stdout).unwrap();
    let names = help.lines().filter_map(|line| line.trim().strip_prefix("- ")?.split(':').next());
    let names: Vec<String> = names.map(str::to_owned).collect();
    assert!(names.len() >= 16, "{help}");
    names
}

/// `flitwise.NAME/N` keeps to what `flitwise schema NAME` prints, and there is no schema without a document.
#[test]
fn every_document_keeps_to_the_schema_of_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let mut seen: Vec<String> = vec!["scenario".to_owned()];
    for (command, document) in documents(folder.path()) {
        let named = document["schema"].as_str().unwrap_or_else(|| panic!("{command}: no schema named"));
        let name = named.strip_prefix("flitwise.").and_then(|rest| rest.split('/').next()).unwrap();
        let schema = json(&["schema", name]);
        let told = schema["properties"]["schema"]["description"].as_str();
        if let Some(told) = told {
            assert_eq!(told, format!("`{named}`."), "{command}");
        }
        assert_valid(&document, name);
        if name == "solve" && !command.contains("--distribution") {
            assert_valid(&document["scenario"], "scenario");
        }
        seen.push(name.to_owned());
    }
    for name in schemas() {
        assert!(seen.contains(&name), "no document of {name} was looked at");
    }
}

/// Every field of an answer is an attribute in the Python package, whose classes are made from the schemas.
#[test]
fn the_python_package_knows_every_field() {
    let classes = std::fs::read_to_string("python/flitwise/documents.py").unwrap();
    let mut seen = 0;
    for name in schemas().iter().filter(|name| *name != "scenario") {
        let schema = json(&["schema", name]);
        let within = schema["$defs"].as_object().into_iter().flat_map(|all| all.values());
        let fields = [&schema].into_iter().chain(within).filter_map(|one| one["properties"].as_object());
        for field in fields.flat_map(|fields| fields.keys()) {
            let attribute = field.replace(|letter: char| !letter.is_alphanumeric() && letter != '_', "_");
            let is_word = ["class", "from", "in", "is", "global"].contains(&attribute.as_str());
            let line = format!("\n    {attribute}{}: ", if is_word { "_" } else { "" });
            assert!(classes.contains(&line), "{name}: {field}; python tools/documents.py --write");
            seen += 1;
        }
    }
    assert!(seen > 500, "{seen}");
}

/// Each line of `sweep --format jsonl` is a point of its document.
#[test]
fn lines_of_a_sweep_are_points_of_its_document() {
    let output = flitwise(&["sweep", "--over", "class.R1.rate=0.001:0.03:4", "--format", "jsonl"]);
    let mut schema = json(&["schema", "sweep"]);
    let point = schema["properties"]["points"]["items"].take();
    let whole = schema.as_object_mut().unwrap();
    for key in ["properties", "required"] {
        whole.remove(key);
    }
    whole.extend(point.as_object().unwrap().clone());
    let validator = jsonschema::validator_for(&schema).unwrap();
    let lines = String::from_utf8(output.stdout).unwrap();
    assert_eq!(lines.lines().count(), 4);
    for line in lines.lines() {
        let point: Value = serde_json::from_str(line).unwrap();
        assert!(validator.is_valid(&point), "{line}");
        assert!(!validator.is_valid(&Value::Null) && point["classes"].is_array());
    }
}

#[test]
fn what_is_null_has_a_reason() {
    let answer = json(&["solve", "--set", "class.R1.rate=0.05", "--format", "json"]);
    assert_eq!(answer["saturated"], true);
    for class in answer["classes"].as_array().unwrap() {
        if class["saturated"] == true {
            assert_eq!(class["waiting_cycles"], Value::Null);
            assert!(class["reasons"]["waiting_cycles"].as_str().unwrap().starts_with("saturated"));
            let factor = class["saturation"]["at_load_factor"].as_f64().unwrap();
            assert!(factor > 0.0 && factor < 1.0);
        }
    }
}

#[test]
fn a_sweep_has_the_rows_of_single_solves_in_order_on_any_number_of_threads() {
    let sweep = |threads: &str| {
        let axis = ["--over", "class.R1.rate=0.0005:0.013:70", "--couple", "class.R2.rate=class.R1.rate/2"];
        let output = flitwise(&[&["sweep", "--threads", threads][..], &axis].concat());
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap()
    };
    let table = sweep("1");
    assert_eq!(table, sweep("3"));
    let mut rows = csv::Reader::from_reader(table.as_bytes());
    let heads = rows.headers().unwrap().clone();
    let column = |name: &str| heads.iter().position(|head| head == name).unwrap();
    let (latency, miss) = (column("network_latency_cycles"), column("miss_probability_at_42_cycles"));
    let (model, name) = (column("model"), column("class"));
    let rows: Vec<csv::StringRecord> = rows.records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 70 * 3);
    for row in rows.iter().step_by(51) {
        let set = |key: &str, value: &str| format!("{key}={value}");
        let (r1, r2) = (set("class.R1.rate", &row[0]), set("class.R2.rate", &row[1]));
        let answer = json(&["solve", "--set", &r1, "--set", &r2, "--format", "json"]);
        let classes = answer["classes"].as_array().unwrap();
        let class = classes.iter().find(|class| class["name"] == row[name]).unwrap();
        assert_eq!(answer["model"], row[model]);
        assert_close(&class["network_latency_cycles"], row[latency].parse().unwrap(), 1e-9);
        if !row[miss].is_empty() {
            assert_close(&class["deadlines"][0]["miss_probability"], row[miss].parse().unwrap(), 1e-9);
        }
    }
}

/// Presets that the simulator has and no model.
const ONLY_SIMULATED: [&str; 1] = ["recn-san"];

#[test]
fn every_preset_shown_is_a_file_that_solves_alike() {
    let list = String::from_utf8(flitwise(&["presets"]).stdout).unwrap();
    assert!(list.lines().count() >= 9);
    for name in list.lines().map(|line| line.split_whitespace().next().unwrap()) {
        let shown = flitwise(&["presets", "show", name]).stdout;
        let from_file = fed(&["solve", "-", "--format", "csv"], &shown);
        let code = if ONLY_SIMULATED.contains(&name) { 2 } else { 0 };
        assert_eq!(from_file.status.code(), Some(code), "{name}");
        assert_eq!(from_file.stdout, flitwise(&["solve", "--preset", name, "--format", "csv"]).stdout);
    }
}

#[test]
fn completions_are_written_for_every_shell() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = flitwise(&["completions", shell]);
        let script = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && script.contains("FLITWISE_COMPLETE"), "{shell}: {script}");
    }
}

/// A full disk is reported, a reader that leaves is not.
#[cfg(target_os = "linux")]
#[test]
fn output_that_cannot_be_written_ends_with_1_and_a_closed_pipe_quietly() {
    for arguments in
        [&["solve"][..], &["sweep", "--over", "class.R1.rate=0.001:0.01:2000"], &["schema", "solve"]]
    {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = command(arguments).stdout(full).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("cannot write the output"));

        let mut child = piped(&mut command(arguments));
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        assert!(output.stderr.is_empty());
    }
}

#[test]
fn colours_stay_out_of_pipes() {
    assert!(!flitwise(&["solve"]).stdout.contains(&0x1b));
    assert!(!flitwise(&["solve", "--preset", "none"]).stderr.contains(&0x1b));
}

#[test]
fn tables_fit_100_columns() {
    for arguments in [
        &["solve", "--preset", "cube7", "--details", "--set", "class.R1.rate=0.3"][..],
        &["solve", "--set", "class.R1.name=a_name_of_very_many_letters_that_must_not_burst_the_table"],
        &[
            "sweep",
            "--over",
            "class.R1.rate=0.001:0.5:3",
            "--over",
            "router.buffer_flits=4,64",
            "--format",
            "table",
        ],
    ] {
        let output = flitwise(arguments);
        assert!(output.status.success());
        for line in String::from_utf8(output.stdout).unwrap().lines() {
            assert!(line.chars().count() <= 100, "{line}");
        }
    }
}

#[test]
fn stations_keep_to_their_schema() {
    for arguments in [
        &["mm1", "--rate", "0.02", "--mean", "32", "--at", "0,64"][..],
        &["mg1", "--rate", "0.05", "--mean", "32", "--scv", "0.5"],
        &["engset", "--rate", "0.01", "--mean", "32", "--servers", "2", "--sources", "6"],
        &["multirate-loss", "--servers", "8", "--class", "a:rate=0.1,mean=32,width=2"],
        &["dps", "--class", "a:rate=0.01,mean=32,weight=2", "--class", "b:rate=0.01,mean=32"],
        &["mm1k", "--mean", "32", "--capacity", "4", "--over", "rate=0.01:0.05:3"],
        &["preemptive-resume", "--class", "a:rate=0.01,mean=32,scv=0", "--class", "b:rate=1,mean=32,scv=0"],
    ] {
        let document = json(&[&["station"], arguments, &["--format", "json"]].concat());
        assert_valid(&document, "station");
        assert_eq!(document["schema"], "flitwise.station/1");
        let points = document["points"].as_array().unwrap();
        assert!(points.iter().all(|point| point["load"].is_f64() && !point["classes"][0].is_null()));
    }
}

#[test]
fn two_classes_of_32_cycles_have_the_responses_of_cobham() {
    let class = |name: &str| format!("{name}:rate=0.0125,mean=32,scv=0");
    let (high, low) = (class("high"), class("low"));
    let arguments = ["station", "non-preemptive", "--class", &high, "--class", &low, "--format", "json"];
    let answer = json(&arguments);
    let classes = &answer["points"][0]["classes"];
    assert_close(&classes[0]["mean_response_cycles"], 53.0 + 1.0 / 3.0, 1e-9);
    assert_close(&classes[1]["mean_response_cycles"], 138.0 + 2.0 / 3.0, 1e-9);
}

#[test]
fn the_manual_page_is_the_modules_own() {
    let page = flitwise(&["station", "mg1", "--manual"]);
    assert!(page.status.success());
    assert_eq!(String::from_utf8(page.stdout).unwrap(), include_str!("../../models/src/queueing/mg1.md"));
}

#[test]
fn plans_keep_to_their_schema_and_draw_what_they_found() {
    let plan = |arguments: &[&str]| {
        let all = [&["plan"][..], arguments, &["--model", "published", "--format", "json"]].concat();
        let document = json(&all);
        assert_valid(&document, "plan");
        document
    };
    let limit = ["--require", "BE: total <= 200"];
    let load = plan(&[&["max-load", "--scale", "class.BE.rate"][..], &limit].concat());
    assert_eq!((&load["schema"], &load["plan"]), (&"flitwise.plan/3".into(), &"max-load".into()));
    // the rates that were found are an answer when they are typed
    let rate = format!("class.BE.rate={}", load["rates"]["BE"]);
    let solved = json(&["solve", "--set", &rate, "--model", "published", "--format", "json"]);
    let total = solved["classes"][2]["total_latency_cycles"].as_f64().unwrap();
    assert!((199.0..=200.0).contains(&total), "{total}");

    let none = plan(&["max-load", "--require", "*: network <= 1"]);
    assert_eq!((&none["factor"], &none["rates"]), (&Value::Null, &Value::Null));
    let choice = plan(&["choose", "--vary", "class.R1.vtick=2..20", "--minimise", "max(*: network)"]);
    assert_eq!(choice["check"]["is_local_optimum"], true);

    let folder = tempfile::tempdir().unwrap();
    let (svg, png) = (folder.path().join("region.svg"), folder.path().join("region.png"));
    let axes = ["region", "--axes", "class.R1.rate,class.BE.rate", "--points", "20"];
    let files = ["--output", svg.to_str().unwrap(), "--output", png.to_str().unwrap()];
    let region = plan(&[&axes[..], &limit, &files].concat());
    assert_eq!(region["frontier"].as_array().unwrap().len(), 20);
    let drawn = std::fs::read_to_string(svg).unwrap();
    assert!(drawn.contains("limited by BE: total") && drawn.contains("[messages/cycle/node]"));
    assert!(std::fs::read(png).unwrap().starts_with(b"\x89PNG"));
}
