//! Text fits whatever font the viewer has: none outside of the canvas, none over another one.

use std::sync::Arc;

use flitwise_figures::draw::{Style, Theme, svg};
use flitwise_figures::picture::{Origin, Picture};
use flitwise_figures::published::PUBLISHED;
use flitwise_models::model::Model;
use resvg::usvg;

/// A viewer: the only fonts it has, and whether it knows `textLength`, as browsers and resvg do.
#[derive(Clone)]
struct Viewer {
    name: &'static str,
    options: Arc<usvg::fontdb::Database>,
    family: &'static str,
    knows_lengths: bool,
}

macro_rules! font {
    ($path:literal) => {
        include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/", $path))
    };
}

fn viewers() -> Vec<Viewer> {
    let wide: [&[u8]; 2] = [font!("tests/fonts/DejaVuSans.ttf"), font!("tests/fonts/DejaVuSans-Bold.ttf")];
    let mono: [&[u8]; 1] = [font!("tests/fonts/DejaVuSansMono.ttf")];
    let open: [&[u8]; 2] = [font!("fonts/OpenSans-Regular.ttf"), font!("fonts/OpenSans-Bold.ttf")];
    let viewer = |name, faces: &[&[u8]], family: &'static str, knows_lengths| {
        let mut fonts = usvg::fontdb::Database::new();
        faces.iter().for_each(|face| fonts.load_font_data(face.to_vec()));
        fonts.set_sans_serif_family(family);
        Viewer { name, options: Arc::new(fonts), family, knows_lengths }
    };
    vec![
        viewer("bundled", &open, "Open Sans", true),
        viewer("bundled, lengths ignored", &open, "Open Sans", false),
        viewer("wide", &wide, "DejaVu Sans", true),
        viewer("wide, lengths ignored", &wide, "DejaVu Sans", false),
        viewer("one width", &mono, "DejaVu Sans Mono", true),
    ]
}

/// A text, and what it covers \[px\]: left, top, right, bottom.
type TextExtent = (String, [f32; 4]);

/// All texts as the viewer sets them, and the size of its canvas.
fn set_by(viewer: &Viewer, drawn: &str) -> (Vec<TextExtent>, [f32; 2]) {
    let options = usvg::Options {
        fontdb: Arc::clone(&viewer.options),
        font_family: viewer.family.to_owned(),
        ..usvg::Options::default()
    };
    let drawn =
        if viewer.knows_lengths { drawn.to_owned() } else { drawn.replace("textLength", "data-length") };
    let tree = usvg::Tree::from_str(&drawn, &options).unwrap();
    let mut found = Vec::new();
    collect(tree.root(), &mut found);
    (found, [tree.size().width(), tree.size().height()])
}

fn collect(group: &usvg::Group, found: &mut Vec<TextExtent>) {
    for node in group.children() {
        match node {
            usvg::Node::Group(inner) => collect(inner, found),
            usvg::Node::Text(text) => {
                let words = text.chunks().iter().map(|chunk| chunk.text()).collect::<String>();
                let area = text.abs_bounding_box();
                found.push((words.trim().to_owned(), [area.left(), area.top(), area.right(), area.bottom()]));
            }
            _ => {}
        }
    }
}

/// What lies outside of the canvas or over another text; a box has room above and below the letters.
fn faults(texts: &[TextExtent], [width, height]: [f32; 2]) -> Vec<String> {
    let mut faults = Vec::new();
    for (index, (text, area)) in texts.iter().enumerate() {
        if area[0] < 0.0 || area[2] > width || area[1] < -1.0 || area[3] > height + 1.0 {
            faults.push(format!("\"{text}\" at {area:?} is outside of {width} x {height}"));
        }
        for (other, place) in &texts[..index] {
            let across = area[2].min(place[2]) - area[0].max(place[0]);
            let down = area[3].min(place[3]) - area[1].max(place[1]);
            let smaller = |side: usize| (area[side + 2] - area[side]).min(place[side + 2] - place[side]);
            if across > 0.05 * smaller(0).min(20.0) && down > 0.4 * smaller(1).min(smaller(0).max(8.0)) {
                faults.push(format!("\"{text}\" at {area:?} is over \"{other}\" at {place:?}"));
            }
        }
    }
    faults
}

/// Built-in figures, with the numbers of one model only: their words are what matters here.
fn built_in() -> Vec<Picture> {
    let picture = |one: &flitwise_figures::published::Published| {
        let mut figure = one.figure().unwrap();
        let mut alone = [Origin::RECN, Model::RouterNic.into()].into_iter();
        let own = alone.find(|own| figure.sources.contains(own));
        figure.sources = vec![own.unwrap_or(Origin::PUBLISHED)];
        figure.picture(&[])
    };
    PUBLISHED.iter().map(picture).collect()
}

#[test]
fn text_fits_in_any_font() {
    let viewers = viewers();
    let mut all = Vec::new();
    for picture in crate::samples::samples().iter().chain(&built_in()) {
        for width in [320, 480] {
            let drawn = svg(picture, &Style { theme: Theme::Light, width, height: None });
            for viewer in &viewers {
                let (texts, size) = set_by(viewer, &drawn);
                assert!(!texts.is_empty(), "no text in {}", picture.name);
                let faults = faults(&texts, size).into_iter();
                all.extend(faults.map(|fault| format!("{} {width} {}: {fault}", picture.name, viewer.name)));
            }
        }
    }
    assert!(all.is_empty(), "{} faults:\n{}", all.len(), all.join("\n"));
}

/// Without lengths and without spare room this is what is cut: the test above would see it.
#[test]
fn text_that_does_not_fit_is_noticed() {
    let wide = viewers().into_iter().find(|viewer| viewer.name == "wide, lengths ignored").unwrap();
    let drawn = svg(&crate::samples::lines(), &Style::default());
    let larger = drawn.replace("font-size=\"1", "font-size=\"2");
    assert_ne!(drawn, larger);
    let (texts, size) = set_by(&wide, &larger);
    assert!(!faults(&texts, size).is_empty());
}

/// With their lengths texts are as wide in one font as in the other.
#[test]
fn lengths_decide_the_width() {
    let drawn = svg(&crate::samples::stacked(), &Style::default());
    let viewers = viewers();
    let of = |name: &str| set_by(viewers.iter().find(|viewer| viewer.name == name).unwrap(), &drawn).0;
    let (bundled, mono) = (of("bundled"), of("one width"));
    assert_eq!(bundled.len(), mono.len());
    for ((text, one), (_, other)) in bundled.iter().zip(&mono) {
        let (one, other) =
            ((one[2] - one[0]).max(one[3] - one[1]), (other[2] - other[0]).max(other[3] - other[1]));
        if text.len() > 6 {
            assert!((one - other).abs() <= 0.03 * one, "{text}: {one} and {other}");
        }
    }
}
