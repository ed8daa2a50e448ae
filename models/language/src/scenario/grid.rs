//! Scenarios over a grid: what varies, and what is tied to it.

use schemars::JsonSchema;
use serde::Serialize;

use super::units::{quantity, with_unit};
use super::{Document, Fault, Place};
use crate::document::in_short;

/// The most values of one axis.
const MOST_VALUES: usize = 1_000_000;

/// A document, the axes along which it varies and the ties between its values.
#[derive(Clone, Debug)]
pub struct Grid {
    /// The scenario before any value is changed.
    pub document: Document,
    /// What varies; the last axis fastest.
    pub axes: Vec<Axis>,
    /// What is tied, in an order in which each finds the value it is tied to already set.
    pub couplings: Vec<Coupling>,
}

impl Grid {
    /// Reads axes such as `class.R1.rate=0.001:0.012:23` and ties such as `class.R2.rate=class.R1.rate/2`. `is_whole`
    /// tells which keys take whole numbers only: [`super::is_whole`] for scenarios.
    ///
    /// # Errors
    /// Every fault in them, as a message that names the option.
    pub fn read(
        document: Document,
        over: &[String],
        couple: &[String],
        is_whole: fn(&str) -> bool,
    ) -> Result<Self, Vec<String>> {
        let (axes, couplings) = read(over, couple, is_whole)?;
        Ok(Self { document, axes, couplings })
    }

    /// Number of points; `None` if that is too large a number.
    pub fn points(&self) -> Option<usize> {
        self.axes.iter().try_fold(1usize, |all, axis| all.checked_mul(axis.values.len()))
    }

    /// Numbers of the values along each axis at a point.
    pub fn indices(&self, point: usize) -> Vec<usize> {
        let mut rest = point;
        let mut indices = vec![0; self.axes.len()];
        for (index, axis) in indices.iter_mut().zip(&self.axes).rev() {
            *index = rest % axis.values.len();
            rest /= axis.values.len();
        }
        indices
    }

    /// Values along each axis at a point.
    pub fn settings(&self, point: usize) -> Vec<Setting> {
        let of_axis = |(axis, index): (&Axis, usize)| Setting::new(&axis.key, &axis.values[index]);
        self.axes.iter().zip(self.indices(point)).map(of_axis).collect()
    }

    /// The document with the given values, and all values set, coupled ones included.
    ///
    /// # Errors
    /// All values that have no place in the document.
    pub fn at(&self, mut settings: Vec<Setting>) -> Result<(Document, Vec<Setting>), Vec<Fault>> {
        let mut document = self.document.clone();
        let mut faults = Vec::new();
        let set = |document: &mut Document, option: &str, setting: &Setting| {
            let place = Place::Setting(format!("{option} {}={}", setting.key, setting.value).into());
            document.set(&setting.key, &setting.value, &place)
        };
        for setting in &settings {
            faults.extend(set(&mut document, "--over", setting).err());
        }
        for coupling in &self.couplings {
            match coupling.setting(&document) {
                Ok(setting) => {
                    faults.extend(set(&mut document, "--couple", &setting).err());
                    settings.push(setting);
                }
                Err(fault) => faults.push(fault),
            }
        }
        if faults.is_empty() { Ok((document, settings)) } else { Err(faults) }
    }
}

/// One key and the values it takes, as they would be typed.
#[derive(Clone, Debug)]
pub struct Axis {
    /// Path of the value in the scenario.
    pub key: String,
    /// Its values as they would be typed.
    pub values: Vec<String>,
}

/// A key whose value follows from another's.
#[derive(Clone, Debug)]
pub struct Coupling {
    /// Path of the value that follows.
    pub key: String,
    typed: String,
    other: String,
    factor: f64,
}

/// A key and the value it has at a point.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Setting {
    /// Path of the value in the scenario.
    pub key: String,
    /// The value as it would be typed.
    pub value: String,
}

impl Setting {
    /// A key with its value.
    pub fn new(key: &str, value: &str) -> Self {
        Self { key: key.to_owned(), value: value.to_owned() }
    }
}

/// Reads all axes and couplings, or reports every fault in them.
fn read(
    over: &[String],
    couple: &[String],
    is_whole: fn(&str) -> bool,
) -> Result<(Vec<Axis>, Vec<Coupling>), Vec<String>> {
    let mut faults = Vec::new();
    let mut axes: Vec<Axis> = Vec::new();
    for typed in over {
        match Axis::read(typed, is_whole) {
            Ok(axis) if axes.iter().any(|other| other.key == axis.key) => {
                faults.push(format!(
                    "--over {typed}: found {} a second time, wanted one axis per key",
                    axis.key
                ));
            }
            Ok(axis) => axes.push(axis),
            Err(fault) => faults.push(format!("--over {typed}: {fault}")),
        }
    }
    let mut couplings: Vec<Coupling> = Vec::new();
    for typed in couple {
        match Coupling::read(typed) {
            Ok(coupling) if axes.iter().any(|axis| axis.key == coupling.key) => {
                let key = &coupling.key;
                faults.push(format!("--couple {typed}: found {key}, which is an axis, wanted another key"));
            }
            Ok(coupling) if couplings.iter().any(|other| other.key == coupling.key) => {
                let key = &coupling.key;
                faults.push(format!("--couple {typed}: found {key} a second time, wanted one tie per key"));
            }
            Ok(coupling) => couplings.push(coupling),
            Err(fault) => faults.push(format!("--couple {typed}: {fault}")),
        }
    }
    let couplings = in_order(couplings, &mut faults);
    if faults.is_empty() { Ok((axes, couplings)) } else { Err(faults) }
}

/// Couplings in an order in which each finds the value it is tied to already set.
fn in_order(mut left: Vec<Coupling>, faults: &mut Vec<String>) -> Vec<Coupling> {
    let mut ordered = Vec::new();
    while !left.is_empty() {
        let free = left.iter().position(|coupling| left.iter().all(|other| other.key != coupling.other));
        let Some(free) = free else {
            let typed: Vec<&str> = left.iter().map(|coupling| coupling.typed.as_str()).collect();
            faults.push(format!(
                "--couple {}: found a circle, wanted ties that end somewhere",
                typed.join(", ")
            ));
            break;
        };
        ordered.push(left.remove(free));
    }
    ordered
}

impl Axis {
    /// Reads `KEY=START:STOP:COUNT`, `KEY=log:START:STOP:COUNT` or `KEY=A,B,C`.
    ///
    /// A key that takes whole numbers only, as `is_whole` says of it, gets the nearest ones, each once.
    ///
    /// # Errors
    /// What was found and what is wanted.
    pub fn read(typed: &str, is_whole: fn(&str) -> bool) -> Result<Self, String> {
        const WANTED: &str = "wanted KEY=START:STOP:COUNT, KEY=log:START:STOP:COUNT or KEY=A,B,C";
        let (key, range) = typed.split_once('=').ok_or_else(|| format!("found no '=', {WANTED}"))?;
        let key = key.trim().to_owned();
        let (logarithmic, range) = match range.strip_prefix("log:") {
            Some(range) => (true, range),
            None => (false, range),
        };
        let parts: Vec<&str> = range.split(':').map(str::trim).collect();
        let values = match parts.as_slice() {
            [list] if !logarithmic => {
                let values: Vec<String> = list.split(',').map(|value| value.trim().to_owned()).collect();
                if values.iter().any(String::is_empty) {
                    return Err(format!("found an empty value, {WANTED}"));
                }
                values
            }
            [start, stop, count] => {
                let number = |text: &&str| -> Result<(f64, String), String> {
                    let (number, unit) = quantity(text)
                        .ok_or_else(|| format!("found \"{text}\", wanted a number in START:STOP:COUNT"))?;
                    Ok((number, unit.to_owned()))
                };
                let ((start, unit), (stop, other)) = (number(start)?, number(stop)?);
                if unit != other {
                    let ends = format!("{} and {}", with_unit(start, &unit), with_unit(stop, &other));
                    return Err(format!("found {ends}, wanted both ends in one unit"));
                }
                let count = counted(count)
                    .ok_or_else(|| format!("found count \"{count}\", wanted 1 to {MOST_VALUES} points"))?;
                if logarithmic && (start <= 0.0 || stop <= 0.0) {
                    let ends = format!("{}:{}", in_short(start), in_short(stop));
                    return Err(format!("found {ends}, wanted both ends above 0 on a log axis"));
                }
                let values = spread(start, stop, count, logarithmic);
                if is_whole(&key) && unit.is_empty() {
                    whole_values(&values)
                } else {
                    values.into_iter().map(|value| with_unit(value, &unit)).collect()
                }
            }
            _ => return Err(format!("found \"{range}\", {WANTED}")),
        };
        Ok(Self { key, values })
    }

    /// Its values as numbers; `None` unless all are numbers of one unit.
    ///
    /// ```
    /// # use flitwise_language::scenario::{Axis, is_whole};
    /// let axis = |typed| Axis::read(typed, is_whole).unwrap();
    /// assert_eq!(axis("class.R1.rate=1 Mbps:3 Mbps:3").numbers(), Some(vec![1.0, 2.0, 3.0]));
    /// assert_eq!(axis("router.scheduler=fifo,round-robin").numbers(), None);
    /// ```
    pub fn numbers(&self) -> Option<Vec<f64>> {
        let read: Vec<(f64, &str)> =
            self.values.iter().map(|value| quantity(value)).collect::<Option<_>>()?;
        let unit = read.first()?.1;
        read.into_iter().map(|(number, other)| (other == unit).then_some(number)).collect()
    }
}

/// Values of a key that takes whole numbers only: the nearest ones, each once.
pub fn whole_values(values: &[f64]) -> Vec<String> {
    let mut values: Vec<String> = values.iter().map(|value| in_short(value.round())).collect();
    values.dedup();
    values
}

/// A number of points, also written as `1e3`.
fn counted(typed: &str) -> Option<usize> {
    let number = typed.parse::<usize>().ok().or_else(|| {
        let number = typed.parse::<f64>().ok().filter(|number| number.fract() == 0.0)?;
        (1.0..=MOST_VALUES as f64).contains(&number).then_some(number as usize)
    });
    number.filter(|number| (1..=MOST_VALUES).contains(number))
}

/// `count` values from `start` to `stop`, both hit exactly.
pub fn spread(start: f64, stop: f64, count: usize, logarithmic: bool) -> Vec<f64> {
    // twelve digits: 0.003, not 0.0030000000000000005
    let tidy = |value: f64| format!("{value:.11e}").parse().unwrap_or(value);
    let at = |index: usize| {
        let part = index as f64 / (count - 1).max(1) as f64;
        match index {
            0 => start,
            _ if index == count - 1 => stop,
            _ if logarithmic => tidy(start * (stop / start).powf(part)),
            _ => tidy(start + (stop - start) * part),
        }
    };
    (0..count).map(at).collect()
}

impl Coupling {
    /// `KEY=OTHER`, with any factors `*NUMBER` and `/NUMBER`, in any order.
    ///
    /// # Errors
    /// What was found and what is wanted.
    pub fn read(typed: &str) -> Result<Self, String> {
        const WANTED: &str = "wanted KEY=OTHER, KEY=OTHER/2 or KEY=OTHER*0.5";
        let (key, formula) = typed.split_once('=').ok_or_else(|| format!("found no '=', {WANTED}"))?;
        let mut factor = 1.0;
        let mut other = None;
        let mut rest = formula;
        let mut divides = false;
        loop {
            let end = rest.find(['*', '/']).unwrap_or(rest.len());
            let term = rest[..end].trim();
            match term.parse::<f64>() {
                Ok(number) if number.is_finite() && number != 0.0 => {
                    factor *= if divides { 1.0 / number } else { number };
                }
                Ok(number) => return Err(format!("found the factor {number}, wanted a number other than 0")),
                Err(_) if term.is_empty() => return Err(format!("found an empty term, {WANTED}")),
                Err(_) if divides => return Err(format!("found a division by {term}, {WANTED}")),
                Err(_) if other.is_some() => return Err(format!("found a second key {term}, {WANTED}")),
                Err(_) => other = Some(term.to_owned()),
            }
            let Some(operator) = rest[end..].chars().next() else { break };
            divides = operator == '/';
            rest = &rest[end + 1..];
        }
        let other = other.ok_or_else(|| format!("found no other key in \"{formula}\", {WANTED}"))?;
        Ok(Self { key: key.trim().to_owned(), typed: typed.to_owned(), other, factor })
    }

    /// The value at a point whose other values stand in the document.
    ///
    /// # Errors
    /// If the other key has no number there.
    pub fn setting(&self, document: &Document) -> Result<Setting, Fault> {
        let fault = || Fault {
            place: Place::Setting(format!("--couple {}", self.typed).into()),
            key: self.other.clone(),
            found: "no number".to_owned(),
            wanted: "a key of the scenario that has one, such as class.R1.rate".to_owned(),
            help: None,
        };
        let (value, unit) = document.quantity(&self.other).ok_or_else(fault)?;
        Ok(Setting::new(&self.key, &with_unit(value * self.factor, unit)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::is_whole;

    #[test]
    fn axes_hit_both_ends_and_keep_their_digits() {
        let axis = Axis::read("class.R1.rate=0.001:0.012:23", is_whole).unwrap();
        assert_eq!(
            (axis.values.len(), axis.values[0].as_str(), axis.values[22].as_str()),
            (23, "0.001", "0.012")
        );
        assert_eq!(axis.values[4], "0.003");
        assert_eq!(Axis::read("a=log:0.001:0.1:3", is_whole).unwrap().values, ["0.001", "0.01", "0.1"]);
        assert_eq!(Axis::read("a=8,round-robin", is_whole).unwrap().values, ["8", "round-robin"]);
        assert_eq!(Axis::read("a=5:9:1", is_whole).unwrap().values, ["5"]);
        assert_eq!(Axis::read("a=0:1:1.1e1", is_whole).unwrap().values.len(), 11);
        assert_eq!(Axis::read("a=1e307:1e308:2", is_whole).unwrap().values, ["1e307", "1e308"]);
        let axis = Axis::read("class.R1.rate=log:1 Mbps:100 Mbps:3", is_whole).unwrap();
        assert_eq!(axis.values, ["1 Mbps", "10 Mbps", "100 Mbps"]);
        assert!(
            Axis::read("class.R1.rate=1 Mbps:1 Gbps:3", is_whole)
                .unwrap_err()
                .ends_with("both ends in one unit")
        );
    }

    #[test]
    fn a_key_of_whole_numbers_gets_whole_numbers_each_once() {
        let values = |typed: &str| Axis::read(typed, is_whole).unwrap().values;
        assert_eq!(values("router.buffer_flits=log:1:64:4"), ["1", "4", "16", "64"]);
        assert_eq!(values("class.R1.message_flits=1:64:4"), ["1", "22", "43", "64"]);
        assert_eq!(values("network.ports=2:4:9"), ["2", "3", "4"]);
        assert_eq!(values("class.R1.source.streams=8.5,9"), ["8.5", "9"]); // as typed: refused where it is read
    }

    #[test]
    fn what_is_no_axis_is_refused() {
        for typed in
            ["a", "a=1:2", "a=1:2:0", "a=1:x:3", "a=log:0:1:3", "a=1,,2", "a=log:5", "a=1:inf:4", "a="]
        {
            assert!(Axis::read(typed, is_whole).is_err(), "{typed}");
        }
    }

    #[test]
    fn couplings_are_put_in_order_and_circles_refused() {
        let couple =
            |typed: &[&str]| read(&[], &typed.iter().map(|t| (*t).to_owned()).collect::<Vec<_>>(), is_whole);
        let (_, couplings) = couple(&["a=b", "b=c/2"]).unwrap();
        assert_eq!((couplings[0].key.as_str(), couplings[1].key.as_str()), ("b", "a"));
        assert!(
            couple(&["a=b", "b=a"]).is_err() && couple(&["a=a"]).is_err() && couple(&["a=b", "a=c"]).is_err()
        );
    }

    #[test]
    fn couplings_are_products_with_one_key() {
        let coupling = Coupling::read("class.R2.rate = 3*class.R1.rate/2").unwrap();
        assert_eq!((coupling.other.as_str(), coupling.factor), ("class.R1.rate", 1.5));
        for typed in ["a", "a=b*c", "a=2", "a=b/0", "a=1/b", "a=b*", "a="] {
            assert!(Coupling::read(typed).is_err(), "{typed}");
        }
    }
}
