//! scratch
use flitwise_models::scenario::*;
fn main() {
    let args: Vec<f64> = std::env::args().skip(1).filter_map(|a| a.parse().ok()).collect();
    let n = args[0] as usize;
    let mut spec = ScenarioSpec::default();
    spec.classes[0].rate = args[1];
    spec.classes[1].rate = args[2];
    if args[3] > 0.0 { spec.classes[2].rate = args[3]; } else { spec.classes.pop(); }
    if args[2] <= 0.0 { spec.classes.remove(1); }
    let s = spec.check().unwrap();
    let t = std::time::Instant::now();
    for (name, lw, text) in flitwise_models::refined::prototype(&s, n) { println!("{name} {lw:?}\n   {text}"); }
    println!("{:?}", t.elapsed());
}
