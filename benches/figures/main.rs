//! Measures the figures of `docs/figures.md`, each with its goal and its command.
//!
//! `cargo bench --bench figures -- latency area` measures some sections, no name all of them, and
//! writes them into the page. It exits with 1 if a goal is missed and with 2 if a figure could not
//! be measured. It uses the program as users do, through its command line. It uses the library
//! where the command line has no clock (`speed`, `build`).

mod append;
mod area;
mod attention;
mod bandwidth;
mod build;
mod calls;
mod clocks;
mod eight_bits;
mod estimate;
mod fairness;
mod figure;
mod formats;
mod generate;
mod heads;
mod host;
mod latency;
mod lengths;
mod mare;
mod model;
mod multicast;
mod numbers;
mod pace;
mod page;
mod pages;
mod program;
mod reduce;
mod samples;
mod saturation;
mod speed;
mod takv;

use figure::{table, Figure, Goal};
use std::path::Path;
use std::process::ExitCode;

/// A part of the figures that is measured separately.
type Section = fn() -> anyhow::Result<Vec<Figure>>;

const SECTIONS: [(&str, Section); 27] = [
    ("latency", latency::measure),
    ("saturation", saturation::measure),
    ("fairness", fairness::measure),
    ("multicast", multicast::measure),
    ("mare", mare::measure),
    ("bandwidth", bandwidth::measure),
    ("lengths", lengths::measure),
    ("eight-bits", eight_bits::measure),
    ("lockstep", lengths::in_lockstep),
    ("pages", pages::measure),
    ("samples", samples::measure),
    ("takv", takv::measure),
    ("numbers", numbers::measure),
    ("formats", formats::measure),
    ("attention", attention::measure),
    ("area", area::measure),
    ("reduce", reduce::measure),
    ("estimate", estimate::measure),
    ("cards", estimate::of_cards),
    ("generate", generate::measure),
    ("speed", speed::measure),
    ("model", model::measure),
    ("clocks", clocks::measure),
    ("calls", calls::measure),
    ("host", host::measure),
    ("append", append::measure),
    ("build", build::measure),
];

fn main() -> ExitCode {
    // Cargo adds `--bench`; the rest are names of sections.
    let asked: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let names: Vec<_> = SECTIONS.iter().map(|(name, _)| *name).collect();
    if let Some(unknown) = asked.iter().find(|name| !names.contains(&name.as_str())) {
        eprintln!("error: no section {unknown}\n  help: the sections are {}", names.join(", "));
        return ExitCode::from(2);
    }
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/figures.md");
    // Version of the sources before the page changes.
    let origin = page::origin();
    let mut figures = Vec::new();
    let mut failed = false;
    for (name, measure) in
        SECTIONS.iter().filter(|(name, _)| asked.is_empty() || asked.iter().any(|a| a == name))
    {
        eprintln!("measuring {name}");
        match measure() {
            Ok(found) => {
                // Printed immediately: all sections together take a quarter of an hour.
                found.iter().for_each(|figure| eprintln!("  {}: {}", figure.what, figure.value));
                if let Err(error) = page::write(&page, name, &found, &origin) {
                    eprintln!("error: {name}: {error:#}");
                    failed = true;
                }
                figures.extend(found);
            }
            Err(error) => {
                eprintln!("error: {name}: {error:#}");
                failed = true;
            }
        }
    }
    print!("{}", table(&figures));
    match (failed, figures.iter().any(|figure| figure.goal.met() == Some(false))) {
        (true, _) => ExitCode::from(2),
        (false, true) => ExitCode::FAILURE,
        (false, false) => ExitCode::SUCCESS,
    }
}

/// A goal that `value` must not exceed, written as `text`.
fn at_most(value: f64, goal: f64, text: impl Into<String>) -> Goal {
    Goal::Met(value <= goal, format!("<= {}", text.into()))
}

/// A goal that `value` must reach, written as `text`.
fn at_least(value: f64, goal: f64, text: impl Into<String>) -> Goal {
    Goal::Met(value >= goal, format!(">= {}", text.into()))
}
