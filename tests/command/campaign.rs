//! Campaigns: any number of processes, killed or not, end with the store and the outputs of one.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::process::{assert_valid, command, piped};

/// A figure, a claim and two studies that share a point with each other; coarse, so that a block takes some
/// milliseconds.
const SMALL: &str = r#"
claims = ["router-reference"]
precision = "20%"
max-messages = "1e4"

[[study]]
name = "load"
file = "models/router.toml"
over = ["class.BE.rate=0.001:0.004:4"]

[[study]]
name = "buffers"
file = "models/router.toml"
set = { "class.BE.rate" = 0.001 }
over = ["router.buffer_flits=16,32"]

[[study]]
name = "packets"
preset = "recn64-quick"
set = { "measure.end" = "20 us" }
"#;

const ROUTER: &str = r#"
name = "small router"
[network]
topology = "router"
ports = 4
[router]
scheduler = "virtual-clock"
[[class]]
name = "BE"
kind = "best-effort"
rate = 0.001
message_flits = 32
"#;

/// A folder with a campaign file, and the file that it names.
struct Scratch(tempfile::TempDir);

impl Scratch {
    fn new(text: &str) -> Self {
        let scratch = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        fs::create_dir(scratch.path().join("models")).unwrap();
        fs::write(scratch.path().join("models/router.toml"), ROUTER).unwrap();
        fs::write(scratch.path().join("mine.toml"), text).unwrap();
        Self(scratch)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// The command in this folder.
    fn command(&self, line: &str) -> Command {
        let words: Vec<&str> = line.split(' ').collect();
        let mut command = command(&words);
        command.current_dir(self.0.path());
        command
    }

    fn run(&self, line: &str) -> Output {
        self.command(line).output().unwrap()
    }

    /// What is printed by a command that succeeds.
    fn printed(&self, line: &str) -> String {
        let output = self.run(line);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!((output.status.code(), said.as_str()), (Some(0), ""), "{line}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn json(&self, line: &str, schema: &str) -> Value {
        let document = serde_json::from_str(&self.printed(line)).unwrap();
        assert_valid(&document, schema);
        document
    }

    /// What is said by a command that is refused with this exit code.
    fn refused(&self, line: &str, code: i32) -> String {
        let output = self.run(line);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{line}: {said}");
        said
    }
}

/// All files below a folder, with what they hold.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    fn walk(root: &Path, place: &Path, found: &mut BTreeMap<PathBuf, Vec<u8>>) {
        for entry in fs::read_dir(place).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(root, &path, found);
            } else if path.extension().is_none_or(|ending| ending != "tmp") {
                // a file being written is no record
                found.insert(path.strip_prefix(root).unwrap().to_owned(), fs::read(&path).unwrap());
            }
        }
    }
    let mut found = BTreeMap::new();
    walk(folder, folder, &mut found);
    found
}

fn assert_same(one: &Path, other: &Path, part: &str) {
    let (one, other) = (files(&one.join(part)), files(&other.join(part)));
    assert!(!one.is_empty());
    let names = |files: &BTreeMap<PathBuf, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&one), names(&other));
    for (name, bytes) in &one {
        assert!(other[name] == *bytes, "{part}/{} differs", name.display());
    }
}

#[test]
fn many_processes_end_with_the_store_and_the_outputs_of_one() {
    let scratch = Scratch::new(SMALL);
    let plan = scratch.json("campaign plan mine.toml --format json", "campaign-plan");
    let blocks = plan["blocks"].as_array().unwrap();
    // the point at 0.001 with 32 flits is asked for twice
    let shared = blocks.iter().filter(|block| block["asked_by"].as_array().unwrap().len() == 2).count();
    assert_eq!(shared, 1, "{plan:#}");

    let written = scratch.printed("campaign run mine.toml --folder one --quiet");
    let again = scratch.printed("campaign run mine.toml --folder four --processes 4 --quiet --threads 1");
    assert_eq!(written.replace("one/", "four/"), again);
    for part in ["store", "out", "inputs"] {
        assert_same(&scratch.path("one"), &scratch.path("four"), part);
    }
    for name in ["one/out/claims.json", "one/out/studies/load.csv", "one/out/studies/packets.json"] {
        assert!(written.lines().any(|line| line == name), "{written}");
    }
    let study: Value =
        serde_json::from_slice(&fs::read(scratch.path("one/out/studies/load.json")).unwrap()).unwrap();
    assert_valid(&study, "study");
    assert_eq!(study["points"].as_array().unwrap().len(), 4);
    let csv = fs::read_to_string(scratch.path("one/out/studies/load.csv")).unwrap();
    assert!(csv.starts_with("class.BE.rate,class,kind,messages,"), "{csv}");
    assert_eq!(csv.lines().count(), 1 + 4);

    let status = scratch.json("campaign status four --format json", "campaign-status");
    assert_eq!((&status["done"], &status["left_seconds"]), (&status["blocks"], &0.0.into()));
    assert_eq!(status["blocks"], blocks.len());
    let claims = fs::read_dir(scratch.path("four/claims")).unwrap();
    assert_eq!(claims.count(), blocks.len(), "a block was claimed twice");
    // there is nothing left, and outputs are the same
    assert_eq!(scratch.printed("campaign run one --quiet"), written);
    assert!(scratch.printed("campaign work one --quiet").starts_with("0 of "));
}

/// The ordinary commands, from an empty store, keep the same records and write the same files.
#[test]
fn a_campaign_ends_with_what_the_ordinary_commands_write() {
    let text = "figures = [\"mine-figure.toml\"]\nclaims = [\"router-reference\"]\nprecision = 0.2\n\
                max-messages = 10000\nseed = 7\n";
    let scratch = Scratch::new(text);
    let figure = "title = \"Load\"\nkind = \"lines\"\n\
                  [scenario]\nfile = \"models/router.toml\"\n[x]\nkey = \"class.BE.rate\"\n\
                  values = [0.001, 0.002]\n[y]\nquantity = \"network-latency\"\n";
    fs::write(scratch.path("mine-figure.toml"), figure).unwrap();
    scratch.printed("campaign run mine.toml --quiet --processes 2");
    let how = "--precision 20% --max-messages 1e4 --seed 7 --quiet --store alone";
    scratch.printed(&format!("figure mine-figure.toml --out figures {how}"));
    // with such wide intervals a verdict may be another than expected
    let claims = scratch.run(&format!("verify --only router-reference --format json {how}"));
    assert!(matches!(claims.status.code(), Some(0 | 1)), "{}", String::from_utf8_lossy(&claims.stderr));
    assert_same(&scratch.path("mine.campaign/out"), &scratch.path(""), "figures");
    assert_eq!(
        fs::read_to_string(scratch.path("mine.campaign/out/claims.json")).unwrap().as_bytes(),
        claims.stdout
    );
    // records of the ordinary store tell times, too
    let names = |path: &str| files(&scratch.path(path)).into_keys().collect::<Vec<_>>();
    assert_eq!(names("alone"), names("mine.campaign/store"));
}

#[test]
fn all_faults_of_a_campaign_file_come_at_once() {
    let text = r#"
figures = ["4z", 5]
claims = ["fig04a", "al"]
report = "quik"
precision = "0"
max_messages = "1e7"

[[study]]
name = "a b"
preset = "router17"

[[study]]
name = "load"
file = "nothing.toml"

[[study]]
name = "axes"
preset = "router16"
over = ["class.R1.rate=0.1:0.2", "class.R9.rate=1,2"]
couple = ["class.R1.rate=class.R2.rate"]

[[study]]
name = "values"
preset = "router16"
over = ["router.buffer_flits=16,0"]
"#;
    let said = Scratch::new(text).refused("campaign plan mine.toml", 2);
    for wanted in [
        "mine.toml:2:12: figures: found no figure \"4z\"",
        "mine.toml:2:18: figures[2]: found 5, wanted a text in quotes",
        "mine.toml:3:21: claims: found \"al\", wanted the name of a claim",
        "mine.toml:4:10: report: found \"quik\", wanted true, false or \"quick\"",
        "mine.toml:5:13: precision: found \"0\", wanted 0.01% to 50%",
        "mine.toml:6:1: max_messages: found an unknown key",
        "help: did you mean max-messages?",
        "mine.toml:9:8: study[1].name: found \"a b\", wanted 1 to 100 letters",
        "mine.toml:10:10: study[1].preset: found \"router17\", wanted a built-in scenario",
        "mine.toml:14:8: study[2].file: nothing.toml: cannot be read",
        "mine.toml:19:8: study[3].over: class.R1.rate=0.1:0.2: found",
        "mine.toml:25:8: study[4]: over router.buffer_flits=0: router.buffer_flits: found 0, wanted",
    ] {
        assert!(said.contains(wanted), "{wanted}\n{said}");
    }
    let said = Scratch::new("precision = \"1%\"\n").refused("campaign run mine.toml", 2);
    assert!(said.contains("found nothing, wanted something to simulate"), "{said}");
    let said = Scratch::new("").refused("campaign run mine.toml --processes 0 --lease 0.1s --threads x", 2);
    assert!(said.contains("3 faults") && said.contains("wanted a time from 1s on"), "{said}");
    let outside = "[[study]]\nname = \"a\"\nfile = \"../router.toml\"\n";
    let scratch = Scratch::new("");
    fs::write(scratch.path("models/mine.toml"), outside).unwrap();
    fs::write(scratch.path("router.toml"), ROUTER).unwrap();
    let said = scratch.refused("campaign plan models/mine.toml", 2);
    assert!(
        said.contains("models/mine.toml:3:8: found the file \"../router.toml\", wanted one in"),
        "{said}"
    );
}

const ONE_BLOCK: &str =
    "precision = \"20%\"\nmax-messages = 10000\n[[study]]\nname = \"one\"\nfile = \"models/router.toml\"\n";

#[test]
fn folders_that_cannot_be_used_are_refused() {
    let scratch = Scratch::new(ONE_BLOCK);
    for line in
        ["campaign work none", "campaign status none", "campaign status models", "campaign run models"]
    {
        let said = scratch.refused(line, 2);
        assert!(said.contains("found no campaign, wanted the folder of one"), "{line}: {said}");
    }
    // neither takes files, whoever asks
    for folder in ["mine.toml/below", "/proc/mine"] {
        let said = scratch.refused(&format!("campaign run mine.toml --folder {folder}"), 2);
        assert!(said.contains("cannot be made") || said.contains("takes no files"), "{said}");
    }
    scratch.printed("campaign run mine.toml --quiet");

    fs::write(scratch.path("mine.toml"), format!("seed = 2\n{ONE_BLOCK}")).unwrap();
    let said = scratch.refused("campaign run mine.toml", 2);
    assert!(said.contains("found the file of another campaign, wanted the same one"), "{said}");
    let inputs = scratch.path("mine.campaign/inputs/models/router.toml");
    fs::write(&inputs, ROUTER.replace("0.001", "0.002")).unwrap();
    let said = scratch.refused("campaign work mine.campaign", 2);
    assert!(said.contains("found a campaign of other blocks"), "{said}");
    fs::write(&inputs, ROUTER).unwrap();
    scratch.printed("campaign work mine.campaign");

    let format = scratch.path("mine.campaign/format");
    let line = fs::read_to_string(&format).unwrap();
    let version = format!("flitwise {}", env!("CARGO_PKG_VERSION"));
    assert!(line.contains(&version), "{line}");
    fs::write(&format, line.replace(&version, "flitwise 0.1.0")).unwrap();
    for command in ["work", "status", "run", "plan"] {
        let said = scratch.refused(&format!("campaign {command} mine.campaign"), 2);
        assert!(said.contains("found a campaign of flitwise-campaign 1 flitwise 0.1.0"), "{said}");
        assert!(said.contains(&format!("wanted flitwise-campaign 1 {version}")), "{said}");
    }
}

/// A store that takes no files ends the process, gives the block back, and whoever comes next does it.
#[test]
fn a_store_that_cannot_be_written_ends_the_process_and_nothing_is_marked() {
    let scratch = Scratch::new(ONE_BLOCK);
    scratch.printed("campaign run mine.toml --quiet");
    let store = scratch.path("mine.campaign/store");
    let record = files(&store).into_keys().next().unwrap();
    fs::remove_dir_all(&store).unwrap();
    fs::remove_dir_all(scratch.path("mine.campaign/done")).unwrap();
    fs::remove_dir_all(scratch.path("mine.campaign/out")).unwrap();
    // a file where the directory of records is to be
    let shard = store.join(record.parent().unwrap());
    fs::create_dir_all(&store).unwrap();
    fs::write(&shard, "").unwrap();
    let said = scratch.refused("campaign run mine.campaign --quiet", 1);
    assert!(said.contains("cannot write the record") && said.contains("what is done is kept"), "{said}");
    let status = scratch.json("campaign status mine.campaign --format json", "campaign-status");
    assert_eq!((&status["done"], &status["left"]), (&0.into(), &1.into()), "{status:#}");
    fs::remove_file(&shard).unwrap();
    scratch.printed("campaign run mine.campaign --quiet");
}

#[cfg(unix)]
#[test]
fn a_signal_gives_the_block_back_at_once() {
    use crate::process::signal;
    // a block that takes long
    let text = "precision = \"0.1%\"\n[[study]]\nname = \"long\"\npreset = \"cube6\"\n";
    let scratch = Scratch::new(text);
    let mut child = piped(&mut scratch.command("campaign run mine.toml --processes 2 --quiet"));
    let is_claimed =
        || fs::read_dir(scratch.path("mine.campaign/claims")).is_ok_and(|mut found| found.next().is_some());
    let since = Instant::now();
    while !is_claimed() {
        assert!(since.elapsed() < Duration::from_secs(60) && child.try_wait().unwrap().is_none());
        std::thread::sleep(Duration::from_millis(5));
    }
    let status = || scratch.json("campaign status mine.campaign --format json", "campaign-status");
    let running = status();
    assert_eq!(running["running"], 1, "{running:#}");
    assert_eq!(running["details"][0]["state"], "running");
    signal(&child, "-TERM");
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(said.contains("error: interrupted: 0 of 1 blocks are done"), "{said}");
    let after = status();
    assert_eq!(
        (&after["left"], &after["lost"], &after["processes"]),
        (&1.into(), &0.into(), &0.into()),
        "{after:#}"
    );
}

/// A small generator with a fixed seed: a share from 0 to 1.
struct Draw(u64);

impl Draw {
    fn share(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f64 / (1_u64 << 24) as f64
    }
}

/// Kills processes 50 times at random moments while three work, then lets the campaign end: the store and all outputs
/// are those of one process that nobody disturbed, and every block was done.
#[test]
#[ignore = "takes a minute"]
fn a_campaign_survives_fifty_kills() {
    const KILLS: usize = 50;
    // enough to do that most kills meet a process at work
    let text = "precision = \"0.2%\"\nmax-messages = \"1e6\"\n\
                [[study]]\nname = \"load\"\nfile = \"models/router.toml\"\n\
                over = [\"class.BE.rate=log:0.001:0.012:60\"]\n";
    let scratch = Scratch::new(text);
    scratch.printed("campaign run mine.toml --folder calm --quiet");
    // the folder is made by one that is killed at once, or not
    let shared = "campaign run mine.toml --folder shared --quiet";
    let mut maker = scratch.command(shared).stdout(Stdio::null()).spawn().unwrap();
    while !scratch.path("shared/format").exists() {
        std::thread::sleep(Duration::from_millis(1));
    }
    maker.kill().unwrap();
    maker.wait().unwrap();

    let work = || {
        let mut command = scratch.command("campaign work shared --quiet --threads 1");
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    };
    let mut draw = Draw(2005);
    let mut children: Vec<_> = (0..3).map(|_| work()).collect();
    let (mut kills, mut hits) = (0, 0);
    while kills < KILLS {
        std::thread::sleep(Duration::from_secs_f64(0.3 * draw.share()));
        let at = (draw.share() * children.len() as f64) as usize;
        hits += usize::from(children[at].try_wait().unwrap().is_none());
        let _ = children[at].kill();
        children[at].wait().unwrap();
        children[at] = work();
        kills += 1;
    }
    for mut child in children {
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let status = scratch.json("campaign status shared --format json", "campaign-status");
    assert!(hits >= KILLS / 2, "only {hits} processes were alive when they were killed");
    assert_eq!((&status["running"], &status["failed"]), (&0.into(), &0.into()), "{status:#}");

    scratch.printed("campaign run shared --processes 2 --quiet");
    for part in ["store", "out"] {
        assert_same(&scratch.path("calm"), &scratch.path("shared"), part);
    }
    assert_eq!(files(&scratch.path("shared/done")).len(), 60);
    let status = scratch.json("campaign status shared --format json", "campaign-status");
    assert_eq!((&status["done"], &status["lost"]), (&60.into(), &0.into()));
}
