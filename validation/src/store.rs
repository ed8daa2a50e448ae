//! A store of results on disk that only grows: whatever happens to a process, no record is lost whose
//! [`Store::append`] has returned, and nothing broken is ever believed.
//!
//! A [`Key`] says what was computed (a scenario and its settings), a sequence number which of its records it is
//! (a replication, say), the record what came out. Any number of threads and processes may use the same
//! directory at once.
//!
//! ```
//! use flitwise_validation::store::{How, Key, Store};
//!
//! # let scratch = tempfile::tempdir().unwrap();
//! # let directory = scratch.path().join("store");
//! let store = Store::open(&directory)?;
//! let key = Key::new(&("hypercube", 4, 0.002))?;
//! assert_eq!(store.append(&key, 0, &vec![36.0, 46.5])?.how, How::Written);
//! assert_eq!(store.append(&key, 0, &vec![36.0, 46.5])?.how, How::AlreadySame);
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
//! | `<2 hex>/.flitwise-*.tmp` | a record being written, or what a dead process left; never read |
//! | `quarantine/<name>.<n>` | the `n`-th broken file that bore this name |
//! | `quarantine/.lock` | locked by whoever is moving a file there |
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
//!   first 16 hex digits of the SHA-256 of all that stands before them. Numbers are decimal, words are
//!   parted by one space. Any later version starts `flitwise-record <version> ` and ends its first line in the
//!   same check, so that a damaged version number is not taken for a new version.
//! - The second line is the key's text: JSON without white space, the members of objects in the order of their
//!   names' bytes. `head -2` shows which scenario a file holds.
//! - The rest is the record in [postcard](https://postcard.jamesmunns.com/wire-format), to the last byte.
//!
//! A file is believed if all of this holds, the key's text is the one asked for, and its SHA-256 and the sequence
//! are those in the name: a file that was renamed is not believed, nor would a collision be. What is not believed
//! is moved to `quarantine/` and reported; only a file of a *newer* version, one that cannot be read for now and
//! one of more than 1 GiB stay where they are, with a [`Notice`].
//!
//! # Writing
//!
//! The record goes to a temporary file beside its place, is synced, and gets its name only if no file bears it;
//! then the directory is synced (on Unix). A kill before that leaves a temporary file. Whoever writes one holds a lock
//! on it, which the system takes back when the process dies: who opens or checks the store removes those that nobody
//! holds, and where there are no locks those that have been still for a day. A writer whose file was taken away before
//! it had the lock writes it again. On a full disk `append` fails and the store is as before.
//!
//! # Questions
//!
//! **Why one file per record and not one log?** Of a log, the end is in doubt after every kill, two writers need a
//! lock, and one damaged length hides all that follows. A file of its own is there or not; writers meet only where
//! they write the same record; damage stays in its file; a copy or merge of stores is a copy of files. The
//! price is a few syncs and an inode per record, which is little beside the seconds that a simulation takes.
//!
//! **Why does `append` ask for `Deserialize`?** Postcard does not describe itself: a type with
//! `skip_serializing_if` or `untagged` is written happily and cannot be read. `append` reads the record
//! back and wants the same bytes again before anything goes to disk. So a record must not contain a `HashMap`,
//! whose order changes; a `BTreeMap` will do.
//!
//! **What if the type of the record changes?** Then old files cannot be decoded, and `read` moves them to quarantine
//! (renamed back, they are as good as before); or worse, they can. Put a version of the type into the key.
//!
//! **Why is there a lock in `quarantine/` if nothing else needs one?** Between seeing that a file is broken and
//! moving it, another process might have moved it and written a good one under its name. Only a move makes a name
//! free, so whoever looks again while holding the lock moves what it has seen. A process that dies gives its
//! lock back. Where there are no locks the file stays and is not believed either.
//!
//! **How much memory can a hostile file ask for?** The file is read whole, 1 GiB at most. Postcard promises no more
//! elements than there are bytes left, and `serde` reserves no more than 1 MiB ahead. Records must not be
//! sequences of elements that take no bytes (`Vec<()>`), whose number is bounded by nothing, nor hold records of their
//! own type, whose depth is not.

mod error;
mod file;
mod finite;
mod key;
mod quarantine;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

pub use error::{Notice, Outcome, Reason, StoreError};
pub use key::Key;

use quarantine::Second;

/// Time after which a temporary file that nobody has written to belongs to a dead process, where there are no locks.
const ABANDONED: Duration = Duration::from_secs(24 * 60 * 60);
/// Start of the names of temporary files.
const TEMPORARY_START: &str = ".flitwise-";
/// End of the names of temporary files.
const TEMPORARY_END: &str = ".tmp";
/// How often `append` starts again when others move or remove what it has just seen.
const ATTEMPTS: u32 = 16;

/// A directory of records. Clones share it, as do all that open the same directory.
#[derive(Clone, Debug)]
pub struct Store {
    directory: Arc<Path>,
    read_only: Option<Arc<StoreError>>,
    /// Temporary files of dead processes that were there when it was opened.
    removed: u64,
}

/// What [`Store::append`] did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Appended {
    /// Whether the record was written or was there.
    pub how: How,
    /// Broken files that stood in its place.
    pub notices: Vec<Notice>,
}

/// Whether a record was written or was there. In any case one is now, and will be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// It was written.
    Written,
    /// The same record was there.
    AlreadySame,
    /// Another record was there and still is; the one to be appended is not stored.
    AlreadyOther,
}

/// What [`Store::read`] found.
#[derive(Clone, Debug, PartialEq)]
pub struct Found<T> {
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
    /// Temporary files of dead processes that were removed, when the store was opened or now.
    pub removed: u64,
}

impl Store {
    /// The store in `directory`, which is made if it is not there. Where it cannot be written (another user's, a
    /// read-only disk) it opens all the same, for reading: see [`Store::read_only`].
    ///
    /// # Errors
    /// The directory cannot be made or listed.
    pub fn open(directory: &Path) -> Result<Self, StoreError> {
        let making = StoreError::io(directory, "make the directory of the store");
        let directory = &std::path::absolute(directory).map_err(&making)?; // the program may go elsewhere
        make_directories(directory).map_err(making)?;
        // one that was there may have been made just now, by a process that has yet to come to this
        let _ = directory.parent().map(sync_directory);
        let mut store = Self { directory: directory.as_path().into(), read_only: None, removed: 0 };
        let shards = store.shards()?;
        match temporary_file(directory) {
            Ok(_) => {
                store.removed = remove_abandoned(directory);
                store.removed += shards.iter().map(|shard| remove_abandoned(shard)).sum::<u64>();
            }
            Err(error) => {
                store.read_only = Some(Arc::new(StoreError::io(directory, "write to the store")(error)));
            }
        }
        Ok(store)
    }

    /// Where the records are.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Why nothing could be written when the store was opened, if so. [`Store::append`] tries nevertheless.
    pub fn read_only(&self) -> Option<&StoreError> {
        self.read_only.as_deref()
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
    pub fn read<T: DeserializeOwned>(&self, key: &Key) -> Result<Found<T>, StoreError> {
        let mut sequences = Vec::new();
        for name in names(&self.shard(key.hash()))? {
            match file::parse_name(&name) {
                Some((hash, sequence)) if hash == key.hash() => sequences.push(sequence),
                _ => {}
            }
        }
        sequences.sort_unstable();

        let mut found = Found { records: Vec::with_capacity(sequences.len()), notices: Vec::new() };
        for sequence in sequences {
            let judge = |path: &Path| {
                let Some(bytes) = file::load(path)? else { return Ok(None) };
                let contents = file::decode(&bytes, key.hash(), sequence)?;
                if contents.key != key.text() {
                    return Err(Reason::AnotherKey);
                }
                file::from_postcard(contents.record).map(Some)
            };
            let path = self.path(key, sequence);
            if let Some(record) = self.examine(&path, judge, &mut found.notices) {
                found.records.push((sequence, record));
            }
        }
        Ok(found)
    }

    /// Puts `record` into the store as number `sequence` of `key`. Once this has returned `Ok`, a record is there
    /// and stays, through kills and power cuts. What is there already is never replaced: see [`How`].
    ///
    /// # Errors
    /// The disk is full or cannot be written; the record cannot be written in postcard and read back; a file that
    /// is not ours to judge (of a newer version, say) has its name. Nothing else in the store has changed then.
    /// Where only the last sync failed the record may be there or not; append it again.
    pub fn append<T: Serialize + DeserializeOwned>(
        &self,
        key: &Key,
        sequence: u32,
        record: &T,
    ) -> Result<Appended, StoreError> {
        let path = self.path(key, sequence);
        let unfit = |reason: String| StoreError::Record { path: path.clone(), reason };
        let record = file::to_postcard(record).map_err(unfit)?;
        let bytes = file::encode(key, sequence, &record);
        if bytes.len() as u64 > file::LARGEST {
            return Err(unfit(format!("{} bytes, more than {}", bytes.len(), file::LARGEST)));
        }

        let mut notices = Vec::new();
        for _ in 0..ATTEMPTS {
            if !is_there(&path) && self.put(&path, &bytes)? {
                return Ok(Appended { how: How::Written, notices });
            }
            // someone else was first
            let judge = |path: &Path| {
                let Some(bytes) = file::load(path)? else { return Ok(None) };
                let contents = file::decode(&bytes, key.hash(), sequence)?;
                if contents.key != key.text() {
                    return Err(Reason::AnotherKey);
                }
                Ok(Some(contents.record == record))
            };
            let before = notices.len();
            if let Some(same) = self.examine(&path, judge, &mut notices) {
                // it may not have come to the sync yet
                self.sync(&path)?;
                let how = if same { How::AlreadySame } else { How::AlreadyOther };
                return Ok(Appended { how, notices });
            }
            if let Some(notice) = notices[before..].iter().find(|notice| notice.outcome.is_in_place()) {
                return Err(StoreError::Occupied(notice.clone()));
            }
        }
        let error = io::Error::new(ErrorKind::ResourceBusy, "others keep moving files away");
        Err(StoreError::io(&path, "write the record")(error))
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
        let quarantined = names(&self.directory.join(quarantine::DIRECTORY))?;
        survey.quarantined = quarantined.iter().filter(|name| *name != quarantine::LOCK).count() as u64;
        Ok(survey)
    }

    /// Reads every file and moves to quarantine what is broken. The type of the records is not known here: that
    /// they can be decoded is seen by [`Store::read`] alone.
    ///
    /// # Errors
    /// A directory cannot be listed.
    pub fn check(&self) -> Result<Check, StoreError> {
        let removed = self.removed + remove_abandoned(&self.directory);
        let mut check = Check { removed, ..Check::default() };
        for shard in self.shards()? {
            check.removed += remove_abandoned(&shard);
            for name in names(&shard)?.into_iter().filter(|name| name.ends_with(file::ENDING)) {
                let judge = |path: &Path| {
                    let home = |hash: &str| shard.file_name().is_some_and(|shard| shard == &hash[..2]);
                    let named = file::parse_name(&name).filter(|(hash, _)| home(hash));
                    let (hash, sequence) = named.ok_or(Reason::Name)?;
                    let Some(bytes) = file::load(path)? else { return Ok(None) };
                    file::decode(&bytes, hash, sequence)?;
                    Ok(Some(bytes.len() as u64))
                };
                if let Some(bytes) = self.examine(&shard.join(&name), judge, &mut check.notices) {
                    check.records += 1;
                    check.bytes += bytes;
                }
            }
        }
        Ok(check)
    }

    /// What `judge` finds in a file, `None` if there is none. If it finds a fault instead, that is noted, and the
    /// file moved away if the fault is the file's.
    fn examine<R>(
        &self,
        path: &Path,
        judge: impl Fn(&Path) -> Result<Option<R>, Reason>,
        notices: &mut Vec<Notice>,
    ) -> Option<R> {
        let first = match judge(path) {
            Ok(found) => return found,
            Err(reason) => reason,
        };
        let (reason, outcome, found) = if !first.is_damage() {
            (first, Outcome::Skipped, None)
        } else {
            match quarantine::look_again(&self.directory, path, judge) {
                Ok(Second::Moved { to, reason }) => (reason, Outcome::Quarantined { to }, None),
                Ok(Second::Skipped { reason }) => (reason, Outcome::Skipped, None),
                Ok(Second::Fine { found }) => (first, Outcome::MovedByAnother, found),
                Err(error) => (first, Outcome::NotMoved { because: error.to_string() }, None),
            }
        };
        notices.push(Notice { path: path.to_owned(), reason, outcome });
        found
    }

    /// Writes a file that is not there; `false` if it is.
    fn put(&self, path: &Path, bytes: &[u8]) -> Result<bool, StoreError> {
        let shard = path.parent().unwrap_or(&self.directory);
        let write = || -> io::Result<bool> {
            match fs::create_dir(shard) {
                Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
                _ => {}
            }
            let mut file = temporary_file(shard)?;
            file.write_all(bytes)?;
            file.as_file().sync_all()?;
            match file.persist_noclobber(path) {
                Ok(_) => Ok(true),
                Err(failed) => match failed.error.kind() {
                    // the second: a tidy soul took our temporary file away
                    ErrorKind::AlreadyExists | ErrorKind::NotFound => Ok(false),
                    _ => Err(failed.error),
                },
            }
        };
        let written = write().map_err(StoreError::io(path, "write the record"))?;
        if written {
            self.sync(path)?;
        }
        Ok(written)
    }

    /// Brings a file's name to the disk, and that of its directory.
    fn sync(&self, path: &Path) -> Result<(), StoreError> {
        for directory in [path.parent().unwrap_or(&self.directory), &self.directory] {
            sync_directory(directory).map_err(StoreError::io(directory, "sync the directory"))?;
        }
        Ok(())
    }

    fn shard(&self, hash: &str) -> PathBuf {
        self.directory.join(&hash[..2])
    }

    fn path(&self, key: &Key, sequence: u32) -> PathBuf {
        self.shard(key.hash()).join(file::name(key.hash(), sequence))
    }

    /// The directories of records that there are, in order.
    fn shards(&self) -> Result<Vec<PathBuf>, StoreError> {
        let listing = StoreError::io(&self.directory, "list the directory");
        fs::metadata(&self.directory).map_err(listing)?;
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
fn names(directory: &Path) -> Result<Vec<String>, StoreError> {
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

/// Whether a name is taken, by whatever.
fn is_there(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

/// A file to be written, readable for all that the umask lets in, and locked as long as it is open.
fn temporary_file(directory: &Path) -> io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(TEMPORARY_START).suffix(TEMPORARY_END);
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let file = builder.tempfile_in(directory)?;
    // where there are no locks its age has to do
    let _ = file.as_file().try_lock();
    Ok(file)
}

/// Removes the temporary files of dead processes, as far as that is possible; how many.
fn remove_abandoned(directory: &Path) -> u64 {
    let ours = |name: &String| name.starts_with(TEMPORARY_START) && name.ends_with(TEMPORARY_END);
    let names = names(directory).unwrap_or_default();
    let paths = names.iter().filter(|name| ours(name)).map(|name| directory.join(name));
    paths.filter(|path| is_abandoned(path) && fs::remove_file(path).is_ok()).count() as u64
}

/// Whether a temporary file belongs to no living process.
fn is_abandoned(path: &Path) -> bool {
    let Ok(metadata) = fs::symlink_metadata(path) else { return false };
    if !metadata.is_file() {
        return false;
    }
    // the lock is given back at once: the file is removed next
    match fs::OpenOptions::new().read(true).write(true).open(path).map(|file| file.try_lock()) {
        Ok(Ok(())) => true,
        Ok(Err(TryLockError::WouldBlock)) => false,
        // no locks here, or not ours to open
        Ok(Err(TryLockError::Error(_))) | Err(_) => {
            let modified = metadata.modified();
            modified.is_ok_and(|then| then.elapsed().is_ok_and(|age| age > ABANDONED))
        }
    }
}

/// Makes a directory with all above it, and brings their names to the disk.
fn make_directories(directory: &Path) -> io::Result<()> {
    let Some(parent) = directory.parent().filter(|_| !directory.is_dir()) else { return Ok(()) };
    make_directories(parent)?;
    match fs::create_dir(directory) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists || !directory.is_dir() => Err(error),
        _ => sync_directory(parent),
    }
}

/// Brings the names in a directory to the disk.
#[cfg(unix)]
fn sync_directory(directory: &Path) -> io::Result<()> {
    match File::open(directory)?.sync_all() {
        // some network file systems cannot, and need not
        Err(error) if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::Unsupported) => Ok(()),
        synced => synced,
    }
}

/// Brings the names in a directory to the disk: here the system does.
#[cfg(not(unix))]
fn sync_directory(_: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_goes_before_the_cache() {
        let cache = || Some(PathBuf::from("/home/x/.cache"));
        assert_eq!(directory_from(Some("here".into()), cache), Some("here".into()));
        let in_cache = Some(PathBuf::from("/home/x/.cache/flitwise/store"));
        assert_eq!(directory_from(None, cache), in_cache);
        assert_eq!(directory_from(Some("".into()), cache), in_cache);
        assert_eq!(directory_from(None, || None), None);
    }

    #[test]
    fn a_store_can_be_shared_by_threads() {
        fn shared<T: Clone + Send + Sync>() {}
        shared::<Store>();
    }
}
