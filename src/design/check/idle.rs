//! Keys that are set and do nothing, because of another key.

use crate::config::{Advice, Config, Finding, KvFormat, PlacementKind, Spread};
use serde_json::Value;

/// Keys that do nothing while something holds, and the key that makes it so.
struct Idle {
    holds: fn(&Config) -> bool,
    because: &'static str,
    of: &'static str,
    keys: &'static [&'static str],
}

const RULES: [Idle; 9] = [
    Idle {
        holds: |config| config.kv.format != KvFormat::Int8,
        because: "kv.format is not \"int8\"",
        of: "kv.format",
        keys: &["pe.narrow"],
    },
    Idle {
        holds: |config| !config.kv.pages,
        because: "kv.pages is false",
        of: "kv.pages",
        keys: &["kv.page_count", "kv.caches"],
    },
    Idle {
        holds: |config| !config.mare.enable,
        because: "mare.enable is false",
        of: "mare.enable",
        keys: &[
            "mare.multicast",
            "mare.dedup",
            "mare.coalesce_window",
            "mare.tree_build_cycles",
            "mare.bloom_bits",
            "mare.tag_entries",
            "mare.bloom_refresh",
        ],
    },
    Idle {
        holds: |config| config.mare.enable && !config.mare.dedup,
        because: "mare.dedup is false",
        of: "mare.dedup",
        keys: &["mare.bloom_bits", "mare.tag_entries", "mare.bloom_refresh"],
    },
    Idle {
        holds: |config| config.mare.enable && !config.mare.multicast,
        because: "mare.multicast is false",
        of: "mare.multicast",
        keys: &["mare.tree_build_cycles"],
    },
    Idle {
        holds: |config| config.takv.placement != PlacementKind::Takv,
        because: "takv.placement is not \"takv\"",
        of: "takv.placement",
        keys: &["takv.a", "takv.column_stride"],
    },
    Idle {
        holds: |config| config.takv.spread == Spread::Slice,
        because: "takv.spread is \"slice\"",
        of: "takv.spread",
        keys: &["takv.column_stride"],
    },
    Idle {
        holds: |config| config.takv.placement != PlacementKind::Hub,
        because: "takv.placement is not \"hub\"",
        of: "takv.placement",
        keys: &["takv.hub_x", "takv.hub_y"],
    },
    Idle {
        holds: |config| config.takv.placement == PlacementKind::Hub,
        because: "takv.placement is \"hub\", which has one home",
        of: "takv.placement",
        keys: &["takv.swap_epoch"],
    },
];

/// Warns of keys whose value is not the default and does nothing.
pub(super) fn keys_without_effect(config: &Config) -> Vec<Finding> {
    let [given, default] = [config, &Config::default()].map(|c| serde_json::to_value(c).unwrap_or_default());
    let value = |of: &Value, key: &str| {
        key.split_once('.').map_or(Value::Null, |(table, name)| of[table][name].clone())
    };
    let of_rule = |rule: &Idle| {
        let set = rule.keys.iter().filter(|key| value(&given, key) != value(&default, key));
        let finding = |key: &&str| {
            let fault = format!("does nothing, since {}", rule.because);
            let help = format!("{} decides", rule.of);
            let way = Advice::leave_out(key);
            Finding::value(key, value(&given, key), fault, help).advising([way]).with(&[rule.of]).as_warning()
        };
        set.map(finding).collect::<Vec<_>>()
    };
    RULES.iter().filter(|rule| (rule.holds)(config)).flat_map(of_rule).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn idle(change: fn(&mut Config)) -> Vec<String> {
        let mut config = Config::default();
        change(&mut config);
        keys_without_effect(&config).into_iter().map(|finding| finding.key).collect()
    }

    #[test]
    fn a_key_is_named_only_if_it_was_changed_and_another_switches_it_off() {
        assert!(idle(|_| {}).is_empty());
        assert!(idle(|c| c.mare.enable = false).is_empty());
        assert_eq!(idle(|c| (c.mare.enable, c.mare.dedup) = (false, false)), ["mare.dedup"]);
        assert_eq!(idle(|c| (c.mare.dedup, c.mare.bloom_bits) = (false, 512)), ["mare.bloom_bits"]);
        assert_eq!(idle(|c| c.takv.hub_x = 3), ["takv.hub_x"]);
        let hub = |c: &mut Config| {
            c.takv.placement = PlacementKind::Hub;
            (c.takv.hub_y, c.takv.column_stride, c.takv.swap_epoch) = (2, 1, Some(4));
        };
        assert_eq!(idle(hub), ["takv.column_stride", "takv.swap_epoch"]);
    }

    #[test]
    fn every_key_of_a_rule_is_one_of_the_configuration() {
        let all = serde_json::to_value(Config::default()).unwrap();
        for key in RULES.iter().flat_map(|rule| rule.keys) {
            let (table, name) = key.split_once('.').unwrap();
            assert!(all[table].get(name).is_some(), "{key}");
        }
    }
}
