//! Draws samples of all kinds of pictures, and SVG files that are named, in any font, for the eye:
//!
//! ```text
//! cargo run -p flitwise-figures --example samples -- DIRECTORY [--ignore-lengths] [FONT.ttf | PICTURE.svg]..
//! ```
//!
//! Each picture is set in every font that is named, as by a viewer that has no other; without one, in the bundled
//! font. `--ignore-lengths` shows what viewers make of it that do not know `textLength`.

#[path = "../tests/figures/samples/mod.rs"]
mod samples;

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use flitwise_figures::draw::{Style, Theme, svg};
use resvg::{tiny_skia, usvg};

/// Pixels per unit of the SVG.
const SCALE: f32 = 1.5;
/// Of samples \[px\].
const WIDTHS: [u32; 3] = [320, 480, 640];

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let directory = PathBuf::from(words.next().ok_or("which directory?")?);
    fs::create_dir_all(&directory)?;
    let words: Vec<String> = words.collect();
    let ignore_lengths = words.iter().any(|word| word == "--ignore-lengths");
    let files = words.iter().filter(|word| !word.starts_with("--")).map(PathBuf::from);
    let (pictures, mut fonts): (Vec<PathBuf>, Vec<PathBuf>) =
        files.partition(|file| file.extension().is_some_and(|ending| ending == "svg"));
    if fonts.is_empty() {
        fonts.push(Path::new(env!("CARGO_MANIFEST_DIR")).join("fonts/OpenSans-Regular.ttf"));
    }
    for (stem, drawn) in drawings(&pictures)? {
        let drawn = if ignore_lengths { drawn.replace("textLength", "data-length") } else { drawn };
        for font in &fonts {
            let font_stem = font.file_stem().unwrap_or_default().to_string_lossy();
            fs::write(directory.join(format!("{stem}-{font_stem}.png")), rendered(&drawn, font)?)?;
        }
    }
    Ok(())
}

/// The files that are named, or else all samples in all themes and widths.
fn drawings(files: &[PathBuf]) -> Result<Vec<(String, String)>, Box<dyn Error>> {
    let mut drawings = Vec::new();
    for file in files {
        let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        drawings.push((stem, fs::read_to_string(file)?));
    }
    if !files.is_empty() {
        return Ok(drawings);
    }
    for picture in samples::samples() {
        for theme in [Theme::Light, Theme::Dark, Theme::Print] {
            for width in WIDTHS {
                let stem = format!("{}-{theme:?}-{width}", picture.name).to_lowercase();
                drawings.push((stem, svg(&picture, &Style { theme, width, height: None })));
            }
        }
    }
    Ok(drawings)
}

/// As PNG, in `font` and its bold face beside it, whatever the SVG asks for.
fn rendered(svg: &str, font: &Path) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut fonts = usvg::fontdb::Database::new();
    fonts.load_font_data(fs::read(font)?);
    let family = fonts.faces().next().and_then(|face| Some(face.families.first()?.0.clone()));
    let family = family.ok_or("a file without a font")?;
    let stem = font.file_stem().unwrap_or_default().to_string_lossy().replace("-Regular", "");
    if let Ok(bold) = fs::read(font.with_file_name(format!("{stem}-Bold.ttf"))) {
        fonts.load_font_data(bold);
    }
    fonts.set_sans_serif_family(&family);
    let options = usvg::Options { fontdb: Arc::new(fonts), font_family: family, ..usvg::Options::default() };
    let tree = usvg::Tree::from_str(svg, &options)?;
    let side = |length: f32| (length * SCALE).ceil() as u32;
    let size = (side(tree.size().width()), side(tree.size().height()));
    let mut pixels = tiny_skia::Pixmap::new(size.0, size.1).ok_or("no pixels")?;
    resvg::render(&tree, tiny_skia::Transform::from_scale(SCALE, SCALE), &mut pixels.as_mut());
    Ok(pixels.encode_png()?)
}
