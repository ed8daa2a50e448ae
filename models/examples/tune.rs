//! scratch: model beside the tuning dump. args: file [case [class]]
use flitwise_models::document::Document;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let all: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&args[1]).unwrap()).unwrap();
    let only = args.get(2);
    let mut sums: std::collections::BTreeMap<(String, String), (Vec<f64>, Vec<String>)> = Default::default();
    let t = std::time::Instant::now();
    let mut solves = 0;
    for case in all["cases"].as_array().unwrap() {
        let name = case["name"].as_str().unwrap();
        let family = case["family"].as_str().unwrap().to_owned();
        if only.is_some_and(|o| o != name) {
            continue;
        }
        let doc = Document::parse("x", case["scenario"].as_str().unwrap()).unwrap();
        let base = doc.scenario().unwrap();
        if only.is_some() {
            println!("{}", case["scenario"].as_str().unwrap());
            println!("{}", case["saturation"]);
        }
        if std::env::var("SAT").is_ok() {
            for sat in case["saturation"].as_array().unwrap() {
                let f = sat["simulated"].as_f64().unwrap_or(f64::NAN);
                let mut spec = base.spec().clone();
                for class in &mut spec.classes { class.rate *= 1.5 * f; }
                let Ok(scenario) = spec.check() else { continue };
                let options = flitwise_models::model::Options { distributions: false, ..Default::default() };
                let Ok(answer) = flitwise_models::refined::solve(&scenario, &options) else { println!("no answer"); continue };
                let name2 = sat["class"].as_str().unwrap();
                let c = answer.classes.iter().find(|c| c.name == name2).unwrap();
                let m = c.saturation.as_ref().and_then(|s| s.at_load_factor).unwrap_or(f64::NAN) * 1.5;
                let kind = sat["kind"].as_str().unwrap();
                if only.is_some() || std::env::var("ALL").is_ok() { println!("{name} {name2} saturates {:+.1} %", (m - 1.0) * 100.0); }
                let s = sums.entry((family.clone() + " " + kind, "0 sat %".to_owned())).or_default(); s.0.push((m - 1.0) * 100.0); s.1.push(format!("{name} {name2}"));
            }
        }
        for point in case["points"].as_array().unwrap() {
            let mut spec = base.spec().clone();
            let factor = point["factor"].as_f64().unwrap();
            for class in &mut spec.classes {
                class.rate *= factor;
            }
            let scenario = spec.check().unwrap();
            let options = flitwise_models::model::Options {
                details: true,
                saturation_loads: false,
                distributions: std::env::var("MEANS").is_err(),
                ..Default::default()
            };
            let answer = match flitwise_models::refined::solve(&scenario, &options) {
                Ok(a) => a,
                Err(f) => {
                    println!("{name}@{}: {f}", point["load"]);
                    continue;
                }
            };
            solves += 1;
            let found = answer
                .classes
                .into_iter()
                .map(|c| {
                    let text = format!(
                        "input={:.3} arb={:.3} out={:.3} gaps={:.3} ",
                        c.input_cycles.unwrap_or(f64::NAN),
                        c.arbitration_cycles.unwrap_or(f64::NAN),
                        c.output_cycles.unwrap_or(f64::NAN),
                        c.gap_cycles.unwrap_or(f64::NAN)
                    ) + &c.saturation.map_or(String::new(), |s| s.because)
                        + &format!(" load={:?} report={}", c.source_load, answer.report);
                    let lw = c.network_latency_cycles.zip(c.waiting_cycles).map(|(l, w)| [l, w]);
                    let law = c
                        .latency_distribution
                        .map(|d| {
                            let mut b = 0.0;
                            d.at_most_probability
                                .iter()
                                .map(|p| {
                                    let x = p - b;
                                    b = *p;
                                    x
                                })
                                .collect::<Vec<f64>>()
                        })
                        .unwrap_or_default();
                    (c.name, lw, text, law)
                })
                .collect::<Vec<_>>();
            for (k, (class, lw, text, law)) in found.into_iter().enumerate() {
                let sim = &point["classes"][k];
                let kind = sim["kind"].as_str().unwrap();
                let sim = &sim["simulated"];
                let g = |k: &str| sim[format!("{k}_cycles")]["mean"].as_f64().unwrap_or(f64::NAN);
                let hw = |k: &str| sim[format!("{k}_cycles")]["half_width_95"].as_f64().unwrap_or(f64::NAN);
                let label = format!("{name}@{} {class}", point["load"]);
                let (l, w) = (g("network_latency"), g("waiting"));
                let mut line = format!("{label:24}");
                match lw {
                    Some([ml, mw]) => {
                        let mut add = |q: &str, e: f64| {
                            if e.is_finite() {
                                let s = sums.entry((family.clone() + " " + kind, q.to_owned())).or_default();
                                s.0.push(e);
                                s.1.push(label.clone());
                            }
                        };
                        let el = (ml / l - 1.0) * 100.0;
                        add("1 L %", el);
                        add(&format!("1 L @{}", point["load"]), el);
                        let ew = (mw / w - 1.0) * 100.0;
                        add("3 W %", if (mw - w).abs() < 0.5 { ew.clamp(-10.0, 10.0) } else { ew });
                        add("2 total %", ((ml + mw) / (l + w) - 1.0) * 100.0);
                        let misses = sim["misses"]["miss_probability"]
                            .as_array()
                            .map(|m| m.iter().map(|x| x.as_f64().unwrap()).collect::<Vec<_>>())
                            .unwrap_or_default();
                        let mut at_most = 0.0;
                        let mut worst: (f64, usize) = (0.0, 0);
                        for (i, miss) in misses.iter().enumerate() {
                            at_most += law.get(i).copied().unwrap_or(0.0);
                            let e = 1.0 - at_most - miss;
                            if e.abs() > worst.0.abs() {
                                worst = (e, i);
                            }
                        }
                        add("4 DMP", worst.0);
                        let mut percentiles = String::new();
                        let first = sim["misses"]["first_cycle"].as_f64().unwrap_or(0.0);
                        for (q, level) in [("p50", 0.5), ("p90", 0.9), ("p99", 0.99)] {
                            let mut sum = 0.0;
                            let at = law
                                .iter()
                                .position(|p| {
                                    sum += p;
                                    sum >= level
                                })
                                .unwrap_or(law.len()) as f64
                                + first;
                            let s =
                                sim["latency_percentiles_cycles"][q]["value"].as_f64().unwrap_or(f64::NAN);
                            let e = (at / s - 1.0) * 100.0;
                            add(q, e);
                            percentiles += &format!(" {e:+.1}");
                        }
                        let part = |k: &str| {
                            text.split(&format!("{k}="))
                                .nth(1)
                                .and_then(|t| t.split(' ').next())
                                .and_then(|t| t.parse::<f64>().ok())
                                .unwrap_or(f64::NAN)
                        };
                        line += &format!(
                            "L {l:7.2} {el:+5.2}% (±{:.1}) W {w:7.2} {ew:+6.1}% ({:+.2} ±{:.2}) tot {:+5.2}% dmp {:+.3}@{} p{percentiles} | in {:.2} {:+.2} arb {:.2} {:+.2} V+g {:.2} {:+.2}",
                            hw("network_latency") / l * 100.0,
                            mw - w,
                            hw("waiting"),
                            ((ml + mw) / (l + w) - 1.0) * 100.0,
                            worst.0,
                            worst.1,
                            g("input"),
                            part("input") - g("input"),
                            g("arbitration"),
                            part("arb") - g("arbitration"),
                            g("output") + g("sharing"),
                            part("out") + part("gaps") - g("output") - g("sharing")
                        );
                    }
                    None => line += &format!("SATURATED {text}"),
                }
                if only.is_some() || std::env::var("ALL").is_ok() {
                    println!("{line}");
                    if std::env::var("TXT").is_ok() {
                        println!("    {text}");
                    }
                }
            }
        }
    }
    println!("{solves} solves in {:?}", t.elapsed());
    for ((family, q), (e, labels)) in sums {
        let mean = e.iter().map(|e| e.abs()).sum::<f64>() / e.len() as f64;
        let bias = e.iter().sum::<f64>() / e.len() as f64;
        let worst = (0..e.len()).max_by(|a, b| e[*a].abs().total_cmp(&e[*b].abs())).unwrap();
        println!(
            "{family:34} {q:10} n {:3} mean {mean:6.3} bias {bias:+7.3} worst {:+7.3} {}",
            e.len(),
            e[worst],
            labels[worst]
        );
    }
}
