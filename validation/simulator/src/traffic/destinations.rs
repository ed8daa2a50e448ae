//! Where messages go.

use flitwise_language::scenario::Towards;

use super::random::{Random, below, uniform};

/// The destination of a message.
#[inline]
pub(crate) fn draw(random: &mut Random, towards: &Towards<'_>) -> u32 {
    if towards.share > 0.0 && uniform(random) <= towards.share {
        towards.hot
    } else {
        let place = match towards.up_to() {
            Some(up_to) => {
                let drawn = uniform(random);
                up_to.partition_point(|share| *share < drawn) as u32
            }
            None => below(random, towards.count),
        };
        towards.node(place)
    }
}
