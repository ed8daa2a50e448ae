//! How far the recn model is off for uniform traffic in random networks of packet switches: a table against the
//! simulator.
//!
//! `cargo run --release --example packets -- SEED COUNT`: throughput where all hosts send without a pause, and mean
//! latency at shares of it; one line a network, then mean and worst errors by organisation of queues.

use std::collections::BTreeMap;

use flitwise_language::scenario::{Document, Place, Preset, Scenario, Timing};
use flitwise_models::recn;
use flitwise_simulator::packet::{Delivery, Fabric, Load, Simulator, Traffic};

/// Shares of the simulated saturation at which latencies are compared.
const SHARES: [f64; 3] = [0.3, 0.6, 0.85];
/// Times of a packet on a link before and while it is measured.
const WARM_UP: u64 = 400;
const MEASURED: u64 = 1200;

const ORGANISATIONS: [&str; 5] = ["one-queue", "four-queues", "voq-switch", "voq-network", "recn"];

/// A random network, its number of places a queue, and whether it sends by chance.
fn draw(state: &mut u64, index: usize) -> (Document, String) {
    let mut of = |from: &[u32]| {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        from[(*state >> 33) as usize % from.len()]
    };
    let organisation = ORGANISATIONS[index % ORGANISATIONS.len()];
    let hosts = of(&[16, 32, 64]);
    let direction = ["unidirectional", "bidirectional"][of(&[0, 1]) as usize];
    let packet = of(&[64, 128, 256, 512]);
    let crossbar = of(&[8, 9, 10, 12, 16]);
    let queues = match organisation {
        "four-queues" => 4,
        "voq-switch" => 8,
        "voq-network" => hosts,
        _ => 1,
    };
    let places = of(&[2, 3, 4, 6, 8, 12, 16, 32, 64]);
    let source = ["periodic", "poisson"][of(&[0, 1]) as usize];
    let mut document = Preset::find("recn64-quick").expect("a preset").document();
    let settings = [
        ("network.hosts", hosts.to_string()),
        ("network.direction", direction.to_owned()),
        ("switch.organisation", organisation.to_owned()),
        ("switch.packet", packet.to_string()),
        ("switch.crossbar_rate", crossbar.to_string()),
        ("switch.port_memory", (queues * places * packet).to_string()),
        ("class.hot.rate", "0".to_owned()),
        ("class.hot.nodes", "1".to_owned()),
        ("class.hot.destination", "0".to_owned()),
        ("class.random.nodes", format!("0-{}", hosts - 1)),
        ("class.random.source.kind", source.to_owned()),
    ];
    for (key, value) in settings {
        document.set(key, &value, &Place::Program).unwrap_or_else(|fault| panic!("{key}: {fault:?}"));
    }
    let name = format!(
        "{organisation} {hosts} {direction:.3} {packet} B s {:.3} k {places} {source:.4}",
        f64::from(crossbar) / 8.0
    );
    (document, name)
}

/// The same at a share of a link.
fn at(document: &Document, load: f64) -> Scenario {
    let mut document = document.clone();
    document.set("class.random.rate", &format!("\"{} %\"", 100.0 * load), &Place::Program).expect("a rate");
    document.scenario().expect("a sound scenario")
}

/// Throughput as a share of all links, and mean latency \[ns\].
fn simulated(scenario: &Scenario) -> (f64, f64) {
    let timing = Timing::of(scenario.switch().expect("switches")).expect("a tick");
    let fabric = Fabric::of(scenario).expect("packet switches");
    let load = Load { traffics: vec![Traffic::of(scenario, 0, timing.tick_ns)], seed: 1, ..Load::default() };
    let mut simulator = Simulator::new(&fabric, &load);
    let mut delivered: Vec<Delivery> = Vec::new();
    simulator.run_until(WARM_UP * timing.packet_link, &mut delivered);
    delivered.clear();
    simulator.run_until((WARM_UP + MEASURED) * timing.packet_link, &mut delivered);
    let latency: u64 = delivered.iter().map(|one| one.delivered - one.generated).sum();
    let number = delivered.len() as f64;
    let hosts = f64::from(fabric.network.nodes());
    (number / (hosts * MEASURED as f64), latency as f64 / number * timing.tick_ns)
}

/// The largest load of which all but 2 % is delivered.
fn saturation(document: &Document) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    while high - low > 0.01 * high {
        let middle = f64::midpoint(low, high);
        let is_stable = simulated(&at(document, middle)).0 >= 0.98 * middle;
        (low, high) = if is_stable { (middle, high) } else { (low, middle) };
    }
    f64::midpoint(low, high)
}

#[derive(Default)]
struct Errors(BTreeMap<(String, &'static str), Vec<f64>>);

#[allow(clippy::print_stdout)] // a table is what it is for
fn main() {
    let words: Vec<u64> = std::env::args().skip(1).map(|word| word.parse().expect("a number")).collect();
    let &[mut state, count] = words.as_slice() else { panic!("SEED COUNT") };
    let mut errors = Errors::default();
    for index in 0..count as usize {
        let (document, name) = draw(&mut state, index);
        let full = at(&document, 1.0);
        let (overload, _) = simulated(&full);
        let throughput = saturation(&document);
        let organisation = ORGANISATIONS[index % ORGANISATIONS.len()];
        let mut note = |what: &'static str, found: f64, wanted: f64| {
            let off = 100.0 * (found / wanted - 1.0);
            errors.0.entry((organisation.to_owned(), what)).or_default().push(off);
            format!("  {wanted:.3} {found:.3} ({off:+.1} %)")
        };
        print!("{name}: overload {overload:.3}");
        match recn::predict(&full) {
            Err(_) => print!("  {throughput:.3} refused"),
            Ok(found) => print!("{}", note("saturation", found.saturation_load, throughput)),
        }
        for share in SHARES {
            let scenario = at(&document, share * throughput);
            let (_, latency) = simulated(&scenario);
            match recn::predict(&scenario).ok().map(|found| found.latency_ns.unwrap_or(f64::NAN)) {
                None => print!("  {latency:.0}"),
                Some(found) => {
                    let what = ["latency 0.3", "latency 0.6", "latency 0.85"]
                        [SHARES.iter().position(|one| *one == share).unwrap_or(0)];
                    print!("{}", note(what, found, latency));
                }
            }
        }
        println!();
    }
    for ((organisation, what), all) in &errors.0 {
        let known: Vec<f64> = all.iter().map(|off| off.abs()).filter(|off| off.is_finite()).collect();
        let mean = known.iter().sum::<f64>() / known.len().max(1) as f64;
        let worst = known.iter().copied().fold(0.0, f64::max);
        println!(
            "{organisation} {what}: mean {mean:.1} worst {worst:.1} % of {} ({} without)",
            all.len(),
            all.len() - known.len()
        );
    }
}
