//! Streams of frames: how long frames are, and into which messages they are cut.

use statrs::function::erf::erfc;

use super::source::OfFrames;
use super::{CircuitVtick, ClassSpec, FrameList, Pacing, Phase, Placement, Scenario, SourceSpec};

/// The types of MPEG-2 frames in the order in which they come: 0 is I, 1 is P, 2 is B.
pub const FRAME_PATTERN: [usize; 12] = [0, 2, 2, 1, 2, 2, 1, 2, 2, 1, 2, 2];

/// The source of a class at a node: streams of frames, each with a destination of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct FrameSource {
    /// Streams per node.
    pub streams: u32,
    /// `T`: time between the frames of a stream \[cycles\].
    pub interval: f64,
    /// By stream, those after the last again from the first on: how long its frames are.
    pub sizes: Vec<FrameSizes>,
    /// `M`: length of a message \[flits\].
    pub message_flits: u32,
    /// Those of them that are no part of the frame.
    pub header_flits: u32,
    /// When messages of a frame are generated.
    pub pacing: Pacing,
    /// How streams find their destinations.
    pub placement: Placement,
    /// Streams on a virtual channel at most, of placement capped.
    pub streams_per_vc: u32,
    /// Where in its interval a frame begins.
    pub phase: Phase,
}

/// How long the frames of a stream are.
#[derive(Clone, Debug, PartialEq)]
pub enum FrameSizes {
    /// All alike in law.
    Alike(FrameLaw),
    /// By type, those of [`FRAME_PATTERN`].
    Pattern([FrameLaw; 3]),
    /// One after another, round and round \[flits\].
    Listed(FrameList),
}

/// The length of a frame: the whole flits that hold `mean + deviation z` flits, z normal, drawn anew until positive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrameLaw {
    /// Mean of the normal distribution \[flits\].
    pub mean: f64,
    /// Its standard deviation \[flits\].
    pub deviation: f64,
}

/// Steps of a distribution up to which they are summed one by one.
const MOST_STEPS: f64 = 4_096.0;
/// Deviations from the mean beyond which no frame is.
const TAIL: f64 = 9.0;

/// `P(z > x)` of a normal z.
fn beyond(x: f64) -> f64 {
    erfc(x * std::f64::consts::FRAC_1_SQRT_2) / 2.0
}

impl FrameLaw {
    /// `F` of a draw \[flits\]; `None` where it is to be drawn anew.
    pub fn flits(&self, z: f64) -> Option<u32> {
        let size = self.mean + self.deviation * z;
        (size > 0.0).then(|| (size * (1.0 - 1e-9)).ceil().clamp(1.0, 1e9) as u32)
    }

    /// `P(x > size)` of the size before it is rounded up.
    pub fn beyond(&self, size: f64) -> f64 {
        let Self { mean, deviation } = *self;
        if deviation == 0.0 {
            // as flits() rounds
            return f64::from(mean * (1.0 - 1e-9) > size);
        }
        if size <= 0.0 { 1.0 } else { beyond((size - mean) / deviation) / beyond(-mean / deviation) }
    }

    /// Mean of the size before it is rounded up \[flits\].
    fn mean_size(&self) -> f64 {
        let Self { mean, deviation } = *self;
        if deviation == 0.0 {
            return mean;
        }
        let at = mean / deviation;
        let density = (-at * at / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
        mean + deviation * density / beyond(-at)
    }

    /// Mean of the number of pieces of so many flits that hold a frame.
    pub fn mean_pieces(&self, flits: f64) -> f64 {
        let first = ((self.mean - TAIL * self.deviation) / flits).floor().max(0.0);
        let last = ((self.mean + TAIL * self.deviation) / flits).ceil();
        if last - first > MOST_STEPS {
            return self.mean_size() / flits + 0.5;
        }
        // E N = sum over n of P(N > n)
        let sizes = (first as u64..=last as u64).map(|n| n as f64 * flits);
        if self.deviation == 0.0 {
            return first + sizes.map(|size| self.beyond(size)).sum::<f64>();
        }
        // as `beyond` has it, the denominator once
        let Self { mean, deviation } = *self;
        let positive = beyond(-mean / deviation);
        let tail = |size: f64| if size <= 0.0 { 1.0 } else { beyond((size - mean) / deviation) / positive };
        first + sizes.map(tail).sum::<f64>()
    }

    /// Mean of `F` \[flits\].
    pub fn mean_flits(&self) -> f64 {
        self.mean_pieces(1.0)
    }
}

impl FrameSizes {
    /// The law of each frame type, with its share of the frames.
    pub fn laws(&self) -> Vec<(FrameLaw, f64)> {
        match self {
            Self::Alike(law) => vec![(*law, 1.0)],
            Self::Pattern(laws) => {
                let share = |of| FRAME_PATTERN.iter().filter(|one| **one == of).count() as f64 / 12.0;
                laws.iter().enumerate().map(|(of, law)| (*law, share(of))).collect()
            }
            Self::Listed(list) => {
                let share = 1.0 / list.flits().len() as f64;
                (0..list.flits().len()).map(|at| (self.law(at), share)).collect()
            }
        }
    }

    /// Frames after which their laws come again.
    pub fn period(&self) -> usize {
        match self {
            Self::Alike(_) => 1,
            Self::Pattern(_) => FRAME_PATTERN.len(),
            Self::Listed(list) => list.flits().len(),
        }
    }

    /// The law of a frame, by its number.
    pub fn law(&self, frame: usize) -> FrameLaw {
        match self {
            Self::Alike(law) => *law,
            Self::Pattern(laws) => laws[FRAME_PATTERN[frame % FRAME_PATTERN.len()]],
            Self::Listed(list) => FrameLaw { mean: list.flits()[frame % list.flits().len()], deviation: 0.0 },
        }
    }

    fn mean(&self, of: impl Fn(&FrameLaw) -> f64) -> f64 {
        self.laws().iter().map(|(law, share)| share * of(law)).sum()
    }
}

impl FrameSource {
    /// How long the frames of a stream are.
    pub fn sizes_of(&self, stream: u32) -> &FrameSizes {
        &self.sizes[stream as usize % self.sizes.len()]
    }

    /// Flits of a message that are part of a frame. A message that is all header is refused after this was asked.
    pub fn payload(&self) -> u32 {
        self.message_flits.saturating_sub(self.header_flits).max(1)
    }

    /// `N`: messages of a frame of so many flits.
    pub fn messages(&self, frame_flits: u32) -> u32 {
        frame_flits.div_ceil(self.payload())
    }

    /// Mean over the streams of a node.
    fn mean(&self, of: impl Fn(&FrameLaw) -> f64) -> f64 {
        let turns = |at: usize| (at as u32..self.streams).step_by(self.sizes.len()).count() as f64;
        let all = self.sizes.iter().enumerate().map(|(at, sizes)| turns(at) * sizes.mean(&of));
        all.sum::<f64>() / f64::from(self.streams.max(1))
    }

    /// `E F`: mean length of a frame, without headers \[flits\].
    pub fn mean_flits(&self) -> f64 {
        self.mean(FrameLaw::mean_flits)
    }

    /// `E N`: mean number of messages of a frame.
    pub fn mean_messages(&self) -> f64 {
        self.mean(|law| law.mean_pieces(self.payload().into()))
    }

    /// Rate of the class \[messages/cycle/node\].
    pub fn message_rate(&self) -> f64 {
        f64::from(self.streams) * self.mean_messages() / self.interval
    }

    /// Flits of the class, headers of messages included \[flits/cycle/node\].
    pub fn flit_rate(&self) -> f64 {
        let flits = self.mean_flits() + f64::from(self.header_flits) * self.mean_messages();
        f64::from(self.streams) * flits / self.interval
    }

    /// Vtick of the circuit of a stream, where all messages have the same \[cycles/flit\].
    pub fn circuit_vtick(&self, stream: u32, law: CircuitVtick) -> f64 {
        let sizes = self.sizes_of(stream);
        let flits = match law {
            CircuitVtick::Peak => sizes
                .laws()
                .iter()
                .map(|(law, _)| law.mean + 2.0 * law.deviation)
                .fold(f64::MIN_POSITIVE, f64::max),
            CircuitVtick::Mean | CircuitVtick::Frame => sizes.mean(FrameLaw::mean_flits),
        };
        self.interval / flits
    }

    /// Vtick of the messages of a frame of so many messages, `T / (N M)` \[cycles/flit\].
    pub fn vtick(&self, messages: u32) -> f64 {
        self.interval / (f64::from(messages) * f64::from(self.message_flits))
    }
}

impl ClassSpec {
    /// Its streams of frames, of a checked scenario with so many bits in a flit.
    pub(super) fn frames(&self, flit_bits: Option<f64>) -> Option<FrameSource> {
        let OfFrames { streams, interval, header_flits, pacing, placement, streams_per_vc, phase, .. } =
            self.source.of_frames()?;
        let alike = |mean, deviation| vec![FrameSizes::Alike(FrameLaw { mean, deviation })];
        let sizes = match self.source {
            SourceSpec::Vbr { ref sizes, .. } if !sizes.is_empty() => vec![FrameSizes::Listed(sizes.clone())],
            SourceSpec::Cbr { frame, .. } => alike(frame, 0.0),
            SourceSpec::Vbr { frame, frame_deviation, .. } => alike(frame, frame_deviation),
            SourceSpec::Mpeg2 { sequences, frame_variation, frame_scale, .. } => {
                let flits = frame_scale * 1e3 / flit_bits?;
                let law = |kilobits| {
                    let mean = flits * kilobits;
                    FrameLaw { mean, deviation: frame_variation * mean }
                };
                sequences.frame_kilobits().map(|sizes| FrameSizes::Pattern(sizes.map(law))).collect()
            }
            _ => return None,
        };
        let (streams, streams_per_vc) = (streams?, streams_per_vc.unwrap_or(u32::MAX));
        let message_flits = self.message_flits;
        Some(FrameSource {
            streams,
            interval,
            sizes,
            message_flits,
            header_flits,
            pacing,
            placement,
            streams_per_vc,
            phase,
        })
    }
}

impl Scenario {
    /// The streams of frames of a class; `None` of a class without frames.
    pub fn frames(&self, class: usize) -> Option<FrameSource> {
        self.classes()[class].frames(self.flit_bits())
    }

    /// Flits of a class over all nodes that send it, headers included \[flits/cycle/node\].
    pub fn flit_rate(&self, class: usize) -> f64 {
        let spec = &self.classes()[class];
        let plain = || spec.rate * f64::from(spec.message_flits);
        self.frames(class).map_or_else(plain, |frames| frames.flit_rate())
    }

    /// What a stream of a class counts of the load of its link; `None` without frames \[flits/cycle\].
    pub fn stream_load(&self, class: usize) -> Option<f64> {
        self.classes()[class].source.stream_load(self.flit_bits())
    }

    /// Mean length of a message of a class, headers included \[flits\].
    pub fn mean_message_flits(&self, class: usize) -> f64 {
        let frames = self.frames(class).filter(|frames| frames.streams > 0);
        let plain = || f64::from(self.classes()[class].message_flits);
        frames.map_or_else(plain, |frames| frames.flit_rate() / frames.message_rate())
    }

    /// Width of a flit \[bits\].
    pub fn flit_bits(&self) -> Option<f64> {
        self.spec().units.as_ref().and_then(|units| units.flit_bits).map(f64::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn video(source: &str, class: &str) -> Result<Scenario, Vec<String>> {
        let text = format!(
            "[units]\nlink = \"400 Mbps\"\nflit_bits = 32\n[network]\ntopology = \"router\"\nports = 8\n\
             [router]\nvirtual_channels = 16\n[mix]\nload = 0.8\n[[class]]\nname = \"RT\"\nkind = \"real-time\"\n\
             virtual_channels = 13\nmessage_flits = 20\nshare = 0.8\nsource = {{ {source} }}\n{class}\n\
             [[class]]\nname = \"BE\"\nkind = \"best-effort\"\nvirtual_channels = 3\nmessage_flits = 20\n"
        );
        let read = Scenario::from_toml("t", &text);
        read.map_err(|faults| faults.iter().map(ToString::to_string).collect())
    }

    const VBR: &str = "kind = \"vbr\", frame = \"16666 B\", frame_deviation = \"3333 B\", \
                       frame_interval = \"33 ms\", stream = \"4 Mbps\", placement = \"capped\"";

    /// The mix of the paper: 64 streams of 4 Mbps are a load of 0.64 without headers, 1.0633 times that with them
    /// (and 4.04 Mbps).
    #[test]
    fn shares_become_streams_and_rates() {
        let scenario = video(VBR, "").unwrap();
        let frames = scenario.frames(0).unwrap();
        assert_eq!((frames.streams, frames.streams_per_vc, frames.interval), (64, 6, 412_500.0));
        assert!((scenario.flit_rate(0) / 0.64 - 1.0633).abs() < 5e-4, "{}", scenario.flit_rate(0));
        assert!((scenario.classes()[1].rate - 0.16 / 20.0).abs() < 1e-15);
        assert!((frames.mean_messages() - (frames.mean_flits() / 19.0 + 0.5)).abs() < 0.03);
        let written = scenario.spec().to_toml();
        assert_eq!(Scenario::from_toml("t", &written).unwrap().spec(), scenario.spec(), "{written}");
    }

    #[test]
    fn mpeg_streams_count_the_rates_of_the_table() {
        let video = |interval: &str| {
            let source = format!("kind = \"mpeg2\", frame_interval = \"{interval}\"");
            let scenario = video(&source, "").unwrap();
            scenario.frames(0).unwrap()
        };
        // 0.64 of 400 Mbps over 11.754 Mbps, and over ten times that
        assert_eq!((video("30 /s").streams, video("300 /s").streams), (22, 2));
        // the pattern of 1, 3 and 8 frames gives the column within 1.2 %
        let law = FrameSizes::Pattern([430.2, 295.6, 194.2].map(|mean| FrameLaw { mean, deviation: 0.0 }));
        assert!((law.mean(|law| law.mean) * 30.0 / 7138.2 - 1.0).abs() < 0.012);
    }

    #[test]
    fn pieces_are_counted_as_they_are_drawn() {
        let law = FrameLaw { mean: 30.0, deviation: 12.0 };
        let n = 100_000;
        // quantiles of the normal distribution by bisection
        let z = |p: f64| {
            let (mut low, mut high) = (-9.0, 9.0);
            for _ in 0..40 {
                let middle = (low + high) / 2.0;
                if beyond(middle) > p { low = middle } else { high = middle }
            }
            low
        };
        let drawn: Vec<u32> =
            (0..n).filter_map(|k| law.flits(z((f64::from(k) + 0.5) / f64::from(n)))).collect();
        let mean = |of: &dyn Fn(u32) -> u32| {
            drawn.iter().map(|flits| f64::from(of(*flits))).sum::<f64>() / drawn.len() as f64
        };
        assert!((mean(&|flits| flits) - law.mean_flits()).abs() < 1e-3);
        assert!((mean(&|flits| flits.div_ceil(7)) - law.mean_pieces(7.0)).abs() < 1e-3);
        let constant = FrameLaw { mean: 21.0, deviation: 0.0 };
        assert_eq!(
            (constant.mean_flits(), constant.mean_pieces(7.0), constant.mean_pieces(8.0)),
            (21.0, 3.0, 3.0)
        );
        assert_eq!(constant.flits(0.0), Some(21));
    }

    #[test]
    fn what_contradicts_itself_is_refused() {
        let refused = |source: &str, class: &str| video(source, class).unwrap_err().join("\n");
        for (source, class, wanted) in [
            (
                VBR.replace("\"capped\"", "\"capped\", streams_per_vc = 2").as_str(),
                "",
                "room for 26: 2 on each",
            ),
            (&format!("{VBR}, streams = 3"), "", "none beside share"),
            (VBR, "load = 0.3", "none beside load"),
            (VBR, "rate = 0.01", "none beside rate"),
            (VBR, "destination = 3", "where destinations are not uniform"),
            ("kind = \"mpeg2\", sequences = [1, 8], frame_interval = \"33 ms\"", "", "1 to 7"),
            ("kind = \"cbr\", frame = \"1 B\", frame_interval = \"33 ms\"", "", "1 to 1e7 flits"),
            ("kind = \"cbr\", frame = 20", "", "frame_interval"),
            ("kind = \"poisson\"", "rate = 0.1", "none beside rate"),
        ] {
            let found = refused(source, class);
            assert!(found.contains(wanted), "{source} {class}: {found}");
        }
    }
}
