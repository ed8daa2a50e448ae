//! `[measure]`: which part of a run is measured.

use super::declare::*;

table! {
    /// Which part of a run is measured.
    #[derive(Copy)]
    pub struct MeasureSpec {
        /// Time before anything is measured; by default it is found.
        #[serde(skip_serializing_if = "Option::is_none")]
        warm_up: Option<f64> ["cycles"] = None, within(0.0, 1e12).magnitude(Magnitude::Time);
        /// When the run ends; by default once the means are precise enough.
        #[serde(skip_serializing_if = "Option::is_none")]
        end: Option<f64> ["cycles"] = None, within(1.0, 1e12).magnitude(Magnitude::Time);
        /// Width of the bins of a series over time; by default 10 us under `[switch]` with an end, else no series.
        #[serde(skip_serializing_if = "Option::is_none")]
        bin: Option<f64> ["cycles"] = None, within(1.0, 1e12).magnitude(Magnitude::Time);
    }
}

impl Rules for MeasureSpec {
    fn rules(&self, path: &str, door: &mut Door) {
        if let (Some(bin), Some(end)) = (self.bin, self.end)
            && bin > end
        {
            door.refuse(&format!("{path}.bin"), bin.to_string(), "at most measure.end", None);
        }
    }
}
