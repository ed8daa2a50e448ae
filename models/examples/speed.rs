//! scratch
use flitwise_models::scenario::*;
use flitwise_models::model::*;
fn main() {
    let mut doc = Preset::find("router16").ok().unwrap().document();
    for kv in std::env::args().skip(1) { let (k, v) = kv.split_once('=').unwrap(); doc.set(k, v, &flitwise_models::document::Place::Program).unwrap(); }
    let s = doc.scenario().unwrap();
    for distributions in [true, false] {
        let o = Options { distributions, saturation_loads: false, ..Default::default() };
        let t = std::time::Instant::now();
        let n = 20;
        let mut a = None;
        for _ in 0..n { a = Some(flitwise_models::refined::solve(&s, &o).unwrap()); }
        println!("{:?}", t.elapsed() / n);
        for c in &a.as_ref().unwrap().classes { println!("  {} {:?} {:?} {:?}", c.name, c.network_latency_cycles, c.waiting_cycles, c.source_load); println!("     in {:.2?} arb {:.2?} out {:.2?} gaps {:.2?}", c.input_cycles, c.arbitration_cycles, c.output_cycles, c.gap_cycles); }
        println!("  {}", a.unwrap().report);
    }
}
