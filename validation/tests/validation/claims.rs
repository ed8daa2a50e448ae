//! The registry is sound, faults are found, and every kind of claim can be held, not held and undecided.

use std::collections::HashSet;

use flitwise_experiment::Settings;
use flitwise_experiment::answer::Simulation;
use flitwise_language::scenario::{Document, Fault};
use flitwise_models::model::Model;
use flitwise_validation::claims::{Claim, Judgement, Origin, Registry, Verdict};
use flitwise_validation::machine;

use crate::simulate_all;

fn no_files(name: &str) -> Result<Document, Vec<Fault>> {
    panic!("{name} is not there")
}

/// The only claim of a registry, which is what its own lines say.
fn claim(lines: &str) -> Claim {
    let head = "[[claim]]\nname = \"a\"\ntext = \"b\"\nsource = \"c\"\nexpect = \"held\"\n";
    let registry = Registry::from_toml("t", &format!("{head}{lines}"), &no_files);
    registry.unwrap_or_else(|faults| panic!("{faults:#?}")).claims.remove(0)
}

fn simulated(claim: &Claim, precision: f64) -> Vec<Simulation> {
    let settings = Settings { precision, max_messages: 200_000, ..Settings::default() };
    let outcome = simulate_all(&claim.scenarios(), &settings, None);
    outcome.simulations.into_iter().map(Option::unwrap).collect()
}

/// Judges a claim, simulated coarsely if it is about a simulation.
fn judge(lines: &str) -> Judgement {
    let claim = claim(lines);
    claim.judge(&simulated(&claim, 0.1))
}

#[track_caller]
fn assert_verdicts(cases: &[(&str, Verdict)]) {
    for (lines, verdict) in cases {
        let judgement = judge(lines);
        assert_eq!(judgement.verdict, *verdict, "{lines}\n{}", judgement.measured);
    }
}

fn faults(text: &str) -> Vec<String> {
    Registry::from_toml("t", text, &no_files).unwrap_err().iter().map(ToString::to_string).collect()
}

#[test]
fn the_built_in_registry_is_sound() {
    let registry = Registry::built_in();
    let names: HashSet<&str> = registry.claims.iter().map(|claim| claim.name.as_str()).collect();
    assert_eq!(names.len(), registry.claims.len(), "a name stands for one claim");
    for claim in &registry.claims {
        assert!(!claim.text.is_empty() && !claim.source.is_empty(), "{}", claim.name);
        let explained = claim.reason.as_ref().is_some_and(|reason| reason.len() > 20);
        assert_eq!(explained, claim.expected == Verdict::NotHeld, "{}", claim.name);
        for scenario in claim.scenarios() {
            assert_eq!(machine::supports(&scenario), Ok(()), "{}", claim.name);
        }
    }
    let kinds = |quick: bool| -> HashSet<&str> {
        let wanted = registry.claims.iter().filter(|claim| claim.quick || !quick);
        wanted.map(|claim| claim.kind.word()).collect()
    };
    assert_eq!(kinds(false).len(), 10, "every kind is in use");
    assert!(kinds(true).len() >= 6, "most kinds are in the quick subset");
}

/// Readings of the RECN paper stand in a registry of their own, which is judged when it is named; each has its row in
/// the README of the models.
#[test]
fn every_reading_has_its_row() {
    let text = include_str!("../../registry/recn-readings.toml");
    let registry = Registry::from_toml("recn-readings.toml", text, &no_files);
    let registry = registry.unwrap_or_else(|faults| panic!("{faults:#?}"));
    assert!(registry.claims.len() > 30);
    let readme = include_str!("../../../models/README.md");
    for claim in &registry.claims {
        let (_, reading) = claim.text.trim_end_matches('.').split_once(": ").unwrap();
        assert!(readme.contains(&format!("\n| {reading} |")), "{}: {reading}", claim.name);
    }
}

#[test]
fn every_figure_with_a_claim_is_in_the_registry() {
    let registry = Registry::built_in();
    let figures = "04a 04b 05 06 06x 07a 07b 07c 08 09 10 11a 11b 12a 12b 13a 13b 14a 14b";
    for figure in figures.split(' ') {
        let of_figure = format!("fig{figure}-");
        assert!(registry.claims.iter().any(|claim| claim.name.starts_with(&of_figure)), "{figure}");
    }
}

#[test]
fn the_example_of_the_readme_is_sound() {
    let readme = include_str!("../../README.md");
    let (_, rest) = readme.split_once("```toml\n[[claim]]").unwrap();
    let (example, _) = rest.split_once("```").unwrap();
    let registry = Registry::from_toml("README.md", &format!("[[claim]]{example}"), &no_files);
    assert_eq!(registry.unwrap().claims.len(), 1);
}

#[test]
fn names_are_found_whole_or_by_their_beginning() {
    let kept = |names: &[&str]| {
        let mut registry = Registry::built_in();
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        registry.keep_named(&names).map(|()| registry.claims.len())
    };
    assert_eq!(kept(&["fig04a"]), Ok(3));
    assert_eq!(kept(&["fig04a-agreement", "fig13a"]), Ok(2));
    assert_eq!(kept(&["fig04a-agreemnt"]).unwrap_err()[0].1.as_deref(), Some("fig04a-agreement"));
    let mut registry = Registry::built_in();
    assert!(!registry.join(Registry::built_in()).unwrap_err().is_empty());
}

#[test]
fn every_fault_is_reported_at_once_and_at_its_place() {
    let text = r#"[[claim]]
name = "Fig 4"
text = "a"
kind = "agreement"
scenario = { preset = "router61" }
quantity = "network-latensy"
tolerance = 5
expect = "not held"
[[claim]]
name = "b"
text = "b"
source = "c"
kind = "saturates-earlier"
scenario = { preset = "router16" }
class = "BE"
quantity = "waiting"
expect = "maybe"
x = { key = "class.R1.rate", values = [0.004, 0.002] }
"#;
    let found = faults(text);
    let expected = [
        "t:1:1: claim[1].source: found nothing, wanted who says so, and where",
        "t:1:1: claim[1].reason: found nothing, wanted why it is not expected to hold\n  \
         help: reason = \"by how much, where and why it does not hold\"",
        "t:2:8: claim[1].name: found \"Fig 4\", wanted small letters, digits and hyphens",
        "t:5:23: claim[1].scenario.preset: found \"router61\", wanted a built-in scenario\n  \
         help: did you mean \"router16\"?",
        "t:6:12: claim[1].quantity: found \"network-latensy\", \
         wanted \"network-latency\", \"transfer\", \"blocking\", \
         \"input\", \"arbitration\", \"sharing\", \"output\", \"gaps\", \
         \"waiting\", \"total-latency\", \"miss-probability\", \"p50\", \"p90\", \"p99\", \
         \"p99.9\", \"frame-interval\", \"frame-interval-deviation\", \
         \"frame-interval-autocorrelation\", \"frame-latency\", \"late-frames\", \
         \"ratchet-misses\", \"ratchet-lateness\", \
         \"set-up-probability\", \"circuit-attempts\", \"circuits-established\", \"circuits-dropped\", \
         \"circuit-drop-share\", \"set-up-delay\", \"circuit-load\", \"end-to-end-latency\", \"doorbell\", \"bus\", \
         \"wire\", \"receive\", \"posting-delay\", \"queueing-delay\", \"posted-latency\", \"interface-time\", \
         \"rejected-share\", \"connection-set-up\", \"connections-held\", \"power\", \"power-deviation\", \
         \"power-violations\", \"throughput\", \"set-aside-queues\" or \"accepted-rate\"\n  \
         help: did you mean \"network-latency\"?",
        "t:7:13: claim[1].tolerance: found 5, wanted a share from 0 to 1, such as 0.05 for 5 %\n  help: 5 % is 0.05",
        "t:9:1: claim[2].than: found none of them, wanted than = [classes] or [[claim.variant]]",
        "t:16:1: claim[2].quantity: found quantity in a claim of kind \"saturates-earlier\", \
         wanted one of by, x, column, at, variant, class, than",
        "t:17:10: claim[2].expect: found \"maybe\", wanted \"held\" or \"not held\"",
        "t:18:39: claim[2].x.values: found 0.002 after 0.004, wanted 1 to 1000 numbers, each above the last",
    ];
    assert_eq!(found, expected, "{found:#?}");
}

#[test]
fn scenarios_and_classes_are_checked_at_every_point() {
    let head = "[[claim]]\nname = \"a\"\ntext = \"b\"\nsource = \"c\"\nexpect = \"held\"\n\
                kind = \"order\"\nquantity = \"network-latency\"\n";
    let of = |lines: &str| faults(&format!("{head}{lines}"));
    let unknown = of("scenario = { preset = \"router16\" }\nclasses = [\"R1\", \"R9\"]\n");
    assert_eq!(
        unknown,
        ["t:9:11: claim[1].classes: found \"R9\", wanted a class of the scenario: \"R1\", \"R2\" or \"BE\""]
    );
    let unsound = of("scenario = { preset = \"router16\" }\nclasses = [\"R1\", \"R2\"]\n\
                      x = { key = \"class.R1.rate\", values = [0.002, 7] }\n");
    assert_eq!(unsound.len(), 1, "{unsound:?}");
    assert!(unsound[0].starts_with("t:10:39: class.R1.rate: found 7"), "{unsound:?}");
    let too_many = of("scenario = { preset = \"router16\", set = { \"network.ports\" = 100 } }\n\
                       classes = [\"R1\", \"R2\"]\n");
    assert!(too_many[0].contains("2 to 64 ports to simulate"), "{too_many:?}");
    let no_model = of("scenario = { preset = \"router16\", set = { \"router.scheduler\" = \"fifo\" } }\n\
                       classes = [\"R1\", \"R2\"]\nby = \"published\"\n");
    assert!(no_model[0].contains("a scenario that the model has"), "{no_model:?}");
    let twice = faults(
        &format!("{head}scenario = {{ preset = \"router16\" }}\nclasses = [\"R1\", \"R2\"]\n").repeat(2),
    );
    assert_eq!(twice, ["t:11:8: claim[2].name: found \"a\" a second time, wanted a name of its own"]);
}

const LIGHT: &str = "scenario = { preset = \"router16\", set = { \"class.*.rate\" = 0.0005 } }\n";
const R16: &str = "scenario = { preset = \"router16\" }\n";
const LATENCY: &str = "quantity = \"network-latency\"\n";
const X: &str = "x = { \
    key = \"class.R1.rate\", values = [0.001, 0.005], couple = { \"class.R2.rate\" = \"class.R1.rate/2\" } }\n";
const FULL: &str = "scenario = { preset = \"router16\", set = { \"class.*.rate\" = 0.03 } }\n";

#[test]
fn agreements() {
    let case = |scenario: &str, tolerance: f64| {
        format!("kind = \"agreement\"\n{scenario}{LATENCY}tolerance = {tolerance}\n")
    };
    assert_verdicts(&[
        (&case(LIGHT, 0.2), Verdict::Held),
        (&case(R16, 0.05), Verdict::NotHeld),
        (&case(FULL, 0.05), Verdict::Undecided),
        (&(case(R16, 0.05) + "negated = true\n"), Verdict::Held),
    ]);
}

#[test]
fn values() {
    let case = |by: &str, bounds: &str| {
        format!("kind = \"value\"\nby = \"{by}\"\n{R16}{LATENCY}class = \"R1\"\n{bounds}\n")
    };
    assert_verdicts(&[
        (&case("published", "value = 39.38\nplus_minus = 0.01"), Verdict::Held),
        (&case("published", "from = 30\nto = 35"), Verdict::NotHeld),
        (&case("simulation", "from = 40\nto = 47"), Verdict::Held),
        (&case("simulation", "value = 39.38\nplus_minus = 0.5"), Verdict::NotHeld),
        (&case("simulation", "value = 43.4\nplus_minus = 0.0001"), Verdict::Undecided),
    ]);
}

#[test]
fn orders() {
    let case = |scenario: &str, classes: &str| {
        format!("kind = \"order\"\nby = \"published\"\n{scenario}{LATENCY}classes = {classes}\n")
    };
    let equal = "scenario = { preset = \"router16\", set = { \"class.R2.rate\" = 0.005 } }\n";
    assert_verdicts(&[
        (&case(R16, r#"["R1", "R2", "BE"]"#), Verdict::Held),
        (&case(R16, r#"["BE", "R1"]"#), Verdict::NotHeld),
        (&case(equal, r#"["R1", "R2"]"#), Verdict::Undecided),
    ]);
}

#[test]
fn what_does_not_move() {
    let case = |x: &str, class: &str| {
        let rest = format!("{R16}{LATENCY}classes = [\"{class}\"]\ntolerance = 0.05\n");
        format!(
            "kind = \"unmoved\"\nby = \"published\"\n{rest}x = {{ key = \"class.BE.rate\", values = {x} }}\n"
        )
    };
    assert_verdicts(&[
        (&case("[0.001, 0.005, 0.01]", "R1"), Verdict::Held),
        (&case("[0.001, 0.005, 0.01]", "BE"), Verdict::NotHeld),
        (&case("[0.001]", "R1"), Verdict::Undecided),
    ]);
}

#[test]
fn what_coincides() {
    let case = |scenario: &str, buffers: [u32; 2]| {
        let variant =
            |b| format!("[[claim.variant]]\nlabel = \"{b}\"\nset = {{ \"router.buffer_flits\" = {b} }}\n");
        let variants = buffers.map(variant).concat();
        format!("kind = \"coincide\"\nby = \"published\"\n{scenario}{LATENCY}tolerance = 0.05\n{variants}")
    };
    let classes = format!("kind = \"coincide\"\nby = \"published\"\n{R16}{LATENCY}tolerance = 0.05\n");
    assert_verdicts(&[
        (&case(R16, [32, 32]), Verdict::Held),
        (&case(R16, [4, 2_000]), Verdict::NotHeld),
        (&case(FULL, [16, 32]), Verdict::Undecided),
        (&classes, Verdict::NotHeld),
    ]);
}

#[test]
fn what_grows_faster() {
    let case = |class: &str, rest: &str| {
        format!("kind = \"grows-faster\"\nby = \"published\"\n{R16}{LATENCY}class = \"{class}\"\n{rest}")
    };
    let one_point = "x = { key = \"class.R1.rate\", values = [0.001] }\nthan = [\"R1\"]\n";
    let own_load = format!("{X}than_x = {{ key = \"class.BE.rate\", values = [0.001, 0.005] }}\n");
    assert_verdicts(&[
        (&case("BE", &format!("{X}than = [\"R1\", \"R2\"]\n")), Verdict::Held),
        (&case("R1", &format!("{X}than = [\"BE\"]\n")), Verdict::NotHeld),
        (&case("BE", one_point), Verdict::Undecided),
        (&case("BE", &own_load), Verdict::Held),
    ]);
}

#[test]
fn what_saturates_earlier() {
    let case = |class: &str, than: &str, x: &str| {
        let rest = format!("x = {{ key = \"class.R1.rate\", values = {x} }}\n");
        format!(
            "kind = \"saturates-earlier\"\nby = \"published\"\n{R16}class = \"{class}\"\nthan = [\"{than}\"]\n{rest}"
        )
    };
    assert_verdicts(&[
        (&case("BE", "R1", "[0.002, 0.01]"), Verdict::Held),
        (&case("R1", "BE", "[0.002, 0.01]"), Verdict::NotHeld),
        (&case("BE", "R1", "[0.001, 0.002]"), Verdict::Undecided),
    ]);
    let simulated = case("BE", "R1", "[0.002, 0.012]").replace("published", "simulation");
    let judgement = judge(&simulated);
    assert_eq!(judgement.verdict, Verdict::Held, "{}", judgement.measured);
    assert_eq!(judgement.measured, "BE saturates between 0.002 and 0.012; R1 does not saturate up to 0.012");
}

/// Frames that are cut into messages of 80 flits: their intervals vary by 5.5 % of an interval, whatever a cycle is.
const LONG: &str = "scenario = { preset = \"mediaworm-quick\", set = { \"units.link\" = \"100 Mbps\", \
    \"mix.load\" = 0.4, \"class.*.message_flits\" = 80, \"router.buffer_flits\" = 80 } }\n";
const FIFO: &str = "scenario = { preset = \"mediaworm-quick\", set = { \"router.scheduler\" = \"fifo\" } }\n\
    x = { key = \"mix.load\", values = [0.8, 0.9, 0.96] }\n";

fn by(kind: &str, rest: &str) -> String {
    format!("kind = \"{kind}\"\nby = \"published\"\n{rest}")
}

fn variants_of(key: &str, values: [&str; 2]) -> String {
    let one =
        |value: &str| format!("[[claim.variant]]\nlabel = '{value}'\nset = {{ \"{key}\" = {value} }}\n");
    values.map(one).concat()
}

/// Claims about values that hold, each with one that says the opposite.
fn opposite_values() -> Vec<[String; 2]> {
    let value = |bounds: &str| by("value", &format!("{R16}{LATENCY}class = \"R1\"\n{bounds}\n"));
    let full = |bounds: &str| by("value", &format!("{FULL}{LATENCY}class = \"BE\"\n{bounds}\n"));
    let along = |rates: &str| {
        let x = format!("x = {{ key = \"class.*.rate\", values = {rates} }}\n");
        by("value", &format!("{R16}{LATENCY}class = \"BE\"\nto = 100\n{x}"))
    };
    let frames = |scenario: &str, bounds: &str| {
        let head = "kind = \"value\"\nby = \"mediaworm\"\nquantity = \"frame-interval-deviation\"\n";
        format!("{head}class = \"video\"\n{bounds}\n{scenario}")
    };
    let intervals = |bound: &str| format!("{bound}\nunit = \"intervals\"");
    let milliseconds = |bound: &str| format!("{bound}\nunit = \"ms\"");
    let recn = |bounds: &str| {
        let head = "kind = \"value\"\nby = \"recn\"\nquantity = \"throughput\"\nclass = \"random\"\n";
        format!("{head}{bounds}\nscenario = {{ preset = \"recn64-quick\" }}\n")
    };
    let simulated = |bounds: &str| format!("kind = \"value\"\n{LIGHT}{LATENCY}class = \"R1\"\n{bounds}\n");
    vec![
        [value("from = 39\nto = 40"), value("from = 30\nto = 35")],
        [value("value = 39.4\nplus_minus = 0.1"), value("value = 43\nplus_minus = 1")],
        [value("to = 40"), value("from = 40")],
        [value("from = 30"), value("to = 30")],
        // what grows without limit is beyond any bound
        [full("from = 100"), full("to = 100")],
        [along("[0.0005, 0.001]"), along("[0.0005, 0.03]")],
        [frames(FIFO, &intervals("from = 0.01")), frames(FIFO, &intervals("to = 0.05"))],
        [frames(LONG, &intervals("from = 0.05")), frames(LONG, &intervals("to = 0.05"))],
        [frames(LONG, &milliseconds("to = 0.25")), frames(LONG, &milliseconds("from = 0.25"))],
        [recn("from = 20"), recn("to = 20")],
        [simulated("to = 40"), simulated("from = 40")],
    ]
}

/// The same of all other kinds.
fn opposites() -> Vec<[String; 2]> {
    let order = |classes: &str| by("order", &format!("{R16}{LATENCY}classes = {classes}\n"));
    let of_variants = |values| order(r#"["R1"]"#) + &variants_of("class.R1.rate", values);
    let unmoved = |class: &str, rates: &str| {
        let rest = format!("{R16}{LATENCY}classes = [\"{class}\"]\ntolerance = 0.05\n");
        by("unmoved", &format!("{rest}x = {{ key = \"class.BE.rate\", values = {rates} }}\n"))
    };
    let coincide = |buffers| {
        by("coincide", &format!("{R16}{LATENCY}tolerance = 0.05\n"))
            + &variants_of("router.buffer_flits", buffers)
    };
    let grows = |class: &str, than: &str| {
        by("grows-faster", &format!("{R16}{LATENCY}class = \"{class}\"\nthan = [\"{than}\"]\n{X}"))
    };
    let grows_along = |x: &str, than: &str| {
        let axis = |key: &str| format!("{{ key = \"class.{key}.rate\", values = [0.001, 0.005] }}\n");
        let axes = format!("x = {}than_x = {}", axis(x), axis(than));
        by("grows-faster", &format!("{R16}{LATENCY}class = \"BE\"\n{axes}"))
    };
    let earlier = |class: &str, than: &str| {
        let x = "x = { key = \"class.R1.rate\", values = [0.002, 0.01] }\n";
        by("saturates-earlier", &format!("{R16}class = \"{class}\"\nthan = [\"{than}\"]\n{x}"))
    };
    let saturated = |scenario: &str| by("saturated", &format!("{scenario}class = \"BE\"\n"));
    let agreement = |scenario: &str, tolerance: f64| {
        format!("kind = \"agreement\"\n{scenario}{LATENCY}tolerance = {tolerance}\n")
    };
    let over_time = |bounds: &str, variants: &str| {
        let set =
            "\"measure.end\" = \"40 us\", \"class.hot.start\" = \"20 us\", \"class.hot.end\" = \"40 us\"";
        let scenario = format!("scenario = {{ preset = \"recn64-quick\", set = {{ {set} }} }}\n");
        let head = "kind = \"over-time\"\nquantity = \"throughput\"\nwindow = [20, 40]\n";
        format!("{head}{bounds}\n{scenario}{variants}")
    };
    let queues = variants_of("switch.organisation", ["\"one-queue\"", "\"recn\""]);
    let rises = |x: &str| by("rises", &format!("{R16}{LATENCY}classes = [\"BE\"]\nx = {{ {x} }}\n"));
    vec![
        [
            rises("key = \"class.BE.rate\", values = [0.001, 0.005]"),
            rises("key = \"router.buffer_flits\", values = [4, 2000]"),
        ],
        [order(r#"["R1", "R2", "BE"]"#), order(r#"["BE", "R2", "R1"]"#)],
        [of_variants(["0.004", "0.001"]), of_variants(["0.001", "0.004"])],
        [unmoved("R1", "[0.0005, 0.001]"), unmoved("BE", "[0.001, 0.01]")],
        [unmoved("BE", "[0.0005, 0.001]"), unmoved("BE", "[0.0005, 0.05]")],
        [coincide(["32", "32"]), coincide(["4", "2000"])],
        [grows("BE", "R1"), grows("R1", "BE")],
        [grows_along("R1", "BE"), grows_along("BE", "R1")],
        [earlier("BE", "R1"), earlier("R1", "BE")],
        [saturated(FULL), saturated(R16)],
        [agreement(LIGHT, 0.2), agreement(R16, 0.05)],
        [over_time("from = 1", &queues), over_time("to = 1", &queues)],
        [over_time("to = 50", ""), over_time("from = 50", "")],
    ]
}

/// A claim about phases of a model's run.
fn of_phases(kind: &str, rest: &str) -> String {
    let scenario = "scenario = { preset = \"router-nic-quick\", set = { \"mix.load\" = 0.6 } }\n";
    format!("kind = \"{kind}\"\nby = \"router-nic\"\n{scenario}{rest}")
}

/// The same of phases, along their shares.
fn opposite_phases() -> Vec<[String; 2]> {
    let total = "column = \"total_latency_cycles\"\n";
    let value = |rest: &str| of_phases("value", &format!("{total}class = \"video\"\n{rest}\n"));
    let late = |bound: &str| {
        let column = "column = \"ratchet_deadline_missing_time_cycles\"\nunit = \"intervals\"\n";
        of_phases("value", &format!("{column}class = \"video\"\n{bound}\n"))
    };
    let order = |classes: &str| of_phases("order", &format!("{total}classes = {classes}\n"));
    let rises = |class: &str| {
        let column = "column = \"offered_flits_per_cycle_node\"\n";
        of_phases("rises", &format!("{column}classes = [\"{class}\"]\n"))
    };
    let saturated =
        |scenario: &str| by("saturated", &format!("{scenario}{total}class = \"BE\"\nat = [0.8]\n"));
    let at = |load: &str| {
        format!("scenario = {{ preset = \"router-nic-quick\", set = {{ \"mix.load\" = {load} }} }}\n")
    };
    let by_model = |load: &str| saturated(&at(load)).replace("published", "router-nic");
    vec![
        [value("from = 44"), value("to = 44")],
        [value("to = 1000"), value("at = [0.8]\nto = 45")],
        [late("to = 0.1"), late("from = 0.1")],
        [order(r#"["control", "video"]"#), order(r#"["video", "control"]"#)],
        [rises("video"), rises("BE")],
        [by_model("0.99"), by_model("0.3")],
    ]
}

#[test]
fn phases_that_are_not_there_are_named() {
    let head = "[[claim]]\nname = \"a\"\ntext = \"b\"\nsource = \"c\"\nexpect = \"held\"\n";
    let of = |lines: &str| faults(&format!("{head}{lines}"));
    let column = "column = \"total_latency\"\nclass = \"video\"\nto = 1\nat = [0.2, 0.3]\n";
    let found = of(&of_phases("value", column));
    assert_eq!(found.len(), 2, "{found:#?}");
    assert!(
        found[0].starts_with("t:9:10: claim[1].column: found \"total_latency\", wanted a column"),
        "{found:#?}"
    );
    assert!(
        found[1].starts_with("t:12:6: claim[1].at: found 0.3, wanted phases among [0.2, 0.5, 0.8]"),
        "{found:#?}"
    );
    let total = "column = \"total_latency_cycles\"\nclass = \"R1\"\nto = 1\n";
    let found = of(&format!("kind = \"value\"\n{R16}{X}{total}"));
    assert_eq!(
        found,
        [
            "t:7:12: claim[1].scenario: found a run without phases, \
             wanted phases, such as those of preset \"router-nic\"",
            "t:8:5: claim[1].x: found x beside a column of phases, \
             wanted the phases as they are, or those of at = [0.7, 0.8]",
        ]
    );
}

/// A claim that holds fails when it is turned round, in its words or by its key, and the other way about.
#[test]
fn claims_flip_when_they_are_turned_round() {
    let mut kinds: HashSet<&str> = HashSet::new();
    let pairs = [opposite_values(), opposites(), opposite_phases()].concat();
    assert!(pairs.len() >= 20);
    for pair in &pairs {
        for (lines, verdict, negated) in
            [(&pair[0], Verdict::Held, Verdict::NotHeld), (&pair[1], Verdict::NotHeld, Verdict::Held)]
        {
            let mut claim = claim(lines);
            kinds.insert(claim.kind.word());
            let simulations = simulated(&claim, 0.1);
            let judgement = claim.judge(&simulations);
            assert_eq!(judgement.verdict, verdict, "{lines}\n{}", judgement.measured);
            claim.negated = true;
            assert_eq!(claim.judge(&simulations).verdict, negated, "{lines}");
        }
    }
    assert_eq!(kinds.len(), 10, "every kind: {kinds:?}");
}

/// The point with the least room is printed, in the unit of the claim.
#[test]
fn the_point_nearest_to_failing_is_named() {
    let of = |bounds: &str, x: &str| {
        let head = "kind = \"value\"\nby = \"mediaworm\"\nquantity = \"frame-interval-deviation\"\nclass = \"video\"\n";
        let set = "set = { \"class.*.message_flits\" = 80, \"router.buffer_flits\" = 80 }";
        let scenario = format!("scenario = {{ preset = \"mediaworm-quick\", {set} }}\n");
        judge(&format!("{head}{bounds}\n{scenario}x = {{ key = \"mix.load\", values = {x} }}\n"))
    };
    let most = of("to = 0.06\nunit = \"intervals\"", "[0.4, 0.5, 0.6]");
    assert_eq!(most.verdict, Verdict::Held, "{}", most.measured);
    let (said, nearest) = (most.measured.as_str(), most.findings.iter().map(|one| one.difference.unwrap()));
    let nearest = nearest.fold(f64::INFINITY, f64::min);
    let of_said = most.findings.iter().find(|one| one.difference == Some(nearest)).unwrap();
    assert!(said.contains(&format!("at {}:", of_said.x.unwrap())), "{said}");
    assert!(said.ends_with("frame intervals, claimed at most 0.06 frame intervals; nearest of 3"), "{said}");
    let fifo = judge(&format!(
        "kind = \"value\"\nby = \"mediaworm\"\nquantity = \"frame-interval-deviation\"\nclass = \"video\"\n\
         to = 0.05\nunit = \"intervals\"\n{FIFO}"
    ));
    assert!(fifo.measured.contains("saturated, claimed at most 0.05 frame intervals"), "{}", fifo.measured);
    let no_time = faults(&format!(
        "[[claim]]\nname = \"a\"\ntext = \"b\"\nsource = \"c\"\nexpect = \"held\"\nkind = \"value\"\n{R16}{LATENCY}\
         class = \"R1\"\nto = 1\nunit = \"us\"\n"
    ));
    assert!(
        no_time[0].contains("claim[1].unit: found \"us\", which the scenario does not have"),
        "{no_time:?}"
    );
}

/// Of an agreement it is the published model that is judged unless the claim says otherwise.
#[test]
fn claims_may_be_about_either_model() {
    let head = "scenario = { preset = \"router16\" }\nquantity = \"network-latency\"\n";
    let agreement = format!("kind = \"agreement\"\ntolerance = 0.5\n{head}");
    assert_eq!(claim(&agreement).by, Origin::PUBLISHED);
    let value = format!("kind = \"value\"\nclass = \"R1\"\nfrom = 36\nto = 90\n{head}");
    assert_eq!(claim(&value).by, Origin::Simulation);

    let mut other = claim(&agreement);
    other.set_model(Model::Refined);
    assert_eq!(other.by, Origin::REFINED);
    let judgement = other.judge(&simulated(&other, 0.1));
    let refuses = Model::Refined.supports(&other.scenarios()[0]).is_err();
    assert_eq!(
        judgement.measured.contains("the refined model has no answer"),
        refuses,
        "{}",
        judgement.measured
    );
    let mut simulated = claim(&value);
    simulated.set_model(Model::Refined);
    assert_eq!(simulated.by, Origin::Simulation, "a claim about the simulation stays one");

    let text = |by: &str| {
        format!(
            "[[claim]]\nname = \"a\"\ntext = \"b\"\nsource = \"c\"\nexpect = \"held\"\nby = \"{by}\"\n{agreement}"
        )
    };
    let read = |by: &str| Registry::from_toml("t", &text(by), &no_files);
    match read("refined") {
        Ok(registry) => assert_eq!(registry.claims[0].by, Origin::REFINED),
        Err(faults) => {
            assert!(faults.iter().all(|fault| fault.found.contains("refined model")), "{faults:?}")
        }
    }
    let faults = read("simulation").unwrap_err();
    assert_eq!(
        faults[0].wanted,
        "\"published\", \"refined\", \"mediaworm\", \"router-nic\", \"admission\" or \"recn\""
    );
}

/// Numbers of several variants are judged one by one, and variants stand in order like classes.
#[test]
fn values_and_orders_take_variants() {
    let of = |kind: &str, low: &str, high: &str| {
        let text = format!(
            "[[claim]]\nname = \"a\"\ntext = \"b\"\nsource = \"c\"\nexpect = \"held\"\nby = \"published\"\n\
             quantity = \"network-latency\"\nscenario = {{ preset = \"router16\" }}\n{kind}\n\
             x = {{ key = \"class.BE.rate\", values = [0.001, 0.002] }}\n\
             [[claim.variant]]\nlabel = \"one\"\nset = {{ \"class.R1.rate\" = {low} }}\n\
             [[claim.variant]]\nlabel = \"other\"\nset = {{ \"class.R1.rate\" = {high} }}\n"
        );
        let registry = Registry::from_toml("t", &text, &no_files).unwrap();
        registry.claims[0].judge(&[])
    };
    let order = "kind = \"order\"\nclasses = [\"R1\"]";
    // a class of more load has a larger share of the link
    let found = of(order, "0.004", "0.001");
    assert_eq!((found.verdict, found.measured.as_str()), (Verdict::Held, "one < other at 2 points"));
    assert_eq!(of(order, "0.001", "0.004").verdict, Verdict::NotHeld);
    let value = "kind = \"value\"\nclass = \"R1\"\nfrom = 39\nto = 41";
    let found = of(value, "0.004", "0.004");
    assert_eq!((found.verdict, found.findings.len()), (Verdict::Held, 4));
    let found = of(value, "0.004", "0.001");
    let beyond = found.findings.iter().filter(|finding| finding.verdict == Verdict::NotHeld).count();
    assert_eq!((found.verdict, beyond), (Verdict::NotHeld, 2));
    // a single class stands in no order with itself
    let text = "[[claim]]\nname = \"a\"\ntext = \"b\"\nsource = \"c\"\nexpect = \"held\"\nkind = \"order\"\n\
                quantity = \"waiting\"\nscenario = { preset = \"router16\" }\nclasses = [\"R1\"]\n";
    let found = faults(text);
    assert!(found[0].contains("at least two classes, the lowest first, or [[claim.variant]]"), "{found:?}");
}

/// One queue loses throughput in a hot spot that set-aside queues do not lose; pairs of runs tell it in a short one.
#[test]
fn what_packet_switches_do_in_a_window_of_time() {
    let over_time = "kind = \"over-time\"\nquantity = \"throughput\"\nwindow = [20, 40]\n";
    let set = "\"measure.end\" = \"40 us\", \"class.hot.start\" = \"20 us\", \"class.hot.end\" = \"40 us\"";
    let scenario = format!("scenario = {{ preset = \"recn64-quick\", set = {{ {set} }} }}\n");
    let variant = |word: &str| {
        format!("[[claim.variant]]\nlabel = \"{word}\"\nset = {{ \"switch.organisation\" = \"{word}\" }}\n")
    };
    let both = variant("one-queue") + &variant("recn");
    for (bounds, variants, verdict) in [
        ("from = 1\nto = 48\n", both.as_str(), Verdict::Held),
        ("from = -48\nto = 0\n", &both, Verdict::NotHeld),
        ("value = 48\nplus_minus = 1\n", "", Verdict::Held),
        ("value = 48\nplus_minus = 1\nclass = \"hot\"\n", "", Verdict::NotHeld),
    ] {
        let judgement = judge(&format!("{over_time}{bounds}{scenario}{variants}"));
        assert_eq!(judgement.verdict, verdict, "{}", judgement.measured);
    }
    let found = faults(&format!(
        "[[claim]]\nname = \"a\"\ntext = \"a\"\nsource = \"a\"\nexpect = \"held\"\n{over_time}from = 0\nto = 1\n\
         scenario = {{ preset = \"router16\" }}\n"
    ));
    assert!(found[0].contains("packet switches over time"), "{found:?}");
}
