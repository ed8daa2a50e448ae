//! Streams of frames, which are cut into messages.

use std::sync::Arc;

use flitwise_language::scenario::{ClassKind, FrameSource, Pacing, Phase, Scenario, VcChoice};

use crate::message::{Arrival, Drawn, FramePart, Offer};

use super::random::{Random, below, normal, stream_of, uniform};
use super::{Process, drawn, placed};
use crate::circuits::{Asked, set_up};

/// What is special about a message that is part of a frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub(super) destination: u32,
    flits: u32,
    vtick: f64,
    drawn: Option<Drawn>,
    part: FramePart,
}

impl Piece {
    pub(super) fn offer(&self, arrival: Arrival) -> Offer {
        let Self { flits, vtick, drawn, part, .. } = *self;
        Offer { arrival, flits, vtick, drawn, part }
    }
}

/// A stream of a node with its random numbers.
pub(super) struct FrameStream {
    pub(super) node: u32,
    pub(super) random: Random,
    pub(super) process: Frames,
}

/// All streams of a class, those of the first sender first; none of a class without frames.
pub(super) fn streams(scenario: &Scenario, class: usize, senders: &[u32], seed: u64) -> Vec<FrameStream> {
    let Some(frames) = scenario.frames(class) else { return Vec::new() };
    let (spec, frames) = (&scenario.classes()[class], Arc::new(frames));
    let block = scenario.virtual_channels()[class].clone();
    let choice = scenario.data_router().vc_choice;
    // a Vtick that is given holds for all frames, as does that of the class
    let own_vtick = spec.kind == ClassKind::RealTime
        && spec.vtick.is_none()
        && scenario.data_router().scheduler.is_fine_grained();
    // of each stream that has a place: its number
    let places: Vec<(usize, (u32, Option<Drawn>))> = match Asked::of(scenario, class) {
        Some(asked) => {
            let circuits = set_up(scenario, &asked, seed).0.into_iter().enumerate();
            circuits.filter_map(|(at, one)| one.map(|one| (at, (one.destination, Some(one.drawn))))).collect()
        }
        None => placed(scenario, class, &frames, senders, seed)
            .into_iter()
            .enumerate()
            .map(|(number, (destination, lane))| {
                let at_source = block.start + number % frames.streams as usize % block.len().max(1);
                let lanes = || drawn(choice, at_source as u8, (block.start + lane) as u8);
                (number, (destination, (choice != VcChoice::Free).then(lanes)))
            })
            .collect(),
    };
    let vtick = |stream: u32| match scenario.circuits().map(|circuits| circuits.vtick) {
        Some(law) if spec.kind == ClassKind::RealTime && spec.vtick.is_none() => {
            frames.circuit_vtick(stream, law)
        }
        _ => spec.lane_vtick(),
    };
    let one = |(serial, (number, (destination, drawn))): (usize, (usize, (u32, Option<Drawn>)))| {
        let (node, stream) = (senders[number / frames.streams as usize], number as u32 % frames.streams);
        let mut random = stream_of(seed, node, class, stream + 1);
        let piece = Piece {
            destination,
            flits: 0,
            vtick: vtick(stream),
            drawn,
            part: FramePart { stream: serial as u32, frame: 0, messages: 0 },
        };
        let process = Frames::new(Arc::clone(&frames), stream, own_vtick, piece, &mut random);
        FrameStream { node, random, process }
    };
    places.into_iter().enumerate().map(one).collect()
}

/// The frames of a stream.
pub(super) struct Frames {
    source: Arc<FrameSource>,
    /// Its number at its node.
    stream: u32,
    /// Whether messages have a Vtick of their frame.
    own_vtick: bool,
    /// When its first frame begins \[cycles\].
    pub(super) phase: f64,
    /// The place of its first frame in the pattern of types.
    first_type: usize,
    /// The next frame: its number and its flits.
    frame: u32,
    frame_flits: u32,
    /// Its messages, and how many of them have come.
    messages: u32,
    sent: u32,
    /// The message that came last.
    piece: Piece,
}

impl Frames {
    fn new(
        source: Arc<FrameSource>,
        stream: u32,
        own_vtick: bool,
        piece: Piece,
        random: &mut Random,
    ) -> Self {
        let phase = match source.phase {
            Phase::Random => source.interval * (1.0 - uniform(random)),
            Phase::Even => source.interval * f64::from(stream) / f64::from(source.streams),
            Phase::Equal => 0.0,
        };
        let first_type = match source.sizes_of(stream).period() {
            1 => 0,
            period => below(random, period as u32) as usize,
        };
        let (frame, frame_flits, messages, sent) = (0, 0, 0, 0);
        let mut frames =
            Self { source, stream, own_vtick, phase, first_type, frame, frame_flits, messages, sent, piece };
        frames.draw(random);
        frames
    }

    /// Draws the length of the next frame.
    fn draw(&mut self, random: &mut Random) {
        let law = self.source.sizes_of(self.stream).law(self.first_type + self.frame as usize);
        self.frame_flits = loop {
            let z = if law.deviation > 0.0 { normal(random) } else { 0.0 };
            if let Some(flits) = law.flits(z) {
                break flits;
            }
        };
        self.messages = self.source.messages(self.frame_flits);
        self.sent = 0;
    }

    /// When the next message is generated.
    fn time(&self) -> f64 {
        let FrameSource { interval, pacing, .. } = *self.source;
        let place = match pacing {
            Pacing::Even => self.sent,
            Pacing::EvenLate => self.sent + 1,
            Pacing::Burst => 0,
        };
        self.phase + interval * (f64::from(self.frame) + f64::from(place) / f64::from(self.messages))
    }
}

impl Process for Frames {
    fn next_before(&mut self, random: &mut Random, limit: f64) -> Option<f64> {
        let time = self.time();
        if time > limit {
            return None;
        }
        let messages = self.messages;
        let payload = (self.frame_flits - self.sent * self.source.payload()).min(self.source.payload());
        self.piece.flits = self.source.header_flits + payload;
        self.piece.part = FramePart { frame: self.frame, messages, ..self.piece.part };
        if self.own_vtick {
            self.piece.vtick = self.source.vtick(messages);
        }
        self.sent += 1;
        if self.sent == messages {
            self.frame += 1;
            self.draw(random);
        }
        Some(time)
    }

    fn piece(&self) -> Option<&Piece> {
        Some(&self.piece)
    }
}
