//! Random scenarios that are others whenever the simulator is another.

use std::fs;
use std::path::{Path, PathBuf};

/// All `.rs` files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let below = |path: PathBuf| if path.is_dir() { files(&path) } else { vec![path] };
    entries.flat_map(below).filter(|path| path.extension().is_some_and(|end| end == "rs")).collect()
}

/// The lines of a source without comments, blank ones and white space around them.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//"))
}

/// FNV-1a of 64 bits.
fn hash<'t>(lines: impl Iterator<Item = &'t str>) -> u64 {
    let bytes = lines.flat_map(|line| line.bytes().chain([b'\n']));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// A seed that is another after every change of the simulator but for its comments and blank lines.
pub(crate) fn seed_of_sources() -> u64 {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = files(&root);
    files.sort();
    assert!(files.len() > 40, "{} sources", files.len());
    let texts: Vec<String> = files.iter().map(|file| fs::read_to_string(file).unwrap()).collect();
    hash(texts.iter().flat_map(|text| lines(text)))
}

/// How many random scenarios a longer check takes: as `FLITWISE_CASES` says, else so many.
pub(crate) fn cases(usual: u32) -> u32 {
    std::env::var("FLITWISE_CASES").map_or(usual, |text| text.parse().expect("a number in FLITWISE_CASES"))
}

#[test]
fn comments_and_blank_lines_leave_the_seed_alone() {
    let seed = |text: &str| hash(lines(text));
    let one = seed("fn f() {\n    1\n}\n");
    assert_eq!(one, seed("// one\nfn f() {\n\n    /// two\n1\n}"));
    assert_ne!(one, seed("fn f() {\n    2\n}\n"));
}
