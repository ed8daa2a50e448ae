//! Formulas: written once as text, shown with symbols and with numbers.
//!
//! A formula is written as `P_{b,c} = min(1, L_{c} * λ'_{c})^(1 + 2 * m_{c} / M_{c})`: a symbol is a word with
//! primes, an index `_{..}`, an exponent that belongs to it `^{..}` and an argument `[..]`; `^(..)` or `^2` is a
//! power; `sum{j ∈ Z}(..)` goes over the terms that an index takes. Parentheses are kept only where they are needed.

mod latex;
mod mathml;
mod parser;
mod plain;
mod values;

pub(crate) use values::{Values, significant};

/// A symbol such as `P_{b,c}^{s}`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Symbol {
    /// The word itself.
    pub(crate) base: String,
    pub(crate) primes: usize,
    /// Index, the parts between commas.
    pub(crate) index: Vec<String>,
    /// Exponent that is part of the name.
    pub(crate) above: String,
    /// What stands in brackets behind it.
    pub(crate) argument: String,
}

/// A formula, or a part of one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Expression {
    /// A number of the formula itself.
    Literal(String),
    /// A number put in for a symbol.
    Value(f64),
    /// Terms left out of a long sum.
    Omitted,
    Symbol(Symbol),
    /// Terms; true: subtracted.
    Sum(Vec<(bool, Self)>),
    Product(Vec<Self>),
    Quotient(Box<Self>, Box<Self>),
    Power(Box<Self>, Box<Self>),
    /// `max`, `min`, and `C` for the binomial coefficient.
    Call(String, Vec<Self>),
    /// A sum over what an index takes.
    Series(String, Box<Self>),
    /// Equations: left side, sign, right side.
    Relation(Box<Self>, String, Box<Self>),
}

/// How tightly the parts of an expression hold together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Tightness {
    Relation,
    Sum,
    Product,
    Power,
    Atom,
}

impl Symbol {
    /// What it is looked up by.
    pub(crate) fn key(&self) -> String {
        let mut key = format!("{}{}", self.base, "'".repeat(self.primes));
        if !self.index.is_empty() {
            key += &format!("_{{{}}}", self.index.join(","));
        }
        if !self.above.is_empty() {
            key += &format!("^{{{}}}", self.above);
        }
        if !self.argument.is_empty() {
            key += &format!("[{}]", self.argument);
        }
        key
    }

    /// With names put in for its indices.
    fn named(&self, names: &[(&str, String)]) -> Self {
        let named = |part: &String| {
            names
                .iter()
                .find(|(index, _)| index == part)
                .map_or_else(|| part.clone(), |(_, name)| name.clone())
        };
        Self {
            index: self.index.iter().map(named).collect(),
            above: named(&self.above),
            argument: named(&self.argument),
            ..self.clone()
        }
    }
}

impl Expression {
    /// Reads a formula.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        parser::parse(text)
    }

    /// Left and right side of an equation; a formula that is none has no left side.
    pub(crate) fn sides(&self) -> (Option<&Self>, &Self) {
        match self {
            Self::Relation(left, sign, right) if sign == "=" => (Some(left), right),
            other => (None, other),
        }
    }

    /// With names put in for the indices of its symbols.
    pub(crate) fn named(&self, names: &[(&str, String)]) -> Self {
        self.mapped(&|symbol| Self::Symbol(symbol.named(names)))
    }

    fn mapped(&self, of_symbol: &dyn Fn(&Symbol) -> Self) -> Self {
        let each = |parts: &[Self]| parts.iter().map(|part| part.mapped(of_symbol)).collect();
        let one = |part: &Self| Box::new(part.mapped(of_symbol));
        match self {
            Self::Symbol(symbol) => of_symbol(symbol),
            Self::Literal(_) | Self::Value(_) | Self::Omitted => self.clone(),
            Self::Sum(terms) => {
                Self::Sum(terms.iter().map(|(minus, term)| (*minus, term.mapped(of_symbol))).collect())
            }
            Self::Product(factors) => Self::Product(each(factors)),
            Self::Quotient(over, under) => Self::Quotient(one(over), one(under)),
            Self::Power(base, exponent) => Self::Power(one(base), one(exponent)),
            Self::Call(name, arguments) => Self::Call(name.clone(), each(arguments)),
            Self::Series(index, body) => Self::Series(index.clone(), one(body)),
            Self::Relation(left, sign, right) => Self::Relation(one(left), sign.clone(), one(right)),
        }
    }

    /// Shows it and all its parts to `see`.
    fn visit(&self, see: &mut dyn FnMut(&Self)) {
        see(self);
        match self {
            Self::Value(_) | Self::Literal(_) | Self::Omitted | Self::Symbol(_) => {}
            Self::Sum(terms) => terms.iter().for_each(|(_, term)| term.visit(see)),
            Self::Product(parts) | Self::Call(_, parts) => parts.iter().for_each(|part| part.visit(see)),
            Self::Quotient(one, other) | Self::Power(one, other) | Self::Relation(one, _, other) => {
                one.visit(see);
                other.visit(see);
            }
            Self::Series(_, body) => body.visit(see),
        }
    }

    /// Whether numbers stand in it.
    fn has_values(&self) -> bool {
        let mut found = false;
        self.visit(&mut |part| found |= matches!(part, Self::Value(_)));
        found
    }

    fn tightness(&self) -> Tightness {
        match self {
            Self::Relation(..) => Tightness::Relation,
            Self::Sum(_) => Tightness::Sum,
            Self::Value(value) if *value < 0.0 => Tightness::Sum,
            Self::Product(_) | Self::Quotient(..) | Self::Series(..) => Tightness::Product,
            Self::Power(..) => Tightness::Power,
            Self::Literal(_) | Self::Value(_) | Self::Omitted | Self::Symbol(_) | Self::Call(..) => {
                Tightness::Atom
            }
        }
    }

    /// For reading in a terminal.
    pub(crate) fn plain(&self) -> String {
        plain::plain(self)
    }

    /// For LaTeX in math mode.
    pub(crate) fn latex(&self) -> String {
        latex::latex(self)
    }

    /// The inside of a `math` element.
    pub(crate) fn mathml(&self) -> String {
        mathml::mathml(self)
    }
}

/// Letters and signs that LaTeX has commands for, in math mode.
pub(crate) fn latex_letter(letter: char) -> Option<&'static str> {
    Some(match letter {
        'λ' => r"\lambda",
        'π' => r"\pi",
        'ρ' => r"\rho",
        'δ' => r"\delta",
        'β' => r"\beta",
        'μ' => r"\mu",
        'σ' => r"\sigma",
        'φ' => r"\varphi",
        'Γ' => r"\Gamma",
        'Λ' => r"\Lambda",
        'Σ' => r"\Sigma",
        '∅' => r"\emptyset",
        '∈' => r"\in",
        '∋' => r"\ni",
        '≥' => r"\ge",
        '≤' => r"\le",
        '→' => r"\to",
        '·' => r"\cdot",
        '−' => "-",
        '×' => r"\times",
        '±' => r"\pm",
        '²' => "^2",
        '∖' => r"\setminus",
        _ => return None,
    })
}

/// A sum in text, term by term with its sign.
fn signed(
    terms: &[(bool, Expression)],
    minus: &str,
    at_least: impl Fn(&Expression, Tightness) -> String,
) -> String {
    let one = |(place, (negative, term)): (usize, &(bool, Expression))| {
        let least = if *negative || place > 0 { Tightness::Product } else { Tightness::Sum };
        let sign = match (place, negative) {
            (0, false) => String::new(),
            (0, true) => minus.to_owned(),
            (_, false) => " + ".to_owned(),
            (_, true) => format!(" {minus} "),
        };
        sign + &at_least(term, least)
    };
    terms.iter().enumerate().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Expression {
        Expression::parse(text).unwrap()
    }

    #[test]
    fn a_formula_is_shown_in_three_ways() {
        let three = parsed("P_{b,c} = min(1, L_{c} * λ'_{c})^(1 + 2 * m_{c} / M_{c})");
        assert_eq!(three.plain(), "P_b,c = min(1, L_c λ'_c)^(1 + 2 m_c / M_c)");
        assert_eq!(
            three.latex(),
            r"P_{b,c} = \min\bigl(1,\, L_{c}\, \lambda'_{c}\bigr)^{1 + \frac{2\, m_{c}}{M_{c}}}"
        );
        assert!(
            three
                .mathml()
                .starts_with("<mrow><msub><mi>P</mi><mrow><mi>b</mi><mo>,</mo><mi>c</mi></mrow></msub>")
        );
    }

    #[test]
    fn parentheses_stand_where_they_are_needed() {
        for text in ["(a + b) c", "a / (b c)", "a - (b - c)", "(a b)^(c + 1)", "(a / b)^2", "a + b c"] {
            let with_stars = text.replace("a b", "a * b").replace("b c", "b * c").replace(") c", ") * c");
            assert_eq!(parsed(&with_stars).plain(), text.replace('-', "−"));
        }
        assert_eq!(parsed("((a)) / ((b))").plain(), "a / b");
    }

    #[test]
    fn what_is_no_formula_is_none() {
        for text in ["", "a +", "(a", "a)", "a b", "sum{", "_{c}", "a_{", "1..2", "a = = b", "\u{1f600}"] {
            assert_eq!(Expression::parse(text), None, "{text}");
        }
    }

    #[test]
    fn names_take_the_place_of_indices() {
        let named = parsed("S_{c}[Z] + λ_{c,s}").named(&[("c", "R 1".to_owned()), ("Z", "{R1}".to_owned())]);
        assert_eq!(named.plain(), "S_R 1({R1}) + λ_R 1,s");
    }
}
