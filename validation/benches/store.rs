//! What a record costs, in the directory of temporary files (`TMPDIR`).

#![allow(missing_docs)]

use std::hint::black_box;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use flitwise_validation::store::{Key, Store};

fn store(c: &mut Criterion) {
    let scratch = tempfile::tempdir().expect("a directory for the bench");
    let store = Store::open(scratch.path()).expect("a store in it");
    let record: Vec<f64> = (0..25_000).map(f64::from).collect(); // 200 kB
    let key = |name: &str| Key::new(name).expect("a text is a key");

    let mut group = c.benchmark_group("store, 200 kB");
    group.sample_size(20);
    let mut sequence = 0;
    group.bench_function("append", |b| {
        let key = key("append");
        b.iter_batched(
            || {
                sequence += 1;
                sequence
            },
            |sequence| store.append(&key, sequence, &record).expect("room for the record"),
            BatchSize::PerIteration,
        );
    });
    group.bench_function("read", |b| {
        let key = key("read");
        store.append(&key, 0, &record).expect("room for the record");
        b.iter(|| black_box(store.read::<Vec<f64>>(&key).expect("a store that can be read")));
    });
    group.finish();

    let mut group = c.benchmark_group("store, 100 bytes");
    group.sample_size(20);
    group.bench_function("append", |b| {
        let key = key("small");
        b.iter_batched(
            || {
                sequence += 1;
                sequence
            },
            |sequence| store.append(&key, sequence, &record[..12].to_vec()).expect("room for the record"),
            BatchSize::PerIteration,
        );
    });
    group.bench_function("read 16", |b| {
        let many = key("many");
        let small: Vec<f64> = record[..12].to_vec();
        for sequence in 0..16 {
            store.append(&many, sequence, &small).expect("room for the record");
        }
        b.iter(|| black_box(store.read::<Vec<f64>>(&many).expect("a store that can be read")));
    });
    group.finish();
}

criterion_group!(benches, store);
criterion_main!(benches);
