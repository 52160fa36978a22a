//! `meshkv plan`: tables, JSON, exit codes, and what it refuses.

use crate::support::sandbox::{Said, Sandbox, LEAST};
use serde_json::Value;

/// Runs in a folder with the fabrics of the card and of a model.
fn plan(line: &str) -> Said {
    let sandbox = Sandbox::new();
    for name in ["llama2_7b", "mistral_7b", "u280_4x8"] {
        let text = std::fs::read_to_string(format!("configs/{name}.toml")).unwrap();
        sandbox.file(&format!("{name}.toml"), &text);
    }
    sandbox.file("small.toml", LEAST);
    sandbox.run(&format!("plan {line}"))
}

fn json(line: &str, code: i32) -> Value {
    let said = plan(&format!("{line} --json"));
    assert_eq!(said.code, Some(code), "{line}: {}", said.err);
    serde_json::from_str(&said.out).unwrap_or_else(|e| panic!("{line}: {e}: {}", said.out))
}

fn way<'a>(plan: &'a Value, name: &str) -> &'a Value {
    plan["ways"].as_array().unwrap().iter().find(|way| way["way"] == name).unwrap()
}

/// LLaMA-2-7B at 32 K tokens: 16 GiB, twice the HBM of a card.
#[test]
fn a_model_of_twice_a_cards_memory_takes_two_cards_by_any_way() {
    let of_two = json("llama2_7b.toml --cards 2", 0);
    assert_eq!(of_two["cache_bytes"], 16_u64 << 30);
    for (name, key, value) in
        [("layers", "layers", 16), ("heads", "kv_heads", 16), ("tokens", "max_tokens", 16_384)]
    {
        let way = way(&of_two, name);
        assert_eq!(way["share"][key], value, "{name}");
        assert_eq!((&way["refused"], &way["least_cards"]), (&Value::Null, &Value::from(2)), "{name}");
        assert_eq!(way["caches"]["cache_bytes"], 8_u64 << 30, "{name}");
        assert_eq!(
            (&way["caches"]["room_bytes"], &way["caches"]["fits"]),
            (&(8_u64 << 30).into(), &true.into())
        );
    }
    assert_eq!(of_two["best"], "heads");
    let time = |name: &str| way(&of_two, name)["time"]["step_us"].as_f64().unwrap();
    // Whole cycles of a layer are rounded up.
    let twice = time("layers") / (2.0 * time("heads"));
    assert!((twice - 1.0).abs() < 1e-4, "{twice}");

    let of_one = json("llama2_7b.toml --cards 1", 1);
    assert_eq!(of_one["best"], Value::Null);
    let refused = way(&of_one, "layers")["refused"].as_str().unwrap().to_owned();
    assert_eq!(refused, "the caches of the fullest card do not fit its memory; try --cards 2");
}

#[test]
fn a_cards_fabric_is_planned_for_all_layers_of_a_model() {
    let own = json("u280_4x8.toml --cards 1", 0);
    assert_eq!((&own["model"]["layers"], &own["cache_bytes"]), (&8.into(), &(4_u64 << 30).into()));
    let whole = json("u280_4x8.toml --cards 2 --layers 32", 0);
    assert_eq!((&whole["model"]["layers"], &whole["cache_bytes"]), (&32.into(), &(16_u64 << 30).into()));
}

#[test]
fn a_slow_link_is_named_as_the_bound() {
    let line = "mistral_7b.toml --cards 4 --batch 8";
    let fast = json(line, 0);
    assert_eq!((&fast["link_gbs"], &fast["memory_gbs"]), (&12.0.into(), &460.0.into()));
    assert_eq!(way(&fast, "tokens")["time"]["tightest"], "memory");
    let slow = json(&format!("{line} --link-gbs 0.01"), 0);
    for name in ["layers", "heads", "tokens"] {
        let (time, traffic) = (&way(&slow, name)["time"], &way(&slow, name)["traffic"]);
        assert_eq!(time["tightest"], "host_link", "{name}");
        if name != "layers" {
            let us = traffic["card_bytes"].as_f64().unwrap() / 10.0;
            assert_eq!(time["bounds_us"]["host_link"].as_f64(), Some(us), "{name}");
        }
    }
    // Partial results of all heads are many times the outputs.
    assert_ne!(slow["best"], "tokens");
}

#[test]
fn people_read_shares_bytes_times_and_the_keys_of_the_best_card() {
    let said = plan("mistral_7b.toml --cards 12 --tokens 8192 --batch 8");
    assert_eq!(said.code, Some(0), "{}", said.err);
    for words in [
        "mistral_7b on 12 cards: 32 layers, 32 heads on 8 KV heads of 128, 8192 tokens, window of 4096, 8 streams\n",
        "Share of a card, caches of the fullest, and the fewest cards that hold them:\n",
        "2 to 3     32 layers",
        "10 to 11  128 segments",
        "Bytes between hosts and cards in a decode step:\n",
        "Least microseconds of a step that each part needs:\n",
        "Not by heads: 12 cards are more than the 8 KV heads of the model, and the cache of a KV head is not divided; \
         try --cards 8, or spread by tokens\n",
        "bound by memory, and is expected to take ",
    ] {
        assert!(said.out.contains(words), "{words}\n{}", said.out);
    }
    let last = said.out.lines().last().unwrap();
    assert!(last.starts_with("The fullest card has model.layers = "), "{last}");
}

#[test]
fn a_plan_without_a_possible_way_is_a_failed_check_with_ways_out() {
    let said = plan("llama2_7b.toml --cards 3 --batch 4");
    assert_eq!(said.code, Some(1));
    assert!(said.out.contains("Bytes between hosts and cards"), "{}", said.out);
    assert!(!said.out.contains("Least microseconds") && !said.out.contains("Not by"), "{}", said.out);
    assert!(
        said.err.contains("error: no way is possible with 3 cards\nNot by layers: the caches"),
        "{}",
        said.err
    );
    let cards = said.err.split("Not by tokens").nth(1).unwrap().split("try --cards ").nth(1).unwrap();
    let cards: u32 = cards.trim().parse().unwrap();
    assert_eq!(plan(&format!("llama2_7b.toml --cards {cards} --batch 4")).code, Some(0), "{}", said.err);
}

#[test]
fn more_cards_than_units_are_refused_by_the_name_of_each() {
    let plan = json("small.toml --cards 17", 1);
    for (name, words) in [
        ("layers", "17 cards are more than the 2 layers of the model, and a layer is not divided; try --cards 2, or"),
        ("heads", "17 cards are more than the 2 KV heads of the model"),
        ("tokens", "17 cards are more than the 16 segments of the model, and a segment is not divided; try --cards 16, or a smaller kv.segment_tokens"),
    ] {
        let way = way(&plan, name);
        assert!(way["refused"].as_str().unwrap().starts_with(words), "{way}");
        assert!(way["share"].is_null() && way["time"].is_null() && way["traffic"].is_null(), "{way}");
    }
}

#[test]
fn numbers_out_of_range_are_refused_by_the_name_of_the_option() {
    for (line, words) in [
        ("small.toml", "--cards <N>"),
        ("small.toml --cards 0", "invalid value '0' for '--cards <N>'"),
        ("small.toml --cards 2 --tokens 0", "invalid value '0' for '--tokens <T>'"),
        ("small.toml --cards 2 --batch 257", "invalid value '257' for '--batch <B>'"),
        ("small.toml --cards 2 --layers 0", "invalid value '0' for '--layers <L>'"),
        ("small.toml --cards 2 --link-gbs 0", "write GB/s above 0, for example 12"),
        ("small.toml --cards 2 --link-gbs inf", "write GB/s above 0, for example 12"),
        ("nowhere.toml --cards 2", "nowhere.toml"),
    ] {
        let said = plan(line);
        assert_eq!(said.code, Some(2), "{line}");
        assert!(said.err.contains(words), "{line}: {}", said.err);
    }
}

#[test]
fn the_largest_numbers_of_all_options_end_with_an_answer() {
    let largest = "--cards 4096 --tokens 1073741824 --batch 256 --layers 4096 --link-gbs 1e300";
    let plan = json(&format!("llama2_7b.toml {largest}"), 1);
    assert!(way(&plan, "tokens")["traffic"]["partials_bytes"].as_u64() > Some(1 << 45));
    assert!(way(&plan, "layers")["refused"].is_string());
}
