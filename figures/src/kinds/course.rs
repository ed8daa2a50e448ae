//! Numbers of a run whose traffic changes, over time: a panel for each of them, one below the other, and below them the
//! mix, which says what each class offers in each phase.

use super::lines::{Lines, draw_series, legend_entries, y_scale};
use super::*;
use crate::draw::canvas::{Anchor, Area, Canvas};
use crate::draw::frame::{GAP, Panel, centred_lines, width_of_numbers, y_label};
use crate::draw::legend::{self, Entry, Sample, Surface};
use crate::draw::palette::legible_on;
use crate::draw::scale::{Scale, label, short};

/// Height of a panel as a share of the width of the figure, and of the mix in lines of small text.
const HEIGHT: f64 = 0.27;
const LINES_OF_MIX: f64 = 5.0;
/// The least share of a load that can be seen.
const LEAST_SHARE: f64 = 0.005;

/// The panel of the mix in rows.
const MIX: &str = "Offered load of a node [flits/cycle]";

/// Numbers over time and the mix below them.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Course {
    /// A panel each, from top to bottom; their horizontal axis is the time.
    pub panels: Vec<Lines>,
    /// What is offered, phase by phase.
    pub mix: Vec<MixPhase>,
}

/// What is offered in a phase.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct MixPhase {
    /// When it begins, on the horizontal axis.
    pub begins: f64,
    /// When it ends.
    pub ends: f64,
    /// Class by class.
    pub loads: Vec<ClassLoad>,
}

/// What a class offers.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ClassLoad {
    /// Its name.
    pub class: String,
    /// Its colour, that of [`Series::style`](super::lines::Series::style).
    pub style: usize,
    /// Load of a node \[flits/cycle\].
    pub load_flits_per_cycle: f64,
}

impl MixPhase {
    fn load(&self) -> f64 {
        self.loads.iter().map(|one| one.load_flits_per_cycle).filter(|load| load.is_finite()).sum()
    }
}

impl Course {
    /// From the first number to the last, without room at the sides: phases fill it.
    fn x_scale(&self) -> Scale {
        let of_panels = self.panels.iter().flat_map(|panel| &panel.series);
        let points = of_panels.flat_map(|series| &series.points).map(|point| point.x);
        let times: Vec<f64> =
            self.mix.iter().flat_map(|phase| [phase.begins, phase.ends]).chain(points).collect();
        let from = times.iter().copied().fold(f64::INFINITY, f64::min);
        let to = times.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Scale::exactly(from, to, false).unwrap_or_else(|| Scale::along(times, false, 0.0))
    }

    /// All curves, and the classes of the mix that have none.
    fn legend(&self, canvas: &Canvas<'_>) -> Vec<Entry> {
        let Some(first) = self.panels.first() else { return Vec::new() };
        let series = self.panels.iter().flat_map(|panel| panel.series.clone()).collect();
        let all = Lines { series, ..first.clone() };
        let mut entries = legend_entries(&all, y_scale(&all));
        let mut known: Vec<&str> = all.series.iter().map(|one| one.label.as_str()).collect();
        for phase in &self.mix {
            let is_seen = |one: &&ClassLoad| one.load_flits_per_cycle > LEAST_SHARE * phase.load();
            for one in phase.loads.iter().filter(is_seen) {
                if !known.contains(&one.class.as_str()) {
                    known.push(&one.class);
                    let colour = canvas.palette.series(one.style);
                    let sample = Sample::Swatch { colour, surface: Surface::Solid };
                    entries.push(Entry::new(sample, format!("{} in the mix", one.class)));
                }
            }
        }
        entries
    }

    /// Lines where the mix changes.
    fn draw_changes(&self, canvas: &mut Canvas<'_>, panel: &Panel) {
        for phase in self.mix.iter().skip(1) {
            let Some(x) = panel.place_x(phase.begins) else { continue };
            let (top, bottom) = (panel.area.top, panel.area.bottom);
            canvas.line((x, top), (x, bottom), canvas.thin(canvas.palette.muted));
        }
    }

    /// A column for each phase, as high as its load against that of the busiest one, in the colours of the classes.
    fn draw_mix(&self, canvas: &mut Canvas<'_>, panel: &Panel) {
        let most = self.mix.iter().map(MixPhase::load).fold(0.0, f64::max);
        panel.draw_columns(canvas, true);
        for phase in &self.mix {
            let (Some(from), Some(to)) = (panel.place_x(phase.begins), panel.place_x(phase.ends)) else {
                continue;
            };
            let mut bottom = panel.area.bottom;
            let is_drawn =
                |one: &&ClassLoad| one.load_flits_per_cycle > 0.0 && one.load_flits_per_cycle.is_finite();
            for one in phase.loads.iter().filter(is_drawn) {
                let top = bottom - panel.area.height() * one.load_flits_per_cycle / most;
                let area = Area { left: from, right: to, top, bottom };
                let colour = canvas.palette.series(one.style);
                canvas.fill(area, colour);
                let text = format!("{:.0} %", 100.0 * one.load_flits_per_cycle / phase.load());
                let fits = canvas.small.width(&text) < area.width() && canvas.small.size < area.height();
                if fits {
                    canvas.text(&text, area.centre(), Anchor::Middle, canvas.small, legible_on(colour));
                }
                bottom = top;
            }
        }
        panel.draw_frame(canvas);
    }
}

impl Chart for Course {
    fn table(&self) -> rows::Table {
        let x = self.panels.first().map_or("x".to_owned(), |panel| column("x", &panel.x));
        let heads = ["panel", "series", "origin", &x, "y", "lower_95", "upper_95", "saturated"];
        let of_panel = |panel: &Lines| {
            let name = label(&panel.y);
            let mut rows = panel.table().rows;
            rows.iter_mut().for_each(|row| row[0].clone_from(&name));
            rows
        };
        let of_phase = |phase: &MixPhase| {
            let row = |one: &ClassLoad| {
                let (begins, load) = (phase.begins.to_string(), one.load_flits_per_cycle.to_string());
                [MIX, &one.class, "scenario", &begins, &load, "", "", "false"].map(str::to_owned).to_vec()
            };
            phase.loads.iter().map(row).collect::<Vec<_>>()
        };
        let rows = self.panels.iter().flat_map(of_panel).chain(self.mix.iter().flat_map(of_phase));
        rows::Table::new(&heads, rows)
    }

    fn origins(&self) -> Vec<Origin> {
        self.panels.iter().flat_map(Chart::origins).collect()
    }

    fn description(&self) -> String {
        let panels: Vec<String> = self.panels.iter().map(Chart::description).collect();
        format!("{}; below, the mix of {} phases", panels.join("; "), self.mix.len())
    }

    fn text(&self, columns: usize) -> Option<String> {
        let panels: Vec<String> = self.panels.iter().filter_map(|panel| panel.text(columns)).collect();
        let unit = self.panels.first().map_or("", |panel| panel.x.unit.as_str());
        let phase = |phase: &MixPhase| {
            let load = |one: &ClassLoad| format!("{} {}", one.class, short(one.load_flits_per_cycle));
            let loads: Vec<String> = phase.loads.iter().map(load).collect();
            format!("from {} {unit} on: {} flits/cycle\n", short(phase.begins), loads.join(", "))
        };
        Some(panels.join("\n") + "\n" + &self.mix.iter().map(phase).collect::<String>())
    }

    fn draw(&self, canvas: &mut Canvas<'_>, top: f64, room: Option<f64>) -> f64 {
        let Some(first) = self.panels.first() else { return top };
        let start = legend::draw(canvas, &self.legend(canvas), top) + GAP;
        let (x, gap, small) = (self.x_scale(), canvas.small.size, canvas.small.line_height());
        let x_label = canvas.text.wrap(&label(&first.x), canvas.width - 2.0 * canvas.margin, 3);
        let foot = 2.0 * GAP + small + x_label.len() as f64 * canvas.text.line_height();
        let strip = LINES_OF_MIX * small;
        let height = match room {
            Some(room) => ((room - (start - top) - strip - foot) / self.panels.len() as f64 - gap).max(40.0),
            None => (canvas.width * HEIGHT).max(90.0),
        };
        let scales: Vec<Scale> = self.panels.iter().map(y_scale).collect();
        let labels: Vec<Vec<String>> =
            self.panels.iter().map(|panel| canvas.text.wrap(&label(&panel.y), height, 3)).collect();
        let numbers = scales.iter().map(|y| width_of_numbers(canvas, *y, height)).fold(0.0, f64::max);
        let label_lines = labels.iter().map(Vec::len).max().unwrap_or(0) as f64;
        let left = canvas.margin * 0.6 + label_lines * canvas.text.line_height() + numbers;
        let right = canvas.width - canvas.margin * 1.6;
        let mut area = Area { left, right, top: start, bottom: start + height };
        for ((lines, y), words) in self.panels.iter().zip(scales).zip(&labels) {
            let panel = Panel { area, x, y };
            panel.draw_axes(canvas, false);
            self.draw_changes(canvas, &panel);
            draw_series(canvas, &panel, lines);
            y_label(canvas, words, left - numbers, area.centre().1);
            area = Area { top: area.bottom + gap, bottom: area.bottom + gap + height, ..area };
        }
        let area = Area { bottom: area.top + strip, ..area };
        self.draw_mix(canvas, &Panel { area, x, y: Scale::around([0.0, 1.0], false, 0.0) });
        let beside = (left - 1.5 * GAP, area.centre().1);
        canvas.text("mix", beside, Anchor::End, canvas.small, canvas.palette.text);
        centred_lines(canvas, &x_label, area.centre().0, area.bottom + 2.0 * GAP + small)
    }
}
