//! Formulas in MathML Core, which browsers render.

use super::{Expression, Symbol, Tightness, significant};
use crate::explain::html::escaped;

pub(super) fn mathml(expression: &Expression) -> String {
    match expression {
        Expression::Literal(number) => format!("<mn>{number}</mn>"),
        Expression::Value(value) => number(*value),
        Expression::Omitted => "<mo>⋯</mo>".to_owned(),
        Expression::Symbol(symbol) => name(symbol),
        Expression::Sum(terms) => {
            let each = |(place, (minus, term)): (usize, &(bool, Expression))| {
                let least = if *minus || place > 0 { Tightness::Product } else { Tightness::Sum };
                let sign = match (place, minus) {
                    (0, false) => "",
                    (_, true) => "<mo>−</mo>",
                    (_, false) => "<mo>+</mo>",
                };
                format!("{sign}{}", at_least(term, least))
            };
            row(&terms.iter().enumerate().map(each).collect::<String>())
        }
        Expression::Product(factors) => {
            let dot = if expression.has_values() { "<mo>·</mo>" } else { "<mo>&#x2062;</mo>" };
            let each = |factor: &Expression| at_least(factor, Tightness::Product);
            row(&factors.iter().map(each).collect::<Vec<String>>().join(dot))
        }
        Expression::Quotient(over, under) => format!("<mfrac>{}{}</mfrac>", mathml(over), mathml(under)),
        Expression::Power(base, exponent) => {
            let bare = match &**base {
                Expression::Value(value) => *value >= 0.0 && !significant(*value).contains('e'),
                other => other.tightness() == Tightness::Atom,
            };
            let base = if bare { mathml(base) } else { in_parentheses(&mathml(base)) };
            format!("<msup>{base}{}</msup>", mathml(exponent))
        }
        Expression::Call(name, arguments) => match (name.as_str(), arguments.as_slice()) {
            ("C", [over, under]) => in_parentheses(&format!(
                "<mfrac linethickness=\"0\">{}{}</mfrac>",
                mathml(over),
                mathml(under)
            )),
            _ => {
                let arguments: Vec<String> = arguments.iter().map(mathml).collect();
                row(&format!("<mi>{name}</mi>{}", in_parentheses(&arguments.join("<mo>,</mo>"))))
            }
        },
        Expression::Series(index, body) => row(&format!(
            "<munder><mo>Σ</mo><mtext>{}</mtext></munder>{}",
            escaped(index),
            at_least(body, Tightness::Product)
        )),
        Expression::Relation(left, sign, right) => {
            row(&format!("{}<mo>{}</mo>{}", mathml(left), escaped(sign), mathml(right)))
        }
    }
}

fn row(inside: &str) -> String {
    format!("<mrow>{inside}</mrow>")
}

fn in_parentheses(inside: &str) -> String {
    row(&format!("<mo>(</mo>{inside}<mo>)</mo>"))
}

fn at_least(expression: &Expression, least: Tightness) -> String {
    let text = mathml(expression);
    if expression.tightness() < least { in_parentheses(&text) } else { text }
}

fn number(value: f64) -> String {
    let text = significant(value);
    let minus = |digits: &str| match digits.strip_prefix('-') {
        Some(digits) => format!("<mrow><mo>−</mo><mn>{digits}</mn></mrow>"),
        None => format!("<mn>{digits}</mn>"),
    };
    match text.split_once('e') {
        Some((digits, exponent)) => {
            row(&format!("{}<mo>·</mo><msup><mn>10</mn>{}</msup>", minus(digits), minus(exponent)))
        }
        None => minus(&text),
    }
}

fn name(symbol: &Symbol) -> String {
    let Symbol { base, primes, index, above, argument } = symbol;
    let base = format!("<mi>{}</mi>", escaped(base));
    let below = match index.as_slice() {
        [] => None,
        [one] => Some(word(one)),
        several => {
            let parts: Vec<String> = several.iter().map(|part| word(part)).collect();
            Some(row(&parts.join("<mo>,</mo>")))
        }
    };
    let above = match (primes, above.as_str()) {
        (0, "") => None,
        (_, "") => Some(format!("<mo>{}</mo>", "′".repeat(*primes))),
        (0, above) => Some(word(above)),
        (_, above) => Some(row(&format!("<mo>{}</mo>{}", "′".repeat(*primes), word(above)))),
    };
    let name = match (below, above) {
        (None, None) => base,
        (Some(below), None) => format!("<msub>{base}{below}</msub>"),
        (None, Some(above)) => format!("<msup>{base}{above}</msup>"),
        (Some(below), Some(above)) => format!("<msubsup>{base}{below}{above}</msubsup>"),
    };
    if argument.is_empty() {
        return name;
    }
    row(&format!("{name}<mo>(</mo><mtext>{}</mtext><mo>)</mo>", escaped(argument)))
}

fn word(part: &str) -> String {
    if part.chars().all(|letter| letter.is_ascii_digit()) {
        format!("<mn>{part}</mn>")
    } else if part.chars().count() == 1 {
        format!("<mi>{}</mi>", escaped(part))
    } else {
        format!("<mtext>{}</mtext>", escaped(part))
    }
}
