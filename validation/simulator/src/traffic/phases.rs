//! Phases of a run as its sources see them: what each class sends in which, and on which virtual channels.
//!
//! The first phase begins with the run, whose warm-up is as it is, and the last one has no end.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::ops::Range;

use flitwise_language::scenario::{FrameSource, RunPhase, Scenario};

/// Frames of a stream that follow each other without a pause.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrameRun {
    /// When the first of them begins \[cycles\].
    pub begins: f64,
    /// Its number among all frames of the stream.
    pub first: u32,
    /// The number after that of the last one; `u32::MAX` where there is no last one.
    pub end: u32,
}

/// What a run has in its phases; a single one where nothing changes.
pub(super) struct Phases<'s> {
    scenario: &'s Scenario,
    /// By phase: when it begins \[cycles\], and its scenario.
    each: Vec<(f64, Cow<'s, Scenario>)>,
}

impl<'s> Phases<'s> {
    pub(super) fn of(scenario: &'s Scenario) -> Self {
        let mut each: Vec<(f64, Cow<'s, Scenario>)> = scenario
            .phases()
            .into_iter()
            .map(|RunPhase { begins, scenario, .. }| (begins, Cow::Owned(scenario)))
            .collect();
        match each.first_mut() {
            Some((begins, _)) => *begins = 0.0,
            None => each.push((0.0, Cow::Borrowed(scenario))),
        }
        Self { scenario, each }
    }

    /// That of the run.
    pub(super) fn scenario(&self) -> &'s Scenario {
        self.scenario
    }

    /// When each begins, and its scenario.
    pub(super) fn each(&self) -> impl Iterator<Item = (f64, &Scenario)> {
        self.each.iter().map(|(begins, scenario)| (*begins, &**scenario))
    }

    /// By phase: virtual channels of a class.
    pub(super) fn blocks(&self, class: usize) -> Vec<Range<usize>> {
        (0..self.each.len())
            .map(|phase| self.scenario.virtual_channels_in(phase).swap_remove(class))
            .collect()
    }

    /// The largest number of messages in a cycle, about.
    pub(super) fn messages_per_cycle(&self) -> f64 {
        let rates = self.each().map(|(_, scenario)| scenario.mean_rate_of_all());
        rates.fold(0.0, f64::max) * f64::from(self.scenario.topology().nodes())
    }

    /// Whether a class without frames sends in any phase.
    pub(super) fn sends(&self, class: usize) -> bool {
        self.each().any(|(_, scenario)| scenario.classes()[class].rate > 0.0)
    }

    /// The rate of a class where it first sends \[messages/cycle/node\].
    pub(super) fn first_rate(&self, class: usize) -> f64 {
        let mut rates = self.each().map(|(_, scenario)| scenario.classes()[class].rate);
        rates.find(|rate| *rate > 0.0).unwrap_or(0.0)
    }

    /// The mean time that `of` gives of the rate of a class, with its changes.
    pub(super) fn pace(&self, class: usize, of: impl Fn(f64) -> f64) -> Pace {
        let mean = |(begins, scenario): (f64, &Scenario)| (begins, of(scenario.classes()[class].rate));
        Pace::changing(self.each().map(mean).collect())
    }

    /// The frames of a class, with the most streams of any phase.
    pub(super) fn frames(&self, class: usize) -> Option<FrameSource> {
        let streams = self.streams(class).into_iter().max()?;
        Some(FrameSource { streams, ..self.scenario.frames(class)? })
    }

    fn streams(&self, class: usize) -> Vec<u32> {
        self.each().filter_map(|(_, scenario)| Some(scenario.frames(class)?.streams)).collect()
    }

    /// By stream of a node, the oldest first: the phases of the run in which it sends without a pause, as the times
    /// when the first of them begins and when the last of them ends.
    pub(super) fn stays(&self, class: usize) -> Vec<Vec<Range<f64>>> {
        let streams = self.streams(class);
        let begins = |phase: usize| self.each.get(phase).map_or(f64::INFINITY, |(begins, _)| *begins);
        let of = |stream: u32| {
            let sends = |phase: usize| streams.get(phase).is_some_and(|streams| stream < *streams);
            let first = |phase: &usize| sends(*phase) && (*phase == 0 || !sends(*phase - 1));
            let last =
                |phase: usize| (phase..streams.len()).find(|phase| !sends(*phase)).unwrap_or(streams.len());
            let starts = (0..streams.len()).filter(first);
            starts.map(|phase| begins(phase)..begins(last(phase))).collect()
        };
        (0..streams.iter().copied().max().unwrap_or(0)).map(of).collect()
    }
}

/// Frames of a stay that first begin at a time, the number of the first of them being given.
pub(super) fn frames_within(begins: f64, ends: f64, interval: f64, first: u32) -> FrameRun {
    if ends.is_infinite() {
        return FrameRun { begins, first, end: u32::MAX };
    }
    let mut count = ((ends - begins) / interval).ceil().max(0.0) as u32;
    let is_within = |frame: u32| begins + interval * f64::from(frame) < ends;
    while count > 0 && !is_within(count - 1) {
        count -= 1;
    }
    while is_within(count) {
        count += 1;
    }
    FrameRun { begins, first, end: first + count }
}

/// A mean time that may be another one from phase to phase; infinite where nothing is sent \[cycles\].
#[derive(Clone, Debug)]
pub(super) struct Pace {
    mean: f64,
    /// From when on it holds: what begins before begins in a pause.
    since: f64,
    /// When it changes, and what comes then.
    changes_at: f64,
    changes: VecDeque<(f64, f64)>,
}

impl Pace {
    /// One that never changes.
    pub(super) fn steady(mean: f64) -> Self {
        Self { mean, since: 0.0, changes_at: f64::INFINITY, changes: VecDeque::new() }
    }

    /// Means, and from when on they hold: the first from 0.
    fn changing(mut changes: VecDeque<(f64, f64)>) -> Self {
        let (_, mean) = changes.pop_front().unwrap_or((0.0, f64::INFINITY));
        let changes_at = changes.front().map_or(f64::INFINITY, |(begins, _)| *begins);
        // nothing is sent yet: the first look goes on to the phase in which something is
        let changes_at = if mean.is_finite() { changes_at } else { f64::NEG_INFINITY };
        Self { mean, since: 0.0, changes_at, changes }
    }

    /// What begins at a time, and its mean: where nothing is sent then, it begins when something is again. Times do not
    /// fall.
    #[inline]
    pub(super) fn from(&mut self, time: f64) -> (f64, f64) {
        if time >= self.changes_at {
            self.change(time);
        }
        (time.max(self.since), self.mean)
    }

    #[cold]
    fn change(&mut self, time: f64) {
        while let Some(&(begins, mean)) = self.changes.front()
            && (begins <= time || self.mean.is_infinite())
        {
            (self.since, self.mean) = (begins, mean);
            self.changes.pop_front();
        }
        if self.mean.is_infinite() {
            // never again
            (self.since, self.mean) = (f64::INFINITY, 1.0);
        }
        self.changes_at = self.changes.front().map_or(f64::INFINITY, |(begins, _)| *begins);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_change_when_phases_begin() {
        let mut pace =
            Pace::changing([(0.0, 10.0), (100.0, 5.0), (200.0, f64::INFINITY), (300.0, 2.0)].into());
        assert_eq!([pace.from(0.0), pace.from(99.9)], [(0.0, 10.0), (99.9, 10.0)]);
        assert_eq!([pace.from(100.0), pace.from(150.0)], [(100.0, 5.0), (150.0, 5.0)]);
        // nothing is sent in the third phase
        assert_eq!(
            [pace.from(250.0), pace.from(260.0), pace.from(400.0)],
            [(300.0, 2.0), (300.0, 2.0), (400.0, 2.0)]
        );
        let mut late = Pace::changing([(0.0, f64::INFINITY), (50.0, 3.0), (60.0, f64::INFINITY)].into());
        assert_eq!(
            [late.from(0.0), late.from(0.0), late.from(55.0)],
            [(50.0, 3.0), (50.0, 3.0), (55.0, 3.0)]
        );
        assert_eq!(late.from(61.0).0, f64::INFINITY);
        assert_eq!(Pace::steady(4.0).from(1e9), (1e9, 4.0));
    }

    #[test]
    fn frames_begin_before_the_end_of_their_stay() {
        let of = |begins, ends| frames_within(begins, ends, 10.0, 7).end - 7;
        assert_eq!([of(0.0, 100.0), of(0.1, 100.0), of(9.9, 100.0), of(0.0, 100.5)], [10, 10, 10, 11]);
        assert_eq!(
            frames_within(3.0, f64::INFINITY, 10.0, 7),
            FrameRun { begins: 3.0, first: 7, end: u32::MAX }
        );
    }
}
