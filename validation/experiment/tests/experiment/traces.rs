//! Traces over routers.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use flitwise_experiment::answer::Simulation;
use flitwise_experiment::{self as experiment, Host, Settings};
use flitwise_language::scenario::{Fault, Scenario};

/// A class `t` with the messages of a file, over four ports, and whatever else is written.
fn scenario(rest: &str) -> Scenario {
    let text = format!(
        "[network]\ntopology = \"router\"\nports = 4\n[measure]\nend = 5000\n[[class]]\nname = \"t\"\n\
         kind = \"best-effort\"\nmessage_flits = 32\nsource = {{ kind = \"trace\", file = \"t.csv\" }}\n{rest}"
    );
    Scenario::from_toml("t", &text).unwrap()
}

/// The answer where the file holds `trace`.
fn run(scenario: &Scenario, trace: &str) -> Result<Simulation, Vec<Fault>> {
    let workers = rayon::ThreadPoolBuilder::new().build().unwrap();
    let read = |_: &str| Ok(trace.to_owned());
    let (clock, stop) = (|| Duration::ZERO, AtomicBool::new(false));
    let host = Host { clock: &clock, workers: &workers, read: &read, stop: &stop };
    experiment::run(scenario, &Settings::default(), &host, &mut ())
}

#[test]
fn a_trace_over_routers_is_delivered_as_it_says() {
    let scenario = scenario("");
    // one alone, one of 40 flits, which is cut in two; of what comes after the end nothing
    let trace = "time_cycles,source,destination,flits\n0,0,1,32\n99.5,2,2,40\n6000,0,1,32\n";
    let answer = run(&scenario, trace).unwrap();
    let class = &answer.classes[0];
    let latency = class.network_latency_cycles.unwrap();
    // five stages and the flits behind the header; the second part of a message is routed anew behind the first one,
    // which costs two cycles
    assert_eq!(latency.messages, 3);
    assert_eq!(latency.mean, (36.0 + 36.0 + (5.0 - 1.0 + 8.0 + 2.0)) / 3.0);
    assert_eq!((answer.run.replications, latency.half_width_95), (1, None));
    assert_eq!(class.fates.as_ref().unwrap().generated_messages, 3);
}

/// Of nanoseconds and bytes where the scenario says what a cycle and a flit are; times are compressed.
#[test]
fn units_of_a_trace_are_those_of_its_columns() {
    let units = "[units]\nlink = \"400 Mbps\"\nflit_bits = 32\n";
    let cycles = "time_cycles,source,destination,flits\n0,0,1,5\n100,2,1,40\n";
    // a cycle is 80 ns, a flit 4 bytes
    let ns = "time_ns,source,destination,bytes\n0,0,1,17\n8000,2,1,160\n";
    let [one, other] = [cycles, ns].map(|trace| run(&scenario(units), trace).unwrap());
    let classes = |answer: &Simulation| serde_json::to_value(&answer.classes).unwrap();
    assert_eq!(classes(&one), classes(&other));
    let faults = run(&scenario(""), ns).unwrap_err();
    let said = faults[0].to_string();
    assert!(
        said.ends_with("wanted time_cycles,source,destination,flits, and class where there are several"),
        "{said}"
    );
    let twice = "time_cycles,source,destination,flits\n0,0,1,5\n200,2,1,40\n";
    let mut spec = scenario(units).spec().clone();
    if let flitwise_language::scenario::SourceSpec::Trace { compression, .. } = &mut spec.classes[0].source {
        *compression = 2.0;
    }
    assert_eq!(classes(&run(&spec.check().unwrap(), twice).unwrap()), classes(&one));
}

/// Beside sources that are drawn there are replications, each with the whole trace.
#[test]
fn a_trace_beside_a_source_is_in_every_replication() {
    let scenario = scenario("[[class]]\nname = \"b\"\nkind = \"best-effort\"\nrate = 0.01\n");
    let answer = run(&scenario, "time_cycles,source,destination,flits\n0,0,1,32\n10,1,1,32\n").unwrap();
    assert_eq!(answer.run.replications, 8);
    let messages = |class: usize| answer.classes[class].fates.as_ref().unwrap().generated_messages;
    assert!(messages(0) == 16 && messages(1) > 1000, "{} {}", messages(0), messages(1));
}

#[test]
fn what_a_trace_lacks_is_refused_where_it_stands() {
    let text = |rest: &str, class: &str| {
        format!(
            "[network]\ntopology = \"hypercube\"\ndimension = 2\n{rest}[[class]]\nname = \"t\"\n\
             source = {{ kind = \"trace\", file = \"t.csv\" }}\n{class}"
        )
    };
    let refused = |rest: &str, class: &str| {
        let faults = Scenario::from_toml("t", &text(rest, class)).unwrap_err();
        faults.iter().map(|fault| format!("{}: {}", fault.key, fault.found)).collect::<Vec<_>>()
    };
    let end = "measure.end: no end, though the messages of t are those of a file";
    assert_eq!(refused("", "kind = \"best-effort\"\n"), [end]);
    assert_eq!(refused("", "kind = \"real-time\"\n"), [end, "class.t.vtick: none"]);
    let run_ends = "[measure]\nend = 100\n";
    assert_eq!(refused(run_ends, "kind = \"best-effort\"\nload = 0.1\n"), ["class.t.load: 0.1"]);
    let none = "kind = \"best-effort\"\nvirtual_channels = 0\n";
    assert!(refused(run_ends, none).contains(&"class.t.virtual_channels: 0 with a trace".to_owned()));
    let cube = Scenario::from_toml("t", &text(run_ends, "kind = \"best-effort\"\n")).unwrap();
    let faults = run(&cube, "time_cycles,source,destination,flits\n0,1,1,32\n0,1,4,0\n").unwrap_err();
    let said: Vec<String> = faults.iter().map(ToString::to_string).collect();
    assert_eq!(said.len(), 3, "{said:?}");
    assert!(said[0].starts_with("t.csv:2:5: destination: found host 1, which sends it"), "{said:?}");
    let many = "time_cycles,source,destination,flits\n".to_owned() + &"0,0,1,16777216\n".repeat(40);
    let mut spec = cube.spec().clone();
    spec.classes[0].message_flits = 1;
    let faults = run(&spec.check().unwrap(), &many).unwrap_err();
    assert_eq!(faults[0].found, "671088640 messages of up to 1 flits");
}
