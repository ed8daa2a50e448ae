//! Formulas with numbers in place of symbols.

use super::Expression;

/// Symbols, as they are written in the formula, and their numbers.
pub(crate) type Numbers = Vec<(&'static str, f64)>;

/// What the symbols of a formula stand for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Values {
    /// Symbol, as it is written in the formula, and number.
    pub(crate) symbols: Numbers,
    /// For each sum, by its index, what it adds up.
    pub(crate) series: Vec<(&'static str, Vec<Numbers>)>,
}

/// Sums of more terms are shown without those in the middle.
const MOST_TERMS: usize = 6;

impl Values {
    pub(crate) fn of<const N: usize>(symbols: [(&'static str, f64); N]) -> Self {
        Self { symbols: symbols.to_vec(), series: Vec::new() }
    }

    /// And the terms of the sum over `index`.
    pub(crate) fn and(mut self, index: &'static str, terms: impl IntoIterator<Item = Numbers>) -> Self {
        self.series.push((index, terms.into_iter().collect()));
        self
    }

    /// And these symbols, before those that there are.
    pub(crate) fn with(mut self, symbols: impl IntoIterator<Item = (&'static str, f64)>) -> Self {
        self.symbols.splice(0..0, symbols);
        self
    }

    /// And all that `outside` has, behind what there is.
    pub(crate) fn and_outside(mut self, outside: Self) -> Self {
        self.symbols.extend(outside.symbols);
        self.series.extend(outside.series);
        self
    }

    /// Of all that is known, what stands in `formula`, in its order.
    pub(crate) fn used_in(&self, formula: &Expression) -> Self {
        let (mut symbols, mut sums) = (Vec::new(), Vec::new());
        formula.visit(&mut |part| match part {
            Expression::Symbol(symbol) => symbols.push(symbol.key()),
            Expression::Series(index, _) => sums.push(index.clone()),
            _ => {}
        });
        let stands = |key: &str| symbols.iter().any(|symbol| symbol == key);
        let term = |term: &Numbers| term.iter().filter(|(key, _)| stands(key)).copied().collect::<Numbers>();
        let mut used = Self::default();
        for (index, terms) in self.series.iter().filter(|(index, _)| sums.iter().any(|sum| sum == index)) {
            used.series.push((*index, terms.iter().map(term).collect()));
        }
        for symbol in &symbols {
            let in_terms = used.series.iter().filter_map(|(_, terms)| terms.first()).flatten();
            let known = used.symbols.iter().chain(in_terms).any(|(key, _)| key == symbol);
            let number = self.symbols.iter().find(|(key, _)| key == symbol && !known);
            used.symbols.extend(number);
        }
        used
    }

    /// What `formula` stands for, if it is a symbol.
    pub(crate) fn of_symbol(&self, formula: &Expression) -> Option<f64> {
        match formula {
            Expression::Symbol(symbol) => self.find(&symbol.key()),
            _ => None,
        }
    }

    /// Every number that is put in.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = f64> {
        let in_series = self.series.iter().flat_map(|(_, terms)| terms.iter().flatten());
        self.symbols.iter().chain(in_series).map(|(_, number)| *number)
    }

    fn find(&self, key: &str) -> Option<f64> {
        self.symbols.iter().find(|(symbol, _)| *symbol == key).map(|(_, number)| *number)
    }

    fn terms(&self, index: &str) -> &[Numbers] {
        self.series.iter().find(|(name, _)| *name == index).map_or(&[], |(_, terms)| terms)
    }

    /// The same, with what one term of a sum stands for.
    fn within(&self, term: &[(&'static str, f64)]) -> Self {
        let symbols = term.iter().chain(&self.symbols).copied().collect();
        Self { symbols, series: self.series.clone() }
    }

    /// `formula` with numbers in place of symbols.
    pub(crate) fn put_into(&self, formula: &Expression) -> Expression {
        match formula {
            Expression::Series(index, body) => {
                let terms = self.terms(index);
                let body = |term: &Numbers| (false, self.within(term).put_into(body));
                let mut parts: Vec<(bool, Expression)> = match terms.len() {
                    0 => return Expression::Literal("0".to_owned()),
                    few if few <= MOST_TERMS => terms.iter().map(body).collect(),
                    many => {
                        let (first, last) = (&terms[..MOST_TERMS - 2], &terms[many - 1..]);
                        let omitted = (false, Expression::Omitted);
                        first.iter().map(body).chain([omitted]).chain(last.iter().map(body)).collect()
                    }
                };
                if parts.len() == 1 { parts.swap_remove(0).1 } else { Expression::Sum(parts) }
            }
            Expression::Symbol(symbol) => match self.find(&symbol.key()) {
                Some(number) => Expression::Value(number),
                None => formula.clone(),
            },
            Expression::Literal(_) | Expression::Value(_) | Expression::Omitted => formula.clone(),
            Expression::Sum(terms) => {
                Expression::Sum(terms.iter().map(|(minus, term)| (*minus, self.put_into(term))).collect())
            }
            Expression::Product(parts) => {
                Expression::Product(parts.iter().map(|part| self.put_into(part)).collect())
            }
            Expression::Call(name, parts) => {
                Expression::Call(name.clone(), parts.iter().map(|part| self.put_into(part)).collect())
            }
            Expression::Quotient(over, under) => {
                Expression::Quotient(Box::new(self.put_into(over)), Box::new(self.put_into(under)))
            }
            Expression::Power(base, exponent) => {
                Expression::Power(Box::new(self.put_into(base)), Box::new(self.put_into(exponent)))
            }
            Expression::Relation(left, sign, right) => {
                let (left, right) = (self.put_into(left), self.put_into(right));
                Expression::Relation(Box::new(left), sign.clone(), Box::new(right))
            }
        }
    }

    /// What `formula` comes to; `None` where a symbol has no number.
    #[cfg(test)]
    pub(crate) fn evaluate(&self, formula: &Expression) -> Option<f64> {
        let choose =
            |n: f64, k: f64| (0..k as u32).fold(1.0, |c, i| c * (n - f64::from(i)) / f64::from(i + 1));
        Some(match formula {
            Expression::Literal(number) => number.parse().ok()?,
            Expression::Value(value) => *value,
            Expression::Omitted | Expression::Relation(..) => return None,
            Expression::Symbol(symbol) => self.find(&symbol.key())?,
            Expression::Sum(terms) => {
                let signed = |(minus, term): &(bool, Expression)| {
                    self.evaluate(term).map(|value| if *minus { -value } else { value })
                };
                terms.iter().map(signed).sum::<Option<f64>>()?
            }
            Expression::Product(parts) => {
                parts.iter().map(|part| self.evaluate(part)).product::<Option<f64>>()?
            }
            Expression::Quotient(over, under) => self.evaluate(over)? / self.evaluate(under)?,
            Expression::Power(base, exponent) => self.evaluate(base)?.powf(self.evaluate(exponent)?),
            Expression::Call(name, parts) => {
                let [one, other] = parts.as_slice() else { return None };
                let (one, other) = (self.evaluate(one)?, self.evaluate(other)?);
                match name.as_str() {
                    "max" => one.max(other),
                    "min" => one.min(other),
                    "C" => choose(one, other),
                    _ => return None,
                }
            }
            Expression::Series(index, body) => {
                self.terms(index).iter().map(|term| self.within(term).evaluate(body)).sum::<Option<f64>>()?
            }
        })
    }
}

/// A number with six significant digits, as they are or with a power of ten.
pub(crate) fn significant(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let size = value.abs();
    if !(1e-4..1e7).contains(&size) {
        let text = format!("{value:.5e}");
        return match text.split_once('e') {
            Some((digits, exponent)) => format!("{}e{exponent}", trimmed(digits)),
            None => text,
        };
    }
    let decimals = (5.0 - size.log10().floor()).clamp(0.0, 9.0) as usize;
    trimmed(&format!("{value:.decimals$}")).to_owned()
}

fn trimmed(digits: &str) -> &str {
    if digits.contains('.') { digits.trim_end_matches('0').trim_end_matches('.') } else { digits }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_six_digits() {
        for (value, text) in [
            (0.0, "0"),
            (32.0, "32"),
            (39.381_284, "39.3813"),
            (0.004_963_219, "0.00496322"),
            (1.234_567_8e-9, "1.23457e-9"),
            (1e20, "1e20"),
            (-0.5, "-0.5"),
            (9_999_999.7, "10000000"),
        ] {
            assert_eq!(significant(value), text);
        }
    }

    #[test]
    fn sums_are_written_out() {
        let formula = Expression::parse("S = V * sum{j}(1 / V_{j})").unwrap();
        let (_, right) = formula.sides();
        let terms = |count: u32| (1..=count).map(|j| vec![("V_{j}", f64::from(j))]);
        let values = |count| Values::of([("V", 2.0)]).and("j", terms(count));
        assert_eq!(values(2).put_into(right).plain(), "2 · (1 / 1 + 1 / 2)");
        assert_eq!(values(2).evaluate(right), Some(3.0));
        assert_eq!(values(9).put_into(right).plain(), "2 · (1 / 1 + 1 / 2 + 1 / 3 + 1 / 4 + … + 1 / 9)");
        assert_eq!(values(0).put_into(right).plain(), "2 · 0");
    }
}
