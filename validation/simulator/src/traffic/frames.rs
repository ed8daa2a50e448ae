//! Streams of frames, which are cut into messages.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use flitwise_language::scenario::{ClassKind, FrameSource, Pacing, Phase, Scenario, VcChoice};

use crate::message::{Arrival, ChannelChoice, FramePart, Offer};

use super::phases::{FrameRun, Phases, frames_within};
use super::placement::OF_PHASES;
use super::random::{Random, anywhere, below, normal, stream_of};
use super::{Process, drawn, placed};
use crate::circuits::{CircuitDemand, set_up};

/// What is special about a message that is part of a frame or of a connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub(super) destination: u32,
    pub(super) flits: u32,
    pub(super) vtick: f64,
    pub(super) drawn: Option<ChannelChoice>,
    pub(super) part: FramePart,
}

impl Piece {
    pub(super) fn offer(&self, arrival: Arrival) -> Offer {
        let Self { flits, vtick, drawn, part, .. } = *self;
        Offer { arrival, flits, vtick, drawn, part, way: 0 }
    }
}

/// A stream of a node with its random numbers.
pub(super) struct FrameStream {
    pub(super) node: u32,
    pub(super) random: Random,
    pub(super) process: Frames,
}

/// All streams of a class, those of the first sender first; none of a class without frames or with connections.
pub(super) fn streams(phases: &Phases<'_>, class: usize, senders: &[u32], seed: u64) -> Vec<FrameStream> {
    let (scenario, Some(frames)) = (phases.scenario(), phases.frames(class)) else { return Vec::new() };
    if scenario.classes()[class].connections.is_some() {
        return Vec::new();
    }
    let (spec, frames) = (&scenario.classes()[class], Arc::new(frames));
    let choice = scenario.data_router().vc_choice;
    // a Vtick that is given holds for all frames, as does that of the class
    let own_vtick = spec.kind == ClassKind::RealTime
        && spec.vtick.is_none()
        && scenario.data_router().scheduler.is_fine_grained();
    let (blocks, stays) = (phases.blocks(class), phases.stays(class));
    // what a change of phase draws: a stream of random numbers of its own
    let mut of_changes = stream_of(seed, 0, class, OF_PHASES);
    let lanes = |block: &Range<usize>, stream: usize, place: usize| {
        let at_source = block.start + stream % block.len().max(1);
        let lanes = || drawn(choice, at_source as u8, (block.start + place) as u8);
        (choice != VcChoice::Free).then(lanes)
    };
    // of each stream that has a place: its number
    let places: Vec<(usize, (u32, Option<ChannelChoice>))> = match CircuitDemand::of(scenario, class) {
        Some(asked) => {
            let circuits = set_up(scenario, &asked, seed).0.into_iter().enumerate();
            circuits.filter_map(|(at, one)| one.map(|one| (at, (one.destination, Some(one.drawn))))).collect()
        }
        None => placed(scenario, class, &frames, blocks[0].len(), senders, seed)
            .into_iter()
            .enumerate()
            .map(|(number, (destination, lane))| {
                (number, (destination, lanes(&blocks[0], number % frames.streams as usize, lane)))
            })
            .collect(),
    };
    let vtick = |scenario: &Scenario, stream: u32| match scenario.circuits().map(|circuits| circuits.vtick) {
        Some(law) if spec.kind == ClassKind::RealTime && spec.vtick.is_none() => {
            frames.circuit_vtick(stream, law)
        }
        _ => scenario.classes()[class].lane_vtick(),
    };
    let one = |(serial, (number, (destination, first))): (usize, (usize, (u32, Option<ChannelChoice>)))| {
        let (node, stream) = (senders[number / frames.streams as usize], number as u32 % frames.streams);
        let mut settings = VecDeque::new();
        let mut drawn = first;
        for (phase, (begins, scenario)) in phases.each().enumerate() {
            if phase > 0 && blocks[phase] != blocks[phase - 1] {
                let place = below(&mut of_changes, blocks[phase].len() as u32) as usize;
                drawn = lanes(&blocks[phase], stream as usize, place);
            }
            settings.push_back(Setting { begins, drawn, vtick: vtick(scenario, stream) });
        }
        let mut random = stream_of(seed, node, class, stream + 1);
        let part = FramePart { stream: serial as u32, frame: 0, messages: 0 };
        let piece = Piece { destination, flits: 0, vtick: 0.0, drawn: None, part };
        let source = Arc::clone(&frames);
        let mut process = Frames::new(source, stream, own_vtick, piece, settings, &mut random);
        process.stay(&stays[stream as usize], &mut of_changes);
        FrameStream { node, random, process }
    };
    places.into_iter().enumerate().map(one).collect()
}

/// What messages of a stream are like from a time on.
#[derive(Clone, Copy, Debug)]
struct Setting {
    begins: f64,
    drawn: Option<ChannelChoice>,
    vtick: f64,
}

/// The frames of a stream.
pub(super) struct Frames {
    source: Arc<FrameSource>,
    /// Its number at its node.
    stream: u32,
    /// Whether messages have a Vtick of their frame.
    own_vtick: bool,
    /// Where in an interval its frames begin, when it first comes \[cycles\].
    phase: f64,
    /// Frames without a pause among them: those under way, and all.
    run: FrameRun,
    runs: Vec<FrameRun>,
    /// What changes when a phase begins, the next change first, and when that is.
    settings: VecDeque<Setting>,
    changes_at: f64,
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
        settings: VecDeque<Setting>,
        random: &mut Random,
    ) -> Self {
        let phase = match source.phase {
            Phase::Random => anywhere(random, source.interval),
            Phase::Even => source.interval * f64::from(stream) / f64::from(source.streams),
            Phase::Equal => 0.0,
        };
        let first_type = match source.sizes_of(stream).period() {
            1 => 0,
            period => below(random, period as u32) as usize,
        };
        let (frame, frame_flits, messages, sent) = (0, 0, 0, 0);
        let (run, runs) = (FrameRun { begins: f64::INFINITY, first: 0, end: u32::MAX }, Vec::new());
        let mut frames = Self {
            source,
            stream,
            own_vtick,
            phase,
            run,
            runs,
            settings,
            changes_at: f64::NEG_INFINITY,
            first_type,
            frame,
            frame_flits,
            messages,
            sent,
            piece,
        };
        frames.draw(random);
        frames
    }

    /// Those of a connection, its number at its node being given, which stands for a time from its beginning on.
    pub(super) fn of_connection(
        source: Arc<FrameSource>,
        stream: u32,
        own_vtick: bool,
        piece: Piece,
        stay: Range<f64>,
        random: &mut Random,
    ) -> Self {
        let settings = [Setting { begins: 0.0, drawn: piece.drawn, vtick: piece.vtick }];
        let mut frames = Self::new(source, stream, own_vtick, piece, settings.into(), random);
        frames.stay(&[stay], random);
        frames
    }

    /// Settles when the stream sends. Whenever it comes back its frames begin anywhere in an interval, as at first.
    fn stay(&mut self, stays: &[Range<f64>], of_changes: &mut Random) {
        let interval = self.source.interval;
        for (at, stay) in stays.iter().enumerate() {
            let phase = match self.source.phase {
                Phase::Random if at > 0 => anywhere(of_changes, interval),
                _ => self.phase,
            };
            let first = self.runs.last().map_or(0, |run| run.end);
            self.runs.push(frames_within(stay.start + phase, stay.end, interval, first));
        }
        self.begin_run();
    }

    /// The frames that the next one belongs to.
    fn begin_run(&mut self) {
        let run = self.runs.iter().find(|run| (run.first..run.end).contains(&self.frame));
        self.run = run.copied().unwrap_or(FrameRun { begins: f64::INFINITY, ..self.run });
    }

    /// All frames, in parts without a pause.
    pub(super) fn runs(&self) -> &[FrameRun] {
        &self.runs
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
        let frame = f64::from(self.frame - self.run.first);
        self.run.begins + interval * (frame + f64::from(place) / f64::from(self.messages))
    }

    /// What holds of messages that come in a cycle.
    #[cold]
    fn change(&mut self, cycle: f64) {
        while let Some(setting) = self.settings.front().filter(|setting| setting.begins <= cycle) {
            self.piece.drawn = setting.drawn;
            self.piece.vtick = setting.vtick;
            self.settings.pop_front();
        }
        self.changes_at = self.settings.front().map_or(f64::INFINITY, |setting| setting.begins);
    }
}

impl Process for Frames {
    fn next_before(&mut self, random: &mut Random, limit: f64) -> Option<f64> {
        let time = self.time();
        if time > limit {
            return None;
        }
        let cycle = time.ceil();
        if cycle >= self.changes_at {
            self.change(cycle);
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
            if self.frame == self.run.end {
                self.begin_run();
            }
            self.draw(random);
        }
        Some(time)
    }

    fn piece(&self) -> Option<&Piece> {
        Some(&self.piece)
    }
}
