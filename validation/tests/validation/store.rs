//! The store among crowds and damaged files.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Barrier;
use std::thread;

use flitwise_validation::store::{Contents, Key, Notice, Store, StoreError, Survey};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;

/// A bit of everything that postcard writes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Run {
    class: String,
    latencies: Vec<f64>,
    histogram: BTreeMap<u32, u64>,
    saturated: Option<bool>,
}

/// A record that only `(key, sequence)` decide, of `8 * length` bytes and a few.
fn run(key: u64, sequence: u32, length: usize) -> Run {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(key << 32 | u64::from(sequence));
    Run {
        class: format!("class {key}\n"),
        latencies: (0..length).map(|_| random.next_u32().into()).collect(),
        histogram: (0..5).map(|bin| (bin, random.next_u64())).collect(),
        saturated: Some(sequence.is_multiple_of(2)),
    }
}

fn key(key: u64) -> Key {
    Key::new(&("scenario", key)).unwrap()
}

fn scratch() -> (TempDir, Store) {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(&directory.path().join("a").join("store")).unwrap();
    (directory, store)
}

/// Where a record is.
fn path(store: &Store, key: &Key, sequence: u32) -> PathBuf {
    store.directory().join(&key.hash()[..2]).join(format!("{}-{sequence}.flitwise", key.hash()))
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A file as the documentation of the format has it, made without the store.
fn by_hand(version: u32, sequence: u32, key: &str, record: &[u8]) -> Vec<u8> {
    let body = [key.as_bytes(), b"\n", record].concat();
    let sum = sha256(&body);
    let line =
        format!("flitwise-record {version} sequence {sequence} length {} sha256 {sum} line ", body.len());
    [line.as_bytes(), &sha256(line.as_bytes()).as_bytes()[..16], b"\n", &body].concat()
}

fn temporary_files(store: &Store) -> usize {
    let inside = |path: &Path| fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
    let shards = inside(store.directory()).filter(|path| path.is_dir());
    shards.flat_map(|shard| inside(&shard)).filter(|path| path.to_str().unwrap().ends_with(".tmp")).count()
}

#[test]
fn what_is_appended_is_read_in_order() {
    let (_scratch, store) = scratch();
    assert_eq!(store.read::<Run>(&key(0)).unwrap(), Contents { records: vec![], notices: vec![] });
    for sequence in [3, u32::MAX, 0, 10, 2] {
        for which in 0..3 {
            store.append(&key(which), sequence, &run(which, sequence, 30)).unwrap();
        }
    }
    let again = Store::open(store.directory()).unwrap();
    for which in 0..3 {
        let wanted = [0, 2, 3, 10, u32::MAX].map(|sequence| (sequence, run(which, sequence, 30)));
        assert_eq!(again.read(&key(which)).unwrap(), Contents { records: wanted.into(), notices: vec![] });
    }
    assert_eq!(again.read::<Run>(&key(3)).unwrap().records, []);
    let (survey, check) = (again.survey().unwrap(), again.check().unwrap());
    assert_eq!((check.records, &check.notices[..]), (15, &[][..]));
    assert_eq!(survey, Survey { keys: 3, records: 15, bytes: check.bytes, quarantined: 0 });
    let first = fs::metadata(path(&store, &key(0), 0)).unwrap().len();
    assert!(check.bytes > 14 * first, "{check:?}");
}

#[test]
fn files_are_as_documented() {
    let (_scratch, store) = scratch();
    store.append(&key(1), 5, &(300_u32, "x".to_owned())).unwrap();
    // postcard: varint of 300, length, text
    let wanted = by_hand(1, 5, r#"["scenario",1]"#, b"\xac\x02\x01x");
    assert_eq!(fs::read(path(&store, &key(1), 5)).unwrap(), wanted);
}

#[test]
fn nothing_sound_is_replaced() {
    let (_scratch, store) = scratch();
    for record in [run(0, 0, 10), run(0, 0, 10), run(0, 1, 10)] {
        store.append(&key(0), 0, &record).unwrap();
        assert_eq!(store.read(&key(0)).unwrap().records, [(0, run(0, 0, 10))]);
    }
    assert_eq!(temporary_files(&store), 0);
}

/// Some append the same records, others open the store and check it: they take nothing from each other.
#[test]
fn many_may_use_a_store_at_once() {
    let (_scratch, store) = scratch();
    let start = Barrier::new(6);
    thread::scope(|scope| {
        for n in 0..6_u64 {
            let (store, start) = (&store, &start);
            scope.spawn(move || {
                start.wait();
                for sequence in 0..40 {
                    if n % 2 == 0 {
                        store.append(&key(0), sequence, &run(0, sequence, 2_000)).unwrap();
                        store.append(&key(1 + n), sequence, &run(n, sequence, 50)).unwrap();
                    } else {
                        assert_eq!(Store::open(store.directory()).unwrap().check().unwrap().notices, []);
                    }
                }
            });
        }
    });
    let wanted = (0..40).map(|sequence| (sequence, run(0, sequence, 2_000))).collect();
    assert_eq!(store.read(&key(0)).unwrap(), Contents { records: wanted, notices: vec![] });
    assert_eq!(store.survey().unwrap().records, 4 * 40);
    assert_eq!(temporary_files(&store), 0);
}

#[test]
fn many_may_find_the_same_damage_at_once() {
    let (_scratch, store) = scratch();
    for _ in 0..30 {
        store.append(&key(0), 0, &run(0, 0, 10)).unwrap();
        fs::write(path(&store, &key(0), 0), "not a record").unwrap();
        let start = Barrier::new(6);
        thread::scope(|scope| {
            for n in 0..6 {
                let (store, start) = (&store, &start);
                scope.spawn(move || {
                    start.wait();
                    if n % 2 == 0 {
                        let found = store.read::<Run>(&key(0)).unwrap();
                        assert!(found.records.iter().all(|(_, record)| *record == run(0, 0, 10)));
                    } else {
                        store.append(&key(0), 0, &run(0, 0, 10)).unwrap();
                    }
                });
            }
        });
        // the broken one is gone; a good one may have been moved with it
        assert_eq!(store.read::<Run>(&key(0)).unwrap().notices, []);
        assert!(store.survey().unwrap().quarantined > 0);
    }
}

/// Puts `bytes` in the place of a good record and wants them reported, quarantined and not believed, by `read`,
/// `check` and `append` in turn.
fn damage(store: &Store, bytes: &[u8], turn: usize) {
    let file = path(store, &key(0), 1);
    fs::write(&file, bytes).unwrap();
    let notices = match turn % 3 {
        0 => {
            let found = store.read::<Run>(&key(0)).unwrap();
            assert_eq!(found.records, [(0, run(0, 0, 3))]);
            found.notices
        }
        1 => {
            let check = store.check().unwrap();
            assert_eq!(check.records, 1);
            check.notices
        }
        _ => {
            store.append(&key(0), 1, &run(0, 1, 3)).unwrap();
            let both = vec![(0, run(0, 0, 3)), (1, run(0, 1, 3))];
            assert_eq!(store.read::<Run>(&key(0)).unwrap(), Contents { records: both, notices: vec![] });
            fs::remove_file(&file).unwrap();
            Vec::new()
        }
    };
    assert!(!file.exists());
    let quarantine = store.directory().join("quarantine");
    let to = quarantine.join(format!("{}.1", file.file_name().unwrap().to_str().unwrap()));
    assert!(notices.iter().all(|notice| notice.moved_to.as_ref() == Some(&to)), "{notices:?}");
    assert_eq!((notices.len(), fs::read(&to).unwrap()), (usize::from(turn % 3 < 2), bytes.to_vec()));
    fs::remove_dir_all(quarantine).unwrap();
}

/// A store with a good record 0, and the bytes of record 1.
fn two_records() -> (TempDir, Store, Vec<u8>) {
    let (scratch, store) = scratch();
    store.append(&key(0), 0, &run(0, 0, 3)).unwrap();
    store.append(&key(0), 1, &run(0, 1, 3)).unwrap();
    let bytes = fs::read(path(&store, &key(0), 1)).unwrap();
    fs::remove_file(path(&store, &key(0), 1)).unwrap();
    (scratch, store, bytes)
}

#[test]
fn nothing_truncated_or_prolonged_is_believed() {
    let (_scratch, store, bytes) = two_records();
    (0..bytes.len()).for_each(|length| damage(&store, &bytes[..length], length));
    (0..3).for_each(|turn| damage(&store, &[&bytes[..], b"\0"].concat(), turn));
}

#[test]
fn no_flipped_byte_is_believed() {
    let (_scratch, store, bytes) = two_records();
    for at in 0..bytes.len() {
        for (turn, flip) in [0x01, 0x80, 0xff].into_iter().enumerate() {
            let mut bytes = bytes.clone();
            bytes[at] ^= flip;
            damage(&store, &bytes, turn + at);
        }
    }
}

/// With the right checksums, too, a record is decoded or refused; one that promises 2^63 numbers asks for no memory.
#[test]
fn hostile_records_are_decoded_or_refused() {
    let (_scratch, store) = scratch();
    let record = postcard::to_stdvec(&run(0, 1, 3)).unwrap();
    let file = path(&store, &key(0), 1);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(8);
    let (mut believed, mut refused) = (0, 0);
    for _ in 0..300 {
        let mut record = record.clone();
        let at = random.next_u64() as usize % record.len();
        record[at] = random.next_u64() as u8;
        fs::write(&file, by_hand(1, 1, key(0).text(), &record)).unwrap();
        match store.read::<Run>(&key(0)).unwrap().notices.len() {
            0 => believed += 1,
            _ => refused += 1,
        }
    }
    assert!(believed > 20 && refused > 20, "{believed} {refused}");

    let huge = b"\x01x\xff\xff\xff\xff\xff\xff\xff\xff\x7f\x01\x02\x03";
    fs::write(&file, by_hand(1, 1, key(0).text(), huge)).unwrap();
    let found = store.read::<(String, Vec<[u64; 32]>)>(&key(0)).unwrap();
    assert_eq!((found.records.len(), found.notices.len()), (0, 1));
}

#[test]
fn a_renamed_record_is_not_believed() {
    let (_scratch, store) = scratch();
    store.append(&key(0), 0, &run(0, 0, 3)).unwrap();
    let good = path(&store, &key(0), 0);
    for (which, sequence) in [(1, 0), (0, 1)] {
        let renamed = path(&store, &key(which), sequence);
        fs::create_dir_all(renamed.parent().unwrap()).unwrap();
        fs::copy(&good, &renamed).unwrap();
        let found = store.read::<Run>(&key(which)).unwrap();
        assert_eq!((found.notices.len(), renamed.exists()), (1, false), "{found:?}");
    }
    // in a directory that is not its own, or under a name that is none: seen by check alone
    let elsewhere = store.directory().join(if key(0).hash().starts_with("00") { "01" } else { "00" });
    fs::create_dir_all(&elsewhere).unwrap();
    fs::copy(&good, elsewhere.join(good.file_name().unwrap())).unwrap();
    fs::copy(&good, good.with_file_name(format!("{}-00.flitwise", key(0).hash()))).unwrap();
    fs::write(good.with_file_name("notes.txt"), "not ours").unwrap();
    let check = store.check().unwrap();
    assert_eq!((check.records, check.notices.len()), (1, 2), "{check:?}");
    assert_eq!(store.check().unwrap().notices, []);
    assert!(good.with_file_name("notes.txt").exists());
}

#[test]
fn a_newer_version_and_a_huge_file_stay_in_place() {
    let (_scratch, store) = scratch();
    store.append(&key(0), 0, &run(0, 0, 3)).unwrap();
    let (file, huge) = (path(&store, &key(0), 1), path(&store, &key(0), 2));
    let newer = by_hand(2, 1, key(0).text(), b"who knows");
    fs::write(&file, &newer).unwrap();
    fs::File::create(&huge).unwrap().set_len(1 << 40).unwrap(); // sparse
    let found = store.read::<Run>(&key(0)).unwrap();
    assert_eq!(found.records, [(0, run(0, 0, 3))]);
    let left = |notice: &Notice| (notice.path.clone(), notice.moved_to.is_none());
    let notices: Vec<_> = found.notices.iter().map(left).collect();
    assert_eq!(notices, [(file.clone(), true), (huge.clone(), true)]);
    let error = store.append(&key(0), 1, &run(0, 1, 3)).unwrap_err();
    assert!(
        matches!(error, StoreError::Io { .. }) && error.to_string().contains("later flitwise"),
        "{error}"
    );
    assert_eq!(fs::read(&file).unwrap(), newer);

    fs::remove_file(huge).unwrap();
    // a version that a flipped bit made newer is not newer
    let mut flipped = by_hand(1, 1, key(0).text(), b"x");
    flipped["flitwise-record ".len()] = b'3';
    damage(&store, &flipped, 0);
}

/// Whoever writes a temporary file holds a lock on it.
#[test]
fn only_temporary_files_that_nobody_writes_are_removed() {
    let (_scratch, store) = scratch();
    store.append(&key(0), 0, &run(0, 0, 3)).unwrap();
    let shard = path(&store, &key(0), 0).with_file_name("");
    let make = |name: &str| fs::File::create(shard.join(name)).unwrap();
    let [_, alive, _] = [".flitwise-dead.tmp", ".flitwise-alive.tmp", "other.tmp"].map(make);
    alive.lock().unwrap();
    let left = |name: &str| shard.join(name).exists();
    Store::open(store.directory()).unwrap();
    assert!(!left(".flitwise-dead.tmp") && left(".flitwise-alive.tmp") && left("other.tmp"));
    drop(alive);
    Store::open(store.directory()).unwrap();
    assert!(!left(".flitwise-alive.tmp") && left("other.tmp"));
}

#[test]
fn a_store_that_cannot_be_is_an_error() {
    let scratch = tempfile::tempdir().unwrap();
    let file = scratch.path().join("file");
    fs::write(&file, "x").unwrap();
    for path in [file.clone(), file.join("below")] {
        let error = Store::open(&path).unwrap_err().to_string();
        assert!(error.contains(path.to_str().unwrap()) && error.contains("FLITWISE_STORE"), "{error}");
    }
}
