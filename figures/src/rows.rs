//! The numbers of a picture as the rows of its CSV file.

use crate::picture::{
    Axis, Chain, CongestionTree, Content, Frontier, HeatMap, Lines, NetworkMap, Origin, Picture, Point,
    Region, SimulatedLoad, Stacked, Timeline, Tornado, TornadoBar,
};

/// A table of texts; what does not exist is empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// Names of the columns, with units.
    pub heads: Vec<String>,
    /// Rows, each as long as the heads.
    pub rows: Vec<Vec<String>>,
}

/// All numbers of a picture.
pub fn table(picture: &Picture) -> Table {
    match &picture.content {
        Content::Lines(lines) => lines_table(lines),
        Content::Stacked(stacked) => stacked_table(stacked),
        Content::HeatMap(map) => heat_map_table(map),
        Content::Chain(chain) => chain_table(chain),
        Content::Network(map) => network_table(map),
        Content::CongestionTree(tree) => tree_table(tree),
        Content::Timeline(timeline) => timeline_table(timeline),
        Content::Region(region) => region_table(region),
        Content::Tornado(tornado) => tornado_table(tornado),
    }
}

fn lines_table(lines: &Lines) -> Table {
    let (x, y) = (column("x", &lines.x), column("y", &lines.y));
    let (low, high) = (column("lower_95", &lines.y), column("upper_95", &lines.y));
    let heads = ["panel", "series", "origin", &x, &y, &low, &high, "saturated"];
    let main = lines.series.iter().flat_map(|series| {
        let origin = series.origin.word();
        let panel = lines.panels.get(series.panel).map_or("main", String::as_str);
        series.points.iter().map(move |point| point_row(panel, &series.label, origin, point))
    });
    let difference = match lines.y.unit.is_empty() {
        true => "model minus simulation [percentage points]",
        false => "model minus simulation [percent]",
    };
    let errors = lines.errors.iter().flat_map(|series| {
        series
            .points
            .iter()
            .map(move |point| point_row(difference, &series.label, series.origin.word(), point))
    });
    Table::new(&heads, main.chain(errors))
}

fn stacked_table(stacked: &Stacked) -> Table {
    let (x, y) = (column("x", &stacked.x), column("y", &stacked.y));
    let (low, high) = (column("whole_lower_95", &stacked.y), column("whole_upper_95", &stacked.y));
    let heads = ["panel", "origin", &x, "part", &y, &low, &high, "saturated"];
    let rows = stacked.panels.iter().flat_map(|panel| {
        panel.bars.iter().flat_map(move |bar| {
            stacked.parts.iter().zip(&bar.parts).map(move |(part, height)| {
                vec![
                    panel.label.clone(),
                    bar.origin.word().to_owned(),
                    bar.x.to_string(),
                    part.clone(),
                    number(*height),
                    number(bar.interval_95.map(|interval| interval.0)),
                    number(bar.interval_95.map(|interval| interval.1)),
                    bar.saturated.to_string(),
                ]
            })
        })
    });
    Table::new(&heads, rows)
}

fn heat_map_table(map: &HeatMap) -> Table {
    let (x, y, z) = (column("x", &map.x), column("y", &map.y), column("z", &map.z));
    let width = column("half_width_95", &map.z);
    let heads = ["panel", "origin", &x, &y, &z, &width, "saturated"];
    let rows = map.panels.iter().flat_map(|panel| {
        let rows = panel.cells.iter().zip(&map.ys);
        rows.flat_map(move |(cells, y)| {
            cells.iter().zip(&map.xs).map(move |(cell, x)| {
                vec![
                    panel.label.clone(),
                    panel.origin.word().to_owned(),
                    x.to_string(),
                    y.to_string(),
                    number(cell.z),
                    number(cell.half_width_95),
                    cell.saturated.to_string(),
                ]
            })
        })
    });
    Table::new(&heads, rows)
}

fn chain_table(chain: &Chain) -> Table {
    let heads = ["state", "probability", "to_state", "rate_per_cycle"];
    let name = |set: usize| set_name(&chain.members, set);
    let states = chain
        .probabilities
        .iter()
        .enumerate()
        .map(|(set, probability)| vec![name(set), probability.to_string(), String::new(), String::new()]);
    let transitions = chain.transitions.iter().map(|transition| {
        let rate = transition.rate_per_cycle.to_string();
        vec![name(transition.from), String::new(), name(transition.to), rate]
    });
    Table::new(&heads, states.chain(transitions))
}

fn region_table(region: &Region) -> Table {
    let (x, y) = (column("x", &region.x), column("y", &region.y));
    let limit = |point: &Frontier| point.limit.and_then(|limit| region.limits.get(limit).cloned());
    let row = |point: &Frontier| {
        let limit = limit(point).unwrap_or_default();
        vec![region.origin.word().to_owned(), point.x.to_string(), point.y.to_string(), limit]
    };
    Table::new(&["origin", &x, &y, "limit"], region.frontier.iter().map(row))
}

/// Links from router to router, then ejection links, which end nowhere on the map.
fn network_table(map: &NetworkMap) -> Table {
    let [load, simulated, width] =
        ["load", "simulated_load", "simulated_half_width_95"].map(|stem| column(stem, &map.load));
    let heads = ["panel", "from_column", "from_row", "to_column", "to_row", &load, &simulated, &width];
    let rows = map.panels.iter().flat_map(|panel| {
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
        let columns = map.columns.max(1);
        let router = move |(index, load): (usize, &f64)| {
            let at = index as u32;
            row((at % columns, at / columns), None, *load, panel.simulated_routers.get(index).copied())
        };
        links.chain(panel.routers.iter().enumerate().map(router))
    });
    Table::new(&heads, rows)
}

fn tree_table(tree: &CongestionTree) -> Table {
    let heads = ["variant", "time_us", "ports", "line", &column("held", &tree.held)];
    let rows = tree.panels.iter().flat_map(|panel| {
        panel.columns.iter().flat_map(move |ports| {
            let row = move |(line, held): (usize, &f64)| {
                let (variant, time) = (panel.variant.clone(), panel.time_us.to_string());
                vec![variant, time, ports.name.clone(), line.to_string(), held.to_string()]
            };
            ports.held.iter().enumerate().map(row)
        })
    });
    Table::new(&heads, rows)
}

fn timeline_table(timeline: &Timeline) -> Table {
    let heads = ["variant", "stream", "frame", &column("x", &timeline.x), "late"];
    let rows = timeline.panels.iter().flat_map(|panel| {
        panel.streams.iter().enumerate().flat_map(move |(stream, frames)| {
            frames.iter().enumerate().map(move |(frame, time)| {
                let is_late = frame > 0 && time - frames[frame - 1] > timeline.late;
                let (stream, frame) = ((stream + 1).to_string(), frame.to_string());
                vec![panel.label.clone(), stream, frame, time.to_string(), is_late.to_string()]
            })
        })
    });
    Table::new(&heads, rows)
}

fn tornado_table(tornado: &Tornado) -> Table {
    let unit = |stem: &str| column(stem, &tornado.x);
    let (less, more) = (unit("less"), unit("more"));
    let heads = ["panel", "parameter", less.as_str(), more.as_str()];
    let rows = tornado.panels.iter().flat_map(|panel| {
        let row = |bar: &TornadoBar| {
            vec![panel.label.clone(), bar.label.clone(), number(bar.less), number(bar.more)]
        };
        panel.bars.iter().map(row)
    });
    Table::new(&heads, rows)
}

/// A set of members in words, such as `R1 + R2`; `none` if it is empty.
pub fn set_name(members: &[String], set: usize) -> String {
    let present = members.iter().enumerate().filter(|(bit, _)| set >> bit & 1 == 1);
    let names: Vec<&str> = present.map(|(_, name)| name.as_str()).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(" + ") }
}

impl Table {
    fn new(heads: &[&str], rows: impl Iterator<Item = Vec<String>>) -> Self {
        Self { heads: heads.iter().map(|head| (*head).to_owned()).collect(), rows: rows.collect() }
    }
}

fn point_row(panel: &str, series: &str, origin: &str, point: &Point) -> Vec<String> {
    vec![
        panel.to_owned(),
        series.to_owned(),
        origin.to_owned(),
        point.x.to_string(),
        number(point.y),
        number(point.lower_95),
        number(point.upper_95),
        point.saturated.to_string(),
    ]
}

fn number(number: Option<f64>) -> String {
    number.map_or_else(String::new, |number| number.to_string())
}

/// A column's name with the unit of its axis: `x_messages_per_cycle_per_node`.
fn column(stem: &str, axis: &Axis) -> String {
    let unit = if axis.unit.is_empty() { "probability" } else { &axis.unit };
    let unit = unit.replace('/', "_per_").replace(|c: char| !c.is_alphanumeric(), "_");
    format!("{stem}_{unit}")
}

/// Words of all origins in a picture, in order.
pub fn origins(picture: &Picture) -> Vec<Origin> {
    let mut origins: Vec<Origin> = match &picture.content {
        Content::Lines(lines) => lines.series.iter().map(|series| series.origin).collect(),
        Content::Stacked(stacked) => {
            stacked.panels.iter().flat_map(|panel| panel.bars.iter().map(|bar| bar.origin)).collect()
        }
        Content::HeatMap(map) => map.panels.iter().map(|panel| panel.origin).collect(),
        Content::Chain(_) => vec![Origin::Published],
        Content::Region(region) => vec![region.origin],
        Content::CongestionTree(_) | Content::Timeline(_) => vec![Origin::Simulation],
        // exact loads have no origin; the subtitle of the other names the model
        Content::Network(map) if map.is_simulated() => vec![Origin::Simulation],
        Content::Network(_) | Content::Tornado(_) => Vec::new(),
    };
    origins.sort_unstable();
    origins.dedup();
    origins
}
