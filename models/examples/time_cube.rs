//! scratch: times one scenario. args: file repeats
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let doc =
        flitwise_models::document::Document::parse("x", &std::fs::read_to_string(&args[1]).unwrap()).unwrap();
    let s = doc.scenario().unwrap();
    let n: u32 = args.get(2).map_or(10, |n| n.parse().unwrap());
    let t = std::time::Instant::now();
    let mut found = flitwise_models::refined::prototype_of_cube(&s);
    for _ in 1..n {
        found = flitwise_models::refined::prototype_of_cube(&s);
    }
    println!("{:.2} ms", t.elapsed().as_secs_f64() * 1e3 / f64::from(n));
    for (name, f) in found {
        match f {
            Ok((m, _)) => println!("{name} L W in arb out gaps {m:.3?}"),
            Err(e) => println!("{name} {e}"),
        }
    }
}
