//! Maps of networks: exact loads of links beside the simulated ones.

use std::sync::atomic::AtomicBool;

use flitwise_experiment::{self as experiment, Settings};
use flitwise_figures::draw::{Style, svg};
use flitwise_figures::figure::Figure;
use flitwise_figures::picture::{Content, NetworkMap, Picture};
use flitwise_figures::rows;
use flitwise_validation::machine::Machine;

/// A map of a network with a hot spot.
fn map(network: &str, sources: &str) -> Figure {
    let text = format!(
        "title = \"map\"\nkind = \"network\"\n{sources}\n[scenario]\npreset = \"mesh4x4\"\n\
         set = {{ {network}, \"class.*.virtual_channels\" = 2, \
         \"class.BE.destination\" = {{ hot = 1, share = 0.3 }} }}\n"
    );
    Figure::from_toml("map.toml", &text, "map", &|_| Err(Vec::new())).unwrap()
}

/// The same with what is simulated of it.
fn simulated(network: &str) -> Picture {
    let figure = map(network, "sources = [\"simulation\"]");
    let settings = Settings { precision: 0.02, details: true, ..Settings::default() };
    let points = figure.scenarios();
    assert!(points.len() == 1 && figure.wants_details());
    let found =
        experiment::run(&points[0], &settings, &Machine::default().host(&AtomicBool::new(false)), &mut ())
            .unwrap();
    figure.picture(&[found])
}

fn content(picture: &Picture) -> &NetworkMap {
    let Content::Network(map) = &picture.content else { panic!("a map") };
    map
}

/// Exact loads are those that are simulated: of every link the difference is within four half-widths of its 95 %
/// interval, 8.5 standard deviations of Student's t with 15 degrees of freedom; with some 230 links in all chance
/// exceeds that once in 10,000 seeds.
#[test]
fn simulated_loads_are_the_exact_ones() {
    for network in [
        "\"network.radix\" = [4, 3]",
        "\"network.topology\" = \"torus\", \"network.radix\" = [4, 3]",
        "\"network.radix\" = [2, 3], \"network.nodes_per_router\" = 2, \"network.links\" = 2",
        "\"network.radix\" = [2, 2, 2]",
    ] {
        let picture = simulated(network);
        let map = content(&picture);
        for panel in &map.panels {
            let links = panel.links.iter().map(|link| (link.load, link.simulated));
            let routers = panel.routers.iter().zip(&panel.simulated_routers);
            assert_eq!(routers.len(), panel.routers.len());
            for (exact, found) in links.chain(routers.map(|(exact, found)| (*exact, Some(*found)))) {
                let found = found.unwrap_or_else(|| panic!("{network}: a link that was not measured"));
                let width = found.half_width_95.unwrap();
                assert!((found.load - exact).abs() <= 4.0 * width, "{network}: {exact}, {found:?}");
                assert!(width < 0.15 * exact, "{network}: too wide to tell: {exact}, {found:?}");
            }
        }
        assert!(
            picture.notes.iter().any(|note| note.starts_with("largest difference: ")),
            "{:?}",
            picture.notes
        );
        assert!(picture.notes.iter().any(|note| note.contains("outside of their 95 % interval")));
    }
}

/// Two panels of one plane with one scale; the data have both loads of each link, and half-widths.
#[test]
fn a_simulation_stands_beside_the_exact_loads() {
    let network = "\"network.radix\" = [3, 2]";
    let picture = simulated(network);
    let drawn = svg(&picture, &Style::default());
    let alone = map(network, "").picture(&[]);
    let drawn_alone = svg(&alone, &Style::default());
    let arrows = |drawn: &str| drawn.matches("<polygon").count();
    assert_eq!(arrows(&drawn), 2 * arrows(&drawn_alone));
    let has = |drawn: &str, word: &str| drawn.contains(&format!(">{word}</text>"));
    for word in ["exact", "simulated"] {
        assert!(has(&drawn, word) && !has(&drawn_alone, word), "{word}: {drawn}");
    }
    assert!(!content(&alone).is_simulated() && map(network, "").scenarios().is_empty());

    let table = rows::table(&picture);
    let heads =
        ["load", "simulated_load", "simulated_half_width_95"].map(|stem| format!("{stem}_flits_per_cycle"));
    assert_eq!(table.heads[5..], heads);
    // 7 links each way and 6 ejection links
    assert_eq!(table.rows.len(), 20);
    assert!(table.rows.iter().all(|row| row[5..].iter().all(|text| text.parse::<f64>().is_ok())));
    let alone = rows::table(&alone);
    assert_eq!(alone.rows.len(), 20);
    for (one, both) in alone.rows.iter().zip(&table.rows) {
        assert_eq!((&one[..6], one[6].as_str(), one[7].as_str()), (&both[..6], "", ""));
    }
}

/// Models have no place on a map.
#[test]
fn a_map_has_the_simulation_as_its_only_source() {
    let text =
        "title = \"map\"\nkind = \"network\"\nsources = [\"refined\"]\n[scenario]\npreset = \"mesh4x4\"\n";
    let faults = Figure::from_toml("map.toml", text, "map", &|_| Err(Vec::new())).unwrap_err();
    assert_eq!(faults.len(), 1);
    let fault = faults[0].to_string();
    assert!(fault.starts_with("map.toml:3:11: sources: found \"refined\", wanted \"simulation\""), "{fault}");
}

/// What connections hold of links, by the model and simulated: no more than the limit, and alike on average.
#[test]
fn reserved_bandwidth_is_that_of_admitted_connections() {
    let text = "title = \"map\"\nkind = \"network\"\nsources = [\"simulation\"]\n[z]\nquantity = \"reserved\"\n\
                [scenario]\npreset = \"admission-quick\"\nset = { \"mix.load\" = 0.8 }\n";
    let read = |text: &str| Figure::from_toml("map.toml", text, "map", &|_| Err(Vec::new()));
    let figure = read(text).unwrap();
    let settings = Settings { max_messages: 2_000, details: true, ..Settings::default() };
    let found = experiment::run(
        &figure.scenarios()[0],
        &settings,
        &Machine::default().host(&AtomicBool::new(false)),
        &mut (),
    );
    let picture = figure.picture(&[found.unwrap()]);
    let map = content(&picture);
    assert_eq!(map.origin, "admission model");
    let links = &map.panels[0].links;
    let simulated: Vec<f64> = links.iter().map(|link| link.simulated.unwrap().load).collect();
    assert!(
        links.len() == 80 && simulated.iter().all(|held| (0.1..1.0 + 1e-9).contains(held)),
        "{simulated:?}"
    );
    let (model, simulated): (f64, f64) = (links.iter().map(|link| link.load).sum(), simulated.iter().sum());
    assert!((model / simulated - 1.0).abs() < 0.05, "{model} {simulated}");
    let refused =
        read(&text.replace("admission-quick", "mesh4x4").replace("\"mix.load\" = 0.8", "")).unwrap_err();
    assert!(refused[0].to_string().contains("z.quantity"), "{refused:?}");
}
