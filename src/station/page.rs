//! A station's answer as text tables.

use flitwise_models::queueing::{CustomersAnswer, Kind, StationAnswer};

use super::Point;
use crate::output::{Page, Rows, cycles, share};

/// The answer to one question.
pub(super) fn of_one(kind: Kind, answer: &StationAnswer, markdown: bool) -> String {
    let mut page = Page::new(markdown);
    page.title(kind.described());
    let mut rows = Rows::new(&heads(markdown), markdown);
    answer.classes.iter().for_each(|class| rows.add(row(class)));
    page.rows(&rows);
    page.legend("response = wait + service; numbers are means over time");
    page.section("Of this station", &values(answer, markdown));
    page.section("The wait", &waits(answer, markdown));
    page.section("Probabilities of longer times", &tails(answer, markdown));
    page.remarks(&answer.notes);
    let (load, busy) = (share(Some(answer.load)), share(Some(answer.all_busy_probability)));
    page.end(&format!(
        "load {load}, all servers busy {busy} of the time; formulas: flitwise station {kind} --manual"
    ))
}

/// A row for every point and class.
pub(super) fn of_many(kind: Kind, points: &[Point], markdown: bool) -> String {
    let mut page = Page::new(markdown);
    page.title(kind.described());
    let keys = points.iter().take(1).flat_map(|point| &point.set).map(|setting| setting.key.as_str());
    let heads: Vec<&str> = keys.chain(heads(markdown)).collect();
    let mut rows = Rows::new(&heads, markdown);
    for point in points {
        for class in &point.answer.classes {
            rows.add(point.set.iter().map(|setting| setting.value.clone()).chain(row(class)));
        }
    }
    page.rows(&rows);
    page.end(&format!("formulas: flitwise station {kind} --manual"))
}

fn heads(markdown: bool) -> [&'static str; 9] {
    if markdown {
        return [
            "class",
            "arrivals/cycle",
            "service [cycles]",
            "utilization",
            "mean wait [cycles]",
            "mean response [cycles]",
            "mean number waiting",
            "mean number in system",
            "P(blocked)",
        ];
    }
    [
        "class\n",
        "arrivals\n/cycle",
        "service\ncycles",
        "utili-\nzation",
        "mean wait\ncycles",
        "response\ncycles",
        "number\nwaiting",
        "number\nin system",
        "P(block)\n",
    ]
}

fn row(class: &CustomersAnswer) -> [String; 9] {
    let steady = |text: String| if class.saturated { "saturated".to_owned() } else { text };
    [
        class.name.clone(),
        share(Some(class.arrival_rate_per_cycle)),
        time(Some(class.mean_service_cycles)),
        share(class.utilization),
        steady(time(class.mean_wait_cycles)),
        steady(time(class.mean_response_cycles)),
        steady(share(class.mean_number_waiting)),
        steady(share(class.mean_number_in_system)),
        share(Some(class.blocking_probability)),
    ]
}

/// What only this station answers.
fn values(answer: &StationAnswer, markdown: bool) -> Rows {
    let mut rows = Rows::new(&["quantity", "value"], markdown);
    answer.values.iter().for_each(|(name, value)| rows.add([name.replace('_', " "), share(Some(*value))]));
    rows
}

/// What else is known of the wait.
fn waits(answer: &StationAnswer, markdown: bool) -> Rows {
    let heads = ["class", "P(wait > 0)", "standard deviation [cycles]", "before service begins [cycles]"];
    let mut rows = Rows::new(&heads, markdown);
    for class in &answer.classes {
        let spread = class.wait_standard_deviation_cycles;
        let before = class.mean_wait_before_service_cycles;
        // that nobody waits goes without saying
        let waits = class.wait_probability.filter(|probability| *probability > 0.0);
        if waits.is_some() || spread.is_some() || before.is_some() {
            rows.add([class.name.clone(), share(class.wait_probability), time(spread), time(before)]);
        }
    }
    rows.hide_if_empty(1..4);
    rows
}

fn tails(answer: &StationAnswer, markdown: bool) -> Rows {
    let mut rows = Rows::new(&["t [cycles]", "P(wait > t)", "P(response > t)"], markdown);
    for tail in answer.classes.iter().flat_map(|class| &class.tail) {
        let probabilities = [tail.wait_exceeds_probability, tail.response_exceeds_probability];
        rows.add([tail.time_cycles.to_string()].into_iter().chain(probabilities.map(share)));
    }
    rows
}

/// A time in cycles, with digits of short ones.
fn time(time: Option<f64>) -> String {
    match time {
        Some(time) if time != 0.0 && time.abs() < 0.01 => format!("{time:.2e}"),
        _ => cycles(time),
    }
}
