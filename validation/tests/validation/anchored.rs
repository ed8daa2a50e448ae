//! The anchored model against simulations: anchors reproduce themselves, numbers stay in order and add up, and the same
//! seed gives the same bits.

use std::collections::HashMap;

use flitwise_experiment::Settings;
use flitwise_experiment::answer::Simulation;
use flitwise_language::quantity::{Measure, Quantity};
use flitwise_language::scenario::{DeadlineSpec, Preset, Scenario};
use flitwise_models::answer::ClassAnswer;
use flitwise_models::model::{Model, Options};
use flitwise_validation::anchored::{
    AnchorPlacement, Anchored, CORRECTED, CorrectedAnswer, Place, StopReason, Wish, fewest, place,
};

use crate::simulate;

/// The 16-port router at a load of R1 and R2, with deadlines around its latencies.
fn router(rate: f64) -> Scenario {
    let mut spec = Preset::find("router16").unwrap().scenario().spec().clone();
    spec.classes[0].rate = rate;
    spec.classes[1].rate = rate / 2.0;
    for class in &mut spec.classes {
        class.deadlines = [30, 42, 47, 60, 2_000].map(|cycles| DeadlineSpec::at(cycles, None)).to_vec();
    }
    spec.check().unwrap()
}

fn solved(at: f64) -> Place {
    let scenario = router(0.001 + 0.006 * at);
    let options = Options { saturation_loads: false, ..Options::default() };
    let model = Model::Refined.solve(&scenario, &options).unwrap();
    Place { at: vec![at], scenario, model }
}

fn line() -> Vec<Place> {
    (0..=12).map(|step| solved(f64::from(step) / 12.0)).collect()
}

/// Simulations to 2 %, each made once.
struct Simulator {
    seed: u64,
    known: HashMap<String, Simulation>,
}

impl Simulator {
    fn new(seed: u64) -> Self {
        Self { seed, known: HashMap::new() }
    }

    fn run(&mut self, scenario: &Scenario) -> Simulation {
        let key = format!("{:?}", scenario.spec());
        let settings = Settings { precision: 0.02, seed: self.seed, ..Settings::default() };
        self.known.entry(key).or_insert_with(|| simulate(scenario, &settings)).clone()
    }

    fn placed(&mut self, places: &[Place], wish: &Wish) -> AnchorPlacement {
        place(places, wish, &mut |_, scenario| Some(self.run(scenario)))
    }
}

fn places_of(anchored: &Anchored) -> Vec<f64> {
    anchored.anchors().iter().map(|anchor| anchor.place.at[0]).collect()
}

fn corrected(anchored: &Anchored, place: &Place) -> CorrectedAnswer {
    anchored.correct(&place.at, place.model.clone())
}

/// All that is corrected of a class.
fn measures(class: &ClassAnswer) -> Vec<Measure> {
    let deadlines = class.deadlines.iter().map(|one| Measure::miss(one.deadline_cycles, one.hops));
    CORRECTED.iter().map(|quantity| (*quantity).into()).chain(deadlines).collect()
}

#[test]
fn anchors_reproduce_themselves_within_their_intervals() {
    let found = Simulator::new(3).placed(&line(), &Wish::new(4, 0.01));
    let (mut covered, mut all) = (0, 0);
    for anchor in found.anchored.anchors() {
        let CorrectedAnswer { answer, intervals } = corrected(&found.anchored, &anchor.place);
        for (index, class) in answer.classes.iter().enumerate() {
            for measure in measures(class) {
                let simulated = anchor.simulation.classes[index].value(measure).unwrap();
                let (Some(noise), Some(interval)) =
                    (simulated.half_width_95(), intervals[index].of(measure, class))
                else {
                    continue;
                };
                let value = class.value(measure).unwrap();
                let rounded = if measure.quantity.percentile().is_some() { 1.0 } else { 0.0 };
                let width = interval.half_width(value).hypot(noise) + rounded;
                covered += usize::from((value - simulated.value).abs() <= width);
                all += 1;
                assert!(interval.lower_95 <= value + 0.5 && value - 0.5 <= interval.upper_95, "{measure:?}");
            }
        }
    }
    assert!(all > 150, "{all} numbers");
    // what was learnt from is nearer to the simulation than chance has it elsewhere
    assert!(covered as f64 >= 0.97 * all as f64, "{covered} of {all}");
}

#[test]
fn the_highest_load_and_the_ends_are_anchors_first() {
    let places = line();
    let found = Simulator::new(3).placed(&places, &Wish::new(3, 1e-4));
    assert_eq!((found.stopped, &places_of(&found.anchored)[..2]), (StopReason::Budget, &[1.0, 0.0][..]));
    let third = places_of(&found.anchored)[2];
    assert!((0.2..=0.9).contains(&third), "{third}");
    assert!(found.widest.unwrap() > 1e-4);
    // what is wanted is had at once: no more than it takes to judge by
    let coarse = Simulator::new(3).placed(&places, &Wish::new(9, 0.2));
    assert_eq!((coarse.stopped, coarse.anchored.anchors().len()), (StopReason::Precise, fewest(1)));
    assert!(coarse.widest.unwrap() <= 0.2);
    // every place is one
    let few = [places[0].clone(), places[12].clone()];
    let all = Simulator::new(3).placed(&few, &Wish::new(9, 1e-4));
    assert_eq!((all.stopped, all.anchored.anchors().len()), (StopReason::Exhausted, 2));
}

#[test]
fn numbers_add_up_and_stay_in_order() {
    let found = Simulator::new(5).placed(&line(), &Wish::new(4, 0.01));
    for step in 0..=40 {
        let place = solved(f64::from(step) / 40.0);
        let CorrectedAnswer { answer, intervals } = corrected(&found.anchored, &place);
        for (class, intervals) in answer.classes.iter().zip(&intervals) {
            let value = |quantity: Quantity| class.means.get(quantity).copied().unwrap();
            for whole in [Quantity::NetworkLatency, Quantity::Blocking, Quantity::Sharing] {
                let sum: f64 = whole.parts().map(value).sum();
                assert!((sum - value(whole)).abs() < 1e-9, "{whole:?}");
            }
            let both = value(Quantity::NetworkLatency) + value(Quantity::Waiting);
            assert!((both - value(Quantity::TotalLatency)).abs() < 1e-9);
            let misses: Vec<f64> = class.deadlines.iter().map(|one| one.miss_probability.unwrap()).collect();
            assert!(misses.iter().all(|miss| (0.0..=1.0).contains(miss)), "{misses:?}");
            assert!(misses.windows(2).all(|pair| pair[0] >= pair[1]), "{misses:?}");
            // nothing is shorter than a lone message
            assert_eq!(misses[0], 1.0);
            let ends = |upper: bool| {
                intervals
                    .deadlines
                    .iter()
                    .flatten()
                    .map(move |one| if upper { one.upper_95 } else { one.lower_95 })
            };
            assert!(ends(true).is_sorted_by(|a, b| a >= b) && ends(false).is_sorted_by(|a, b| a >= b));
            let percentiles: Vec<u32> =
                class.latency_percentiles_cycles.each().iter().filter_map(|one| one.1).collect();
            assert!(percentiles.is_sorted(), "{percentiles:?}");
            assert!(class.expected_errors.is_empty());
        }
        assert!(answer.validity.is_none());
    }
}

/// The expected interval of all points narrows, and so does that of the simulation's noise.
#[test]
fn more_anchors_narrow_the_mean_interval() {
    let places = line();
    let mut simulator = Simulator::new(7);
    let widths: Vec<f64> = [3, 5, 8]
        .into_iter()
        .map(|most| {
            let found = simulator.placed(&places, &Wish::new(most, 1e-4));
            assert_eq!(found.anchored.anchors().len(), most);
            let of_place = |place: &Place| {
                let CorrectedAnswer { answer, intervals } = corrected(&found.anchored, place);
                let latency = Quantity::NetworkLatency.into();
                let of_class = answer.classes.iter().zip(&intervals).map(|(class, own)| {
                    let value = class.value(latency).unwrap();
                    own.of(latency, class).unwrap().half_width(value) / value
                });
                of_class.sum::<f64>()
            };
            places.iter().map(of_place).sum()
        })
        .collect();
    assert!(widths.is_sorted_by(|a, b| a > b), "{widths:?}");
}

#[test]
fn the_same_seed_gives_the_same_bits_and_another_one_others() {
    let places = line();
    let wish = Wish::new(3, 0.01);
    let numbers = |seed: u64| {
        let found = Simulator::new(seed).placed(&places, &wish);
        let CorrectedAnswer { answer, intervals } = corrected(&found.anchored, &places[5]);
        (serde_json::to_string(&answer.classes).unwrap(), serde_json::to_string(&intervals).unwrap())
    };
    assert_eq!(numbers(1), numbers(1));
    assert_ne!(numbers(1), numbers(2));
}

#[test]
fn beyond_the_anchors_intervals_are_wide_and_a_note_says_so() {
    let places: Vec<Place> = line().into_iter().take(9).collect();
    let found = Simulator::new(3).placed(&places, &Wish::new(3, 0.01));
    let width = |at: f64| {
        let CorrectedAnswer { answer, intervals } = corrected(&found.anchored, &solved(at));
        let class = &answer.classes[2];
        let value = class.network_latency_cycles.unwrap();
        let interval = intervals[2].of(Quantity::NetworkLatency.into(), class).unwrap();
        let is_noted = answer.notes.iter().any(|note| note.contains("beyond the anchors"));
        assert_eq!(is_noted, intervals[2].beyond_anchors);
        (interval.half_width(value) / value, intervals[2].beyond_anchors)
    };
    let ((within, _), (just_beyond, is_beyond)) = (width(8.0 / 12.0), width(0.75));
    assert!(!width(0.5).1 && is_beyond);
    assert!(just_beyond > 2.0 * within, "{just_beyond} after {within}");
    assert!(width(0.9).0 > just_beyond);
}

#[test]
fn an_interruption_keeps_the_anchors_that_are_done() {
    let places = line();
    let mut simulator = Simulator::new(3);
    let found = place(&places, &Wish::new(5, 1e-4), &mut |count, scenario| {
        (count < 2).then(|| simulator.run(scenario))
    });
    assert_eq!((found.stopped, found.anchored.anchors().len()), (StopReason::Interrupted, 2));
}

/// Where the simulation finds a class saturated and the model does not, there are no numbers of it, and no more anchors
/// are placed for it.
#[test]
fn what_the_simulation_finds_saturated_has_no_numbers() {
    let places = line();
    let mut simulator = Simulator::new(3);
    let found = place(&places, &Wish::new(4, 1e-4), &mut |_, scenario| {
        let mut simulation = simulator.run(scenario);
        // the highest load, as if it were too much for best effort
        simulation.classes[2].saturated = scenario.classes()[0].rate > 0.0069;
        Some(simulation)
    });
    assert_eq!(places_of(&found.anchored)[0], 1.0);
    let CorrectedAnswer { answer, intervals } = corrected(&found.anchored, &places[12]);
    let class = &answer.classes[2];
    assert_eq!((class.network_latency_cycles, class.waiting_cycles), (None, None));
    assert!(class.deadlines.iter().all(|one| one.miss_probability.is_none() && one.reason.is_some()));
    assert!(class.reasons["network_latency_cycles"].contains("found saturated"), "{:?}", class.reasons);
    assert_eq!(intervals[2].of(Quantity::NetworkLatency.into(), class), None);
    assert!(answer.classes[0].network_latency_cycles.is_some());
}

#[test]
fn an_interruption_before_the_first_anchor_is_no_fault() {
    let places = [solved(0.0), solved(1.0)];
    let placed = place(&places, &Wish::usual(1, 0.01), &mut |_, _| None);
    assert_eq!((placed.stopped, placed.anchored.anchors().len()), (StopReason::Interrupted, 0));
    let found = corrected(&placed.anchored, &places[0]);
    assert!(found.answer.classes.iter().all(|class| class.network_latency_cycles.is_none()));
}
