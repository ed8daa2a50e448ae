//! An n-cube: A.1, (10)-(14) and A.2.

use flitwise_language::scenario::ClassKind;
use flitwise_models::published::{ClassRecord, Cube};

use super::Subject;
use super::symbols::is_silent;
use crate::explain::derivation::{Application, Derivation, Entry, Equation, Section};
use crate::explain::equations as eq;
use crate::explain::formula::Values;

impl Subject<'_> {
    pub(super) fn hypercube(&self, derivation: &mut Derivation) {
        let Some(cube) = &self.record.cube else { return };
        self.traffic(derivation.section("Who crosses which channel"), cube);
        let of = |kind: ClassKind| {
            let answered = self.answered().filter(|(class, answer)| {
                class.kind == kind && class.path.is_some() && answer.per_channel.is_some()
            });
            answered.map(|(class, _)| class).collect::<Vec<_>>()
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
                Application::new(vec![("k", k.to_string())], values, hops(k))
            }),
        );
        let all = Values::default().and("k", (1..=n).map(|k| vec![number("k", k), ("P_{k}", hops(k))]));
        section.step(&eq::MEAN_HOPS, [Application::new(Vec::new(), all, cube.routes.mean_hops())]);
        section.step(
            &eq::STARTED,
            (0..n).map(|s| {
                let terms = (1..=n - s).map(|k| vec![number("k", k), ("P_{k}", hops(k))]);
                let values = Values::of([number("n", n), number("s", s)]).and("k", terms);
                Application::new(vec![("s", s.to_string())], values, cube.shares_started[s])
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

    /// One equation over classes and channels `0..end`.
    fn on_channels(&self, section: &mut Section, equation: &Equation, classes: &[&ClassRecord], end: usize) {
        let all = classes.iter().flat_map(|class| (0..end).map(move |s| (*class, s)));
        section.step(
            equation,
            all.map(|(class, s)| Application::by(self.names_on(class, s), self.on_channel(class, s))),
        );
    }

    /// (10)-(12) and A.2.
    fn latency_of_paths(&self, section: &mut Section, cube: &Cube, classes: &[&ClassRecord]) {
        let n = cube.routes.dimension();
        for class in classes.iter().filter(|class| class.path.as_ref().is_some_and(is_silent)) {
            section.text(format!(
                "{} sends nothing. Where one of its rates is divided by another, the shares that a vanishing rate has \
                 stand for them, `λ_{{c}} = 1`.",
                self.name(class.class)
            ));
        }
        self.on_channels(section, &eq::LATENCY_FROM, classes, n);
        self.of_classes(section, &eq::LATENCY_AT_EJECTION, classes);
        self.along_paths(section, &eq::MEAN_LATENCY, classes);
        self.on_channels(section, &eq::BLOCKED_ON, classes, n + 1);
        self.on_channels(section, &eq::ACCEPTED_FIRST, classes, n);
        section.step(
            &eq::ACCEPTED_ALL,
            classes.iter().map(|class| {
                let first = (0..n).map(|s| self.on_channel(class, s).symbols);
                Application::by(self.names(class), self.of_class(class).and("s", first))
            }),
        );
        self.of_classes(section, &eq::ON_CHANNEL, classes);
        self.on_channels(section, &eq::INPUT_LENGTH, classes, n);
        self.of_classes(section, &eq::OUTPUT_LENGTH, classes);
        self.on_channels(section, &eq::CHAINED, classes, n);
        self.on_channels(section, &eq::FURTHER_ON, classes, n - 1);
        let going_on = classes.iter().flat_map(|class| (0..n - 1).map(move |s| (*class, s)));
        section.step(
            &eq::MIDDLE,
            going_on
                .map(|(class, s)| Application::by(self.names_on(class, s), self.on_first_channel(class, s))),
        );
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
    fn best_effort_on_channels(&self, section: &mut Section, cube: &Cube, classes: &[&ClassRecord]) {
        let n = cube.routes.dimension();
        let Some(met) = classes.iter().find_map(|class| class.met.as_ref()) else { return };
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
                    Application::new(vec![("s", s.to_string())], values, load.busy_period())
                }),
            );
        } else {
            section.text("No real-time message comes, so that busy times are zero.");
        }
        for equation in [&eq::BEST_EFFORT_ON, &eq::SPREAD, &eq::BEST_EFFORT_AT_EJECTION] {
            let all = classes.iter().flat_map(|class| (0..n).map(move |s| (*class, s)));
            section.step(
                equation,
                all.map(|(class, s)| {
                    let names = vec![("C", self.name(class.class)), ("s", s.to_string())];
                    Application::by(names, self.of_best_effort(class, s, loads))
                }),
            );
        }
    }
}
