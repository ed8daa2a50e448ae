//! How long all derivatives take beside the answer itself: `cargo bench --bench sensitivity`.

#![allow(missing_docs)]

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use flitwise_language::quantity::Quantity;
use flitwise_language::scenario::Preset;
use flitwise_models::model::{Model, Options};
use flitwise_models::sensitivity::{Parameter, ParameterKind, Request, sensitivities};

/// All means by all parameters that have derivatives in forward mode, beside one solve for means.
fn benches(criterion: &mut Criterion) {
    let means =
        Options { distributions: false, saturation_loads: false, details: true, ..Options::default() };
    for name in ["router16", "router16-3rt", "cube6", "cube6-3rt"] {
        let scenario = Preset::find(name).expect("a built-in scenario").scenario();
        let mut request = Request::all(&scenario);
        request.quantities.retain(|quantity| *quantity != Quantity::MissProbability);
        request.parameters.retain(|parameter: &Parameter| parameter.kind() != ParameterKind::Whole);
        criterion.bench_function(&format!("{name}, one solve, means"), |b| {
            b.iter(|| Model::Published.solve(black_box(&scenario), &means).expect("an answer"));
        });
        let parameters = request.parameters.len();
        criterion.bench_function(&format!("{name}, solve and derivatives by {parameters} parameters"), |b| {
            b.iter(|| sensitivities(Model::Published, black_box(&scenario), &request).expect("an answer"));
        });
    }
}

criterion_group! {
    name = sensitivity;
    config = Criterion::default().sample_size(20).warm_up_time(std::time::Duration::from_millis(300));
    targets = benches
}
criterion_main!(sensitivity);
