//! The *textbook stations*: queues with exact answers, one manual page each.
//!
//! What the lessons derive and the models are checked against. A station is a plain struct of its parameters; it
//! answers by closed forms and short recursions. Times are in cycles, rates per cycle, and the words are those of
//! the books: arrival rate, mean service, squared coefficient of variation (scv), utilization, mean wait (in the
//! queue), mean response (wait and service), mean number waiting and in the system, blocking probability.
//!
//! A station is a file with its formulas, which implements `TextbookQueue`, and a line of the list below.
//!
//! ```
//! use flitwise_models::queueing::{Mg1, Service, Steady};
//!
//! let station = Mg1 { rate: 0.02, service: Service::new(32.0, 0.5) };
//! let Steady::Reached(answer) = station.measures() else { panic!("it is not saturated") };
//! assert_eq!(format!("{:.2} of {:.2}", answer.mean_wait, answer.mean_response), "42.67 of 74.67");
//! ```
//!
//! [`Question`] asks any of them by its name, with every fault of what was typed, and [`StationAnswer`] is what
//! all of them answer alike.

use schemars::JsonSchema;
use serde::Serialize;

mod answer;
#[cfg(test)]
mod chain;
mod kind;
mod parameter;
mod question;
mod station;

pub use answer::{CustomersAnswer, StationAnswer, TailAnswer};
use parameter::shared::{MEAN, RATE, SCV, SERVERS};
pub use parameter::{Domain, Need, Parameter};
pub use question::{ClassQuestion, MAX_CLASSES, Number, Question};
pub use station::Station;
use station::{
    Contradiction, Declaration, Demand, Exceeds, TextbookQueue, Values, answers_by_priority,
    saturated_by_priority,
};

/// Makes [`Kind`] and the modules from the list of stations.
macro_rules! stations {
    ($($module:ident::$station:ident = $word:tt;)+) => {
        $(
            pub mod $module;
            pub use $module::$station;
        )+

        /// The textbook stations.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
        pub enum Kind {
            $(
                #[doc = concat!("[`", stringify!($station), "`].")]
                #[serde(rename = $word)]
                $station,
            )+
        }

        impl Kind {
            /// All of them, in the order of a course.
            pub const ALL: [Self; [$($word),+].len()] = [$(Self::$station),+];

            /// The word that asks for it.
            pub fn word(self) -> &'static str {
                match self {
                    $(Self::$station => $word,)+
                }
            }

            /// What its file declares.
            fn declaration(self) -> Declaration {
                match self {
                    $(Self::$station => Declaration::of::<$station>(include_str!(concat!(
                        "queueing/",
                        stringify!($module),
                        ".md"
                    ))),)+
                }
            }
        }
    };
}

stations! {
    mm1::Mm1 = "mm1";
    md1::Md1 = "md1";
    mg1::Mg1 = "mg1";
    vacations::Vacations = "vacations";
    mm1k::Mm1K = "mm1k";
    mmc::MmC = "mmc";
    erlang_b::ErlangB = "erlang-b";
    engset::Engset = "engset";
    multirate_loss::MultirateLoss = "multirate-loss";
    erlang_fixed_point::ErlangFixedPoint = "erlang-fixed-point";
    non_preemptive::NonPreemptive = "non-preemptive";
    preemptive_resume::PreemptiveResume = "preemptive-resume";
    processor_sharing::ProcessorSharing = "ps";
    discriminatory_sharing::DiscriminatorySharing = "dps";
    closed_network::ClosedNetwork = "closed-network";
    shot_noise::ShotNoise = "shot-noise";
    chernoff::Chernoff = "chernoff";
}

pub use chernoff::Jump;
pub use discriminatory_sharing::Sharer;
pub use multirate_loss::Call;
pub use shot_noise::Shot;

/// Whether stations take whole numbers only for the parameter `key`.
pub fn is_whole(key: &str) -> bool {
    let all = Kind::ALL.iter().flat_map(|kind| kind.parameters().iter().chain(kind.class_parameters()));
    all.filter(|parameter| parameter.key == key).any(|one| matches!(one.domain, Domain::Count { .. }))
}

/// What holds in the long run, if anything does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Steady<T> {
    /// There is a steady state, and this holds in it.
    Reached(T),
    /// More is asked of the server than it can do: the queue grows without bound. An answer, not an error.
    Saturated {
        /// Share of its time that the server would have to work, one or more.
        load: f64,
    },
}

impl<T> Steady<T> {
    /// What holds in the steady state, if there is one.
    pub fn reached(self) -> Option<T> {
        match self {
            Self::Reached(value) => Some(value),
            Self::Saturated { .. } => None,
        }
    }

    /// The same with another value.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Steady<U> {
        match self {
            Self::Reached(value) => Steady::Reached(change(value)),
            Self::Saturated { load } => Steady::Saturated { load },
        }
    }
}

/// `value` at a load below one.
fn below_one<T>(load: f64, value: impl FnOnce() -> T) -> Steady<T> {
    if load < 1.0 { Steady::Reached(value()) } else { Steady::Saturated { load } }
}

/// The first two moments of a time: of a service, or of a vacation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Service<T = f64> {
    /// `E[S]` \[cycles\].
    pub mean: T,
    /// `E[S²]` \[cycles²\].
    pub second_moment: T,
}

impl Service {
    /// By mean \[cycles\] and squared coefficient of variation `Var[S] / E[S]²`.
    pub fn new(mean: f64, scv: f64) -> Self {
        Self { mean, second_moment: mean * mean * (1.0 + scv) }
    }

    /// Always the same.
    pub fn constant(mean: f64) -> Self {
        Self::new(mean, 0.0)
    }

    /// Exponential.
    pub fn exponential(mean: f64) -> Self {
        Self::new(mean, 1.0)
    }

    /// Mean of what is left of it when looked at in its midst, `E[S²] / 2 E[S]` \[cycles\].
    pub fn mean_residual(&self) -> f64 {
        self.second_moment / (2.0 * self.mean)
    }
}

/// One class of customers at a station: Poisson arrivals and what each of them needs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Customers {
    /// `λ` \[1/cycle\].
    pub rate: f64,
    /// What each of them needs.
    pub service: Service,
}

impl Customers {
    /// By arrival rate \[1/cycle\], mean service \[cycles\] and its squared coefficient of variation.
    pub fn new(rate: f64, mean: f64, scv: f64) -> Self {
        Self { rate, service: Service::new(mean, scv) }
    }

    /// `ρ = λ E[S]`.
    pub fn load(&self) -> f64 {
        self.rate * self.service.mean
    }

    /// `λ E[S²] / 2`: what is left of the service that an arrival finds under way, on average over all arrivals
    /// \[cycles\].
    fn residual_work(&self) -> f64 {
        self.rate * self.service.second_moment / 2.0
    }
}

/// Long-run means of a station, or of one class of its customers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measures {
    /// `λ`, whether let in or not \[1/cycle\].
    pub arrival_rate: f64,
    /// `λ (1 - P_b)`: what comes and is served \[1/cycle\].
    pub throughput: f64,
    /// Share of the time of each server that is spent on it.
    pub utilization: f64,
    /// `P_b`: probability that an arrival is turned away.
    pub blocking_probability: f64,
    /// `W`: mean wait of those let in, without service \[cycles\].
    pub mean_wait: f64,
    /// `T`: mean response of those let in, wait and service \[cycles\].
    pub mean_response: f64,
    /// `L_q`: mean number waiting.
    pub mean_number_waiting: f64,
    /// `L`: mean number in the system.
    pub mean_number_in_system: f64,
}

impl Measures {
    /// All are let in and served by one server; numbers are by Little's law, `L = λ T` and `L_q = λ W`.
    fn of_wait(customers: &Customers, mean_wait: f64) -> Self {
        let Customers { rate, service } = customers;
        let mean_response = mean_wait + service.mean;
        Self {
            arrival_rate: *rate,
            throughput: *rate,
            utilization: customers.load(),
            blocking_probability: 0.0,
            mean_wait,
            mean_response,
            mean_number_waiting: rate * mean_wait,
            mean_number_in_system: rate * mean_response,
        }
    }
}

/// Mean waits of classes in order of priority, each with the load of itself and all before it: those before the
/// first saturated class have one. `wait(σ above, σ, index)` gives it.
fn by_priority(
    classes: &[Customers],
    wait: impl Fn(f64, f64, usize) -> f64,
) -> impl Iterator<Item = Steady<Measures>> {
    let loads = cumulated_loads(classes);
    classes.iter().enumerate().map(move |(index, class)| {
        let (above, load) = (if index == 0 { 0.0 } else { loads[index - 1] }, loads[index]);
        below_one(load, || Measures::of_wait(class, wait(above, load, index)))
    })
}

/// `σ_k = ρ_1 + .. + ρ_k`.
fn cumulated_loads(classes: &[Customers]) -> Vec<f64> {
    let add = |sum: &mut f64, class: &Customers| {
        *sum += class.load();
        Some(*sum)
    };
    classes.iter().scan(0.0, add).collect()
}

/// Share of the server's time for each class in order of priority: what it asks for, as long as there is any.
fn shares_by_priority(classes: &[Customers]) -> Vec<f64> {
    let mut left = 1.0;
    let take = |class: &Customers| {
        let share = class.load().min(left);
        left -= share;
        share
    };
    classes.iter().map(take).collect()
}

#[cfg(test)]
fn assert_near(found: f64, expected: f64, relative: f64) {
    assert!((found - expected).abs() <= relative * expected.abs().max(1e-300), "{found} is not {expected}");
}
