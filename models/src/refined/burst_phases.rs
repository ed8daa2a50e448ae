//! Real-time classes beside the bursts of others at the interface: phases of the bursts.
//!
//! Reason: messages of a burst follow each other `s` apart, and a burst lasts longer than most messages. So another
//! class is quiet or busy for a whole message (our approximation). With `N` messages in a burst, the share `σ / N` of
//! its load arrives as Poisson at all times. The rest is a fluid queue that a stream feeds at `r` for the share `α (1 -
//! 1/N)` of the time. It takes
//!
//! ```text
//! j r  in the states G_j,   1 - σ / N  in the rest of the time
//! ```
//!
//! of the link, `σ (1 - 1/N)` on average. States in which it takes less than that are one phase, those with more
//! another, each with its mean load; a state that takes about as much belongs to both, so that nothing jumps. Phases of
//! several classes are independent, as their sources are. A message starts in a phase as often as the phase lasts.
//!
//! Busy periods depend on the length of bursts, not only on the load. So the M/D/1 queue of the interface is taken at
//! the load `c` at which its busy periods are as old as those of `σ / N` plus the overload, which lasts for the share
//! `F` of the busy time and begins at the rate `f`:
//!
//! ```text
//! ((1 - c)^-2 - 1) / 2 = ((1 - σ / N)^-2 - 1) / 2 + F / (f M)
//! ```
//!
//! A phase that ends at the rate `θ` may end during a delay of `x` cycles if it is busy, and during the `M` flits of
//! the message if it is quiet. `G_p` is the mean delay over the other phases, `G_b` the delay by arrivals in half a
//! message:
//!
//! ```text
//! P(G > x) = P(G_s > x) - (1 - exp(-θ x)) [P(G_s > x) - P(G_p > x)]+ + (1 - exp(-θ M)) [P(G_b > x) - P(G_s > x)]+
//! ```

use super::ablation::{Step, without};
use super::bursty_source::{BurstySource, Service, State, active_streams};
use super::grid::Grid;
use super::interface::{BusyPeriodLoads, GapProcess, Interface};
use super::interruptions::Interruptions;
use super::law::Law;
use super::{Class, load_beside};

/// What the other real-time classes do to one at the interface, state by state of their bursts.
pub(super) struct BurstPhases {
    own: Class,
    states: Vec<Phase>,
}

/// A state of all other classes.
struct Phase {
    /// Share of the time.
    share: f64,
    /// `θ`: rate at which it ends \[1/cycles\].
    ends: f64,
    /// The classes as they then come, and the gaps that they make.
    classes: Vec<Class>,
    gaps: GapProcess,
}

/// A class while little, or while much, comes of it.
#[derive(Clone, Copy)]
struct Part {
    share: f64,
    ends: f64,
    load: f64,
    /// Load of Poisson messages whose busy periods are as long.
    by_chance: BusyPeriodLoads,
}

/// Width, in streams, of the range around the mean in which a state belongs to both phases.
const SPLIT: f64 = 0.5;

/// Both of them; one for a Poisson source.
fn parts(class: &Class) -> Vec<Part> {
    let load = class.load();
    let steady =
        vec![Part { share: 1.0, ends: 0.0, load, by_chance: BusyPeriodLoads { lasts: load, waits: load } }];
    let Some(BurstySource { rate, streams, messages_per_burst: burst, peak_rate }) = class.bursts else {
        return steady;
    };
    let streams = f64::from(streams);
    let single = load / burst;
    let (left, follows) = (1.0 - single, load - single);
    let on = (rate / (streams * peak_rate)).min(1.0 - 1e-9) * (1.0 - 1.0 / burst);
    let peak = peak_rate * class.message;
    if follows < 1e-9 || left <= follows {
        return steady;
    }
    // a stream brings what follows for (N - 1) s
    let lasts = (burst - 1.0) / peak_rate;
    let (mut quiet, mut little, mut changes) = (0.0, 0.0, 0.0);
    // share of overload, and how often it begins
    let (mut over, mut begins) = (1.0, 0.0);
    let states = active_streams(streams, on, peak / left);
    let is_quiet = |state: &State| {
        let part = 0.5 + (follows / peak - state.active) / SPLIT;
        if state.active > 0.0 { part.clamp(0.0, 1.0) } else { 1.0 }
    };
    for (i, state) in states.iter().enumerate() {
        let (clear, active) = (state.clear(), state.active);
        let more = clear * (streams - active) * on / (1.0 - on) / lasts;
        over -= clear;
        if clear > 0.0 {
            begins = more;
        }
        let part = is_quiet(state);
        quiet += part * clear;
        little += part * clear * active * peak;
        changes += more * (part - states.get(i + 1).map_or(0.0, is_quiet));
    }
    if !(1e-3..=1.0 - 1e-3).contains(&quiet) {
        return steady;
    }
    let busy = 1.0 - quiet;
    // messages before in a busy period: by chance ((1 - σ)^-2 - 1) / 2, under overload as many as came in its age
    let before = ((1.0 - single).powi(-2) - 1.0) / 2.0;
    let before = before + if begins > 0.0 { over / busy * over / begins / class.message } else { 0.0 };
    let clustered = 1.0 - (1.0 + 2.0 * before).sqrt().recip();
    let same = |load: f64| BusyPeriodLoads { lasts: load, waits: load };
    vec![
        Part { share: quiet, ends: changes / quiet, load: single + little / quiet, by_chance: same(single) },
        Part {
            share: busy,
            ends: changes / busy,
            load: single + (follows - little) / busy,
            by_chance: same(clustered),
        },
    ]
}

/// The most other classes whose bursts are followed: each doubles the states.
const FOLLOWED: usize = 3;

/// The other classes that come in bursts, with both states of each; of many, those that bring most in them. The rest
/// counts as Poisson.
fn most_bursty(classes: &[Class], own: usize) -> Vec<(usize, Vec<Part>)> {
    let mut bursty: Vec<(usize, Vec<Part>)> = (0..classes.len())
        .filter(|d| *d != own)
        .map(|d| (d, parts(&classes[d])))
        .filter(|(_, parts)| parts.len() > 1)
        .collect();
    let brings = |d: usize| {
        let class = &classes[d];
        class.bursts.map_or(0.0, |bursts| class.load() * (1.0 - 1.0 / bursts.messages_per_burst))
    };
    if without(Step::BurstStates) {
        bursty.clear();
    }
    if bursty.len() > FOLLOWED {
        bursty.sort_by(|(a, _), (b, _)| brings(*b).total_cmp(&brings(*a)));
        bursty.truncate(FOLLOWED);
        bursty.sort_by_key(|(d, _)| *d);
    }
    bursty
}

impl BurstPhases {
    /// Of class `own` among all real-time classes of the node.
    pub(super) fn new(classes: &[Class], own: usize, unit: f64, steps: usize) -> Self {
        let chances: Vec<BusyPeriodLoads> = (0..classes.len())
            .map(|d| BusyPeriodLoads { lasts: classes[d].load(), waits: load_beside(classes, own, d) })
            .collect();
        let mut states = vec![(1.0, 0.0, classes.to_vec(), chances)];
        for (d, parts) in most_bursty(classes, own) {
            let class = &classes[d];
            let split = |(share, ends, classes, chances): &(f64, f64, Vec<Class>, Vec<BusyPeriodLoads>)| {
                let of = |part: &Part| {
                    let (mut classes, mut chances) = (classes.clone(), chances.clone());
                    chances[d] = part.by_chance;
                    classes[d].rate = part.load / class.message;
                    (share * part.share, ends + part.ends, classes, chances)
                };
                parts.iter().map(of).collect::<Vec<_>>()
            };
            states = states.iter().flat_map(split).collect();
        }
        let states = states.into_iter().map(|(share, ends, classes, chances)| {
            let gaps = GapProcess::new(&classes, &chances, own, unit, steps);
            Phase { share, ends, classes, gaps }
        });
        Self { own: classes[own], states: states.collect() }
    }

    /// The link of the interface, on average over the states.
    pub(super) fn interface(&self, grid: &Grid, own: usize, unit: f64) -> Interface {
        let states = &self.states;
        let mut each: Vec<Interface> =
            states.iter().map(|state| Interface::new(grid, &state.gaps, &state.classes, own, unit)).collect();
        if each.len() == 1 {
            return each.swap_remove(0);
        }
        let message = self.own.message / unit;
        let over = |between: &Interruptions, cells: f64| grid.law(between.over(grid, cells));
        let begun: Vec<Law> = each.iter().map(|one| over(&one.coming, message / 2.0)).collect();
        let lasting = |of: &dyn Fn(&Interface) -> &Interruptions| {
            let laws: Vec<Law> = each.iter().map(|one| over(of(one), message)).collect();
            self.as_long_as_they_last(&laws, &begun, unit)
        };
        let first = lasting(&|one| &one.first);
        let later = lasting(&|one| &one.later);
        let coming = lasting(&|one| &one.coming);
        let mixed = |laws: &[Law]| {
            let parts: Vec<(f64, &Law)> = states.iter().map(|state| state.share).zip(laws).collect();
            Law::mixture(&parts)
        };
        let between = |laws: &[Law]| {
            let law = mixed(laws);
            let mut between = Interruptions::nothing(message);
            between.add(law.positive(), &grid.transform(&law.given_positive()));
            between
        };
        let mean = |of: &dyn Fn(&Interface) -> f64| -> f64 {
            states.iter().zip(&each).map(|(state, one)| state.share * of(one)).sum()
        };
        Interface {
            first: between(&first),
            later: between(&later),
            coming: between(&coming),
            work: None,
            set_up: Law::zero(),
            header_wait: mean(&|one| one.header_wait),
            gap: mean(&|one| one.gap),
        }
    }

    /// Delays in each state, if it may end meanwhile.
    fn as_long_as_they_last(&self, laws: &[Law], begun: &[Law], unit: f64) -> Vec<Law> {
        if without(Step::StatesEnd) {
            return laws.to_vec();
        }
        // P(> x)
        let tail = |law: &Law| {
            let mut above = 1.0;
            let tail = law.probabilities().iter().map(|p| {
                above -= p;
                f64::max(above, 0.0)
            });
            tail.collect::<Vec<f64>>()
        };
        let (tails, begun): (Vec<_>, Vec<_>) =
            (laws.iter().map(tail).collect(), begun.iter().map(tail).collect());
        let longest = tails.iter().chain(&begun).map(Vec::len).max().unwrap_or(0);
        let of = |i: usize| {
            let Phase { share, ends, .. } = self.states[i];
            let ends_meanwhile = |cells: f64| 1.0 - (-ends * unit * cells).exp();
            let turns = ends_meanwhile(self.own.message / unit);
            let others = |tails: &[Vec<f64>], x: usize| {
                let at = |j: usize| self.states[j].share * tails[j].get(x).copied().unwrap_or(0.0);
                (0..tails.len()).filter(|j| *j != i).map(at).sum::<f64>() / (1.0 - share).max(1e-12)
            };
            let tail = |x: usize| {
                let here = tails[i].get(x).copied().unwrap_or(0.0);
                let less = (here - others(&tails, x)).max(0.0);
                let more = (others(&begun, x) - here).max(0.0);
                here - less * ends_meanwhile(x as f64) + more * turns
            };
            let mut above = 1.0;
            let mut weights = Vec::with_capacity(longest);
            for x in 0..longest {
                let tail = tail(x).min(above);
                weights.push(above - tail);
                above = tail;
            }
            Law::of(weights)
        };
        (0..laws.len()).map(of).collect()
    }
}

impl Class {
    /// Messages in a batch, of a geometric number, that wait as long for services of so many cycles as those of its
    /// bursts do.
    pub(super) fn batch(&self, service: f64) -> f64 {
        // E[V] = ρ W + λ b^2 / 2 = λ b^2 (2 N - 1) / 2 / (1 - ρ)
        let load = self.rate * service;
        match self.bursts {
            Some(source) if load < 1.0 => {
                let service = Service::constant(service);
                let wait = source.queue(service, service).wait;
                ((1.0 + (wait / service.mean * 2.0 + 1.0) * (1.0 - load)) / 2.0).max(1.0)
            }
            _ => 1.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(load: f64, message: f64, bursts: Option<(u32, f64, f64)>) -> Class {
        let bursts = bursts.map(|(streams, messages_per_burst, peak)| BurstySource {
            rate: load / message,
            streams,
            messages_per_burst,
            peak_rate: peak / message,
        });
        Class { bursts, ..Class::of_load(load, message) }
    }

    /// The mean load stays, and a state is left as often as it is entered.
    #[test]
    fn quiet_and_busy_times_balance() {
        for bursts in [(1, 4.0, 0.5), (1, 20.0, 1.5), (4, 6.0, 0.8), (12, 3.0, 0.2), (3, 16.0, 1.2)] {
            let class = class(0.3, 24.0, Some(bursts));
            let parts = parts(&class);
            let [quiet, busy] = parts[..] else { panic!("{bursts:?}") };
            assert!((quiet.share + busy.share - 1.0).abs() < 1e-12);
            assert!((quiet.share * quiet.load + busy.share * busy.load - 0.3).abs() < 1e-9);
            assert!((quiet.share * quiet.ends / (busy.share * busy.ends) - 1.0).abs() < 1e-9);
            assert!(
                quiet.load < 0.3 && busy.load > 0.3 && busy.load < 1.0 + 1e-9,
                "{bursts:?} {}",
                busy.load
            );
        }
    }

    /// Bursts of one message are Poisson: a single state.
    #[test]
    fn single_messages_have_one_state() {
        assert_eq!(parts(&class(0.3, 24.0, Some((3, 1.0, 0.5)))).len(), 1);
        let classes = [class(0.2, 24.0, None), class(0.3, 24.0, None)];
        let beside = BurstPhases::new(&classes, 0, 1.0, 16);
        assert_eq!(beside.states.len(), 1);
    }

    /// Bursts delay fewer messages than Poisson arrivals do, and those for longer.
    #[test]
    fn bursts_delay_fewer_messages_for_longer() {
        let grid = Grid::of(2048);
        let own = class(0.05, 32.0, None);
        let law = |bursts| {
            let beside = BurstPhases::new(&[own, class(0.2, 32.0, bursts)], 0, 1.0, 16);
            grid.law(beside.interface(&grid, 0, 1.0).first.over(&grid, 32.0))
        };
        let (poisson, bursty) = (law(None), law(Some((1, 12.0, 1.2))));
        assert!(bursty.positive() < 0.8 * poisson.positive(), "{} {}", bursty.positive(), poisson.positive());
        let longer = bursty.given_positive().mean() / poisson.given_positive().mean();
        assert!(longer > 1.2, "{longer}");
        // the clock of a long burst has run far ahead: the message passes it
        let long = law(Some((1, 500.0, 1.2)));
        assert!(long.positive() < bursty.positive(), "{}", long.positive());
    }
}
