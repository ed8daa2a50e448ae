//! What tells whether a picture is of the present models and simulator.
//!
//! The stamp of a picture has the revision of the simulator, if anything was simulated, and a hash of the numbers of
//! its models where they stand beside simulations, to four digits. [`expected`] makes the same stamp without a
//! simulation.

use crate::figure::Figure;
use crate::picture::{Origin, Picture};
use crate::rows;

/// The attribute of `<svg>` that holds it.
const ATTRIBUTE: &str = "data-numbers";

/// The stamp of a picture of a figure.
pub fn of(figure: &Figure, picture: &Picture) -> String {
    text(figure, models_hash(figure, picture))
}

/// The stamp of the picture that would be drawn today.
pub fn expected(figure: &Figure) -> String {
    let mut alone = figure.clone();
    alone.sources.retain(|origin| origin.model().is_some());
    alone.curve_points = 1;
    let has_models = !alone.sources.is_empty() && !alone.wants_details();
    text(figure, has_models.then(|| models_hash(&alone, &alone.picture(&[]))).flatten())
}

/// The picture with its stamp.
pub fn stamped(svg: &str, stamp: &str) -> String {
    svg.replacen("<svg ", &format!("<svg {ATTRIBUTE}=\"{stamp}\" "), 1)
}

/// The stamp that a picture bears.
pub fn borne(svg: &str) -> Option<&str> {
    let (_, rest) = svg.split_once(&format!("{ATTRIBUTE}=\""))?;
    rest.split_once('"').map(|(stamp, _)| stamp)
}

fn text(figure: &Figure, models: Option<u64>) -> String {
    let is_of_models_alone = figure.models().next().is_some() && figure.scenarios().is_empty();
    let revision = flitwise_validation::campaign::revision(figure.scenario());
    let simulator = (!is_of_models_alone).then(|| format!("simulator {revision}"));
    let models = models.map(|hash| format!("models {hash:016x}"));
    simulator.into_iter().chain(models).collect::<Vec<_>>().join(", ")
}

/// A hash of the rows of models at the simulated places; `None` without any.
fn models_hash(figure: &Figure, picture: &Picture) -> Option<u64> {
    let table = rows::table(picture);
    let column = |is_it: &dyn Fn(&str) -> bool| table.heads.iter().position(|head| is_it(head));
    let origin = column(&|head| head == "origin");
    if origin.is_none() && figure.models().next().is_none() {
        return None;
    }
    let x = column(&|head| head.starts_with("x_"));
    // a table without origins is of a model alone
    let is_model = |row: &&Vec<String>| {
        let known = |origin: usize| Origin::ALL.into_iter().find(|known| known.word() == row[origin]);
        let by_model = origin.is_none_or(|origin| known(origin).and_then(Origin::model).is_some());
        by_model && !row[0].starts_with("model minus")
    };
    let is_simulated_place = |row: &&Vec<String>| match (x, figure.swept_values()) {
        (Some(x), Some(values)) => row[x].parse().is_ok_and(|at: f64| values.contains(&at)),
        _ => true,
    };
    let rounded = |cell: &String| match cell.parse::<f64>() {
        Ok(number) => format!("{number:.3e};"),
        Err(_) => format!("{cell};"),
    };
    let mut cells =
        table.rows.iter().filter(is_model).filter(is_simulated_place).flatten().map(rounded).peekable();
    cells.peek()?;
    // FNV-1a
    let fold = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    Some(cells.fold(0xcbf2_9ce4_8422_2325, |hash, cell| cell.bytes().fold(hash, fold)))
}
