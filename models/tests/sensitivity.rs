//! Derivatives against central differences over random scenarios, and what must hold for any.

use flitwise_models::fixed_point;
use flitwise_models::model::{Model, Options};
use flitwise_models::scenario::{
    ClassSpec, DeadlineSpec, NetworkSpec, Preset, RouterSpec, Scenario, ScenarioSpec,
};
use flitwise_models::sensitivity::{
    Method, OutputSensitivities, Parameter, ParameterKind, Quantity, Request, Sensitivities, sensitivities,
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
        NetworkSpec::Hypercube { dimension: stream.whole(1, 5) }
    } else {
        NetworkSpec::Router { ports: 16 }
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
    let spec = ScenarioSpec { name: "random".to_owned(), network, router, classes };
    spec.check().unwrap_or_else(|faults| panic!("{faults:?}"))
}

const MEANS: [Quantity; 6] = [
    Quantity::NetworkLatency,
    Quantity::Blocking,
    Quantity::Sharing,
    Quantity::Waiting,
    Quantity::TotalLatency,
    Quantity::Utilization,
];

fn of_means(scenario: &Scenario) -> Sensitivities {
    let request = Request { quantities: MEANS.to_vec(), ..Request::all(scenario) };
    sensitivities(Model::Published, scenario, &request).unwrap()
}

/// Means of all classes, in the order of [`of_means`].
fn means(spec: ScenarioSpec) -> Vec<Option<f64>> {
    let options = Options { distributions: false, saturation_loads: false, ..Options::default() };
    let answer = Model::Published.solve(&spec.check().unwrap(), &options).unwrap();
    let of_class = |class: &flitwise_models::answer::ClassAnswer| {
        [
            class.network_latency_cycles,
            class.blocking_cycles,
            class.sharing_cycles,
            class.waiting_cycles,
            class.total_latency_cycles,
            class.utilization,
        ]
        .map(|value| value.filter(|_| !class.saturated))
    };
    answer.classes.iter().flat_map(of_class).collect()
}

/// Moves a real parameter by a share.
fn moved(scenario: &Scenario, key: &str, share: f64) -> ScenarioSpec {
    let mut spec = scenario.spec().clone();
    let (class, field) = key.strip_prefix("class.").unwrap().split_once('.').unwrap();
    let class = spec.classes.iter_mut().find(|other| other.name == class).unwrap();
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
                    output.quantity,
                    parameter.key
                );
            }
        }
    }
    println!("{compared} derivatives, worst {worst:e}");
    assert!(compared > 4000, "{compared}");
}
