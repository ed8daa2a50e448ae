//! Renders an SVG as PNG.

use std::fmt;

#[cfg(feature = "png")]
pub use pixels::png;

/// Whether this build draws PNGs: feature `png`.
pub const HAS_PNG: bool = cfg!(feature = "png");

/// Why there is no PNG.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PngError {
    /// This build has not the feature `png`.
    NotBuilt,
    /// The text is no SVG; what the parser says.
    NotSvg(String),
    /// The picture would have no pixels, or more than 16 000 a side.
    Size,
    /// The pixels could not be written down; what the encoder says.
    Encoding(String),
}

impl fmt::Display for PngError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotBuilt => formatter.write_str("this flitwise was built without the feature \"png\""),
            Self::NotSvg(why) => write!(formatter, "not an SVG: {why}"),
            Self::Size => write!(formatter, "size of the PNG is out of range, 1 to 16000 pixels a side"),
            Self::Encoding(why) => write!(formatter, "PNG cannot be encoded: {why}"),
        }
    }
}

impl std::error::Error for PngError {}

/// No PNG without the feature `png`.
///
/// # Errors
///
/// Always.
#[cfg(not(feature = "png"))]
pub fn png(_: &str, _: f64) -> Result<Vec<u8>, PngError> {
    Err(PngError::NotBuilt)
}

#[cfg(feature = "png")]
mod pixels {
    use std::sync::{Arc, OnceLock};

    use resvg::{tiny_skia, usvg};

    use super::PngError;
    use crate::draw::font::{BOLD, REGULAR};

    /// Most pixels of a side of a PNG: a square of them takes 1 GB.
    const MOST_PIXELS: f64 = 16_000.0;

    /// `svg` as PNG, with `scale` pixels per unit of the SVG.
    ///
    /// Text is set in the bundled font alone, whatever it asks for: the same pixels on every machine.
    ///
    /// # Errors
    ///
    /// If `svg` cannot be read, or if `scale` asks for no or too many pixels.
    pub fn png(svg: &str, scale: f64) -> Result<Vec<u8>, PngError> {
        let options = usvg::Options {
            fontdb: bundled_fonts(),
            font_family: "Open Sans".to_owned(),
            ..usvg::Options::default()
        };
        let tree =
            usvg::Tree::from_str(svg, &options).map_err(|error| PngError::NotSvg(error.to_string()))?;
        let side = |length: f32| {
            let pixels = (f64::from(length) * scale).round();
            (1.0..=MOST_PIXELS).contains(&pixels).then_some(pixels as u32)
        };
        let size = tree.size();
        let (width, height) = side(size.width()).zip(side(size.height())).ok_or(PngError::Size)?;
        let mut pixels = tiny_skia::Pixmap::new(width, height).ok_or(PngError::Size)?;
        let transform = tiny_skia::Transform::from_scale(scale as f32, scale as f32);
        resvg::render(&tree, transform, &mut pixels.as_mut());
        pixels.encode_png().map_err(|error| PngError::Encoding(error.to_string()))
    }

    /// The two faces in `fonts/`, and no font of the system.
    fn bundled_fonts() -> Arc<usvg::fontdb::Database> {
        static FONTS: OnceLock<Arc<usvg::fontdb::Database>> = OnceLock::new();
        let fonts = FONTS.get_or_init(|| {
            let mut fonts = usvg::fontdb::Database::new();
            fonts.load_font_data(REGULAR.to_vec());
            fonts.load_font_data(BOLD.to_vec());
            fonts.set_sans_serif_family("Open Sans");
            Arc::new(fonts)
        });
        Arc::clone(fonts)
    }
}
