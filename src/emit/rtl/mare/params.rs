//! Parameter values of a tile's modules, and the bundles of ports that recur.

use crate::design::depths::PARKED_MORE;
use crate::design::hash::BLOOM_SEEDS;
use crate::design::{index_bits, Design, Mare};
use crate::emit::rtl::mare::h3_hash::matrix_literal;
use crate::emit::rtl::module::{Dir, ModuleBuilder};
use crate::emit::rtl::network::params::NetworkParams;

/// Parameter values of the tile's modules.
pub(in crate::emit::rtl) struct MareParams {
    pub(in crate::emit::rtl) net: NetworkParams,
    pub(in crate::emit::rtl) tag: u32,
    pub(in crate::emit::rtl) key: u32,
    pub(in crate::emit::rtl) index: u32,
    pub(in crate::emit::rtl) mask: u32,
    pub(in crate::emit::rtl) mare: Mare,
    /// Flits of a burst of external memory.
    pub(in crate::emit::rtl) burst: u32,
    pub(in crate::emit::rtl) part_id: u32,
    /// Fetch, multiply and reduce overlap.
    pub(in crate::emit::rtl) overlap: bool,
    /// New tokens are written into staged slices.
    pub(in crate::emit::rtl) append: bool,
}

impl MareParams {
    pub(in crate::emit::rtl) fn of(design: &Design) -> MareParams {
        MareParams {
            net: NetworkParams::of(design),
            tag: design.flit.tag_width(),
            key: design.flit.key_width(),
            index: design.flit.index_width(),
            mask: design.flit.mask_width(),
            mare: design.mare,
            burst: design.memory.burst_flits,
            part_id: part_id(design),
            overlap: design.config.pad.enable,
            append: design.append.is_some(),
        }
    }

    /// Bits of a place in the requester's FIFO.
    pub(in crate::emit::rtl) fn fifo_ptr(&self) -> u32 {
        index_bits(self.mare.fifo_depth)
    }

    /// Sources of partial results that a reduce root distinguishes: one a channel, and its own tile.
    pub(in crate::emit::rtl) fn sources(&self) -> u32 {
        self.net.vn0_vcs + 1
    }

    pub(in crate::emit::rtl) fn tiles(&self) -> u32 {
        self.net.cols * self.net.rows
    }

    pub(in crate::emit::rtl) fn slot(&self) -> u32 {
        index_bits(self.mare.staging_slots)
    }

    pub(in crate::emit::rtl) fn addr(&self) -> u32 {
        index_bits(self.mare.staging_depth)
    }

    /// Bits of one hash: it addresses half a bank.
    pub(in crate::emit::rtl) fn hash(&self) -> u32 {
        (self.mare.bloom_bits / 2).ilog2()
    }

    /// Bits of the key of a look-up: a slice's key and the first flit of a chunk.
    pub(in crate::emit::rtl) fn name(&self) -> u32 {
        self.key + self.index
    }

    /// The random matrices of the two hash functions, as Verilog literals.
    pub(in crate::emit::rtl) fn hash_rows(&self) -> [String; 2] {
        BLOOM_SEEDS.map(|seed| matrix_literal(seed, self.hash(), self.name()))
    }

    /// Bits of a fetch as a home stores it.
    pub(in crate::emit::rtl) fn fetch(&self) -> u32 {
        1 + 2 * self.index + index_bits(self.net.rows) + index_bits(self.net.cols) + self.mask + self.key
    }

    /// Fetches that a home can park: one a tile, and some more.
    pub(in crate::emit::rtl) fn park(&self) -> u32 {
        self.tiles() + PARKED_MORE
    }

    /// Bits of the counter of a request's window and tree.
    pub(in crate::emit::rtl) fn count(&self) -> u32 {
        index_bits(self.mare.coalesce_window + self.mare.tree_cycles + 2)
    }
}

/// Parameters that repeat from module to module, each described once.
impl ModuleBuilder {
    pub(in crate::emit::rtl) fn tiles(self, w: &MareParams) -> Self {
        self.param("TILES", w.tiles(), "Tiles of the fabric.")
    }
    pub(in crate::emit::rtl) fn tag_width(self, w: &MareParams) -> Self {
        self.param("TAG_WIDTH", w.tag, "Width of a tag (stream, layer, segment, slice) in bits.")
    }
    pub(in crate::emit::rtl) fn key_width(self, w: &MareParams) -> Self {
        self.param("KEY_WIDTH", w.key, "Width of a tag with its generation above it, in bits.")
    }
    pub(in crate::emit::rtl) fn index_width(self, w: &MareParams) -> Self {
        self.param("INDEX_WIDTH", w.index, "Width of a flit's position in its slice in bits.")
    }
    pub(in crate::emit::rtl) fn mask_width(self, w: &MareParams) -> Self {
        self.param("MASK_WIDTH", w.mask, "Width of a head mask in bits.")
    }
    pub(in crate::emit::rtl) fn slice_flits(self, w: &MareParams) -> Self {
        self.param("SLICE_FLITS", w.mare.slice_flits, "Flits of a slice.")
    }
    pub(in crate::emit::rtl) fn chunk_flits(self, w: &MareParams) -> Self {
        self.param(
            "CHUNK_FLITS",
            w.mare.chunk_flits,
            "Flits of a chunk, a power of two; a range starts at a chunk.",
        )
    }
    pub(in crate::emit::rtl) fn burst_flits(self, w: &MareParams) -> Self {
        self.param("BURST_FLITS", w.burst, "Flits of a burst, a power of two.")
    }
    pub(in crate::emit::rtl) fn slot_width(self, w: &MareParams) -> Self {
        self.param("SLOT_WIDTH", w.slot(), "Width of a slot number of the staging memory in bits.")
    }
    pub(in crate::emit::rtl) fn addr_width(self, w: &MareParams) -> Self {
        self.param("ADDR_WIDTH", w.addr(), "Width of an address of the staging memory in bits.")
    }
    pub(in crate::emit::rtl) fn staging_depth(self, name: &'static str, w: &MareParams) -> Self {
        self.param(name, w.mare.staging_depth, "Flits of the staging memory.")
    }
    pub(in crate::emit::rtl) fn staging_slots(self, name: &'static str, w: &MareParams) -> Self {
        self.param(name, w.mare.staging_slots, "Slices the staging memory holds.")
    }
    pub(in crate::emit::rtl) fn bloom(self, w: &MareParams) -> Self {
        self.param("BLOOM_BITS", w.mare.bloom_bits, "Bits of one bank of the Bloom filter.").hash_width(w)
    }
    pub(in crate::emit::rtl) fn hash_width(self, w: &MareParams) -> Self {
        self.param("HASH_WIDTH", w.hash(), "Width of one hash in bits: it addresses half a bank.")
    }
    pub(in crate::emit::rtl) fn request_entries(self, name: &'static str, w: &MareParams) -> Self {
        self.param(name, w.mare.request_entries, "Requests in progress at a home.")
    }
    pub(in crate::emit::rtl) fn tag_entries(self, name: &'static str, w: &MareParams) -> Self {
        self.param(name, w.mare.tag_entries, "Exact tags stored at a time.")
    }
    pub(in crate::emit::rtl) fn fifo_depth(self, w: &MareParams) -> Self {
        self.param(
            "FIFO_DEPTH",
            w.mare.fifo_depth,
            "Flits of the requester's FIFO: the most it can request ahead.",
        )
    }
    pub(in crate::emit::rtl) fn vc_depth(self, w: &MareParams) -> Self {
        self.param("VC_DEPTH", w.net.vc_depth, "Flits a virtual channel buffers.")
    }
    pub(in crate::emit::rtl) fn fetch_slots(self, name: &'static str, w: &MareParams) -> Self {
        self.param(name, w.mare.fetch_slots, "Ranges in flight at a time, at least 2.")
    }
    pub(in crate::emit::rtl) fn fetch_history(self, name: &'static str, w: &MareParams) -> Self {
        if !w.mare.dedup {
            return self;
        }
        self.param(name, w.mare.fetch_history, "Completed ranges remembered, besides those in flight.")
    }
    pub(in crate::emit::rtl) fn retry_ticks(self, w: &MareParams) -> Self {
        self.param(
            "RETRY_TICKS",
            w.mare.retry_ticks,
            "Periods without a flit after which a range is requested again.",
        )
    }
    /// The range of a slice.
    pub(in crate::emit::rtl) fn range(self, prefix: &str) -> Self {
        self.input(format!("{prefix}first"), "INDEX_WIDTH", "First flit of the range; starts a chunk.").input(
            format!("{prefix}last"),
            "INDEX_WIDTH",
            "Last flit of the range.",
        )
    }
    pub(in crate::emit::rtl) fn claim(self) -> Self {
        self.group("A slot is claimed for a slice.")
            .input("claim_valid", 1, "One pulse a slice, before it is filled.")
            .input("claim_slot", "SLOT_WIDTH", "Its slot, which starts at slot * SLICE_FLITS.")
            .input("claim_tag", "TAG_WIDTH", "Tag of the slice.")
            .input("claim_last", "INDEX_WIDTH", "The last flit that will be requested.")
            .input("claim_expected", "EXPECTED_WIDTH", "Number of tiles that will request it; 0: it stays.")
            .input("claim_named", 1, "The tag is of the slice that gets the next slot.")
            .output(
                "claim_known",
                1,
                "A slice of the tag of the cycle before has a slot and may not get another.",
            )
    }
    pub(in crate::emit::rtl) fn publish(self) -> Self {
        self.group("A slice becomes resident.")
            .input("publish_valid", 1, "One pulse a slice, with its first flit.")
            .input("publish_slot", "SLOT_WIDTH", "Its slot.")
            .group("A slice is complete.")
            .input("complete_valid", 1, "One pulse a slice.")
            .input("complete_slot", "SLOT_WIDTH", "Its slot.")
    }
    /// The burst that a home reads next, and whether it may. `dir`: of the question.
    pub(in crate::emit::rtl) fn next_burst(self, dir: Dir) -> Self {
        let back = if dir == Dir::Output { Dir::Input } else { Dir::Output };
        self.group("The burst of a slice that is read next.")
            .port(dir, "stream_valid".into(), 1, "")
            .port(dir, "stream_slot".into(), "SLOT_WIDTH", "Slot of the slice.")
            .port(dir, "stream_flit".into(), "INDEX_WIDTH", "First flit that is read.")
            .port(back, "stream_pending".into(), 1, "Some of the burst is still to come.")
    }
    pub(in crate::emit::rtl) fn freed(self, dir: Dir) -> Self {
        let this = self.group("A slot is free again.");
        match dir {
            Dir::Output => this.output("freed_valid", 1, "One pulse a slot.").output(
                "freed_slot",
                "SLOT_WIDTH",
                "Which.",
            ),
            Dir::Input => {
                this.input("freed_valid", 1, "One pulse a slot.").input("freed_slot", "SLOT_WIDTH", "Which.")
            }
        }
    }
    pub(in crate::emit::rtl) fn fill(self) -> Self {
        self.group("Filling of the staging memory.")
            .input("fill_valid", 1, "A flit is written.")
            .input("fill_addr", "ADDR_WIDTH", "Slot * SLICE_FLITS + position in the slice.")
            .input("fill_data", "FLIT_WIDTH", "")
    }
    /// The place of a part of a new token in the staging memory, of the filler.
    pub(in crate::emit::rtl) fn patching(self, dir: Dir) -> Self {
        self.group("A part of a flit is written into the staging memory.")
            .port(dir, "patch_valid".into(), 1, "")
            .port(dir, "patch_addr".into(), "ADDR_WIDTH", "Of the flit.")
            .port(dir, "patch_lanes".into(), "FLIT_WIDTH/16", "Lanes of 16 bits that are written.")
    }
    /// Parts of new tokens that are written into staged slices, if the cache can be appended to.
    pub(in crate::emit::rtl) fn patch(self, w: &MareParams) -> Self {
        match w.append {
            true => self.patching(Dir::Input).input("patch_data", 64, "Repeats over the flit."),
            false => self,
        }
    }
    /// Use of a slot, queried by the directory.
    pub(in crate::emit::rtl) fn scan(self) -> Self {
        self.group("Use of a slot, queried by the directory.")
            .input("scan", "SLOT_WIDTH", "The queried slot.")
            .output("scan_busy", 1, "Some of it must still be sent.")
    }
    pub(in crate::emit::rtl) fn park_depth(self, w: &MareParams) -> Self {
        self.param("PARK_DEPTH", w.park(), "Fetches that can wait for slices that are not resident.")
    }
    pub(in crate::emit::rtl) fn part_id_width(self, w: &MareParams) -> Self {
        self.param("PART_ID_WIDTH", w.part_id, "Width of head, layer and stream of a partial result in bits.")
    }
    pub(in crate::emit::rtl) fn expected_width(self, w: &MareParams) -> Self {
        self.param("EXPECTED_WIDTH", index_bits(w.tiles() + 1), "Width of a number of tiles in bits.")
    }
    pub(in crate::emit::rtl) fn filter_events(self) -> Self {
        self.output("event_lookup", 1, "A chunk is looked up.")
            .output("event_bloom", 1, "The Bloom filter hits.")
            .output("event_false_positive", 1, "The Bloom filter hits and no exact tag does.")
            .output("event_hit", 1, "An exact tag hits.")
            .output("event_trim", 1, "Some destinations have it already and are removed.")
            .output("event_drop", 1, "All destinations have it already: nothing is sent.")
            .output("event_full", 1, "No tag is free: it is sent and not recorded.")
    }
    pub(in crate::emit::rtl) fn table_events(self) -> Self {
        self.group("Events, one pulse each.")
            .output("event_open", 1, "A fetch opens a request.")
            .output("event_merge", 1, "A fetch joins a request.")
            .output("event_blocked", 1, "A fetch waits because the table is full.")
    }
}

impl ModuleBuilder {
    pub(in crate::emit::rtl) fn sources(self, w: &MareParams) -> Self {
        self.param("SOURCES", w.sources(), "Channels of VN0, and the root's own tile.")
    }
    /// Widths of the requester's FIFO.
    pub(in crate::emit::rtl) fn fifo_pointers(self, w: &MareParams) -> Self {
        self.param("PTR_WIDTH", w.fifo_ptr(), "Width of a place in the FIFO in bits, as small as possible.")
            .fifo_rest(w)
    }
    pub(in crate::emit::rtl) fn fifo_rest(self, w: &MareParams) -> Self {
        self.param("GRAY_WIDTH", w.fifo_ptr() + 1, "Width of its pointers in gray code.").param(
            "ROOM_WIDTH",
            index_bits(w.mare.fifo_depth + 1),
            "Width of a number of its places in bits.",
        )
    }
    /// Idle state of PaD, where stages do not overlap.
    pub(in crate::emit::rtl) fn compute_idle(self, w: &MareParams) -> Self {
        if w.overlap {
            return self;
        }
        self.group("Stages run one after the other.").input("compute_idle", 1, "PaD is idle; in its clock.")
    }
}

/// Width of a home's coordinates: a sum, so it has a parameter of its own.
pub(in crate::emit::rtl) const HOME_WIDTH: &str = "HOME_WIDTH";

impl ModuleBuilder {
    pub(in crate::emit::rtl) fn coordinates(self) -> Self {
        self.group("Coordinates of this tile, tied to constants.")
            .input("x", "X_WIDTH", "")
            .input("y", "Y_WIDTH", "")
    }
    pub(in crate::emit::rtl) fn router_link(self) -> Self {
        self.group("To the router.")
            .output("tx_valid", "VCS", "One-hot: the virtual channel of the flit.")
            .output("tx_dest", "DEST_WIDTH", "")
            .output("tx_head", "HEAD_WIDTH", "")
            .output("tx_data", "FLIT_WIDTH", "")
            .input("tx_credit", "VCS", "One pulse a slot freed.")
            .group("From the router.")
            .input("rx_valid", "VCS", "One-hot: the virtual channel of the flit.")
            .input("rx_head", "HEAD_WIDTH", "")
            .input("rx_data", "FLIT_WIDTH", "")
            .output("rx_credit", "VCS", "One pulse a slot freed.")
    }
    /// Parameters of a tile and of the fabric of tiles, from the tag on.
    pub(in crate::emit::rtl) fn tile_params(self, w: &MareParams) -> Self {
        let b = self
            .param(HOME_WIDTH, index_bits(w.net.cols) + index_bits(w.net.rows), "X_WIDTH + Y_WIDTH.")
            .tag_width(w)
            .key_width(w)
            .index_width(w)
            .mask_width(w)
            .slice_flits(w)
            .chunk_flits(w)
            .burst_flits(w)
            .fifo_depth(w)
            .fetch_slots("FETCH_SLOTS", w)
            .retry_ticks(w)
            .param("BLOOM_REFRESH", w.mare.bloom_refresh, "Cycles of a period.");
        let b = if w.mare.dedup {
            b.fetch_history("FETCH_HISTORY", w).bloom(w).tag_entries("TAG_ENTRIES", w)
        } else {
            b
        };
        b.request_entries("REQUEST_ENTRIES", w)
            .park_depth(w)
            .expected_width(w)
            .staging_slots("STAGING_SLOTS", w)
            .slot_width(w)
            .staging_depth("STAGING_DEPTH", w)
            .addr_width(w)
    }
}

/// Bits of head, layer and stream of a partial result.
fn part_id(design: &Design) -> u32 {
    let named = |name: &&str| design.flit.part.iter().find(|f| f.name == *name).map_or(0, |f| f.width);
    ["head", "layer", "stream"].iter().map(named).sum()
}
