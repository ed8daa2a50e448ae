//! Text in the bundled font: its width and its line breaks.

use plotters_backend::FontStyle;

/// What the SVG asks for; text is set as wide as in the first.
pub(crate) const FAMILY: &str = "Open Sans, sans-serif";
/// Text gets so much more room than it takes in the bundled font: DejaVu Sans and Verdana, the widest fonts that
/// viewers usually have, need it where `textLength` is ignored.
const SPARE: f64 = 1.16;
/// Open Sans Regular.
#[cfg(feature = "png")]
pub(crate) const REGULAR: &[u8] = include_bytes!("../../fonts/OpenSans-Regular.ttf");
/// Open Sans Bold.
#[cfg(feature = "png")]
pub(crate) const BOLD: &[u8] = include_bytes!("../../fonts/OpenSans-Bold.ttf");

/// Lines are this far apart \[em\].
pub(crate) const LINE: f64 = 1.36;

// the widths of letters in thousands of an em, by letter; the first is that of a letter that the font lacks
include!(concat!(env!("OUT_DIR"), "/widths.rs"));

/// How text looks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Face {
    /// Height of an em \[px\].
    pub(crate) size: f64,
    pub(crate) bold: bool,
}

impl Face {
    pub(crate) fn style(self) -> FontStyle {
        if self.bold { FontStyle::Bold } else { FontStyle::Normal }
    }

    pub(crate) fn line_height(self) -> f64 {
        self.size * LINE
    }

    /// The room that `text` needs in any usual font \[px\].
    pub(crate) fn width(self, text: &str) -> f64 {
        self.bundled_width(text) * SPARE
    }

    /// Width of `text` in the bundled font \[px\], without kerning, which would make it a little less.
    pub(crate) fn bundled_width(self, text: &str) -> f64 {
        clean(text).chars().map(|letter| letter_width(letter, self.style())).sum::<f64>() * self.size
    }

    /// The room that a letter needs \[px\].
    fn letter(self, letter: char) -> f64 {
        letter_width(letter, self.style()) * self.size * SPARE
    }

    /// `text` in lines of at most `width`, broken between words, or inside them where one is too long.
    pub(crate) fn wrap(self, text: &str, width: f64, most_lines: usize) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        let mut line = String::new();
        for word in clean(text).split_whitespace().flat_map(|word| self.pieces(word, width)) {
            let longer = if line.is_empty() { word.clone() } else { format!("{line} {word}") };
            if self.width(&longer) <= width || line.is_empty() {
                line = longer;
            } else {
                lines.push(std::mem::replace(&mut line, word));
            }
            if lines.len() > most_lines {
                break;
            }
        }
        if !line.is_empty() {
            lines.push(line);
        }
        if lines.len() > most_lines {
            lines.truncate(most_lines);
            if let Some(last) = lines.last_mut() {
                *last = self.shortened(&format!("{last} …"), width);
            }
        }
        lines
    }

    /// As [`Face::wrap`], with lines of about the same length: no last line of one word.
    pub(crate) fn wrap_evenly(self, text: &str, width: f64, most_lines: usize) -> Vec<String> {
        let lines = self.wrap(text, width, most_lines);
        if lines.len() < 2 || lines.len() == most_lines {
            return lines;
        }
        let within = |step: i32| self.wrap(text, width * f64::from(step) / 20.0, most_lines);
        let narrower = (1..=20).rev().map(within);
        narrower.take_while(|other| other.len() == lines.len()).last().unwrap_or(lines)
    }

    /// A word, cut where it is wider than `width`.
    fn pieces(self, word: &str, width: f64) -> Vec<String> {
        if self.width(word) <= width {
            return vec![word.to_owned()];
        }
        let (mut pieces, mut used) = (vec![String::new()], 0.0);
        for letter in word.chars() {
            let more = self.letter(letter);
            if used + more > width && used > 0.0 {
                pieces.push(String::new());
                used = 0.0;
            }
            used += more;
            if let Some(last) = pieces.last_mut() {
                last.push(letter);
            }
        }
        pieces
    }

    /// `text`, or as much of it as goes into `width`, with an ellipsis.
    pub(crate) fn shortened(self, text: &str, width: f64) -> String {
        let text = clean(text);
        if self.width(&text) <= width {
            return text;
        }
        let mut used = self.width("…");
        let fits = |letter: &char| {
            used += self.letter(*letter);
            used <= width
        };
        let kept: String = text.trim_end_matches(['…', ' ']).chars().take_while(fits).collect();
        kept + "…"
    }

    /// `text` in a face small enough for `width`, but at least 0.7 of this one; shortened if that is too wide.
    pub(crate) fn fit(self, text: &str, width: f64) -> (Face, String) {
        let wanted = self.width(text);
        let shrink = if wanted > width { (width / wanted).max(0.7) } else { 1.0 };
        let face = Face { size: self.size * shrink, ..self };
        // a little slack: the quotient rounds
        (face, face.shortened(text, width + 0.5))
    }
}

/// Width of a letter in the bundled font \[em\].
fn letter_width(letter: char, style: FontStyle) -> f64 {
    let widths = match style {
        FontStyle::Bold => &BOLD_WIDTHS[..],
        _ => &REGULAR_WIDTHS[..],
    };
    let at = widths.binary_search_by_key(&letter, |(known, _)| *known).unwrap_or(0);
    f64::from(widths[at].1) / 1000.0
}

/// Without what XML forbids and what has no width; symbols that the font lacks, spelt out.
pub(crate) fn clean(text: &str) -> String {
    let mut cleaned = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '→' => cleaned.push_str("->"),
            '∅' => cleaned.push_str("{ }"),
            '\u{fffe}' | '\u{ffff}' => {}
            _ if letter.is_control() => cleaned.push(' '),
            _ => cleaned.push(letter),
        }
    }
    cleaned
}
