//! Where a value lies along an axis.

/// An axis: its lowest value is at 0, its highest at 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Axis {
    low: f64,
    high: f64,
    logarithmic: bool,
}

impl Axis {
    /// Over values of which at least two differ; `None` without.
    ///
    /// Distances are those of logarithms if the values lie more evenly so: `8, 16, 32, 64` are as far apart as
    /// `1, 2, 3, 4`.
    ///
    /// ```
    /// use flitwise_validation::anchored::Axis;
    ///
    /// let buffers = Axis::over(&[8.0, 16.0, 32.0, 64.0, 128.0]).unwrap();
    /// assert!((buffers.share(32.0) - 0.5).abs() < 1e-12);
    /// let rates = Axis::over(&[0.001, 0.002, 0.003]).unwrap();
    /// assert!((rates.share(0.002) - 0.5).abs() < 1e-12);
    /// assert!(Axis::over(&[0.001, 0.001]).is_none());
    /// ```
    pub fn over(values: &[f64]) -> Option<Self> {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        sorted.dedup();
        let (low, high) = (*sorted.first()?, *sorted.last()?);
        let linear = Self { low, high, logarithmic: false };
        if sorted.len() < 2 || !(high - low).is_finite() {
            return None;
        }
        let logarithmic = Self { logarithmic: true, ..linear };
        let widest = |axis: Self| {
            let gaps = sorted.windows(2).map(|pair| axis.share(pair[1]) - axis.share(pair[0]));
            gaps.fold(0.0, f64::max)
        };
        Some(if low > 0.0 && widest(logarithmic) < widest(linear) { logarithmic } else { linear })
    }

    /// How far along the axis a value lies.
    pub fn share(&self, value: f64) -> f64 {
        if self.logarithmic {
            (value / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        }
    }
}
