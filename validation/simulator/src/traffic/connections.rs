//! What admitted connections send: messages while they are ON, or frames.

use std::sync::Arc;

use flitwise_language::scenario::{ClassKind, ClassSpec, Connections, FrameSource, Scenario};

use crate::control::admission::{Admission, Admitted};
use crate::message::FramePart;

use super::frames::{Frames, Piece};
use super::phases::FrameRun;
use super::random::{Random, anywhere, exponential, stream_of, uniform};
use super::{Process, Source};

/// Random numbers of connections are those of streams from this number on.
const OF_CONNECTIONS: u32 = 1 << 21;

/// Connections of a network, and what those of each class send.
pub(super) struct Connected {
    pub(super) admission: Admission,
    seed: u64,
    /// By class that has any.
    sending: Vec<Option<Sending>>,
}

/// What connections of a class send.
struct Sending {
    connections: Connections,
    frames: Option<Arc<FrameSource>>,
    /// Whether messages of frames have a Vtick of their own.
    own_vtick: bool,
    message_flits: u32,
    vtick: f64,
    end: f64,
}

impl Connected {
    /// `None` where no class has connections.
    pub(super) fn new(scenario: &Scenario, seed: u64) -> Option<Self> {
        let sending = |(class, spec): (usize, &ClassSpec)| Sending::new(scenario, class, spec);
        let sending: Vec<_> = scenario.classes().iter().enumerate().map(sending).collect();
        let has_any = sending.iter().any(Option::is_some);
        has_any.then(|| Self { admission: Admission::new(scenario, seed), seed, sending })
    }

    /// Connections of a node that are streams of frames, if those of a class are. Who is admitted is known then.
    pub(super) fn streams(&mut self, class: usize) -> Option<u32> {
        let streams = self.sending[class].as_ref()?.frames.as_ref()?.streams;
        self.admission.settle();
        Some(streams)
    }

    /// The sources of connections that have been admitted since this was asked last, each with its number and the
    /// frames that it sends.
    pub(super) fn sources(&mut self) -> Vec<(Source, u32, Vec<FrameRun>)> {
        let admitted = self.admission.take_admitted();
        let source = |one: Admitted| {
            let sending = self.sending[usize::from(one.class)].as_ref()?;
            Some(sending.source(self.seed, one))
        };
        admitted.into_iter().filter_map(source).collect()
    }
}

impl Sending {
    fn new(scenario: &Scenario, class: usize, spec: &ClassSpec) -> Option<Self> {
        let scheduler = scenario.data_router().scheduler;
        let frames = scenario.frames(class);
        Some(Self {
            connections: scenario.connections(class).filter(|_| spec.kind == ClassKind::RealTime)?,
            own_vtick: spec.vtick.is_none() && scheduler.is_fine_grained(),
            frames: frames.map(Arc::new),
            message_flits: spec.message_flits,
            vtick: spec.lane_vtick(),
            end: spec.end.unwrap_or(f64::INFINITY),
        })
    }

    fn source(&self, seed: u64, one: Admitted) -> (Source, u32, Vec<FrameRun>) {
        let Admitted { class, source: node, destination, drawn, number, of_node, ack, end } = one;
        let mut random = stream_of(seed, node, class.into(), OF_CONNECTIONS + of_node);
        let part = FramePart { stream: number, frame: 0, messages: 0 };
        let piece = Piece { destination, flits: self.message_flits, vtick: self.vtick, drawn, part };
        let (start, end) = (ack as f64, if end == u64::MAX { f64::INFINITY } else { end as f64 });
        let end = end.min(self.end);
        let (process, runs): (Box<dyn Process>, _) = match &self.frames {
            Some(frames) => {
                let frames = Arc::clone(frames);
                let stay = 0.0..end - start;
                let process =
                    Frames::of_connection(frames, of_node, self.own_vtick, piece, stay, &mut random);
                let run = |run: &FrameRun| FrameRun { begins: start + run.begins, ..*run };
                let runs = process.runs().iter().map(run).collect();
                (Box::new(process), runs)
            }
            None => (Box::new(OnAndOff::new(&mut random, self.connections, piece)), Vec::new()),
        };
        (Source { node, class, random, process, routes: None, start, last: end.next_down() }, number, runs)
    }
}

/// While ON a message every so many cycles, the first anywhere in the first of these intervals; periods are
/// exponential.
struct OnAndOff {
    /// Between messages, and means of ON and OFF periods \[cycles\].
    spacing: f64,
    on: f64,
    off: f64,
    /// The next message, if the period is ON until then, and when the period ends.
    next: f64,
    ends: f64,
    piece: Piece,
}

impl OnAndOff {
    /// In its stationary state.
    fn new(random: &mut Random, connections: Connections, piece: Piece) -> Self {
        let Connections { mean, peak, on, .. } = connections;
        let (spacing, off) = (f64::from(piece.flits) / peak, on * (peak / mean - 1.0));
        let mut source = Self { spacing, on, off, next: f64::INFINITY, ends: 0.0, piece };
        if uniform(random) <= mean / peak {
            source.turns_on(random, 0.0);
        }
        source
    }

    fn turns_on(&mut self, random: &mut Random, time: f64) {
        self.next = time + anywhere(random, self.spacing);
        self.ends = time + self.on * exponential(random);
    }
}

impl Process for OnAndOff {
    fn next_before(&mut self, random: &mut Random, limit: f64) -> Option<f64> {
        while self.next >= self.ends {
            if self.ends > limit {
                return None;
            }
            let begins = self.ends + self.off * exponential(random);
            self.turns_on(random, begins);
        }
        let time = self.next;
        (time <= limit).then(|| {
            self.next += self.spacing;
            time
        })
    }

    fn piece(&self) -> Option<&Piece> {
        Some(&self.piece)
    }
}
