//! An n-cube: A.1, (10)-(14) and A.2.

use flitwise_models::answer::{ChannelAnswer, ClassAnswer};
use flitwise_models::published::{ClassRecord, Cube, PathRecord, RealTimeLoad};
use flitwise_models::scenario::ClassKind;

use super::Explained;
use super::source::known;
use crate::explain::derivation::{Derivation, Entry, Equation, Found, Section};
use crate::explain::equations as eq;
use crate::explain::formula::Values;

/// A class of a cube with all that (10)-(12) need.
struct OnPaths<'e> {
    class: &'e ClassRecord,
    answer: &'e ClassAnswer,
    path: &'e PathRecord,
    channels: &'e [ChannelAnswer],
}

impl<'e> Explained<'e> {
    pub(super) fn hypercube(&self, derivation: &mut Derivation) {
        let Some(cube) = &self.record.cube else { return };
        self.traffic(derivation.section("Who crosses which channel"), cube);
        let of = |kind: ClassKind| {
            let answered = self.answered().filter(move |(class, _)| class.kind == kind);
            let with = answered.filter_map(|(class, answer)| {
                let (path, channels) = (class.path.as_ref()?, answer.per_channel.as_ref()?);
                Some(OnPaths { class, answer, path, channels })
            });
            with.collect::<Vec<_>>()
        };
        let real_time = of(ClassKind::RealTime);
        if !real_time.is_empty() {
            let section = derivation.section("Network latency and blocking of real-time classes");
            self.latency_of_paths(section, cube, &real_time);
        }
        if !self.record.links.is_empty() {
            let section = derivation.section("Sharing of channels");
            section.text(
                "Every channel has a chain of its own (R8); one is shown in full, and of the others what (10) needs.",
            );
            self.chain(section);
            self.shares_by_channel(section, cube);
            self.iterations(derivation.section("How the unknowns are found"), false);
        }
        let best_effort = of(ClassKind::BestEffort);
        if !best_effort.is_empty() {
            let section = derivation.section("Best effort: what real-time classes leave");
            self.best_effort_on_channels(section, cube, &best_effort);
            self.latency_of_paths(section, cube, &best_effort);
            self.iterations(section, true);
        }
        self.parts(derivation);
        self.source(derivation);
        self.deadlines(derivation);
        self.path(derivation, cube);
    }

    /// A.1.
    fn traffic(&self, section: &mut Section, cube: &Cube) {
        let n = cube.routes.dimension();
        let number = |name, value: usize| (name, value as f64);
        let hops = |k: usize| cube.routes.share_of_hops(k);
        section.step(
            &eq::HOPS,
            (1..=n).map(|k| {
                let nodes = f64::from(1u32 << n);
                let values = Values::of([number("n", n), number("k", k), ("N", nodes)]);
                Found::new(vec![("k", k.to_string())], values, hops(k))
            }),
        );
        let all = Values::default().and("k", (1..=n).map(|k| vec![number("k", k), ("P_{k}", hops(k))]));
        section.step(&eq::MEAN_HOPS, [Found::new(Vec::new(), all, cube.routes.mean_hops())]);
        section.step(
            &eq::STARTED,
            (0..n).map(|s| {
                let terms = (1..=n - s).map(|k| vec![number("k", k), ("P_{k}", hops(k))]);
                let values = Values::of([number("n", n), number("s", s)]).and("k", terms);
                Found::new(vec![("s", s.to_string())], values, cube.shares_started[s])
            }),
        );
        section.text(
            "Shares of all messages, channel by channel; what starts and what passes on add up to the same on each, \
             `h / n`:",
        );
        let row = |s: usize| {
            vec![
                Entry::from(s.to_string()),
                cube.shares_started[s].into(),
                cube.routes.share_passing(s).into(),
                cube.per_channel.into(),
                cube.routes.mean_hops_from(s).into(),
            ]
        };
        let heads = ["channel s", "start on it, f_s", "pass on over it", "h / n", "mean hops from it, h_s"];
        section.table(&heads, (0..n).map(row).collect());
    }

    /// One equation over all classes and channels `0..end`.
    fn on_channels(
        &self,
        section: &mut Section,
        equation: &Equation,
        classes: &[OnPaths<'e>],
        end: usize,
        found: impl Fn(&OnPaths<'e>, usize) -> (Values, f64),
    ) {
        section.step(
            equation,
            classes.iter().flat_map(|of| {
                (0..end)
                    .map(|s| {
                        let (values, value) = found(of, s);
                        let names = vec![("c", self.name(of.class.class)), ("s", s.to_string())];
                        Found::new(names, values, value)
                    })
                    .collect::<Vec<_>>()
            }),
        );
    }

    /// (10)-(12) and A.2.
    fn latency_of_paths(&self, section: &mut Section, cube: &Cube, classes: &[OnPaths<'e>]) {
        let n = cube.routes.dimension();
        let stages = ("P", self.record.stages);
        let message = |of: &OnPaths<'e>| ("M_{c}", of.class.buffering.message_flits);
        let room = |of: &OnPaths<'e>| ("m_{c}", of.class.buffering.room());
        let names = |of: &OnPaths<'e>| vec![("c", self.name(of.class.class))];
        for of in classes.iter().filter(|of| is_silent(of.path)) {
            section.text(format!(
                "{} sends nothing. Where one of its rates is divided by another, the shares that a vanishing rate has \
                 stand for them, `λ_{{c}} = 1`.",
                self.name(of.class.class)
            ));
        }
        self.on_channels(section, &eq::LATENCY_FROM, classes, n, |of, s| {
            let values = Values::of([
                stages,
                message(of),
                ("h_{s}", cube.routes.mean_hops_from(s)),
                ("O_{c}", of.path.ejection),
                ("S_{c,n}", of.class.cycles_per_flit_at_ejection[s]),
                ("I_{c,s}", of.channels[s].blocking_length_flits),
                ("Bmid_{c,s}", of.path.middle[s].flits),
                ("S_{c,s}", of.class.cycles_per_flit[s]),
            ]);
            (values, of.channels[s].latency_cycles)
        });
        section.step(
            &eq::LATENCY_AT_EJECTION,
            classes.iter().map(|of| {
                let cycles = ("S_{c,n}", of.channels[n].cycles_per_flit);
                let values = Values::of([stages, message(of), ("O_{c}", of.path.ejection), cycles]);
                Found::new(names(of), values, of.channels[n].latency_cycles)
            }),
        );
        section.step(
            &eq::MEAN_LATENCY,
            classes.iter().map(|of| {
                let values = self.along(of.class, of.answer);
                Found::new(names(of), values, known(of.answer.network_latency_cycles))
            }),
        );
        self.on_channels(section, &eq::BLOCKED_ON, classes, n + 1, |of, s| {
            let values = Values::of([
                ("L_{c,s}", of.class.latencies[s]),
                ("λ_{c,s}", of.channels[s].rate_messages_per_cycle),
                room(of),
                message(of),
            ]);
            (values, of.path.probabilities[s])
        });
        self.on_channels(section, &eq::ACCEPTED_FIRST, classes, n, |of, s| {
            let values = Values::of([
                ("P_{b,c}^{s}", of.path.probabilities[s]),
                ("λ_{c}^{g}", of.class.offered_rate),
                ("f_{s}", cube.shares_started[s]),
            ]);
            (values, of.channels[s].started_rate_messages_per_cycle)
        });
        section.step(
            &eq::ACCEPTED_ALL,
            classes.iter().map(|of| {
                let first = |channel: &ChannelAnswer| {
                    vec![("λ_{c,s}^{first}", channel.started_rate_messages_per_cycle)]
                };
                let values = Values::default().and("s", of.channels[..n].iter().map(first));
                Found::new(names(of), values, of.path.accepted_rate)
            }),
        );
        section.step(
            &eq::ON_CHANNEL,
            classes.iter().map(|of| {
                let values = Values::of([
                    ("λ_{c}", of.path.accepted_rate),
                    ("h", cube.routes.mean_hops()),
                    ("n", n as f64),
                ]);
                Found::new(names(of), values, of.channels[0].rate_messages_per_cycle)
            }),
        );
        self.on_channels(section, &eq::INPUT_LENGTH, classes, n, |of, s| {
            let values = Values::of([("P_{b,c}^{s}", of.path.probabilities[s]), room(of)]);
            (values, of.channels[s].blocking_length_flits)
        });
        section.step(
            &eq::OUTPUT_LENGTH,
            classes.iter().map(|of| {
                let values = Values::of([("P_{b,c}^{n}", of.path.probabilities[n]), room(of), message(of)]);
                Found::new(names(of), values, of.path.ejection)
            }),
        );
        let later = |of: &OnPaths<'e>, s: usize, weight: (&'static str, &dyn Fn(usize) -> f64)| {
            let term = |j: usize| {
                vec![
                    ("P_{b,c}^{j}", of.path.probabilities[j]),
                    ("d_{c,j}", of.path.middle[j].delay),
                    (weight.0, weight.1(j)),
                ]
            };
            (s + 1..n).map(term).collect::<Vec<_>>()
        };
        self.on_channels(section, &eq::CHAINED, classes, n, |of, s| {
            let terms = later(of, s, ("H_{j,s}", &|j| cube.middle.met_later(s, j)));
            let values = Values::of([room(of), message(of), ("Pt_{s}", 1.0 - cube.middle.goes_on(s))]);
            (values.and("j > s", terms), of.path.middle[s].delay)
        });
        self.on_channels(section, &eq::FURTHER_ON, classes, n - 1, |of, s| {
            let terms = later(of, s, ("G_{j,s}", &|j| cube.middle.crossed_later(s, j)));
            (Values::of([room(of)]).and("j > s", terms), of.path.middle[s].chained)
        });
        self.on_channels(section, &eq::MIDDLE, classes, n - 1, |of, s| {
            let values = Values::of([
                ("P_{1}", cube.routes.share_of_hops(1)),
                ("n", n as f64),
                ("λ_{c}", if is_silent(of.path) { 1.0 } else { of.path.accepted_rate }),
                ("λ_{c,s}^{first}", started(of.path, &of.channels[s], s)),
                ("K_{c,s}", of.path.middle[s].chained),
            ]);
            (values, of.path.middle[s].flits)
        });
    }

    /// What sums over first channels are made of; rates are divided by a rate, so that of a silent class the shares
    /// that it would have stand for them.
    pub(super) fn along(&self, class: &ClassRecord, answer: &ClassAnswer) -> Values {
        let (Some(path), Some(cube)) = (&class.path, &self.record.cube) else { return Values::default() };
        let channels = answer.per_channel.as_deref().unwrap_or_default();
        let term = |s: usize| {
            let channel = &channels[s];
            vec![
                ("L_{c,s}", channel.latency_cycles),
                ("λ_{c,s}^{first}", started(path, channel, s)),
                ("S_{c,s}", channel.cycles_per_flit),
                ("S_{c,n}", class.cycles_per_flit_at_ejection[s]),
                ("I_{c,s}", channel.blocking_length_flits),
                ("Bmid_{c,s}", path.middle[s].flits),
                ("h_{s}", cube.routes.mean_hops_from(s)),
            ]
        };
        let end = cube.routes.dimension().min(channels.len());
        Values::of([
            ("λ_{c}", if is_silent(path) { 1.0 } else { path.accepted_rate }),
            ("P", self.record.stages),
            ("M_{c}", class.buffering.message_flits),
            ("O_{c}", path.ejection),
        ])
        .and("s", (0..end).map(term))
    }

    /// What the chains of all links say.
    fn shares_by_channel(&self, section: &mut Section, cube: &Cube) {
        let n = cube.routes.dimension();
        let mut heads = vec!["channel".to_owned(), "π_∅".to_owned()];
        heads.extend(self.real_time().map(|class| format!("S of {} [cycles/flit]", self.name(class.class))));
        let row = |(s, link): (usize, &flitwise_models::published::LinkRecord)| {
            let name = if s == n { "ejection".to_owned() } else { s.to_string() };
            let mut row = vec![Entry::from(name), link.sharing.idle().into()];
            row.extend(link.sharing.cycles_per_flit.iter().map(|cycles| Entry::from(*cycles)));
            row
        };
        let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
        section.table(&heads, self.record.links.iter().enumerate().map(row).collect());
    }

    /// (13) and below.
    fn best_effort_on_channels(&self, section: &mut Section, cube: &Cube, classes: &[OnPaths<'e>]) {
        let n = cube.routes.dimension();
        let Some(met) = classes.iter().find_map(|of| of.class.met.as_ref()) else { return };
        let loads = &met.loads;
        let rates = |s: usize| {
            let rate = |class: &ClassRecord| {
                let accepted = class.path.as_ref().map_or(f64::NAN, |path| path.accepted_rate);
                vec![("λ_{j,s}", if s == n { accepted } else { accepted * cube.per_channel })]
            };
            self.real_time().map(rate).collect::<Vec<_>>()
        };
        if loads[0].rate > 0.0 {
            section.step(
                &eq::BUSY,
                loads.iter().enumerate().map(|(s, load)| {
                    let values = Values::of([("π_{∅,s}", load.idle)]).and("j", rates(s));
                    Found::new(vec![("s", s.to_string())], values, load.busy_period())
                }),
            );
        } else {
            section.text("No real-time message comes, so that busy times are zero.");
        }
        let named = |of: &OnPaths<'e>, s: usize| vec![("C", self.name(of.class.class)), ("s", s.to_string())];
        let each = |section: &mut Section, equation, found: &dyn Fn(&OnPaths<'e>, usize) -> (Values, f64)| {
            let all = classes.iter().flat_map(|of| (0..n).map(move |s| (of, s)));
            section.step(
                equation,
                all.map(|(of, s)| {
                    let (values, value) = found(of, s);
                    Found::new(named(of, s), values, value)
                }),
            );
        };
        let message = |of: &OnPaths<'e>| ("M_{C}", of.class.buffering.message_flits);
        each(section, &eq::BEST_EFFORT_ON, &|of, s| {
            let load = loads[s];
            let values = Values::of([
                message(of),
                ("ρ_{s}", load.busy()),
                ("π_{∅,s}", load.idle),
                ("Busy_{s}", load.busy_period()),
            ]);
            (values, of.class.cycles_per_flit[s])
        });
        let spread = |of: &OnPaths<'e>, s: usize| {
            RealTimeLoad::spread(message(of).1, of.class.cycles_per_flit[s], of.path.middle[s].flits)
        };
        each(section, &eq::SPREAD, &|of, s| {
            let values = Values::of([
                message(of),
                ("S_{C,s}", of.class.cycles_per_flit[s]),
                ("Bmid_{C,s}", of.path.middle[s].flits),
            ]);
            (values, spread(of, s))
        });
        let at_ejection = loads[n];
        each(section, &eq::BEST_EFFORT_AT_EJECTION, &|of, s| {
            let values = Values::of([
                message(of),
                ("M_{s}", spread(of, s)),
                ("ρ_{n}", at_ejection.busy()),
                ("π_{∅,n}", at_ejection.idle),
                ("Busy_{n}", at_ejection.busy_period()),
            ]);
            (values, of.class.cycles_per_flit_at_ejection[s])
        });
    }
}

fn is_silent(path: &PathRecord) -> bool {
    path.accepted_rate == 0.0
}

/// Rate that starts on channel `s`, or of a silent class its share of what would.
fn started(path: &PathRecord, channel: &ChannelAnswer, s: usize) -> f64 {
    if is_silent(path) { path.shares_started[s] } else { channel.started_rate_messages_per_cycle }
}
