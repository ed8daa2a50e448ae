//! flitwise answers which latency a message will see in a cluster of QoS-capable wormhole routers, and how often
//! it will miss its deadline.
//!
//! This library is the way to its parts for programs; people use the command `flitwise`.
//!
//! ```
//! use flitwise::models::{published, scenario::Preset};
//!
//! let scenario = Preset::find("cube6").unwrap().scenario();
//! let answer = published::solve(&scenario, &published::Options::default()).unwrap();
//! assert!(!answer.saturated);
//! ```

#[doc(inline)]
pub use flitwise_figures as figures;
#[doc(inline)]
pub use flitwise_models as models;
#[doc(inline)]
pub use flitwise_validation as validation;
