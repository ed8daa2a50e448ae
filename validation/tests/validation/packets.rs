//! Packet switches in a campaign.

use flitwise_experiment::Settings;
use flitwise_experiment::answer::Simulation;
use flitwise_language::document::Place;
use flitwise_language::scenario::{Preset, Scenario};
use flitwise_validation::store::Store;

use crate::{simulate, simulate_all};

fn quick(settings: &[(&str, &str)]) -> Scenario {
    let mut document = Preset::find("recn64-quick").unwrap().document();
    for (key, value) in settings {
        document.set(key, value, &Place::Setting((*key).into())).unwrap();
    }
    document.scenario().unwrap()
}

/// A campaign gives the numbers of a run, keeps replications one by one, and takes kept ones.
#[test]
fn a_campaign_keeps_replications() {
    let scratch = tempfile::tempdir().unwrap();
    let store = Store::open(scratch.path()).unwrap();
    let short =
        [("measure.end", "\"40 us\""), ("class.hot.start", "\"10 us\""), ("class.hot.end", "\"20 us\"")];
    let scenarios = [quick(&short), quick(&short)];
    let asked = |replications: u32| {
        let settings = Settings { replications: Some(replications), ..Settings::default() };
        let outcome = simulate_all(&scenarios, &settings, Some(&store));
        let of = |one: &Option<Simulation>| one.clone().unwrap();
        (outcome.simulated, outcome.simulations.iter().map(of).collect::<Vec<_>>())
    };
    let (simulated, first) = asked(2);
    assert_eq!((simulated, store.survey().unwrap().records), (1, 2));
    let alone = simulated_json(&simulated_alone(&scenarios[0]));
    assert_eq!(first.iter().map(simulated_json).collect::<Vec<_>>(), [alone.clone(), alone.clone()]);
    assert_eq!((asked(3).0, store.survey().unwrap().records), (1, 3));
    let (new, again) = asked(2);
    assert_eq!((new, simulated_json(&again[0])), (0, alone));
}

fn simulated_alone(scenario: &Scenario) -> Simulation {
    let settings = Settings { replications: Some(2), ..Settings::default() };
    simulate(scenario, &settings)
}

fn simulated_json(found: &Simulation) -> serde_json::Value {
    serde_json::json!([found.classes, found.sections])
}
