//! State diagram of the Markov chain of an output link: states in layers, and the rates between them.

use flitwise_language::scenario::{ClassKind, Scenario};
use flitwise_models::model::{Model, Options};
use flitwise_models::published::{LinkRecord, solve_recorded};

use super::*;
use crate::draw::canvas::{Anchor, Area, Canvas, Pen, Place};
use crate::draw::font::Face;
use crate::draw::frame::GAP;
use crate::draw::legend::{self, Entry, Sample};
use crate::draw::scale::short;
use crate::rows;

/// A Markov chain over the sets of classes that are present.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Chain {
    /// What comes and goes, in the order of bits: class names.
    pub members: Vec<String>,
    /// By set as a bit mask (bit `i` is `members[i]`): stationary probability.
    pub probabilities: Vec<f64>,
    /// All transitions.
    pub transitions: Vec<Transition>,
    /// By set and member: cycles per flit of the member in this set; `None` where it is not in it.
    pub cycles_per_flit: Vec<Vec<Option<f64>>>,
}

impl Chain {
    /// The chain of a link, Fig. 3 of the 2005 paper, with the numbers of a solve; `members` are its classes' names.
    pub fn of(link: &LinkRecord, members: Vec<String>) -> Self {
        let classes = members.len();
        let cycles = |set: usize| {
            let of = |class: usize| (set >> class & 1 == 1).then(|| link.shares.cycles_per_flit(class, set));
            (0..classes).map(of).collect()
        };
        let pairs = (0..link.states()).flat_map(|from| (0..classes).map(move |class| (class, from)));
        let transition = |(class, from)| Transition {
            from,
            to: from ^ (1_usize << class),
            rate_per_cycle: link.rate(class, from),
        };
        Self {
            members,
            probabilities: link.sharing.occupancy.clone(),
            transitions: pairs.map(transition).collect(),
            cycles_per_flit: (0..link.states()).map(cycles).collect(),
        }
    }
}

/// A transition of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Transition {
    /// From this set.
    pub from: usize,
    /// To this set.
    pub to: usize,
    /// At this rate \[1/cycle\].
    pub rate_per_cycle: f64,
}

/// The Markov chain of an output link.
#[derive(Clone, Debug)]
pub(crate) struct Question;

impl FigureFile for Question {
    const WORD: &'static str = "chain";
    const KEYS: &'static [&'static str] = &[];

    fn read(reading: &mut Reading<'_>, root: &Table<'_>, scenario: Option<&Scenario>) -> Option<Self> {
        if scenario.is_some_and(|one| one.topology().as_hypercube().is_some()) {
            let found = "a hypercube, which has a chain per channel".to_owned();
            reading.refuse(root, "scenario", found, "a router, which has one");
        }
        Some(Self)
    }
}

impl FigureKind for Question {
    fn is_settled(&self) -> bool {
        true
    }

    fn content(&self, figure: &Figure, _: Runs<'_>, notes: &mut Vec<Note>) -> Content {
        let options = Options { distributions: false, saturation_loads: false, ..Options::default() };
        let (answer, record) = solve_recorded(&figure.scenario, &options);
        let mut note = |text| notes.push(Note { place: note::Place::default(), text });
        if let Err(failure) = &answer {
            note(format!("no {} model: {failure}", Model::Published));
        }
        let record = record.filter(|record| answer.is_ok() && record.cube.is_none());
        let Some((record, link)) = record.as_ref().and_then(|record| Some((record, record.links.first()?)))
        else {
            note("the model has no numbers for this chain".to_owned());
            return Content::Chain(Chain::default());
        };
        let members = record.classes.iter().filter(|class| class.kind == ClassKind::RealTime);
        let names = members.map(|class| figure.scenario.classes()[class.class].name.clone());
        let mut chain = Chain::of(link, names.collect());
        chain.transitions.sort_by_key(|transition| (transition.from ^ transition.to, transition.from));
        Content::Chain(chain)
    }
}

impl Chart for Chain {
    fn table(&self) -> rows::Table {
        let heads = ["state", "probability", "to_state", "rate_per_cycle"];
        let name = |set: usize| set_name(&self.members, set);
        let states =
            self.probabilities.iter().enumerate().map(|(set, probability)| {
                vec![name(set), probability.to_string(), String::new(), String::new()]
            });
        let transitions = self.transitions.iter().map(|transition| {
            let rate = transition.rate_per_cycle.to_string();
            vec![name(transition.from), String::new(), name(transition.to), rate]
        });
        rows::Table::new(&heads, states.chain(transitions))
    }

    fn origins(&self) -> Vec<Origin> {
        vec![Origin::PUBLISHED]
    }

    fn description(&self) -> String {
        let members: Vec<&str> = self.members.iter().map(String::as_str).collect();
        let idle =
            self.probabilities.first().map_or(String::new(), |idle| format!("; empty: {}", short(*idle)));
        let states = self.probabilities.len();
        format!("Markov chain of {states} states: which of {} are present{idle}", listed(&members))
    }

    fn draw(&self, canvas: &mut Canvas<'_>, top: f64, room: Option<f64>) -> f64 {
        let members = self.members.len();
        if members > MOST_DRAWN || self.probabilities.len() > 1 << MOST_DRAWN {
            return draw_bars(canvas, self, top, room);
        }
        let labelled = members <= MOST_LABELLED;
        let keys = if labelled {
            "π: stationary probability; at the arrows: rates [1/cycle]; in the states: cycles per flit of each class"
        } else {
            "π: stationary probability; lines: transitions both ways"
        };
        let start = legend::draw(canvas, &[Entry::new(Sample::None, keys)], top) + canvas.text.size;
        let layout = Layout::new(canvas, self, start, room.map(|room| room - (start - top)));
        draw_transitions(canvas, self, &layout, labelled);
        for state in 0..self.probabilities.len() {
            draw_state(canvas, self, state, layout.boxes[state], labelled);
        }
        layout.end
    }
}

/// A set of members in words, such as `R1 + R2`; `none` if it is empty.
pub fn set_name(members: &[String], set: usize) -> String {
    let present = members.iter().enumerate().filter(|(bit, _)| set >> bit & 1 == 1);
    let names: Vec<&str> = present.map(|(_, name)| name.as_str()).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(" + ") }
}

/// With more members than this, rates and cycles would be a thicket.
const MOST_LABELLED: usize = 3;
/// With more members than this, so would the states.
const MOST_DRAWN: usize = 4;
/// So many states stand in the bar chart that takes their place.
const MOST_BARS: usize = 16;

/// `{R1, R2}`, by bit mask.
fn name(chain: &Chain, state: usize) -> String {
    let present = chain.members.iter().enumerate().filter(|(bit, _)| contains(state, *bit));
    let names: Vec<&str> = present.map(|(_, member)| member.as_str()).collect();
    if names.is_empty() { "{ }".to_owned() } else { format!("{{{}}}", names.join(", ")) }
}

fn contains(state: usize, bit: usize) -> bool {
    bit < usize::BITS as usize && state >> bit & 1 == 1
}

fn probability(value: f64) -> String {
    if value.is_finite() && (1e-4..=1.0).contains(&value.abs()) || value == 0.0 {
        format!("π = {value:.4}")
    } else {
        format!("π = {}", short(value))
    }
}

/// Where the states are.
struct Layout {
    /// By state.
    boxes: Vec<Area>,
    end: f64,
}

impl Layout {
    /// Layers by number of members: side by side if the width allows, else below each other.
    fn new(canvas: &Canvas, chain: &Chain, top: f64, room: Option<f64>) -> Self {
        let states = chain.probabilities.len();
        let labelled = chain.members.len() <= MOST_LABELLED;
        let mut layers: Vec<Vec<usize>> = vec![Vec::new(); chain.members.len() + 1];
        for state in 0..states {
            let layer = (state.count_ones() as usize).min(layers.len() - 1);
            layers[layer].push(state);
        }
        let widest = layers.iter().map(Vec::len).max().unwrap_or(1).max(1) as f64;
        let across = canvas.width - 2.0 * canvas.margin;
        let size = canvas.small.size;
        let lines = 2 + if labelled { chain.members.len() } else { 0 };
        let height = lines as f64 * canvas.small.line_height() + 2.0 * GAP;
        let wanted = (0..states).map(|state| widest_line(canvas, chain, state)).fold(6.0 * size, f64::max);

        let between = if labelled { 8.0 * size } else { 4.0 * size };
        let count = layers.len() as f64;
        let beside = count * wanted.min(9.0 * size) + (count - 1.0) * between <= across;
        let gap = size * 0.8;
        let mut boxes = vec![Area { left: 0.0, top, right: 0.0, bottom: top }; states];
        if beside {
            let width = wanted.min((across - (count - 1.0) * between) / count);
            let pitch = (across - width) / (count - 1.0).max(1.0);
            let row = height + if labelled { 4.5 * size } else { 1.5 * size };
            let tall = room.unwrap_or(widest * row).max(height);
            for (layer, members) in layers.iter().enumerate() {
                for (place, state) in members.iter().enumerate() {
                    let x = canvas.margin + width / 2.0 + layer as f64 * pitch;
                    let y = top + tall * (place as f64 + 0.5) / members.len() as f64;
                    boxes[*state] = around((x, y), (width, height));
                }
            }
            return Self { boxes, end: top + tall };
        }
        let row = height + if labelled { 9.5 * size } else { 4.5 * size };
        let tall = room.unwrap_or(count * row - (row - height)).max(height);
        for (layer, members) in layers.iter().enumerate() {
            let y = top + height / 2.0 + layer as f64 * (tall - height) / (count - 1.0).max(1.0);
            for (place, state) in members.iter().enumerate() {
                // fewer states have more room each
                let width = wanted.min(across / members.len() as f64 - gap).max(1.0);
                let x = canvas.margin + across * (place as f64 + 0.5) / members.len() as f64;
                boxes[*state] = around((x, y), (width, height));
            }
        }
        Self { boxes, end: top + tall }
    }
}

fn around(centre: Place, (width, height): (f64, f64)) -> Area {
    Area {
        left: centre.0 - width / 2.0,
        right: centre.0 + width / 2.0,
        top: centre.1 - height / 2.0,
        bottom: centre.1 + height / 2.0,
    }
}

/// What stands in a state below its name.
fn lines_of(chain: &Chain, state: usize, labelled: bool) -> Vec<String> {
    let mut lines = vec![probability(chain.probabilities.get(state).copied().unwrap_or(f64::NAN))];
    if labelled {
        for (bit, member) in chain.members.iter().enumerate() {
            let cycles = chain.cycles_per_flit.get(state).and_then(|row| row.get(bit)).copied().flatten();
            lines.extend(cycles.map(|cycles| format!("{member}: {}", short(cycles))));
        }
    }
    lines
}

fn widest_line(canvas: &Canvas, chain: &Chain, state: usize) -> f64 {
    let bold = Face { bold: true, ..canvas.small };
    let lines = lines_of(chain, state, chain.members.len() <= MOST_LABELLED);
    let widths = lines.iter().map(|line| canvas.small.width(line));
    widths.fold(bold.width(&name(chain, state)), f64::max) + 3.0 * GAP
}

fn draw_state(canvas: &mut Canvas, chain: &Chain, state: usize, area: Area, labelled: bool) {
    let corners = rounded(area, 6.0);
    let palette = canvas.palette;
    canvas.polygon(&corners, palette.background);
    canvas.ring(&corners, Pen { colour: palette.text, width: palette.line * 0.8 });
    let lines = lines_of(chain, state, labelled);
    let step = canvas.small.line_height();
    let mut y = area.centre().1 - step * lines.len() as f64 / 2.0;
    let bold = Face { bold: true, ..canvas.small };
    let room = area.width() - 1.5 * GAP;
    let small = canvas.small;
    let first = [(name(chain, state), bold)].into_iter();
    for (line, face) in first.chain(lines.into_iter().map(|line| (line, small))) {
        let (face, line) = face.fit(&line, room);
        canvas.text(&line, (area.centre().0, y), Anchor::Middle, face, palette.text);
        y += step;
    }
}

/// The outline of a rectangle with round corners.
fn rounded(area: Area, radius: f64) -> Vec<Place> {
    let radius = radius.min(area.width() / 2.0).min(area.height() / 2.0).max(0.0);
    let inner = area.shrunk(radius);
    let centres = [
        (inner.right, inner.top),
        (inner.right, inner.bottom),
        (inner.left, inner.bottom),
        (inner.left, inner.top),
    ];
    let mut places = Vec::new();
    for (quarter, (x, y)) in centres.into_iter().enumerate() {
        for step in 0..=5 {
            let angle = std::f64::consts::FRAC_PI_2 * (quarter as f64 + f64::from(step) / 5.0);
            places.push((x + radius * angle.sin(), y - radius * angle.cos()));
        }
    }
    places
}

fn draw_transitions(canvas: &mut Canvas, chain: &Chain, layout: &Layout, labelled: bool) {
    let states = layout.boxes.len();
    let drawn = |t: &&Transition| t.from < states && t.to < states && t.from != t.to;
    let transitions: Vec<&Transition> = chain.transitions.iter().filter(drawn).collect();
    let mut arrows = Vec::new();
    for transition in &transitions {
        let arrow = arrow_between(layout.boxes[transition.from], layout.boxes[transition.to]);
        if let Some((from, to)) = arrow {
            draw_arrow(canvas, from, to, labelled);
            arrows.push((transition.rate_per_cycle, from, to));
        }
    }
    if labelled {
        let mut taken = layout.boxes.clone();
        for (rate, from, to) in arrows {
            write_rate(canvas, &short(rate), from, to, &mut taken);
        }
    }
}

/// From border to border, a little to the right of the line of centres, so that there is room for the way back.
fn arrow_between(from: Area, to: Area) -> Option<(Place, Place)> {
    let ((x0, y0), (x1, y1)) = (from.centre(), to.centre());
    let length = (x1 - x0).hypot(y1 - y0);
    if length < 1.0 {
        return None;
    }
    let aside = (-(y1 - y0) / length * 3.5, (x1 - x0) / length * 3.5);
    let (start, end) = ((x0 + aside.0, y0 + aside.1), (x1 + aside.0, y1 + aside.1));
    let (_, leaving) = from.shrunk(-1.0).clip(start, end)?;
    let (arriving, _) = to.shrunk(-2.0).clip(start, end)?;
    Some((leaving, arriving))
}

fn draw_arrow(canvas: &mut Canvas, from: Place, to: Place, strong: bool) {
    let colour = if strong { canvas.palette.muted } else { canvas.palette.faded(canvas.palette.muted, 0.45) };
    let length = (to.0 - from.0).hypot(to.1 - from.1).max(1e-6);
    let (dx, dy) = ((to.0 - from.0) / length, (to.1 - from.1) / length);
    let (head, half) = if strong { (7.0, 2.7) } else { (5.0, 1.8) };
    let neck = (to.0 - head * dx, to.1 - head * dy);
    canvas.line(from, neck, Pen { colour, width: canvas.palette.thin });
    canvas.polygon(
        &[to, (neck.0 - half * dy, neck.1 + half * dx), (neck.0 + half * dy, neck.1 - half * dx)],
        colour,
    );
}

/// Writes a rate on its arrow, nearer to where it starts, where nothing else stands.
fn write_rate(canvas: &mut Canvas, text: &str, from: Place, to: Place, taken: &mut Vec<Area>) {
    let face = Face { size: canvas.small.size * 0.92, bold: false };
    let (width, height) = (face.width(text) + 3.0, face.size * 1.1);
    let length = (to.0 - from.0).hypot(to.1 - from.1).max(1e-6);
    let (dx, dy) = ((to.0 - from.0) / length, (to.1 - from.1) / length);
    // beside the arrow, on the side away from its way back
    let reach = width / 2.0 * dy.abs() + height / 2.0 * dx.abs() + 1.0;
    let at = |share: f64, aside: f64| {
        let x = from.0 + share * (to.0 - from.0) - aside * reach * dy;
        let y = from.1 + share * (to.1 - from.1) + aside * reach * dx;
        around((x, y), (width, height))
    };
    let tried = [1.0, 0.0]
        .into_iter()
        .flat_map(|aside| [0.3, 0.4, 0.22, 0.5, 0.6, 0.14, 0.7, 0.8].map(|share| (share, aside)));
    let free = |area: &Area| {
        let inside = area.left > 1.0 && area.right < canvas.width - 1.0;
        inside && taken.iter().all(|other| !other.overlaps(area))
    };
    let place = tried.map(|(share, aside)| at(share, aside)).find(free);
    let place = place.unwrap_or_else(|| at(0.3, 0.0));
    canvas.fill(place.shrunk(0.5), canvas.palette.background);
    canvas.text(text, place.centre(), Anchor::Middle, face, canvas.palette.text);
    taken.push(place);
}

/// The most probable states as bars, when there are too many to draw.
fn draw_bars(canvas: &mut Canvas, chain: &Chain, top: f64, room: Option<f64>) -> f64 {
    let mut states: Vec<(usize, f64)> = chain.probabilities.iter().copied().enumerate().collect();
    states.sort_by(|one, other| other.1.total_cmp(&one.1));
    let all = states.len();
    states.retain(|state| state.1.is_finite());
    let shown = states.len().min(MOST_BARS);
    states.truncate(shown);
    let together: f64 = states.iter().map(|state| state.1).sum();
    let text = format!(
        "stationary probability π of the {shown} most probable of {all} states, together {}",
        short(together)
    );
    let start = legend::draw(canvas, &[Entry::new(Sample::None, text)], top) + GAP;
    let face = canvas.small;
    let row = match room {
        Some(room) => ((room - (start - top)) / shown.max(1) as f64).clamp(1.0, 4.0 * face.size),
        None => face.line_height() * 1.25,
    };
    let across = canvas.width - 2.0 * canvas.margin;
    let wanted = states.iter().map(|(state, _)| face.width(&name(chain, *state))).fold(0.0, f64::max);
    let names = wanted.min(across * 0.42);
    let (left, number) = (canvas.margin + names + 2.0 * GAP, face.width("0.0000") + 2.0 * GAP);
    let longest = (canvas.width - canvas.margin - number - left).max(1.0);
    let most = states.first().map_or(0.0, |state| state.1);
    for (index, (state, value)) in states.iter().enumerate() {
        let y = start + (index as f64 + 0.5) * row;
        let (small, text) = face.fit(&name(chain, *state), names);
        canvas.text(&text, (left - GAP, y), Anchor::End, small, canvas.palette.text);
        let share = if most > 0.0 { (value / most).clamp(0.0, 1.0) } else { 0.0 };
        let end = left + longest * share;
        let bar = Area { left, right: end, top: y - 0.34 * row, bottom: y + 0.34 * row };
        canvas.fill(bar, canvas.palette.muted);
        let written = probability(*value).replace("π = ", "");
        canvas.text(&written, (end + GAP, y), Anchor::Start, face, canvas.palette.text);
    }
    start + row * shown as f64
}
