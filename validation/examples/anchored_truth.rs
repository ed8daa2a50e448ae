//! How far the anchored model is off, and how often its intervals hold: a table over random families of scenarios.
//!
//! `cargo run --release --example anchored_truth -- PLAN.toml STORE ANCHORS JUDGED PRECISION AXES`

use std::sync::atomic::AtomicBool;

use flitwise_models::quantity::Quantity;
use flitwise_models::scenario::{ClassKind, Scenario};
use flitwise_validation::accuracy::Plan;
use flitwise_validation::anchored::truth::{Judged, families, summary};
use flitwise_validation::anchored::{FINER, Wish, place};
use flitwise_validation::campaign;
use flitwise_validation::experiment::Settings;
use flitwise_validation::store::Store;

#[allow(clippy::print_stdout)] // a table is what it is for
fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [plan, store, anchors, judged, precision, axes] = words.as_slice() else {
        panic!("wanted PLAN.toml STORE ANCHORS JUDGED PRECISION AXES");
    };
    let text = std::fs::read_to_string(plan).expect("a plan");
    let plan = Plan::from_toml(plan, &text).expect("a sound plan");
    let store = Store::open(store.as_ref()).expect("a store");
    let number = |text: &String| text.parse::<usize>().expect("a number");
    let precision: f64 = precision.parse().expect("a number");
    let never = AtomicBool::new(false);
    let simulate = |scenario: &Scenario, seed: u64| {
        let settings = Settings {
            seed,
            precision: FINER * precision,
            max_messages: plan.max_messages(scenario),
            ..Settings::default()
        };
        let scenarios = std::slice::from_ref(scenario);
        let outcome =
            campaign::run(scenarios, &settings, Some(&store), &never, &mut ()).expect("it can be simulated");
        outcome.simulations.into_iter().next().flatten()
    };
    let (mut all, mut count, mut seconds): (Vec<Judged>, usize, f64) = (Vec::new(), 0, 0.0);
    let families = families(&plan, number(axes));
    for family in &families {
        let wish = Wish { most: number(anchors), precision };
        let found = place(&family.places(), &wish, &mut |_, scenario| simulate(scenario, 1));
        count += found.anchored.anchors().len();
        seconds +=
            found.anchored.anchors().iter().map(|one| one.simulation.run.simulation_seconds).sum::<f64>();
        let before = all.len();
        for place in family.judged_places(number(judged)) {
            if let Some(simulation) = simulate(&place.scenario, 2) {
                all.extend(family.judge(&found.anchored, &place, &simulation));
            }
        }
        let latency = |one: &&Judged| one.measure.quantity == Quantity::NetworkLatency;
        let own = summary(all[before..].iter().filter(latency));
        println!(
            "{:24} {} anchors {:?}: refined {:.2} / {:.2} %, anchored {:.2} / {:.2} %, ±{:.2} %, covered {:.0} %",
            family.name,
            found.anchored.anchors().len(),
            found.stopped,
            100.0 * own.refined[0],
            100.0 * own.refined[1],
            100.0 * own.anchored[0],
            100.0 * own.anchored[1],
            100.0 * own.half_width,
            100.0 * own.coverage
        );
    }
    println!("{} families, {count} anchors, {seconds:.0} s in their simulations", families.len());
    table(&all);
}

/// Errors by quantity and kind of class, in percent.
#[allow(clippy::print_stdout)] // a table is what it is for
fn table(all: &[Judged]) {
    for quantity in [
        Quantity::NetworkLatency,
        Quantity::Waiting,
        Quantity::TotalLatency,
        Quantity::P90,
        Quantity::P99,
        Quantity::MissProbability,
    ] {
        for kind in [ClassKind::RealTime, ClassKind::BestEffort] {
            let found =
                summary(all.iter().filter(|one| one.measure.quantity == quantity && one.kind == kind));
            println!(
                "{:20} {:12} n {:4}: refined {:.3} / {:.3}, anchored {:.3} / {:.3}, half-width {:.3}, covered {:.1} %",
                quantity.name(),
                kind.word(),
                found.count,
                100.0 * found.refined[0],
                100.0 * found.refined[1],
                100.0 * found.anchored[0],
                100.0 * found.anchored[1],
                100.0 * found.half_width,
                100.0 * found.coverage
            );
        }
    }
}
