//! `connections` of a class: what asks for admission, and what each connection sends.

use super::class::{MAX_TIME, labels};
use super::declare::*;
use super::{ClassKind, ClassSpec, Scenario, ScenarioSpec, Scheduler};
use crate::document::in_short;

/// Mean rate of a connection where none is given and no frame says it \[flits/cycle\].
const MEAN: f64 = 0.02;
/// Requests of a node in a mean holding time where neither they nor a load are given.
const ERLANGS: f64 = 10.0;
/// The most connections of a class at a node.
const MAX_CONNECTIONS: f64 = 10_000.0;

table! {
    /// Connections of a class. Without a source of frames each sends at its peak rate while ON, and nothing while OFF.
    #[derive(Copy)]
    pub struct ConnectionsSpec {
        /// Mean rate of a connection; by default that of its frames, or 0.02.
        #[serde(skip_serializing_if = "Option::is_none")]
        mean: Option<f64> ["flits/cycle"] = None, within(1e-9, 1.0).magnitude(Magnitude::Flow);
        /// Peak rate of a connection; by default twice the mean.
        #[serde(skip_serializing_if = "Option::is_none")]
        peak: Option<f64> ["flits/cycle"] = None, within(1e-9, 1.0).magnitude(Magnitude::Flow);
        /// Mean length of an ON period (exponential); OFF periods follow from mean and peak.
        on: f64 ["cycles"] = 20_000.0, within(1.0, MAX_TIME).magnitude(Magnitude::Time);
        /// Connections that a node asks for; by default as many as the load of the class takes.
        #[serde(skip_serializing_if = "Option::is_none")]
        count: Option<u32> ["connections"] = None, within(1.0, MAX_CONNECTIONS).or_zero();
        /// When connections are asked for, and how long they stand.
        request: Request = Request::AtStart;
        /// Time from the start of the class in which connections are asked for, each at a uniform moment.
        spread: f64 ["cycles"] = 20_000.0, within(0.0, MAX_TIME).magnitude(Magnitude::Time);
        /// Requests of a node in a mean holding time, where connections come and go; by default the load over the mean
        /// rate, or 10.
        #[serde(skip_serializing_if = "Option::is_none")]
        erlangs: Option<f64> = None, within(1e-6, MAX_CONNECTIONS);
        /// Mean time that a connection stands, where connections come and go (exponential).
        #[serde(skip_serializing_if = "Option::is_none")]
        holding: Option<f64> ["cycles"] = None, within(1.0, MAX_TIME).magnitude(Magnitude::Time);
    }
}

words! {
    /// When connections are asked for.
    pub enum Request {
        /// All in the first part of the run; they stand as long as it lasts.
        AtStart "at-start",
        /// At exponential intervals; they stand for an exponential time.
        Poisson "poisson",
    }
}

impl Rules for ConnectionsSpec {
    fn rules(&self, path: &str, door: &mut Door) {
        let key = |name: &str| format!("{path}.{name}");
        if let (Some(peak), mean) = (self.peak, self.mean.unwrap_or(MEAN))
            && peak < mean
            && self.mean.is_some()
        {
            let wanted = format!("at least the mean, {}", in_short(mean));
            door.refuse(&key("peak"), in_short(peak), &wanted, None);
        }
        let (given, wanted): (&[_], _) = match self.request {
            Request::AtStart => (
                &[("erlangs", self.erlangs), ("holding", self.holding)],
                "none of connections that stand as long as the run: add request = \"poisson\"",
            ),
            Request::Poisson => (
                &[("count", self.count.map(f64::from))],
                "erlangs: connections come and go with request = \"poisson\"",
            ),
        };
        for (name, found) in given.iter().filter_map(|(name, found)| Some((*name, (*found)?))) {
            if door.is_read(&key("request")) {
                door.refuse(&key(name), in_short(found), wanted, None);
            }
        }
        if self.request == Request::Poisson && self.holding.is_none() && door.is_read(&key("holding")) {
            let help = Some("add holding = 100000, in cycles, or \"8 ms\"");
            door.refuse(
                &key("holding"),
                "nothing".to_owned(),
                "the mean time that a connection stands",
                help,
            );
        }
    }
}

/// What each connection of a class sends, and when it is asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Connections {
    /// Mean rate of a connection \[flits/cycle\].
    pub mean: f64,
    /// Peak rate of a connection \[flits/cycle\].
    pub peak: f64,
    /// Mean length of ON periods, where no frames are sent \[cycles\].
    pub on: f64,
    /// When they are asked for.
    pub requests: Requests,
}

/// When connections of a node are asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Requests {
    /// So many within a time from the start of the class, for ever \[cycles\].
    AtStart {
        /// Connections per node.
        count: u32,
        /// The time in which they are asked for \[cycles\].
        spread: f64,
    },
    /// One after another.
    Poisson {
        /// Requests in a mean holding time.
        erlangs: f64,
        /// Mean time that a connection stands \[cycles\].
        holding: f64,
    },
}

impl Requests {
    /// Connections of a node that would stand on average if none were refused.
    pub fn wanted(&self) -> f64 {
        match *self {
            Self::AtStart { count, .. } => f64::from(count),
            Self::Poisson { erlangs, .. } => erlangs,
        }
    }
}

impl ClassSpec {
    /// What each of its connections sends, if it has any. The numbers of connections are those of a settled class.
    pub fn connections(&self, flit_bits: Option<f64>) -> Option<Connections> {
        let spec = self.connections?;
        let of_frames = self.frames(flit_bits).filter(|frames| frames.streams > 0);
        let of_frames = of_frames.map(|frames| frames.flit_rate() / f64::from(frames.streams));
        let mean = spec.mean.or(of_frames).or(self.source.stream_load(flit_bits)).unwrap_or(MEAN);
        let requests = match (spec.request, spec.holding) {
            (Request::Poisson, Some(holding)) => {
                Requests::Poisson { erlangs: spec.erlangs.unwrap_or(ERLANGS), holding }
            }
            _ => Requests::AtStart { count: spec.count.unwrap_or(0), spread: spec.spread },
        };
        Some(Connections { mean, peak: spec.peak.unwrap_or((2.0 * mean).min(1.0)), on: spec.on, requests })
    }

    /// Puts numbers of connections in the place of a load; whether it has any.
    pub(super) fn settle_connections(&mut self, load: Option<f64>, flit_bits: Option<f64>) -> bool {
        let Some(Connections { mean, .. }) = self.connections(flit_bits) else { return false };
        let Some(spec) = &mut self.connections else { return false };
        match (spec.request, load) {
            (Request::AtStart, Some(load)) => {
                spec.count = spec.count.or(Some((load / mean).round().min(MAX_CONNECTIONS) as u32));
            }
            (Request::Poisson, _) => {
                spec.erlangs = spec.erlangs.or(load.map(|load| (load / mean).clamp(1e-6, MAX_CONNECTIONS)));
                spec.erlangs.get_or_insert(ERLANGS);
            }
            (Request::AtStart, None) => {}
        }
        if self.source.has_frames() {
            self.source.set_streams(spec.count.unwrap_or(0).into());
        } else if let Some(Connections { requests, .. }) = self.connections(flit_bits) {
            self.rate = requests.wanted() * mean / f64::from(self.message_flits);
        }
        true
    }

    /// Multiplies its connections, to the nearest whole number where they are counted; whether it has any.
    pub(super) fn scale_connections(&mut self, factor: f64) -> bool {
        let given = self.given_vtick();
        let Some(spec) = &mut self.connections else { return false };
        let before = spec.count;
        spec.count = spec.count.map(|count| (f64::from(count) * factor).round().min(MAX_CONNECTIONS) as u32);
        spec.erlangs = spec.erlangs.map(|erlangs| (erlangs * factor).clamp(1e-6, MAX_CONNECTIONS));
        let after = spec.count;
        if self.source.set_streams(after.unwrap_or(0).into()) {
            (self.rate, self.vtick) = (0.0, given);
        } else {
            self.rate *= match (before, after) {
                (Some(before), Some(after)) => f64::from(after) / f64::from(before.max(1)),
                _ => factor,
            };
        }
        true
    }
}

impl Scenario {
    /// What each connection of a class sends, if it has any.
    pub fn connections(&self, class: usize) -> Option<Connections> {
        self.classes()[class].connections(self.flit_bits())
    }
}

impl ScenarioSpec {
    /// Refuses connections where they do not go, and numbers of them that do not fit together.
    pub(super) fn connection_rules(&self, door: &mut Door) {
        let flit_bits = self.units.as_ref().and_then(|units| units.flit_bits).map(f64::from);
        let names: Vec<&str> = self.classes.iter().map(|class| class.name.as_str()).collect();
        for (class, label) in self.classes.iter().zip(labels(&names)) {
            let Some(spec) = class.connections else {
                let wants =
                    self.router.scheduler == Scheduler::LaneArbiter && door.is_read("router.scheduler");
                if class.kind == ClassKind::RealTime && self.switch.is_none() && wants {
                    let wanted = "connections, from which the weights of the lane arbiter follow";
                    let help = Some("add connections = { mean = 0.02 }");
                    door.refuse(&format!("{label}.connections"), "nothing".to_owned(), wanted, help);
                }
                continue;
            };
            let path = format!("{label}.connections");
            if class.kind != ClassKind::RealTime && self.switch.is_none() {
                let wanted = "none but in a real-time class: others ask for no admission";
                door.refuse(&path, "connections".to_owned(), wanted, Some("remove the line"));
                continue;
            }
            let word = class.source.word();
            if class.source.has_frames() {
                if spec.request == Request::Poisson {
                    let wanted = "\"at-start\" with frames";
                    door.refuse(&format!("{path}.request"), "\"poisson\"".to_owned(), wanted, None);
                }
                let streams = class.source.streams().filter(|streams| Some(*streams) != spec.count);
                if let Some(streams) = streams {
                    let wanted = "none beside connections, each of which is a stream";
                    let key = format!("{label}.source.streams");
                    door.refuse(&key, streams.to_string(), wanted, Some("write connections.count"));
                }
            } else if word != "poisson" && door.is_read(&format!("{label}.source")) {
                let wanted = "none, or cbr, vbr or mpeg2: without frames connections are ON or OFF";
                door.refuse(&format!("{label}.source.kind"), format!("\"{word}\""), wanted, None);
            }
            if class.rate > 0.0
                && let Some(connections) = class.connections(flit_bits).filter(|_| !class.source.has_frames())
            {
                let own = connections.requests.wanted() * connections.mean / f64::from(class.message_flits);
                if (class.rate / own - 1.0).abs() > 1e-9 || !own.is_normal() {
                    let wanted = "no rate: it follows from the connections";
                    let help = Some("write connections.count, or load");
                    door.refuse(&format!("{label}.rate"), in_short(class.rate), wanted, help);
                }
            }
        }
    }
}
