//! Pictures of the gallery show the numbers of the present models and simulator.

use std::fs;

use flitwise_figures::published::Published;
use flitwise_figures::stamp;

/// Pictures that are older than their models, or were drawn before there were stamps: to be drawn anew, which takes
/// them off the list.
const OLD: &[&str] = &[];

#[test]
fn no_picture_is_older_than_its_model() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/gallery");
    let mut old = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let Some(stem) = name.strip_suffix(".svg") else { continue };
        let published = Published::find(stem).unwrap_or_else(|_| panic!("{name} is of no built-in figure"));
        assert_eq!(published.name, stem, "a picture has the name of its figure");
        let svg = fs::read_to_string(format!("{folder}/{name}")).unwrap();
        let is_present =
            |stamp: &str| published.figure().is_ok_and(|figure| stamp == stamp::expected(&figure));
        if !stamp::borne(&svg).is_some_and(is_present) {
            old.push(stem.to_owned());
        }
    }
    old.sort();
    assert_eq!(old, OLD, "flitwise report --out figures/gallery draws pictures anew");
}

/// Another number of a model is another stamp; a picture keeps the one that it was given.
#[test]
fn a_stamp_tells_another_model() {
    let figure = Published::find("fig04a").unwrap().figure().unwrap();
    let mut other = figure.clone();
    other.set_models(&[flitwise_models::model::Model::Published]).unwrap();
    let [stamp, others] = [&figure, &other].map(stamp::expected);
    assert!(stamp.starts_with("simulator ") && stamp.contains(", models "), "{stamp}");
    assert_ne!(stamp, others);
    let svg = stamp::stamped("<svg width=\"1\"></svg>", &stamp);
    assert_eq!(stamp::borne(&svg), Some(stamp.as_str()));
    assert_eq!(stamp::borne("<svg width=\"1\"></svg>"), None);
}
