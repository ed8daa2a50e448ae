//! scratch
use flitwise_models::scenario::*;
use flitwise_validation::simulator::Simulator;
fn main() {
    let arg: Vec<String> = std::env::args().collect();
    let preset = &arg[1];
    let load: f64 = arg[2].parse().unwrap();
    let cycles: u64 = arg[3].parse().unwrap();
    let seeds: u64 = arg.get(4).map_or(1, |s| s.parse().unwrap());
    let mut doc = Preset::find(preset).unwrap().document();
    for s in &arg[5.min(arg.len())..] {
        let (k, v) = s.split_once('=').unwrap();
        doc.set(k, v, &Place::Program).unwrap();
    }
    let mut spec = doc.scenario().unwrap().spec().clone();
    if load > 0.0 {
        let total: f64 = spec.classes.iter().map(|c| c.rate * f64::from(c.message_flits)).sum();
        for c in &mut spec.classes {
            c.rate *= load / total;
        }
    }
    let scenario = spec.check().unwrap();
    let n = scenario.classes().len();
    let mut tot = vec![(0u64, 0u64, 0u64); n];
    let t = std::time::Instant::now();
    let mut hops = 0;
    let mut routers = 0.0;
    for seed in 0..seeds {
        let mut sim = Simulator::new(&scenario, seed);
        let mut d = Vec::new();
        sim.run_until(cycles, &mut d);
        hops += sim.flit_hops();
        for m in &d {
            if m.generated_cycle > cycles / 10 {
                let e = &mut tot[m.class as usize];
                e.0 += 1;
                e.1 += m.network_latency_cycles();
                e.2 += m.waiting_cycles();
            }
        }
        routers += cycles as f64
            * match scenario.network() {
                NetworkSpec::Router { .. } => 1.0,
                NetworkSpec::Hypercube { dimension } => (1u64 << dimension) as f64,
            };
        eprintln!("{:?}", sim.backlog());
    }
    let s = t.elapsed().as_secs_f64();
    for e in &tot {
        println!("{:.3} {:.3} ({})", e.1 as f64 / e.0 as f64, e.2 as f64 / e.0 as f64, e.0);
    }
    println!(
        "{:.1} M flit-hops/s, {:.1} M router-cycles/s, {:.2} s",
        hops as f64 / s / 1e6,
        routers / s / 1e6,
        s
    );
}
