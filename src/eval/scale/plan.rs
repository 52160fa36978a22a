//! The plan: each way with its caches, traffic and time, and the best.

use super::share::{of_card, Way};
use super::time::StepTime;
use super::traffic::Traffic;
use crate::config::{Config, Severity};
use crate::design::{check_for_the_card, model_dim, Caches, Design};
use schemars::JsonSchema;
use serde::Serialize;

/// Share of the least time within which a way counts as equally fast. Forecasts say no more.
const AS_FAST: f64 = 0.02;

/// What is spread over how many cards.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Load {
    /// Cards, at least 1, each with a link of its own to its host.
    pub cards: u32,
    /// Tokens of every stream.
    pub tokens: u32,
    /// Streams.
    pub batch: u32,
    /// Layers of the model, if they are others than the configuration has.
    pub layers: Option<u32>,
    /// Bytes that the link of a card carries, in GB/s.
    pub link_gbs: f64,
}

/// Ways to spread a model over cards.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CardsPlan {
    /// Cards.
    pub cards: u32,
    /// Keys of the model as a whole, with the tokens and streams of the load.
    pub model: ShareOfCard,
    /// Bytes that caches of the whole model take in the memory of one card, if it had room.
    pub cache_bytes: u64,
    /// Rate of a card's link to its host, in GB/s.
    pub link_gbs: f64,
    /// Bandwidth of a card's memory, in GB/s.
    pub memory_gbs: f64,
    /// The ways.
    pub ways: Vec<WayPlan>,
    /// The way with the least expected time of a step; of ways within 2 % the one with the least traffic.
    /// Null if none is possible with so many cards.
    pub best: Option<Way>,
}

/// One way.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct WayPlan {
    /// The way.
    pub way: Way,
    /// Reason why it is impossible, with a way out; null if it is possible.
    pub refused: Option<String>,
    /// Units of a card; null if there are fewer than cards.
    pub dealt: Option<Dealt>,
    /// Keys `model` of the fullest card's configuration; null if there are fewer units than cards.
    pub share: Option<ShareOfCard>,
    /// Caches of the fullest card; null if there are fewer units than cards.
    pub caches: Option<CacheOfCard>,
    /// Fewest cards that hold the caches this way; null if no number does.
    pub least_cards: Option<u32>,
    /// Bytes between hosts and cards in a decode step; null if there are fewer units than cards.
    pub traffic: Option<Traffic>,
    /// Time of a decode step; null if the way is impossible.
    pub time: Option<StepTime>,
}

/// Units of a card: layers, KV heads, or segments of tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Dealt {
    /// Units of the model.
    pub units: u32,
    /// Units of the fullest card.
    pub most: u32,
    /// Units of the emptiest card.
    pub least: u32,
}

/// Keys of table `model` of a configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ShareOfCard {
    /// Layers.
    pub layers: u32,
    /// Query heads of a layer.
    pub heads: u32,
    /// KV heads of a layer.
    pub kv_heads: u32,
    /// Elements of a head.
    pub head_dim: u32,
    /// Tokens of a stream.
    pub max_tokens: u32,
    /// Streams.
    pub max_streams: u32,
    /// Tokens that attention looks back; null for all.
    pub sliding_window: Option<u32>,
}

/// Caches in the memory of a card.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CacheOfCard {
    /// Bytes of all homes.
    pub cache_bytes: u64,
    /// Bytes in the fullest part of its memory.
    pub needed_bytes: u64,
    /// Bytes that this part has.
    pub room_bytes: u64,
    /// Memory port that this part belongs to; null where all ports reach all memory.
    pub port: Option<u32>,
    /// True if the needed bytes are there.
    pub fits: bool,
}

impl ShareOfCard {
    fn of(config: &Config) -> ShareOfCard {
        let model = &config.model;
        ShareOfCard {
            layers: model.layers,
            heads: model.heads,
            kv_heads: model.kv_heads,
            head_dim: model_dim(config),
            max_tokens: model.max_tokens,
            max_streams: model.max_streams,
            sliding_window: model.sliding_window,
        }
    }
}

impl CacheOfCard {
    fn of(caches: &Caches) -> CacheOfCard {
        CacheOfCard {
            cache_bytes: caches.bytes as u64,
            needed_bytes: caches.fullest.needed as u64,
            room_bytes: caches.fullest.there as u64,
            port: caches.fullest.port,
            fits: caches.fit(),
        }
    }
}

/// Plans a load on cards that each have the fabric of `design`.
pub fn plan_cards(design: &Design, load: &Load) -> CardsPlan {
    let mut whole = design.configuration().clone();
    (whole.model.max_tokens, whole.model.max_streams) = (load.tokens, load.batch);
    whole.model.layers = load.layers.unwrap_or(whole.model.layers);
    let ways: Vec<_> = Way::ALL.into_iter().map(|way| plan_way(way, design, &whole, load)).collect();
    CardsPlan {
        cards: load.cards,
        model: ShareOfCard::of(&whole),
        cache_bytes: caches(&whole).bytes as u64,
        link_gbs: load.link_gbs,
        memory_gbs: whole.memory.bandwidth_gbs,
        best: best(&ways),
        ways,
    }
}

/// The way of the least traffic among those that are about as fast as the fastest.
fn best(ways: &[WayPlan]) -> Option<Way> {
    let us = |way: &WayPlan| way.time.map(|time| time.expected_us);
    let least = ways.iter().filter_map(us).min_by(f64::total_cmp)?;
    let fast = ways.iter().filter(|way| us(way).is_some_and(|us| us <= least * (1.0 + AS_FAST)));
    let bytes = |way: &&WayPlan| way.traffic.map_or(u64::MAX, |traffic| traffic.total_bytes());
    fast.min_by_key(bytes).map(|way| way.way)
}

/// The caches of a configuration whose mesh is that of a design.
fn caches(config: &Config) -> Caches {
    Caches::of(config).expect("a design has its hub in the mesh")
}

fn plan_way(way: Way, design: &Design, whole: &Config, load: &Load) -> WayPlan {
    let (units, cards) = (way.of(whole), load.cards);
    let least_cards = least_cards(way, whole);
    let mut plan = WayPlan {
        way,
        refused: None,
        dealt: None,
        share: None,
        caches: None,
        least_cards,
        traffic: None,
        time: None,
    };
    if cards > units {
        plan.refused = Some(too_many(way, cards, units, least_cards.is_some()));
        return plan;
    }
    let config = of_card(way, whole, cards);
    let held = caches(&config);
    plan.dealt = Some(Dealt { units, most: units.div_ceil(cards), least: units / cards });
    plan.share = Some(ShareOfCard::of(&config));
    plan.caches = Some(CacheOfCard::of(&held));
    plan.traffic = Some(Traffic::new(way, whole, &config, cards));
    let time = if held.fit() {
        of_the_card(&design.name, &config).and_then(|card| {
            let time = StepTime::new(way, (whole, &card), cards, load.link_gbs);
            time.map_err(|why| why.to_string())
        })
    } else {
        Err(too_large(way, least_cards))
    };
    match time {
        Ok(time) => plan.time = Some(time),
        Err(why) => plan.refused = Some(why),
    }
    plan
}

/// The design of a card.
fn of_the_card(name: &str, config: &Config) -> Result<Design, String> {
    let found = check_for_the_card(name, config).into_iter().filter(|f| f.severity == Severity::Error);
    let found: Vec<_> = found.map(|f| format!("{}; {}", f.sentence(false), f.help_text())).collect();
    if found.is_empty() {
        Design::from_config(name, config).map_err(|illegal| illegal.to_string())
    } else {
        Err(found.join("\n"))
    }
}

/// The fewest cards that hold the caches this way. More cards never have more each.
fn least_cards(way: Way, whole: &Config) -> Option<u32> {
    let fits = |cards: u32| caches(&of_card(way, whole, cards)).fit();
    let (mut too_few, mut enough) = (0, way.of(whole));
    if !fits(enough) {
        return None;
    }
    while enough - too_few > 1 {
        let middle = too_few + (enough - too_few) / 2;
        *(if fits(middle) { &mut enough } else { &mut too_few }) = middle;
    }
    Some(enough)
}

/// The refusal of more cards than units.
fn too_many(way: Way, cards: u32, units: u32, fits: bool) -> String {
    let (what, other) = match way {
        Way::Layers => ("a layer", "spread by tokens"),
        Way::Heads => ("the cache of a KV head", "spread by tokens"),
        Way::Tokens => ("a segment", "a smaller kv.segment_tokens"),
    };
    let fewer = if fits { format!("--cards {units}, or ") } else { String::new() };
    let names = way.units();
    format!("{cards} cards are more than the {units} {names} of the model, and {what} is not divided; try {fewer}{other}")
}

/// The refusal of caches that a card cannot hold.
fn too_large(way: Way, least_cards: Option<u32>) -> String {
    let help = match least_cards {
        Some(cards) => format!("try --cards {cards}"),
        None => {
            format!("they do not fit one with the fewest {} either: try fewer tokens or streams", way.units())
        }
    };
    format!("the caches of the fullest card do not fit its memory; {help}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOAD: Load =
        Load { cards: 2, tokens: 32_768, batch: 1, layers: None, link_gbs: super::super::PCIE_GEN3_X16_GBS };

    fn design(change: impl Fn(&mut Config)) -> Design {
        let mut config = Config::default();
        (config.mesh.cols, config.mesh.rows, config.takv.column_stride) = (4, 8, 1);
        change(&mut config);
        Design::from_config("card", &config).unwrap()
    }

    fn of(plan: &CardsPlan, way: Way) -> &WayPlan {
        plan.ways.iter().find(|found| found.way == way).unwrap()
    }

    #[test]
    fn the_fewest_cards_hold_the_caches_and_one_less_does_not() {
        for (batch, tokens) in [(1, 32_768), (3, 30_000), (8, 100_000)] {
            for port in [0, 128] {
                let design = design(|c| c.takv.swap_epoch = Some(port));
                let fits = |way, cards| {
                    let plan = plan_cards(&design, &Load { cards, tokens, batch, ..LOAD });
                    of(&plan, way).caches.unwrap().fits
                };
                for way in Way::ALL {
                    let plan = plan_cards(&design, &Load { tokens, batch, ..LOAD });
                    let Some(least) = of(&plan, way).least_cards else {
                        let units = of(&plan, way).dealt.unwrap().units;
                        assert!(!fits(way, units), "{way:?}");
                        continue;
                    };
                    assert!(fits(way, least) && !fits(way, least - 1), "{way:?}: {least}");
                }
            }
        }
    }

    #[test]
    fn a_single_stream_is_spread_by_heads_and_by_tokens_if_heads_are_too_few() {
        let best = |cards, batch, kv_heads| {
            let plan = plan_cards(&design(|c| c.model.kv_heads = kv_heads), &Load { cards, batch, ..LOAD });
            (plan.best, plan)
        };
        let (way, plan) = best(2, 1, 32);
        assert_eq!(way, Some(Way::Heads));
        // By layers a token of one stream takes twice as long.
        let us = |way| of(&plan, way).time.unwrap().step_us;
        let twice = us(Way::Layers) / (2.0 * us(Way::Heads));
        assert!((twice - 1.0).abs() < 1e-4, "{twice}");
        let (way, plan) = best(16, 1, 8);
        assert_eq!(way, Some(Way::Tokens));
        let refused = of(&plan, Way::Heads).refused.as_deref().unwrap();
        assert!(refused.starts_with("16 cards are more than the 8 KV heads of the model"), "{refused}");
        assert!(refused.ends_with("try --cards 8, or spread by tokens"), "{refused}");
        assert_eq!(of(&plan, Way::Heads).traffic, None);
    }

    #[test]
    fn of_ways_that_take_as_long_the_one_with_less_traffic_is_best() {
        let plan = plan_cards(&design(|_| {}), &Load { tokens: 8192, batch: 2, ..LOAD });
        let way = |way| WayPlan { way, ..of(&plan, Way::Heads).clone() };
        let with = |name, factor: f64, bytes| {
            let mut found = way(name);
            found.time.as_mut().unwrap().expected_us *= factor;
            found.traffic.as_mut().unwrap().kv_bytes += bytes;
            found
        };
        let chosen = |layers, tokens| best(&[with(Way::Layers, layers, 0), with(Way::Tokens, tokens, 9)]);
        assert_eq!(chosen(1.01, 1.0), Some(Way::Layers));
        assert_eq!(chosen(1.03, 1.0), Some(Way::Tokens));
        assert_eq!(best(&[WayPlan { time: None, ..way(Way::Heads) }]), None);
    }

    #[test]
    fn layers_of_the_model_may_be_more_than_those_of_a_card() {
        let design = design(|c| c.model.layers = 8);
        let plan = plan_cards(&design, &Load { layers: Some(32), ..LOAD });
        assert_eq!((plan.model.layers, plan.cache_bytes), (32, 16 << 30));
        assert_eq!(of(&plan, Way::Layers).share.unwrap().layers, 16);
    }

    #[test]
    fn a_share_that_no_card_is_built_for_is_refused_by_the_rule_that_it_breaks() {
        let small = design(|c| (c.model.layers, c.model.kv_heads) = (1, 4));
        let plan = plan_cards(&small, &Load { cards: 1, tokens: 64, batch: 256, ..LOAD });
        for way in Way::ALL {
            let found = of(&plan, way);
            let refused = found.refused.as_deref().unwrap_or_default();
            assert_eq!(found.caches.map(|caches| caches.fits), Some(true));
            assert!(refused.contains("model.max_streams is 256, which makes"), "{way:?}: {refused}");
            assert!(refused.contains("try max_streams = ") && found.time.is_none(), "{way:?}: {refused}");
        }
        assert_eq!(plan.best, None);
    }
}
