//! Deadline missing probability: (16)-(23).

use flitwise_language::scenario::ClassKind;
use flitwise_models::answer::{ClassAnswer, DeadlineAnswer, LatencyDistribution};
use flitwise_models::published::{BlockingLength, ClassRecord};

use super::Subject;
use crate::explain::derivation::{Application, Derivation, Entry, Section};
use crate::explain::equations as eq;
use crate::explain::formula::Values;

/// Companies that are listed.
const MOST_COMPANIES: usize = 16;

impl Subject<'_> {
    pub(super) fn deadlines(&self, derivation: &mut Derivation) {
        let classes: Vec<(usize, (&ClassRecord, &ClassAnswer))> = self
            .real_time()
            .enumerate()
            .filter_map(|(bit, record)| {
                let answered = self.answered().find(|(class, _)| class.class == record.class)?;
                (!answered.1.deadlines.is_empty()).then_some((bit, answered))
            })
            .collect();
        if classes.is_empty() {
            let best_effort = self.answered().any(|(class, _)| class.kind == ClassKind::BestEffort);
            if best_effort && self.only.is_some() {
                derivation.section("Deadlines").text(
                    "The paper has no distribution of best-effort latencies (section 3.4), so no misses.",
                );
            }
            return;
        }
        let section = derivation.section("Deadlines");
        section.text(
            "A mean says nothing of how often a message is late. For that the lengths in front of it and the company \
             that its flits meet are taken as random.",
        );
        section.step(
            &eq::LONGEST,
            classes.iter().map(|(_, (class, _))| {
                let longest = f64::from(BlockingLength::of(0.0, class.buffering).longest);
                Application::new(self.names(class), self.of_class(class), longest)
            }),
        );
        let blocked = |class: &ClassRecord| match &class.path {
            Some(path) => path.probabilities[self.link],
            None => class.blocking.map_or(f64::NAN, |blocking| blocking.probability),
        };
        section.step(
            &eq::ANY_LENGTH,
            classes.iter().map(|(_, (class, _))| {
                let length = BlockingLength::of(blocked(class), class.buffering);
                let values =
                    Values::of([("P_{b,c}", length.probability), ("U_{c}", f64::from(length.longest))]);
                Application::new(self.names(class), values, length.of_each_length())
            }),
        );
        section.step(&eq::COMPANY, []);
        self.companies(section, &classes);
        section.step(&eq::COMPLETION, []);
        for hops in [false, true] {
            self.misses(section, &classes, hops);
        }
    }

    /// `P_c(k)` and `S_c(k)` on the link that is shown.
    fn companies(&self, section: &mut Section, classes: &[(usize, (&ClassRecord, &ClassAnswer))]) {
        let Some(link) = self.record.links.get(self.link) else { return };
        let mut rows = Vec::new();
        for (bit, (class, _)) in classes {
            let mut sets: Vec<usize> = (0..link.states()).filter(|set| set >> bit & 1 == 1).collect();
            let pi = &link.sharing.occupancy;
            sets.sort_by(|one, other| pi[*other].total_cmp(&pi[*one]));
            rows.extend(sets.into_iter().take(MOST_COMPANIES).map(|set| {
                vec![
                    Entry::from(self.name(class.class)),
                    self.set(set ^ (1 << bit)).into(),
                    link.sharing.given_present(*bit, set).into(),
                    link.shares.cycles_per_flit(*bit, set).into(),
                ]
            }));
        }
        if self.record.cube.is_some() {
            section.text(format!("On {}, as on each other one:", self.link_name(self.link)));
        }
        section.table(&["class", "company k", "P_c(k)", "S_c(k) [cycles/flit]"], rows);
    }

    fn misses(&self, section: &mut Section, classes: &[(usize, (&ClassRecord, &ClassAnswer))], hops: bool) {
        const IN_TIME: [&str; 2] = ["P[β ≤ D - (P - 1)]", "P[Σβ ≤ D - (P - 1 + P h)]"];
        let cube = self.record.cube.is_some();
        if hops && !cube {
            return;
        }
        let mut found = Vec::new();
        for (_, (class, answer)) in classes {
            let of = |deadline: &&DeadlineAnswer| cube == hops && deadline.miss_probability.is_some();
            for deadline in answer.deadlines.iter().filter(of) {
                let by_hops = answer.latency_distributions_by_hops.as_ref();
                let distribution = match deadline.hops {
                    Some(hops) => by_hops.and_then(|by_hops| by_hops.get(hops as usize - 1)),
                    None => answer.latency_distribution.as_ref(),
                };
                let Some(distribution) = distribution else { continue };
                let values = Values::of([(IN_TIME[usize::from(hops)], at_most(distribution, deadline))]);
                let over = deadline.hops.map_or("all".to_owned(), |hops| hops.to_string());
                let mut names = vec![("c", self.name(class.class)), ("h", over)];
                names.push(("D", deadline.deadline_cycles.to_string()));
                found.push(Application::new(names, values, deadline.miss_probability.unwrap_or(f64::NAN)));
            }
        }
        if !found.is_empty() {
            section.step(if hops { &eq::MISS_OVER_HOPS } else { &eq::MISS }, found);
        }
    }
}

/// Share of the messages in time, by the solver's distribution.
fn at_most(distribution: &LatencyDistribution, deadline: &DeadlineAnswer) -> f64 {
    let known = &distribution.at_most_probability;
    match deadline.deadline_cycles.checked_sub(distribution.first_cycle) {
        None => 0.0,
        Some(index) => known.get(index as usize).or(known.last()).copied().unwrap_or(f64::NAN),
    }
}
