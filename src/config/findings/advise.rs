//! Ways out of findings that were tried: each ends its finding and raises no other.
//!
//! A rule proposes ways, the best first, and knows only itself. Here each is followed and the whole configuration is
//! checked again. Where a way raises another finding, a way out of that is added to it.

use crate::config::findings::advice::{Advice, Setting};
use crate::config::findings::finding::Finding;
use crate::config::schema::Config;
use std::cell::Cell;
use std::collections::BTreeSet;

/// Findings that a way may raise, each ended by a way of its own that is added.
const MOST_ADDED: usize = 8;
/// Checks of the whole configuration for a way.
const MOST_CHECKS: usize = 100;
/// Ways out that are printed.
const MOST_TOLD: usize = 3;

/// Findings of a configuration.
pub(in crate::config) type Check<'a> = &'a dyn Fn(&Config) -> Vec<Finding>;

/// The configuration after a way out was followed. Keys that are none, such as those of the file, change nothing.
pub fn followed(config: &Config, advice: &Advice) -> Option<Config> {
    let default = serde_json::to_value(Config::default()).ok()?;
    let mut values = serde_json::to_value(config).ok()?;
    for Setting { key, value } in &advice.set {
        let pointer = format!("/{}", key.replace('.', "/"));
        let (Some(place), Some(default)) = (values.pointer_mut(&pointer), default.pointer(&pointer)) else {
            continue;
        };
        *place = if value.is_null() { default.clone() } else { value.clone() };
    }
    serde_json::from_value(values).ok()
}

/// Keeps of the ways out of each finding those that end it and raise none that is not among `base`, with what must be
/// added for that; those to which the least is added first.
pub(in crate::config) fn tried(
    advice: &[Advice],
    of: &Finding,
    config: &Config,
    (base, barred): (&[Finding], &BTreeSet<String>),
    check: Check<'_>,
) -> Vec<Advice> {
    let mut kept: Vec<(usize, Advice)> = Vec::new();
    for way in advice {
        let search = Search { of, config, base, barred, check, checks: Cell::new(MOST_CHECKS) };
        let whole = search.whole(way.clone(), 0);
        if let Some(whole) = whole.filter(|whole| kept.iter().all(|(_, known)| known != whole)) {
            kept.push((whole.set.len().saturating_sub(way.set.len()), whole));
        }
    }
    kept.sort_by_key(|(added, _)| *added);
    kept.into_iter().map(|(_, way)| way).take(MOST_TOLD).collect()
}

fn is_same(a: &Finding, b: &Finding) -> bool {
    (a.rule, &a.key) == (b.rule, &b.key)
}

/// A search for all that must be added to a way.
struct Search<'a> {
    of: &'a Finding,
    config: &'a Config,
    base: &'a [Finding],
    /// Keys that the file has wrong: their findings are not known yet, so no way may set them.
    barred: &'a BTreeSet<String>,
    check: Check<'a>,
    /// Checks that are left.
    checks: Cell<usize>,
}

impl Search<'_> {
    /// A way with all that must be added; none if there is none.
    fn whole(&self, way: Advice, added: usize) -> Option<Advice> {
        if way.set.iter().any(|set| set.key != self.of.key && self.barred.contains(&set.key)) {
            return None;
        }
        self.checks.set(self.checks.get().checked_sub(1)?);
        let after = (self.check)(&followed(self.config, &way)?);
        if after.iter().any(|found| is_same(found, self.of)) {
            return None;
        }
        let Some(new) = after.iter().find(|found| !self.base.iter().any(|known| is_same(known, found)))
        else {
            return Some(way);
        };
        if added == MOST_ADDED {
            return None;
        }
        new.advice.iter().find_map(|more| self.whole(joined(&way, more), added + 1))
    }
}

/// A way, then another: the later value of a key holds.
fn joined(way: &Advice, more: &Advice) -> Advice {
    let mut set: Vec<Setting> = way.set.clone();
    for setting in &more.set {
        match set.iter_mut().find(|known| known.key == setting.key) {
            Some(known) => known.value = setting.value.clone(),
            None => set.push(setting.clone()),
        }
    }
    Advice { set }
}

#[cfg(test)]
mod tests {
    use crate::config::findings::advise::*;
    use serde_json::{json, Value};

    #[test]
    fn a_way_is_followed_and_a_key_of_the_file_changes_nothing() {
        let config = Config::default();
        let way = Advice::set("mesh.cols", 4).and("pad.fifo_depth", Value::Null).and("version", 2);
        let after = followed(&config, &way).unwrap();
        assert_eq!((after.mesh.cols, after.pad.fifo_depth), (4, None));
        assert_eq!(followed(&config, &Advice::set("nothing.here", 1)), Some(config));
    }

    #[test]
    fn a_way_that_raises_another_finding_is_told_with_the_way_out_of_that() {
        let check = |config: &Config| {
            let wide = (config.mesh.cols > 4).then(|| {
                Finding::error("mesh.cols", "is wide", "").of("wide").advising([Advice::set("mesh.cols", 3)])
            });
            let odd = (config.mesh.cols % 2 == 1 && config.mesh.rows > 2).then(|| {
                Finding::error("mesh.rows", "is high", "").of("high").advising([Advice::set("mesh.rows", 2)])
            });
            wide.into_iter().chain(odd).collect::<Vec<_>>()
        };
        let config = Config::default();
        let base = check(&config);
        let kept = tried(&base[0].advice, &base[0], &config, (&base, &BTreeSet::new()), &check);
        assert_eq!(kept, [Advice::set("mesh.cols", 3).and("mesh.rows", 2)]);
        assert_eq!(json!(kept[0].set[1].value), 2);
    }
}
