//! Diagram of a network whose switches have no coordinates: trees by levels, graphs as springs put them; links coloured
//! by their loads, and beside that what was simulated. It is what figures of kind `network` show of such networks.

mod drawing;
mod layout;
mod springs;

use std::collections::BTreeMap;

use flitwise_language::network::{LinkEnd, Network};
use flitwise_models::paths::Link;

use super::network::SimulatedLoad;
use super::*;
use crate::draw::scale::label;
pub(super) use layout::Arrangement;
use layout::Layout;

/// Most links between switches, each way, that are drawn.
const MOST_LINKS: usize = 40_000;

/// Loads of all links of a network, its switches where a layout puts them.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct NetworkDiagram {
    /// What the colours stand for.
    pub load: Axis,
    /// Where loads are from that are not simulated: `exact`, or a model.
    pub origin: String,
    /// Height of the layout as a share of its width.
    pub height: f64,
    /// Rows of switches, from below; empty where they stand in none.
    pub rows: Vec<DiagramRow>,
    /// By number.
    pub switches: Vec<DiagramSwitch>,
    /// Links from switch to switch, those between the same two once for each way.
    pub links: Vec<DiagramLink>,
}

/// A row of switches, such as a level of a tree.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct DiagramRow {
    /// Its name; empty of the only row.
    pub name: String,
    /// Its height above the lowest place, as a share of the layout's.
    pub y: f64,
    /// Switches in it.
    pub switches: u32,
}

/// A switch and its nodes.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct DiagramSwitch {
    /// Its name, or its number as people write it.
    pub name: String,
    /// Its place, as shares of the layout's width and height from the lower left.
    pub place: (f64, f64),
    /// Direction in which its nodes stand: to the right and up, of length 1.
    pub outward: (f64, f64),
    /// Nodes to which ejection links lead from it.
    pub nodes: Vec<DiagramNode>,
}

/// A node.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct DiagramNode {
    /// Its name, or its number as people write it.
    pub name: String,
    /// Load of its ejection link.
    pub load: f64,
    /// The same as it was simulated; `null` where nothing was.
    pub simulated: Option<SimulatedLoad>,
}

/// Links from a switch to another.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct DiagramLink {
    /// Number of the switch where they start.
    pub from: u32,
    /// Number of the one where they end.
    pub to: u32,
    /// What they are for: `link`, or `up` or `down` with the lower level.
    pub channel: String,
    /// How many there are.
    pub parallel: u32,
    /// Load of the most loaded one.
    pub load: f64,
    /// Load of the same one as it was simulated, of links of which one is chosen the mean; `null` where nothing was.
    pub simulated: Option<SimulatedLoad>,
}

/// Which loads a panel shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum View {
    Exact,
    Simulated,
}

impl View {
    fn load(self, load: f64, simulated: Option<SimulatedLoad>) -> Option<f64> {
        match self {
            Self::Exact => Some(load),
            Self::Simulated => simulated.map(|found| found.load),
        }
    }
}

/// What keeps the diagram of a network from being drawn: what is found, and what is wanted.
pub(super) fn refusal(network: &Network) -> Option<(String, String)> {
    let refused = |found: u32, of: &str, most: u32| {
        (format!("{}, whose picture has {found} {of}", network.name()), format!("at most {most}"))
    };
    if let Some((found, of, most)) = Arrangement::of(&**network).refusal(&**network) {
        return Some(refused(found, of, most));
    }
    let links = pairs(network).count();
    (links > MOST_LINKS).then(|| refused(links as u32, "links between switches", MOST_LINKS as u32))
}

/// Switches that a link leads from and to, by router and port.
fn pairs(network: &Network) -> impl Iterator<Item = (u32, u32)> {
    (0..network.routers()).flat_map(move |from| {
        let mut next: Vec<u32> = (0..network.ports())
            .filter_map(|port| network.link_end(from, port).input())
            .map(|(to, _)| to)
            .collect();
        next.sort_unstable();
        next.dedup();
        next.into_iter().map(move |to| (from, to))
    })
}

impl NetworkDiagram {
    /// That of a network with the loads of its links, each with what was simulated of it.
    pub(super) fn new<'l>(
        network: &Network,
        (load, origin): (Axis, &str),
        loads: impl Iterator<Item = (&'l Link, Option<SimulatedLoad>)>,
    ) -> Self {
        let layout = Layout::new(&**network, &pairs(network).collect::<Vec<_>>());
        let places = layout.places.into_iter().zip(layout.outward);
        let mut switches: Vec<DiagramSwitch> = (0..)
            .zip(places)
            .map(|(number, (place, outward))| DiagramSwitch {
                name: network.router_address(number),
                place,
                outward,
                nodes: Vec::new(),
            })
            .collect();
        let mut links: BTreeMap<(u32, u32), DiagramLink> = BTreeMap::new();
        for (link, simulated) in loads {
            let (from, load) = (link.router, link.load);
            match link.end {
                LinkEnd::Node(node) => {
                    let name = network.address(node);
                    switches[from as usize].nodes.push(DiagramNode { name, load, simulated });
                }
                LinkEnd::Input { router: to, .. } => {
                    let channel = network.kind(from, link.port).to_string();
                    let none = DiagramLink { from, to, channel, parallel: 0, load, simulated };
                    let known = links.entry((from, to)).or_insert(none);
                    known.parallel += network.parallel(from, link.port);
                    if load > known.load {
                        (known.load, known.simulated) = (load, simulated);
                    }
                }
                LinkEnd::Absent => {}
            }
        }
        let (origin, links) = (origin.to_owned(), links.into_values().collect());
        Self { load, origin, height: layout.height, rows: layout.rows, switches, links }
    }

    /// Whether simulated loads stand beside the exact ones.
    pub fn is_simulated(&self) -> bool {
        self.links.iter().any(|link| link.simulated.is_some())
            || self.nodes().any(|node| node.simulated.is_some())
    }

    fn nodes(&self) -> impl Iterator<Item = &DiagramNode> {
        self.switches.iter().flat_map(|switch| &switch.nodes)
    }

    fn views(&self) -> &'static [View] {
        if self.is_simulated() { &[View::Exact, View::Simulated] } else { &[View::Exact] }
    }

    /// All loads that are drawn.
    fn loads(&self) -> impl Iterator<Item = f64> {
        let links = self.links.iter().map(|link| (link.load, link.simulated));
        let all = links.chain(self.nodes().map(|node| (node.load, node.simulated)));
        all.flat_map(|(load, simulated)| {
            self.views().iter().filter_map(move |view| view.load(load, simulated))
        })
    }
}

impl Chart for NetworkDiagram {
    /// Links from switch to switch, then ejection links.
    fn table(&self) -> rows::Table {
        let [load, simulated, width] =
            ["load", "simulated_load", "simulated_half_width_95"].map(|stem| column(stem, &self.load));
        let heads = ["channel", "from", "to", "parallel_links", &load, &simulated, &width];
        let name = |number: u32| self.switches.get(number as usize).map_or("", |switch| &switch.name);
        let row = |[channel, from, to]: [&str; 3], parallel: u32, load: f64, found: Option<SimulatedLoad>| {
            let simulated = number(found.map(|found| found.load));
            let width = number(found.and_then(|found| found.half_width_95));
            let [channel, from, to] = [channel, from, to].map(str::to_owned);
            vec![channel, from, to, parallel.to_string(), load.to_string(), simulated, width]
        };
        let links = self.links.iter().map(|link| {
            let words = [&link.channel, name(link.from), name(link.to)];
            row(words, link.parallel, link.load, link.simulated)
        });
        let ejection = self.switches.iter().flat_map(|switch| {
            let row = move |node: &DiagramNode| {
                row(["ejection", &switch.name, &node.name], 1, node.load, node.simulated)
            };
            switch.nodes.iter().map(row)
        });
        rows::Table::new(&heads, links.chain(ejection))
    }

    fn origins(&self) -> Vec<Origin> {
        // exact loads have no origin
        if self.is_simulated() { vec![Origin::Simulation] } else { Vec::new() }
    }

    fn description(&self) -> String {
        let beside =
            if self.is_simulated() { format!(", {} beside simulated", self.origin) } else { String::new() };
        let (switches, nodes, links) = (self.switches.len(), self.nodes().count(), self.links.len());
        format!(
            "Diagram of {switches} switches, {nodes} nodes and {links} links between switches: {}{beside}",
            label(&self.load)
        )
    }

    fn draw(&self, canvas: &mut Canvas<'_>, top: f64, room: Option<f64>) -> f64 {
        drawing::draw(self, canvas, top, room)
    }
}
