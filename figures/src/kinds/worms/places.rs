//! Where buffers and links of worms stand in a panel: routers on a grid, or the ports of a single router.

use std::collections::BTreeMap;

use super::{WormChannel, WormPiece, Worms, direction};
use crate::draw::canvas::{Anchor, Area, Canvas, Pen, Place as Point};
use crate::draw::font::Face;

/// Columns of a grid that are left free for the nodes of the first one.
pub(super) const EDGE: f64 = 0.1;
/// Half the side of a router, in distances between routers.
const HALF_SIDE: f64 = 0.36;
/// Radius of a node, in distances between routers.
const NODE: f64 = 0.07;
/// Rows of a grid that are left free above and below, where links leave the picture.
const RING: f64 = 0.3;
/// Points of a curve.
const POINTS: usize = 14;

/// A buffer: where flits come in, where they leave, and how thick it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Buffer {
    from: Point,
    to: Point,
    thickness: f64,
}

impl Buffer {
    fn direction(&self) -> Point {
        let (dx, dy) = (self.to.0 - self.from.0, self.to.1 - self.from.1);
        let length = dx.hypot(dy).max(1e-9);
        (dx / length, dy / length)
    }

    pub(super) fn area(&self) -> Area {
        let ((x, y), (dx, dy)) = (self.from, self.direction());
        let half = self.thickness / 2.0;
        let (wide, high) = (half * dy.abs(), half * dx.abs());
        Area {
            left: x.min(self.to.0) - wide,
            right: x.max(self.to.0) + wide,
            top: y.min(self.to.1) - high,
            bottom: y.max(self.to.1) + high,
        }
    }

    /// The slot of this number from the exit, of so many.
    fn slot(&self, number: u32, slots: u32) -> Area {
        let at = |number: u32| {
            let share = f64::from(number) / f64::from(slots.max(1));
            let along = |from: f64, to: f64| to + share * (from - to);
            (along(self.from.0, self.to.0), along(self.from.1, self.to.1))
        };
        Self { from: at(number + 1), to: at(number), ..*self }.area()
    }
}

/// Which way a port leads on the grid; right and down are positive. None: to the node of the router.
type Way = Option<(f64, f64)>;

pub(super) struct Layout<'w> {
    worms: &'w Worms,
    area: Area,
    /// By router and port, output ports and input ports: the way of flits there.
    outputs: BTreeMap<(u32, u32), Way>,
    inputs: BTreeMap<(u32, u32), Way>,
    /// Distance between routers.
    step: f64,
    thickness: f64,
}

impl<'w> Layout<'w> {
    pub(super) fn new(worms: &'w Worms, area: Area) -> Self {
        let columns = worms.columns.max(1);
        let way = |link| {
            let (right, up) = direction(link, columns);
            Some((f64::from(right), -f64::from(up)))
        };
        let outputs = worms.links.iter().map(|link| (link.from, way(link))).collect();
        let inputs = worms.links.iter().map(|link| (link.to, way(link))).collect();
        let across = area.width() / (f64::from(columns) + EDGE);
        let step = across.min(area.height() / rows(worms));
        let lanes = f64::from(worms.lanes.max(1));
        let thickness = if worms.is_single() {
            (0.72 * area.height() / f64::from(worms.ports.max(1)) / lanes).min(12.0)
        } else {
            HALF_SIDE * step * (0.22 * (1.0 + 0.5 * (lanes - 1.0))).min(0.4) / lanes
        };
        Self { worms, area, outputs, inputs, step, thickness }
    }

    /// Of a buffer.
    pub(super) fn thickness(&self) -> f64 {
        self.thickness
    }

    fn lanes(&self) -> f64 {
        f64::from(self.worms.lanes.max(1))
    }

    /// The middle of a router on the grid.
    fn centre(&self, router: u32) -> Point {
        let columns = self.worms.columns.max(1);
        let (column, row) = (f64::from(router % columns), f64::from(router / columns));
        let left = self.area.centre().0 - self.step * (f64::from(columns) - EDGE) / 2.0;
        let bottom = self.area.centre().1 + f64::from(self.worms.rows.max(1)) * self.step / 2.0;
        (left + (column + 0.5) * self.step, bottom - (row + 0.5) * self.step)
    }

    /// The middle of a port's row of a single router.
    fn row(&self, port: u32) -> f64 {
        let ports = f64::from(self.worms.ports.max(1));
        self.area.top + (f64::from(port.min(self.worms.ports)) + 0.5) * self.area.height() / ports
    }

    /// From the middle of a port's buffers to the lane.
    fn lane_offset(&self, lane: u32) -> f64 {
        (f64::from(lane) - (self.lanes() - 1.0) / 2.0) * self.thickness
    }

    /// From the middle of a link between routers to either way, and the length of a buffer.
    fn offset_and_length(&self) -> (f64, f64) {
        let half = HALF_SIDE * self.step;
        let width = self.lanes() * self.thickness;
        let offset = width / 2.0 + 0.07 * half;
        (offset, half - offset - width / 2.0 - 0.04 * half)
    }

    pub(super) fn buffer(&self, piece: &WormPiece) -> Option<Buffer> {
        let WormPiece { channel, router, port, lane, .. } = *piece;
        let is_input = match channel {
            WormChannel::Input => true,
            WormChannel::Output => false,
            WormChannel::Injection | WormChannel::Link => return None,
        };
        Some(if self.worms.is_single() {
            self.buffer_of_port(is_input, port, lane)
        } else {
            self.buffer_of_router(is_input, (router, port), lane)
        })
    }

    fn buffer_of_port(&self, is_input: bool, port: u32, lane: u32) -> Buffer {
        let (width, y) = (self.area.width(), self.row(port) + self.lane_offset(lane));
        let [from, to] = if is_input { [0.1, 0.37] } else { [0.63, 0.9] };
        let x = |share: f64| self.area.left + share * width;
        Buffer { from: (x(from), y), to: (x(to), y), thickness: self.thickness }
    }

    fn buffer_of_router(&self, is_input: bool, place: (u32, u32), lane: u32) -> Buffer {
        let (x, y) = self.centre(place.0);
        let half = HALF_SIDE * self.step;
        let (offset, length) = self.offset_and_length();
        let ways = if is_input { &self.inputs } else { &self.outputs };
        let thickness = self.thickness;
        let Some((dx, dy)) = ways.get(&place).copied().flatten() else {
            // in the corner at the node: one above the other
            let width = self.lanes() * thickness;
            let apart = if is_input { -0.53 } else { 0.53 } * (width + 0.1 * half);
            let y = y - half + length / 2.0 + apart + self.lane_offset(lane);
            let (edge, inner) = ((x - half, y), (x - half + 0.9 * length, y));
            let [from, to] = if is_input { [edge, inner] } else { [inner, edge] };
            return Buffer { from, to, thickness };
        };
        // traffic keeps to the right: of (1, 0), to the right, that is down
        let aside = offset + self.lane_offset(lane);
        let at = |along: f64| (x + along * dx - aside * dy, y + along * dy + aside * dx);
        let [from, to] = if is_input { [-half, length - half] } else { [half - length, half] };
        Buffer { from: at(from), to: at(to), thickness }
    }

    /// The cell of a flit, by its number from the exit of a buffer.
    pub(super) fn cell(&self, piece: &WormPiece, number: u32) -> Option<Area> {
        if let Some(buffer) = self.buffer(piece) {
            return Some(buffer.slot(number, self.worms.buffer_flits));
        }
        let wire = self.wire(piece)?;
        let [from, to] = [wire.first()?, wire.last()?];
        let (x, y) = ((from.0 + to.0) / 2.0, (from.1 + to.1) / 2.0);
        let half = self.thickness.min(10.0) / 2.0;
        Some(Area { left: x - half, right: x + half, top: y - half, bottom: y + half })
    }

    /// The link of a piece.
    fn wire(&self, piece: &WormPiece) -> Option<Vec<Point>> {
        match piece.channel {
            WormChannel::Injection => {
                let buffer = self.buffer(&WormPiece { channel: WormChannel::Input, ..*piece })?;
                Some(vec![self.node(piece.router, piece.port, true), buffer.from])
            }
            WormChannel::Link => {
                let output = WormPiece { channel: WormChannel::Output, ..*piece };
                let from = self.buffer(&output)?.to;
                let Some(way) = self.outputs.get(&(piece.router, piece.port)).copied().flatten() else {
                    return Some(vec![from, self.node(piece.router, piece.port, false)]);
                };
                let gap = (1.0 - 2.0 * HALF_SIDE) * self.step;
                Some(vec![from, (from.0 + gap * way.0, from.1 + gap * way.1)])
            }
            _ => None,
        }
    }

    /// Where a link meets a node.
    fn node(&self, router: u32, port: u32, is_source: bool) -> Point {
        if self.worms.is_single() {
            let share = if is_source { 0.025 } else { 0.975 };
            return (self.area.left + share * self.area.width(), self.row(port));
        }
        let (x, y) = self.node_centre(router);
        let aside = self.step * if is_source { -0.25 } else { 0.25 } * NODE;
        (x + 0.95 * NODE * self.step, y + aside)
    }

    /// The middle of a node on the grid.
    fn node_centre(&self, router: u32) -> Point {
        let ((x, y), half) = (self.centre(router), HALF_SIDE * self.step);
        (x - half - 0.15 * self.step, y - half + self.offset_and_length().1 / 2.0)
    }

    /// From the exit of the earlier piece to the entrance of the later one.
    pub(super) fn way(&self, earlier: &WormPiece, later: &WormPiece) -> Vec<Point> {
        match (self.buffer(earlier), self.buffer(later)) {
            (Some(from), Some(to)) if earlier.channel == WormChannel::Input => crossing(&from, &to),
            // over a link, which is straight; round a ring it leaves the picture and comes in again
            (Some(_), _) if earlier.channel == WormChannel::Output => {
                self.wire(&WormPiece { channel: WormChannel::Link, ..*earlier }).unwrap_or_default()
            }
            (None, Some(to)) if self.is_near(earlier, to.from) => {
                let wire = self.wire(earlier).unwrap_or_default();
                wire.last().map_or_else(Vec::new, |from| vec![*from, to.from])
            }
            _ => Vec::new(),
        }
    }

    fn is_near(&self, link: &WormPiece, to: Point) -> bool {
        let end = self.wire(link).and_then(|wire| wire.last().copied());
        end.is_some_and(|end| (end.0 - to.0).hypot(end.1 - to.1) < self.step)
    }

    /// From the foremost flit to the node that takes flits.
    pub(super) fn way_out(&self, piece: &WormPiece) -> Vec<Point> {
        let link = WormPiece { channel: WormChannel::Link, ..*piece };
        let is_last = self.outputs.get(&(piece.router, piece.port)).copied().flatten().is_none();
        if piece.channel == WormChannel::Output && is_last {
            self.wire(&link).unwrap_or_default()
        } else {
            Vec::new()
        }
    }

    /// From the node that still has flits to the last piece.
    pub(super) fn way_in(&self, piece: &WormPiece) -> Vec<Point> {
        let link = WormPiece { channel: WormChannel::Injection, ..*piece };
        let is_first = self.inputs.get(&(piece.router, piece.port)).copied().flatten().is_none();
        if piece.channel == WormChannel::Input && is_first {
            self.wire(&link).unwrap_or_default()
        } else {
            Vec::new()
        }
    }

    /// The ends of the bar before an output buffer.
    pub(super) fn bar(&self, output: &WormPiece) -> Option<[Point; 2]> {
        let buffer = self.buffer(output)?;
        let ((x, y), (dx, dy)) = (buffer.from, buffer.direction());
        let (back, half) = (0.35 * self.thickness, 0.95 * self.thickness.max(5.0));
        let at = |aside: f64| (x - back * dx - aside * dy, y - back * dy + aside * dx);
        Some([at(-half), at(half)])
    }

    /// Routers, links, nodes and empty buffers.
    pub(super) fn draw_network(&self, canvas: &mut Canvas) {
        let palette = canvas.palette;
        let (edge, slot) = (canvas.thin(palette.muted), Pen { colour: palette.grid, width: 0.8 });
        let body = palette.faded(palette.grid, 0.55);
        let wire = Pen { colour: palette.faded(palette.muted, 0.35), width: 0.8 };
        if self.worms.is_single() {
            let (left, right) = (self.area.left, self.area.width());
            let router = Area { left: left + 0.085 * right, right: left + 0.915 * right, ..self.area };
            canvas.fill(router, body);
            canvas.frame(router, edge);
        }
        let routers = self.worms.columns.max(1) * self.worms.rows.max(1);
        for router in 0..routers {
            if !self.worms.is_single() {
                let ((x, y), half) = (self.centre(router), HALF_SIDE * self.step);
                let square = Area { left: x - half, right: x + half, top: y - half, bottom: y + half };
                canvas.fill(square, body);
                canvas.frame(square, edge);
            }
            for port in 0..self.worms.ports {
                self.draw_port(canvas, (router, port), wire, slot);
            }
        }
    }

    /// The buffers of a port, their links, and the node behind.
    fn draw_port(&self, canvas: &mut Canvas, (router, port): (u32, u32), wire: Pen, slot: Pen) {
        let is_local = |ways: &BTreeMap<(u32, u32), Way>| !ways.contains_key(&(router, port));
        let has_node = self.worms.is_single() || port + 1 == self.worms.ports;
        for channel in [WormChannel::Input, WormChannel::Output] {
            let is_input = channel == WormChannel::Input;
            if is_local(if is_input { &self.inputs } else { &self.outputs }) && !has_node {
                continue;
            }
            for lane in 0..self.worms.lanes {
                let piece = WormPiece { channel, router, port, lane, behind: 0, flits: 0, has_header: false };
                let Some(buffer) = self.buffer(&piece) else { continue };
                let link = if is_input { WormChannel::Injection } else { WormChannel::Link };
                let has_wire = !is_input || is_local(&self.inputs);
                if let Some(places) = self.wire(&WormPiece { channel: link, ..piece }).filter(|_| has_wire) {
                    canvas.path(&places, wire);
                }
                self.draw_buffer(canvas, &buffer, slot);
            }
        }
        if has_node {
            self.draw_node(canvas, router, port);
        }
    }

    fn draw_buffer(&self, canvas: &mut Canvas, buffer: &Buffer, slot: Pen) {
        let area = buffer.area();
        canvas.fill(area, canvas.palette.background);
        let slots = self.worms.buffer_flits;
        for number in (0..slots).step_by(2) {
            let cell = buffer.slot(number, slots);
            if cell.width().min(cell.height()) >= 3.0 {
                canvas.frame(cell, slot);
            }
        }
        canvas.frame(area, Pen { colour: canvas.palette.faded(canvas.palette.muted, 0.4), width: 0.8 });
    }

    fn draw_node(&self, canvas: &mut Canvas, router: u32, port: u32) {
        let palette = canvas.palette;
        let (number, places) = match self.worms.is_single() {
            true => (port, vec![self.node(router, port, true), self.node(router, port, false)]),
            false => (router, vec![self.node_centre(router)]),
        };
        let most = if self.worms.is_single() {
            self.area.height() / f64::from(self.worms.ports)
        } else {
            2.0 * NODE * self.step
        };
        let face = Face { size: canvas.small.size.min(0.75 * most), bold: false };
        for place in places {
            canvas.disc(place, most / 2.0, palette.background);
            if !self.worms.is_single() {
                canvas.circle(place, most / 2.0, canvas.thin(palette.muted));
            }
            if face.size >= 5.5 {
                canvas.text(&number.to_string(), place, Anchor::Middle, face, palette.muted);
            }
        }
    }
}

/// Height of a grid, in distances between routers.
pub(super) fn rows(worms: &Worms) -> f64 {
    let rows = worms.rows.max(1);
    let columns = worms.columns.max(1);
    let wraps = worms.links.iter().any(|link| (link.from.0 / columns).abs_diff(link.to.0 / columns) > 1);
    f64::from(rows) + if wraps { RING } else { 0.0 }
}

/// The curve through a crossbar from the exit of one buffer to the entrance of another.
fn crossing(from: &Buffer, to: &Buffer) -> Vec<Point> {
    let (start, end) = (from.to, to.from);
    let reach = 0.45 * (end.0 - start.0).hypot(end.1 - start.1);
    let (out, into) = (from.direction(), to.direction());
    let first = (start.0 + reach * out.0, start.1 + reach * out.1);
    let second = (end.0 - reach * into.0, end.1 - reach * into.1);
    let at = |number: usize| {
        let t = number as f64 / (POINTS - 1) as f64;
        let s = 1.0 - t;
        let mix = |a: f64, b: f64, c: f64, d: f64| {
            s * s * s * a + 3.0 * s * s * t * b + 3.0 * s * t * t * c + t * t * t * d
        };
        (mix(start.0, first.0, second.0, end.0), mix(start.1, first.1, second.1, end.1))
    };
    (0..POINTS).map(at).collect()
}
