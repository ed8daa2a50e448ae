//! What can go wrong, and what was done about it.

use std::path::{Path, PathBuf};
use std::{fmt, io};

/// Why a file is not believed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// It ends too early.
    Truncated {
        /// Bytes that it should have, if that can be read.
        wanted: Option<u64>,
        /// Bytes that it has.
        found: u64,
    },
    /// It goes on after its end.
    TooLong {
        /// Bytes that it should have.
        wanted: u64,
        /// Bytes that it has.
        found: u64,
    },
    /// Its first line is not one of a record, or does not agree with its own check.
    Header,
    /// Key and record have another checksum than the first line says.
    Checksum,
    /// It holds another key than its name says, or than was asked for.
    AnotherKey,
    /// It holds another sequence than its name says.
    AnotherSequence {
        /// The one it holds.
        found: u32,
    },
    /// Its version never existed.
    UnknownVersion {
        /// The version.
        found: u32,
    },
    /// It was written by a later flitwise. Not a fault of the file.
    NewerVersion {
        /// The version.
        found: u32,
    },
    /// The record is not one of the type asked for.
    Undecodable(String),
    /// Its name is not one that a record can have where it is.
    Name,
    /// It is a directory, a broken link or the like.
    NotAFile,
    /// It is longer than any record. It is not read.
    TooLarge {
        /// Bytes that it has.
        found: u64,
    },
    /// The system did not let us read it. Not a fault of the file's contents, as far as can be known.
    Unreadable(String),
}

impl Reason {
    /// Whether the file is broken, now and ever.
    pub fn is_damage(&self) -> bool {
        !matches!(self, Self::NewerVersion { .. } | Self::TooLarge { .. } | Self::Unreadable(_))
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated { wanted: Some(wanted), found } => {
                write!(f, "truncated: {found} bytes, should be {wanted}")
            }
            Self::Truncated { wanted: None, found } => {
                write!(f, "truncated: ends within its first line, after {found} bytes")
            }
            Self::TooLong { wanted, found } => write!(f, "too long: {found} bytes, should be {wanted}"),
            Self::Header => f.write_str("the first line is damaged or not that of a record"),
            Self::Checksum => f.write_str("the checksum differs"),
            Self::AnotherKey => f.write_str("holds another key"),
            Self::AnotherSequence { found } => write!(f, "holds another sequence, {found}"),
            Self::UnknownVersion { found } => write!(f, "format version {found} is unknown"),
            Self::NewerVersion { found } => write!(f, "format version {found} is of a later flitwise"),
            Self::Undecodable(why) => write!(f, "the record cannot be decoded: {why}"),
            Self::Name => f.write_str("no record can have this name here"),
            Self::NotAFile => f.write_str("not a file"),
            Self::TooLarge { found } => write!(f, "{found} bytes, more than any record has"),
            Self::Unreadable(why) => write!(f, "cannot be read: {why}"),
        }
    }
}

/// A file that was not believed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// The file, where it was found.
    pub path: PathBuf,
    /// Why.
    pub reason: Reason,
    /// What was done with it.
    pub outcome: Outcome,
}

/// What was done with a file that was not believed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Moved to quarantine.
    Quarantined {
        /// Where it is now.
        to: PathBuf,
    },
    /// Moved away by another process just then.
    MovedByAnother,
    /// Left where it is: the fault is not the file's.
    Skipped,
    /// Left where it is: it could not be moved.
    NotMoved {
        /// Why.
        because: String,
    },
}

impl Outcome {
    /// Whether the file still has its name.
    pub(super) fn is_in_place(&self) -> bool {
        matches!(self, Self::Skipped | Self::NotMoved { .. })
    }
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, reason, outcome } = self;
        write!(f, "{}: {reason}; ", path.display())?;
        match outcome {
            Outcome::Quarantined { to } => write!(f, "moved to {}", to.display()),
            Outcome::MovedByAnother => f.write_str("another process has moved it to quarantine"),
            Outcome::Skipped => f.write_str("skipped and left in place"),
            Outcome::NotMoved { because } => write!(f, "left in place, it cannot be moved: {because}"),
        }
    }
}

/// Why the store could not do what was asked. What it holds is as before.
#[derive(Debug)]
#[non_exhaustive]
pub enum StoreError {
    /// The system refused.
    Io {
        /// File or directory.
        path: PathBuf,
        /// What was tried.
        doing: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// A value cannot be a key.
    Key {
        /// Why.
        reason: String,
    },
    /// A value cannot be a record.
    Record {
        /// The file that it was to go to.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The record's name is taken by a file that cannot be judged or moved.
    Occupied(Notice),
}

impl StoreError {
    /// For `map_err`.
    pub(super) fn io(path: &Path, doing: &'static str) -> impl Fn(io::Error) -> Self {
        move |source| Self::Io { path: path.to_owned(), doing, source }
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use io::ErrorKind::*;
        match self {
            Self::Io { path, doing, source } => {
                let help = match source.kind() {
                    StorageFull | QuotaExceeded | FileTooLarge => {
                        "make room and go on; nothing stored is lost"
                    }
                    PermissionDenied | ReadOnlyFilesystem => {
                        "give yourself access, or name a directory of your own in FLITWISE_STORE"
                    }
                    NotADirectory | AlreadyExists => "name another directory in FLITWISE_STORE",
                    _ => "mend the cause and go on; nothing stored is lost",
                };
                write!(f, "{}: cannot {doing}: {source}\n  help: {help}", path.display())
            }
            Self::Key { reason } => {
                write!(f, "key of a record: found {reason}\n  help: leave it out, or say it in words")
            }
            Self::Record { path, reason } => {
                let help = "nothing was written; the type of the record has to be mended";
                write!(f, "{}: unfit as a record: {reason}\n  help: {help}", path.display())
            }
            Self::Occupied(notice) => {
                write!(f, "no room for a record: {notice}\n  help: ")?;
                match notice.reason {
                    Reason::NewerVersion { .. } => {
                        f.write_str("use the later flitwise, or another directory")
                    }
                    _ => f.write_str("move the file away, or name another directory in FLITWISE_STORE"),
                }
            }
        }
    }
}

impl std::error::Error for StoreError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}
