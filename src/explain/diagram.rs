//! State diagram of a link's Markov chain in DOT.

use flitwise_figures::picture::Chain;

use super::formula::significant;

fn members(chain: &Chain, set: usize) -> String {
    let present = chain.members.iter().enumerate().filter(|(bit, _)| set >> bit & 1 == 1);
    let names: Vec<&str> = present.map(|(_, name)| name.as_str()).collect();
    if names.is_empty() { "∅".to_owned() } else { format!("{{{}}}", names.join(",")) }
}

/// Sets by the number of their members.
fn layers(chain: &Chain) -> Vec<Vec<usize>> {
    let mut layers = vec![Vec::new(); chain.members.len() + 1];
    for set in 0..chain.probabilities.len() {
        layers[set.count_ones() as usize].push(set);
    }
    layers
}

/// For Graphviz; none where the chain is too large to be drawn.
pub(super) fn dot(chain: &Chain) -> Option<String> {
    if chain.transitions.is_empty() {
        return None;
    }
    let quoted = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
    let mut text = "digraph chain {\n  rankdir=LR;\n  node [shape=box, style=rounded];\n".to_owned();
    for (set, probability) in chain.probabilities.iter().enumerate() {
        let name = quoted(&members(chain, set));
        text += &format!("  z{set} [label=\"{name}\\nπ = {}\"];\n", significant(*probability));
    }
    for layer in layers(chain) {
        let states: String = layer.iter().map(|set| format!(" z{set};")).collect();
        text += &format!("  {{ rank=same;{states} }}\n");
    }
    for transition in &chain.transitions {
        let label = significant(transition.rate_per_cycle);
        text += &format!("  z{} -> z{} [label=\"{label}\"];\n", transition.from, transition.to);
    }
    Some(text + "}\n")
}
