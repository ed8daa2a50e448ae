//! Rows of known loads: shares of one node's injection on channels of fat trees.

use super::*;
use flitwise_language::network::Network;

fn tree(keys: &str, destination: &str) -> Scenario {
    let text = format!(
        "[network]\ntopology = \"fat-tree\"\n{keys}\n[[class]]\nname = \"U\"\nkind = \"best-effort\"\n\
         message_flits = 16\nrate = \"0.1 flits/cycle\"\ndestination = {destination}\n"
    );
    Scenario::from_toml("x", &text).unwrap_or_else(|faults| panic!("{faults:?}"))
}

/// By kind of network channel: word, mean and most; and channels per message.
fn found(scenario: &Scenario) -> (Vec<(String, f64, f64)>, f64) {
    let one = Traffic { flit_rate: 1.0, ..Traffic::of(scenario, 0) };
    let senders = one.senders.len();
    let loads = ChannelLoads::on(&*scenario.topology(), &[one]);
    let kinds = loads.by_kind(false).into_iter().filter(|kind| kind.channel.contains(' '));
    let kinds = kinds.map(|kind| (kind.channel, kind.load_mean_share, kind.load_max_share)).collect();
    (kinds, loads.mean_hops(0, senders))
}

/// To as many digits as are known.
fn assert_row(keys: &str, destination: &str, wanted: &[(&str, f64, f64)], hops: f64) {
    let (kinds, mean_hops) = found(&tree(keys, destination));
    assert_eq!(kinds.len(), wanted.len(), "{kinds:?}");
    for ((kind, mean, most), wanted) in kinds.iter().zip(wanted) {
        assert_eq!(kind, wanted.0, "{keys}");
        assert!((mean - wanted.1).abs() < 5e-7 && (most - wanted.2).abs() < 5e-7, "{keys}: {kinds:?}");
    }
    assert!((mean_hops - hops).abs() < 5e-7, "{keys}: {mean_hops}");
}

/// Uniform traffic over the routings, mean and most alike.
#[test]
fn uniform_loads_are_the_known_ones() {
    let rows: [(&str, &[f64], f64); 7] = [
        ("levels = 3\narity = 4", &[0.952381, 0.761905], 3.428571),
        ("levels = 2\narity = 8", &[0.888889], 1.777778),
        ("levels = 4\narity = 2", &[0.933333, 0.8, 0.533333], 4.533333),
        ("levels = 2\nradix = 36", &[0.973725], 1.947450),
        ("levels = 3\nradix = 8", &[0.976378, 0.881890], 3.716535),
        ("levels = 2\nradix = 24\ntaper = 2", &[1.921671], 1.921671),
        ("levels = 3\ndown = [4, 4, 4]\nup = [2, 2]", &[1.904762, 3.047619], 3.428571),
    ];
    for (keys, levels, hops) in rows {
        for routing in ["d-mod-k", "s-mod-k", "random-up", "adaptive-up"] {
            let kinds =
                ["up 1", "up 2", "up 3"].into_iter().zip(levels).map(|(kind, load)| (kind, *load, *load));
            let down =
                ["down 1", "down 2", "down 3"].into_iter().zip(levels).map(|(k, load)| (k, *load, *load));
            let mut wanted: Vec<_> = kinds.collect();
            wanted.extend(down.collect::<Vec<_>>().into_iter().rev());
            assert_row(&format!("{keys}\nrouting = \"{routing}\""), "\"uniform\"", &wanted, hops);
        }
    }
}

#[test]
fn patterns_and_hot_nodes_load_channels_as_known() {
    let tree = "levels = 3\narity = 4\nrouting = ";
    // of 64 nodes 8 are their own reverse: 208 channels for 56 messages
    let reverse = 208.0 / 56.0;
    let all = [("up 1", 0.875, 4.0), ("up 2", 0.75, 3.0), ("down 2", 0.75, 1.0), ("down 1", 0.875, 1.0)];
    assert_row(&format!("{tree}\"d-mod-k\""), "\"bit-reverse\"", &all, reverse);
    let even = [("up 1", 0.875, 1.0), ("up 2", 0.75, 0.75), ("down 2", 0.75, 0.75), ("down 1", 0.875, 1.0)];
    assert_row(&format!("{tree}\"random-up\""), "\"bit-reverse\"", &even, reverse);
    let shift = [("up 1", 1.0, 1.0), ("up 2", 0.3125, 1.0), ("down 2", 0.3125, 1.0), ("down 1", 1.0, 1.0)];
    assert_row(&format!("{tree}\"d-mod-k\""), "{ shift = 5 }", &shift, 2.625);
    // the hot node sends to all alike
    let (kinds, _) = found(&self::tree(&format!("{tree}\"d-mod-k\""), "{ hot = 5, share = 0.1 }"));
    let most = |word: &str| kinds.iter().find(|(kind, ..)| kind == word).map(|(.., most)| *most).unwrap();
    assert!(
        (most("down 1") - 6.857143).abs() < 5e-7 && (most("down 2") - 5.485714).abs() < 5e-7,
        "{kinds:?}"
    );
}

/// A shift is free of conflicts under d-mod-k: no link carries more than one of its messages (Zahavi 2012).
#[test]
fn shifts_load_no_link_twice() {
    let network: Network = tree("levels = 3\narity = 4", "\"uniform\"").topology();
    for shift in 1..64 {
        let mut links = std::collections::BTreeMap::new();
        for node in 0..64 {
            let path = network.path(node, (node + shift) % 64, 0);
            path.for_each(|hop| *links.entry((hop.router, hop.port)).or_insert(0) += 1);
        }
        assert!(links.values().all(|messages| *messages == 1), "shift {shift}");
    }
}

/// Classes whose senders differ have no closed form together; path by path they add up to the same.
#[test]
fn lists_of_all_nodes_are_uniform_traffic() {
    for routing in ["d-mod-k", "random-up"] {
        let keys = format!("levels = 2\ndown = [3, 4]\nup = [2]\nlinks = 3\nrouting = \"{routing}\"");
        let (one, other) = (found(&tree(&keys, "\"uniform\"")), found(&tree(&keys, "\"0-11\"")));
        for (one, other) in one.0.iter().zip(&other.0) {
            assert!((one.1 - other.1).abs() < 1e-12 && (one.2 - other.2).abs() < 1e-12, "{one:?} {other:?}");
        }
    }
}
