//! What a station wants to know: names, units and domains.

use flitwise_language::document::Fault;

use super::Number;

/// One number that a station wants to know.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameter {
    /// How it is asked for, such as `vacation-mean`.
    pub key: &'static str,
    /// Its name with its unit, such as `vacation_mean_cycles`.
    pub field: &'static str,
    /// Whether it must be given.
    pub need: Need,
    /// What it may be.
    pub domain: Domain,
    /// What it is, for the help of the option.
    pub meaning: &'static str,
}

/// Whether a parameter must be given.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Need {
    /// There is no answer without it.
    Required {
        /// A value to try.
        example: f64,
    },
    /// There is more of an answer with it.
    Optional,
    /// It has this value where it is not given.
    Default(f64),
}

/// What a parameter may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Domain {
    /// Zero, or within 1e-12 to 1e6 of these per cycle.
    Rate(&'static str),
    /// 1e-6 to 1e9 cycles.
    Time,
    /// A squared coefficient of variation: 0 to 1e6.
    Scv,
    /// A third moment of a time: above 0 and up to 1e60 cycles³, and what further moments leave.
    ThirdMoment,
    /// A weight: 1e-9 to 1e9.
    Weight,
    /// An energy in any unit: 1e-9 to 1e9 of it.
    Energy,
    /// A probability: 1e-12 to 0.999.
    Probability,
    /// A whole number from one to `most`.
    Count {
        /// The largest.
        most: u64,
        /// Of what.
        of: &'static str,
    },
}

impl Domain {
    /// Whether the number is in it.
    pub fn holds(&self, number: f64) -> bool {
        match self {
            Self::Rate(_) => number == 0.0 || (1e-12..=1e6).contains(&number),
            Self::Time => (1e-6..=1e9).contains(&number),
            Self::Scv => (0.0..=1e6).contains(&number),
            Self::ThirdMoment => number > 0.0 && number <= 1e60,
            Self::Probability => (1e-12..=0.999).contains(&number),
            Self::Weight | Self::Energy => (1e-9..=1e9).contains(&number),
            Self::Count { most, .. } => number.fract() == 0.0 && (1.0..=*most as f64).contains(&number),
        }
    }

    /// What stands for a value of it.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Rate(_) => "RATE",
            Self::Time => "CYCLES",
            Self::Scv => "SCV",
            Self::ThirdMoment => "CYCLES3",
            Self::Weight => "WEIGHT",
            Self::Energy => "ENERGY",
            Self::Probability => "SHARE",
            Self::Count { .. } => "N",
        }
    }

    /// What is wanted, in words.
    pub fn wanted(&self) -> String {
        match self {
            Self::Rate(of) => format!("0, or 1e-12 to 1e6 {of} per cycle"),
            Self::Time => "1e-6 to 1e9 cycles".to_owned(),
            Self::Scv => "0 (always the same) to 1e6; 1 is exponential".to_owned(),
            Self::ThirdMoment => "above 0, up to 1e60 cycles³".to_owned(),
            Self::Weight => "1e-9 to 1e9".to_owned(),
            Self::Energy => "1e-9 to 1e9, in one unit for all".to_owned(),
            Self::Probability => "a probability, 1e-12 to 0.999".to_owned(),
            Self::Count { most, of } => format!("a whole number of {of}, 1 to {most}"),
        }
    }

    /// What helps against this number, where something does.
    pub(super) fn help(&self, number: f64) -> Option<String> {
        let negative_rate = matches!(self, Self::Rate(_)) && number < 0.0;
        negative_rate.then(|| format!("without the sign it is {}", -number)).filter(|_| self.holds(-number))
    }
}

impl Parameter {
    /// What is wrong with this value of it, if anything; the key as it is to be shown is left to be filled in.
    pub(super) fn fault(&self, number: &Number) -> Option<Fault> {
        (!self.domain.holds(number.value)).then(|| Fault {
            place: number.place.clone(),
            key: self.key.to_owned(),
            found: number.typed.clone(),
            wanted: self.domain.wanted(),
            help: self.domain.help(number.value),
        })
    }
}

/// Parameters of several stations; what only one asks is declared in its file.
pub(super) mod shared {
    use super::{Domain, Need, Parameter};

    pub(in crate::queueing) const RATE: Parameter = Parameter {
        key: "rate",
        field: "rate_per_cycle",
        need: Need::Required { example: 0.01 },
        domain: Domain::Rate("arrivals"),
        meaning: "Arrivals per cycle; of engset, requests of each idle source",
    };
    pub(in crate::queueing) const MEAN: Parameter = Parameter {
        key: "mean",
        field: "mean_service_cycles",
        need: Need::Required { example: 32.0 },
        domain: Domain::Time,
        meaning: "Mean service in cycles",
    };
    pub(in crate::queueing) const SCV: Parameter = Parameter {
        key: "scv",
        field: "service_scv",
        need: Need::Required { example: 1.0 },
        domain: Domain::Scv,
        meaning: "Squared coefficient of variation of the service: 0 is constant, 1 exponential",
    };
    pub(in crate::queueing) const SERVERS: Parameter = Parameter {
        key: "servers",
        field: "servers",
        need: Need::Required { example: 2.0 },
        domain: Domain::Count { most: 1_000_000, of: "servers" },
        meaning: "Number of servers",
    };
    pub(in crate::queueing) const ENERGY: Parameter = Parameter {
        key: "energy",
        field: "energy",
        need: Need::Required { example: 1000.0 },
        domain: Domain::Energy,
        meaning: "Energy of an arrival, in any unit, such as pJ",
    };
    pub(in crate::queueing) const WINDOW: Parameter = Parameter {
        key: "window",
        field: "window_cycles",
        need: Need::Required { example: 500.0 },
        domain: Domain::Time,
        meaning: "Time over which the sum is taken, in cycles",
    };
}
