#![allow(missing_docs)]
use flitwise_models::{published::*, scenario::*};
fn main(){
  for name in ["cube5","cube6","cube7","cube6-be64","cube6-3rt"] { for k in 1..30 { let f=f64::from(k)*0.2;
    let mut spec=Preset::find(name).unwrap().scenario().spec().clone();
    for c in &mut spec.classes { c.rate*=f; }
    let s=spec.check().unwrap(); let t=std::time::Instant::now();
    let o=Options{distributions:false,saturation_loads:false,..Default::default()};
    match solve(&s,&o) { Ok(a)=>println!("{name} {f:.1} it {} {:?} {}",a.report.iterations,t.elapsed(),a.classes.iter().map(|c| format!("{} L {:.4} {} gL {:.3} P {:.3}; ",c.name,c.network_latency_cycles.unwrap_or(f64::NAN),if c.saturated {"SAT"} else {""},c.source_load.unwrap_or(f64::NAN), c.blocking_probability.unwrap_or(f64::NAN))).collect::<String>()), Err(e)=>println!("{name} {f:.1} {e} {:?}",t.elapsed()) }
  }}
}
