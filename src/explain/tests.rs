//! In any scenario formulas evaluate to the values shown, both in full and as printed.

use flitwise_language::scenario::{
    ClassSpec, DeadlineSpec, NetworkSpec, Place, Preset, RouterSpec, ScenarioSpec, Scheduler, SourceSpec,
};
use flitwise_models::fixed_point;
use flitwise_models::published::solve;

use super::derivation::{Instance, Part};
use super::*;

fn everything() -> Request {
    Request { class: None, link: 0, way: None }
}

fn explained(scenario: &Scenario, asked: &Request) -> (Derivation, Outcome) {
    let options = Options { details: true, ..Options::default() };
    let (answer, record) = solve_recorded(scenario, &options);
    published(scenario, &answer, record.as_ref(), asked)
}

fn instances(
    derivation: &Derivation,
) -> impl Iterator<Item = (&'static str, &formula::Expression, &Instance)> {
    let parts = derivation.sections.iter().flat_map(|section| &section.parts);
    let steps = parts.filter_map(|part| match part {
        Part::Step(step) => Some(step),
        _ => None,
    });
    steps.flat_map(|step| step.instances.iter().map(|instance| (step.equation, &step.formula, instance)))
}

/// Every formula comes to the value that the solver has, by the numbers put in and by those printed.
fn assert_true(derivation: &Derivation, of: &str) -> usize {
    let mut checked = 0;
    for (equation, formula, instance) in instances(derivation) {
        let Some(value) = instance.value else { continue };
        let at = || format!("{of}: {equation} {} = {value}", instance.substituted.plain());
        let right = formula.sides().1;
        let full = instance.values.evaluate(right).unwrap_or_else(|| panic!("{} has no number", at()));
        // the last step of an iteration may still move by its residual, and differences lose digits
        let printed = printed::evaluate(&instance.substituted.plain());
        let slack = printed.map_or(0.0, |(_, error)| 1e-2 * error) + 1e-7 * value.abs() + 1e-15;
        assert!((full - value).abs() <= slack, "{}, not {full}", at());
        if let Some((sum, error)) = printed {
            assert!((sum - value).abs() <= 2.0 * error + 1e-7 * value.abs() + 1e-15, "{}, not {sum}", at());
            checked += 1;
        }
    }
    for page in pages(derivation) {
        for wrong in ["NaN", "inf", "\\infty", "`"] {
            assert!(!page.contains(wrong), "{of}: {wrong} in {page}");
        }
    }
    checked
}

fn pages(derivation: &Derivation) -> [String; 3] {
    [terminal::page(derivation), latex::page(derivation), html::page(derivation)]
}

/// A calculator for what is printed, with the error that its six digits leave.
mod printed {
    pub(super) fn evaluate(text: &str) -> Option<(f64, f64)> {
        let mut reader = Reader { letters: text.chars().filter(|letter| *letter != ' ').collect(), at: 0 };
        let found = reader.sum()?;
        (reader.at == reader.letters.len()).then_some(found)
    }

    struct Reader {
        letters: Vec<char>,
        at: usize,
    }

    impl Reader {
        fn takes(&mut self, wanted: char) -> bool {
            let found = self.letters.get(self.at) == Some(&wanted);
            self.at += usize::from(found);
            found
        }

        fn sum(&mut self) -> Option<(f64, f64)> {
            let minus = self.takes('−');
            let (mut sum, mut error) = self.product()?;
            sum = if minus { -sum } else { sum };
            loop {
                let sign = match (self.takes('+'), self.takes('−')) {
                    (true, _) => 1.0,
                    (_, true) => -1.0,
                    _ => return Some((sum, error)),
                };
                let (term, of_term) = self.product()?;
                (sum, error) = (sum + sign * term, error + of_term);
            }
        }

        fn product(&mut self) -> Option<(f64, f64)> {
            let (mut product, mut error) = self.power()?;
            loop {
                if self.takes('·') {
                    let (factor, of_factor) = self.power()?;
                    error = error * factor.abs() + of_factor * product.abs();
                    product *= factor;
                } else if self.takes('/') {
                    let (under, of_under) = self.power()?;
                    product /= under;
                    error = (error + of_under * product.abs()) / under.abs();
                } else {
                    return Some((product, error));
                }
            }
        }

        fn power(&mut self) -> Option<(f64, f64)> {
            let (base, of_base) = self.atom()?;
            if !self.takes('^') {
                return Some((base, of_base));
            }
            let (exponent, _) = self.atom()?;
            let power = base.powf(exponent);
            let most = (base.abs() + of_base).powf(exponent);
            Some((power, most - base.abs().powf(exponent)))
        }

        fn atom(&mut self) -> Option<(f64, f64)> {
            if self.takes('(') {
                let inside = self.sum()?;
                return self.takes(')').then_some(inside);
            }
            let word: String =
                self.letters[self.at..].iter().take_while(|letter| letter.is_alphabetic()).collect();
            if !word.is_empty() {
                self.at += word.len() + 1;
                let (one, of_one) = self.sum()?;
                self.takes(',').then_some(())?;
                let (other, of_other) = self.sum()?;
                self.takes(')').then_some(())?;
                let value = match word.as_str() {
                    "max" => one.max(other),
                    "min" => one.min(other),
                    "C" => (0..other as u32).fold(1.0, |c, i| c * (one - f64::from(i)) / f64::from(i + 1)),
                    _ => return None,
                };
                return Some((value, of_one + of_other));
            }
            let start = self.at;
            while let Some(letter) = self.letters.get(self.at) {
                let exponent = *letter == '-' && self.letters[self.at - 1] == 'e';
                if !(letter.is_ascii_digit() || *letter == '.' || *letter == 'e' || exponent) {
                    break;
                }
                self.at += 1;
            }
            let number: f64 = self.letters[start..self.at].iter().collect::<String>().parse().ok()?;
            Some((number, 1e-5 * number.abs()))
        }
    }

    #[test]
    fn the_calculator_calculates() {
        for (text, value) in [
            ("1 + 2 · 3^2 / 2 − 4", 6.0),
            ("(1 − 2e-1) · max(3, C(4, 2))", 4.8),
            ("2 · (−1 + 3) / (1 + 1)", 2.0),
        ] {
            assert!((evaluate(text).unwrap().0 - value).abs() < 1e-12, "{text}");
        }
        assert_eq!(evaluate("1 + …"), None);
    }
}

#[test]
fn presets_are_explained_at_any_load() {
    for preset in Preset::of("kyd05") {
        for factor in [0.0, 1e-3, 1.0, 1.7, 3.0, 20.0] {
            let mut spec = preset.scenario().spec().clone();
            spec.classes.iter_mut().for_each(|class| class.rate = (class.rate * factor).min(1.0));
            let scenario = spec.check().unwrap();
            let (derivation, outcome) = explained(&scenario, &everything());
            let checked = assert_true(&derivation, &format!("{} times {factor}", preset.name));
            assert!(
                outcome == Outcome::Saturated || checked > 20,
                "{} times {factor}: {checked}",
                preset.name
            );
        }
    }
}

#[test]
fn every_class_and_channel_is_explained_alone() {
    for name in ["router16-3rt", "cube5", "cube6-on-off"] {
        let scenario = Preset::find(name).unwrap().scenario();
        for class in 0..scenario.classes().len() {
            for link in [0, 1, 5] {
                let cube = scenario.network() != Preset::find("router16").unwrap().scenario().network();
                let asked = Request {
                    class: Some(class),
                    link: if cube { link } else { 0 },
                    way: cube.then_some((0b00011, 0b11100)),
                };
                let (derivation, _) = explained(&scenario, &asked);
                assert!(assert_true(&derivation, name) > 5);
            }
        }
    }
}

/// The parts of the refined model add up, too, and are those of its answer.
#[test]
fn the_refined_model_is_explained() {
    for name in ["router16", "cube5", "router16-on-off"] {
        for factor in [0.0, 1.0, 4.0] {
            let mut spec = Preset::find(name).unwrap().scenario().spec().clone();
            spec.classes.iter_mut().for_each(|class| class.rate *= factor);
            let scenario = spec.check().unwrap();
            let options = Options {
                details: true,
                distributions: false,
                saturation_loads: false,
                ..Options::default()
            };
            let answer = Model::Refined.solve(&scenario, &options).unwrap();
            let derivation = refined::derivation(&scenario, &answer, None);
            let checked = assert_true(&derivation, name);
            let silent = factor == 0.0;
            assert!(silent || answer.saturated || checked >= 20, "{name} times {factor}: {checked}");
        }
    }
    for equation in refined::ALL.iter().chain(mediaworm::ALL).chain(router_nic::ALL).chain(admission::ALL) {
        assert!(formula::Expression::parse(equation.formula).is_some(), "{}", equation.formula);
    }
}

/// So is the mediaworm model: up to saturation, mixed and alone, with frames of one size and of several.
#[test]
fn the_mediaworm_model_is_explained() {
    let mut document = Preset::find("mediaworm-quick").unwrap().document();
    let place = Place::Program;
    for load in ["0.4", "0.7", "0.85"] {
        for deviation in ["0", "\"333.3 B\""] {
            document.set("mix.load", load, &place).unwrap();
            document.set("class.video.source.frame_deviation", deviation, &place).unwrap();
            let scenario = document.scenario().unwrap();
            let answer = Model::Mediaworm.solve(&scenario, &Options::default()).unwrap();
            let derivation = mediaworm::derivation(&scenario, &answer, Some(0));
            assert!(assert_true(&derivation, load) >= 6, "{load}");
            let sections = derivation.sections.iter().map(|section| section.title.as_str());
            assert!(sections.eq([
                "What is asked",
                "Where the cycles of a message go",
                "Why intervals vary",
                "Which load is free of jitter"
            ]));
        }
    }
}

/// And the router-nic model: behind interfaces of all kinds, at once and phase by phase.
#[test]
fn the_router_nic_model_is_explained() {
    for (kind, injection, scheduler) in [
        ("ideal", "", "fine-grained-virtual-clock"),
        ("ideal", "", "fifo"),
        ("qos", "flit", "fine-grained-virtual-clock"),
        ("qos", "message", "fine-grained-virtual-clock"),
        ("traditional", "message", "fifo"),
    ] {
        let mut document = Preset::find("router-nic-quick").unwrap().document();
        let mut set = |key: &str, value: &str| document.set(key, value, &Place::Program).unwrap();
        set("mix.load", "0.4");
        set("router.preemption", if scheduler == "fifo" { "none" } else { "input-buffer" });
        set("router.scheduler", scheduler);
        set("interface.kind", kind);
        if !injection.is_empty() {
            set("interface.injection", injection);
        }
        let scenario = document.scenario().unwrap();
        let answer = Model::RouterNic.solve(&scenario, &Options::default()).unwrap();
        let derivation = router_nic::derivation(&scenario, &answer, None);
        let of = format!("{kind} {injection} {scheduler}");
        assert!(assert_true(&derivation, &of) >= 16, "{of}");
        assert_whole(&derivation, &answer, kind == "ideal");
    }
}

/// And the admission model: connections refused, power under a budget, credits beyond saturation, frames.
#[test]
fn the_admission_model_is_explained() {
    for (preset, load, set, steps) in [
        ("admission", "0.6", vec![], 19),
        ("admission", "0.4", vec![("admission.test", "false")], 19),
        ("admission", "0.4", vec![("admission.signalling", "in-band")], 19),
        ("admission-video", "0.7", vec![], 19),
        ("congestion", "0.8", vec![("congestion.credits", "20")], 11),
        ("power", "0.3", vec![], 25),
        ("power", "0.5", vec![("power.control", "powerherd")], 24),
    ] {
        let mut document = Preset::find(preset).unwrap().document();
        document.set("mix.load", load, &Place::Program).unwrap();
        set.iter().for_each(|(key, value)| document.set(key, value, &Place::Program).unwrap());
        let scenario = document.scenario().unwrap();
        let answer = Model::Admission.solve(&scenario, &Options::default()).unwrap();
        let derivation = admission::derivation(&scenario, &answer, None);
        let checked = assert_true(&derivation, preset);
        assert!(checked >= steps, "{preset} {load}: {checked}");
    }
}

/// The parts of a message's way add up to what `solve` says, as numbers and as bars.
fn assert_whole(derivation: &Derivation, answer: &Answer, is_ideal: bool) {
    for class in &answer.classes {
        let name = &class.name;
        let shown = |part: &str| {
            let left = format!("{part}_{name}");
            let is_it = |instance: &&Instance| instance.of.as_ref().is_some_and(|of| of.plain() == left);
            let found = instances(derivation).map(|(_, _, instance)| instance).find(is_it);
            found.and_then(|instance| instance.value).unwrap_or_else(|| panic!("no {left}"))
        };
        let (parts, whole) = if is_ideal {
            (&["W", "L"][..], class.total_latency_cycles.unwrap())
        } else {
            (&["doorbell", "bus", "wire", "L", "receive"][..], class.end_to_end_latency_cycles.unwrap())
        };
        let parts: Vec<f64> = parts.iter().map(|part| shown(part)).collect();
        assert_eq!(shown("E"), whole, "{name}");
        assert!((parts.iter().sum::<f64>() - whole).abs() < 1e-9 * whole, "{name}: {parts:?} of {whole}");
        let of_sections = derivation.sections.iter().flat_map(|section| &section.parts);
        let mut bars = of_sections.filter_map(|part| match part {
            Part::Bar(bar) if bar.class == *name => Some(bar),
            _ => None,
        });
        let bar: Vec<f64> = bars.next().unwrap().parts.iter().map(|part| part.cycles).collect();
        assert_eq!(bar, parts, "{name}");
    }
}

/// The numbers shown are those of `solve`, and the parts are the whole.
#[test]
fn what_is_shown_is_what_is_answered() {
    for preset in Preset::of("kyd05") {
        let scenario = preset.scenario();
        let answer = solve(&scenario, &Options::default()).unwrap();
        let (derivation, _) = explained(&scenario, &everything());
        for class in &answer.classes {
            let shown = |left: String| {
                let mut found = instances(&derivation)
                    .filter(|(_, _, instance)| instance.of.as_ref().is_some_and(|of| of.plain() == left));
                found.next().and_then(|(_, _, instance)| instance.value)
            };
            let name = &class.name;
            assert_eq!(shown(format!("L_{name}")), class.network_latency_cycles);
            assert_eq!(shown(format!("W_{name}")), class.waiting_cycles);
            assert_eq!(shown(format!("Latency_{name}")), class.total_latency_cycles);
            assert_eq!(shown(format!("u_{name}")), class.source_load);
            let parts =
                ["transfer", "blocking", "sharing"].map(|part| shown(format!("{part}_{name}")).unwrap());
            assert!((parts.iter().sum::<f64>() - class.network_latency_cycles.unwrap()).abs() < 1e-10);
            let bar =
                derivation.sections.iter().flat_map(|section| &section.parts).find_map(|part| match part {
                    Part::Bar(bar) if bar.class == *name => Some(bar),
                    _ => None,
                });
            assert_eq!(bar.unwrap().parts[..3].iter().map(|part| part.cycles).collect::<Vec<_>>(), parts);
            for deadline in &class.deadlines {
                if let Some(miss) = deadline.miss_probability {
                    let hops = deadline.hops.map_or(String::new(), |hops| format!(",{hops}"));
                    let left = format!("DMP_{name}{hops}({})", deadline.deadline_cycles);
                    assert_eq!(shown(left.clone()), Some(miss), "{left}");
                }
            }
        }
    }
}

/// A reproducible stream of numbers.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % bound
    }
}

#[test]
fn random_scenarios_are_explained() {
    let mut numbers = Numbers(7);
    let mut answered = 0;
    for round in 0..25 {
        let network = match numbers.below(3) {
            0 => NetworkSpec::Router { ports: 2 + numbers.below(30) as u32, self_traffic: None },
            _ => NetworkSpec::Hypercube { dimension: 1 + numbers.below(8) as u32, self_traffic: None },
        };
        let mut classes = Vec::new();
        for class in 0..numbers.below(5) {
            let rate = [0.0, 1e-9, 0.001, 0.003, 0.01, 0.1][numbers.below(6) as usize];
            let mut spec = ClassSpec::real_time(&format!("R_{class}"), rate);
            spec.message_flits = 1 + numbers.below(90) as u32;
            spec.vtick = (numbers.below(4) == 0).then(|| 1.0 + numbers.below(40) as f64);
            spec.deadlines = vec![DeadlineSpec::Cycles(1 + numbers.below(200) as u32)];
            if rate > 0.0 && numbers.below(5) == 0 {
                spec.source = SourceSpec::OnOff { streams: 4, messages_per_burst: 3.0, peak_rate: 0.5 };
            }
            classes.push(spec);
        }
        if numbers.below(3) > 0 || classes.is_empty() {
            classes.push(ClassSpec::best_effort("BE", [0.0, 0.002, 0.05][numbers.below(3) as usize]));
        }
        let router = RouterSpec { buffer_flits: 1 + numbers.below(100) as u32, ..RouterSpec::default() };
        let spec =
            ScenarioSpec { name: format!("{round}"), network, router, classes, ..ScenarioSpec::default() };
        let Ok(scenario) = spec.check() else { continue };
        let (derivation, _) = explained(&scenario, &everything());
        assert_true(&derivation, &format!("{:?}", scenario.spec()));
        answered += 1;
    }
    assert!(answered > 10, "{answered}");
}

#[test]
fn many_classes_are_explained() {
    let classes = (0..8).map(|class| ClassSpec::real_time(&format!("R{class}"), 0.001)).collect();
    let spec = ScenarioSpec { classes, ..ScenarioSpec::default() };
    let (derivation, _) = explained(&spec.check().unwrap(), &everything());
    assert!(assert_true(&derivation, "eight classes") > 50);
}

#[test]
fn what_does_not_converge_is_explained() {
    for preset in Preset::of("kyd05") {
        let scenario = preset.scenario();
        let fixed_point = fixed_point::Options { max_iterations: 2, ..Default::default() };
        let options = Options { fixed_point, details: true, ..Options::default() };
        let (answer, record) = solve_recorded(&scenario, &options);
        assert!(answer.is_err());
        let (derivation, outcome) = published(&scenario, &answer, record.as_ref(), &everything());
        assert_eq!(outcome, Outcome::NotConverged);
        assert_true(&derivation, preset.name);
        assert!(terminal::page(&derivation).contains("After 2 iterations: no fixed point"));
    }
}

#[test]
fn what_is_refused_is_explained() {
    let router = RouterSpec { scheduler: Scheduler::Fifo, ..RouterSpec::default() };
    let scenario = ScenarioSpec { router, ..ScenarioSpec::default() }.check().unwrap();
    let (derivation, outcome) = explained(&scenario, &everything());
    assert_eq!(outcome, Outcome::Refused);
    for page in pages(&derivation) {
        assert!(page.contains("fifo"), "{page}");
    }
}

#[test]
fn a_network_is_not_refused_for_its_scheduler() {
    let scenario = Preset::find("mesh4x4").unwrap().scenario();
    let (derivation, outcome) = explained(&scenario, &everything());
    assert_eq!(outcome, Outcome::Refused);
    for page in pages(&derivation) {
        assert!(page.contains("mesh") && !page.contains("Vtick"), "{page}");
    }
}

/// Names may hold what a format takes for itself.
#[test]
fn names_of_any_kind_are_kept_apart_from_the_format() {
    let mut spec = ScenarioSpec::default();
    spec.classes[0].name = "<b>&_^$#{}~\\%|`é".to_owned();
    let scenario = spec.check().unwrap();
    let (derivation, _) = explained(&scenario, &everything());
    let html = html::page(&derivation);
    assert!(!html.contains("<b>") && html.contains("&lt;b&gt;&amp;"));
    let latex = latex::page(&derivation);
    assert!(latex.is_ascii() && latex.contains(r"\_") && latex.contains("[U+00E9]"));
}

#[test]
fn the_page_needs_nothing_from_elsewhere() {
    let (derivation, _) = explained(&ScenarioSpec::default().check().unwrap(), &everything());
    let html = html::page(&derivation);
    for (at, _) in html.match_indices("http") {
        assert!(html[at..].starts_with("http://www.w3.org/"));
    }
    assert!(!html.contains("<script") && !html.contains("<link") && !html.contains("<img"));
    assert_eq!(html.matches("<svg").count(), 4, "a chain, and a bar for each class");
}
