//! Numbers that were measured elsewhere, by another simulator or on a real network, beside those of models.
//!
//! They come from a table of comma-separated values, a row for each number:
//!
//! ```text
//! class,quantity,value,half_width,deadline,hops
//! R1,network-latency,43.9,0.2,,
//! R1,miss-probability,0.302,0.004,42,
//! ```
//!
//! Times are in cycles, under `[switch]` in nanoseconds.

use flitwise_language::document::{nearest, one_of};
use flitwise_language::quantity::{Measure, Quantity, Unit};
use flitwise_language::scenario::ScenarioSpec;
use flitwise_models::answer::Answer;
use flitwise_models::model::Model;
use flitwise_models::nelder_mead;
use nalgebra::{DMatrix, DVector};
use schemars::JsonSchema;
use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::compare::Verdict;

/// The columns; the first three are wanted.
const COLUMNS: [&str; 6] = ["class", "quantity", "value", "half_width", "deadline", "hops"];
/// Lines that are refused one by one.
const MOST_LINES: usize = 10;
/// Grid points of an unknown number; of a whole one all values up to so many.
const POINTS: usize = 9;
const MOST_WHOLE: usize = 33;
/// Steps of the search from the best point of the grid.
const STEPS: u64 = 400;
/// Share of its range by which an unknown is moved to see what moves with it.
const STEP: f64 = 1e-3;

/// A number that was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// Name of the class.
    pub class: String,
    /// What was measured.
    pub measure: Measure,
    /// Its value \[unit of the quantity; times in cycles, under `[switch]` in ns\].
    pub value: f64,
    /// Half-width of its 95 % interval, if that is known.
    pub half_width_95: Option<f64>,
}

/// A measured number beside that of a model.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct MeasuredRow {
    /// Name of the class.
    pub class: String,
    /// What was measured.
    #[serde(flatten)]
    pub measure: Measure,
    /// Its unit; empty for a probability.
    pub unit: String,
    /// Which model.
    pub model: Model,
    /// What the model says \[unit\].
    pub model_value: Option<f64>,
    /// What was measured \[unit\].
    pub measured: f64,
    /// Half-width of its 95 % interval, if that is known \[unit\].
    pub half_width_95: Option<f64>,
    /// Model minus measured \[unit\].
    pub difference: Option<f64>,
    /// The same in percent of what was measured; of probabilities in percentage points.
    pub difference_percent: Option<f64>,
    /// Whether the class is saturated in the model.
    pub model_saturated: bool,
    /// How they compare: without an interval a model is close at best.
    pub verdict: Verdict,
}

/// Reads a table of measured numbers.
///
/// # Errors
/// All that is wrong with it, each with its line.
pub fn read(name: &str, text: &str, spec: &ScenarioSpec) -> Result<Vec<Measured>, Vec<String>> {
    let mut reader = csv::ReaderBuilder::new()
        .trim(csv::Trim::All)
        .comment(Some(b'#'))
        .flexible(true)
        .from_reader(text.as_bytes());
    let heads: Vec<String> = match reader.headers() {
        Ok(heads) => heads.iter().map(str::to_owned).collect(),
        Err(error) => return Err(vec![format!("{name}: {error}")]),
    };
    let unknown = heads.iter().filter(|head| !COLUMNS.contains(&head.as_str()));
    let missing = COLUMNS[..3].iter().filter(|column| !heads.iter().any(|head| head == *column));
    let wrong: Vec<String> = unknown
        .map(|head| format!("{name}:1: found the column {head:?}, wanted {}", one_of(COLUMNS)))
        .chain(
            missing.map(|column| format!("{name}:1: found no column {column}, wanted {}", COLUMNS.join(","))),
        )
        .collect();
    if !wrong.is_empty() {
        return Err(wrong);
    }
    let (mut found, mut wrong) = (Vec::new(), Vec::new());
    for record in reader.records() {
        let record = match record {
            Ok(record) => record,
            Err(error) => {
                wrong.push(format!("{name}: {error}"));
                break;
            }
        };
        let line = record.position().map_or(0, csv::Position::line);
        let cell = |column: &str| {
            let at = heads.iter().position(|head| head == column)?;
            record.get(at).filter(|cell| !cell.is_empty())
        };
        match measured(&cell, spec) {
            Ok(one) => found.push(one),
            Err(faults) => wrong.extend(faults.into_iter().map(|fault| format!("{name}:{line}: {fault}"))),
        }
    }
    if found.is_empty() && wrong.is_empty() {
        wrong.push(format!("{name}: found no row, wanted one for each number"));
    }
    let more = wrong.len().saturating_sub(MOST_LINES);
    wrong.truncate(MOST_LINES);
    wrong.extend((more > 0).then(|| format!("{name}: found {more} more faults")));
    if wrong.is_empty() { Ok(found) } else { Err(wrong) }
}

/// A row by its cells.
fn measured<'c>(
    cell: &impl Fn(&str) -> Option<&'c str>,
    spec: &ScenarioSpec,
) -> Result<Measured, Vec<String>> {
    let mut wrong = Vec::new();
    let names = || spec.classes.iter().map(|class| class.name.as_str());
    let class = cell("class").unwrap_or("");
    if !names().any(|name| name == class) {
        wrong.push(format!("class: found {class:?}, wanted {}", one_of(names())));
    }
    let in_group = |groups: &[&[Quantity]], one: &Quantity| groups.iter().any(|group| group.contains(one));
    let own = spec.groups();
    let mut compared = Quantity::compared();
    // of groups that the scenario has
    compared.retain(|one| !in_group(Quantity::GROUPS, one) || in_group(&own, one));
    let word = cell("quantity").unwrap_or("");
    let quantity = Quantity::find(word).filter(|quantity| compared.contains(quantity));
    if quantity.is_none() {
        let words = || compared.iter().map(|quantity| quantity.word());
        let help =
            nearest(word, words()).map_or(String::new(), |near| format!("\n  help: did you mean {near}?"));
        wrong.push(format!("quantity: found {word:?}, wanted {}{help}", one_of(words())));
    }
    let mut number = |column: &str, least: f64| {
        let text = cell(column)?;
        let number = text.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= least);
        if number.is_none() {
            let wanted = if least < 0.0 { "a number" } else { "a number, 0 or more" };
            wrong.push(format!("{column}: found {text:?}, wanted {wanted}"));
        }
        number
    };
    let (value, half_width_95) = (number("value", f64::MIN), number("half_width", 0.0));
    let [deadline, hops] = ["deadline", "hops"].map(|column| {
        let text = cell(column)?;
        let found = text.parse::<u32>().ok();
        if found.is_none() {
            wrong.push(format!("{column}: found {text:?}, wanted a whole number"));
        }
        found
    });
    if cell("value").is_none() {
        wrong.push("value: found nothing, wanted a number".to_owned());
    }
    let is_miss = quantity == Some(Quantity::MissProbability);
    if is_miss && deadline.is_none() {
        wrong
            .push("deadline: found nothing, wanted that of the probability to miss it, in cycles".to_owned());
    }
    if !is_miss && quantity.is_some() && (deadline.is_some() || hops.is_some()) {
        wrong.push(format!("deadline: found one beside {word}, wanted none but for miss-probability"));
    }
    match (quantity, value, wrong.is_empty()) {
        (Some(quantity), Some(value), true) => {
            let miss = deadline.filter(|_| is_miss).map(|deadline| Measure::miss(deadline, hops));
            let measure = miss.unwrap_or_else(|| quantity.into());
            Ok(Measured { class: class.to_owned(), measure, value, half_width_95 })
        }
        _ => Err(wrong),
    }
}

/// What a model says of a measured number, in its unit.
fn modelled(answer: &Answer, one: &Measured) -> (Option<f64>, bool) {
    let Some(class) = answer.classes.iter().find(|class| class.name == one.class) else {
        return (None, false);
    };
    (
        class.value(one.measure).map(|value| value * scale(&answer.scenario, one.measure.quantity)),
        class.saturated,
    )
}

/// Units of a measured number in one of the model.
fn scale(spec: &ScenarioSpec, quantity: Quantity) -> f64 {
    if quantity.unit() == Unit::Cycles { spec.shown_time().1 } else { 1.0 }
}

/// Measured numbers beside those of models, number by number; a model without an answer has none.
pub fn rows(
    answers: &[(Model, Option<&Answer>)],
    measured: &[Measured],
    spec: &ScenarioSpec,
    tolerance: f64,
) -> Vec<MeasuredRow> {
    let row = |one: &Measured, (model, answer): &(Model, Option<&Answer>)| {
        let (model_value, model_saturated) = answer.map_or((None, false), |answer| modelled(answer, one));
        let difference = model_value.map(|value| value - one.value);
        let quantity = one.measure.quantity;
        let whole = if quantity.is_share() { 1.0 } else { one.value.abs() };
        let share = difference.filter(|_| whole > 0.0).map(|difference| difference / whole);
        let verdict = match (difference, one.half_width_95, share) {
            (None, ..) if model_saturated => Verdict::SaturationDiffers,
            (None, ..) => Verdict::NoModel,
            (Some(difference), Some(width), _) if difference.abs() <= width => Verdict::Agrees,
            (Some(difference), _, share)
                if difference == 0.0 || share.is_some_and(|one| one.abs() <= tolerance) =>
            {
                Verdict::Close
            }
            _ => Verdict::Off,
        };
        let unit = if quantity.unit() == Unit::Cycles { spec.shown_time().0 } else { quantity.unit().word() };
        MeasuredRow {
            class: one.class.clone(),
            measure: one.measure,
            unit: unit.to_owned(),
            model: *model,
            model_value,
            measured: one.value,
            half_width_95: one.half_width_95,
            difference,
            difference_percent: share.map(|share| 100.0 * share),
            model_saturated,
            verdict,
        }
    };
    measured.iter().flat_map(|one| answers.iter().map(move |answer| row(one, answer))).collect()
}

/// How far a model is off what was measured, in standard deviations of each number: its half-width over 1.96, without
/// one the tolerance; `None` where the model lacks one of them.
pub fn residuals(answer: &Answer, measured: &[Measured], tolerance: f64) -> Option<Vec<f64>> {
    let off = |one: &Measured| {
        let least = tolerance * if one.measure.quantity.is_share() { 1.0 } else { one.value.abs() };
        let width = one.half_width_95.map_or(least, |width| width / 1.96);
        Some((modelled(answer, one).0? - one.value) / width.max(1e-9 * one.value.abs()).max(1e-300))
    };
    measured.iter().map(off).collect()
}

/// A number of the scenario that is not known but for its range.
#[derive(Clone, Debug, PartialEq)]
pub struct Unknown {
    /// Its key.
    pub key: String,
    /// The least that it may be.
    pub low: f64,
    /// The most that it may be.
    pub high: f64,
    /// Whether it is a whole number.
    pub is_whole: bool,
}

/// What was found of an unknown number.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Fitted {
    /// Its key.
    pub key: String,
    /// The value at which the model is nearest to what was measured.
    pub value: f64,
    /// Half-width of its 95 % interval, as if the model were linear there; none where the numbers do not tell it.
    pub half_width_95: Option<f64>,
    /// Lower end of the range in which it was looked for.
    pub low: f64,
    /// Upper end of that range.
    pub high: f64,
}

impl Unknown {
    /// A value in the middle of its range.
    pub fn middle(&self) -> f64 {
        self.at(0.5)
    }

    fn at(&self, share: f64) -> f64 {
        let value = self.low + (self.high - self.low) * share.clamp(0.0, 1.0);
        if self.is_whole { value.round() } else { value }
    }

    /// Shares of the range at which the grid has points.
    fn grid(&self) -> Vec<f64> {
        let values = (self.high - self.low) as usize + 1;
        let points = if self.is_whole && values <= MOST_WHOLE { values } else { POINTS };
        (0..points).map(|at| at as f64 / (points - 1).max(1) as f64).collect()
    }
}

/// How often a fit asks for residuals, about.
pub fn most_solutions(unknowns: &[Unknown]) -> usize {
    unknowns.iter().map(|unknown| unknown.grid().len()).product::<usize>() + STEPS as usize
}

/// The values of unknown numbers at which the sum of squares of residuals is least: the best point of a grid, then the
/// search of Nelder and Mead. `None` where no point of the grid has residuals.
pub fn fit(unknowns: &[Unknown], residuals: &impl Fn(&[f64]) -> Option<Vec<f64>>) -> Option<Vec<Fitted>> {
    let values = |shares: &[f64]| -> Vec<f64> {
        unknowns.iter().zip(shares).map(|(unknown, share)| unknown.at(*share)).collect()
    };
    let squares = |shares: &[f64]| {
        let off = residuals(&values(shares)).map(|off| off.iter().map(|one| one * one).sum::<f64>());
        off.filter(|sum| sum.is_finite()).unwrap_or(1e300)
    };
    let mut grid: Vec<Vec<f64>> = vec![Vec::new()];
    for unknown in unknowns {
        let points = unknown.grid();
        let longer = |known: &Vec<f64>| {
            points.iter().map(|point| [known.as_slice(), &[*point]].concat()).collect::<Vec<_>>()
        };
        grid = grid.iter().flat_map(longer).collect();
    }
    let costs: Vec<f64> = grid.iter().map(|point| squares(point)).collect();
    let best = (0..grid.len()).min_by(|one, other| costs[*one].total_cmp(&costs[*other]))?;
    if costs[best] >= 1e300 {
        return None;
    }
    let start = grid.swap_remove(best);
    let mut simplex = vec![start.clone()];
    for (at, unknown) in unknowns.iter().enumerate() {
        let step = 1.0 / (unknown.grid().len() - 1).max(1) as f64;
        let mut corner = start.clone();
        corner[at] += if corner[at] + step <= 1.0 { step } else { -step };
        simplex.push(corner);
    }
    let found = nelder_mead::lowest(&simplex, 1e-12, STEPS, squares).unwrap_or_else(|| start.clone());
    let found = if squares(&found) <= squares(&start) { found } else { start };
    let widths = half_widths(unknowns, &found, residuals);
    let one = |((unknown, share), width): ((&Unknown, &f64), Option<f64>)| Fitted {
        key: unknown.key.clone(),
        value: unknown.at(*share),
        half_width_95: width,
        low: unknown.low,
        high: unknown.high,
    };
    Some(unknowns.iter().zip(&found).zip(widths).map(one).collect())
}

/// Half-widths by the residuals' derivatives `J`: `t √(s² (JᵀJ)⁻¹)`, with `s²` the mean square of what is left, no less
/// than 1 (Draper, Smith, *Applied Regression Analysis* (1998), 24.3).
fn half_widths(
    unknowns: &[Unknown],
    found: &[f64],
    residuals: &impl Fn(&[f64]) -> Option<Vec<f64>>,
) -> Vec<Option<f64>> {
    let none = vec![None; unknowns.len()];
    let values: Vec<f64> = unknowns.iter().zip(found).map(|(unknown, share)| unknown.at(*share)).collect();
    let Some(left) = residuals(&values) else { return none };
    let free = left.len().saturating_sub(unknowns.len());
    if free == 0 {
        return none;
    }
    let mut derivatives = DMatrix::zeros(left.len(), unknowns.len());
    for (column, unknown) in unknowns.iter().enumerate() {
        let step = if unknown.is_whole { 1.0 } else { STEP * (unknown.high - unknown.low) };
        let [below, above] =
            [-step, step].map(|step| (values[column] + step).clamp(unknown.low, unknown.high));
        let moved = |value: f64| {
            let mut moved = values.clone();
            moved[column] = value;
            residuals(&moved).map(DVector::from_vec)
        };
        let (Some(low), Some(high), true) = (moved(below), moved(above), above > below) else { return none };
        derivatives.set_column(column, &((high - low) / (above - below)));
    }
    let squares = left.iter().map(|one| one * one).sum::<f64>() / free as f64;
    let Some(inverse) = (derivatives.transpose() * &derivatives).try_inverse() else { return none };
    let quantile = StudentsT::new(0.0, 1.0, free as f64).map_or(1.96, |law| law.inverse_cdf(0.975));
    let width = |at: usize| quantile * (squares.max(1.0) * inverse[(at, at)]).sqrt();
    (0..unknowns.len()).map(|at| Some(width(at)).filter(|width| width.is_finite())).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // helpers of tests, too, may fail a test

    use flitwise_language::scenario::{Place, Preset};
    use flitwise_models::model::Options;

    use super::*;

    fn answer(settings: &[(&str, String)]) -> Option<Answer> {
        let mut document = Preset::find("router16").unwrap().document();
        for (key, value) in settings {
            document.set(key, value, &Place::Program).unwrap();
        }
        Model::Refined.solve(&document.scenario().unwrap(), &Options::default()).ok()
    }

    fn measured_of(answer: &Answer, quantities: &[&str]) -> Vec<Measured> {
        let rows: String = answer
            .classes
            .iter()
            .flat_map(|class| quantities.iter().map(move |word| (class, *word)))
            .map(|(class, word)| {
                let value = class.value(Quantity::find(word).unwrap().into()).unwrap();
                format!("{},{word},{value},{}\n", class.name, 0.002 * value)
            })
            .collect();
        read("t", &format!("class,quantity,value,half_width\n{rows}"), &answer.scenario).unwrap()
    }

    #[test]
    fn a_hidden_depth_and_a_hidden_rate_come_back() {
        let hidden =
            answer(&[("router.pipeline_stages", "7".to_owned()), ("class.BE.rate", "0.0063".to_owned())]);
        let measured = measured_of(&hidden.unwrap(), &["network-latency", "waiting"]);
        let unknowns = [
            Unknown { key: "router.pipeline_stages".to_owned(), low: 1.0, high: 12.0, is_whole: true },
            Unknown { key: "class.BE.rate".to_owned(), low: 0.001, high: 0.012, is_whole: false },
        ];
        let residuals = |values: &[f64]| {
            let settings: Vec<(&str, String)> = unknowns
                .iter()
                .zip(values)
                .map(|(one, value)| (one.key.as_str(), value.to_string()))
                .collect();
            residuals(&answer(&settings)?, &measured, 0.05)
        };
        let found = fit(&unknowns, &residuals).unwrap();
        assert_eq!(found[0].value, 7.0);
        assert!((found[1].value / 0.0063 - 1.0).abs() < 0.02, "{found:?}");
        let width = found[1].half_width_95.unwrap();
        assert!((1e-7..1e-3).contains(&width), "{found:?}");
    }

    #[test]
    fn rows_have_verdicts_by_interval_then_by_tolerance() {
        let answer = answer(&[]).unwrap();
        let latency = answer.classes[0].value(Quantity::NetworkLatency.into()).unwrap();
        let text = format!(
            "quantity,class,value,half_width\nnetwork-latency,R1,{},1\nnetwork-latency,R1,{},1\n\
             network-latency,R1,{},\nnetwork-latency,R1,{},\n",
            latency + 0.5,
            latency + 2.0,
            latency,
            latency * 1.2
        );
        let measured = read("t", &text, &answer.scenario).unwrap();
        let rows = rows(
            &[(Model::Refined, Some(&answer)), (Model::Published, None)],
            &measured,
            &answer.scenario,
            0.05,
        );
        let verdicts: Vec<Verdict> = rows.iter().step_by(2).map(|row| row.verdict).collect();
        assert_eq!(verdicts, [Verdict::Agrees, Verdict::Close, Verdict::Close, Verdict::Off]);
        assert!(rows.iter().skip(1).step_by(2).all(|row| row.verdict == Verdict::NoModel));
    }

    #[test]
    fn every_fault_of_the_table_has_its_line() {
        let spec = Preset::find("router16").unwrap().scenario().spec().clone();
        let text = "class,quantity,value,half_width,deadline\nR9,network-latency,1,,\nR1,latency,x,,\n\
                    R1,miss-probability,0.1,,\nR1,waiting,,-1,\nR1,waiting,2,,40\nR1,miss-probability,0.1,,4.5\n";
        let faults = read("t", text, &spec).unwrap_err();
        let lines: Vec<&str> = faults.iter().map(|fault| fault.split(':').nth(1).unwrap()).collect();
        assert_eq!(lines, ["2", "3", "3", "4", "5", "5", "6", "7", "7"], "{faults:#?}");
        let faults = read("t", "class,value,sigma\n", &spec).unwrap_err();
        assert_eq!(faults.len(), 2, "{faults:#?}");
    }
}
