//! Checks output files and directories before anything is computed, so that a bad path is bad input.

use std::fs;
use std::io;
use std::path::Path;

use crate::outcome::Exit;

/// Refuses a file that cannot be written, typed after `option`. Nothing is left behind.
pub(crate) fn file(option: &str, path: &Path) -> Result<(), Exit> {
    let refused = |found: String| Exit::input(format!("{option} {}: {found}", path.display()));
    if path.is_dir() {
        return Err(refused("found a directory, wanted a file".to_owned()));
    }
    takes_files(folder_of(path)).map_err(|error| refused(format!("cannot be written: {}", plain(&error))))
}

/// Makes a directory unless it is there, and refuses one that takes no files.
pub(crate) fn directory(option: &str, path: &Path) -> Result<(), Exit> {
    let refused = |what: &str, error: &io::Error| {
        Exit::input(format!("{option} {}: {what}: {}", path.display(), plain(error)))
    };
    if path.exists() && !path.is_dir() {
        return Err(Exit::input(format!("{option} {}: found a file, wanted a directory", path.display())));
    }
    fs::create_dir_all(path).map_err(|error| refused("cannot be made", &error))?;
    takes_files(path).map_err(|error| refused("takes no files", &error))
}

/// The directory that a file is in.
pub(crate) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// What the system says, without the name of a temporary file, which nobody asked for.
pub(crate) fn plain(error: &io::Error) -> String {
    let said = error.to_string();
    said.split_once(" at path \"").map_or(said.as_str(), |(said, _)| said).to_owned()
}

/// Whether new files can be made there: one is, and goes away again.
fn takes_files(folder: &Path) -> io::Result<()> {
    tempfile::Builder::new().prefix(".flitwise-").tempfile_in(folder).map(drop)
}
