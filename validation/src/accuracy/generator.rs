//! Generates scenarios from a family's bounds and a seed.
//!
//! Sizes of networks are drawn in strata, so that few scenarios cover the whole range: the third of ten has its size
//! from the third tenth of the range. All other values are independent.

use flitwise_language::scenario::{
    ClassSpec, DestinationPattern, DestinationSpec, HotSpot, NetworkSpec, Radix, RouterSpec, Scenario,
    ScenarioSpec, SourceSpec,
};

use super::draw::{Draw, rounded, whole_at};
use super::{Case, Destination, Family, Room, Topology};

/// Load of a node's link in the scenario as drawn, all classes \[flits/cycle\].
pub(super) const DRAWN_LOAD: f64 = 0.5;
/// Streams of an ON/OFF source.
const STREAMS: [u32; 2] = [1, 16];
/// Mean messages of a burst.
const BURST: [f64; 2] = [2.0, 16.0];
/// Flits per cycle that all streams of a source that are ON together generate: more than the link takes, so that
/// a class can be brought to saturation.
const LEAST_PEAK: f64 = 1.5;
/// Flits per cycle of a stream that is ON.
const STREAM_PEAK: [f64; 2] = [0.1, 1.5];
/// Most routers of a mesh or torus.
const MOST_ROUTERS: u32 = 144;

/// Scenario `index` of a family.
///
/// # Panics
/// Never: what is drawn within a family's bounds is sound (tested).
pub(super) fn case(seed: u64, family: &Family, index: u32) -> Case {
    let mut draw = Draw::new(seed, &family.name, index);
    let stratum = (f64::from(index) + draw.share()) / f64::from(family.count);
    let network = match family.topology {
        Topology::Router => NetworkSpec::Router { ports: whole_at(stratum, family.size) },
        Topology::Hypercube => {
            // the smaller of two: large cubes take long to simulate
            let [from, to] = family.size;
            let share = 1.0 - (1.0 - stratum).sqrt();
            let dimension = from + (share * f64::from(to - from + 1)) as u32;
            NetworkSpec::Hypercube { dimension: dimension.min(to) }
        }
        Topology::Mesh | Topology::Torus => lattice(&mut draw, family),
    };
    let real_time = draw.evenly(family.real_time_classes);
    let best_effort = draw.chance(family.best_effort);
    let mut classes: Vec<ClassSpec> =
        (1..=real_time).map(|number| ClassSpec::real_time(&format!("R{number}"), 0.0)).collect();
    classes.extend(best_effort.then(|| ClassSpec::best_effort("BE", 0.0)));
    lengths(&mut draw, family, &mut classes);
    rates(&mut draw, family, &mut classes);
    vticks(&mut draw, family, &mut classes);
    sources(&mut draw, family, &mut classes);
    if family.topology.is_lattice() {
        let virtual_channels = draw.whole(family.virtual_channels);
        classes.iter_mut().for_each(|class| class.virtual_channels = virtual_channels);
    }
    let router = RouterSpec {
        pipeline_stages: draw.evenly(family.pipeline_stages),
        buffer_flits: buffer(&mut draw, family, &classes),
        scheduler: draw.one_of(&family.schedulers),
        ..RouterSpec::default()
    };
    destinations(&mut draw, family, network.topology().nodes(), &mut classes);
    let name = format!("{}-{:02}", family.name, index + 1);
    let spec = ScenarioSpec { name: name.clone(), network, router, classes, ..ScenarioSpec::default() };
    let checked: Result<Scenario, _> = spec.check();
    let scenario = checked.unwrap_or_else(|faults| panic!("{name} was drawn: {faults:?}"));
    Case { name, family: family.name.clone(), scenario }
}

/// A mesh or torus of at most [`MOST_ROUTERS`].
fn lattice(draw: &mut Draw, family: &Family) -> NetworkSpec {
    let [least, most] = family.size;
    let mut sides: Vec<u32> = Vec::new();
    for _ in 0..draw.evenly(family.dimensions) {
        let room = MOST_ROUTERS / sides.iter().product::<u32>();
        if room < least {
            break;
        }
        sides.push(draw.whole([least, most.min(room)]));
    }
    let radix = Radix::of(&sides).unwrap_or_else(|| panic!("{sides:?} were drawn"));
    let (nodes_per_router, links) = (draw.evenly(family.nodes_per_router), draw.evenly(family.links));
    match family.topology {
        Topology::Torus => NetworkSpec::Torus { radix, dimensions: None, nodes_per_router, links },
        _ => NetworkSpec::Mesh { radix, dimensions: None, nodes_per_router, links },
    }
}

fn lengths(draw: &mut Draw, family: &Family, classes: &mut [ClassSpec]) {
    let mixed = draw.chance(family.lengths.mixed);
    let same = draw.whole(family.lengths.flits);
    for class in classes {
        class.message_flits = if mixed { draw.whole(family.lengths.flits) } else { same };
    }
}

/// Each class's part of the link's load is drawn, every doubling alike.
fn rates(draw: &mut Draw, family: &Family, classes: &mut [ClassSpec]) {
    let parts: Vec<f64> = classes.iter().map(|_| draw.between([1.0 / family.load_ratio, 1.0])).collect();
    let whole: f64 = parts.iter().sum();
    for (class, part) in classes.iter_mut().zip(parts) {
        class.rate = rounded(DRAWN_LOAD * part / whole / f64::from(class.message_flits), 4);
    }
}

fn vticks(draw: &mut Draw, family: &Family, classes: &mut [ClassSpec]) {
    let odd = draw.chance(family.odd_vticks);
    for class in classes.iter_mut().filter(|class| class.name != "BE") {
        let factor = draw.between(family.vtick_factor);
        let natural = 1.0 / (class.rate * f64::from(class.message_flits));
        class.vtick = odd.then(|| rounded(factor * natural, 4));
    }
}

/// At least one ON/OFF source where there may be any.
fn sources(draw: &mut Draw, family: &Family, classes: &mut [ClassSpec]) {
    if family.on_off == 0.0 {
        return;
    }
    let sure = draw.evenly([0, classes.len() as u32 - 1]) as usize;
    for (index, class) in classes.iter_mut().enumerate() {
        let is_on_off = draw.chance(family.on_off) || index == sure;
        let streams = draw.whole(STREAMS);
        let messages_per_burst = rounded(draw.between(BURST), 2);
        let [least, most] = STREAM_PEAK;
        let peak = draw.between([least.max(LEAST_PEAK / f64::from(streams)), most]);
        // rounding must not bring it below what all streams together need
        let peak_rate = rounded(1.01 * peak / f64::from(class.message_flits), 3).min(1.0);
        if is_on_off {
            class.source = SourceSpec::OnOff { streams, messages_per_burst, peak_rate };
        }
    }
}

/// Drawn last, and not at all where all are uniform.
fn destinations(draw: &mut Draw, family: &Family, nodes: u32, classes: &mut [ClassSpec]) {
    if family.destinations == [Destination::Uniform] {
        return;
    }
    let destination = match draw.one_of(&family.destinations) {
        Destination::Uniform => DestinationSpec::Uniform,
        Destination::Hot => {
            let hot = draw.evenly([0, nodes - 1]);
            DestinationSpec::Hot(HotSpot { hot, share: rounded(draw.between(family.hot_share), 3) })
        }
        Destination::Tornado => DestinationSpec::Named(DestinationPattern::Tornado),
        Destination::Neighbour => DestinationSpec::Named(DestinationPattern::Neighbour),
    };
    classes.iter_mut().for_each(|class| class.destination = destination.clone());
}

fn buffer(draw: &mut Draw, family: &Family, classes: &[ClassSpec]) -> u32 {
    let [least, most] = family.buffer_flits;
    let lengths = classes.iter().map(|class| class.message_flits);
    let longest = lengths.max().unwrap_or(least);
    match family.room {
        Room::Any => draw.whole([least, most]),
        Room::Ample => draw.whole([least.max(longest), most]),
        Room::Short => draw.whole([least, most.min(longest - 1)]),
    }
}
