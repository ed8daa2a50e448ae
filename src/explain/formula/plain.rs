//! Formulas in one line of text.

use super::{Expression, Symbol, Tightness, signed, significant};

pub(super) fn plain(expression: &Expression) -> String {
    match expression {
        Expression::Literal(number) => number.clone(),
        Expression::Value(value) => significant(*value).replace('-', "−").replace("e−", "e-"),
        Expression::Omitted => "…".to_owned(),
        Expression::Symbol(symbol) => name(symbol),
        Expression::Sum(terms) => signed(terms, "−", at_least),
        Expression::Product(factors) => {
            // numbers side by side would run together
            let dot = if expression.has_values() { " · " } else { " " };
            let each = |(place, factor): (usize, &Expression)| {
                let least = if place == 0 { Tightness::Product } else { Tightness::Power };
                let last = place + 1 == factors.len();
                let series = matches!(factor, Expression::Series(..));
                if series && last {
                    plain(factor)
                } else {
                    at_least(factor, if series { Tightness::Atom } else { least })
                }
            };
            factors.iter().enumerate().map(each).collect::<Vec<String>>().join(dot)
        }
        Expression::Quotient(over, under) => {
            let over = match **over {
                Expression::Series(..) => at_least(over, Tightness::Power),
                _ => at_least(over, Tightness::Product),
            };
            format!("{over} / {}", at_least(under, Tightness::Power))
        }
        Expression::Power(base, exponent) => {
            format!("{}^{}", at_least(base, Tightness::Atom), at_least(exponent, Tightness::Atom))
        }
        Expression::Call(name, arguments) => {
            format!("{name}({})", arguments.iter().map(plain).collect::<Vec<String>>().join(", "))
        }
        Expression::Series(index, body) => format!("Σ_{{{index}}} {}", at_least(body, Tightness::Product)),
        Expression::Relation(left, sign, right) => format!("{} {sign} {}", plain(left), plain(right)),
    }
}

fn at_least(expression: &Expression, least: Tightness) -> String {
    let text = plain(expression);
    if expression.tightness() < least { format!("({text})") } else { text }
}

fn name(symbol: &Symbol) -> String {
    let Symbol { base, primes, index, above, argument } = symbol;
    let mut name = format!("{base}{}", "'".repeat(*primes));
    if !index.is_empty() {
        name += &format!("_{}", index.join(","));
    }
    if !above.is_empty() {
        name += &format!("^{above}");
    }
    if !argument.is_empty() {
        name += &format!("({argument})");
    }
    name
}
