//! Parser of formulas, by recursive descent.

use super::{Expression, Symbol};

/// The whole of `text` as a formula, if it is one.
pub(super) fn parse(text: &str) -> Option<Expression> {
    let mut parser = Parser { letters: text.chars().collect(), at: 0, depth: 0 };
    let found = parser.relation()?;
    parser.space();
    (parser.at == parser.letters.len()).then_some(found)
}

struct Parser {
    letters: Vec<char>,
    at: usize,
    depth: usize,
}

/// Deeper than this no formula goes: text that is none must not use up the stack.
const DEEPEST: usize = 40;

impl Parser {
    fn space(&mut self) {
        while self.letters.get(self.at).is_some_and(|letter| letter.is_whitespace()) {
            self.at += 1;
        }
    }

    fn next(&mut self) -> Option<char> {
        self.space();
        self.letters.get(self.at).copied()
    }

    fn takes(&mut self, wanted: char) -> bool {
        let found = self.next() == Some(wanted);
        self.at += usize::from(found);
        found
    }

    fn relation(&mut self) -> Option<Expression> {
        let left = self.sum()?;
        let Some(sign) = self.next().filter(|sign| "=<>≤≥".contains(*sign)) else { return Some(left) };
        self.at += 1;
        let right = self.relation()?;
        Some(Expression::Relation(Box::new(left), sign.to_string(), Box::new(right)))
    }

    fn sum(&mut self) -> Option<Expression> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return None;
        }
        let minus = self.takes('-');
        let mut terms = vec![(minus, self.product()?)];
        loop {
            let minus = match self.next() {
                Some('+') => false,
                Some('-') => true,
                _ => break,
            };
            self.at += 1;
            terms.push((minus, self.product()?));
        }
        self.depth -= 1;
        if terms.len() == 1 && !minus {
            terms.pop().map(|(_, term)| term)
        } else {
            Some(Expression::Sum(terms))
        }
    }

    fn product(&mut self) -> Option<Expression> {
        let mut product = self.power()?;
        loop {
            if self.takes('*') {
                let factor = self.power()?;
                product = match product {
                    Expression::Product(mut factors) => {
                        factors.push(factor);
                        Expression::Product(factors)
                    }
                    one => Expression::Product(vec![one, factor]),
                };
            } else if self.takes('/') {
                product = Expression::Quotient(Box::new(product), Box::new(self.power()?));
            } else {
                return Some(product);
            }
        }
    }

    fn power(&mut self) -> Option<Expression> {
        let base = self.atom()?;
        if !self.takes('^') {
            return Some(base);
        }
        Some(Expression::Power(Box::new(base), Box::new(self.atom()?)))
    }

    fn atom(&mut self) -> Option<Expression> {
        let first = self.next()?;
        if first == '(' {
            return self.in_parentheses();
        }
        if first.is_ascii_digit() {
            let number = self.while_letters(|letter| letter.is_ascii_digit() || letter == '.');
            return number.parse::<f64>().is_ok().then_some(Expression::Literal(number));
        }
        if !first.is_alphabetic() {
            return None;
        }
        let base = self.while_letters(char::is_alphabetic);
        match self.letters.get(self.at) {
            Some('{') if base == "sum" => {
                let index = self.until('{', '}')?;
                (self.next() == Some('(')).then_some(())?;
                Some(Expression::Series(index, Box::new(self.in_parentheses()?)))
            }
            Some('(') => {
                self.at += 1;
                let mut arguments = vec![self.sum()?];
                while self.takes(',') {
                    arguments.push(self.sum()?);
                }
                self.takes(')').then_some(Expression::Call(base, arguments))
            }
            _ => self.symbol(base),
        }
    }

    fn in_parentheses(&mut self) -> Option<Expression> {
        self.at += 1;
        let inside = self.sum()?;
        self.takes(')').then_some(inside)
    }

    fn symbol(&mut self, base: String) -> Option<Expression> {
        let mut symbol = Symbol { base, ..Symbol::default() };
        symbol.primes = self.while_letters(|letter| letter == '\'').len();
        loop {
            let (sign, then) = (self.letters.get(self.at), self.letters.get(self.at + 1));
            match (sign, then) {
                (Some('_'), Some('{')) => {
                    self.at += 1;
                    symbol.index = self.until('{', '}')?.split(',').map(str::to_owned).collect();
                }
                (Some('^'), Some('{')) => {
                    self.at += 1;
                    symbol.above = self.until('{', '}')?;
                }
                (Some('['), _) => symbol.argument = self.until('[', ']')?,
                _ => return Some(Expression::Symbol(symbol)),
            }
        }
    }

    fn while_letters(&mut self, wanted: impl Fn(char) -> bool) -> String {
        let rest = self.letters[self.at..].iter().copied();
        let taken: String = rest.take_while(|letter| wanted(*letter)).collect();
        self.at += taken.chars().count();
        taken
    }

    /// What stands between two brackets, the first of which is next.
    fn until(&mut self, open: char, close: char) -> Option<String> {
        (self.letters.get(self.at) == Some(&open)).then_some(())?;
        self.at += 1;
        let inside = self.while_letters(|letter| letter != close);
        (self.letters.get(self.at) == Some(&close) && !inside.is_empty()).then_some(())?;
        self.at += 1;
        Some(inside)
    }
}
