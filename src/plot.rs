//! Where `--plot` draws: to a file, or as text to the terminal.

use std::io;
use std::path::Path;

use flitwise_figures::draw::{self, Style};
use flitwise_figures::picture::Picture;

use crate::outcome::Exit;
use crate::{figure, help, output, place};

/// What stands for the terminal where a file is asked for.
pub(crate) const TERMINAL: &str = "-";
/// Pixels of a PNG per unit of the SVG.
const PNG_SCALE: f64 = 2.0;

pub(crate) fn is_terminal(path: &Path) -> bool {
    path.as_os_str() == TERMINAL
}

/// What is wrong with the place of a picture that `option` names.
pub(crate) fn check(option: &str, path: &Path) -> Result<(), Exit> {
    let ending = path.extension().and_then(|ending| ending.to_str());
    if is_terminal(path) {
        return Ok(());
    }
    if !ending.is_some_and(|ending| figure::ENDINGS.contains(&ending)) {
        let found =
            ending.map_or_else(|| "no ending".to_owned(), |ending| format!("the ending \"{ending}\""));
        let wanted = figure::ENDINGS.join(" or .");
        let path = path.display();
        return Err(Exit::input(format!(
            "{option} {path}: found {found}, wanted a file that ends in .{wanted}"
        )));
    }
    place::file(option, path)
}

/// Draws `picture` to `path`, by whose ending the format is chosen, or to the terminal.
pub(crate) fn write(picture: &Picture, style: &Style, path: &Path) -> Result<(), Exit> {
    if is_terminal(path) {
        return show(picture);
    }
    let svg = draw::svg(picture, style);
    let bytes = if path.extension().is_some_and(|ending| ending == "png") {
        draw::png(&svg, PNG_SCALE).map_err(io::Error::other)?
    } else {
        svg.into_bytes()
    };
    figure::write_whole(path, &bytes)
}

/// Prints the curves of a picture; of one without curves it says so.
pub(crate) fn show(picture: &Picture) -> Result<(), Exit> {
    match draw::text(picture, help::width()) {
        Some(text) => output::write(text.as_bytes()),
        None => {
            output::note(&format!(
                "{}: the terminal shows curves only; this picture has none",
                picture.title
            ));
            Ok(())
        }
    }
}
