//! `flitwise plan .. --model anchored`: anchors in the space of what is varied.

use std::sync::Arc;

use flitwise_language::quantity::Quantity;
use flitwise_language::scenario::{Scenario, Setting};
use flitwise_models::answer::Answer;
use flitwise_models::design::choose::{self, Values, Vary};
use flitwise_models::design::{Correction, Judge, max_load, region};
use flitwise_models::model::Options;
use flitwise_models::sensitivity::Parameter;
use flitwise_validation::anchored::{Anchored, Axis};

use super::PlanRequest;
use crate::anchoring::{self, Account, Learnt, Spot};
use crate::args::CampaignArgs;
use crate::args::plan::Demand;
use crate::outcome::Exit;
use crate::signals::unless_stopped;

/// Factors around the refined model's largest one, as shares of it, and how many of them.
const AROUND: [f64; 2] = [0.8, 1.08];
const FACTORS: usize = 15;
/// Rates along each axis of a region, and the lowest of them, as a share of how far it reaches.
const RATES: usize = 12;
const LOWEST: f64 = 0.02;
/// Values of a range, and the most places of all values together.
const ALONG_RANGE: usize = 7;
const MOST_PLACES: usize = 300;

/// Numbers of a scenario, one for each axis.
type Numbers = dyn Fn(&Scenario) -> Option<Vec<f64>> + Send + Sync;

/// A scenario that may be an anchor, and the values set there.
type Candidate = (Vec<Setting>, Scenario);

/// What was learnt of a family.
pub(super) struct Family {
    numbers: Arc<Numbers>,
    axes: Arc<Vec<Axis>>,
    anchored: Arc<Anchored>,
    pub(super) account: Account,
}

/// Which number of an interval is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IntervalEnd {
    Middle,
    Lower,
    Upper,
}

impl Family {
    fn learnt(
        required: &Demand,
        args: &CampaignArgs,
        keys: &[String],
        candidates: Vec<Candidate>,
        numbers: Arc<Numbers>,
    ) -> Result<Self, Exit> {
        let campaign = anchoring::campaign(args)?;
        let with_numbers = |one: Candidate| Some((numbers(&one.1)?, one));
        let found: Vec<(Vec<f64>, Candidate)> = candidates.into_iter().filter_map(with_numbers).collect();
        let axis = |(at, key): (usize, &String)| {
            let values: Vec<f64> = found.iter().map(|(numbers, _)| numbers[at]).collect();
            Axis::over(&values).ok_or_else(|| {
                format!("{key}: found one value only, wanted two or more for --model anchored\n  help: --set {key}=..")
            })
        };
        let (mut axes, mut faults) = (Vec::new(), Vec::new());
        for found in keys.iter().enumerate().map(axis) {
            match found {
                Ok(axis) => axes.push(axis),
                Err(fault) => faults.push(fault),
            }
        }
        if !faults.is_empty() {
            return Err(Exit::BadInput(faults));
        }
        let spot = |(numbers, (set, scenario)): (Vec<f64>, Candidate)| {
            let at = axes.iter().zip(numbers).map(|(axis, number)| axis.share(number)).collect();
            Spot { at, set, scenario }
        };
        let spots: Vec<Spot> = found.into_iter().map(spot).collect();
        let options = Options { saturation_loads: false, ..Options::default() };
        let wish = anchoring::wish(&required.anchors, keys.len(), &campaign)?;
        let Learnt { anchored, account, .. } = anchoring::learnt(campaign, &wish, &spots, &options)?;
        Ok(Self { numbers, axes: Arc::new(axes), anchored: Arc::new(anchored), account })
    }

    /// The judge with this correction.
    pub(super) fn judge(&self, judge: &Judge, taken: IntervalEnd) -> Judge {
        let (numbers, axes, anchored) =
            (Arc::clone(&self.numbers), Arc::clone(&self.axes), Arc::clone(&self.anchored));
        let corrected = move |scenario: &Scenario, answer: Answer| {
            let Some(numbers) = numbers(scenario) else { return answer };
            let at: Vec<f64> = axes.iter().zip(numbers).map(|(axis, number)| axis.share(number)).collect();
            let corrected = anchored.correct(&at, answer);
            match taken {
                IntervalEnd::Middle => corrected.answer,
                IntervalEnd::Lower => corrected.at_end(false),
                IntervalEnd::Upper => corrected.at_end(true),
            }
        };
        // means with laws and without differ: anchors have laws
        Judge { laws: true, correction: Some(Correction::new(corrected)), ..judge.clone() }
    }
}

/// Refuses what the anchored model does not correct.
pub(super) fn check(asked: &PlanRequest) -> Result<(), Exit> {
    let is_corrected = |quantity: Quantity| {
        quantity == Quantity::MissProbability || flitwise_validation::anchored::CORRECTED.contains(&quantity)
    };
    let words = |quantity: Quantity| {
        let name = quantity.name();
        format!(
            "found {name}, wanted a latency, a wait, a percentile or a miss probability: --model anchored leaves all \
                 else to the refined model\n  help: --model refined"
        )
    };
    let requirements = asked.judge.requirements.iter();
    let faults = requirements.filter(|one| !is_corrected(one.measure.quantity)).map(|one| {
        let what = words(one.measure.quantity);
        format!("\"{one}\": {what}")
    });
    let faults: Vec<String> = faults.collect();
    if faults.is_empty() { Ok(()) } else { Err(Exit::BadInput(faults)) }
}

/// Along the load, around the refined model's answer.
pub(super) fn of_load(
    required: &Demand,
    args: &CampaignArgs,
    asked: &PlanRequest,
    classes: &[usize],
    question: &max_load::Question,
    factor: f64,
) -> Result<Family, Exit> {
    let base = asked.scenario.spec().clone();
    let Some(lead) = classes.iter().copied().find(|class| base.classes[*class].rate > 0.0) else {
        return Err(Exit::input(
            "--scale: found rates that are all 0, wanted one that grows when multiplied",
        ));
    };
    let rate = base.classes[lead].rate;
    let set = |factor: f64| {
        let rates = classes.iter().map(|class| &base.classes[*class]);
        rates
            .map(|one| Setting::new(&format!("class.{}.rate", one.name), &digits(one.rate * factor)))
            .collect()
    };
    let [from, to] = AROUND;
    let factors = (0..FACTORS).map(|step| from + (to - from) * step as f64 / (FACTORS - 1) as f64);
    let candidate = |share: f64| Some((set(share * factor), question.scenario_at(share * factor)?));
    let candidates = factors.filter_map(candidate).collect();
    let numbers = move |scenario: &Scenario| Some(vec![scenario.classes()[lead].rate / rate]);
    Family::learnt(required, args, &["--scale".to_owned()], candidates, Arc::new(numbers))
}

/// Over two rates, as far as they reach.
pub(super) fn of_rates(
    required: &Demand,
    args: &CampaignArgs,
    asked: &PlanRequest,
    axes: [usize; 2],
    question: &region::Question,
) -> Result<Family, Exit> {
    let own = question.clone();
    let reach = unless_stopped(move || own.reach())
        .ok_or_else(|| Exit::InterruptedAt("no anchor is placed yet".to_owned()))?;
    let keys = axes.map(|axis| format!("class.{}.rate", asked.scenario.classes()[axis].name));
    let along = |step: usize| LOWEST + (1.0 - LOWEST) * step as f64 / (RATES - 1) as f64;
    let candidate = |index: usize| {
        let rates = [reach[0] * along(index / RATES), reach[1] * along(index % RATES)];
        let set = keys.iter().zip(rates).map(|(key, rate)| Setting::new(key, &digits(rate))).collect();
        Some((set, question.scenario_at(rates)?))
    };
    let candidates = (0..RATES * RATES).filter_map(candidate).collect();
    let numbers = move |scenario: &Scenario| Some(axes.map(|axis| scenario.classes()[axis].rate).to_vec());
    Family::learnt(required, args, &keys, candidates, Arc::new(numbers))
}

/// Over the keys that are varied.
pub(super) fn of_keys(
    required: &Demand,
    args: &CampaignArgs,
    asked: &PlanRequest,
    vary: &[String],
    question: &choose::Question,
) -> Result<Family, Exit> {
    let vary: Vec<Vary> =
        vary.iter().map(|typed| Vary::read(typed)).collect::<Result<_, _>>().map_err(Exit::input)?;
    let keys: Vec<String> = vary.iter().map(|one| one.key.clone()).collect();
    let known: Vec<Parameter> = Parameter::all(&asked.scenario);
    let is_known = |key: &String| {
        known.iter().any(|one| one.key == *key) || Parameter::find(key, &asked.scenario).is_ok()
    };
    let faults = keys.iter().filter(|key| !is_known(key)).map(|key| {
        format!(
            "--vary {key}: found a key that is no number of every scenario, wanted for --model anchored a rate, a \
             Vtick, a length, the buffer, the pipeline or the size"
        )
    });
    let faults: Vec<String> = faults.collect();
    if !faults.is_empty() {
        return Err(Exit::BadInput(faults));
    }
    let each = (MOST_PLACES as f64).powf(1.0 / keys.len() as f64).floor() as usize;
    let mut chosen: Vec<Vec<Setting>> = vec![Vec::new()];
    for one in &vary {
        let values = some_values(one, each);
        let longer = |settings: &Vec<Setting>| {
            let with = |value: &String| {
                settings.iter().cloned().chain([Setting::new(&one.key, value)]).collect::<Vec<Setting>>()
            };
            values.iter().map(with).collect::<Vec<_>>()
        };
        chosen = chosen.iter().flat_map(longer).collect();
    }
    let candidate = |set: Vec<Setting>| Some((set.clone(), question.scenario_at(&set)?));
    let candidates = chosen.into_iter().filter_map(candidate).collect();
    let names = keys.clone();
    let numbers = move |scenario: &Scenario| {
        names
            .iter()
            .map(|key| Parameter::find(key, scenario).ok()?.value(scenario))
            .collect::<Option<Vec<f64>>>()
    };
    Family::learnt(required, args, &keys, candidates, Arc::new(numbers))
}

/// Values of a key at which anchors may be: some of a list, its ends among them, or some along a range.
fn some_values(vary: &Vary, most: usize) -> Vec<String> {
    match &vary.values {
        Values::Listed(values) if values.len() <= most => values.clone(),
        Values::Listed(values) => {
            let last = values.len() - 1;
            (0..most).map(|step| values[(step * last + (most - 1) / 2) / (most - 1)].clone()).collect()
        }
        Values::Range { low, high } => {
            let count = ALONG_RANGE.min(most);
            (0..count).map(|step| Vary::at(*low, *high, step as f64 / (count - 1) as f64)).collect()
        }
    }
}

/// A rate as it would be typed.
fn digits(rate: f64) -> String {
    let short: f64 = format!("{rate:.3e}").parse().unwrap_or(rate);
    short.to_string()
}
