//! A picture of every kind, with made-up numbers: for tests, and for the eye (`examples/samples.rs`).

#![allow(dead_code, unreachable_pub, missing_docs)] // each user takes what it needs

use flitwise_figures::picture::{
    Axis, Bar, Chain, ClassLoad, Content, Course, ErrorSeries, Frontier, HeatCell, HeatMap, HeatPanel, Lines,
    Mark, MixPhase, Origin, Part, Picture, Point, Region, Series, Stacked, StackedPanel, Tornado, TornadoBar,
    TornadoPanel, Transition,
};
use flitwise_models::model::Model;

pub fn axis(label: &str, unit: &str) -> Axis {
    Axis { label: label.to_owned(), unit: unit.to_owned(), logarithmic: false }
}

pub fn picture(name: &str, title: &str, content: Content) -> Picture {
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
pub fn latency(label: &str, style: usize, variant: usize, origin: Origin, base: f64, limit: f64) -> Series {
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
    Series { label: label.to_owned(), panel: 0, style, variant, origin, points, saturated_from }
}

pub fn errors(label: &str, style: usize, variant: usize) -> ErrorSeries {
    let points = (1..=11).map(|step| {
        let x = 0.013 * f64::from(step) / 12.0;
        let y = if step == 11 { -80.0 } else { 4.0 * (f64::from(step) + style as f64).sin() - 1.0 };
        let half = 0.4 * f64::from(step);
        Point { x, y: Some(y), lower_95: Some(y - half), upper_95: Some(y + half), saturated: false }
    });
    let origin = Origin::PUBLISHED;
    ErrorSeries { label: label.to_owned(), origin, style, variant, points: points.collect() }
}

pub fn lines() -> Picture {
    let mut series = Vec::new();
    for origin in [Origin::PUBLISHED, Origin::Simulation] {
        let early = if origin == Origin::Simulation { 0.97 } else { 1.0 };
        series.push(latency("R1", 0, 0, origin, 36.0, 0.0125 * early));
        series.push(latency("R2", 1, 0, origin, 39.0, 0.0121 * early));
        series.push(latency("BE", 2, 0, origin, 52.0, 0.0098 * early));
    }
    let content = Lines {
        x: axis("R1 load", "messages/cycle/node"),
        y: axis("mean network latency", "cycles"),
        y_range: None,
        panels: Vec::new(),
        series,
        errors: vec![errors("R1", 0, 0), errors("R2", 1, 0), errors("BE", 2, 0)],
        measured_as_curves: false,
        printed_by: None,
    };
    picture("lines", "Mean network latency over load, model and simulation", Content::Lines(content))
}

/// The same with a second model, `several` variants of each class or one.
pub fn two_models(several: bool) -> Picture {
    let mut series = Vec::new();
    let mut all_errors = Vec::new();
    for origin in Origin::usual(None) {
        let place = Origin::ALL.iter().position(|one| *one == origin).unwrap_or_default() as f64;
        for variant in 0..if several { 2 } else { 1 } {
            let base = 36.0 + if origin == Origin::PUBLISHED { 4.0 } else { 0.5 } + 9.0 * variant as f64;
            for (style, class) in [(0, "R1"), (2, "BE")] {
                let label = if several { format!("{class}, b = {variant}") } else { class.to_owned() };
                let (base, limit) = (base * (1.0 + style as f64 * 0.2), 0.012 + 0.0002 * place);
                series.push(latency(&label, style, variant, origin, base, limit));
                if origin != Origin::Simulation {
                    all_errors.push(ErrorSeries { origin, ..errors(&label, style, variant) });
                }
            }
        }
    }
    let (x, y) = (axis("R1 load", "messages/cycle/node"), axis("mean network latency", "cycles"));
    let content = Lines {
        x,
        y,
        y_range: None,
        panels: Vec::new(),
        series,
        errors: all_errors,
        measured_as_curves: false,
        printed_by: None,
    };
    let name = if several { "two-models-variants" } else { "two-models" };
    picture(name, "Two models and the simulation", Content::Lines(content))
}

/// A panel for each of four buffer lengths.
pub fn panels() -> Picture {
    let mut series = Vec::new();
    for (panel, buffer) in [4, 16, 32, 64].into_iter().enumerate() {
        for origin in Origin::usual(None) {
            for (style, class) in ["R1", "R2", "BE"].into_iter().enumerate() {
                let limit = 0.0128 - 0.0005 * style as f64 - 1.0 / f64::from(buffer) / 1000.0;
                let base = 36.0 + 4.0 * style as f64 + if origin == Origin::PUBLISHED { 3.0 } else { 0.0 };
                series.push(Series { panel, ..latency(class, style, 0, origin, base, limit) });
            }
        }
    }
    let (x, y) = (axis("R1 load", "messages/cycle/node"), axis("mean network latency", "cycles"));
    let panels = [4, 16, 32, 64].map(|buffer| format!("b = {buffer} flits")).to_vec();
    let content = Lines {
        x,
        y,
        y_range: None,
        panels,
        series,
        errors: Vec::new(),
        measured_as_curves: false,
        printed_by: None,
    };
    picture("panels", "A panel for each of four lengths of buffers", Content::Lines(content))
}

/// The stacked sample with a second model.
pub fn stacked_by_two() -> Picture {
    let mut picture = stacked();
    picture.name = "stacked-two-models".to_owned();
    let Content::Stacked(content) = &mut picture.content else { panic!("a stacked picture") };
    for panel in &mut content.panels {
        let published = panel.bars.iter().filter(|bar| bar.origin == Origin::PUBLISHED);
        let more: Vec<Bar> = published.map(|bar| Bar { origin: Origin::REFINED, ..bar.clone() }).collect();
        panel.bars.extend(more);
    }
    picture
}

/// Deadline misses of several buffer lengths on a logarithmic axis.
pub fn misses() -> Picture {
    let mut series = Vec::new();
    for (style, class) in ["R1", "R2"].into_iter().enumerate() {
        for (variant, buffer) in [16, 32, 64].into_iter().enumerate() {
            for origin in [Origin::PUBLISHED, Origin::Simulation] {
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
    let content = Lines {
        x,
        y,
        y_range: None,
        panels: Vec::new(),
        series,
        errors: Vec::new(),
        measured_as_curves: false,
        printed_by: None,
    };
    picture("misses", "Deadline misses & buffers: <b> is the length of a buffer", Content::Lines(content))
}

pub fn stacked() -> Picture {
    let panels = ["R1", "R2", "BE"].into_iter().enumerate().map(|(class, label)| {
        let mut bars = Vec::new();
        for step in 1..=5 {
            let x = 0.0025 * f64::from(step);
            let saturated = step == 5 && class > 0;
            for origin in [Origin::PUBLISHED, Origin::Simulation] {
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
        kinds: vec![Part::Transfer, Part::Blocking, Part::Sharing, Part::Waiting],
        panels: panels.collect(),
    };
    picture("stacked", "Where the latency comes from", Content::Stacked(content))
}

pub fn heat_map() -> Picture {
    let xs: Vec<f64> = (1..=7).map(|step| 0.0015 * f64::from(step)).collect();
    let ys = vec![8.0, 16.0, 32.0, 64.0, 128.0];
    let panels = [("published model", Origin::PUBLISHED), ("simulation", Origin::Simulation)];
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

pub fn chain(members: usize) -> Picture {
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
pub fn region() -> Picture {
    let point = |step: u32| {
        let angle = f64::from(step) / 40.0 * std::f64::consts::FRAC_PI_2;
        let limit = [Some(0), Some(1), None][usize::min(step as usize / 14, 2)];
        Frontier { x: 0.012 * angle.cos(), y: 0.02 * angle.sin(), from: (0.0, 0.0), limit }
    };
    let content = Region {
        x: axis("R1 rate", "messages/cycle/node"),
        y: axis("BE rate", "messages/cycle/node"),
        origin: Origin::REFINED,
        limits: vec!["R1: miss(47) <= 0.1".to_owned(), "BE: total <= 200".to_owned(), "unused".to_owned()],
        limit_styles: vec![0, 2, 0],
        frontier: (0..=40).map(point).collect(),
        mark: Some(Mark { x: 0.005, y: 0.01, label: "the scenario's own rates".to_owned() }),
    };
    picture("region", "Admissible rates of R1 and BE", Content::Region(content))
}

pub fn tornado() -> Picture {
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

/// Two columns over time, steps of a model and points of a simulation, above a mix that changes twice.
pub fn course() -> Picture {
    let phases = [(33.3, 100.0, 0.16), (100.0, 166.7, 0.4), (166.7, 233.3, 0.64)];
    let series = |(label, style): (&str, usize), origin, scale: f64| {
        let is_point = origin == Origin::Simulation;
        let points = phases.iter().flat_map(|(begins, ends, share)| {
            let y = scale * (1.0 + 2.0 * share) * if is_point { 0.93 } else { 1.0 };
            let half = is_point.then_some(0.05 * y);
            let point = move |x| Point {
                x,
                y: Some(y),
                lower_95: half.map(|half| y - half),
                upper_95: half.map(|half| y + half),
                saturated: false,
            };
            if is_point { vec![point((begins + ends) / 2.0)] } else { vec![point(*begins), point(*ends)] }
        });
        let points = points.collect();
        Series { label: label.to_owned(), panel: 0, style, variant: 0, origin, points, saturated_from: None }
    };
    let both = [Origin::Model(Model::RouterNic), Origin::Simulation];
    let panel = |y: Axis, classes: &[(&str, usize)], scale| Lines {
        x: axis("Time", "ms"),
        y,
        y_range: None,
        panels: Vec::new(),
        series: classes.iter().flat_map(|class| both.map(|origin| series(*class, origin, scale))).collect(),
        errors: Vec::new(),
        measured_as_curves: false,
        printed_by: None,
    };
    let mix = phases.map(|(begins, ends, share)| {
        let load = |class: &str, style, load_flits_per_cycle| ClassLoad {
            class: class.to_owned(),
            style,
            load_flits_per_cycle,
        };
        let loads = vec![load("control", 0, 5e-5), load("video", 1, share), load("BE", 2, 0.8 - share)];
        MixPhase { begins, ends, loads }
    });
    let panels = vec![
        panel(axis("Total latency", "cycles"), &[("video", 1), ("BE", 2)], 90.0),
        panel(axis("Deadline missing probability, ratchet", ""), &[("video", 1)], 0.04),
    ];
    picture("course", "Latency and misses over time", Content::Course(Course { panels, mix: mix.to_vec() }))
}

pub fn samples() -> Vec<Picture> {
    let mut samples = vec![lines(), misses(), stacked(), heat_map()];
    samples.push(tornado());
    samples.extend([two_models(false), two_models(true), stacked_by_two()]);
    samples.extend([1, 2, 3, 4, 6].map(chain));
    samples.extend([region(), panels(), course()]);
    samples
}
