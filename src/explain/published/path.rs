//! One path through an n-cube: its nodes and channels, and the delay at each.

use flitwise_models::published::Cube;

use super::Subject;
use crate::explain::derivation::{Derivation, Entry};

impl Subject<'_> {
    pub(super) fn path(&self, derivation: &mut Derivation, cube: &Cube) {
        let Some((from, to)) = self.way else { return };
        let n = cube.routes.dimension();
        let node = |number: u32| format!("{number:0n$b}");
        let section = derivation.section(format!("The path from {} to {}", node(from), node(to)));
        let channels: Vec<usize> = (0..n).filter(|s| (from ^ to) >> s & 1 == 1).collect();
        let Some(first) = channels.first() else {
            section.text("These are the same node: its messages to itself are not part of the model.");
            return;
        };
        section.text(format!(
            "The addresses differ in {} bits, the rightmost being dimension 0. E-cube routing mends them from the \
             lowest dimension on, so that channels are taken in ascending order and no circle of waiting messages can \
             close. Rates and probabilities are those that a message of the class meets on each channel.",
            channels.len()
        ));
        let answered: Vec<_> = self
            .answered()
            .filter_map(|(class, answer)| Some((self.name(class.class), answer.per_channel.as_ref()?)))
            .collect();
        let mut heads =
            vec!["hop".to_owned(), "node".to_owned(), "channel".to_owned(), "next node".to_owned()];
        for (name, _) in &answered {
            heads.push(format!("{name}: rate [messages/cycle]"));
            heads.push(format!("{name}: P_b"));
            heads.push(format!("{name}: S [cycles/flit]"));
        }
        let mut rows = Vec::new();
        let mut at = from;
        for (hop, channel) in channels.iter().copied().chain([n]).enumerate() {
            let (name, next) = match channel {
                channel if channel == n => ("ejection".to_owned(), "processor".to_owned()),
                channel => (channel.to_string(), node(at ^ 1 << channel)),
            };
            let mut row = vec![Entry::from((hop + 1).to_string()), node(at).into(), name.into(), next.into()];
            for (_, channels) in &answered {
                let met = &channels[channel];
                row.push(met.rate_messages_per_cycle.into());
                row.push(met.blocking_probability.into());
                row.push(met.cycles_per_flit.into());
            }
            rows.push(row);
            if channel < n {
                at ^= 1 << channel;
            }
        }
        let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
        section.table(&heads, rows);
        for (name, channels) in &answered {
            section.text(format!(
                "{name}: messages that start on channel {first} take {} cycles on average, over all the paths that \
                 begin so.",
                Entry::from(channels[*first].latency_cycles).shown()
            ));
        }
    }
}
