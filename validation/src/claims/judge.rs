//! The verdict on each kind of claim.
//!
//! A saturated class has no steady state. It fails a claim that its number stays below a bound or where it was, and is
//! left out where two numbers are compared. A difference beyond the tolerance counts
//! only if it exceeds the tolerance by more than chance. One within the tolerance counts only if chance is not larger
//! than the tolerance. Chance is the 95 % half-width of the difference, from those of both values.

use super::asked::Asked;
use super::bounds::{Bounds, TimeUnit, within};
use super::evidence::{Curve, Evidence, Reading};
use super::over_time::Window;
use super::{Claim, Finding, Judgement, Kind, Origin, Verdict};
use flitwise_experiment::answer::ConfidenceInterval;
use flitwise_experiment::answer::Simulation;

/// Judges a claim as if it were not negated.
pub(super) fn judge(claim: &Claim, simulations: &[Simulation]) -> Judgement {
    if let Kind::OverTime { quantity, from_us, to_us, bounds } = claim.kind {
        let window = Window { course: quantity, us: [from_us, to_us], bounds };
        return window.judge(claim, simulations);
    }
    let evidence = Evidence::new(claim, simulations);
    let judging = Trial { claim, evidence };
    match claim.kind {
        Kind::Agreement { tolerance } => judging.agreement(tolerance),
        Kind::Value { bounds, unit } => judging.value(bounds, unit),
        Kind::Order => judging.order(),
        Kind::Unmoved { tolerance } => judging.unmoved(tolerance),
        Kind::Rises => judging.rises(),
        Kind::Coincide { tolerance } => judging.coincide(tolerance),
        Kind::GrowsFaster => judging.grows_faster(),
        Kind::Saturated => judging.saturated(),
        Kind::SaturatesEarlier | Kind::OverTime { .. } => judging.saturates_earlier(),
    }
}

/// What all findings together say: one that is not so is enough, and none may be in doubt.
fn all(findings: &[Finding]) -> Verdict {
    let any = |verdict| findings.iter().any(|finding| finding.verdict == verdict);
    if any(Verdict::NotHeld) {
        Verdict::NotHeld
    } else if findings.is_empty() || any(Verdict::Undecided) {
        Verdict::Undecided
    } else {
        Verdict::Held
    }
}

/// The finding that decides: the largest difference among those with the worst verdict.
fn worst(findings: &[Finding]) -> Option<&Finding> {
    let rank = |finding: &Finding| match finding.verdict {
        Verdict::Held => 0,
        Verdict::Undecided => 1,
        Verdict::NotHeld => 2,
    };
    let miss = |finding: &Finding| finding.difference.map_or(0.0, f64::abs);
    findings.iter().max_by(|a, b| rank(a).cmp(&rank(b)).then(miss(a).total_cmp(&miss(b))))
}

/// The same of findings with bounds: the one with the least room, which is printed.
fn nearest_to_failing(findings: &[Finding]) -> Option<&Finding> {
    let rank = |finding: &Finding| match finding.verdict {
        Verdict::NotHeld => 0,
        Verdict::Undecided => 1,
        Verdict::Held => 2,
    };
    // a saturated class is the farthest beyond, or cannot fail
    let room = |finding: &Finding| {
        let of_saturated = if finding.verdict == Verdict::Held { f64::INFINITY } else { f64::NEG_INFINITY };
        finding.difference.unwrap_or(of_saturated)
    };
    findings.iter().min_by(|a, b| rank(a).cmp(&rank(b)).then(room(a).total_cmp(&room(b))))
}

/// A claim being judged.
struct Trial<'c> {
    claim: &'c Claim,
    evidence: Evidence<'c>,
}

impl Trial<'_> {
    fn agreement(&self, tolerance: f64) -> Judgement {
        let mut findings = Vec::new();
        self.each_curve(|course, class, asked| {
            let Asked::Measure(measure) = asked else {
                findings.extend(self.agreement_of_phases(tolerance, course, class, asked));
                return;
            };
            for (x, row) in self.evidence.rows(course, class, *measure) {
                let saturated = row.model_saturated || row.simulation_saturated;
                let (Some(percent), false) = (row.difference_percent, saturated) else { continue };
                let chance = match row.difference_half_widths {
                    Some(widths) if widths != 0.0 => Some((percent / widths).abs()),
                    _ => row.simulated.and_then(ConfidenceInterval::half_width_95).map(|_| 0.0),
                };
                findings.push(Finding {
                    subject: format!("{} {}", self.evidence.subject(course, class), measure.name()),
                    x,
                    value: row.model_value.map(exact),
                    other: row.simulated,
                    difference: Some(percent),
                    chance,
                    verdict: within(percent, chance, 100.0 * tolerance),
                });
            }
        });
        let model = match self.claim.by {
            Origin::PUBLISHED => "model",
            other => other.legend(),
        };
        self.bounded(findings, model, "simulation")
    }

    /// Phase by phase, where neither is saturated.
    fn agreement_of_phases(&self, tolerance: f64, course: usize, class: &str, asked: &Asked) -> Vec<Finding> {
        let model = self.evidence.curve_by(self.claim.by, course, class, asked);
        let simulated = self.evidence.curve_by(Origin::Simulation, course, class, asked);
        let subject = format!("{} {}", self.evidence.subject(course, class), asked.name());
        let findings = pairs(&simulated, &model, |reference, found| {
            let (difference, chance) = apart(found, reference, asked);
            let verdict =
                difference.map_or(Verdict::Undecided, |apart| within(apart, chance, 100.0 * tolerance));
            (difference, chance, verdict)
        });
        let named = |one: Finding| {
            let (value, other) = (one.other, one.value);
            Finding { subject: subject.clone(), value, other, ..one }
        };
        findings.into_iter().map(named).collect()
    }

    fn value(&self, bounds: Bounds, unit: TimeUnit) -> Judgement {
        let mut findings = Vec::new();
        self.each_curve(|course, class, asked| {
            let curve = self.evidence.curve(course, class, asked);
            for (at, reading) in curve.readings.iter().enumerate() {
                let scenario = self.claim.courses[course].scenario(at);
                let scale = unit.per_cycle(scenario, class).unwrap_or(f64::NAN);
                let found = reading.found.filter(|_| !reading.saturated).map(|found| found.times(scale));
                let chance = found.and_then(ConfidenceInterval::half_width_95);
                let verdict = match found {
                    Some(found) => bounds.judge(found.value, chance),
                    None if !reading.saturated => continue,
                    None if bounds.holds_without_limit() => Verdict::Held,
                    None => Verdict::NotHeld,
                };
                findings.push(Finding {
                    subject: format!("{} {}", curve.subject, asked.name()),
                    x: reading.x,
                    value: found,
                    other: None,
                    difference: found.map(|found| bounds.room(found.value)),
                    chance,
                    verdict,
                });
            }
        });
        let measured = match nearest_to_failing(&findings) {
            None => self.nothing(),
            Some(finding) => {
                let asked = &self.claim.asked[0];
                let value = finding.value.map_or("saturated".to_owned(), |value| unit.shown(value, asked));
                let beyond = findings.iter().filter(|finding| finding.verdict == Verdict::NotHeld).count();
                let rest = match (findings.len(), beyond) {
                    (1, _) => String::new(),
                    (all, 0) => format!("; nearest of {all}"),
                    (all, beyond) => format!("; {beyond} of {all} beyond"),
                };
                let (at, claimed) = (self.at(finding.x), bounds.said(unit.said(asked)));
                format!("{}{at}: {value}, claimed {claimed}{rest}", finding.subject)
            }
        };
        Judgement { verdict: all(&findings), measured, findings }
    }

    fn saturated(&self) -> Judgement {
        let asked = &self.claim.asked[0];
        let (mut findings, mut measured) = (Vec::new(), Vec::new());
        self.each_curve(|course, class, _| {
            let curve = self.evidence.curve(course, class, asked);
            measured.push(saturation(&curve));
            findings.extend(curve.readings.iter().map(|reading| Finding {
                subject: curve.subject.clone(),
                x: reading.x,
                value: reading.found.filter(|_| !reading.saturated),
                other: None,
                difference: None,
                chance: None,
                verdict: if reading.saturated { Verdict::Held } else { Verdict::NotHeld },
            }));
        });
        Judgement { verdict: all(&findings), measured: measured.join("; "), findings }
    }

    /// Of two neighbours that are equal within chance neither is before the other: a tie breaks no order, but an
    /// order that is nothing but ties is not shown either.
    fn order(&self) -> Judgement {
        let mut findings = Vec::new();
        let mut verdicts = Vec::new();
        for asked in &self.claim.asked {
            for [lower, upper] in self.neighbours(asked) {
                let of_pair = pairs(&lower, &upper, rise);
                verdicts.push(shown_somewhere(&of_pair));
                findings.extend(of_pair);
            }
        }
        let verdict = combined(&verdicts);
        let ties = findings.iter().filter(|finding| finding.verdict == Verdict::Undecided).count();
        let points = findings.len() / verdicts.len().max(1);
        let order = match self.claim.courses.as_slice() {
            [_] => self.claim.classes.join(" < "),
            courses => courses.iter().map(|course| course.label.as_str()).collect::<Vec<_>>().join(" < "),
        };
        let measured = match findings.iter().find(|finding| finding.verdict == Verdict::NotHeld) {
            _ if findings.is_empty() => self.nothing(),
            Some(finding) => {
                let inverted = findings.iter().filter(|finding| finding.verdict == Verdict::NotHeld).count();
                let asked = &self.claim.asked[0];
                let (value, other) = (shown(finding.value, asked), shown(finding.other, asked));
                let rest = format!("{inverted} of {} pairs inverted", findings.len());
                format!("{}{}: {value} and {other}; {rest}", finding.subject, self.at(finding.x))
            }
            None if ties > 0 => {
                format!("{order} at {points} points, {ties} of {} pairs equal", findings.len())
            }
            None => format!("{order} at {}", plural(points, "point")),
        };
        Judgement { verdict, measured, findings }
    }

    /// Curves of which the first is claimed to be the lower one: of successive variants, or else of classes.
    fn neighbours(&self, asked: &Asked) -> Vec<[Curve; 2]> {
        let Claim { classes, courses, .. } = self.claim;
        let curve = |course: usize, class: &str| self.evidence.curve(course, class, asked);
        match courses.len() {
            1 => classes.windows(2).map(|pair| [curve(0, &pair[0]), curve(0, &pair[1])]).collect(),
            count => classes
                .iter()
                .flat_map(|class| (1..count).map(move |next| [curve(next - 1, class), curve(next, class)]))
                .collect(),
        }
    }

    fn unmoved(&self, tolerance: f64) -> Judgement {
        let mut findings = Vec::new();
        self.each_curve(|course, class, asked| {
            let curve = self.evidence.curve(course, class, asked);
            let steady = |reading: &Reading| reading.found.filter(|_| !reading.saturated);
            let Some(start) = curve.readings.iter().position(|one| steady(one).is_some()) else { return };
            let Some(first) = steady(&curve.readings[start]) else { return };
            for reading in &curve.readings[start + 1..] {
                let found = steady(reading);
                let (difference, chance) = found.map_or((None, None), |found| apart(found, first, asked));
                let verdict = match difference {
                    Some(apart) => within(apart, chance, 100.0 * tolerance),
                    // what grows without limit has moved
                    None if reading.saturated => Verdict::NotHeld,
                    None if found.is_none() => continue,
                    None => Verdict::Undecided,
                };
                findings.push(Finding {
                    subject: format!("{} {}", curve.subject, asked.name()),
                    x: reading.x,
                    value: found,
                    other: Some(first),
                    difference,
                    chance,
                    verdict,
                });
            }
        });
        self.bounded(findings, "", "at first")
    }

    /// A step that falls beyond chance breaks the rise; the last point shows it. What is saturated grows without limit.
    fn rises(&self) -> Judgement {
        let (mut findings, mut verdicts, mut risen) = (Vec::new(), Vec::new(), Vec::new());
        self.each_curve(|course, class, asked| {
            let curve = self.evidence.curve(course, class, asked);
            let steady: Vec<(Option<f64>, ConfidenceInterval)> = curve
                .readings
                .iter()
                .take_while(|one| !one.saturated)
                .filter_map(|one| Some((one.x, one.found?)))
                .collect();
            let saturates = curve.readings.iter().any(|one| one.saturated);
            let [first, .., last] = steady.as_slice() else { return };
            let subject = format!("{} {}", curve.subject, asked.name());
            let step = |pair: &[(Option<f64>, ConfidenceInterval)]| {
                let [(_, before), (x, after)] = [pair[0], pair[1]];
                let (difference, chance, verdict) = rise(before, after);
                let (subject, value, other) = (subject.clone(), Some(after), Some(before));
                Finding { subject, x, value, other, difference, chance, verdict }
            };
            let steps: Vec<Finding> = steady.windows(2).map(step).collect();
            verdicts.push(match rise(first.1, last.1).2 {
                _ if steps.iter().any(|one| one.verdict == Verdict::NotHeld) => Verdict::NotHeld,
                Verdict::Undecided if saturates => Verdict::Held,
                whole => whole,
            });
            findings.extend(steps);
            let end = if saturates { ", then saturated" } else { "" };
            let [from, to] = [first.1, last.1].map(|value| shown(Some(value), asked));
            risen.push(format!("{subject}{}: {from} to {to}{end}", self.at(first.0)));
        });
        let measured = if findings.is_empty() { self.nothing() } else { risen.join("; ") };
        Judgement { verdict: combined(&verdicts), measured, findings }
    }

    fn coincide(&self, tolerance: f64) -> Judgement {
        let Claim { classes, asked, courses, .. } = self.claim;
        let mut findings = Vec::new();
        for asked in asked {
            let curve = |course: usize, class: &String| self.evidence.curve(course, class, asked);
            // each group is to be one curve
            let groups: Vec<Vec<Curve>> = match courses.len() {
                1 => vec![classes.iter().map(|class| curve(0, class)).collect()],
                count => classes
                    .iter()
                    .map(|class| (0..count).map(|course| curve(course, class)).collect())
                    .collect(),
            };
            for group in groups {
                for (index, one) in group.iter().enumerate() {
                    for other in &group[index + 1..] {
                        findings.extend(pairs(one, other, |reference, found| {
                            let (difference, chance) = apart(found, reference, asked);
                            let verdict = difference
                                .map_or(Verdict::Undecided, |apart| within(apart, chance, 100.0 * tolerance));
                            (difference, chance, verdict)
                        }));
                    }
                }
            }
        }
        self.bounded(findings, "", "")
    }

    fn grows_faster(&self) -> Judgement {
        let mut findings = Vec::new();
        let mut grown = Vec::new();
        for asked in &self.claim.asked {
            let mut curves = self.rivals(asked);
            let same_axis = curves.iter().all(|curve| xs(curve).eq(xs(&curves[0])));
            if same_axis {
                keep_common(&mut curves);
            }
            let growths: Vec<Option<Growth>> = curves.iter().map(Growth::of).collect();
            let Some(Some(first)) = growths.first() else { continue };
            grown.push(format!("{}: {}", asked.name(), first.shown(&curves[0].subject, asked)));
            for (curve, growth) in curves.iter().zip(&growths).skip(1) {
                let Some(growth) = growth else { continue };
                grown.push(growth.shown(&curve.subject, asked));
                let difference = first.slope - growth.slope;
                let chance = first.chance + growth.chance;
                let verdict = match chance.is_finite() {
                    true if difference > chance => Verdict::Held,
                    true if difference <= -chance => Verdict::NotHeld,
                    _ => Verdict::Undecided,
                };
                findings.push(Finding {
                    subject: format!(
                        "{} and {} {}, per unit of x",
                        curves[0].subject,
                        curve.subject,
                        asked.name()
                    ),
                    x: None,
                    value: Some(growth_measured(first)),
                    other: Some(growth_measured(growth)),
                    difference: Some(difference),
                    chance: chance.is_finite().then_some(chance),
                    verdict,
                });
            }
        }
        let measured = if findings.is_empty() { self.nothing() } else { grown.join(", ") };
        Judgement { verdict: all(&findings), measured, findings }
    }

    fn saturates_earlier(&self) -> Judgement {
        let curves = self.rivals(&self.claim.asked[0]);
        let mut findings = Vec::new();
        for other in &curves[1..] {
            let first = &curves[0];
            let mut earlier = Vec::new();
            for (one, other) in first.readings.iter().zip(&other.readings) {
                if one.saturated != other.saturated {
                    earlier.push(one.saturated);
                }
            }
            let verdict = match (earlier.contains(&true), earlier.contains(&false)) {
                (true, false) => Verdict::Held,
                (false, true) => Verdict::NotHeld,
                _ => Verdict::Undecided,
            };
            findings.push(Finding {
                subject: format!("{} and {}", first.subject, other.subject),
                x: None,
                value: None,
                other: None,
                difference: None,
                chance: None,
                verdict,
            });
        }
        let measured: Vec<String> = curves.iter().map(saturation).collect();
        Judgement { verdict: all(&findings), measured: measured.join("; "), findings }
    }

    /// The curve in question and those it is to outdo: of other courses if there are any, else of other classes.
    fn rivals(&self, asked: &Asked) -> Vec<Curve> {
        let Claim { classes, courses, .. } = self.claim;
        match courses.len() {
            1 => classes.iter().map(|class| self.evidence.curve(0, class, asked)).collect(),
            count => (0..count).map(|course| self.evidence.curve(course, &classes[0], asked)).collect(),
        }
    }

    fn each_curve(&self, mut visit: impl FnMut(usize, &str, &Asked)) {
        for course in 0..self.claim.courses.len() {
            for class in &self.claim.classes {
                for asked in &self.claim.asked {
                    visit(course, class, asked);
                }
            }
        }
    }

    /// The judgement on differences that have a bound; the words say what the two values are.
    fn bounded(&self, findings: Vec<Finding>, value_word: &str, other_word: &str) -> Judgement {
        let measured = match worst(&findings) {
            None => self.nothing(),
            Some(finding) => {
                let asked = &self.claim.asked[0];
                let word = |word: &str, number: String| match word {
                    "" => number,
                    word => format!("{word} {number}"),
                };
                let value = word(value_word, shown(finding.value, asked));
                let other = word(other_word, shown(finding.other, asked));
                let percent =
                    finding.difference.map_or_else(String::new, |percent| format!(" ({percent:+.1} %)"));
                let beyond = findings.iter().filter(|finding| finding.verdict == Verdict::NotHeld).count();
                let rest = match beyond {
                    0 => format!("worst of {}", findings.len()),
                    beyond => format!("{beyond} of {} beyond", findings.len()),
                };
                let doubt = if finding.verdict == Verdict::Undecided { ", too wide to tell" } else { "" };
                format!("{}{}: {value}, {other}{percent}; {rest}{doubt}", finding.subject, self.at(finding.x))
            }
        };
        Judgement { verdict: all(&findings), measured, findings }
    }

    fn at(&self, x: Option<f64>) -> String {
        x.map_or_else(String::new, |x| format!(" at {x}"))
    }

    fn nothing(&self) -> String {
        if let (Some(model), false) = (self.claim.by.model(), self.evidence.is_answered()) {
            return format!("nothing to compare: the {model} model has no answer");
        }
        let who = match (self.claim.kind, self.claim.by) {
            (Kind::Agreement { .. }, _) => "model and simulation have",
            (_, Origin::Simulation) => "the simulation has",
            _ => "the model has",
        };
        format!("nothing to compare: {who} no such numbers without saturation")
    }
}

/// Compares two curves wherever both have an unsaturated value.
fn pairs(
    one: &Curve,
    other: &Curve,
    compare: impl Fn(ConfidenceInterval, ConfidenceInterval) -> (Option<f64>, Option<f64>, Verdict),
) -> Vec<Finding> {
    let both = one.readings.iter().zip(&other.readings);
    let steady = both.filter(|(one, other)| !one.saturated && !other.saturated);
    let finding = |(a, b): (&Reading, &Reading)| {
        let (value, other_value) = (a.found?, b.found?);
        let (difference, chance, verdict) = compare(value, other_value);
        let subject = format!("{} and {}", one.subject, other.subject);
        Some(Finding {
            subject,
            x: a.x,
            value: Some(value),
            other: Some(other_value),
            difference,
            chance,
            verdict,
        })
    };
    steady.filter_map(finding).collect()
}

/// Of comparisons of which ties are no proof: one that is so is needed, one that is not is enough.
fn shown_somewhere(findings: &[Finding]) -> Verdict {
    let any = |verdict| findings.iter().any(|finding| finding.verdict == verdict);
    match (any(Verdict::NotHeld), any(Verdict::Held)) {
        (true, _) => Verdict::NotHeld,
        (false, true) => Verdict::Held,
        (false, false) => Verdict::Undecided,
    }
}

fn combined(verdicts: &[Verdict]) -> Verdict {
    if verdicts.contains(&Verdict::NotHeld) {
        Verdict::NotHeld
    } else if verdicts.is_empty() || verdicts.contains(&Verdict::Undecided) {
        Verdict::Undecided
    } else {
        Verdict::Held
    }
}

/// How far `found` is from `reference`, and how much of that may be chance, in percent: of the reference, or as
/// they are for probabilities.
fn apart(
    found: ConfidenceInterval,
    reference: ConfidenceInterval,
    asked: &Asked,
) -> (Option<f64>, Option<f64>) {
    let whole = if asked.is_share() { 1.0 } else { reference.value.abs() };
    if whole <= 0.0 {
        return (None, None);
    }
    let percent = |difference: f64| 100.0 * difference / whole;
    (Some(percent(found.value - reference.value)), chance_of(found, reference).map(percent))
}

/// By how much a number is above another, how much of that may be chance, and whether it is above beyond that.
fn rise(before: ConfidenceInterval, after: ConfidenceInterval) -> (Option<f64>, Option<f64>, Verdict) {
    let (difference, chance) = (after.value - before.value, chance_of(before, after));
    let verdict = match chance {
        Some(chance) if difference > chance => Verdict::Held,
        Some(chance) if difference < -chance => Verdict::NotHeld,
        _ => Verdict::Undecided,
    };
    (Some(difference), chance, verdict)
}

fn chance_of(one: ConfidenceInterval, other: ConfidenceInterval) -> Option<f64> {
    Some(one.half_width_95()? + other.half_width_95()?)
}

fn exact(value: f64) -> ConfidenceInterval {
    ConfidenceInterval { value, lower_95: Some(value), upper_95: Some(value) }
}

fn xs(curve: &Curve) -> impl Iterator<Item = Option<f64>> {
    curve.readings.iter().map(|reading| reading.x)
}

/// Leaves out the points at which any of the curves is saturated or has no value.
fn keep_common(curves: &mut [Curve]) {
    let points = curves.first().map_or(0, |curve| curve.readings.len());
    let steady = |reading: &Reading| reading.found.is_some() && !reading.saturated;
    let common: Vec<bool> =
        (0..points).map(|at| curves.iter().all(|curve| steady(&curve.readings[at]))).collect();
    for curve in curves {
        let mut keep = common.iter();
        curve.readings.retain(|_| keep.next().copied().unwrap_or(false));
    }
}

/// How much a curve rises from its first unsaturated point to its last.
struct Growth {
    from: f64,
    to: f64,
    rise: f64,
    /// Per unit of x.
    slope: f64,
    /// What of the slope may be chance; infinite if that is not known.
    chance: f64,
}

impl Growth {
    fn of(curve: &Curve) -> Option<Self> {
        let steady = |reading: &&Reading| !reading.saturated;
        let mut ends = curve.readings.iter().filter(steady).filter_map(|one| Some((one.x?, one.found?)));
        let (from, first) = ends.next()?;
        let (to, last) = ends.next_back()?;
        let (rise, width) = (last.value - first.value, to - from);
        let chance = chance_of(first, last).unwrap_or(f64::INFINITY) / width;
        Some(Self { from, to, rise, slope: rise / width, chance })
    }

    fn shown(&self, subject: &str, asked: &Asked) -> String {
        let chance = self.chance * (self.to - self.from);
        let sign = if self.rise < 0.0 { "-" } else { "+" };
        let rise = number(self.rise.abs(), asked);
        let chance = if chance == 0.0 { String::new() } else { format!(" ±{}", number(chance, asked)) };
        format!("{subject} {sign}{rise}{chance} from {} to {}", self.from, self.to)
    }
}

fn growth_measured(growth: &Growth) -> ConfidenceInterval {
    let end = |sign: f64| growth.chance.is_finite().then_some(growth.slope + sign * growth.chance);
    ConfidenceInterval { value: growth.slope, lower_95: end(-1.0), upper_95: end(1.0) }
}

/// Where a curve saturates, in words.
fn saturation(curve: &Curve) -> String {
    let subject = &curve.subject;
    if let [Reading { x: None, saturated, .. }] = curve.readings.as_slice() {
        return format!("{subject} is {}saturated", if *saturated { "" } else { "not " });
    }
    let at = |reading: &Reading| reading.x.unwrap_or(f64::NAN);
    let Some(first) = curve.readings.iter().position(|reading| reading.saturated) else {
        let last = curve.readings.last().map_or(f64::NAN, at);
        return format!("{subject} does not saturate up to {last}");
    };
    match first.checked_sub(1) {
        None => format!("{subject} is saturated from {} on", at(&curve.readings[0])),
        Some(before) => {
            let (low, high) = (at(&curve.readings[before]), at(&curve.readings[first]));
            format!("{subject} saturates between {low} and {high}")
        }
    }
}

/// A value, with its half-width if it is not exact.
fn shown(value: Option<ConfidenceInterval>, asked: &Asked) -> String {
    let Some(value) = value else { return "saturated".to_owned() };
    match value.half_width_95() {
        Some(width) if width > 0.0 => format!("{} ±{}", number(value.value, asked), number(width, asked)),
        _ => number(value.value, asked),
    }
}

fn number(value: f64, asked: &Asked) -> String {
    match asked.is_share() {
        true => format!("{value:.4}"),
        false if value.abs() < 1.0 => format!("{value:.2}"),
        false => format!("{value:.1}"),
    }
}

fn plural(count: usize, word: &str) -> String {
    format!("{count} {word}{}", if count == 1 { "" } else { "s" })
}
