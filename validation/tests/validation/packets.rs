//! Packet switches in a campaign.

use flitwise_experiment::Settings;
use flitwise_experiment::answer::Simulation;
use flitwise_language::document::Place;
use flitwise_language::scenario::{Preset, Scenario};
use flitwise_language::section::Cell;
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

/// Four hosts of a switch send to hosts behind two parallel links: what gets through is what the exact loads let.
#[test]
fn parallel_links_carry_what_exact_loads_say() {
    let nodes: String = (0..8).map(|node| format!("node n{node} s{}\\n", node / 4)).collect();
    for (destination, carried) in
        [("\"4-7\"", 1.6), ("[4, 6]", 1.0), ("[5, 7]", 1.0), ("[4, 5, 6]", 1.0 + 1.6 / 3.0)]
    {
        let text = format!(
            "[network]\ntopology = \"file\"\nfile = \"{nodes}link s0 s1 links=2\\n\"\n[switch]\n\
             organisation = \"voq-network\"\n[measure]\nend = \"100 us\"\n[[class]]\nname = \"a\"\n\
             rate = \"40 %\"\nnodes = \"0-3\"\ndestination = {destination}\n"
        );
        let scenario = Scenario::from_toml("x", &text).unwrap();
        let links = flitwise_models::paths::links(&scenario).into_iter();
        let across = links.filter(|link| link.router == 0 && link.is_between_routers());
        let exact: f64 = across.map(|link| link.load.min(1.0)).sum();
        assert!((exact - carried).abs() < 1e-12, "{destination}: {exact}");
        let found = simulated_alone(&scenario);
        let delivered = found.sections.find("packets").unwrap().cell(0, "delivered").and_then(Cell::number);
        // packets of 64 bytes in 100 us, of a link of 1 byte/ns, in two replications
        let carried = delivered.unwrap() * 64.0 / (2.0 * 100_000.0);
        assert!((carried / exact - 1.0).abs() < 0.05, "{destination}: {carried} of {exact}");
    }
}
