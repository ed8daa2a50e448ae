//! scratch: model beside /tmp/quick.json
use flitwise_models::document::Place;
use flitwise_models::scenario::*;
fn main() {
    let only = std::env::args().nth(1);
    let all: serde_json::Value = serde_json::from_str(&std::fs::read_to_string("/tmp/quick.json").unwrap()).unwrap();
    for (name, entry) in all.as_object().unwrap() {
        if only.as_ref().is_some_and(|o| o != name) { continue; }
        let mut doc = Preset::find("router16").ok().unwrap().document();
        for s in entry["sets"].as_array().unwrap() {
            let (k, v) = s.as_str().unwrap().split_once('=').unwrap();
            doc.set(k, v, &Place::Program).unwrap();
        }
        let scenario = doc.scenario().unwrap();
        let t = std::time::Instant::now();
        let found = flitwise_models::refined::prototype(&scenario, 2048);
        let took = t.elapsed();
        println!("{name} {took:?}");
        for (class, lw, text, _) in found {
            let sim = &entry["classes"][&class];
            let g = |k: &str| sim[k].as_f64().unwrap_or(f64::NAN);
            let part = |k: &str| text.split(&format!("{k}=")).nth(1).and_then(|t| t.split(' ').next()).and_then(|t| t.parse::<f64>().ok()).unwrap_or(f64::NAN);
            match lw {
                Some([l, w]) => println!("  {class:3} L {:7.2} {:+5.2}%  W {:7.2} {:+6.1}% ({:+.2}) tot {:+5.2}% | in {:.2} {:+.2} | arb {:.2} {:+.2} | V+gaps {:.2} {:+.2}", g("L"), (l / g("L") - 1.0) * 100.0, g("W"), (w / g("W") - 1.0) * 100.0, w - g("W"), ((l + w) / (g("L") + g("W")) - 1.0) * 100.0,
                    g("inp"), part("input") - g("inp"), g("arb"), part("arb") - g("arb"), g("out") + g("sh"), part("out") + part("gaps") - g("out") - g("sh")),
                None => println!("  {class} saturated: {text}"),
            }
            if only.is_some() { println!("     {text}"); }
        }
    }
}
