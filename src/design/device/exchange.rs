//! Bytes that a host and the card exchange for one token, by layer and stream.

use crate::config::Config;
use crate::design::design::Design;

/// Bytes of an FP16 number of a query, a new token or an output.
const FP16: u64 = 2;
/// Bytes of a number of a partial result: FP32, or m as an integer.
const NUMBER: u64 = 4;

/// Bytes of one token of a stream in a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exchange {
    /// Queries of all heads, FP16. Outputs take as many.
    pub query_bytes: u64,
    /// K and V of all KV heads.
    pub token_bytes: u64,
    /// Partial results of all heads: m, l, and o before normalisation, 32 bits each.
    pub partial_bytes: u64,
}

impl Exchange {
    /// The bytes under a configuration, whether or not one card can hold its load.
    pub fn of(config: &Config) -> Exchange {
        let head_dim = u64::from(config.pe.head_dim);
        let (heads, kv_heads) = (u64::from(config.model.heads), u64::from(config.model.kv_heads));
        Exchange {
            query_bytes: heads * head_dim * FP16,
            token_bytes: 2 * kv_heads * head_dim * FP16,
            partial_bytes: heads * (head_dim + 2) * NUMBER,
        }
    }
}

impl Design {
    /// Bytes of one token of a stream in a layer.
    pub fn exchange(&self) -> Exchange {
        Exchange::of(&self.config)
    }
}

#[cfg(test)]
mod tests {
    use crate::design::device::exchange::*;

    #[test]
    fn a_group_of_query_heads_shares_the_rows_of_a_token() {
        let mut config = Config::default();
        (config.model.heads, config.model.kv_heads) = (32, 8);
        let exchange = Exchange::of(&config);
        assert_eq!((exchange.query_bytes, exchange.token_bytes), (32 * 256, 2 * 8 * 256));
        assert_eq!(exchange.partial_bytes, 32 * (128 + 2) * 4);
    }
}
