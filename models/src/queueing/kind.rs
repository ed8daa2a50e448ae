//! The stations by name.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

use super::parameter::keys::*;
use super::parameter::{Need, Parameter};

/// The textbook stations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// [`super::Mm1`].
    Mm1,
    /// [`super::Md1`].
    Md1,
    /// [`super::Mg1`].
    Mg1,
    /// [`super::Vacations`].
    Vacations,
    /// [`super::Mm1K`].
    #[serde(rename = "mm1k")]
    Mm1K,
    /// [`super::MmC`].
    #[serde(rename = "mmc")]
    MmC,
    /// [`super::ErlangB`].
    ErlangB,
    /// [`super::Engset`].
    Engset,
    /// [`super::NonPreemptive`].
    NonPreemptive,
    /// [`super::PreemptiveResume`].
    PreemptiveResume,
    /// [`super::ProcessorSharing`].
    #[serde(rename = "ps")]
    ProcessorSharing,
    /// [`super::DiscriminatorySharing`].
    #[serde(rename = "dps")]
    DiscriminatorySharing,
}

impl Kind {
    /// All of them, in the order of a course.
    pub const ALL: [Self; 12] = [
        Self::Mm1,
        Self::Md1,
        Self::Mg1,
        Self::Vacations,
        Self::Mm1K,
        Self::MmC,
        Self::ErlangB,
        Self::Engset,
        Self::NonPreemptive,
        Self::PreemptiveResume,
        Self::ProcessorSharing,
        Self::DiscriminatorySharing,
    ];

    /// The word that asks for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Mm1 => "mm1",
            Self::Md1 => "md1",
            Self::Mg1 => "mg1",
            Self::Vacations => "vacations",
            Self::Mm1K => "mm1k",
            Self::MmC => "mmc",
            Self::ErlangB => "erlang-b",
            Self::Engset => "engset",
            Self::NonPreemptive => "non-preemptive",
            Self::PreemptiveResume => "preemptive-resume",
            Self::ProcessorSharing => "ps",
            Self::DiscriminatorySharing => "dps",
        }
    }

    /// Its manual page, in Markdown: what it is, formulas, domain, source, an example.
    ///
    /// ```
    /// # use flitwise_models::queueing::Kind;
    /// assert!(Kind::Mg1.manual().starts_with("# M/G/1: "));
    /// ```
    pub fn manual(self) -> &'static str {
        match self {
            Self::Mm1 => include_str!("mm1.md"),
            Self::Md1 => include_str!("md1.md"),
            Self::Mg1 => include_str!("mg1.md"),
            Self::Vacations => include_str!("vacations.md"),
            Self::Mm1K => include_str!("mm1k.md"),
            Self::MmC => include_str!("mmc.md"),
            Self::ErlangB => include_str!("erlang_b.md"),
            Self::Engset => include_str!("engset.md"),
            Self::NonPreemptive => include_str!("non_preemptive.md"),
            Self::PreemptiveResume => include_str!("preemptive_resume.md"),
            Self::ProcessorSharing => include_str!("processor_sharing.md"),
            Self::DiscriminatorySharing => include_str!("discriminatory_sharing.md"),
        }
    }

    /// What it is in one line: the head of its manual page, such as `M/G/1: one server, any service`.
    pub fn described(self) -> &'static str {
        let head = self.manual().lines().next().unwrap_or_default();
        head.trim_start_matches("# ")
    }

    /// What it wants to know as a whole.
    pub fn parameters(self) -> &'static [Parameter] {
        match self {
            Self::Mm1 | Self::Md1 | Self::ProcessorSharing => &[RATE, MEAN],
            Self::Mg1 => &[RATE, MEAN, SCV, THIRD_MOMENT],
            Self::Vacations => &[RATE, MEAN, SCV, VACATION_MEAN, VACATION_SCV],
            Self::Mm1K => &[RATE, MEAN, CAPACITY],
            Self::MmC | Self::ErlangB => &[RATE, MEAN, SERVERS],
            Self::Engset => &[RATE_PER_IDLE_SOURCE, MEAN, SERVERS, SOURCES],
            Self::NonPreemptive | Self::PreemptiveResume | Self::DiscriminatorySharing => &[],
        }
    }

    /// What it wants to know of each class of customers; nothing: it knows no classes.
    pub fn class_parameters(self) -> &'static [Parameter] {
        match self {
            Self::NonPreemptive | Self::PreemptiveResume => &[RATE, MEAN, SCV],
            Self::DiscriminatorySharing => &[RATE, MEAN, WEIGHT],
            _ => &[],
        }
    }

    /// Whether the distributions of wait and response are known.
    pub fn has_distribution(self) -> bool {
        matches!(self, Self::Mm1 | Self::Md1 | Self::MmC)
    }

    /// How it is asked for, such as `mm1k --rate R --mean CYCLES --capacity N`.
    pub fn usage(self) -> String {
        let optional = |parameter: &Parameter, text: String| {
            if parameter.need == Need::Required { text } else { format!("[{text}]") }
        };
        let options = self.parameters().iter();
        let options =
            options.map(|parameter| optional(parameter, format!("--{} {}", parameter.key, value(parameter))));
        let keys: Vec<&str> = self.class_parameters().iter().map(|parameter| parameter.key).collect();
        let classes = (!keys.is_empty()).then(|| format!("--class NAME:{}=.. ..", keys.join("=..,")));
        let at = self.has_distribution().then(|| "[--at CYCLES,..]".to_owned());
        let words = [self.word().to_owned()].into_iter().chain(options).chain(classes).chain(at);
        words.collect::<Vec<_>>().join(" ")
    }
}

/// What stands for a value of the parameter.
fn value(parameter: &Parameter) -> &'static str {
    use super::Domain;
    match parameter.domain {
        Domain::Rate(_) => "RATE",
        Domain::Time => "CYCLES",
        Domain::Scv => "SCV",
        Domain::ThirdMoment => "CYCLES3",
        Domain::Weight => "WEIGHT",
        Domain::Count { .. } => "N",
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_manual_page_has_its_parts() {
        for kind in Kind::ALL {
            let page = kind.manual();
            for part in ["\n## Formulas\n", "\n## Domain\n", "\n## Source\n", "\n## Example\n"] {
                assert!(page.contains(part), "{kind}: {part}");
            }
            assert!(page.contains(&format!("$ flitwise station {kind} ")), "{kind}: example");
            let (text, _) = page.split_once("\n## Example\n").unwrap();
            assert!(text.lines().all(|line| line.chars().count() <= 100), "{kind}: a long line");
            let head = kind.described();
            assert!(head.contains(": ") && head.len() < 80, "{head}");
            for parameter in kind.parameters().iter().chain(kind.class_parameters()) {
                assert!(page.contains(&format!("`{}`", parameter.key)), "{kind}: {}", parameter.key);
            }
        }
    }

    #[test]
    fn words_are_those_of_the_documents() {
        for kind in Kind::ALL {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.word());
        }
    }

    #[test]
    fn the_usage_tells_what_may_be_left_out() {
        let usage = Kind::Mg1.usage();
        assert_eq!(usage, "mg1 --rate RATE --mean CYCLES --scv SCV [--third-moment CYCLES3]");
        assert_eq!(
            Kind::PreemptiveResume.usage(),
            "preemptive-resume --class NAME:rate=..,mean=..,scv=.. .."
        );
    }
}
