//! The tail of a message along all paths of some hops.

use super::super::in_buffer::InBuffer;
use super::super::law::Law;
use super::super::paths::Output;
use super::super::station::{LinkEnvironment, Shape};
use super::super::tail_and_header::{RouterDelays, TailAndHeader, mix};
use super::OneClass;
use super::input_channel::ChannelWait;
use super::stations::{OutputKind, Station, Stations};

/// Mean delays of a typical path that the lattice of the laws spans.
const SPAN: f64 = 12.0;
/// The same where means alone are wanted.
const SPAN_OF_MEANS: f64 = 8.0;

/// A router on the paths of some hops.
#[derive(Clone)]
pub(super) struct PathRouter {
    /// How often it is which station.
    pub(super) stations: Vec<(f64, usize)>,
    /// How often it is reached over the channel of which dimension; never, if it is the first.
    channels: Vec<(f64, u32)>,
    /// `p`: how often another message of the same input channel wants the same output.
    same: f64,
    /// Mean wait behind others of the input channel, and the part of it inside the channel \[cells\].
    in_channel: f64,
    inside: f64,
}

impl PathRouter {
    fn new(
        class: &OneClass<'_>,
        stations: &Stations,
        in_channel: &[ChannelWait],
        outputs: &[(f64, Output)],
    ) -> Self {
        let mut channels = vec![0.0; in_channel.len()];
        for (share, output) in outputs {
            if let Some(from) = output.from {
                channels[from as usize] += share;
            }
        }
        let channels: Vec<(f64, u32)> =
            channels.into_iter().zip(0..).filter(|(share, _)| *share > 0.0).collect();
        Self {
            stations: stations.shares(outputs),
            same: outputs.iter().map(|(share, output)| share * class.paths.same(*output)).sum(),
            in_channel: channels.iter().map(|(share, s)| share * in_channel[*s as usize].mean).sum(),
            inside: channels.iter().map(|(share, s)| share * in_channel[*s as usize].inside).sum(),
            channels,
        }
    }
}

/// All paths of some hops, with mean times over the routers \[cells\].
pub(super) struct Path {
    pub(super) stops: Vec<PathRouter>,
    /// Behind others of the input channels, and the part of it inside them.
    pub(super) waits: f64,
    pub(super) inside: f64,
    pub(super) granted: f64,
    pub(super) link: f64,
}

impl Path {
    pub(super) fn new(
        class: &OneClass<'_>,
        stations: &Stations,
        in_channel: &[ChannelWait],
        hops: u32,
    ) -> Self {
        let paths = class.paths;
        let stops =
            (1..=hops + 1).map(|k| PathRouter::new(class, stations, in_channel, paths.outputs(hops, k)));
        Self::over(stations, stops.collect())
    }

    /// A path of so many hops with outputs that are each the mean over all messages.
    pub(super) fn mean(
        class: &OneClass<'_>,
        stations: &Stations,
        in_channel: &[ChannelWait],
        hops: u32,
    ) -> Self {
        let stop = |outputs: &[(f64, Output)]| PathRouter::new(class, stations, in_channel, outputs);
        let paths = class.paths;
        let mut stops = vec![stop(paths.first())];
        if hops > 1 {
            stops.resize(hops as usize, stop(paths.middle()));
        }
        stops.push(stop(paths.last()));
        Self::over(stations, stops)
    }

    fn over(stations: &Stations, stops: Vec<PathRouter>) -> Self {
        let sum = |what: &dyn Fn(&Station) -> f64| {
            stops.iter().map(|stop| stations.mean(&stop.stations, what)).sum()
        };
        Self {
            waits: stops.iter().map(|stop| stop.in_channel).sum(),
            inside: stops.iter().map(|stop| stop.inside).sum(),
            granted: sum(&|station| station.met.granted.mean()),
            link: sum(&|station| station.met.waits.link.mean()),
            stops,
        }
    }
}

/// Delays at each station.
pub(super) struct StationDelays(Vec<RouterDelays>);

impl StationDelays {
    pub(super) fn new(stations: &Stations) -> Self {
        let weights = |law: &Law| law.probabilities().to_vec();
        let one = |(_, station): &(OutputKind, Station)| {
            let LinkEnvironment { set_up, left_behind, fresh, .. } = &station.environment;
            RouterDelays {
                own: station.own_on_link.each_ref().map(weights),
                found: [weights(set_up), weights(left_behind)],
                fresh: weights(&fresh[fresh.len() / 2]),
                interrupted: weights(&station.interrupted),
                ..RouterDelays::default()
            }
        };
        Self(stations.known.iter().map(one).collect())
    }

    /// The mixture over stations.
    fn crossed(&self, stations: &[(f64, usize)]) -> RouterDelays {
        let mut mean = RouterDelays::default();
        for (share, at) in stations {
            let one = &self.0[*at];
            mix(&mut mean.own[0], *share, &one.own[0]);
            mix(&mut mean.own[1], *share, &one.own[1]);
            mix(&mut mean.found[0], *share, &one.found[0]);
            mix(&mut mean.found[1], *share, &one.found[1]);
            mix(&mut mean.fresh, *share, &one.fresh);
            mix(&mut mean.interrupted, *share, &one.interrupted);
        }
        mean
    }
}

impl<'g> OneClass<'g> {
    /// Header and tail on entry.
    pub(super) fn start(&self, expected: f64, in_buffer: &InBuffer) -> TailAndHeader<'g> {
        // the work grows with hops, and with the cube of the points
        let (side, span) = if self.laws {
            ((300 / self.paths.most_hops().max(1) as usize).clamp(33, 60), SPAN)
        } else {
            (24, SPAN_OF_MEANS)
        };
        let step = (expected * span / side as f64).max(1.0);
        TailAndHeader::new(self.grid, (side, step), in_buffer, &self.gaps)
    }

    /// Law of the tail's delay along a path.
    pub(super) fn along(
        &self,
        path: &Path,
        prepared: &StationDelays,
        in_channel: &[ChannelWait],
        mut joint: TailAndHeader<'_>,
    ) -> Law {
        let last = path.stops.len();
        for (stop, k) in path.stops.iter().zip(1..) {
            self.cross(&mut joint, stop, k, k as usize == last, prepared, in_channel);
        }
        joint.tail()
    }

    /// Delay of the tails of messages, its mean as if they all had their mean number of hops: between `h` and `h + 1`,
    /// the hops of the path, it is a straight line.
    pub(super) fn mean_along(
        &self,
        (path, mean_hops): (&Path, f64),
        prepared: &StationDelays,
        in_channel: &[ChannelWait],
        mut joint: TailAndHeader<'_>,
    ) -> Law {
        let hops = path.stops.len() as u32 - 1;
        let more = mean_hops + 1.0 - f64::from(hops);
        let last = &path.stops[hops as usize];
        for (stop, k) in path.stops[..hops as usize - 1].iter().zip(1..) {
            self.cross(&mut joint, stop, k, false, prepared, in_channel);
        }
        let mut longer = joint.clone();
        let mut parts = Vec::new();
        if hops > 1 && more < 1.0 {
            self.cross(&mut joint, last, hops, true, prepared, in_channel);
            parts.push((1.0 - more, joint.tail()));
        }
        if more > 0.0 {
            self.cross(&mut longer, &path.stops[hops as usize - 1], hops, false, prepared, in_channel);
            self.cross(&mut longer, last, hops + 1, true, prepared, in_channel);
            parts.push((more, longer.tail()));
        }
        Law::mix(&parts)
    }

    /// Header and tail through router `k`.
    fn cross(
        &self,
        joint: &mut TailAndHeader<'_>,
        stop: &PathRouter,
        k: u32,
        last: bool,
        prepared: &StationDelays,
        in_channel: &[ChannelWait],
    ) {
        let mut met = prepared.crossed(&stop.stations);
        for (share, s) in &stop.channels {
            for (mean, law) in met.in_channel.iter_mut().zip(&in_channel[*s as usize].laws) {
                mix(mean, *share, law.probabilities());
            }
        }
        if stop.channels.is_empty() {
            met.in_channel = std::array::from_fn(|_| vec![1.0]);
        }
        met.header = self.header;
        met.hidden = self.hidden();
        met.closed = self.closed(k);
        met.same = stop.same;
        if last {
            met.fresh = vec![1.0];
        }
        joint.cross(&met);
    }

    /// `A`: cycles of a gap that a router hides. A buffer as short as the header's longer way and the credit loop
    /// carries a full stream but cannot catch up.
    pub(super) fn hidden(&self) -> f64 {
        let Shape { header, credit, buffer, .. } = self.shape;
        if buffer * self.unit >= (header + credit) * self.unit - 1e-9 { header } else { 0.0 }
    }

    /// `φ_k`: share of a gap that a wait of the header at router `k` can close.
    fn closed(&self, k: u32) -> f64 {
        let Shape { message, buffer, .. } = self.shape;
        if self.shape.is_short() { (buffer * (2.0 * f64::from(k) - 1.0) / message).min(1.0) } else { 1.0 }
    }
}
