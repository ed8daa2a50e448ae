//! Tables of an answer beside the quantities of its classes, such as throughput over time. Models and simulations hand
//! them out alike, and every output prints them alike.

use schemars::JsonSchema;
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

/// How a section is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// One row: a name, a value and a unit a line.
    Record,
    /// Few rows, all of which are printed.
    Rows,
    /// Many rows, one after the other in time: a page prints the means of some at a time.
    Series,
}

/// A table with its name.
#[derive(Clone, Debug, PartialEq)]
pub struct Section {
    /// Its field in a document, and what asks for its rows as CSV.
    pub name: &'static str,
    /// Its head on a page.
    pub title: &'static str,
    /// How it is read.
    pub layout: Layout,
    /// Its columns.
    pub columns: Vec<Column>,
    /// The columns in front that say what a row is about: pages repeat them where they print a wide table in parts.
    pub keys: usize,
    /// Its rows, each of as many cells as there are columns.
    pub rows: Vec<Vec<Cell>>,
}

/// A column of a section.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its field in a document and in CSV, with its unit.
    pub field: String,
    /// Its head on a page.
    pub head: String,
    /// Its unit on a page; empty of words and shares.
    pub unit: &'static str,
    /// Whether rows printed as one have the largest of their values, not the mean.
    pub is_peak: bool,
    /// Whether it stands in documents and CSV only: the same as another one in another unit.
    pub is_twin: bool,
}

/// An entry of a section.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Cell {
    /// A word.
    Word(String),
    /// How many there are.
    Count(u64),
    /// A number.
    Number(f64),
    /// A mean over replications.
    Measured(Measurement),
    /// There is none.
    None,
}

/// A mean over replications.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Measurement {
    /// The mean.
    pub mean: f64,
    /// The 95 % interval is the mean plus and minus this; `null` with one replication.
    pub half_width_95: Option<f64>,
}

impl Cell {
    /// Its number, if it is one.
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Count(count) => Some(*count as f64),
            Self::Number(number) => Some(*number),
            Self::Measured(measured) => Some(measured.mean),
            Self::Word(_) | Self::None => None,
        }
    }
}

impl From<f64> for Cell {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<u64> for Cell {
    fn from(count: u64) -> Self {
        Self::Count(count)
    }
}

impl From<u32> for Cell {
    fn from(count: u32) -> Self {
        Self::Count(count.into())
    }
}

impl From<&str> for Cell {
    fn from(word: &str) -> Self {
        Self::Word(word.to_owned())
    }
}

impl From<Measurement> for Cell {
    fn from(measured: Measurement) -> Self {
        Self::Measured(measured)
    }
}

impl<T: Into<Self>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::None, Into::into)
    }
}

impl Section {
    /// An empty table.
    pub fn new(name: &'static str, title: &'static str, layout: Layout) -> Self {
        Self { name, title, layout, columns: Vec::new(), keys: 0, rows: Vec::new() }
    }

    /// The same with a further column; of a record also its value.
    #[must_use]
    pub fn with(
        mut self,
        field: impl Into<String>,
        head: impl Into<String>,
        unit: &'static str,
        value: impl Into<Cell>,
    ) -> Self {
        self = self.column(field, head, unit);
        if self.rows.is_empty() {
            self.rows.push(Vec::new());
        }
        self.rows[0].push(value.into());
        self
    }

    /// The same with a further column.
    #[must_use]
    pub fn column(mut self, field: impl Into<String>, head: impl Into<String>, unit: &'static str) -> Self {
        self.columns.push(Column {
            field: field.into(),
            head: head.into(),
            unit,
            is_peak: false,
            is_twin: false,
        });
        self
    }

    /// The same, of which the columns so far say what a row is about.
    #[must_use]
    pub fn keyed(mut self) -> Self {
        self.keys = self.columns.len();
        self
    }

    /// The same with a further column of peaks.
    #[must_use]
    pub fn peak(mut self, field: impl Into<String>, head: impl Into<String>, unit: &'static str) -> Self {
        self.columns.push(Column {
            field: field.into(),
            head: head.into(),
            unit,
            is_peak: true,
            is_twin: false,
        });
        self
    }

    /// The same with a further column for documents and CSV, which a page leaves out.
    #[must_use]
    pub fn twin(mut self, field: impl Into<String>) -> Self {
        let field: String = field.into();
        self.columns.push(Column { head: field.clone(), field, unit: "", is_peak: false, is_twin: true });
        self
    }

    /// The value of a column in a row.
    pub fn cell(&self, row: usize, field: &str) -> Option<&Cell> {
        let column = self.columns.iter().position(|column| column.field == field)?;
        self.rows.get(row)?.get(column)
    }
}

/// All sections of an answer. In a document each is a field: a record is an object, any other a list of objects.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sections(pub Vec<Section>);

impl Sections {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The section of that name.
    pub fn find(&self, name: &str) -> Option<&Section> {
        self.0.iter().find(|section| section.name == name)
    }
}

/// A row with the fields of its columns.
struct Row<'s>(&'s [Column], &'s [Cell]);

impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|column| &column.field).zip(self.1))
    }
}

impl Serialize for Sections {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for section in &self.0 {
            let mut rows = section.rows.iter().map(|row| Row(&section.columns, row));
            match section.layout {
                Layout::Record => map.serialize_entry(section.name, &rows.next())?,
                Layout::Rows | Layout::Series => {
                    map.serialize_entry(section.name, &rows.collect::<Vec<_>>())?;
                }
            }
        }
        map.end()
    }
}

impl JsonSchema for Sections {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Sections".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let cell = generator.subschema_for::<Cell>();
        let row = schemars::json_schema!({ "type": "object", "additionalProperties": cell });
        schemars::json_schema!({
            "type": "object",
            "description": "Tables beside the quantities of classes, by name: one row, or a list of rows.",
            "additionalProperties": { "anyOf": [row.clone(), { "type": "array", "items": row }] }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_an_object_and_rows_are_a_list() {
        let record = Section::new("dip", "Dip", Layout::Record)
            .with("depth_bytes_per_ns", "depth", "B/ns", 2.5)
            .with("length_us", "length", "us", None::<f64>);
        let mut rows =
            Section::new("over_time", "Over time", Layout::Series).column("start_us", "from", "us");
        rows.rows = vec![vec![0.0.into()], vec![Measurement { mean: 1.5, half_width_95: None }.into()]];
        let both = Sections(vec![record, rows]);
        assert_eq!(
            serde_json::to_value(&both).unwrap(),
            serde_json::json!({
                "dip": { "depth_bytes_per_ns": 2.5, "length_us": null },
                "over_time": [{ "start_us": 0.0 }, { "start_us": { "mean": 1.5, "half_width_95": null } }],
            })
        );
        assert_eq!(both.find("over_time").and_then(|one| one.cell(1, "start_us")?.number()), Some(1.5));
        assert!(both.find("other").is_none() && !both.is_empty());
    }
}
