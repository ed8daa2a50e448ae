//! The quick preset in two organisations.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use flitwise_language::document::Place;
use flitwise_language::quantity::Quantity;
use flitwise_language::scenario::{Preset, Scenario, SourceSpec};
use flitwise_models::recn;

use super::*;
use flitwise_language::section::{Cell, Section};

fn quick(settings: &[(&str, &str)]) -> Scenario {
    let mut document = Preset::find("recn64-quick").unwrap().document();
    for (key, value) in settings {
        document.set(key, value, &Place::Setting((*key).into())).unwrap();
    }
    document.scenario().unwrap()
}

fn simulated(scenario: &Scenario, threads: usize) -> Simulation {
    simulated_as(scenario, threads, &Settings { replications: Some(2), ..Settings::default() })
}

/// By a clock that stands still.
fn simulated_as(scenario: &Scenario, threads: usize, settings: &Settings) -> Simulation {
    let workers = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let stop = AtomicBool::new(false);
    let host = Host { clock: &|| Duration::ZERO, workers: &workers, read: READ, stop: &stop };
    run(scenario, settings, &host, &mut ()).unwrap()
}

const READ: &ReadFile<'static> = &|name| std::fs::read_to_string(name);

fn section<'s>(found: &'s Simulation, name: &str) -> &'s Section {
    found.sections.find(name).unwrap()
}

/// A number of a section of one row.
fn number(found: &Simulation, name: &str, field: &str) -> f64 {
    section(found, name).cell(0, field).and_then(Cell::number).unwrap()
}

/// A field of every row.
fn column(found: &Simulation, name: &str, field: &str) -> Vec<f64> {
    let rows = section(found, name);
    (0..rows.rows.len()).map(|row| rows.cell(row, field).and_then(Cell::number).unwrap()).collect()
}

#[test]
fn one_queue_loses_throughput_in_a_hot_spot_and_set_aside_queues_keep_it() {
    let found = ["one-queue", "recn"].map(|organisation| {
        let answer = simulated(&quick(&[("switch.organisation", organisation)]), 0);
        let names: Vec<Cell> = section(&answer, "phases").rows.iter().map(|row| row[0].clone()).collect();
        assert_eq!(names, ["run", "before", "during", "after"].map(Cell::from));
        let packets = |field| number(&answer, "packets", field);
        assert_eq!(packets("generated"), packets("delivered") + packets("withdrawn") + packets("unfinished"));
        let backlog = packets("unfinished") * 64.0 / 2.0;
        assert!((packets("backlog_bytes") / backlog - 1.0).abs() < 1e-9);
        assert_eq!(answer.classes[0].set_aside_queues.is_some(), organisation == "recn");
        assert_eq!(answer.sections.find("set_aside_queues").is_some(), organisation == "recn");
        // a packet on its way between two memories holds room in both
        let held: f64 =
            section(&answer, "queued").rows.last().unwrap()[1..].iter().filter_map(Cell::number).sum();
        assert!(held <= 2.0 * packets("backlog_bytes") && held > 0.0, "{held}");
        ["floor_share_of_before", "dip_area_bytes", "recovery_us", "before_bytes_per_ns"]
            .map(|field| number(&answer, "hot_spot", field))
    });
    let [[one, one_area, one_back, before], [recn, recn_area, recn_back, _]] = found;
    // 8 replications of seed 1: 0.82 and 0.97, half-widths below 0.01
    assert!(one < 0.88 && recn > 0.93, "{found:?}");
    assert!(one_area > 5.0 * recn_area && one_back > 100.0 && recn_back < 20.0, "{found:?}");
    assert!((before - 48.0).abs() < 0.2);
}

/// Means of classes are those of phases and sections, in ticks and in nanoseconds.
#[test]
fn quantities_of_classes_are_those_of_the_run() {
    let found = simulated(&quick(&[("measure.end", "\"120 us\"")]), 0);
    let of_class = |class: usize| found.classes[class].throughput_bytes_per_ns.unwrap();
    let row = &section(&found, "phases").rows[0];
    let whole: Vec<f64> = row.iter().filter_map(Cell::number).skip(2).collect();
    assert!((of_class(0).mean + of_class(1).mean - whole[0]).abs() < 1e-9);
    assert_eq!((of_class(0).mean, of_class(1).mean, of_class(0).messages), (whole[1], whole[2], 2));
    let class = &found.classes[0];
    let (ticks, ns) =
        (class.total_latency_cycles.unwrap(), class.physical(Quantity::TotalLatency, "ns").unwrap());
    assert!((ticks.mean * 8.0 / 3.0 - ns.mean).abs() < 1e-9 && ticks.messages > 10_000);
    assert_eq!(class.set_aside_queues, found.classes[1].set_aside_queues, "one number for all classes");
}

#[test]
fn threads_change_no_number() {
    let scenario = quick(&[("measure.end", "\"120 us\""), ("class.hot.end", "\"110 us\"")]);
    let [one, two] = [1, 2].map(|threads| {
        let answer = simulated(&scenario, threads);
        serde_json::json!([answer.classes, answer.sections])
    });
    assert_eq!(one, two);
}

/// A trace lists the packets of two classes; bits of a run do not depend on seeds then.
#[test]
fn a_trace_is_delivered_as_it_says() {
    let file = std::env::temp_dir().join(format!("flitwise-trace-{}.csv", std::process::id()));
    let text = "time_ns,source,destination,bytes,class\n# by hand\n0,0,32,65,random\n5000,48,32,640,hot\n\
                900000,1,2,64,random\n";
    std::fs::write(&file, text).unwrap();
    let mut spec = quick(&[]).spec().clone();
    for class in &mut spec.classes {
        (class.rate, class.nodes, class.destination, class.start, class.end) =
            (0.0, None, Default::default(), None, None);
        let file = file.display().to_string();
        class.source = SourceSpec::Trace { file, compression: 2.0 };
    }
    let answer = simulated(&spec.check().unwrap(), 1);
    std::fs::remove_file(&file).unwrap();
    let counts = ["generated", "delivered"].map(|field| number(&answer, "packets", field));
    assert_eq!((answer.run.replications, counts), (1, [12.0, 12.0]));
    // one packet alone, and one behind it: 83 and 107 ticks
    let latency = answer.classes[0].total_latency_cycles.unwrap().mean;
    assert!((latency - 95.0).abs() < 1e-9, "{latency}");
    assert_eq!(answer.classes[1].total_latency_cycles.unwrap().messages, 10);
}

#[test]
fn what_is_not_simulated_is_refused_by_name() {
    let mut spec = quick(&[]).spec().clone();
    spec.classes[0].rate = 0.0;
    spec.classes[0].source = SourceSpec::OnOff { streams: 1, messages_per_burst: 2.0, peak_rate: 0.1 };
    let scenario = spec.check().unwrap();
    let faults = supports(&scenario, READ).unwrap_err();
    assert_eq!(faults[0].key, "class.random.source.kind");
    let mut spec = scenario.spec().clone();
    spec.measure = None;
    spec.classes.truncate(1);
    let faults = supports(&spec.check().unwrap(), READ).unwrap_err();
    assert_eq!(faults[1].key, "measure.end");
}

/// Windows join whole intervals; differences are those of replications.
#[test]
fn windows_have_intervals_over_replications() {
    let short =
        [("measure.end", "\"60 us\""), ("class.hot.start", "\"20 us\""), ("class.hot.end", "\"40 us\"")];
    let found = simulated(&quick(&short), 0);
    let window = [20_000.0, 40_000.0];
    let during = column(&found, "phases", "throughput_bytes_per_ns")[2];
    let most = column(&found, "set_aside_queues", "peak")[0];
    let found = found.series.unwrap();
    let mean = |class| found.within(TimeSeries::Throughput, class, window).unwrap();
    assert!((mean(None).mean - during).abs() < 1e-9 && mean(None).half_width_95.is_some());
    assert!((mean(None).mean - mean(Some("random")).mean - mean(Some("hot")).mean).abs() < 1e-9);
    assert_eq!(found.within(TimeSeries::SetAsideQueues, None, [0.0, 60_000.0]).unwrap().mean, most);
    let none = found.difference(&found, TimeSeries::Latency, None, window).unwrap();
    assert_eq!((none.mean, none.half_width_95), (0.0, Some(0.0)));
    assert_eq!(found.within(TimeSeries::Throughput, Some("cold"), window), None);
    assert_eq!(found.within(TimeSeries::Latency, None, [1.0, 2.0]), None);
}

/// The estimate of set-aside queues is within a factor of two, and no port has more than its bound.
#[test]
fn set_aside_queues_are_about_as_many_as_the_analysis_says() {
    for (rate, port) in [("\"50 %\"", "8"), ("\"100 %\"", "8"), ("\"100 %\"", "2")] {
        let settings =
            [("class.random.rate", rate), ("measure.end", "\"160 us\""), ("recn.set_aside_queues", port)];
        let scenario = quick(&settings);
        let predicted = recn::predict(&scenario).unwrap().hot_spot.unwrap();
        let (about, at_a_port) = (predicted.lines.unwrap(), predicted.lines_at_a_port_most.unwrap());
        for seed in 1..5 {
            let settings = Settings { replications: Some(2), seed, ..Settings::default() };
            let found = simulated_as(&scenario, 0, &settings);
            let peaks = column(&found, "set_aside_queues", "peak_most");
            assert!((0.5..=2.0).contains(&(peaks[0] / f64::from(about))), "{rate}: {peaks:?}, about {about}");
            assert!(peaks[1..].iter().all(|peak| *peak <= f64::from(at_a_port)), "{peaks:?}, {at_a_port}");
        }
    }
}

/// Throughput of the analysis in windows of 50 us against a simulation, wherever the hot hosts stand. Means of the
/// differences from the start of the hot spot on; measured 0.1 to 1.2 %.
#[test]
fn the_analysis_follows_the_simulation_in_every_placement() {
    let both_ways = ("network.direction", "bidirectional");
    let placements = [vec![("network.first_shuffle", "false")], vec![both_ways]];
    for placement in placements {
        for organisation in ["one-queue", "voq-switch", "voq-network", "recn"] {
            let mut settings = placement.clone();
            settings.extend([("switch.organisation", organisation), ("class.random.rate", "\"50 %\"")]);
            settings.extend([("switch.port_memory", "\"32 KB\""), ("measure.bin", "\"50 us\"")]);
            settings.extend([("measure.end", "\"400 us\""), ("class.hot.end", "\"250 us\"")]);
            let scenario = quick(&settings);
            let predicted = recn::predict(&scenario).unwrap().hot_spot.unwrap().over_time;
            let found = column(&simulated(&scenario, 0), "over_time", "throughput_bytes_per_ns");
            assert_eq!((predicted.len(), found.len()), (8, 8));
            let off = |place: usize| (predicted[place].throughput_bytes_per_ns / found[place] - 1.0).abs();
            let mean = (2..8).map(off).sum::<f64>() / 6.0;
            assert!(mean < 0.03, "{settings:?}: {mean}");
        }
    }
}

/// Messages between hosts and disks are drawn anew in every replication.
#[test]
fn san_traffic_differs_from_replication_to_replication() {
    let mut document = Preset::find("recn-san").unwrap().document();
    document.set("measure.end", "\"100 us\"", &Place::Program).unwrap();
    let found = simulated(&document.scenario().unwrap(), 1);
    let [delivered, refused, withdrawn, out_of_order] =
        ["delivered", "refused", "withdrawn", "out_of_order"].map(|field| number(&found, "packets", field));
    assert_eq!((found.run.replications, refused + withdrawn, out_of_order), (2, 0.0, 0.0));
    assert!(delivered > 5_000.0, "{delivered}");
    let throughput = found.classes[0].throughput_bytes_per_ns.unwrap();
    assert!(throughput.half_width_95.unwrap() > 0.0);
    // as many disks as hosts: nobody asks
    document.set("class.san.source.disks", "64", &Place::Program).unwrap();
    assert_eq!(document.scenario().unwrap_err()[0].key, "class.san.source.disks");
}

/// What takes memory in proportion to the length of the run is refused before any of it is taken.
#[test]
fn runs_that_would_take_all_memory_are_refused() {
    let refused = |settings: &[(&str, &str)]| -> Vec<String> {
        let mut document = Preset::find("recn-san").unwrap().document();
        for (key, value) in settings {
            document.set(key, value, &Place::Program).unwrap();
        }
        let faults = supports(&document.scenario().unwrap(), &|_| unreachable!("no file is named"));
        faults.err().unwrap_or_default().iter().map(ToString::to_string).collect()
    };
    assert_eq!(refused(&[]), Vec::<String>::new());
    let long = refused(&[("measure.end", "13242411213.65")]);
    assert!(long.iter().any(|fault| fault.contains("at most 500000 us of such traffic")), "{long:?}");
}
