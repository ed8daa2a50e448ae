//! Which points of a plane are admissible: the region below a frontier, made by plans.

use super::*;
use crate::draw::canvas::{Area, Canvas, Pen, Place};
use crate::draw::frame::{GAP, Panel, centred_lines, width_of_numbers, y_label};
use crate::draw::legend::{self, Entry, Sample, Surface, Weight};
use crate::draw::scale::{Scale, label};

/// Which points of a plane are admissible: those from the origin up to a frontier.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Region {
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// Where the frontier comes from.
    pub origin: Origin,
    /// What may limit it.
    pub limits: Vec<String>,
    /// Which colour each limit has: that of the class which it is about.
    pub limit_styles: Vec<usize>,
    /// The frontier, from the horizontal axis to the vertical one.
    pub frontier: Vec<Frontier>,
    /// A point to show beside it.
    pub mark: Option<Mark>,
}

/// A point of a frontier.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Frontier {
    /// Where on the horizontal axis.
    pub x: f64,
    /// Where on the vertical axis.
    pub y: f64,
    /// From where on, on the way from the origin: the origin itself, unless a limit is broken there, too; a frontier
    /// that is no further than this has nothing admissible on its way.
    pub from: (f64, f64),
    /// Which limit is reached, by its number from 0; `None`: none.
    pub limit: Option<usize>,
}

/// A point with a name.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Mark {
    /// Where on the horizontal axis.
    pub x: f64,
    /// Where on the vertical axis.
    pub y: f64,
    /// What the legend says.
    pub label: String,
}

impl Chart for Region {
    fn table(&self) -> rows::Table {
        let (x, y) = (column("x", &self.x), column("y", &self.y));
        let limit = |point: &Frontier| point.limit.and_then(|limit| self.limits.get(limit).cloned());
        let row = |point: &Frontier| {
            let limit = limit(point).unwrap_or_default();
            vec![self.origin.word().to_owned(), point.x.to_string(), point.y.to_string(), limit]
        };
        rows::Table::new(&["origin", &x, &y, "limit"], self.frontier.iter().map(row))
    }

    fn origins(&self) -> Vec<Origin> {
        vec![self.origin]
    }

    fn description(&self) -> String {
        let limits: Vec<&str> = self.limits.iter().map(String::as_str).collect();
        let axes = over(&self.y, &self.x);
        format!("Region of admissible points: {axes}; requirements: {}", listed(&limits))
    }

    fn draw(&self, canvas: &mut Canvas<'_>, top: f64, room: Option<f64>) -> f64 {
        let start = legend::draw(canvas, &entries(canvas, self), top) + GAP;
        let x_label = canvas.text.wrap(&label(&self.x), canvas.width - 2.0 * canvas.margin, 3);
        let foot = GAP + canvas.small.line_height() + x_label.len() as f64 * canvas.text.line_height();
        let height = match room {
            Some(room) => (room - (start - top) - foot).max(60.0),
            None => (canvas.width * HEIGHT).max(120.0),
        };
        let y_lines = canvas.text.wrap(&label(&self.y), height, 3);
        // from zero: the frontier is what is reached from there
        let scale = |of: fn(&Frontier) -> f64, mark: Option<f64>, logarithmic| {
            Scale::around(self.frontier.iter().map(of).chain(mark).chain([0.0]), logarithmic, BEYOND)
        };
        let mark = self.mark.as_ref();
        let x = scale(|point| point.x, mark.map(|mark| mark.x), self.x.logarithmic);
        let y = scale(|point| point.y, mark.map(|mark| mark.y), self.y.logarithmic);
        let numbers = width_of_numbers(canvas, y, height);
        let left = canvas.margin * 0.6 + y_lines.len() as f64 * canvas.text.line_height() + numbers;
        let right = canvas.width - canvas.margin * 1.6;
        let area = Area { left, right, top: start, bottom: start + height };
        let panel = Panel { area, x, y };

        // where nothing is admissible there is a gap
        let runs = self.frontier.split(|point| !reaches(point)).map(|run| {
            let ends = run.iter().filter_map(|point| {
                let from = panel.place(point.from.0, point.from.1)?;
                Some((panel.place(point.x, point.y)?, from, point.limit))
            });
            ends.collect::<Vec<(Place, Place, Option<usize>)>>()
        });
        let runs: Vec<_> = runs.filter(|run| !run.is_empty()).collect();
        for run in &runs {
            let outline = run.iter().map(|(end, ..)| *end).chain(run.iter().rev().map(|(_, from, _)| *from));
            let outline: Vec<Place> = outline.collect();
            canvas.polygon(&outline, canvas.palette.faded(canvas.palette.muted, 0.8));
        }
        panel.draw_axes(canvas, true);
        for run in &runs {
            let places: Vec<(Place, Option<usize>)> =
                run.iter().map(|(end, _, limit)| (*end, *limit)).collect();
            draw_frontier(canvas, self, &places);
            let lower: Vec<Place> = run.iter().map(|(_, from, _)| *from).collect();
            let pen = Pen { colour: canvas.palette.muted, width: Weight::Light.width(canvas) };
            legend::dashed(canvas, &lower, LOWER_DASH, pen);
        }
        if let Some(place) = mark.and_then(|mark| panel.place(mark.x, mark.y)) {
            let colour = canvas.palette.text;
            legend::marker(canvas, place, MARK, 1, colour);
        }
        y_label(canvas, &y_lines, left - numbers, area.centre().1);
        let end = area.bottom + GAP + canvas.small.line_height();
        centred_lines(canvas, &x_label, area.centre().0, end)
    }
}

/// Height of the panel, as a share of the width of the figure.
const HEIGHT: f64 = 0.62;
/// Free space beyond the frontier, as a share of the axes.
const BEYOND: f64 = 0.06;

/// Whether something on the way to a point is admissible.
fn reaches(point: &Frontier) -> bool {
    point.x > point.from.0 || point.y > point.from.1
}

/// The dashes of the lower end.
const LOWER_DASH: usize = 1;

/// The shape of the mark: a diamond.
const MARK: usize = 3;

/// Whether the frontier meets a limit.
fn reached(region: &Region, limit: usize) -> bool {
    region.frontier.iter().any(|point| point.limit == Some(limit))
}

/// The style of a limit, and the dashes that tell it from others of the same style.
fn look(region: &Region, limit: usize) -> (usize, usize) {
    let style = |limit: usize| region.limit_styles.get(limit).copied().unwrap_or(limit);
    let alike = (0..limit.min(region.limits.len())).filter(|other| style(*other) == style(limit));
    (style(limit), alike.filter(|other| reached(region, *other)).count())
}

fn entries(canvas: &Canvas, region: &Region) -> Vec<Entry> {
    let limits = region.limits.iter().enumerate().filter(|(limit, _)| reached(region, *limit));
    let mut entries: Vec<Entry> = limits
        .map(|(limit, name)| {
            let (style, dash) = look(region, limit);
            let dash = Some((dash, Weight::Heavy));
            Entry::new(Sample::Styled { style, dash, marker: None }, format!("limited by {name}"))
        })
        .collect();
    if region.frontier.iter().any(|point| point.limit.is_none()) {
        entries.push(Entry::new(Sample::Curve(0, Weight::Heavy), "the highest rates there can be"));
    }
    if region.frontier.iter().any(|point| reaches(point) && point.from != (0.0, 0.0)) {
        entries.push(Entry::new(Sample::Curve(LOWER_DASH, Weight::Light), "below it a limit is broken, too"));
    }
    let surface = Surface::Pale;
    let (colour, by) = (canvas.palette.muted, region.origin.legend());
    entries.push(Entry::new(Sample::Swatch { colour, surface }, format!("admissible ({by})")));
    if let Some(mark) = &region.mark {
        entries.push(Entry::new(Sample::Mark(MARK), mark.label.clone()));
    }
    entries
}

/// Every part in the colour of its limit; where the limit changes, half way to the next point.
fn draw_frontier(canvas: &mut Canvas, region: &Region, places: &[(Place, Option<usize>)]) {
    let between = |a: Place, b: Place| ((a.0 + b.0) / 2.0, (a.1 + b.1) / 2.0);
    let mut before: Option<Place> = None;
    let mut runs = places.chunk_by(|one, next| one.1 == next.1).peekable();
    while let Some(run) = runs.next() {
        let (Some(first), Some(last)) = (run.first(), run.last()) else { continue };
        let mut path: Vec<Place> = before.map(|before| between(before, first.0)).into_iter().collect();
        path.extend(run.iter().map(|(place, _)| *place));
        path.extend(runs.peek().and_then(|next| next.first()).map(|next| between(last.0, next.0)));
        before = Some(last.0);
        let width = Weight::Heavy.width(canvas);
        let (colour, dash) = match first.1 {
            Some(limit) => {
                let (style, dash) = look(region, limit);
                (canvas.palette.series(style), dash)
            }
            None => (canvas.palette.muted, 0),
        };
        legend::dashed(canvas, &path, dash, Pen { colour, width });
    }
}
