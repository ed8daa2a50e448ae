//! Pages of lessons: every number in a text is what the engine answers, and every screen has an answer wherever its
//! knob stands.

use std::collections::HashMap;

use flitwise_page::Engine;
use flitwise_page::lessons::{Command, Formula, Knob, LESSONS, Lesson, Operand, Screens, found_in, page};
use serde_json::{Value, json};

use super::{ask, engine};

/// The answers of a lesson's commands; of simulations only if they are wanted.
struct Answers {
    engine: Engine,
    known: HashMap<String, Value>,
    are_simulated: bool,
}

impl Answers {
    fn of(&mut self, line: &str) -> Vec<Value> {
        let command = Command::read(line, "").unwrap();
        command.asks.iter().map(|request| self.answer(request)).collect()
    }

    fn answer(&mut self, request: &Value) -> Value {
        if request["ask"] == "simulate_start" && !self.are_simulated {
            return Value::Null;
        }
        let key = request.to_string();
        if !self.known.contains_key(&key) {
            let mut answer = ask(&mut self.engine, request);
            while request["ask"] == "simulate_start" && answer["ended"] == false {
                answer = ask(&mut self.engine, &json!({ "ask": "simulate_step", "milliseconds": 60_000 }));
            }
            self.known.insert(key.clone(), answer);
        }
        self.known[&key].clone()
    }
}

fn lines(lesson: &Lesson) -> Vec<String> {
    let screens = Screens::read(lesson.screens).unwrap();
    lesson.commands().map(str::to_owned).chain(screens.commands).collect()
}

fn is_simulated(formula: &Formula, lines: &[String]) -> bool {
    formula.terms.iter().any(|(_, operand)| match operand {
        Operand::Found(found) => {
            ["simulate", "compare"].iter().any(|word| lines[found.command - 1].contains(word))
        }
        Operand::Given(_) => false,
    })
}

/// What is wrong with the numbers of a lesson.
fn faults(lesson: &Lesson, answers: &mut Answers) -> Vec<String> {
    let lines = lines(lesson);
    let told: Vec<Vec<Value>> = lines.iter().map(|line| answers.of(line)).collect();
    let mut faults = Vec::new();
    for (line, told) in lines.iter().zip(&told) {
        faults.extend(told.iter().filter_map(|one| Some(format!("{line}: {}", one.get("fault")?))));
    }
    for (spelled, formula) in found_in(lesson.text) {
        if is_simulated(&formula, &lines) && !answers.are_simulated {
            continue;
        }
        let digits = spelled.split_once('.').map_or(0, |(_, digits)| digits.len());
        match formula.value(&told) {
            Some(value)
                if (value - spelled.parse::<f64>().unwrap()).abs()
                    <= 0.5001 * 0.1_f64.powi(digits as i32) => {}
            found => faults.push(format!("{spelled}: found {found:?} by {formula:?}")),
        }
    }
    let prediction = Screens::read(lesson.screens).unwrap().prediction;
    let wanted = prediction.formula().unwrap();
    if !is_simulated(&wanted, &lines) || answers.are_simulated {
        let bounds: Vec<f64> = prediction.choices.iter().filter_map(|choice| choice.below).collect();
        let is_rising = bounds.is_sorted() && bounds.len() + 1 >= prediction.choices.len();
        match wanted.value(&told) {
            Some(value) if prediction.choices.is_empty() => {
                let [from, to] = [prediction.from, prediction.to].map(Option::unwrap);
                if !(from..=to).contains(&value) {
                    faults.push(format!("the answer {value} is not on the line from {from} to {to}"));
                }
            }
            Some(_) if is_rising => {}
            found => faults.push(format!("{}: found {found:?}", prediction.value)),
        }
    }
    faults.iter().map(|fault| format!("{}: {fault}", lesson.name)).collect()
}

#[test]
fn numbers_of_lessons_are_answers_of_the_engine() {
    let mut answers = Answers { engine: engine(), known: HashMap::new(), are_simulated: false };
    let found: Vec<String> = LESSONS.iter().flat_map(|lesson| faults(lesson, &mut answers)).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
#[ignore = "simulates what lessons simulate: a minute"]
fn simulated_numbers_of_lessons_are_answers_of_the_engine() {
    let mut answers = Answers { engine: engine(), known: HashMap::new(), are_simulated: true };
    let found: Vec<String> = LESSONS.iter().flat_map(|lesson| faults(lesson, &mut answers)).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// What a knob sets, as the page does.
fn settings(knob: &Knob, number: f64) -> Vec<(String, String)> {
    let put = |text: &str| {
        let Some((before, rest)) = text.split_once('{') else { return text.to_owned() };
        let (inside, after) = rest.split_once('}').unwrap();
        let value = match (inside.strip_prefix('/'), inside.strip_suffix('/')) {
            (Some(by), _) => number / by.parse::<f64>().unwrap(),
            (_, Some(of)) => of.parse::<f64>().unwrap() / number,
            _ => number,
        };
        format!("{before}{value}{after}")
    };
    let with = knob.with.iter().map(|with| {
        let (key, value) = with.split_once('=').unwrap();
        (key.to_owned(), put(value))
    });
    [(knob.key.clone(), put(&knob.written))].into_iter().chain(with).collect()
}

#[test]
fn screens_have_answers_at_both_ends_of_their_knobs() {
    let mut engine = engine();
    let mut faults = Vec::new();
    for lesson in LESSONS {
        let written = page(lesson).unwrap();
        let data = written.split_once("id=\"lesson\">").unwrap().1.split_once("</script>").unwrap().0;
        let data: Value = serde_json::from_str(data).unwrap();
        let screens = Screens::read(lesson.screens).unwrap().screen;
        for (screen, shown) in screens.iter().zip(data["screens"].as_array().unwrap()) {
            let knob = screen.knob.as_ref().filter(|_| screen.stations.is_none());
            let ends = knob.map_or_else(
                || vec![Vec::new()],
                |knob| [knob.from, knob.at, knob.to].map(|number| settings(knob, number)).to_vec(),
            );
            let sides = if screen.sides.is_empty() {
                vec![Vec::new()]
            } else {
                screen.sides.iter().map(|side| side.set.clone()).collect()
            };
            for (end, side) in ends.iter().flat_map(|end| sides.iter().map(move |side| (end, side))) {
                let own = side
                    .iter()
                    .map(|set| set.split_once('=').unwrap())
                    .map(|(key, value)| (key.to_owned(), value.to_owned()));
                let mut text = shown["text"].clone();
                for (key, value) in own.chain(end.iter().cloned()) {
                    let next =
                        ask(&mut engine, &json!({ "ask": "set", "text": text, "key": key, "value": value }));
                    faults.extend(
                        next.get("fault").map(|fault| format!("{}: {key}={value}: {fault}", lesson.name)),
                    );
                    text = next["text"].clone();
                }
                let mut requests = Vec::new();
                let model = screen.models.first();
                if screen.solve || !screen.says.is_empty() {
                    requests.push(
                        json!({ "ask": "solve", "text": text, "model": model, "expected_errors": false }),
                    );
                }
                if let Some(over) = &screen.over {
                    let mut curve = json!({ "ask": "curve", "text": text, "over": over });
                    curve["couple"] = json!(screen.couple);
                    curve["models"] = json!(screen.models);
                    requests.push(curve);
                }
                if screen.distribution {
                    requests.push(json!({ "ask": "distribution", "text": text, "model": model }));
                }
                if screen.figure.is_some() {
                    requests.push(json!({ "ask": "figure", "text": text, "figure": shown["figure"] }));
                }
                if let Some(precision) = screen.simulate {
                    let run = json!({ "precision": precision });
                    requests.push(json!({ "ask": "simulate_start", "text": text, "run": run }));
                }
                requests.extend(screen.stations.clone());
                for request in requests {
                    let answer = ask(&mut engine, &request);
                    faults.extend(
                        answer
                            .get("fault")
                            .map(|fault| format!("{}, {}, {end:?}: {fault}", lesson.name, screen.title)),
                    );
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
