//! Advice over drawn configurations: each way out, followed to the letter, ends its finding and raises no other.

use meshkv::config::{self, Key, Report};
use meshkv::design::Design;
use serde_json::{json, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Values of a file by the paths of their keys.
type Values = BTreeMap<String, Value>;

/// Numbers of a seed.
struct Draw(u64);

impl Draw {
    /// A number below `end`.
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % end
    }

    fn one_in(&mut self, of: u64) -> bool {
        self.below(of) == 0
    }

    /// A legal value of a key, as often small as large; now and then one that is not legal.
    fn value(&mut self, key: &Key) -> Value {
        if self.one_in(60) {
            return if key.kind == config::Kind::Integer { 77_777_777.into() } else { "wrong".into() };
        }
        match (key.choices.len() as u64, key.range) {
            _ if key.kind == config::Kind::Groups => self.groups(),
            (0, Some((least, most, _))) => {
                let share = self.below(1001) as f64 / 1000.0;
                let drawn = least.max(0.01) * (most / least.max(0.01)).powf(share);
                match key.kind {
                    config::Kind::Integer => (drawn.round().clamp(least, most) as u64).into(),
                    _ => ((drawn * 100.0).round() / 100.0).clamp(0.01, most).into(),
                }
            }
            (0, None) => self.one_in(2).into(),
            (count, _) => key.choices[self.below(count) as usize].clone(),
        }
    }

    /// One to three groups of layers.
    fn groups(&mut self) -> Value {
        let group = |draw: &mut Draw| {
            let mut group = json!({ "count": 1 + draw.below(6), "sinks": draw.one_in(3) });
            if draw.one_in(2) {
                group["window"] = (1 << draw.below(20)).into();
            }
            group
        };
        (0..=self.below(2)).map(|_| group(self)).collect()
    }
}

/// A drawn configuration: some keys of the default have another value.
fn drawn(seed: u64) -> Values {
    let mut draw = Draw(seed);
    let often = 2 + draw.below(8);
    let keys = config::tables().iter().flat_map(|table| &table.keys);
    let mut values = Values::new();
    for key in keys {
        if draw.one_in(often) {
            values.insert(key.path.clone(), draw.value(key));
        }
    }
    if draw.one_in(8) {
        values.insert("mesh.width".to_owned(), 4.into());
    }
    values
}

/// Problems of a file with these values.
fn problems(dir: &Path, values: &Values) -> Report {
    let text: String =
        values.iter().map(|(key, value)| format!("{key} = {}\n", config::toml_of(value))).collect();
    let path = dir.join("drawn.toml");
    fs::write(&path, text).unwrap();
    match Design::load_for_the_card(&path) {
        Ok((_, warnings)) => warnings,
        Err(report) => report,
    }
}

fn names(report: &Report) -> BTreeSet<(&str, &str)> {
    report.problems.iter().map(|problem| (problem.rule, problem.key.as_str())).collect()
}

/// Problems of drawn configurations whose advice is none, or does not do what it says.
fn failures(seeds: std::ops::Range<u64>) -> (usize, Vec<String>) {
    let dir = tempfile::tempdir().unwrap();
    let (mut followed, mut wrong) = (0, Vec::new());
    for seed in seeds {
        let values = drawn(seed);
        let report = problems(dir.path(), &values);
        let before = names(&report);
        for problem in &report.problems {
            if problem.advice.is_empty() {
                wrong
                    .push(format!("{seed}: no way out of {}: {}\n{values:?}", problem.rule, problem.message));
            }
            for advice in &problem.advice {
                let mut after = values.clone();
                for setting in &advice.set {
                    match &setting.value {
                        Value::Null => drop(after.remove(&setting.key)),
                        value => drop(after.insert(setting.key.clone(), value.clone())),
                    }
                }
                followed += 1;
                let report = problems(dir.path(), &after);
                let after = names(&report);
                let ended = !after.contains(&(problem.rule, problem.key.as_str()));
                let raised: Vec<_> = after.difference(&before).collect();
                if !ended || !raised.is_empty() {
                    let told = format!("{seed}: {}: {advice:?}", problem.message);
                    wrong.push(format!("{told}: ended {ended}, raised {raised:?}\n{values:?}"));
                }
            }
        }
    }
    (followed, wrong)
}

#[test]
fn advice_that_is_followed_ends_its_message_and_raises_no_other() {
    let (followed, wrong) = failures(0..25);
    assert!(wrong.is_empty(), "{} of {followed}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(followed > 40, "{followed}");
}

#[test]
fn advice_on_five_hundred_drawn_configurations_does_what_it_says() {
    let (followed, wrong) = failures(0..500);
    assert!(wrong.is_empty(), "{} of {followed}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(followed > 2000, "{followed}");
}

/// The depth that was advised to a FIFO of 48 was 42: chunks are smaller there.
#[test]
fn advice_to_a_short_fifo_is_the_least_depth_above_it_that_is_enough() {
    let base = [("mesh.cols", 8), ("mesh.rows", 4), ("noc.flit_width", 256), ("model.max_tokens", 2048)];
    let mut values: Values = base.into_iter().map(|(key, value)| (key.to_owned(), value.into())).collect();
    let dir = tempfile::tempdir().unwrap();
    let mut of = |depth: u64| {
        values.insert("pad.fifo_depth".to_owned(), depth.into());
        let report = problems(dir.path(), &values);
        let found = report.problems.into_iter().find(|problem| problem.rule == "fifo-covers-round-trip");
        found.map(|problem| problem.advice)
    };
    let advice = of(48).expect("a warning");
    let depth = advice[0].set[0].value.as_u64().unwrap();
    assert_eq!(advice[0].set[0].key, "pad.fifo_depth");
    assert!(depth > 48 && of(depth).is_none());
    assert!((49..depth).all(|less| of(less).is_some()));
}
