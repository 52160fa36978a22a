//! Features that a configuration switches off are absent from the Verilog, not merely disabled.

use crate::support::sources::is_source;
use meshkv::config::Config;
use meshkv::design::Design;
use meshkv::emit::{emit, SourceFile};

fn files(change: impl FnOnce(&mut Config)) -> Vec<SourceFile> {
    let mut config = Config::default();
    change(&mut config);
    emit(&Design::from_config("test", &config).unwrap()).unwrap()
}

fn text<'a>(files: &'a [SourceFile], module: &str) -> Option<&'a str> {
    files.iter().find(|f| is_source(f, module)).map(|f| f.text.as_str())
}

/// Asserts that words occur in a module with the switch on and not with it off.
fn gone(on: &[SourceFile], off: &[SourceFile], module: &str, words: &[&str]) {
    for word in words {
        assert!(text(on, module).unwrap().contains(word), "{module} with the switch on lacks {word}");
        assert!(!text(off, module).unwrap().contains(word), "{module} with the switch off has {word}");
    }
}

#[test]
fn without_suppression_there_is_no_filter_no_history_and_no_order_of_repeats() {
    let (on, off) = (files(|_| {}), files(|c| c.mare.dedup = false));
    for module in ["meshkv_duplicate_filter", "meshkv_bloom_filter"] {
        assert!(text(&on, module).is_some() && text(&off, module).is_none(), "{module}");
    }
    gone(&on, &off, "meshkv_requester", &["HISTORY", "known_q", "old_gen_q", "ring_q"]);
    gone(&on, &off, "meshkv_request_table", &["before_q"]);
    gone(&on, &off, "meshkv_home_agent", &["u_filter", "BLOOM_BITS", "tick"]);
    gone(&on, &off, "meshkv_transport", &["period_q", "TAG_ENTRIES"]);
}

#[test]
fn without_a_window_nothing_is_merged() {
    let (on, off) = (files(|_| {}), files(|c| c.mare.coalesce_window = 0));
    gone(&on, &off, "meshkv_request_table", &["closes", "ending", "open_q"]);
    // Without suppression as well, requests are not even compared.
    let neither = files(|c| (c.mare.coalesce_window, c.mare.dedup) = (0, false));
    gone(&on, &neither, "meshkv_request_table", &["gen_q", "before_q"]);
}

#[test]
fn without_multicast_there_are_no_sets_in_the_network_and_no_trees() {
    let slow = |c: &mut Config| c.mare.tree_build_cycles = 8;
    let (on, off) = (files(slow), files(|c| (c.mare.multicast, c.mare.tree_build_cycles) = (false, 8)));
    gone(&on, &off, "meshkv_request_table", &["wire               writes = 1'b0"]);
    gone(&off, &on, "meshkv_request_table", &["assign writes = load & range_ends"]);
    gone(&on, &off, "meshkv_fabric", &["parameter DEST_WIDTH = 64"]);
    let tree =
        |files: &[SourceFile]| text(files, "meshkv_request_table").unwrap().contains("parameter TREE = 0");
    assert!(!tree(&on) && tree(&off));
}

#[test]
fn without_mare_a_home_answers_every_fetch_by_itself() {
    let (on, off) = (files(|_| {}), files(|c| c.mare.enable = false));
    gone(&on, &off, "meshkv_request_table", &["gen_q", "count_q", "closes", "before_q"]);
    assert!(text(&off, "meshkv_duplicate_filter").is_none());
}
