//! scratch: model beside the tuning dump of cubes. args: file [case]; ALL=1: lines
use flitwise_models::document::Document;
use std::collections::BTreeMap;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let all: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&args[1]).unwrap()).unwrap();
    let only = args.get(2);
    let lines = std::env::var("ALL").is_ok() || only.is_some();
    let mut sums: BTreeMap<(String, String, String), Vec<(f64, String)>> = BTreeMap::new();
    let mut took = Vec::new();
    for case in all["cases"].as_array().unwrap() {
        let name = case["name"].as_str().unwrap();
        let family = case["family"].as_str().unwrap().to_owned();
        if !family.contains("cube") && !name.contains("cube") {
            continue;
        }
        if only.is_some_and(|o| !o.split(',').any(|o| name.ends_with(o))) {
            continue;
        }
        let doc = Document::parse("x", case["scenario"].as_str().unwrap()).unwrap();
        let base = doc.scenario().unwrap();
        if only.is_some() {
            println!("{}", case["scenario"].as_str().unwrap());
        }
        for point in case["points"].as_array().unwrap() {
            let mut spec = base.spec().clone();
            let factor = point["factor"].as_f64().unwrap();
            for class in &mut spec.classes {
                class.rate *= factor;
            }
            let scenario = spec.check().unwrap();
            let t = std::time::Instant::now();
            let found = flitwise_models::refined::prototype_of_cube(&scenario);
            let ms = t.elapsed().as_secs_f64() * 1e3;
            took.push(ms);
            if lines {
                println!(
                    "-- {name} load {} {:.1} ms: n {:?} b {} P {} M {:?} sched {:?}",
                    point["load"],
                    ms,
                    base.network(),
                    base.router().buffer_flits,
                    base.router().pipeline_stages,
                    base.classes().iter().map(|c| c.message_flits).collect::<Vec<_>>(),
                    base.router().scheduler
                );
            }
            for (k, (class, answer)) in found.into_iter().enumerate() {
                let sim = &point["classes"][k];
                let kind = sim["kind"].as_str().unwrap();
                let kind = if kind == "real-time" { "RT" } else { "BE" };
                let sim = &sim["simulated"];
                let g = |k: &str| sim[format!("{k}_cycles")]["mean"].as_f64().unwrap_or(f64::NAN);
                let hw = |k: &str| sim[format!("{k}_cycles")]["half_width_95"].as_f64().unwrap_or(f64::NAN);
                let label = format!("{name}@{} {class}", point["load"]);
                let group = format!("{family:22} {kind} {}", point["load"]);
                let (l, w) = (g("network_latency"), g("waiting"));
                let mut line = format!("{label:26}");
                let mut add = |q: &str, e: f64| {
                    if e.is_finite() {
                        sums.entry((group.clone(), q.to_owned(), String::new()))
                            .or_default()
                            .push((e, label.clone()));
                    }
                };
                match answer {
                    Err(text) => {
                        line += &format!("SATURATED {text}");
                        if l.is_finite() {
                            add("9 saturated", 1.0);
                        }
                    }
                    Ok(([ml, mw, inp, arb, out, gaps], laws)) => {
                        let el = (ml / l - 1.0) * 100.0;
                        let ew = (mw / w - 1.0) * 100.0;
                        add("1 L %", el);
                        add("3 W %", if (mw - w).abs() < 0.5 { ew.clamp(-10.0, 10.0) } else { ew });
                        add("2 total %", ((ml + mw) / (l + w) - 1.0) * 100.0);
                        let mut by_hops = String::new();
                        for hop in sim["hops"].as_array().into_iter().flatten() {
                            let h = hop["hops"].as_u64().unwrap() as u32;
                            let Some((_, _, lone, law)) = laws.iter().find(|l| l.0 == h) else { continue };
                            let mean = lone + law.iter().enumerate().map(|(x, p)| x as f64 * p).sum::<f64>();
                            let simulated =
                                hop["network_latency_cycles"]["mean"].as_f64().unwrap_or(f64::NAN);
                            let misses = &hop["misses"];
                            if misses["messages"].as_f64().unwrap_or(0.0) < 3000.0 {
                                continue;
                            }
                            let first = misses["first_cycle"].as_f64().unwrap() - lone;
                            let (mut worst, mut sum, mut n) = ((0.0_f64, 0), 0.0, 0.0);
                            for (i, miss) in misses["miss_probability"].as_array().unwrap().iter().enumerate()
                            {
                                let x = first + i as f64;
                                if x < 0.0 {
                                    continue;
                                }
                                let at_most: f64 = law.iter().take(x as usize + 1).sum();
                                let e = 1.0 - at_most - miss.as_f64().unwrap();
                                if x >= 5.0 {
                                    sum += e.abs();
                                    n += 1.0;
                                    if e.abs() > worst.0.abs() {
                                        worst = (e, x as usize);
                                    }
                                }
                            }
                            add("5 DMP worst", worst.0);
                            if n > 0.0 {
                                add("4 DMP mean", sum / n);
                            }
                            by_hops += &format!(
                                " h{h} {:+.1} {:+.3}@{}",
                                (mean / simulated - 1.0) * 100.0,
                                worst.0,
                                worst.1
                            );
                        }
                        line += &format!(
                            "L {l:7.2} {el:+5.2}% (±{:.1}) W {w:7.2} {ew:+6.1}% ({:+.2} ±{:.2}) | in {:.2} {:+.2} arb {:.2} {:+.2} V+g {:.2} {:+.2} |{by_hops}",
                            hw("network_latency") / l * 100.0,
                            mw - w,
                            hw("waiting"),
                            g("input"),
                            inp - g("input"),
                            g("arbitration"),
                            arb - g("arbitration"),
                            g("output") + g("sharing"),
                            out + gaps - g("output") - g("sharing")
                        );
                    }
                }
                if lines {
                    println!("{line}");
                }
            }
        }
    }
    let all: f64 = took.iter().sum();
    println!(
        "{} solves, {:.1} ms each, most {:.1}",
        took.len(),
        all / took.len() as f64,
        took.iter().copied().fold(0.0, f64::max)
    );
    for ((family, q, _), e) in sums {
        let n = e.len() as f64;
        let mean = e.iter().map(|e| e.0.abs()).sum::<f64>() / n;
        let bias = e.iter().map(|e| e.0).sum::<f64>() / n;
        let worst = e.iter().max_by(|a, b| a.0.abs().total_cmp(&b.0.abs())).unwrap();
        println!(
            "{family:34} {q:12} n {n:3} mean {mean:7.3} bias {bias:+8.3} worst {:+8.3} {}",
            worst.0, worst.1
        );
    }
}
