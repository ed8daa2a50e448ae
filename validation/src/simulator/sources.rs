//! Sources: when messages come into being, and where they go.

use flitwise_models::scenario::{Scenario, SourceSpec};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use crate::message::Arrival;

/// All sources of a network; each has its own stream of random numbers.
///
/// Each source draws ahead all its messages of a span of cycles; then they are put in order.
#[derive(Clone, Debug)]
pub(crate) struct Sources {
    sources: Vec<Source>,
    /// Messages of the current span, source by source.
    span: Vec<Arrival>,
    /// Their order, by cycle and then as drawn (cycle since the start of the span in the upper half, place in
    /// `span` in the lower), and how many have come.
    order: Vec<u64>,
    next: usize,
    /// The first cycle after the current span.
    drawn_until: u64,
    span_cycles: u64,
    destinations: Destinations,
}

#[derive(Clone, Debug)]
struct Source {
    node: u32,
    class: u8,
    random: Xoshiro256PlusPlus,
    process: Process,
}

/// How the messages of a source are spaced.
#[derive(Clone, Debug)]
enum Process {
    Poisson { mean_cycles: f64, next: f64 },
    OnOff { streams: Vec<Stream>, spacing: f64, more: f64, mean_off: f64 },
}

/// One of the streams of an ON/OFF source.
#[derive(Clone, Copy, Debug)]
struct Stream {
    next: f64,
}

/// Uniform over all ports of a router, its own included; over the other nodes of a cube.
#[derive(Clone, Copy, Debug)]
struct Destinations {
    nodes: u32,
    own: bool,
}

/// Messages to draw ahead, about.
const SPAN_MESSAGES: f64 = 2048.0;
/// The longest span \[cycles\].
const SPAN_MAX: f64 = 1e9;

impl Sources {
    pub(crate) fn new(scenario: &Scenario, seed: u64) -> Self {
        let network = scenario.topology();
        let destinations = Destinations { nodes: network.nodes(), own: network.self_traffic() };
        let mut sources = Vec::new();
        for node in 0..destinations.nodes {
            for (class, spec) in scenario.classes().iter().enumerate() {
                if spec.rate > 0.0 {
                    let mut random = stream(seed, node, class);
                    let process = Process::new(&mut random, spec.rate, spec.source);
                    sources.push(Source { node, class: class as u8, random, process });
                }
            }
        }
        let rate: f64 = scenario.classes().iter().map(|class| class.rate).sum();
        let messages_per_cycle = rate * f64::from(destinations.nodes);
        let span_cycles = (SPAN_MESSAGES / messages_per_cycle).clamp(1.0, SPAN_MAX) as u64;
        Self {
            sources,
            span: Vec::new(),
            order: Vec::new(),
            next: 0,
            drawn_until: 0,
            span_cycles,
            destinations,
        }
    }

    /// The next message, if it comes in cycle `until` or before.
    #[inline]
    pub(crate) fn next(&mut self, until: u64) -> Option<Arrival> {
        loop {
            if let Some(arrival) = self.ahead() {
                if arrival.cycle > until {
                    return None;
                }
                self.next += 1;
                return Some(arrival);
            }
            if self.drawn_until > until {
                return None;
            }
            self.draw_span();
        }
    }

    /// The cycle of the next message, or one before it when the next one is far off.
    pub(crate) fn next_cycle(&mut self) -> Option<u64> {
        if self.sources.is_empty() {
            return None;
        }
        if self.next == self.span.len() {
            self.draw_span();
        }
        Some(self.ahead().map_or(self.drawn_until, |arrival| arrival.cycle))
    }

    #[inline]
    fn ahead(&self) -> Option<Arrival> {
        self.order.get(self.next).map(|place| self.span[*place as u32 as usize])
    }

    #[cold]
    fn draw_span(&mut self) {
        self.span.clear();
        self.next = 0;
        self.drawn_until += self.span_cycles;
        let end = self.drawn_until as f64;
        let destinations = self.destinations;
        for Source { node, class, random, process } in &mut self.sources {
            // the next cycle is the first in which the message can be sent: ceil(g) < end
            while let Some(generated) = process.next_before(random, end - 1.0) {
                let destination = destinations.draw(random, *node);
                let cycle = generated.ceil() as u64;
                self.span.push(Arrival { cycle, source: *node, destination, class: *class });
            }
        }
        let start = self.drawn_until - self.span_cycles;
        let place = |(index, arrival): (usize, &Arrival)| (arrival.cycle - start) << 32 | index as u64;
        self.order.clear();
        self.order.extend(self.span.iter().enumerate().map(place));
        self.order.sort_unstable();
    }
}

impl Process {
    fn new(random: &mut Xoshiro256PlusPlus, rate: f64, source: SourceSpec) -> Self {
        match source {
            SourceSpec::Poisson => {
                let mean_cycles = 1.0 / rate;
                Self::Poisson { mean_cycles, next: mean_cycles * exponential(random) }
            }
            SourceSpec::OnOff { streams, messages_per_burst, peak_rate } => {
                let spacing = 1.0 / peak_rate;
                // 1 / a = I / N + 1 / p
                let mean_rate = rate / f64::from(streams);
                let mean_off = messages_per_burst * (1.0 / mean_rate - spacing);
                // after a message the burst goes on with probability 1 - 1 / N
                let more = 1.0 - 1.0 / messages_per_burst;
                let stationary = |random: &mut Xoshiro256PlusPlus| {
                    // ON for a share a / p of the time, then anywhere between two messages
                    let next = if uniform(random) < mean_rate / peak_rate {
                        spacing * uniform(random) + off(random, more, mean_off)
                    } else {
                        mean_off * exponential(random)
                    };
                    Stream { next }
                };
                let streams = (0..streams).map(|_| stationary(random)).collect();
                Self::OnOff { streams, spacing, more, mean_off }
            }
        }
    }

    /// When the next message is generated, if that is no later than `limit`.
    #[inline]
    fn next_before(&mut self, random: &mut Xoshiro256PlusPlus, limit: f64) -> Option<f64> {
        match self {
            Self::Poisson { mean_cycles, next } => {
                let generated = *next;
                if generated > limit {
                    return None;
                }
                *next += *mean_cycles * exponential(random);
                Some(generated)
            }
            Self::OnOff { streams, spacing, more, mean_off } => {
                let first = streams.iter_mut().min_by(|a, b| a.next.total_cmp(&b.next))?;
                let generated = first.next;
                if generated > limit {
                    return None;
                }
                first.next += *spacing + off(random, *more, *mean_off);
                Some(generated)
            }
        }
    }
}

/// What comes after the time of a message: nothing if the burst goes on, else an OFF period \[cycles\].
fn off(random: &mut Xoshiro256PlusPlus, more: f64, mean_off: f64) -> f64 {
    if uniform(random) < more { 0.0 } else { mean_off * exponential(random) }
}

impl Destinations {
    #[inline]
    fn draw(self, random: &mut Xoshiro256PlusPlus, source: u32) -> u32 {
        let among = if self.own { self.nodes } else { self.nodes - 1 };
        let drawn = ((u128::from(random.next_u64()) * u128::from(among)) >> 64) as u32;
        if !self.own && drawn >= source { drawn + 1 } else { drawn }
    }
}

/// The stream of a source: a word that mixes seed, node and class starts the generator.
fn stream(seed: u64, node: u32, class: usize) -> Xoshiro256PlusPlus {
    let place = u64::from(node) << 8 | class as u64;
    // odd constants of splitmix64; one step of the generator between the two
    let mut mixer = rand_xoshiro::SplitMix64::seed_from_u64(seed);
    let word = mixer.next_u64() ^ place.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    Xoshiro256PlusPlus::seed_from_u64(word)
}

/// Uniform over (0, 1].
#[inline]
fn uniform(random: &mut Xoshiro256PlusPlus) -> f64 {
    ((random.next_u64() >> 11) + 1) as f64 * (1.0 / (1u64 << 53) as f64)
}

/// Exponential of mean 1.
#[inline]
fn exponential(random: &mut Xoshiro256PlusPlus) -> f64 {
    -uniform(random).ln()
}
