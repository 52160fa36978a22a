//! Bytes that a host and the card exchange for one token, by layer and stream.

use crate::config::Config;

/// Bytes of an FP16 number of a query or an output.
const FP16: u64 = 2;
/// Bytes of a number of a partial result: FP32, or m as an integer.
const NUMBER: u64 = 4;

/// Bytes of the queries of a stream in a layer, all heads, FP16. Outputs take as many.
pub fn query_bytes(config: &Config) -> u64 {
    u64::from(config.model.heads) * u64::from(config.pe.head_dim) * FP16
}

/// Bytes of K and V of a token in a layer, all KV heads.
pub fn token_bytes(config: &Config) -> u64 {
    let row = u64::from(config.pe.head_dim) * u64::from(config.kv.bytes_per_element);
    2 * u64::from(config.model.kv_heads) * row
}

/// Bytes of the partial results of a stream in a layer, all heads: m, l, and o before normalisation, 32
/// bits each.
pub fn partial_bytes(config: &Config) -> u64 {
    u64::from(config.model.heads) * (u64::from(config.pe.head_dim) + 2) * NUMBER
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_of_query_heads_shares_the_rows_of_a_token() {
        let mut config = Config::default();
        (config.model.heads, config.model.kv_heads) = (32, 8);
        assert_eq!(query_bytes(&config), 32 * 256);
        assert_eq!(token_bytes(&config), 2 * 8 * 256);
        assert_eq!(partial_bytes(&config), 32 * (128 + 2) * 4);
    }
}
