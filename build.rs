//! Which commit is built, for `flitwise --version`.
//!
//! Without git, outside the repository or in a published crate there may be none; then the version stands alone. The
//! script runs again when HEAD moves or a source file changes, since then the command is built anyway.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    let folder = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let version = std::env::var("CARGO_PKG_VERSION").expect("cargo sets it");
    println!("cargo::rerun-if-changed=build.rs");
    for source in [
        "src",
        "models/language/src",
        "models/src",
        "validation/simulator/src",
        "validation/experiment/src",
        "validation/src",
        "figures/src",
    ] {
        if folder.join(source).exists() {
            println!("cargo::rerun-if-changed={source}");
        }
    }
    let commit = of_repository(&folder).or_else(|| of_crate(&folder));
    let version = commit.map_or_else(|| version.clone(), |commit| format!("{version} ({commit})"));
    println!("cargo::rustc-env=FLITWISE_LONG_VERSION={version}");
}

/// Commit and date of the repository whose root is this folder; a repository further up is somebody else's.
fn of_repository(folder: &Path) -> Option<String> {
    if !folder.join(".git").exists() {
        return None;
    }
    for moved in ["HEAD", "logs/HEAD", "packed-refs"] {
        // in a linked work tree they are elsewhere
        let path = git(folder, &["rev-parse", "--git-path", moved]).map(|path| folder.join(path));
        if let Some(path) = path.filter(|path| path.exists()) {
            println!("cargo::rerun-if-changed={}", path.display());
        }
    }
    let commit = git(
        folder,
        &["show", "--no-patch", "--no-show-signature", "--format=%h, %cs", "--abbrev=7", "HEAD"],
    )?;
    let changed = git(folder, &["status", "--porcelain", "--untracked-files=no"])?;
    Some(if changed.is_empty() { commit } else { format!("{commit}, changed since") })
}

/// The commit that `cargo package` wrote down.
fn of_crate(folder: &Path) -> Option<String> {
    let text = fs::read_to_string(folder.join(".cargo_vcs_info.json")).ok()?;
    let after = &text[text.find("\"sha1\"")? + 6..];
    let commit: String = after
        .chars()
        .skip_while(|c| !c.is_ascii_hexdigit())
        .take_while(char::is_ascii_hexdigit)
        .take(7)
        .collect();
    (commit.len() == 7).then_some(commit)
}

/// What git prints, if it works.
fn git(folder: &Path, words: &[&str]) -> Option<String> {
    let mut command = Command::new("git");
    command.arg("-C").arg(folder).args(words);
    // set by a hook, they would lead to another repository
    for variable in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] {
        command.env_remove(variable);
    }
    command.env("GIT_OPTIONAL_LOCKS", "0");
    let output = command.output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}
