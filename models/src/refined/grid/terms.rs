//! Sums and differences of short laws, term by term.

/// Terms that are added at a time.
const AT_A_TIME: usize = 4;

/// Adds so many times each of some sequences.
fn add(into: &mut [f64], times: [f64; AT_A_TIME], [a, b, c, d]: [&[f64]; AT_A_TIME]) {
    for ((((to, a), b), c), d) in into.iter_mut().zip(a).zip(b).zip(c).zip(d) {
        *to += (a * times[0] + b * times[1]) + (c * times[2] + d * times[3]);
    }
}

/// Weights of `X - Y` at `0, 1, ..`.
pub(super) fn add_differences(into: &mut [f64], x: &[f64], y: &[f64]) {
    let blocks = y.chunks_exact(AT_A_TIME);
    let (rest, whole) = (blocks.remainder(), y.len() / AT_A_TIME * AT_A_TIME);
    for (block, q) in blocks.enumerate() {
        let from = &x[block * AT_A_TIME..];
        // up to where the last of them ends
        let all = from.len().saturating_sub(AT_A_TIME - 1);
        add(&mut into[..all], [q[0], q[1], q[2], q[3]], [from, &from[1..], &from[2..], &from[3..]]);
        for (shift, q) in q.iter().enumerate() {
            for (to, p) in into[all..].iter_mut().zip(&from[all + shift..]) {
                *to += p * q;
            }
        }
    }
    for (at, q) in rest.iter().enumerate() {
        for (to, p) in into.iter_mut().zip(&x[whole + at..]) {
            *to += p * q;
        }
    }
}

/// Weights of `X + Y`, `X` the shorter one.
pub(super) fn add_sums(into: &mut [f64], x: &[f64], y: &[f64]) {
    let blocks = x.chunks_exact(AT_A_TIME);
    let (rest, whole) = (blocks.remainder(), x.len() / AT_A_TIME * AT_A_TIME);
    for (block, p) in blocks.enumerate() {
        let into = &mut into[block * AT_A_TIME..];
        let all = y.len() - (AT_A_TIME - 1);
        add(&mut into[3..y.len()], [p[0], p[1], p[2], p[3]], [&y[3..], &y[2..], &y[1..], y]);
        for (shift, p) in p.iter().enumerate() {
            let before = AT_A_TIME - 1 - shift;
            for (to, q) in into[shift..].iter_mut().zip(&y[..before]) {
                *to += p * q;
            }
            for (to, q) in into[y.len()..].iter_mut().zip(&y[all + before..]) {
                *to += p * q;
            }
        }
    }
    for (at, p) in rest.iter().enumerate() {
        for (to, q) in into[whole + at..].iter_mut().zip(y) {
            *to += p * q;
        }
    }
}
