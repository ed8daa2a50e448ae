//! Curves of models and points of simulations, with their differences in a panel below.

use super::{ErrorSeries, Lines, Point, Series};
use crate::draw::canvas::{Area, Canvas, Pen, Place};
use crate::draw::frame::{GAP, Panel, centred_lines, width_of_numbers, y_label};
use crate::draw::legend::{self, Entry, FADED, Filling, Sample, Weight};
use crate::draw::palette::RGBColor;
use crate::draw::scale::{Scale, drawable, label, quantile, robust_top};
use crate::draw::tiles::{self, Tiles};
use crate::picture::Origin;
use flitwise_models::model::Model;

/// Height of the main panel and of the panel of errors, as shares of the width of the figure.
const HEIGHTS: (f64, f64) = (0.52, 0.24);

/// Height of one of several panels as a share of its width: side by side, and alone in its row.
const HEIGHTS_OF_TILES: (f64, f64) = (0.8, 0.5);

/// Draws below `top`, in `room` if the height is given; the height where it ends.
pub(super) fn draw(canvas: &mut Canvas, lines: &Lines, top: f64, room: Option<f64>) -> f64 {
    if lines.panels.is_empty() {
        draw_one(canvas, lines, top, room)
    } else {
        draw_tiles(canvas, lines, top, room)
    }
}

/// Several panels with the same axes.
fn draw_tiles(canvas: &mut Canvas, lines: &Lines, top: f64, room: Option<f64>) -> f64 {
    let (x, y) = (x_scale(lines), y_scale(lines));
    let legend_end = legend::draw(canvas, &legend_entries(lines, y), top);
    let tile = |index: usize| Lines {
        panels: Vec::new(),
        series: lines.series.iter().filter(|series| series.panel == index).cloned().collect(),
        errors: Vec::new(),
        ..lines.clone()
    };
    let contents: Vec<Lines> = (0..lines.panels.len()).map(tile).collect();
    let x_label = canvas.text.wrap(&label(&lines.x), canvas.width - 2.0 * canvas.margin, 3);
    let foot = x_label.len() as f64 * canvas.text.line_height();

    let right = canvas.width - canvas.margin * 1.6;
    let tiles = Tiles::new(contents.len(), right - 5.0 * canvas.text.size, 13.0 * canvas.text.size);
    let (columns, rows) = (tiles.columns as f64, tiles.rows as f64);
    let roughly = (right - 5.0 * canvas.text.size) / columns;
    let share = if tiles.columns > 1 { HEIGHTS_OF_TILES.0 } else { HEIGHTS_OF_TILES.1 };
    let band = contents.iter().map(|one| saturation_rows(canvas, one, x, roughly).1).fold(0.0, f64::max);
    let heading = canvas.text.line_height() + band;
    let gaps = (1.5 * canvas.text.size, canvas.small.line_height() + heading + 2.0 * GAP);
    let height = match room {
        Some(room) => ((room - (legend_end - top) - foot - rows * gaps.1) / rows).max(40.0),
        None => (roughly * share).clamp(110.0, 300.0),
    };
    let all_rows = rows * (height + gaps.1) - gaps.1;
    let y_lines = canvas.text.wrap(&label(&lines.y), all_rows, 3);
    let numbers = width_of_numbers(canvas, y, height);
    let left = canvas.margin * 0.6 + y_lines.len() as f64 * canvas.text.line_height() + numbers;
    let width = ((right - left - (columns - 1.0) * gaps.0) / columns).max(1.0);
    let from = (left, legend_end + heading + GAP);
    for (index, (content, text)) in contents.iter().zip(&lines.panels).enumerate() {
        let area = tiles.area(index, from, (width, height), gaps);
        let panel = Panel { area, x, y };
        panel.draw_grid(canvas, tiles.is_first_of_row(index));
        panel.draw_columns(canvas, true);
        panel.draw_frame(canvas);
        tiles::heading(
            canvas,
            text,
            lines.panels.iter().map(String::as_str),
            Area { top: area.top - band, ..area },
        );
        draw_series(canvas, &panel, content);
        draw_saturation(canvas, &panel, content, roughly);
    }
    y_label(canvas, &y_lines, left - numbers, from.1 + all_rows / 2.0);
    let end = from.1 + all_rows + 2.0 * GAP + canvas.small.line_height();
    centred_lines(canvas, &x_label, (left + right) / 2.0, end)
}

/// One panel, and below it that of errors.
fn draw_one(canvas: &mut Canvas, lines: &Lines, top: f64, room: Option<f64>) -> f64 {
    let (x, y, errors) = (x_scale(lines), y_scale(lines), error_scale(&lines.errors));
    let legend_end = legend::draw(canvas, &legend_entries(lines, y), top);
    let roughly = canvas.width - 80.0;
    let band = saturation_rows(canvas, lines, x, roughly).1;
    let start = legend_end + band + GAP;

    let x_label = canvas.text.wrap(&label(&lines.x), canvas.width - 2.0 * canvas.margin, 3);
    let foot = GAP + canvas.small.line_height() + x_label.len() as f64 * canvas.text.line_height();
    let gap = canvas.small.size;
    let (share, error_share) = if lines.errors.is_empty() { (1.0, 0.0) } else { (0.66, 0.34) };
    let (height, error_height) = match room {
        Some(room) => {
            let both = (room - (start - top) - foot - gap).max(40.0);
            (both * share, both * error_share)
        }
        None => ((canvas.width * HEIGHTS.0).max(110.0), (canvas.width * HEIGHTS.1).max(70.0)),
    };

    let main_label = canvas.text.wrap(&label(&lines.y), height + gap, 3);
    let error_label = canvas.text.wrap(error_text(lines), error_height + gap, 3);
    let mut numbers = width_of_numbers(canvas, y, height);
    let mut label_lines = main_label.len();
    if !lines.errors.is_empty() {
        numbers = numbers.max(width_of_numbers(canvas, errors, error_height));
        label_lines = label_lines.max(error_label.len());
    }
    let left = canvas.margin * 0.6 + label_lines as f64 * canvas.text.line_height() + numbers;
    let right = canvas.width - canvas.margin * 1.6;
    let area = Area { left, right, top: start, bottom: start + height };
    let main = Panel { area, x, y };
    main.draw_axes(canvas, lines.errors.is_empty());
    draw_series(canvas, &main, lines);
    draw_saturation(canvas, &main, lines, roughly);
    y_label(canvas, &main_label, left - numbers, area.centre().1);

    let mut end = area.bottom;
    if !lines.errors.is_empty() {
        let area = Area { top: end + gap, bottom: end + gap + error_height, ..area };
        let panel = Panel { area, x, y: errors };
        panel.draw_axes(canvas, true);
        draw_errors(canvas, &panel, &lines.errors);
        y_label(canvas, &error_label, left - numbers, area.centre().1);
        end = area.bottom;
    }
    let end = end + GAP + canvas.small.line_height();
    centred_lines(canvas, &x_label, area.centre().0, end)
}

/// What stands at the panel of errors: a difference of probabilities is in points, not in percent of one.
fn error_text(lines: &Lines) -> &'static str {
    if lines.y.unit.is_empty() { "model − simulation [% points]" } else { "model − simulation [%]" }
}

pub(super) fn x_scale(lines: &Lines) -> Scale {
    let of_series = lines.series.iter().flat_map(|series| series.points.iter().map(|point| point.x));
    let of_errors = lines.errors.iter().flat_map(|series| series.points.iter().map(|point| point.x));
    let limits = lines.series.iter().filter_map(|series| series.saturated_from);
    Scale::along(of_series.chain(of_errors).chain(limits), lines.x.logarithmic, 0.03)
}

/// Steady values with the upper ends of their intervals.
fn steady(series: &Series, logarithmic: bool) -> Vec<f64> {
    let points = series.points.iter().filter(|point| !point.saturated);
    let values = points.flat_map(|point| [point.y, point.y.and(point.upper_95)]).flatten();
    values.filter(|value| drawable(*value, logarithmic)).collect()
}

/// As asked for, or so that every series is seen up to four times its median ([`robust_top`]).
pub(in crate::kinds) fn y_scale(lines: &Lines) -> Scale {
    let logarithmic = lines.y.logarithmic;
    if let Some(scale) = lines.y_range.and_then(|(from, to)| Scale::exactly(from, to, logarithmic)) {
        return scale;
    }
    let limited = !logarithmic && !lines.y.unit.is_empty() && !lines.measured_as_curves;
    let mut shown = Vec::new();
    for series in &lines.series {
        let values = steady(series, logarithmic);
        let top = if limited { robust_top(&values) } else { quantile(&values, 1.0) };
        shown.extend(values.into_iter().map(|value| top.map_or(value, |top| value.min(top))));
    }
    Scale::around(shown, logarithmic, 0.06)
}

/// Around zero, twice as far as three quarters of the differences reach: outliers are marked at the frame.
fn error_scale(errors: &[ErrorSeries]) -> Scale {
    let points = || errors.iter().flat_map(|series| &series.points).filter(|point| !point.saturated);
    let sizes: Vec<f64> = points().filter_map(|point| point.y).map(f64::abs).collect();
    let most = quantile(&sizes, 1.0).unwrap_or(0.0);
    let limit = quantile(&sizes, 0.75).map_or(most, |usual| if usual > 0.0 { 2.0 * usual } else { most });
    let ends = points().flat_map(|point| [point.y, point.lower_95, point.upper_95]).flatten();
    Scale::around(ends.map(|end| end.clamp(-limit, limit)).chain([0.0]), false, 0.12)
}

pub(in crate::kinds) fn legend_entries(lines: &Lines, y: Scale) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    for (index, series) in lines.series.iter().enumerate() {
        // a curve without a name is the only one: the title says what it is
        let is_named = lines.series[..index].iter().any(|earlier| earlier.label == series.label);
        if !series.label.is_empty() && !is_named {
            entries.push(entry(lines, series));
        }
    }
    entries.extend(Origin::ALL.into_iter().filter_map(|origin| origin_entry(lines, origin)));
    if lines.series.iter().any(|series| series.saturated_from.is_some()) {
        entries.push(Entry::new(Sample::Saturation, "saturates from here"));
    }
    let points = || lines.series.iter().flat_map(|series| &series.points);
    if points().any(|point| point.saturated && point.y.is_some_and(|value| shown_on(y, value))) {
        entries.push(Entry::new(Sample::Faded, "faded: saturated, not steady"));
    }
    let errors = error_scale(&lines.errors);
    let outlier = errors_of(lines).any(|point| point.y.is_some_and(|value| outside(errors, value)));
    if simulated_beyond(lines, y) || outlier {
        entries.push(Entry::new(Sample::Beyond, "beyond the frame"));
    }
    entries
}

/// What the numbers of a model or of the simulation look like: said once, whatever there is of them.
fn origin_entry(lines: &Lines, origin: Origin) -> Option<Entry> {
    let mut series = lines.series.iter().filter(|series| series.origin == origin).peekable();
    series.peek().filter(|_| origin != Origin::Given)?;
    if origin == Origin::Printed {
        let by = lines.printed_by.as_deref().unwrap_or(origin.legend());
        return Some(Entry::new(Sample::Printed, format!("crosses: {by}")));
    }
    let two = two_models(lines);
    let saturation = series.any(|series| series.saturated_from.is_some()).then(|| filling(origin, two));
    let is_curve = origin != Origin::Simulation || lines.measured_as_curves;
    let curve = is_curve.then(|| (dash(origin, 0, lines), weight(origin, two)));
    let how = match curve {
        None => "markers",
        Some((0, Weight::Alone)) => "line",
        Some((_, Weight::Alone)) => "dashed line",
        Some((_, Weight::Light)) if tells_by_dashes(lines) => "dashed line",
        Some((_, Weight::Light)) => "thin line",
        Some((_, Weight::Heavy)) => "thick line",
    };
    let of_errors = |origin| lines.errors.iter().any(|series| series.origin == origin);
    let below = match origin {
        _ if !(of_errors(Origin::PUBLISHED) && of_errors(Origin::REFINED)) => "",
        Origin::PUBLISHED => ", small markers below",
        Origin::REFINED => ", large markers below",
        _ => "",
    };
    let has_anchors = lines.series.iter().any(|series| series.origin == Origin::Anchored);
    let more = match origin {
        Origin::Simulation if lines.measured_as_curves && !has_intervals(lines) => "",
        Origin::Simulation if lines.measured_as_curves => ", its 95 % interval shaded",
        Origin::Simulation if has_anchors => " at anchors, with 95 % interval",
        Origin::Simulation => " with 95 % interval",
        Origin::Anchored => ", its 95 % interval shaded",
        Origin::Model(_) | Origin::Printed | Origin::Given | Origin::Exact => "",
    };
    let text = format!("{how}{below}: {}{more}", origin.legend());
    Some(Entry::new(Sample::Origin { curve, saturation }, text))
}

/// Whether simulated points have intervals.
fn has_intervals(lines: &Lines) -> bool {
    let simulated = lines.series.iter().filter(|series| series.origin == Origin::Simulation);
    simulated.flat_map(|series| &series.points).any(|point| point.lower_95.is_some())
}

/// Whether two models are drawn.
fn two_models(lines: &Lines) -> bool {
    let has = |origin| lines.series.iter().any(|series| series.origin == origin);
    has(Origin::PUBLISHED) && has(Origin::REFINED)
}

/// Whether dashes are free to tell models apart: variants have taken them.
fn tells_by_dashes(lines: &Lines) -> bool {
    lines.series.iter().all(|series| series.variant == 0)
}

/// Of two models the refined one is drawn heavily.
fn weight(origin: Origin, two: bool) -> Weight {
    match (two, origin) {
        (false, _) => Weight::Alone,
        (true, Origin::REFINED) => Weight::Heavy,
        (true, _) => Weight::Light,
    }
}

/// The dashes of a curve: of what is given beside others, of a model beside measured curves, else by variant, else of
/// the published one of two models.
fn dash(origin: Origin, variant: usize, lines: &Lines) -> usize {
    if origin == Origin::Given && lines.series.iter().any(|series| series.origin != Origin::Given) {
        return 2;
    }
    if lines.measured_as_curves {
        return usize::from(origin != Origin::Simulation);
    }
    let published_of_two = origin == Origin::PUBLISHED && two_models(lines);
    if published_of_two && tells_by_dashes(lines) { 1 } else { variant }
}

/// What is inside the mark of saturation.
fn filling(origin: Origin, two: bool) -> Filling {
    match (origin, two) {
        (Origin::Simulation, _) => Filling::Hollow,
        (Origin::PUBLISHED, true) => Filling::Pale,
        _ => Filling::Full,
    }
}

fn errors_of(lines: &Lines) -> impl Iterator<Item = &Point> {
    lines.errors.iter().flat_map(|series| &series.points).filter(|point| !point.saturated)
}

/// Whether a steady point of a simulation lies outside the frame.
fn simulated_beyond(lines: &Lines, y: Scale) -> bool {
    let simulations = lines.series.iter().filter(|series| series.origin == Origin::Simulation);
    let mut points = simulations.flat_map(|series| &series.points).filter(|point| !point.saturated);
    !lines.measured_as_curves && points.any(|point| point.y.is_some_and(|value| outside(y, value)))
}

fn outside(scale: Scale, value: f64) -> bool {
    scale.share(value).is_some_and(|share| !(-1e-9..=1.0 + 1e-9).contains(&share))
}

fn shown_on(scale: Scale, value: f64) -> bool {
    scale.share(value).is_some() && !outside(scale, value)
}

/// One entry for the models and the simulation of one thing.
fn entry(lines: &Lines, series: &Series) -> Entry {
    let same = |origin| lines.series.iter().find(|s| s.label == series.label && s.origin == origin);
    // of two models the heavier
    let measured = same(Origin::Simulation);
    let curve = measured.filter(|_| lines.measured_as_curves);
    let models = Model::ALL.into_iter().rev().map(Origin::from);
    let others = [Origin::Anchored, Origin::Given, Origin::Exact];
    let model = curve.or_else(|| others.into_iter().chain(models).find_map(same));
    let two = two_models(lines);
    let dash = model.map(|model| (dash(model.origin, model.variant, lines), weight(model.origin, two)));
    let marker =
        measured.filter(|_| curve.is_none()).map(|simulation| (simulation.style, simulation.variant));
    Entry::new(Sample::Styled { style: series.style, dash, marker }, series.label.clone())
}

pub(in crate::kinds) fn draw_series(canvas: &mut Canvas, panel: &Panel, lines: &Lines) {
    let is_curve = |series: &&Series| match series.origin {
        Origin::Printed => false,
        Origin::Simulation => lines.measured_as_curves,
        _ => true,
    };
    let has_band =
        |series: &&Series| series.origin == Origin::Anchored || series.origin == Origin::Simulation;
    for series in lines.series.iter().filter(is_curve).filter(has_band) {
        draw_band(canvas, panel, series);
    }
    // markers above all lines
    for series in lines.series.iter().filter(is_curve) {
        let weight = weight(series.origin, two_models(lines));
        draw_curve(canvas, panel, series, (dash(series.origin, series.variant, lines), weight));
    }
    for series in lines.series.iter().filter(|series| !is_curve(series)) {
        let colour = canvas.palette.series(series.style);
        if series.origin == Origin::Printed {
            let places = series.points.iter().filter_map(|point| panel.place(point.x, point.y?));
            let inside = places.filter(|place| panel.area.clip(*place, *place).is_some());
            inside.for_each(|place| legend::cross(canvas, place, colour));
            continue;
        }
        for point in &series.points {
            draw_point(canvas, panel, point, (series.style, series.variant, false), colour);
        }
    }
}

/// How much of the background is in a band.
const BAND: f64 = 0.75;

/// The interval of a curve where it is steady, as a band inside the frame.
fn draw_band(canvas: &mut Canvas, panel: &Panel, series: &Series) {
    let colour = canvas.palette.faded(canvas.palette.series(series.style), BAND);
    let area = panel.area;
    let within = |place: Place| (place.0, place.1.clamp(area.top, area.bottom));
    let ends = |point: &Point| {
        let (lower, upper) = (point.lower_95.filter(|_| !point.saturated)?, point.upper_95?);
        let low = panel.place(point.x, lower).unwrap_or((panel.place_x(point.x)?, area.bottom));
        Some((within(low), within(panel.place(point.x, upper)?)))
    };
    for run in series.points.iter().map(ends).collect::<Vec<_>>().split(Option::is_none) {
        let lower = run.iter().flatten().map(|ends| ends.0);
        let upper = run.iter().flatten().rev().map(|ends| ends.1);
        canvas.polygon(&lower.chain(upper).collect::<Vec<Place>>(), colour);
    }
}

/// A curve: steady in full, saturated thin and faded.
fn draw_curve(canvas: &mut Canvas, panel: &Panel, series: &Series, (dash, weight): (usize, Weight)) {
    let colour = canvas.palette.series(series.style);
    let steady = Pen { colour, width: weight.width(canvas) };
    let faded = Pen { colour: canvas.palette.faded(colour, FADED), width: canvas.palette.thin };
    let mut run: Vec<Place> = Vec::new();
    let mut run_saturated = false;
    let places = series.points.iter().map(|point| {
        let place = point.y.and_then(|y| panel.place(point.x, y));
        (place, point.saturated)
    });
    for (place, saturated) in places.chain([(None, false)]) {
        if place.is_none() || (saturated != run_saturated && !run.is_empty()) {
            let last = run.last().copied();
            draw_run(canvas, panel, &run, dash, if run_saturated { faded } else { steady });
            run.clear();
            // what is saturated starts where the steady part ends, never the other way round
            if saturated && !run_saturated && place.is_some() {
                run.extend(last);
            }
        }
        run.extend(place);
        run_saturated = saturated;
    }
}

/// A path inside the frame only, in as many pieces as that leaves.
fn draw_run(canvas: &mut Canvas, panel: &Panel, run: &[Place], dash: usize, pen: Pen) {
    if let [alone] = run {
        if panel.area.clip(*alone, *alone).is_some() {
            canvas.disc(*alone, pen.width, pen.colour);
        }
        return;
    }
    let mut piece: Vec<Place> = Vec::new();
    for pair in run.windows(2) {
        let Some((from, to)) = panel.area.clip(pair[0], pair[1]) else {
            legend::dashed(canvas, &std::mem::take(&mut piece), dash, pen);
            continue;
        };
        if piece.last() != Some(&from) {
            legend::dashed(canvas, &std::mem::take(&mut piece), dash, pen);
            piece.push(from);
        }
        piece.push(to);
    }
    legend::dashed(canvas, &piece, dash, pen);
}

/// A marker with its interval; a chevron if it lies above or below the frame.
fn draw_point(
    canvas: &mut Canvas,
    panel: &Panel,
    point: &Point,
    (style, variant, is_small): (usize, usize, bool),
    colour: RGBColor,
) {
    let colour = if point.saturated { canvas.palette.faded(colour, FADED) } else { colour };
    let Some(place) = point.y.and_then(|y| panel.place(point.x, y)) else { return };
    let area = panel.area;
    if place.0 < area.left - 1.0 || place.0 > area.right + 1.0 {
        return;
    }
    if let (Some(low), Some(high), false) = (point.lower_95, point.upper_95, point.saturated) {
        // a lower end at or below zero has no place on a logarithmic axis: down to the frame
        let low = panel.place_y(low).unwrap_or(area.bottom);
        let high = panel.place_y(high).unwrap_or(area.top);
        if high <= area.bottom && low >= area.top {
            let within = |y: f64| y.clamp(area.top, area.bottom);
            legend::interval(canvas, place.0, (within(low), within(high)), colour);
        }
    }
    if place.1 < area.top - 0.5 || place.1 > area.bottom + 0.5 {
        if !point.saturated {
            let upwards = place.1 < area.top;
            let edge = if upwards { area.top + 2.0 } else { area.bottom - 2.0 };
            legend::beyond(canvas, (place.0, edge), upwards, colour);
        }
        return;
    }
    let marker = if is_small { legend::small_marker } else { legend::marker };
    marker(canvas, place, style, variant, colour);
}

fn draw_errors(canvas: &mut Canvas, panel: &Panel, errors: &[ErrorSeries]) {
    if let Some(y) = panel.place_y(0.0) {
        let pen = Pen { colour: canvas.palette.text, width: canvas.palette.thin };
        canvas.line((panel.area.left, y), (panel.area.right, y), pen);
    }
    let two = errors.iter().any(|series| series.origin == Origin::REFINED);
    for series in errors {
        let colour = canvas.palette.series(series.style);
        let is_small = two && series.origin == Origin::PUBLISHED;
        for point in &series.points {
            draw_point(canvas, panel, point, (series.style, series.variant, is_small), colour);
        }
    }
}

/// In which row above the frame the mark of each series stands, so that none hides another; height of all.
fn saturation_rows(canvas: &Canvas, lines: &Lines, x: Scale, width: f64) -> (Vec<Option<usize>>, f64) {
    let apart = canvas.small.size * 0.9;
    let mut rows: Vec<Vec<f64>> = Vec::new();
    let mut chosen = Vec::new();
    for (index, series) in lines.series.iter().enumerate() {
        // one mark for all variants of a class that saturate at the same place
        let mark = |one: &Series| (one.style, one.origin, one.saturated_from);
        let is_new = lines.series[..index].iter().all(|earlier| mark(earlier) != mark(series));
        let share = series.saturated_from.filter(|_| is_new).and_then(|limit| x.share(limit));
        chosen.push(share.map(|share| {
            let place = share * width;
            let free = |row: &Vec<f64>| row.iter().all(|other| (other - place).abs() >= apart);
            let row = rows.iter().position(free).unwrap_or(rows.len()).min(MOST_ROWS - 1);
            if row == rows.len() {
                rows.push(Vec::new());
            }
            rows[row].push(place);
            row
        }));
    }
    (chosen, rows.len() as f64 * row_height(canvas) + if rows.is_empty() { 0.0 } else { 2.0 })
}

/// Marks in more rows than this would push the panel off the page.
const MOST_ROWS: usize = 8;

fn row_height(canvas: &Canvas) -> f64 {
    canvas.small.size * 0.85
}

fn draw_saturation(canvas: &mut Canvas, panel: &Panel, lines: &Lines, roughly: f64) {
    let two = two_models(lines);
    let (rows, _) = saturation_rows(canvas, lines, panel.x, roughly);
    for (series, row) in lines.series.iter().zip(rows) {
        let Some((row, x)) = row.zip(series.saturated_from.and_then(|limit| panel.place_x(limit))) else {
            continue;
        };
        let colour = canvas.palette.series(series.style);
        let tip = panel.area.top - 1.5 - row as f64 * row_height(canvas);
        legend::saturation(canvas, (x, tip), filling(series.origin, two), colour);
        // a tick into the frame at the exact place
        canvas.line((x, panel.area.top), (x, panel.area.top + 1.5 * GAP), Pen { colour, width: 1.3 });
    }
}
