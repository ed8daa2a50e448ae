//! The model's answer, moved by what was learnt.

use std::collections::BTreeMap;

use flitwise_language::quantity::{self, Means, Measure, Percentiles, Quantity};
use flitwise_models::answer::{Answer, ClassAnswer};
use schemars::JsonSchema;
use serde::Serialize;

use super::hull::{NEAR, is_outside, square};
use super::scale::Scale;
use super::{Anchored, BEYOND, CORRECTED, OfClass, Place, variables};

/// An answer of the model, corrected.
#[derive(Clone, Debug)]
pub struct CorrectedAnswer {
    /// The answer. Quantities without an interval are the model's own.
    pub answer: Answer,
    /// One per class, in the order of the scenario.
    pub intervals: Vec<ClassIntervals>,
}

/// The intervals of a class. What has none is the model's own number, or there is none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct ClassIntervals {
    /// Name of the class.
    pub name: String,
    /// Whether the point lies beyond the anchors at which the class is steady: intervals are those of an extrapolation.
    pub beyond_anchors: bool,
    /// Of the means.
    #[serde(flatten)]
    pub means: Means<Interval>,
    /// Of the percentiles of the network latency.
    pub latency_percentiles_cycles: Percentiles<Interval>,
    /// Of the deadlines, in the order of the answer; `null` where there is no number.
    pub deadlines: Vec<Option<Interval>>,
}

/// Where a number lies with a probability of 95 %.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Interval {
    /// Lower end.
    pub lower_95: f64,
    /// Upper end.
    pub upper_95: f64,
}

impl CorrectedAnswer {
    /// The answer with every corrected number at the end of its interval, the upper or the lower one.
    pub fn at_end(&self, upper: bool) -> Answer {
        let end = |interval: Interval| if upper { interval.upper_95 } else { interval.lower_95 };
        let mut answer = self.answer.clone();
        for (class, intervals) in answer.classes.iter_mut().zip(&self.intervals) {
            let mean = |quantity: Quantity| intervals.means.get(quantity).copied().map(end);
            class.means = Means::each(|quantity| mean(quantity).or(class.means.get(quantity).copied()));
            let found = intervals.latency_percentiles_cycles;
            class.latency_percentiles_cycles =
                by_share(|quantity| Some(end(found.get(quantity)?).round() as u32));
            for (deadline, interval) in class.deadlines.iter_mut().zip(&intervals.deadlines) {
                deadline.miss_probability = interval.map(end);
            }
        }
        answer
    }
}

/// Percentiles by their quantities.
fn by_share<T: Copy>(of: impl Fn(Quantity) -> Option<T>) -> Percentiles<T> {
    Percentiles::of(|share| {
        let quantity =
            Quantity::PERCENTILES.into_iter().find(|quantity| quantity.percentile() == Some(share))?;
        of(quantity)
    })
}

impl quantity::Mean for Interval {
    const IS_SIMULATED: bool = true;
}

impl Interval {
    /// The larger distance from a number within to an end.
    pub fn half_width(self, number: f64) -> f64 {
        (self.upper_95 - number).max(number - self.lower_95)
    }
}

impl ClassIntervals {
    /// The interval of a quantity; of a miss probability that of the deadline's number in the answer.
    pub fn of(&self, measure: Measure, class: &ClassAnswer) -> Option<Interval> {
        match measure.quantity {
            Quantity::MissProbability => {
                let is_it = |found: &flitwise_models::answer::DeadlineAnswer| {
                    Measure::miss(found.deadline_cycles, found.hops) == measure
                };
                *self.deadlines.get(class.deadlines.iter().position(is_it)?)?
            }
            quantity if quantity.percentile().is_some() => self.latency_percentiles_cycles.get(quantity),
            quantity => self.means.get(quantity).copied(),
        }
    }
}

/// A corrected number.
#[derive(Clone, Copy, Debug)]
struct Number {
    value: f64,
    lower: f64,
    upper: f64,
}

impl Number {
    /// Moved as a whole, its ends with it; nothing falls below 0.
    fn moved(self, by: f64) -> Self {
        let moved = |end: f64| (end + by).max(0.0);
        Self { value: moved(self.value), lower: moved(self.lower), upper: moved(self.upper) }
    }

    /// With its ends nearer to it.
    fn narrowed(self, factor: f64) -> Self {
        let nearer = |end: f64| self.value + factor * (end - self.value);
        Self { lower: nearer(self.lower), upper: nearer(self.upper), ..self }
    }

    /// No less than another: value by value.
    fn at_least(self, other: Self) -> Self {
        Self {
            value: self.value.max(other.value),
            lower: self.lower.max(other.lower),
            upper: self.upper.max(other.upper),
        }
    }

    fn at_most(self, other: Self) -> Self {
        Self {
            value: self.value.min(other.value),
            lower: self.lower.min(other.lower),
            upper: self.upper.min(other.upper),
        }
    }

    fn interval(self) -> Interval {
        Interval { lower_95: self.lower, upper_95: self.upper }
    }
}

/// A point: along the axes, and by the variables that differences are learnt by.
struct Spot<'s> {
    at: &'s [f64],
    variables: &'s [f64],
}

/// Where a point lies, seen from the anchors of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// Among them.
    Within,
    /// Beyond them.
    Beyond,
    /// Beyond them, and the nearest anchor of all is one where the simulation found the class saturated.
    Saturated,
    /// There is none.
    None,
}

impl Anchored {
    /// Moves the model's answer at a place to what is expected of a simulation there.
    pub fn correct(&self, at: &[f64], mut answer: Answer) -> CorrectedAnswer {
        let variables = variables(at, &answer);
        let mut intervals = Vec::with_capacity(answer.classes.len());
        for (index, class) in answer.classes.iter_mut().enumerate() {
            class.expected_errors.clear();
            intervals.push(self.correct_class(&Spot { at, variables: &variables }, index, class));
        }
        // it speaks of the model's errors
        answer.validity = None;
        let beyond = intervals.iter().filter(|one| one.beyond_anchors).map(|one| one.name.as_str());
        let beyond: Vec<&str> = beyond.collect();
        if !beyond.is_empty() {
            answer.notes.push(format!(
                "{}: beyond the anchors at which it is steady; its numbers are extrapolated, with wider intervals",
                beyond.join(", ")
            ));
        }
        CorrectedAnswer { answer, intervals }
    }

    fn correct_class(&self, spot: &Spot<'_>, index: usize, class: &mut ClassAnswer) -> ClassIntervals {
        let intervals = ClassIntervals { name: class.name.clone(), ..ClassIntervals::default() };
        if class.saturated {
            return intervals;
        }
        let reach = self.reach(spot.at, index);
        match reach {
            Reach::None => {
                lacks(class, "no anchor at which the class sends and is steady");
                return intervals;
            }
            Reach::Saturated => {
                lacks(class, "beyond the anchors, next to one that the simulation found saturated");
                return intervals;
            }
            Reach::Within | Reach::Beyond => {}
        }
        let mut means = self.numbers(spot, index, class, reach);
        let misses = self.misses(spot, index, class, reach);
        add_up(&mut means, class);
        let percentiles = in_order(&means);
        let value = |quantity: Quantity| means.get(&quantity).map(|number| number.value);
        class.means = Means::each(|quantity| value(quantity).or(class.means.get(quantity).copied()));
        class.latency_percentiles_cycles =
            by_share(|quantity| percentiles.get(&quantity).map(|number| number.value.round() as u32));
        for (deadline, number) in class.deadlines.iter_mut().zip(&misses) {
            deadline.miss_probability = number.map(|number| number.value);
        }
        let is_mean = |quantity: Quantity| quantity.percentile().is_none();
        ClassIntervals {
            beyond_anchors: reach == Reach::Beyond,
            means: Means::each(|quantity| {
                means.get(&quantity).filter(|_| is_mean(quantity)).map(|number| number.interval())
            }),
            latency_percentiles_cycles: by_share(|quantity| {
                percentiles.get(&quantity).map(|number| number.interval())
            }),
            deadlines: misses.into_iter().map(|number| number.map(Number::interval)).collect(),
            ..intervals
        }
    }

    /// Where a place lies, seen from the anchors of a class.
    pub(super) fn reach(&self, at: &[f64], class: usize) -> Reach {
        self.reach_within(at, class, NEAR)
    }

    /// The same, where what lies nearer than `near` is among them.
    pub(super) fn reach_within(&self, at: &[f64], class: usize, near: f64) -> Reach {
        // before the first anchor there are no classes
        let Some(OfClass { steady, .. }) = self.classes.get(class).filter(|of| !of.steady.is_empty()) else {
            return Reach::None;
        };
        let places: Vec<&[f64]> = steady.iter().map(|one| self.anchors[*one].place.at.as_slice()).collect();
        if !is_outside(at, &places, near) {
            return Reach::Within;
        }
        let distance = |one: &usize| square(at, &self.anchors[*one].place.at);
        let nearest = (0..self.anchors.len()).min_by(|a, b| distance(a).total_cmp(&distance(b)));
        let is_saturated = |one: usize| self.anchors[one].simulation.classes[class].saturated;
        if nearest.is_some_and(is_saturated) { Reach::Saturated } else { Reach::Beyond }
    }

    /// The corrected number of a quantity whose model's number is known.
    fn number(
        &self,
        spot: &Spot<'_>,
        class: usize,
        measure: Measure,
        model: (f64, f64),
        reach: Reach,
    ) -> Option<Number> {
        let (_, process) = self.classes[class].processes.iter().find(|(known, _)| *known == measure)?;
        let (scale, (value, whole)) = (Scale::of(measure.quantity), model);
        let found = process.at(spot.variables);
        let beyond = if reach == Reach::Beyond { BEYOND } else { 1.0 };
        let width = beyond * found.half_width_95;
        let moved = |by: f64| scale.moved(value, whole, found.mean + by);
        Some(Number { value: moved(0.0), lower: moved(-width), upper: moved(width) })
    }

    /// Half of the 95 % interval of how much the correction makes a number rise from one place to another, as a share
    /// of the number at the first.
    pub fn half_width_of_rise(&self, class: usize, measure: Measure, [from, to]: [&Place; 2]) -> Option<f64> {
        let (_, process) = self.classes[class].processes.iter().find(|(known, _)| *known == measure)?;
        let model = &from.model.classes[class];
        let (own, whole) = (model.value(measure)?, model.network_latency_cycles?);
        let [start, end] = [from, to].map(|place| variables(&place.at, &place.model));
        let beyond = [from, to].iter().any(|place| self.reach(&place.at, class) != Reach::Within);
        let width = if beyond { BEYOND } else { 1.0 } * process.rise(&start, &end).half_width_95;
        let difference = process.at(&start).mean;
        let moved = |by: f64| Scale::of(measure.quantity).moved(own, whole, difference + by);
        let share = 0.5 * (moved(width) - moved(-width)) / moved(0.0);
        share.is_finite().then_some(share)
    }

    /// Half of the interval of the network latency of a class, as a share of it.
    pub(super) fn half_width(&self, place: &Place, class: usize, reach: Reach) -> Option<f64> {
        let measure = Quantity::NetworkLatency.into();
        let spot = Spot { at: &place.at, variables: &variables(&place.at, &place.model) };
        let number = self.number(&spot, class, measure, (1.0, 1.0), reach)?;
        Some(number.upper / number.value - 1.0)
    }

    /// All that is corrected but miss probabilities.
    fn numbers(
        &self,
        spot: &Spot<'_>,
        index: usize,
        class: &ClassAnswer,
        reach: Reach,
    ) -> BTreeMap<Quantity, Number> {
        let Some(whole) = class.network_latency_cycles else { return BTreeMap::new() };
        let number = |quantity: &Quantity| {
            let value = class.value((*quantity).into())?;
            Some((*quantity, self.number(spot, index, (*quantity).into(), (value, whole), reach)?))
        };
        CORRECTED.iter().filter_map(number).collect()
    }

    /// The miss probabilities in the order of the answer; a later deadline is missed no more often than an earlier one.
    fn misses(
        &self,
        spot: &Spot<'_>,
        index: usize,
        class: &ClassAnswer,
        reach: Reach,
    ) -> Vec<Option<Number>> {
        let deadlines = &class.deadlines;
        let mut found: Vec<Option<Number>> = deadlines
            .iter()
            .map(|one| {
                let measure = Measure::miss(one.deadline_cycles, one.hops);
                self.number(spot, index, measure, (one.miss_probability?, 1.0), reach)
            })
            .collect();
        let mut order: Vec<usize> = (0..deadlines.len()).collect();
        order.sort_by_key(|one| (deadlines[*one].hops, deadlines[*one].deadline_cycles));
        let mut before: Option<(Option<u32>, Number)> = None;
        for one in order {
            let Some(number) = found[one] else { continue };
            let hops = deadlines[one].hops;
            let number = match before {
                Some((same, earlier)) if same == hops => number.at_most(earlier),
                _ => number,
            };
            found[one] = Some(number);
            before = Some((hops, number));
        }
        found
    }
}

/// Takes all numbers that would be corrected out of an answer, and says why.
fn lacks(class: &mut ClassAnswer, because: &str) {
    class.means =
        Means::each(|quantity| class.means.get(quantity).copied().filter(|_| !CORRECTED.contains(&quantity)));
    class.latency_percentiles_cycles = Percentiles::default();
    for deadline in &mut class.deadlines {
        deadline.miss_probability = None;
        deadline.reason = Some(because.to_owned());
    }
    for quantity in CORRECTED {
        class.reasons.insert(quantity.field().to_owned(), because.to_owned());
    }
}

/// Makes parts add up to their wholes: first network latency and waiting to the total latency, then all else follows.
fn add_up(numbers: &mut BTreeMap<Quantity, Number>, class: &ClassAnswer) {
    let get = |numbers: &BTreeMap<Quantity, Number>, quantity| numbers.get(&quantity).copied();
    let all = [Quantity::NetworkLatency, Quantity::Waiting, Quantity::TotalLatency];
    if let [Some(network), Some(waiting), Some(total)] = all.map(|quantity| get(numbers, quantity)) {
        numbers.extend(all.into_iter().zip(to_total(network, waiting, total)));
    }
    let network = get(numbers, Quantity::NetworkLatency);
    let transfer = class.transfer_cycles.unwrap_or(0.0);
    if let Some(network) = network {
        share_out(numbers, [Quantity::Blocking, Quantity::Sharing], network.value - transfer);
    }
    for whole in [Quantity::Blocking, Quantity::Sharing] {
        let mut parts = whole.parts();
        if let (Some(one), Some(other), Some(whole)) = (parts.next(), parts.next(), get(numbers, whole)) {
            share_out(numbers, [one, other], whole.value);
        }
    }
}

/// Network latency, waiting and total latency, moved so that the first two add up to the third: each by as much as its
/// variance says. Where the waiting is known badly by itself, it is what the others leave, and as certain as that.
fn to_total(network: Number, waiting: Number, total: Number) -> [Number; 3] {
    let missing = total.value - network.value - waiting.value;
    let variances = [network, waiting, total].map(|number| (0.5 * (number.upper - number.lower)).powi(2));
    let sum: f64 = variances.iter().sum();
    let share = |at: usize| if sum > 0.0 { variances[at] / sum } else { 1.0 / 3.0 };
    let network = network.moved(share(0) * missing);
    let waiting = waiting.narrowed((1.0 - share(1)).sqrt()).moved(share(1) * missing);
    let total = total.moved(network.value + waiting.value - total.value);
    [network, waiting, total]
}

/// Moves two parts so that they add up: what is less certain is moved more.
fn share_out(numbers: &mut BTreeMap<Quantity, Number>, parts: [Quantity; 2], whole: f64) {
    let [Some(one), Some(other)] = parts.map(|part| numbers.get(&part).copied()) else { return };
    let whole = whole.max(0.0);
    let missing = whole - one.value - other.value;
    let variance = |part: Number| (part.upper - part.lower).powi(2);
    let both = variance(one) + variance(other);
    let share = if both > 0.0 { variance(one) / both } else { 0.5 };
    let value = (one.value + share * missing).clamp(0.0, whole);
    numbers.insert(parts[0], one.moved(value - one.value));
    numbers.insert(parts[1], other.moved(whole - value - other.value));
}

/// The percentiles, each no less than the ones before.
fn in_order(numbers: &BTreeMap<Quantity, Number>) -> BTreeMap<Quantity, Number> {
    let mut ordered = BTreeMap::new();
    let mut before: Option<Number> = None;
    for quantity in Quantity::PERCENTILES {
        let Some(number) = numbers.get(&quantity) else { continue };
        let number = before.map_or(*number, |before| number.at_least(before));
        ordered.insert(quantity, number);
        before = Some(number);
    }
    ordered
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_that_is_known_badly_is_what_total_and_network_latency_leave() {
        let number = |value: f64, width: f64| Number { value, lower: value - width, upper: value + width };
        let [network, waiting, total] = to_total(number(40.0, 0.2), number(500.0, 450.0), number(50.0, 0.4));
        assert!((waiting.value - 10.0).abs() < 0.01 && (network.value - 40.0).abs() < 0.01);
        assert!((total.value - network.value - waiting.value).abs() < 1e-9);
        let width = 0.5 * (waiting.upper - waiting.lower);
        assert!((width - 0.2_f64.hypot(0.4)).abs() < 0.01, "{width}");
        // one that is known well stays
        let [_, waiting, total] = to_total(number(40.0, 1.0), number(10.0, 0.01), number(52.0, 1.0));
        assert!((waiting.value - 10.0).abs() < 0.001 && (total.value - 51.0).abs() < 0.01);
    }

    #[test]
    fn parts_add_up_without_falling_below_nothing() {
        let number = |value: f64, width: f64| Number { value, lower: value - width, upper: value + width };
        let mut numbers: BTreeMap<Quantity, Number> =
            [(Quantity::Blocking, number(4.0, 0.1)), (Quantity::Sharing, number(1.0, 2.0))].into();
        share_out(&mut numbers, [Quantity::Blocking, Quantity::Sharing], 6.0);
        let value = |numbers: &BTreeMap<Quantity, Number>, quantity| numbers[&quantity].value;
        // what is less certain is moved more
        assert!((value(&numbers, Quantity::Blocking) - 4.0).abs() < 0.01);
        share_out(&mut numbers, [Quantity::Blocking, Quantity::Sharing], 3.0);
        let [blocking, sharing] = [Quantity::Blocking, Quantity::Sharing].map(|one| value(&numbers, one));
        assert!((blocking + sharing - 3.0).abs() < 1e-12 && sharing >= 0.0, "{blocking} {sharing}");
    }

    #[test]
    fn percentiles_are_put_in_order() {
        let number = |value: f64| Number { value, lower: value - 3.0, upper: value + 3.0 };
        let numbers =
            [(Quantity::P50, number(40.0)), (Quantity::P90, number(39.0)), (Quantity::P99, number(60.0))];
        let ordered = in_order(&numbers.into());
        let values: Vec<f64> = ordered.values().map(|one| one.value).collect();
        assert_eq!(values, [40.0, 40.0, 60.0]);
    }
}
