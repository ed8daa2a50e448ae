//! `.ci/long-checks` runs a group again as soon as a source that decides its outcome has changed, and only then.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

const GROUPS: [&str; 7] = ["models", "simulator", "experiment", "command", "page", "python", "cluster"];

/// Files, and the groups whose outcome they decide.
const DECIDES: [(&str, &[&str]); 21] = [
    ("models/src/refined.rs", &["models", "command"]),
    ("models/tests/models/refined.rs", &["models"]),
    ("models/benches/refined.rs", &[]),
    ("models/src/queueing/mg1.md", &["models", "command"]),
    ("models/Cargo.toml", &["models"]),
    ("models/language/src/network.rs", &["models", "simulator", "command"]),
    ("validation/simulator/src/wormhole.rs", &["simulator", "command"]),
    ("validation/simulator/tests/simulator/against_plain.rs", &["simulator"]),
    ("validation/experiment/src/statistics.rs", &["experiment", "command"]),
    ("validation/src/claims.rs", &["command"]),
    ("figures/src/lib.rs", &["command"]),
    ("src/lib.rs", &["command"]),
    ("page/src/lessons.rs", &["page"]),
    ("page/static/lesson.js", &["page"]),
    ("page/lessons/little.toml", &["page"]),
    ("python/flitwise/_records.py", &["python"]),
    ("python/notebooks/kyd05.ipynb", &["python"]),
    ("src/console.rs", &["command", "python"]),
    ("src/campaigns/slurm.rs", &["command", "cluster"]),
    ("src/campaigns/slurm/job.sh", &["command", "cluster"]),
    ("validation/src/store/key.rs", &["command", "cluster"]),
];

/// A copy of the sources, and in it a `cargo` that keeps what it is asked to test, and fails if it is told to.
struct Copy {
    folder: TempDir,
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        match entry.file_type().unwrap().is_dir() {
            true if entry.file_name() == "target" || entry.file_name() == "node_modules" => {}
            true => copy_folder(&from, &to),
            false => drop(fs::copy(from, to).unwrap()),
        }
    }
}

impl Copy {
    fn new() -> Self {
        let copy = Self { folder: tempfile::tempdir().unwrap() };
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        for name in ["Cargo.toml", "Cargo.lock", "build.rs"] {
            fs::copy(root.join(name), copy.path(name)).unwrap();
        }
        for name in [".ci", "src", "models", "validation", "figures", "page", "python", "tests"] {
            copy_folder(&root.join(name), &copy.path(name));
        }
        fs::write(copy.path(".ci/wasm"), "#!/bin/sh\n").unwrap();
        fs::write(copy.path(".ci/page"), "#!/bin/sh\necho in Chromium >> asked\n").unwrap();
        fs::write(copy.path(".ci/python"), "#!/bin/sh\necho in Python >> asked\n").unwrap();
        fs::write(copy.path(".ci/cluster"), "#!/bin/sh\necho on Slurm >> asked\n").unwrap();
        fs::create_dir(copy.path("bin")).unwrap();
        let stub = format!(
            "#!/bin/sh\n[ \"$1\" = tree ] && exec '{}' \"$@\" --offline\necho \"$@\" >> asked\n[ ! -e failing ]\n",
            env!("CARGO")
        );
        fs::write(copy.path("bin/cargo"), stub).unwrap();
        fs::set_permissions(copy.path("bin/cargo"), fs::Permissions::from_mode(0o755)).unwrap();
        copy
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn long_checks(&self, arguments: &[&str]) -> Output {
        let path = format!("{}:{}", self.path("bin").display(), std::env::var("PATH").unwrap());
        Command::new(self.path(".ci/long-checks")).args(arguments).env("PATH", path).output().unwrap()
    }

    /// Groups that are stale.
    fn stale(&self) -> Vec<&'static str> {
        let output = self.long_checks(&["state"]);
        let said = String::from_utf8(output.stdout).unwrap();
        let is_stale = |group: &&str| match said.lines().find(|line| line.contains(&format!(" {group}: "))) {
            Some(line) => line.ends_with(": stale"),
            None => panic!("{said}{}", String::from_utf8_lossy(&output.stderr)),
        };
        let stale: Vec<&str> = GROUPS.into_iter().filter(is_stale).collect();
        assert_eq!(output.status.code(), Some(i32::from(!stale.is_empty())), "{said}");
        stale
    }

    /// Lines of the tests that it was asked to run.
    fn asked(&self) -> Vec<String> {
        let asked = fs::read_to_string(self.path("asked")).unwrap_or_default();
        let _ = fs::remove_file(self.path("asked"));
        asked.lines().map(str::to_owned).collect()
    }

    fn replace_in_manifest(&self, from: &str, to: &str) {
        let manifest = fs::read_to_string(self.path("Cargo.toml")).unwrap();
        assert!(manifest.contains(from), "{manifest}");
        fs::write(self.path("Cargo.toml"), manifest.replace(from, to)).unwrap();
    }

    fn append(&self, name: &str, text: &str) {
        let path = self.path(name);
        let mut whole = fs::read_to_string(&path).unwrap();
        whole.push_str(text);
        fs::write(path, whole).unwrap();
    }
}

#[test]
fn long_checks_run_when_their_sources_have_changed_and_only_then() {
    let copy = Copy::new();
    fs::write(
        copy.path(".ci/long-checks.stamps"),
        "models 0\nsimulator 0\nexperiment 0\ncommand 0\npage 0\npython 0\ncluster 0\n",
    )
    .unwrap();
    assert_eq!(copy.stale(), GROUPS);

    // what fails is not stamped
    fs::write(copy.path("failing"), "").unwrap();
    assert!(!copy.long_checks(&[]).status.success());
    fs::remove_file(copy.path("failing")).unwrap();
    assert_eq!(copy.asked().len(), 1);
    assert_eq!(copy.stale(), GROUPS);

    // what passes is, and does not run again
    assert!(copy.long_checks(&[]).status.success());
    let asked = copy.asked();
    for program in [
        "--test models",
        "--test simulator",
        "--test experiment",
        "--test command",
        "--test engine",
        "in Chromium",
        "in Python",
        "on Slurm",
    ] {
        assert!(asked.iter().any(|line| line.contains(program)), "{program}: {asked:?}");
    }
    assert_eq!(copy.stale(), Vec::<&str>::new());
    assert!(copy.long_checks(&[]).status.success());
    assert_eq!(copy.asked(), Vec::<String>::new());

    // a comment or a blank line decides nothing
    for name in ["models/src/refined.rs", "models/language/src/network.rs", "validation/simulator/src/lib.rs"]
    {
        copy.append(name, "\n    // changed\n");
    }
    copy.append("models/README.md", "changed\n");
    copy.replace_in_manifest("lto = \"thin\"", "lto = \"fat\"");
    assert_eq!(copy.stale(), Vec::<&str>::new());
    for (name, stale) in DECIDES {
        let before = fs::read(copy.path(name)).unwrap();
        copy.append(name, "changed = 0\n");
        assert_eq!(copy.stale(), stale, "{name}");
        fs::write(copy.path(name), before).unwrap();
    }
    copy.replace_in_manifest("opt-level = 3", "opt-level = 1");
    assert_eq!(copy.stale(), ["models", "simulator", "experiment", "command", "python", "cluster"]);
    copy.replace_in_manifest("opt-level = \"z\"", "opt-level = 3");
    assert_eq!(copy.stale(), GROUPS);
}
