//! Whatever happens to a process, its store stays sound, no record is lost, and the numbers are the same in the end.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::process::flitwise;

/// Ten points of some 20 ms: longer than the process takes to begin. The model takes no time without real-time classes.
fn campaign(store: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_flitwise"));
    command
        .args(["compare", "--set", "network.ports=4", "--set", "class.R1.rate=0", "--set", "class.R2.rate=0"])
        .args(["--over", "class.BE.rate=0.001:0.009:10", "--quiet"])
        .args(["--precision", "2%", "--max-messages", "20000", "--format", "csv", "--store"])
        .arg(store)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// A run that nobody disturbs.
fn whole(store: &Path) -> Output {
    let output = campaign(store).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    output
}

/// Records of a store in which nothing is broken.
fn records(store: &Path) -> u64 {
    let output = flitwise(&["store", "check", "--store", store.to_str().unwrap()]);
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{said}");
    match said.contains("nothing has been kept yet") {
        true => 0,
        // "sound: 12 records, .."
        false => said.split(' ').nth(1).unwrap().parse().unwrap(),
    }
}

/// A small generator with a fixed seed: a share from 0 to 1.
struct Draw(u64);

impl Draw {
    fn share(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f64 / (1_u64 << 24) as f64
    }
}

/// Kills the process at the moment when `is_due` holds; `false` if it had ended before.
fn kill(mut child: Child, is_due: &dyn Fn() -> bool) -> bool {
    while !is_due() {
        if child.try_wait().unwrap().is_some() {
            return false;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    let ended = child.try_wait().unwrap().is_some();
    child.kill().unwrap();
    child.wait().unwrap();
    !ended
}

/// Kills runs on one store until enough have been hit: in turn at a moment between 0 and the length of a whole run, and
/// once the run has kept records of its own, which does not depend on how busy the machine is.
#[test]
fn a_store_survives_any_number_of_kills() {
    const STORES: usize = 12;
    const KILLS: usize = 6;
    let scratch = tempfile::tempdir().unwrap();
    let started = Instant::now();
    let undisturbed = whole(&scratch.path().join("undisturbed"));
    let length = started.elapsed();
    let mut draw = Draw(2005);
    let mut partial = 0;
    for index in 0..STORES {
        let store = scratch.path().join(index.to_string());
        let (mut hit, mut runs, mut before) = (0, 0, 0);
        // what is found in the store shortens a run, so that late moments come to nothing
        let mut latest = length;
        while hit < KILLS {
            let child = campaign(&store).spawn().unwrap();
            let (started, after) = (Instant::now(), latest.mul_f64(draw.share()));
            let enough = files(&store).len() + 1 + (draw.share() * 3.0) as usize;
            let is_hit = match runs % 2 {
                0 => kill(child, &|| started.elapsed() >= after),
                _ => kill(child, &|| files(&store).len() >= enough),
            };
            runs += 1;
            if is_hit {
                hit += 1;
            } else {
                latest = latest.mul_f64(0.7);
            }
            let now = records(&store);
            assert!(now >= before, "{before} records were there, {now} are left");
            partial += usize::from(now > before && now < 10);
            before = now;
        }
        let last = whole(&store);
        assert_eq!((&last.stdout, &last.stderr), (&undisturbed.stdout, &undisturbed.stderr));
        assert_eq!(records(&store), records(&scratch.path().join("undisturbed")));
    }
    assert!(partial >= STORES / 2, "only {partial} kills came between two records");
}

#[test]
fn two_processes_on_one_store_print_the_same() {
    let scratch = tempfile::tempdir().unwrap();
    let alone = whole(&scratch.path().join("alone"));
    let shared = scratch.path().join("shared");
    let both = [(); 2].map(|()| campaign(&shared).spawn().unwrap());
    for output in both.map(|child| child.wait_with_output().unwrap()) {
        assert_eq!((output.status.code(), &output.stdout), (Some(1), &alone.stdout));
        assert_eq!(output.stderr, alone.stderr);
    }
    assert_eq!(records(&shared), records(&scratch.path().join("alone")));
}

/// The files of all records, those being written left out.
fn files(store: &Path) -> Vec<PathBuf> {
    let inside = |path: &Path| -> Vec<PathBuf> {
        fs::read_dir(path).into_iter().flatten().map(|entry| entry.unwrap().path()).collect()
    };
    let shards = inside(store).into_iter().filter(|path| !path.ends_with("quarantine") && path.is_dir());
    let is_whole = |path: &PathBuf| path.extension().is_none_or(|ending| ending != "tmp");
    let mut files: Vec<PathBuf> = shards.flat_map(|shard| inside(&shard)).filter(is_whole).collect();
    files.sort();
    files
}

#[test]
fn a_damaged_record_is_reported_set_aside_and_measured_again() {
    let scratch = tempfile::tempdir().unwrap();
    let store = scratch.path().join("store");
    let first = whole(&store);
    let all = files(&store);
    for (at, path) in all.iter().enumerate() {
        let mut bytes = fs::read(path).unwrap();
        let place = (bytes.len() - 1) * at / (all.len() - 1);
        bytes[place] ^= 1 << (at % 8);
        fs::write(path, bytes).unwrap();
        if at == 2 {
            break;
        }
    }
    let again = whole(&store);
    assert_eq!(again.stdout, first.stdout);
    let said = String::from_utf8(again.stderr).unwrap();
    assert_eq!(said.matches("quarantine").count(), 3, "{said}");
    assert_eq!(files(&store), all);
    let quarantined = fs::read_dir(store.join("quarantine")).unwrap();
    let quarantined = quarantined.filter(|entry| entry.as_ref().unwrap().file_name() != ".lock").count();
    assert_eq!(quarantined, 3);
    assert_eq!(records(&store), all.len() as u64);
    let last = whole(&store);
    assert_eq!((last.stdout, last.stderr), (first.stdout, first.stderr));

    // whoever checks is told, too
    fs::write(&all[0], "flitwise-record").unwrap();
    let check = flitwise(&["store", "check", "--store", store.to_str().unwrap()]);
    assert_eq!(check.status.code(), Some(1));
    assert_eq!(records(&store), all.len() as u64 - 1);
}
