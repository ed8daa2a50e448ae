//! What the other classes do to one, on network channels, on ejection links and at the interface.

use super::super::burst_phases::BurstPhases;
use super::super::ecube_paths::{Crossing, EcubePaths, Output};
use super::super::grid::Grid;
use super::super::higher_classes::HigherClasses;
use super::super::interface::{Interface, SameWay};
use super::super::link_sharing::{Clock, LinkSharing};
use super::super::station::LinkEnvironment;
use super::super::{Class, Problem, Resolution};
use super::OneClass;

/// What the other real-time classes do to one: on channels, on ejection links and at the interface.
pub(super) struct Chained {
    pub(super) channel: LinkSharing,
    pub(super) ejection: LinkSharing,
    /// None without clocks.
    interface: Option<BurstPhases>,
}

impl Chained {
    pub(super) fn new(
        problem: &Problem,
        real_time: &[Class],
        own: usize,
        paths: EcubePaths,
        resolution: &Resolution,
    ) -> Self {
        let (unit, steps) = (resolution.unit, resolution.steps);
        // two messages of an interface take the same first channel: Σ p_s^2, p_s = 2^(n - 1 - s) / (2^n - 1)
        let share =
            (0..paths.dimension()).map(|s| paths.same(Output { from: None, to: Some(s) }).powi(2)).sum();
        let same = SameWay { share, header: problem.stages - 3.0 };
        let hops = paths.mean_hops();
        let first = paths.mean(paths.first().iter().copied()).contending;
        let middle = paths.mean(paths.middle().iter().copied()).contending;
        let on_channels = (first + (hops - 1.0) * middle) / hops;
        let sharing = |share: f64, contending: f64| {
            let classes: Vec<Class> = real_time.iter().map(|class| class.thinned(share)).collect();
            LinkSharing::new(&classes, own, Clock::of(problem, contending), unit, steps)
        };
        Self {
            channel: sharing(paths.channel_rate(), on_channels),
            ejection: sharing(1.0, paths.mean(paths.last().iter().copied()).contending),
            interface: problem.clocked.then(|| BurstPhases::new(real_time, own, same, unit, steps)),
        }
    }

    /// The interface of class `own`.
    pub(super) fn interface(&self, grid: &Grid, real_time: &[Class], own: usize, unit: f64) -> Interface {
        if let Some(gaps) = &self.interface {
            return gaps.interface(grid, own, unit);
        }
        let shared = self.ejection.environment(grid, real_time, own, (1.0, 1.0), 0.0, unit);
        let header_wait = self.ejection.header_wait(real_time, own, unit);
        Interface::without_clocks(grid, &shared, real_time[own].message / unit, header_wait)
    }
}

/// Whose messages go ahead on a link.
pub(super) enum Others<'c> {
    Sharing(&'c LinkSharing),
    HigherClasses(HigherClasses),
}

/// A kind of link, as the class sees it: network channels are all alike, and so are ejection links.
pub(super) struct Link<'c> {
    pub(super) classes: Vec<Class>,
    pub(super) others: Others<'c>,
    /// `λ` of the class \[messages/cell\].
    pub(super) rate: f64,
    /// `Σ`: load of the real-time classes but the own one.
    pub(super) load: f64,
}

impl<'g> OneClass<'g> {
    pub(super) fn link(&self, last: bool) -> &Link<'g> {
        if last { &self.ejection } else { &self.channel }
    }

    /// What the other classes do at an output.
    pub(super) fn environment(&self, last: bool, crossing: Crossing) -> LinkEnvironment {
        let link = self.link(last);
        let f = crossing.contending;
        let met = f / (1.0 - (1.0 - f) * link.load).max(0.05);
        let mut environment = match (&link.others, self.own) {
            (Others::HigherClasses(above), _) => above.environment(self.grid, (f, met), link.rate),
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
