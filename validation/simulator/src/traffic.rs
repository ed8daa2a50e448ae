//! Traffic: which messages come to the network interfaces, and when.

mod connections;
pub(super) mod destinations;
mod frames;
mod on_off;
pub(crate) mod on_off_pareto;
mod periodic;
mod phases;
mod placement;
mod poisson;
pub(crate) mod random;

use std::collections::VecDeque;
use std::ops::Range;

use flitwise_language::network::Topology;
use flitwise_language::scenario::{ClassSpec, Destinations, Scenario, SourceSpec, Towards, VcChoice};

use crate::message::{Arrival, Booking, ChannelChoice, FramePart, Offer};

use super::control::admission::Admission;
use super::packet::{self, Load};
use super::virtual_channels::VirtualChannels;
use connections::Connected;
use destinations::draw;
use frames::{FrameStream, Piece};
use on_off::{OnOff, mean_off};
use on_off_pareto::OnOffPareto;
use periodic::Periodic;
pub use phases::FrameRun;
use phases::{Pace, Phases};
pub(super) use placement::OF_PLACEMENT;
use placement::placed;
use poisson::Poisson;
use random::{Random, below, stream, stream_of};

/// Messages that come, and the ends of classes whose waiting messages are taken back.
#[derive(Default)]
pub(crate) struct Traffic {
    /// A list, by cycle, and how many of it have come. In a cycle it goes before the sources.
    listed: Vec<Offer>,
    next_listed: usize,
    sources: Option<Sources>,
    /// In order.
    withdrawals: VecDeque<(u64, usize)>,
    /// Bookings that are listed, in order.
    bookings: VecDeque<Booking>,
}

impl Traffic {
    /// The scenario's sources, a stream of random numbers for each `(seed, node, class)`.
    pub(crate) fn random(scenario: &Scenario, seed: u64) -> Self {
        let sources = Some(Sources::new(scenario, seed));
        Self { sources, withdrawals: scenario.withdrawals().into(), ..Self::default() }
    }

    /// The same, and messages in the order of their cycles, which go before those of the sources.
    pub(crate) fn random_and_listed(scenario: &Scenario, seed: u64, offers: Vec<Offer>) -> Self {
        assert!(offers.is_sorted_by_key(|offer| offer.arrival.cycle), "messages out of order");
        Self { listed: offers, ..Self::random(scenario, seed) }
    }

    /// Messages in the order of their cycles.
    pub(crate) fn listed(scenario: &Scenario, offers: &[Offer]) -> Self {
        assert!(offers.is_sorted_by_key(|offer| offer.arrival.cycle), "messages out of order");
        Self { listed: offers.to_vec(), withdrawals: scenario.withdrawals().into(), ..Self::default() }
    }

    /// The same with bookings of connections, in the order of their cycles, too.
    pub(crate) fn listed_and_booked(scenario: &Scenario, offers: &[Offer], bookings: &[Booking]) -> Self {
        assert!(bookings.is_sorted_by_key(|booking| booking.cycle), "bookings out of order");
        Self { bookings: bookings.iter().copied().collect(), ..Self::listed(scenario, offers) }
    }

    /// What runs over packet switches; a cycle is a tick, a flit a packet.
    pub(crate) fn of_packets(network: &dyn Topology, load: &Load) -> Self {
        let ends = load.traffics.iter().enumerate().filter(|(_, traffic)| traffic.withdraw);
        let mut withdrawals: Vec<_> = ends.filter_map(|(index, one)| Some((one.end?, index))).collect();
        withdrawals.sort_unstable();
        Self {
            listed: listed(network, load),
            sources: Some(Sources::of_packets(network, &load.traffics, load.seed)),
            withdrawals: withdrawals.into(),
            ..Self::default()
        }
    }

    /// The next message, if it comes in cycle `until` or before.
    #[inline]
    pub(crate) fn next(&mut self, until: u64) -> Option<Offer> {
        if let Some(offer) = self.listed.get(self.next_listed).filter(|offer| offer.arrival.cycle <= until) {
            self.next_listed += 1;
            return Some(*offer);
        }
        self.sources.as_mut()?.next(until)
    }

    /// By class and stream of frames: its frames, in parts without a pause.
    pub(crate) fn frame_runs(&self) -> &[Vec<Vec<FrameRun>>] {
        self.sources.as_ref().map_or(&[], |sources| &sources.frame_runs)
    }

    /// A class whose waiting messages are taken back in cycle `now` or before, once the messages of that cycle have
    /// come.
    pub(crate) fn next_withdrawal(&mut self, now: u64) -> Option<usize> {
        let &(_, class) = self.withdrawals.front().filter(|(cycle, _)| *cycle <= now)?;
        self.withdrawals.pop_front();
        Some(class)
    }

    /// The next booking of a connection, if it is of cycle `now` or before.
    pub(crate) fn next_booking(&mut self, now: u64) -> Option<Booking> {
        if self.bookings.front().is_some_and(|booking| booking.cycle <= now) {
            return self.bookings.pop_front();
        }
        let sources = self.sources.as_mut()?;
        if !sources.connected.as_ref()?.admission.is_in_band() {
            sources.draw_until(now);
        }
        sources.connected.as_mut()?.admission.take_booking(now)
    }

    /// Admission whose signals are messages, which depends on what these meet.
    fn in_band(&mut self) -> Option<&mut Admission> {
        let connected = self.sources.as_mut()?.connected.as_mut()?;
        Some(&mut connected.admission).filter(|admission| admission.is_in_band())
    }

    /// A cycle begins: the next signal that joins its source queue, before bookings and other messages of the cycle.
    pub(crate) fn next_signal(&mut self, now: u64) -> Option<Offer> {
        let admission = self.in_band()?;
        admission.advance(now + 1);
        admission.take_signal()
    }

    /// The tail of the signal of a connection has left the network in cycle `now`.
    pub(crate) fn signal_arrives(&mut self, whom: u32, now: u64) {
        if let Some(admission) = self.in_band() {
            admission.arrives(now, whom);
            self.sources.iter_mut().for_each(Sources::join_at_once);
        }
    }

    /// The same admission after the run.
    pub(crate) fn into_admission(self) -> Option<Admission> {
        Some(self.sources?.connected?.admission)
    }

    /// Admission of connections, where there are any.
    pub(crate) fn admission(&self) -> Option<&Admission> {
        self.sources.as_ref()?.connected.as_ref().map(|connected| &connected.admission)
    }

    /// The cycle in which the next message comes or messages are taken back, or one before it when that is far off.
    pub(crate) fn next_cycle(&mut self) -> Option<u64> {
        let listed = self.listed.get(self.next_listed).map(|offer| offer.arrival.cycle);
        let drawn = self.sources.as_mut().and_then(Sources::next_cycle);
        let withdrawal = self.withdrawals.front().map(|(cycle, _)| *cycle);
        let booked = self.admission().and_then(Admission::next_booking);
        let bookings = self.bookings.front().into_iter().chain(booked).map(|booking| booking.cycle);
        let cycles = listed.into_iter().chain(drawn).chain(withdrawal).chain(bookings).min();
        let of_admission = self.in_band().and_then(|admission| admission.next_cycle());
        cycles.into_iter().chain(of_admission).min()
    }
}

/// The listed messages of a load with a way each.
fn listed(network: &dyn Topology, load: &Load) -> Vec<Offer> {
    let mut routes = Routes::of(network.drawn_ways(), load.seed, OF_LISTED);
    let offer = |message: &packet::Message| Offer { way: Routes::draw(&mut routes), ..message.offer() };
    load.messages.iter().map(offer).collect()
}

/// When the messages of a source are generated.
trait Process: Send {
    /// The time of the next message, if that is no later than `limit` \[cycles\].
    fn next_before(&mut self, random: &mut Random, limit: f64) -> Option<f64>;

    /// Where that message goes, where it is no part of a frame.
    fn destination(&mut self, random: &mut Random, towards: &Towards<'_>) -> u32 {
        draw(random, towards)
    }

    /// What is special about that message, where it is part of a frame or of a connection.
    fn piece(&self) -> Option<&Piece> {
        None
    }
}

/// The process of a class at a node that generates messages so many times as often as the mean of its senders.
fn process(random: &mut Random, phases: &Phases<'_>, class: usize, relative_rate: f64) -> Box<dyn Process> {
    let between = || phases.pace(class, |rate| 1.0 / (rate * relative_rate));
    match phases.scenario().classes()[class].source {
        SourceSpec::Poisson => Box::new(Poisson::new(random, 0.0, between())),
        SourceSpec::Periodic => Box::new(Periodic::new(random, 0.0, between())),
        SourceSpec::OnOff { streams, messages_per_burst: messages, peak_rate } => {
            let pace = phases.pace(class, |rate| mean_off(rate, streams, messages, peak_rate));
            Box::new(OnOff::new(random, phases.first_rate(class), pace, streams, messages, peak_rate))
        }
        _ => unreachable!("frames come from streams, other sources are refused"),
    }
}

/// The process of a stream of packets at a host \[ticks\].
fn packet_process(random: &mut Random, traffic: &packet::Traffic, host: u32) -> Box<dyn Process> {
    let interval = traffic.interval / traffic.destinations.relative_rate(host);
    let (start, interval) = (traffic.start as f64, Pace::steady(interval));
    match traffic.process {
        packet::Process::Poisson => Box::new(Poisson::new(random, start, interval)),
        packet::Process::Periodic => Box::new(Periodic::new(random, start, interval)),
        packet::Process::OnOffPareto(_, periods) => Box::new(OnOffPareto::new(random, start, periods)),
    }
}

/// What messages of a class have in common.
struct ClassOffers {
    flits: u32,
    /// From the beginning of the run on.
    first: Terms,
    /// By later phase in which they are others: from which cycle on.
    later: Vec<(u64, Terms)>,
}

/// On which terms messages of a class come in a phase.
#[derive(Clone, Copy, PartialEq)]
struct Terms {
    vtick: f64,
    /// The virtual channels to draw from, where they are drawn: how, the first and how many.
    to_draw: Option<(VcChoice, u8, u32)>,
}

/// What messages of each class have in common.
fn class_offers(phases: &Phases<'_>) -> Vec<ClassOffers> {
    let scenario = phases.scenario();
    let channels = VirtualChannels::new(scenario);
    let offers = |(index, class): (usize, &ClassSpec)| {
        let terms = |((begins, scenario), block): ((f64, &Scenario), Range<usize>)| {
            let choice = channels.to_draw(index).map(|(choice, _)| choice);
            let terms = Terms {
                vtick: scenario.classes()[index].lane_vtick(),
                to_draw: choice.map(|choice| (choice, block.start as u8, block.len() as u32)),
            };
            (begins.ceil() as u64, terms)
        };
        let mut each = phases.each().zip(phases.blocks(index)).map(terms);
        let (_, first) = each.next().expect("a run has a phase");
        let mut later: Vec<(u64, Terms)> = each.collect();
        if later.iter().all(|(_, terms)| *terms == first) {
            later.clear();
        }
        ClassOffers { flits: class.message_flits, first, later }
    };
    scenario.classes().iter().enumerate().map(offers).collect()
}

impl ClassOffers {
    /// A message of the class.
    #[inline]
    fn offer(&self, arrival: Arrival, random: &mut Random) -> Offer {
        let Terms { vtick, to_draw } = if self.later.is_empty() { self.first } else { self.terms(arrival) };
        let drawn = to_draw.map(|(choice, first, among)| {
            let mut draw = || first + if among > 1 { below(random, among) as u8 } else { 0 };
            drawn(choice, draw(), draw())
        });
        Offer { arrival, flits: self.flits, vtick, drawn, part: FramePart::default(), way: 0 }
    }

    #[cold]
    fn terms(&self, arrival: Arrival) -> Terms {
        let begun = self.later.iter().rev().find(|(cycle, _)| *cycle <= arrival.cycle);
        begun.map_or(self.first, |(_, terms)| *terms)
    }
}

/// The virtual channels that two draws give.
pub(super) fn drawn(choice: VcChoice, one: u8, other: u8) -> ChannelChoice {
    let network = if choice == VcChoice::Drawn { other } else { one };
    ChannelChoice { injection: one, network, ejection: other }
}

/// Messages of the scenario's classes, generated as listed; virtual channels are drawn from a stream of their own.
pub fn offers(scenario: &Scenario, arrivals: &[Arrival]) -> Vec<Offer> {
    let flits = |arrival: &Arrival| scenario.classes()[usize::from(arrival.class)].message_flits;
    offers_of(scenario, arrivals.iter().map(|arrival| (*arrival, flits(arrival))), 0)
}

/// The same, each of a length of its own \[flits\], with a seed for the draws.
pub fn offers_of(
    scenario: &Scenario,
    arrivals: impl Iterator<Item = (Arrival, u32)>,
    seed: u64,
) -> Vec<Offer> {
    let (classes, mut random) = (class_offers(&Phases::of(scenario)), stream(seed, 0, 0));
    let mut routes = Routes::of(scenario.topology().drawn_ways(), seed, OF_LISTED);
    let offer = |(arrival, flits): (Arrival, u32)| {
        let offer = classes[usize::from(arrival.class)].offer(arrival, &mut random);
        Offer { flits, way: Routes::draw(&mut routes), ..offer }
    };
    arrivals.map(offer).collect()
}

/// The messages of the scenario's sources up to a cycle.
pub fn generated(scenario: &Scenario, seed: u64, until: u64) -> Vec<Offer> {
    let mut traffic = Traffic::random(scenario, seed);
    std::iter::from_fn(|| traffic.next(until)).collect()
}

/// All sources of a network; each has its own stream of random numbers.
///
/// Each source draws ahead all its messages of a span of cycles; then they are put in order.
pub(crate) struct Sources {
    sources: Vec<Source>,
    /// By class.
    classes: Vec<ClassOffers>,
    /// Messages of the current span, source by source.
    span: Vec<Offer>,
    /// Their order, by cycle and then as drawn (cycle since the start of the span in the upper half, place in
    /// `span` in the lower), and how many have come.
    order: Vec<u64>,
    next: usize,
    /// The first cycle after the current span.
    drawn_until: u64,
    span_cycles: u64,
    /// By class.
    destinations: Vec<Destinations>,
    /// By class and stream of frames: its frames, in parts without a pause.
    frame_runs: Vec<Vec<Vec<FrameRun>>>,
    connected: Option<Connected>,
}

/// Where the ways of messages are drawn from: a stream apart, so that another routing leaves all else as it is.
struct Routes {
    random: Random,
    ways: u32,
}

impl Routes {
    /// Of a stream of messages of a class at a node, of so many ways; none where nothing is drawn.
    fn of(ways: u32, seed: u64, (node, class, number): (u32, usize, u32)) -> Option<Self> {
        (ways > 1).then(|| Self { random: stream_of(seed, node, class, OF_ROUTES + number), ways })
    }

    #[inline]
    fn draw(routes: &mut Option<Self>) -> u32 {
        routes.as_mut().map_or(0, |routes| below(&mut routes.random, routes.ways))
    }
}

struct Source {
    node: u32,
    class: u8,
    random: Random,
    process: Box<dyn Process>,
    routes: Option<Routes>,
    /// When it begins, and the last moment in which it sends \[cycles\].
    start: f64,
    last: f64,
}

/// Messages to draw ahead, about: one of each source, but no more than stay in a cache and no fewer than make a span
/// worth its sort.
const SPAN_MESSAGES: (usize, usize) = (512, 2048);
/// Node, class and number of the ways of listed messages; no class has that number.
const OF_LISTED: (u32, usize, u32) = (0, 255, 0);
/// Streams of random numbers for ways, behind all others.
const OF_ROUTES: u32 = 1 << 22;
/// The longest span \[cycles\].
const SPAN_MAX: f64 = 1e9;

impl Sources {
    fn new(scenario: &Scenario, seed: u64) -> Self {
        let classes = || 0..scenario.classes().len();
        let phases = Phases::of(scenario);
        let senders: Vec<Vec<u32>> = classes().map(|class| scenario.senders(class)).collect();
        let mut streams: Vec<_> = classes()
            .map(|class| frames::streams(&phases, class, &senders[class], seed).into_iter())
            .collect();
        let ways = scenario.topology().drawn_ways();
        let mut frame_runs = vec![Vec::new(); streams.len()];
        let destinations: Vec<_> = classes().map(|class| scenario.destinations(class)).collect();
        let mut sources = Vec::new();
        for node in 0..scenario.topology().nodes() {
            for (class, spec) in scenario.classes().iter().enumerate() {
                let (start, last) = (spec.start_cycle(), spec.end.map_or(f64::INFINITY, f64::next_down));
                let of_node = streams[class].as_slice().iter().take_while(|one| one.node == node).count();
                for (number, FrameStream { random, process, .. }) in
                    (0..).zip(streams[class].by_ref().take(of_node))
                {
                    let run = |run: &FrameRun| FrameRun { begins: start + run.begins, ..*run };
                    frame_runs[class].push(process.runs().iter().map(run).collect());
                    let (process, routes) =
                        (Box::new(process), Routes::of(ways, seed, (node, class, number)));
                    sources.push(Source { node, class: class as u8, random, process, routes, start, last });
                }
                let is_sender = senders[class].binary_search(&node).is_ok() && spec.connections.is_none();
                if !spec.source.has_frames() && is_sender && phases.sends(class) {
                    let mut random = stream(seed, node, class);
                    let relative_rate = destinations[class].relative_rate(node);
                    let process = process(&mut random, &phases, class, relative_rate);
                    let routes = Routes::of(ways, seed, (node, class, 0));
                    sources.push(Source { node, class: class as u8, random, process, routes, start, last });
                }
            }
        }
        let mut connected = Connected::new(scenario, seed);
        for class in classes() {
            if let Some(streams) = connected.as_mut().and_then(|connected| connected.streams(class)) {
                frame_runs[class] = vec![Vec::new(); streams as usize * senders[class].len()];
            }
        }
        let requests = connected.as_ref().map_or(0.0, |one| one.admission.requests_per_cycle());
        let (messages_per_cycle, classes) = (phases.messages_per_cycle() + requests, class_offers(&phases));
        let spans = Self::with_spans(sources, messages_per_cycle, classes, destinations);
        let mut made = Self { frame_runs, connected, ..spans };
        made.join_connections();
        made
    }

    /// Sources of connections that have been admitted come behind all others.
    fn join_connections(&mut self) {
        let Some(connected) = &mut self.connected else { return };
        for (source, number, runs) in connected.sources() {
            if let Some(of_stream) = self.frame_runs[usize::from(source.class)].get_mut(number as usize) {
                *of_stream = runs;
            }
            self.sources.push(source);
        }
    }

    /// Connections that are admitted within a span send what is left of it.
    fn join_at_once(&mut self) {
        let (sources, drawn) = (self.sources.len(), self.span.len());
        self.join_connections();
        for at in sources..self.sources.len() {
            self.draw(at);
        }
        let start = self.drawn_until - self.span_cycles;
        for index in drawn..self.span.len() {
            let place = (self.span[index].arrival.cycle - start) << 32 | index as u64;
            let before = self.order[self.next..].partition_point(|other| *other < place);
            self.order.insert(self.next + before, place);
        }
    }

    /// Draws spans until one goes beyond a cycle, if all messages that were drawn have come.
    fn draw_until(&mut self, now: u64) {
        while self.next == self.span.len() && self.drawn_until <= now {
            self.draw_span();
        }
    }

    fn of_packets(network: &dyn Topology, traffics: &[packet::Traffic], seed: u64) -> Self {
        let (hosts, ways) = (network.nodes(), network.drawn_ways());
        let mut sources = Vec::new();
        for (node, (class, traffic)) in
            (0..hosts).flat_map(|node| traffics.iter().enumerate().map(move |one| (node, one)))
        {
            let sends = traffic.hosts.contains(&node) && traffic.destinations.towards(node).count > 0;
            sources.extend((0..if sends { traffic.process.streams() } else { 0 }).map(|number| {
                let mut random = stream_of(seed, node, class, number);
                let process = packet_process(&mut random, traffic, node);
                let last = traffic.end.map_or(f64::INFINITY, |end| end as f64 - 1.0);
                let routes = Routes::of(ways, seed, (node, class, number));
                Source { node, class: class as u8, random, process, routes, start: 0.0, last }
            }));
        }
        let rate = |traffic: &packet::Traffic| traffic.hosts.len() as f64 / traffic.interval;
        let first = Terms { vtick: 0.0, to_draw: None };
        let offers =
            |traffic: &packet::Traffic| ClassOffers { flits: traffic.packets, first, later: Vec::new() };
        Self::with_spans(
            sources,
            traffics.iter().map(rate).sum(),
            traffics.iter().map(offers).collect(),
            traffics.iter().map(|traffic| traffic.destinations.clone()).collect(),
        )
    }

    /// Sources that draw spans of messages ahead.
    fn with_spans(
        sources: Vec<Source>,
        messages_per_cycle: f64,
        classes: Vec<ClassOffers>,
        destinations: Vec<Destinations>,
    ) -> Self {
        let span_messages = sources.len().clamp(SPAN_MESSAGES.0, SPAN_MESSAGES.1) as f64;
        let span_cycles = (span_messages / messages_per_cycle).clamp(1.0, SPAN_MAX) as u64;
        Self {
            sources,
            classes,
            span: Vec::new(),
            order: Vec::new(),
            next: 0,
            drawn_until: 0,
            span_cycles,
            destinations,
            frame_runs: Vec::new(),
            connected: None,
        }
    }

    #[inline]
    fn next(&mut self, until: u64) -> Option<Offer> {
        loop {
            if let Some(&offer) = self.ahead() {
                if offer.arrival.cycle > until {
                    return None;
                }
                self.next += 1;
                return Some(offer);
            }
            if self.drawn_until > until {
                return None;
            }
            self.draw_span();
        }
    }

    fn next_cycle(&mut self) -> Option<u64> {
        let has_all_come = self.next == self.span.len();
        if has_all_come
            && self.sources.is_empty()
            && self.connected.as_ref().is_none_or(|one| one.admission.is_idle())
        {
            return None;
        }
        // connections may yet come in what is left of the span
        let is_in_band = self.connected.as_ref().is_some_and(|one| one.admission.is_in_band());
        if has_all_come && !is_in_band {
            self.draw_span();
        }
        Some(self.ahead().map_or(self.drawn_until, |offer| offer.arrival.cycle))
    }

    #[inline]
    fn ahead(&self) -> Option<&Offer> {
        self.order.get(self.next).map(|place| &self.span[*place as u32 as usize])
    }

    #[cold]
    fn draw_span(&mut self) {
        self.span.clear();
        self.next = 0;
        self.drawn_until += self.span_cycles;
        if let Some(connected) = self.connected.as_mut().filter(|one| !one.admission.is_in_band()) {
            connected.admission.advance(self.drawn_until);
            self.join_connections();
        }
        (0..self.sources.len()).for_each(|at| self.draw(at));
        let end = self.drawn_until as f64;
        if self.connected.is_some() {
            self.sources.retain(|source| source.last > end - 1.0);
        }
        let start = self.drawn_until - self.span_cycles;
        let place = |(index, offer): (usize, &Offer)| (offer.arrival.cycle - start) << 32 | index as u64;
        self.order.clear();
        self.order.extend(self.span.iter().enumerate().map(place));
        self.order.sort_unstable();
    }

    /// What a source sends before the end of the span.
    fn draw(&mut self, at: usize) {
        let end = self.drawn_until as f64;
        let Source { node, class, random, process, routes, start, last } = &mut self.sources[at];
        let offers = &self.classes[usize::from(*class)];
        // the next cycle is the first in which the message can be sent: ceil(g) < end
        while let Some(after_start) = process.next_before(random, last.min(end - 1.0) - *start) {
            let piece = process.piece().copied();
            let destination = match piece {
                Some(piece) => piece.destination,
                None => process.destination(random, &self.destinations[usize::from(*class)].towards(*node)),
            };
            let cycle = (*start + after_start).ceil() as u64;
            let arrival = Arrival { cycle, source: *node, destination, class: *class };
            let offer = match piece {
                Some(piece) => piece.offer(arrival),
                None => offers.offer(arrival, random),
            };
            self.span.push(Offer { way: Routes::draw(routes), ..offer });
        }
    }
}
