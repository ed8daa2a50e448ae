//! An explanation as a LaTeX document for plain pdflatex: amsmath, booktabs, color.

use super::derivation::{Bar, BarPart, Derivation, Instance, Part, Step, Table, written};
use super::formula::{Expression, latex_letter, significant};

const HEAD: &str = r"\documentclass[a4paper]{article}
\addtolength{\hoffset}{-15mm}\addtolength{\textwidth}{35mm}
\addtolength{\voffset}{-15mm}\addtolength{\textheight}{35mm}
\usepackage{amsmath}
\usepackage{booktabs}
\usepackage{color}
\setlength{\parindent}{0pt}
\setlength{\parskip}{4pt}
\allowdisplaybreaks
\begin{document}
";

/// Length of a bar \[cm\].
const BAR: f64 = 14.0;
/// Grey levels of the parts of a bar, 0 for black.
const SHADES: [f64; 5] = [0.25, 0.45, 0.62, 0.78, 0.9];

pub(super) fn page(derivation: &Derivation) -> String {
    let mut page = HEAD.to_owned();
    page += &format!("{{\\Large\\bfseries {}\\par}}\n", escaped(&derivation.title));
    for section in &derivation.sections {
        page += &format!("\n\\section{{{}}}\n", escaped(&section.title));
        for part in &section.parts {
            page.push('\n');
            match part {
                Part::Text { text } => page += &format!("{}\n", with_formulas(text)),
                Part::Step(step) => page += &shown(step),
                Part::Table(table) => page += &tabular(table),
                Part::Bar(bar) => page += &rules(bar),
                Part::Chain(chain) => {
                    page += &format!("{}\n", escaped(&chain.where_drawn()).replace("--", "-{}-"))
                }
            }
        }
    }
    page + "\\end{document}\n"
}

fn shown(step: &Step) -> String {
    let mut text = format!(
        "\\medskip\\textbf{{{}}}\\quad $\\displaystyle {}$\n\n{}\n",
        escaped(step.equation),
        step.formula.latex(),
        with_formulas(step.reason)
    );
    if step.instances.is_empty() {
        return text;
    }
    // sums may be long: in a paragraph they break at signs
    text += "\n{\\small\\raggedright\\hangindent=2em\n";
    for instance in &step.instances {
        text += &format!("\\hspace*{{1em}}\\hangindent=3em {}\\par\n", line(instance));
    }
    text + "}\n"
}

/// `symbol = expression = value` in LaTeX, with its value; what has none says so.
fn equation(instance: &Instance) -> Result<String, String> {
    let of = instance.of.as_ref().map_or(String::new(), |of| format!("{} = ", of.latex()));
    let Some(value) = instance.value else {
        return Err(format!("${}$ does not exist here", of.trim_end_matches(" = ")));
    };
    let substituted = if instance.substituted.plain() == significant(value) {
        String::new()
    } else {
        format!("{} = ", instance.substituted.latex())
    };
    Ok(format!("{of}{substituted}{}", Expression::Value(value).latex()))
}

fn line(instance: &Instance) -> String {
    let equation = match equation(instance) {
        Ok(equation) => equation,
        Err(missing) => return missing,
    };
    let unit = if instance.unit.is_empty() { String::new() } else { format!(" {}", escaped(instance.unit)) };
    format!("$\\displaystyle {equation}${unit}")
}

fn tabular(table: &Table) -> String {
    let columns = format!("l{}", "r".repeat(table.heads.len().saturating_sub(1)));
    let row = |cells: Vec<String>| format!("{} \\\\\n", cells.join(" & "));
    let mut text = format!("\\begin{{center}}\\scriptsize\n\\begin{{tabular}}{{{columns}}}\n\\toprule\n");
    // units below their names, or heads would be wider than what they stand over
    let head = |head: &String| match head.split_once(" [") {
        Some((name, unit)) => format!("\\shortstack{{{}\\\\ {{[{}}}}}", escaped(name), escaped(unit)),
        None => escaped(head),
    };
    text += &row(table.heads.iter().map(head).collect());
    text += "\\midrule\n";
    for cells in &table.rows {
        text += &row(cells.iter().map(|cell| escaped(&cell.shown())).collect());
    }
    text + "\\bottomrule\n\\end{tabular}\n\\end{center}\n"
}

/// A bar of rules, one for each part, and what they stand for.
fn rules(bar: &Bar) -> String {
    let total: f64 = bar.parts.iter().map(|part| part.cycles.max(0.0)).sum();
    let shaded = || bar.parts.iter().zip(SHADES);
    let rule = |shade: f64, width: f64, height: f64| {
        format!("\\textcolor[gray]{{{shade}}}{{\\rule{{{width:.3}cm}}{{{height}cm}}}}")
    };
    let share = |part: &BarPart| if total > 0.0 { part.cycles.max(0.0) / total } else { 0.0 };
    let drawn: String = shaded().map(|(part, shade)| rule(shade, BAR * share(part), 0.5)).collect();
    let named = |(part, shade): (&BarPart, f64)| {
        format!("{} {} {:.2}", rule(shade, 0.25, 0.25), part.part, part.cycles)
    };
    let parts: Vec<String> = shaded().map(named).collect();
    let sum: f64 = bar.parts.iter().map(|part| part.cycles).sum();
    format!("\\textbf{{{}}}\n\n{drawn}\n\n{} $=$ {sum:.2} cycles\n", escaped(&bar.class), parts.join(" $+$ "))
}

fn with_formulas(text: &str) -> String {
    written(text, escaped, |formula| format!("${}$", formula.latex()))
}

/// Text as LaTeX: what it takes for itself kept from it, letters that it lacks as commands or numbers.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for letter in text.chars() {
        match letter {
            '#' | '$' | '%' | '&' | '_' | '{' | '}' => escaped += &format!("\\{letter}"),
            '\\' => escaped += "\\textbackslash{}",
            '^' => escaped += "\\textasciicircum{}",
            '~' => escaped += "\\textasciitilde{}",
            '<' | '>' | '|' => escaped += &format!("${letter}$"),
            '"' => escaped += "''",
            '§' => escaped += "\\S{}",
            '…' => escaped += "\\ldots{}",
            letter if letter.is_ascii() => escaped.push(letter),
            letter => match latex_letter(letter) {
                Some(command) => escaped += &format!("\\ensuremath{{{command}}}"),
                None => escaped += &format!("[U+{:04X}]", u32::from(letter)),
            },
        }
    }
    escaped
}
