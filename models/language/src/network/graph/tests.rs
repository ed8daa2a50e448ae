use super::*;
use crate::network::Hop;
use crate::scenario::{GraphFile, NetworkSpec};

fn graph(text: &str, routing: GraphRouting) -> super::super::Network {
    let file = GraphFile::of(text).unwrap();
    NetworkSpec::Graph { file, routing, root: None, self_traffic: None }.topology()
}

/// A node at each of so many switches, and links between them.
fn joined(switches: u32, links: impl IntoIterator<Item = (u32, u32)>) -> String {
    let nodes = (0..switches).map(|switch| format!("node n{switch} s{switch}\n"));
    let links = links.into_iter().map(|(one, other)| format!("link s{one} s{other}\n"));
    nodes.chain(links).collect()
}

fn petersen() -> String {
    joined(10, (0..5).flat_map(|at| [(at, (at + 1) % 5), (at, at + 5), (at + 5, (at + 2) % 5 + 5)]))
}

fn refusals(text: &str, routing: GraphRouting, root: Option<&str>) -> Vec<String> {
    let graph = Graph::read(text).unwrap();
    graph.refusals(routing, root).into_iter().map(|(key, found, ..)| format!("{key}: {found}")).collect()
}

#[test]
fn every_pair_gets_there_over_links_that_lead_back() {
    let mesh = joined(
        9,
        [(0, 1), (1, 2), (3, 4), (4, 5), (6, 7), (7, 8), (0, 3), (1, 4), (2, 5), (3, 6), (4, 7), (5, 8)],
    );
    let cases = [
        (mesh.as_str(), GraphRouting::Shortest, 2.0),
        (mesh.as_str(), GraphRouting::UpDown, 2.0),
        (&petersen(), GraphRouting::UpDown, 1.844_444_444_444_444_4),
        (&joined(6, (0..6).map(|at| (at, (at + 1) % 6))), GraphRouting::UpDown, 1.933_333_333_333_333_3),
    ];
    for (text, routing, mean_hops) in cases {
        let network = graph(text, routing);
        assert!((network.mean_hops() - mean_hops).abs() < 1e-12, "{}", network.mean_hops());
        for (from, to) in (0..network.nodes()).flat_map(|from| (0..network.nodes()).map(move |to| (from, to)))
        {
            let hops: Vec<_> = network.path(from, to, 0).collect();
            assert_eq!(hops.last().unwrap().end, LinkEnd::Node(to));
            assert!(hops.len() as u32 - 1 <= network.most_hops());
        }
        for (router, port) in
            (0..network.routers()).flat_map(|router| (0..network.ports()).map(move |port| (router, port)))
        {
            if let LinkEnd::Input { router: next, port: entered } = network.link_end(router, port) {
                assert_eq!(network.link_end(next, entered), LinkEnd::Input { router, port });
            }
        }
    }
}

/// A circle is named with the pairs that make it; up-down has none.
#[test]
fn ways_in_a_circle_are_refused() {
    let ring = joined(6, (0..6).map(|at| (at, (at + 1) % 6)));
    let graph = Graph::read(&ring).unwrap();
    let (key, found, _, help) = graph.refusals(GraphRouting::Shortest, None).remove(0);
    assert_eq!((key, found.ends_with("wait for each other")), ("routing", true));
    assert!(found.starts_with("s0->s1, s1->s2, s2->s3, s3->s4, .. (6 in all), s0->s1"), "{found}");
    assert!(help.unwrap().starts_with("take routing = \"up-down\", or other ways for n0 to n2"));
    assert!(graph.refusals(GraphRouting::UpDown, None).is_empty());
    assert!(!refusals(&petersen(), GraphRouting::Shortest, None).is_empty());
}

/// Two halves of the virtual channels part the circle of a ring.
#[test]
fn parts_break_the_circle_of_a_ring() {
    let ring = |with_parts: bool| {
        let route = |from: u32, to: u32| {
            let by: Vec<u32> = (0..=(to + 4 - from) % 4).map(|step| (from + step) % 4).collect();
            let part = |(at, next): (&u32, &u32)| u32::from(*next == 0 || *at < from);
            let parts: Vec<String> = by.iter().zip(&by[1..]).map(|pair| part(pair).to_string()).collect();
            let by: Vec<String> = by.iter().map(|switch| format!("s{switch}")).collect();
            let parts = if with_parts { format!(" part={}", parts.join(",")) } else { String::new() };
            format!("route n{from} n{to} : {}{parts}\n", by.join(" "))
        };
        let pairs = (0..4).flat_map(|from| (0..4).map(move |to| (from, to))).filter(|(from, to)| from != to);
        joined(4, [])
            + &(0..4).map(|at| format!("arc s{at} s{}\n", (at + 1) % 4)).collect::<String>()
            + &pairs.map(|(from, to)| route(from, to)).collect::<String>()
    };
    assert!(refusals(&ring(true), GraphRouting::Tables, None).is_empty());
    assert_eq!(refusals(&ring(false), GraphRouting::Tables, None).len(), 1);
    let network = graph(&ring(true), GraphRouting::Tables);
    assert!(network.has_rings() && !network.may_be_switched());
    assert_eq!((network.half(3, 2, 1), network.half(2, 2, 1)), (Half::Upper, Half::Lower));
}

#[test]
fn tables_lead_by_pair_then_by_switch_and_a_later_line_wins() {
    let text = joined(3, [(0, 1), (1, 2), (0, 2)])
        + "next s0 * : s1\nnext s1 * : s2\nnext s2 * : s1\nnext s1 n0 : s0\nroute n0 n2 : s0 s2\nnext s0 n2 : s1\n";
    let network = graph(&text, GraphRouting::Tables);
    let by = |from, to| network.path(from, to, 0).map(|hop| hop.router).collect::<Vec<u32>>();
    assert_eq!((by(0, 2), by(0, 1), by(2, 0)), (vec![0, 2], vec![0, 1], vec![2, 1, 0]));
    assert!(network.has_all_ways());
    let text = joined(3, [(0, 1), (1, 2)]) + "next s0 * : s1\nnext s1 n2 : s2\n";
    let network = graph(&text, GraphRouting::Tables);
    assert!(!network.has_all_ways());
    assert_eq!((network.has_way(0, 2), network.has_way(2, 0), network.has_way(1, 1)), (true, false, true));
    let round = joined(3, [(0, 1), (1, 2)]) + "next s0 * : s1\nnext s1 * : s0\n";
    assert_eq!(
        refusals(&round, GraphRouting::Tables, None),
        ["file: a way from n0 to n2 that comes round to s1"]
    );
}

#[test]
fn ports_follow_the_lines_unless_they_are_said() {
    let text = "node a s\nlink s t links=2\nnode b s port=1\nlink u s ports=0,5\nnode c t\nnode d u\n";
    let network = graph(text, GraphRouting::Shortest);
    assert_eq!((network.entry(0), network.entry(1)), ((0, 0), (0, 1)));
    assert_eq!(network.link_end(0, 2), LinkEnd::Input { router: 1, port: 0 });
    assert_eq!(network.link_end(0, 3), LinkEnd::Input { router: 1, port: 1 });
    assert_eq!(network.link_end(0, 5), LinkEnd::Input { router: 2, port: 0 });
    assert_eq!(
        (network.ports(), network.parallel(0, 2), network.parallel(0, 5), network.parallel(0, 0)),
        (6, 2, 1, 1)
    );
    assert_eq!(network.port_name(0, 3), "link to switch t, number 1");
}

fn faults(text: &str) -> Vec<String> {
    let wrong = Graph::read(text).unwrap_err().into_iter();
    wrong
        .map(|one| format!("{:?}: {}, wanted {}", one.line.map(|line| line + 1), one.found, one.wanted))
        .collect()
}

#[test]
fn all_faults_of_the_lines_are_found() {
    let text = "node a s0\nnode a s1\nnode b\nlink s0 s0\nlink s0 s1 links=9\nlink s1 s0\narc s2 s3 capacity=4\n\
                host c s0\nnode c s0 port=0\nnode d s0 port=0\nroute a d s0\n";
    let found = faults(text);
    let wanted = [
        "Some(2): a second node a, wanted one, that of line 1",
        "Some(3): \"node b\", wanted node NAME SWITCH",
        "Some(4): a link from s0 to itself, wanted a link to another switch",
        "Some(5): links=9, wanted links=1 to 8",
        "Some(6): more links from s1 to s0, wanted all of them in line 5",
        "Some(7): capacity=4, wanted capacity=1/1, 1/2, 1/3 .. 1/64 of the rate of other links",
        "Some(8): \"host c s0\", wanted a line that begins with node, switch, link, arc, route or next",
        "Some(11): \"route a d s0\", wanted route NODE NODE : SWITCH ..",
        "Some(10): port 0 of s0, wanted a port that no line before has",
    ];
    assert_eq!(found, wanted);
    let two = "node a s0\nnode b s1\nlink s0 s1\n";
    let routes = "route a c : s0 s1\nroute a b : s0\nroute a b : s0 s1 s0 s1\nnext s0 b : s2\n\
                  route b a : s1 s0 part=0,1\n";
    let wanted = [
        "Some(4): node c, wanted a node that a line names: node NAME SWITCH",
        "Some(5): a way of b at s0, wanted s1, where it is",
        "Some(6): s0 twice, wanted a way that crosses each switch once",
        "Some(7): switch s2, wanted a switch that a line names",
        "Some(8): 2 parts, wanted 1, one for each link of the way",
    ];
    assert_eq!(faults(&format!("{two}{routes}")), wanted);
    assert_eq!(
        faults("link a b\n"),
        ["None: no node, wanted 2 nodes or more, each in a line  node NAME SWITCH"]
    );
    let many: String = (0..130).map(|node| format!("node n{node} s\n")).collect();
    assert_eq!(faults(&many).len(), 2, "two nodes find no port");
    let parted = refusals("node a s0\nnode b s1\n", GraphRouting::Shortest, None);
    assert_eq!(parted, ["file: no way from node a to node b"]);
    assert_eq!(refusals(two, GraphRouting::UpDown, Some("s5")), ["root: \"s5\""]);
    let one_way = refusals("node a s0\nnode b s1\narc s0 s1\narc s1 s0\n", GraphRouting::UpDown, None);
    assert_eq!(one_way, ["routing: up-down with links one way"]);
}

/// Built-in networks as files are the same networks: links, ports and ways.
#[test]
fn exported_networks_are_read_again() {
    for preset in ["mesh4x4", "torus8x8", "cube5", "fat-mesh", "fat-tree", "router16"] {
        let network = crate::scenario::Preset::find(preset).unwrap().scenario().topology();
        let found = exported(&network).unwrap();
        assert_eq!(found.without_ways, None, "{preset}");
        let again = graph(&found.text, GraphRouting::Tables);
        let size = |of: &dyn Topology| (of.nodes(), of.routers(), of.most_hops(), of.has_rings());
        assert_eq!(size(&*again), size(&*network), "{preset}");
        for (from, to) in (0..network.nodes()).flat_map(|from| (0..network.nodes()).map(move |to| (from, to)))
        {
            let half = |of: &dyn Topology, router| of.has_rings().then(|| of.half(router, from, to));
            assert!(network.path(from, to, 0).eq(again.path(from, to, 0)), "{preset}: {from} to {to}");
            for hop in network.path(from, to, 0).filter(|hop| hop.is_between_routers()) {
                assert_eq!(
                    half(&*again, hop.router),
                    half(&*network, hop.router),
                    "{preset}: {from} to {to}"
                );
                assert_eq!(again.parallel(hop.router, hop.port), network.parallel(hop.router, hop.port));
            }
        }
    }
    let stages = crate::scenario::Preset::find("recn64").unwrap().scenario().topology();
    assert!(exported(&stages).is_err());
}

#[test]
fn networks_of_other_programs_are_read() {
    let text = "router 0 node 0 node 1 node 2 router 1\nrouter 1 node 3 node 4 node 5\n\
                router 2 node 6 node 7 node 8 router 1 15 router 0\n";
    let found = from_anynet(text).unwrap();
    assert_eq!(found.notes, ["latencies of links other than 1 are left out, 1 of them"]);
    let network = graph(&found.text, GraphRouting::Shortest);
    assert_eq!((network.nodes(), network.routers(), network.mean_hops()), (9, 3, 0.75));
    let wrong = from_anynet("router 0 node 0 router 1\nrouter 1 node 0\nswitch 3\n").unwrap_err();
    assert_eq!(wrong.iter().map(|(line, _)| line.unwrap()).collect::<Vec<_>>(), [2, 3]);

    let text = "vendid=0x2c9\nSwitch\t36 \"S-01\"\t\t# \"leaf\" base port 0 lid 2 lmc 0\n\
                [1]\t\"H-0a\"[1](a1)\t\t# \"host1 HCA-1\" lid 6 4xQDR\n[5]\t\"S-02\"[7]\t\t# \"spine\" lid 3 4xQDR\n\
                [6]\t\"S-02\"[8]\t\t# \"spine\" lid 3 4xQDR\n\nSwitch\t36 \"S-02\"\t\t# \"spine\" base port 0 lid 3\n\
                [7]\t\"S-01\"[5]\n[8]\t\"S-01\"[6]\n[2]\t\"H-0b\"[1](b1)\t\t# \"host2 HCA-1\" lid 7\n\n\
                Ca\t1 \"H-0a\"\t\t# \"host1 HCA-1\"\n[1](a1) \t\"S-01\"[1]\t\t# lid 6\n\n\
                Ca\t1 \"H-0b\"\t\t# \"host2 HCA-1\"\n[1](b1) \t\"S-02\"[2]\n";
    let network = graph(&from_ibnetdiscover(text, None).unwrap().text, GraphRouting::UpDown);
    assert_eq!((network.address(0), network.address(1)), ("host1".to_owned(), "host2".to_owned()));
    assert_eq!((network.entry(0), network.entry(1)), ((0, 0), (1, 1)));
    assert_eq!(network.link_end(0, 4), LinkEnd::Input { router: 1, port: 6 });
    assert_eq!(network.parallel(0, 4), 2);
    let (wrong, is_of_tables) =
        from_ibnetdiscover(&text.replace("[8]\t\"S-01\"[6]\n", ""), None).unwrap_err();
    assert_eq!((wrong[0].0, is_of_tables), (Some(5), false));

    let text = "Nodes 32\nTiers 2\nPodsize 32\n\nTier 0\nDownlink_speed_Gbps 100\n\
                Downlink_Latency_ns 500\nRadix_Down 8\nRadix_Up 2\n\nTier 1\nRadix_Down 4\nDownlink_Latency_ns 1000\n";
    let found = from_htsim(text).unwrap();
    let network = graph(&found.text, GraphRouting::Tables);
    assert_eq!((network.nodes(), network.routers(), network.most_hops()), (32, 6, 2));
    assert_eq!([network.delay(0, network.entry(0).1), network.delay(0, 8)], [500, 1000]);
    let tapered =
        from_htsim(&text.replace("Gbps 100", "Gbps 25").replace("Tier 1", "Tier 1\nDownlink_speed_Gbps 100"));
    let network = graph(&tapered.unwrap().text, GraphRouting::Tables);
    assert_eq!([network.slowdown(0, network.entry(0).1), network.slowdown(0, 8)], [4, 1]);
    assert!(from_htsim(&text.replace("ns 500", "ns 0.5")).is_err());
    assert!(from_htsim(&text.replace("Nodes 32", "Nodes 31")).is_err());
}

/// Three switches in a ring with a host each; the link between the last two is half as fast, and the tables go round
/// it.
#[test]
fn rates_are_capacities_and_forwarding_tables_ways() {
    let switch = |name: &str, host: u32, [left, right]: [(&str, &str); 2]| {
        format!(
            "Switch\t36 \"S-000{name}\"\t\t# \"sw{name}\" base port 0 lid {name} lmc 0\n\
             [1]\t\"H-{host}\"[1](c{host})\t\t# \"host{host} HCA-1\" lid 1{host} 4xHDR\n\
             [2]\t\"S-000{}\"[3]\t\t# \"sw\" lid 1 {}\n[3]\t\"S-000{}\"[2]\t\t# \"sw\" lid 2 {}\n\n",
            left.0, left.1, right.0, right.1
        )
    };
    let adapter = |host: u32| {
        format!(
            "Ca\t1 \"H-{host}\"\t\t# \"host{host} HCA-1\"\n\
             [1](c{host}) \t\"S-000{host}\"[1]\t\t# lid 1{host} lmc 0 \"sw\" lid {host} 4xHDR\n\n"
        )
    };
    let text = switch("1", 1, [("3", "4xHDR"), ("2", "4xHDR")])
        + &switch("2", 2, [("1", "4xHDR"), ("3", "4xEDR")])
        + &switch("3", 3, [("2", "4xEDR"), ("1", "4xHDR")])
        + &(1..=3).map(adapter).collect::<String>();
    let found = from_ibnetdiscover(&text, None).unwrap();
    assert_eq!(found.notes, ["capacities are shares of 200 Gb/s: take that as link_rate under [switch]"]);
    assert!(found.text.contains("link S-0002 S-0003 ports=2,1 capacity=1/2\n"), "{}", found.text);
    let network = graph(&found.text, GraphRouting::UpDown);
    assert_eq!([network.slowdown(1, 2), network.slowdown(2, 1), network.slowdown(0, 1)], [2, 2, 1]);

    let table = |name: u32, ports: [u32; 3]| {
        let line = |(host, port): (usize, &u32)| {
            format!("0x{:04x} {port:03} : (Channel Adapter portguid 0xc{host}: 'host{host}')\n", 11 + host)
        };
        let lines: String = ports.iter().enumerate().map(line).collect();
        format!(
            "Unicast lids [0x0-0xd] of switch Lid {name} guid 0x000000000000000{name} (sw{name}):\n  Lid  Out   \
             Destination\n       Port     Info\n0x0001 000 : (Switch portguid 0x1: 'sw')\n{lines}4 valid lids dumped\n"
        )
    };
    // hosts 2 and 3 send to each other by way of switch 1
    let tables = table(1, [1, 3, 2]) + &table(2, [2, 1, 2]) + &table(3, [3, 3, 1]);
    let found = from_ibnetdiscover(&text, Some(&tables)).unwrap();
    let routed = graph(&found.text, GraphRouting::Tables);
    let by = |from, to| routed.path(from, to, 0).map(|hop| hop.router).collect::<Vec<u32>>();
    assert_eq!([by(1, 2), by(2, 1), by(0, 1)], [vec![1, 0, 2], vec![2, 0, 1], vec![0, 1]]);
    // rates, entries of switches, the routing
    assert_eq!(found.notes.len(), 3, "{:?}", found.notes);
    // without an entry nothing is said of a node, and a table of nodes at the switch alone is one
    let less = tables.replace("0x000c 003", "0x0063 003");
    let found = from_ibnetdiscover(&text, Some(&less)).unwrap();
    assert!(found.text.contains("next S-0001 host3 : S-0003\n") && !found.text.contains("next S-0001 *"));
    let own = table(1, [1, 99, 99]).lines().take(5).collect::<Vec<_>>().join("\n");
    assert!(from_ibnetdiscover(&text, Some(&own)).is_ok(), "{own}");
    for (what, wanted) in [
        (tables.replace("guid 0x000000000000000", "guid 0x9"), "a table of switch"),
        (tables.replace(" 002 ", " 009 "), "port 9 of"),
        (tables.replace("guid", "lid"), "without a guid"),
        ("nothing of the kind".to_owned(), "no entry towards a node"),
    ] {
        let (wrong, is_of_tables) = from_ibnetdiscover(&text, Some(&what)).unwrap_err();
        assert!(is_of_tables && wrong[0].1.contains(wanted), "{wrong:?}");
    }
}

/// Whatever stands in the lines, they are read or refused, and so are the ways.
#[test]
fn mutated_lines_are_read_or_refused() {
    let lines = "node a s0 port=3\nnode b s1\nnode c s2\nswitch s3\nlink s0 s1 links=2 ports=0,4\nlink s1 s2\n\
                 arc s2 s0\nroute a b : s0 s1 part=1\nnext s1 * : s2\nnext s1 a : s0\nnext s2 b : s1\n";
    let odd = "4294967295 0 -1 128 127 : * = port=4294967295 ports=4294967295,4294967295 ports=127,0 links=8 \
               links=4294967295 part=0,1 s0 s9 a # link next route é";
    let odd: Vec<&str> = odd.split_whitespace().collect();
    let mut state = 7_u64;
    let mut draw = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let (mut read, mut refused) = (0, 0);
    for _ in 0..20_000 {
        let mut words: Vec<Vec<&str>> = lines.lines().map(|line| line.split(' ').collect()).collect();
        for _ in 0..1 + draw(2) {
            let line = draw(words.len());
            let at = draw(words[line].len() + 1);
            match (draw(3), words[line].get(at).is_some()) {
                (0, true) => drop(words[line].remove(at)),
                (1, true) => words[line][at] = odd[draw(odd.len())],
                _ => words[line].insert(at, odd[draw(odd.len())]),
            }
            if words[line].is_empty() {
                words[line].push("#");
            }
        }
        let text: String = words.iter().map(|line| line.join(" ") + "\n").collect();
        match Graph::read(&text) {
            Err(wrong) => {
                refused += 1;
                assert!(wrong.iter().all(|one| one.line.is_none_or(|line| line < words.len())), "{text}");
            }
            Ok(graph) => {
                read += 1;
                let graph = Arc::new(graph);
                for routing in GraphRouting::ALL {
                    let network = GraphNetwork::new(&graph, routing, None, None);
                    let nodes = network.nodes();
                    let pairs = (0..nodes).flat_map(|from| (0..nodes).map(move |to| (from, to)));
                    for (from, to) in pairs.filter(|(from, to)| network.has_way(*from, *to)) {
                        assert!(
                            network.path(from, to, 0).count() as u32 - 1 <= network.most_hops(),
                            "{text}"
                        );
                    }
                }
            }
        }
    }
    assert!(read > 500 && refused > 2_000, "{read} read, {refused} refused");
}

#[test]
fn links_have_the_delays_of_their_lines() {
    let text = "node a s0\nnode b s1 delay=40 capacity=1/3\nlink s0 s1 links=2 delay=100 capacity=1/1\n\
                link s1 s2 capacity=1/64\nnode c s2\n";
    let graph = GraphNetwork::new(&Arc::new(Graph::read(text).unwrap()), GraphRouting::Shortest, None, None);
    for node in 0..3 {
        let (router, port) = graph.entry(node);
        let (delay, slowdown) = if node == 1 { (40, 3) } else { (0, 1) };
        assert_eq!(graph.link_time(router, port), LinkTime { slowdown, delay });
    }
    for (from, to, delay, slowdown) in [(0, 1, 100, 1), (1, 0, 100, 1), (1, 2, 0, 64), (2, 1, 0, 64)] {
        let ports = (0..graph.ports())
            .filter(|port| graph.link_end(from, *port).input().is_some_and(|(router, _)| router == to));
        let times: Vec<LinkTime> = ports.map(|port| graph.link_time(from, port)).collect();
        let wanted = LinkTime { slowdown, delay };
        assert_eq!(times, vec![wanted; if delay > 0 { 2 } else { 1 }], "{from} to {to}");
    }
    let network = super::super::Network::GraphNetwork(graph);
    assert_eq!(network.delays().into_iter().collect::<Vec<u32>>(), [40, 100]);
    assert!(network.has_slow_links());
    let written = exported(&network).unwrap().text;
    let again = Graph::read(&written).unwrap();
    let again = GraphNetwork::new(&Arc::new(again), GraphRouting::Tables, None, None);
    assert_eq!(super::super::Network::GraphNetwork(again).link_times(), network.link_times());
    for wrong in ["0", "2", "1/0", "1/65", "2/3", "1/", "/2", "-1/2", "1/4294967297", "0.5"] {
        let found = faults(&text.replace("1/64", wrong));
        assert_eq!(found.len(), 1, "{wrong}: {found:?}");
        assert!(
            found[0].starts_with(&format!("Some(4): capacity={wrong}, wanted capacity=1/1")),
            "{found:?}"
        );
    }
}

/// By switch and first port of parallel links: the nodes that any way sends over them, in order.
fn sent_over(network: &dyn Topology) -> std::collections::BTreeMap<(u32, u32), Vec<u32>> {
    let mut found = std::collections::BTreeMap::<_, BTreeSet<u32>>::new();
    for (from, to) in pairs(network) {
        for hop in network.path(from, to, 0).filter(Hop::is_between_routers) {
            found.entry((hop.router, hop.port)).or_default().insert(to);
        }
    }
    found.into_iter().map(|(link, nodes)| (link, nodes.into_iter().collect())).collect()
}

fn pairs(network: &dyn Topology) -> impl Iterator<Item = (u32, u32)> {
    let nodes = network.nodes();
    let all = (0..nodes).flat_map(move |from| (0..nodes).map(move |to| (from, to)));
    all.filter(|(from, to)| from != to && network.has_way(*from, *to))
}

/// The rule of packets, read again from the ways of messages; how many hops take another link than the first.
fn assert_turns(text: &str, routing: GraphRouting) -> usize {
    let messages = graph(text, routing);
    let packets = messages.clone().of_packets();
    assert_eq!((packets.parallel_links(), packets.clone().of_packets() == packets), (1, true));
    let (sent, mut others) = (sent_over(&*messages), 0);
    for (from, to) in pairs(&*messages) {
        let with_link = |hop: Hop| {
            let links = messages.parallel(hop.router, hop.port);
            let turn = sent.get(&(hop.router, hop.port)).map_or(0, |nodes| nodes.binary_search(&to).unwrap());
            (hop.router, hop.port + turn as u32 % links)
        };
        let wanted: Vec<(u32, u32)> = messages.path(from, to, 0).map(with_link).collect();
        let found: Vec<(u32, u32)> = packets.path(from, to, 0).map(|hop| (hop.router, hop.port)).collect();
        assert_eq!(found, wanted, "{from} to {to} of {text}");
        let first = messages.path(from, to, 0).map(|hop| hop.port);
        others += first.zip(&found).filter(|(first, (_, link))| first != link).count();
    }
    // written down as tables or pair by pair, the ways name the same links
    let again = graph(&exported(&messages).unwrap().text, GraphRouting::Tables).of_packets();
    assert!(
        pairs(&*packets).all(|(from, to)| packets.path(from, to, 0).eq(again.path(from, to, 0))),
        "{text}"
    );
    others
}

/// Random graphs with up to four links between switches, by all routings; nodes are not numbered switch by switch.
#[test]
fn destinations_take_turns_over_parallel_links() {
    let mut state = 11_u64;
    let mut draw = |below: u32| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u32 % below
    };
    let mut others = [0; 3];
    for _ in 0..200 {
        let switches = 2 + draw(6);
        let mut joined: BTreeSet<(u32, u32)> = (1..switches).map(|switch| (draw(switch), switch)).collect();
        for _ in 0..draw(6) {
            let (one, other) = (draw(switches), draw(switches));
            joined.extend(Some((one, other)).filter(|_| one < other));
        }
        let nodes = (0..6 + draw(8)).map(|node| format!("node n{node} s{}\n", draw(switches)));
        let named = (0..switches).map(|switch| format!("switch s{switch}\n"));
        let mut text: String = named.chain(nodes).collect();
        for (one, other) in joined {
            text += &format!("link s{one} s{other} links={}\n", 1 + draw(4));
        }
        others[0] += assert_turns(&text, GraphRouting::UpDown);
        if refusals(&text, GraphRouting::Shortest, None).is_empty() {
            others[1] += assert_turns(&text, GraphRouting::Shortest);
        }
        // some pairs by routes of their own, the others by tables
        let routed = graph(&text, GraphRouting::UpDown);
        for (from, to) in pairs(&*routed).filter(|_| draw(3) > 0) {
            let by: Vec<String> = routed.path(from, to, 0).map(|hop| format!("s{}", hop.router)).collect();
            text += &format!("route n{from} n{to} : {}\n", by.join(" "));
        }
        text += &shortest_tables(&routed);
        if refusals(&text, GraphRouting::Tables, None).is_empty() {
            others[2] += assert_turns(&text, GraphRouting::Tables);
        }
    }
    assert!(others.into_iter().min() > Some(300), "{others:?}");
}

/// Lines that lead to every node where the switch is a neighbour of the node's, and by no way elsewhere.
fn shortest_tables(network: &super::super::Network) -> String {
    let mut lines = String::new();
    for (switch, port) in
        (0..network.routers()).flat_map(|switch| (0..network.ports()).map(move |port| (switch, port)))
    {
        let Some((next, _)) = network.link_end(switch, port).input() else { continue };
        for node in (0..network.nodes()).filter(|node| network.entry(*node).0 == next) {
            lines += &format!("next s{switch} n{node} : s{next}\n");
        }
    }
    lines
}

/// Tables by `d mod 2` over two spines with two links each: packets take all four links up. By the number of the
/// destination itself they would take two.
#[test]
fn turns_are_not_the_numbers_of_destinations() {
    let mut text: String = (0..16).map(|node| format!("node n{node} leaf{}\n", node / 8)).collect();
    for (leaf, spine) in (0..2).flat_map(|leaf| (0..2).map(move |spine| (leaf, spine))) {
        text += &format!("link leaf{leaf} spine{spine} links=2\nnext spine{spine} * : leaf{leaf}\n");
        for node in (0..16).filter(|node| node % 2 == spine && node / 8 != leaf) {
            text += &format!(
                "next leaf{leaf} n{node} : spine{spine}\nnext spine{spine} n{node} : leaf{}\n",
                1 - leaf
            );
        }
    }
    assert!(assert_turns(&text, GraphRouting::Tables) > 0);
    let network = graph(&text, GraphRouting::Tables).of_packets();
    let mut packets = std::collections::BTreeMap::new();
    for (from, to) in pairs(&*network).filter(|(from, _)| *from < 8) {
        for hop in network.path(from, to, 0).filter(|hop| hop.router == 0 && hop.is_between_routers()) {
            *packets.entry(hop.port).or_insert(0) += 1;
        }
    }
    assert_eq!(packets.into_values().collect::<Vec<u32>>(), [16; 4]);
}
