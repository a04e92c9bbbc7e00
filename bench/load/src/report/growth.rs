//! Plots of how costs grow.

use std::ops::Range;
use std::path::Path;

use anyhow::{Result, anyhow};
use plotters::prelude::*;

use crate::growth::{Growth, Points};

type Series = [(String, Points)];

/// Draws the plots into the folder, and writes the section that shows them.
pub(super) fn section(growth: &Growth, folder: &Path) -> Result<String> {
    let one = |name: &str, points: &[(f64, f64)]| [(name.to_owned(), points.to_vec())];
    let updates = [
        ("agent".to_owned(), growth.agent_updates.clone()),
        ("client".to_owned(), growth.client_updates.clone()),
    ];
    let mut text = String::from(
        "\n## Growth\n\n`cargo xtask bench growth`. Cost grows as the work does: lines that are flat here.\n",
    );
    let mut add = |name: &str, title: &str, axis: &str, logarithmic: bool, series: &Series| {
        if series.iter().all(|(_, points)| points.len() < 2) {
            return Ok(());
        }
        let file = folder.join(format!("{name}.svg"));
        draw(&file, title, axis, logarithmic, series)?;
        let folder = folder.file_name().unwrap_or_default().display();
        text.push_str(&format!("\n![{title}]({folder}/{name}.svg)\n"));
        anyhow::Ok(())
    };
    add(
        "updates",
        "µs of processor for one update",
        "updates in the turn",
        true,
        &updates,
    )?;
    add(
        "sessions",
        "µs of processor for one session and its turn",
        "sessions",
        true,
        &one("agent", &growth.sessions),
    )?;
    add(
        "codec",
        "ns for one byte of a line, by the length of the pieces it comes in",
        "bytes of the line",
        true,
        &growth.codec,
    )?;
    add(
        "soak",
        "MiB of memory, 64 busy sessions",
        "seconds",
        false,
        &one("agent", &growth.soak),
    )?;
    Ok(text)
}

fn draw(file: &Path, title: &str, axis: &str, logarithmic: bool, series: &Series) -> Result<()> {
    let root = SVGBackend::new(file, (720, 320)).into_drawing_area();
    root.fill(&WHITE).map_err(told)?;
    let points = || series.iter().flat_map(|(_, points)| points);
    let xs = span(points().map(|(x, _)| *x));
    // From nothing: a line is as flat as it looks.
    let ys = 0.0..points().map(|(_, y)| *y).fold(f64::MIN_POSITIVE, f64::max) * 1.25;
    let mut chart = ChartBuilder::on(&root);
    chart
        .caption(title, ("sans-serif", 18))
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(56);
    macro_rules! draw {
        ($xs:expr) => {{
            let mut chart = chart.build_cartesian_2d($xs, ys).map_err(told)?;
            let mut mesh = chart.configure_mesh();
            mesh.x_desc(axis)
                .light_line_style(WHITE)
                .draw()
                .map_err(told)?;
            for (index, (name, points)) in series.iter().enumerate() {
                let colour = Palette99::pick(index).to_rgba();
                let line = LineSeries::new(points.iter().copied(), colour.stroke_width(2));
                chart
                    .draw_series(line)
                    .map_err(told)?
                    .label(name)
                    .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], colour));
            }
            if series.len() > 1 {
                let mut labels = chart.configure_series_labels();
                labels
                    .background_style(WHITE)
                    .border_style(BLACK)
                    .draw()
                    .map_err(told)?;
            }
        }};
    }
    if logarithmic {
        draw!(xs.log_scale());
    } else {
        draw!(xs);
    }
    root.present().map_err(told)
}

fn span(numbers: impl Iterator<Item = f64> + Clone) -> Range<f64> {
    let least = numbers.clone().fold(f64::INFINITY, f64::min);
    let most = numbers.fold(f64::NEG_INFINITY, f64::max);
    least..most.max(least + 1.0)
}

/// An error of the plot, whatever its type.
fn told(error: impl std::error::Error) -> anyhow::Error {
    anyhow!("failed to draw: {error}")
}
