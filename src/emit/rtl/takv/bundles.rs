//! Bundles of ports of several modules: queries, descriptors, jobs, and reads of external memory.

use crate::emit::rtl::module::{Dir, ModuleBuilder};

/// A query head by its place in its column: width and text.
pub(in crate::emit::rtl) const PLACE: (&str, &str) =
    ("HEAD_PLACE_WIDTH", "Query head, by its place in the column.");

/// A query head of all: width and text.
pub(in crate::emit::rtl) const HEAD: (&str, &str) = ("HEAD_ID_WIDTH", "Query head.");

impl ModuleBuilder {
    /// A descriptor; `append`: it may have a new token.
    pub(in crate::emit::rtl) fn descriptor(self, append: bool) -> Self {
        let b = self
            .group("A descriptor: segments of a layer that some streams attend to.")
            .input("desc_valid", 1, "")
            .output("desc_ready", 1, "")
            .input(
                "desc_prefix",
                "STREAM_WIDTH",
                "Stream or common prefix whose cache it is: the tag's stream.",
            )
            .input("desc_layer", "LAYER_WIDTH", "Layer l.")
            .input("desc_first", "SEGMENT_WIDTH", "First segment.")
            .input("desc_stride", "SEGMENT_WIDTH", "Segments from one to the next.")
            .input("desc_count", "COUNT_WIDTH", "Number of segments, at least 1.")
            .input("desc_first_row", "ROW_WIDTH", "First attended token of the first segment.")
            .input("desc_last_row", "ROW_WIDTH", "Last attended token of the last segment.")
            .input("desc_stream", "STREAM_WIDTH", "First stream that attends.")
            .input("desc_streams", "STREAMS_WIDTH", "Number of these streams, at least 1.")
            .input(
                "desc_mapping",
                2,
                "0: one tile a head, 1: the home's row, 2: streams striped over the rows.",
            )
            .input("desc_share", 1, "All heads get all slices, not only those of their KV head.")
            .input("desc_close", 1, "The last of these streams in this layer: partial results are due.")
            .input("desc_step", 1, "The last of the decode step.");
        match append {
            true => b.input("desc_append", 1, "Its last token is new: its K and V came before."),
            false => b,
        }
    }
    /// Words of new tokens, in, for all controllers.
    pub(in crate::emit::rtl) fn new_tokens(self, dir: Dir) -> Self {
        self.group("A group of words of new tokens, before the descriptors that need them; always taken.")
            .port(dir, "token_valid".into(), 1, "")
            .port(
                dir,
                "token_group".into(),
                "TOKEN_GROUP_WIDTH",
                "Its number: by stream, KV head, K before V.",
            )
            .port(dir, "token_data".into(), "64*QUERY_GROUP", "FP16, the first in the lowest bits.")
    }
    /// Words of new tokens to the writers of the memory ports, `times` ("PORTS*" or nothing) as many.
    pub(in crate::emit::rtl) fn writes(self, times: &str) -> Self {
        let w = |width: &str| format!("{times}{width}").replace("*1", "");
        self.group("New tokens for external memory: a word that names slice and token, then K and V.")
            .output("write_valid", w("1").as_str(), "One pulse a word, which has a credit.")
            .output("write_data", w("64").as_str(), "The word.")
            .input(
                "write_credit",
                w("1").as_str(),
                "One pulse a word that the writer has taken from its queue.",
            )
            .output("writes_wait", w("1").as_str(), "Words wait.")
    }
    /// The same words at the writer of a memory port.
    pub(in crate::emit::rtl) fn written_words(self) -> Self {
        self.group("New tokens: a word that names slice and token, then K and V.")
            .input("write_valid", 1, "One pulse a word, which has a credit.")
            .input("write_data", 64, "The word.")
            .output("write_credit", 1, "One pulse a word that was taken from the queue.")
            .input("writes_wait", 1, "More words wait on their way.")
    }
    /// Jobs for PaD of a tile.
    pub(in crate::emit::rtl) fn job(self) -> Self {
        self.group("The next job of PaD, in order.")
            .output("job_valid", 1, "")
            .input("job_ready", 1, "")
            .output("job_close", 1, "The last of these streams in this layer: partial results are due.")
            .output("job_tag", "TAG_WIDTH", "The slice.")
            .output("job_mask", "MASK_WIDTH", "Heads of this tile that attend to it.")
            .output("job_stream", "STREAM_WIDTH", "First stream that attends.")
            .output("job_streams", "STREAMS_WIDTH", "Number of these streams.")
            .output("job_first_row", "ROW_WIDTH", "First attended token.")
            .output("job_last_row", "ROW_WIDTH", "Last attended token.")
            .output("job_mapping", 2, "Mapping of heads to tiles, as in the descriptor.")
            .output("job_lag", "Y_WIDTH", "Rows north from the slice's home to this tile, modulo ROWS.")
    }
    /// Four elements of a query on ports that begin with `name`, in or out.
    pub(in crate::emit::rtl) fn query(
        self,
        name: &str,
        dir: Dir,
        head: (&str, &'static str),
        times: &str,
    ) -> Self {
        let back = if dir == Dir::Output { Dir::Input } else { Dir::Output };
        let port = |field: &str| format!("{name}_{field}");
        let w = |width: &str| format!("{times}{width}").replace("*1", "");
        self.group("Four elements of a query, before the descriptors that need them.")
            .port(dir, port("valid"), w("1").as_str(), "")
            .port(back, port("ready"), w("1").as_str(), "")
            .port(dir, port("stream"), w("STREAM_WIDTH").as_str(), "Stream.")
            .port(dir, port("head"), w(head.0).as_str(), head.1)
            .port(dir, port("word"), w("QUERY_WORD_WIDTH").as_str(), "Number of the four elements.")
            .port(dir, port("data"), w("64").as_str(), "FP16, the first in the lowest bits.")
    }
    /// Says that queries come, in or out.
    pub(in crate::emit::rtl) fn more_queries(self, dir: Dir) -> Self {
        self.port(
            dir,
            "more_queries".into(),
            1,
            "Groups come or will: descriptors may begin beside them, and arrays wait. It begins when all is idle.",
        )
    }
    /// Says that new tokens come, in or out.
    pub(in crate::emit::rtl) fn more_tokens(self, dir: Dir) -> Self {
        self.port(dir, "more_tokens".into(), 1, "Groups come or will, in the order of their numbers: a slice waits for the last of its new token.")
    }
    /// Words of a query that come together, in or out.
    pub(in crate::emit::rtl) fn query_groups(self, dir: Dir, head: (&str, &'static str)) -> Self {
        let back = if dir == Dir::Output { Dir::Input } else { Dir::Output };
        self.group("A group of words of a query, before the descriptors that need them.")
            .port(dir, "query_valid".into(), 1, "")
            .port(back, "query_ready".into(), 1, "")
            .port(dir, "query_stream".into(), "STREAM_WIDTH", "Stream.")
            .port(dir, "query_head".into(), head.0, head.1)
            .port(dir, "query_group".into(), "QUERY_GROUP_WIDTH", "Number of the group.")
            .port(dir, "query_data".into(), "64*QUERY_GROUP", "FP16, the first in the lowest bits.")
    }
    pub(in crate::emit::rtl) fn swap_report(self) -> Self {
        self.group("Observed occupancies and swaps.")
            .output("occupancy_valid", 1, "After each step, one tile a cycle.")
            .output("occupancy_tile", "HOME_WIDTH", "{y, x}.")
            .output("occupancy_value", "VALUE_WIDTH", "Moving average of slots times cycles of a step.")
            .output("swap_valid", 1, "One pulse: two homes exchange their places.")
            .output("swap_a", "HOME_WIDTH", "Place of one home before, {y, x}.")
            .output("swap_b", "HOME_WIDTH", "Place of the other before, {y, x}.")
    }
    pub(in crate::emit::rtl) fn request(self) -> Self {
        self.group("A burst requested from the memory port.")
            .output("req_valid", 1, "One pulse a burst, which has a credit.")
            .output("req_id", "ID_WIDTH", "Its ID.")
            .output("req_number", "NUMBER_WIDTH", "The slice's number in external memory.")
            .output("req_first", "INDEX_WIDTH", "First flit of the slice that is read.")
            .output("req_len", "LEN_WIDTH", "Flits less one.")
            .input("req_credit", 1, "One pulse a burst that left the port's queue.")
    }
    pub(in crate::emit::rtl) fn response(self) -> Self {
        self.group("A flit read by the memory port; always taken.")
            .input("rsp_valid", 1, "One pulse a flit.")
            .input("rsp_id", "ID_WIDTH", "ID of its burst.")
            .input("rsp_last", 1, "Last flit of its burst.")
            .input("rsp_bad", 1, "The memory reports an error.")
            .input("rsp_data", "FLIT_WIDTH", "The flit.")
    }
    /// The filler's outputs to the home.
    pub(in crate::emit::rtl) fn filling(self) -> Self {
        self.group("Filling of the staging memory.")
            .output("fill_valid", 1, "A flit is written.")
            .output("fill_addr", "ADDR_WIDTH", "Slot * SLICE_FLITS + position in the slice.")
            .output("fill_data", "FLIT_WIDTH", "The flit.")
            .group("A slot is claimed for a slice.")
            .output("claim_valid", 1, "One pulse a slice.")
            .output("claim_slot", "SLOT_WIDTH", "Its slot.")
            .output("claim_tag", "TAG_WIDTH", "Tag of the slice.")
            .output("claim_last", "INDEX_WIDTH", "The last flit that will be requested.")
            .output("claim_expected", "EXPECTED_WIDTH", "Number of tiles that will request it.")
            .output("claim_named", 1, "The tag is of the slice that gets the next slot.")
            .input("claim_known", 1, "It still has an earlier slot and must wait.")
            .group("A slice becomes resident.")
            .output("publish_valid", 1, "One pulse a slice, with its first flit.")
            .output("publish_slot", "SLOT_WIDTH", "Its slot.")
            .group("A slice is complete.")
            .output("complete_valid", 1, "One pulse a slice.")
            .output("complete_slot", "SLOT_WIDTH", "Its slot.")
            .next_burst(Dir::Input)
    }
    pub(in crate::emit::rtl) fn errors(self, width: &'static str) -> Self {
        self.group("Errors, set until reset.")
            .output("error_memory", width, "An answer of the memory was an error.")
            .output("error_timeout", width, "The memory did not answer in time; no further request is sent.")
    }
    /// AXI4 read channels, `times` ("PORTS*" or nothing) as many.
    pub(in crate::emit::rtl) fn axi(self, times: &str) -> Self {
        let w = |width: &str| format!("{times}{width}").replace("*1", "");
        self.group("AXI4 read address channel.")
            .output("m_axi_arvalid", w("1").as_str(), "An address is valid; held until taken.")
            .input("m_axi_arready", w("1").as_str(), "It is taken.")
            .output("m_axi_arid", w("AXI_ID_WIDTH").as_str(), "Tile of the port, and its burst.")
            .output("m_axi_araddr", w("AXI_ADDR_WIDTH").as_str(), "Bytes.")
            .output("m_axi_arlen", w("8").as_str(), "Beats less one.")
            .output("m_axi_arsize", w("3").as_str(), "Bytes of a beat, as a power of two.")
            .output("m_axi_arburst", w("2").as_str(), "INCR.")
            .group("AXI4 read data channel.")
            .input("m_axi_rvalid", w("1").as_str(), "A beat.")
            .output("m_axi_rready", w("1").as_str(), "Always 1: every requested beat has a reserved place.")
            .input("m_axi_rid", w("AXI_ID_WIDTH").as_str(), "Tile of the port, and its burst.")
            .input("m_axi_rdata", w("FLIT_WIDTH").as_str(), "A flit.")
            .input("m_axi_rresp", w("2").as_str(), "0 is OKAY.")
            .input("m_axi_rlast", w("1").as_str(), "The last beat of its burst.")
    }
    /// Words of new tokens of some tiles, `tiles` (the parameter with their number, or nothing) as wide.
    pub(in crate::emit::rtl) fn words_of_tiles(self, tiles: &str) -> Self {
        let w = |width: &str| match tiles {
            "" => width.to_owned(),
            _ => format!("{tiles}*{width}").replace("*1", ""),
        };
        self.group("Words of new tokens that tiles pass on.")
            .input("new_valid", w("1").as_str(), "One pulse a word, which has a credit.")
            .input("new_data", w("64").as_str(), "The word.")
            .output("new_credit", w("1").as_str(), "One pulse a word that left the queue.")
    }
    /// Reads of some tiles, `tiles` (the parameter with their number) as wide.
    pub(in crate::emit::rtl) fn reads_of_tiles(self, tiles: &str) -> Self {
        let w = |width: &str| format!("{tiles}*{width}").replace("*1", "");
        self.group("Bursts requested by tiles.")
            .input("req_valid", w("1").as_str(), "One pulse a burst.")
            .input("req_id", w("ID_WIDTH").as_str(), "Its ID.")
            .input("req_number", w("NUMBER_WIDTH").as_str(), "The slice's number.")
            .input("req_first", w("INDEX_WIDTH").as_str(), "First flit to read.")
            .input("req_len", w("LEN_WIDTH").as_str(), "Flits less one.")
            .output("req_credit", w("1").as_str(), "One pulse a burst that left the queue.")
            .group("Read data.")
            .output("rsp_valid", w("1").as_str(), "One pulse a flit.")
            .output("rsp_id", w("ID_WIDTH").as_str(), "ID of its burst.")
            .output("rsp_last", w("1").as_str(), "Last flit of its burst.")
            .output("rsp_bad", w("1").as_str(), "The memory reports an error.")
            .output("rsp_data", w("FLIT_WIDTH").as_str(), "The flit.")
    }
}
