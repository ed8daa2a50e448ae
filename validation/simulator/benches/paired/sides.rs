//! The programs that are measured: today's sources, and those of a commit, each with [`super::measure`].

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The root of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Where sources are laid out and programs compiled.
pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("paired")
}

/// The program of today's sources.
pub(crate) fn today() -> Result<PathBuf, String> {
    compiled("today", &root())
}

/// The program of a commit's sources.
pub(crate) fn of_commit(commit: &str) -> Result<PathBuf, String> {
    let name = format!("{commit}^{{commit}}");
    let full = git(&["rev-parse", "--verify", "--quiet", &name], None).map_err(|_| {
        format!(
            "commit {commit} is not in the history here. A shallow clone has only the latest commits: \
             `git fetch --unshallow`, or name another commit with --against."
        )
    })?;
    let place = folder().join(full.trim());
    let sources = place.join("sources");
    // a mark of its own, so that what an interruption left is not taken for the whole
    let is_whole = place.join("whole");
    if !is_whole.exists() {
        let (index, prefix) = (place.join("index"), format!("--prefix={}/", sources.display()));
        fs::create_dir_all(&sources).map_err(|error| error.to_string())?;
        git(&["read-tree", full.trim()], Some(&index))?;
        git(&["checkout-index", "--all", "--force", &prefix], Some(&index))?;
        fs::write(&is_whole, "").map_err(|error| error.to_string())?;
    }
    compiled(&full.trim()[..12], &sources)
}

/// What git says, with an index beside the repository's own.
fn git(arguments: &[&str], index: Option<&Path>) -> Result<String, String> {
    let mut command = Command::new("git");
    command.current_dir(root()).args(arguments);
    if let Some(index) = index {
        command.env("GIT_INDEX_FILE", index);
    }
    let output = command.output().map_err(|error| format!("git: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(format!("git {}: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr)))
}

/// Compiles the measuring program with the simulator in `sources`.
fn compiled(name: &str, sources: &Path) -> Result<PathBuf, String> {
    let is_own_crate = sources.join("validation/simulator/Cargo.toml").exists();
    let dependency = |today: &str, package: &str, path: &str| {
        format!(
            "{today} = {{ package = {package:?}, path = {:?} }}\n",
            sources.join(path).display().to_string()
        )
    };
    let (text, dependencies) = if is_own_crate {
        let language = dependency("flitwise-language", "flitwise-language", "models/language");
        let simulator = dependency("flitwise-simulator", "flitwise-simulator", "validation/simulator");
        (include_str!("measure.rs").to_owned(), language + &simulator)
    } else {
        // before it was a crate the simulator was a module of another one
        let simulator = "flitwise_simulator::simulator::Simulator";
        let text = include_str!("measure.rs").replace("flitwise_simulator::Simulator", simulator);
        let language = dependency("flitwise-language", "flitwise-models", "models");
        (text, language + &dependency("flitwise-simulator", "flitwise-validation", "validation"))
    };
    let manifest = format!(
        "[package]\nname = \"paired-{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[workspace]\n\
         [dependencies]\n{dependencies}[profile.release]\nlto = \"thin\"\ncodegen-units = 1\n",
    );
    let (package, target) = (folder().join(name), folder().join("target"));
    fs::create_dir_all(package.join("src"))
        .and_then(|()| fs::write(package.join("Cargo.toml"), manifest))
        .and_then(|()| fs::write(package.join("src/main.rs"), text))
        .and_then(|()| fs::copy(sources.join("Cargo.lock"), package.join("Cargo.lock")))
        .map_err(|error| format!("{}: {error}", package.display()))?;
    let status = Command::new(env!("CARGO"))
        .current_dir(&package)
        .args(["build", "--release", "--quiet", "--target-dir"])
        .arg(&target)
        .status()
        .map_err(|error| format!("cargo: {error}"))?;
    if !status.success() {
        return Err(format!("{name} does not compile"));
    }
    Ok(target.join("release").join(format!("paired-{name}{}", std::env::consts::EXE_SUFFIX)))
}
