//! Generating functions at the points of a grid.

use std::cell::RefCell;
use std::ops::{Deref, DerefMut};

use realfft::num_complex::Complex64;

/// Points that polynomials are summed at side by side: the products of one wait for each other.
const SIDE_BY_SIDE: usize = 8;

/// A generating function at the points of a [`super::Grid`].
pub(in super::super) struct Transform(Vec<Complex64>);

/// Points that every vector of a transform has room for.
const SHORT: usize = 129;
/// Vectors kept for other transforms.
const SPARE: usize = 32;

thread_local! {
    /// Vectors of transforms that are no more.
    static SPARES: RefCell<Vec<Vec<Complex64>>> = const { RefCell::new(Vec::new()) };
}

impl Transform {
    fn empty() -> Self {
        let mut spare = SPARES.with_borrow_mut(Vec::pop).unwrap_or_default();
        spare.clear();
        spare.reserve(SHORT);
        Self(spare)
    }

    /// The same at so many points.
    pub(in super::super) fn constant(value: Complex64, points: usize) -> Self {
        let mut transform = Self::empty();
        transform.0.resize(points, value);
        transform
    }
}

impl Clone for Transform {
    fn clone(&self) -> Self {
        let mut transform = Self::empty();
        transform.0.extend_from_slice(&self.0);
        transform
    }
}

impl Drop for Transform {
    fn drop(&mut self) {
        let points = std::mem::take(&mut self.0);
        // at the end of a thread there may be none left to keep it
        let _ = SPARES.try_with(|spares| {
            if let Ok(mut spares) = spares.try_borrow_mut()
                && spares.len() < SPARE
            {
                spares.push(points);
            }
        });
    }
}

impl FromIterator<Complex64> for Transform {
    fn from_iter<I: IntoIterator<Item = Complex64>>(points: I) -> Self {
        let mut transform = Self::empty();
        transform.0.extend(points);
        transform
    }
}

impl Deref for Transform {
    type Target = [Complex64];

    fn deref(&self) -> &[Complex64] {
        &self.0
    }
}

impl DerefMut for Transform {
    fn deref_mut(&mut self) -> &mut [Complex64] {
        &mut self.0
    }
}

impl<'t> IntoIterator for &'t Transform {
    type Item = &'t Complex64;
    type IntoIter = std::slice::Iter<'t, Complex64>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl<'t> IntoIterator for &'t mut Transform {
    type Item = &'t mut Complex64;
    type IntoIter = std::slice::IterMut<'t, Complex64>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter_mut()
    }
}

/// Point by point.
pub(in super::super) fn product(x: &[Complex64], y: &[Complex64]) -> Transform {
    x.iter().zip(y).map(|(x, y)| x * y).collect()
}

/// `Σ_(k >= 1) w_k y^k` at each `y` by Horner's scheme.
pub(super) fn complex_polynomials(weights: &[f64], y: &[Complex64]) -> Transform {
    let mut sums = Transform::empty();
    for y in y.chunks(SIDE_BY_SIDE) {
        let (mut re, mut im) = ([0.0; SIDE_BY_SIDE], [0.0; SIDE_BY_SIDE]);
        let (mut y_re, mut y_im) = ([0.0; SIDE_BY_SIDE], [0.0; SIDE_BY_SIDE]);
        for (i, y) in y.iter().enumerate() {
            (y_re[i], y_im[i]) = (y.re, y.im);
        }
        for weight in weights.iter().skip(1).rev() {
            for i in 0..SIDE_BY_SIDE {
                let sum = re[i] + weight;
                (re[i], im[i]) = (sum * y_re[i] - im[i] * y_im[i], sum * y_im[i] + im[i] * y_re[i]);
            }
        }
        sums.0.extend(re.iter().zip(&im).take(y.len()).map(|(re, im)| Complex64::new(*re, *im)));
    }
    sums
}

/// `Σ_(k >= 1) w_k y^k` at each `y`, the weights being real (Goertzel): that takes half of Horner's products and costs
/// some digits.
pub(super) fn real_polynomials(weights: &[f64], y: &[Complex64]) -> Transform {
    let mut sums = Transform::empty();
    for y in y.chunks(SIDE_BY_SIDE) {
        let (mut p, mut q) = ([0.0; SIDE_BY_SIDE], [0.0; SIDE_BY_SIDE]);
        for ((y, p), q) in y.iter().zip(&mut p).zip(&mut q) {
            (*p, *q) = (2.0 * y.re, y.norm_sqr());
        }
        let (mut now, mut before) = ([0.0; SIDE_BY_SIDE], [0.0; SIDE_BY_SIDE]);
        for weight in weights.iter().skip(1).rev() {
            for i in 0..SIDE_BY_SIDE {
                let next = weight + p[i] * now[i] - q[i] * before[i];
                before[i] = now[i];
                now[i] = next;
            }
        }
        // Σ_(k >= 0) w_(k + 1) y^k, times y
        let ends = now.iter().zip(&before);
        sums.0.extend(y.iter().zip(ends).map(|(y, (now, before))| y * (now - before * y.conj())));
    }
    sums
}
