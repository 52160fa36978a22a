//! The flit: the position of every header field of every class.
//!
//! It is computed once from the configuration. RTL, traffic, scoreboard, model and the emitted documentation
//! all read this one description. A flit travels as three bundles of wires:
//!
//! * `data`: `flit_width` payload bits;
//! * `head`: the fields of the flit's class, each class laid out from bit 0;
//! * `dest`: where it goes. With multicast a set, one bit a tile (bit `y * cols + x`); without, the
//!   coordinates `{y, x}`. Between the routers of a column only the column's own part travels:
//!   one bit a row, or `y`.
//!
//! The virtual channel of a flit determines its class, so a flit carries no class field.

use crate::config::{named, Config};
use crate::design::mare::slice::{flit_elements, slice_flits};
use crate::design::network::mesh::{Mesh, NodeId};
use crate::design::takv::mapping::Heads;
use crate::design::takv::placement::Placement;
use serde::Serialize;

/// Bits of the generation in a tag, which distinguishes requests of one slice.
const GENERATION_BITS: u32 = 2;

named! {
    // Named as in the paper, in the order of their virtual channels.
    /// The class of a flit, determined by its virtual channel.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum Class {
        /// Partial result on its way to the reduce root: VN0, unicast, wormhole packets.
        Part = "PART",
        /// Request for a slice: VN1, unicast, one flit.
        KvFetch = "KV_FETCH",
        /// K or V elements: VN1, multicast, switched flit by flit.
        KvData = "KV_DATA",
    }
}

/// One header field of one class.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Field {
    /// Field name as in the Verilog and the documentation.
    pub name: &'static str,
    /// Lowest bit inside `head`.
    pub offset: u32,
    /// Bits.
    pub width: u32,
    /// Its meaning.
    pub doc: &'static str,
}

/// Encoding of a destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DestKind {
    /// One bit a tile.
    Set,
    /// `{y, x}`.
    Coord,
}

/// Widths and positions of everything a flit carries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FlitLayout {
    /// Payload bits.
    pub data_width: u32,
    /// Beside each payload travels a bit that makes the number of ones even.
    #[serde(skip)]
    pub parity: bool,
    /// Elements of K or V in a payload (E), equal to the tokens of a block of V.
    #[serde(skip)]
    pub elements: u32,
    /// Header bits: those of the widest class.
    pub head_width: u32,
    /// Encoding of destinations.
    pub dest_kind: DestKind,
    /// Destination bits on row links and local ports.
    pub dest_width: u32,
    /// Destination bits on column links.
    pub column_dest_width: u32,
    /// Fields of PART. `last` is bit 0, which the routers read to hold a packet together.
    pub part: Vec<Field>,
    /// Fields of KV_FETCH: first the tag.
    pub kv_fetch: Vec<Field>,
    /// Fields of KV_DATA. `several` is bit 0, which the routers read to weigh their turns.
    pub kv_data: Vec<Field>,
}

/// Bits that distinguish `n` values; at least one, so that every field has a wire.
pub fn index_bits(n: u32) -> u32 {
    n.saturating_sub(1).checked_ilog2().map_or(1, |b| b + 1)
}

fn pack(fields: &[(&'static str, u32, &'static str)]) -> Vec<Field> {
    let mut offset = 0;
    fields
        .iter()
        .map(|&(name, width, doc)| {
            let field = Field { name, offset, width, doc };
            offset += width;
            field
        })
        .collect()
}

fn width(fields: &[Field]) -> u32 {
    fields.iter().map(|f| f.width).sum()
}

impl FlitLayout {
    /// Lays out the flit of a configuration on `mesh`; `multicast` selects the encoding of destinations.
    pub(in crate::design) fn new(config: &Config, mesh: Mesh, multicast: bool) -> FlitLayout {
        let model = &config.model;
        let x = ("x", index_bits(mesh.cols()), "column of the sender, from the west");
        let y = ("y", index_bits(mesh.rows()), "row of the sender, from the south");
        let stream = index_bits(model.max_streams);
        let layer = index_bits(model.layers);
        let slice_flits = slice_flits(config);
        let head_mask = (
            "head_mask",
            Heads::new(config).most(),
            "heads of the requester that wait for it, one bit a head of its column",
        );
        let places = Placement::new(config, mesh).map_or(1, |placement| placement.places);
        let place = index_bits(places);
        let (layer_field, slice) =
            (("layer", layer, "layer l"), ("slice", index_bits(model.kv_heads), "KV head g"));
        let generation =
            ("generation", GENERATION_BITS, "request of the same slice, counted modulo its range");
        let tag = match config.kv.pages {
            false => vec![
                ("stream", stream, "stream or shared prefix"),
                layer_field,
                ("segment", place, "segment s of the layer"),
                slice,
                generation,
            ],
            true => {
                vec![
                    layer_field,
                    ("page", place, "page that holds a segment of the layer"),
                    slice,
                    generation,
                ]
            }
        };

        let part = pack(&[
            ("last", 1, "last flit of its packet"),
            ("first", 1, "first flit of its packet"),
            ("others", y.1, "partial results of its head besides this one"),
            ("stream", stream, "stream"),
            ("layer", layer, "layer l"),
            ("head", index_bits(Heads::new(config).most()), "query head, by its place in the column"),
            x,
            y,
        ]);
        let kv_fetch = pack(&[&tag[..], &[head_mask, x, y]].concat());
        let index = ("flit_index", index_bits(slice_flits), "position in the slice: K rows, then V rows");
        let several = ("several", 1, "more than one destination");
        let kv_data = pack(&[&[several], &tag[..], &[index, head_mask]].concat());

        let (dest_kind, dest_width, column_dest_width) = if multicast {
            (DestKind::Set, mesh.tiles() as u32, mesh.rows())
        } else {
            let (x, y) = (index_bits(mesh.cols()), index_bits(mesh.rows()));
            (DestKind::Coord, x + y, y)
        };
        FlitLayout {
            data_width: config.noc.flit_width,
            parity: config.noc.parity,
            elements: flit_elements(config),
            head_width: [&part, &kv_fetch, &kv_data].map(|f| width(f)).into_iter().max().unwrap_or(1),
            dest_kind,
            dest_width,
            column_dest_width,
            part,
            kv_fetch,
            kv_data,
        }
    }

    /// Fields of one class.
    pub fn fields(&self, class: Class) -> &[Field] {
        match class {
            Class::Part => &self.part,
            Class::KvFetch => &self.kv_fetch,
            Class::KvData => &self.kv_data,
        }
    }

    /// Width of one field of a class in bits; 0 if the class has none of that name.
    fn field_width(fields: &[Field], name: &str) -> u32 {
        fields.iter().find(|f| f.name == name).map_or(0, |f| f.width)
    }

    /// Fields of a tag, from bit 0 on: stream, layer, segment and slice; with pages: layer, page and slice.
    pub fn tag_fields(&self) -> &[Field] {
        let end = self.kv_fetch.iter().position(|field| field.name == "generation");
        &self.kv_fetch[..end.expect("a fetch names a generation")]
    }

    /// The tag of a slice, without generation: of a cache, layer, place and KV head, as the placement names them.
    pub fn tag(&self, (cache, layer, place, slice): (u32, u32, u32, u32)) -> u64 {
        let value = |field: &Field| match field.name {
            "stream" => cache,
            "layer" => layer,
            "slice" => slice,
            _ => place,
        };
        self.tag_fields().iter().fold(0, |tag, field| tag | u64::from(value(field)) << field.offset)
    }

    /// Cache, layer, place and KV head of a tag; the cache is 0 where a tag names none.
    pub fn of_tag(&self, tag: u64) -> (u32, u32, u32, u32) {
        let mut all = (0, 0, 0, 0);
        for field in self.tag_fields() {
            let value = (tag >> field.offset) as u32 & ((1 << field.width) - 1);
            match field.name {
                "stream" => all.0 = value,
                "layer" => all.1 = value,
                "slice" => all.3 = value,
                _ => all.2 = value,
            }
        }
        all
    }

    /// Bits of a tag, without a generation.
    pub fn tag_width(&self) -> u32 {
        self.key_width() - GENERATION_BITS
    }

    /// Bits of a tag with its generation.
    pub fn key_width(&self) -> u32 {
        self.kv_fetch.iter().find(|f| f.name == "head_mask").map_or(0, |f| f.offset)
    }

    /// Bits of a flit's position in its slice.
    pub fn index_width(&self) -> u32 {
        Self::field_width(&self.kv_data, "flit_index")
    }

    /// Bits of a head mask.
    pub fn mask_width(&self) -> u32 {
        Self::field_width(&self.kv_data, "head_mask")
    }

    /// Bits of a payload as flits carry it: with its parity, the top bit, if they have one.
    pub fn carried_width(&self) -> u32 {
        self.data_width + u32::from(self.parity)
    }

    /// Bits of a link beside payload, header and destination: the parity of these, and of the valid bits.
    pub fn link_parity(&self) -> u32 {
        if self.parity {
            2
        } else {
            0
        }
    }

    /// Bits of a flit on a row link, without valid and credit.
    pub fn width(&self) -> u32 {
        self.carried_width() + self.head_width + self.dest_width
    }

    /// The `dest` bits for a set of tiles, little-endian 32-bit words as Verilator keeps them.
    /// Coordinates can name one tile only: the first is taken.
    pub fn dest_words(&self, mesh: Mesh, tiles: &[NodeId]) -> Vec<u32> {
        let mut words = vec![0; self.dest_width.div_ceil(32) as usize];
        match self.dest_kind {
            DestKind::Set => {
                for t in tiles {
                    words[t.index() / 32] |= 1 << (t.index() % 32);
                }
            }
            DestKind::Coord => {
                if let Some(&t) = tiles.first() {
                    let (x, y) = mesh.coords(t);
                    words[0] = y << index_bits(mesh.cols()) | x;
                }
            }
        }
        words
    }
}

#[cfg(test)]
mod tests {
    use crate::design::network::flit::*;

    #[test]
    fn index_bits_tells_every_value_apart() {
        for (n, bits) in [(1, 1), (2, 1), (3, 2), (4, 2), (5, 3), (256, 8), (257, 9)] {
            assert_eq!(index_bits(n), bits, "{n}");
        }
    }

    #[test]
    fn fields_of_a_class_touch_without_overlap() {
        let config = Config::default();
        let layout = FlitLayout::new(&config, Mesh::new(8, 8), true);
        for class in Class::ALL {
            let mut next = 0;
            for field in layout.fields(class) {
                assert_eq!(field.offset, next);
                next += field.width;
            }
            assert!(next <= layout.head_width);
        }
    }
}
