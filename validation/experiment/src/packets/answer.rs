//! The answer of a run of packet switches: quantities of classes, and sections on phases, the dip, memories and time.

use flitwise_language::quantity::{Means, Percentiles, Quantity};
use flitwise_language::scenario::{ClassSpec, Organisation, Scenario};
use flitwise_language::section::{Cell, Layout, Measurement, Section, Sections};

use super::{Bin, Counts, PacketSeries, Problem, Sample, StageLoad, Stretch, TrafficCounts};
use crate::Settings;
use crate::answer::{ClassSimulation, Estimate, Run, Simulation, StoppedBy, WarmUpKind, physical};
use crate::statistics::{Batch, mean_of};

/// Unit of throughput on a page.
const RATE: &str = "bytes/ns";
/// Share of the throughput before at which a dip is over.
const RECOVERED: f64 = 0.98;

/// How a run went, beside its samples.
pub(super) struct Circumstances<'s> {
    pub(super) settings: &'s Settings,
    /// Replications that were wanted.
    pub(super) wanted: u32,
    pub(super) is_interrupted: bool,
    pub(super) threads: u32,
    pub(super) seconds: f64,
}

/// A ratio over replications; `None` without observations.
pub(super) fn measured(batches: impl Iterator<Item = Batch>) -> Option<Measurement> {
    let replications: Vec<Vec<Batch>> = batches.map(|batch| vec![batch]).collect();
    mean_of(&replications).map(|mean| Measurement { mean: mean.mean, half_width_95: mean.half_width_95 })
}

/// A mean of one number of each replication.
fn mean(values: impl Iterator<Item = f64>) -> Option<Measurement> {
    measured(values.map(|sum| Batch { count: 1, sum }))
}

/// Packets of a class by replication in a part of a run, of so many ticks.
struct Deliveries<'s> {
    ticks: u64,
    counts: Vec<&'s [u64]>,
}

impl Problem<'_> {
    fn bytes_per_ns(&self, packets: u64, ticks: u64) -> f64 {
        packets as f64 * self.packet / (ticks.max(1) as f64 * self.tick_ns)
    }

    fn us(&self, ticks: u64) -> f64 {
        // whole picoseconds: a tick may be a third of a nanosecond
        (ticks as f64 * self.tick_ns * 1e3).round() / 1e6
    }

    /// Throughput of all classes, then of each.
    fn throughput(&self, delivered: &Deliveries<'_>) -> Vec<Cell> {
        let Deliveries { ticks, counts } = delivered;
        let of = |packets: &dyn Fn(&[u64]) -> u64| {
            mean(counts.iter().map(|one| self.bytes_per_ns(packets(one), *ticks))).into()
        };
        let all = [of(&|one| one.iter().sum())];
        all.into_iter().chain((0..self.traffics.len()).map(|class| of(&|one| one[class]))).collect()
    }

    /// Columns of [`Self::throughput`].
    fn with_throughput(&self, mut section: Section) -> Section {
        section = section.column("throughput_bytes_per_ns", "all", RATE);
        for class in self.scenario.classes() {
            let field = format!("throughput_of_{}_bytes_per_ns", class.name);
            section = section.column(field, class.name.clone(), RATE);
        }
        section
    }

    fn of_phase<'s>(&self, place: usize, samples: &'s [Sample]) -> Deliveries<'s> {
        let Stretch { start, end, .. } = self.phases[place];
        Deliveries { ticks: end - start, counts: samples.iter().map(|one| &*one.phases[place]).collect() }
    }

    fn phases(&self, samples: &[Sample]) -> Section {
        let section = Section::new("phases", "Throughput by phase", Layout::Rows)
            .column("phase", "phase", "")
            .column("start_us", "from", "us")
            .column("end_us", "to", "us");
        let mut section = self.with_throughput(section);
        let row = |place: usize| {
            let Stretch { name, start, end } = self.phases[place];
            let times = [start, end].map(|ticks| self.us(ticks).into());
            let throughput = self.throughput(&self.of_phase(place, samples));
            [name.into()].into_iter().chain(times).chain(throughput).collect()
        };
        section.rows = (0..self.phases.len()).map(row).collect();
        section
    }

    fn class(&self, class: usize, samples: &[Sample]) -> ClassSimulation {
        let latency = |which: usize| {
            let batches: Vec<Vec<Batch>> =
                samples.iter().map(|one| vec![one.latency[class][which]]).collect();
            let found = mean_of(&batches)?;
            Some(Estimate { mean: found.mean, half_width_95: found.half_width_95, messages: found.count })
        };
        let of_runs = |found: Option<Measurement>| {
            let Measurement { mean, half_width_95 } = found?;
            Some(Estimate { mean, half_width_95, messages: samples.len() as u64 })
        };
        let whole = self.of_phase(0, samples);
        let throughput = || mean(whole.counts.iter().map(|one| self.bytes_per_ns(one[class], whole.ticks)));
        let queues = || mean(samples.iter().map(|one| f64::from(one.counts.peak[0])));
        let means = Means::each(|quantity| match quantity {
            Quantity::NetworkLatency => latency(0),
            Quantity::Waiting => latency(1),
            Quantity::TotalLatency => latency(2),
            Quantity::Throughput => of_runs(throughput()),
            Quantity::SetAsideQueues if self.sets_queues_aside() => of_runs(queues()),
            _ => None,
        });
        let spec = &self.scenario.classes()[class];
        ClassSimulation {
            name: spec.name.clone(),
            kind: spec.kind,
            physical: physical(self.scenario, &means),
            means,
            jitter_free: None,
            frame_deadlines: Vec::new(),
            frame_offset_deviation_cycles: None,
            network_latency_deviation_cycles: None,
            waiting_deviation_cycles: None,
            fates: None,
            saturated: false,
            saturation: None,
            deadlines: Vec::new(),
            latency_percentiles_cycles: Percentiles::of(|_| None),
            hops: Vec::new(),
        }
    }

    /// Packets of traffic that is there from the start.
    fn steady(&self, counts: &[u64]) -> u64 {
        let steady = counts.iter().enumerate().filter(|(class, _)| !self.is_hot(*class));
        steady.map(|(_, count)| count).sum()
    }

    /// What a hot spot does to the traffic that is there from the start; `None` without one.
    fn summary(&self, samples: &[Sample]) -> Option<Section> {
        let (start, end) = self.hot?;
        if (0..self.traffics.len()).all(|class| self.is_hot(class)) {
            return None;
        }
        let phase = |name: &str| {
            let place = self.phases.iter().position(|phase| phase.name == name)?;
            let ticks = self.phases[place].end - self.phases[place].start;
            mean(samples.iter().map(|one| self.bytes_per_ns(self.steady(&one.phases[place]), ticks)))
        };
        let dips: Vec<Dip> = samples.iter().filter_map(|one| self.dip(one, start, end)).collect();
        let of = |value: &dyn Fn(&Dip) -> f64| mean(dips.iter().map(value));
        let shares = dips.iter().filter(|dip| dip.before > 0.0).map(|dip| dip.floor / dip.before);
        let recoveries: Vec<f64> = dips.iter().filter_map(|dip| dip.recovery_us).collect();
        let recovered = recoveries.len() as u64;
        // a mean over those alone that recover would be too short
        let recovery = (recoveries.len() == dips.len()).then(|| mean(recoveries.into_iter())).flatten();
        let field = |name: &str| format!("{name}_bytes_per_ns");
        let title = "Traffic from the start, around the traffic that begins later";
        let section = Section::new("hot_spot", title, Layout::Record)
            .with(field("before"), "throughput before", RATE, phase("before"))
            .with(field("in"), "throughput in the hot spot", RATE, phase("during"))
            .with(field("after"), "throughput after it", RATE, phase("after"))
            .with(field("floor"), "lowest interval from its start on", RATE, of(&|dip| dip.floor))
            .with("floor_share_of_before", "the same over that before", "", mean(shares))
            .with(field("dip_depth"), "depth of the dip", RATE, of(&|dip| dip.before - dip.floor))
            .with("dip_area_bytes", "area of the dip", "bytes", of(&|dip| dip.area))
            .with("recovery_us", "recovery after its end", "us", recovery)
            .with("recovered_replications", "replications that recover", "", recovered);
        Some(section)
    }

    /// The dip of one replication, in whole intervals.
    fn dip(&self, sample: &Sample, start: u64, end: u64) -> Option<Dip> {
        let place = self.phases.iter().position(|phase| phase.name == "before")?;
        let ticks = self.phases[place].end - self.phases[place].start;
        let before = self.bytes_per_ns(self.steady(&sample.phases[place]), ticks);
        let whole = sample.bins.iter().filter(|bin| bin.start >= start && bin.start + self.bin <= self.end);
        let level = |bin: &Bin| self.bytes_per_ns(self.steady(&bin.delivered), self.bin);
        let levels: Vec<(u64, f64)> = whole.map(|bin| (bin.start, level(bin))).collect();
        let floor = levels.iter().map(|(_, level)| *level).reduce(f64::min)?;
        let length_ns = self.bin as f64 * self.tick_ns;
        let area = levels.iter().map(|(_, level)| (before - level).max(0.0) * length_ns).sum();
        let low = levels.iter().rposition(|(_, level)| *level < RECOVERED * before);
        let back = levels.get(low.map_or(0, |low| low + 1)).map(|(start, _)| *start);
        let recovery_us = back.map(|back| self.us(back.saturating_sub(end)));
        Some(Dip { before, floor, area, recovery_us })
    }

    /// Interval by interval: throughput, latency, queues set aside, and what memories hold at its end.
    fn over_time(&self, samples: &[Sample]) -> Section {
        let section = Section::new("over_time", "Over time", Layout::Series).column("start_us", "from", "us");
        let mut section = self.with_throughput(section).column("latency_ns", "latency", "ns");
        if self.sets_queues_aside() {
            section = section
                .peak("set_aside_queues", "queues", "")
                .peak("set_aside_queues_ingress_port", "ingress", "")
                .peak("set_aside_queues_egress_port", "egress", "");
        }
        let bins = samples.first().map_or(&[][..], |one| &one.bins);
        let row = |(place, bin): (usize, &Bin)| {
            let ticks = (bin.start + self.bin).min(self.end) - bin.start;
            let counts = samples.iter().map(|one| &*one.bins[place].delivered).collect();
            let latency = samples.iter().map(|one| {
                let bin = &one.bins[place];
                Batch { count: bin.delivered.iter().sum(), sum: bin.latency as f64 * self.tick_ns }
            });
            let lines =
                |which: usize| mean(samples.iter().map(|one| f64::from(one.bins[place].lines[which])));
            let lines = (0..3).filter(|_| self.sets_queues_aside()).map(|which| lines(which).into());
            let start = [self.us(bin.start).into()].into_iter();
            let throughput = self.throughput(&Deliveries { ticks, counts });
            start.chain(throughput).chain([measured(latency).into()]).chain(lines).collect()
        };
        section.rows = bins.iter().enumerate().map(row).collect();
        section
    }

    /// Bytes in memories at the end of each interval, by stage and side.
    fn queued(&self, samples: &[Sample]) -> Section {
        let mut section =
            Section::new("queued", "Bytes in memories", Layout::Series).column("end_us", "at", "us");
        let bins = samples.first().map_or(&[][..], |one| &one.bins);
        let places = bins.first().map_or(0, |bin| bin.queued.len());
        for place in 0..places {
            if place + 1 == places {
                section = section.column("injection_bytes", "injection", "bytes");
            } else {
                section = section
                    .column(format!("stage_{place}_ingress_bytes"), format!("{place} in"), "bytes")
                    .column(format!("stage_{place}_egress_bytes"), format!("{place} out"), "bytes");
            }
        }
        let row = |(at, bin): (usize, &Bin)| {
            let held = |place: usize, side: usize| {
                mean(samples.iter().map(|one| f64::from(one.bins[at].queued[place][side]) * self.packet))
                    .into()
            };
            let stages = (0..places.saturating_sub(1)).flat_map(|place| [held(place, 0), held(place, 1)]);
            let injection = (places > 0).then(|| held(places - 1, 1));
            let end = self.us((bin.start + self.bin).min(self.end));
            [end.into()].into_iter().chain(stages).chain(injection).collect()
        };
        section.rows = bins.iter().enumerate().map(row).collect();
        section
    }

    fn set_aside(&self, samples: &[Sample]) -> Option<Section> {
        self.sets_queues_aside().then_some(())?;
        let mut section = Section::new("set_aside_queues", "Set-aside queues in use at a time", Layout::Rows)
            .column("place", "place", "")
            .column("peak", "peak, mean", "")
            .column("peak_most", "peak, most", "");
        let row = |(which, place): (usize, &str)| {
            let peaks = samples.iter().map(|one| one.counts.peak[which]);
            vec![place.into(), mean(peaks.clone().map(f64::from)).into(), peaks.max().into()]
        };
        let places = ["whole network", "fullest ingress port", "fullest egress port"];
        section.rows = places.into_iter().enumerate().map(row).collect();
        Some(section)
    }

    fn sets_queues_aside(&self) -> bool {
        self.scenario.switch().is_some_and(|switch| switch.organisation == Organisation::Recn)
    }

    /// What became of the packets of all replications, what was offered, and what of it stayed behind.
    fn packets(&self, samples: &[Sample]) -> Section {
        let sum = |of: fn(&Counts) -> u64| samples.iter().map(|one| of(&one.counts)).sum::<u64>();
        let unfinished = |counts: &Counts| {
            counts.generated.saturating_sub(counts.delivered + counts.withdrawn + counts.refused)
        };
        let offered = samples.iter().map(|one| self.bytes_per_ns(one.counts.generated, self.end));
        let backlog = samples.iter().map(|one| unfinished(&one.counts) as f64 * self.packet);
        let section = Section::new("packets", "Packets of all replications", Layout::Record)
            .with("generated", "generated", "", sum(|one| one.generated))
            .with("delivered", "delivered", "", sum(|one| one.delivered))
            .with("withdrawn", "withdrawn", "", sum(|one| one.withdrawn))
            .with("refused", "refused", "", sum(|one| one.refused))
            .with(
                "unfinished",
                "unfinished",
                "",
                samples.iter().map(|one| unfinished(&one.counts)).sum::<u64>(),
            )
            .with("out_of_order", "out of order", "", sum(|one| one.out_of_order))
            .with("link_hops", "sent on links", "", sum(|one| one.hops))
            .with("control_packets", "control packets", "", sum(|one| one.control_packets))
            .with("offered_bytes_per_ns", "offered", RATE, mean(offered))
            .with("backlog_bytes", "backlog at the end of a run", "bytes", mean(backlog));
        if !self.sets_queues_aside() {
            return section;
        }
        section
            .with("queues_allocated", "queues set aside", "", sum(|one| one.allocated))
            .with("queues_released_unused", "of them never used", "", sum(|one| one.released_unused))
            .with("queues_refused", "notifications that found none free", "", sum(|one| one.refusals))
    }

    /// What became of the packets of each class, in a run from its start to its end.
    fn traffic(&self, samples: &[Sample]) -> Section {
        let mut section = Section::new("traffic", "Traffic in a run", Layout::Rows)
            .column("class", "class", "")
            .column("offered_bytes_per_ns", "offered", RATE)
            .column("delivered_bytes_per_ns", "delivered", RATE)
            .column("refused_bytes_per_ns", "refused", RATE)
            .column("withdrawn_bytes_per_ns", "withdrawn", RATE)
            .column("backlog_bytes", "backlog at the end", "bytes");
        let row = |(class, spec): (usize, &ClassSpec)| {
            let rate = |of: fn(&TrafficCounts) -> u64| {
                mean(samples.iter().map(|one| self.bytes_per_ns(of(&one.traffics[class]), self.end))).into()
            };
            let backlog = samples.iter().map(|one| one.traffics[class].backlog() as f64 * self.packet);
            vec![
                spec.name.as_str().into(),
                rate(|one| one.generated),
                rate(|one| one.delivered),
                rate(|one| one.refused),
                rate(|one| one.withdrawn),
                mean(backlog).into(),
            ]
        };
        section.rows = self.scenario.classes().iter().enumerate().map(row).collect();
        section
    }

    /// Shares of the time of a run in which links send data, and control packets.
    fn links(&self, samples: &[Sample]) -> Section {
        let mut section = Section::new("links", "Links by where they begin", Layout::Rows)
            .column("place", "place", "")
            .column("data_links", "links", "")
            .column("data_utilization", "data", "")
            .column("control_utilization", "control", "");
        let stages = samples.first().map_or(0, |one| one.links.len());
        let row = |place: usize| {
            let share = |packets: fn(&StageLoad) -> (u64, u32), ticks: u64| {
                let of = |one: &Sample| {
                    let (packets, links) = packets(&one.links[place]);
                    packets as f64 * ticks as f64 / (f64::from(links.max(1)) * self.end as f64)
                };
                mean(samples.iter().map(of)).into()
            };
            let network = self.scenario.topology();
            let name = if place + 1 == stages { "hosts".to_owned() } else { network.row_name(place as u32) };
            let timing = &self.fabric.timing;
            vec![
                name.as_str().into(),
                samples.first().map(|one| one.links[place].data_links).into(),
                share(|one| (one.data, one.data_links), timing.packet_link),
                share(|one| (one.control, one.links), timing.control),
            ]
        };
        section.rows = (0..stages).map(row).collect();
        section
    }

    fn run(&self, samples: &[Sample], how: &Circumstances<'_>) -> Run {
        let Circumstances { settings, wanted, is_interrupted, threads, seconds } = *how;
        let partial = samples.len() < wanted as usize;
        Run {
            seed: settings.seed,
            replications: samples.len() as u32,
            more_than_asked: false,
            batches_per_replication: 1,
            stopped_by: match (partial, is_interrupted) {
                (true, true) => StoppedBy::Interrupted,
                (true, false) => StoppedBy::MaxTime,
                (false, _) => StoppedBy::End,
            },
            partial,
            wanted_precision: settings.precision,
            reached_precision: None,
            least_precise_class: None,
            went_on_because: None,
            warmup_cycles: self.warm_up,
            warmup: WarmUpKind::Absent,
            measured_cycles: self.end - self.warm_up,
            simulated_cycles: self.end * samples.len() as u64,
            messages: samples.iter().map(|one| one.counts.delivered).sum(),
            flit_hops: 0,
            flit_hops_per_second: 0.0,
            threads,
            simulation_seconds: seconds,
            wall_seconds: seconds,
        }
    }
}

/// The dip of one replication.
struct Dip {
    /// Throughput of the traffic from the start \[bytes/ns\].
    before: f64,
    floor: f64,
    /// What is delivered less than before \[bytes\].
    area: f64,
    /// From the end of the hot spot to the first interval from which on the throughput is back.
    recovery_us: Option<f64>,
}

/// The answer to a scenario that differs from the problem's in names at most.
pub(super) fn answer(
    scenario: &Scenario,
    problem: &Problem<'_>,
    samples: &[Sample],
    how: &Circumstances<'_>,
) -> Simulation {
    let problem = Problem { scenario, ..problem.clone() };
    let sections = [
        Some(problem.phases(samples)),
        problem.summary(samples),
        problem.set_aside(samples),
        Some(problem.packets(samples)),
        Some(problem.traffic(samples)),
        Some(problem.links(samples)),
        Some(problem.over_time(samples)),
        Some(problem.queued(samples)),
    ];
    Simulation {
        scenario: scenario.spec().clone(),
        run: problem.run(samples, how),
        saturated: false,
        classes: (0..problem.traffics.len()).map(|class| problem.class(class, samples)).collect(),
        channels: Vec::new(),
        channel_details: None,
        over_time: None,
        sections: Sections(sections.into_iter().flatten().collect()),
        series: Some(Box::new(PacketSeries::of(&problem, samples.to_vec()))),
        notes: Vec::new(),
    }
}
