use flitwise_models::{published, scenario::Preset};
fn main(){
  for p in flitwise_models::scenario::PRESETS {
    let s=p.scenario();
    let t=std::time::Instant::now();
    let a=published::solve(&s,&published::Options::default());
    let d=t.elapsed();
    match a { Ok(a)=>{ println!("{} {:?} {}", p.name,d,a.report); for c in &a.classes { println!("  {} L {:?} W {:?} P {:?} S {:?} sat {} {:?} {:?}",c.name,c.network_latency_cycles,c.waiting_cycles,c.blocking_probability,c.cycles_per_flit,c.saturated,c.deadlines.iter().map(|d|d.miss_probability).collect::<Vec<_>>(),c.latency_percentiles_cycles);}}
     Err(e)=>println!("{} {e}",p.name)}
    let n=2000; let t=std::time::Instant::now();
    let n = if p.name.starts_with("cube"){100}else{n};
    for _ in 0..n { std::hint::black_box(published::solve(&s,&published::Options::default())).ok(); }
    println!("   {:?} each", t.elapsed()/n);
    let o=published::Options{distributions:false,..Default::default()};
    let t=std::time::Instant::now();
    for _ in 0..n { std::hint::black_box(published::solve(&s,&o)).ok(); }
    println!("   {:?} each (means)", t.elapsed()/n);
  }
  let _ = Preset::find("x");
}
