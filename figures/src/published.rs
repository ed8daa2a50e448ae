//! The built-in figures: those of the 2005 paper, and our own.

use flitwise_models::document::{Document, Fault, nearest};

use crate::figure::Figure;

/// A built-in figure.
#[derive(Clone, Copy, Debug)]
pub struct Published {
    /// Stem of its files, such as `fig04a`.
    pub name: &'static str,
    /// Its file, comments and all.
    pub text: &'static str,
}

macro_rules! published {
    ($($name:literal),* $(,)?) => {
        &[$(Published { name: $name, text: include_str!(concat!("../published/", $name, ".toml")) }),*]
    };
}

/// All built-in figures, in the order of the paper; our own at the end.
pub const PUBLISHED: &[Published] = published![
    "fig04a",
    "fig04b",
    "fig05",
    "fig06",
    "fig06x",
    "fig07a",
    "fig07b",
    "fig07c",
    "fig08",
    "fig09",
    "fig10",
    "fig11a",
    "fig11b",
    "fig12a",
    "fig12b",
    "fig13a",
    "fig13b",
    "fig14a",
    "fig14b",
    "chain",
    "distribution",
    "places",
    "places-cube",
    "loads-hot-spot",
    "recn-tree",
    "lanes-mesh",
    "lanes-torus",
    "hot-spot",
    "cube-size",
    "mw-frames",
    "mw-t2",
    "mw-fig5",
    "mw-fig6",
    "mw-fig7",
    "mw-t5",
    "mw-fig8",
    "mw-fig9",
    "mw-fig10",
    "mw-t6",
    "mw-fig11",
    "mw-fig12",
    "mw-fig13",
    "recn-fig2a",
    "recn-fig2b",
    "recn-fig2c",
    "recn-fig2d",
    "recn-fig2a-512",
    "recn-fig2b-512",
    "recn-fig4a",
    "recn-fig4b",
    "recn-fig4c",
    "recn-fig4d",
    "recn-fig4e",
    "recn-fig4f",
    "recn-fig6a",
    "recn-fig6a-queues",
    "recn-fig6b",
    "recn-fig6b-queues",
    "recn-latency-a",
    "recn-latency-b",
    "recn-thresholds",
];

impl Published {
    /// The figure called `typed`: `4a`, `fig4a` and `fig04a` are the same, `5a` and `5b` are both in `fig05`.
    ///
    /// # Errors
    /// The names that may be meant: the parts of that figure, or the nearest name if one is near.
    pub fn find(typed: &str) -> Result<&'static Self, Vec<&'static str>> {
        let typed = typed.to_lowercase();
        let stem = typed.strip_prefix("fig").unwrap_or(&typed);
        let stem = stem.trim_start_matches(['.', ' ', '0']);
        let of = |name: &str| PUBLISHED.iter().find(|one| one.number() == name);
        // both parts of a figure that shows model and simulation side by side
        let side_by_side =
            || of(stem.strip_suffix(['a', 'b'])?).filter(|one| ["5", "8", "9"].contains(&one.number()));
        let numbers = || PUBLISHED.iter().map(Self::number);
        let is_part = |number: &str| {
            let part = number.strip_prefix(stem.trim_end_matches(|c: char| c.is_ascii_alphabetic()));
            part.is_some_and(|part| !part.is_empty() && part.chars().all(|c| c.is_ascii_alphabetic()))
        };
        // another number is another figure, not a slip
        let meant = || match stem.starts_with(|c: char| c.is_ascii_digit()) {
            true => numbers().filter(|number| is_part(number)).collect(),
            false => nearest(stem, numbers()).into_iter().collect(),
        };
        of(stem).or_else(side_by_side).ok_or_else(meant)
    }

    /// Its number in the paper, such as `4a`; our own have their names.
    pub fn number(&self) -> &'static str {
        self.name.strip_prefix("fig").map_or(self.name, |number| number.trim_start_matches('0'))
    }

    /// The figure, read.
    ///
    /// # Errors
    /// None: they are sound, which is tested.
    pub fn figure(&self) -> Result<Figure, Vec<Fault>> {
        let no_files = |_: &str| -> Result<Document, Vec<Fault>> { Err(Vec::new()) };
        Figure::from_toml(&format!("{}.toml", self.name), self.text, self.name, &no_files)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_figure_is_sound() {
        for one in PUBLISHED {
            let faults = one.figure().err().into_iter().flatten().map(|fault| fault.to_string());
            assert_eq!(faults.collect::<Vec<_>>(), Vec::<String>::new(), "{}", one.name);
        }
    }

    #[test]
    fn figures_are_found_by_number() {
        for (typed, name) in [
            ("4a", "fig04a"),
            ("fig04a", "fig04a"),
            ("Fig4A", "fig04a"),
            ("5", "fig05"),
            ("5b", "fig05"),
            ("6x", "fig06x"),
            ("10", "fig10"),
            ("chain", "chain"),
        ] {
            assert_eq!(Published::find(typed).map(|one| one.name), Ok(name), "{typed}");
        }
        assert_eq!(Published::find("7d").unwrap_err()[0], "7a");
        assert_eq!(Published::find("fig04").unwrap_err(), ["4a", "4b"]);
        for typed in ["3", "1", "x"] {
            assert!(Published::find(typed).unwrap_err().is_empty(), "{typed}");
        }
        assert_eq!(Published::find("6a").unwrap_err(), ["6x"]);
        assert!(Published::find("6a").is_err() && Published::find("").is_err());
    }

    /// Whoever adds a file adds it to the list.
    #[test]
    fn every_file_is_in_the_list() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/published");
        let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name());
        let mut names: Vec<String> = files.map(|name| name.to_str().unwrap().replace(".toml", "")).collect();
        let mut known: Vec<&str> = PUBLISHED.iter().map(|one| one.name).collect();
        names.sort();
        known.sort_unstable();
        assert_eq!(names, known);
    }
}
