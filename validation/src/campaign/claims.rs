//! Claims on blocks: who has taken which, without a lock.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::ErrorKind;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::{Folder, FolderError, Process};
use crate::store;

/// What stands behind the name of a claim that has been given back.
const RELEASED: &str = "released";
/// What stands behind the name of a process that has ended in order.
pub(super) const ENDED: &str = "ended";
/// What stands behind the name of the file that moves while a process lives.
pub(super) const BEAT: &str = "beat";

/// A process that works on a campaign, as it writes itself down.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct WorkerRecord {
    pub(super) process: Process,
    /// When it came, by its own clock \[s since 1970\].
    pub(super) began_unix_s: u64,
}

/// The claim of the highest generation on a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LastClaim {
    pub(super) generation: u32,
    pub(super) is_released: bool,
}

/// What the names of files say of all blocks.
#[derive(Debug, Default)]
pub(super) struct Listing {
    pub(super) done: HashSet<String>,
    pub(super) failed: HashSet<String>,
    pub(super) claims: HashMap<String, LastClaim>,
}

/// Name of a claim's file.
pub(super) fn name(hash: &str, generation: u32) -> String {
    format!("{hash}.{generation}")
}

impl Listing {
    pub(super) fn of(folder: &Folder) -> Result<Self, FolderError> {
        // claims first: a block that is done in between is then known to be done
        let mut claims: HashMap<String, LastClaim> = HashMap::new();
        for name in store::names(&folder.claims())? {
            let mut parts = name.splitn(3, '.');
            let (Some(hash), Some(Ok(generation))) = (parts.next(), parts.next().map(str::parse::<u32>))
            else {
                continue;
            };
            let is_released = parts.next() == Some(RELEASED);
            let last = claims.entry(hash.to_owned()).or_default();
            if generation > last.generation {
                *last = LastClaim { generation, is_released };
            } else if generation == last.generation {
                last.is_released |= is_released;
            }
        }
        let all = |names: Vec<String>| names.into_iter().collect();
        let (done, failed) = (store::names(&folder.done())?, store::names(&folder.failed())?);
        Ok(Self { done: all(done), failed: all(failed), claims })
    }
}

/// Makes the claim of this generation; `false` if another process has it.
pub(super) fn take(folder: &Folder, hash: &str, generation: u32, worker: &str) -> Result<bool, FolderError> {
    let path = folder.claims().join(name(hash, generation));
    let writing = FolderError::io(&path, "claim a block");
    if store::put(&path, worker.as_bytes()).map_err(writing)? {
        return Ok(true);
    }
    // where the answer of a file server was lost, the file is there all the same
    Ok(fs::read(&path).is_ok_and(|found| found == worker.as_bytes()))
}

/// Gives a claim back.
pub(super) fn release(folder: &Folder, hash: &str, generation: u32) -> Result<(), FolderError> {
    let path = folder.claims().join(format!("{}.{RELEASED}", name(hash, generation)));
    store::put(&path, b"").map(drop).map_err(FolderError::io(&path, "give a block back"))
}

/// The name of the process that has made a claim.
pub(super) fn holder(folder: &Folder, hash: &str, generation: u32) -> String {
    fs::read_to_string(folder.claims().join(name(hash, generation))).unwrap_or_default()
}

/// What a process writes down of itself; nothing if it cannot be read.
pub(super) fn record(folder: &Folder, worker: &str) -> Option<WorkerRecord> {
    serde_json::from_slice(&fs::read(folder.workers().join(worker)).ok()?).ok()
}

/// Whether a process has ended in order.
pub(super) fn has_ended(folder: &Folder, worker: &str) -> bool {
    folder.workers().join(format!("{worker}.{ENDED}")).exists()
}

/// Watches other processes by this one's own clock.
#[derive(Debug)]
pub(super) struct Watch {
    own: Process,
    /// How long a process may be silent.
    lease: Duration,
    seen: HashMap<String, Sighting>,
}

#[derive(Debug)]
struct Sighting {
    process: Option<Process>,
    beat: Vec<u8>,
    since: Instant,
}

impl Watch {
    pub(super) fn new(own: Process, lease: Duration) -> Self {
        Self { own, lease, seen: HashMap::new() }
    }

    /// Whether a process is dead, or its beat has not moved for as long as the lease.
    pub(super) fn is_lost(&mut self, folder: &Folder, worker: &str) -> bool {
        if worker.is_empty() || worker.contains(['/', '\\']) {
            return true; // no process writes such a claim
        }
        if has_ended(folder, worker) {
            return true;
        }
        let beat = fs::read(folder.workers().join(format!("{worker}.{BEAT}"))).unwrap_or_default();
        let sighting = self.seen.entry(worker.to_owned()).or_insert_with(|| Sighting {
            process: record(folder, worker).map(|record| record.process),
            beat: beat.clone(),
            since: Instant::now(),
        });
        if sighting.beat != beat {
            (sighting.beat, sighting.since) = (beat, Instant::now());
        }
        let is_dead = sighting.process.as_ref().is_some_and(|process| process.is_dead(&self.own));
        is_dead || sighting.since.elapsed() >= self.lease
    }
}

/// Whether a block is marked as done.
pub(super) fn is_done(folder: &Folder, hash: &str) -> Result<bool, FolderError> {
    let path = folder.done().join(hash);
    match fs::metadata(&path) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(FolderError::io(&path, "read the file")(error)),
    }
}
