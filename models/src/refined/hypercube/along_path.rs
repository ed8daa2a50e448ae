//! The tail of a message along all paths of some hops.

use super::super::law::Law;
use super::super::source::Queued;
use super::super::station::Around;
use super::super::tail_and_header::{Crossed, TailAndHeader, mix};
use super::{Like, OneClass, Station, Stations};

/// Mean delays of a typical path that the lattice of the laws spans.
const SPAN: f64 = 8.0;
/// The same where means alone are wanted.
const SPAN_OF_MEANS: f64 = 6.0;

/// A router on the paths of some hops.
pub(super) struct Stop {
    /// How often it is which station.
    pub(super) stations: Vec<(f64, usize)>,
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
            Stop { stations: stations.shares(&paths.outputs(hops, k)), in_channel }
        };
        let stops: Vec<Stop> = (1..=hops + 1).map(stop).collect();
        let sum = |what: &dyn Fn(&Station) -> f64| {
            stops.iter().map(|stop| stations.mean(&stop.stations, what)).sum()
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

    /// The mixture over stations.
    fn crossed(&self, stations: &[(f64, usize)]) -> Crossed {
        let mut mean = Crossed::default();
        for (share, at) in stations {
            let one = &self.0[*at];
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
        let (side, span) = if self.laws {
            ((450 / self.dimension as usize).clamp(48, 96), SPAN)
        } else {
            (32, SPAN_OF_MEANS)
        };
        let step = (expected * span / side as f64).max(1.0);
        TailAndHeader::new((side, step, self.grid.nothing()), queued.first, &queued.in_buffer, &self.gaps)
    }

    /// Law of the tail's delay along a path, on which the share `positive` of later tails is blocked.
    pub(super) fn along(
        &self,
        path: &Path,
        prepared: &Prepared,
        mut joint: TailAndHeader,
        positive: f64,
    ) -> Law {
        for (stop, k) in path.stops.iter().zip(1..) {
            self.cross(&mut joint, stop, k, k as usize == path.stops.len(), prepared, positive);
        }
        joint.tail()
    }

    /// Mean delay of the tails of all messages, as if they had the mean number of hops: between `h` and `h + 1`, the
    /// hops of the path, it is a straight line.
    pub(super) fn mean_along(
        &self,
        path: &Path,
        prepared: &Prepared,
        mut joint: TailAndHeader,
        positive: f64,
    ) -> f64 {
        let hops = path.stops.len() as u32 - 1;
        let more = self.paths.mean_hops() + 1.0 - f64::from(hops);
        let last = &path.stops[hops as usize];
        for (stop, k) in path.stops[..hops as usize - 1].iter().zip(1..) {
            self.cross(&mut joint, stop, k, false, prepared, positive);
        }
        let mut longer = joint.clone();
        let mut mean = 0.0;
        if hops > 1 && more < 1.0 {
            self.cross(&mut joint, last, hops, true, prepared, positive);
            mean += (1.0 - more) * joint.tail().mean();
        }
        if more > 0.0 {
            self.cross(&mut longer, &path.stops[hops as usize - 1], hops, false, prepared, positive);
            self.cross(&mut longer, last, hops + 1, true, prepared, positive);
            mean += more * longer.tail().mean();
        }
        mean
    }

    /// Header and tail through router `k`.
    fn cross(
        &self,
        joint: &mut TailAndHeader,
        stop: &Stop,
        k: u32,
        last: bool,
        prepared: &Prepared,
        positive: f64,
    ) {
        let shape = self.shape;
        let blocks = self.channel.rate * (shape.message + shape.header) * positive;
        let wait = stop.in_channel;
        let in_channel = if wait > 1e-9 {
            let share = blocks.max(wait / (shape.buffer + shape.message)).min(1.0);
            exponential(wait / share).sometimes(share)
        } else {
            Law::zero()
        };
        let mut met = prepared.crossed(&stop.stations);
        met.in_channel = joint.weights(&in_channel);
        met.header = self.header;
        met.hidden = self.hidden();
        met.closed = self.closed(k);
        if last {
            met.fresh = vec![1.0];
        }
        joint.cross(&met);
    }
}

/// Exponential law of a mean \[cells\].
fn exponential(mean: f64) -> Law {
    let cells = (20.0 * mean).ceil().clamp(2.0, 1e5) as usize;
    let (mut from, mut to, decay) = (1.0, (-0.5 / mean).exp(), (-1.0 / mean).exp());
    let weight = |x: usize| {
        let weight = if x + 1 == cells { from } else { from - to };
        (from, to) = (to, to * decay);
        weight
    };
    Law::of((0..cells).map(weight).collect())
}
