//! Waits in the input channels of later routers.

use super::super::ecube_paths::Output;
use super::super::law::Law;
use super::super::station::Met;
use super::{Held, Like, OneClass, Station, Stations};

impl OneClass<'_> {
    /// `D_s`: mean wait of a header behind a predecessor in the input channel of dimension `s` \[cells\].
    ///
    /// The predecessor in general wants another output; what holds it up beyond what the link upstream had put
    /// between the two already is waited for:
    ///
    /// ```text
    /// D_s = λ_c E[B²] / 2 / (1 - λ_c E[B]) - the same with B_up
    /// B = M + H + max(x, (G - A)+),   B_up = M + G + S_2 + (1 - S_2) H
    /// ```
    ///
    /// as far as the rest of the predecessor fits into the buffer: `D_s (1 - exp(-(b - 3) / m))`.
    pub(super) fn in_channel(&self, stations: &Stations, gaps: f64, held: &Held) -> Vec<f64> {
        let (shape, rate) = (self.shape, self.channel.rate);
        let excess = |law: &Law| {
            let load = rate * law.mean();
            (load < 0.98).then(|| rate * law.second_moment() / 2.0 / (1.0 - load))
        };
        let arriving = self.grid.law(self.gaps_of_mean(gaps).over(self.grid, shape.message));
        let uncovered = arriving.less(self.hidden());
        let held_up = |(like, station): &(Like, Station)| {
            let Met { waits, blocked, .. } = &station.met;
            if shape.is_short() {
                let held = if like.last { &held.on_ejection } else { &held.on_channel };
                self.grid.sum(&waits.grant, held).max(&uncovered)
            } else {
                blocked.max(&uncovered)
            }
        };
        let held_up: Vec<Law> = stations.known.iter().map(held_up).collect();
        let wait = |s: u32| {
            let part = |(share, output)| (share, &held_up[stations.place(output)]);
            let parts: Vec<(f64, &Law)> = self.paths.onward(s).map(part).collect();
            let service = Law::mixture(&parts).plus(shape.message + shape.header);
            let different = self.paths.crossing(Output { from: None, to: Some(s) }).different;
            let between = different * shape.idle + (1.0 - different) * shape.header;
            let upstream = arriving.plus(shape.message + between);
            let wait = match (excess(&service), excess(&upstream)) {
                (Some(here), Some(there)) => (here - there).max(0.0),
                _ => 1e3 / self.unit,
            };
            let met = if shape.is_short() { shape.message + shape.header } else { service.mean() };
            let each = wait / (rate * met).clamp(1e-9, 1.0);
            let room = (shape.buffer - shape.credit).max(0.0);
            if each > 1e-12 { wait * (1.0 - (-room / each).exp()) } else { 0.0 }
        };
        (0..self.dimension).map(wait).collect()
    }
}
