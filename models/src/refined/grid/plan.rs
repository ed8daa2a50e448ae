//! Fourier transforms of one length, with what they work in.

use std::cell::RefCell;
use std::sync::Arc;

use realfft::num_complex::Complex64;
use realfft::{ComplexToReal, RealFftPlanner, RealToComplex};
use rustfft::{Fft, FftPlanner};

use super::super::law::zeros;
use super::transform::Transform;

/// Both ways of one length.
pub(super) struct Plan {
    pub(super) length: usize,
    forward: Arc<dyn RealToComplex<f64>>,
    inverse: Arc<dyn ComplexToReal<f64>>,
    /// What a transform reads and spoils, and what it works in.
    real: RefCell<Vec<f64>>,
    scratch: RefCell<Vec<Complex64>>,
}

impl Plan {
    pub(super) fn new(planner: &mut RealFftPlanner<f64>, length: usize) -> Self {
        let (forward, inverse) = (planner.plan_fft_forward(length), planner.plan_fft_inverse(length));
        let scratch = forward.get_scratch_len().max(inverse.get_scratch_len());
        Self {
            length,
            forward,
            inverse,
            real: RefCell::new(vec![0.0; length]),
            scratch: RefCell::new(vec![Complex64::new(0.0, 0.0); scratch]),
        }
    }

    /// The transform of what `fill` writes to the first cells; the others are zero. `fill` tells how many it wrote.
    pub(super) fn forward(&self, fill: impl FnOnce(&mut [f64]) -> usize) -> Transform {
        let (mut real, mut scratch) = (self.real.borrow_mut(), self.scratch.borrow_mut());
        let written = fill(&mut real);
        real[written..].fill(0.0);
        let mut spectrum = Transform::constant(Complex64::ZERO, self.length / 2 + 1);
        self.forward
            .process_with_scratch(&mut real, &mut spectrum, &mut scratch)
            .expect("buffers are of the plan's length");
        spectrum
    }

    /// What has this transform, times the length; spoils the transform.
    pub(super) fn inverse(&self, transform: &mut [Complex64]) -> Vec<f64> {
        // rounding apart, both are real
        transform[0].im = 0.0;
        transform[self.length / 2].im = 0.0;
        let mut weights = zeros(self.length);
        self.inverse
            .process_with_scratch(transform, &mut weights, &mut self.scratch.borrow_mut())
            .expect("buffers are of the plan's length");
        weights
    }
}

/// Products of two real sequences `x` and `y`, whatever comes round: `(x + i y)^2` is `x x - y y + 2 i x y`.
pub(super) struct Pairs {
    forward: Arc<dyn Fft<f64>>,
    /// `x + i y`, its transform, and what a transform works in.
    buffers: RefCell<[Vec<Complex64>; 3]>,
}

impl Pairs {
    pub(super) fn new(length: usize) -> Self {
        let forward = FftPlanner::new().plan_fft_forward(length);
        let scratch = forward.get_outofplace_scratch_len();
        let buffers = [length, length, scratch].map(|length| vec![Complex64::ZERO; length]);
        Self { forward, buffers: RefCell::new(buffers) }
    }

    /// The first cells of the product of what `fill` writes, times the length and with weights.
    pub(super) fn product(
        &self,
        fill: impl FnOnce(&mut [Complex64]),
        cells: usize,
        weights: &[f64],
    ) -> Vec<f64> {
        let [points, transform, scratch] = &mut *self.buffers.borrow_mut();
        fill(points);
        self.forward.process_outofplace_with_scratch(points, transform, scratch);
        for z in transform.iter_mut() {
            *z = Complex64::new(z.re * z.re - z.im * z.im, 2.0 * z.re * z.im);
        }
        // once more forward: that is backward in reverse order
        self.forward.process_outofplace_with_scratch(transform, points, scratch);
        let mut cells = zeros(cells.min(points.len()));
        cells[0] = (0.5 * points[0].im * weights[0]).max(0.0);
        for ((to, z), weight) in cells[1..].iter_mut().zip(points.iter().rev()).zip(&weights[1..]) {
            *to = (0.5 * z.im * weight).max(0.0);
        }
        cells
    }
}
