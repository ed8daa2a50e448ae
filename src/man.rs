//! `flitwise man`.

use std::path::Path;

use crate::figure::write_whole;
use crate::outcome::Exit;
use crate::{help, output, place};

/// Writes all pages to a directory, or the first one to standard output.
pub(crate) fn run(out: Option<&Path>) -> Result<(), Exit> {
    let pages = help::manual()?;
    let Some(out) = out else {
        return pages.first().map_or(Ok(()), |(_, text)| output::write(text));
    };
    place::directory("--out", out)?;
    for (name, text) in &pages {
        let path = out.join(name);
        write_whole(&path, text)?;
        output::write(format!("{}\n", path.display()).as_bytes())?;
    }
    Ok(())
}
