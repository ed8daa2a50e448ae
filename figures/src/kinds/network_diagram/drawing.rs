//! Drawing of a diagram: sizes follow from the distance between the nearest switches, so that every number of them can
//! be read or is left out.

use std::collections::HashSet;

use super::super::network::{LoadColours, arrow};
use super::{DiagramLink, DiagramRow, DiagramSwitch, NetworkDiagram, View};
use crate::draw::canvas::{Anchor, Area, Canvas, Pen, Place};
use crate::draw::font::Face;
use crate::draw::frame::GAP;
use crate::draw::legend::{self, Entry, Sample};
use crate::draw::palette::legible_on;
use crate::draw::tiles::{self, Tiles};

/// Distance of the nearest switches from which on links are arrows \[px\], and most of these between rows and
/// elsewhere, where more would hide each other.
const WIDE: f64 = 15.0;
const MOST_ARROWS: (usize, usize) = (600, 200);
/// The least distance between marks of nodes below a row of switches and elsewhere, and the largest; the longest row of
/// them where no space is free \[px\].
const CLOSEST: (f64, f64) = (3.4, 5.0);
const FARTHEST: f64 = 9.0;
const LONGEST_ROW: f64 = 44.0;
/// From a switch to its nodes, at most \[px\].
const STUB: f64 = 9.0;
/// The smallest letters \[px\].
const SMALLEST: f64 = 6.0;
/// Width of an arrow's head in that of its line, as `arrow` draws it.
const ARROW: f64 = 0.045;

/// How a panel is drawn, alike for all of a diagram.
struct Plan {
    /// Of a panel without its heading \[px\].
    size: (f64, f64),
    /// Around the places of switches: at the sides, above, below \[px\].
    free: (f64, f64, f64),
    /// Between the nearest switches \[px\].
    apart: f64,
    /// Half of a switch's box \[px\].
    half: (f64, f64),
    /// Of the names in the boxes, if they can be read there.
    names: Option<Face>,
    /// Whether links are arrows, or halves of lines.
    has_arrows: bool,
    /// Width of a link's line, or half of that of an arrow's \[px\].
    line: f64,
    /// From a switch to its nodes \[px\].
    stub: f64,
    /// The longest row of marks of nodes \[px\].
    row: f64,
    /// The least and the largest distance between them \[px\].
    marks: (f64, f64),
    /// Of the counts of nodes, if they can be read.
    counts: Option<Face>,
}

pub(super) fn draw(diagram: &NetworkDiagram, canvas: &mut Canvas, top: f64, room: Option<f64>) -> f64 {
    let colours = LoadColours::of(diagram.loads());
    let below_bar = colours.draw_scale(canvas, &diagram.load, top);
    let captions = captions(diagram);
    let texts = captions.iter().flat_map(|(_, lines)| lines);
    let beside = texts.map(|line| canvas.small.width(line)).fold(0.0, f64::max);
    let left = canvas.margin + if beside > 0.0 { (beside + GAP).min(0.25 * canvas.width) } else { 0.0 };
    let across = canvas.width - canvas.margin - left;

    let views = diagram.views();
    let (gap, heading) = (1.5 * canvas.text.size, canvas.text.line_height() + GAP);
    let nearest = nearest(diagram);
    let half = (across - gap) / 2.0;
    let columns = if views.len() > 1 && nearest * half >= 2.0 * WIDE { views.len() } else { 1 };
    let tiles = Tiles { columns, rows: views.len() / columns };
    let width = if columns > 1 { half } else { across };
    let plan = Plan::new(diagram, canvas, width, nearest);
    let start = legend::draw(canvas, &legend_of(diagram, &plan, &colours), below_bar) + GAP;
    let plan = plan.within(room.map(|room| (room - (start - top)) / tiles.rows as f64 - heading));

    let is_named = views.len() > 1;
    let above = if is_named { heading } else { 0.0 };
    let name = |view: View| if view == View::Exact { diagram.origin.as_str() } else { "simulated" };
    for (index, view) in views.iter().enumerate() {
        let area = tiles.area(index, (left, start + above), plan.size, (gap, above + GAP));
        if is_named {
            tiles::heading(canvas, name(*view), views.iter().map(|view| name(*view)), area);
        }
        draw_panel(canvas, diagram, *view, &colours, &plan.placed(diagram, area));
        if tiles.is_first_of_row(index) {
            draw_captions(canvas, &captions, &plan, area);
        }
    }
    start + tiles.rows as f64 * (plan.size.1 + above + GAP)
}

/// Distance of the nearest switches as a share of the width; 1 of one alone.
fn nearest(diagram: &NetworkDiagram) -> f64 {
    let place = |switch: &DiagramSwitch| (switch.place.0, switch.place.1 * diagram.height);
    let mut places: Vec<Place> = diagram.switches.iter().map(place).collect();
    places.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.total_cmp(&other.1)));
    let mut least = 1.0_f64;
    for (index, one) in places.iter().enumerate() {
        let near = places[index + 1..].iter().take_while(|other| other.0 - one.0 < least);
        let distance = |other: &Place| (other.0 - one.0).hypot(other.1 - one.1);
        // rows are far from each other, however many switches they have
        let is_near = |other: &&Place| (other.1 - one.1).abs() < least;
        let found = near.filter(is_near).map(distance).fold(least, f64::min);
        least = found.max(1e-6);
    }
    least
}

/// Most links from a row to those above it; 1 where there are no rows.
fn most_between(diagram: &NetworkDiagram) -> f64 {
    let height = |number: u32| diagram.switches.get(number as usize).map_or(0.0, |switch| switch.place.1);
    let upwards = |row: &DiagramRow| {
        let is_from = |link: &&DiagramLink| height(link.from) == row.y && height(link.to) > row.y;
        diagram.links.iter().filter(is_from).count()
    };
    diagram.rows.iter().map(upwards).max().unwrap_or(0).max(1) as f64
}

/// What stands left of rows: their height as a share of the layout's, above 1 and below 0 of nodes; its lines.
fn captions(diagram: &NetworkDiagram) -> Vec<(f64, Vec<String>)> {
    let named = diagram.rows.iter().filter(|row| !row.name.is_empty());
    let switches = |count: u32| if count == 1 { "1 switch".to_owned() } else { format!("{count} switches") };
    let mut captions: Vec<(f64, Vec<String>)> =
        named.map(|row| (row.y, vec![row.name.clone(), switches(row.switches)])).collect();
    for pair in diagram.rows.windows(2) {
        let is_between = |link: &&DiagramLink| {
            let height = |number: u32| diagram.switches.get(number as usize).map(|switch| switch.place.1);
            height(link.from) == Some(pair[0].y) && height(link.to) == Some(pair[1].y)
        };
        let counts = diagram.links.iter().filter(is_between).map(|link| link.parallel);
        if let Some(count) =
            counts.reduce(|one, other| if one == other { one } else { 0 }).filter(|it| *it > 1)
        {
            captions
                .push(((pair[0].y + pair[1].y) / 2.0, vec![format!("{count} parallel"), "links".to_owned()]));
        }
    }
    if !captions.is_empty() {
        let with_nodes = diagram.switches.iter().filter(|switch| !switch.nodes.is_empty());
        let at =
            with_nodes.clone().next().map_or(-1.0, |switch| if switch.outward.1 > 0.0 { 2.0 } else { -1.0 });
        let counts: Vec<usize> = with_nodes.map(|switch| switch.nodes.len()).collect();
        let (least, most) = (counts.iter().min().unwrap_or(&0), counts.iter().max().unwrap_or(&0));
        let each = if least == most { format!("{most} each") } else { format!("{least} to {most} each") };
        captions.push((at, vec![format!("{} nodes", counts.iter().sum::<usize>()), each]));
    }
    captions
}

fn draw_captions(canvas: &mut Canvas, captions: &[(f64, Vec<String>)], plan: &Plan, area: Area) {
    let places = area.inner(plan.free);
    let face = canvas.small;
    for (y, lines) in captions {
        let middle = match *y {
            y if y > 1.0 => area.top + face.line_height(),
            y if y < 0.0 => area.bottom - face.line_height(),
            // a little higher than its row, so that two lines of nodes go below
            y => places.bottom - y * places.height() - 0.25 * face.line_height(),
        };
        for (line, text) in (0..).zip(lines) {
            let at = (f64::from(line) - (lines.len() as f64 - 1.0) / 2.0) * face.line_height();
            let text = face.shortened(text, area.left - canvas.margin);
            canvas.text(&text, (canvas.margin, middle + at), Anchor::Start, face, canvas.palette.muted);
        }
    }
}

/// The part of an area that is not kept free.
trait Inner {
    fn inner(&self, free: (f64, f64, f64)) -> Self;
}

impl Inner for Area {
    fn inner(&self, (beside, above, below): (f64, f64, f64)) -> Self {
        let (top, bottom) = (self.top + above, (self.bottom - below).max(self.top + above));
        let (left, right) = (self.left + beside, (self.right - beside).max(self.left + beside));
        Self { left, top, right, bottom }
    }
}

impl Plan {
    fn new(diagram: &NetworkDiagram, canvas: &Canvas, width: f64, nearest: f64) -> Self {
        let small = canvas.small;
        let in_rows = !diagram.rows.is_empty();
        let most_nodes = diagram.switches.iter().map(|switch| switch.nodes.len()).max().unwrap_or(0);
        let widest = diagram.switches.iter().map(|switch| small.width(&switch.name)).fold(0.0, f64::max);
        // places first, with room for the largest boxes beside them
        let beside = if in_rows { 0.0 } else { (widest / 2.0 + STUB + small.size).min(0.12 * width) };
        let apart = nearest * (width - 2.0 * beside);
        let room = 0.84 * apart;
        let named = 0.78 * if in_rows { apart } else { 0.8 * apart };
        let size = small.size * ((named - 5.0) / widest.max(1e-9)).min(1.0);
        let names = (size >= SMALLEST && widest > 0.0).then_some(Face { size, ..small });
        let half = match names {
            Some(face) => (face.width("M").max(widest * size / small.size) / 2.0 + 2.5, 0.72 * face.size),
            None => ((0.3 * apart).clamp(0.3, 5.0), (0.3 * apart).clamp(1.5, 4.0)),
        };
        let row = if in_rows { room } else { room.min(LONGEST_ROW) };
        let count = small.width(&most_nodes.to_string()).max(1e-9);
        let size = (small.size * (room - 2.0) / count).min(small.size);
        let counts = (size >= SMALLEST).then_some(Face { size, ..small });
        let has_arrows =
            apart >= WIDE && diagram.links.len() <= if in_rows { MOST_ARROWS.0 } else { MOST_ARROWS.1 };
        let line = if has_arrows { (0.05 * apart).clamp(0.9, 2.4) } else { (0.09 * apart).clamp(0.5, 1.6) };
        let line = line.min((if has_arrows { 0.12 } else { 0.45 } * width / most_between(diagram)).max(0.25));
        let mut plan = Self {
            size: (width, 0.0),
            free: (0.0, 0.0, 0.0),
            apart,
            half,
            names,
            has_arrows,
            line,
            stub: if in_rows { STUB } else { (0.12 * apart).clamp(3.0, STUB) },
            row,
            marks: if in_rows { (CLOSEST.0, FARTHEST) } else { (CLOSEST.1, FARTHEST.min(0.16 * apart)) },
            counts,
        };
        plan.keep_free(diagram, small.line_height(), beside);
        let height = if diagram.height.is_finite() { diagram.height.clamp(0.0, 2.0) } else { 1.0 };
        plan.size.1 = plan.free.1 + plan.free.2 + height * (width - 2.0 * plan.free.0);
        plan
    }

    /// Room around the places of switches for boxes, nodes and captions of lines of a height.
    fn keep_free(&mut self, diagram: &NetworkDiagram, line: f64, beside: f64) {
        let with_nodes = diagram.switches.iter().filter(|switch| !switch.nodes.is_empty());
        let deep = |switch: &DiagramSwitch| self.stub + 2.0 * self.mark_half(switch.nodes.len());
        if diagram.rows.is_empty() {
            let long = |switch: &DiagramSwitch| {
                let count = switch.nodes.len();
                self.marks(count).map_or(0.0, |apart| apart * count as f64 / 2.0)
            };
            let outside = with_nodes.map(|switch| deep(switch).max(long(switch))).fold(0.0, f64::max);
            let high = self.half.1 + 1.0 + outside;
            self.free = ((self.half.0 + outside).max(beside), high, high);
            return;
        }
        let nodes = |way: f64| {
            let outside = with_nodes.clone().filter(|switch| way * switch.outward.1 > 0.0);
            outside.map(deep).fold(0.0, f64::max)
        };
        let is_captioned = diagram.rows.iter().any(|row| !row.name.is_empty());
        let free = |outside: f64, lines: f64| {
            let captions = if is_captioned { lines * line } else { 0.0 };
            (self.half.1 + 1.0 + outside).max(captions)
        };
        // the captions of rows stand a little higher than these, so that two lines of nodes go below
        let (above, below) = (nodes(1.0), nodes(-1.0));
        let lines = |outside: f64, with: f64, without: f64| if outside > 0.0 { with } else { without };
        self.free = (0.0, free(above, lines(above, 3.4, 1.3)), free(below, lines(below, 2.8, 0.8)));
    }

    /// The same in a height, if one is given.
    fn within(mut self, height: Option<f64>) -> Self {
        if let Some(height) = height {
            self.size.1 = height.max(self.free.1 + self.free.2 + 20.0);
        }
        self
    }

    /// Between the marks of the nodes of a switch; none if it has one for all of them \[px\].
    fn marks(&self, nodes: usize) -> Option<f64> {
        let apart = self.row / nodes.max(1) as f64;
        // a node alone needs no more room than its mark
        (apart >= self.marks.0).then_some(apart.min(self.marks.1))
    }

    /// Half the size of the mark of a node, or of all nodes of a switch, away from the switch \[px\].
    fn mark_half(&self, nodes: usize) -> f64 {
        match (self.marks(nodes), self.counts) {
            (Some(apart), _) => 0.38 * apart,
            (None, Some(face)) => 0.68 * face.size,
            (None, None) => 3.0,
        }
    }

    fn placed(&self, diagram: &NetworkDiagram, area: Area) -> Placed<'_> {
        let inner = area.inner(self.free);
        let place = |switch: &DiagramSwitch| {
            let (x, y) = switch.place;
            (inner.left + x * inner.width(), inner.bottom - y * inner.height())
        };
        Placed { plan: self, places: diagram.switches.iter().map(place).collect() }
    }

    /// From the middle of a switch to the edge of its box in a direction of length 1 \[px\].
    fn to_edge(&self, (dx, dy): (f64, f64)) -> f64 {
        (self.half.0 / dx.abs().max(1e-9)).min(self.half.1 / dy.abs().max(1e-9))
    }
}

/// A panel whose switches have their places.
struct Placed<'p> {
    plan: &'p Plan,
    /// By switch \[px\].
    places: Vec<Place>,
}

impl Placed<'_> {
    /// From the edge of a switch's box to that of another.
    fn between(&self, link: &DiagramLink) -> Option<(Place, Place)> {
        let (from, to) = (*self.places.get(link.from as usize)?, *self.places.get(link.to as usize)?);
        let (dx, dy) = (to.0 - from.0, to.1 - from.1);
        let length = dx.hypot(dy);
        let way = (dx / length, dy / length);
        let edge = self.plan.to_edge(way) + 1.0;
        let is_apart = length.is_finite() && length > 2.0 * edge;
        let at = |along: f64| (from.0 + along * way.0, from.1 + along * way.1);
        is_apart.then(|| (at(edge), at(length - edge)))
    }
}

fn legend_of(diagram: &NetworkDiagram, plan: &Plan, colours: &LoadColours) -> Vec<Entry> {
    let say = |text: &str| Entry::new(Sample::None, text);
    let mut entries = vec![];
    if !diagram.links.is_empty() {
        entries.push(say(match plan.has_arrows {
            true => "arrows: links each way",
            false => "halves of lines: the link that starts there",
        }));
    }
    if diagram.links.iter().any(|link| link.parallel > 1) {
        entries.push(say("of parallel links the most loaded"));
    }
    let has_marks = |switch: &DiagramSwitch| plan.marks(switch.nodes.len()).is_some();
    let mut with_nodes = diagram.switches.iter().filter(|switch| !switch.nodes.is_empty());
    if with_nodes.clone().any(has_marks) {
        entries.push(say("dots: nodes with their ejection links"));
    }
    if with_nodes.any(|switch| !has_marks(switch)) {
        entries.push(say(match plan.counts {
            Some(_) => "numbers: nodes of a switch, and their most loaded ejection link",
            None => "bars: nodes of a switch, and their most loaded ejection link",
        }));
    }
    entries.extend(colours.entry(&diagram.load));
    entries
}

fn draw_panel(
    canvas: &mut Canvas,
    diagram: &NetworkDiagram,
    view: View,
    colours: &LoadColours,
    panel: &Placed,
) {
    let both: HashSet<(u32, u32)> = diagram.links.iter().map(|link| (link.from, link.to)).collect();
    let loaded = diagram.links.iter().filter_map(|link| Some((view.load(link.load, link.simulated)?, link)));
    let mut links: Vec<(f64, &DiagramLink)> = loaded.filter(|(load, _)| load.is_finite()).collect();
    // what carries most is on top
    links.sort_by(|one, other| one.0.total_cmp(&other.0));
    for (load, link) in links {
        let Some(colour) = colours.of_load(load) else { continue };
        let Some((from, to)) = panel.between(link) else { continue };
        let way = (to.0 - from.0, to.1 - from.1);
        if panel.plan.has_arrows {
            let length = way.0.hypot(way.1);
            let step = panel.plan.line.min(0.2 * length) / ARROW;
            let direction = (way.0 / length, way.1 / length);
            canvas.polygon(&arrow(from, direction, length, step), colour);
            continue;
        }
        let share = if both.contains(&(link.to, link.from)) { 0.5 } else { 1.0 };
        let end = (from.0 + share * way.0, from.1 + share * way.1);
        canvas.line(from, end, Pen { colour, width: panel.plan.line });
    }
    if diagram.rows.is_empty() {
        draw_counts_of_links(canvas, diagram, panel);
    }
    for (switch, at) in diagram.switches.iter().zip(&panel.places) {
        draw_nodes(canvas, (switch, *at), view, colours, panel.plan);
    }
    for (switch, at) in diagram.switches.iter().zip(&panel.places) {
        draw_switch(canvas, &switch.name, *at, panel.plan);
    }
}

/// How many parallel links an arrow of a graph stands for, in its middle.
fn draw_counts_of_links(canvas: &mut Canvas, diagram: &NetworkDiagram, panel: &Placed) {
    let face = Face { size: 0.8 * canvas.small.size, ..canvas.small };
    for link in diagram.links.iter().filter(|link| link.parallel > 1 && link.from < link.to) {
        let Some((from, to)) = panel.between(link).filter(|_| panel.plan.has_arrows) else { continue };
        let (x, y) = ((from.0 + to.0) / 2.0, (from.1 + to.1) / 2.0);
        let text = format!("×{}", link.parallel);
        let (half, high) = (face.width(&text) / 2.0, 0.55 * face.size);
        if (to.0 - from.0).hypot(to.1 - from.1) > 4.0 * half {
            let area = Area { left: x - half, right: x + half, top: y - high, bottom: y + high };
            canvas.fill(area, canvas.palette.background);
            canvas.text(&text, (x, y), Anchor::Middle, face, canvas.palette.text);
        }
    }
}

fn draw_switch(canvas: &mut Canvas, name: &str, (x, y): Place, plan: &Plan) {
    let (across, high) = plan.half;
    let area = Area { left: x - across, right: x + across, top: y - high, bottom: y + high };
    let palette = canvas.palette;
    let Some(face) = plan.names else {
        canvas.fill(area, palette.muted);
        return;
    };
    canvas.fill(area, palette.background);
    canvas.frame(area, canvas.thin(palette.muted));
    canvas.text(name, (x, y), Anchor::Middle, face, palette.text);
}

/// A mark for each node of a switch, in a row across its direction, or one for all.
fn draw_nodes(
    canvas: &mut Canvas,
    (switch, at): (&DiagramSwitch, Place),
    view: View,
    colours: &LoadColours,
    plan: &Plan,
) {
    let (x, up) = switch.outward;
    let (ahead, across) = ((x, -up), (up, x));
    let loads: Vec<f64> =
        switch.nodes.iter().filter_map(|node| view.load(node.load, node.simulated)).collect();
    let (edge, mark) = (plan.to_edge(ahead), plan.mark_half(switch.nodes.len()));
    let reach = |length: f64| (at.0 + length * ahead.0, at.1 + length * ahead.1);
    let (foot, middle) = (reach(edge), reach(edge + plan.stub + mark));
    let pen = Pen { colour: canvas.palette.muted, width: 0.5 };
    if let Some(apart) = plan.marks(switch.nodes.len()) {
        for (index, load) in loads.iter().enumerate() {
            let aside = apart * (index as f64 - (loads.len() as f64 - 1.0) / 2.0);
            let place = (middle.0 + aside * across.0, middle.1 + aside * across.1);
            let Some(colour) = colours.of_load(*load) else { continue };
            canvas.line(foot, place, pen);
            canvas.disc(place, mark, colour);
        }
        return;
    }
    let most = loads.iter().copied().filter(|load| load.is_finite()).fold(f64::NEG_INFINITY, f64::max);
    let Some(colour) = colours.of_load(most) else { return };
    let text = loads.len().to_string();
    let half = match plan.counts {
        Some(face) => face.width(&text) / 2.0 + 1.0,
        None => 0.4 * plan.apart,
    };
    canvas.line(foot, middle, pen);
    let (x, y) = middle;
    canvas.fill(Area { left: x - half, right: x + half, top: y - mark, bottom: y + mark }, colour);
    if let Some(face) = plan.counts {
        canvas.text(&text, middle, Anchor::Middle, face, legible_on(colour));
    }
}
