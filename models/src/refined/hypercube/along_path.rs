//! The tail of a message along all paths of some hops.

use super::super::ecube_paths::Output;
use super::super::law::Law;
use super::super::source::Queued;
use super::super::station::Around;
use super::super::tail_and_header::{Crossed, TailAndHeader, mix};
use super::{Like, OneClass, Station, Stations};

/// Mean delays of a typical path that the lattice of the laws spans.
const SPAN: f64 = 8.0;

/// A router on the paths of some hops.
pub(super) struct Stop {
    pub(super) outputs: Vec<(f64, Output)>,
    /// Mean wait in the input channel \[cells\].
    pub(super) in_channel: f64,
}

/// All paths of some hops, with mean times over the routers \[cells\].
pub(super) struct Path {
    pub(super) stops: Vec<Stop>,
    /// In input channels.
    pub(super) waits: f64,
    pub(super) granted: f64,
    pub(super) link: f64,
}

impl Path {
    pub(super) fn new(class: &OneClass<'_>, stations: &Stations, in_channel: &[f64], hops: u32) -> Self {
        let paths = class.paths;
        let stop = |k: u32| {
            let behind = |s: u32| paths.in_dimension(hops, k - 1, s) * in_channel[s as usize];
            let in_channel = if k > 1 { (0..class.dimension).map(behind).sum() } else { 0.0 };
            Stop { outputs: paths.outputs(hops, k), in_channel }
        };
        let stops: Vec<Stop> = (1..=hops + 1).map(stop).collect();
        let sum = |what: &dyn Fn(&Station) -> f64| {
            stops.iter().map(|stop| stations.mean(&stop.outputs, what)).sum()
        };
        Self {
            waits: stops.iter().map(|stop| stop.in_channel).sum(),
            granted: sum(&|station| station.met.granted.mean()),
            link: sum(&|station| station.met.waits.link.mean()),
            stops,
        }
    }
}

/// What is met at each station, on the lattice.
pub(super) struct Prepared(Vec<Crossed>);

impl Prepared {
    pub(super) fn new(lattice: &TailAndHeader, stations: &Stations) -> Self {
        let one = |(_, station): &(Like, Station)| {
            let Around { set_up, left_behind, fresh, .. } = &station.around;
            Crossed {
                own: lattice.weights(&station.met.own),
                found: [lattice.weights(set_up), lattice.weights(left_behind)],
                fresh: lattice.weights(&fresh[fresh.len() / 2]),
                interrupted: lattice.weights(&station.interrupted),
                ..Crossed::default()
            }
        };
        Self(stations.known.iter().map(one).collect())
    }

    /// The mixture over outputs.
    fn crossed(&self, stations: &Stations, outputs: &[(f64, Output)]) -> Crossed {
        let mut mean = Crossed::default();
        for (share, output) in outputs {
            let like = Like::new(stations.paths, *output);
            let at = stations.known.iter().position(|(known, _)| *known == like).unwrap_or(0);
            let one = &self.0[at];
            mix(&mut mean.own, *share, &one.own);
            mix(&mut mean.found[0], *share, &one.found[0]);
            mix(&mut mean.found[1], *share, &one.found[1]);
            mix(&mut mean.fresh, *share, &one.fresh);
            mix(&mut mean.interrupted, *share, &one.interrupted);
        }
        mean
    }
}

impl OneClass<'_> {
    /// Header and tail on entry.
    pub(super) fn start(&self, expected: f64, queued: &Queued) -> TailAndHeader {
        // the work grows with hops, and with the cube of the points
        let side = (450 / self.dimension as usize).clamp(48, 96) / if self.laws { 1 } else { 2 };
        let step = (expected * SPAN / side as f64).max(1.0);
        TailAndHeader::new(side, step, queued.first, &queued.in_buffer, &self.gaps)
    }

    /// Law of the tail's delay along a path.
    pub(super) fn along(
        &self,
        path: &Path,
        stations: &Stations,
        prepared: &Prepared,
        mut joint: TailAndHeader,
        positive: f64,
    ) -> Law {
        let shape = self.shape;
        let blocks = self.channel.rate * (shape.message + shape.header) * positive;
        for (stop, k) in path.stops.iter().zip(1..) {
            let wait = stop.in_channel;
            let in_channel = if wait > 1e-9 {
                let share = blocks.max(wait / (shape.buffer + shape.message)).min(1.0);
                exponential(wait / share).sometimes(share)
            } else {
                Law::zero()
            };
            let mut met = prepared.crossed(stations, &stop.outputs);
            met.in_channel = joint.weights(&in_channel);
            met.header = self.header;
            met.hidden = self.hidden();
            met.closed = self.closed(k);
            if k as usize == path.stops.len() {
                met.fresh = vec![1.0];
            }
            joint.cross(&met);
        }
        joint.tail()
    }
}

/// Exponential law of a mean \[cells\].
fn exponential(mean: f64) -> Law {
    let cells = (20.0 * mean).ceil().clamp(2.0, 1e5) as usize;
    let beyond = |x: f64| (-x.max(0.0) / mean).exp();
    let weight = |x: usize| {
        let from = beyond(x as f64 - 0.5);
        if x + 1 == cells { from } else { from - beyond(x as f64 + 0.5) }
    };
    Law::of((0..cells).map(weight).collect())
}
