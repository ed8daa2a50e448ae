//! Diagrams of networks whose switches have no coordinates: trees by levels, graphs as springs put them.

use std::sync::atomic::AtomicBool;

use flitwise_experiment::{self as experiment, Settings};
use flitwise_figures::draw::{Style, svg};
use flitwise_figures::figure::Figure;
use flitwise_figures::picture::{Content, NetworkDiagram, Picture};
use flitwise_figures::rows;
use flitwise_validation::machine::Machine;

/// Numbers that are drawn with a fixed seed (SplitMix64).
struct Drawn(u64);

impl Drawn {
    fn below(&mut self, end: u32) -> u32 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        ((mixed ^ (mixed >> 27)) % u64::from(end)) as u32
    }
}

fn read(network: &str, more: &str) -> Result<Figure, String> {
    let text = format!(
        "title = \"diagram\"\nkind = \"network\"\n{more}\n[scenario]\nnetwork = {{ {network} }}\nclass = [{{ name = \
         \"BE\", kind = \"best-effort\", rate = 0.001, message_flits = 16, virtual_channels = 2 }}]\n"
    );
    let faults = |faults: Vec<_>| faults.iter().map(ToString::to_string).collect::<Vec<String>>().join("\n");
    Figure::from_toml("diagram.toml", &text, "diagram", &|_| Err(Vec::new())).map_err(faults)
}

fn tree(keys: &str) -> String {
    format!("topology = \"fat-tree\", {keys}")
}

/// A graph whose switches have a node each, but for every third one that has none and every fifth that has four.
fn graph(switches: u32, links: &[(u32, u32)]) -> String {
    let mut lines = String::new();
    for switch in 0..switches {
        let few = u32::from(switch == 0 || switch % 3 > 0);
        let more = if switch % 5 == 4 { 3 } else { u32::from(switches < 3) };
        (0..few + more).for_each(|node| lines += &format!("node n{switch}.{node} s{switch}\\n"));
    }
    links.iter().for_each(|(from, to)| lines += &format!("link s{from} s{to}\\n"));
    format!("topology = \"file\", file = \"{lines}\", routing = \"up-down\"")
}

/// Switches each linked to one before it, and more links.
fn connected(drawn: &mut Drawn, switches: u32, more: u32) -> Vec<(u32, u32)> {
    let mut links: Vec<(u32, u32)> = (1..switches).map(|from| (from, drawn.below(from))).collect();
    if switches > 1 {
        links.extend((0..more).map(|_| {
            let from = 1 + drawn.below(switches - 1);
            (from, drawn.below(from))
        }));
    }
    links.sort_unstable();
    links.dedup();
    links
}

fn diagram(picture: &Picture) -> &NetworkDiagram {
    let Content::NetworkDiagram(diagram) = &picture.content else { panic!("a diagram") };
    diagram
}

/// Numbers of an attribute of the drawing, in its units.
fn numbers(drawn: &str, attribute: &str) -> Vec<f64> {
    let mark = format!(" {attribute}=\"");
    let values = drawn.split(&mark).skip(1);
    values.filter_map(|rest| rest.split('"').next()?.parse().ok()).collect()
}

/// Places are numbers inside of the picture, no two switches have one place, and everything is drawn inside.
fn assert_sound(network: &str, style: Style) -> Picture {
    let picture = read(network, "").unwrap_or_else(|faults| panic!("{network}: {faults}")).picture(&[]);
    let found = diagram(&picture);
    let mut places: Vec<(f64, f64)> = found.switches.iter().map(|switch| switch.place).collect();
    for (x, y) in &places {
        assert!((0.0..=1.0).contains(x) && (0.0..=1.0).contains(y), "{network}: {x} {y}");
    }
    places.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.total_cmp(&other.1)));
    for pair in places.windows(2) {
        let apart = (pair[1].0 - pair[0].0).hypot((pair[1].1 - pair[0].1) * found.height);
        assert!(apart > 5e-4, "{network}: {pair:?}");
    }
    let drawn = svg(&picture, &style);
    let box_of = drawn.split("viewBox=\"0 0 ").nth(1).unwrap().split('"').next().unwrap();
    let sides: Vec<f64> = box_of.split(' ').map(|side| side.parse().unwrap()).collect();
    for (attributes, most) in [(["x", "x1", "x2", "cx"], sides[0]), (["y", "y1", "y2", "cy"], sides[1])] {
        for at in attributes.into_iter().flat_map(|attribute| numbers(&drawn, attribute)) {
            assert!((0.0..=most).contains(&at), "{network}: {at} of {most}");
        }
    }
    picture
}

/// Trees of 1 to 6 levels, of one switch and of 10,000 channels; each link once for each way.
#[test]
fn trees_of_any_size_are_drawn() {
    for (keys, switches, links, rows) in [
        ("levels = 1, radix = 4", 1, 0, 1),
        ("levels = 1, radix = 128", 1, 0, 1),
        ("levels = 2, down = [2, 1], up = [1]", 2, 2, 2),
        ("levels = 2, radix = 64", 96, 4_096, 2),
        ("levels = 2, radix = 100", 150, 10_000, 2),
        ("levels = 3, arity = 4", 48, 256, 3),
        ("levels = 4, arity = 3", 108, 486, 4),
        ("levels = 6, arity = 2", 192, 640, 6),
        ("levels = 3, down = [4, 2, 2], up = [2, 2], links = [2, 3]", 12, 32, 3),
    ] {
        for style in [Style::default(), Style { width: 900, height: Some(400), ..Style::default() }] {
            let picture = assert_sound(&tree(keys), style);
            let found = diagram(&picture);
            let counts = (found.switches.len(), found.links.len(), found.rows.len());
            assert_eq!(counts, (switches, links, rows), "{keys}");
        }
    }
    let mut drawn = Drawn(3);
    for _ in 0..20 {
        let levels = 2 + drawn.below(3) as usize;
        let mut list = |count: usize| (0..count).map(|_| 1 + drawn.below(4)).collect::<Vec<u32>>();
        let (mut down, up, links) = (list(levels), list(levels - 1), list(levels - 1));
        down[0] += 1;
        let keys = format!("levels = {levels}, down = {down:?}, up = {up:?}, links = {links:?}");
        assert_sound(&tree(&keys), Style::default());
    }
}

/// Graphs of one switch, of two, and such as are drawn.
#[test]
fn graphs_of_any_size_are_drawn() {
    let mut drawn = Drawn(7);
    for switches in [1, 2, 3, 4, 6, 9, 12, 20, 33, 80] {
        for more in [0, switches / 2, 2 * switches] {
            let network = graph(switches, &connected(&mut drawn, switches, more));
            let picture = assert_sound(&network, Style::default());
            assert_eq!(diagram(&picture).switches.len() as u32, switches);
            assert_eq!(picture, read(&network, "").unwrap().picture(&[]), "the same again: {network}");
        }
    }
}

/// What would be no more than a stain is refused.
#[test]
fn too_many_switches_are_refused() {
    let path: Vec<(u32, u32)> = (1..513).map(|switch| (switch, switch - 1)).collect();
    let faults = read(&graph(513, &path), "").unwrap_err();
    assert!(faults.contains("whose picture has 513 switches, wanted at most 512"), "{faults}");
    let faults = read(&tree("levels = 3, down = [1, 64, 32], up = [1, 1]"), "").unwrap_err();
    assert!(faults.contains("2048 switches in a row, wanted at most 1024"), "{faults}");
}

/// Parallel links are one, with their count and the load of the most loaded; the rows of its numbers have all.
#[test]
fn parallel_links_are_one() {
    let network = tree("levels = 2, down = [4, 2], up = [1], links = [2]");
    let picture = read(&network, "").unwrap().picture(&[]);
    let found = diagram(&picture);
    assert_eq!(found.links.len(), 4);
    // 4 of 7 messages go up, half of them over each link
    for link in &found.links {
        assert!(link.parallel == 2 && (link.load - 4.0 * 0.016 * 4.0 / 7.0 / 2.0).abs() < 1e-12, "{link:?}");
    }
    let table = rows::table(&picture);
    assert_eq!(table.heads[..5], ["channel", "from", "to", "parallel_links", "load_flits_per_cycle"]);
    assert_eq!(table.rows.len(), 4 + 8);
    assert_eq!(table.rows[0][..4], ["up 1", "1.0.0", "2.0.0", "2"]);
    let drawn = svg(&picture, &Style::default());
    for words in ["2 parallel", "level 2", "1 switch", "8 nodes", "4 each"] {
        assert!(drawn.contains(&format!(">{words}</text>")), "{words}");
    }
}

/// Links that are asked for more than they carry have a colour of their own, which the legend explains.
#[test]
fn saturated_links_have_their_colour() {
    let network = tree("levels = 2, down = [8, 2], up = [1]");
    let at = |rate: f64| {
        let mut picture = read(&network, "").unwrap().picture(&[]);
        let Content::NetworkDiagram(found) = &mut picture.content else { panic!("a diagram") };
        found.links.iter_mut().for_each(|link| link.load *= rate);
        svg(&picture, &Style::default())
    };
    let (below, above) = (at(1.0), at(1e3));
    assert!(!below.contains("saturated") && !below.contains("#E31A1C"));
    assert!(above.contains("saturated: at least 1 flits/cycle") && above.contains("#E31A1C"));
}

/// A second panel has the loads that were simulated, which are the exact ones within four half-widths of their 95 %
/// intervals.
#[test]
fn a_simulation_stands_beside_exact_loads() {
    let ring: Vec<(u32, u32)> = (0..4).map(|switch| (switch, (switch + 1) % 4)).collect();
    for network in [tree("levels = 2, arity = 2"), graph(4, &ring)] {
        let figure = read(&network, "sources = [\"simulation\"]").unwrap();
        let settings = Settings { max_messages: 20_000, details: true, ..Settings::default() };
        let host = Machine::default();
        let stop = AtomicBool::new(false);
        let found = experiment::run(&figure.scenarios()[0], &settings, &host.host(&stop), &mut ()).unwrap();
        let picture = figure.picture(&[found]);
        let found = diagram(&picture);
        let nodes = found.switches.iter().flat_map(|switch| &switch.nodes);
        let links = found.links.iter().map(|link| (link.load, link.simulated));
        for (exact, simulated) in links.chain(nodes.map(|node| (node.load, node.simulated))) {
            let simulated = simulated.unwrap_or_else(|| panic!("{network}: a link that was not measured"));
            let width = simulated.half_width_95.unwrap();
            assert!((simulated.load - exact).abs() <= 4.0 * width, "{network}: {exact}, {simulated:?}");
        }
        let drawn = svg(&picture, &Style::default());
        assert!(drawn.contains(">exact</text>") && drawn.contains(">simulated</text>"));
        assert!(picture.notes.iter().any(|note| note.starts_with("largest difference: ")));
    }
}

/// Packets have loads as shares of the rates of links, and no simulated ones.
#[test]
fn packet_switches_have_shares() {
    let text = |more: &str| {
        format!("title = \"map\"\nkind = \"network\"\n{more}\n[scenario]\npreset = \"leaf-spine-quick\"\n")
    };
    let read = |more: &str| Figure::from_toml("map.toml", &text(more), "map", &|_| Err(Vec::new()));
    let picture = read("").unwrap().picture(&[]);
    let found = diagram(&picture);
    assert_eq!(found.load.unit, "share of its rate");
    let offered = found.switches[0].nodes[0].load;
    assert!(
        found.switches.iter().flat_map(|switch| &switch.nodes).all(|node| (node.load - offered).abs() < 1e-9)
    );
    assert!((0.01..1.0).contains(&offered), "{offered}");
    let faults = read("sources = [\"simulation\"]").unwrap_err();
    assert!(faults[0].to_string().contains("sources"), "{faults:?}");
}
