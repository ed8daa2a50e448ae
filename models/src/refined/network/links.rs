//! What the other classes do to one, on network channels, on ejection links and at the interface.

use super::super::burst_phases::BurstPhases;
use super::super::grid::Grid;
use super::super::higher_classes::{HigherClasses, Siblings};
use super::super::interface::Interface;
use super::super::link_sharing::{Clock, LinkSharing};
use super::super::paths::{Crossing, Output, Paths};
use super::super::station::LinkEnvironment;
use super::super::{Class, Problem, Resolution};
use super::OneClass;
use super::lanes::LinkKinds;

/// What the other real-time classes do to one: on channels, on ejection links and at the interface.
pub(super) struct Interference {
    /// By kind of link.
    pub(super) links: Vec<LinkSharing>,
    /// None without clocks.
    interface: Option<BurstPhases>,
}

impl Interference {
    pub(super) fn new(
        problem: &Problem,
        real_time: &[Class],
        own: usize,
        paths: &Paths,
        kinds: &LinkKinds,
        resolution: &Resolution,
    ) -> Self {
        let (unit, steps) = (resolution.unit, resolution.steps);
        let hops = (paths.mean_hops() / paths.moving().max(1e-300)).max(1.0);
        let first = paths.mean(paths.first()).contending;
        let middle = paths.mean(paths.middle()).contending;
        let on_channels = (first + (hops - 1.0) * middle) / hops;
        let at_end = paths.mean(paths.last()).contending;
        let sharing = |kind: usize| {
            let contending = if kinds.is_end(kind) { at_end } else { on_channels };
            let classes = kinds.classes(kind, real_time, Some(own));
            LinkSharing::new(&classes, own, Clock::of(problem, contending), unit, steps)
        };
        Self {
            links: (0..kinds.count()).map(sharing).collect(),
            interface: problem
                .clocked
                .then(|| BurstPhases::new(&kinds.at_interface(real_time, own), own, unit, steps)),
        }
    }

    /// The interface of class `own`.
    pub(super) fn interface(
        &self,
        grid: &Grid,
        real_time: &[Class],
        (own, injection): (usize, usize),
        unit: f64,
    ) -> Interface {
        if let Some(gaps) = &self.interface {
            return gaps.interface(grid, own, unit);
        }
        let shared = self.links[injection].environment(grid, real_time, own, (1.0, 1.0), 0.0, unit);
        let header_wait = self.links[injection].header_wait(real_time, own, unit);
        Interface::without_clocks(grid, &shared, real_time[own].message / unit, header_wait)
    }
}

/// Whose messages go ahead on a link.
pub(super) enum Others<'c> {
    Sharing(&'c LinkSharing),
    HigherClasses(HigherClasses),
}

/// A kind of link, as the class sees it.
pub(super) struct Link<'c> {
    pub(super) classes: Vec<Class>,
    pub(super) others: Others<'c>,
    /// `Σ`: load of the real-time classes but the own one, its other virtual channels among them.
    pub(super) load: f64,
    /// `σ`: the same without these.
    pub(super) first: f64,
}

impl<'g> OneClass<'g> {
    /// The kind of link that is most like the mean of these outputs.
    pub(super) fn kind_of(&self, outputs: &[(f64, Output)]) -> usize {
        let all: f64 = outputs.iter().map(|(share, _)| share).sum();
        let load = |kind: usize| self.links[kind].load;
        let mean: f64 = outputs.iter().map(|(share, output)| share * load(self.kinds.of(output.to))).sum();
        let kinds = outputs.iter().map(|(_, output)| self.kinds.of(output.to));
        let off = |kind: &usize| (load(*kind) - mean / all).abs();
        kinds.min_by(|a, b| off(a).total_cmp(&off(b))).unwrap_or(self.kinds.interface())
    }

    /// `λ` of the class on a virtual channel of an output \[messages/cell\].
    pub(super) fn lane_rate(&self, to: u32) -> f64 {
        self.rate * self.kinds.lane_rate(to)
    }

    /// What the other classes do on links of a kind.
    pub(super) fn environment(&self, kind: usize, crossing: Crossing) -> LinkEnvironment {
        let link = &self.links[kind];
        let rate = self.rate * self.kinds.share(kind);
        let f = crossing.contending;
        let met = f / (1.0 - (1.0 - f) * link.load).max(0.05);
        let mut environment = match (&link.others, self.own) {
            (Others::HigherClasses(above), _) => {
                let siblings = Siblings {
                    rate: self.rate * self.kinds.in_other_lanes(kind),
                    message: self.shape.message,
                    contending: f,
                    different: crossing.different,
                    room: f64::from(self.kinds.other_lanes()) * self.shape.buffer,
                };
                above.environment(self.grid, (f, met), rate, &siblings)
            }
            (Others::Sharing(sharing), own) => {
                let own = own.unwrap_or(0);
                sharing.environment(self.grid, &link.classes, own, (f, met), self.interface.gap, self.unit)
            }
        };
        // what the own input's other messages do on the link is in the interruptions already
        environment.contending = 1.0;
        environment
    }
}

/// Flits of other real-time classes that go before a header that finds them, on average.
pub(super) fn passed(classes: &[Class], own: usize) -> f64 {
    let (mut flits, mut load) = (0.0, 0.0);
    for (d, class) in classes.iter().enumerate() {
        if d != own {
            let ahead = (1.0 + classes[own].vtick - class.vtick).floor().clamp(0.0, 16.0);
            flits += class.load() * ahead;
            load += class.load();
        }
    }
    if load > 0.0 { (flits / load).round() } else { 0.0 }
}
