//! Congestion trees: what the ports of packet switches hold at chosen times, one run for each variant.

use flitwise_experiment::packets;
use flitwise_language::scenario::{ClassSpec, DestinationSpec, Direction, Scenario};
use flitwise_simulator::packet::Column;
use flitwise_validation::machine;
use rayon::prelude::*;

use super::heat_map::draw_scale;
use super::*;
use crate::draw::canvas::{Anchor, Area, Canvas, Pen};
use crate::draw::frame::GAP;
use crate::draw::legend::{self, Entry, Sample};
use crate::draw::palette::on_scale;
use crate::draw::scale::{Scale, label};
use crate::draw::tiles::{self, Tiles};

/// Most hosts whose ports are drawn one by one, most times, and those of them that a picture of all shows.
const MOST_LINES: u32 = 256;
const MOST_TIMES: usize = 60;
const MOST_SHOWN: usize = 12;

/// Ports of packet switches at chosen times.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CongestionTree {
    /// What the colours stand for.
    pub held: Axis,
    /// Panels side by side: one for each time.
    pub times: usize,
    /// Where the colours end: at the most that any port holds at any of the times.
    pub most: f64,
    /// Whether queues are set aside at any of the times.
    pub sets_aside: bool,
    /// Lines to which traffic goes that begins late: hot hosts.
    pub hot: Vec<u32>,
    /// One for each variant and time.
    pub panels: Vec<TreePanel>,
}

/// A network at a time of one run.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TreePanel {
    /// What stands above it.
    pub label: String,
    /// The variant of the scenario; empty of the only one.
    pub variant: String,
    /// When \[us\].
    pub time_us: f64,
    /// From left to right: injection ports of hosts, then ingress and egress of each stage.
    pub columns: Vec<TreeColumn>,
}

/// Ports in the order of their lines.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TreeColumn {
    /// What the ports are, such as `stage 0, egress`.
    pub name: String,
    /// What each holds.
    pub held: Vec<f64>,
    /// Queues that are set aside there.
    pub set_aside: Vec<u32>,
    /// The line of the next column to which the link of each leads; empty where there is none.
    pub next: Vec<u32>,
}

/// What the ports of packet switches hold at chosen times.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    /// When \[us\].
    times_us: Vec<f64>,
    /// Changes of the scenario; at least one, which may change nothing.
    variants: Vec<Variant>,
}

impl FigureFile for Question {
    const WORD: &'static str = "congestion-tree";
    const KEYS: &'static [&'static str] = &["x", "variant"];

    fn sources() -> (&'static [Origin], Vec<Origin>) {
        (&[], Vec::new())
    }

    /// Stages of packet switches with data in one direction, at times in \[us\].
    fn read(reading: &mut Reading<'_>, root: &Table<'_>, scenario: Option<&Scenario>) -> Option<Self> {
        reading.reader.require(root, "x", "an [x] table with values = times in us", None);
        let x = reading.reader.table(root, "x")?;
        reading.reader.refuse_unknown(&x, &["values"]);
        let times_us = reading.reader.rising(&x, "values", MOST_TIMES)?;
        let variants = reading.variants(root);
        let network = scenario?.topology();
        let stages = network.as_multistage().filter(|one| one.direction == Direction::Unidirectional);
        if stages.is_none_or(|one| one.hosts > MOST_LINES) {
            let wanted = format!("unidirectional packet switches of at most {MOST_LINES} hosts");
            reading.refuse(root, "scenario", network.name(), &wanted);
            return None;
        }
        let end_us = scenario?.measure().end.unwrap_or(0.0) / 1e3;
        if times_us.iter().any(|time| !(0.0..=end_us).contains(time)) {
            let wanted = format!("times within the run, up to {end_us} us");
            reading.refuse(&x, "values", "something else".to_owned(), &wanted);
        }
        Some(Self { times_us, variants })
    }
}

impl FigureKind for Question {
    fn points(&self) -> Vec<Spot<'_>> {
        Spot::of_variants(&self.variants)
    }

    fn is_settled(&self) -> bool {
        true
    }

    fn refused(&self, scenario: &Scenario, _: &Place) -> Vec<Fault> {
        packets::supports(scenario, machine::READ).err().unwrap_or_default()
    }

    fn content(&self, figure: &Figure, _: Runs<'_>, notes: &mut Vec<Note>) -> Content {
        let Self { times_us, variants } = self;
        let times_ns: Vec<f64> = times_us.iter().map(|time| 1e3 * time).collect();
        let points: Vec<(&Variant, Scenario)> =
            variants.iter().zip(figure.points().into_iter().flatten()).collect();
        let panels = |(variant, scenario): &(&Variant, Scenario)| {
            let kilobytes = scenario.switch().map_or(0.0, |switch| f64::from(switch.packet)) / 1024.0;
            let found = packets::columns_at(scenario, SEED, &times_ns, machine::READ).unwrap_or_default();
            let panel = |(time_us, columns): (&f64, Vec<Column>)| {
                let name = |place: usize| match place {
                    0 => "injection".to_owned(),
                    _ => format!("stage {}, {}", (place - 1) / 2, ["ingress", "egress"][(place - 1) % 2]),
                };
                let queues: u32 = columns.iter().flat_map(|column| &column.set_aside).sum();
                let column = |(place, Column { packets, set_aside, next }): (usize, Column)| TreeColumn {
                    name: name(place),
                    held: packets.into_iter().map(|count| f64::from(count) * kilobytes).collect(),
                    set_aside,
                    next,
                };
                let parted = if variant.label.is_empty() { "" } else { ", " };
                let queues = if queues > 0 { format!(": {queues} queues") } else { String::new() };
                TreePanel {
                    label: format!("{}{parted}{time_us} us{queues}", variant.label),
                    variant: variant.label.clone(),
                    time_us: *time_us,
                    columns: columns.into_iter().enumerate().map(column).collect(),
                }
            };
            times_us.iter().zip(found).map(panel).collect::<Vec<_>>()
        };
        let late = figure.scenario.classes().iter().filter(|class| class.start_cycle() > 0.0);
        let to = |class: &ClassSpec| match &class.destination {
            DestinationSpec::Nodes(list) => list.nodes().collect::<Vec<_>>(),
            _ => Vec::new(),
        };
        if times_us.len() > MOST_SHOWN {
            let text = format!("{MOST_SHOWN} of {} times are drawn; all are in the numbers", times_us.len());
            notes.push(Note { place: note::Place::default(), text });
        }
        let panels: Vec<TreePanel> = points.par_iter().flat_map(panels).collect();
        let columns = || panels.iter().flat_map(|panel| &panel.columns);
        let held = columns().flat_map(|column| column.held.iter().copied());
        let most = held.filter(|held| held.is_finite()).fold(0.0, f64::max);
        let sets_aside = columns().flat_map(|column| &column.set_aside).any(|queues| *queues > 0);
        Content::CongestionTree(CongestionTree {
            held: Axis { label: "queued at a port".to_owned(), unit: "KB".to_owned(), logarithmic: false },
            times: times_us.len(),
            most,
            sets_aside,
            hot: late.flat_map(to).collect(),
            panels,
        })
    }
}

impl Chart for CongestionTree {
    fn table(&self) -> rows::Table {
        let heads = ["variant", "time_us", "ports", "line", &column("held", &self.held), "set_aside_queues"];
        let rows = self.panels.iter().flat_map(|panel| {
            panel.columns.iter().flat_map(move |ports| {
                let row = move |(line, (held, queues)): (usize, (&f64, &u32))| {
                    let (variant, time) = (panel.variant.clone(), panel.time_us.to_string());
                    let numbers = [line.to_string(), held.to_string(), queues.to_string()];
                    [vec![variant, time, ports.name.clone()], numbers.to_vec()].concat()
                };
                ports.held.iter().zip(&ports.set_aside).enumerate().map(row)
            })
        });
        rows::Table::new(&heads, rows)
    }

    fn origins(&self) -> Vec<Origin> {
        vec![Origin::Simulation]
    }

    fn description(&self) -> String {
        let panels: Vec<&str> = self.shown().1.iter().map(|panel| panel.label.as_str()).collect();
        format!("Congestion trees: {} of all ports: {}", label(&self.held), listed(&panels))
    }

    fn moments(&self) -> Vec<Content> {
        let at = |time: usize| {
            let panels = self.panels.chunks(self.times.max(1)).filter_map(|panels| panels.get(time));
            Self { times: 1, panels: panels.cloned().collect(), ..self.clone() }
        };
        (0..self.times).map(|time| Content::CongestionTree(at(time))).collect()
    }

    fn draw(&self, canvas: &mut Canvas<'_>, top: f64, room: Option<f64>) -> f64 {
        let (times, panels) = self.shown();
        let scale =
            Scale::exactly(0.0, self.most, false).unwrap_or_else(|| Scale::around([0.0, 1.0], false, 0.0));
        let below_bar = draw_scale(canvas, &self.held, scale, false, top);
        let words = "left to right: injection ports of hosts, then ingress and egress of each stage";
        let words =
            if self.sets_aside { format!("{words}; orange: queues set aside") } else { words.to_owned() };
        let start = legend::draw(canvas, &[Entry::new(Sample::None, &words)], below_bar)
            + canvas.text.line_height()
            + GAP;

        let across = canvas.width - 2.0 * canvas.margin;
        let gaps =
            (1.2 * canvas.text.size, canvas.small.line_height() + canvas.text.line_height() + 2.0 * GAP);
        let (count, narrowest) = (panels.len(), 6.5 * canvas.text.size);
        // a row for each variant, if its times go into one
        let tiles = match times {
            times @ 1.. if across >= times as f64 * narrowest => {
                Tiles { columns: times, rows: count.div_ceil(times) }
            }
            _ => Tiles::new(count, across, narrowest),
        };
        let width = (across - (tiles.columns as f64 - 1.0) * gaps.0) / tiles.columns as f64;
        let height = match room {
            Some(room) => ((room - (start - top)) / tiles.rows as f64 - gaps.1).max(40.0),
            None => (1.5 * width).clamp(120.0, 420.0),
        };
        for (index, panel) in panels.iter().enumerate() {
            let area = tiles.area(index, (canvas.margin, start), (width, height), gaps);
            let labels = panels.iter().map(|one| one.label.as_str());
            tiles::heading(canvas, &panel.label, labels, area);
            draw_panel(canvas, panel, &self.hot, scale, area);
        }
        start + tiles.rows as f64 * (height + gaps.1) - canvas.text.line_height()
    }
}

impl CongestionTree {
    /// Times and panels that a picture of all shows: of too many every so many.
    fn shown(&self) -> (usize, Vec<&TreePanel>) {
        if self.times <= MOST_SHOWN {
            return (self.times, self.panels.iter().collect());
        }
        let times = evenly(self.times, MOST_SHOWN);
        let panels = self.panels.chunks(self.times).flat_map(|of_variant| {
            times.iter().filter_map(|time| of_variant.get(*time)).collect::<Vec<&TreePanel>>()
        });
        (times.len(), panels.collect())
    }
}

/// Lines of a switch on one side.
const SIDE: usize = 4;
/// In widths of a port: a link, and a crossbar between ingress and egress.
const LINK: f64 = 2.6;
const CROSSBAR: f64 = 0.5;
/// Between switches, in heights of a port.
const BETWEEN: f64 = 1.0;
/// Part of a port that shows that queues are set aside there.
const QUEUE: f64 = 0.4;
/// Share of the scale from which on a link has the colour of the port before it.
const TELLING: f64 = 0.06;

/// Where ports stand in a panel.
struct Places {
    area: Area,
    port: (f64, f64),
}

impl Places {
    fn new(panel: &TreePanel, area: Area) -> Self {
        let columns = panel.columns.len().max(1);
        let lines = panel.columns.first().map_or(1, |column| column.held.len().max(1));
        let stages = (columns - 1) as f64 / 2.0;
        // half a port is left for the mark of a hot host
        let widths = 1.5 + stages * (2.0 + LINK + CROSSBAR);
        let heights = lines as f64 + BETWEEN * ((lines - 1) / SIDE) as f64;
        Self { area, port: (area.width() / widths, area.height() / heights) }
    }

    fn port(&self, column: usize, line: usize) -> Area {
        let links = column.div_ceil(2) as f64 * LINK + (column / 2) as f64 * CROSSBAR;
        let left = self.area.left + (column as f64 + links) * self.port.0;
        let top = self.area.top + (line as f64 + BETWEEN * (line / SIDE) as f64) * self.port.1;
        Area { left, right: left + self.port.0, top, bottom: top + self.port.1 }
    }
}

fn draw_panel(canvas: &mut Canvas, panel: &TreePanel, hot: &[u32], scale: Scale, area: Area) {
    let places = Places::new(panel, area);
    let links = || {
        panel.columns.iter().enumerate().flat_map(|(column, ports)| {
            let link = move |(line, next): (usize, &u32)| {
                (column, line, *next as usize, ports.held.get(line).copied())
            };
            ports.next.iter().enumerate().map(link)
        })
    };
    // those with much to carry above the others
    for is_telling in [false, true] {
        for (column, line, next, held) in links() {
            let share = held.and_then(|held| scale.share(held)).unwrap_or(0.0);
            if (share >= TELLING) != is_telling {
                continue;
            }
            let (from, to) = (places.port(column, line), places.port(column + 1, next));
            let pen = if is_telling {
                Pen { colour: on_scale(share), width: 0.5 + share }
            } else {
                Pen { colour: canvas.palette.grid, width: 0.4 }
            };
            canvas.line((from.right, from.centre().1), (to.left, to.centre().1), pen);
        }
    }
    for (column, ports) in panel.columns.iter().enumerate() {
        for (line, held) in ports.held.iter().enumerate() {
            let Some(share) = scale.share(*held) else { continue };
            let port = places.port(column, line);
            canvas.fill(port, on_scale(share));
            if ports.set_aside.get(line).is_some_and(|queues| *queues > 0) {
                let left = port.right - QUEUE * port.width();
                canvas.fill(Area { left, ..port }, canvas.palette.series[1]);
            }
        }
        // the words above the panels say that the first column is of hosts
        if column % 2 == 0 {
            continue;
        }
        let x = places.port(column, 0).right + CROSSBAR * places.port.0 / 2.0;
        let y = area.bottom + GAP + canvas.small.line_height() / 2.0;
        let name = ((column - 1) / 2).to_string();
        canvas.text(&name, (x, y), Anchor::Middle, canvas.small, canvas.palette.muted);
    }
    for host in hot {
        let Some(last) = panel.columns.len().checked_sub(1) else { continue };
        if panel.columns[last].held.len() > *host as usize {
            let port = places.port(last, *host as usize);
            let radius = (0.35 * places.port.0).clamp(1.5, 4.0);
            canvas.circle(
                (port.right + radius + 1.0, port.centre().1),
                radius,
                canvas.thin(canvas.palette.text),
            );
        }
    }
}
