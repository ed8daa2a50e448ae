//! A picture: all numbers of a figure with their units.
//!
//! Drawing computes positions only.

use flitwise_language::quantity::Quantity;
use flitwise_language::scenario::{ClassKind, ScenarioSpec};
use schemars::JsonSchema;
use serde::Serialize;

pub use crate::kinds::Content;
pub use crate::kinds::chain::{Chain, Transition};
pub use crate::kinds::congestion_tree::{CongestionTree, TreeColumn, TreePanel};
pub use crate::kinds::course::{ClassLoad, Course, MixPhase};
pub use crate::kinds::heat_map::{HeatCell, HeatMap, HeatPanel};
pub use crate::kinds::lines::{ErrorSeries, Lines, Point, Series};
pub use crate::kinds::network::{NetworkLink, NetworkMap, NetworkPanel, SimulatedLoad};
pub use crate::kinds::network_diagram::{
    DiagramLink, DiagramNode, DiagramRow, DiagramSwitch, NetworkDiagram,
};
pub use crate::kinds::phases::course_of_run;
pub use crate::kinds::pipeline::{Pipeline, PipelinePanel};
pub use crate::kinds::region::{Frontier, Mark, Region};
pub use crate::kinds::stacked::{Bar, Stacked, StackedPanel};
pub use crate::kinds::stamps::{StampRow, StampedFlit, Stamps};
pub use crate::kinds::timeline::{Timeline, TimelinePanel};
pub use crate::kinds::tornado::{Tornado, TornadoBar, TornadoPanel};
pub use crate::kinds::worms::{Worm, WormChannel, WormLink, WormPiece, Worms, WormsPanel};
pub use flitwise_validation::origin::Origin;

/// A figure with all its numbers.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Picture {
    /// Stem of its files, such as `fig04a`.
    pub name: String,
    /// What it shows, in one line.
    pub title: String,
    /// The system, in a few words: network, what is kept fixed.
    pub subtitle: String,
    /// What is drawn.
    #[serde(flatten)]
    pub content: Content,
    /// What one should know when looking at it.
    pub notes: Vec<String>,
}

impl Picture {
    /// The picture at each of its moments, in the order of time: alike in layout and scale, so that they can be played.
    /// Empty of a picture of no particular times. Their names are numbered.
    ///
    /// ```
    /// # use flitwise_figures::published::Published;
    /// let figure = Published::find("pipeline").unwrap().figure().unwrap();
    /// let moments = figure.picture(&[]).moments();
    /// assert_eq!(moments[0].name, "pipeline-001");
    /// ```
    pub fn moments(&self) -> Vec<Self> {
        let contents = self.content.chart().moments();
        let numbered = |(at, content): (usize, Content)| Self {
            name: format!("{}-{:03}", self.name, at + 1),
            title: self.title.clone(),
            subtitle: self.subtitle.clone(),
            content,
            notes: self.notes.clone(),
        };
        contents.into_iter().enumerate().map(numbered).collect()
    }
}

/// An axis.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Axis {
    /// What it stands for, without unit, such as `R1 load`.
    pub label: String,
    /// Its unit, such as `messages/cycle/node`; empty for a probability.
    pub unit: String,
    /// Whether it is logarithmic.
    pub logarithmic: bool,
}

impl Axis {
    /// A linear axis.
    pub fn of(label: &str, unit: &str) -> Self {
        Self { label: label.to_owned(), unit: unit.to_owned(), logarithmic: false }
    }
}

/// One whole and its parts, as a bar.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parts {
    /// What the whole is.
    pub title: String,
    /// Unit of all numbers.
    pub unit: String,
    /// Which part each is, its name, and its size.
    pub parts: Vec<(Part, String, f64)>,
}

/// A part of a latency. Each has the same colour in all pictures, which no class has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// What a lone message takes.
    Transfer,
    /// Waiting of a header on its way.
    Blocking,
    /// Waiting of flits for the link, which others share.
    Sharing,
    /// Waiting at the source.
    Waiting,
    /// Of blocking: the header waits in input buffers.
    Input,
    /// Of blocking: the header waits for its output.
    Arbitration,
    /// Of sharing: the header waits for the link.
    Output,
    /// Of sharing: what follows the header falls behind.
    Gaps,
}

impl Part {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Transfer,
        Self::Blocking,
        Self::Sharing,
        Self::Waiting,
        Self::Input,
        Self::Arbitration,
        Self::Output,
        Self::Gaps,
    ];

    /// The part that a quantity is.
    pub fn of(quantity: Quantity) -> Option<Self> {
        let part = match quantity {
            Quantity::Transfer => Self::Transfer,
            Quantity::Blocking => Self::Blocking,
            Quantity::Sharing => Self::Sharing,
            Quantity::Waiting => Self::Waiting,
            Quantity::Input => Self::Input,
            Quantity::Arbitration => Self::Arbitration,
            Quantity::Output => Self::Output,
            Quantity::Gaps => Self::Gaps,
            _ => return None,
        };
        Some(part)
    }
}

/// The style of best effort: black, triangles.
pub const BEST_EFFORT_STYLE: usize = 2;
/// Colours of styles, which repeat.
pub(crate) const COLOURS: usize = 5;

/// The style of each class, see [`Series::style`]: the first of best effort has the same one in every picture, however
/// many real-time classes there are, and none of those has its colour.
pub fn class_styles(scenario: &ScenarioSpec) -> Vec<usize> {
    let mut others = (0..).filter(|style| style % COLOURS != BEST_EFFORT_STYLE);
    let mut of_best_effort = Some(BEST_EFFORT_STYLE);
    let mut style = |kind| match kind {
        ClassKind::BestEffort => of_best_effort.take().or_else(|| others.next()),
        ClassKind::RealTime | ClassKind::Control => others.next(),
    };
    scenario.classes.iter().map(|class| style(class.kind).unwrap_or(0)).collect()
}

#[cfg(test)]
mod tests {
    use flitwise_language::scenario::ClassSpec;

    use super::*;

    /// Best effort is black, whether there are two real-time classes, three or ten; no other class is.
    #[test]
    fn best_effort_has_one_style_in_all_pictures() {
        for real_time in 0..10 {
            let mut classes: Vec<ClassSpec> =
                (0..real_time).map(|class| ClassSpec::real_time(&format!("R{class}"), 0.001)).collect();
            classes.push(ClassSpec::best_effort("BE", 0.001));
            let mut styles = class_styles(&ScenarioSpec { classes, ..ScenarioSpec::default() });
            assert_eq!(styles.pop(), Some(BEST_EFFORT_STYLE));
            assert!(styles.iter().all(|style| style % COLOURS != BEST_EFFORT_STYLE), "{styles:?}");
            assert!(styles.windows(2).all(|pair| pair[0] < pair[1]), "{styles:?}");
        }
        let mut table_1 = ScenarioSpec::default();
        assert_eq!(class_styles(&table_1), [0, 1, BEST_EFFORT_STYLE]);
        table_1.classes.push(ClassSpec::best_effort("BE2", 0.001));
        assert_eq!(class_styles(&table_1), [0, 1, BEST_EFFORT_STYLE, 3]);
    }
}
