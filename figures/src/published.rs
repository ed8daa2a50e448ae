//! The built-in figures: those of the 2005 paper, and our own.

use flitwise_language::document::{Document, Fault, nearest};

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
    "pipeline",
    "worms",
    "stamps",
    "mw-frames",
    "mw-t2",
    "mw-fig5a",
    "mw-fig5b",
    "mw-fig6a",
    "mw-fig6b",
    "mw-fig7a",
    "mw-fig7b",
    "mw-t5",
    "mw-fig8a",
    "mw-fig8b",
    "mw-fig9a",
    "mw-fig9b",
    "mw-fig10a",
    "mw-fig10b",
    "mw-t6",
    "mw-fig11a",
    "mw-fig11b",
    "mw-fig12a",
    "mw-fig12b",
    "mw-fig13a",
    "mw-fig13b",
    "mw-fig13c",
    "recn-table1",
    "recn-fig2a",
    "recn-fig2b",
    "recn-fig2c",
    "recn-fig2d",
    "recn-fig2a-512",
    "recn-fig2b-512",
    "recn-fig3a",
    "recn-fig3b",
    "recn-fig4a",
    "recn-fig4b",
    "recn-fig4c",
    "recn-fig4d",
    "recn-fig4e",
    "recn-fig4f",
    "recn-fig5-ingress",
    "recn-fig5-egress",
    "recn-fig5-total",
    "recn-fig6a",
    "recn-fig6a-queues",
    "recn-fig6b",
    "recn-fig6b-queues",
    "recn-latency-a",
    "recn-latency-b",
    "recn-thresholds",
    "recn-saqs",
    "recn-speedup",
    "recn-placement",
    "nt-fattree",
    "nt-fattree-packets",
    "nt-permutation",
    "nt-hol",
    "nt-booksim",
    "nt-ebb",
    "nt-tree-loads",
    "nt-graph-loads",
    "rn-fig4a",
    "rn-fig4b",
    "rn-fig4x",
    "rn-course",
    "rn-fig5a",
    "rn-fig5b",
    "rn-fig6",
    "rn-fig6-late",
    "rn-fig7",
    "rn-fig7-late",
    "rn-fig8a",
    "rn-fig8a-missed",
    "rn-fig8b",
    "rn-fig9a",
    "rn-fig9a-latency",
    "rn-fig9b",
    "rn-fig9b-latency",
    "rn-figv",
    "acp-t2",
    "acp-t2-time",
    "acp-fig3",
    "acp-fig4a",
    "acp-fig4b",
    "acp-t3",
    "acp-fig5a",
    "acp-fig5a-time",
    "acp-fig5b",
    "acp-t4",
    "acp-reserved",
    "acp-fig6b",
    "acp-fig7a",
    "acp-fig7a-total",
    "acp-fig8b",
    "acp-fig9a",
    "acp-fig10",
];

/// Figures and claims of one source.
#[derive(Clone, Copy, Debug)]
pub struct Paper {
    /// How it is called in commands, such as `mediaworm`.
    pub word: &'static str,
    /// Stands before the numbers of its figures where those of several papers are together.
    pub short: &'static str,
    /// What a page of its figures is called.
    pub title: &'static str,
    /// In a sentence: what is reproduced, and how.
    pub about: &'static str,
    /// How the names of its figures and claims begin; our own have no such beginning.
    pub prefix: Option<&'static str>,
}

/// All sources, in the order of the figures; our own is the last.
pub const PAPERS: [Paper; 7] = [
    Paper {
        word: "kyd05",
        short: "",
        title: "Models and simulation of the 2005 paper",
        about: "Figures of Kim, Yum and Das, Performance analysis of a QoS capable cluster interconnect, Performance \
                Evaluation 60 (2005) 275-302, computed by their model, by a refined one and by a flit-level \
                simulation.",
        prefix: Some("fig"),
    },
    Paper {
        word: "mediaworm",
        short: "MediaWorm",
        title: "Streams of frames: MediaWorm",
        about: "Figures and tables of Yum, Kim, Das and Vaidya, MediaWorm: a QoS capable router architecture for \
                clusters, by the mediaworm analysis (lines) and by simulation (markers, with 95 % intervals). Frames \
                and their intervals are a tenth of those of the paper; rates and lengths of messages are the same. \
                The curves of the paper are lost in its text; its tables and sentences are judged.",
        prefix: Some("mw-"),
    },
    Paper {
        word: "recn",
        short: "RECN",
        title: "Packet switches and congestion trees: RECN",
        about: "Figures and tables of Duato, Johnson, Flich, Naven, Garcia and Nachiondo, A new scalable and \
                cost-effective congestion management strategy for lossless multistage interconnection networks, HPCA \
                2005, by the recn analysis (lines) and by simulation, with 95 % intervals over replications. Traces of \
                the paper are replaced by synthetic, self-similar ones. Its sentences and numbers are judged.",
        prefix: Some("recn-"),
    },
    Paper {
        word: "router-nic",
        short: "Router and NIC",
        title: "Preemptive routers and network interfaces",
        about: "Figures of Yum, Kim and Das, QoS provisioning in clusters: an investigation of router and NIC design, \
                ISCA 2001, by the router-nic model (lines) and by simulation (markers, with 95 % intervals over eight \
                replications). Phases are two frames long, in the paper ten and more; all else is the same. The curves \
                of the paper are lost in its text; its sentences are judged.",
        prefix: Some("rn-"),
    },
    Paper {
        word: "admission",
        short: "Admission",
        title: "Admission, congestion and peak power",
        about: "Figures and tables of Yum, Jin, Kim and Das, Integration of admission, congestion, and peak power \
                control in QoS-aware clusters, by the admission model (lines) and by simulation (markers, with 95 % \
                intervals). ON periods are 2,000 cycles; the paper prints none. Controls are compared by the total \
                latency, too: the paper leaves out what messages wait to be posted. Its sentences and numbers are \
                judged.",
        prefix: Some("acp-"),
    },
    Paper {
        word: "fabrics",
        short: "",
        title: "Trees of switches",
        about: "Fat trees of wormhole routers and of packet switches: which routing, what a permutation does to it, \
                and what heads of line cost, by models (lines) and by simulation (markers, with 95 % intervals). What \
                the field has published of them is judged.",
        prefix: Some("nt-"),
    },
    Paper {
        word: "own",
        short: "",
        title: "Figures and references of our own",
        about: "Networks, virtual channels and distributions that no paper shows, by models and simulation, and values \
                that are known exactly or from other simulators.",
        prefix: None,
    },
];

impl Paper {
    /// That of a figure or claim of this name.
    pub fn of(name: &str) -> &'static Self {
        let is_its = |paper: &&Self| paper.prefix.is_none_or(|prefix| name.starts_with(prefix));
        PAPERS.iter().find(is_its).expect("the last one has all names")
    }

    /// What a figure of this name is called in its paper: `Figure 4a`, `Table 2`; none of other names.
    pub fn number(&self, name: &str) -> Option<String> {
        let rest = name.strip_prefix(self.prefix?)?;
        let is_number = |number: &str| number.starts_with(|first: char| first.is_ascii_digit());
        let [table, figure] =
            ["table", "fig"].map(|word| rest.strip_prefix(word).filter(|rest| is_number(rest)));
        let table = table.or_else(|| rest.strip_prefix('t').filter(|rest| is_number(rest)));
        let figure =
            figure.or_else(|| Some(rest.trim_start_matches('0')).filter(|_| self.prefix == Some("fig")));
        table.map(|number| format!("Table {number}")).or(figure.map(|number| format!("Figure {number}")))
    }
}

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
    fn every_figure_is_of_one_paper_and_has_its_number() {
        let said = |name: &str| {
            let paper = Paper::of(name);
            (paper.word, paper.number(name))
        };
        assert_eq!(said("fig04a"), ("kyd05", Some("Figure 4a".to_owned())));
        assert_eq!(said("mw-fig12a"), ("mediaworm", Some("Figure 12a".to_owned())));
        assert_eq!(said("mw-t2"), ("mediaworm", Some("Table 2".to_owned())));
        assert_eq!(said("mw-frames"), ("mediaworm", None));
        assert_eq!(said("recn-table1"), ("recn", Some("Table 1".to_owned())));
        assert_eq!(said("recn-tree"), ("recn", None));
        assert_eq!(said("rn-fig9b"), ("router-nic", Some("Figure 9b".to_owned())));
        assert_eq!(said("lanes-torus"), ("own", None));
        for paper in &PAPERS {
            assert!(PUBLISHED.iter().any(|one| Paper::of(one.name).word == paper.word), "{}", paper.word);
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
