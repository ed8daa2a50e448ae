//! Errors of the store, and the notices of broken files.

use std::path::{Path, PathBuf};
use std::{fmt, io};

/// A file that was not believed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// The file, where it was found.
    pub path: PathBuf,
    /// Why.
    pub reason: String,
    /// Where it is now; `None` if it was left in its place, or another process has moved it.
    pub moved_to: Option<PathBuf>,
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, reason, moved_to } = self;
        write!(f, "{}: {reason}; ", path.display())?;
        match moved_to {
            Some(to) => write!(f, "moved to {}", to.display()),
            None => f.write_str("not moved"),
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
    /// A value cannot be a key or a record: why.
    Unfit(String),
}

impl StoreError {
    /// For `map_err`.
    pub(crate) fn io(path: &Path, doing: &'static str) -> impl Fn(io::Error) -> Self {
        move |source| Self::Io { path: path.to_owned(), doing, source }
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use io::ErrorKind::*;
        match self {
            Self::Io { path, doing, source } => {
                let help = match source.kind() {
                    StorageFull | QuotaExceeded | FileTooLarge => "make room and go on",
                    PermissionDenied | ReadOnlyFilesystem => {
                        "give yourself access, or name a directory of your own in FLITWISE_STORE"
                    }
                    _ => "mend the cause, or name another directory in FLITWISE_STORE",
                };
                // the name of a temporary file says nothing
                let said = source.to_string();
                let said = said.split_once(" at path \"").map_or(said.as_str(), |(said, _)| said);
                write!(f, "{}: cannot {doing}: {said}\n  help: {help}", path.display())
            }
            Self::Unfit(why) => write!(f, "unfit for the store: {why}"),
        }
    }
}

impl std::error::Error for StoreError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            Self::Unfit(_) => None,
        }
    }
}
