//! `[circuits]`: how circuits are set up, where streams of frames own lanes on their whole way.

use super::class::{MAX_TIME, MAX_VIRTUAL_CHANNELS, labels};
use super::declare::*;
use super::{ClassSpec, Placement, RouterSpec, Scenario, ScenarioSpec, Scheduler, Switching, VcChoice};
use crate::document::in_short;

table! {
    /// How circuits are set up, with pipelined circuit switching.
    #[derive(Copy)]
    pub struct CircuitsSpec {
        /// Attempts of a stream at most; each draws a destination and a virtual channel there.
        attempts_per_stream: u32 ["attempts"] = 100_000, within(1.0, 1e6);
        /// Virtual channels of a port that attempts draw from, the first of their class; by default all of it.
        #[serde(skip_serializing_if = "Option::is_none")]
        pool: Option<u32> ["virtual channels"] = None, within(1.0, MAX_VIRTUAL_CHANNELS as f64);
        /// Cycles that the clock of a circuit advances per flit.
        vtick: CircuitVtick = CircuitVtick::Mean;
        /// Circuits that a node asks for, one after another, where they come and go; by default every stream asks for
        /// one, and keeps it.
        #[serde(skip_serializing_if = "Option::is_none")]
        attempts: Option<f64> ["circuits/cycle/node"] = None, within(1e-15, 1.0).magnitude(Magnitude::Rate);
        /// Mean time that a circuit stands, where they come and go (exponential).
        #[serde(skip_serializing_if = "Option::is_none")]
        holding: Option<f64> ["cycles"] = None, within(1.0, MAX_TIME).magnitude(Magnitude::Time);
        /// Attempts that follow at once where one is dropped, where circuits come and go.
        retries: u32 ["attempts"] = 0, within(0.0, 100.0);
    }
}

words! {
    /// Cycles that the clock of a circuit advances per flit.
    pub enum CircuitVtick {
        /// `T` over the mean length of a frame; the clock never restarts.
        Mean "mean",
        /// `T` over that length and two deviations; the clock never restarts.
        Peak "peak",
        /// `T` over the length of each frame; the clock restarts with every message.
        Frame "frame",
    }
}

impl Rules for CircuitsSpec {
    fn rules(&self, path: &str, door: &mut Door) {
        let both = [("attempts", self.attempts), ("holding", self.holding)];
        for ((key, _), (other, given)) in both.iter().zip(both.iter().rev()) {
            let is_missing = both.iter().any(|(one, value)| one == key && value.is_none());
            if let (true, Some(given)) = (is_missing && door.is_read(&format!("{path}.{key}")), given) {
                let help = format!("add {key}, or remove {other}");
                let wanted = format!("{key} beside it: circuits come and go with both");
                door.refuse(&format!("{path}.{other}"), in_short(*given), &wanted, Some(&help));
            }
        }
        let fixed = CircuitsSpec::unset();
        if self.is_dynamic() && self.attempts_per_stream != fixed.attempts_per_stream {
            let wanted = "retries: circuits that come and go have no streams";
            let found = self.attempts_per_stream.to_string();
            door.refuse(&format!("{path}.attempts_per_stream"), found, wanted, Some("remove the line"));
        }
        if !self.is_dynamic() && self.retries > 0 && self.holding.is_none() {
            let wanted = "none without attempts and holding";
            let help = Some("streams try anew up to attempts_per_stream");
            door.refuse(&format!("{path}.retries"), self.retries.to_string(), wanted, help);
        }
    }
}

impl CircuitsSpec {
    /// Whether circuits come and go.
    pub fn is_dynamic(&self) -> bool {
        self.attempts.is_some()
    }
}

impl ScenarioSpec {
    /// Whether circuits come and go, so that there are no streams.
    pub(super) fn has_coming_circuits(&self) -> bool {
        self.router.switching == Switching::PipelinedCircuit
            && self.circuits.is_some_and(|circuits| circuits.is_dynamic())
    }

    /// Refuses what circuits do not know, and their table where there are none.
    pub(super) fn circuit_rules(&self, door: &mut Door) {
        if self.router.switching == Switching::Wormhole {
            if self.circuits.is_some() && door.is_read("router.switching") {
                let wanted = "no [circuits] without circuits";
                let help =
                    Some("write switching = \"pipelined-circuit\" under [router], or remove the table");
                door.refuse("circuits", "a table with switching = \"wormhole\"".to_owned(), wanted, help);
            }
            return;
        }
        self.router_of_circuits(door);
        if let Some(network) = door.read_network().filter(|network| network.parallel_links() > 1) {
            let found = network.parallel_links().to_string();
            door.refuse("network.links", found, "1: circuits know one link between two routers", None);
        }
        let names: Vec<&str> = self.classes.iter().map(|class| class.name.as_str()).collect();
        let mut senders = 0;
        for (class, label) in self.classes.iter().zip(labels(&names)) {
            self.class_of_circuits(class, &label, &mut senders, door);
        }
    }

    fn router_of_circuits(&self, door: &mut Door) {
        let RouterSpec { scheduler, vc_choice, .. } = self.router;
        if scheduler != Scheduler::FineGrainedVirtualClock && door.is_read("router.scheduler") {
            let wanted = "\"fine-grained-virtual-clock\": a circuit has a clock of its own";
            door.refuse("router.scheduler", format!("\"{}\"", scheduler.word()), wanted, None);
        }
        if vc_choice == VcChoice::DrawnInput {
            let wanted = "\"drawn\" or \"free\": an attempt draws the virtual channel at the destination";
            door.refuse("router.vc_choice", format!("\"{}\"", vc_choice.word()), wanted, None);
        }
    }

    fn class_of_circuits(&self, class: &ClassSpec, label: &str, senders: &mut u32, door: &mut Door) {
        let Some(frames) = class.source.of_frames() else {
            let sends = class.rate > 0.0
                || class.load.is_some_and(|load| load > 0.0)
                || class.share.is_some_and(|share| share > 0.0);
            if sends && door.is_read(&format!("{label}.source")) {
                let wanted = "cbr, vbr or mpeg2: circuits carry streams of frames";
                door.refuse(
                    &format!("{label}.source.kind"),
                    format!("\"{}\"", class.source.word()),
                    wanted,
                    None,
                );
            }
            return;
        };
        *senders += 1;
        let circuits = self.circuits.unwrap_or(CircuitsSpec::unset());
        if let Some(pool) = circuits.pool.filter(|pool| *pool > class.virtual_channels) {
            let wanted = format!("at most {}, the virtual channels of {label}", class.virtual_channels);
            door.refuse("circuits.pool", pool.to_string(), &wanted, None);
        }
        if frames.placement == Placement::Balanced {
            let wanted = "\"uniform\" or \"capped\": attempts draw destinations";
            door.refuse(&format!("{label}.source.placement"), "\"balanced\"".to_owned(), wanted, None);
        }
        if frames.header_flits > 1 {
            let wanted = "none: messages on circuits have no headers";
            door.refuse(
                &format!("{label}.source.header_flits"),
                frames.header_flits.to_string(),
                wanted,
                Some("remove the line"),
            );
        }
        let streams = frames.streams.unwrap_or(0);
        if self.has_coming_circuits() {
            let found = [("source.streams", f64::from(streams)), ("load", class.load.unwrap_or(0.0))];
            for (key, found) in found.into_iter().filter(|(_, found)| *found > 0.0) {
                let wanted = "none: circuits come at the rate circuits.attempts";
                door.refuse(&format!("{label}.{key}"), in_short(found), wanted, Some("remove the line"));
            }
            if *senders > 1 {
                door.refuse(
                    label,
                    "a second class of circuits".to_owned(),
                    "one where circuits come and go",
                    None,
                );
            }
        } else if streams > class.virtual_channels {
            let wanted =
                format!("at most {}: a stream has a virtual channel of its own", class.virtual_channels);
            let help = Some("give the class more virtual channels");
            door.refuse(&format!("{label}.source.streams"), streams.to_string(), &wanted, help);
        }
    }
}

impl Scenario {
    /// How circuits are set up; `None` where packets find their way alone.
    pub fn circuits(&self) -> Option<CircuitsSpec> {
        let is_circuit = self.router().switching == Switching::PipelinedCircuit;
        is_circuit.then(|| self.spec().circuits.unwrap_or(CircuitsSpec::unset()))
    }

    /// What a router does with flits of messages: on circuits, stages of routing and arbitration are passed by, so that
    /// three are left; a lane belongs to a circuit, so that its clock is that of the circuit.
    pub fn data_router(&self) -> RouterSpec {
        let Some(circuits) = self.circuits() else { return self.router() };
        let scheduler = match circuits.vtick {
            CircuitVtick::Frame => Scheduler::FineGrainedVirtualClock,
            CircuitVtick::Mean | CircuitVtick::Peak => Scheduler::VirtualClockPersistent,
        };
        RouterSpec { pipeline_stages: 3, vc_choice: VcChoice::Drawn, scheduler, ..self.router() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(router: &str, circuits: &str, class: &str) -> Result<Scenario, Vec<String>> {
        let text = format!(
            "[units]\nlink = \"100 Mbps\"\nflit_bits = 32\n[network]\ntopology = \"router\"\nports = 8\n[router]\n\
             scheduler = \"fine-grained-virtual-clock\"\n{router}\n[circuits]\n{circuits}\n[[class]]\n\
             name = \"video\"\n\
             kind = \"real-time\"\nvirtual_channels = 24\nmessage_flits = 20\nsource = {{ kind = \"vbr\", frame = \
             \"16666 B\", frame_interval = \"33 ms\", {class} }}\n"
        );
        let read = Scenario::from_toml("t", &text);
        read.map_err(|faults| faults.iter().map(|fault| format!("{}: {}", fault.key, fault.wanted)).collect())
    }

    const PCS: &str = "switching = \"pipelined-circuit\"";

    #[test]
    fn circuits_carry_frames_without_headers() {
        let scenario = read(PCS, "pool = 12\nvtick = \"frame\"", "streams = 9").unwrap();
        assert_eq!(scenario.circuits().map(|circuits| circuits.pool), Some(Some(12)));
        let frames = scenario.frames(0).unwrap();
        assert_eq!((frames.header_flits, frames.payload(), frames.messages(4167)), (0, 20, 209));
        assert_eq!(scenario.data_router().pipeline_stages, 3);
        let written = scenario.spec().to_toml();
        assert_eq!(Scenario::from_toml("t", &written).unwrap(), scenario, "{written}");
    }

    #[test]
    fn circuits_that_come_and_go_have_no_streams() {
        let coming = "attempts = \"0.02 /s\"\nholding = \"60 s\"\nretries = 3";
        let scenario = read(PCS, coming, "stream = 0.04").unwrap();
        let circuits = scenario.circuits().unwrap();
        let traffic = circuits.attempts.unwrap() * circuits.holding.unwrap();
        assert!(circuits.is_dynamic() && (traffic - 1.2).abs() < 1e-9, "{circuits:?}");
        assert_eq!(scenario.frames(0).unwrap().streams, 0);
    }

    #[test]
    fn what_circuits_do_not_know_is_refused_all_at_once() {
        let faults = |router: &str, circuits: &str, class: &str| read(router, circuits, class).unwrap_err();
        assert_eq!(faults("", "pool = 3", "streams = 3"), ["circuits: no [circuits] without circuits"]);
        let keys = |faults: Vec<String>| -> Vec<String> {
            faults.iter().filter_map(|fault| fault.split(": ").next().map(str::to_owned)).collect()
        };
        let router = format!("{PCS}\nvc_choice = \"drawn-input\"");
        let found = faults(
            &router,
            "pool = 30\nretries = 2",
            "streams = 25, placement = \"balanced\", header_flits = 2",
        );
        let expected = [
            "router.vc_choice",
            "circuits.pool",
            "circuits.retries",
            "class.video.source.streams",
            "class.video.source.placement",
            "class.video.source.header_flits",
        ];
        assert_eq!(keys(found), expected);
        let found = faults(PCS, "attempts = 1e-6\nattempts_per_stream = 5", "streams = 2");
        assert_eq!(
            keys(found),
            ["circuits.attempts", "circuits.attempts_per_stream", "class.video.source.streams"]
        );
        assert_eq!(keys(faults(PCS, "holding = 9", "streams = 2")), ["circuits.holding"]);
    }
}
