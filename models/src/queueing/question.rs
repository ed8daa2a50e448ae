//! From numbers and where they stand to a station: every fault at once.

use flitwise_language::document::{Fault, Place, nearest};

use super::station::{Contradiction, Values};
use super::{Kind, Need, Parameter, Station};

/// The most classes of customers at a station.
pub const MAX_CLASSES: usize = 64;

/// What is asked about a station, to be checked.
///
/// ```
/// # use flitwise_language::document::Place;
/// # use flitwise_models::queueing::{Kind, Number, Question};
/// let number = |key, value| Number::new(key, value, Place::Program);
/// let numbers = vec![number("rate", 0.02), number("mean", 32.0)];
/// let question = Question { kind: Kind::Mm1, numbers, classes: Vec::new() };
/// assert_eq!(question.check().unwrap().answer(&[]).load, 0.64);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// Which station.
    pub kind: Kind,
    /// Its parameters; of several with one key the last counts.
    pub numbers: Vec<Number>,
    /// Its classes of customers; where they have priorities, the highest first.
    pub classes: Vec<ClassQuestion>,
}

/// A parameter as it was given.
#[derive(Clone, Debug, PartialEq)]
pub struct Number {
    /// Which one, such as `rate`.
    pub key: String,
    /// What it is; not a number where none could be read.
    pub value: f64,
    /// The same as it was typed, for messages.
    pub typed: String,
    /// Where that stands.
    pub place: Place,
}

impl Number {
    /// A parameter that was not typed.
    pub fn new(key: &str, value: f64, place: Place) -> Self {
        Self { key: key.to_owned(), value, typed: value.to_string(), place }
    }
}

/// A class of customers as it was given.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassQuestion {
    /// Its name.
    pub name: String,
    /// Its parameters; of several with one key the last counts.
    pub numbers: Vec<Number>,
    /// Where it stands.
    pub place: Place,
}

impl Question {
    /// Gives a parameter another value. Its key is `rate`, or `class.NAME.rate` for one of a class.
    ///
    /// # Errors
    /// If there is no such class.
    pub fn set(&mut self, number: Number) -> Result<(), Fault> {
        let Some(path) = number.key.strip_prefix("class.") else {
            self.numbers.push(number);
            return Ok(());
        };
        let (name, own_key) = path.rsplit_once('.').unwrap_or((path, ""));
        if let Some(class) = self.classes.iter_mut().find(|class| class.name == name && !own_key.is_empty()) {
            let key = own_key.to_owned();
            class.numbers.push(Number { key, ..number });
            return Ok(());
        }
        let names: Vec<&str> = self.classes.iter().map(|class| class.name.as_str()).collect();
        let help = nearest(name, names.iter().copied()).filter(|near| *near != name);
        Err(Fault {
            place: number.place.clone(),
            key: number.key.clone(),
            found: "no such class".to_owned(),
            wanted: match names.as_slice() {
                [] => "a key without a class".to_owned(),
                _ => {
                    format!("class.NAME.KEY with NAME one of {}", flitwise_language::document::one_of(names))
                }
            },
            help: help.map(|near| format!("did you mean class.{near}.{own_key}?")),
        })
    }

    /// The station, if everything it wants to know is there and within its domain.
    ///
    /// # Errors
    /// Every fault.
    pub fn check(&self) -> Result<Station, Vec<Fault>> {
        let mut faults = Vec::new();
        let values = read(self.kind, &self.numbers, None, &mut faults);
        self.check_classes(&mut faults);
        let wanted = self.classes.iter().filter(|_| !self.kind.class_parameters().is_empty());
        let classes = wanted.map(|class| read(self.kind, &class.numbers, Some(class), &mut faults)).collect();
        let station = Station { kind: self.kind, values, classes };
        if faults.is_empty() {
            faults.extend(station.contradiction().map(|found| self.contradicts(&station, found)));
        }
        if faults.is_empty() { Ok(station) } else { Err(faults) }
    }

    fn check_classes(&self, faults: &mut Vec<Fault>) {
        let wants = !self.kind.class_parameters().is_empty();
        let mut refuse = |place: &Place, found: String, wanted: String, help: Option<String>| {
            let key = if *place == Place::Program { "class" } else { "" };
            faults.push(Fault { place: place.clone(), key: key.to_owned(), found, wanted, help });
        };
        if wants && self.classes.is_empty() {
            let keys: Vec<&str> = self.kind.class_parameters().iter().map(|known| known.key).collect();
            let wanted = format!("at least one, with {}", listed(&keys));
            refuse(&Place::Program, "no class".to_owned(), wanted, None);
        }
        for (index, class) in self.classes.iter().enumerate() {
            if !wants {
                let wanted = format!("none: {} has no classes", self.kind);
                let help = format!("{} have", listed(&words(|kind| !kind.class_parameters().is_empty())));
                refuse(&class.place, "a class".to_owned(), wanted, Some(help));
            } else if index == MAX_CLASSES {
                let found = format!("{} classes", self.classes.len());
                refuse(&class.place, found, format!("at most {MAX_CLASSES}"), None);
            } else if self.classes[..index].iter().any(|other| other.name == class.name) {
                let wanted = "a name of its own for each class".to_owned();
                refuse(&class.place, format!("\"{}\" a second time", class.name), wanted, None);
            }
        }
    }

    fn contradicts(&self, station: &Station, Contradiction { parameter, wanted }: Contradiction) -> Fault {
        let number = self.numbers.iter().rfind(|number| number.key == parameter.key);
        let place = number.map_or(Place::Program, |number| number.place.clone());
        let key = shown_key(&place, parameter.key, None);
        Fault { key, place, found: station.values.get(parameter).to_string(), wanted, help: None }
    }
}

/// What the fault's key is: options say theirs in their place.
fn shown_key(place: &Place, key: &str, class: Option<&ClassQuestion>) -> String {
    match (class, place) {
        (Some(class), _) => format!("class.{}.{key}", class.name),
        (None, Place::Program) => key.to_owned(),
        (None, _) => String::new(),
    }
}

/// `rate, mean and scv`.
fn listed(keys: &[&str]) -> String {
    match keys.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
        None => "no parameters".to_owned(),
    }
}

/// The words of stations.
fn words(of: impl Fn(Kind) -> bool) -> Vec<&'static str> {
    Kind::ALL.into_iter().filter(|kind| of(*kind)).map(Kind::word).collect()
}

/// What a station, or a class of it, wants to know.
fn known(kind: Kind, class: Option<&ClassQuestion>) -> &'static [Parameter] {
    if class.is_some() { kind.class_parameters() } else { kind.parameters() }
}

/// Takes what is there and within its domain, and says what is not.
fn read(kind: Kind, numbers: &[Number], class: Option<&ClassQuestion>, faults: &mut Vec<Fault>) -> Values {
    let known = known(kind, class);
    let is = |number: &Number, parameter: &Parameter| number.key == parameter.key;
    for number in numbers.iter().filter(|number| known.iter().all(|parameter| !is(number, parameter))) {
        faults.push(unknown(kind, number, class));
    }
    let mut found = Vec::new();
    for parameter in known {
        // of several the last counts, but all must be sound
        for number in numbers.iter().filter(|number| is(number, parameter)) {
            if let Some(fault) = parameter.fault(number) {
                let key = shown_key(&number.place, parameter.key, class);
                faults.push(Fault { key, ..fault });
            }
        }
        let given = numbers.iter().rfind(|number| is(number, parameter)).map(|number| number.value);
        match (given, parameter.need) {
            (Some(value), _) | (None, Need::Default(value)) => found.push((parameter, value)),
            (None, Need::Optional) => {}
            (None, Need::Required { .. }) => {
                let place = class.map_or(Place::Program, |class| class.place.clone());
                let key = shown_key(&place, parameter.key, class);
                let wanted = parameter.domain.wanted();
                faults.push(Fault { place, key, found: "nothing".to_owned(), wanted, help: None });
            }
        }
    }
    Values { name: class.map_or("all", |class| &class.name).to_owned(), numbers: found }
}

/// A key that is none of the station's.
fn unknown(kind: Kind, number: &Number, class: Option<&ClassQuestion>) -> Fault {
    let keys: Vec<&str> = known(kind, class).iter().map(|parameter| parameter.key).collect();
    let others = words(|other| known(other, class).iter().any(|parameter| parameter.key == number.key));
    let help = match (others.as_slice(), nearest(&number.key, keys.iter().copied())) {
        ([], Some(near)) => Some(format!("did you mean {near}?")),
        ([], None) => None,
        ([one], _) => Some(format!("{one} has it")),
        (several, _) => Some(format!("{} have it", listed(several))),
    };
    let wanted = if class.is_some() || !keys.is_empty() {
        listed(&keys)
    } else {
        format!("classes with {}", listed(&kind.class_parameters().iter().map(|p| p.key).collect::<Vec<_>>()))
    };
    Fault {
        place: number.place.clone(),
        key: shown_key(&number.place, &number.key, class),
        found: format!("{}, which {kind} has not", number.key),
        wanted,
        help,
    }
}

#[cfg(test)]
mod tests;
