use super::*;
use crate::refined::queue::Queue;

fn company(beside: f64) -> SharingChain {
    SharingChain { coming: 0.01, going: 0.02, beside, left: 0.3 }
}

/// Others that take no time leave M/G/1.
#[test]
fn others_without_flits_change_nothing() {
    let grid = Grid::of(1024);
    let (on_top, first) = (Law::constant(2.0), Law::constant(34.0));
    // a message of part of a cell, too: the lattice splits it over two
    for message in [32.0, 31.4] {
        let others = OnLattice::new(&grid, company(0.0), message);
        let services = Services { company: &others, on_top: &on_top, first: &first };
        let later = Time::of(&grid, &Law::constant(message).plus(2.0));
        let (first, nothing) = (Time::of(&grid, &first), Time::of(&grid, &Law::zero()));
        for rate in [0.005, 0.015, 0.025] {
            let shared = SharedQueue::new(&grid, rate, &services).unwrap();
            let queue = Queue::new(&grid, rate, &later, &first, &nothing).unwrap();
            assert!((shared.empty - queue.empty).abs() < 1e-9);
            let (wait, known) = (shared.wait(&grid, &nothing), queue.wait(&grid));
            for cells in [0, 10, 100, 300] {
                let tail = |law: &Law| law.probabilities().iter().skip(cells).sum::<f64>();
                assert!((tail(&wait) - tail(&known)).abs() < 1e-6, "{rate} {cells}");
            }
        }
    }
    let others = OnLattice::new(&grid, company(3.0), 32.0);
    let overloaded = Services { company: &others, on_top: &on_top, first: &first };
    assert!(SharedQueue::new(&grid, 0.02, &overloaded).is_none());
}

/// `F(m)` of no flits is nothing, of a sum the product; rows sum to one.
#[test]
fn others_come_and_go_as_a_chain_of_two_states() {
    let company = company(1.5);
    let z = Complex64::from_polar(0.99, 0.3);
    let times = |x: Matrix<Complex64>, y: Matrix<Complex64>| {
        [0, 1].map(|i| [0, 1].map(|j| x[i][0] * y[0][j] + x[i][1] * y[1][j]))
    };
    let [two, five, seven] = [2.0, 5.0, 7.0].map(|cells| company.over(company.eigenvalues(z), cells));
    let product = times(two, five);
    for (row, known) in product.iter().zip(&seven) {
        for (x, y) in row.iter().zip(known) {
            assert!((x - y).norm() < 1e-12);
        }
    }
    for row in company.at(1.0, 40.0) {
        assert!((row[0] + row[1] - 1.0).abs() < 1e-12);
    }
    // begun with others there, as a sum of two modes
    let grid = Grid::of(64);
    let company = OnLattice::new(&grid, company, 7.0);
    let [(c, up), (d, down)] = company.while_there(7.0);
    for i in 0..grid.points().len() {
        let [_, [f10, f11]] = company.over(i, 7.0);
        assert!((c[i] * up[i] + d[i] * down[i] - f10 - f11).norm() < 1e-12);
    }
}

/// In the long run all goes through that the others bring: a flit takes `1 / (1 - σ)`.
#[test]
fn others_get_what_they_bring() {
    let grid = Grid::of(64);
    for (loads, flits) in [([0.35, 0.0], [1.0, 1.0]), ([0.2, 0.3], [1.5, 0.8]), ([0.1, 0.1], [8.0, 0.3])] {
        let others: Vec<Sharer> = loads
            .iter()
            .zip(flits)
            .filter(|(load, _)| **load > 0.0)
            .map(|(load, flits)| Sharer { load: *load, flits, rate: load / 32.0 })
            .collect();
        let company = SharingChain::of(&others, 0.2).unwrap();
        let nothing = Law::zero();
        let company = OnLattice::new(&grid, company, 32.0);
        let services = Services { company: &company, on_top: &nothing, first: &nothing };
        let sigma: f64 = loads.iter().sum();
        assert!((services.long_run() - 32.0 / (1.0 - sigma)).abs() < 0.5, "{}", services.long_run());
    }
    assert!(SharingChain::of(&[], 0.2).is_none());
}

/// Weights and mean of the law are those of the balance `φ (1 - l b) = P_0 l f`.
#[test]
fn the_law_has_the_weights_of_the_balance() {
    let grid = Grid::of(2048);
    let (on_top, first) = (Law::constant(1.0), Law::constant(40.0));
    let others = OnLattice::new(&grid, company(1.0), 32.0);
    let services = Services { company: &others, on_top: &on_top, first: &first };
    let rate = 0.012;
    let shared = SharedQueue::new(&grid, rate, &services).unwrap();
    let [b0, b1] = services.means();
    let [w0, w1] = shared.weights;
    assert!((w0 + w1 + shared.empty - 1.0).abs() < 1e-12);
    let balance = w0 * (1.0 - rate * b0) + w1 * (1.0 - rate * b1) - shared.empty * rate * 40.0;
    assert!(balance.abs() < 1e-12);
    // but for work of less than half a cell
    assert!((shared.work(&grid).at(0) - shared.empty).abs() < rate);
    // messages that find others present wait longer: both queues grow together
    let mean = |x: &Transform| grid.law(x.clone()).mean();
    assert!(mean(&shared.found[1]) > 1.1 * mean(&shared.found[0]));
}
