#![allow(missing_docs)]
use flitwise_models::{published::*, scenario::*};
struct R(u64);
impl R{ fn u(&mut self)->f64{ self.0=self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407); (self.0>>11) as f64/(1u64<<53) as f64}
 fn k(&mut self,a:u32,b:u32)->u32{ a+(self.u()*f64::from(b-a+1)) as u32 } }
fn main(){
  let args:Vec<String>=std::env::args().collect();
  let (count,maxk,cube,dist)=(args[1].parse::<u32>().unwrap(),args[2].parse::<u32>().unwrap(),args[3]=="cube",args[4]=="dist");
  let mut r=R(args.get(5).map_or(7,|s|s.parse().unwrap()));
  let mut slow:Vec<(f64,String)>=vec![]; let (mut ok,mut sat,mut bad)=(0,0,0); let mut maxit=0;
  for i in 0..count {
    let k=r.k(if maxk>6 {maxk} else {0},maxk); let load=10f64.powf(-1.5+2.0*r.u());
    let mut classes=vec![]; let w:Vec<f64>=(0..k+1).map(|_| if r.u()<0.5 {r.u()+0.01} else {10f64.powf(-4.0*r.u())}).collect();
    let t:f64=w.iter().sum();
    let eq=r.u()<0.5; let m0=r.k(1,64);
    for c in 0..k { let m=if eq {m0} else {r.k(1,128)}; let mut cl=ClassSpec::real_time(&format!("R{c}"), (load*w[c as usize]/t/f64::from(m)).clamp(1e-12,1.0)); cl.message_flits=m;
      if r.u()<0.15 { cl.vtick=Some(10f64.powf(2.0*r.u())); } if r.u()<0.05 {cl.rate=0.0;} classes.push(cl);}
    if k==0 || r.u()<0.8 { let m=if eq {m0} else {r.k(1,128)}; let mut cl=ClassSpec::best_effort("BE",(load*w[k as usize]/t/f64::from(m)).clamp(1e-12,1.0)); cl.message_flits=m; classes.push(cl);}
    let network= if cube {NetworkSpec::Hypercube{dimension:r.k(1,if dist{7}else{10})}} else {NetworkSpec::Router{ports:16}};
    let spec=ScenarioSpec{name:format!("{i}"),network,router:RouterSpec{pipeline_stages:r.k(1,9),buffer_flits:if r.u()<0.5 {r.k(1,128)} else {m0},..Default::default()},classes};
    let s=spec.check().unwrap_or_else(|e| panic!("{e:?}"));
    let t=std::time::Instant::now();
    let o=Options{distributions:dist,saturation_loads:false,..Default::default()};
    let a=solve(&s,&o); let d=t.elapsed().as_secs_f64();
    match &a { Ok(a)=>{ maxit=maxit.max(a.report.iterations); if a.saturated {sat+=1} else {ok+=1} 
       slow.push((d,format!("load {load:.3} it {} k {k} {:?}",a.report.iterations,s.network())));
       for c in &a.classes { for v in [c.network_latency_cycles,c.waiting_cycles,c.sharing_cycles] { if let Some(v)=v { assert!(v.is_finite(),"{a:?}"); } } 
         if let Some(l)=c.network_latency_cycles {if l<0.0 {println!("negative latency {l} load {load}");}} } }
      Err(e)=>{bad+=1; if bad<12 {println!("{e} load {load:.3} k {k} {:?}", s.network()); if bad<3 {println!("{:?}",s.spec());} } slow.push((d,format!("BAD load {load:.3} k {k} {:?}",s.network())));} }
  }
  slow.sort_by(|a,b|b.0.total_cmp(&a.0));
  println!("ok {ok} saturated {sat} bad {bad} max iterations {maxit}; median {:.2e}",slow[slow.len()/2].0); for s in &slow[..5] {println!("  {:.4} s {}",s.0,s.1);}
}
