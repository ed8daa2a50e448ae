//! `[measure]`: what is measured of a run, and how long it is.
//!
//! A run of sources that begin or end, or of a given length, is *terminating*: it begins empty, is measured from its
//! first cycle to its end, and only its replications say how well its means are known.

use super::class::MAX_TIME;
use super::declare::*;
use super::{ClassKind, ClassSpec, Scenario, ScenarioSpec, Scheduler};
use crate::document::in_short;

/// Most intervals of a run whose results are told one by one.
pub(super) const MOST_BINS: f64 = 10_000.0;

table! {
    /// What is measured of a run, and how long it is.
    #[derive(Copy)]
    pub struct MeasureSpec {
        /// Messages generated before are not measured; by default as many as MSER-5 finds, none in a run with an end.
        warm_up: Option<f64> ["cycles"] = None, within(0.0, MAX_TIME).magnitude(Magnitude::Time);
        /// End of the run; wanted where the traffic of a class begins or ends.
        end: Option<f64> ["cycles"] = None, within(1.0, MAX_TIME).magnitude(Magnitude::Time);
        /// Length of the intervals for which results are told over time, too; by default there are none.
        bin: Option<f64> ["cycles"] = None, within(1.0, MAX_TIME).magnitude(Magnitude::Time);
    }
}

impl Rules for MeasureSpec {
    fn rules(&self, path: &str, door: &mut Door) {
        if let (Some(warm_up), Some(end)) = (self.warm_up, self.end)
            && warm_up >= end
        {
            let wanted = format!("less than the end, {}", in_short(end));
            door.refuse(&format!("{path}.warm_up"), in_short(warm_up), &wanted, None);
        }
        if let (Some(bin), Some(end)) = (self.bin, self.end)
            && end / bin > MOST_BINS
        {
            let wanted =
                format!("{} or more: at most {MOST_BINS} of them in a run", in_short(end / MOST_BINS));
            door.refuse(&format!("{path}.bin"), in_short(bin), &wanted, None);
        }
        if let (Some(bin), None) = (self.bin, self.end)
            && door.is_read(&format!("{path}.end"))
        {
            let help = Some("add end, or remove the line");
            door.refuse(&format!("{path}.bin"), in_short(bin), "none without an end of the run", help);
        }
    }
}

impl ScenarioSpec {
    /// Refuses a class that begins or ends in a run without an end.
    pub(super) fn run_ends(&self, door: &mut Door) {
        let has_end = self.measure.is_some_and(|measure| measure.end.is_some());
        if let Some(class) = self.classes.iter().find(|class| class.is_timed() && !has_end)
            && ["measure", "measure.end"].iter().all(|key| door.is_read(key))
        {
            let found = format!("no end, though the traffic of {} begins or ends", class.name);
            let end = if door.switch.is_some() { "\"1600 us\"" } else { "100000" };
            let help = format!("add  [measure]  with  end = {end}");
            door.refuse("measure.end", found, "an end of the run", Some(&help));
        }
    }

    /// Refuses what is not said of a trace over routers: when the run ends, and how fast real time goes.
    pub(super) fn traces_fit(&self, door: &mut Door) {
        let has_end = self.measure.is_some_and(|measure| measure.end.is_some());
        let is_timed = self.classes.iter().any(ClassSpec::is_timed);
        let is_over_routers = door.switch.is_none();
        let mut traced = self.classes.iter().filter(|class| class.is_traced() && is_over_routers);
        if let Some(class) = traced.clone().next()
            && !has_end
            && !is_timed
            && ["measure", "measure.end"].iter().all(|key| door.is_read(key))
        {
            let found = format!("no end, though the messages of {} are those of a file", class.name);
            let help = Some("add  [measure]  with  end = 100000");
            door.refuse("measure.end", found, "an end of the run", help);
        }
        let has_clocks = !matches!(self.router.scheduler, Scheduler::Fifo | Scheduler::RoundRobin);
        let is_without = |class: &&ClassSpec| class.kind == ClassKind::RealTime && class.vtick.is_none();
        if let Some(class) = traced.find(is_without).filter(|_| has_clocks) {
            let key = format!("class.{}.vtick", class.name);
            let wanted = "a Vtick of real time: nobody knows the rate of a trace before it is read";
            door.refuse(&key, "none".to_owned(), wanted, Some("write vtick = 10, cycles for a flit"));
        }
    }
}

/// A run that begins empty and has an end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Terminating {
    /// Cycles of the run.
    pub cycles: u64,
    /// Length of the intervals for which results are told over time, if they are \[cycles\].
    pub bin: Option<f64>,
}

impl Scenario {
    /// The length of a terminating run; `None` where means of a steady state are wanted.
    pub fn terminating(&self) -> Option<Terminating> {
        let MeasureSpec { warm_up, end, bin } = self.spec().measure.unwrap_or_else(MeasureSpec::unset);
        let durations = || self.spec().phases.iter().map(|phase| phase.duration).sum::<f64>();
        let of_phases =
            (!self.spec().phases.is_empty()).then(|| (warm_up.unwrap_or(0.0) + durations()) * (1.0 - 1e-12));
        Some(Terminating { cycles: end.or(of_phases)?.ceil() as u64, bin })
    }

    /// Cycles at the start in which messages are generated that are not measured, if that is given.
    pub fn warm_up_cycles(&self) -> Option<u64> {
        let given = self.spec().measure.and_then(|measure| measure.warm_up);
        given.map(|cycles| cycles.ceil() as u64).or_else(|| self.terminating().map(|_| 0))
    }

    /// The cycles in which messages that wait at their sources are taken back, and their classes, in order.
    pub fn withdrawals(&self) -> Vec<(u64, usize)> {
        let classes = self.classes().iter().map(ClassSpec::withdrawn_in).enumerate();
        let mut ends: Vec<(u64, usize)> =
            classes.filter_map(|(class, end)| end.map(|cycle| (cycle, class))).collect();
        ends.sort_unstable();
        ends
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(measure: &str, class: &str) -> Vec<String> {
        let text = format!(
            "[network]\ntopology = \"router\"\nports = 4\n[measure]\n{measure}\n[[class]]\nname = \"a\"\n\
             kind = \"best-effort\"\nrate = 0.01\n{class}\n"
        );
        let read = Scenario::from_toml("t", &text).err().unwrap_or_default();
        read.iter().map(|fault| format!("{}: {}, {}", fault.key, fault.found, fault.wanted)).collect()
    }

    #[test]
    fn a_run_in_which_traffic_begins_or_ends_has_an_end() {
        assert!(faults("end = 9000\nbin = \"500 cycles\"", "start = 100\nend = 500.5").is_empty());
        assert!(faults("warm_up = 100", "").is_empty());
        let wanted = "measure.end: no end, though the traffic of a begins or ends, an end of the run";
        assert_eq!(faults("", "start = 1"), [wanted]);
        assert_eq!(faults("warm_up = 100", "end = 1"), [wanted]);
        let told = faults("warm_up = 50\nbin = 10", "end_of_traffic = \"drain\"");
        assert_eq!(
            told,
            [
                "measure.bin: 10, none without an end of the run",
                "class.a.end_of_traffic: \"drain\", none without an end of the traffic",
            ]
        );
        let told = faults("warm_up = 50\nend = 50\nbin = 0.5", "start = 5\nend = 5");
        assert_eq!(
            told,
            [
                "measure.warm_up: 50, less than the end, 50",
                "measure.bin: 0.5, 1 to 1e12 cycles",
                "class.a.end: 5, more than the start, 5",
            ]
        );
    }

    #[test]
    fn nothing_is_said_of_what_could_not_be_read() {
        let told =
            faults("end = \"soon\"\nbin = 10", "start = \"later\"\nend = 0\nnodes = \"x\"\ndestination = 1");
        let keys: Vec<&str> = told.iter().filter_map(|fault| fault.split(':').next()).collect();
        assert_eq!(keys, ["measure.end", "class.a.start", "class.a.nodes"]);
    }

    #[test]
    fn classes_and_runs_know_their_times() {
        let text = "[network]\ntopology = \"router\"\nports = 4\n[measure]\nend = 99.5\n[[class]]\nname = \"a\"\n\
                    kind = \"real-time\"\nrate = 0.01\nend = 40.2\n[[class]]\nname = \"b\"\n\
                    kind = \"real-time\"\nrate = 0.01\nend = 9\nend_of_traffic = \"drain\"\n";
        let scenario = Scenario::from_toml("t", text).unwrap();
        assert_eq!(scenario.terminating(), Some(Terminating { cycles: 100, bin: None }));
        assert_eq!((scenario.warm_up_cycles(), scenario.withdrawals()), (Some(0), vec![(41, 0)]));
        let written = scenario.spec().to_toml();
        assert_eq!(Scenario::from_toml("t", &written).unwrap(), scenario, "{written}");
    }
}
