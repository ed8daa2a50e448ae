//! From a figure's file to its picture, from the picture to SVG, from SVG to PNG.

#![allow(missing_docs)]

use criterion::{Criterion, criterion_group, criterion_main};
use flitwise_figures::draw::{Style, png, svg};
use flitwise_figures::figure::Figure;
use flitwise_figures::picture::Origin;
use flitwise_figures::published::Published;

/// A built-in figure without its simulation, which is measured elsewhere.
fn model_only(number: &str) -> Figure {
    let mut figure = Published::find(number).expect("built in").figure().expect("sound");
    figure.sources = vec![Origin::PUBLISHED];
    figure
}

fn drawing(criterion: &mut Criterion) {
    for number in ["4a", "5", "9", "11b", "14a", "chain"] {
        let figure = model_only(number);
        let picture = figure.picture(&[]);
        let drawn = svg(&picture, &Style::default());
        let name = |step: &str| format!("fig {number}: {step}");
        criterion.bench_function(&name("picture (model)"), |b| b.iter(|| figure.picture(&[])));
        criterion.bench_function(&name("svg"), |b| b.iter(|| svg(&picture, &Style::default())));
        criterion.bench_function(&name("png"), |b| b.iter(|| png(&drawn, 2.0)));
    }
    let read = |b: &mut criterion::Bencher<'_>| b.iter(|| Published::find("4a").map(Published::figure));
    criterion.bench_function("fig 4a: read and checked", read);
}

criterion_group!(benches, drawing);
criterion_main!(benches);
