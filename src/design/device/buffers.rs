//! Layout of the buffers: queries and new tokens in the one, outputs in FP16, o of partial results, and their l and m
//! in the other.
//!
//! Each part has a place for every stream and head, so a run may have outputs and partial results.

use crate::design::design::Design;
use crate::design::device::registers::{BUFFER_ALIGN, RECORD_BYTES};

/// Bytes of the scales of a head, of its sink, and of the factors of a KV head.
const SCALE_BYTES: u32 = 8;

impl Design {
    /// Byte in the buffer of queries where scales begin, a word of 64 bits a head: that of its logits
    /// ([`Scale::word`](crate::model::Scale::word)), then that of its output, FP32.
    pub fn scales_at(&self) -> u32 {
        self.parts(2)
    }

    /// Byte in the buffer of queries where sinks begin, a word of 64 bits a head ([`Sink::word`](crate::model::datapath::Sink::word)),
    /// where the design has some: in the beat behind that with the last scale.
    pub fn sinks_at(&self) -> u32 {
        self.scales_at() + (self.model.heads * SCALE_BYTES).next_multiple_of(self.flit.data_width / 8)
    }

    /// True if the device makes the FP16 of new tokens elements of its cache.
    pub fn quantises(&self) -> bool {
        self.append.is_some() && self.pe.format.bytes() == 1
    }

    /// True if it does so by factors that a host gives, and not by scales of each token, which it finds.
    pub fn takes_factors(&self) -> bool {
        self.quantises() && !self.pe.has_token_scales()
    }

    /// Byte in the buffer of queries where the inverse factors of new tokens begin, a word of 64 bits a KV head: FP32, that of
    /// its keys, then that of its values.
    pub fn factors_at(&self) -> u32 {
        let words = self.model.heads * SCALE_BYTES;
        let scales = match (self.pe.is_scaled(), self.has_sinks()) {
            (false, _) => 0,
            (true, false) => words,
            (true, true) => self.sinks_at() - self.scales_at() + words,
        };
        self.scales_at() + scales.next_multiple_of(BUFFER_ALIGN)
    }

    /// Byte in the buffer of queries where new tokens begin: K, then V of each KV head, stream by stream, FP16.
    pub fn tokens_at(&self) -> u32 {
        let factors = if self.takes_factors() { self.model.kv_heads * SCALE_BYTES } else { 0 };
        self.factors_at() + factors.next_multiple_of(BUFFER_ALIGN)
    }

    /// Bytes of the buffer of queries with new tokens of so many streams.
    pub fn query_bytes(&self, streams: u32) -> u32 {
        let model = &self.model;
        self.tokens_at() + streams * model.kv_heads * self.pe.head_dim * 4
    }

    /// Byte in the buffer of outputs where o of partial results begins: `head_dim` FP32, in the order of outputs.
    pub fn partial_sums_at(&self) -> u32 {
        self.parts(2)
    }

    /// Byte in the buffer of outputs where l and m of partial results begin, FP32 each: the first words of a flit,
    /// in the order of outputs.
    pub fn partial_states_at(&self) -> u32 {
        self.partial_sums_at() + self.parts(4)
    }

    /// Bytes of the buffer of outputs of so many streams; with partial results it has places for all streams.
    pub fn output_bytes(&self, streams: u32, partials: bool) -> u32 {
        let (heads, most) = (self.model.heads, self.model.max_streams);
        match partials {
            true => self.partial_states_at() + most * heads * (self.flit.data_width / 8),
            false => streams * heads * self.pe.head_dim * 2,
        }
    }

    /// Byte in the buffer of outputs where the record of a run lies, behind all outputs and partial results.
    pub fn record_at(&self) -> u32 {
        self.output_bytes(self.model.max_streams, true).next_multiple_of(BUFFER_ALIGN)
    }

    /// Bytes of the buffer of outputs with the record, in whole flits.
    pub fn outputs_and_record_bytes(&self) -> u32 {
        self.record_at() + RECORD_BYTES.next_multiple_of(self.flit.data_width / 8)
    }

    /// Bytes of as many numbers of `bytes` as all outputs have, in whole pages: no burst crosses 4 KiB.
    fn parts(&self, bytes: u32) -> u32 {
        let model = &self.model;
        (model.max_streams * model.heads * self.pe.head_dim * bytes).next_multiple_of(BUFFER_ALIGN)
    }
}

#[cfg(test)]
mod tests {
    use crate::config::Config;
    use crate::design::Design;

    #[test]
    fn parts_of_the_buffer_follow_one_another_in_whole_pages() {
        let mut config = Config::default();
        (config.model.heads, config.model.kv_heads, config.model.max_streams) = (12, 12, 3);
        let design = Design::from_config("odd", &config).unwrap();
        let numbers = 3 * 12 * config.pe.head_dim;
        let (sums, states) = (design.partial_sums_at(), design.partial_states_at());
        assert!(sums >= 2 * numbers && states >= sums + 4 * numbers);
        assert_eq!((sums % 4096, states % 4096), (0, 0));
        assert_eq!(design.output_bytes(3, true), states + 3 * 12 * design.flit.data_width / 8);
        assert_eq!(design.output_bytes(2, false), 2 * 12 * config.pe.head_dim * 2);
    }
}
