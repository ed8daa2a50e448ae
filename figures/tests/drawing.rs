//! What is drawn of each kind of picture, and that nothing makes the drawing fail.

#![allow(clippy::unwrap_used)] // helpers of tests, too, may fail a test

use flitwise_figures::draw::{Style, Theme, png, svg};
use flitwise_figures::picture::{
    Axis, Bar, Chain, Content, ErrorSeries, Frontier, HeatCell, HeatMap, HeatPanel, Lines, Mark, Origin,
    Picture, Point, Region, Series, Stacked, StackedPanel, Tornado, TornadoBar, TornadoPanel, Transition,
};

const THEMES: [Theme; 3] = [Theme::Light, Theme::Dark, Theme::Print];

fn axis(label: &str, unit: &str) -> Axis {
    Axis { label: label.to_owned(), unit: unit.to_owned(), logarithmic: false }
}

fn picture(name: &str, title: &str, content: Content) -> Picture {
    Picture {
        name: name.to_owned(),
        title: title.to_owned(),
        subtitle: "16-port router, 32-flit messages, buffers of 32 flits, R2 has half the load of R1"
            .to_owned(),
        content,
        notes: Vec::new(),
    }
}

/// A latency that explodes at `limit`, as points of a model or of a simulation.
fn latency(label: &str, style: usize, variant: usize, origin: Origin, base: f64, limit: f64) -> Series {
    let count = if origin == Origin::Simulation { 12 } else { 60 };
    let points = (1..=count).map(|step| {
        let x = 0.013 * f64::from(step) / f64::from(count);
        let saturated = x >= limit;
        let load = (x / limit).min(0.9999);
        let y = base * (1.0 + 0.35 * load / (1.0 - load)) * (1.0 + 0.02 * (f64::from(step) * 2.4).sin());
        let half = (origin == Origin::Simulation).then_some(0.03 * y * (1.0 + 3.0 * load));
        Point {
            x,
            y: Some(y),
            lower_95: half.map(|half| y - half),
            upper_95: half.map(|half| y + half),
            saturated,
        }
    });
    let points: Vec<Point> = points.collect();
    let saturated_from = points.iter().find(|point| point.saturated).map(|point| point.x);
    Series { label: label.to_owned(), style, variant, origin, points, saturated_from }
}

fn errors(label: &str, style: usize, variant: usize) -> ErrorSeries {
    let points = (1..=11).map(|step| {
        let x = 0.013 * f64::from(step) / 12.0;
        let y = if step == 11 { -80.0 } else { 4.0 * (f64::from(step) + style as f64).sin() - 1.0 };
        let half = 0.4 * f64::from(step);
        Point { x, y: Some(y), lower_95: Some(y - half), upper_95: Some(y + half), saturated: false }
    });
    let origin = Origin::Published;
    ErrorSeries { label: label.to_owned(), origin, style, variant, points: points.collect() }
}

fn lines() -> Picture {
    let mut series = Vec::new();
    for origin in [Origin::Published, Origin::Simulation] {
        let early = if origin == Origin::Simulation { 0.97 } else { 1.0 };
        series.push(latency("R1", 0, 0, origin, 36.0, 0.0125 * early));
        series.push(latency("R2", 1, 0, origin, 39.0, 0.0121 * early));
        series.push(latency("BE", 2, 0, origin, 52.0, 0.0098 * early));
    }
    let content = Lines {
        x: axis("R1 load", "messages/cycle/node"),
        y: axis("mean network latency", "cycles"),
        y_range: None,
        series,
        errors: vec![errors("R1", 0, 0), errors("R2", 1, 0), errors("BE", 2, 0)],
    };
    picture("lines", "Mean network latency over load, model and simulation", Content::Lines(content))
}

/// The same with a second model, `several` variants of each class or one.
fn two_models(several: bool) -> Picture {
    let mut series = Vec::new();
    let mut all_errors = Vec::new();
    for origin in Origin::ALL {
        for variant in 0..if several { 2 } else { 1 } {
            let base = 36.0 + if origin == Origin::Published { 4.0 } else { 0.5 } + 9.0 * variant as f64;
            for (style, class) in ["R1", "BE"].into_iter().enumerate() {
                let label = if several { format!("{class}, b = {variant}") } else { class.to_owned() };
                let (base, limit) =
                    (base * (1.0 + style as f64 * 0.4), 0.012 + 0.0002 * f64::from(origin as u8));
                series.push(latency(&label, style, variant, origin, base, limit));
                if origin != Origin::Simulation {
                    all_errors.push(ErrorSeries { origin, ..errors(&label, style, variant) });
                }
            }
        }
    }
    let (x, y) = (axis("R1 load", "messages/cycle/node"), axis("mean network latency", "cycles"));
    let content = Lines { x, y, y_range: None, series, errors: all_errors };
    let name = if several { "two-models-variants" } else { "two-models" };
    picture(name, "Two models and the simulation", Content::Lines(content))
}

/// The stacked sample with a second model.
fn stacked_by_two() -> Picture {
    let mut picture = stacked();
    picture.name = "stacked-two-models".to_owned();
    let Content::Stacked(content) = &mut picture.content else { panic!("a stacked picture") };
    for panel in &mut content.panels {
        let published = panel.bars.iter().filter(|bar| bar.origin == Origin::Published);
        let more: Vec<Bar> = published.map(|bar| Bar { origin: Origin::Refined, ..bar.clone() }).collect();
        panel.bars.extend(more);
    }
    picture
}

/// Deadline misses of several buffer lengths on a logarithmic axis.
fn misses() -> Picture {
    let mut series = Vec::new();
    for (style, class) in ["R1", "R2"].into_iter().enumerate() {
        for (variant, buffer) in [16, 32, 64].into_iter().enumerate() {
            for origin in [Origin::Published, Origin::Simulation] {
                let label = format!("{class}, b = {buffer}");
                let mut one = latency(&label, style, variant, origin, 40.0, 0.012 - 0.001 * variant as f64);
                for point in &mut one.points {
                    let down = |y: f64| (1e-6 * (y / 8.0 + 2.0 * style as f64).exp()).min(1.0);
                    (point.y, point.lower_95) = (point.y.map(down), point.lower_95.map(|y| down(y) - 1e-6));
                    point.upper_95 = point.upper_95.map(down);
                }
                series.push(one);
            }
        }
    }
    let mut y = axis("probability of a deadline miss", "");
    y.logarithmic = true;
    let x = axis("R1 load", "messages/cycle/node");
    let content = Lines { x, y, y_range: None, series, errors: Vec::new() };
    picture("misses", "Deadline misses & buffers: <b> is the length of a buffer", Content::Lines(content))
}

fn stacked() -> Picture {
    let panels = ["R1", "R2", "BE"].into_iter().enumerate().map(|(class, label)| {
        let mut bars = Vec::new();
        for step in 1..=5 {
            let x = 0.0025 * f64::from(step);
            let saturated = step == 5 && class > 0;
            for origin in [Origin::Published, Origin::Simulation] {
                let more = if origin == Origin::Simulation { 1.07 } else { 1.0 };
                let load = f64::from(step) * (1.0 + class as f64 * 0.4) * more;
                let wait = if saturated { None } else { Some(load * load) };
                let parts = vec![Some(36.0), Some(load), Some(2.0 * load), wait];
                let total: f64 = parts.iter().flatten().sum();
                let interval_95 =
                    (origin == Origin::Simulation).then_some((total - 0.6 * load, total + 0.6 * load));
                bars.push(Bar { x, origin, parts, interval_95, saturated });
            }
        }
        StackedPanel { label: label.to_owned(), bars }
    });
    let content = Stacked {
        x: axis("R1 load", "messages/cycle/node"),
        y: axis("mean latency", "cycles"),
        parts: ["transfer", "blocking", "sharing", "source wait"].map(str::to_owned).to_vec(),
        panels: panels.collect(),
    };
    picture("stacked", "Where the latency comes from", Content::Stacked(content))
}

fn heat_map() -> Picture {
    let xs: Vec<f64> = (1..=7).map(|step| 0.0015 * f64::from(step)).collect();
    let ys = vec![8.0, 16.0, 32.0, 64.0, 128.0];
    let panels = [("published model", Origin::Published), ("simulation", Origin::Simulation)];
    let panels = panels.into_iter().map(|(label, origin)| {
        let cell = |x: f64, y: f64| {
            let load = x * 90.0 * (1.0 - 0.0015 * y);
            let half_width_95 = (origin == Origin::Simulation).then_some(0.3 + load);
            let z = Some(36.0 / (1.05 - load).max(0.01));
            let missing = x > 0.008 && y == 64.0;
            HeatCell { z: z.filter(|_| !missing), half_width_95, saturated: load > 0.88 }
        };
        let cells = ys.iter().map(|y| xs.iter().map(|x| cell(*x, *y)).collect()).collect();
        HeatPanel { label: label.to_owned(), origin, cells }
    });
    let panels = panels.collect();
    let content = HeatMap {
        x: axis("R1 load", "messages/cycle/node"),
        y: axis("buffer", "flits"),
        z: axis("mean network latency of R1", "cycles"),
        xs,
        ys: ys.clone(),
        panels,
    };
    picture("heat-map", "Latency over load and buffer", Content::HeatMap(content))
}

fn chain(members: usize) -> Picture {
    let states = 1_usize << members;
    let weights: Vec<f64> = (0..states).map(|state| 0.4_f64.powi(state.count_ones() as i32)).collect();
    let sum: f64 = weights.iter().sum();
    let mut transitions = Vec::new();
    for from in 0..states {
        for bit in 0..members {
            let rate_per_cycle = if from >> bit & 1 == 1 { 0.0277 } else { 0.0111 / (bit + 1) as f64 };
            transitions.push(Transition { from, to: from ^ (1 << bit), rate_per_cycle });
        }
    }
    let cycles = |state: usize, bit: usize| {
        (state >> bit & 1 == 1).then(|| f64::from(state.count_ones()) * (1.0 + bit as f64 / 2.0))
    };
    let content = Chain {
        members: (1..=members).map(|member| format!("R{member}")).collect(),
        probabilities: weights.iter().map(|weight| weight / sum).collect(),
        transitions,
        cycles_per_flit: (0..states)
            .map(|state| (0..members).map(|bit| cycles(state, bit)).collect())
            .collect(),
    };
    let name = format!("chain-{members}");
    picture(&name, &format!("Which of {members} classes share the link"), Content::Chain(content))
}

/// A frontier that three limits share, of which the last is none.
fn region() -> Picture {
    let point = |step: u32| {
        let angle = f64::from(step) / 40.0 * std::f64::consts::FRAC_PI_2;
        let limit = [Some(0), Some(1), None][usize::min(step as usize / 14, 2)];
        Frontier { x: 0.012 * angle.cos(), y: 0.02 * angle.sin(), from: (0.0, 0.0), limit }
    };
    let content = Region {
        x: axis("R1 rate", "messages/cycle/node"),
        y: axis("BE rate", "messages/cycle/node"),
        origin: Origin::Refined,
        limits: vec!["R1: miss(47) <= 0.1".to_owned(), "BE: total <= 200".to_owned(), "unused".to_owned()],
        frontier: (0..=40).map(point).collect(),
        mark: Some(Mark { x: 0.005, y: 0.01, label: "the scenario's own rates".to_owned() }),
    };
    picture("region", "Admissible rates of R1 and BE", Content::Region(content))
}

fn tornado() -> Picture {
    let bar = |label: &str, less, more| TornadoBar { label: label.to_owned(), less, more };
    let bars = vec![
        bar("class.R1.message_flits", Some(-1.2), Some(1.21)),
        bar("class.R1.rate", Some(-0.25), Some(0.25)),
        bar("router.buffer_flits *", Some(0.0), Some(0.11)),
        bar("class.R2.vtick ~", Some(0.07), Some(-0.07)),
        bar("class.BE.rate", None, Some(0.004)),
    ];
    let panels = ["R1: 39.38 cycles", "R2: 56.34 cycles"]
        .map(|label| TornadoPanel { label: label.to_owned(), bars: bars.clone() })
        .to_vec();
    let content = Tornado {
        x: axis("change of network latency", "%"),
        less: "1 % less of the parameter".to_owned(),
        more: "1 % more of the parameter".to_owned(),
        marks: vec!["*: taken as a real number".to_owned()],
        panels,
    };
    picture("tornado", "How network latency moves", Content::Tornado(content))
}

fn samples() -> Vec<Picture> {
    let mut samples = vec![lines(), misses(), stacked(), heat_map()];
    samples.push(tornado());
    samples.extend([two_models(false), two_models(true), stacked_by_two()]);
    samples.extend([1, 2, 3, 4, 6].map(chain));
    samples.push(region());
    samples
}

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
    assert_has(&drawn, &["model − simulation", "[%]", "line: published model", "beyond the frame"]);
    assert_has(&drawn, &["marker: simulation with 95 % interval", "0.002", "50"]);
    assert!(texts(&drawn).iter().any(|text| text.starts_with("saturates from here")));
    // R1 is drawn with circles: 11 or 12 simulated points, 10 errors within the frame, one in the legend
    let circles = count(&drawn, "circle", ("stroke", "#00529B"));
    assert!((20..=26).contains(&circles), "{circles}");
    // its limit by the model is a filled triangle
    assert!(count(&drawn, "polygon", ("fill", "#00529B")) >= 1);
    // title and subtitle are text, in the bundled font
    assert_has(&drawn, &["Mean network latency over load, model and simulation"]);
    assert!(count(&drawn, "text", ("font-family", "Open Sans, sans-serif")) == texts(&drawn).len());
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
    assert_eq!(count(&drawn, "rect", ("fill", "#00529B")), 16);
}

/// Solid bars of one, pale ones of the other, three bars at each place.
#[test]
fn bars_of_two_models_differ() {
    let drawn = svg(&stacked_by_two(), &Style::default());
    assert_has(&drawn, &["pale: published model", "solid: refined model"]);
    assert_has(&drawn, &["hatched: simulation with 95 % interval"]);
    // 15 solid bars, those of the refined model, have a first part, and the legend
    assert_eq!(count(&drawn, "rect", ("fill", "#00529B")), 16);
}

/// The published model beside the refined one: dashed where dashes are free, always less than half as wide.
#[test]
fn curves_of_two_models_differ() {
    let one = svg(&lines(), &Style::default());
    for (several, how) in [(false, "dashed line"), (true, "thin line")] {
        let drawn = svg(&two_models(several), &Style::default());
        let published = format!("{how}: published model");
        assert_has(&drawn, &[&published, "thick line: refined model", "below, small: published model"]);
        let marks = texts(&drawn).join(" ");
        assert!(marks.contains("pale: published, filled: refined, hollow: simulation"), "{marks}");
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
    assert_eq!(count(&drawn, "rect", ("fill", "#00529B")), 11);
    // three for less: one is empty and one is missing
    assert_eq!(count(&drawn, "rect", ("fill", "#E37300")), 7);
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

/// Numbers and words that could break a drawing.
fn nasty() -> Vec<Picture> {
    let values = [
        0.0,
        -0.0,
        1.0,
        -3.0,
        1e-320,
        1e99,
        -1e99,
        1e308,
        -1e308,
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
    ];
    let label = format!("<&>\"' \u{1} \u{ffff} {} {}", "W".repeat(400), "many words ".repeat(200));
    let mut pictures = Vec::new();
    for logarithmic in [false, true] {
        let axis = Axis { label: label.clone(), unit: label.clone(), logarithmic };
        let plain = Axis { label: String::new(), unit: String::new(), logarithmic };
        let mut runs: Vec<Vec<f64>> = vec![vec![], vec![5.0], vec![0.0; 4], vec![7.0; 4], values.to_vec()];
        runs.push(vec![1e99, 1.0]);
        for run in runs {
            let point = |(index, y): (usize, &f64)| Point {
                x: if index % 3 == 2 { values[index] } else { *y },
                y: (index % 4 != 3).then_some(*y),
                lower_95: Some(values[index % values.len()]),
                upper_95: Some(values[(index + 5) % values.len()]),
                saturated: index % 5 == 4,
            };
            let points: Vec<Point> = run.iter().enumerate().map(point).collect();
            let series = |origin| Series {
                label: label.clone(),
                style: 17,
                variant: 23,
                origin,
                points: points.clone(),
                saturated_from: run.first().copied(),
            };
            let errors = ErrorSeries {
                label: label.clone(),
                origin: Origin::Published,
                style: 3,
                variant: 1,
                points: points.clone(),
            };
            for (y, y_range, errors) in [
                (&axis, None, vec![errors.clone()]),
                (&plain, Some((5.0, 5.0)), vec![]),
                (&plain, Some((f64::NAN, 1.0)), vec![errors]),
                (&plain, Some((0.5, 1.0)), vec![]),
            ] {
                let series = Origin::ALL.map(series).to_vec();
                let content = Lines { x: axis.clone(), y: y.clone(), y_range, series, errors };
                pictures.push(picture("nasty", &label, Content::Lines(content)));
            }
            let bar = |(index, x): (usize, &f64)| Bar {
                x: *x,
                origin: Origin::ALL[index % 3],
                parts: run.iter().map(|part| (index % 3 != 1).then_some(*part)).collect(),
                interval_95: Some((*x, values[index])),
                saturated: index % 4 == 0,
            };
            let panel =
                StackedPanel { label: label.clone(), bars: run.iter().enumerate().map(bar).collect() };
            for panels in [vec![], vec![panel; 5]] {
                let parts = vec![label.clone(); 7];
                let content = Stacked { x: axis.clone(), y: plain.clone(), parts, panels };
                pictures.push(picture("nasty", "", Content::Stacked(content)));
            }
            let cell = |z: &f64| HeatCell { z: Some(*z), half_width_95: Some(*z), saturated: *z == 7.0 };
            let cells: Vec<Vec<HeatCell>> = vec![run.iter().map(cell).collect(); 3];
            let panel = HeatPanel { label: label.clone(), origin: Origin::Simulation, cells };
            for (xs, panels) in
                [(vec![], vec![]), (run.clone(), vec![panel.clone(); 4]), (vec![1.0; 90], vec![panel])]
            {
                let (x, y, z) = (axis.clone(), plain.clone(), axis.clone());
                let content = HeatMap { x, y, z, ys: xs.iter().copied().take(2).collect(), xs, panels };
                pictures.push(picture("nasty", "nasty", Content::HeatMap(content)));
            }
            let frontier = run.iter().zip(run.iter().rev());
            let content = Region {
                x: axis.clone(),
                y: axis.clone(),
                origin: Origin::Published,
                limits: vec![label.clone()],
                frontier: frontier
                    .map(|(x, y)| Frontier { x: *x, y: *y, from: (*y, *x), limit: Some(7) })
                    .collect(),
                mark: Some(Mark { x: f64::NAN, y: 1e300, label: label.clone() }),
            };
            pictures.push(picture("nasty", "nasty", Content::Region(content)));
            let ends = |(index, end): (usize, &f64)| TornadoBar {
                label: label.clone(),
                less: (index % 3 != 0).then_some(*end),
                more: Some(values[index]),
            };
            let panel =
                TornadoPanel { label: label.clone(), bars: run.iter().enumerate().map(ends).collect() };
            for panels in [vec![], vec![panel.clone(); 3]] {
                let content = Tornado {
                    x: axis.clone(),
                    less: label.clone(),
                    more: String::new(),
                    marks: vec![label.clone()],
                    panels,
                };
                pictures.push(picture("nasty", "nasty", Content::Tornado(content)));
            }
            for members in [0, 1, 3, 4, 7] {
                let content = Chain {
                    members: vec![label.clone(); members],
                    probabilities: run.clone(),
                    transitions: vec![
                        Transition { from: 0, to: 1, rate_per_cycle: f64::NAN },
                        Transition { from: 1, to: 1, rate_per_cycle: 1e300 },
                        Transition { from: 99, to: 1, rate_per_cycle: 0.0 },
                    ],
                    cycles_per_flit: vec![vec![Some(f64::NAN)]],
                };
                pictures.push(picture("nasty", "nasty", Content::Chain(content)));
            }
        }
    }
    pictures
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

/// Draws all samples in all themes into the directory `FLITWISE_SAMPLES`, or where nobody looks.
#[test]
#[ignore = "for the eye: writes some hundred files"]
fn samples_for_the_eye() {
    let nobody = || concat!(env!("CARGO_TARGET_TMPDIR"), "/samples").into();
    let directory = std::path::PathBuf::from(std::env::var_os("FLITWISE_SAMPLES").unwrap_or_else(nobody));
    std::fs::create_dir_all(&directory).unwrap();
    for picture in samples() {
        for theme in THEMES {
            for width in [320, 480, 640] {
                let drawn = svg(&picture, &Style { theme, width, height: None });
                let stem = format!("{}-{theme:?}-{width}", picture.name).to_lowercase();
                std::fs::write(directory.join(format!("{stem}.svg")), &drawn).unwrap();
                std::fs::write(directory.join(format!("{stem}.png")), png(&drawn, 1.5).unwrap()).unwrap();
            }
        }
    }
}
