//! `flitwise sweep --plot`: the network latency along the first axis.

use std::path::PathBuf;

use flitwise_figures::draw::Style;
use flitwise_figures::sweep;
use flitwise_language::scenario::Grid;

use super::Point;
use crate::outcome::Exit;
use crate::{input, plot};

/// A picture to which points are added.
pub(super) struct Curves {
    curves: sweep::Curves,
    path: PathBuf,
}

impl Curves {
    /// No curves yet; numbers of the first axis must be plain ones.
    pub(super) fn begin(grid: &Grid, path: PathBuf) -> Result<Self, Exit> {
        plot::check("--plot", &path)?;
        let scenario = input::scenario(&grid.document)?;
        let curves = sweep::Curves::begin(grid, &scenario);
        Ok(Self { curves: curves.map_err(|fault| Exit::input(format!("--plot: {fault}")))?, path })
    }

    pub(super) fn point(&mut self, point: &Point) {
        self.curves.add(&point.set, point.model.into(), point.rows());
    }

    /// Draws what there is.
    pub(super) fn end(&mut self) -> Result<(), Exit> {
        plot::write(&self.curves.picture(), &Style::default(), &self.path)
    }
}
