//! A cache of results on disk. All of them can be computed again, so a broken file costs only time. Checksums keep
//! broken files from being used.
//!
//! A [`Key`] identifies the computation (a scenario and its settings), and a sequence number one of its records (the
//! first replication of a block, say). Any number of threads and processes may use the same directory at once.
//!
//! ```
//! use flitwise_validation::store::{Key, Store};
//!
//! # let scratch = tempfile::tempdir().unwrap();
//! # let directory = scratch.path().join("store");
//! let store = Store::open(&directory)?;
//! let key = Key::new(&("hypercube", 4, 0.002))?;
//! store.append(&key, 0, &vec![36.0, 46.5])?;
//!
//! let found = store.read::<Vec<f64>>(&key)?;
//! assert_eq!(found.records, [(0, vec![36.0, 46.5])]);
//! assert!(found.notices.is_empty());
//! # Ok::<(), flitwise_validation::store::StoreError>(())
//! ```
//!
//! # Format, version 1
//!
//! | path | what it is |
//! |---|---|
//! | `<2 hex>/<64 hex>-<sequence>.flitwise` | one record; never changed once it is there |
//! | `<2 hex>/.flitwise-*.tmp` | a record being written, or the remains of a dead process; never read |
//! | `quarantine/<name>.<n>` | the `n`-th broken file that had this name |
//!
//! The 64 hex digits are the SHA-256 of the key's text, the directory is the first two of them, the sequence is
//! decimal without leading zeros. Other files are left alone. A record is
//!
//! ```text
//! flitwise-record 1 sequence 7 length 1234 sha256 <64 hex> line <16 hex>\n
//! {"network":{"dimension":4}, ...}\n
//! <the record in postcard>
//! ```
//!
//! - The first line: format, version, sequence, the number of bytes after the line and their SHA-256; last the
//!   first 16 hex digits of the SHA-256 of all that stands before them. Any later version starts
//!   `flitwise-record <version> ` and ends its first line in the same check, so that a damaged version number is not
//!   taken for a new version.
//! - The second line is the key's text: JSON without white space, the members of objects in the order of their
//!   names' bytes. `head -2` shows which scenario a file holds.
//! - The rest is the record in [postcard](https://postcard.jamesmunns.com/wire-format), to the last byte.
//!
//! A file is believed if its first line is the one that its name and its contents ask for, and the SHA-256 of its key
//! is the one in its name. Any other file is moved to `quarantine/` and reported; only a file of a *newer* version, one
//! that cannot be read and one of more than 1 GiB stay where they are, with a [`Notice`].
//!
//! # Questions
//!
//! **How does a record get its name?** It is written to a temporary file, which then gets the name if no file has it. A
//! kill before that leaves a temporary file. Its writer holds a lock on it, which the system takes back when the
//! process dies; [`Store::open`] removes files without a writer.
//!
//! **Why one file per record and not one log?** The end of a log is in doubt after every kill, two writers need a
//! lock, and one damaged length hides all that follows. A file of its own is there or not, and a merge of stores is a
//! copy of files.
//!
//! **Why is nothing synced, and no lock held while a file is moved?** After a power cut a file may be empty: then its
//! checksum fails. Two processes that find the same broken file may move the good one that a third has put there
//! meanwhile. In both cases a record is computed again.
//!
//! **What if the type of the record changes?** Then old files cannot be decoded, and `read` moves them to quarantine;
//! or worse, they can. Put a version of the type into the key.

mod error;
mod file;
mod key;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use serde::de::DeserializeOwned;

pub use error::{Notice, StoreError};
pub use key::Key;

use file::Fault;

/// Where broken files go, in the directory of the store.
const QUARANTINE: &str = "quarantine";
/// Start and end of the names of temporary files.
const TEMPORARY: (&str, &str) = (".flitwise-", ".tmp");
/// How often a file is written anew that is not there when it gets its name.
const MOST_TRIES: u32 = 100;
/// How often `append` starts again when a broken file has the record's name.
const ATTEMPTS: u32 = 4;

/// A directory of records. Clones share it, as do all that open the same directory.
#[derive(Clone, Debug)]
pub struct Store {
    directory: Arc<Path>,
    /// Of a replay: the records that have been asked for or added, by the hash of their key.
    told: Option<Arc<Mutex<Told>>>,
}

/// Sequences by hash.
type Told = HashMap<String, HashSet<u32>>;

/// What [`Store::read`] found.
#[derive(Clone, Debug, PartialEq)]
pub struct Contents<T> {
    /// Sequences with their records, in order.
    pub records: Vec<(u32, T)>,
    /// Files under this key that were not believed.
    pub notices: Vec<Notice>,
}

/// How much there is, by the names and lengths of files; none is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    /// Keys with a record.
    pub keys: u64,
    /// Records.
    pub records: u64,
    /// Length of all records' files \[bytes\].
    pub bytes: u64,
    /// Files in quarantine.
    pub quarantined: u64,
}

/// What [`Store::check`] found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Check {
    /// Records that are what they say.
    pub records: u64,
    /// Length of their files \[bytes\].
    pub bytes: u64,
    /// Files that were not believed.
    pub notices: Vec<Notice>,
}

impl Store {
    /// The store in `directory`, which is made if it is not there.
    ///
    /// # Errors
    /// The directory cannot be made or listed.
    pub fn open(directory: &Path) -> Result<Self, StoreError> {
        let making = StoreError::io(directory, "make the directory of the store");
        let directory = std::path::absolute(directory).map_err(&making)?; // the program may go elsewhere
        fs::create_dir_all(&directory).map_err(making)?;
        let store = Self { directory: directory.into(), told: None };
        store.shards()?.iter().for_each(|shard| remove_abandoned(shard));
        Ok(store)
    }

    /// Where the records are.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The same store as one that was empty at the beginning sees it: a record is there once it has been appended, or
    /// recalled in place of a computation. So questions put in their first order find what they found then, whatever
    /// has been kept since. Clones of a replay share its course.
    pub fn replay(&self) -> Self {
        Self { told: Some(Arc::default()), ..self.clone() }
    }

    /// Whether this is a [`Store::replay`].
    pub fn is_replay(&self) -> bool {
        self.told.is_some()
    }

    /// The store with all of its records, whatever a replay has seen.
    pub(crate) fn whole(&self) -> Self {
        Self { told: None, ..self.clone() }
    }

    /// Of a replay: the record that was computed here before, if it is kept.
    ///
    /// # Errors
    /// The file is not believed.
    pub(crate) fn recall<T: DeserializeOwned>(&self, key: &Key, sequence: u32) -> Result<Option<T>, Notice> {
        if !self.is_replay() {
            return Ok(None);
        }
        let judge = |bytes: &[u8]| file::from_postcard(file::decode(bytes, key.hash(), sequence)?);
        let found = self.examine(&self.path(key, sequence), judge)?;
        if found.is_some() {
            self.tell(key, sequence);
        }
        Ok(found)
    }

    /// What a replay has seen.
    fn told(&self) -> Option<MutexGuard<'_, Told>> {
        self.told.as_ref().map(|told| told.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn tell(&self, key: &Key, sequence: u32) {
        if let Some(mut told) = self.told() {
            told.entry(key.hash().to_owned()).or_default().insert(sequence);
        }
    }

    /// `$FLITWISE_STORE`, else `flitwise/store` in the user's cache directory; `None` if there is no home.
    pub fn default_directory() -> Option<PathBuf> {
        use etcetera::BaseStrategy as _;
        let cache = || etcetera::choose_base_strategy().ok().map(|user| user.cache_dir());
        directory_from(std::env::var_os("FLITWISE_STORE"), cache)
    }

    /// All records of `key` in the order of their sequence, and what of it was not believed.
    ///
    /// # Errors
    /// The directory cannot be listed. A file that cannot be read is a [`Notice`].
    pub fn read<T: DeserializeOwned>(&self, key: &Key) -> Result<Contents<T>, StoreError> {
        let names = names(&self.shard(key.hash()))?;
        let of_key = names.iter().filter_map(|name| file::parse_name(name));
        let mut sequences: Vec<u32> =
            of_key.filter(|(hash, _)| *hash == key.hash()).map(|(_, sequence)| sequence).collect();
        sequences.sort_unstable();
        if let Some(told) = self.told() {
            let of_key = told.get(key.hash());
            sequences.retain(|sequence| of_key.is_some_and(|told| told.contains(sequence)));
        }

        let mut found = Contents { records: Vec::new(), notices: Vec::new() };
        for sequence in sequences {
            let path = self.path(key, sequence);
            let judge = |bytes: &[u8]| file::from_postcard(file::decode(bytes, key.hash(), sequence)?);
            match self.examine(&path, judge) {
                Ok(record) => found.records.extend(record.map(|record| (sequence, record))),
                Err(notice) => found.notices.push(notice),
            }
        }
        Ok(found)
    }

    /// Puts `record` into the store as number `sequence` of `key`. A record that is there already stays.
    ///
    /// # Errors
    /// The disk is full or cannot be written; the record has no postcard; a file that cannot be judged or moved has its
    /// name. Nothing else in the store has changed then.
    pub fn append<T: Serialize>(&self, key: &Key, sequence: u32, record: &T) -> Result<(), StoreError> {
        let path = self.path(key, sequence);
        let writing = StoreError::io(&path, "write the record");
        let record = postcard::to_stdvec(record).map_err(|error| StoreError::Unfit(error.to_string()))?;
        let bytes = file::encode(key, sequence, &record);
        if bytes.len() as u64 > file::LARGEST {
            return Err(StoreError::Unfit(format!("{} bytes, more than {}", bytes.len(), file::LARGEST)));
        }
        let mut last = None;
        for _ in 0..ATTEMPTS {
            if put(&path, &bytes).map_err(&writing)? {
                self.tell(key, sequence);
                return Ok(());
            }
            let judge = |bytes: &[u8]| file::decode(bytes, key.hash(), sequence).map(|_| ());
            match self.examine(&path, judge) {
                Ok(Some(())) => {
                    self.tell(key, sequence);
                    return Ok(());
                }
                Ok(None) => {}
                Err(notice) => last = Some(notice),
            }
        }
        let taken = last.map_or_else(|| "others keep moving it".to_owned(), |notice| notice.to_string());
        Err(writing(io::Error::new(ErrorKind::AlreadyExists, taken)))
    }

    /// Counts what is there.
    ///
    /// # Errors
    /// A directory cannot be listed.
    pub fn survey(&self) -> Result<Survey, StoreError> {
        let mut survey = Survey::default();
        for shard in self.shards()? {
            let mut keys = BTreeSet::new();
            for name in names(&shard)? {
                let Some((hash, _)) = file::parse_name(&name) else { continue };
                let Ok(metadata) = fs::metadata(shard.join(&name)) else { continue };
                survey.records += 1;
                survey.bytes += metadata.len();
                keys.insert(hash.to_owned());
            }
            survey.keys += keys.len() as u64;
        }
        let quarantined = names(&self.directory.join(QUARANTINE))?;
        survey.quarantined = quarantined.iter().filter(|name| name.contains(file::ENDING)).count() as u64;
        Ok(survey)
    }

    /// Reads every file and moves to quarantine what is broken. The type of the records is not known here: that
    /// they can be decoded is seen by [`Store::read`] alone.
    ///
    /// # Errors
    /// A directory cannot be listed.
    pub fn check(&self) -> Result<Check, StoreError> {
        let mut check = Check::default();
        for shard in self.shards()? {
            for name in names(&shard)?.into_iter().filter(|name| name.ends_with(file::ENDING)) {
                let judge = |bytes: &[u8]| {
                    let named = file::parse_name(&name).filter(|(hash, _)| shard.ends_with(&hash[..2]));
                    let (hash, sequence) =
                        named.ok_or(Fault::Damaged("no record can have this name here"))?;
                    file::decode(bytes, hash, sequence).map(|_| bytes.len() as u64)
                };
                match self.examine(&shard.join(&name), judge) {
                    Ok(Some(bytes)) => {
                        check.records += 1;
                        check.bytes += bytes;
                    }
                    Ok(None) => {}
                    Err(notice) => check.notices.push(notice),
                }
            }
        }
        Ok(check)
    }

    /// What `judge` makes of a file, `None` if there is none. A broken file is moved away.
    fn examine<R>(
        &self,
        path: &Path,
        judge: impl Fn(&[u8]) -> Result<R, Fault>,
    ) -> Result<Option<R>, Notice> {
        let judged = file::load(path).and_then(|bytes| bytes.map(|bytes| judge(&bytes)).transpose());
        judged.map_err(|fault| {
            let (reason, moved_to) = match fault {
                Fault::Damaged(how) => (how.to_owned(), self.quarantine(path).ok()),
                Fault::Skipped(why) => (why, None),
            };
            Notice { path: path.to_owned(), reason, moved_to }
        })
    }

    /// Moves a broken file out of the way.
    fn quarantine(&self, path: &Path) -> io::Result<PathBuf> {
        let quarantine = self.directory.join(QUARANTINE);
        fs::create_dir_all(&quarantine)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let mut places = (1..).map(|n: u64| quarantine.join(format!("{name}.{n}")));
        let to = places.find(|to| !to.exists()).ok_or(ErrorKind::AlreadyExists)?;
        fs::rename(path, &to).map(|()| to)
    }

    fn shard(&self, hash: &str) -> PathBuf {
        self.directory.join(&hash[..2])
    }

    fn path(&self, key: &Key, sequence: u32) -> PathBuf {
        self.shard(key.hash()).join(file::name(key.hash(), sequence))
    }

    /// The directories of records that there are, in order.
    fn shards(&self) -> Result<Vec<PathBuf>, StoreError> {
        let mut shards = names(&self.directory)?;
        shards.retain(|name| name.len() == 2 && file::is_hex(name));
        Ok(shards.iter().map(|name| self.directory.join(name)).filter(|path| path.is_dir()).collect())
    }
}

/// `FLITWISE_STORE` if it says anything, else a place in the cache.
fn directory_from(variable: Option<OsString>, cache: impl Fn() -> Option<PathBuf>) -> Option<PathBuf> {
    match variable {
        Some(named) if !named.is_empty() => Some(named.into()),
        _ => Some(cache()?.join("flitwise").join("store")),
    }
}

/// Names in a directory, in order; those that are not text are not ours. None if there is no directory.
pub(crate) fn names(directory: &Path) -> Result<Vec<String>, StoreError> {
    let list = || -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(directory)? {
            names.extend(entry?.file_name().into_string());
        }
        names.sort_unstable();
        Ok(names)
    };
    match list() {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        listed => listed.map_err(StoreError::io(directory, "list the directory")),
    }
}

/// Writes a file that is not there; `false` if it is.
pub(crate) fn put(path: &Path, bytes: &[u8]) -> io::Result<bool> {
    let shard = path.parent().unwrap_or(path);
    let mut builder = tempfile::Builder::new();
    builder.prefix(TEMPORARY.0).suffix(TEMPORARY.1);
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666)); // less the umask
    let mut tries = 0;
    loop {
        fs::create_dir_all(shard)?;
        let mut file = builder.tempfile_in(shard)?;
        let _ = file.as_file().try_lock(); // where there are no locks nobody removes it
        file.write_all(bytes)?;
        tries += 1;
        match file.persist_noclobber(path).map_err(|failed| failed.error) {
            Ok(_) => return Ok(true),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => return Ok(false),
            // a process that began has removed the temporary file before it was locked
            Err(error) if error.kind() == ErrorKind::NotFound && tries < MOST_TRIES => {}
            Err(error) => return Err(error),
        }
    }
}

/// Removes the temporary files of dead processes, as far as that is possible.
pub(crate) fn remove_abandoned(shard: &Path) {
    let ours = |name: &String| name.starts_with(TEMPORARY.0) && name.ends_with(TEMPORARY.1);
    for name in names(shard).unwrap_or_default().iter().filter(|name| ours(name)) {
        let path = shard.join(name);
        let has_no_writer = File::open(&path).is_ok_and(|file| file.try_lock().is_ok());
        if has_no_writer {
            let _ = fs::remove_file(&path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Processes begin while another writes: no file is lost, and none is said to be there that is not.
    #[test]
    fn what_is_put_is_there_whoever_begins() {
        use std::sync::atomic::{AtomicBool, Ordering};

        let scratch = tempfile::tempdir().unwrap();
        let (path, is_over) = (scratch.path().join("file"), AtomicBool::new(false));
        let found = std::thread::scope(|scope| {
            let begin = || {
                while !is_over.load(Ordering::Relaxed) {
                    remove_abandoned(scratch.path());
                }
            };
            (0..2).for_each(|_| {
                scope.spawn(begin);
            });
            // in a directory that is almost empty each of them is quick enough to meet it
            let put_one = |_| Some(put(&path, b"here").ok()? && fs::remove_file(&path).is_ok());
            let found: Vec<Option<bool>> = (0..3000).map(put_one).collect();
            is_over.store(true, Ordering::Relaxed);
            found
        });
        assert!(
            found.iter().all(|found| *found == Some(true)),
            "{:?}",
            found.iter().position(|one| *one != Some(true))
        );
    }

    #[test]
    fn the_variable_goes_before_the_cache() {
        let cache = || Some(PathBuf::from("/home/x/.cache"));
        assert_eq!(directory_from(Some("here".into()), cache), Some("here".into()));
        let in_cache = Some(PathBuf::from("/home/x/.cache/flitwise/store"));
        assert_eq!(directory_from(None, cache), in_cache);
        assert_eq!(directory_from(Some("".into()), cache), in_cache);
        assert_eq!(directory_from(None, || None), None);
    }
}
