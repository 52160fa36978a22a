//! Choices of the user, each with its names and its help in one place: for files, command line and results alike.

use clap::builder::PossibleValue;
use clap::ValueEnum;
use schemars::{json_schema, JsonSchema, Schema, SchemaGenerator};
use serde::de::{Deserialize, Deserializer, Error};
use serde::{Serialize, Serializer};
use std::borrow::Cow;

/// Defines an enum whose variants have names: `Variant = "name"`. The comment of a variant is its help.
macro_rules! named {
    (
        $(#[$meta:meta])*
        $visible:vis enum $choice:ident { $($(#[$help:meta])* $variant:ident = $name:literal,)+ }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema, clap::ValueEnum)]
        $visible enum $choice {
            $($(#[$help])* #[serde(rename = $name)] #[value(name = $name)] $variant,)+
        }

        impl $choice {
            /// All of them.
            pub const ALL: [$choice; [$($name),+].len()] = [$($choice::$variant),+];

            /// Name on the command line, in files and in results.
            pub const fn name(self) -> &'static str {
                match self {
                    $($choice::$variant => $name,)+
                }
            }
        }
    };
}

pub(crate) use named;

named! {
    /// Engine that carries the flits.
    pub enum Engine {
        /// The emitted Verilog under Verilator.
        Rtl = "rtl",
        /// The cycle-exact model: no Verilator is needed, and it is faster.
        Model = "model",
    }
}

named! {
    /// Pattern of the traffic.
    pub enum PatternKind {
        /// Every other tile alike.
        Uniform = "uniform",
        /// (x, y) to (y, x).
        Transpose = "transpose",
        /// Tile index with all bits inverted.
        BitComplement = "bit-complement",
        /// Tile index with its bits reversed.
        BitReverse = "bit-reverse",
        /// Tile index with its bits rotated left by one.
        Shuffle = "shuffle",
        /// Nearly half way round in each dimension.
        Tornado = "tornado",
        /// (x + 1, y + 1), wrapping round.
        Neighbour = "neighbour",
        /// Uniform, with a share drawn by --hotspot.
        Hotspot = "hotspot",
        /// Every other tile to the one in the middle.
        AllToOne = "all-to-one",
        /// KV_DATA to --fanout random tiles.
        Multicast = "multicast",
        /// Half PART on VN0; KV_FETCH, and KV_DATA to --fanout tiles, on VN1.
        Mixed = "mixed",
    }
}

named! {
    /// Virtual networks that carry the packets of a unicast pattern.
    // No doc comments: the help of the option has them all in one sentence.
    #[allow(missing_docs)]
    pub enum VirtualNetworks {
        // PART packets on VN0.
        Vn0 = "0",
        // KV_DATA with one destination on VN1. Packets of one flit are KV_FETCH in proportion to its virtual channels,
        // so that every channel of VN1 has the same load.
        Vn1 = "1",
        // Either network, drawn for each packet with equal probability.
        Both = "both",
        // PART, KV_FETCH and KV_DATA, with flits in proportion to the virtual channels of each.
        All = "all",
    }
}

named! {
    /// Rule for the tile that computes a head, in the order of their numbers in a descriptor.
    #[derive(Default)]
    pub enum Mapping {
        /// One tile a head and stream, whatever the segment.
        #[default]
        HeadTile = "head-tile",
        // KV_DATA travels along a row only, PART along a column only.
        /// The row of the segment's home.
        RowAligned = "row-aligned",
        // Streams that share a prefix get each slice by one multicast.
        /// Streams spread over the rows, from that of the segment's home on.
        StreamStriped = "stream-striped",
    }
}

named! {
    /// Format of the numbers of K and V in memory.
    #[derive(Default, Hash)]
    pub enum KvFormat {
        /// IEEE half precision.
        #[default]
        Fp16 = "fp16",
        // Host and append convert it; in memory it is FP16.
        /// bfloat16, converted to FP16 on its way into the cache.
        Bf16 = "bf16",
        /// OCP FP8 with 4 bits of exponent and 3 of fraction, up to 448; no infinity.
        Fp8E4m3 = "fp8_e4m3",
        /// OCP FP8 with 5 bits of exponent and 2 of fraction: the upper byte of FP16.
        Fp8E5m2 = "fp8_e5m2",
        // -128 marks what is no number.
        /// Integers from -127 to 127.
        Int8 = "int8",
    }
}

impl KvFormat {
    /// Bytes of an element in memory.
    pub const fn bytes(self) -> u32 {
        match self {
            KvFormat::Fp16 | KvFormat::Bf16 => 2,
            KvFormat::Fp8E4m3 | KvFormat::Fp8E5m2 | KvFormat::Int8 => 1,
        }
    }
}

named! {
    /// Stationary numbers of 9 bits instead of 18, so that two rows of an array multiply at once (INT8).
    #[derive(Default, Hash)]
    pub enum Narrow {
        /// Neither: two rows have one context at a time.
        #[default]
        None = "none",
        /// Queries, which meet K.
        Keys = "keys",
        /// Weights, which meet V.
        Values = "values",
        /// Both.
        Both = "both",
    }
}

impl Narrow {
    /// Queries have 9 bits.
    pub const fn keys(self) -> bool {
        matches!(self, Narrow::Keys | Narrow::Both)
    }

    /// Weights have 9 bits.
    pub const fn values(self) -> bool {
        matches!(self, Narrow::Values | Narrow::Both)
    }
}

named! {
    /// Factors that a host gives beside numbers of K and V.
    #[derive(Default)]
    pub enum KvScales {
        /// Those of the format: one a head for eight bits, else none.
        #[default]
        Auto = "auto",
        /// None: logits have the scale 1 / sqrt(d_h).
        None = "none",
        /// One of the logits and one of the output for each head, with the queries of a run.
        Head = "head",
        /// Those of a head, and one of K and one of V for each token and KV head, in FP16 beside its slice in memory.
        Token = "token",
    }
}

named! {
    /// The card the fabric is built for.
    #[derive(Default)]
    pub enum Board {
        /// AMD Alveo U280: 8 GiB of HBM2, 32 GiB of DDR4.
        #[default]
        U280 = "u280",
        /// AMD Alveo U55C: 16 GiB of HBM2.
        U55c = "u55c",
    }
}

named! {
    /// Memory of queries, outputs and lists: that behind `m_axi_io`.
    pub enum IoMemory {
        /// DDR of the card.
        Ddr = "ddr",
        /// Memory of the host, which the card reaches through PCIe.
        Host = "host",
        /// A channel of HBM that homes use, too.
        Hbm = "hbm",
    }
}

named! {
    /// Receivers of a slice.
    #[derive(Default)]
    pub enum Sharing {
        /// The heads that attend with its KV head.
        #[default]
        KvHead = "kv-head",
        // The macro-block multicast of the paper, taken literally.
        /// Every head, as a macro-block multicast.
        Segment = "segment",
    }
}

/// The mapping that is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AskedMapping {
    /// The one of the least expected cycles for the workload.
    Auto,
    /// This one.
    Fixed(Mapping),
}

impl AskedMapping {
    const ALL: [AskedMapping; 4] = [
        AskedMapping::Auto,
        AskedMapping::Fixed(Mapping::HeadTile),
        AskedMapping::Fixed(Mapping::RowAligned),
        AskedMapping::Fixed(Mapping::StreamStriped),
    ];

    /// Name on the command line, in files and in results.
    pub const fn name(self) -> &'static str {
        match self {
            AskedMapping::Auto => "auto",
            AskedMapping::Fixed(mapping) => mapping.name(),
        }
    }

    /// The mapping; none if the workload decides.
    pub const fn fixed(self) -> Option<Mapping> {
        match self {
            AskedMapping::Auto => None,
            AskedMapping::Fixed(mapping) => Some(mapping),
        }
    }
}

impl ValueEnum for AskedMapping {
    fn value_variants<'a>() -> &'a [AskedMapping] {
        &AskedMapping::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        match self {
            AskedMapping::Auto => Some(
                PossibleValue::new(self.name())
                    .help("The mapping of the least expected cycles for this workload"),
            ),
            AskedMapping::Fixed(mapping) => mapping.to_possible_value(),
        }
    }
}

impl Serialize for AskedMapping {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for AskedMapping {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<AskedMapping, D::Error> {
        let name = String::deserialize(deserializer)?;
        ValueEnum::from_str(&name, false).map_err(D::Error::custom)
    }
}

impl JsonSchema for AskedMapping {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "AskedMapping".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "enum": AskedMapping::ALL.map(AskedMapping::name) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_has_one_name_on_the_command_line_and_in_files() {
        let of_mapping = AskedMapping::ALL.map(|asked| (asked.name(), serde_json::to_value(asked).unwrap()));
        let of_vn = VirtualNetworks::ALL.map(|vn| (vn.name(), serde_json::to_value(vn).unwrap()));
        for (name, value) in of_mapping.into_iter().chain(of_vn) {
            assert_eq!(value, name);
        }
        for asked in AskedMapping::ALL {
            assert_eq!(AskedMapping::from_str(asked.name(), false), Ok(asked));
            assert_eq!(serde_json::from_value::<AskedMapping>(asked.name().into()).unwrap(), asked);
        }
        assert_eq!(AskedMapping::ALL.map(AskedMapping::fixed)[1..], Mapping::ALL.map(Some));
    }
}
