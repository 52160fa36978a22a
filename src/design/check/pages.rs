//! Rules of pages: the pool has those of a cache, and a write of the table names all that it must.

use crate::config::{Advice, Config, Finding};
use crate::design::mare::slice::segments;
use crate::design::network::flit::index_bits;
use crate::design::takv::pages::{caches, PAGE_WRITE_BITS};

const COUNT: &str = "kv.page_count";
const CACHES: &str = "kv.caches";

/// A stream of the longest context has a page for each of its segments.
pub(super) fn pages_hold_a_cache(config: &Config) -> Option<Finding> {
    let count = config.kv.page_count.filter(|_| config.kv.pages)?;
    let segments = segments(config);
    (count < segments).then(|| {
        let fault = format!("is below the {segments} pages of one cache of model.max_tokens");
        let help = "a cache has a page for each of its segments";
        let shorter = Advice::set("model.max_tokens", count * config.kv.segment_tokens);
        let ways = [Advice::set(COUNT, segments), Advice::leave_out(COUNT), shorter];
        Finding::value(COUNT, count, fault, help)
            .advising(ways)
            .with(&["model.max_tokens", "kv.segment_tokens"])
    })
}

/// Each of the streams that attend at once may have a cache of its own.
pub(super) fn streams_have_caches(config: &Config) -> Option<Finding> {
    let (given, streams) = (config.kv.caches.filter(|_| config.kv.pages)?, config.model.max_streams);
    (given < streams).then(|| {
        let fault = format!("is below model.max_streams = {streams}");
        let help = "each of the streams that attend at once may have a cache of its own";
        let ways = [
            Advice::set(CACHES, streams),
            Advice::leave_out(CACHES),
            Advice::set("model.max_streams", given),
        ];
        Finding::value(CACHES, given, fault, help).advising(ways).with(&["model.max_streams"])
    })
}

/// An entry of the table is written by one access to a register.
pub(super) fn a_write_names_a_page(config: &Config) -> Option<Finding> {
    let placement = super::placement::placement(config).filter(|placement| placement.pages)?;
    let (all, segments) = (caches(config), placement.segments);
    let bits = [placement.places, segments, all].map(index_bits);
    let needed: u32 = bits.iter().sum();
    (needed > PAGE_WRITE_BITS).then(|| {
        let fault = format!(
            "makes a table whose entries take {needed} bits to be named, {} for a page, {} for a segment and {} for a cache, and a \
             register has {PAGE_WRITE_BITS}",
            bits[0], bits[1], bits[2]
        );
        let help = "a host writes an entry by one access: a longer segment, fewer pages or fewer caches fit";
        let segment = config.kv.segment_tokens;
        let longer = [2, 4, 8, 16].map(|times| segment * times).into_iter().find(|&tokens| {
            let mut longer = config.clone();
            longer.kv.segment_tokens = tokens;
            tokens <= 1024 && needed_of(&longer).is_some_and(|needed| needed <= PAGE_WRITE_BITS)
        });
        let ways = longer.map(|tokens| Advice::set("kv.segment_tokens", tokens));
        Finding::value("kv.pages", true, fault, help)
            .advising(ways.into_iter().chain([Advice::set("kv.pages", false)]))
            .with(&[COUNT, CACHES, "model.max_tokens", "model.max_streams"])
    })
}

/// Bits that name an entry of the table of a configuration.
fn needed_of(config: &Config) -> Option<u32> {
    let placement = super::placement::placement(config)?;
    Some([placement.places, placement.segments, caches(config)].map(index_bits).iter().sum())
}
