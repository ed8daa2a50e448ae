//! scratch
use flitwise_models::scenario::*;
use flitwise_validation::experiment::*;
struct L(std::time::Instant);
impl Listener for L {
    fn progress(&mut self, p: &Progress) {
        eprintln!("{:.2}s {:?}", self.0.elapsed().as_secs_f64(), p);
    }
    fn measured(&mut self, _: u32, _: &[flitwise_validation::Delivery]) {}
}
fn main() {
    let arg: Vec<String> = std::env::args().collect();
    let mut doc = Preset::find(&arg[1]).unwrap().document();
    for s in &arg[2..] {
        let (k, v) = s.split_once('=').unwrap();
        doc.set(k, v, &Place::Program).unwrap();
    }
    let stop = std::sync::atomic::AtomicBool::new(false);
    let a = run(&doc.scenario().unwrap(), &Settings::default(), &stop, &mut L(std::time::Instant::now()))
        .unwrap();
    println!("{:#?}", a.run);
    for c in &a.classes {
        println!(
            "{} {:?}\n   {:?}\n  {:?} {:?}\n {:?}",
            c.name,
            c.network_latency_cycles,
            c.waiting_cycles,
            c.saturation,
            c.latency_percentiles_cycles,
            c.deadlines
        );
    }
    for c in &a.channels {
        println!("{:?}", c);
    }
    println!("{:?}", a.notes);
}
