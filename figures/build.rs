//! Measures the letters of the bundled fonts, so that no program carries the fonts along to break lines.
#![allow(clippy::print_stdout)] // what a build script says to cargo

use std::path::Path;
use std::{env, fs};

use ab_glyph::{Font, FontRef, ScaleFont};

/// Height of the font, for which its size is taken: ascent and descent \[em\].
const HEIGHT_OF_FONT: f64 = (2189.0 + 600.0) / 2048.0;
/// Letters are measured at so many times their size, in whole units.
const MAGNIFIED: f64 = 1000.0;

fn main() {
    let fonts = [("REGULAR_WIDTHS", "OpenSans-Regular.ttf"), ("BOLD_WIDTHS", "OpenSans-Bold.ttf")];
    let text: String = fonts.into_iter().map(|(name, file)| table(name, &format!("fonts/{file}"))).collect();
    let out = env::var("OUT_DIR").expect("cargo names a folder for what is made");
    fs::write(Path::new(&out).join("widths.rs"), text).expect("the folder can be written");
}

/// The widths of a font, a thousand of which are an em, by letter; the first is that of a letter that it lacks.
fn table(name: &str, file: &str) -> String {
    println!("cargo::rerun-if-changed={file}");
    let bytes = fs::read(file).unwrap_or_else(|error| panic!("{file}: {error}"));
    let font = FontRef::try_from_slice(&bytes).unwrap_or_else(|error| panic!("{file}: {error}"));
    let scaled = font.as_scaled((HEIGHT_OF_FONT * MAGNIFIED) as f32);
    let missing = scaled.h_advance(scaled.glyph_id('\u{fffff}')) as i32;
    let mut letters: Vec<(char, i32)> =
        font.codepoint_ids().map(|(id, letter)| (letter, scaled.h_advance(id) as i32)).collect();
    letters.push(('\0', missing));
    letters.sort_by_key(|(letter, width)| (*letter, *width != missing));
    letters.dedup_by_key(|(letter, _)| *letter);
    let rows: String = letters.iter().map(|(letter, width)| format!("({:?}, {width}), ", letter)).collect();
    format!("const {name}: [(char, u16); {}] = [{rows}];\n", letters.len())
}
