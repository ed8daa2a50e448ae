//! Timeline: when the frames of streams are delivered in one run, stream by stream, and which are late.

use std::collections::HashMap;

use flitwise_simulator::Simulator;
use rayon::prelude::*;

use super::*;
use crate::draw::canvas::{Anchor, Area, Canvas, Pen};
use crate::draw::frame::GAP;
use crate::draw::legend::{self, Entry, Sample, Surface};
use crate::draw::scale::label;
use crate::draw::tiles::{self, Tiles};

/// Deliveries of frames, stream by stream.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Timeline {
    /// Time since the first frame of a row.
    pub x: Axis,
    /// How far the axis goes.
    pub end: f64,
    /// An interval above which a frame is late \[unit of the axis\].
    pub late: f64,
    /// One for each variant.
    pub panels: Vec<TimelinePanel>,
}

/// Streams of a node in one run.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TimelinePanel {
    /// The variant of the scenario; empty of the only one.
    pub label: String,
    /// By stream, from top to bottom: when its frames are delivered, the first one at 0.
    pub streams: Vec<Vec<f64>>,
}

/// When frames of streams are delivered in one run.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    /// Changes of the scenario; at least one, which may change nothing.
    variants: Vec<Variant>,
}

impl FigureFile for Question {
    const WORD: &'static str = "timeline";
    const KEYS: &'static [&'static str] = &["variant"];

    fn sources() -> (&'static [Origin], Vec<Origin>) {
        (&[], Vec::new())
    }

    fn read(reading: &mut Reading<'_>, root: &Table<'_>, _: Option<&Scenario>) -> Option<Self> {
        Some(Self { variants: reading.variants(root) })
    }
}

impl FigureKind for Question {
    fn points(&self) -> Vec<Spot<'_>> {
        Spot::of_variants(&self.variants)
    }

    fn is_settled(&self) -> bool {
        true
    }

    fn refused(&self, scenario: &Scenario, place: &Place) -> Vec<Fault> {
        refused(scenario, place)
    }

    fn content(&self, figure: &Figure, _: Runs<'_>, _: &mut Vec<Note>) -> Content {
        let points: Vec<(&Variant, Scenario)> =
            self.variants.iter().zip(figure.points().into_iter().flatten()).collect();
        let panel = |(variant, scenario): &(&Variant, Scenario)| TimelinePanel {
            label: variant.label.clone(),
            streams: streams(scenario, SEED),
        };
        Content::Timeline(Timeline {
            x: Axis {
                label: "time since the first frame".to_owned(),
                unit: "frame intervals of the source".to_owned(),
                logarithmic: false,
            },
            end: END,
            late: LATE,
            panels: points.par_iter().map(panel).collect(),
        })
    }
}

/// Streams of the first node that are drawn at most.
const STREAMS: u32 = 16;
/// Intervals that are simulated for it, and those before them.
const INTERVALS: u32 = 10;
const START: u32 = 5;
/// Where the axis ends \[intervals\]: between two frames.
const END: f64 = 9.5;
/// Intervals longer than this share of that of the source are late.
const LATE: f64 = 1.05;
/// Most cycles of a run, times the nodes.
const MOST_NODE_CYCLES: f64 = 1e8;

/// Cycles of a run: until all frames that are drawn are delivered, or fall behind.
fn end(interval: f64) -> f64 {
    f64::from(START + INTERVALS + 2) * interval
}

/// The first class that sends frames, and their interval \[cycles\].
fn source(scenario: &Scenario) -> Option<(usize, f64)> {
    let classes = 0..scenario.classes().len();
    classes.filter_map(|class| Some((class, scenario.frames(class)?.interval))).next()
}

/// What cannot be drawn.
fn refused(scenario: &Scenario, place: &Place) -> Vec<Fault> {
    let fault = |found: String, wanted: String| {
        let (place, key) = (place.clone(), "scenario".to_owned());
        vec![Fault { place, key, found, wanted, help: None }]
    };
    if let Err(faults) = flitwise_simulator::supports(scenario) {
        return faults;
    }
    let Some((_, interval)) = source(scenario) else {
        let found = "classes without streams of frames".to_owned();
        return fault(found, "a class with a source of kind \"vbr\", \"cbr\" or \"mpeg2\"".to_owned());
    };
    let nodes = f64::from(scenario.topology().nodes());
    if nodes * end(interval) > MOST_NODE_CYCLES {
        let found = format!("{nodes} nodes over {:.0} cycles", end(interval));
        return fault(
            found,
            format!("at most {MOST_NODE_CYCLES:e} nodes times cycles: frames of a tenth, say"),
        );
    }
    Vec::new()
}

/// When frames of the first streams of the first node are delivered \[intervals\].
fn streams(scenario: &Scenario, seed: u64) -> Vec<Vec<f64>> {
    let Some((class, interval)) = source(scenario) else { return Vec::new() };
    let count = scenario.frames(class).map_or(0, |frames| frames.streams.min(STREAMS));
    let start = (f64::from(START) * interval) as u64;
    let mut simulator = Simulator::new(scenario, seed);
    let (mut delivered, mut left) = (Vec::new(), HashMap::new());
    let mut times: Vec<Vec<u64>> = vec![Vec::new(); count as usize];
    let end = end(interval) as u64;
    while simulator.now() < end {
        delivered.clear();
        simulator.run_until(end.min(simulator.now() + 10_000), &mut delivered);
        for message in &delivered {
            let part = message.part;
            if usize::from(message.class) != class || part.stream >= count {
                continue;
            }
            // a frame is delivered when all its messages are, in whatever order
            let missing = left.entry((part.stream, part.frame)).or_insert(part.messages);
            *missing -= 1;
            if *missing == 0 && message.delivered_cycle >= start {
                times[part.stream as usize].push(message.delivered_cycle);
            }
        }
    }
    let since_first = |times: Vec<u64>| {
        let first = times.first().copied().unwrap_or(0);
        let times = times.into_iter().map(|time| (time - first) as f64 / interval);
        times.filter(|time| *time <= END).collect()
    };
    times.into_iter().map(since_first).collect()
}

impl Chart for Timeline {
    fn table(&self) -> rows::Table {
        let heads = ["variant", "stream", "frame", &column("x", &self.x), "late"];
        let rows = self.panels.iter().flat_map(|panel| {
            panel.streams.iter().enumerate().flat_map(move |(stream, frames)| {
                frames.iter().enumerate().map(move |(frame, time)| {
                    let is_late = frame > 0 && time - frames[frame - 1] > self.late;
                    let (stream, frame) = ((stream + 1).to_string(), frame.to_string());
                    vec![panel.label.clone(), stream, frame, time.to_string(), is_late.to_string()]
                })
            })
        });
        rows::Table::new(&heads, rows)
    }

    fn origins(&self) -> Vec<Origin> {
        vec![Origin::Simulation]
    }

    fn description(&self) -> String {
        let panels: Vec<&str> = self.panels.iter().map(|panel| panel.label.as_str()).collect();
        let streams = self.panels.first().map_or(0, |panel| panel.streams.len());
        let parted = if panels.iter().all(|label| label.is_empty()) { "" } else { ": " };
        format!(
            "Deliveries of the frames of {streams} streams over {}{parted}{}",
            label(&self.x),
            listed(&panels)
        )
    }

    fn draw(&self, canvas: &mut Canvas<'_>, top: f64, room: Option<f64>) -> f64 {
        let palette = canvas.palette;
        let swatch = |style: usize| Sample::Swatch { colour: palette.series(style), surface: Surface::Solid };
        let late = format!("late: more than {} intervals after the one before", self.late);
        let entries = [
            Entry::new(Sample::None, "a row for each stream, a tick for each frame delivered"),
            Entry::new(swatch(0), "in time"),
            Entry::new(swatch(1), late),
        ];
        let start = legend::draw(canvas, &entries, top) + canvas.text.line_height() + GAP;
        let across = canvas.width - 2.0 * canvas.margin;
        let (small, text) = (canvas.small.line_height(), canvas.text.line_height());
        // numbers below a panel and the heading of the next one
        let gaps = (1.5 * canvas.text.size, small + text + 2.0 * GAP);
        let count = self.panels.len();
        let tiles = Tiles::new(count, across, 16.0 * canvas.text.size);
        let width = (across - (tiles.columns as f64 - 1.0) * gaps.0) / tiles.columns as f64;
        let rows = self.panels.iter().map(|panel| panel.streams.len()).max().unwrap_or(0).max(1);
        let height = match room {
            Some(room) => ((room - (start - top) - text) / tiles.rows as f64 - gaps.1).max(40.0),
            None => rows as f64 * ROW * canvas.text.size,
        };
        for (index, panel) in self.panels.iter().enumerate() {
            let area = tiles.area(index, (canvas.margin, start), (width, height), gaps);
            let labels = self.panels.iter().map(|one| one.label.as_str());
            tiles::heading(canvas, &panel.label, labels, area);
            draw_panel(canvas, self, panel, area);
        }
        let end = start + tiles.rows as f64 * (height + gaps.1) - text;
        let name = format!("{} [{}]", self.x.label, self.x.unit);
        let (face, name) = canvas.small.fit(&name, across);
        canvas.text(&name, (canvas.width / 2.0, end + small / 2.0), Anchor::Middle, face, palette.text);
        end + small
    }
}

/// Of a row, that a tick takes.
const TICK: f64 = 0.7;
/// Height of a row, in sizes of the text.
const ROW: f64 = 0.9;

fn draw_panel(canvas: &mut Canvas, timeline: &Timeline, panel: &TimelinePanel, area: Area) {
    let palette = canvas.palette;
    let end = if timeline.end.is_finite() && timeline.end > 0.0 { timeline.end } else { 1.0 };
    // room for half a tick and half a number at both ends
    let inset = canvas.small.size;
    let place = |time: f64| area.left + inset + time / end * (area.width() - 2.0 * inset);
    let widest = canvas.small.width(&format!("{end:.0}"));
    let whole = end.min(1e3) as u32;
    let slot = (area.width() - 2.0 * inset) / end;
    let every = ((widest + canvas.small.size * 0.6) / slot.max(0.01)).ceil().max(1.0) as usize;
    for interval in 0..=whole {
        let x = place(f64::from(interval));
        canvas.line((x, area.top), (x, area.bottom), canvas.thin(palette.grid));
        if (interval as usize).is_multiple_of(every) {
            let below = (x, area.bottom + GAP + canvas.small.line_height() / 2.0);
            canvas.text(&interval.to_string(), below, Anchor::Middle, canvas.small, palette.text);
        }
    }
    canvas.frame(area, canvas.thin(palette.muted));
    let row = area.height() / panel.streams.len().max(1) as f64;
    for (stream, frames) in panel.streams.iter().enumerate() {
        let middle = area.top + (stream as f64 + 0.5) * row;
        let mut before: Option<f64> = None;
        for time in frames.iter().copied().filter(|time| (0.0..=end).contains(time)) {
            let is_late = before.is_some_and(|before| time - before > timeline.late);
            let pen = Pen { colour: palette.series(usize::from(is_late)), width: palette.line };
            let (x, half) = (place(time), TICK * row / 2.0);
            canvas.line((x, middle - half), (x, middle + half), pen);
            before = Some(time);
        }
    }
}

#[cfg(test)]
mod tests {
    use flitwise_language::scenario::Preset;

    use super::*;

    fn scenario(settings: &[(&str, &str)]) -> Scenario {
        let mut document = Preset::find("mediaworm-quick").unwrap().document();
        for (key, value) in settings {
            document.set(key, value, &Place::Program).unwrap();
        }
        document.scenario().unwrap()
    }

    #[test]
    fn equal_frames_come_evenly_and_those_of_a_saturated_class_late() {
        let even = streams(&scenario(&[("class.video.source.frame_deviation", "0"), ("mix.load", "0.4")]), 1);
        assert_eq!(even.len(), 16);
        for times in &even {
            assert_eq!(times.len(), 10, "{times:?}");
            let off = times.iter().enumerate().map(|(at, time)| (time - at as f64).abs());
            assert!(off.fold(0.0, f64::max) < 0.01, "{times:?}");
        }
        let few = [
            ("mix.load", "0.9"),
            ("class.video.virtual_channels", "3"),
            ("class.video.source.streams_per_vc", "24"),
        ];
        let behind = streams(&scenario(&few), 1);
        let late =
            behind.iter().flat_map(|times| times.windows(2)).filter(|pair| pair[1] - pair[0] > LATE).count();
        assert!(late > 50, "{late}");
    }

    #[test]
    fn what_sends_no_frames_is_refused() {
        let router = Preset::find("router16").unwrap().scenario();
        assert!(
            refused(&router, &Place::Program)[0].to_string().contains("classes without streams of frames")
        );
        assert_eq!(refused(&scenario(&[]), &Place::Program), []);
        let full = Preset::find("mediaworm").unwrap().document();
        let mut long = full.clone();
        long.set("class.video.source.frame_interval", "\"3300 ms\"", &Place::Program).unwrap();
        long.set("class.video.source.frame", "\"1666600 B\"", &Place::Program).unwrap();
        assert!(
            refused(&long.scenario().unwrap(), &Place::Program)[0].to_string().contains("nodes times cycles")
        );
    }
}
