//! The kinds of outputs that a class meets, and the queues at each.

use super::super::grid::product;
use super::super::law::Law;
use super::super::paths::{Crossing, Output, Outputs, Paths, Sender, merged};
use super::super::station::{ArrivalGaps, LinkEnvironment, OutputDelays, Overload, Waits};
use super::input_channel::ChannelWait;
use super::{Blocking, OneClass};

/// A kind of output with its queues.
pub(super) struct Station {
    pub(super) met: OutputDelays,
    pub(super) environment: LinkEnvironment,
    /// Wait for the crossbar behind the own class only: as messages of other inputs come, and directly behind one of
    /// the own input.
    pub(super) own: [Law; 2],
    /// The same for the link.
    pub(super) own_on_link: [Law; 2],
    /// `I`: interruptions of a message by others.
    pub(super) interrupted: Law,
    /// `u`: share of the time in which messages of the class hold a virtual channel.
    pub(super) held: f64,
}

/// Outputs that are alike: first ones, later channels, and ejection links, by rounded shares.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct OutputKind {
    pub(super) first: bool,
    pub(super) last: bool,
    /// Kind of link.
    pub(super) link: usize,
    pub(super) contending: f64,
    pub(super) different: f64,
    pub(super) others: f64,
}

impl OutputKind {
    /// Steps of the rounding: most shares in a cube are whole numbers of them.
    const PARTS: [f64; 2] = [16.0, 32.0];

    pub(super) fn new(paths: &Paths, link: usize, output: Output) -> Self {
        let Crossing { contending, different, others } = paths.crossing(output);
        let fine = if paths.channels.len() > 4 { 1.0 } else { 4.0 };
        let rounded = |share: f64, parts: f64| (share * parts * fine).round() / fine;
        Self {
            first: output.from.is_none(),
            last: paths.is_end(output.to),
            link,
            contending: rounded(contending, Self::PARTS[0]),
            different: rounded(different, Self::PARTS[1]),
            // hardly ever are more than three of them there
            others: others.min(3.0),
        }
    }

    /// For means alone: first ones without and with contention, later channels, and ejection links at
    /// which more than about one half of the traffic contends, or less.
    pub(super) fn coarsely(self) -> Self {
        let f = self.crossing().contending;
        let contending = f64::from(u8::from(f > 0.3) + u8::from(self.last && f > 0.6));
        Self { contending, different: 0.0, others: 0.0, ..self }
    }

    pub(super) fn crossing(self) -> Crossing {
        let [contending, different] = Self::PARTS;
        Crossing {
            contending: self.contending / contending,
            different: self.different / different,
            others: self.others,
        }
    }
}

/// All stations of a class.
pub(super) struct Stations {
    channels: usize,
    outputs: usize,
    pub(super) known: Vec<(OutputKind, Station)>,
    /// Which of them an output is, by the channel it is reached from and its own.
    pub(super) places: Vec<usize>,
}

impl Stations {
    pub(super) fn new(paths: &Paths) -> Self {
        let (channels, outputs) = (paths.channels.len(), paths.links().count());
        Self { channels, outputs, known: Vec::new(), places: vec![0; (channels + 1) * outputs] }
    }

    pub(super) fn index(&self, Output { from, to }: Output) -> usize {
        let from = from.map_or(self.channels, |channel| channel as usize);
        from * self.outputs + to as usize
    }

    pub(super) fn place(&self, output: Output) -> usize {
        self.places[self.index(output)]
    }

    /// How often each of the stations is met on a way over these outputs.
    pub(super) fn shares(&self, outputs: &[(f64, Output)]) -> Vec<(f64, usize)> {
        let mut shares = vec![0.0; self.known.len()];
        for (share, output) in outputs {
            shares[self.place(*output)] += share;
        }
        shares.into_iter().zip(0..).filter(|(share, _)| *share > 0.0).collect()
    }

    /// A mean over stations that are met so often.
    pub(super) fn mean(&self, shares: &[(f64, usize)], what: impl Fn(&Station) -> f64) -> f64 {
        shares.iter().map(|(share, at)| share * what(&self.known[*at].1)).sum()
    }
}

impl OneClass<'_> {
    /// The outputs of first routers: of messages that cross channels, and of those that stay.
    pub(super) fn entering_outputs(&self) -> Outputs {
        let each = |sender: &Sender| {
            let share = sender.share;
            sender.outputs.iter().map(move |one| (share, *one)).collect::<Vec<_>>()
        };
        match self.paths.senders.as_slice() {
            [all] => all.outputs.clone(),
            several => merged(several.iter().flat_map(each)),
        }
    }

    /// First channels of all messages, their later channels, or their ejection links.
    pub(super) fn outputs(&self, first: bool, last: bool) -> &[(f64, Output)] {
        match (first, last) {
            (true, _) => self.paths.first(),
            (_, true) => self.paths.last(),
            _ => self.paths.middle(),
        }
    }

    /// The outputs that are taken to be alike.
    pub(super) fn like(&self, output: Output) -> OutputKind {
        let like = OutputKind::new(self.paths, self.kinds.of(output.to), output);
        if self.laws { like } else { like.coarsely() }
    }

    /// Outputs that are alike, and how often messages meet each of them there.
    fn alike(&self, like: OutputKind) -> Vec<(f64, Output)> {
        let outputs = if like.first && like.last {
            self.entering_outputs()
        } else {
            self.outputs(like.first, like.last).to_vec()
        };
        let mut alike: Vec<(f64, Output)> =
            outputs.into_iter().filter(|(_, output)| self.like(*output) == like).collect();
        let all: f64 = alike.iter().map(|(share, _)| share).sum();
        alike.iter_mut().for_each(|(share, _)| *share /= all);
        alike
    }

    /// Every kind of output on the paths. For means alone they are as the outputs that are alike are on average, and
    /// what is known of first outputs and of typical later ones is made use of.
    pub(super) fn stations(
        &self,
        entering: &ArrivalGaps,
        gaps: f64,
        held: &Blocking,
        first: &OutputDelays,
        middle: Option<(LinkEnvironment, OutputDelays)>,
    ) -> Result<Stations, Overload> {
        let arriving_later = self.arriving(gaps);
        let mut stations = Stations::new(self.paths);
        let mut arounds: Vec<((bool, usize, f64), LinkEnvironment)> = Vec::new();
        let mut starts = [None, None];
        if !self.laws {
            starts[0] = Some(&first.waits);
            if let Some((environment, met)) = &middle {
                starts[1] = Some(&met.waits);
                arounds.push(((false, self.kind_of(self.outputs(false, false)), 1.0), environment.clone()));
            }
        }
        for output in self.paths.all.iter().copied() {
            let like = self.like(output);
            let (at, known) = (stations.index(output), &mut stations.known);
            let place = known.iter().position(|(known, _)| *known == like);
            stations.places[at] = place.unwrap_or(known.len());
            if place.is_some() {
                continue;
            }
            let alike = if self.laws { vec![(1.0, output)] } else { self.alike(like) };
            let crossing = if self.laws { like.crossing() } else { self.paths.mean(&alike) };
            let key = (like.first && !self.laws, like.link, like.contending);
            let environment = match arounds.iter().find(|(known, _)| *known == key) {
                Some((_, environment)) => environment.clone(),
                None => {
                    let environment = self.environment(like.link, crossing);
                    arounds.push((key, environment.clone()));
                    environment
                }
            };
            let arriving = if like.first { entering } else { &arriving_later };
            let gaps = if like.first { self.gaps[0].mean() } else { gaps };
            let contended = self.contended(&alike, &environment, gaps, held);
            let queues = self.queues(like.last, crossing, &environment, &contended);
            let before =
                known.iter().rfind(|(known, _)| (known.first, known.last) == (like.first, like.last));
            let known_of = if like.last { None } else { starts[usize::from(!like.first)] };
            let start = before.map(|(_, station)| &station.met.waits).or(known_of);
            let start = start.map_or_else(|| queues.start(), Waits::clone);
            let met = self.meet(&queues, arriving, start).map_err(|over| over.at(like.last))?;
            let own = self.own_waits(&environment, &contended, &met);
            let own_on_link = self.link_waits(&contended, &own);
            let (held, interrupted) = (contended.held(), Law::zero());
            known.push((like, Station { met, environment, own, own_on_link, interrupted, held }));
        }
        Ok(stations)
    }

    /// `I = K_f^(M - m) K^m`: others interrupt the `m` flits that lag at full rate, the rest as far as they come over
    /// other inputs.
    pub(super) fn interrupt(&self, stations: &mut Stations, in_channel: &[ChannelWait]) {
        let wait =
            in_channel.iter().map(|channel| channel.mean).sum::<f64>() / in_channel.len().max(1) as f64;
        for (like, station) in &mut stations.known {
            let LinkEnvironment { set_up, in_step, lagging, .. } = &station.environment;
            let wait = if like.first { 0.0 } else { wait };
            let late = (station.met.own.mean() + wait + set_up.mean()).min(self.shape.message);
            station.interrupted = self.grid.law(product(
                &in_step.over(self.grid, self.shape.message - late),
                &lagging.over(self.grid, late),
            ));
        }
    }
}
