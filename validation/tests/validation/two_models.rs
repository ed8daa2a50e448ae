//! Two models beside one simulation: rows line up, and each is judged by itself.

use flitwise_experiment::Settings;
use flitwise_experiment::answer::Simulation;
use flitwise_language::quantity::{Measure, Quantity};
use flitwise_language::scenario::{Preset, Scenario};
use flitwise_models::answer::Answer;
use flitwise_models::model::{Model, Options as Solve};
use flitwise_validation::compare::{Options, Row, Verdict, rows};

use crate::simulate_all;

fn scenario() -> Scenario {
    Preset::find("router16").unwrap().scenario()
}

fn simulation() -> Simulation {
    let settings = Settings { precision: 0.1, max_messages: 20_000, ..Settings::default() };
    let outcome = simulate_all(&[scenario()], &settings, None);
    outcome.simulations.into_iter().next().flatten().unwrap()
}

/// The published model's answer, and one under the other model's name that says what was simulated, part by part.
fn answers(simulation: &Simulation) -> [Answer; 2] {
    let published = Model::Published.solve(&scenario(), &Solve::default()).unwrap();
    let mut other = Answer { model: Model::Refined, ..published.clone() };
    for (class, found) in other.classes.iter_mut().zip(&simulation.classes) {
        let mean = |estimate: Option<flitwise_experiment::answer::Estimate>| estimate.map(|one| one.mean);
        class.network_latency_cycles = mean(found.network_latency_cycles);
        class.input_cycles = mean(found.input_cycles);
        class.arbitration_cycles = mean(found.arbitration_cycles);
        class.output_cycles = mean(found.output_cycles);
        class.gap_cycles = mean(found.gap_cycles);
        class.blocking_cycles = class.input_cycles.zip(class.arbitration_cycles).map(|(a, b)| a + b);
        class.sharing_cycles = class.output_cycles.zip(class.gap_cycles).map(|(a, b)| a + b);
    }
    [published, other]
}

fn of<'r>(rows: &'r [Row], class: &str, measure: impl Into<Measure>, model: Model) -> &'r Row {
    let measure = measure.into();
    rows.iter().find(|row| row.class == class && row.measure == measure && row.model == model).unwrap()
}

#[test]
fn rows_of_one_quantity_stand_together_and_are_those_of_each_model_alone() {
    let simulation = simulation();
    let [published, other] = answers(&simulation);
    let both = [(Model::Published, Some(&published)), (Model::Refined, Some(&other))];
    let found = rows(&both, &simulation, &Options::default());
    for pair in found.chunks(2) {
        assert_eq!((&pair[0].class, pair[0].measure), (&pair[1].class, pair[1].measure));
        assert_eq!((pair[0].model, pair[1].model), (Model::Published, Model::Refined));
        assert_eq!(pair[0].simulated, pair[1].simulated);
    }
    for answer in [&published, &other] {
        let alone = rows(&[(answer.model, Some(answer))], &simulation, &Options::default());
        for row in &alone {
            assert_eq!(row, of(&found, &row.class, row.measure, row.model));
        }
        let by_place = alone.iter().filter(|row| row.measure.quantity.is_by_place()).count();
        let told_apart = answer.model == Model::Refined;
        assert_eq!(by_place, if told_apart { 4 * simulation.classes.len() } else { 0 });
    }
}

#[test]
fn parts_by_place_line_up_with_the_simulated_ones() {
    let simulation = simulation();
    let [published, other] = answers(&simulation);
    let both = [(Model::Published, Some(&published)), (Model::Refined, Some(&other))];
    let found = rows(&both, &simulation, &Options::default());
    let parts = [Quantity::Blocking, Quantity::Sharing, Quantity::NetworkLatency];
    for quantity in Quantity::MEANS.iter().copied().filter(|one| one.is_by_place()).chain(parts) {
        let row = of(&found, "R2", quantity, Model::Refined);
        assert_eq!(row.verdict, Verdict::Agrees, "{row:?}");
        assert!(row.model_value.unwrap() > 0.0);
    }
    let part = |quantity| of(&found, "R2", quantity, Model::Refined).simulated.unwrap().value;
    let whole = [Quantity::Input, Quantity::Arbitration].map(part).iter().sum::<f64>();
    assert!((whole - part(Quantity::Blocking)).abs() < 1e-9);
    let whole = [Quantity::Output, Quantity::Gaps].map(part).iter().sum::<f64>();
    assert!((whole - part(Quantity::Sharing)).abs() < 1e-9);
    // the published model does not tell them apart, and is judged by what it has
    assert_eq!(of(&found, "R2", Quantity::Gaps, Model::Published).verdict, Verdict::NoModel);
    assert_eq!(of(&found, "BE", Quantity::NetworkLatency, Model::Published).verdict, Verdict::Off);
}

#[test]
fn what_is_asked_for_is_there_whoever_has_it() {
    let simulation = simulation();
    let [published, _] = answers(&simulation);
    let asked = Options { quantities: vec![Quantity::Input, Quantity::Gaps], ..Options::default() };
    let found = rows(&[(Model::Published, Some(&published)), (Model::Refined, None)], &simulation, &asked);
    assert_eq!(found.len(), 2 * 2 * simulation.classes.len());
    assert!(found.iter().all(|row| row.verdict == Verdict::NoModel && row.simulated.is_some()));
}
