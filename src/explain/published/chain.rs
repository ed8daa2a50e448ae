//! The chain of one link: (6)-(8) and Fig. 3.

use flitwise_figures::picture;
use flitwise_models::published::{ClassRecord, LinkRecord};

use super::Subject;
use crate::explain::derivation::{Application, Chain, Entry, Part, Section};
use crate::explain::equations as eq;
use crate::explain::formula::{Values, significant};

/// Of chains with more states the most likely ones are shown.
const MOST_STATES: usize = 16;
/// Transitions of chains of more classes are not drawn.
const MOST_DRAWN: usize = 4;

/// The chain of a link as a picture, classes by their names.
pub(in crate::explain) fn picture(link: &LinkRecord, members: Vec<String>) -> picture::Chain {
    let mut chain = picture::Chain::of(link, members);
    if chain.members.len() > MOST_DRAWN {
        chain.transitions.clear();
    }
    chain
}

impl Subject<'_> {
    /// The states that are shown: all, or the most likely ones.
    fn states(&self, link: &LinkRecord) -> Vec<usize> {
        let mut states: Vec<usize> = (0..link.states()).collect();
        let pi = &link.sharing.occupancy;
        states.sort_by(|one, other| pi[*other].total_cmp(&pi[*one]));
        states.truncate(MOST_STATES);
        states.sort_unstable();
        states
    }

    /// `{R1,R2}`.
    pub(super) fn set(&self, set: usize) -> String {
        let members = self.real_time().enumerate().filter(|(bit, _)| set >> bit & 1 == 1);
        let names: Vec<String> = members.map(|(_, class)| self.name(class.class)).collect();
        if names.is_empty() { "∅".to_owned() } else { format!("{{{}}}", names.join(",")) }
    }

    pub(in crate::explain) fn link_name(&self, link: usize) -> String {
        match &self.record.cube {
            None => "the output link".to_owned(),
            Some(cube) if link == cube.routes.dimension() => "the ejection channel".to_owned(),
            Some(_) => format!("channel {link}"),
        }
    }

    /// The chain of the link that is shown.
    pub(super) fn chain(&self, section: &mut Section) {
        let Some(link) = self.record.links.get(self.link) else { return };
        let name = self.link_name(self.link);
        let states = self.states(link);
        section.text(format!(
            "A state Z is the set of real-time classes that hold a virtual channel of {name}: {} classes make {} \
             states. Classes come and go one at a time.",
            link.visitors.len(),
            link.states()
        ));
        if states.len() < link.states() {
            section.text(format!("Shown are the {} most likely states.", states.len()));
        }
        let classes: Vec<(usize, &ClassRecord)> =
            self.real_time().enumerate().filter(|(_, class)| self.wants(class.class)).collect();
        let pairs = || {
            let with = classes.iter().flat_map(|(bit, class)| {
                let holding = states.iter().filter(move |set| **set >> bit & 1 == 1);
                holding.map(move |set| (*bit, *class, *set))
            });
            with.collect::<Vec<_>>()
        };
        let names =
            |class: &ClassRecord, set: usize| vec![("c", self.name(class.class)), ("Z", self.set(set))];
        let vtick = |class: &ClassRecord| class.vtick.unwrap_or(f64::NAN);
        if !classes.is_empty() {
            section.step(
                &eq::SHARE,
                pairs().into_iter().map(|(bit, class, set)| {
                    let members = self.real_time().enumerate().filter(|(other, _)| set >> other & 1 == 1);
                    let values = Values::of([("V_{c}", vtick(class))])
                        .and("j ∈ Z", members.map(|(_, other)| vec![("V_{j}", vtick(other))]));
                    Application::new(names(class, set), values, link.shares.cycles_per_flit(bit, set))
                }),
            );
            self.stays(section, link, &pairs());
        }
        self.table(section, link, &states);
        let members = self.real_time().map(|class| self.name(class.class)).collect();
        section.parts.push(Part::Chain(Chain { link: name, chain: picture(link, members) }));
        self.balance(section, link, &states);
        if !classes.is_empty() {
            self.mean_shares(section, link, &pairs(), &classes);
        }
    }

    /// How long a message stays in each state, and so how fast it leaves.
    fn stays(&self, section: &mut Section, link: &LinkRecord, pairs: &[(usize, &ClassRecord, usize)]) {
        let names = |class: &ClassRecord, set: usize| {
            vec![("c", self.name(class.class)), ("Z", self.set(set)), ("s", self.link.to_string())]
        };
        let ejection = self.record.cube.as_ref().map(|cube| cube.routes.dimension());
        let stay = pairs.iter().map(|(bit, class, set)| {
            let mut values = self.of_class(class).with([
                ("S_{c}[Z]", link.shares.cycles_per_flit(*bit, *set)),
                ("F_{c}", link.visitors[*bit].fixed_cycles),
                ("L_{c}[Z]", link.departure(*bit, *set).stay_cycles),
            ]);
            if let Some(path) = class.path.as_ref().filter(|_| ejection != Some(self.link)) {
                values = values.with([
                    ("P_{b,c}^{s}", path.probabilities[self.link]),
                    ("Bmid_{c,s}", path.middle[self.link].flits),
                ]);
            }
            Application::by(names(class, *set), values)
        });
        let equation = match ejection {
            None => &eq::STAY,
            Some(ejection) if ejection == self.link => &eq::STAY_AT_EJECTION,
            Some(_) => &eq::STAY_ON,
        };
        section.step(equation, stay);
        let (equation, rate) = if self.record.cube.is_none() {
            (&eq::LEAVE, "λ'_{c}")
        } else {
            (&eq::LEAVE_CHANNEL, "λ_{c,s}")
        };
        section.step(
            equation,
            pairs.iter().map(|(bit, class, set)| {
                let departure = link.departure(*bit, *set);
                let values =
                    Values::of([("L_{c}[Z]", departure.stay_cycles), (rate, link.visitors[*bit].rate)]);
                Application::new(names(class, *set), values, departure.difference)
            }),
        );
        for (bit, class, set) in pairs {
            let departure = link.departure(*bit, *set);
            if departure.starves {
                section.text(format!(
                    "In state {} messages of {} come faster than they leave: the rate is not positive, {} per cycle \
                     stands for it, and the class is saturated there (R6).",
                    self.set(*set),
                    self.name(class.class),
                    significant(departure.rate)
                ));
            }
        }
    }

    fn table(&self, section: &mut Section, link: &LinkRecord, states: &[usize]) {
        let mut heads = vec!["state Z".to_owned(), "π_Z".to_owned()];
        heads.extend(
            self.real_time().map(|class| format!("{} comes or leaves [1/cycle]", self.name(class.class))),
        );
        let row = |set: &usize| {
            let mut row = vec![Entry::from(self.set(*set)), link.sharing.occupancy[*set].into()];
            row.extend((0..link.visitors.len()).map(|class| {
                let sign = if set >> class & 1 == 1 { "leaves" } else { "comes" };
                Entry::from(format!("{sign} {}", significant(link.rate(class, *set))))
            }));
            row
        };
        let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
        section.table(&heads, states.iter().map(row).collect());
    }

    fn balance(&self, section: &mut Section, link: &LinkRecord, states: &[usize]) {
        section.step(
            &eq::BALANCE,
            states.iter().map(|set| {
                let neighbour = |class: usize| set ^ (1 << class);
                let classes = 0..link.visitors.len();
                let into = classes.clone().map(|class| {
                    let from = neighbour(class);
                    vec![("π_{Y}", link.sharing.occupancy[from]), ("q_{YZ}", link.rate(class, from))]
                });
                let out = classes.map(|class| vec![("q_{ZY}", link.rate(class, *set))]);
                let values = Values::default().and("Y → Z", into).and("Z → Y", out);
                Application::new(vec![("Z", self.set(*set))], values, link.sharing.occupancy[*set])
            }),
        );
    }

    /// (8) and (6).
    fn mean_shares(
        &self,
        section: &mut Section,
        link: &LinkRecord,
        pairs: &[(usize, &ClassRecord, usize)],
        classes: &[(usize, &ClassRecord)],
    ) {
        let holding = |bit: usize| (0..link.states()).filter(move |set| set >> bit & 1 == 1);
        section.step(
            &eq::GIVEN,
            pairs.iter().map(|(bit, class, set)| {
                let present = holding(*bit).map(|other| vec![("π_{Y}", link.sharing.occupancy[other])]);
                let values = Values::of([("π_{Z}", link.sharing.occupancy[*set])]).and("Y ∋ c", present);
                let names = vec![("c", self.name(class.class)), ("Z", self.set(*set))];
                Application::new(names, values, link.sharing.given_present(*bit, *set))
            }),
        );
        section.step(
            &eq::MEAN_SHARE,
            classes.iter().map(|(bit, class)| {
                let terms = holding(*bit).map(|set| {
                    let share = link.shares.cycles_per_flit(*bit, set);
                    vec![("S_{c}[Z]", share), ("P_{c}[Z]", link.sharing.given_present(*bit, set))]
                });
                let values = Values::default().and("Z ∋ c", terms);
                Application::new(
                    vec![("c", self.name(class.class))],
                    values,
                    link.sharing.cycles_per_flit[*bit],
                )
            }),
        );
    }
}
