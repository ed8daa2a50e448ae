//! What is drawn of each kind of picture, and that nothing makes the drawing fail.

use crate::samples::{
    chain, heat_map, lines, misses, picture, region, samples, stacked, stacked_by_two, tornado, two_models,
};
use flitwise_figures::draw::{Style, Theme, png, svg};
use flitwise_figures::figure::Figure;
use flitwise_figures::picture::{
    Axis, Bar, Chain, ClassLoad, CongestionTree, Content, Course, DiagramLink, DiagramNode, DiagramRow,
    DiagramSwitch, ErrorSeries, Frontier, HeatCell, HeatMap, HeatPanel, Lines, Mark, MixPhase,
    NetworkDiagram, NetworkLink, NetworkMap, NetworkPanel, Origin, Part, Pipeline, PipelinePanel, Point,
    Region, Series, SimulatedLoad, Stacked, StackedPanel, StampRow, StampedFlit, Stamps, Timeline,
    TimelinePanel, Tornado, TornadoBar, TornadoPanel, Transition, TreeColumn, TreePanel, Worm, WormChannel,
    WormLink, WormPiece, Worms, WormsPanel,
};

use flitwise_figures::published::Published;

/// The first part of a latency.
const TRANSFER: &str = "#919191";

/// All text of an SVG, piece by piece.
fn texts(svg: &str) -> Vec<String> {
    let document = roxmltree::Document::parse(svg).unwrap();
    let nodes = document.descendants().filter(|node| node.has_tag_name("text"));
    nodes.map(|node| node.text().unwrap_or_default().trim().to_owned()).collect()
}

/// How many elements called `tag` have this attribute.
fn count(svg: &str, tag: &str, attribute: (&str, &str)) -> usize {
    let document = roxmltree::Document::parse(svg).unwrap();
    let nodes = document.descendants().filter(|node| node.has_tag_name(tag));
    nodes.filter(|node| node.attribute(attribute.0) == Some(attribute.1)).count()
}

/// How many pieces of curves of the first class are so wide, in tenths of a pixel.
fn curves(svg: &str, width: &str) -> usize {
    let document = roxmltree::Document::parse(svg).unwrap();
    let nodes = document.descendants().filter(|node| node.has_tag_name("polyline"));
    let wanted = [("stroke", "#00529B"), ("stroke-width", width)];
    nodes.filter(|node| wanted.iter().all(|(name, value)| node.attribute(*name) == Some(value))).count()
}

fn assert_has(svg: &str, expected: &[&str]) {
    let texts = texts(svg);
    for text in expected {
        assert!(texts.iter().any(|found| found == text), "no {text:?} among {texts:#?}");
    }
}

/// Well formed, and only finite numbers.
fn assert_sound(svg: &str, what: &str) {
    let document = roxmltree::Document::parse(svg).unwrap_or_else(|error| panic!("{what}: {error}"));
    for node in document.descendants() {
        for attribute in node.attributes().filter(|attribute| attribute.name() != "xmlns") {
            let value = attribute.value();
            assert!(!value.contains("NaN") && !value.contains("inf"), "{what}: {attribute:?}");
        }
    }
}

#[test]
fn curves_markers_and_limits_are_there() {
    let drawn = svg(&lines(), &Style::default());
    assert_has(&drawn, &["R1", "R2", "BE", "R1 load [messages/cycle/node]", "mean network latency [cycles]"]);
    assert_has(&drawn, &["model −", "simulation [%]", "line: published model", "beyond the frame"]);
    assert_has(&drawn, &["markers: simulation with 95 % interval", "0.002", "50"]);
    assert!(texts(&drawn).iter().any(|text| text.starts_with("saturates from here")));
    // R1 is drawn with circles: 11 or 12 simulated points, 10 errors within the frame, one in the legend
    let circles = count(&drawn, "circle", ("stroke", "#00529B"));
    assert!((20..=26).contains(&circles), "{circles}");
    // its limit by the model is a filled triangle
    assert!(count(&drawn, "polygon", ("fill", "#00529B")) >= 1);
    // title and subtitle are text, in the bundled font
    assert_has(&drawn, &["Mean network latency over", "load, model and simulation"]);
    assert!(count(&drawn, "text", ("font-family", "Open Sans, sans-serif")) == texts(&drawn).len());
}

/// Small multiples: a heading each, one legend with each class once, and the same numbers at all axes.
#[test]
fn panels_share_a_legend_and_axes() {
    let drawn = svg(&crate::samples::panels(), &Style { width: 640, ..Style::default() });
    let all = texts(&drawn);
    let many = |wanted: &str| all.iter().filter(|text| *text == wanted).count();
    assert_eq!([4, 16, 32, 64].map(|b| many(&format!("b = {b} flits"))), [1; 4]);
    assert_eq!(["R1", "R2", "BE"].map(many), [1; 3]);
    assert_eq!(many("dashed line: published model"), 1);
    // two columns: the vertical axis is numbered twice, the horizontal one below each panel
    assert_eq!((many("50"), many("0.010")), (2, 4), "{all:?}");
}

#[test]
fn one_entry_for_model_and_simulation() {
    let drawn = texts(&svg(&misses(), &Style { width: 640, ..Style::default() }));
    for label in ["R1, b = 16", "R1, b = 32", "R1, b = 64", "R2, b = 16", "R2, b = 32", "R2, b = 64"] {
        assert_eq!(drawn.iter().filter(|text| *text == label).count(), 1, "{label}");
    }
    assert!(drawn.iter().any(|text| text == "1e−4"), "{drawn:?}");
    assert!(drawn.iter().any(|text| text == "probability of a deadline miss"));
}

#[test]
fn bars_parts_and_origins_are_there() {
    let drawn = svg(&stacked(), &Style::default());
    assert_has(&drawn, &["transfer", "blocking", "sharing", "source wait", "R1", "R2", "BE"]);
    assert_has(&drawn, &["solid: published model", "hatched: simulation with 95 % interval"]);
    assert_has(
        &drawn,
        &["saturated: no upper end", "mean latency [cycles]", "R1 load [messages/cycle/node]"],
    );
    // 15 solid bars have a first part, and the legend
    assert_eq!(count(&drawn, "rect", ("fill", TRANSFER)), 16);
    // no colour of a class
    assert_eq!(count(&drawn, "rect", ("fill", "#00529B")), 0);
}

/// Solid bars of one, pale ones of the other, three bars at each place.
#[test]
fn bars_of_two_models_differ() {
    let drawn = svg(&stacked_by_two(), &Style::default());
    assert_has(&drawn, &["pale: published model", "solid: refined model"]);
    assert_has(&drawn, &["hatched: simulation with 95 % interval"]);
    // 15 solid bars, those of the refined model, have a first part, and the legend
    assert_eq!(count(&drawn, "rect", ("fill", TRANSFER)), 16);
}

/// The published model beside the refined one: dashed where dashes are free, always less than half as wide.
#[test]
fn curves_of_two_models_differ() {
    let one = svg(&lines(), &Style::default());
    for (several, how) in [(false, "dashed line"), (true, "thin line")] {
        let drawn = svg(&two_models(several), &Style::default());
        let published = format!("{how}, small markers below: published model");
        assert_has(&drawn, &[&published, "thick line, large markers below: refined model"]);
        // each source of numbers is named once, and in words
        for words in ["published model", "refined model", "simulation with"] {
            let all = texts(&drawn);
            assert_eq!(all.iter().filter(|text| text.contains(words)).count(), 1, "{words}: {all:?}");
        }
        let (light, heavy) = (curves(&drawn, "10"), curves(&drawn, "22"));
        assert!(light > 0 && heavy > 0, "{light} {heavy}");
        assert!(several || light > 10 * heavy, "dashes are many: {light} {heavy}");
        let alone = (curves(&one, "10"), curves(&one, "17"), curves(&one, "22"));
        assert!(alone.0 == 0 && alone.1 > 0 && alone.2 == 0, "a model alone is drawn as ever: {alone:?}");
    }
}

#[test]
fn maps_have_a_scale_and_values() {
    let drawn = svg(&heat_map(), &Style { width: 960, ..Style::default() });
    assert_has(&drawn, &["mean network latency of R1 [cycles]", "published model", "simulation"]);
    assert_has(
        &drawn,
        &["R1 load [messages/cycle/node]", "buffer [flits]", "hatched: saturated", "0.0015", "128"],
    );
    assert!(texts(&drawn).iter().filter(|text| text.starts_with('±')).count() > 10);
    assert_has(&drawn, &["±: half-width of the 95 % interval"]);
    // where there is no room for half-widths, nothing explains them
    let narrow = texts(&svg(&heat_map(), &Style { height: Some(250), ..Style::default() }));
    assert!(!narrow.iter().any(|text| text.contains('±')), "{narrow:?}");
}

/// What is said to who cannot see the picture.
#[test]
fn pictures_have_a_title_and_a_description() {
    for picture in samples() {
        let drawn = svg(&picture, &Style::default());
        let document = roxmltree::Document::parse(&drawn).unwrap();
        let inside = |name: &str| {
            let mut nodes = document.root_element().children().filter(|node| node.has_tag_name(name));
            nodes.next().and_then(|node| node.text()).unwrap_or_default().to_owned()
        };
        assert_eq!(inside("title"), picture.title);
        let described = inside("desc");
        assert!(described.starts_with(&picture.subtitle) && described.len() > picture.subtitle.len() + 30);
    }
    let drawn = svg(&lines(), &Style::default());
    let words =
        "mean network latency [cycles] over R1 load [messages/cycle/node], for R1, R2 and BE; below, model";
    assert!(drawn.contains(words) && drawn.contains("Numbers from the published model and simulation."));
}

#[test]
fn regions_name_what_limits_them() {
    let picture = region();
    let svg = svg(&picture, &Style::default());
    assert_has(
        &svg,
        &["limited by R1: miss(47) <= 0.1", "limited by BE: total <= 200", "admissible (refined model)"],
    );
    assert_has(
        &svg,
        &["the highest rates there can be", "the scenario's own rates", "R1 rate [messages/cycle/node]"],
    );
    assert!(!texts(&svg).iter().any(|text| text.contains("unused")));
    let rows = flitwise_figures::rows::table(&picture);
    assert_eq!(rows.heads[1], "x_messages_per_cycle_per_node");
    assert_eq!((rows.rows.len(), rows.rows[40][3].as_str()), (41, ""));
}

#[test]
fn tornados_show_both_sides() {
    let drawn = svg(&tornado(), &Style { width: 640, ..Style::default() });
    assert_has(&drawn, &["change of network latency [%]", "1 % less of the parameter", "R2: 56.34 cycles"]);
    assert_has(
        &drawn,
        &["class.R1.message_flits", "+1.21", "0 | +0.11", "−0.07", "*: taken as a real number"],
    );
    // five bars for more in each of two panels and one in the legend
    assert_eq!(count(&drawn, "rect", ("fill", "#606060")), 11);
    // three for less: one is empty and one is missing
    assert_eq!(count(&drawn, "rect", ("fill", "#D2D2D2")), 7);
}

#[test]
fn chains_show_states_and_rates() {
    let drawn = svg(&chain(2), &Style::default());
    assert_has(
        &drawn,
        &["{ }", "{R1}", "{R2}", "{R1, R2}", "π = 0.5102", "0.0111", "0.0277", "R1: 2", "R2: 3"],
    );
    let drawn = texts(&svg(&chain(3), &Style::default()));
    assert_eq!(drawn.iter().filter(|text| *text == "0.0277").count(), 12);
    let drawn = svg(&chain(12), &Style::default());
    assert!(texts(&drawn)[2..].join(" ").contains("16 most probable of 4096 states"), "{:?}", texts(&drawn));
}

/// Every link is an arrow, one that closes a ring two halves of it.
#[test]
fn maps_show_every_link() {
    let map = |topology: &str, radix: &str| {
        let text = format!(
            "title = \"map\"\nkind = \"network\"\n[scenario]\npreset = \"mesh4x4\"\n\
             set = {{ \"network.topology\" = \"{topology}\", \"network.radix\" = {radix}, \
             \"class.*.virtual_channels\" = 2 }}\n"
        );
        Figure::from_toml("map.toml", &text, "map", &|_| Err(Vec::new())).unwrap().picture(&[])
    };
    // links each way; in the torus of two rings 5 * 4 * 2 * 2, of which 4 + 5 each way close a ring
    for (topology, radix, panels, links, arrows) in [
        ("mesh", "[4, 4]", 1, 48, 48),
        ("mesh", "[3]", 1, 4, 4),
        ("torus", "[5, 4]", 1, 80, 80 + 18),
        ("mesh", "[2, 2, 2]", 2, 16, 16),
    ] {
        let picture = map(topology, radix);
        let Content::Network(drawn) = &picture.content else { panic!("a map") };
        assert_eq!(drawn.panels.len(), panels);
        assert_eq!(drawn.panels.iter().map(|panel| panel.links.len()).sum::<usize>(), links, "{radix}");
        assert_eq!(picture.notes.len(), panels - 1, "{:?}", picture.notes);
        let drawn = svg(&picture, &Style::default());
        assert_eq!(drawn.matches("<polygon").count(), arrows, "{topology} {radix}");
    }
}

/// Numbers that could break a drawing.
const VALUES: [f64; 12] =
    [0.0, -0.0, 1.0, -3.0, 1e-320, 1e99, -1e99, 1e308, -1e308, f64::NAN, f64::INFINITY, f64::NEG_INFINITY];

/// Columns of any length, links that lead nowhere.
fn nasty_tree(run: &[f64], held: &Axis, times: usize) -> CongestionTree {
    let set_aside = vec![0, 3, u32::MAX];
    let column = |next: Vec<u32>| TreeColumn {
        name: held.label.clone(),
        held: run.to_vec(),
        set_aside: set_aside.clone(),
        next,
    };
    let columns = [vec![], vec![column(vec![])], vec![column(vec![0, 7, u32::MAX]), column(vec![9])]];
    let panel = |columns| TreePanel {
        label: held.label.clone(),
        variant: held.label.clone(),
        time_us: run.first().copied().unwrap_or(0.0),
        columns,
    };
    CongestionTree {
        held: held.clone(),
        times,
        most: run.last().copied().unwrap_or(0.0),
        sets_aside: times > 1,
        hot: vec![0, u32::MAX],
        panels: columns.into_iter().take(times).map(panel).collect(),
    }
}

/// Rows of any length, times in any order.
fn nasty_timeline(run: &[f64], axis: &Axis) -> Timeline {
    let panel = |streams| TimelinePanel { label: axis.label.clone(), streams };
    let panels = vec![panel(vec![]), panel(vec![run.to_vec(); 40]), panel(vec![vec![], run.to_vec()])];
    let last = run.last().copied().unwrap_or(0.0);
    Timeline { x: axis.clone(), end: last, late: last, panels }
}

fn nasty_course(run: &[f64], axis: &Axis, plain: &Axis) -> Course {
    let loads = |begins: &f64| {
        let load = |(style, load): (usize, &f64)| ClassLoad {
            class: axis.label.clone(),
            style,
            load_flits_per_cycle: begins * load,
        };
        run.iter().enumerate().map(load).collect()
    };
    let phase = |begins: &f64| MixPhase { begins: *begins, ends: begins + 1.0, loads: loads(begins) };
    Course { panels: nasty_lines(run, axis, plain).collect(), mix: run.iter().map(phase).collect() }
}

/// Numbers and words that could break a drawing, in pictures of every kind.
fn nasty() -> Vec<flitwise_figures::picture::Picture> {
    let label = format!("<&>\"' \u{1} \u{ffff} {} {}", "W".repeat(400), "many words ".repeat(200));
    let mut contents = Vec::new();
    for logarithmic in [false, true] {
        let axis = Axis { label: label.clone(), unit: label.clone(), logarithmic };
        let plain = Axis { label: String::new(), unit: String::new(), logarithmic };
        let runs = [vec![], vec![5.0], vec![0.0; 4], vec![7.0; 4], VALUES.to_vec(), vec![1e99, 1.0]];
        for run in &runs {
            contents.extend(nasty_lines(run, &axis, &plain).map(Content::Lines));
            contents.extend(nasty_stacks(run, &axis, &plain).map(Content::Stacked));
            contents.extend(nasty_maps(run, &axis, &plain).map(Content::HeatMap));
            contents.push(Content::Region(nasty_region(run, &axis)));
            contents.extend(nasty_tornados(run, &axis).map(Content::Tornado));
            contents.push(Content::Network(nasty_network(run, &axis)));
            contents.extend([0, 2, 40].map(|many| Content::NetworkDiagram(nasty_diagram(run, &axis, many))));
            contents.push(Content::Timeline(nasty_timeline(run, &axis)));
            contents.push(Content::Course(nasty_course(run, &axis, &plain)));
            contents.extend([0, 1, 4].map(|times| Content::CongestionTree(nasty_tree(run, &axis, times))));
            contents.push(Content::Pipeline(nasty_pipeline(run, &label)));
            contents.push(Content::Worms(nasty_worms(run, &label)));
            contents.push(Content::Stamps(nasty_stamps(run, &label)));
            contents.extend([0, 1, 3, 4, 7].map(|members| Content::Chain(nasty_chain(run, &label, members))));
        }
    }
    let titled = |content: Content| {
        let title = if matches!(content, Content::Stacked(_)) { "" } else { &label };
        picture("nasty", title, content)
    };
    contents.into_iter().map(titled).collect()
}

/// Rows of any length, letters of no stage, times beyond the columns.
fn nasty_pipeline(run: &[f64], label: &str) -> Pipeline {
    let panel = |first: &f64| PipelinePanel {
        label: label.to_owned(),
        first: *first as u64 % 1_000_000,
        delivered: Some(7),
        network_latency: Some(u64::MAX),
        waiting: Some(u64::MAX),
        flits: vec![String::new(), "i?\u{1}.:9zz".to_owned(), " ".repeat(300)],
    };
    let until = run.first().map(|until| *until as u64);
    Pipeline { stages: run.len() as u32, until, times: vec![], panels: run.iter().map(panel).collect() }
}

/// Ports and routers that are not there, more flits than slots.
fn nasty_worms(run: &[f64], label: &str) -> Worms {
    let channels = [WormChannel::Input, WormChannel::Output, WormChannel::Link, WormChannel::Injection];
    let piece = |(at, number): (usize, &f64)| WormPiece {
        channel: channels[at % 4],
        router: at as u32,
        port: (*number as u32).min(99),
        lane: at as u32,
        behind: 3,
        flits: 9,
        has_header: at == 1,
    };
    let worm = Worm {
        letter: label.chars().take(40).collect(),
        style: 99,
        label: label.to_owned(),
        at_source: 1,
        delivered: 1,
        pieces: run.iter().enumerate().map(piece).collect(),
        asks: Some((0, 99, 99)),
        blocked_by: vec![label.to_owned(); run.len()],
    };
    let side = run.len() as u32 % 5;
    Worms {
        columns: side,
        rows: side / 2,
        ports: side,
        lanes: side,
        buffer_flits: side,
        links: vec![WormLink { from: (0, 1), to: (3, 2) }, WormLink { from: (77, 1), to: (0, 0) }],
        panels: vec![WormsPanel { cycle: u64::MAX, worms: vec![worm; run.len()] }; 5],
    }
}

/// Flits in any order, windows that end before they begin.
fn nasty_stamps(run: &[f64], label: &str) -> Stamps {
    let flit = |stamp: &f64| StampedFlit {
        message: u64::MAX - 1,
        flit: 0,
        joined: (*stamp as u64).min(99),
        sent: (*stamp > 0.0).then_some(7),
        stamp: *stamp,
    };
    let row = |vtick: &f64| StampRow {
        label: label.to_owned(),
        vtick: Some(*vtick),
        style: 99,
        flits: run.iter().map(flit).collect(),
    };
    let rows = run.iter().take(4).map(row).collect();
    Stamps { port: 0, first: 5, last: 50 * (run.len() as u64 % 2), until: Some(8), times: vec![], rows }
}

fn nasty_network(run: &[f64], axis: &Axis) -> NetworkMap {
    let simulated = |load: f64| SimulatedLoad { load, half_width_95: (load > 0.0).then_some(load) };
    let link = |(at, load): (u32, &f64)| NetworkLink {
        from: (at, 0),
        to: (0, at),
        wraps: at % 2 == 1,
        load: *load,
        simulated: (at % 3 > 0).then(|| simulated(-load)),
    };
    let links = (0..).zip(run).map(link).collect();
    let simulated_routers = run.iter().skip(1).map(|load| simulated(*load)).collect();
    let panel = NetworkPanel { label: axis.label.clone(), routers: run.to_vec(), simulated_routers, links };
    let side = run.len() as u32 / 2;
    NetworkMap {
        load: axis.clone(),
        origin: "exact".to_owned(),
        columns: side,
        rows: side,
        panels: vec![panel.clone(), panel],
    }
}

/// Switches at no place, links that lead nowhere, rows of no height.
fn nasty_diagram(run: &[f64], axis: &Axis, many: usize) -> NetworkDiagram {
    let simulated = |load: f64| SimulatedLoad { load, half_width_95: (load > 0.0).then_some(load) };
    let node = |load: f64| DiagramNode { name: axis.label.clone(), load, simulated: Some(simulated(-load)) };
    let switch = |(at, one): (usize, &f64)| DiagramSwitch {
        name: if at % 2 == 0 { axis.label.clone() } else { String::new() },
        place: (*one, run[run.len() - 1 - at]),
        outward: (one / 2.0, 0.0),
        nodes: vec![node(*one); many * (at % 3)],
    };
    let link = |(at, load): (u32, &f64)| DiagramLink {
        from: at,
        to: at * 2 % 9,
        channel: axis.label.clone(),
        parallel: at,
        load: *load,
        simulated: (at % 3 > 0).then(|| simulated(-load)),
    };
    let row = |y: &f64| DiagramRow { name: axis.label.clone(), y: *y, switches: u32::MAX };
    NetworkDiagram {
        load: axis.clone(),
        origin: "exact".to_owned(),
        height: run.first().copied().unwrap_or(0.0),
        rows: if many > 2 { run.iter().map(row).collect() } else { Vec::new() },
        switches: run.iter().enumerate().map(switch).collect(),
        links: (0..).zip(run).map(link).collect(),
    }
}

fn nasty_lines(run: &[f64], axis: &Axis, plain: &Axis) -> impl Iterator<Item = Lines> {
    let label = &axis.label;
    let point = |(index, y): (usize, &f64)| Point {
        x: if index % 3 == 2 { VALUES[index] } else { *y },
        y: (index % 4 != 3).then_some(*y),
        lower_95: Some(VALUES[index % VALUES.len()]),
        upper_95: Some(VALUES[(index + 5) % VALUES.len()]),
        saturated: index % 5 == 4,
    };
    let points: Vec<Point> = run.iter().enumerate().map(point).collect();
    let series = |origin| Series {
        label: label.clone(),
        panel: 2,
        style: 17,
        variant: 23,
        origin,
        points: points.clone(),
        saturated_from: run.first().copied(),
    };
    let errors = ErrorSeries {
        label: label.clone(),
        origin: Origin::PUBLISHED,
        style: 3,
        variant: 1,
        points: points.clone(),
    };
    let ranges = [
        (axis, None, vec![errors.clone()]),
        (plain, Some((5.0, 5.0)), vec![]),
        (plain, Some((f64::NAN, 1.0)), vec![errors]),
        (plain, Some((0.5, 1.0)), vec![]),
    ];
    let contents = ranges.map(|(y, y_range, errors)| {
        [vec![], vec![label.clone(); 3]].map(|panels| {
            let (errors, series) = (errors.clone(), Origin::ALL.map(series).to_vec());
            Lines {
                x: axis.clone(),
                y: y.clone(),
                y_range,
                panels,
                series,
                errors,
                measured_as_curves: false,
                printed_by: None,
            }
        })
    });
    contents.into_iter().flatten()
}

fn nasty_stacks(run: &[f64], axis: &Axis, plain: &Axis) -> [Stacked; 2] {
    let bar = |(index, x): (usize, &f64)| Bar {
        x: *x,
        origin: Origin::ALL[index % 3],
        parts: run.iter().map(|part| (index % 3 != 1).then_some(*part)).collect(),
        interval_95: Some((*x, VALUES[index])),
        saturated: index % 4 == 0,
    };
    let panel = StackedPanel { label: axis.label.clone(), bars: run.iter().enumerate().map(bar).collect() };
    [vec![], vec![panel; 5]].map(|panels| {
        let (parts, kinds) = (vec![axis.label.clone(); 7], vec![Part::Gaps; 2]);
        Stacked { x: axis.clone(), y: plain.clone(), parts, kinds, panels }
    })
}

fn nasty_maps(run: &[f64], axis: &Axis, plain: &Axis) -> [HeatMap; 3] {
    let cell = |z: &f64| HeatCell { z: Some(*z), half_width_95: Some(*z), saturated: *z == 7.0 };
    let cells: Vec<Vec<HeatCell>> = vec![run.iter().map(cell).collect(); 3];
    let panel = HeatPanel { label: axis.label.clone(), origin: Origin::Simulation, cells };
    let grids = [(vec![], vec![]), (run.to_vec(), vec![panel.clone(); 4]), (vec![1.0; 90], vec![panel])];
    grids.map(|(xs, panels)| {
        let (x, y, z) = (axis.clone(), plain.clone(), axis.clone());
        HeatMap { x, y, z, ys: xs.iter().copied().take(2).collect(), xs, panels }
    })
}

fn nasty_region(run: &[f64], axis: &Axis) -> Region {
    let label = &axis.label;
    let frontier = run.iter().zip(run.iter().rev());
    Region {
        x: axis.clone(),
        y: axis.clone(),
        origin: Origin::PUBLISHED,
        limits: vec![label.clone()],
        limit_styles: vec![],
        frontier: frontier.map(|(x, y)| Frontier { x: *x, y: *y, from: (*y, *x), limit: Some(7) }).collect(),
        mark: Some(Mark { x: f64::NAN, y: 1e300, label: label.clone() }),
    }
}

fn nasty_tornados(run: &[f64], axis: &Axis) -> [Tornado; 2] {
    let label = &axis.label;
    let ends = |(index, end): (usize, &f64)| TornadoBar {
        label: label.clone(),
        less: (index % 3 != 0).then_some(*end),
        more: Some(VALUES[index]),
    };
    let panel = TornadoPanel { label: label.clone(), bars: run.iter().enumerate().map(ends).collect() };
    [vec![], vec![panel; 3]].map(|panels| Tornado {
        x: axis.clone(),
        less: label.clone(),
        more: String::new(),
        marks: vec![label.clone()],
        panels,
    })
}

fn nasty_chain(run: &[f64], label: &str, members: usize) -> Chain {
    Chain {
        members: vec![label.to_owned(); members],
        probabilities: run.to_vec(),
        transitions: vec![
            Transition { from: 0, to: 1, rate_per_cycle: f64::NAN },
            Transition { from: 1, to: 1, rate_per_cycle: 1e300 },
            Transition { from: 99, to: 1, rate_per_cycle: 0.0 },
        ],
        cycles_per_flit: vec![vec![Some(f64::NAN)]],
    }
}

#[test]
fn nothing_breaks_the_drawing() {
    for picture in nasty().iter().chain(&samples()) {
        for (width, height) in [(200, None), (640, Some(200)), (4000, Some(4000))] {
            let style = Style { theme: Theme::Light, width, height };
            let drawn = svg(picture, &style);
            assert_sound(&drawn, &format!("{picture:?} {style:?}").chars().take(3000).collect::<String>());
        }
    }
}

/// Moments can be played: each is as large as the others, with one time of its own.
#[test]
fn moments_are_alike() {
    let axis = Axis { label: "held".to_owned(), unit: "KB".to_owned(), logarithmic: false };
    let mut tree = nasty_tree(&[3.0, 1.0], &axis, 3);
    (tree.times, tree.most) = (20, 3.0);
    let panels = tree.panels.clone();
    tree.panels = panels.into_iter().cycle().take(40).collect();
    let mut pictures = vec![picture("tree", "a tree", Content::CongestionTree(tree))];
    for name in ["pipeline", "worms", "stamps"] {
        pictures.push(Published::find(name).unwrap().figure().unwrap().picture(&[]));
    }
    for picture in pictures {
        let moments = picture.moments();
        assert!(moments.len() > 15, "{}: {}", picture.name, moments.len());
        let mut drawn: Vec<String> = moments.iter().map(|one| svg(one, &Style::default())).collect();
        let mut sizes: Vec<String> =
            drawn.iter().map(|svg| svg.split_once('>').unwrap().0.to_owned()).collect();
        sizes.dedup();
        assert_eq!(sizes.len(), 1, "{}: {sizes:?}", picture.name);
        if picture.name != "tree" {
            drawn.dedup();
            assert_eq!(drawn.len(), moments.len(), "{}: each shows something else", picture.name);
        }
    }
    assert!(picture("chain", "a chain", chain(2).content).moments().is_empty());
}

#[test]
fn pixels_without_fonts_of_the_system() {
    let style = Style { width: 400, height: Some(500), ..Style::default() };
    let drawn = svg(&chain(2), &style);
    let pixels = decoded(&drawn, 2.0);
    assert_eq!((pixels.width(), pixels.height()), (800, 1000));
    // the title alone: dark pixels in the strip where it stands, in no other element
    let dark = |pixels: &resvg::tiny_skia::Pixmap| {
        let strip = pixels.pixels().iter().take(800 * 40);
        strip.filter(|pixel| pixel.red() < 100).count()
    };
    assert!(dark(&pixels) > 300, "{}", dark(&pixels));
    let silent = drawn.replace("<text", "<desc").replace("</text", "</desc");
    assert_eq!(dark(&decoded(&silent, 2.0)), 0);
}

fn decoded(svg: &str, scale: f64) -> resvg::tiny_skia::Pixmap {
    resvg::tiny_skia::Pixmap::decode_png(&png(svg, scale).unwrap()).unwrap()
}

#[test]
fn what_is_no_svg_has_no_pixels() {
    assert!(png("text", 1.0).unwrap_err().to_string().starts_with("not an SVG"));
    let drawn = svg(&chain(1), &Style::default());
    for scale in [0.0, -1.0, 1e9, f64::NAN, f64::INFINITY] {
        assert!(png(&drawn, scale).is_err());
    }
}
