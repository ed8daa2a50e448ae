//! How steeply a number rises, by both sides.

/// Change of a number per change of a parameter by its own value, `p dy/dp`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Slope {
    /// Both sides as one; `None` where they differ by a kink.
    pub(super) central: Option<f64>,
    /// Towards smaller values of the parameter, where it is worth a number of its own.
    pub(super) below: Option<f64>,
    /// Towards larger ones.
    pub(super) above: Option<f64>,
    /// What `central` may be off by, where it is a difference.
    pub(super) error: Option<f64>,
}
