//! Derivatives against central differences over random scenarios, and what must hold for any.

use flitwise_language::quantity::Quantity;
use flitwise_language::scenario::{
    ClassSpec, DeadlineSpec, NetworkSpec, Preset, RouterSpec, Scenario, ScenarioSpec,
};
use flitwise_models::model::{Model, Options};
use flitwise_models::sensitivity::{
    DIFFERENTIABLE, Method, Parameter, ParameterKind, Request, Sensitivities, sensitivities,
};

/// A reproducible stream of numbers in 0..1.
struct Stream(u64);

impl Stream {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    fn within(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.next()
    }

    fn whole(&mut self, low: u32, high: u32) -> u32 {
        low + (self.next() * f64::from(high - low + 1)) as u32
    }
}

/// A scenario of up to four real-time classes, most with implied Vticks, and best effort beside most.
fn random(seed: u64) -> Scenario {
    let mut stream = Stream(seed.wrapping_mul(7919) + 17);
    (0..3).for_each(|_| {
        stream.next();
    });
    let cube = stream.next() < 0.5;
    let network = if cube {
        NetworkSpec::Hypercube { dimension: stream.whole(1, 5), self_traffic: None }
    } else {
        NetworkSpec::Router { ports: 16, self_traffic: None }
    };
    let real_time = stream.whole(0, 4);
    let best_effort = real_time == 0 || stream.next() < 0.7;
    let vticks_given = stream.next() < 0.3;
    let load = stream.within(0.05, 0.45);
    let mut classes: Vec<ClassSpec> = (0..real_time)
        .map(|index| {
            let mut class = ClassSpec::real_time(&format!("R{index}"), stream.within(0.1, 1.0));
            class.message_flits = stream.whole(2, 40);
            class.vtick = vticks_given.then(|| stream.within(2.0, 40.0));
            class
        })
        .collect();
    if best_effort {
        let mut class = ClassSpec::best_effort("BE", stream.within(0.1, 1.0));
        class.message_flits = stream.whole(2, 40);
        classes.push(class);
    }
    let sum: f64 = classes.iter().map(|class| class.rate).sum();
    for class in &mut classes {
        class.rate *= load / sum / f64::from(class.message_flits);
    }
    let router = RouterSpec {
        pipeline_stages: stream.whole(1, 8),
        buffer_flits: stream.whole(1, 80),
        ..RouterSpec::default()
    };
    let spec =
        ScenarioSpec { name: "random".to_owned(), network, router, classes, ..ScenarioSpec::default() };
    spec.check().unwrap_or_else(|faults| panic!("{faults:?}"))
}

fn of_means(scenario: &Scenario) -> Sensitivities {
    let request = Request { quantities: DIFFERENTIABLE.to_vec(), ..Request::all(scenario) };
    sensitivities(Model::Published, scenario, &request).expect("an answer")
}

/// Means of all classes, in the order of [`of_means`].
fn means(spec: ScenarioSpec) -> Vec<Option<f64>> {
    let options = Options { distributions: false, saturation_loads: false, ..Options::default() };
    let scenario = spec.check().expect("a sound scenario");
    let answer = Model::Published.solve(&scenario, &options).expect("an answer");
    let of_class = |class: &flitwise_models::answer::ClassAnswer| {
        let value = |quantity: Quantity| class.value(quantity.into()).filter(|_| !class.saturated);
        DIFFERENTIABLE.map(value)
    };
    answer.classes.iter().flat_map(of_class).collect()
}

/// Moves a real parameter by a share.
fn moved(scenario: &Scenario, key: &str, share: f64) -> ScenarioSpec {
    let mut spec = scenario.spec().clone();
    let (class, field) =
        key.strip_prefix("class.").and_then(|key| key.split_once('.')).expect("class.NAME.KEY");
    let class = spec.classes.iter_mut().find(|other| other.name == class).expect("a class");
    let implied = 1.0 / (class.rate * f64::from(class.message_flits));
    match field {
        "rate" => class.rate *= 1.0 + share,
        _ => class.vtick = Some(class.vtick.unwrap_or(implied) * (1.0 + share)),
    }
    spec
}

/// Forward mode against differences of fourth order, for every rate and Vtick of 150 scenarios.
#[test]
fn derivatives_are_central_differences() {
    let (mut compared, mut worst) = (0, 0.0_f64);
    for seed in 0..150 {
        let scenario = random(seed);
        let found = of_means(&scenario);
        for (at, parameter) in found.parameters.iter().enumerate() {
            if parameter.kind != ParameterKind::Real {
                continue;
            }
            let h = 1e-3;
            let points =
                [-2.0, -1.0, 1.0, 2.0].map(|steps| means(moved(&scenario, &parameter.key, steps * h)));
            for (index, output) in found.outputs.iter().enumerate() {
                let sensitivity = &output.sensitivities[at];
                let values = [0, 1, 2, 3].map(|point| points[point][index]);
                let [Some(a), Some(b), Some(c), Some(d)] = values else { continue };
                let (Some(elasticity), Some(value)) = (sensitivity.elasticity, output.value) else {
                    continue;
                };
                assert_eq!(sensitivity.method, Method::ForwardMode);
                // what is 0 and stays so has no share to rise by
                let scale = if value == 0.0 { 1.0 } else { value };
                let difference = (a - 8.0 * b + 8.0 * c - d) / (12.0 * h) / scale;
                let gap = (elasticity - difference).abs() / (1e-3 + difference.abs());
                worst = worst.max(gap);
                compared += 1;
                assert!(
                    gap < 1e-4,
                    "seed {seed}, {} {:?} by {}: {elasticity} against {difference}",
                    output.class,
                    output.measure.quantity,
                    parameter.key
                );
            }
        }
    }
    assert!(compared > 15_000 && worst < 1e-6, "{compared} derivatives, worst gap {worst:e}");
}

fn elasticity(found: &Sensitivities, output: usize, key: &str) -> f64 {
    let at = found.parameters.iter().position(|parameter| parameter.key == key).expect("a parameter");
    found.outputs[output].sensitivities[at].elasticity.expect("an elasticity")
}

fn scenario(change: impl Fn(&mut ScenarioSpec)) -> Scenario {
    let mut spec = Preset::find("router16").expect("it is built in").scenario().spec().clone();
    change(&mut spec);
    spec.check().expect("a sound scenario")
}

/// Lengths and pipeline k times as long and rates a k-th of what they were: cycles are k times as many, shares and
/// loads stay.
#[test]
fn latencies_of_a_router_scale_with_its_unit_of_time() {
    for buffer in [16, 64] {
        let scenario = scenario(|spec| spec.router.buffer_flits = buffer);
        let found = of_means(&scenario);
        for (index, output) in found.outputs.iter().enumerate() {
            let degree = match output.measure.quantity {
                Quantity::NetworkLatency | Quantity::Blocking | Quantity::Sharing => 1.0,
                Quantity::Utilization | Quantity::RouterLoad => 0.0,
                _ => continue,
            };
            let mut sum = elasticity(&found, index, "router.buffer_flits");
            // P - 1 of P stages
            sum += elasticity(&found, index, "router.pipeline_stages") * 4.0 / 5.0;
            for class in ["R1", "R2", "BE"] {
                sum += elasticity(&found, index, &format!("class.{class}.message_flits"));
                sum -= elasticity(&found, index, &format!("class.{class}.rate"));
            }
            assert!((sum - degree).abs() < 1e-9, "{} {:?}: {sum}", output.class, output.measure.quantity);
        }
    }
}

/// Of Vticks only the ratios matter, and what follows from the rate moves against it.
#[test]
fn vticks_act_by_their_ratios() {
    let implied = scenario(|spec| spec.router.buffer_flits = 64);
    let given = scenario(|spec| {
        spec.router.buffer_flits = 64;
        for (class, vtick) in spec.classes.iter_mut().zip([Some(6.25), Some(12.5), None]) {
            class.vtick = vtick;
        }
    });
    let (implied, given) = (of_means(&implied), of_means(&given));
    for index in 0..implied.outputs.len() {
        let vtick = |class: &str| elasticity(&given, index, &format!("class.{class}.vtick"));
        assert!((vtick("R1") + vtick("R2")).abs() < 1e-10);
        for class in ["R1", "R2"] {
            let rate = |found| elasticity(found, index, &format!("class.{class}.rate"));
            assert!((rate(&implied) - (rate(&given) - vtick(class))).abs() < 1e-10);
        }
    }
}

#[test]
fn what_is_moved_together_moves_by_the_sum() {
    let scenario = scenario(|spec| spec.router.buffer_flits = 64);
    let alone = of_means(&scenario);
    for field in ["rate", "vtick", "message_flits"] {
        let joint = Parameter::find(&format!("class.*.{field}"), &scenario).unwrap();
        let request = Request {
            parameters: vec![joint],
            quantities: DIFFERENTIABLE.to_vec(),
            ..Request::all(&scenario)
        };
        let joint = sensitivities(Model::Published, &scenario, &request).unwrap();
        for (index, output) in joint.outputs.iter().enumerate() {
            let classes = ["R1", "R2", "BE"].iter().filter(|class| field != "vtick" || **class != "BE");
            let sum: f64 =
                classes.map(|class| elasticity(&alone, index, &format!("class.{class}.{field}"))).sum();
            assert!((output.sensitivities[0].elasticity.unwrap() - sum).abs() < 1e-10);
        }
    }
}

/// Best effort takes what is left and gives nothing back.
#[test]
fn real_time_does_not_feel_best_effort() {
    for name in ["router16", "cube6"] {
        let found = of_means(&Preset::find(name).unwrap().scenario());
        let real_time = found.outputs.iter().enumerate().filter(|(_, output)| output.class != "BE");
        for (index, _) in real_time {
            assert_eq!(elasticity(&found, index, "class.BE.rate"), 0.0);
        }
    }
}

/// Relaxed whole numbers against the whole numbers on either side, where one is little.
#[test]
fn relaxed_whole_numbers_agree_with_their_neighbours() {
    let spec = |message: u32, buffer: u32, stages: u32| {
        scenario(|spec| {
            spec.router = RouterSpec { buffer_flits: buffer, pipeline_stages: stages, ..spec.router };
            spec.classes.iter_mut().for_each(|class| {
                class.rate /= 16.0;
                class.message_flits = 512;
            });
            spec.classes[0].message_flits = message;
        })
    };
    for buffer in [300, 900] {
        let found = of_means(&spec(512, buffer, 40));
        let pairs = [
            ("class.R1.message_flits", 512.0, spec(511, buffer, 40), spec(513, buffer, 40)),
            ("router.buffer_flits", f64::from(buffer), spec(512, buffer - 1, 40), spec(512, buffer + 1, 40)),
            ("router.pipeline_stages", 40.0, spec(512, buffer, 39), spec(512, buffer, 41)),
        ];
        for (key, value, below, above) in pairs {
            let (below, above) = (means(below.spec().clone()), means(above.spec().clone()));
            for (index, output) in found.outputs.iter().enumerate() {
                let (Some(below), Some(above)) = (below[index], above[index]) else { panic!("{key}") };
                let difference = (above - below) / 2.0 * value / output.value.unwrap();
                let exact = elasticity(&found, index, key);
                let gap = (exact - difference).abs();
                assert!(
                    gap < 1e-3 * (0.01 + exact.abs()),
                    "{} {:?} {key} {exact} {difference}",
                    output.class,
                    output.measure.quantity
                );
            }
        }
    }
}

fn all(model: Model, scenario: &Scenario) -> Sensitivities {
    sensitivities(model, scenario, &Request::all(scenario)).expect("an answer")
}

/// `max(b, M)` at `b = M`: more buffer counts, less does not.
#[test]
fn a_buffer_as_long_as_a_message_has_two_sides() {
    let at = |buffer: u32| of_means(&scenario(|spec| spec.router.buffer_flits = buffer));
    let (below, here, above) = (at(31), at(32), at(33));
    let place = here.parameters.iter().position(|parameter| parameter.key == "router.buffer_flits").unwrap();
    let latency = |found: &Sensitivities| found.outputs[0].sensitivities[place].clone();
    let found = latency(&here);
    assert!(found.elasticity.is_none() && found.reason.as_deref().unwrap().contains("one-sided"));
    assert_eq!(found.below.unwrap().elasticity, Some(0.0));
    assert_eq!(latency(&below).elasticity, Some(0.0));
    let (more, next) = (found.above.unwrap().elasticity.unwrap(), latency(&above).elasticity.unwrap());
    assert!(more != 0.0 && (more / next - 1.0).abs() < 0.2, "{more} {next}");
}

/// Miss probabilities where shares stay as they are: smooth, and known from two steps.
#[test]
fn misses_rise_with_load_and_steps_are_named() {
    let scenario = Preset::find("router16").unwrap().scenario();
    let by = |key: &str| {
        let parameters = vec![Parameter::find(key, &scenario).unwrap()];
        let quantities = vec![Quantity::MissProbability];
        sensitivities(Model::Published, &scenario, &Request { parameters, classes: vec![0], quantities })
            .unwrap()
    };
    let smooth = &by("class.*.rate").outputs[0].sensitivities[0];
    assert!(smooth.elasticity.unwrap() > 0.5 && smooth.error_estimate.unwrap() < 1e-4, "{smooth:?}");
    assert!(smooth.reason.as_deref().is_none_or(|why| !why.contains("steps")));
    let steps = &by("class.R1.rate").outputs[0].sensitivities[0];
    assert!(steps.reason.as_deref().unwrap().contains("steps") && steps.below.is_some(), "{steps:?}");
    let nothing = &by("class.BE.rate").outputs[0].sensitivities[0];
    assert_eq!(nothing.elasticity, Some(0.0));
    let ports = &by("network.ports").outputs[0].sensitivities[0];
    assert_eq!((ports.method, ports.elasticity), (Method::NeighbouringValues, Some(0.0)));
}

#[test]
fn a_saturated_class_says_why() {
    let saturated = scenario(|spec| spec.classes[2].rate = 0.03);
    let found = all(Model::Published, &saturated);
    for output in &found.outputs {
        for one in &output.sensitivities {
            assert_eq!(
                output.class == "BE",
                one.reason.as_deref().is_some_and(|why| why.contains("satura")),
                "{one:?}"
            );
            assert!(output.class != "BE" || (one.elasticity.is_none() && one.derivative.is_none()));
        }
    }
}

/// No number that is none, whatever is asked.
#[test]
fn any_scenario_has_finite_numbers_or_reasons() {
    let sound = |found: &Sensitivities| {
        for output in &found.outputs {
            for one in &output.sensitivities {
                let sides = [one.below, one.above].into_iter().flatten();
                let sides: Vec<_> = sides.flat_map(|side| [side.elasticity, side.derivative]).collect();
                let numbers = [one.elasticity, one.derivative, one.error_estimate];
                assert!(numbers.iter().chain(&sides).flatten().all(|number| number.is_finite()));
                let silent = one.derivative.is_none() && output.value != Some(0.0);
                assert!(
                    !silent || one.reason.is_some(),
                    "{} {:?} {one:?}",
                    output.class,
                    output.measure.quantity
                );
            }
        }
    };
    for seed in 200..240 {
        let mut spec = random(seed).spec().clone();
        // up to three times what the others have: some classes saturate, some are silent
        for (index, class) in spec.classes.iter_mut().enumerate() {
            if seed % 4 == 0 && class.message_flits <= 20 {
                class.deadlines = vec![DeadlineSpec::Cycles(40)];
            }
            class.rate = (class.rate * f64::from(seed as u32 % 4) * 1.5).min(1.0);
            if index == 0 && seed % 5 == 0 {
                class.rate = 0.0;
            }
        }
        let scenario = spec.check().unwrap();
        if let Ok(found) = sensitivities(Model::Published, &scenario, &Request::all(&scenario)) {
            sound(&found);
        }
    }
}

/// More classes than elimination takes: differences, and called so.
#[test]
fn many_classes_are_answered_by_differences() {
    let scenario = scenario(|spec| {
        let class = |index: u32| ClassSpec::real_time(&format!("R{index}"), 0.001 + 1e-5 * f64::from(index));
        spec.classes = (1..=10).map(class).collect();
    });
    let parameters = vec![Parameter::find("class.R1.rate", &scenario).unwrap()];
    let request = Request { parameters, classes: vec![0], quantities: vec![Quantity::NetworkLatency] };
    let found = sensitivities(Model::Published, &scenario, &request).unwrap();
    let one = &found.outputs[0].sensitivities[0];
    assert_eq!(one.method, Method::CentralDifferences);
    assert!(one.elasticity.is_some() && one.error_estimate.unwrap() < 1e-5, "{one:?}");
}

#[test]
fn the_refined_model_is_answered_by_differences() {
    let scenario = Preset::find("router16").unwrap().scenario();
    let keys = ["class.R1.rate", "class.R1.message_flits"];
    let parameters = keys.map(|key| Parameter::find(key, &scenario).unwrap()).to_vec();
    let quantities = vec![Quantity::NetworkLatency];
    let found =
        sensitivities(Model::Refined, &scenario, &Request { parameters, classes: vec![0, 2], quantities })
            .unwrap();
    for output in &found.outputs {
        let (rate, message) = (&output.sensitivities[0], &output.sensitivities[1]);
        assert_eq!((rate.method, message.method), (Method::CentralDifferences, Method::NeighbouringValues));
        assert!(rate.elasticity.unwrap() > 0.0 && rate.error_estimate.unwrap() < 0.05, "{rate:?}");
        assert!(message.elasticity.unwrap() > 0.5, "{message:?}");
    }
    assert_eq!(found.parameters[1].kind, ParameterKind::Whole);
}
