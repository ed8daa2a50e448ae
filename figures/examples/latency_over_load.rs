//! Draws the network latency of the 16-port router over its real-time load, as the published model has it:
//!
//! ```console
//! $ cargo run --release --example latency_over_load > figures/gallery/router16-latency.svg
//! ```

#![allow(clippy::print_stdout)]

use flitwise::models::published::{Options, solve};
use flitwise::models::scenario::{Scenario, ScenarioSpec};
use plotters::prelude::*;

/// Table 1 of the paper with R1 at `load` and R2 at half of it \[messages/cycle\].
fn router(load: f64) -> Scenario {
    let mut spec = ScenarioSpec::default();
    spec.classes[0].rate = load;
    spec.classes[1].rate = load / 2.0;
    spec.check().expect("loads of the figure are in range")
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    const MOST: f64 = 0.013;
    const HIGHEST: f64 = 200.0;
    let options = Options { distributions: false, saturation_loads: false, ..Options::default() };
    let mut curves: Vec<Vec<(f64, f64, bool)>> = vec![Vec::new(); 3];
    for step in 1..=260 {
        let load = MOST * f64::from(step) / 260.0;
        for (curve, class) in curves.iter_mut().zip(solve(&router(load), &options)?.classes) {
            let latency = class.network_latency_cycles.ok_or("every class has a latency here")?;
            curve.push((load, latency, class.saturated));
        }
    }
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, (1440, 880)).into_drawing_area();
        root.fill(&WHITE)?;
        let mut chart = ChartBuilder::on(&root)
            .margin(32)
            .margin_right(150)
            .x_label_area_size(104)
            .y_label_area_size(128)
            .build_cartesian_2d(0.0..MOST, 0.0..HIGHEST)?;
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(RGBColor(225, 225, 225))
            .x_desc("real-time load: rate of R1 [messages/cycle/node], R2 has half of it")
            .y_desc("mean network latency [cycles]")
            .x_labels(8)
            .y_labels(9)
            .x_label_formatter(&|load| format!("{load:.3}"))
            .y_label_formatter(&|latency| format!("{latency:.0}"))
            .label_style(("sans-serif", 30))
            .axis_desc_style(("sans-serif", 32))
            .draw()?;
        // blue, orange and black: told apart by the colour-blind, and by their dashes in grey
        let styles = [
            ("R1", RGBColor(0, 114, 178), 0),
            ("R2", RGBColor(213, 94, 0), 18),
            ("BE", RGBColor(40, 40, 40), 6),
        ];
        for ((name, colour, dash), curve) in styles.into_iter().zip(&curves) {
            let visible = || curve.iter().filter(|point| point.1 <= HIGHEST).map(|point| (point.0, point.1));
            let style = colour.stroke_width(5);
            if dash == 0 {
                chart.draw_series(LineSeries::new(visible(), style))?;
            } else {
                chart.draw_series(DashedLineSeries::new(visible(), dash, 8, style))?;
            }
            if let Some((load, latency, _)) = curve.iter().find(|point| point.2 && point.1 <= HIGHEST) {
                chart.draw_series([Circle::new((*load, *latency), 12, style)])?;
                let text = Text::new(
                    format!("{name} saturates"),
                    (*load - 0.0022, latency + 12.0),
                    ("sans-serif", 30),
                );
                chart.draw_series([text])?;
            }
            if let Some(end) = visible().next_back() {
                let label = EmptyElement::at(end)
                    + Text::new(name, (16, -16), ("sans-serif", 36).into_font().color(&colour));
                chart.draw_series([label])?;
            }
        }
        root.present()?;
    }
    println!("{svg}");
    Ok(())
}
