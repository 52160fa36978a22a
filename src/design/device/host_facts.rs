//! Facts of a design on which the bytes of a host depend: where keys, values, queries and outputs lie, and which tokens
//! a descriptor names.
//!
//! Every part that depends on a fact takes it from this one list. The headers of the host print it, and its digest is
//! the register `LAYOUT`. A fact that is added here reaches all of them, and a host that was built without it is refused.

use crate::design::design::Design;
use crate::design::device::registers::{BUFFER_ALIGN, LIST_SLOT_BYTES, LIST_WORDS};
use crate::design::pad::array::Array;
use crate::design::pad::layer_kind::LayerKind;
use crate::design::pad::model::Model;
use crate::design::takv::pages::Pages;
use crate::design::takv::placement::PlacementKind;
use sha2::{Digest, Sha256};

/// A fact: a macro `MESHKV_<name>` of a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostFact {
    /// Upper-case name.
    pub name: &'static str,
    /// Its value.
    pub value: u64,
    /// Its meaning.
    pub doc: &'static str,
}

fn fact(name: &'static str, value: impl Into<u64>, doc: &'static str) -> HostFact {
    HostFact { name, value: value.into(), doc }
}

impl Design {
    /// Shape of model and fabric: `sw/meshkv_shape.h`.
    pub fn shape_facts(&self) -> Vec<HostFact> {
        let placement = &self.placement;
        // Every key of the model is named here: one that is added does not compile until it has its fact.
        let Model {
            layers,
            heads,
            kv_heads,
            head_dim,
            sliding_window: _,
            sinks: _,
            alike: _,
            max_tokens,
            max_streams,
        } = self.model;
        let (memory, fpga) = (&self.memory, self.fpga());
        let (hub_x, hub_y) = self.mesh.coords(placement.hub);
        let kind: u32 = match placement.kind {
            _ if placement.by_slice() => 3,
            PlacementKind::Takv => 0,
            PlacementKind::RoundRobin => 1,
            PlacementKind::Hub => 2,
        };
        let mut all = vec![
            fact("COLS", self.mesh.cols(), "Tiles from west to east"),
            fact("ROWS", self.mesh.rows(), "Tiles from south to north"),
            fact("PORTS", memory.ports, "Ports to external memory"),
            fact("TILES_PER_PORT", memory.tiles_per_port, "Tiles of a row that share a port"),
            fact("PLACEMENT", kind, "Rule by which slices have their homes"),
            fact("HUB_X", hub_x, "Column of the home under the rule of a hub"),
            fact("HUB_Y", hub_y, "Its row"),
            fact(
                "ROW_REGIONS",
                memory.row_ports * memory.tiles_per_port,
                "Regions of memory of a row of tiles: whole ports",
            ),
            fact("REGION_WIDTH", memory.region_width, "Bits of a byte of a home's region"),
            fact("CHANNELS", fpga.hbm_channels, "Pseudo-channels of HBM of the card"),
            fact("CHANNEL_BYTES", fpga.hbm_channel_bytes, "Bytes of a pseudo-channel"),
            fact("ROW_STRIDE", placement.a, "Rows from the start of a layer to the start of the next"),
            fact(
                "COLUMN_STRIDE",
                placement.column_stride,
                "Columns by which a layer advances after all rows",
            ),
            fact("BLOCKS_OF_HOME", placement.blocks_of_home(), "Segments a stream for which a home has room"),
            fact(
                "BLOCK_SLICES",
                placement.block_slices(),
                "Slices of each of them: KV heads of all columns, or of one",
            ),
            fact("LAYERS", layers, "Layers"),
            fact("QUERY_HEADS", heads, "Query heads"),
            fact("KV_HEADS", kv_heads, "KV heads"),
            fact("HEAD_DIM", head_dim, "Elements of a head of the model"),
            fact(
                "ROW_ELEMENTS",
                self.pe.head_dim,
                "Elements of a head in memory: those behind HEAD_DIM are 0",
            ),
        ];
        all.extend(self.format_facts());
        all.extend([
            fact(
                "WINDOW",
                self.longest_window().unwrap_or(0),
                "Tokens that the layer that sees most looks back; 0: all",
            ),
            fact("MAX_STREAMS", max_streams, "Streams at once"),
            fact("MAX_SEGMENTS", placement.segments, "Segments of a layer at the longest context"),
            fact("MAX_TOKENS", max_tokens, "Tokens of the longest context"),
            fact("SEGMENT_TOKENS", placement.segment_tokens, "Tokens of a segment"),
        ]);
        all.extend(self.slice_facts());
        all
    }

    /// Format of the elements, and the widths of what meets them.
    fn format_facts(&self) -> Vec<HostFact> {
        vec![
            fact(
                "ELEMENT_BYTES",
                self.flit.data_width / 8 / self.flit.elements,
                "Bytes of an element in memory",
            ),
            fact("FORMAT", self.pe.format as u32, "Format of the elements, as MESHKV_FORMAT_ names them"),
            fact("SCALED", u32::from(self.pe.is_scaled()), "1: a host gives scales of logits and outputs"),
            fact(
                "NARROW",
                if Array::of(self).is_packed() { self.pe.narrow as u32 } else { 0 },
                "Numbers of 9 bits instead of 18 at first: 1 those of queries, 2 those of weights, 3 both",
            ),
            fact(
                "SCALE_RISE",
                self.pe.most_rise(),
                "Powers of two above a half that a scale of logits can have",
            ),
            fact("PACKED", u32::from(Array::of(self).is_packed()), "1: a host may choose these widths"),
        ]
    }

    /// Layout of a slice.
    fn slice_facts(&self) -> Vec<HostFact> {
        let pages = self.pages.as_ref();
        let of = |value: fn(&Pages) -> u32| pages.map_or(0, value);
        vec![
            fact("FLIT_BYTES", self.flit.data_width / 8, "Bytes of a flit"),
            fact("HALF_FLITS", self.mare.half_flits, "Flits of the keys of a slice, and of its values"),
            fact("SLICE_BYTES", self.memory.slice_bytes, "Bytes of a slice"),
            fact(
                "TOKEN_SCALES",
                u32::from(self.pe.has_token_scales()),
                "1: a slice begins with the scales of its tokens",
            ),
            fact("KEY_BASE", self.mare.key_base, "First flit of the keys of a slice"),
            fact(
                "PAGES",
                of(|pages| pages.count),
                "Pages of external memory; 0: each cache has its own place",
            ),
            fact(
                "PAGE_ROUND",
                if pages.is_some() { self.placement.round() } else { 0 },
                "Pages after which the homes of a layer repeat",
            ),
            fact("CACHES", of(|pages| pages.caches), "Caches that the table of pages has room for"),
            fact(
                "PAGE_SEGMENT_SHIFT",
                of(Pages::page_width),
                "Bit of the register PAGE at which the segment begins",
            ),
            fact(
                "PAGE_CACHE_SHIFT",
                of(|pages| pages.page_width() + pages.segment_width()),
                "Bit of the register PAGE at which the cache begins",
            ),
            fact("SINKS", u32::from(self.has_sinks()), "1: heads of some layers have sinks"),
        ]
    }

    /// What each layer attends to, by name: a number a layer, and its meaning.
    pub fn layer_facts(&self) -> [(&'static str, Vec<u32>, &'static str); 2] {
        let of = |number: &dyn Fn(LayerKind) -> u32| {
            (0..self.model.layers).map(|layer| number(self.layer_kind(layer))).collect()
        };
        [
            (
                "LAYER_WINDOWS",
                of(&|kind| kind.window.unwrap_or(0)),
                "Tokens that attention looks back, by layer; 0: all",
            ),
            ("LAYER_SINKS", of(&|kind| kind.sinks.into()), "1: heads of the layer have sinks"),
        ]
    }

    /// Layout of the buffers and of a list: `sw/meshkv_registers.h`.
    pub fn buffer_facts(&self) -> Vec<HostFact> {
        let all = self.model.max_streams;
        vec![
            fact(
                "PARTIAL_SUMS",
                self.partial_sums_at(),
                "Byte of the outputs at which o of partial results begins",
            ),
            fact(
                "PARTIAL_STATES",
                self.partial_states_at(),
                "Byte of the outputs at which their l and m begin",
            ),
            fact(
                "PARTIAL_STATE_STRIDE",
                self.flit.data_width / 8,
                "Bytes from l and m of a head to those of the next",
            ),
            fact(
                "PARTIAL_BYTES",
                self.output_bytes(all, true),
                "Bytes of outputs and partial results of all streams",
            ),
            fact("RECORD_AT", self.record_at(), "Byte of the outputs at which the record of a run lies"),
            fact(
                "OUTPUT_BYTES",
                self.outputs_and_record_bytes(),
                "Bytes of the buffer of outputs with partial results and record",
            ),
            fact("LIST_SLOT_BYTES", LIST_SLOT_BYTES, "Bytes of a slot of the list"),
            fact("SCALES_AT", self.scales_at(), "Byte of the queries at which scales begin, 64 bits a head"),
            fact(
                "SINKS_AT",
                if self.has_sinks() { self.sinks_at() } else { 0 },
                "Byte of the queries at which sinks begin, 64 bits a head",
            ),
            fact(
                "QUANTISES",
                u32::from(self.takes_factors()),
                "1: new tokens become elements by factors that a host gives",
            ),
            fact(
                "FACTORS_AT",
                self.factors_at(),
                "Byte of the queries at which inverse factors of new tokens begin",
            ),
            fact("TOKENS_AT", self.tokens_at(), "Byte of the queries at which new tokens begin"),
            fact("TOKEN_BYTES", self.query_bytes(1) - self.tokens_at(), "Bytes of a new token of a cache"),
            fact("APPEND", self.append.is_some(), "1 where a run can write new tokens into the cache"),
            fact("BUFFER_ALIGN", BUFFER_ALIGN, "Alignment of queries, outputs and the list"),
            fact("HBM_ALIGN", self.base_align(), "Alignment of the base address of a memory port"),
            fact("LIST_DESCRIPTOR_BYTES", 4 * LIST_WORDS, "Bytes of a descriptor of the list"),
        ]
    }

    /// Value of the register `LAYOUT`: the first 32 bits of the SHA-256 of all facts, and of the addresses of some places.
    pub fn layout(&self) -> u32 {
        let mut text = String::new();
        // A fact that came later leaves the layouts as they were that do not have what it says.
        const LATER: [&str; 9] = [
            "PAGE_ROUND",
            "TOKEN_SCALES",
            "KEY_BASE",
            "PAGES",
            "CACHES",
            "PAGE_SEGMENT_SHIFT",
            "PAGE_CACHE_SHIFT",
            "SINKS",
            "SINKS_AT",
        ];
        let came_later = |fact: &HostFact| LATER.contains(&fact.name) && fact.value == 0;
        let facts = self.shape_facts().into_iter().chain(self.buffer_facts());
        for HostFact { name, value, .. } in facts.filter(|fact| !came_later(fact)) {
            text += &format!("{name}={value}\n");
        }
        if self.layer_kinds().len() > 1 {
            for (name, values, _) in self.layer_facts() {
                text += &format!("{name}={values:?}\n");
            }
        }
        for place in self.places() {
            text += &format!("{place}\n");
        }
        let hash = Sha256::digest(text.as_bytes());
        u32::from_be_bytes([hash[0], hash[1], hash[2], hash[3]])
    }

    /// Addresses of some slices, and of the elements of some tokens: another release with the same facts may place them by
    /// another rule.
    fn places(&self) -> Vec<u64> {
        let (model, segments) = (&self.model, self.placement.segments);
        let ends = |count: u32| [0, count / 2, count - 1];
        let mut all = Vec::new();
        for stream in ends(model.max_streams) {
            for layer in ends(model.layers) {
                for segment in [0, 1, self.mesh.rows(), segments / 2, segments - 1] {
                    for kv_head in ends(model.kv_heads) {
                        all.push(self.slice_address(stream, layer, segment.min(segments - 1), kv_head));
                    }
                }
            }
        }
        let blank = vec![0; self.token_words()];
        for row in ends(self.placement.segment_tokens) {
            all.extend(self.token_places(0, row, &blank).into_iter().map(|(address, _)| address));
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use crate::config::{tables, Config, LayerGroup};
    use crate::design::device::host_facts::*;

    fn design(change: impl FnOnce(&mut Config)) -> Design {
        let mut config = Config::default();
        change(&mut config);
        Design::from_config("test", &config).unwrap()
    }

    /// A key of the model, and a change of it.
    type Change = (&'static str, fn(&mut Config));

    const KEYS: [Change; 8] = [
        ("layers", |c| c.model.layers = 16),
        ("heads", |c| c.model.heads = 64),
        ("kv_heads", |c| c.model.kv_heads = 8),
        ("head_dim", |c| c.model.head_dim = Some(80)),
        ("sliding_window", |c| c.model.sliding_window = Some(4096)),
        ("groups", |c| {
            c.model.groups =
                Some(vec![LayerGroup::default(), LayerGroup { window: Some(512), ..Default::default() }])
        }),
        ("max_tokens", |c| c.model.max_tokens = 16_384),
        ("max_streams", |c| c.model.max_streams = 4),
    ];

    #[test]
    fn every_key_of_the_model_reaches_the_header_and_the_register() {
        let whole = design(|_| {});
        let tables = tables();
        let model = tables.iter().find(|table| table.name == "model").unwrap();
        let mut names: Vec<_> = model.keys.iter().map(|key| key.name.as_str()).collect();
        let mut changed = KEYS.map(|(name, _)| name);
        names.sort_unstable();
        changed.sort_unstable();
        assert_eq!(names, changed, "a key of the model without a change here");
        for (name, change) in KEYS {
            let other = design(change);
            let told = |design: &Design| (design.shape_facts(), design.layer_facts());
            assert_ne!(told(&other), told(&whole), "{name} reaches no host");
            assert_ne!(other.layout(), whole.layout(), "{name}");
        }
    }

    #[test]
    fn what_moves_no_byte_of_the_host_leaves_the_layout() {
        let whole = design(|_| {});
        for change in [
            |c: &mut Config| c.noc.vc_depth += 2,
            |c: &mut Config| c.clock.noc_mhz = 200.0,
            |c: &mut Config| c.takv.swap_epoch = Some(0),
        ] {
            assert_eq!(design(change).layout(), whole.layout());
        }
        for change in [
            |c: &mut Config| c.takv.column_stride = 1,
            |c: &mut Config| c.kv.append = true,
            |c: &mut Config| c.memory.tiles_per_port = Some(4),
        ] {
            assert_ne!(design(change).layout(), whole.layout());
        }
    }
}
