//! State diagram of a link's Markov chain in DOT and TikZ.

use flitwise_figures::picture::Chain;

use super::formula::{Expression, significant};
use super::latex;

/// With more members than this rates would be a thicket.
const MOST_LABELLED: usize = 3;
/// Distance of layers and of the states in one \[cm\].
const STEP: (f64, f64) = (5.2, 3.0);

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

/// A `tikzpicture`; none where the chain is too large to be drawn.
pub(super) fn tikz(chain: &Chain) -> Option<String> {
    if chain.transitions.is_empty() {
        return None;
    }
    let labelled = chain.members.len() <= MOST_LABELLED;
    let number = |value: f64| Expression::Value(value).latex();
    let mut text = "\\begin{tikzpicture}[>=stealth, every node/.style={font=\\scriptsize}, \
                    state/.style={draw, rounded corners, align=center}]\n"
        .to_owned();
    let layers = layers(chain);
    // four layers on a page
    let across = STEP.0.min(16.0 / layers.len() as f64);
    for (column, layer) in layers.iter().enumerate() {
        for (row, set) in layer.iter().enumerate() {
            let x = column as f64 * across;
            let y = ((layer.len() - 1) as f64 / 2.0 - row as f64) * STEP.1;
            let name = latex::escaped(&members(chain, *set));
            text += &format!(
                "\\node[state] (z{set}) at ({x:.2},{y:.2}) {{{name}\\\\$\\pi={}$}};\n",
                number(chain.probabilities[*set])
            );
        }
    }
    for transition in &chain.transitions {
        let label = if labelled {
            format!(" node[sloped,above] {{${}$}}", number(transition.rate_per_cycle))
        } else {
            String::new()
        };
        text += &format!("\\draw[->] (z{}) to[bend left=12]{label} (z{});\n", transition.from, transition.to);
    }
    Some(text + "\\end{tikzpicture}\n")
}
