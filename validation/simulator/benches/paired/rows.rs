//! The rows of the paired bench: scenarios as text, for the language of the commit that each is compared with.

use flitwise_language::scenario::Preset;

/// A scenario, and the commit whose simulator it is measured against.
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) since: &'static str,
    pub(crate) text: String,
}

/// The simulator of one function, before virtual channels, meshes and multiplexed crossbars.
const ONE_FUNCTION: &str = "4f3ab06";
/// The first commit with a simulator of its own, whose language knows of all of these.
const OWN_CRATE: &str = "aef7d8f";
/// The first commit whose simulator has levels and interfaces behind a host bus.
const LEVELS: &str = "8eb62fb";

/// The first commit whose simulator has lane arbiters, admission, congestion and power control.
const LANES: &str = "aebf9b9";

/// All rows, in the order of the table.
pub(crate) fn all() -> Vec<Row> {
    let cube = |dimension: u32, load: f64| {
        let shares = [20.0 / 38.0, 10.0 / 38.0, 8.0 / 38.0];
        Row {
            name: format!("{dimension}-cube, {load:.2} flits/cycle/node"),
            since: ONE_FUNCTION,
            text: three_classes(&format!("topology = \"hypercube\"\ndimension = {dimension}"), load, shares),
        }
    };
    let lattice = |topology: &str, channels: u32, load: f64| Row {
        name: format!("8x8 {topology}, {load:.2} flits/cycle/node"),
        since: OWN_CRATE,
        text: two_classes(&format!("topology = {topology:?}\nradix = [8, 8]"), channels, load),
    };
    let router = "topology = \"router\"\nports = 16";
    let preset_text = |name: &str| Preset::find(name).expect("a preset").text.to_owned();
    let levels = |what: &str, tables: &str| Row {
        name: format!("8-port router, {what}"),
        since: LEVELS,
        text: three_levels(tables),
    };
    let lanes = |what: &str, preset: &str, set: &[(&str, &str)]| Row {
        name: format!("4x4 mesh, 16 lanes, {what}"),
        since: LANES,
        text: set.iter().fold(preset_text(preset), |text, (old, new)| text.replace(old, new)),
    };
    vec![
        Row {
            name: "16-port router, 0.50 flits/cycle/node".into(),
            since: ONE_FUNCTION,
            text: three_classes(router, 0.5, [10.0 / 35.0, 5.0 / 35.0, 20.0 / 35.0]),
        },
        cube(6, 0.05),
        cube(6, 0.40),
        cube(6, 0.70),
        cube(10, 0.40),
        lattice("mesh", 1, 0.25),
        lattice("torus", 4, 0.40),
        Row {
            name: "8-port router, multiplexed crossbar".into(),
            since: OWN_CRATE,
            text: preset_text("mediaworm-quick"),
        },
        levels("levels without preemption", ""),
        levels("preemption", "preemption = \"input-buffer\"\nvc_map = \"all\"\n"),
        levels(
            "preemption, interfaces",
            "preemption = \"input-buffer\"\nvc_map = \"all\"\n[interface]\nkind = \"qos\"\n",
        ),
        lanes(
            "0.60 without control",
            "congestion",
            &[("load = 0.8", "load = 0.6"), ("\"credit\"", "\"none\"")],
        ),
        lanes("0.60 with power control", "power", &[("load = 0.4", "load = 0.6")]),
    ]
}

/// Routers of Table 1 in a network, and messages of 32 flits in two classes of real time and one of best effort, which
/// have these shares of the load \[flits/cycle/node\].
fn three_classes(network: &str, load: f64, shares: [f64; 3]) -> String {
    let classes = [("R1", "real-time"), ("R2", "real-time"), ("BE", "best-effort")].iter().zip(shares);
    let class = |((name, kind), share): (&(&str, &str), f64)| {
        format!(
            "[[class]]\nname = {name:?}\nkind = {kind:?}\nmessage_flits = 32\nrate = {}\n",
            load * share / 32.0
        )
    };
    let classes: String = classes.map(class).collect();
    format!(
        "name = \"a row\"\n[network]\n{network}\n[router]\npipeline_stages = 5\nbuffer_flits = 32\n{classes}"
    )
}

/// Control, video and best effort, half and half at a load of .8, with what else the router's table has and tables
/// behind it. Frames are a tenth as long, and come ten times as often, so that all streams are there early.
fn three_levels(router: &str) -> String {
    format!(
        "name = \"a row\"\n[units]\nlink = \"1.6 Gbps\"\nflit_bits = 128\n[network]\ntopology = \"router\"\nports = 8\n\
         [mix]\nload = 0.8\nreal_time_shares = [0.5]\n\
         [[class]]\nname = \"control\"\nkind = \"control\"\nmessage_flits = 20\nrate = \"300 /s\"\n\
         source = {{ kind = \"periodic\" }}\n\
         [[class]]\nname = \"video\"\nkind = \"real-time\"\nmessage_flits = 40\n[class.source]\nkind = \"mpeg2\"\n\
         frame_interval = \"300 /s\"\nframe_scale = 0.1\npacing = \"even-late\"\n\
         [[class]]\nname = \"BE\"\nkind = \"best-effort\"\nmessage_flits = 40\n\
         [router]\npipeline_stages = 5\nbuffer_flits = 40\nvirtual_channels = 16\nvc_choice = \"drawn\"\n\
         scheduler = \"fine-grained-virtual-clock\"\ncrossbar = \"multiplexed\"\n{router}"
    )
}

/// Messages of 16 flits, half of them real time, each half on so many virtual channels.
fn two_classes(network: &str, channels: u32, load: f64) -> String {
    let rate = load / 2.0 / 16.0;
    let class = |(name, kind): (&str, &str)| {
        let lengths = format!("message_flits = 16\nvirtual_channels = {channels}\nrate = {rate}\n");
        format!("[[class]]\nname = {name:?}\nkind = {kind:?}\n{lengths}")
    };
    let classes: String = [("R1", "real-time"), ("BE", "best-effort")].into_iter().map(class).collect();
    format!(
        "name = \"a row\"\n[network]\n{network}\n[router]\npipeline_stages = 5\nbuffer_flits = 16\n{classes}"
    )
}
