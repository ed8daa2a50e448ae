//! An explanation as one HTML page: formulas in MathML, pictures in SVG, nothing from elsewhere.

use flitwise_figures::draw::{Style, parts_svg, svg};
use flitwise_figures::picture::{self, Content, Parts, Picture};

use super::derivation::{Bar, Chain, Derivation, Instance, Part, Piece, Step, Table, pieces};
use super::formula::{Expression, significant};

const HEAD: &str = "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; color: #222; background: #fff; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.2rem; margin-top: 2.2rem; border-bottom: 1px solid #ccc; }
.step { margin: 1.2rem 0; } .number { font-weight: bold; margin-right: 1rem; } .reason { margin: .2rem 0; color: #444; }
ul { margin: .2rem 0; padding-left: 1.5rem; list-style: none; overflow-x: auto; } li { margin: .25rem 0; }
table { border-collapse: collapse; margin: .8rem 0; display: block; overflow-x: auto; } th, td { padding: .15rem .7rem; text-align: right; border-bottom: 1px solid #ddd; }
th { border-bottom: 1px solid #555; vertical-align: bottom; } th:first-child, td:first-child { text-align: left; }
svg { max-width: 100%; height: auto; }
</style>
";

pub(super) fn page(derivation: &Derivation) -> String {
    let title = escaped(&derivation.title);
    let mut page =
        format!("<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>{title}</title>\n");
    page += HEAD;
    page += &format!("<h1>{title}</h1>\n");
    for (number, section) in derivation.sections.iter().enumerate() {
        page += &format!("<h2>{}. {}</h2>\n", number + 1, escaped(&section.title));
        for part in &section.parts {
            page += &match part {
                Part::Text(text) => format!("<p>{}</p>\n", with_formulas(text)),
                Part::Step(step) => shown(step),
                Part::Table(table) => rows(table),
                Part::Bar(bar) => drawn_bar(bar),
                Part::Chain(chain) => drawn_chain(chain),
            };
        }
    }
    page + "</html>\n"
}

fn math(inside: &str) -> String {
    format!("<math displaystyle=\"true\">{inside}</math>")
}

fn shown(step: &Step) -> String {
    let mut text = format!(
        "<div class=\"step\"><span class=\"number\">{}</span>{}\n<p class=\"reason\">{}</p>\n",
        escaped(step.equation),
        math(&step.formula.mathml()),
        with_formulas(step.reason)
    );
    if !step.instances.is_empty() {
        text += "<ul>\n";
        for instance in &step.instances {
            text += &format!("<li>{}</li>\n", line(instance));
        }
        text += "</ul>\n";
    }
    text + "</div>\n"
}

fn line(instance: &Instance) -> String {
    let sign = "<mo>=</mo>";
    let of = instance.of.as_ref().map(Expression::mathml);
    let Some(value) = instance.value else {
        return format!("{} does not exist here", math(&of.unwrap_or_default()));
    };
    let same = instance.substituted.plain() == significant(value);
    let substituted = (!same).then(|| instance.substituted.mathml());
    let sides = [of, substituted, Some(Expression::Value(value).mathml())];
    let sides: Vec<String> = sides.into_iter().flatten().collect();
    format!("{} {}", math(&sides.join(sign)), escaped(instance.unit)).trim_end().to_owned()
}

fn rows(table: &Table) -> String {
    let cells = |tag: &str, cells: Vec<String>| {
        let cells: String = cells.iter().map(|cell| format!("<{tag}>{}</{tag}>", escaped(cell))).collect();
        format!("<tr>{cells}</tr>\n")
    };
    let mut text = format!("<table>\n{}", cells("th", table.heads.clone()));
    for row in &table.rows {
        text += &cells("td", row.iter().map(super::derivation::Entry::shown).collect());
    }
    text + "</table>\n"
}

fn drawn_bar(bar: &Bar) -> String {
    let parts = Parts {
        title: bar.class.clone(),
        unit: "cycles".to_owned(),
        parts: bar.parts.iter().map(|(name, cycles)| (kind(name), (*name).to_owned(), *cycles)).collect(),
    };
    format!("{}\n", parts_svg(&parts, &Style { width: 640, ..Style::default() }))
}

/// Which part of a latency a name stands for: it decides the colour.
fn kind(name: &str) -> picture::Part {
    use picture::Part;
    match name {
        "blocking" => Part::Blocking,
        "sharing" => Part::Sharing,
        "waiting" => Part::Waiting,
        "input" => Part::Input,
        "arbitration" => Part::Arbitration,
        "output" => Part::Output,
        "gaps" => Part::Gaps,
        _ => Part::Transfer,
    }
}

fn drawn_chain(chain: &Chain) -> String {
    format!("{}\n", picture_of(chain))
}

/// The chain as SVG.
pub(super) fn picture_of(chain: &Chain) -> String {
    let picture = Picture {
        name: "chain".to_owned(),
        title: format!("Which real-time classes hold {}", chain.link),
        subtitle: String::new(),
        content: Content::Chain(chain.chain.clone()),
        notes: Vec::new(),
    };
    svg(&picture, &Style { width: 640, ..Style::default() })
}

fn with_formulas(text: &str) -> String {
    let piece = |piece: Piece<'_>| match piece {
        Piece::Words(words) => escaped(words),
        Piece::Formula(formula) => format!("<math>{}</math>", formula.mathml()),
    };
    pieces(text).into_iter().map(piece).collect()
}

/// Text in HTML.
pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
