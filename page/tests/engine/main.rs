//! Every request of the engine, against the same calls of the library; and requests that make no sense.

#![allow(clippy::unwrap_used)] // helpers of tests, too, may fail a test

mod lessons;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use flitwise_experiment::answer::SimulateDocument;
use flitwise_experiment::{Host, Settings, run};
use flitwise_language::scenario::{Document, PRESETS, Place, Preset};
use flitwise_models::document::{DistributionDocument, SolveDocument};
use flitwise_models::model::{Model, Options};
use flitwise_page::Engine;
use serde_json::{Value, json};

fn engine() -> Engine {
    let started = Instant::now();
    let workers = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    Engine::new(Arc::new(move || started.elapsed()), Arc::new(workers))
}

fn ask(engine: &mut Engine, request: &Value) -> Value {
    serde_json::from_str(&engine.answer(&request.to_string())).unwrap()
}

/// The answer, which must not be a fault.
fn told(engine: &mut Engine, request: &Value) -> Value {
    let answer = ask(engine, request);
    assert!(answer.get("fault").is_none(), "{request}: {}", answer["fault"]);
    answer
}

fn text(name: &str) -> &'static str {
    Preset::find(name).unwrap().text
}

/// What a document says, its numbers read from JSON as the engine's are.
fn value(document: &impl serde::Serialize) -> Value {
    serde_json::from_str(&serde_json::to_string(document).unwrap()).unwrap()
}

#[test]
fn contents_and_presets_are_those_of_the_command() {
    let mut engine = engine();
    let contents = told(&mut engine, &json!({ "ask": "contents" }));
    let names = contents["presets"].as_array().unwrap().iter().map(|line| line["name"].as_str().unwrap());
    assert!(names.eq(PRESETS.iter().map(|preset| preset.name)));
    let cube = told(&mut engine, &json!({ "ask": "preset", "name": "cube6" }));
    assert_eq!(cube["text"], text("cube6"));
    let fault = ask(&mut engine, &json!({ "ask": "preset", "name": "cube66" }));
    assert_eq!(fault["fault"], "found no preset \"cube66\"\n  help: did you mean cube6?");
}

#[test]
fn models_answer_as_the_library_does() {
    let mut engine = engine();
    let options = Options { expected_errors: true, ..Options::default() };
    for name in
        ["router16", "cube5", "mesh4x4", "mediaworm-quick", "router-nic-quick", "congestion", "recn64-quick"]
    {
        let scenario = Preset::find(name).unwrap().scenario();
        for model in Model::ALL {
            let answer = ask(&mut engine, &json!({ "ask": "solve", "text": text(name), "model": model }));
            match model.supports(&scenario) {
                Ok(()) => {
                    let wanted = SolveDocument::of(model.solve(&scenario, &options).unwrap());
                    assert_eq!(answer["document"], value(&wanted), "{name}, {model}");
                    assert!(!answer["tables"].as_array().unwrap().is_empty());
                }
                Err(_) => {
                    assert!(answer["fault"].as_str().unwrap().contains(model.word()), "{name}, {model}")
                }
            }
        }
    }
}

#[test]
fn a_curve_has_the_answers_of_its_points() {
    let mut engine = engine();
    let over = "class.R1.rate=0.002:0.012:6";
    let request = json!({
        "ask": "curve", "text": text("router16"), "over": over, "couple": ["class.R2.rate=class.R1.rate/2"],
        "models": ["published", "refined"],
        "simulated": [{ "x": 0.005, "latencies": [
            { "class": "R1", "mean": 43.0, "half_width_95": 0.5, "saturated": false }] }],
    });
    let drawn = told(&mut engine, &request);
    let mut rows = csv::Reader::from_reader(drawn["csv"].as_str().unwrap().as_bytes());
    let heads = rows.headers().unwrap().clone();
    let at = |name: &str| heads.iter().position(|head| head == name).unwrap();
    let mut seen = 0;
    for row in rows.records().map(Result::unwrap) {
        let mut document = Preset::find("router16").unwrap().document();
        for key in ["class.R1.rate", "class.R2.rate"] {
            document.set(key, &row[at(key)], &Place::Program).unwrap();
        }
        let model = Model::ALL.into_iter().find(|model| model.word() == &row[at("model")]).unwrap();
        let answer = model.solve(&document.scenario().unwrap(), &Options::default()).unwrap();
        let class = answer.classes.iter().find(|class| class.name == row[at("class")]).unwrap();
        let shown = class.network_latency_cycles.map_or_else(String::new, |latency| latency.to_string());
        let near = |one: &str, other: &str| match (one.parse::<f64>(), other.parse::<f64>()) {
            (Ok(one), Ok(other)) => (one / other - 1.0).abs() < 1e-3,
            _ => one == other,
        };
        // a published point begins at the one before
        assert!(near(&row[at("network_latency_cycles")], &shown), "{row:?}: {shown}");
        seen += 1;
    }
    assert_eq!(seen, 2 * 6 * 3);
    let svg = drawn["svg"].as_str().unwrap();
    assert!(svg.starts_with("<svg") && svg.contains("simulation") && svg.contains("published"));
    assert_eq!(drawn["points"].as_array().unwrap().len(), 6);
}

#[test]
fn a_distribution_is_that_of_the_library() {
    let found = told(&mut engine(), &json!({ "ask": "distribution", "text": text("router16") }));
    let options = Options { details: true, ..Options::default() };
    let scenario = Preset::find("router16").unwrap().scenario();
    let answer = Model::usual(&scenario).solve(&scenario, &options).unwrap();
    assert_eq!(found["document"], value(&DistributionDocument::of(&answer)));
    assert!(found["svg"].as_str().unwrap().contains("How many messages take longer"));
}

#[test]
fn every_preset_has_a_form_whose_sliders_hold_its_values() {
    let mut engine = engine();
    for preset in PRESETS {
        let form = told(&mut engine, &json!({ "ask": "scenario", "text": preset.text }));
        assert_eq!(form["faults"], json!([]), "{}", preset.name);
        let fields = form["fields"].as_array().unwrap();
        assert!(fields.len() > 3, "{}: {} fields", preset.name, fields.len());
        for field in fields {
            if let Some(number) = field["number"].as_f64() {
                let ends = [&field["from"], &field["to"]].map(|end| end.as_f64().unwrap());
                assert!(ends[0] < ends[1] && (ends[0]..=ends[1]).contains(&number), "{field}");
            }
        }
        let is_answered = !form["models"].as_array().unwrap().is_empty();
        assert_eq!(form["refusal"].is_null(), is_answered, "{}", preset.name);
    }
}

#[test]
fn faults_stand_at_their_lines_as_the_command_says_them() {
    let broken = text("router16").replace("ports = 16", "ports = 1").replace("rate = 0.01\n", "rate = 7\n");
    let form = ask(&mut engine(), &json!({ "ask": "scenario", "text": broken }));
    let faults = form["faults"].as_array().unwrap();
    let wanted = Document::parse("scenario.toml", &broken).unwrap().scenario().unwrap_err();
    assert_eq!(faults.len(), wanted.len());
    for (fault, wanted) in faults.iter().zip(&wanted) {
        assert_eq!(fault["text"], wanted.to_string());
        let line = broken.lines().nth(fault["line"].as_u64().unwrap() as usize - 1).unwrap();
        assert!(line.contains(wanted.key.rsplit('.').next().unwrap()), "{line}");
    }
    let form = ask(&mut engine(), &json!({ "ask": "scenario", "text": "[network\nports = = 2" }));
    assert!(form["faults"][0]["line"] == 1 && form["faults"].as_array().unwrap().len() > 1);
}

#[test]
fn command_lines_lead_to_the_same_scenario() {
    let mut engine = engine();
    for preset in PRESETS {
        let form = told(&mut engine, &json!({ "ask": "scenario", "text": preset.text }));
        let Some(field) = form["fields"].as_array().unwrap().iter().find(|field| field["number"].is_number())
        else {
            continue;
        };
        let value = field["number"].as_f64().unwrap().to_string();
        let set = json!({ "ask": "set", "text": preset.text, "key": field["key"], "value": value });
        let text = told(&mut engine, &set)["text"].clone();
        let lines = told(&mut engine, &json!({ "ask": "commands", "text": text, "preset": preset.name }));
        assert_eq!(lines["needs_file"], false, "{}", preset.name);
        let mut document = preset.document();
        for one in lines["settings"].as_array().unwrap() {
            let [key, value] = ["key", "value"].map(|part| one[part].as_str().unwrap());
            document.set(key, value, &Place::Program).unwrap();
        }
        let wanted = Document::parse("t", text.as_str().unwrap()).unwrap();
        assert_eq!(document.scenario().unwrap().spec(), wanted.scenario().unwrap().spec(), "{}", preset.name);
    }
    let request = json!({
        "ask": "commands", "text": text("router16"), "preset": "router16", "model": "published",
        "over": "class.R1.rate=0.001:0.01:30", "couple": ["class.R2.rate=class.R1.rate/2"],
        "run": { "seed": 7, "precision": 0.02 },
    });
    let lines = told(&mut engine, &request);
    assert_eq!(
        lines["sweep"],
        "flitwise sweep --preset router16 --model published --over class.R1.rate=0.001:0.01:30 \
         --couple class.R2.rate=class.R1.rate/2 --means-only --plot sweep.svg"
    );
    assert_eq!(lines["simulate"], "flitwise simulate --preset router16 --seed 7 --precision 0.02");
}

/// What a simulation says, without how fast it was.
fn without_machine(mut document: Value) -> Value {
    let run = document["run"].as_object_mut().unwrap();
    for of_the_machine in ["flit_hops_per_second", "threads", "simulation_seconds", "wall_seconds"] {
        run.remove(of_the_machine).unwrap();
    }
    document
}

#[test]
fn slices_give_the_bits_of_a_whole_run_and_answers_in_between() {
    let mut engine = engine();
    let how = json!({ "seed": 5, "precision": 0.008, "max_messages": 300_000 });
    let start = json!({ "ask": "simulate_start", "text": text("router16"), "run": how,
        "set": [{ "key": "class.R1.rate", "value": "0.004" }] });
    let mut found = told(&mut engine, &start);
    let (mut answers, mut slices) = (0, 0);
    while found["ended"] == false {
        found = told(&mut engine, &json!({ "ask": "simulate_step", "milliseconds": 1.0 }));
        answers += usize::from(!found["document"].is_null());
        slices += 1;
    }
    assert!(slices > 3 && answers > 1, "{slices} slices, {answers} answers");
    let mut document = Preset::find("router16").unwrap().document();
    document.set("class.R1.rate", "0.004", &Place::Program).unwrap();
    let settings = Settings { seed: 5, precision: 0.008, max_messages: 300_000, ..Settings::default() };
    let workers = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let (clock, stop) = (|| Duration::ZERO, AtomicBool::new(false));
    let host = Host { clock: &clock, workers: &workers, read: &|_| unreachable!("no traces"), stop: &stop };
    let whole = run(&document.scenario().unwrap(), &settings, &host, &mut ()).unwrap();
    let whole = value(&SimulateDocument::of(whole));
    assert_eq!(without_machine(found["document"].clone()), without_machine(whole));
    assert_eq!(found["latencies"][0]["class"], "R1");
    let fault = ask(&mut engine, &json!({ "ask": "simulate_step", "milliseconds": 1.0 }));
    assert!(fault["fault"].as_str().unwrap().contains("no simulation under way"));
}

#[test]
fn a_simulation_that_is_stopped_gives_what_it_has() {
    let mut engine = engine();
    let start = json!({ "ask": "simulate_start", "text": text("router16"), "run": { "precision": 0.0001 } });
    told(&mut engine, &start);
    let mut measured = false;
    while !measured {
        let found = told(&mut engine, &json!({ "ask": "simulate_step", "milliseconds": 20.0 }));
        measured = !found["document"].is_null();
        assert_eq!(found["ended"], false);
    }
    let stopped = told(&mut engine, &json!({ "ask": "simulate_stop" }));
    assert_eq!(stopped["ended"], true);
    assert_eq!(stopped["document"]["run"]["stopped_by"], "interrupted");
    assert!(stopped["messages"].as_u64().unwrap() > 1_000);
    assert!(ask(&mut engine, &json!({ "ask": "simulate_stop" })).get("fault").is_some());
}

#[test]
fn what_makes_no_sense_is_a_fault_and_no_panic() {
    let mut engine = engine();
    let deep = "[".repeat(100_000);
    let long = json!({ "ask": "solve", "text": "#".repeat(2 << 20) }).to_string();
    let nested = json!({ "ask": "solve", "text": format!("a = {deep}") }).to_string();
    let requests = [
        "",
        "{",
        "[]",
        "null",
        "7",
        "{}",
        r#"{"ask":1}"#,
        r#"{"ask":"everything"}"#,
        r#"{"ask":"solve"}"#,
        &deep,
        &long,
        &nested,
        r#"{"ask":"solve","text":"","model":"best"}"#,
        r#"{"ask":"solve","text":"name = 1"}"#,
        r#"{"ask":"preset","name":"../../etc/passwd"}"#,
        r#"{"ask":"contents","more":1}"#,
        r#"{"ask":"set","text":"a = 1","key":"","value":"1"}"#,
        r#"{"ask":"set","text":"a = 1","key":"a.b","value":"1"}"#,
        r#"{"ask":"set","text":"a = 1","key":"class.x.y","value":"1"}"#,
        r#"{"ask":"simulate_stop"}"#,
        r#"{"ask":"simulate_step","milliseconds":-1}"#,
        r#"{"ask":"simulate_step","milliseconds":1e300}"#,
        "\u{0}",
        "{\"ask\":\"preset\",\"name\":\"\u{fffd}\"}",
    ];
    for request in requests {
        let answer: Value = serde_json::from_str(&engine.answer(request)).unwrap();
        let shown: String = request.chars().take(80).collect();
        assert!(answer["fault"].is_string(), "{shown}");
    }
    let router = text("router16");
    for more in [
        json!({ "ask": "curve", "text": router, "over": "" }),
        json!({ "ask": "curve", "text": router, "over": "class.R1.rate=0:1:100000000" }),
        json!({ "ask": "curve", "text": router, "over": "class.R9.rate=0.001:0.002:3" }),
        json!({ "ask": "curve", "text": router, "over": "class.R1.rate=0.001:7:3" }),
        json!({ "ask": "curve", "text": router, "over": "class.R1.rate=1:2:3", "couple": ["x"] }),
        json!({ "ask": "solve", "text": router, "style": { "width": 0 } }),
        json!({ "ask": "simulate_start", "text": router, "run": { "precision": 0.0 } }),
        json!({ "ask": "simulate_start", "text": router, "run": { "max_messages": 0 } }),
        json!({ "ask": "simulate_start", "text": router, "set": [{ "key": "router.ports", "value": "1" }] }),
        json!({ "ask": "simulate_start", "text": router.replace(
            "message_flits = 32", "message_flits = 32\nsource = { kind = \"trace\", file = \"/etc/passwd\" }") }),
    ] {
        assert!(ask(&mut engine, &more)["fault"].is_string(), "{more}");
    }
}
