#![allow(missing_docs)]
use flitwise_models::{published::*, scenario::*};
fn main(){
  let mk=|n:&str,r:f64,m:u32| ClassSpec{message_flits:m,..ClassSpec::real_time(n,r)};
  let spec=ScenarioSpec{name:"x".into(),network:NetworkSpec::Router{ports:16},router:RouterSpec{pipeline_stages:3,buffer_flits:53,..Default::default()},
   classes:vec![mk("R0",0.01087671512513798,14),mk("R1",0.004314272848612789,20),mk("R2",0.017280737060336372,22),mk("R3",6.251733244651815e-5,1),mk("R4",0.0013015545228966185,69)]};
  let s=spec.check().unwrap();
  let o=Options{distributions:false,saturation_loads:false,..Default::default()};
  match solve(&s,&o) { Err(Failure::NotConverged(r))=>{ for i in (0..r.residuals.len()).step_by(997) { println!("{i} {:e}",r.residuals[i]); } for i in 20000..20060 { print!("{:.2e} ",r.residuals[i]);} } x=>println!("{x:?}") }
}
