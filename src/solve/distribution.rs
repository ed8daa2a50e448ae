//! `flitwise solve --distribution`: the whole distribution of every class's network latency.

use flitwise_models::answer::Answer;
use flitwise_models::document::DistributionDocument;

use crate::args::Format;
use crate::outcome::Exit;
use crate::output::{self, Rows, share};

const HEADS: [&str; 5] = ["model", "class", "latency_cycles", "at_most_probability", "more_than_probability"];

/// The cumulated distribution of every class that has one.
pub(super) fn write(answer: &Answer, format: Format) -> Result<(), Exit> {
    let document = DistributionDocument::of(answer);
    let model = answer.model.word();
    match format {
        Format::Json => output::write_json(&document),
        Format::Csv => {
            let mut table = csv::Writer::from_writer(Vec::new());
            table.write_record(HEADS)?;
            for (class, cycle, p) in document.rows() {
                let (cycle, at_most, more) = (cycle.to_string(), p.to_string(), (1.0 - p).to_string());
                table.write_record([model, class, &cycle, &at_most, &more])?;
            }
            output::write_csv(table)
        }
        Format::Table | Format::Markdown => {
            let mut table = Rows::new(&HEADS, format == Format::Markdown);
            for (class, cycle, p) in document.rows() {
                let (at_most, more) = (share(Some(p)), share(Some(1.0 - p)));
                table.add([model.to_owned(), class.to_owned(), cycle.to_string(), at_most, more]);
            }
            output::write(table.to_string().as_bytes())
        }
    }
}
