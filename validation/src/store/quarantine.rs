//! Moving broken files out of the way without ever moving a good one.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use super::{Reason, is_there};

/// Where broken files go, in the directory of the store.
pub(super) const DIRECTORY: &str = "quarantine";
/// Who holds a lock on this moves files there.
pub(super) const LOCK: &str = ".lock";

/// How often to ask for the lock, and how long to wait in between: a stopped process must not stop the others.
const TRIES: u32 = 200;
const PAUSE: Duration = Duration::from_millis(10);

/// What a second look at a broken file found.
pub(super) enum Second<R> {
    /// It was broken still.
    Moved { to: PathBuf, reason: Reason },
    /// There is one now that is not ours to judge.
    Skipped { reason: Reason },
    /// Someone else has moved it; what is there now, if anything, is good.
    Fine { found: Option<R> },
}

/// Judges a file again while no one else can move it, and moves it if it is still broken.
///
/// # Errors
/// It cannot be locked or moved.
pub(super) fn look_again<R>(
    store: &Path,
    file: &Path,
    judge: impl Fn(&Path) -> Result<Option<R>, Reason>,
) -> io::Result<Second<R>> {
    let quarantine = store.join(DIRECTORY);
    match fs::create_dir(&quarantine) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let _lock = lock(&quarantine.join(LOCK))?; // held to the end of this function

    let reason = match judge(file) {
        Ok(found) => return Ok(Second::Fine { found }),
        Err(reason) if !reason.is_damage() => return Ok(Second::Skipped { reason }),
        Err(reason) => reason,
    };
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let mut n = 1_u64;
    let to = loop {
        let to = quarantine.join(format!("{name}.{n}"));
        if !is_there(&to) {
            break to;
        }
        n += 1;
    };
    fs::rename(file, &to)?;
    Ok(Second::Moved { to, reason })
}

fn lock(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(path)?;
    for _ in 0..TRIES {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) => thread::sleep(PAUSE),
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
    Err(io::Error::new(ErrorKind::TimedOut, "another process holds the lock of the quarantine"))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    fn broken_file() -> (tempfile::TempDir, PathBuf) {
        let store = tempfile::tempdir().unwrap();
        let file = store.path().join("file");
        fs::write(&file, "x").unwrap();
        (store, file)
    }

    #[test]
    fn what_has_become_good_is_not_moved() {
        let (store, file) = broken_file();
        let second = look_again(store.path(), &file, |_| Ok(Some(7)));
        assert!(matches!(second, Ok(Second::Fine { found: Some(7) })));
        let newer = |_: &Path| Err::<Option<()>, _>(Reason::NewerVersion { found: 9 });
        assert!(matches!(look_again(store.path(), &file, newer), Ok(Second::Skipped { .. })));
        assert!(file.exists());
    }

    #[test]
    fn nothing_in_quarantine_is_replaced() {
        let (store, file) = broken_file();
        for n in 1..4 {
            fs::write(&file, n.to_string()).unwrap();
            let Ok(Second::Moved { to, reason }) =
                look_again(store.path(), &file, |_| Err::<Option<()>, _>(Reason::Header))
            else {
                panic!("not moved")
            };
            assert_eq!((to, reason), (store.path().join(format!("quarantine/file.{n}")), Reason::Header));
        }
        for n in 1..4 {
            let moved = fs::read_to_string(store.path().join(format!("quarantine/file.{n}"))).unwrap();
            assert_eq!(moved, n.to_string());
        }
    }

    /// And a process that holds the lock for ever keeps no one waiting for ever.
    #[test]
    fn who_has_no_lock_neither_judges_nor_moves() {
        let (store, file) = broken_file();
        fs::create_dir(store.path().join(DIRECTORY)).unwrap();
        let held = lock(&store.path().join(DIRECTORY).join(LOCK)).unwrap();
        let judged = Cell::new(0);
        let judge = |_: &Path| {
            judged.set(judged.get() + 1);
            Err::<Option<()>, _>(Reason::Header)
        };
        let error = look_again(store.path(), &file, judge).err().unwrap();
        assert_eq!((error.kind(), judged.get(), file.exists()), (ErrorKind::TimedOut, 0, true));
        drop(held);
        assert!(look_again(store.path(), &file, judge).is_ok());
        assert_eq!((judged.get(), file.exists()), (1, false));
    }
}
