//! The *refined* model.

mod greedy_chain;
mod grid;
mod higher_classes;
mod interface;
mod link_sharing;
mod queue;
mod router;

use crate::scenario::{ClassKind, NetworkSpec, Scenario};
use grid::{Grid, Law};
use higher_classes::Above;
use interface::Interface;
use link_sharing::LinkSharing;
use router::{Found, Surroundings};

/// A class as links see it.
#[derive(Clone, Copy, Debug)]
struct Class {
    rate: f64,
    message: usize,
    vtick: f64,
}

impl Class {
    fn load(&self) -> f64 {
        self.rate * self.message as f64
    }
}

/// Prototype entry.
pub fn prototype(scenario: &Scenario, n: usize) -> Vec<(String, Option<[f64; 2]>, String, Vec<f64>)> {
    let grid = Grid::new(n);
    let NetworkSpec::Router { ports } = scenario.network() else { return Vec::new() };
    let a = (f64::from(ports) - 1.0) / f64::from(ports);
    let router = scenario.router();
    let clocked = router.scheduler == crate::scenario::Scheduler::VirtualClock;
    let real_time: Vec<Class> = scenario
        .classes()
        .iter()
        .filter(|class| class.kind == ClassKind::RealTime)
        .map(|class| Class {
            rate: class.rate,
            message: class.message_flits as usize,
            vtick: class.vtick.unwrap_or(1.0 / (class.rate * f64::from(class.message_flits))),
        })
        .collect();
    // own input: its messages contend only while they lag behind
    let lags: Vec<f64> = (0..real_time.len())
        .map(|own| {
            let class = &real_time[own];
            let sharing = LinkSharing::new(&grid, &real_time, own, 1.0, true);
            let m = class.message as f64;
            let l = class.rate * a;
            let wait = l * (m + 1.0) * (m + 1.0) / 2.0 / (1.0 - l * (m + 1.0)).max(0.05);
            ((wait + sharing.set_up.mean() + sharing.interruption) / m).min(1.0)
        })
        .collect();
    let own_share = |except: Option<usize>| {
        let loads = |d: usize| if Some(d) == except { 0.0 } else { real_time[d].load() };
        let all: f64 = (0..real_time.len()).map(loads).sum();
        let lagging: f64 = (0..real_time.len()).map(|d| loads(d) * lags[d]).sum();
        let f = if all > 0.0 { a + (1.0 - a) * lagging / all } else { a };
        f / (1.0 - (1.0 - f) * all)
    };
    let mut at = 0;
    let mut all = Vec::new();
    for class in scenario.classes() {
        let base = |m: u32| Surroundings {
            message: m as usize,
            buffer: router.buffer_flits as usize,
            stages: router.pipeline_stages as usize,
            rate: class.rate,
            contending: a,
            gaps_first: Vec::new(),
            gaps_later: Vec::new(),
            interface_set_up: Law::zero(),
            header_wait: 0.0,
            regain: Law::zero(),
            in_step: Vec::new(),
            lagging: Vec::new(),
            set_up: Law::zero(),
            left_behind: Law::zero(),
            fresh: vec![Law::zero()],
            seen: 0.0,
        };
        let around = match class.kind {
            ClassKind::BestEffort => {
                let above = Above::new(&grid, &real_time, 1.0);
                let met = Above::new(&grid, &real_time, own_share(None));
                Surroundings {
                    gaps_first: above.per_flit.clone(),
                    gaps_later: above.per_flit.clone(),
                    interface_set_up: above.set_up.clone(),
                    regain: above.set_up.clone(),
                    in_step: above.per_flit.iter().map(|e| e * a).collect(),
                    lagging: above.per_flit.clone(),
                    set_up: met.set_up.clone(),
                    fresh: vec![met.fresh.clone()],
                    seen: above.load,
                    ..base(class.message_flits)
                }
            }
            ClassKind::RealTime => {
                let own = at;
                at += 1;
                let sharing = LinkSharing::new(&grid, &real_time, own, own_share(Some(own)), clocked);
                let interface = Interface::new(&grid, &real_time, own, &vec![1.0; real_time.len()]);
                let m = class.message_flits as usize;
                Surroundings {
                    in_step: sharing.per_flit(&grid, m, a),
                    lagging: sharing.per_flit(&grid, m, 1.0),
                    fresh: (0..m.div_ceil(4)).map(|i| sharing.fresh(&grid, interface.gap, a, m - 4 * i)).collect(),
                    set_up: sharing.set_up,
                    left_behind: sharing.left_behind,
                    seen: sharing.seen,
                    gaps_first: interface.first,
                    gaps_later: interface.later,
                    interface_set_up: interface.set_up,
                    header_wait: interface.header_wait,
                    regain: interface.regain,
                    ..base(class.message_flits)
                }
            }
        };
        let debug = format!(
            "v={:.4} vl={:.4} h={:.4} fresh={:.4}",
            around.set_up.mean(),
            around.left_behind.mean(),
            around.seen,
            around.fresh[0].mean()
        );
        match around.solve(&grid, 1e-3) {
            Ok(found) => {
                let Found { latency, waiting, rounds, change, .. } = found;
                let mut text = debug;
                for (name, value) in &found.debug {
                    text += &format!(" {name}={value:.4}");
                }
                text += &format!(
                    " | input={:.3} arb={:.3} out={:.3} gaps={:.3} rounds={rounds} change={change:.1e} load={:.4}",
                    found.input, found.arbitration, found.output, found.gaps, found.source_load
                );
                all.push((class.name.clone(), Some([latency, waiting]), text, found.latency_law.probabilities().to_vec()));
            }
            Err(load) => all.push((class.name.clone(), None, format!("{debug} load={load}"), Vec::new())),
        }
    }
    all
}
/// scratch
pub fn debug_ni() {
    let grid = Grid::new(1024);
    for r in [0.005, 0.008] {
        let cs: Vec<Class> = [r, r / 2.0].iter().map(|r| Class { rate: *r, message: 32, vtick: 1.0 / (r * 32.0) }).collect();
        for own in 0..2 { let i = Interface::new(&grid, &cs, own, &[1.0, 1.0]);
            let l = LinkSharing::new(&grid, &cs, own, 1.0, true);
            println!("G0 {:.3} G1 {:.3} | v {:.3} vl {:.3} seen {:.4} I {:.3}", grid.law(grid.compound(&i.first, 32.0)).mean(), grid.law(grid.compound(&i.later, 32.0)).mean(), l.set_up.mean(), l.left_behind.mean(), l.seen, l.interruption); }
    }
}
/// scratch
pub fn debug_ni4() {
    let grid = Grid::new(2048);
    for f in [1.48f64, 1.13] {
        let cs: Vec<Class> = [(0.003582, 30usize), (0.002919, 48), (0.00221, 49), (0.002363, 61)].iter().map(|(r, m)| Class { rate: *r * f, message: *m, vtick: 1.0 / (r * f * *m as f64) }).collect();
        for own in 0..4 { let i = Interface::new(&grid, &cs, own, &[]);
            let m = cs[own].message as f64;
            let (g0, g1) = (grid.law(grid.compound(&i.first, m)), grid.law(grid.compound(&i.later, m)));
            let q = queue::Queue::new(&grid, cs[own].rate, &g1.plus(m), &g0.plus(m), &Law::zero()).unwrap();
            println!("{own} P0 {:.3} G0 {:.3} sd {:.2} G1 {:.3} sd {:.2} W {:.3} hw {:.3}", q.empty, g0.mean(), (g0.second_moment() - g0.mean().powi(2)).sqrt(), g1.mean(), (g1.second_moment() - g1.mean().powi(2)).sqrt(), q.mean_wait, i.header_wait); }
    }
}
