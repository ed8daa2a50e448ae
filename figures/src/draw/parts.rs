//! A horizontal bar of parts that add up to a whole.

use super::canvas::{self, Anchor, Area, Canvas, Header};
use super::font::Face;
use super::palette::legible_on;
use super::{Style, frame::GAP};
use crate::picture::Parts;

/// The bar of `parts` as SVG.
///
/// Takes any numbers: what is no finite number, or below zero, has no length.
pub fn parts_svg(parts: &Parts, style: &Style) -> String {
    let mut drawn = String::new();
    let mut canvas = Canvas::new(&mut drawn, style);
    let (left, right) = (canvas.margin, canvas.width - canvas.margin);
    let bold = Face { bold: true, ..canvas.text };
    let total: f64 = parts.parts.iter().map(|(_, _, size)| length(*size)).sum();
    let mut y = canvas.margin * 0.5;
    let line = bold.line_height();
    let colour = canvas.palette.text;
    let (face, title) = bold.fit(&format!("{}: {} {}", parts.title, short(total), parts.unit), right - left);
    canvas.text(&title, (left, y + line / 2.0), Anchor::Start, face, colour);
    y += line + GAP;
    let bottom = y + 2.0 * canvas.text.size;
    let mut below = 0.0;
    for (part, _, size) in &parts.parts {
        let place = |sum: f64| left + if total > 0.0 { sum / total * (right - left) } else { 0.0 };
        let area = Area { left: place(below), right: place(below + length(*size)), top: y, bottom };
        below += length(*size);
        let fill = canvas.palette.part(*part);
        canvas.fill(area, fill);
        let number = short(*size);
        if canvas.small.width(&number) + 2.0 * GAP < area.width() {
            let middle = ((area.left + area.right) / 2.0, (y + bottom) / 2.0);
            canvas.text(&number, middle, Anchor::Middle, canvas.small, legible_on(fill));
        }
    }
    y = bottom + GAP;
    // names below, as many to a line as there is room for
    let (size, line) = (canvas.small.size, canvas.small.line_height());
    let mut x = left;
    for (part, name, length) in &parts.parts {
        let (face, text) = canvas.small.fit(&format!("{name} {}", short(*length)), right - left - 2.0 * size);
        let wide = 1.4 * size + face.width(&text) + 1.5 * size;
        if x > left && x + wide > right {
            x = left;
            y += line;
        }
        let top = y + (line - 0.8 * size) / 2.0;
        let fill = canvas.palette.part(*part);
        canvas.fill(Area { left: x, right: x + 0.8 * size, top, bottom: top + 0.8 * size }, fill);
        let colour = canvas.palette.text;
        canvas.text(&text, (x + 1.2 * size, y + line / 2.0), Anchor::Start, face, colour);
        x += wide;
    }
    let needed = y + line + canvas.margin * 0.5;
    let lengths = canvas.finish();
    let description: Vec<String> =
        parts.parts.iter().map(|(_, name, size)| format!("{name} {}", short(*size))).collect();
    let description = format!("{} of {} {}", description.join(", "), short(total), parts.unit);
    let header = Header { height: needed, title: &parts.title, description: &description, lengths: &lengths };
    canvas::with_header(&drawn, style, &header)
}

fn length(size: f64) -> f64 {
    if size.is_finite() { size.max(0.0) } else { 0.0 }
}

fn short(size: f64) -> String {
    if size.is_finite() { format!("{size:.2}") } else { "-".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::Part;

    #[test]
    fn any_parts_are_drawn() {
        for numbers in [vec![], vec![36.0, 1.5, 0.2, 3.0], vec![f64::NAN, -1.0, f64::INFINITY], vec![0.0]] {
            let parts =
                numbers.iter().map(|number| (Part::Sharing, "a <part>".to_owned(), *number)).collect();
            let whole = Parts { title: "R1 & all".to_owned(), unit: "cycles".to_owned(), parts };
            let svg = parts_svg(&whole, &Style::default());
            let read = roxmltree::Document::parse(&svg).unwrap();
            assert!(!svg.contains("NaN") && !svg.contains("inf"));
            // background, and a part and a swatch for each number
            let drawn = read.descendants().filter(|node| node.has_tag_name("rect")).count();
            assert!(drawn > numbers.len() && drawn <= 1 + 2 * numbers.len(), "{drawn}");
        }
    }
}
