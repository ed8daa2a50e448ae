//! Picture of a network: links coloured by their exact loads or by what connections hold of them, and beside that what
//! was simulated. Routers with coordinates are squares of a map, links arrows between them; other networks are
//! [diagrams](super::network_diagram).

use std::collections::HashMap;

use flitwise_experiment::answer::{ChannelDetail, Utilization};
use flitwise_language::document::one_of;
use flitwise_language::network::{ChannelKind, LinkEnd, Network};
use flitwise_language::scenario::Scenario;
use flitwise_models::admission::reserved;
use flitwise_models::model::{Model, Refusal};
use flitwise_models::paths::{self, Link, are_of_flits, links};

use super::heat_map::draw_scale;
use super::network_diagram::{self, NetworkDiagram};
use super::*;
use crate::draw::canvas::{Anchor, Area, Canvas, Place};
use crate::draw::font::Face;
use crate::draw::frame::GAP;
use crate::draw::legend::{self, Entry, Sample, Surface};
use crate::draw::palette::{RGBColor, SATURATED, legible_on, on_scale};
use crate::draw::scale::{Scale, label, short};
use crate::draw::tiles::{self, Tiles};

/// Most planes of a map.
const MOST_PLANES: u32 = 16;

/// Loads of all links of a network whose routers have coordinates.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct NetworkMap {
    /// What the colours stand for.
    pub load: Axis,
    /// Where loads are from that are not simulated: `exact`, or a model.
    pub origin: String,
    /// Routers from left to right, along dimension 0.
    pub columns: u32,
    /// Routers from the bottom up, along dimension 1.
    pub rows: u32,
    /// A plane of routers each, by their coordinates in other dimensions.
    pub panels: Vec<NetworkPanel>,
}

/// The routers of a plane and the links between them.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct NetworkPanel {
    /// What stands above it; empty of the only plane.
    pub label: String,
    /// By router, row by row: the load of its most loaded ejection link.
    pub routers: Vec<f64>,
    /// The same links as they were simulated; empty where nothing was.
    pub simulated_routers: Vec<SimulatedLoad>,
    /// Links within the plane; parallel ones once.
    pub links: Vec<NetworkLink>,
}

/// A link from router to router.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct NetworkLink {
    /// Column and row of the router where it starts.
    pub from: (u32, u32),
    /// Column and row of the one where it ends.
    pub to: (u32, u32),
    /// Whether it joins the ends of a line to a ring.
    pub wraps: bool,
    /// Its load.
    pub load: f64,
    /// The same as it was simulated; `null` where nothing was.
    pub simulated: Option<SimulatedLoad>,
}

/// A load as it was simulated; of parallel links the mean.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SimulatedLoad {
    /// The load.
    pub load: f64,
    /// Half-width of its 95 % interval; `null` if too little was measured. Of parallel links the mean of their
    /// half-widths, an upper bound.
    pub half_width_95: Option<f64>,
}

impl NetworkMap {
    /// Whether simulated loads stand beside the exact ones.
    pub fn is_simulated(&self) -> bool {
        self.panels.iter().any(|panel| {
            !panel.simulated_routers.is_empty() || panel.links.iter().any(|link| link.simulated.is_some())
        })
    }
}

/// What links are coloured by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Colour {
    /// Their loads.
    Load,
    /// What connections hold of them.
    Reserved,
}

impl Colour {
    const ALL: [Self; 2] = [Self::Load, Self::Reserved];

    /// Its name in files.
    fn word(self) -> &'static str {
        match self {
            Self::Load => "load",
            Self::Reserved => "reserved",
        }
    }

    fn label(self) -> &'static str {
        match self {
            Self::Load => "load of a link",
            Self::Reserved => "reserved bandwidth of a link",
        }
    }

    fn origin(self) -> &'static str {
        match self {
            Self::Load => "exact",
            Self::Reserved => Model::Admission.legend(),
        }
    }

    /// Every link, with its load or what is held of it.
    fn links(self, scenario: &Scenario) -> Result<Vec<Link>, String> {
        let mut links = links(scenario);
        if self == Self::Reserved {
            let held = reserved(scenario)?;
            links.iter_mut().for_each(|link| link.load = held(link.router, link.port));
        } else if !are_of_flits(scenario) {
            links.iter_mut().for_each(|link| link.load = link.share());
        }
        Ok(links)
    }

    fn axis(self, scenario: &Scenario) -> Axis {
        let unit = if are_of_flits(scenario) { "flits/cycle" } else { "share of its rate" };
        Axis::of(self.label(), unit)
    }

    /// What was measured of it.
    fn measured(self, channel: &ChannelDetail) -> Option<Utilization> {
        match self {
            Self::Load => Some(channel.utilization),
            Self::Reserved => channel.reserved_share,
        }
    }
}

/// Loads of all channels of a network, or what is held of them; beside them the simulated ones, if the simulation is a
/// source.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    colour: Colour,
}

impl FigureFile for Question {
    const WORD: &'static str = "network";
    const KEYS: &'static [&'static str] = &["sources", "z"];

    /// Exact loads are always there.
    fn sources() -> (&'static [Origin], Vec<Origin>) {
        (&[Origin::Simulation], Vec::new())
    }

    fn read(reading: &mut Reading<'_>, root: &Table<'_>, scenario: Option<&Scenario>) -> Option<Self> {
        check_network(reading, root, scenario?);
        let Some(z) = reading.reader.table(root, "z") else { return Some(Self { colour: Colour::Load }) };
        reading.reader.refuse_unknown(&z, &["quantity"]);
        reading.reader.require(&z, "quantity", &one_of(Colour::ALL.map(Colour::word)), None);
        let colour = reading.reader.word(&z, "quantity", &Colour::ALL, Colour::word)?;
        if colour == Colour::Reserved
            && let Err(because) = reserved(scenario?)
        {
            reading.refuse(&z, "quantity", format!("\"reserved\": {because}"), "\"load\"");
        }
        Some(Self { colour })
    }
}

/// Loads can be computed, and the picture is not too large.
fn check_network(reading: &mut Reading<'_>, root: &Table<'_>, scenario: &Scenario) {
    let network = scenario.topology();
    let sides = network.sides();
    let planes = sides.iter().skip(2).product::<u32>();
    if let Err(Refusal { key, because }) = paths::supports(scenario) {
        let found = format!("{key}: the picture of a network {because}");
        reading.refuse(root, "scenario", found, "loads that are computed at once");
    } else if planes > MOST_PLANES {
        let wanted = format!("at most {MOST_PLANES}");
        reading.refuse(
            root,
            "scenario",
            format!("{}, whose map has {planes} planes", network.name()),
            &wanted,
        );
    } else if !are_of_flits(scenario) && root.get("sources").is_some() {
        let found = "\"simulation\", which measures no single links of packet switches".to_owned();
        reading.refuse(root, "sources", found, "exact loads alone");
    } else if sides.is_empty()
        && let Some((found, wanted)) = network_diagram::refusal(&network)
    {
        reading.refuse(root, "scenario", found, &wanted);
    }
}

impl FigureKind for Question {
    fn wants_details(&self) -> bool {
        true
    }

    /// Loads of all links, on a map where routers have coordinates.
    fn content(&self, figure: &Figure, runs: Runs<'_>, notes: &mut Vec<Note>) -> Content {
        let scenario = figure.scenario();
        let simulation = runs.simulations.first();
        let details = simulation.and_then(|found| found.channel_details.as_deref());
        let simulated = details.map(|found| LinkLoads::of(found, self.colour));
        let mut note = |text: String| notes.push(Note { place: note::Place::default(), text });
        let links = self.colour.links(scenario).unwrap_or_else(|because| {
            note(because);
            Vec::new()
        });
        let network = scenario.topology();
        let found = |link: &Link| simulated.as_ref()?.load(link, network.parallel(link.router, link.port));
        let (load, origin) = (self.colour.axis(scenario), self.colour.origin());
        let content = if network.sides().is_empty() {
            let loads = links.iter().map(|link| (link, found(link)));
            Content::NetworkDiagram(NetworkDiagram::new(&network, (load, origin), loads))
        } else {
            let mut map = NetworkMap::empty(&network, (load, origin), simulated.is_some());
            let between = map.fill(&links, found);
            if map.panels.len() > 1 {
                note(format!(
                    "links between the planes are not drawn; the most loaded one carries {between:.3} flits/cycle"
                ));
            }
            Content::Network(map)
        };
        match &simulated {
            Some(found) => found.differences(scenario, &links).into_iter().for_each(note),
            None if simulation.is_some() => note("nothing was measured".to_owned()),
            None => {}
        }
        content
    }
}

impl NetworkMap {
    /// Without links, a panel for each plane of dimensions 0 and 1.
    fn empty(network: &Network, (load, origin): (Axis, &str), is_simulated: bool) -> Self {
        let sides = network.sides();
        let side = |dimension: usize| sides.get(dimension).copied().unwrap_or(1);
        let (columns, rows) = (side(0), side(1));
        let in_plane = columns * rows;
        let nothing = SimulatedLoad { load: 0.0, half_width_95: None };
        let none_yet = if is_simulated { vec![nothing; in_plane as usize] } else { Vec::new() };
        let panel = |plane: u32| NetworkPanel {
            label: plane_label(plane, &sides),
            routers: vec![f64::NEG_INFINITY; in_plane as usize],
            simulated_routers: none_yet.clone(),
            links: Vec::new(),
        };
        let panels = (0..network.routers() / in_plane).map(panel).collect();
        Self { load, origin: origin.to_owned(), columns, rows, panels }
    }

    /// Adds links, each with what was simulated of it; the largest load of those from plane to plane.
    fn fill(&mut self, links: &[Link], found: impl Fn(&Link) -> Option<SimulatedLoad>) -> f64 {
        let (columns, rows) = (self.columns, self.rows);
        let in_plane = columns * rows;
        let mut between = 0.0_f64;
        for link in links {
            let Link { router, load, .. } = *link;
            let panel = &mut self.panels[(router / in_plane) as usize];
            let found = found(link);
            match link.end {
                LinkEnd::Node(_) => {
                    let at = (router % in_plane) as usize;
                    if load > panel.routers[at] {
                        panel.routers[at] = load;
                        if let (Some(place), Some(found)) = (panel.simulated_routers.get_mut(at), found) {
                            *place = found;
                        }
                    }
                }
                LinkEnd::Input { router: next, .. } if next / in_plane == router / in_plane => {
                    let place = |router: u32| (router % columns, router / columns % rows);
                    let (from, to) = (place(router), place(next));
                    let wraps = from.0.abs_diff(to.0) > 1 || from.1.abs_diff(to.1) > 1;
                    panel.links.push(NetworkLink { from, to, wraps, load, simulated: found });
                }
                _ => between = between.max(load),
            }
        }
        between
    }
}

/// Colours of loads, on a scale from 0; those of links that cannot carry more are not on it.
pub(super) struct LoadColours {
    scale: Scale,
    has_saturated: bool,
}

/// A load from which on a link is saturated, but for rounding.
const FULL: f64 = 1.0 - 1e-9;

impl LoadColours {
    pub(super) fn of(loads: impl Iterator<Item = f64>) -> Self {
        let (mut most, mut has_saturated) = (0.0_f64, false);
        for load in loads.filter(|load| load.is_finite()) {
            if load >= FULL {
                (most, has_saturated) = (1.0, true);
            } else {
                most = most.max(load);
            }
        }
        let scale = Scale::exactly(0.0, most, false).unwrap_or_else(|| Scale::around([0.0, 1.0], false, 0.0));
        Self { scale, has_saturated }
    }

    /// The colour of a load, if it can be drawn.
    pub(super) fn of_load(&self, load: f64) -> Option<RGBColor> {
        let share = self.scale.share(load)?;
        Some(if load >= FULL { SATURATED } else { on_scale(share) })
    }

    pub(super) fn draw_scale(&self, canvas: &mut Canvas, axis: &Axis, top: f64) -> f64 {
        draw_scale(canvas, axis, self.scale, false, top)
    }

    /// What the legend says of saturated links, if there are any.
    pub(super) fn entry(&self, axis: &Axis) -> Option<Entry> {
        let sample = Sample::Swatch { colour: SATURATED, surface: Surface::Solid };
        let text = format!("saturated: at least 1 {}", axis.unit);
        self.has_saturated.then(|| Entry::new(sample, text.trim_end()))
    }
}

/// The coordinates of a plane in dimensions 2, 3, ..; empty of the only one.
fn plane_label(plane: u32, sides: &[u32]) -> String {
    let mut rest = plane;
    let words = sides.iter().enumerate().skip(2).map(|(dimension, side)| {
        let coordinate = rest % side;
        rest /= side;
        format!("{coordinate} in dimension {dimension}")
    });
    words.collect::<Vec<_>>().join(", ")
}

/// What was measured of each link, by router and output port.
struct LinkLoads<'s> {
    found: HashMap<(u32, u32), &'s ChannelDetail>,
    colour: Colour,
}

impl<'s> LinkLoads<'s> {
    fn of(details: &'s [ChannelDetail], colour: Colour) -> Self {
        let injection = ChannelKind::Injection.to_string();
        let behind_routers = details.iter().filter(|one| one.kind != injection);
        Self { found: behind_routers.map(|one| ((one.router, one.port), one)).collect(), colour }
    }

    /// The mean of parallel links; none if one of them was not measured.
    fn load(&self, link: &Link, parallel: u32) -> Option<SimulatedLoad> {
        let count = if link.is_between_routers() { parallel } else { 1 };
        let each = (link.port..link.port + count)
            .map(|port| self.colour.measured(self.found.get(&(link.router, port))?));
        let each: Vec<Utilization> = each.collect::<Option<_>>()?;
        let share = 1.0 / f64::from(count);
        let load = each.iter().map(|one| one.mean * share).sum();
        let widths = each.iter().map(|one| one.half_width_95.map(|width| width * share));
        Some(SimulatedLoad { load, half_width_95: widths.sum() })
    }

    /// How far simulated loads are from the exact ones, in sentences.
    fn differences(&self, scenario: &Scenario, links: &[Link]) -> Vec<String> {
        let network = scenario.topology();
        let pairs = links.iter().filter_map(|link| {
            let found = self.load(link, network.parallel(link.router, link.port))?;
            Some((link, found, found.load - link.load))
        });
        let pairs: Vec<(&Link, SimulatedLoad, f64)> = pairs.collect();
        let Some((link, found, difference)) =
            pairs.iter().max_by(|one, other| one.2.abs().total_cmp(&other.2.abs()))
        else {
            return Vec::new();
        };
        let width = found.half_width_95.map_or("unknown".to_owned(), |width| format!("{width:.4}"));
        let largest = format!(
            "largest difference: {difference:+.4} flits/cycle, simulated {:.4} (half-width {width}), {} {:.4}, {}",
            found.load,
            self.colour.origin(),
            link.load,
            link.words(&network)
        );
        let known = pairs.iter().filter_map(|(_, found, off)| Some((found.half_width_95?, off.abs())));
        let known: Vec<(f64, f64)> = known.collect();
        // exact loads are sums of rounded numbers
        let outside = known.iter().filter(|(width, off)| *off > width + ROUNDING).count();
        let share = 100.0 * outside as f64 / known.len().max(1) as f64;
        let counted = format!(
            "{outside} of {} links ({share:.1} %) have {} outside of their 95 % interval; chance alone puts 5 % there",
            known.len(),
            if self.colour == Colour::Load { "an exact load" } else { "that of the model" }
        );
        vec![largest, counted]
    }
}

/// Differences that are no more than rounding \[flits/cycle\].
const ROUNDING: f64 = 1e-9;

impl Chart for NetworkMap {
    /// Links from router to router, then ejection links, which end nowhere on the map.
    fn table(&self) -> rows::Table {
        let [load, simulated, width] =
            ["load", "simulated_load", "simulated_half_width_95"].map(|stem| column(stem, &self.load));
        let heads = ["panel", "from_column", "from_row", "to_column", "to_row", &load, &simulated, &width];
        let rows = self.panels.iter().flat_map(|panel| {
            let place = |(column, row): (u32, u32)| [column.to_string(), row.to_string()];
            let row = move |from, to: Option<(u32, u32)>, load: f64, simulated: Option<SimulatedLoad>| {
                let [column, row] = place(from);
                let [to_column, to_row] = to.map_or_else(Default::default, place);
                let width = simulated.and_then(|found| found.half_width_95);
                let simulated = number(simulated.map(|found| found.load));
                vec![
                    panel.label.clone(),
                    column,
                    row,
                    to_column,
                    to_row,
                    load.to_string(),
                    simulated,
                    number(width),
                ]
            };
            let links =
                panel.links.iter().map(move |link| row(link.from, Some(link.to), link.load, link.simulated));
            let columns = self.columns.max(1);
            let router = move |(index, load): (usize, &f64)| {
                let at = index as u32;
                row((at % columns, at / columns), None, *load, panel.simulated_routers.get(index).copied())
            };
            links.chain(panel.routers.iter().enumerate().map(router))
        });
        rows::Table::new(&heads, rows)
    }

    fn origins(&self) -> Vec<Origin> {
        // exact loads have no origin
        if self.is_simulated() { vec![Origin::Simulation] } else { Vec::new() }
    }

    fn description(&self) -> String {
        let links: usize = self.panels.iter().map(|panel| panel.links.len()).sum();
        let beside =
            if self.is_simulated() { format!(", {} beside simulated", self.origin) } else { String::new() };
        let (columns, rows) = (self.columns, self.rows);
        format!("Map of {columns} by {rows} routers and {links} links: {}{beside}", label(&self.load))
    }

    fn draw(&self, canvas: &mut Canvas<'_>, top: f64, room: Option<f64>) -> f64 {
        let views: &[View] =
            if self.is_simulated() { &[View::Exact, View::LinkLoads] } else { &[View::Exact] };
        let loads = self.panels.iter().flat_map(|panel| views.iter().flat_map(|view| view.loads(panel)));
        let colours = LoadColours::of(loads);
        let below_bar = colours.draw_scale(canvas, &self.load, top);
        let legend = Entry::new(Sample::None, "arrows: links each way; squares: ejection links");
        let entries: Vec<Entry> = [legend].into_iter().chain(colours.entry(&self.load)).collect();
        let start = legend::draw(canvas, &entries, below_bar) + canvas.text.line_height() + GAP;

        let (columns, rows) = (f64::from(self.columns.max(1)), f64::from(self.rows.max(1)));
        let left = canvas.margin + canvas.small.width("00") + 2.0 * GAP;
        let across = canvas.width - canvas.margin - left;
        let gaps =
            (2.0 * canvas.text.size, canvas.small.line_height() + canvas.text.line_height() + 3.0 * GAP);
        let count = self.panels.len() * views.len();
        let tiles = match Tiles::new(views.len(), across, 13.0 * canvas.text.size).columns {
            // both views of a plane side by side
            columns @ 2.. => Tiles { columns, rows: self.panels.len() },
            _ => Tiles::new(count, across, 13.0 * canvas.text.size),
        };
        let (panels_across, panels_down) = (tiles.columns as f64, tiles.rows as f64);
        let width = (across - (panels_across - 1.0) * gaps.0) / panels_across;
        let mut step = width / columns;
        if let Some(room) = room {
            let height = (room - (start - top)) / panels_down - gaps.1;
            step = step.min((height / rows).max(1.0));
        }
        let size = (step * columns, step * rows);
        let panels = self.panels.iter().flat_map(|panel| views.iter().map(move |view| (panel, *view)));
        let headings: Vec<String> =
            panels.clone().map(|(panel, view)| view.heading(self, panel, views.len() > 1)).collect();
        for (index, (panel, view)) in panels.enumerate() {
            let area = tiles.area(index, (left, start), size, gaps);
            draw_panel(canvas, self, (panel, view), &colours, area);
            tiles::heading(canvas, &headings[index], headings.iter().map(String::as_str), area);
            tiles::numbers_below(canvas, &numbers(self.columns), area);
            if tiles.is_first_of_row(index) {
                tiles::numbers_left(canvas, &numbers(self.rows), area);
            }
        }
        start + panels_down * (size.1 + gaps.1) - gaps.1 + canvas.small.line_height() + 2.0 * GAP
    }
}

/// Half the side of a router's square, in distances between routers.
const HALF_SIDE: f64 = 0.21;
/// From the middle of a link to the arrow of either way, and half the width of an arrow.
const ASIDE: f64 = 0.09;
const HALF_WIDTH: f64 = 0.045;

/// Which loads a panel shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum View {
    Exact,
    LinkLoads,
}

impl View {
    fn of_link(self, link: &NetworkLink) -> Option<f64> {
        match self {
            Self::Exact => Some(link.load),
            Self::LinkLoads => link.simulated.map(|found| found.load),
        }
    }

    fn of_routers(self, panel: &NetworkPanel) -> Vec<f64> {
        match self {
            Self::Exact => panel.routers.clone(),
            Self::LinkLoads => panel.simulated_routers.iter().map(|found| found.load).collect(),
        }
    }

    fn loads(self, panel: &NetworkPanel) -> Vec<f64> {
        let links = panel.links.iter().filter_map(|link| self.of_link(link));
        self.of_routers(panel).into_iter().chain(links).collect()
    }

    fn heading(self, map: &NetworkMap, panel: &NetworkPanel, is_named: bool) -> String {
        let name = match self {
            Self::Exact => &map.origin,
            Self::LinkLoads => "simulated",
        };
        match panel.label.as_str() {
            label if !is_named => label.to_owned(),
            "" => name.to_owned(),
            label => format!("{label}: {name}"),
        }
    }
}

fn numbers(count: u32) -> Vec<String> {
    (0..count).map(|number| number.to_string()).collect()
}

fn draw_panel(
    canvas: &mut Canvas,
    map: &NetworkMap,
    (panel, view): (&NetworkPanel, View),
    colours: &LoadColours,
    area: Area,
) {
    let step = area.width() / f64::from(map.columns.max(1));
    let at = |(column, row): (u32, u32)| -> Place {
        (area.left + (f64::from(column) + 0.5) * step, area.bottom - (f64::from(row) + 0.5) * step)
    };
    let colour = |load: f64| colours.of_load(load);
    for link in &panel.links {
        let Some(colour) = view.of_link(link).and_then(colour) else { continue };
        for outline in arrows(link, at, step) {
            canvas.polygon(&outline, colour);
        }
    }
    let face = Face { size: canvas.small.size.min(0.14 * step), bold: false };
    for (index, load) in view.of_routers(panel).into_iter().enumerate() {
        let Some(colour) = colour(load) else { continue };
        let (column, row) = (index as u32 % map.columns.max(1), index as u32 / map.columns.max(1));
        let (x, y) = at((column, row));
        let half = HALF_SIDE * step;
        canvas.fill(Area { left: x - half, right: x + half, top: y - half, bottom: y + half }, colour);
        if face.size >= 6.0 {
            canvas.text(&short(load), (x, y), Anchor::Middle, face, legible_on(colour));
        }
    }
}

/// The outlines of a link's arrow: from square to square, or one out of the picture and one into it.
fn arrows(link: &NetworkLink, at: impl Fn((u32, u32)) -> Place, step: f64) -> Vec<[Place; 5]> {
    let (from, to) = (at(link.from), at(link.to));
    // to the right and up, or to the left and down; round the ring it is the other way
    let sign = |from: u32, to: u32| f64::from(u8::from(to > from)) - f64::from(u8::from(to < from));
    let turn = if link.wraps { -1.0 } else { 1.0 };
    let direction = (turn * sign(link.from.0, link.to.0), -turn * sign(link.from.1, link.to.1));
    let reach = (1.0 - 2.0 * HALF_SIDE) * step;
    if link.wraps {
        let half = reach / 2.0;
        let before = (0.5 - HALF_SIDE) * step + HALF_SIDE * step;
        let outside = (to.0 - before * direction.0, to.1 - before * direction.1);
        let first = (from.0 + HALF_SIDE * step * direction.0, from.1 + HALF_SIDE * step * direction.1);
        return vec![arrow(first, direction, half, step), arrow(outside, direction, half, step)];
    }
    let first = (from.0 + HALF_SIDE * step * direction.0, from.1 + HALF_SIDE * step * direction.1);
    vec![arrow(first, direction, reach, step)]
}

/// An arrow of a length from a place on, to the right of the middle of the link.
pub(super) fn arrow(from: Place, (dx, dy): Place, length: f64, step: f64) -> [Place; 5] {
    let (right_x, right_y) = (-dy, dx);
    let at = |along: f64, aside: f64| {
        let aside = aside * step;
        (from.0 + along * dx + aside * right_x, from.1 + along * dy + aside * right_y)
    };
    let neck = length - 2.0 * HALF_WIDTH * step;
    [
        at(0.0, ASIDE - HALF_WIDTH),
        at(neck, ASIDE - HALF_WIDTH),
        at(length, ASIDE),
        at(neck, ASIDE + HALF_WIDTH),
        at(0.0, ASIDE + HALF_WIDTH),
    ]
}
