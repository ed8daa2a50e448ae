//! The numbers of a picture as the rows of its CSV file.

pub use crate::kinds::chain::set_name;
use crate::picture::{Axis, Origin, Picture};

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
    picture.content.chart().table()
}

impl Table {
    pub(crate) fn new(heads: &[&str], rows: impl Iterator<Item = Vec<String>>) -> Self {
        Self { heads: heads.iter().map(|head| (*head).to_owned()).collect(), rows: rows.collect() }
    }
}

pub(crate) fn number(number: Option<f64>) -> String {
    number.map_or_else(String::new, |number| number.to_string())
}

/// A column's name with the unit of its axis: `x_messages_per_cycle_per_node`.
pub(crate) fn column(stem: &str, axis: &Axis) -> String {
    let unit = if axis.unit.is_empty() { "probability" } else { &axis.unit };
    let unit = unit.replace('/', "_per_").replace(|c: char| !c.is_alphanumeric(), "_");
    format!("{stem}_{unit}")
}

/// Words of all origins in a picture, in order.
pub fn origins(picture: &Picture) -> Vec<Origin> {
    let mut origins = picture.content.chart().origins();
    origins.sort_unstable();
    origins.dedup();
    origins
}
