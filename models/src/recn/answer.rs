//! The answer: means of the classes, and what is said of uniform traffic, the hot spot and throughput over time.

use super::{Bin, HotSpotPrediction, Prediction, Problem, only_host};
use crate::answer::{Answer, ClassAnswer, Report, Saturation};
use crate::fixed_point;
use crate::model::{Failure, Model, Options};
use flitwise_language::quantity::Quantity;
use flitwise_language::scenario::{ClassSpec, Organisation, Scenario};
use flitwise_language::section::{Layout, Section, Sections};

/// Why latencies are missing.
const NOT_STEADY: &str =
    "latencies are those of uniform traffic without a hot spot; before it: section uniform";

/// What the model says of a scenario, in the quantities that all models share. A cycle is a tick.
///
/// # Errors
/// All that the scenario holds and the model has not.
pub fn solve(scenario: &Scenario, options: &Options) -> Result<Answer, Failure> {
    let problem = Problem::of(scenario)?;
    let prediction = problem.prediction();
    let classes: Vec<ClassAnswer> =
        scenario.classes().iter().map(|class| problem.class(class, &prediction, options)).collect();
    let because = problem.limited_by();
    let mut sections = vec![uniform(&prediction, because)];
    if let Some(spot) = &prediction.hot_spot {
        sections.extend([hot_spot(spot), over_time(&spot.over_time)]);
    }
    let notes = [problem.small_threshold(), problem.open_ports(), problem.chosen_ways()];
    let mut notes: Vec<String> = notes.into_iter().flatten().collect();
    if prediction.hot_spot.as_ref().is_some_and(|spot| spot.dip_length_us.is_none()) {
        notes.push("uniform traffic is not back to 98 % of its throughput by the end of the run".to_owned());
    }
    Ok(Answer {
        model: Model::Recn,
        scenario: scenario.spec().clone(),
        report: Report::new(fixed_point::Report::default(), options.details),
        saturated: classes.iter().any(|class| class.saturated),
        classes,
        validity: None,
        sections: Sections(sections),
        notes,
    })
}

impl Problem<'_> {
    /// What is full where uniform traffic saturates.
    fn limited_by(&self) -> &'static str {
        let all: Vec<u32> = (0..self.hosts()).collect();
        // where links are full as such, whatever their number and capacity
        if self.limits_of(&all, 1.0).is_of_links() || self.heads().is_none() {
            "links and their credits"
        } else {
            "crossbar inputs: heads of line, places and credits"
        }
    }

    /// Ports without a link, which have queues of their own at most.
    fn open_ports(&self) -> Option<String> {
        let (ports, joined) = (self.scenario.switch_ports(), self.network.ports());
        (ports > joined).then(|| {
            format!(
                "switch.ports: the network joins {joined} of {ports}; the others take memory of virtual output queues \
                 alone"
            )
        })
    }

    /// What choices on the way cost that stations of several servers do not have: measured with crossbars half as fast
    /// again as links, in a 4-ary 3-tree and an 8-ary 2-tree.
    fn chosen_ways(&self) -> Option<String> {
        let is_far = self.network.is_adaptive() && self.load_share().is_some_and(|share| share > 0.6);
        is_far.then(|| {
            "network.routing: above .6 of saturation adaptive-up is told too low, by 8 to 13 % at a load of .7; with \
             one queue it was simulated to saturate at .85 to .90 where .96 to .98 is told"
                .to_owned()
        })
    }

    /// A threshold that is no whole packet.
    fn small_threshold(&self) -> Option<String> {
        let (detection, packet) = (self.scenario.recn().detection, self.switch.packet);
        (self.switch.organisation == Organisation::Recn && detection < packet).then(|| {
            format!(
                "recn.detection: {detection} bytes are less than a packet of {packet}, at which switches detect; \
                 kilobytes have a unit: \"{detection} KB\""
            )
        })
    }

    fn class(&self, class: &ClassSpec, prediction: &Prediction, options: &Options) -> ClassAnswer {
        let mut answer = ClassAnswer::of(class);
        let mut lacks = |quantity: Quantity, because: &str| {
            answer.reasons.insert(quantity.field().to_owned(), because.to_owned());
        };
        let latencies = [Quantity::NetworkLatency, Quantity::Waiting, Quantity::TotalLatency];
        if class.rate <= 0.0 {
            let none = latencies.into_iter().chain([Quantity::Throughput, Quantity::SourceLoad]);
            none.for_each(|quantity| lacks(quantity, "nothing is sent"));
            return answer;
        }
        let is_hot = only_host(class).is_some();
        if is_hot || prediction.hot_spot.is_some() {
            latencies.into_iter().for_each(|quantity| lacks(quantity, NOT_STEADY));
        } else if let Some(latency) = prediction.latency_ns {
            let (total, waiting) =
                (latency / self.timing.tick_ns, prediction.waiting_ns / self.timing.tick_ns);
            answer.network_latency_cycles = Some(total - waiting);
            answer.waiting_cycles = Some(waiting);
            answer.total_latency_cycles = Some(total);
            answer.reasons.insert(Quantity::P50.field().to_owned(), "recn has means only".to_owned());
        }
        if !is_hot {
            answer.source_load = prediction.load_share_of_saturation;
            answer.saturation = self.saturation_of(class, prediction, options);
            answer.saturated = answer.saturation.is_some();
        }
        answer.throughput_bytes_per_ns = Some(self.throughput(is_hot, prediction));
        let lines = prediction.hot_spot.as_ref().and_then(|spot| spot.lines);
        answer.set_aside_queues = lines.map(f64::from);
        if lines.is_none() && self.switch.organisation == Organisation::Recn {
            let because = "uniform traffic alone fills links, so that any port may become a root";
            answer.reasons.insert(Quantity::SetAsideQueues.field().to_owned(), because.to_owned());
        }
        answer
    }

    /// Why and from where on uniform traffic has no steady state.
    fn saturation_of(
        &self,
        class: &ClassSpec,
        prediction: &Prediction,
        options: &Options,
    ) -> Option<Saturation> {
        let load = prediction.load_share_of_saturation.filter(|_| prediction.latency_ns.is_none())?;
        let bottleneck = if self.is_poisson() && load <= self.share(Some(class)) {
            "injection link"
        } else if !self.limits().is_of_links() && self.heads().is_some() {
            "crossbar inputs"
        } else {
            "links"
        };
        let because = format!("{bottleneck} are offered {load:.4} of what they carry");
        let mut saturation = Saturation::new(bottleneck, because);
        if options.saturation_loads {
            saturation.set_load(Ok(1.0 / load), class.rate * self.timing.tick_ns);
        }
        Some(saturation)
    }

    /// What is delivered of a class per time, from the end of the warm-up to that of the run \[bytes/ns\].
    ///
    /// Traffic to the hot host shares its link by what is offered, as in a queue, until what is left of the hot spot
    /// has gone; after its end that is up to a third too much for the hot class where the queue is short by then.
    fn throughput(&self, is_hot: bool, prediction: &Prediction) -> f64 {
        let Some((spot, hot)) = prediction.hot_spot.as_ref().zip(self.hot) else {
            return prediction.throughput_before_bytes_per_ns;
        };
        let hosts = f64::from(self.hosts());
        let random_to_hot = self.offered() * self.link() / (hosts - 1.0);
        let offered = self.senders(Some(hot)).len() as f64 * self.share(Some(hot)) * self.link();
        let from_us = self.scenario.measure().warm_up.unwrap_or(0.0) / 1e3;
        let start_us = hot.start_cycle() / 1e3;
        let bins = spot.over_time.iter().filter(|bin| bin.start_us >= from_us);
        let of_bin = |bin: &Bin| {
            let is_calm = bin.start_us < start_us || bin.hot_bytes_per_ns <= random_to_hot * (1.0 + 1e-6);
            let share = if is_calm { 1.0 } else { random_to_hot / (random_to_hot + offered) };
            let random = bin.hot_bytes_per_ns * share;
            if is_hot { bin.hot_bytes_per_ns - random } else { bin.random_bytes_per_ns + random }
        };
        bins.clone().map(of_bin).sum::<f64>() / bins.count().max(1) as f64
    }
}

/// Uniform traffic before and without a hot spot.
fn uniform(prediction: &Prediction, because: &str) -> Section {
    let section = Section::new("uniform", "Uniform traffic before and without a hot spot", Layout::Record)
        .with("throughput_bytes_per_ns", "throughput", "bytes/ns", prediction.throughput_before_bytes_per_ns)
        .with("lone_latency_ns", "latency of a lone packet", "ns", prediction.lone_latency_ns)
        .with("latency_ns", "mean latency", "ns", prediction.latency_ns)
        .with("saturation_load", "saturates at", "of a link", prediction.saturation_load);
    section.with("limited_by", "limited by", "", because)
}

/// What the hot spot does.
fn hot_spot(spot: &HotSpotPrediction) -> Section {
    let rate = "bytes/ns";
    Section::new("hot_spot", "Hot spot", Layout::Record)
        .with(
            "throughput_in_bytes_per_ns",
            "throughput in the hot spot",
            rate,
            spot.throughput_in_bytes_per_ns,
        )
        .with(
            "throughput_after_bytes_per_ns",
            "throughput after it",
            rate,
            spot.throughput_after_bytes_per_ns,
        )
        .with(
            "throughput_steady_bytes_per_ns",
            "throughput if it lasted",
            rate,
            spot.throughput_steady_bytes_per_ns,
        )
        .with("dip_depth_bytes_per_ns", "depth of the dip", rate, spot.dip_depth_bytes_per_ns)
        .with("dip_length_us", "length of the dip", "us", spot.dip_length_us)
        .with("set_aside_queues", "set-aside queues, all ports", "about", spot.lines)
        .with("tree_queues_most", "of the hot tree, all ports", "at most", spot.tree_lines_most)
        .with("queues_at_a_port_most", "of all trees at a port", "at most", spot.lines_at_a_port_most)
}

/// Throughput bin by bin.
fn over_time(bins: &[Bin]) -> Section {
    let mut section = Section::new("over_time", "Throughput over time", Layout::Series)
        .column("start_us", "from", "us")
        .column("throughput_bytes_per_ns", "all", "bytes/ns")
        .column("random_bytes_per_ns", "uniform", "bytes/ns")
        .column("hot_bytes_per_ns", "to the hot host", "bytes/ns");
    let row = |bin: &Bin| {
        let Bin { start_us, throughput_bytes_per_ns, random_bytes_per_ns, hot_bytes_per_ns } = *bin;
        [start_us, throughput_bytes_per_ns, random_bytes_per_ns, hot_bytes_per_ns].map(Into::into).to_vec()
    };
    section.rows = bins.iter().map(row).collect();
    section
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recn::is_of_packets;
    use flitwise_language::scenario::{Document, Place, Preset};

    fn answered(settings: &[(&str, &str)]) -> Answer {
        let mut document: Document = Preset::find("recn64-quick").unwrap().document();
        for (key, value) in settings {
            document.set(key, value, &Place::Program).unwrap();
        }
        Model::Recn.solve(&document.scenario().unwrap(), &Options::default()).unwrap()
    }

    #[test]
    fn classes_share_what_is_delivered() {
        for organisation in ["one-queue", "four-queues", "voq-switch", "voq-network", "recn"] {
            let answer = answered(&[("switch.organisation", organisation)]);
            let series = answer.sections.find("over_time").unwrap();
            let all = (0..series.rows.len())
                .map(|row| series.cell(row, "throughput_bytes_per_ns").unwrap().number().unwrap());
            let mean = all.sum::<f64>() / series.rows.len() as f64;
            let of_classes: f64 =
                answer.classes.iter().map(|class| class.throughput_bytes_per_ns.unwrap()).sum();
            assert!((of_classes - mean).abs() < 1e-9 * mean, "{organisation}: {of_classes}, not {mean}");
            assert!(!answer.saturated && answer.classes[0].network_latency_cycles.is_none());
            let bound = answer.classes[0].set_aside_queues;
            assert_eq!(bound, (organisation == "recn").then_some(160.0));
        }
    }

    #[test]
    fn latencies_are_those_of_uniform_traffic_in_ticks() {
        let calm = [("class.hot.rate", "0"), ("class.random.rate", "\"50 %\"")];
        let class = &answered(&calm).classes[0];
        assert_eq!(
            (class.waiting_cycles, class.total_latency_cycles),
            (Some(0.0), class.network_latency_cycles)
        );
        let poisson = [calm.as_slice(), &[("class.random.source.kind", "poisson")]].concat();
        let random = &answered(&poisson).classes[0];
        // half a link is a third of a crossbar that is half as fast again: 16 ticks of 8/3 ns for a transfer
        let wait = 16.0 * (1.0 / 3.0) / (2.0 * (1.0 - 1.0 / 3.0));
        assert!((random.waiting_cycles.unwrap() - wait).abs() < 1e-9);
        let more = random.total_latency_cycles.unwrap() - class.total_latency_cycles.unwrap();
        assert!((12.0..17.0).contains(&more), "M/D/1 at half load, and clusters behind it: {more}");
    }

    #[test]
    fn uniform_traffic_saturates_where_its_links_do() {
        let full = [("class.hot.rate", "0"), ("class.random.nodes", "0-63"), ("switch.crossbar_rate", "8")];
        let answer = answered(&[full.as_slice(), &[("switch.organisation", "one-queue")]].concat());
        let saturation = answer.classes[0].saturation.as_ref().unwrap();
        // links to hosts, every one of them fed by all hosts but itself
        assert!((saturation.at_load_factor.unwrap() - 0.655_242).abs() < 1e-4, "{saturation:?}");
        assert!(answer.classes[0].source_load.unwrap() > 1.0 && answer.saturated);
        assert_eq!(answered(&full).classes[1].throughput_bytes_per_ns, None);
    }

    #[test]
    fn every_scenario_of_packets_is_its_own() {
        let scenario = Preset::find("recn-san").unwrap().scenario();
        assert!(is_of_packets(&scenario) && Model::usual(&scenario) == Model::Recn);
        assert!(Model::Recn.supports(&scenario).is_err());
        let router = Preset::find("router16").unwrap().scenario();
        let refused = Model::Recn.supports(&router).unwrap_err().to_string();
        assert!(refused.starts_with("network.topology: the recn model has no"), "{refused}");
    }
}
