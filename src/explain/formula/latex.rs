//! Formulas in the math mode of LaTeX.

use super::{Expression, Symbol, Tightness, latex_letter, signed, significant};

pub(super) fn latex(expression: &Expression) -> String {
    match expression {
        Expression::Literal(number) => number.clone(),
        Expression::Value(value) => number(*value),
        Expression::Omitted => r"\cdots".to_owned(),
        Expression::Symbol(symbol) => name(symbol),
        Expression::Sum(terms) => signed(terms, "-", at_least),
        Expression::Product(factors) => {
            let dot = if expression.has_values() { r" \cdot " } else { r"\, " };
            let each = |factor: &Expression| at_least(factor, Tightness::Product);
            factors.iter().map(each).collect::<Vec<String>>().join(dot)
        }
        Expression::Quotient(over, under) => format!(r"\frac{{{}}}{{{}}}", latex(over), latex(under)),
        Expression::Power(base, exponent) => {
            format!("{}^{{{}}}", base_of_power(base), latex(exponent))
        }
        Expression::Call(name, arguments) => match (name.as_str(), arguments.as_slice()) {
            ("C", [over, under]) => format!(r"\binom{{{}}}{{{}}}", latex(over), latex(under)),
            _ => {
                let arguments: Vec<String> = arguments.iter().map(latex).collect();
                format!(r"\{name}\bigl({}\bigr)", arguments.join(r",\, "))
            }
        },
        Expression::Series(index, body) => {
            format!(r"\sum_{{{}}} {}", spelled(index), at_least(body, Tightness::Product))
        }
        Expression::Relation(left, sign, right) => {
            format!("{} {} {}", latex(left), spelled(sign), latex(right))
        }
    }
}

fn at_least(expression: &Expression, least: Tightness) -> String {
    let text = latex(expression);
    if expression.tightness() < least { format!(r"\bigl({text}\bigr)") } else { text }
}

/// What looks like one thing needs parentheses all the same where it has an exponent of its own.
fn base_of_power(base: &Expression) -> String {
    let bare = match base {
        Expression::Symbol(symbol) => symbol.above.is_empty(),
        Expression::Value(value) => *value >= 0.0 && !significant(*value).contains('e'),
        other => other.tightness() == Tightness::Atom,
    };
    if bare { latex(base) } else { format!(r"\bigl({}\bigr)", latex(base)) }
}

fn number(value: f64) -> String {
    match significant(value).split_once('e') {
        Some((digits, exponent)) => format!(r"{digits} \cdot 10^{{{exponent}}}"),
        None => significant(value),
    }
}

fn name(symbol: &Symbol) -> String {
    let Symbol { base, primes, index, above, argument } = symbol;
    let mut name =
        if base.chars().count() > 1 { format!(r"\mathrm{{{}}}", spelled(base)) } else { spelled(base) };
    name += &"'".repeat(*primes);
    if !index.is_empty() {
        let parts: Vec<String> = index.iter().map(|part| word(part)).collect();
        name += &format!("_{{{}}}", parts.join(","));
    }
    if !above.is_empty() {
        // a prime and an exponent would collide
        name = if *primes > 0 { format!("{{{name}}}") } else { name };
        name += &format!("^{{{}}}", word(above));
    }
    if !argument.is_empty() {
        name += &format!("({})", spelled(argument));
    }
    name
}

/// An index: single letters and numbers as they are, words upright.
fn word(part: &str) -> String {
    let plain = part.chars().count() == 1 || part.chars().all(|letter| letter.is_ascii_digit());
    if plain { spelled(part) } else { format!(r"\mathrm{{{}}}", spelled(part)) }
}

/// Text inside a formula: letters as commands, everything that LaTeX takes for itself kept from it.
pub(super) fn spelled(text: &str) -> String {
    let mut spelled = String::new();
    let mut after_command = false;
    for letter in text.chars() {
        let command = latex_letter(letter);
        if after_command && letter.is_ascii_alphabetic() {
            spelled.push(' ');
        }
        after_command = command.is_some_and(|command| command.starts_with('\\'));
        match (command, letter) {
            (Some(command), _) => spelled += command,
            (None, '#' | '$' | '%' | '&' | '_' | '{' | '}') => spelled += &format!(r"\{letter}"),
            (None, '\\') => spelled += r"\backslash ",
            (None, '^') => spelled += r"\wedge ",
            (None, '~') => spelled += r"\sim ",
            (None, ' ') => spelled += r"\ ",
            (None, letter) if letter.is_ascii_graphic() => spelled.push(letter),
            (None, letter) => spelled += &format!(r"\text{{[U+{:04X}]}}", u32::from(letter)),
        }
    }
    spelled
}
