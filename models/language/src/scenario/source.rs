//! `source` of a class: how its messages come into being at a node.

use super::ClassSpec;
use super::declare::*;
use super::destination::DestinationSpec;
use super::frame_list::FrameList;
use super::sequences::Sequences;
use super::units::worded;
use crate::document::in_short;

/// The longest frame, and the most streams of a class at a node.
const MAX_FRAME_FLITS: f64 = 1e7;
const MAX_STREAMS: f64 = 10_000.0;
/// The most messages of an ON period.
const MOST_OF_A_BURST: f64 = 1e5;

/// Declares the sources, of which those of frames have keys in common.
macro_rules! sources {
    ({ $($of_frames:tt)+ }) => {
        table! {
            /// How the messages of a class come into being at a node.
            pub enum SourceSpec by "kind" {
                /// Exponential times between messages.
                Poisson "poisson",
                /// Equal times between messages, from a uniform start.
                Periodic "periodic",
                /// Independent bursty streams that together reach the rate of the class.
                OnOff "on-off" {
                    /// Streams per node; each has an equal part of the rate.
                    streams: u32 ["streams"] = 1, within(1.0, 10_000.0).wanted();
                    /// `N`: mean number of messages in an ON period (geometric).
                    messages_per_burst: f64 ["messages"] = 1.0, within(1.0, 1e6).wanted();
                    /// `p`: rate of a stream while ON; messages are spaced `1 / p`.
                    peak_rate: f64 ["messages/cycle"] = 1.0,
                        within(1e-9, 1.0).wanted().magnitude(Magnitude::Rate);
                },
                /// Independent streams with ON periods and pauses of Pareto lengths: self-similar traffic. A stream
                /// keeps its destination for an ON period.
                OnOffPareto "on-off-pareto" {
                    /// Streams per node; each has an equal part of the rate.
                    streams: u32 ["streams"] = 8, within(1.0, 10_000.0);
                    /// Index of both laws; the Hurst parameter of their sum is `(3 - alpha) / 2`.
                    alpha: f64 = 1.4, within(1.05, 10.0);
                    /// Time between messages of a stream while ON.
                    spacing: f64 ["cycles"] = 20_000.0, within(1e-3, 1e12).magnitude(Magnitude::Time);
                    /// Messages of an ON period, at most; 2 at least.
                    most: u32 ["messages"] = 512, within(2.0, MOST_OF_A_BURST);
                },
                /// Messages listed in a file, in rows of time_ns, source, destination, bytes, or without `[switch]`
                /// of time_cycles, source, destination, flits, too.
                Trace "trace" {
                    /// The file, seen from the directory in which the command runs.
                    file: String = String::new(), ANY.wanted();
                    /// What all times are divided by.
                    compression: f64 = 1.0, within(1e-6, 1e6);
                },
                /// Hosts that read from and write to disks, synthetic and self-similar: under `[switch]` the
                /// messages that `flitwise trace synthesise` writes, drawn anew in every replication.
                San "san" {
                    /// Disks, on the last hosts; all others ask them.
                    disks: u32 ["disks"] = 1, within(1.0, 1023.0).wanted();
                    /// What all times are divided by.
                    compression: f64 = 1.0, within(1e-6, 1e6);
                },
                /// Streams of frames that are all of one length.
                Cbr "cbr" {
                    /// Length of a frame, headers of messages left out.
                    frame: f64 ["flits"] = 1.0,
                        within(1.0, MAX_FRAME_FLITS).wanted().magnitude(Magnitude::Size);
                    $($of_frames)+
                },
                /// Streams of frames whose lengths are normally distributed.
                Vbr "vbr" {
                    /// Mean length of a frame, headers of messages left out.
                    frame: f64 ["flits"] = 1.0,
                        within(1.0, MAX_FRAME_FLITS).wanted().magnitude(Magnitude::Size).instead(&["sizes"]);
                    /// Standard deviation of the length; lengths below 0 are drawn anew.
                    frame_deviation: f64 ["flits"] = 0.0,
                        within(0.0, MAX_FRAME_FLITS).magnitude(Magnitude::Size);
                    /// Lengths of frames one after another in place of a law: a file with a number of bytes on each
                    /// line, or a list; a stream begins anywhere and goes round and round.
                    #[serde(skip_serializing_if = "FrameList::is_empty")]
                    sizes: FrameList ["flits"] = FrameList::default(),
                        within(1e-3, MAX_FRAME_FLITS).magnitude(Magnitude::Size);
                    $($of_frames)+
                },
                /// Streams of MPEG-2 frames: a pattern of I, P and B frames of the sizes of recorded sequences.
                Mpeg2 "mpeg2" {
                    /// Recorded sequences, which streams take in turn.
                    sequences: Sequences = Sequences::all(), within(1.0, 7.0).example("[1, 3, 4]");
                    /// Coefficient of variation of the length of frames of one type.
                    frame_variation: f64 = 0.0, within(0.0, 10.0);
                    /// Factor of all lengths.
                    frame_scale: f64 = 1.0, within(1e-3, 1e3);
                    $($of_frames)+
                },
            }
        }
    };
}

sources!({
    /// Streams per node; by default as many as the load of the class takes.
    #[serde(skip_serializing_if = "Option::is_none")]
    streams: Option<u32> ["streams"] = None, within(1.0, MAX_STREAMS).or_zero();
    /// What a stream counts of a load, by default a frame in every interval, without headers.
    #[serde(skip_serializing_if = "Option::is_none")]
    stream: Option<f64> ["of a link"] = None, within(1e-9, 1.0).magnitude(Magnitude::Flow);
    /// `T`: time between frames.
    frame_interval: f64 ["cycles"] = 1.0, within(1.0, 1e12).wanted().magnitude(Magnitude::Time);
    /// Flits of each message that are no part of the frame.
    header_flits: u32 ["flits"] = 1, within(0.0, 64.0);
    /// When the messages of a frame are generated.
    pacing: Pacing = Pacing::Even;
    /// How streams find their destinations.
    placement: Placement = Placement::Uniform;
    /// Streams on a virtual channel at most, of placement capped; by default as many as it has a share of the link
    /// for.
    #[serde(skip_serializing_if = "Option::is_none")]
    streams_per_vc: Option<u32> ["streams"] = None, within(1.0, MAX_STREAMS);
    /// Where in its interval the frame of a stream begins.
    phase: Phase = Phase::Random;
});

words! {
    /// When the messages of a frame are generated.
    pub enum Pacing {
        /// Spread over the interval, the first at its start.
        Even "even",
        /// Spread over the interval, the last at its end.
        EvenLate "even-late",
        /// All at the start of the interval.
        Burst "burst",
    }
}

words! {
    /// How streams find their destinations and virtual channels.
    pub enum Placement {
        /// Each draws by itself.
        Uniform "uniform",
        /// Each draws by itself, anew where the virtual channel has as many streams as it may have.
        Capped "capped",
        /// Each draws by itself, but every virtual channel gets as many streams as others, or one more.
        Balanced "balanced",
    }
}

words! {
    /// Where in its interval the frame of a stream begins.
    pub enum Phase {
        /// Anywhere.
        Random "random",
        /// One stream of a node after the other, equally spaced.
        Even "even",
        /// At its start, all streams together.
        Equal "equal",
    }
}

/// The keys that all sources of frames have.
#[derive(Clone, Copy, Debug)]
pub(super) struct OfFrames {
    pub(super) streams: Option<u32>,
    pub(super) stream: Option<f64>,
    pub(super) interval: f64,
    pub(super) header_flits: u32,
    pub(super) pacing: Pacing,
    pub(super) placement: Placement,
    pub(super) streams_per_vc: Option<u32>,
    pub(super) phase: Phase,
}

/// Mean number of messages of an ON period: a Pareto number of least value 2, rounded down, at most `most`.
///
/// ```
/// # use flitwise_language::scenario::mean_burst;
/// assert_eq!(format!("{:.3}", mean_burst(1.4, 512)), "6.013");
/// ```
pub fn mean_burst(alpha: f64, most: u32) -> f64 {
    // E[n] = sum over n of P(at least n), (2 / n)^alpha from 2 on
    2.0 + (3..=most).map(|n| (2.0 / f64::from(n)).powf(alpha)).sum::<f64>()
}

/// The shortest pause of a stream whose messages are `interval` apart on average, both laws Pareto of index `alpha`;
/// not above 0 where there is no room for pauses \[the unit of `interval` and `spacing`\].
pub fn least_pause(interval: f64, alpha: f64, spacing: f64, most: u32) -> f64 {
    let messages = mean_burst(alpha, most);
    // mean pause: alpha / (alpha - 1) times the shortest one
    (alpha - 1.0) / alpha * (messages * interval - (messages - 1.0) * spacing)
}

macro_rules! of_frames {
    ($($field:ident),+) => {
        Self::Cbr { $($field,)+ .. } | Self::Vbr { $($field,)+ .. } | Self::Mpeg2 { $($field,)+ .. }
    };
}

impl Rules for SourceSpec {}

impl Default for SourceSpec {
    fn default() -> Self {
        Self::unset()
    }
}

impl SourceSpec {
    /// Whether messages come in bursts, not one by one as from a Poisson source.
    pub fn is_bursty(&self) -> bool {
        !matches!(self, Self::Poisson | Self::Periodic)
    }

    /// Whether messages come at equal intervals.
    pub fn is_periodic(&self) -> bool {
        matches!(self, Self::Periodic)
    }

    /// Whether messages are parts of the frames of streams.
    pub fn has_frames(&self) -> bool {
        self.of_frames().is_some()
    }

    /// The rate that the sources of a class reach at most, all streams ON; infinite for a Poisson source and for
    /// frames \[messages/cycle/node\].
    pub fn peak_rate(&self) -> f64 {
        match *self {
            Self::OnOff { streams, peak_rate, .. } => f64::from(streams) * peak_rate,
            Self::OnOffPareto { streams, spacing, .. } => f64::from(streams) / spacing,
            _ => f64::INFINITY,
        }
    }

    /// Variance over mean of the number of messages in a long time, about: 1 for a Poisson source, the mean size of a
    /// burst and as much again for ON/OFF; it grows without bound with Pareto periods; next to nothing for frames,
    /// which come at equal intervals.
    pub fn dispersion(&self) -> f64 {
        match *self {
            Self::Poisson => 1.0,
            Self::OnOff { messages_per_burst, .. } => 2.0 * messages_per_burst,
            Self::OnOffPareto { .. } | Self::Trace { .. } | Self::San { .. } => f64::INFINITY,
            _ => 0.0,
        }
    }

    pub(super) fn of_frames(&self) -> Option<OfFrames> {
        match *self {
            of_frames!(
                streams,
                stream,
                frame_interval,
                header_flits,
                pacing,
                placement,
                streams_per_vc,
                phase
            ) => Some(OfFrames {
                streams,
                stream,
                interval: frame_interval,
                header_flits,
                pacing,
                placement,
                streams_per_vc,
                phase,
            }),
            _ => None,
        }
    }

    /// Streams of frames per node, if they are given.
    pub fn streams(&self) -> Option<u32> {
        self.of_frames()?.streams
    }

    /// Multiplies the streams of frames per node, to the nearest whole number; whether there are any.
    pub(super) fn scale_streams(&mut self, factor: f64) -> bool {
        let of_frames!(streams) = self else { return false };
        *streams = streams.map(|streams| (f64::from(streams) * factor).round() as u32);
        true
    }

    /// Puts a number of streams of frames per node; whether there are any.
    pub(super) fn set_streams(&mut self, number: f64) -> bool {
        let of_frames!(streams) = self else { return false };
        *streams = Some(number as u32);
        true
    }

    /// The most streams of frames per node for which there is room on so many virtual channels.
    pub(super) fn most_streams(&self, lanes: u32) -> f64 {
        match self.of_frames() {
            Some(OfFrames { placement: Placement::Capped, streams_per_vc: Some(most), .. }) => {
                f64::from(most.saturating_mul(lanes)).min(MAX_STREAMS)
            }
            _ => MAX_STREAMS,
        }
    }

    /// What a stream counts of a load: given, or a frame in every interval; `None` without frames, and of MPEG-2
    /// where no flit is known \[flits/cycle\].
    pub(super) fn stream_load(&self, flit_bits: Option<f64>) -> Option<f64> {
        let OfFrames { stream, interval, .. } = self.of_frames()?;
        let frame = match self {
            Self::Vbr { sizes, .. } if !sizes.is_empty() => Some(sizes.mean()),
            Self::Cbr { frame, .. } | Self::Vbr { frame, .. } => Some(*frame),
            Self::Mpeg2 { sequences, frame_scale, .. } => {
                flit_bits.map(|bits| frame_scale * sequences.mean_kilobits() * 1e3 / bits)
            }
            _ => None,
        };
        stream.or_else(|| Some(frame? / interval))
    }

    /// Puts numbers in the place of what follows from others: streams of that load \[flits/cycle/node\], and streams
    /// on each of so many virtual channels of a port.
    pub(super) fn settle(&mut self, load: Option<f64>, lanes: u32, flit_bits: Option<f64>) {
        let Some(one) = self.stream_load(flit_bits) else { return };
        if let of_frames!(streams, streams_per_vc, placement) = self {
            *streams = streams.or(load.map(|load| (load / one).round() as u32));
            if *placement == Placement::Capped {
                let share = 1.0 / f64::from(lanes.max(1)) / one;
                streams_per_vc.get_or_insert((share * (1.0 + 1e-9)).floor().clamp(1.0, MAX_STREAMS) as u32);
            }
        }
    }

    /// Messages on circuits have no headers.
    pub(super) fn leave_out_headers(&mut self) {
        if let of_frames!(header_flits) = self {
            *header_flits = 0;
        }
    }

    /// Refuses a stream that could not reach its part of the class's rate; `path` is the key of the source.
    pub(super) fn fits(&self, rate: f64, path: &str, door: &mut Door) {
        if let Self::OnOffPareto { streams, alpha, spacing, most } = *self {
            // numbers out of range are refused as such
            let is_in_range =
                rate > 0.0 && spacing > 0.0 && alpha > 1.0 && f64::from(most) <= MOST_OF_A_BURST;
            if is_in_range && least_pause(f64::from(streams) / rate, alpha, spacing, most) <= 0.0 {
                let found =
                    format!("{} at a rate of {} in {streams} streams", in_short(spacing), in_short(rate));
                let wanted = "a spacing that leaves pauses at this rate";
                let help = Some("lower spacing or the rate, or raise streams");
                door.refuse(&format!("{path}.spacing"), found, wanted, help);
            }
            return;
        }
        if let Self::San { disks, .. } = *self
            && let Some(hosts) =
                door.known_network().map(|network| network.nodes()).filter(|hosts| *hosts <= disks)
        {
            let wanted = format!("fewer than the {hosts} hosts, of which they are the last");
            door.refuse(&format!("{path}.disks"), disks.to_string(), &wanted, None);
        }
        let Self::OnOff { streams, peak_rate, .. } = *self else { return };
        let mean = rate / f64::from(streams.max(1));
        // 1 / a = I / N + 1 / p leaves no OFF time when a >= p
        if (1e-9..=1.0).contains(&peak_rate) && rate.is_finite() && mean >= peak_rate {
            let found = format!("{peak_rate} with {mean} messages/cycle per stream");
            let found = worded(found, door.switch.is_some());
            let help = "raise peak_rate or streams, or lower the rate";
            let wanted = "a peak above the mean rate of a stream";
            door.refuse(&format!("{path}.peak_rate"), found, wanted, Some(help));
        }
    }

    /// Refuses frames that cannot be sent as they are wanted; `path` is the key of the source of `class`.
    pub(super) fn frame_rules(&self, class: &ClassSpec, flit_bits: Option<f64>, path: &str, door: &mut Door) {
        let Some(OfFrames { streams, header_flits, placement, streams_per_vc, .. }) = self.of_frames() else {
            return;
        };
        if matches!(self, Self::Mpeg2 { .. }) && flit_bits.is_none() {
            let help = Some("add  [units]  with  link = \"1.6 Gbps\"  and  flit_bits = 128");
            let wanted = "a table [units] with flit_bits: its frames are a number of bits";
            door.refuse(&format!("{path}.kind"), "\"mpeg2\"".to_owned(), wanted, help);
        }
        if let Self::Vbr { frame, frame_deviation, sizes, .. } = self
            && !sizes.is_empty()
        {
            let law = [("frame", *frame, 1.0), ("frame_deviation", *frame_deviation, 0.0)];
            for (key, given, _) in law.into_iter().filter(|(_, given, unset)| given != unset) {
                let wanted = "none beside sizes, which are those of all frames";
                door.refuse(&format!("{path}.{key}"), in_short(given), wanted, Some("remove the line"));
            }
        }
        if class.message_flits <= header_flits {
            let found = format!("{} with {header_flits} header flits", class.message_flits);
            let key = format!("{}.message_flits", path.trim_end_matches(".source"));
            door.refuse(&key, found, "messages longer than their headers", None);
        }
        if placement != Placement::Uniform && class.destination != DestinationSpec::Uniform {
            let found = format!("\"{}\"", placement.word());
            let wanted = "placement = \"uniform\" where destinations are not uniform";
            door.refuse(&format!("{path}.placement"), found, wanted, None);
        }
        let (Placement::Capped, Some(streams), Some(most)) = (placement, streams, streams_per_vc) else {
            return;
        };
        let room = most.saturating_mul(class.virtual_channels);
        if streams > room {
            let wanted = format!("room for {room}: {most} on each virtual channel");
            let help = Some("give the class more virtual channels, or more streams_per_vc");
            door.refuse(&format!("{path}.streams"), in_short(f64::from(streams)), &wanted, help);
        }
    }
}
