//! The stations by name.

use std::fmt;

use super::{Kind, Need, Parameter};

impl Kind {
    /// Its manual page, in Markdown: what it is, formulas, domain, source, an example.
    ///
    /// ```
    /// # use flitwise_models::queueing::Kind;
    /// assert!(Kind::Mg1.manual().starts_with("# M/G/1: "));
    /// ```
    pub fn manual(self) -> &'static str {
        self.declaration().manual
    }

    /// What it is in one line: the head of its manual page, such as `M/G/1: one server, any service`.
    pub fn described(self) -> &'static str {
        let head = self.manual().lines().next().unwrap_or_default();
        head.trim_start_matches("# ")
    }

    /// What it wants to know as a whole.
    pub fn parameters(self) -> &'static [Parameter] {
        self.declaration().parameters
    }

    /// What it wants to know of each class of customers; nothing: it knows no classes.
    pub fn class_parameters(self) -> &'static [Parameter] {
        self.declaration().class_parameters
    }

    /// The parameters of all stations as a whole, one of each key, in the order of the stations.
    pub fn all_parameters() -> Vec<&'static Parameter> {
        let mut all: Vec<&Parameter> = Vec::new();
        for parameter in Self::ALL.into_iter().flat_map(Self::parameters) {
            if all.iter().all(|other| other.key != parameter.key) {
                all.push(parameter);
            }
        }
        all
    }

    /// Whether the distributions of wait and response are known.
    pub fn has_distribution(self) -> bool {
        self.declaration().has_distribution
    }

    /// How it is asked for, such as `mm1k --rate R --mean CYCLES --capacity N`.
    pub fn usage(self) -> String {
        let optional = |parameter: &Parameter, text: String| {
            if matches!(parameter.need, Need::Required { .. }) { text } else { format!("[{text}]") }
        };
        let options = self.parameters().iter();
        let typed = |parameter: &Parameter| format!("--{} {}", parameter.key, parameter.domain.word());
        let options = options.map(|parameter| optional(parameter, typed(parameter)));
        let keys: Vec<&str> = self.class_parameters().iter().map(|parameter| parameter.key).collect();
        let classes = (!keys.is_empty()).then(|| format!("--class NAME:{}=.. ..", keys.join("=..,")));
        let at = self.has_distribution().then(|| "[--at CYCLES,..]".to_owned());
        let words = [self.word().to_owned()].into_iter().chain(options).chain(classes).chain(at);
        words.collect::<Vec<_>>().join(" ")
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
