//! Forecasts of decode steps that nobody chose, against the cycles of the model: the error that is stated with each, and
//! the choice of `--mapping auto`.

use meshkv::design::FORECAST_ERROR;
use meshkv::eval::{DrawnStep, Found};

/// Drawn steps.
const STEPS: u64 = 60;

/// Most cycles of the chosen mapping over those of the best: in 95 of 100 steps, and in all.
const MOST: [f64; 2] = [1.03, 1.09];

/// A step, what was found of each mapping, and the cycles of the chosen one over those of the best.
fn find(seed: u64) -> (DrawnStep, Vec<Found>, f64) {
    let step = DrawnStep::of(seed);
    let choice = step.choice();
    let found = step.found(&choice).unwrap_or_else(|e| panic!("{}: {e}", step.title()));
    let best = found.iter().map(|found| found.cycles).min().unwrap();
    let chosen = found.iter().find(|found| found.mapping == choice.mapping).unwrap().cycles;
    (step, found, chosen as f64 / best as f64)
}

/// The value that so many of 100 do not exceed.
fn quantile(sorted: &[f64], of_100: usize) -> f64 {
    sorted[(sorted.len() * of_100).div_ceil(100) - 1]
}

/// Run it with `--nocapture` for the table of all steps.
#[test]
fn forecasts_of_drawn_steps_are_as_near_as_is_stated() {
    let (mut errors, mut over) = (Vec::new(), Vec::new());
    for seed in 0..STEPS {
        let (step, found, ratio) = find(seed);
        println!("{seed}: {}; chosen over best {ratio:.3}", step.title());
        for of in &found {
            let (name, error) = (of.mapping.name(), 100.0 * of.error());
            println!("    {name:14} forecast {:7}, cycles {:7}, {error:+6.1} %", of.forecast, of.cycles);
            assert!(of.least <= of.cycles, "{seed}, {name}: bound {} of {} cycles", of.least, of.cycles);
        }
        errors.extend(found.iter().map(|found| found.error().abs()));
        over.push(ratio);
    }
    errors.sort_by(f64::total_cmp);
    over.sort_by(f64::total_cmp);
    let [near, worst] = [95, 100].map(|of_100| quantile(&over, of_100));
    let [median, most, largest] = [50, 95, 100].map(|of_100| quantile(&errors, of_100));
    let what = format!(
        "{} forecasts: median {:.1} %, 95 of 100 within {:.1} %, all within {:.1} %; chosen over best {near:.3} and {worst:.3}",
        errors.len(),
        100.0 * median,
        100.0 * most,
        100.0 * largest
    );
    println!("{what}");
    assert!(median <= FORECAST_ERROR.median && most <= FORECAST_ERROR.most_of_95, "{what}");
    assert!(near <= MOST[0] && worst <= MOST[1], "{what}");
}

#[test]
fn quantiles_are_values_of_the_list() {
    let errors: Vec<f64> = (1..=20).map(f64::from).collect();
    assert_eq!([50, 95, 100].map(|of_100| quantile(&errors, of_100)), [10.0, 19.0, 20.0]);
}
