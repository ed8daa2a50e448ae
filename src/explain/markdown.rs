//! An explanation as Markdown, formulas between dollar signs.

use super::derivation::{Derivation, Instance, Part, Step, written};
use super::latex::equation;
use super::terminal::{bar_of_text, rows};

pub(super) fn page(derivation: &Derivation) -> String {
    let mut page = format!("# {}\n", escaped(&derivation.title));
    for (number, section) in derivation.sections.iter().enumerate() {
        page += &format!("\n## {}. {}\n", number + 1, escaped(&section.title));
        for part in &section.parts {
            page.push('\n');
            match part {
                Part::Text(text) => page += &format!("{}\n", with_formulas(text)),
                Part::Step(step) => page += &shown(step),
                Part::Table(table) => page += &rows(table, true),
                Part::Bar(bar) => page += &format!("```text{}```\n", bar_of_text(bar, "")),
                Part::Chain(chain) => {
                    page += &format!(
                        "The chain of {} as a picture: `flitwise explain --diagram svg`, `dot` or `tikz`.\n",
                        chain.link
                    );
                }
            }
        }
    }
    page
}

fn shown(step: &Step) -> String {
    let mut text =
        format!("**{}** ${}$\n\n{}\n", step.equation, step.formula.latex(), with_formulas(step.reason));
    if !step.instances.is_empty() {
        text.push('\n');
    }
    for instance in &step.instances {
        text += &format!("- {}\n", line(instance));
    }
    text
}

fn line(instance: &Instance) -> String {
    match equation(instance) {
        Ok(equation) => format!("${equation}$ {}", instance.unit).trim_end().to_owned(),
        Err(missing) => missing,
    }
}

fn with_formulas(text: &str) -> String {
    written(text, escaped, |formula| format!("${}$", formula.latex()))
}

/// Text without a meaning of its own.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for letter in text.chars() {
        if matches!(letter, '\\' | '*' | '_' | '<' | '$' | '[' | '`' | '#') {
            escaped.push('\\');
        }
        escaped.push(letter);
    }
    escaped
}
