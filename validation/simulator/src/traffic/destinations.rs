//! Where messages go.

use flitwise_language::scenario::Towards;

use super::random::{Random, below, uniform};

/// The destination of a message.
#[inline]
pub(crate) fn draw(random: &mut Random, towards: &Towards<'_>) -> u32 {
    if towards.share > 0.0 && uniform(random) <= towards.share {
        towards.hot
    } else {
        towards.node(below(random, towards.count))
    }
}
