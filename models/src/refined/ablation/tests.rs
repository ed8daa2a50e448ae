use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};

use serde::Deserialize;

use super::{LEFT_OUT, Step};
use crate::model::Options;
use crate::refined::solve;
use flitwise_language::scenario::{ClassKind, Scenario, SourceSpec};

/// Every step, with its name in the table.
const STEPS: [(Step, &str); 19] = [
    (Step::BusyPeriods, "age of busy periods (`interface/busy_period`)"),
    (Step::Nested, "arrivals during delays (`interruptions`)"),
    (Step::ClockLead, "clock lead (`clock_lead`)"),
    (Step::SharingChain, "correlated services on a shared link (`shared_queue`)"),
    (Step::BareGaps, "gaps of the own input on the link (`station`)"),
    (Step::FlitsAhead, "back-pressure by flits ahead, `b >= 2 M` (`station/back_pressure`)"),
    (Step::Fresh, "arrivals during a gap (`station/passage`)"),
    (Step::Trains, "delays along trains (`network/contention`)"),
    (Step::FullChannels, "full input channels (`network/input_channel`)"),
    (Step::ChainedBlocking, "blocking over several routers (`chained_blocking`)"),
    (Step::Escorts, "escorted gaps (`tail_and_header`)"),
    (Step::BurstStates, "burst states beside a class (`burst_phases`)"),
    (Step::StatesEnd, "burst states that end (`burst_phases`)"),
    (Step::BackToBack, "messages back to back between bursts (`source`)"),
    (Step::Modulated, "best effort modulated by bursts (`modulated`)"),
    (Step::WorkAbove, "work of bursts above best effort (`bursts_above`)"),
    (Step::Outlet, "bursts as the interface lets them out (`bursts_above`)"),
    (Step::OncePerInput, "one delayed message of each input (`station`)"),
    (Step::Chance, "overload by varying services (`bursty_source/chance`)"),
];

/// A scenario of the tuning set with its simulated means.
#[derive(Deserialize)]
struct Case {
    family: String,
    scenario: String,
    points: Vec<Point>,
}

/// At one factor on all rates, by class: network latency and waiting; none where the class is saturated.
#[derive(Deserialize)]
struct Point {
    factor: f64,
    classes: Vec<Option<[f64; 2]>>,
}

/// Errors in percent: of network latency and of waiting, by family and kind of class.
type Errors = BTreeMap<Place, Vec<f64>>;

/// Family, kind of class, and 0 for network latency or 1 for waiting.
type Place = (String, &'static str, usize);

/// `jq -c '.cases[] | {family, scenario, points: [.points[] | {factor, classes: [.classes[].simulated |
/// if .saturated then null else [.network_latency_cycles.mean, .waiting_cycles.mean] end]}]}'` of `flitwise verify
/// --accuracy --set tuning --format json`, with five digits.
fn cases() -> &'static [Case] {
    static CASES: OnceLock<Vec<Case>> = OnceLock::new();
    CASES.get_or_init(|| {
        serde_json::from_str(include_str!("../../../tests/reference/tuning.json")).expect("a list of cases")
    })
}

/// Errors of one point.
fn judge(case: &Case, point: &Point) -> Vec<(Place, f64)> {
    let scenario = Scenario::from_toml("tuning", &case.scenario).expect("a sound scenario");
    let mut spec = scenario.spec().clone();
    for class in &mut spec.classes {
        class.rate *= point.factor;
        // as the simulation was: streams that are always in a burst are Poisson
        if class.rate >= 0.999 * class.source.peak_rate() {
            class.source = SourceSpec::Poisson;
        }
    }
    let scenario = spec.check().expect("a sound scenario");
    let options = Options { distributions: false, saturation_loads: false, ..Options::default() };
    let Ok(answer) = solve(&scenario, &options) else { return Vec::new() };
    let mut errors = Vec::new();
    for (class, simulated) in answer.classes.iter().zip(&point.classes) {
        let found = [class.means.network_latency_cycles, class.means.waiting_cycles];
        let Some(simulated) = simulated.filter(|_| !class.saturated) else { continue };
        for (quantity, (found, simulated)) in found.into_iter().zip(simulated).enumerate() {
            let Some(found) = found else { continue };
            errors.push((
                (case.family.clone(), class.kind.word(), quantity),
                100.0 * (found - simulated).abs() / simulated,
            ));
        }
    }
    errors
}

/// Mean errors of the model without a step, on two threads.
fn errors(left_out: Option<Step>) -> Errors {
    let (next, errors) = (AtomicUsize::new(0), Mutex::new(Errors::new()));
    let jobs: Vec<(&Case, &Point)> =
        cases().iter().flat_map(|case| case.points.iter().map(move |point| (case, point))).collect();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                LEFT_OUT.set(left_out);
                while let Some((case, point)) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    for (place, error) in judge(case, point) {
                        errors.lock().expect("no panic").entry(place).or_default().push(error);
                    }
                }
            });
        }
    });
    errors.into_inner().expect("no panic")
}

/// Mean error of one kind of class over all families.
fn mean(errors: &Errors, kind: ClassKind, quantity: usize) -> f64 {
    let all = errors.iter().filter(|((_, of, what), _)| (*of, *what) == (kind.word(), quantity));
    let all: Vec<f64> = all.flat_map(|(_, errors)| errors.iter().copied()).collect();
    all.iter().sum::<f64>() / all.len() as f64
}

/// The family whose network latency the step helps most, either kind of class.
fn most_helped(with: &Errors, without: &Errors) -> (String, f64) {
    let mean = |errors: &Vec<f64>| errors.iter().sum::<f64>() / errors.len() as f64;
    let gain = |(place, errors): (&Place, &Vec<f64>)| {
        let before = mean(with.get(place)?);
        (place.2 == 0).then(|| (format!("{}, {}", place.0, place.1), mean(errors) - before))
    };
    without.iter().filter_map(gain).max_by(|a, b| a.1.total_cmp(&b.1)).expect("at least one family")
}

const KINDS: [ClassKind; 2] = [ClassKind::RealTime, ClassKind::BestEffort];

fn table() -> String {
    let whole = errors(None);
    let cells = |errors: &Errors, of: &dyn Fn(f64, f64) -> String| -> String {
        let cell = |(quantity, kind): (usize, ClassKind)| {
            of(mean(errors, kind, quantity), mean(&whole, kind, quantity))
        };
        let all = [0, 1].into_iter().flat_map(|quantity| KINDS.map(|kind| (quantity, kind)));
        all.map(|one| format!(" {} |", cell(one))).collect()
    };
    let mut rows = vec![
        "| left out | latency: real time | best effort | waiting: real time | best effort | latency, most helped |"
            .to_owned(),
        "|---|---|---|---|---|---|".to_owned(),
        format!("| nothing: mean error \\[%\\] |{} |", cells(&whole, &|mean, _| format!("{mean:.2}"))),
    ];
    for (step, name) in STEPS {
        let errors = errors(Some(step));
        let more = cells(&errors, &|mean, whole| match format!("{:+.2}", mean - whole).as_str() {
            "+0.00" | "-0.00" => "0".to_owned(),
            more => more.to_owned(),
        });
        let (family, most) = most_helped(&whole, &errors);
        let family = if most < 0.005 { String::new() } else { format!("{most:+.2} {family}") };
        rows.push(format!("| {name} |{more} {family} |"));
    }
    rows.join("\n")
}

/// `ABLATION=overwrite` writes the table anew.
#[test]
#[ignore = "some minutes: the tuning set, once for each step"]
fn the_readme_says_what_each_approximation_buys() {
    const BEGIN: &str = "<!-- ablation -->\n\n";
    const END: &str = "\n\n<!-- end -->";
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/README.md");
    let text = std::fs::read_to_string(path).expect("a readme");
    let begin = text.find(BEGIN).expect("the begin of the table") + BEGIN.len();
    let end = begin + text[begin..].find(END).expect("the end of the table");
    let found = table();
    if std::env::var("ABLATION").is_ok_and(|what| what == "overwrite") {
        std::fs::write(path, format!("{}{found}{}", &text[..begin], &text[end..]))
            .expect("a writable readme");
        return;
    }
    assert_eq!(text[begin..end], found);
}

/// Every step has a row, and leaving one out has an end.
#[test]
fn a_step_that_is_left_out_is_in_again_on_other_threads() {
    LEFT_OUT.set(Some(Step::Nested));
    assert!(super::without(Step::Nested) && !super::without(Step::Fresh));
    std::thread::scope(|scope| {
        scope.spawn(|| assert!(!super::without(Step::Nested)));
    });
}
