//! Stimulus of the fabric: queries, descriptors, flits of partial results.

use super::state::RandomFabric;

impl RandomFabric {
    /// Offers a group of words of a random query until they are accepted.
    pub(super) fn offer_query(&mut self) {
        if self.get("query_valid", 0) == 1 || self.below(256) >= self.pace.queries {
            return;
        }
        let model = &self.design.model;
        let (streams, heads) = (u64::from(model.max_streams), u64::from(model.heads));
        let key = self.below(1 << 40);
        let groups = u64::from(self.design.pe.head_dim / 4 / self.design.bus.query_group_words);
        let (mut head, mut group) = (key % heads, key % groups);
        if let Some(together) = self.design.bus.scale_heads.filter(|_| self.below(8) == 0) {
            let bus = &self.design.bus;
            let sinks = self.design.has_sinks() && key >> 20 & 1 == 1;
            let number = if sinks { bus.sink_group() } else { bus.scale_group() };
            (head, group) = (head - head % u64::from(together), u64::from(number));
        }
        for (name, value) in [
            ("query_valid", 1),
            ("query_stream", key % streams),
            ("query_head", head),
            ("query_group", group),
        ] {
            self.set(name, 0, value);
        }
        self.set_wide("query_data", 0, key);
    }

    /// A descriptor of random segments for random streams. Layers follow one another, so that no slice is named again
    /// before it was served: a user must not, and the Verilog stops.
    pub(super) fn descriptor(&mut self) -> Vec<(&'static str, u64)> {
        let model = &self.design.model;
        let (layers, streams) = (u64::from(model.layers), u64::from(model.max_streams));
        let tokens = u64::from(self.design.placement.segment_tokens);
        let segments = u64::from(self.design.placement.segments);
        self.made += 1;
        let (stream, stride) = (self.below(streams), 1 + self.below(3));
        let first = self.below(segments);
        let count = 1 + self.below(((segments - 1 - first) / stride).min(self.pace.segments - 1) + 1);
        let rows = [self.below(tokens), self.below(tokens)];
        let (first_row, last_row) =
            if count == 1 { (rows[0].min(rows[1]), rows[0].max(rows[1])) } else { (rows[0], rows[1]) };
        let step = self.made.is_multiple_of(self.pace.step);
        vec![
            ("desc_prefix", self.below(streams)),
            ("desc_layer", self.made % layers),
            ("desc_first", first),
            ("desc_stride", stride),
            ("desc_count", count),
            ("desc_first_row", first_row),
            ("desc_last_row", last_row),
            ("desc_stream", stream),
            ("desc_streams", 1 + self.below(streams - stream)),
            ("desc_mapping", self.below(3)),
            ("desc_share", self.below(2)),
            ("desc_close", u64::from(step || self.below(3) == 0)),
            ("desc_step", u64::from(step)),
        ]
    }

    pub(super) fn offer_descriptor(&mut self) {
        let next = self.descriptors.front().cloned();
        self.set("desc_valid", 0, u64::from(next.is_some()));
        for (name, value) in next.into_iter().flatten() {
            self.set(name, 0, value);
        }
    }

    /// Offers a flit until it is accepted, then the next of its packet.
    pub(super) fn offer_parts(&mut self) {
        if self.pace.parts == 0 {
            return;
        }
        for tile in 0..self.parts.len() {
            if self.get("part_valid", tile) == 1 {
                continue;
            }
            let begins = self.parts[tile] == 0;
            if begins && self.below(256) >= self.pace.parts {
                continue;
            }
            if begins {
                self.parts[tile] = 1 + self.below(4);
            }
            let key = self.below(1 << 40);
            for (name, value) in [
                ("part_valid", 1),
                ("part_first", u64::from(begins)),
                ("part_last", u64::from(self.parts[tile] == 1)),
                ("part_others", key >> 39),
                ("part_stream", key % u64::from(self.design.model.max_streams)),
                ("part_layer", key % u64::from(self.design.model.layers)),
                ("part_head", key % u64::from(self.design.model.heads)),
            ] {
                self.set(name, tile, value);
            }
            self.set_wide("part_data", tile, key);
        }
    }
}
