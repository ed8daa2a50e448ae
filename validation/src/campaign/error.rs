//! What a shared folder cannot do.

use std::path::{Path, PathBuf};
use std::{fmt, io};

use crate::store::StoreError;

/// Why a campaign's folder cannot be used. What it holds is as before.
#[derive(Debug)]
#[non_exhaustive]
pub enum FolderError {
    /// The system refused.
    Io {
        /// File or directory.
        path: PathBuf,
        /// What was tried.
        doing: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// There is no campaign in it.
    NoCampaign {
        /// The folder.
        path: PathBuf,
    },
    /// Another flitwise made it.
    OtherVersion {
        /// The folder.
        path: PathBuf,
        /// Its version line.
        found: String,
        /// Ours.
        wanted: String,
    },
    /// It has other blocks.
    OtherPlan {
        /// The folder.
        path: PathBuf,
        /// Hash of the blocks of its maker.
        found: String,
        /// Hash of ours.
        wanted: String,
    },
    /// It was made from other files.
    OtherInput {
        /// The file in it that differs.
        path: PathBuf,
    },
    /// A result cannot be kept.
    Unfit(String),
}

impl FolderError {
    /// For `map_err`.
    pub(super) fn io(path: &Path, doing: &'static str) -> impl Fn(io::Error) -> Self {
        move |source| Self::Io { path: path.to_owned(), doing, source }
    }

    /// Whether what was asked makes no sense, in contrast to an output that cannot be written.
    pub fn is_bad_input(&self) -> bool {
        !matches!(self, Self::Io { .. } | Self::Unfit(_))
    }
}

impl From<StoreError> for FolderError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Io { path, doing, source } => Self::Io { path, doing, source },
            StoreError::Unfit(why) => Self::Unfit(why),
        }
    }
}

impl fmt::Display for FolderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use io::ErrorKind::*;
        match self {
            Self::Io { path, doing, source } => {
                let help = match source.kind() {
                    StorageFull | QuotaExceeded | FileTooLarge => "make room and go on: what is done is kept",
                    PermissionDenied | ReadOnlyFilesystem => {
                        "give yourself access, or name another folder with --folder"
                    }
                    _ => "mend the cause and go on, or name another folder with --folder",
                };
                // the name of a temporary file says nothing
                let said = source.to_string();
                let said = said.split_once(" at path \"").map_or(said.as_str(), |(said, _)| said);
                write!(f, "{}: cannot {doing}: {said}\n  help: {help}", path.display())
            }
            Self::NoCampaign { path } => write!(
                f,
                "{}: found no campaign, wanted the folder of one\n  help: flitwise campaign run FILE makes it",
                path.display()
            ),
            Self::OtherVersion { path, found, wanted } => write!(
                f,
                "{}: found a campaign of {found}, wanted {wanted}\n  help: go on with the flitwise that began it, or \
                 begin another folder with --folder",
                path.display()
            ),
            Self::OtherPlan { path, found, wanted } => write!(
                f,
                "{}: found a campaign of other blocks ({found:.12}), wanted those of its own files ({wanted:.12})\n  \
                 help: a file in its inputs has changed; begin another folder with --folder",
                path.display()
            ),
            Self::OtherInput { path } => write!(
                f,
                "{}: found the file of another campaign, wanted the same one\n  help: name another folder with \
                 --folder, or go on with the old campaign: flitwise campaign run DIR",
                path.display()
            ),
            Self::Unfit(why) => write!(f, "a result cannot be kept: {why}"),
        }
    }
}

impl std::error::Error for FolderError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}
