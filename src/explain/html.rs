//! An explanation as one self-contained HTML page: formulas in MathML, pictures in SVG.

use flitwise_figures::draw::{Style, parts_svg, svg};
use flitwise_figures::picture::{self, Content, Parts, Picture};

use super::derivation::{Bar, Chain, Derivation, Instance, Part, Step, Table, written};
use super::formula::{Expression, significant};
use crate::output::PAGE_STYLE;

/// Width of pictures \[px\].
const WIDTH: u32 = 640;

/// What this page has beside [`PAGE_STYLE`].
const STYLE: &str = "h1 { font-size: 1.5rem; } h2 { font-size: 1.2rem; margin-top: 2.2rem; }
.step { margin: 1.2rem 0; } .step .wide { margin: 0; padding-top: .25rem; padding-bottom: .25rem; } \
.equation { font-weight: bold; margin-right: 1rem; }
.reason { margin: .2rem 0; color: var(--muted); }
ul { padding-left: 1.5rem; list-style: none; } li { margin: .25rem 0; } .wide > li, .formula { white-space: nowrap; }
th { vertical-align: bottom; } th + th, td + td { padding: .25rem 0 .25rem 1rem; text-align: right; }
";

pub(super) fn page(derivation: &Derivation) -> String {
    let title = escaped(&derivation.title);
    let mut page =
        format!("<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>{title}</title>\n");
    page += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
    page += &format!("<style>\n{PAGE_STYLE}{STYLE}</style>\n");
    page += &format!("<h1>{title}</h1>\n");
    for (number, section) in derivation.sections.iter().enumerate() {
        page += &format!("<h2>{}. {}</h2>\n", number + 1, escaped(&section.title));
        for part in &section.parts {
            page += &match part {
                Part::Text { text } => format!("<p>{}</p>\n", with_formulas(text)),
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
        "<div class=\"step\"><div class=\"wide formula\"><span class=\"equation\">{}</span>{}</div>\n\
         <p class=\"reason\">{}</p>\n",
        escaped(step.equation),
        math(&step.formula.mathml()),
        with_formulas(step.reason)
    );
    if !step.instances.is_empty() {
        text += "<ul class=\"wide\">\n";
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
        let cells: String = cells.iter().map(|cell| format!("<{tag}>{cell}</{tag}>")).collect();
        format!("<tr>{cells}</tr>\n")
    };
    let heads = table.heads.iter().map(|head| head_of(head)).collect();
    let mut text = format!("<div class=\"wide\"><table>\n{}", cells("th", heads));
    for row in &table.rows {
        text += &cells("td", row.iter().map(|entry| escaped(&entry.shown())).collect());
    }
    text + "</table></div>\n"
}

/// The head of a column: indices are set as such, and units may break behind a slash.
fn head_of(head: &str) -> String {
    let word = |word: &str| {
        for (sign, tag) in [('_', "sub"), ('^', "sup")] {
            // longer ones are names of the user's
            if let Some((symbol, rest)) =
                word.split_once(sign).filter(|(symbol, _)| symbol.chars().count() == 1)
            {
                let (index, behind) = rest.split_at(rest.find('(').unwrap_or(rest.len()));
                let [symbol, index, behind] = [symbol, index, behind].map(escaped);
                return format!("<i>{symbol}</i><{tag}>{index}</{tag}>{behind}");
            }
        }
        escaped(word).replace('/', "/<wbr>")
    };
    head.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

fn drawn_bar(bar: &Bar) -> String {
    let parts = Parts {
        title: bar.class.clone(),
        unit: "cycles".to_owned(),
        parts: bar.parts.iter().map(|part| (kind(part.part), part.part.to_owned(), part.cycles)).collect(),
    };
    format!("<div class=\"wide\">{}</div>\n", parts_svg(&parts, &Style { width: WIDTH, ..Style::default() }))
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
    format!("<div class=\"wide\">{}</div>\n", picture_of(chain))
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
    svg(&picture, &Style { width: WIDTH, ..Style::default() })
}

fn with_formulas(text: &str) -> String {
    written(text, escaped, |formula| format!("<math>{}</math>", formula.mathml()))
}

/// Text in HTML.
pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
