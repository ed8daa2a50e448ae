use super::*;

fn crossed(own: &[f64], found: &[f64], header: f64, hidden: f64) -> RouterDelays {
    RouterDelays {
        own: [own.to_vec(), own.to_vec()],
        in_channel: std::array::from_fn(|_| vec![1.0]),
        found: [found.to_vec(), found.to_vec()],
        fresh: vec![1.0],
        interrupted: vec![1.0],
        header,
        hidden,
        closed: 1.0,
        same: 0.0,
    }
}

/// Always so many cells.
fn always(cells: usize) -> Vec<f64> {
    (0..=cells).map(|x| if x == cells { 1.0 } else { 0.0 }).collect()
}

fn start(grid: &Grid, gap: f64) -> TailAndHeader<'_> {
    TailAndHeader::new(grid, (64, 1.0), &InBuffer::none(), &[Law::constant(gap), Law::zero()])
}

#[test]
fn a_gap_hides_waits_and_is_hidden_by_the_headers_longer_way() {
    let grid = Grid::of(128);
    let mut joint = start(&grid, 15.0);
    joint.cross(&crossed(&always(10), &[1.0], 0.0, 2.0));
    assert!((joint.tail().mean() - 13.0).abs() < 1e-9);
    joint.cross(&crossed(&always(10), &[1.0], 0.0, 2.0));
    // twice ten cycles of wait, and the gap is closed
    assert!((joint.tail().mean() - 20.0).abs() < 1e-9);
}

#[test]
fn an_escorted_gap_is_not_hidden_until_its_maker_goes_elsewhere() {
    let grid = Grid::of(128);
    let mut joint = start(&grid, 15.0);
    let mut met = crossed(&[1.0], &[1.0], 0.0, 2.0);
    for (same, mean) in [(1.0, 15.0), (0.5, 14.0), (0.0, 12.0)] {
        met.same = same;
        joint.cross(&met);
        assert!((joint.tail().mean() - mean).abs() < 1e-9, "{same} {}", joint.tail().mean());
    }
}

#[test]
fn who_has_waited_behind_another_waits_behind_it_again() {
    let grid = Grid::of(128);
    let mut joint = start(&grid, 0.0);
    let mut met = crossed(&[0.75, 0.0, 0.0, 0.0, 0.25], &[1.0], 0.0, 2.0);
    met.in_channel[CLOSE] = always(8);
    joint.cross(&met);
    assert!((joint.tail().mean() - 1.0).abs() < 1e-9);
    met.own = [vec![1.0], vec![1.0]];
    joint.cross(&met);
    let law = joint.tail();
    assert!((law.at(0) - 0.75).abs() < 1e-9 && (law.at(12) - 0.25).abs() < 1e-9);
}

#[test]
fn found_work_is_a_gap_unless_the_header_waits_for_it() {
    let grid = Grid::of(128);
    for (header, delay) in [(0.0, 4.0), (3.0, 4.0), (f64::INFINITY, 6.0)] {
        let mut joint = start(&grid, 0.0);
        joint.cross(&crossed(&[1.0], &always(6), header, 2.0));
        assert!((joint.tail().mean() - 6.0).abs() < 1e-9);
        joint.cross(&crossed(&[1.0], &[1.0], 0.0, 2.0));
        assert!((joint.tail().mean() - delay).abs() < 1e-9, "{header}");
    }
}

#[test]
fn a_wait_too_far_ahead_of_the_gap_does_not_close_it() {
    let grid = Grid::of(128);
    let mut met = crossed(&always(3), &[1.0], 0.0, 0.0);
    met.closed = 0.25;
    let mut joint = start(&grid, 8.0);
    joint.cross(&met);
    assert!((joint.tail().mean() - (0.25 * 8.0 + 0.75 * 11.0)).abs() < 1e-9);
}

#[test]
fn probabilities_stay_one_and_means_do_not_hang_on_the_lattice() {
    let grid = Grid::of(512);
    let spread = |none: f64| -> Vec<f64> {
        (0..24).map(|x| if x == 0 { none } else { (1.0 - none) / 23.0 }).collect()
    };
    for header in [0.0, 2.0, f64::INFINITY] {
        let mean = |lattice: (usize, f64)| {
            let gaps = Law::of(spread(0.6));
            let in_buffer = Law::of(vec![0.2, 0.3, 0.5]);
            let in_buffer = InBuffer { idle: 0.6, waits: [Law::zero(), in_buffer] };
            let mut joint = TailAndHeader::new(&grid, lattice, &in_buffer, &[gaps.clone(), gaps]);
            for _ in 0..4 {
                let mut met = crossed(&spread(0.8), &spread(0.7), header, 2.0);
                met.in_channel[CLOSE] = spread(0.5);
                met.fresh = spread(0.9);
                met.interrupted = spread(0.8);
                (met.closed, met.same) = (0.9, 0.5);
                joint.cross(&met);
            }
            let lines: f64 = joint.closed.iter().chain(joint.gaps.iter().flatten()).flatten().sum();
            assert!((lines + joint.lattice.mass() - 1.0).abs() < 1e-5);
            joint.tail().mean()
        };
        let (fine, coarse) = (mean((256, 1.0)), mean((64, 4.0)));
        assert!((coarse / fine - 1.0).abs() < 0.02, "{header} {fine} {coarse}");
    }
}
