//! The lines of a graph: nodes, links, and routes where they are written down.
//!
//! ```text
//! node NAME SWITCH [port=4] ..                    a node at a switch
//! switch NAME                                     a switch, where its number matters
//! link ONE OTHER [links=2] [ports=0,3] ..         links both ways, the first of parallel ones at these ports
//! arc FROM TO [links=2] [ports=0,3] ..            links one way
//! route FROM TO : SWITCH SWITCH .. [part=0,1,..]  the way from node to node
//! next SWITCH NODE : SWITCH                       where a switch sends what is for a node; `*` for all nodes
//! ```
//!
//! Nodes are numbered in the order of their lines, switches in the order in which they are first named. Lines of nodes
//! and links may end with `delay=3` and `capacity=1/2`: the time on the link beside the usual one, in nanoseconds of
//! packet switches or cycles of routers, and its rate as a share of that of other links.

use std::collections::HashMap;

use super::{Graph, Neighbour};
use crate::network::{Half, LinkEnd, LinkTime};
use crate::scenario::Wrong;

/// The most nodes, switches, ports of a switch, and links one way.
const MOST_NODES: usize = 16_384;
const MOST_SWITCHES: usize = 4_096;
const MOST_PORTS: u32 = 128;
const MOST_LINKS: u64 = 65_536;
/// The most parallel links.
const MOST_PARALLEL: u32 = 8;
/// The longest delay \[ns, or cycles\].
const LONGEST_DELAY: u32 = 1_000_000;
/// `c` of the least capacity, `1 / c`.
pub(super) const MOST_SLOWDOWN: u32 = 64;
/// The most characters of a name.
const LONGEST_NAME: usize = 64;

/// A switch by its name, in the order of first appearance.
#[derive(Default)]
struct Names {
    names: Vec<String>,
    numbers: HashMap<String, u32>,
}

impl Names {
    fn find(&self, name: &str) -> Option<u32> {
        self.numbers.get(name).copied()
    }

    fn number(&mut self, name: &str) -> u32 {
        if let Some(number) = self.find(name) {
            return number;
        }
        self.numbers.insert(name.to_owned(), self.names.len() as u32);
        self.names.push(name.to_owned());
        self.names.len() as u32 - 1
    }
}

/// A link as it is written.
struct Written {
    line: usize,
    from: u32,
    to: u32,
    links: u32,
    ports: Option<(u32, u32)>,
    is_both_ways: bool,
    time: LinkTime,
}

/// A node as it is written.
struct Host {
    line: usize,
    switch: u32,
    port: Option<u32>,
    time: LinkTime,
}

/// The ports of switches that nodes and links have.
struct Ports {
    /// By switch, a bit for each.
    taken: Vec<u128>,
    /// Lines whose ports are not there: the line, the switch, the first port where that is said, and how many.
    refused: Vec<(usize, u32, Option<u32>, u32)>,
}

impl Ports {
    /// The bits of so many ports; `None` where a switch has no such ports.
    fn mask(port: u32, links: u32) -> Option<u128> {
        let end = port.checked_add(links).filter(|end| *end <= MOST_PORTS);
        end.map(|_| (u128::MAX >> (128 - links)) << port)
    }

    /// Takes ports side by side, the lowest free ones where none is said, and tells the first.
    fn take(&mut self, switch: u32, port: Option<u32>, links: u32, line: usize) -> u32 {
        let taken = &mut self.taken[switch as usize];
        let free = |port: &u32| Self::mask(*port, links).filter(|mask| mask & *taken == 0);
        let found = port.or_else(|| (0..MOST_PORTS).find(|port| free(port).is_some()));
        match found.and_then(|port| Some((port, free(&port)?))) {
            Some((port, mask)) => {
                *taken |= mask;
                port
            }
            None => {
                self.refused.push((line, switch, port, links));
                0
            }
        }
    }
}

/// A line that names switches and nodes of other lines.
struct Route<'t> {
    line: usize,
    /// Whether it is of a switch.
    is_next: bool,
    from: &'t str,
    to: &'t str,
    by: Vec<&'t str>,
    parts: Option<Vec<Half>>,
}

/// Reads lines.
#[derive(Default)]
struct Lines<'t> {
    nodes: Names,
    switches: Names,
    /// By node.
    hosts: Vec<Host>,
    links: Vec<Written>,
    /// The line of the links from one switch to another.
    joined: HashMap<(u32, u32), usize>,
    routes: Vec<Route<'t>>,
    wrong: Vec<Wrong>,
}

/// Words of a line before `=`, in order, and options.
struct Words<'t> {
    plain: Vec<&'t str>,
    options: Vec<(&'t str, &'t str)>,
}

impl<'t> Words<'t> {
    fn of(line: &'t str) -> Self {
        let mut words = Self { plain: Vec::new(), options: Vec::new() };
        for word in line.split_whitespace() {
            match word.split_once('=') {
                Some(option) => words.options.push(option),
                None => words.plain.push(word),
            }
        }
        words
    }
}

/// Numbers parted by commas.
fn numbers(text: &str) -> Option<Vec<u32>> {
    text.split(',').map(|number| number.parse().ok()).collect()
}

fn pair(text: &str) -> Option<(u32, u32)> {
    match numbers(text)?.as_slice() {
        [one, other] => Some((*one, *other)),
        _ => None,
    }
}

impl<'t> Lines<'t> {
    fn refuse(
        &mut self,
        line: usize,
        found: impl Into<String>,
        wanted: impl Into<String>,
        help: Option<&str>,
    ) {
        let (found, wanted, help) = (found.into(), wanted.into(), help.map(str::to_owned));
        self.wrong.push(Wrong { line: Some(line), found, wanted, help });
    }

    /// The value of an option that a line may have; every other option is refused.
    fn options<const N: usize>(
        &mut self,
        line: usize,
        words: &Words<'t>,
        known: [&str; N],
    ) -> [Option<&'t str>; N] {
        let mut found = [None; N];
        for (key, value) in &words.options {
            match known.iter().position(|known| known == key) {
                Some(at) => found[at] = Some(*value),
                None => {
                    let wanted =
                        if N == 0 { "no option".to_owned() } else { format!("{}=", known.join("= or ")) };
                    self.refuse(line, format!("{key}={value}"), wanted, None);
                }
            }
        }
        found
    }

    fn option<T>(
        &mut self,
        line: usize,
        (key, value): (&str, Option<&str>),
        read: impl Fn(&str) -> Option<T>,
        wanted: &str,
    ) -> Option<T> {
        let value = value?;
        let found = read(value);
        if found.is_none() {
            self.refuse(line, format!("{key}={value}"), format!("{key}={wanted}"), None);
        }
        found
    }

    fn line(&mut self, at: usize, line: &'t str) {
        let line = line.split('#').next().unwrap_or("");
        let words = Words::of(line);
        let Some((word, rest)) = words.plain.split_first() else { return };
        let wanted = match (*word, rest) {
            ("node", [name, switch]) => return self.node(at, (name, switch), &words),
            ("switch", [name]) => {
                self.options(at, &words, []);
                self.fits(at, name);
                self.switches.number(name);
                return;
            }
            ("link" | "arc", [from, to]) => return self.link(at, (from, to), *word == "link", &words),
            ("route", [from, to, ":", by @ ..]) if !by.is_empty() => {
                let [parts] = self.options(at, &words, ["part"]);
                let read = |text: &str| {
                    let half = |part| match part {
                        0 => Some(Half::Lower),
                        1 => Some(Half::Upper),
                        _ => None,
                    };
                    numbers(text)?.into_iter().map(half).collect::<Option<Vec<Half>>>()
                };
                let parts = self.option(at, ("part", parts), read, "0 or 1 for each link, such as part=0,1");
                return self.routes.push(Route {
                    line: at,
                    is_next: false,
                    from,
                    to,
                    by: by.to_vec(),
                    parts,
                });
            }
            ("next", [from, to, ":", by]) => {
                self.options(at, &words, []);
                let by = vec![*by];
                return self.routes.push(Route { line: at, is_next: true, from, to, by, parts: None });
            }
            ("node", _) => "node NAME SWITCH",
            ("switch", _) => "switch NAME",
            ("link", _) => "link SWITCH SWITCH",
            ("arc", _) => "arc SWITCH SWITCH",
            ("route", _) => "route NODE NODE : SWITCH ..",
            ("next", _) => "next SWITCH NODE : SWITCH",
            _ => "a line that begins with node, switch, link, arc, route or next",
        };
        let found: String = line.trim().chars().take(60).collect();
        self.refuse(at, format!("\"{found}\""), wanted, None);
    }

    fn node(&mut self, at: usize, (name, switch): (&'t str, &'t str), words: &Words<'t>) {
        let [port, delay, capacity] = self.options(at, words, ["port", "delay", "capacity"]);
        let port = self.option(at, ("port", port), |text| text.parse().ok(), "a number");
        let time = self.time(at, delay, capacity);
        if let Some(before) = self.nodes.find(name) {
            let line = self.hosts[before as usize].line + 1;
            return self.refuse(
                at,
                format!("a second node {name}"),
                format!("one, that of line {line}"),
                None,
            );
        }
        self.fits(at, name);
        self.fits(at, switch);
        self.nodes.number(name);
        let switch = self.switches.number(switch);
        self.hosts.push(Host { line: at, switch, port, time });
    }

    fn time(&mut self, at: usize, delay: Option<&str>, capacity: Option<&str>) -> LinkTime {
        let read = |text: &str| text.parse().ok().filter(|delay| *delay <= LONGEST_DELAY);
        let wanted =
            format!("a whole number of nanoseconds, or cycles with routers, at most {LONGEST_DELAY}");
        let delay = self.option(at, ("delay", delay), read, &wanted).unwrap_or(0);
        let read = |text: &str| {
            let whole = text.strip_prefix("1/").or_else(|| Some(text).filter(|text| *text == "1"));
            whole?.parse().ok().filter(|slowdown| (1..=MOST_SLOWDOWN).contains(slowdown))
        };
        let wanted = format!("1/1, 1/2, 1/3 .. 1/{MOST_SLOWDOWN} of the rate of other links");
        let slowdown = self.option(at, ("capacity", capacity), read, &wanted).unwrap_or(1);
        LinkTime { slowdown, delay }
    }

    fn fits(&mut self, at: usize, name: &str) {
        if name.chars().count() > LONGEST_NAME || name == "*" || name == ":" {
            let found: String = name.chars().take(20).collect();
            let wanted = format!("a name of at most {LONGEST_NAME} characters, but not * or :");
            self.refuse(at, format!("the name {found}"), wanted, None);
        }
    }

    fn link(&mut self, at: usize, (from, to): (&'t str, &'t str), is_both_ways: bool, words: &Words<'t>) {
        let [links, ports, delay, capacity] =
            self.options(at, words, ["links", "ports", "delay", "capacity"]);
        let time = self.time(at, delay, capacity);
        let count = |text: &str| text.parse().ok().filter(|links| (1..=MOST_PARALLEL).contains(links));
        let links = self.option(at, ("links", links), count, &format!("1 to {MOST_PARALLEL}")).unwrap_or(1);
        let ports = self.option(at, ("ports", ports), pair, "a port of each switch, such as ports=0,3");
        self.fits(at, from);
        self.fits(at, to);
        if from == to {
            return self.refuse(
                at,
                format!("a link from {from} to itself"),
                "a link to another switch",
                None,
            );
        }
        let (from, to) = (self.switches.number(from), self.switches.number(to));
        let ways = if is_both_ways { vec![(from, to), (to, from)] } else { vec![(from, to)] };
        for (from, to) in ways {
            if let Some(before) = self.joined.insert((from, to), at) {
                let names = &self.switches.names;
                let (from, to) = (&names[from as usize], &names[to as usize]);
                let found = format!("more links from {from} to {to}");
                let wanted = format!("all of them in line {}", before + 1);
                return self.refuse(at, found, wanted, Some("write links=2 there for two parallel links"));
            }
        }
        self.links.push(Written { line: at, from, to, links, ports, is_both_ways, time });
    }

    /// Gives ports to nodes and links: those that are said, then the lowest free ones in the order of the lines.
    fn wired(&mut self) -> Graph {
        let mut ports = Ports { taken: vec![0; self.switches.names.len()], refused: Vec::new() };
        let mut hosts: Vec<u32> = vec![0; self.hosts.len()];
        let mut ends: Vec<(u32, u32)> = vec![(0, 0); self.links.len()];
        for is_said in [true, false] {
            // nodes and links of one text, in the order of its lines
            let (mut host, mut link) = (0, 0);
            while host < hosts.len() || link < ends.len() {
                let of_host = self.hosts.get(host).map(|host| host.line);
                let of_link = self.links.get(link).map(|link| link.line);
                if of_link.is_none() || of_host.is_some_and(|host| Some(host) < of_link) {
                    let Host { line, switch, port, .. } = self.hosts[host];
                    if port.is_some() == is_said {
                        hosts[host] = ports.take(switch, port, 1, line);
                    }
                    host += 1;
                } else {
                    let Written { line, from, to, links, ports: said, .. } = self.links[link];
                    if said.is_some() == is_said {
                        let [one, other] = [said.map(|said| said.0), said.map(|said| said.1)];
                        ends[link] = (ports.take(from, one, links, line), ports.take(to, other, links, line));
                    }
                    link += 1;
                }
            }
        }
        for (line, switch, port, links) in ports.refused {
            let name = &self.switches.names[switch as usize];
            let (found, wanted, help) = match port {
                None => {
                    (format!("more than {MOST_PORTS} ports of {name}"), format!("at most {MOST_PORTS}"), None)
                }
                Some(port) if Ports::mask(port, links).is_none() => {
                    let last = format!("port {} of {name}", u64::from(port) + u64::from(links) - 1);
                    (last, format!("ports from 0 to {}", MOST_PORTS - 1), None)
                }
                Some(port) => {
                    let help = "leave ports out, and they are numbered";
                    (
                        format!("port {port} of {name}"),
                        "a port that no line before has".to_owned(),
                        Some(help),
                    )
                }
            };
            self.refuse(line, found, wanted, help);
        }
        let most = ports.taken.iter().map(|taken| 128 - taken.leading_zeros()).max().unwrap_or(0);
        self.graph(most.max(2), &hosts, &ends)
    }

    fn graph(&mut self, ports: u32, hosts: &[u32], ends: &[(u32, u32)]) -> Graph {
        let switches = self.switches.names.len();
        let mut graph = Graph {
            nodes: std::mem::take(&mut self.nodes.names),
            numbers: self.nodes.numbers.clone(),
            switches: std::mem::take(&mut self.switches.names),
            entries: self.hosts.iter().zip(hosts).map(|(host, port)| (host.switch, *port)).collect(),
            ports,
            ends: vec![LinkEnd::Absent; switches * ports as usize],
            times: vec![LinkTime::USUAL; switches * ports as usize],
            neighbours: vec![Vec::new(); switches],
            is_both_ways: true,
            ..Graph::default()
        };
        for (node, (switch, port)) in graph.entries.iter().enumerate() {
            let at = (switch * ports + port) as usize;
            (graph.ends[at], graph.times[at]) = (LinkEnd::Node(node as u32), self.hosts[node].time);
        }
        for (link, (one, other)) in self.links.iter().zip(ends) {
            graph.is_both_ways &= link.is_both_ways;
            let mut join = |(from, port): (u32, u32), (to, entered): (u32, u32)| {
                graph.neighbours[from as usize].push(Neighbour { switch: to, port, links: link.links });
                for place in 0..link.links {
                    let at = (from * ports + port + place) as usize;
                    if let Some(end) = graph.ends.get_mut(at) {
                        *end = LinkEnd::Input { router: to, port: entered + place };
                        graph.times[at] = link.time;
                    }
                }
            };
            join((link.from, *one), (link.to, *other));
            if link.is_both_ways {
                join((link.to, *other), (link.from, *one));
            }
        }
        for neighbours in &mut graph.neighbours {
            neighbours.sort_by_key(|neighbour| neighbour.switch);
        }
        graph
    }

    /// Puts routes into the graph.
    fn settle(&mut self, graph: &mut Graph) {
        let (nodes, switches) = (&self.nodes.numbers, &self.switches.numbers);
        for route in &self.routes {
            match settled(graph, route, nodes, switches) {
                Ok(()) => {}
                Err((found, wanted)) => {
                    let wrong = Wrong::at(route.line, found, wanted);
                    self.wrong.push(wrong);
                }
            }
        }
    }

    /// Refuses a text that is no network, or too large a one.
    fn check(&mut self) {
        let links = |link: &Written| u64::from(link.links) * if link.is_both_ways { 2 } else { 1 };
        let links: u64 = self.links.iter().map(links).sum();
        let sizes = [
            (self.hosts.len() as u64, "nodes", MOST_NODES as u64),
            (self.switches.names.len() as u64, "switches", MOST_SWITCHES as u64),
            (links, "links, each way", MOST_LINKS),
        ];
        for (found, what, most) in sizes {
            if found > most {
                self.wrong.push(Wrong::whole(format!("{found} {what}"), format!("at most {most}")));
            }
        }
        if self.hosts.len() < 2 {
            let found = if self.hosts.is_empty() { "no node" } else { "1 node" };
            self.wrong.push(Wrong::whole(
                found.to_owned(),
                "2 nodes or more, each in a line  node NAME SWITCH".to_owned(),
            ));
        }
    }
}

/// Takes over a route; else what was found and what is wanted.
fn settled(
    graph: &mut Graph,
    route: &Route<'_>,
    nodes: &HashMap<String, u32>,
    switches: &HashMap<String, u32>,
) -> Result<(), (String, String)> {
    let node = |name: &str| {
        let found = nodes.get(name).copied();
        found.ok_or_else(|| (format!("node {name}"), "a node that a line names: node NAME SWITCH".to_owned()))
    };
    let switch = |name: &str| {
        let found = switches.get(name).copied();
        found.ok_or_else(|| (format!("switch {name}"), "a switch that a line names".to_owned()))
    };
    let by = route.by.iter().map(|name| switch(name)).collect::<Result<Vec<u32>, _>>()?;
    let missing = |graph: &Graph, from: u32, to: u32| {
        let (from, to) = (&graph.switches[from as usize], &graph.switches[to as usize]);
        (format!("{from} to {to}"), "a link that a line names".to_owned())
    };
    if route.is_next {
        let (from, to) = (switch(route.from)?, (route.to != "*").then(|| node(route.to)).transpose()?);
        let port = graph.port_to(from, by[0]).ok_or_else(|| missing(graph, from, by[0]))?;
        graph.next.push((from, to, port));
        return Ok(());
    }
    let (from, to) = (node(route.from)?, node(route.to)?);
    for (at, name) in [(by[0], from), (by[by.len() - 1], to)] {
        let entry = graph.entries[name as usize].0;
        if at != entry {
            let found = format!("a way of {} at {}", graph.nodes[name as usize], graph.switches[at as usize]);
            return Err((found, format!("{}, where it is", graph.switches[entry as usize])));
        }
    }
    if let Some(twice) = (1..by.len()).find(|at| by[..*at].contains(&by[*at])) {
        let found = format!("{} twice", graph.switches[by[twice] as usize]);
        return Err((found, "a way that crosses each switch once".to_owned()));
    }
    let pairs = by.windows(2).map(|pair| (pair[0], pair[1]));
    let hops: Vec<(u32, u32)> = pairs
        .map(|(from, to)| Ok((from, graph.port_to(from, to).ok_or_else(|| missing(graph, from, to))?)))
        .collect::<Result<_, (String, String)>>()?;
    let parts = route.parts.clone().unwrap_or_else(|| vec![Half::Lower; hops.len()]);
    if parts.len() != hops.len() {
        let wanted = format!("{}, one for each link of the way", hops.len());
        return Err((format!("{} parts", parts.len()), wanted));
    }
    graph.has_parts |= parts.contains(&Half::Upper);
    let hops = hops.into_iter().zip(parts).map(|((switch, port), part)| (switch, port, part)).collect();
    graph.routes.insert((from, to), hops);
    Ok(())
}

/// The graph of a text.
///
/// # Errors
/// All that is wrong with its lines.
pub(crate) fn read(text: &str) -> Result<Graph, Vec<Wrong>> {
    let mut lines = Lines::default();
    for (at, line) in text.lines().enumerate() {
        lines.line(at, line);
    }
    lines.check();
    if lines.switches.names.len() > MOST_SWITCHES {
        return Err(lines.wrong);
    }
    let mut graph = lines.wired();
    // ways lead over links, which are to be right
    if lines.wrong.is_empty() {
        lines.settle(&mut graph);
    }
    if lines.wrong.is_empty() { Ok(graph) } else { Err(lines.wrong) }
}
