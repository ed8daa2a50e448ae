//! Builds the static page, or answers the engine's requests from a terminal.

mod module;

use std::fmt::Display;
use std::fs;
use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::time::Instant;

use flate2::Compression;
use flate2::write::GzEncoder;
use flitwise_page::Engine;
use flitwise_page::files::{EnginePlace, files};
use module::trimmed;

const USAGE: &str = "\
usage: flitwise-page build OUT    make the folder OUT of static files, or renew it
       flitwise-page answer       answer requests, a line of JSON each, from standard input";

/// The modules of the engine, and the features of this package that they have. The second is loaded when the first
/// picture is asked for.
const MODULES: [(&str, &str); 2] = [("engine.wasm", "answers"), ("pictures.wasm", "pictures")];
/// What the first page may have compressed, with all that it loads \[bytes\]: trees, graphs and matrices, and the
/// errors told of them, have taken it from 1.46 to 1.60 MB, errors of further streams of frames to 1.65.
const MOST_COMPRESSED: usize = 1_660_000;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["build", out] if !out.starts_with('-') => build(Path::new(out)),
        ["answer"] => answer(),
        ["--help" | "-h"] => print(USAGE),
        _ => {
            say(USAGE);
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            say(&format!("error: {fault}"));
            ExitCode::FAILURE
        }
    }
}

/// A line on standard error; whoever closed it does not want it.
fn say(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}

fn print(line: &str) -> Result<(), String> {
    writeln!(io::stdout(), "{line}").map_err(|error| format!("cannot write the output: {error}"))
}

/// Names the place in a message.
fn at<E: Display>(path: &Path) -> impl Fn(E) -> String + '_ {
    move |error| format!("{}: {error}", path.display())
}

fn build(out: &Path) -> Result<(), String> {
    // what cannot be written is known before minutes of compiling
    fs::create_dir_all(out).map_err(at(out))?;
    let probe = out.join(MODULES[0].0);
    fs::OpenOptions::new().create(true).append(true).open(&probe).map_err(at(&probe))?;
    say("compiling the engine; the first time takes some minutes");
    let mut modules = Vec::new();
    for (name, feature) in MODULES {
        let wasm = compiled(feature)?;
        modules.push((name, trimmed(&fs::read(&wasm).map_err(at(&wasm))?)));
    }
    let beside = files(EnginePlace::Browser)?;
    let beside = beside.iter().map(|file| (file.name.as_ref(), file.bytes.as_ref()));
    let (mut first, mut later) = ((0, 0), (0, 0));
    for (name, bytes) in beside.chain(modules.iter().map(|(name, bytes)| (*name, bytes.as_slice()))) {
        let path = out.join(name);
        fs::write(&path, bytes).map_err(at(&path))?;
        let packed = compressed(bytes).map_err(at(&path))?;
        let is_lesson = name == "lesson.js" || name.ends_with(".html") && name != "index.html";
        let sum = if is_lesson || name == MODULES[1].0 { &mut later } else { &mut first };
        *sum = (sum.0 + bytes.len(), sum.1 + packed);
        if !is_lesson {
            say(&format!("{name:13} {:>9} bytes {packed:>9} compressed", bytes.len()));
        }
    }
    say(&format!("{:13} {:>9} bytes {:>9} compressed", "first page", first.0, first.1));
    say(&format!("{:13} {:>9} bytes {:>9} compressed", "all else", later.0, later.1));
    if first.1 > MOST_COMPRESSED {
        return Err(format!("found {} bytes compressed, wanted at most {MOST_COMPRESSED}", first.1));
    }
    say(&format!("any file server shows it: python3 -m http.server --directory {}", out.display()));
    Ok(())
}

/// Compiles the part of the engine with a feature, and says where it is.
fn compiled(feature: &str) -> Result<PathBuf, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let script = root.join(".ci/wasm");
    if !script.exists() {
        return Err(format!("{}: not there, wanted the sources of flitwise", script.display()));
    }
    let found = Command::new("bash").arg(&script).args(["build", feature]).stderr(Stdio::inherit()).output();
    let found = found.map_err(|error| format!("bash: {error}; it runs {}", script.display()))?;
    if !found.status.success() {
        return Err("the engine was not compiled; what is wrong stands above".to_owned());
    }
    let said = String::from_utf8_lossy(&found.stdout);
    let last = said.lines().last().unwrap_or_default();
    Ok(root.join(last))
}

/// Bytes that are left of it on its way to a browser.
fn compressed(bytes: &[u8]) -> io::Result<usize> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    packed.write_all(bytes)?;
    Ok(packed.finish()?.len())
}

fn answer() -> Result<(), String> {
    let started = Instant::now();
    let workers = rayon::ThreadPoolBuilder::new().build().map_err(|error| error.to_string())?;
    let mut engine = Engine::new(Arc::new(move || started.elapsed()), Arc::new(workers));
    for line in io::stdin().lock().lines() {
        print(&engine.answer(&line.map_err(|error| format!("standard input: {error}"))?))?;
    }
    Ok(())
}
