//! The equations of the 2005 paper, \[KYD05\], for display: number, reason, formula, unit.
//!
//! Readings R1 to R12 stand in the README of the models' crate.

use super::derivation::Equation;

macro_rules! equations {
    ($($name:ident: $number:literal, $unit:literal, $formula:literal, $reason:literal;)*) => {
        $(pub(super) const $name: Equation =
            Equation { number: $number, unit: $unit, formula: $formula, reason: $reason };)*
        /// All of them.
        #[cfg(test)]
        pub(super) const ALL: &[&Equation] = &[$(&$name),*];
    };
}

pub(super) use equations;

equations! {
    ROOM: "§3.1", "flits", "m_{c} = max(b, M_{c})",
        "A buffer shorter than a message counts as one message long: the tail holds the channel anyway.";
    VTICK: "§2", "cycles/flit", "V_{c} = 1 / (λ_{c}^{g} * M_{c})",
        "VirtualClock advances the clock of a class by its Vtick per flit; by default a class reserves just the \
         flits per cycle that it sends.";
    LATENCY: "(2)", "cycles", "L_{c} = P - 1 + (M_{c} + B_{c}) * S_{c}",
        "The header takes P - 1 cycles through the pipeline; then the message and what blocks it cross the link, \
         at `S_{c}` cycles per flit.";
    BLOCKED: "(3)", "", "P_{b,c} = min(1, L_{c} * λ'_{c})^(1 + 2 * m_{c} / M_{c})",
        "A header is blocked when input buffer, server and output buffer are all taken: one factor, the load \
         `L_{c} * λ'_{c}`, for each message that fits (R2: at most 1).";
    ACCEPTED: "(4)", "messages/cycle", "λ'_{c} = (1 - P_{b,c}) * λ_{c}^{g}",
        "Only messages that are not blocked load the router.";
    LENGTH: "(5)", "flits", "B_{c} = P_{b,c} * (m_{c} + M_{c} / 2)",
        "A blocked header waits for a buffer full of flits and, on average, for half of a message being sent.";
    SHARE: "(7)", "cycles/flit", "S_{c}[Z] = V_{c} * sum{j ∈ Z}(1 / V_{j})",
        "While just the classes of Z are there, the link is shared in proportion to 1 / Vtick.";
    STAY: "(2), R3", "cycles", "L_{c}[Z] = P - 1 + (M_{c} + B_{c}) * S_{c}[Z]",
        "In such company a message stays this long: (2) with the share it then has.";
    STAY_AT_EJECTION: "R7, R8", "cycles", "L_{c}[Z] = P - 1 + (O_{c} + M_{c}) * S_{c}[Z]",
        "In such company a message stays this long at the ejection channel.";
    LEAVE: "Fig. 3", "1/cycle", "μ_{c}[Z] = 1 / L_{c}[Z] - λ'_{c}",
        "It leaves at this rate, since messages of its class that come in the meantime prolong the presence of \
         the class; it comes at rate `λ'_{c}`.";
    BALANCE: "Fig. 3", "", "π_{Z} = sum{Y → Z}(π_{Y} * q_{YZ}) / sum{Z → Y}(q_{ZY})",
        "In the long run each state is left as often as it is entered; solved for the probability of the state, \
         this is its balance equation.";
    GIVEN: "(8)", "", "P_{c}[Z] = π_{Z} / sum{Y ∋ c}(π_{Y})",
        "Of the time in which class c is there, this share is spent in company Z.";
    MEAN_SHARE: "(6)", "cycles/flit", "S_{c} = sum{Z ∋ c}(S_{c}[Z] * P_{c}[Z])",
        "The mean over all company that the class may have.";
    LINK_LOAD: "(9)", "", "ρ_{r} = 1 - π_{∅}",
        "Real-time traffic holds the link whenever the chain is not in the empty state.";
    MET_LENGTH: "R4", "flits", "M_{r} = sum{j}(λ'_{j} * M_{j}^2) / sum{j}(λ'_{j} * M_{j})",
        "The real-time message that best effort meets is a long one more often than a short one.";
    BEST_EFFORT: "(9)", "cycles/flit", "S_{C} = (1 + ρ_{r} * M_{r} / (2 * M_{C} * (1 - ρ_{r}))) / (1 - ρ_{r})",
        "Best effort is sent only in cycles that real-time traffic leaves (preemptive resume), and waits first \
         for the rest of what it finds.";
    LONE: "§3.3", "cycles", "T_{c} = P - 1 + M_{c}",
        "What a message takes when it meets nothing.";
    VARIANCE: "§3.3", "cycles²", "δ_{c}^{2} = (L_{c} - T_{c})^2",
        "The service at the source varies by what contention adds.";
    SOURCE_LOAD: "(15), R6", "", "u_{c} = λ_{c}^{g} * L_{c}",
        "The source is busy this share of the time; from 1 on its queue grows without bound.";
    WAIT: "(15)", "cycles", "W_{c} = λ_{c}^{g} * (L_{c}^2 + δ_{c}^{2}) / (2 * (1 - λ_{c}^{g} * L_{c})) + S_{c}",
        "The source is an M/G/1 queue whose service is the network latency (Pollaczek and Khinchine), and the \
         header then goes in its turn.";
    TOTAL: "(1)", "cycles", "Latency_{c} = L_{c} + W_{c}",
        "What the user sees: network and source together.";
    TRANSFER: "(2), parted", "cycles", "transfer_{c} = P - 1 + M_{c}",
        "Part one of the network latency: what even a lone message takes.";
    BLOCKING: "(2), parted", "cycles", "blocking_{c} = B_{c}",
        "Part two: the flits in front, at one cycle each.";
    SHARING: "(2), parted", "cycles", "sharing_{c} = (M_{c} + B_{c}) * (S_{c} - 1)",
        "Part three: what every flit takes beyond one cycle because the link is shared.";
    SUM: "(2), parted", "cycles", "L_{c} = transfer_{c} + blocking_{c} + sharing_{c}",
        "The parts add up to the network latency.";

    LONGEST: "(18)", "flits", "U_{c} = 2 * m_{c} + M_{c}",
        "No more than two full buffers and a message in service can be in front.";
    ANY_LENGTH: "(18), (23)", "", "P_{c}[B = x] = P_{b,c} / U_{c}",
        "A blocked message finds any length from 1 to U equally often; else there is none in front.";
    COMPANY: "(19)", "", "P[X_k = x] = P_{c}[k] / n_{f}",
        "Of `n_{f}` flits any number may meet company k, all equally likely (R10: on condition that they add up).";
    COMPLETION: "(16), (17)", "cycles", "β = sum{k}(X_{k} * S_{c}[k])",
        "A message is through when each of its flits, and of those in front, has taken the cycles of the company \
         that it met.";
    MISS: "(16)", "", "DMP_{c}[D] = 1 - P[β ≤ D - (P - 1)]",
        "A deadline is missed when the flits take longer than the header leaves them.";
    MISS_OVER_HOPS: "(20)-(22)", "", "DMP_{c,h}[D] = 1 - P[Σβ ≤ D - (P - 1 + P h)]",
        "Over h channels and ejection the terms are independent; all paths of a length are equally likely (R11).";

    HOPS: "A.1", "", "P_{k} = C(n, k) / (N - 1)",
        "Of the other nodes, C(n, k) are k channels away.";
    MEAN_HOPS: "A.1", "channels", "h = sum{k}(k * P_{k})",
        "So a message crosses this many channels on average.";
    STARTED: "A.1", "", "f_{s} = sum{k}(P_{k} * C(n - s - 1, k - 1) / C(n, k))",
        "Lowest dimension first: a message starts on channel s if that is the lowest bit in which the addresses \
         differ.";
    ACCEPTED_FIRST: "(12)", "messages/cycle", "λ_{c,s}^{first} = (1 - P_{b,c}^{s}) * λ_{c}^{g} * f_{s}",
        "Of the messages that would start on channel s, those that are blocked are not let in.";
    ACCEPTED_ALL: "(12)", "messages/cycle", "λ_{c} = sum{s}(λ_{c,s}^{first})",
        "All that a node gets into the network.";
    ON_CHANNEL: "A.1", "messages/cycle", "λ_{c,s} = λ_{c} * h / n",
        "First and transit messages together load all channels alike.";
    BLOCKED_ON: "(11)", "", "P_{b,c}^{s} = min(1, L_{c,s} * λ_{c,s})^(1 + 2 * m_{c} / M_{c})",
        "As (3), for each channel (R7: at the ejection channel, s = n, the rate is `λ_{c}`).";
    INPUT_LENGTH: "(10)", "flits", "I_{c,s} = P_{b,c}^{s} * m_{c} / 2",
        "In front of a header that is blocked on its first channel: half a buffer on average.";
    OUTPUT_LENGTH: "(10)", "flits", "O_{c} = P_{b,c}^{n} * (m_{c} / 2 + M_{c} / 2)",
        "In front of it at the ejection channel: half a buffer and half a message.";
    CHAINED: "A.2", "flits", "d_{c,s} = 0.5 * (m_{c} + M_{c} + (1 - Pt_{s}) * sum{j > s}(P_{b,c}^{j} * (d_{c,j} \
         + m_{c}) * H_{j,s}))",
        "A message that blocks may be blocked itself further on: chained blocking, computed from the last \
         channel back.";
    FURTHER_ON: "A.2", "flits", "K_{c,s} = sum{j > s}(P_{b,c}^{j} * (m_{c} + d_{c,j}) * G_{j,s})",
        "What a message that started on channel s and goes on finds in front of it later; `G_{j,s}` is the \
         quotient of sums in A.2, how often it crosses j.";
    MIDDLE: "A.2", "flits", "Bmid_{c,s} = (1 - P_{1} * λ_{c} / (n * λ_{c,s}^{first})) * K_{c,s}",
        "The first factor leaves out messages that cross channel s only.";
    LATENCY_FROM: "(10)", "cycles", "L_{c,s} = P - 1 + P * h_{s} + (O_{c} + M_{c}) * S_{c,n} + (I_{c,s} + \
         Bmid_{c,s}) * S_{c,s}",
        "Pipelines of all routers on the way, the message and what blocks it at ejection, and what blocks it on \
         the way, each at the pace of its link.";
    LATENCY_AT_EJECTION: "R7", "cycles", "L_{c,n} = P - 1 + (O_{c} + M_{c}) * S_{c,n}",
        "The time at the ejection channel, as (2) says for a single router.";
    STAY_ON: "(10), R8", "cycles", "L_{c}[Z] = F_{c} + (P_{b,c}^{s} * m_{c} / 2 + Bmid_{c,s}) * S_{c}[Z]",
        "In such company a message stays this long: (10), where only the share of this link changes; `F_{c}` is \
         the rest of (10).";
    LEAVE_CHANNEL: "Fig. 3, R8", "1/cycle", "μ_{c}[Z] = 1 / L_{c}[Z] - λ_{c,s}",
        "It leaves at this rate, since messages of its class that come in the meantime prolong the presence of \
         the class; it comes at rate `λ_{c,s}`.";
    MEAN_LATENCY: "(10)", "cycles", "L_{c} = sum{s}(L_{c,s} * λ_{c,s}^{first} / λ_{c})",
        "The mean over all first channels.";
    MEAN_SHARE_FIRST: "(14)", "cycles/flit", "S_{c} = sum{s}(S_{c,s} * λ_{c,s}^{first} / λ_{c})",
        "The pace at the source, where (15) asks for it: that of the first channel.";
    BUSY: "(13)", "cycles", "Busy_{s} = (1 - π_{∅,s}) / (π_{∅,s} * sum{j}(λ_{j,s}))",
        "Idle times last 1 / (sum of rates) on average; busy times are to idle ones as their probabilities.";
    BEST_EFFORT_ON: "(13)", "cycles/flit", "S_{C,s} = ((M_{C} + M_{C} * ρ_{s}) * π_{∅,s} + (M_{C} + Busy_{s}) * \
         (1 + ρ_{s}) * (1 - π_{∅,s})) / M_{C}",
        "Best effort finds the channel idle or waits for a busy time to end, and is interrupted in proportion to \
         `ρ_{s} = 1 - π_{∅,s}`.";
    SPREAD: "(13), below", "cycles", "M_{s} = max(M_{C}, (M_{C} - 1) * S_{C,s} + 1 - Bmid_{C,s})",
        "Its flits reach the ejection channel as far apart as the first channel sent them, less what blocking \
         let them close up.";
    BEST_EFFORT_AT_EJECTION: "(13), below; R9", "cycles/flit", "S_{C,n}^{s} = (M_{s} * (1 + ρ_{n}) * π_{∅,n} + \
         (M_{s} / 2 + Busy_{n} + M_{C} / 2) * (1 + ρ_{n}) * (1 - π_{∅,n})) / M_{C}",
        "The same at the ejection channel, for messages that started on channel s.";
    LONE_PATH: "§3.3", "cycles", "T_{c} = P - 1 + P * h + M_{c}",
        "What a message takes on average when it meets nothing.";
    TRANSFER_PATH: "(10), parted", "cycles", "transfer_{c} = sum{s}((P - 1 + P * h_{s}) * λ_{c,s}^{first} / \
         λ_{c}) + M_{c}",
        "Part one of the network latency: what even a lone message takes, over the paths of accepted messages.";
    BLOCKING_PATH: "(10), parted", "cycles", "blocking_{c} = O_{c} + sum{s}((I_{c,s} + Bmid_{c,s}) * \
         λ_{c,s}^{first} / λ_{c})",
        "Part two: the flits in front on the whole path, at one cycle each.";
    SHARING_PATH: "(10), parted", "cycles", "sharing_{c} = sum{s}(((O_{c} + M_{c}) * (S_{c,n} - 1) + (I_{c,s} + \
         Bmid_{c,s}) * (S_{c,s} - 1)) * λ_{c,s}^{first} / λ_{c})",
        "Part three: what every flit takes beyond one cycle because links are shared.";
}

#[cfg(test)]
mod tests {
    use super::ALL;
    use crate::explain::derivation::{Piece, pieces};
    use crate::explain::formula::Expression;

    #[test]
    fn every_formula_and_every_formula_in_a_reason_can_be_read() {
        for equation in ALL {
            assert!(Expression::parse(equation.formula).is_some(), "{}", equation.formula);
            for (place, piece) in pieces(equation.reason).iter().enumerate() {
                assert_eq!(place % 2 == 1, matches!(piece, Piece::Formula(_)), "{}", equation.reason);
            }
            assert!(equation.reason.ends_with('.'));
        }
    }
}
