//! The iteration of one class: its interface, the first input channel and the output behind it.
//!
//! What a message waits at the output depends on how it arrives, and how it arrives on what holds up the one before
//! it. Each round maps a [`State`] to the next. The means of the laws decide how the rounds are put together
//! (Anderson's mixing: the combination of the last states whose means would have moved least), the laws follow with
//! the same weights; where that leads away it is given up for plain steps at a [`Pace`].

use super::Resolution;
use super::in_buffer::{STATES, WaitsByState};
use super::law::Law;
use super::source::{Source, SourceState};
use super::station::{ArrivalGaps, OutputDelays, Overload, Station, Waits};

/// The account of the iteration.
#[derive(Clone, Debug, Default)]
pub(super) struct Detail {
    pub(super) rounds: u32,
    pub(super) converged: bool,
    /// Largest change of a mean in each round, in message lengths.
    pub(super) changes: Vec<f64>,
}

impl Detail {
    /// The account of two iterations, one after the other.
    pub(super) fn then(&self, next: Self) -> Self {
        Self {
            rounds: self.rounds + next.rounds,
            converged: next.converged,
            changes: self.changes.iter().copied().chain(next.changes).collect(),
        }
    }
}

/// What one round hands to the next.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct State {
    /// Waits in the buffer.
    pub(super) in_buffer: WaitsByState,
    /// `w`, `V`: for the virtual channel and for the link.
    pub(super) laws: [Law; 2],
}

/// Means that a round moves: the parts of `R`, `w`, `V` in cells, and the share that finds its interface idle in
/// messages of so many cells.
type Means = [f64; STATES + 3];

impl State {
    /// Before anything is known.
    pub(super) fn start(waits: Waits) -> Self {
        Self { in_buffer: WaitsByState::none(), laws: [waits.grant, waits.link] }
    }

    fn after(met: &OutputDelays, queued: &SourceState) -> Self {
        let Waits { grant, link } = &met.waits;
        Self { in_buffer: queued.by_state.clone(), laws: [grant.clone(), link.clone()] }
    }

    fn means(&self, message: f64) -> Means {
        let [grant, link] = &self.laws;
        let mut means = [0.0; STATES + 3];
        means[..STATES].copy_from_slice(&self.in_buffer.means());
        means[STATES..].copy_from_slice(&[grant.mean(), link.mean(), self.in_buffer.shares[0] * message]);
        means
    }

    fn mixture(parts: &[(f64, &Self)]) -> Self {
        let law = |i: usize| {
            Law::mixture(&parts.iter().map(|(weight, state)| (*weight, &state.laws[i])).collect::<Vec<_>>())
        };
        let in_buffer: Vec<(f64, &WaitsByState)> =
            parts.iter().map(|(weight, state)| (*weight, &state.in_buffer)).collect();
        Self { in_buffer: WaitsByState::mixture(&in_buffer), laws: std::array::from_fn(law) }
    }

    /// The same times in cells so many times as wide.
    pub(super) fn in_cells(&self, wider: f64) -> Self {
        if wider == 1.0 {
            return self.clone();
        }
        Self {
            in_buffer: self.in_buffer.stretched(1.0 / wider),
            laws: std::array::from_fn(|i| self.laws[i].stretched(1.0 / wider)),
        }
    }
}

/// Where the iteration ends.
pub(super) struct Endpoint {
    pub(super) met: OutputDelays,
    pub(super) queued: SourceState,
    /// From where a similar iteration may set out.
    pub(super) state: State,
    /// Whether it was left before the end since the lattice does not hold the laws.
    pub(super) narrow: bool,
}

/// What the messages of a sender meet at its outputs.
#[derive(Clone, Debug)]
pub(super) struct OverOutputs {
    /// `w`: for the virtual channel.
    pub(super) grant: Law,
    /// `x`: for which their tails are blocked.
    pub(super) blocked: Law,
}

/// A class, its output and its source.
pub(super) struct Iteration<'i> {
    pub(super) station: &'i Station<'i>,
    pub(super) source: &'i Source<'i>,
    /// What links further on hold a tail up for at least.
    pub(super) chained: Option<&'i Law>,
    /// `w`, `x` over the outputs of the sender, where they differ; else as at the mean output.
    pub(super) over_outputs: Option<&'i OverOutputs>,
    /// `G_0`, `G_1`, and what of both a full buffer does not hide.
    pub(super) gaps: &'i [Law; 2],
    pub(super) held: &'i [Law; 2],
    /// `M + 1` \[cells\]
    pub(super) message: f64,
}

impl Iteration<'_> {
    /// From a state to the fixed point; from the beginning where the way from `warm` ends in overload or nowhere.
    pub(super) fn settle(
        &self,
        warm: Option<&State>,
        resolution: &Resolution,
        report: &mut Detail,
    ) -> Result<Endpoint, Overload> {
        if let Some(warm) = warm {
            let mut account = Detail::default();
            let found = self.from(warm.clone(), resolution, &mut account);
            report.rounds += account.rounds;
            report.changes.extend(account.changes);
            if let Ok(found) = found
                && (found.narrow || account.converged)
            {
                report.converged = account.converged;
                return Ok(found);
            }
        }
        self.from(State::start(self.station.start()), resolution, report)
    }

    /// A state in which all find another message before them, and the buffer full.
    fn backlogged(&self, state: &State) -> State {
        State { in_buffer: self.source.full(), laws: state.laws.clone() }
    }

    fn round(&self, state: &State) -> Result<(OutputDelays, SourceState), Overload> {
        let State { in_buffer, laws: [grant, link] } = state;
        let arriving = ArrivalGaps {
            gaps: self.gaps.clone(),
            held: self.held.clone(),
            in_buffer: self.source.in_buffer(in_buffer),
            bursty: self.source.work.is_some(),
        };
        let waits = Waits { grant: grant.clone(), link: link.clone() };
        let mut met = self.station.round(&arriving, &waits)?;
        if let Some(chained) = self.chained {
            met.blocked = met.blocked.max_in_step(chained);
        }
        let Some(over) = self.over_outputs else {
            let queued = self.source.round(&met, in_buffer)?;
            return Ok((met, queued));
        };
        let own = std::mem::replace(&mut met.waits.grant, over.grant.clone());
        met.blocked = over.blocked.clone();
        let queued = self.source.round(&met, in_buffer)?;
        met.waits.grant = own;
        Ok((met, queued))
    }

    fn from(
        &self,
        mut state: State,
        resolution: &Resolution,
        report: &mut Detail,
    ) -> Result<Endpoint, Overload> {
        let (mut mixing, mut pace) = (Acceleration::default(), Pace::default());
        let mut rounds = 0;
        let mut backlogged = false;
        loop {
            let (met, queued) = match self.round(&state) {
                Ok(found) => found,
                // gaps that no wait hides yet may overload what is steady once messages wait for each other
                Err(_) if !backlogged => {
                    backlogged = true;
                    state = self.backlogged(&state);
                    (mixing, pace) = (Acceleration::default(), Pace::default());
                    continue;
                }
                // mixing may have gone too far; next to saturation even a plain step leads away from there
                Err(_) if mixing.give_up() => {
                    state = self.backlogged(&State::start(self.station.start()));
                    pace = Pace::default();
                    continue;
                }
                Err(over) => return Err(over),
            };
            let after = State::after(&met, &queued);
            let (x, y) = (state.means(self.message), after.means(self.message));
            let moved: Means = std::array::from_fn(|i| y[i] - x[i]);
            let change = moved[..STATES + 2].iter().fold(0.0, |most, moved| f64::max(most, moved.abs()))
                / self.message;
            rounds += 1;
            report.rounds += 1;
            report.changes.push(change);
            // what creeps for long is taken as it is, a little coarser the longer it takes
            let patience = 1.0 + f64::from(rounds) / 100.0;
            let last = change <= resolution.tolerance * patience * patience;
            if last || rounds >= resolution.most_rounds {
                report.converged = last;
                return Ok(Endpoint { met, queued, state: after, narrow: false });
            }
            // what is too wide for the lattice on the way is so at the end
            let held = |laws: &[&Law]| laws.iter().all(|law| resolution.holds(law));
            let [first, later] = self.gaps;
            let held = held(&[&after.laws[1], &queued.in_buffer.waits[0], &queued.in_buffer.waits[1]])
                && (resolution.laws || held(&[&met.blocked, first, later]));
            if rounds > 2 && !held {
                return Ok(Endpoint { met, queued, state: after, narrow: true });
            }
            if let Some(next) = mixing.next(moved, &after) {
                state = next;
                continue;
            }
            let hasten = pace.next(
                [moved[..STATES].iter().sum(), moved[STATES], moved[STATES + 1]],
                x[..STATES].iter().sum(),
            );
            state = State::mixture(&[(1.0 - pace.step, &state), (pace.step, &after)]);
            state.in_buffer = state.in_buffer.stretched(hasten);
        }
    }
}

/// The mixing of the last states.
///
/// With `f` what a round moves and `y` where to, the next state is `y - Σ g_j (y_j - y_(j-1))` for the `g` for
/// which `f - Σ g_j (f_j - f_(j-1))` is shortest.
#[derive(Default)]
struct Acceleration {
    /// The last states first: what moved, where to.
    known: Vec<(Means, State)>,
    /// The shortest way of a round.
    least: f64,
    rounds: u32,
    given_up: bool,
}

/// States that are mixed at most.
const MIXED: usize = 3;
/// Rounds in which mixing must lead to the point.
const MIXING: u32 = 40;
/// The furthest step beyond the last state, in steps between the last two.
const FURTHEST: f64 = 4.0;

fn dot(x: &Means, y: &Means) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

impl Acceleration {
    /// The next state; none if mixing has been given up.
    fn next(&mut self, moved: Means, after: &State) -> Option<State> {
        self.rounds += 1;
        if self.given_up || self.rounds > MIXING {
            return None;
        }
        let way = dot(&moved, &moved);
        if self.rounds == 1 || way < self.least {
            self.least = way;
        } else if way > 16.0 * self.least {
            // it leads away
            self.known.clear();
        }
        self.known.insert(0, (moved, after.clone()));
        self.known.truncate(MIXED);
        let [first, second] = self.weights();
        let parts: Vec<(f64, &State)> = [1.0 - first, first - second, second]
            .into_iter()
            .zip(&self.known)
            .map(|(weight, (_, state))| (weight, state))
            .collect();
        Some(State::mixture(&parts))
    }

    /// `g_1`, `g_2`
    fn weights(&self) -> [f64; 2] {
        let difference = |j: usize| -> Option<Means> {
            let ((now, _), (before, _)) = (self.known.get(j)?, self.known.get(j + 1)?);
            Some(std::array::from_fn(|i| now[i] - before[i]))
        };
        let Some(d1) = difference(0) else { return [0.0, 0.0] };
        let f = &self.known[0].0;
        let (f1, a11) = (dot(f, &d1), dot(&d1, &d1));
        let within = |weights: [f64; 2]| {
            // no way back over the state before: that leads to fixed points from which plain steps lead away
            let [g1, g2] = weights;
            let beyond = (1.0 - g1).abs().max((g1 - g2).abs()).max(g2.abs());
            (beyond.is_finite() && beyond <= FURTHEST && g1 <= 1.0).then_some(weights)
        };
        if let Some(d2) = difference(1) {
            let (f2, a12, a22) = (dot(f, &d2), dot(&d1, &d2), dot(&d2, &d2));
            let determinant = a11 * a22 - a12 * a12;
            if determinant > 1e-3 * a11 * a22 {
                let both = [(f1 * a22 - f2 * a12) / determinant, (f2 * a11 - f1 * a12) / determinant];
                if let Some(weights) = within(both) {
                    return weights;
                }
            }
        }
        let one = if a11 > 0.0 { f1 / a11 } else { 0.0 };
        [one.clamp(1.0 - FURTHEST, 1.0), 0.0]
    }

    /// Mixes no more; false if nothing has been mixed.
    fn give_up(&mut self) -> bool {
        let mixed = self.rounds > 1 && !self.given_up;
        self.given_up = true;
        mixed
    }
}

/// How far each round goes.
///
/// The maps fall where gaps are hidden by waits: then a shorter step keeps them from swinging. Near saturation the
/// in-buffer wait creeps up like a queue that fills: then it is taken on at once to where a geometric series leads.
#[derive(Clone, Copy, Debug)]
struct Pace {
    step: f64,
    moved: [f64; 3],
    /// Rounds on end in one direction.
    straight: u32,
}

impl Default for Pace {
    fn default() -> Self {
        Self { step: 1.0, moved: [0.0; 3], straight: 0 }
    }
}

/// Rounds in one direction after which the way is shortened.
const PATIENCE: u32 = 6;

impl Pace {
    /// Looks at what moved in this round; gives the factor by which the in-buffer wait of mean `wait` is to go on.
    fn next(&mut self, moved: [f64; 3], wait: f64) -> f64 {
        let along: f64 = moved.iter().zip(&self.moved).map(|(now, before)| now * before).sum();
        let squared = |moved: &[f64; 3]| moved.iter().map(|x| x * x).sum::<f64>();
        let before = std::mem::replace(&mut self.moved, moved);
        if along < 0.0 {
            self.straight = 0;
            if squared(&moved) > 0.8 * squared(&before) {
                self.step = f64::max(self.step / 2.0, 0.05);
            }
            return 1.0;
        }
        self.straight += 1;
        if self.straight < PATIENCE {
            return 1.0;
        }
        self.straight = 0;
        self.step = f64::min(self.step * 2.0, 1.0);
        let ratio = (moved[0] / before[0]).clamp(0.0, 0.99);
        if ratio < 0.5 || wait <= 0.0 || !ratio.is_finite() {
            return 1.0;
        }
        // the rest of the series, halfway
        (1.0 + 0.5 * moved[0] * ratio / (1.0 - ratio) / wait).clamp(0.5, 2.0)
    }
}
