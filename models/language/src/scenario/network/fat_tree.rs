//! What the keys of a fat tree say together: its neighbours and links at every level.

use super::{MAX_NODES, NetworkSpec, Refusal, TreeDelay, TreeRouting};
use crate::scenario::declare::Door;
use crate::scenario::levels::{MAX_LEVELS, PerLevel};

/// The most switches, and the most ports of one.
const MAX_SWITCHES: u64 = 16_384;
const MAX_PORTS: u64 = 128;

/// The keys of a fat tree as they are written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TreeKeys {
    levels: u32,
    radix: Option<u32>,
    taper: Option<PerLevel>,
    arity: Option<u32>,
    down: Option<PerLevel>,
    up: Option<PerLevel>,
    links: PerLevel,
    delay: TreeDelay,
    /// Where messages go up.
    pub(crate) routing: TreeRouting,
    /// Whether nodes send to themselves.
    pub(crate) self_traffic: bool,
}

/// Neighbours of switches from the leaves up, and parallel links to each of the next level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TreeShape {
    /// By level; of the leaves nodes.
    pub(crate) down: Vec<u32>,
    /// By level below the top.
    pub(crate) up: Vec<u32>,
    /// By level below the top.
    pub(crate) links: Vec<u32>,
    /// By level below the top \[ns\].
    pub(crate) delays: Vec<u32>,
}

fn refusal(key: &'static str, found: impl ToString, wanted: &str, help: &str) -> Refusal {
    (key, found.to_string(), wanted.to_owned(), Some(help.to_owned()))
}

impl TreeKeys {
    /// Of a network that is a fat tree.
    pub(crate) fn of(spec: &NetworkSpec) -> Option<Self> {
        let NetworkSpec::FatTree {
            levels,
            radix,
            taper,
            arity,
            down,
            up,
            links,
            delay,
            routing,
            self_traffic,
        } = *spec
        else {
            return None;
        };
        let self_traffic = self_traffic.unwrap_or(false);
        Some(Self { levels, radix, taper, arity, down, up, links, delay, routing, self_traffic })
    }

    /// Levels below the top.
    fn below_top(&self) -> usize {
        (self.levels as usize).saturating_sub(1)
    }

    /// Refuses what does not make a tree, all of it at once.
    pub(super) fn check(&self, path: &str, door: &mut Door) {
        // numbers that are out of range have been refused, and nothing follows from them
        if door.has_refused(&format!("{path}.")) {
            return;
        }
        let refused = self.shape().and_then(TreeShape::fits).err().unwrap_or_default();
        for (key, found, wanted, help) in refused {
            door.refuse(&format!("{path}.{key}"), found, &wanted, help.as_deref());
        }
    }

    /// Neighbours and links of a tree that can be wired; `None` where the keys are refused.
    pub(crate) fn fitting_shape(&self) -> Option<TreeShape> {
        self.is_in_range().then(|| self.shape().and_then(TreeShape::fits).ok())?
    }

    /// Whether all numbers are ones that a scenario may have: those refused stand here until the file is mended.
    fn is_in_range(&self) -> bool {
        let lists = [self.taper, self.down, self.up, Some(self.links)];
        let listed = lists.iter().flatten().flat_map(PerLevel::numbers).copied();
        let all = listed.chain(self.radix).chain(self.arity);
        (1..=MAX_LEVELS as u32).contains(&self.levels) && all.into_iter().all(|one| (1..=128).contains(&one))
    }

    /// Neighbours and links.
    ///
    /// # Errors
    /// All that does not fit together.
    fn shape(&self) -> Result<TreeShape, Vec<Refusal>> {
        let mut refused = self.beside();
        let Some(links) = self.links.of(self.below_top()) else {
            refused.push(self.of_another_length("links", &self.links, self.below_top()));
            return Err(refused);
        };
        let Some(delays) = self.delay.up.of(self.below_top()) else {
            refused.push(self.of_another_length("delay.up", &self.delay.up, self.below_top()));
            return Err(refused);
        };
        let shape = match (self.radix, self.arity, self.down) {
            (Some(radix), None, None) => self.of_radix(radix, links),
            (None, Some(arity), None) => {
                let up = vec![arity; self.below_top()];
                Ok(TreeShape { down: vec![arity; self.levels as usize], up, links, delays: Vec::new() })
            }
            (None, None, Some(down)) => self.of_lists(&down, links),
            _ => {
                let given = [("radix", self.radix.is_some()), ("arity", self.arity.is_some())];
                let given = given.into_iter().chain([("down", self.down.is_some())]);
                let found: Vec<&str> = given.filter(|(_, is_given)| *is_given).map(|(key, _)| key).collect();
                let key = found.first().copied().unwrap_or("radix");
                let found = if found.is_empty() { "none of them".to_owned() } else { found.join(" and ") };
                let help = "radix = 16 for switches of 16 ports, arity = 4 for a 4-ary tree, or down = [4, 4] with \
                            up = [4]";
                Err(vec![refusal(key, found, "one of radix, arity and down", help)])
            }
        };
        match shape {
            Ok(shape) if refused.is_empty() => Ok(TreeShape { delays, ..shape }),
            Ok(_) => Err(refused),
            Err(more) => Err([refused, more].concat()),
        }
    }

    /// Keys that stand beside others that do not know them.
    fn beside(&self) -> Vec<Refusal> {
        let mut refused = Vec::new();
        if let (Some(taper), None) = (self.taper, self.radix) {
            refused.push(refusal(
                "taper",
                taper,
                "none without radix",
                "write down and up as they are to be",
            ));
        }
        if self.levels == 1 && self.delay.up.numbers().iter().any(|delay| *delay > 0) {
            let help = "remove it, or raise levels: links between levels take this time";
            refused.push(refusal("delay.up", self.delay.up, "none with one level", help));
        }
        match (self.up, self.down) {
            (Some(up), None) => {
                refused.push(refusal(
                    "up",
                    up,
                    "none without down",
                    "write neighbours down, too: down = [4, 4]",
                ));
            }
            (Some(up), Some(_)) if self.levels == 1 => {
                let help = "remove the line, or raise levels";
                refused.push(refusal("up", up, "none with one level, which is the top", help));
            }
            _ => {}
        }
        refused
    }

    fn of_another_length(&self, key: &'static str, found: &PerLevel, wanted: usize) -> Refusal {
        let (found, levels) = (format!("a list of {}", found.numbers().len()), self.levels);
        let below = if key == "down" { "from the leaves to the top" } else { "of every level below the top" };
        let wanted = if wanted == 0 {
            "no list with one level".to_owned()
        } else {
            let numbers = if wanted == 1 { "number" } else { "numbers" };
            format!("{wanted} {numbers} for levels = {levels}, {below}")
        };
        (key, found, wanted, None)
    }

    /// As many ports down and up as the taper says, over all links.
    fn of_radix(&self, radix: u32, links: Vec<u32>) -> Result<TreeShape, Vec<Refusal>> {
        let taper = self.taper.unwrap_or(PerLevel::all(1));
        let Some(tapers) = taper.of(self.below_top()) else {
            return Err(vec![self.of_another_length("taper", &taper, self.below_top())]);
        };
        let (mut down, mut up, mut refused) = (Vec::new(), Vec::new(), Vec::new());
        for level in 0..self.levels as usize {
            let to_below = if level == 0 { 1 } else { links[level - 1] };
            let (ports_up, to_above) = match tapers.get(level) {
                Some(taper) => (radix / (1 + taper), links[level]),
                None => (0, 1),
            };
            let parts = tapers.get(level).map_or(1, |taper| 1 + taper);
            let is_even = radix.is_multiple_of(parts)
                && ports_up.is_multiple_of(to_above)
                && (radix - ports_up).is_multiple_of(to_below);
            if !is_even {
                let place = level + 1;
                let wanted = match (parts, to_below.max(to_above)) {
                    (2, 1) => "an even number of ports".to_owned(),
                    (_, 1) => {
                        format!("a multiple of {parts} ports: level {place} has {} down for 1 up", parts - 1)
                    }
                    _ => {
                        format!("ports down and up of level {place} that are multiples of its parallel links")
                    }
                };
                refused.push(("radix", radix.to_string(), wanted, None));
            }
            down.push((radix - ports_up) / to_below);
            up.extend((level < self.below_top()).then_some(ports_up / to_above));
        }
        refused.dedup();
        if refused.is_empty() { Ok(TreeShape { down, up, links, delays: Vec::new() }) } else { Err(refused) }
    }

    fn of_lists(&self, down: &PerLevel, links: Vec<u32>) -> Result<TreeShape, Vec<Refusal>> {
        let mut refused = Vec::new();
        let neighbours = down.of(self.levels as usize);
        if neighbours.is_none() {
            refused.push(self.of_another_length("down", down, self.levels as usize));
        }
        let above = match self.up {
            Some(up) => {
                let above = up.of(self.below_top());
                if above.is_none() {
                    refused.push(self.of_another_length("up", &up, self.below_top()));
                }
                above
            }
            None if self.levels == 1 => Some(Vec::new()),
            None => {
                let help = "such as up = [4]: neighbours up of every level below the top";
                refused.push(refusal("up", "nothing", "neighbours up beside down", help));
                None
            }
        };
        match (neighbours, above, refused.is_empty()) {
            (Some(down), Some(up), true) => Ok(TreeShape { down, up, links, delays: Vec::new() }),
            _ => Err(refused),
        }
    }
}

impl TreeShape {
    /// One switch with two nodes, which stands in for a tree that is refused.
    pub(crate) fn least() -> Self {
        Self { down: vec![2], up: Vec::new(), links: Vec::new(), delays: Vec::new() }
    }

    /// The same where it is no larger than what can be wired.
    fn fits(self) -> Result<Self, Vec<Refusal>> {
        let product =
            |numbers: &[u32]| numbers.iter().fold(1, |all: u64, one| all.saturating_mul((*one).into()));
        let levels = self.down.len();
        let nodes = product(&self.down);
        let switches = (0..levels)
            .map(|level| product(&self.down[level + 1..]).saturating_mul(product(&self.up[..level])))
            .fold(0, u64::saturating_add);
        let ports = |level: usize| {
            let to_below = if level == 0 { 1 } else { self.links[level - 1] };
            let above = self.up.get(level).map_or(0, |up| up * self.links[level]);
            u64::from(self.down[level] * to_below + above)
        };
        let most_ports = (0..levels).map(ports).max().unwrap_or(0);
        let mut refused = Vec::new();
        let mut refuse = |found: u64, what: &str, most: u64| {
            if found > most {
                refused.push(("levels", format!("{found} {what}"), format!("at most {most}"), None));
            }
        };
        refuse(nodes, "nodes", MAX_NODES);
        refuse(switches, "switches", MAX_SWITCHES);
        refuse(most_ports, "ports of a switch, parallel links included", MAX_PORTS);
        if nodes < 2 {
            refused.push(("levels", "1 node".to_owned(), "at least 2 nodes".to_owned(), None));
        }
        if refused.is_empty() { Ok(self) } else { Err(refused) }
    }
}
