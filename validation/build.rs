//! Lists the sets of random scenarios: every file of `registry/sets` is one, named as the file is.

use std::fmt::Write;
use std::path::PathBuf;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let folder =
        PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("registry/sets");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut paths: Vec<PathBuf> =
        fs::read_dir(&folder)?.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<_>>()?;
    paths.retain(|path| path.extension().is_some_and(|end| end == "toml"));
    paths.sort();
    let mut list = "&[\n".to_owned();
    for path in &paths {
        let name = path.file_stem().expect("it ends in .toml");
        let _ = writeln!(list, "    ({:?}, include_str!({path:?})),", name.display().to_string());
    }
    list.push_str("]\n");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    fs::write(out.join("sets.rs"), list)
}
