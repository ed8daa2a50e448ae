//! What README, guides, lessons and notes show is what the command prints.
//!
//! - ```` ```console ```` blocks hold commands behind `$ ` and what they print: all of it, or a contiguous part.
//!   `exit=1` behind the language names another exit code than 0.
//! - Lines of ```` ```sh ```` blocks are run one after another; behind `sh parse` they are only parsed.
//! - Commands in running text are parsed, those with a word in capitals excepted.
//! - Tables between `<!-- table: NAME -->` and `<!-- end -->` are made from the accuracy tables of the models.
//!
//! `FLITWISE_GUIDES=overwrite cargo test --test command guides` makes output blocks and tables anew, to be read before
//! they are committed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// All that readers see, from the root of the repository.
fn documents() -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> =
        ["README.md", "CONTRIBUTING.md", "models/README.md", "validation/README.md"]
            .into_iter()
            .chain(["figures/README.md"])
            .map(|name| root().join(name))
            .collect();
    for folder in ["src/guides", "page/lessons"] {
        let entries = fs::read_dir(root().join(folder)).unwrap().map(|entry| entry.unwrap().path());
        found.extend(entries.filter(|path| path.extension().is_some_and(|end| end == "md")));
    }
    found.sort();
    found
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Whether documents are to be made anew.
fn overwrites() -> bool {
    std::env::var("FLITWISE_GUIDES").is_ok_and(|word| word == "overwrite")
}

/// A fenced block: the words behind the fence, and its lines.
#[derive(Debug)]
struct Block<'a> {
    words: Vec<&'a str>,
    lines: Vec<&'a str>,
}

/// A document in pieces that make it up when put together: lines of text, and blocks.
#[derive(Debug)]
enum Piece<'a> {
    Line(&'a str),
    Block(Block<'a>),
}

fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        pieces.push(match line.strip_prefix("```") {
            None => Piece::Line(line),
            Some(words) => Piece::Block(Block {
                words: words.split_whitespace().collect(),
                lines: lines.by_ref().take_while(|line| *line != "```").collect(),
            }),
        });
    }
    pieces
}

/// A directory to run the commands of one document in, with a store of its own.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap())
    }

    /// Runs a line as a shell does; its exit code and all that it printed.
    fn run(&self, line: &str) -> (Option<i32>, String) {
        let program = Path::new(env!("CARGO_BIN_EXE_flitwise")).parent().unwrap();
        let path = std::env::var("PATH").unwrap();
        let output = Command::new("sh")
            .args(["-c", line])
            .current_dir(self.0.path())
            .env("PATH", format!("{}:{path}", program.display()))
            .env("FLITWISE_STORE", self.0.path().join("store"))
            .output()
            .unwrap();
        let text = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8(text).unwrap())
    }

    /// Has a command read by the program, which does nothing but print its help.
    fn parse(&self, command: &str) -> Result<(), String> {
        let command = command.split(['>', '|', '#']).next().unwrap_or_default();
        match self.run(&format!("{command} --help")) {
            (Some(0), _) => Ok(()),
            (code, said) => Err(format!("{command}\n  ends with {code:?}: {said}")),
        }
    }
}

/// A command and the lines that a document shows below it.
fn shown<'a>(block: &'a Block<'a>) -> Vec<(&'a str, &'a [&'a str])> {
    let is_command = |line: &&str| line.starts_with("$ ");
    let starts: Vec<usize> =
        (0..block.lines.len()).filter(|index| is_command(&block.lines[*index])).collect();
    let end = |number: usize| starts.get(number + 1).copied().unwrap_or(block.lines.len());
    starts
        .iter()
        .enumerate()
        .map(|(number, start)| (&block.lines[*start][2..], trimmed(&block.lines[start + 1..end(number)])))
        .collect()
}

/// Without the empty lines at the end.
fn trimmed<'a, 'b>(lines: &'b [&'a str]) -> &'b [&'a str] {
    let end = lines.iter().rposition(|line| !line.trim().is_empty()).map_or(0, |last| last + 1);
    &lines[..end]
}

/// The words of a line without its numbers: what stays when answers move.
fn words(line: &str) -> Vec<&str> {
    line.split_whitespace()
        .filter(|word| word.starts_with(|c: char| c.is_alphabetic() || "=/(|:".contains(c)))
        .collect()
}

/// The part of `printed` that begins and ends with lines like those of `shown`, as near to its length as can be.
fn renewed<'a>(shown: &[&str], printed: &[&'a str]) -> Option<Vec<&'a str>> {
    let (first, last) = (words(shown.first()?), words(shown.last()?));
    let start = printed.iter().position(|line| words(line) == first)?;
    let far = |end: &usize| end.abs_diff(start + shown.len() - 1);
    let end = (start..printed.len()).filter(|index| words(printed[*index]) == last).min_by_key(far)?;
    Some(printed[start..=end].to_vec())
}

/// Checks a block of commands and output; the lines that it should have.
fn console(place: &Place, block: &Block<'_>, faults: &mut Vec<String>) -> Vec<String> {
    let code = block.words.iter().find_map(|word| word.strip_prefix("exit=")).unwrap_or("0");
    let mut lines = Vec::new();
    for (command, expected) in shown(block) {
        let (found, printed) = place.run(command);
        if found.map(|code| code.to_string()).as_deref() != Some(code) {
            faults.push(format!("$ {command}\n  ends with {found:?}, not {code}:\n{printed}"));
        }
        let printed: Vec<&str> = printed.lines().map(str::trim_end).collect();
        let is_there = printed.windows(expected.len().max(1)).any(|part| part == expected);
        let anew = if is_there { Some(expected.to_vec()) } else { renewed(expected, &printed) };
        if !is_there && (!overwrites() || anew.is_none()) {
            faults.push(format!(
                "$ {command}\nprints\n{}\nand not\n{}",
                printed.join("\n"),
                expected.join("\n")
            ));
        }
        let gap = (!lines.is_empty()).then(String::new);
        lines.extend(gap);
        lines.push(format!("$ {command}"));
        lines.extend(anew.unwrap_or_else(|| expected.to_vec()).into_iter().map(str::to_owned));
    }
    lines
}

/// Runs or parses what a reader is told to type.
fn shell(place: &Place, block: &Block<'_>, faults: &mut Vec<String>) {
    // what cannot be run from within a test of the package
    const CARGO: [&str; 4] =
        ["cargo install --path .", "cargo run --release -- solve", "cargo test --workspace", "cargo bench"];
    for line in block.lines.iter().filter(|line| !line.is_empty()) {
        let command = line.split(" # ").next().unwrap_or_default().trim();
        if command.starts_with("cargo ") {
            if !CARGO.contains(&command) {
                faults.push(format!("{command}: not one of the known commands of cargo"));
            }
        } else if block.words.contains(&"parse") {
            faults.extend(place.parse(command).err());
        } else {
            let (code, printed) = place.run(command);
            if code != Some(0) {
                faults.push(format!("{command}\n  ends with {code:?}:\n{printed}"));
            }
        }
    }
}

/// Commands in running text: between backquotes, on one line.
fn in_text(line: &str) -> impl Iterator<Item = &str> {
    let is_placeholder = |word: &str| word.len() > 1 && word.chars().all(|c| c.is_ascii_uppercase());
    let parts: Vec<&str> = line.split('`').collect();
    // a span that goes on in the next line is not looked at
    let closed = parts.len().saturating_sub(1);
    let quoted = parts.into_iter().take(closed).skip(1).step_by(2);
    quoted.filter(move |code| {
        code.starts_with("flitwise ") && !code.contains("..") && !code.split([' ', '=']).any(is_placeholder)
    })
}

/// Links to files of the repository, from one of its documents.
fn links(line: &str) -> impl Iterator<Item = &str> {
    line.split("](")
        .skip(1)
        .filter_map(|rest| rest.split([')', '#']).next())
        .filter(|to| !to.is_empty() && !to.contains("://") && !to.contains(' '))
}

/// Checks a document; what is wrong, and what its text should be.
fn checked(document: &Path, text: &str) -> (Vec<String>, String) {
    let place = Place::new();
    let mut faults = Vec::new();
    let mut anew: Vec<String> = Vec::new();
    for piece in pieces(text) {
        match piece {
            Piece::Line(line) => {
                let missing = |to: &&str| !document.parent().unwrap().join(to).exists();
                faults.extend(links(line).filter(missing).map(|to| format!("no file {to}")));
                faults.extend(in_text(line).filter_map(|command| place.parse(command).err()));
                anew.push(line.to_owned());
            }
            Piece::Block(block) => {
                anew.push(format!("```{}", block.words.join(" ")));
                match block.words.first() {
                    Some(&"console") => anew.extend(console(&place, &block, &mut faults)),
                    language => {
                        if language == Some(&"sh") {
                            shell(&place, &block, &mut faults);
                        }
                        anew.extend(block.lines.iter().map(|line| (*line).to_owned()));
                    }
                }
                anew.push("```".to_owned());
            }
        }
    }
    (faults, anew.join("\n") + "\n")
}

#[test]
fn what_readers_see_is_what_the_command_prints() {
    let mut faults = Vec::new();
    for document in documents() {
        let name = document.strip_prefix(root()).unwrap().display().to_string();
        let text = fs::read_to_string(&document).unwrap();
        let (found, anew) = checked(&document, &text);
        let anew = crate::guides_tables::renewed(&anew);
        faults.extend(found.iter().map(|fault| format!("{name}: {fault}")));
        if anew != text && overwrites() {
            fs::write(&document, anew).unwrap();
        } else if anew != text && found.is_empty() {
            faults.push(format!("{name}: its blocks or tables are not as they would be made anew"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
}

#[test]
fn the_readme_is_short() {
    let words = fs::read_to_string(root().join("README.md")).unwrap().split_whitespace().count();
    assert!(words <= 1_500, "README.md has {words} words");
}

/// The checks themselves: a block that shows something else is found, and made anew.
#[test]
fn a_wrong_block_is_found_and_made_anew() {
    let printed =
        "router\n class  latency\n R1       43.31\n BE       93.73\n\nconverged after 18 iterations";
    let printed: Vec<&str> = printed.lines().collect();
    let found = |shown: &[&str]| renewed(shown, &printed);
    assert_eq!(found(&["class latency", " R1 1.00", " BE 2.00"]), Some(printed[1..4].to_vec()));
    assert_eq!(found(&[" R1 1.00"]), Some(printed[2..3].to_vec()));
    assert_eq!(found(&[" R3 1.00"]), None);
    let text = "see [nothing](no/such.md)\n`flitwise solve --no-such-option`\n\
                ```console\n$ flitwise presets show router17\nname\n```\n```sh\nflitwise solve --mdoel refined\n```\n";
    let (faults, _) = checked(&root().join("README.md"), text);
    assert_eq!(faults.len(), 5, "{faults:#?}");
}
