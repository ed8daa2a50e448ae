//! Claims about packet switches in a window of time.

use super::bounds::Bounds;
use super::{Claim, Finding, Judgement, Verdict};
use flitwise_experiment::answer::ConfidenceInterval;
use flitwise_experiment::answer::Simulation;
use flitwise_experiment::packets::{Measurement, TimeSeries};

/// What is claimed of a window.
pub(super) struct Window {
    pub(super) course: TimeSeries,
    /// From when to when \[us\].
    pub(super) us: [f64; 2],
    /// The bounds \[unit of the course\].
    pub(super) bounds: Bounds,
}

impl Window {
    /// Judges the value of the only variant, or of each further one less that of the first, pair by pair of runs with
    /// the same random numbers.
    pub(super) fn judge(&self, claim: &Claim, simulations: &[Simulation]) -> Judgement {
        let class = claim.classes.first().map(String::as_str);
        let window = self.us.map(|us| 1e3 * us);
        let series: Vec<_> = simulations.iter().map(|one| one.series.as_deref()).collect();
        let label = |at: usize| claim.courses[at].label.as_str();
        let found: Vec<(String, Option<Measurement>)> = match series.as_slice() {
            [alone] => {
                let value = alone.and_then(|one| one.within(self.course, class, window));
                vec![(self.course.word().to_owned(), value)]
            }
            [first, others @ ..] => {
                let less = |(at, other): (usize, &Option<_>)| {
                    let value = first.zip(*other);
                    let value = value.and_then(|(a, b)| a.difference(b, self.course, class, window));
                    (format!("{} of {} less {}", self.course.word(), label(at + 1), label(0)), value)
                };
                others.iter().enumerate().map(less).collect()
            }
            [] => Vec::new(),
        };
        let findings: Vec<Finding> =
            found.into_iter().map(|(what, value)| self.finding(what, value)).collect();
        let claimed = self.bounds.said(self.course.unit());
        let said = |finding: &Finding| {
            let value = finding.value.map_or("nothing".to_owned(), |value| {
                let width = value.half_width_95().map_or_else(String::new, |width| format!(" ±{width:.2}"));
                format!("{:.2}{width} {}", value.value, self.course.unit())
            });
            format!(
                "{} from {} to {} us: {value}, claimed {claimed}",
                finding.subject, self.us[0], self.us[1]
            )
        };
        let verdicts = |verdict| findings.iter().any(|finding| finding.verdict == verdict);
        let verdict = match (verdicts(Verdict::NotHeld), verdicts(Verdict::Undecided)) {
            (true, _) => Verdict::NotHeld,
            (false, true) => Verdict::Undecided,
            _ if findings.is_empty() => Verdict::Undecided,
            _ => Verdict::Held,
        };
        let measured = findings.iter().map(said).collect::<Vec<_>>().join("; ");
        Judgement { verdict, measured, findings }
    }

    fn finding(&self, subject: String, found: Option<Measurement>) -> Finding {
        let chance = found.and_then(|one| one.half_width_95);
        let difference = found.map(|one| self.bounds.room(one.mean));
        let end = |sign: f64| found.zip(chance).map(|(one, width)| one.mean + sign * width);
        let value =
            found.map(|one| ConfidenceInterval { value: one.mean, lower_95: end(-1.0), upper_95: end(1.0) });
        let verdict = found.map_or(Verdict::Undecided, |one| self.bounds.judge(one.mean, chance));
        Finding { subject, x: None, value, other: None, difference, chance, verdict }
    }
}
