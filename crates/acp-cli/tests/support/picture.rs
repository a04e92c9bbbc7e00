//! A screen as a picture, or several as one that moves.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

/// The size of a character, and the space around them all.
const WIDTH: f32 = 8.4;
const HEIGHT: usize = 19;
const MARGIN: usize = 14;

/// How long the last screen stays before it all begins again.
const REST: Duration = Duration::from_secs(4);

/// What is on a screen: a run of characters that look alike has a column and a class.
pub(crate) type Rows = Vec<Vec<Piece>>;

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Piece {
    column: u16,
    columns: u16,
    class: String,
    text: String,
}

/// Reads the rows of a screen.
pub(crate) fn rows(screen: &vt100::Screen) -> Rows {
    let (rows, columns) = screen.size();
    (0..rows.get())
        .map(|row| {
            let mut pieces: Vec<Piece> = Vec::new();
            for column in 0..columns.get() {
                let Some(cell) = screen.cell(row, column) else {
                    continue;
                };
                if cell.is_wide_continuation() || cell.contents().is_empty() {
                    continue;
                }
                let class = class(cell);
                let columns = if cell.is_wide() { 2 } else { 1 };
                match pieces.last_mut() {
                    Some(last) if last.class == class && last.column + last.columns == column => {
                        last.text.push_str(cell.contents());
                        last.columns += columns;
                    }
                    _ => pieces.push(Piece {
                        column,
                        columns,
                        class,
                        text: cell.contents().to_owned(),
                    }),
                }
            }
            pieces.retain(|piece| !piece.text.trim().is_empty());
            pieces
        })
        .collect()
}

/// Draws screens one after the other, each from its moment on. One alone stands still.
pub(crate) fn svg(title: &str, columns: u16, frames: &[(Duration, Rows)]) -> String {
    let height = frames.iter().map(|(_, rows)| used(rows)).max().unwrap_or(0);
    let whole = frames.last().map_or(REST, |(at, _)| *at + REST);
    // Each row that is ever seen, and in which frames.
    let mut drawn: BTreeMap<(usize, &Vec<Piece>), Vec<bool>> = BTreeMap::new();
    for (frame, (_, rows)) in frames.iter().enumerate() {
        for (at, row) in rows.iter().enumerate().filter(|(_, row)| !row.is_empty()) {
            let seen = drawn.entry((at, row)).or_default();
            seen.resize(frames.len(), false);
            seen[frame] = true;
        }
    }
    let (mut css, mut body) = (String::new(), String::new());
    for (number, ((at, row), seen)) in drawn.iter().enumerate() {
        let moves = seen.iter().any(|seen| !seen);
        let name = match moves {
            true => format!(" id=\"r{number}\""),
            false => String::new(),
        };
        if moves {
            keyframes(&mut css, number, seen, frames, whole);
        }
        let y = MARGIN + HEIGHT * at + HEIGHT * 3 / 4;
        let _ = write!(body, "<text{name} y=\"{y}\">");
        for piece in *row {
            let x = MARGIN as f32 + WIDTH * f32::from(piece.column);
            let length = WIDTH * f32::from(piece.columns);
            let text = escaped(&piece.text);
            let class = match piece.class.is_empty() {
                true => String::new(),
                false => format!(" class=\"{}\"", piece.class),
            };
            let _ = write!(
                body,
                "<tspan x=\"{x:.1}\" textLength=\"{length:.1}\"{class}>{text}</tspan>"
            );
        }
        body.push_str("</text>\n");
    }
    let width = (WIDTH * f32::from(columns)).ceil() + 2.0 * MARGIN as f32;
    let height = HEIGHT * height + 2 * MARGIN;
    let title = escaped(title);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" role=\"img\">\n\
         <title>{title}</title>\n<style>\n\
         text {{ font: 14px ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace; fill: #d8dee9; white-space: pre }}\n\
         .b {{ font-weight: bold }} .d {{ fill: #808a9f }} .c1 {{ fill: #ef6b73 }} .c2 {{ fill: #8ccf7e }} .c3 {{ fill: #e5c76b }} .c6 {{ fill: #67b0e8 }}\n\
         {css}</style>\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#1b1f27\"/>\n{body}</svg>\n"
    )
}

/// Says when a row is seen. Who wants no motion sees the last screen.
fn keyframes(
    css: &mut String,
    number: usize,
    seen: &[bool],
    frames: &[(Duration, Rows)],
    whole: Duration,
) {
    let _ = write!(css, "@keyframes k{number} {{ ");
    let mut before = None;
    for ((at, _), seen) in frames.iter().zip(seen) {
        if before != Some(*seen) {
            let percent = 100.0 * at.as_secs_f64() / whole.as_secs_f64();
            let visibility = if *seen { "visible" } else { "hidden" };
            let _ = write!(css, "{percent:.1}% {{ visibility: {visibility} }} ");
            before = Some(*seen);
        }
    }
    let last = if seen.last() == Some(&true) {
        "visible"
    } else {
        "hidden"
    };
    let seconds = whole.as_secs_f64();
    let _ = writeln!(
        css,
        "}}\n#r{number} {{ visibility: {last} }} @media (prefers-reduced-motion: no-preference) {{ #r{number} {{ animation: k{number} {seconds:.1}s step-end infinite }} }}"
    );
}

fn used(rows: &Rows) -> usize {
    rows.iter()
        .rposition(|row| !row.is_empty())
        .map_or(0, |at| at + 1)
}

fn class(cell: &vt100::Cell) -> String {
    let mut classes = Vec::new();
    if cell.bold() {
        classes.push("b".to_owned());
    }
    if cell.dim() {
        classes.push("d".to_owned());
    }
    if let vt100::Color::Idx(colour) = cell.fgcolor() {
        classes.push(format!("c{colour}"));
    }
    classes.join(" ")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}
