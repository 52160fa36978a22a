//! Bytes between hosts and cards in a decode step.

use super::share::Way;
use crate::config::Config;
use crate::design::Exchange;
use schemars::JsonSchema;
use serde::Serialize;

/// Bytes of a decode step of all streams and layers. Those of each kind are of all cards together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Traffic {
    /// Bytes of queries to the cards, FP16.
    pub queries_bytes: u64,
    /// Bytes of K and V of the new tokens to the cards, FP16.
    pub kv_bytes: u64,
    /// Bytes of outputs from the cards, FP16.
    pub outputs_bytes: u64,
    /// Bytes of partial results from the cards: m, l and o of a head, 32 bits each.
    pub partials_bytes: u64,
    /// Bytes of activations from the host of a card to that of the next, FP16; nothing passes where
    /// one host drives all cards.
    pub activations_bytes: u64,
    /// Bytes over the link of the busiest card, both directions, activations left out.
    pub card_bytes: u64,
}

impl Traffic {
    /// The traffic of a whole model on so many cards, of which the fullest has `card`.
    pub(super) fn new(way: Way, whole: &Config, card: &Config, cards: u32) -> Traffic {
        let calls = |config: &Config| u64::from(config.model.layers) * u64::from(whole.model.max_streams);
        let n = u64::from(cards);
        let of = |config: &Config| {
            let exchange = Exchange::of(config);
            Traffic {
                queries_bytes: calls(config) * exchange.query_bytes,
                kv_bytes: calls(config) * exchange.token_bytes,
                outputs_bytes: calls(config) * exchange.query_bytes,
                partials_bytes: 0,
                activations_bytes: 0,
                card_bytes: 0,
            }
        };
        let (mut all, mut fullest) = (of(whole), of(card));
        if way == Way::Layers {
            // A layer's input is as wide as its queries.
            all.activations_bytes =
                (n - 1) * u64::from(whole.model.max_streams) * Exchange::of(whole).query_bytes;
        }
        if way == Way::Tokens && cards > 1 {
            // Every card has the queries of all heads; the new token of a stream belongs to one of them.
            all.queries_bytes *= n;
            fullest.partials_bytes = calls(card) * Exchange::of(card).partial_bytes;
            all.partials_bytes = n * fullest.partials_bytes;
            (all.outputs_bytes, fullest.outputs_bytes) = (0, 0);
        }
        Traffic { card_bytes: fullest.total_bytes(), ..all }
    }

    /// Bytes of all kinds.
    pub fn total_bytes(&self) -> u64 {
        self.queries_bytes + self.kv_bytes + self.outputs_bytes + self.partials_bytes + self.activations_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::super::share::of_card;
    use super::*;

    /// 32 layers, 32 heads of 128 on 8 KV heads, 4 streams.
    fn traffic(way: Way, cards: u32) -> Traffic {
        let mut whole = Config::default();
        (whole.model.kv_heads, whole.model.max_streams) = (8, 4);
        Traffic::new(way, &whole, &of_card(way, &whole, cards), cards)
    }

    #[test]
    fn each_way_sends_what_its_cards_need() {
        let (queries, token) = (32 * 4 * 32 * 256, 32 * 4 * 2 * 8 * 256);
        for way in Way::ALL {
            let one = traffic(way, 1);
            assert_eq!((one.queries_bytes, one.kv_bytes, one.outputs_bytes), (queries, token, queries));
            assert_eq!((one.partials_bytes, one.activations_bytes), (0, 0));
            assert_eq!(one.card_bytes, one.total_bytes());
        }
        // 11, 11 and 10 layers.
        let layers = traffic(Way::Layers, 3);
        assert_eq!(layers.activations_bytes, 2 * 4 * 32 * 256);
        assert_eq!(layers.card_bytes * 32, (2 * queries + token) * 11);
        // 3, 3 and 2 KV heads.
        let heads = traffic(Way::Heads, 3);
        assert_eq!((heads.queries_bytes, heads.card_bytes * 8), (queries, (2 * queries + token) * 3));
        let tokens = traffic(Way::Tokens, 3);
        let partials = 32 * 4 * 32 * 130 * 4;
        assert_eq!((tokens.queries_bytes, tokens.kv_bytes), (3 * queries, token));
        assert_eq!((tokens.outputs_bytes, tokens.partials_bytes), (0, 3 * partials));
        assert_eq!(tokens.card_bytes, queries + token + partials);
    }
}
