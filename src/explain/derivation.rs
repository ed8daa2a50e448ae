//! A derivation, independent of the output format: sections of steps, tables and pictures. JSON is made of it as it is.

use flitwise_models::answer::ClassAnswer;
use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use super::formula::{Expression, Values};

/// A whole explanation.
#[derive(Debug, Default)]
pub(crate) struct Derivation {
    pub(crate) title: String,
    pub(crate) sections: Vec<Section>,
}

/// A section and its head.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Section {
    pub(crate) title: String,
    pub(crate) parts: Vec<Part>,
}

/// What a section is made of.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub(crate) enum Part {
    /// A paragraph; between backticks stand formulas.
    Text {
        text: String,
    },
    Step(Step),
    Table(Table),
    Bar(Bar),
    Chain(Chain),
}

/// One equation, and what it comes to here.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Step {
    /// Its number in the paper, or where else it is from.
    pub(crate) equation: &'static str,
    /// Why it holds, in a sentence.
    pub(crate) reason: &'static str,
    #[schemars(with = "Notations")]
    pub(crate) formula: Expression,
    pub(crate) instances: Vec<Instance>,
}

/// An equation with the numbers of one class, channel or state put in.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Instance {
    /// Left side.
    #[schemars(with = "Option<Notations>")]
    pub(crate) of: Option<Expression>,
    /// Right side with numbers put in, to six digits; long sums lack terms in the middle.
    #[schemars(with = "Notations")]
    pub(crate) substituted: Expression,
    /// The numbers put in, in full.
    #[serde(rename = "symbols")]
    #[schemars(with = "Vec<Substitution>")]
    pub(crate) values: Values,
    /// What the solver has for the left side; `null` if there is no such number.
    pub(crate) value: Option<f64>,
    /// Its unit; empty for none.
    pub(crate) unit: &'static str,
}

/// A table of text and numbers.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct Table {
    pub(crate) heads: Vec<String>,
    pub(crate) rows: Vec<Vec<Entry>>,
}

/// One entry of a table; `null` for a number that does not exist.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Entry {
    Number(#[schemars(with = "Option<f64>")] f64),
    Text(String),
}

/// Where the cycles of a message go.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Bar {
    pub(crate) class: String,
    pub(crate) parts: Vec<BarPart>,
}

/// One part of a bar.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub(crate) struct BarPart {
    pub(crate) part: &'static str,
    pub(crate) cycles: f64,
}

/// The Markov chain of a link.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Chain {
    /// Which link.
    pub(crate) link: String,
    pub(crate) chain: flitwise_figures::picture::Chain,
}

impl Chain {
    /// A sentence for formats without a picture of it.
    pub(crate) fn where_drawn(&self) -> String {
        format!("The chain of {} as a picture: --diagram svg or dot.", self.link)
    }
}

/// A formula in two notations.
#[derive(Debug, Serialize, JsonSchema)]
struct Notations {
    /// In one line.
    text: String,
    /// For LaTeX in math mode.
    latex: String,
}

/// A symbol and its number.
#[derive(Debug, Serialize, JsonSchema)]
struct Substitution {
    /// The symbol as written in formulas.
    symbol: &'static str,
    number: f64,
    /// For a term of a sum: over which index, and the how manyth, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    term: Option<(&'static str, usize)>,
}

impl Serialize for Expression {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Notations { text: self.plain(), latex: self.latex() }.serialize(serializer)
    }
}

impl Serialize for Values {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let of = |term| {
            move |(symbol, number): &(&'static str, f64)| Substitution { symbol, number: *number, term }
        };
        let mut all: Vec<Substitution> = self.symbols.iter().map(of(None)).collect();
        for (index, terms) in &self.series {
            for (place, term) in terms.iter().enumerate() {
                all.extend(term.iter().map(of(Some((*index, place)))));
            }
        }
        all.serialize(serializer)
    }
}

/// An equation as it is written down.
pub(crate) struct Equation {
    pub(crate) number: &'static str,
    pub(crate) reason: &'static str,
    pub(crate) formula: &'static str,
    pub(crate) unit: &'static str,
}

impl Derivation {
    pub(crate) fn section(&mut self, title: impl Into<String>) -> &mut Section {
        self.sections.push(Section { title: title.into(), parts: Vec::new() });
        let last = self.sections.len() - 1;
        &mut self.sections[last]
    }
}

impl Section {
    pub(crate) fn text(&mut self, text: impl Into<String>) {
        self.parts.push(Part::Text { text: text.into() });
    }

    /// Where the cycles of a message of the class go.
    pub(crate) fn bar(&mut self, class: &str, parts: impl IntoIterator<Item = (&'static str, f64)>) {
        let parts = parts.into_iter().map(|(part, cycles)| BarPart { part, cycles }).collect();
        self.parts.push(Part::Bar(Bar { class: class.to_owned(), parts }));
    }

    pub(crate) fn table(&mut self, heads: &[&str], rows: Vec<Vec<Entry>>) {
        let heads = heads.iter().map(|head| (*head).to_owned()).collect();
        self.parts.push(Part::Table(Table { heads, rows }));
    }

    /// Equations over classes, and what they come to; `symbols` tell what the symbols of a class stand for.
    pub(crate) fn steps(
        &mut self,
        equations: &[&Equation],
        classes: &[(usize, &ClassAnswer)],
        symbols: impl Fn(usize, &ClassAnswer) -> Values,
    ) {
        let found = |(index, class): &(usize, &ClassAnswer)| {
            Application::by(vec![("c", class.name.clone())], symbols(*index, class))
        };
        equations.iter().for_each(|equation| self.step(equation, classes.iter().map(found)));
    }

    /// The equation, and what it comes to.
    pub(crate) fn step(&mut self, equation: &Equation, instances: impl IntoIterator<Item = Application>) {
        let formula = Expression::parse(equation.formula).unwrap_or(Expression::Omitted);
        let (left, right) = formula.sides();
        let instances = instances
            .into_iter()
            .map(|Application { names, values, value }| {
                let names: Vec<(&str, String)> = names;
                let of_left = || left.and_then(|left| values.of_symbol(left)).unwrap_or(f64::NAN);
                let value = value.unwrap_or_else(of_left);
                let values = values.used_in(right);
                let sound = value.is_finite() && values.numbers().all(f64::is_finite);
                Instance {
                    of: left.map(|left| left.named(&names)),
                    substituted: if sound { values.put_into(right) } else { right.named(&names) },
                    values: if sound { values } else { Values::default() },
                    value: sound.then_some(value),
                    unit: equation.unit,
                }
            })
            .collect();
        let Equation { number, reason, .. } = *equation;
        self.parts.push(Part::Step(Step { equation: number, reason, formula, instances }));
    }
}

/// One thing that an equation is applied to.
pub(crate) struct Application {
    /// What indices stand for.
    pub(crate) names: Vec<(&'static str, String)>,
    pub(crate) values: Values,
    /// What the solver found; `None`: `values` say what the left side is.
    pub(crate) value: Option<f64>,
}

impl Application {
    pub(crate) fn new(names: Vec<(&'static str, String)>, values: Values, value: f64) -> Self {
        Self { names, values, value: Some(value) }
    }

    /// `symbols` stand for both sides.
    pub(crate) fn by(names: Vec<(&'static str, String)>, symbols: Values) -> Self {
        Self { names, values: symbols, value: None }
    }
}

impl From<f64> for Entry {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<String> for Entry {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&str> for Entry {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl Entry {
    /// In words and digits.
    pub(crate) fn shown(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Number(number) if number.is_finite() => super::formula::significant(*number),
            Self::Number(_) => "-".to_owned(),
        }
    }
}

/// A text in pieces: words, and formulas that stood between backticks.
pub(crate) enum Piece<'t> {
    Words(&'t str),
    Formula(Expression),
}

/// A text with its words and formulas as a format writes them.
pub(crate) fn written(text: &str, words: fn(&str) -> String, formula: fn(&Expression) -> String) -> String {
    let piece = |piece| match piece {
        Piece::Words(text) => words(text),
        Piece::Formula(expression) => formula(&expression),
    };
    pieces(text).into_iter().map(piece).collect()
}

/// The pieces of a text.
pub(crate) fn pieces(text: &str) -> Vec<Piece<'_>> {
    let piece = |(place, piece)| match (place % 2, piece) {
        (1, text) => Expression::parse(text).map_or(Piece::Words(text), Piece::Formula),
        (_, text) => Piece::Words(text),
    };
    text.split('`').enumerate().map(piece).collect()
}
