//! Traces: messages listed in a file, read with every fault at its line; converted from public formats, or made.
//!
//! ```text
//! time_ns,source,destination,bytes
//! # a comment
//! 0,3,41,64
//! 120.5,7,41,8256
//! ```
//!
//! Times do not fall. A column `class` may follow, with names of classes of the scenario. Over routers the columns may
//! be `time_cycles,source,destination,flits`, too.

mod convert;
mod listed;
mod synthesise;

use std::io::{self, Write};
use std::sync::Arc;

use flitwise_language::document::{Fault, Place, one_of, shortened};

pub use convert::{Format, HostLayout};
pub(crate) use listed::{TracedClass, listed, prepared, routed};
pub use synthesise::Synthesis;

/// The longest message \[bytes, flits\].
const MOST_LENGTH: u64 = 16 << 20;
/// The latest time \[ns, cycles\].
const MOST_TIME: f64 = 1e15;
/// Faults that are kept: whoever mends these will see the next.
const MOST_FAULTS: usize = 100;

/// What times and lengths of a trace are numbers of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Columns {
    /// Nanoseconds and bytes.
    #[default]
    NsAndBytes,
    /// Cycles and flits.
    CyclesAndFlits,
}

impl Columns {
    /// The columns that every trace has, in their order.
    const fn names(self) -> &'static str {
        match self {
            Self::NsAndBytes => "time_ns,source,destination,bytes",
            Self::CyclesAndFlits => "time_cycles,source,destination,flits",
        }
    }

    /// The names of its columns of times and of lengths, and their units.
    const fn parts(self) -> ([&'static str; 2], [&'static str; 2]) {
        match self {
            Self::NsAndBytes => (["time_ns", "bytes"], ["ns", "bytes"]),
            Self::CyclesAndFlits => (["time_cycles", "flits"], ["cycles", "flits"]),
        }
    }
}

/// A message of a trace.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// When it is generated \[ns or cycles\].
    pub time: f64,
    /// The host that sends it.
    pub source: u32,
    /// The host that it goes to.
    pub destination: u32,
    /// Its length \[bytes or flits\].
    pub length: u32,
    /// Its class, by place in the list that the reader was given.
    pub class: usize,
}

/// What a trace is read for.
#[derive(Clone, Copy, Debug)]
pub struct Readership<'r> {
    /// Hosts of the network.
    pub hosts: u32,
    /// Whether a host may send to itself.
    pub self_traffic: bool,
    /// The classes whose messages it holds: the only one where it has no column of classes.
    pub classes: &'r [&'r str],
    /// What its columns may be.
    pub columns: &'r [Columns],
}

/// Messages in the order of their times.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    /// What their times and lengths are numbers of.
    pub columns: Columns,
    /// The messages.
    pub rows: Vec<Row>,
    /// The first comment, which says where they come from.
    pub note: Option<String>,
}

/// Lines of a text, each with its faults.
struct Lines {
    text: Arc<str>,
    line: usize,
    faults: Vec<Fault>,
}

impl Lines {
    fn new(name: &str) -> Self {
        Self { text: name.into(), line: 0, faults: Vec::new() }
    }

    fn refuse(&mut self, column: usize, key: &str, found: String, wanted: &str) {
        if self.faults.len() < MOST_FAULTS {
            let place = Place::At { text: self.text.clone(), line: self.line, column };
            let (key, wanted) = (key.to_owned(), wanted.to_owned());
            self.faults.push(Fault { place, key, found, wanted, help: None });
        }
    }

    /// The fields of a line, each with its column; none where there are more or fewer than wanted.
    fn fields<'l>(&mut self, line: &'l str, names: &[&str], more: bool) -> Option<Vec<(usize, &'l str)>> {
        let mut column = 1;
        let field = |field: &'l str| {
            let own = column + field.chars().take_while(|character| character.is_whitespace()).count();
            column += field.chars().count() + 1;
            (own, field.trim())
        };
        let fields: Vec<(usize, &str)> = line.split(',').map(field).collect();
        if fields.len() == names.len() || more && fields.len() > names.len() {
            return Some(fields);
        }
        let plural = if fields.len() == 1 { "" } else { "s" };
        let (found, wanted) = (format!("{} column{plural}", fields.len()), names.join(","));
        self.refuse(1, "row", found, &format!("{}: {wanted}", names.len()));
        None
    }

    /// A number that a field holds and `is_fit` takes.
    fn number<T: std::str::FromStr>(
        &mut self,
        (column, field): (usize, &str),
        (key, wanted): (&str, &str),
        is_fit: impl Fn(&T) -> bool,
    ) -> Option<T> {
        let number = field.parse().ok().filter(is_fit);
        if number.is_none() {
            self.refuse(column, key, shown(field), wanted);
        }
        number
    }
}

/// What a field is in a message: a number as it is, other text in quotes.
fn shown(field: &str) -> String {
    match field {
        "" => "nothing".to_owned(),
        _ if field.parse::<f64>().is_ok() => field.to_owned(),
        _ => format!("\"{}\"", shortened(field)),
    }
}

impl Trace {
    /// Reads a trace; `name` is what messages call the text.
    ///
    /// ```
    /// use flitwise_experiment::traces::{Columns, Readership, Trace};
    /// let columns = &[Columns::NsAndBytes];
    /// let readership = Readership { hosts: 64, self_traffic: false, classes: &["san"], columns };
    /// let text = "time_ns,source,destination,bytes\n# made by hand\n0,3,41,64\n5,3,64,64\n2,3,3,64\n";
    /// let faults = Trace::read("t.csv", text, &readership).unwrap_err();
    /// let said: Vec<String> = faults.iter().map(ToString::to_string).collect();
    /// assert_eq!(said[0], "t.csv:4:5: destination: found host 64, wanted 0 to 63, the hosts of the network");
    /// assert_eq!(said[1], "t.csv:5:1: time_ns: found 2, wanted 5 or more, the time of the row before");
    /// assert_eq!(said[2], "t.csv:5:5: destination: found host 3, which sends it, wanted another host");
    /// ```
    ///
    /// # Errors
    /// All faults, the first hundred of them.
    pub fn read(name: &str, text: &str, readership: &Readership<'_>) -> Result<Self, Vec<Fault>> {
        let mut lines = Lines::new(name);
        let head = header(&mut lines, text.lines().next().unwrap_or_default(), readership);
        let Some((columns, has_classes)) = head else { return Err(lines.faults) };
        let (mut trace, mut latest) = (Self { columns, ..Self::default() }, 0.0);
        let names: Vec<&str> = columns.names().split(',').chain(has_classes.then_some("class")).collect();
        for line in text.lines().skip(1) {
            lines.line += 1;
            if let Some(comment) = line.trim().strip_prefix('#') {
                trace.note.get_or_insert_with(|| comment.trim().to_owned());
            } else if !line.trim().is_empty()
                && let Some(fields) = lines.fields(line, &names, false)
            {
                trace.rows.extend(row(&mut lines, &fields, columns, readership, &mut latest));
            }
        }
        if trace.rows.is_empty() && lines.faults.is_empty() {
            lines.refuse(1, "row", "none".to_owned(), "at least one message");
        }
        if lines.faults.is_empty() { Ok(trace) } else { Err(lines.faults) }
    }
}

/// What the first line says its columns are, and whether there is one of classes; none where it is refused.
fn header(lines: &mut Lines, line: &str, readership: &Readership<'_>) -> Option<(Columns, bool)> {
    lines.line = 1;
    let names: String =
        line.trim_start_matches('\u{feff}').split(',').map(str::trim).collect::<Vec<_>>().join(",");
    let without = names.strip_suffix(",class");
    let asked = without.unwrap_or(&names);
    let Some(columns) = readership.columns.iter().copied().find(|columns| columns.names() == asked) else {
        let known: Vec<&str> = readership.columns.iter().map(|columns| columns.names()).collect();
        let wanted = format!("{}, and class where there are several", known.join(" or "));
        lines.refuse(1, "columns", shown(&names), &wanted);
        return None;
    };
    if without.is_none() && readership.classes.len() > 1 {
        let found = format!("no column class for {}", one_of(readership.classes.iter().copied()));
        lines.refuse(1, "columns", found, &format!("{asked},class"));
        return None;
    }
    Some((columns, without.is_some()))
}

/// A message; none where a field is refused.
fn row(
    lines: &mut Lines,
    fields: &[(usize, &str)],
    columns: Columns,
    readership: &Readership<'_>,
    latest: &mut f64,
) -> Option<Row> {
    let Readership { hosts, self_traffic, classes, .. } = *readership;
    let ([time_key, length_key], [time_unit, length_unit]) = columns.parts();
    let most = format!("0 to {MOST_TIME:e} {time_unit}");
    let time = lines.number(fields[0], (time_key, &most), |time: &f64| (0.0..=MOST_TIME).contains(time));
    if let Some(time) = time {
        if time < *latest {
            let wanted = format!("{latest} or more, the time of the row before");
            lines.refuse(fields[0].0, time_key, shown(fields[0].1), &wanted);
        }
        *latest = time.max(*latest);
    }
    let wanted = format!("0 to {}, the hosts of the network", hosts - 1);
    let [source, destination] = [(fields[1], "source"), (fields[2], "destination")].map(|(field, key)| {
        let host = lines.number(field, (key, &wanted), |_: &u32| true)?;
        if host >= hosts {
            lines.refuse(field.0, key, format!("host {host}"), &wanted);
        }
        Some(host)
    });
    if source.is_some() && source == destination && !self_traffic {
        let found = format!("host {}, which sends it", fields[2].1);
        lines.refuse(fields[2].0, "destination", found, "another host");
    }
    let wanted = format!("a whole number of {length_unit}, 1 to {MOST_LENGTH}");
    let is_fit = |length: &u64| (1..=MOST_LENGTH).contains(length);
    let length = lines.number(fields[3], (length_key, &wanted), is_fit);
    let class = match fields.get(4) {
        None => Some(0),
        Some((column, name)) => {
            let place = classes.iter().position(|class| class == name);
            if place.is_none() {
                let wanted = format!("a class with this trace: {}", one_of(classes.iter().copied()));
                lines.refuse(*column, "class", format!("\"{}\"", shortened(name)), &wanted);
            }
            place
        }
    };
    Some(Row {
        time: time?,
        source: source?,
        destination: destination?,
        length: length? as u32,
        class: class?,
    })
}

/// Writes a trace in nanoseconds and bytes without classes, with a comment that says where it comes from.
///
/// # Errors
/// What writing says.
pub fn write(out: &mut impl Write, rows: &[Row], note: &str) -> io::Result<()> {
    writeln!(out, "{}\n# {note}", Columns::NsAndBytes.names())?;
    for Row { time, source, destination, length, .. } in rows {
        writeln!(out, "{time},{source},{destination},{length}")?;
    }
    out.flush()
}
