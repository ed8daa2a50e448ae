//! The store under kills, crowds, damage and full disks.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Barrier};
use std::time::{Duration, SystemTime};

use flitwise_validation::store::{Check, Found, How, Key, Outcome, Reason, Store, StoreError, Survey};
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
    stopped: Stopped,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Stopped {
    Precision,
    Messages(u64),
    Time { seconds: f32 },
}

/// A record that only `(key, sequence)` decide, of `8 * length` bytes and a few.
fn run(key: u64, sequence: u32, length: usize) -> Run {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(key << 32 | u64::from(sequence));
    Run {
        class: format!("class {key}\n"),
        latencies: (0..length).map(|_| random.next_u32().into()).collect(),
        histogram: (0..5).map(|bin| (bin, random.next_u64())).collect(),
        saturated: Some(sequence.is_multiple_of(2)),
        stopped: match sequence % 3 {
            0 => Stopped::Precision,
            1 => Stopped::Messages(random.next_u64()),
            _ => Stopped::Time { seconds: 0.5 },
        },
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

/// Files in a directory that is not the quarantine's lock.
fn files(directory: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.filter(|path| path.file_name().unwrap() != ".lock").collect()
}

fn temporary_files(store: &Path) -> Vec<PathBuf> {
    let shards = files(store).into_iter().filter(|path| path.is_dir());
    shards.flat_map(|shard| files(&shard)).filter(|path| path.to_str().unwrap().ends_with(".tmp")).collect()
}

/// This test binary again, doing `job` in `directory`.
fn child(job: &str, directory: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "store::child_process", "--ignored", "--nocapture", "--test-threads=1"]);
    command.env("STORE_TEST_JOB", job).env("STORE_TEST_DIRECTORY", directory);
    command
}

/// Tells the parent, at once.
fn say(line: &str) {
    let mut out = std::io::stdout();
    out.write_all(format!("\nsaid {line}\n").as_bytes()).unwrap();
    out.flush().unwrap();
}

/// Whole lines that a child said.
fn said(output: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(output);
    let whole = &text[..text.rfind('\n').map_or(0, |end| end + 1)];
    whole.lines().filter_map(|line| line.strip_prefix("said ")).map(str::to_owned).collect()
}

#[test]
#[ignore = "what the child processes of other tests do; nothing by itself"]
fn child_process() {
    let (Ok(job), Some(directory)) =
        (std::env::var("STORE_TEST_JOB"), std::env::var_os("STORE_TEST_DIRECTORY"))
    else {
        return;
    };
    let store = Store::open(Path::new(&directory)).unwrap();
    let (job, number) = job.split_once(' ').unwrap();
    let number: u32 = number.parse().unwrap();
    match job {
        "append" => {
            say("ready");
            for sequence in number.. {
                let which = u64::from(sequence % 3);
                let record = run(which, sequence, length_of(sequence));
                assert_eq!(store.append(&key(which), sequence, &record).unwrap().how, How::Written);
                say(&sequence.to_string());
            }
        }
        "overlap" => {
            let mut all: Vec<_> =
                (0..4).flat_map(|which| (0..25).map(move |sequence| (which, sequence))).collect();
            shuffle(&mut all, number.into());
            say("ready");
            std::io::stdin().read_exact(&mut [0]).unwrap(); // all start together
            for (which, sequence) in all {
                let appended = store.append(&key(which), sequence, &run(which, sequence, 50)).unwrap();
                assert_eq!(appended.notices, []);
                say(&format!("{:?} {which} {sequence}", appended.how));
            }
        }
        "fill" => {
            // until the disk is full, then as much again: still full, still sound
            let mut whole = Vec::new();
            let mut errors = 0;
            for sequence in 0..10_000 {
                let length = if sequence % 2 == 0 { 3_000 } else { 10 };
                match store.append(&key(0), sequence, &run(0, sequence, length)) {
                    Ok(appended) => {
                        assert_eq!(appended.how, How::Written);
                        whole.push((sequence, run(0, sequence, length)));
                    }
                    Err(error) => {
                        assert!(matches!(error, StoreError::Io { .. }), "{error:?}");
                        assert!(error.to_string().contains("make room and go on"), "{error}");
                        errors += 1;
                        if errors == 20 {
                            break;
                        }
                    }
                }
            }
            assert_eq!(errors, 20);
            assert!(whole.len() >= number as usize, "{}", whole.len());
            let found = store.read::<Run>(&key(0)).unwrap();
            assert_eq!(found.notices, []);
            assert_eq!(found.records, whole);
            assert_eq!(temporary_files(store.directory()), [] as [PathBuf; 0]);
            assert_eq!(store.check().unwrap().records, whole.len() as u64);
            // it opens when full, too
            let again = Store::open(store.directory()).unwrap();
            assert_eq!(again.read::<Run>(&key(0)).unwrap().records.len(), whole.len());
            say("sound");
        }
        "read-only" => {
            assert!(store.read_only().unwrap().to_string().contains("FLITWISE_STORE"));
            let found = store.read::<Run>(&key(0)).unwrap();
            assert_eq!(found.records, [(0, run(0, 0, 10)), (2, run(0, 2, 10))]);
            // the broken one stays, is reported and is not believed
            assert_eq!(found.notices.len(), 1);
            assert_eq!(found.notices[0].reason, Reason::Checksum);
            assert!(matches!(found.notices[0].outcome, Outcome::NotMoved { .. }));
            for (sequence, wanted) in [(0, "AlreadySame"), (1, "Occupied"), (3, "Io")] {
                let done = match store.append(&key(0), sequence, &run(0, sequence, 10)) {
                    Ok(appended) => format!("{:?}", appended.how),
                    Err(error) => {
                        assert!(error.to_string().contains("FLITWISE_STORE"), "{error}");
                        format!("{error:?}")
                    }
                };
                assert!(done.starts_with(wanted), "{sequence}: {done}");
            }
            assert_eq!(store.survey().unwrap().records, 3);
            say("sound");
        }
        other => panic!("no such job: {other}"),
    }
}

/// Mostly small, sometimes some 200 kB.
fn length_of(sequence: u32) -> usize {
    if sequence % 4 == 3 { 25_000 } else { 20 + sequence as usize % 700 }
}

fn shuffle<T>(items: &mut [T], seed: u64) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    for n in (1..items.len()).rev() {
        items.swap(n, random.next_u64() as usize % (n + 1));
    }
}

#[test]
fn what_is_appended_is_read_in_order() {
    let (_scratch, store) = scratch();
    assert_eq!(store.read::<Run>(&key(0)).unwrap(), Found { records: vec![], notices: vec![] });
    for sequence in [3, u32::MAX, 0, 10, 2] {
        for which in 0..3 {
            let appended = store.append(&key(which), sequence, &run(which, sequence, 30)).unwrap();
            assert_eq!((appended.how, appended.notices), (How::Written, vec![]));
        }
    }
    let again = Store::open(store.directory()).unwrap();
    assert!(again.read_only().is_none());
    for which in 0..3 {
        let wanted = [0, 2, 3, 10, u32::MAX].map(|sequence| (sequence, run(which, sequence, 30)));
        assert_eq!(again.read(&key(which)).unwrap(), Found { records: wanted.into(), notices: vec![] });
    }
    assert_eq!(again.read::<Run>(&key(3)).unwrap().records, []);
    let survey = again.survey().unwrap();
    let check = again.check().unwrap();
    assert_eq!(check, Check { records: 15, bytes: survey.bytes, notices: vec![], removed: 0 });
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
fn nothing_is_replaced() {
    let (_scratch, store) = scratch();
    store.append(&key(0), 0, &run(0, 0, 10)).unwrap();
    let file = path(&store, &key(0), 0);
    let (bytes, modified) = (fs::read(&file).unwrap(), fs::metadata(&file).unwrap().modified().unwrap());
    assert_eq!(store.append(&key(0), 0, &run(0, 0, 10)).unwrap().how, How::AlreadySame);
    assert_eq!(store.append(&key(0), 0, &run(0, 1, 10)).unwrap().how, How::AlreadyOther);
    assert_eq!(fs::read(&file).unwrap(), bytes);
    assert_eq!(fs::metadata(&file).unwrap().modified().unwrap(), modified);
    assert_eq!(store.survey().unwrap().records, 1);
    assert_eq!(temporary_files(store.directory()), [] as [PathBuf; 0]);
}

#[test]
fn a_kill_loses_nothing_that_was_appended() {
    let scratch = tempfile::tempdir().unwrap();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(20_260);
    let (mut appended, mut left_behind) = (Vec::new(), 0);
    for round in 0..80 {
        let mut command = child(&format!("append {}", round * 1_000), scratch.path());
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut out = process.stdout.take().unwrap();
        let mut output = Vec::new();
        // some records first, that the speed of the disk may not decide how much is tested
        let records = random.next_u64() as usize % 5;
        while said(&output).len() < 1 + records {
            let mut piece = [0; 4096];
            let length = out.read(&mut piece).unwrap();
            assert_ne!(length, 0, "the child ended by itself");
            output.extend_from_slice(&piece[..length]);
        }
        std::thread::sleep(Duration::from_micros(random.next_u64() % 6_000));
        process.kill().unwrap(); // SIGKILL
        process.wait().unwrap();
        out.read_to_end(&mut output).unwrap();
        appended.extend(said(&output).into_iter().skip(1).map(|line| line.parse::<u32>().unwrap()));
        // the next one that opens the store removes it
        let left = temporary_files(scratch.path()).len();
        assert!(left <= 1, "{left} temporary files in round {round}");
        left_behind += left;
    }
    assert!(appended.len() > 100, "{} records are too few to tell", appended.len());

    let store = Store::open(scratch.path()).unwrap();
    let mut there = BTreeMap::new();
    for which in 0..3 {
        let found = store.read::<Run>(&key(which)).unwrap();
        assert_eq!(found.notices, []);
        for (sequence, record) in found.records {
            assert_eq!(u64::from(sequence % 3), which);
            assert_eq!(record, run(which, sequence, length_of(sequence)));
            there.insert(sequence, record);
        }
    }
    for sequence in &appended {
        assert!(there.contains_key(sequence), "{sequence} was appended and is lost");
    }
    // a kill between the record's name and its number on the pipe: at most one a round more
    assert!(there.len() <= appended.len() + 80);
    let check = store.check().unwrap();
    assert_eq!((check.records, check.notices), (there.len() as u64, vec![]));
    // some kills came while a record was being written: there was something to survive
    assert!(left_behind > 0);
    assert_eq!(temporary_files(scratch.path()), [] as [PathBuf; 0]);
}

#[test]
fn processes_may_append_the_same_at_once() {
    let scratch = tempfile::tempdir().unwrap();
    let mut processes: Vec<_> = (0..4)
        .map(|n| {
            let mut command = child(&format!("overlap {n}"), scratch.path());
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    for process in &mut processes {
        process.stdin.as_mut().unwrap().write_all(b"!").unwrap();
    }
    let mut written = Vec::new();
    for process in processes {
        let output = process.wait_with_output().unwrap();
        assert!(output.status.success());
        let lines = said(&output.stdout);
        assert_eq!(lines.len(), 101);
        assert!(lines[1..].iter().all(|line| line.starts_with("Written") || line.starts_with("AlreadySame")));
        written.extend(lines.into_iter().filter(|line| line.starts_with("Written")));
    }
    // each was written by exactly one of them
    assert_eq!(written.len(), 100);
    written.sort();
    written.dedup();
    assert_eq!(written.len(), 100);

    let store = Store::open(scratch.path()).unwrap();
    for which in 0..4 {
        let wanted = (0..25).map(|sequence| (sequence, run(which, sequence, 50))).collect();
        assert_eq!(store.read(&key(which)).unwrap(), Found { records: wanted, notices: vec![] });
    }
    assert_eq!(store.survey().unwrap().records, 100);
    assert_eq!(temporary_files(store.directory()), [] as [PathBuf; 0]);
}

#[test]
fn many_may_find_the_same_damage_at_once() {
    let (_scratch, store) = scratch();
    for round in 0..30 {
        store.append(&key(0), 0, &run(0, 0, 10)).unwrap();
        fs::write(path(&store, &key(0), 0), "not a record").unwrap();
        let start = Arc::new(Barrier::new(6));
        let threads: Vec<_> = (0..6)
            .map(|n| {
                let (store, start) = (store.clone(), Arc::clone(&start));
                std::thread::spawn(move || {
                    start.wait();
                    if n % 2 == 0 {
                        let found = store.read::<Run>(&key(0)).unwrap();
                        assert!(found.records.iter().all(|(_, record)| *record == run(0, 0, 10)));
                        found.notices
                    } else {
                        // puts a good one in the place of the broken one, which no reader may move
                        store.append(&key(0), 0, &run(0, 0, 10)).unwrap().notices
                    }
                })
            })
            .collect();
        let notices = threads.into_iter().flat_map(|thread| thread.join().unwrap());
        let moved = notices.filter(|notice| matches!(notice.outcome, Outcome::Quarantined { .. })).count();
        assert_eq!(moved, 1);
        assert_eq!(store.survey().unwrap().quarantined, round + 1);
        let wanted = Found { records: vec![(0, run(0, 0, 10))], notices: vec![] };
        assert_eq!(store.read(&key(0)).unwrap(), wanted);
        fs::remove_file(path(&store, &key(0), 0)).unwrap();
    }
}

/// Puts `bytes` in the place of a good record and wants them reported, quarantined and not believed, by `read`,
/// `check` and `append` in turn.
fn damage(store: &Store, bytes: &[u8], turn: usize) -> Reason {
    let good = run(0, 1, 3);
    let file = path(store, &key(0), 1);
    let before = files(&store.directory().join("quarantine")).len();
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
            let appended = store.append(&key(0), 1, &good).unwrap();
            assert_eq!(appended.how, How::Written);
            let both = vec![(0, run(0, 0, 3)), (1, good)];
            assert_eq!(store.read::<Run>(&key(0)).unwrap(), Found { records: both, notices: vec![] });
            fs::remove_file(&file).unwrap();
            appended.notices
        }
    };
    assert!(!file.exists());
    assert_eq!(notices.len(), 1, "{notices:?}");
    let Outcome::Quarantined { to } = &notices[0].outcome else { panic!("{:?}", notices[0]) };
    assert_eq!(fs::read(to).unwrap(), bytes);
    assert_eq!(files(&store.directory().join("quarantine")).len(), before + 1);
    // the next thousand need not step over this one
    fs::remove_file(to).unwrap();
    notices[0].reason.clone()
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
fn no_truncated_file_is_believed() {
    let (_scratch, store, bytes) = two_records();
    for length in 0..bytes.len() {
        let reason = damage(&store, &bytes[..length], length);
        assert!(matches!(reason, Reason::Truncated { .. }), "{length}: {reason}");
    }
    let longer = [&bytes[..], b"\0"].concat();
    for turn in 0..3 {
        assert!(matches!(damage(&store, &longer, turn), Reason::TooLong { .. }));
    }
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

#[test]
fn no_mutation_is_believed() {
    let (_scratch, store, bytes) = two_records();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
    let mut up_to = move |end: usize| random.next_u64() as usize % end;
    for turn in 0..1_000 {
        let mut mutant = bytes.clone();
        for _ in 0..1 + up_to(4) {
            let (a, b) = (up_to(mutant.len() + 1), up_to(mutant.len() + 1));
            let (a, b) = (a.min(b), a.max(b));
            match up_to(6) {
                0 => mutant.truncate(a),
                1 => drop(mutant.drain(a..b)),
                2 => mutant[a..b].reverse(),
                3 => mutant[a..b].fill(b"\n 09af\xff\0"[up_to(8)]),
                4 => mutant.extend_from_within(a..b),
                _ => mutant.splice(a..a, (0..20).map(|_| up_to(256) as u8)).for_each(drop),
            }
        }
        if mutant != bytes {
            damage(&store, &mutant, turn);
        }
    }
}

/// Whoever makes the checksums right can still only be decoded or refused.
#[test]
fn hostile_records_are_decoded_or_refused() {
    let (_scratch, store) = scratch();
    let record = postcard::to_stdvec(&run(0, 1, 3)).unwrap();
    let file = path(&store, &key(0), 1);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(8);
    let (mut believed, mut refused) = (0, 0);
    for _ in 0..1_000 {
        let mut record = record.clone();
        for _ in 0..1 + random.next_u64() % 4 {
            let at = random.next_u64() as usize % record.len();
            record[at] = random.next_u64() as u8 | if random.next_u64() % 2 == 0 { 0x80 } else { 0 };
        }
        fs::write(&file, by_hand(1, 1, key(0).text(), &record)).unwrap();
        let found = store.read::<Run>(&key(0)).unwrap();
        match &found.notices[..] {
            [] => believed += 1,
            [notice] => {
                assert!(matches!(notice.reason, Reason::Undecodable(_)), "{notice}");
                assert_eq!(found.records, []);
                refused += 1;
            }
            more => panic!("{more:?}"),
        }
        let _ = fs::remove_file(&file);
    }
    assert!(believed > 50 && refused > 50, "{believed} {refused}");

    // 2^63 numbers in a few bytes
    let mut huge = b"\x01x".to_vec();
    huge.extend([0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 1, 2, 3]);
    fs::write(&file, by_hand(1, 1, key(0).text(), &huge)).unwrap();
    let found = store.read::<(String, Vec<[u64; 32]>)>(&key(0)).unwrap();
    assert_eq!(found.records, []);
    assert!(matches!(found.notices[0].reason, Reason::Undecodable(_)));
}

#[test]
fn a_renamed_record_is_not_believed() {
    let (_scratch, store) = scratch();
    let renamed = |from: (u64, u32), to: (u64, u32)| {
        store.append(&key(from.0), from.1, &run(0, 0, 3)).unwrap();
        let to_path = path(&store, &key(to.0), to.1);
        fs::create_dir_all(to_path.parent().unwrap()).unwrap();
        fs::copy(path(&store, &key(from.0), from.1), &to_path).unwrap();
        let found = store.read::<Run>(&key(to.0)).unwrap();
        assert!(found.records.iter().all(|(sequence, _)| (to.0, *sequence) == from), "{found:?}");
        assert!(!to_path.exists());
        found.notices.into_iter().map(|notice| notice.reason).collect::<Vec<_>>()
    };
    assert_eq!(renamed((0, 0), (1, 0)), [Reason::AnotherKey]);
    assert_eq!(renamed((0, 0), (0, 1)), [Reason::AnotherSequence { found: 0 }]);

    // so say the others, which do not ask for the key's text
    let (from, to) = (path(&store, &key(0), 0), path(&store, &key(1), 0));
    fs::copy(&from, &to).unwrap();
    assert_eq!(store.check().unwrap().notices[0].reason, Reason::AnotherKey);
    fs::copy(&from, &to).unwrap();
    let appended = store.append(&key(1), 0, &run(1, 0, 3)).unwrap();
    assert_eq!((appended.how, &appended.notices[0].reason), (How::Written, &Reason::AnotherKey));
    fs::remove_file(&to).unwrap();

    // in a directory that is not its own, or under a name that is none: seen by check alone
    let elsewhere = store.directory().join(if key(0).hash().starts_with("00") { "01" } else { "00" });
    fs::create_dir_all(&elsewhere).unwrap();
    let good = path(&store, &key(0), 0);
    fs::copy(&good, elsewhere.join(good.file_name().unwrap())).unwrap();
    fs::copy(&good, good.with_file_name(format!("{}-00.flitwise", key(0).hash()))).unwrap();
    fs::write(good.with_file_name("notes.txt"), "not ours").unwrap();
    let check = store.check().unwrap();
    assert_eq!(check.records, 1);
    assert!(check.notices.iter().all(|notice| notice.reason == Reason::Name));
    assert_eq!(check.notices.len(), 2);
    assert_eq!(store.check().unwrap().notices, []);
    assert!(good.with_file_name("notes.txt").exists());
}

#[test]
fn what_is_newer_is_skipped() {
    let (_scratch, store) = scratch();
    store.append(&key(0), 0, &run(0, 0, 3)).unwrap();
    let file = path(&store, &key(0), 1);
    let newer = by_hand(2, 1, key(0).text(), b"who knows");
    fs::write(&file, &newer).unwrap();
    let found = store.read::<Run>(&key(0)).unwrap();
    assert_eq!(found.records, [(0, run(0, 0, 3))]);
    let reasons: Vec<_> = found.notices.iter().map(|notice| (&notice.reason, &notice.outcome)).collect();
    assert_eq!(reasons, [(&Reason::NewerVersion { found: 2 }, &Outcome::Skipped)]);
    assert_eq!(store.check().unwrap().notices, found.notices);
    let error = store.append(&key(0), 1, &run(0, 1, 3)).unwrap_err();
    assert!(matches!(error, StoreError::Occupied(_)), "{error}");
    assert!(error.to_string().contains("use the later flitwise"), "{error}");
    assert_eq!(fs::read(&file).unwrap(), newer);

    // a version that a flipped bit made newer is not newer
    let mut flipped = by_hand(1, 1, key(0).text(), b"x");
    flipped["flitwise-record ".len()] = b'3';
    fs::write(&file, flipped).unwrap();
    assert_eq!(store.read::<Run>(&key(0)).unwrap().notices[0].reason, Reason::Header);
    assert!(!file.exists());
}

#[test]
#[cfg(unix)]
fn what_is_not_a_file_is_not_opened() {
    let (_scratch, store) = scratch();
    store.append(&key(0), 0, &run(0, 0, 3)).unwrap();
    let at = |sequence| path(&store, &key(0), sequence);
    fs::create_dir(at(1)).unwrap();
    std::os::unix::fs::symlink("nowhere", at(2)).unwrap();
    assert!(Command::new("mkfifo").arg(at(3)).status().unwrap().success());
    let found = store.read::<Run>(&key(0)).unwrap();
    assert_eq!(found.records.len(), 1);
    assert_eq!(found.notices.len(), 3);
    assert!(found.notices.iter().all(|notice| notice.reason == Reason::NotAFile), "{found:?}");
    // a sparse file of a terabyte
    fs::File::create(at(4)).unwrap().set_len(1 << 40).unwrap();
    let found = store.read::<Run>(&key(0)).unwrap();
    assert_eq!(found.notices[0].reason, Reason::TooLarge { found: 1 << 40 });
}

/// Whoever writes a temporary file holds a lock on it; however old it is, it is left alone.
#[test]
fn only_temporary_files_that_nobody_writes_are_removed() {
    let (_scratch, store) = scratch();
    store.append(&key(0), 0, &run(0, 0, 3)).unwrap();
    let shard = path(&store, &key(0), 0).with_file_name("");
    let file = |name: &str, days: u64| {
        let then = SystemTime::now() - Duration::from_secs(days * 24 * 60 * 60 + 60);
        let file = fs::File::create(shard.join(name)).unwrap();
        file.set_modified(then).unwrap();
        file
    };
    let [_, _, _, alive, _] = [
        file(".flitwise-old.tmp", 2),
        file(".flitwise-new.tmp", 0),
        file("other.tmp", 2),
        file(".flitwise-alive.tmp", 2),
        file("flitwise.tmp", 2),
    ];
    fs::create_dir(shard.join(".flitwise-folder.tmp")).unwrap();
    alive.lock().unwrap();
    assert_eq!(store.survey().unwrap().records, 1);
    assert_eq!(store.check().unwrap().removed, 2);
    let left = |name: &str| shard.join(name).exists();
    assert!(!left(".flitwise-old.tmp") && !left(".flitwise-new.tmp") && left(".flitwise-alive.tmp"));
    assert!(left("other.tmp") && left("flitwise.tmp") && left(".flitwise-folder.tmp"));
    // its writer is gone: who opens the store next removes it, and the check says so
    drop(alive);
    let again = Store::open(store.directory()).unwrap();
    assert!(!left(".flitwise-alive.tmp"));
    assert_eq!(again.check().unwrap().removed, 1);
}

/// Those who open the store while others write to it take nothing from them.
#[test]
fn sweepers_and_writers_do_not_disturb_each_other() {
    let (_scratch, store) = scratch();
    let start = Arc::new(Barrier::new(6));
    let threads: Vec<_> = (0..6_u64)
        .map(|n| {
            let (store, start) = (store.clone(), Arc::clone(&start));
            std::thread::spawn(move || {
                start.wait();
                for sequence in 0..60 {
                    if n % 2 == 0 {
                        let how = store.append(&key(n), sequence, &run(n, sequence, 2_000)).unwrap().how;
                        assert_eq!(how, How::Written);
                    } else {
                        assert_eq!(Store::open(store.directory()).unwrap().check().unwrap().notices, []);
                    }
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(store.survey().unwrap().records, 3 * 60);
    assert_eq!(temporary_files(store.directory()), [] as [PathBuf; 0]);
}

#[test]
#[cfg(unix)]
fn a_file_that_may_not_grow_is_no_record() {
    let scratch = tempfile::tempdir().unwrap();
    // 8 kiB and less are written, more are not; the shell lets the signal be an error
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' XFSZ; ulimit -f 16; exec \"$@\"", "sh"]);
    succeed(command, child("fill 10", scratch.path()), scratch.path());
    assert!(Store::open(scratch.path()).unwrap().survey().unwrap().records >= 10);
}

/// Whether this user may mount what only a child of theirs sees.
#[cfg(target_os = "linux")]
fn may_mount() -> bool {
    let mount = "mount -t tmpfs tmpfs /tmp";
    let status = Command::new("unshare").args(["--mount", "--map-root-user", "sh", "-c", mount]).output();
    status.is_ok_and(|output| output.status.success())
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_leaves_the_store_sound() {
    if !may_mount() {
        eprintln!("not tested: no mounts here; the limit on file sizes has to stand in");
        return;
    }
    let scratch = tempfile::tempdir().unwrap();
    let mut command = Command::new("unshare");
    let mount = "mount -t tmpfs -o size=512k tmpfs \"$STORE_TEST_DIRECTORY\" && exec \"$@\"";
    command.args(["--mount", "--map-root-user", "sh", "-c", mount, "sh"]);
    succeed(command, child("fill 10", scratch.path()), scratch.path());
}

#[test]
#[cfg(target_os = "linux")]
fn a_read_only_disk_can_be_read() {
    if !may_mount() {
        eprintln!("not tested: no mounts here");
        return;
    }
    let scratch = tempfile::tempdir().unwrap();
    let store = Store::open(scratch.path()).unwrap();
    for sequence in 0..3 {
        store.append(&key(0), sequence, &run(0, sequence, 10)).unwrap();
    }
    let broken = path(&store, &key(0), 1);
    let mut bytes = fs::read(&broken).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&broken, bytes).unwrap();
    let mut command = Command::new("unshare");
    let mount = "mount --bind \"$STORE_TEST_DIRECTORY\" \"$STORE_TEST_DIRECTORY\" && \
                 mount -o remount,ro,bind \"$STORE_TEST_DIRECTORY\" && exec \"$@\"";
    command.args(["--mount", "--map-root-user", "sh", "-c", mount, "sh"]);
    succeed(command, child("read-only 0", scratch.path()), scratch.path());
}

/// Runs `child` by way of `outer` and wants the child to have found all sound.
#[cfg(unix)]
fn succeed(mut outer: Command, child: Command, directory: &Path) {
    outer.arg(child.get_program()).args(child.get_args());
    let environment = child.get_envs().filter_map(|(name, value)| Some((name, value?)));
    let output = outer.envs(environment).output().unwrap();
    let text = [&output.stdout[..], &output.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    assert!(output.status.success(), "{}: {text}", directory.display());
    assert_eq!(said(&output.stdout), ["sound"], "{text}");
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
