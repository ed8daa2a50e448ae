//! What is asked of a scenario: `CLASS: QUANTITY <= NUMBER`.

use schemars::JsonSchema;
use serde::Serialize;

use flitwise_language::document::{Fault, Place, nearest, one_of};
use flitwise_language::quantity::{Measure, Quantity, Unit};
use flitwise_language::scenario::{ClassKind, MAX_DEADLINE_CYCLES, NetworkSpec, ScenarioSpec};

/// What is wrong with a part of what was typed.
pub(super) struct Wrong {
    found: String,
    wanted: String,
    help: Option<String>,
}

impl Wrong {
    pub(super) fn new(found: impl Into<String>, wanted: impl Into<String>, help: Option<String>) -> Self {
        Self { found: found.into(), wanted: wanted.into(), help }
    }

    pub(super) fn at(self, option: &str, typed: &str) -> Fault {
        let place = Place::Setting(format!("{option} \"{typed}\"").into());
        Fault { place, key: String::new(), found: self.found, wanted: self.wanted, help: self.help }
    }
}

/// What can be bounded or minimised; quantities of frames where there are any.
fn known(scenario: &ScenarioSpec) -> Vec<Quantity> {
    let groups = scenario.groups();
    let is_there = |quantity: &Quantity| {
        Quantity::GROUPS.iter().all(|group| !group.contains(quantity) || groups.contains(group))
    };
    let is_answered = |quantity: &Quantity| match quantity {
        Quantity::SaturationLoad | Quantity::FrameIntervalAutocorrelation => false,
        quantity => !quantity.is_of_circuits() && is_there(quantity),
    };
    Quantity::ALL.iter().copied().filter(is_answered).collect()
}

/// Reads `total`, `miss(47)`, `miss(60, hops=3)`, ...; hops must fit the network.
fn measure(typed: &str, scenario: &ScenarioSpec) -> Result<Measure, Vec<Wrong>> {
    let typed = typed.trim();
    let (word, arguments) = match typed.split_once('(') {
        Some((word, rest)) => match rest.strip_suffix(')') {
            Some(arguments) => (word.trim(), Some(arguments)),
            None => return Err(vec![Wrong::new(format!("\"{typed}\""), "a closing parenthesis", None)]),
        },
        None => (typed, None),
    };
    let known = known(scenario);
    match (Quantity::find(word).filter(|found| known.contains(found)), arguments) {
        (Some(Quantity::MissProbability), arguments) => miss(arguments, &scenario.network),
        (Some(quantity), None) => Ok(quantity.into()),
        (Some(_), Some(_)) => Err(vec![Wrong::new(format!("\"{typed}\""), format!("{word} alone"), None)]),
        (None, _) => {
            let help = Quantity::nearest(word, &known).map(|word| match word {
                "miss" => "did you mean miss(47)?".to_owned(),
                word => format!("did you mean {word}?"),
            });
            let found = if word.is_empty() { "no quantity".to_owned() } else { format!("\"{word}\"") };
            let words = known.into_iter().map(|quantity| match quantity {
                Quantity::MissProbability => "miss(DEADLINE)".to_owned(),
                quantity => Measure::from(quantity).typed(),
            });
            let words: Vec<String> = words.collect();
            Err(vec![Wrong::new(found, one_of(words.iter().map(String::as_str)), help)])
        }
    }
}

/// `DEADLINE` and perhaps `hops=N`.
fn miss(arguments: Option<&str>, network: &NetworkSpec) -> Result<Measure, Vec<Wrong>> {
    const WANTED: &str = "miss(DEADLINE) or miss(DEADLINE, hops=N)";
    let Some(arguments) = arguments else {
        let help = Some("the deadline is in whole cycles: miss(47)".to_owned());
        return Err(vec![Wrong::new("miss without a deadline", WANTED, help)]);
    };
    let mut wrong = Vec::new();
    let (deadline, hops) = match arguments.split_once(',') {
        Some((deadline, hops)) => (deadline.trim(), Some(hops.trim())),
        None => (arguments.trim(), None),
    };
    let cycles = deadline.parse().ok().filter(|cycles| (1..=MAX_DEADLINE_CYCLES).contains(cycles));
    if cycles.is_none() {
        let wanted = format!("1 to {MAX_DEADLINE_CYCLES} whole cycles");
        wrong.push(Wrong::new(format!("the deadline \"{deadline}\""), wanted, None));
    }
    let mut over = None;
    if let Some(typed) = hops {
        let number = typed.strip_prefix("hops").and_then(|rest| rest.trim_start().strip_prefix('='));
        let number = number.and_then(|number| number.trim().parse::<u32>().ok());
        match (network.topology().most_hops(), number) {
            (_, None) => wrong.push(Wrong::new(format!("\"{typed}\""), "hops=N, such as hops=3", None)),
            (0, Some(_)) => wrong.push(Wrong::new(
                format!("\"{typed}\" in a single router"),
                "a deadline for all messages",
                Some(format!("miss({deadline})")),
            )),
            (most, Some(hops)) if !(1..=most).contains(&hops) => {
                wrong.push(Wrong::new(format!("{hops} hops"), format!("1 to {most} hops"), None));
            }
            (_, Some(hops)) => over = Some(hops),
        }
    }
    match (cycles, wrong.is_empty()) {
        (Some(deadline_cycles), true) => Ok(Measure::miss(deadline_cycles, over)),
        _ => Err(wrong),
    }
}

/// A bound on a quantity of a class, or of every class that sends.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Requirement {
    /// Which class; `null`: each of them.
    pub class: Option<String>,
    /// Which quantity.
    #[serde(flatten)]
    pub measure: Measure,
    /// A margin or a throughput is at least this, anything else at most \[cycles, or the unit of the quantity\].
    pub limit: f64,
    /// The limit as it was typed, where that is a time of another unit.
    #[serde(skip)]
    typed: Option<String>,
}

impl Requirement {
    /// That no class is saturated: what is asked where nothing else is.
    pub fn steady() -> Self {
        Self::new(None, Quantity::Margin.into(), 0.0)
    }

    /// A bound on a quantity of a class.
    pub fn new(class: Option<String>, measure: Measure, limit: f64) -> Self {
        Self { class, measure, limit, typed: None }
    }

    /// Whether it is a bound from below: more is better.
    pub fn is_from_below(&self) -> bool {
        is_from_below(self.measure.quantity)
    }

    /// Reads requirements on classes of `scenario`, typed after `option`.
    ///
    /// # Errors
    /// Every fault of every requirement.
    pub fn read_all(
        option: &str,
        typed: &[String],
        scenario: &ScenarioSpec,
    ) -> Result<Vec<Self>, Vec<Fault>> {
        let (mut read, mut faults) = (Vec::new(), Vec::new());
        for one in typed {
            match Self::read(one, scenario) {
                Ok(requirement) => read.push(requirement),
                Err(wrong) => faults.extend(wrong.into_iter().map(|wrong| wrong.at(option, one))),
            }
        }
        if faults.is_empty() { Ok(read) } else { Err(faults) }
    }

    fn read(typed: &str, scenario: &ScenarioSpec) -> Result<Self, Vec<Wrong>> {
        const WANTED: &str = "CLASS: QUANTITY <= NUMBER, such as \"R1: miss(47) <= 0.1\"";
        let relation = ["<=", ">="].into_iter().find_map(|sign| Some((typed.rsplit_once(sign)?, sign)));
        let Some(((left, number), sign)) = relation else {
            let help = ["≤", "<", ">", "="].into_iter().find(|sign| typed.contains(sign));
            let help = help.map(|sign| format!("write <= or >= for {sign}"));
            return Err(vec![Wrong::new("neither <= nor >=", WANTED, help)]);
        };
        let mut wrong = Vec::new();
        let of_class = class_and_quantity(left, scenario, WANTED).map_err(|found| wrong.extend(found)).ok();
        let measure = of_class.as_ref().map(|(_, measure)| *measure);
        let limit = limit(number.trim(), measure.map(|asked| asked.quantity), scenario)
            .map_err(|found| wrong.push(found))
            .ok();
        match measure {
            Some(asked) if is_from_below(asked.quantity) && sign == "<=" => {
                let word = asked.typed();
                let help = match asked.quantity {
                    Quantity::Margin => "margin is the share of the saturation load that is left",
                    _ => "it is the more the better",
                };
                let (found, wanted) = (format!("{word} <="), format!("{word} >= NUMBER"));
                wrong.push(Wrong::new(found, wanted, Some(help.to_owned())));
            }
            Some(asked) if !is_from_below(asked.quantity) && sign == ">=" => {
                let asked = asked.typed();
                wrong.push(Wrong::new(format!("{asked} >="), format!("{asked} <= NUMBER"), None));
            }
            _ => {}
        }
        match (of_class, limit) {
            (Some((class, measure)), Some(limit)) if wrong.is_empty() => {
                let is_time = measure.quantity.unit() == Unit::Cycles;
                let (unit, _) = scenario.shown_time();
                let typed = number.trim();
                let unit = if typed.parse::<f64>().is_ok() { format!(" {unit}") } else { String::new() };
                let is_other = is_time && scenario.shown_time().1 != 1.0;
                let is_worded = measure.quantity.unit() == Unit::PjPerCycle && typed.parse::<f64>().is_err();
                let typed = match (is_other, is_worded) {
                    (true, _) => Some(format!("{typed}{unit}")),
                    (false, true) => Some(typed.to_owned()),
                    (false, false) => None,
                };
                Ok(Self { typed, ..Self::new(class, measure, limit) })
            }
            _ => Err(wrong),
        }
    }

    /// Whether it is about a class of that name.
    pub fn is_about(&self, class: &str) -> bool {
        self.class.as_deref().is_none_or(|name| name == class)
    }
}

/// Reads `CLASS: QUANTITY`; the class `*` is none.
pub(super) fn class_and_quantity(
    typed: &str,
    scenario: &ScenarioSpec,
    wanted: &str,
) -> Result<(Option<String>, Measure), Vec<Wrong>> {
    // a name may hold colons, a quantity none
    let Some((name, quantity)) = typed.rsplit_once(':') else {
        let found = format!("no class before \"{}\"", typed.trim());
        let help = scenario.classes.first().map(|class| format!("{}: {}", class.name, typed.trim()));
        return Err(vec![Wrong::new(found, wanted, help)]);
    };
    let name = name.trim();
    let mut wrong = Vec::new();
    let names = || scenario.classes.iter().map(|class| class.name.as_str());
    if name != "*" && !names().any(|known| known == name) {
        let help = nearest(name, names()).map(|near| format!("did you mean {near}?"));
        wrong.push(Wrong::new(format!("class \"{name}\""), one_of(names().chain(["*"])), help));
    }
    match measure(quantity, scenario) {
        Ok(measure) if wrong.is_empty() => Ok(((name != "*").then(|| name.to_owned()), measure)),
        Ok(_) => Err(wrong),
        Err(found) => {
            wrong.extend(found);
            Err(wrong)
        }
    }
}

/// A text such as `0.65 W` in picojoules per cycle, where it is said how long a cycle is.
fn watts(typed: &str, scenario: &ScenarioSpec) -> Option<f64> {
    let cycle_ns = scenario.units.as_ref()?.cycle_ns()?;
    let (number, milliwatts) = match typed.strip_suffix("mW") {
        Some(number) => (number, 1.0),
        None => (typed.strip_suffix('W')?, 1e3),
    };
    // a milliwatt is a picojoule in a nanosecond
    Some(number.trim_end().parse::<f64>().ok()? * milliwatts * cycle_ns)
}

/// The number of a limit; shares may be typed in percent.
fn limit(typed: &str, quantity: Option<Quantity>, scenario: &ScenarioSpec) -> Result<f64, Wrong> {
    let share = quantity.is_none_or(Quantity::is_share);
    let is_time = quantity.is_none_or(|quantity| quantity.unit() == Unit::Cycles);
    let is_power = quantity.is_some_and(|quantity| quantity.unit() == Unit::PjPerCycle);
    let in_cycles = || scenario.cycles_of(typed).filter(|_| is_time);
    let (unit, _) = scenario.shown_time();
    let number = match typed.strip_suffix('%') {
        Some(percent) if share => percent.trim_end().parse::<f64>().ok().map(|percent| percent / 100.0),
        _ if is_time && quantity.is_some() && unit == "ns" => in_cycles(),
        _ if is_power && typed == "budget" => {
            scenario.clone().check().ok().and_then(|scenario| scenario.power_budget())
        }
        _ if is_power => typed.parse::<f64>().ok().or_else(|| watts(typed, scenario)),
        _ => typed.parse::<f64>().ok().or_else(in_cycles),
    };
    let found = if typed.is_empty() { "no number".to_owned() } else { format!("\"{typed}\"") };
    let (most, wanted) = match quantity {
        Some(quantity) if quantity.unit() == Unit::Probability => {
            (1.0, "a share from 0 to 1, such as 0.1 or 10%")
        }
        Some(Quantity::Margin) => (0.999, "a share from 0 to 0.999, such as 0.2 or 20%"),
        Some(quantity) if quantity.is_share() => (1e9, "a load, such as 0.8 or 80%"),
        Some(_) if is_time && unit == "ns" => {
            (1e15, "a number of nanoseconds, such as 500, or a time, such as \"2 us\"")
        }
        Some(_) if is_time && scenario.units.is_some() => {
            (1e15, "a number of cycles, such as 200, or a time, such as \"10 us\"")
        }
        Some(_) if is_time => (1e15, "a number of cycles, such as 200"),
        Some(_) if is_power => (1e15, "a number of pJ/cycle, watts with [units], or budget, that of [power]"),
        _ => (1e15, "a number"),
    };
    match number {
        Some(number) if (0.0..=most).contains(&number) => Ok(number),
        _ => Err(Wrong::new(found, wanted, None)),
    }
}

impl std::fmt::Display for Requirement {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let sign = if self.is_from_below() { ">=" } else { "<=" };
        let class = self.class.as_deref().unwrap_or("*");
        let limit = self.typed.clone().unwrap_or_else(|| self.limit.to_string());
        write!(f, "{class}: {} {sign} {limit}", self.measure.typed())
    }
}

/// Whether more of a quantity is better.
fn is_from_below(quantity: Quantity) -> bool {
    matches!(quantity, Quantity::Margin | Quantity::Throughput)
}

/// Classes of best effort that `class` may stand for: the published model has no law for them.
pub(super) fn about_best_effort(class: Option<&str>, scenario: &ScenarioSpec) -> Option<String> {
    let is_meant = |name: &str| class.is_none_or(|class| class == name);
    let best_effort = scenario.classes.iter().find(|c| c.kind == ClassKind::BestEffort && is_meant(&c.name));
    best_effort.filter(|class| class.rate > 0.0).map(|class| class.name.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(typed: &str) -> Result<Requirement, Vec<String>> {
        Requirement::read_all("--require", &[typed.to_owned()], &ScenarioSpec::default())
            .map(|mut read| read.remove(0))
            .map_err(|faults| faults.iter().map(Fault::to_string).collect())
    }

    #[test]
    fn what_is_printed_can_be_read_again() {
        for typed in [
            "R1: miss(47) <= 0.1",
            "BE: total <= 200",
            "*: network <= 60.5",
            "R2: waiting <= 0",
            "R1: p99.9 <= 100",
            "R1: p50 <= 40",
            "*: utilization <= 0.5",
            "R2: source-load <= 0.8",
            "*: margin >= 0.2",
        ] {
            assert_eq!(read(typed).unwrap().to_string(), typed);
        }
        assert_eq!(read(" R1 :miss( 47 )<=10%").unwrap(), read("R1: miss(47) <= 0.1").unwrap());
    }

    #[test]
    fn all_that_is_wrong_is_said_at_once() {
        let faults = read("R3: mis(47) >= x").unwrap_err();
        assert_eq!(faults.len(), 3, "{faults:#?}");
        assert!(faults[0].contains("found class \"R3\", wanted \"R1\", \"R2\", \"BE\" or \"*\""));
        assert!(faults[1].contains("did you mean miss(47)?"));
        for typed in [
            "",
            "R1",
            "R1 <= 3",
            "R1: total < 3",
            "R1: total >= 3",
            "R1: margin <= 0.2",
            "R1: margin >= 1",
            "R1: miss <= 0.1",
            "R1: miss(0) <= 0.1",
            "R1: miss(47, hops=2) <= 0.1",
            "R1: miss(47 <= 0.1",
            "R1: miss(47) <= 2",
            "R1: total(3) <= 2",
            "R1: total <= -1",
            "R1: total <= nan",
            "R1: total <= inf",
            "R1: total <= 3%",
            ": <=",
        ] {
            assert!(read(typed).is_err(), "{typed}");
        }
    }

    #[test]
    fn hops_are_those_of_the_cube() {
        let spec = ScenarioSpec {
            network: NetworkSpec::Hypercube { dimension: 4, self_traffic: None },
            ..ScenarioSpec::default()
        };
        let read = |typed: &str| Requirement::read_all("--require", &[typed.to_owned()], &spec);
        let found = read("R1: miss(60, hops=4) <= 0.1").unwrap().remove(0);
        assert_eq!(found.measure, Measure::miss(60, Some(4)));
        assert_eq!(found.to_string(), "R1: miss(60, hops=4) <= 0.1");
        assert!(read("R1: miss(60, hops=5) <= 0.1").is_err());
        assert!(read("R1: miss(60, hop=4) <= 0.1").is_err());
    }
}
