//! Frames that begin in parts of a run: a phase, or all that is measured.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::deadlines::{DeadlineTally, Judge, Judgement};
use super::{ClassFrames, FrameMeter, FrameTally, Stream};

/// Frames of a class that begin in a part of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct WindowTally {
    /// Intervals that begin with them, of frames without a pause between them.
    pub(crate) intervals: FrameTally,
    pub(crate) offsets: OffsetTally,
    /// By rule.
    pub(crate) deadlines: Vec<DeadlineTally>,
}

/// Offsets of frames, from the start of the interval to the delivery, less an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct OffsetTally {
    pub(crate) frames: u64,
    pub(crate) sum: f64,
    pub(crate) squares: f64,
}

impl OffsetTally {
    fn add(&mut self, offset: f64) {
        self.frames += 1;
        self.sum += offset;
        self.squares += offset * offset;
    }

    /// Squares about a mean.
    pub(crate) fn squares_about(&self, mean: f64) -> f64 {
        self.squares - 2.0 * mean * self.sum + self.frames as f64 * mean * mean
    }
}

impl FrameMeter {
    /// By window and class: frames that begin in it.
    pub(crate) fn windows(&self, windows: &[Range<f64>]) -> Vec<Vec<WindowTally>> {
        let mut tallies: Vec<Vec<WindowTally>> =
            windows.iter().map(|_| self.0.iter().map(ClassFrames::empty_window).collect()).collect();
        for (index, class) in self.0.iter().enumerate() {
            for stream in &class.streams {
                let frames = class.judged(stream);
                for (window, of_window) in windows.iter().zip(&mut tallies) {
                    class.add(&frames, window, &mut of_window[index]);
                }
            }
        }
        tallies
    }

    /// Whether all frames that begin before a time are delivered.
    pub(crate) fn are_through(&self, before: f64) -> bool {
        let is_through = |class: &ClassFrames, stream: &Stream| {
            let of_run = stream.runs.iter().map(|run| {
                let count = ((before - run.begins) / class.interval).ceil().max(0.0) as u32;
                run.first.saturating_add(count).min(run.end)
            });
            of_run.max().is_none_or(|end| stream.known().len() >= end as usize)
        };
        self.0.iter().all(|class| class.streams.iter().all(|stream| is_through(class, stream)))
    }
}

/// A frame that is delivered, and what each rule says of it.
struct Judged {
    /// When it begins \[cycles\].
    begins: f64,
    /// Less an interval \[cycles\].
    offset: f64,
    /// The next one's delivery after this one's, less an interval; `None` at the end of a part without a pause.
    apart: Option<f64>,
    judgements: Vec<Option<Judgement>>,
}

impl ClassFrames {
    fn empty_window(&self) -> WindowTally {
        WindowTally {
            intervals: FrameTally { interval: self.interval, ..FrameTally::default() },
            deadlines: vec![DeadlineTally::default(); self.rules.len()],
            ..WindowTally::default()
        }
    }

    /// The delivered frames of a stream, in order, up to the first that is not. A stream that comes back is a new one.
    fn judged(&self, stream: &Stream) -> Vec<Judged> {
        let known = stream.known();
        let mut frames = Vec::with_capacity(known.len());
        for run in &stream.runs {
            let mut judges: Vec<Judge> =
                self.rules.iter().map(|rule| Judge::new(*rule, self.interval)).collect();
            for number in run.first as usize..known.len().min(run.end as usize) {
                let (begins, latency) = stream.frame(number, known[number], self.interval);
                let next = known.get(number + 1).filter(|_| number + 1 < run.end as usize);
                frames.push(Judged {
                    begins,
                    offset: latency - self.interval,
                    apart: next.map(|next| *next as f64 - known[number] as f64 - self.interval),
                    judgements: judges.iter_mut().map(|judge| judge.judge(latency)).collect(),
                });
            }
        }
        frames
    }

    fn add(&self, frames: &[Judged], window: &Range<f64>, tally: &mut WindowTally) {
        let first = frames.partition_point(|frame| frame.begins < window.start);
        let last = frames.partition_point(|frame| frame.begins < window.end);
        let frames = frames.get(first..last).unwrap_or_default();
        for frame in frames {
            tally.offsets.add(frame.offset);
            for (judgement, tally) in frame.judgements.iter().zip(&mut tally.deadlines) {
                judgement.iter().for_each(|one| tally.add(*one));
            }
        }
        for run in frames.split_inclusive(|frame| frame.apart.is_none()) {
            let apart: Vec<f64> = run.iter().filter_map(|frame| frame.apart).collect();
            tally.intervals.add(&apart);
        }
    }
}
