//! Reads and writes of a pseudo-channel: split into bursts of AXI3, across to the clock of HBM, and back.

use crate::emit::rtl::block::Block;
use crate::emit::rtl::board::params::Axi3Params;
use crate::emit::rtl::module::{ModuleBuilder, ModuleSpec};

impl ModuleBuilder {
    /// Parameters of the converters.
    fn axi3(self, p: &Axi3Params) -> Self {
        self.param("ID_WIDTH", p.id, "Width of an AXI4 ID.")
            .param("FLIT_WIDTH", p.flit, "Width of a beat of AXI4 in bits.")
            .param("HBM_WIDTH", p.hbm, "Width of a beat of HBM in bits.")
            .param("RATIO", p.ratio, "FLIT_WIDTH / HBM_WIDTH, a power of two, at most 8.")
            .param("HBM_ADDR_WIDTH", p.addr, "Width of an address of HBM in bits.")
    }

    /// Both clocks, with the resets of AXI.
    fn axi3_clocks(self) -> Self {
        self.group("Clock of AXI4, and its reset, active low.")
            .input("aclk", 1, "Clock.")
            .input("aresetn", 1, "Reset.")
            .group("Clock of HBM, unrelated, and its reset, active low.")
            .input("hbm_aclk", 1, "Clock.")
            .input("hbm_aresetn", 1, "Reset.")
    }

    /// Address channel of an AXI4 slave.
    fn axi4_address(self, prefix: &str) -> Self {
        let port = |name: &str| format!("{prefix}{name}");
        self.input(port("valid"), 1, "")
            .output(port("ready"), 1, "")
            .input(port("addr"), 64, "Bytes.")
            .input(port("id"), "ID_WIDTH", "ID of the burst.")
            .input(port("len"), 8, "Beats less one.")
            .input(port("size"), 3, "That of a whole beat.")
            .input(port("burst"), 2, "INCR.")
    }

    /// Address channel of an AXI3 master. It has no ID: HBM answers in the order of the bursts.
    fn axi3_address(self, prefix: &str) -> Self {
        let port = |name: &str| format!("{prefix}{name}");
        self.output(port("valid"), 1, "")
            .input(port("ready"), 1, "")
            .output(port("addr"), "HBM_ADDR_WIDTH", "Bytes.")
            .output(port("len"), 4, "Beats less one.")
            .output(port("size"), 3, "That of a whole beat.")
            .output(port("burst"), 2, "INCR.")
    }
}

/// The FIFO in the clock of HBM, whose ready must come from a register.
pub(in crate::emit::rtl) fn fifo(crossing: &ModuleSpec) -> ModuleSpec {
    ModuleBuilder::new(Block::Board, "meshkv_axi3_fifo",
        &[
            "FIFO between two clocks with a ready from a register, for a fast writer.",
            "",
            "As meshkv_async_fifo, but its depth is a power of two, and three places are kept for words written before the",
            "writer sees that it is full.",
        ],
    )
    .params_of(&[crossing], &["DEPTH"])
    .param("DEPTH", 32, "Words, a power of two from 8.")
    .ports_of(crossing, &["s_", "m_"], "")
    .instances(&["meshkv_async_pointer", "meshkv_synchronizer"])
    .build()
}

pub(in crate::emit::rtl) fn split(p: &Axi3Params) -> ModuleSpec {
    ModuleBuilder::new(Block::Board, "meshkv_axi3_split",
        &[
            "Splits a burst of AXI4 into bursts of at most 16 beats of HBM.",
            "",
            "A burst of AXI4 crosses no boundary of 4096 bytes, so only bits 9 to 11 of the address step. Every burst of HBM",
            "leaves with what its answer needs: the ID, whether it is the last one, whether its address is beyond HBM.",
        ],
    )
    .axi3(p)
    .only(&["ID_WIDTH", "RATIO", "HBM_ADDR_WIDTH"])
    .clocked()
    .group("Burst of AXI4.")
    .input("s_valid", 1, "")
    .output("s_ready", 1, "")
    .input("s_addr", 64, "Bytes.")
    .input("s_id", "ID_WIDTH", "ID of the burst.")
    .input("s_len", 8, "Beats less one.")
    .group("Burst of HBM.")
    .output("m_valid", 1, "")
    .input("m_ready", 1, "")
    .output("m_addr", "HBM_ADDR_WIDTH", "Bytes.")
    .output("m_len", 4, "Beats less one.")
    .output("m_id", "ID_WIDTH", "ID of its burst of AXI4.")
    .output("m_last", 1, "It is the last of its burst of AXI4.")
    .output("m_beyond", 1, "Its address is beyond HBM.")
    .build()
}

pub(in crate::emit::rtl) fn read(p: &Axi3Params) -> ModuleSpec {
    ModuleBuilder::new(Block::Board, "meshkv_axi3_read",
        &[
            "Reads of a pseudo-channel of HBM: AXI4 in one clock to AXI3 in another, with beats of another width.",
            "",
            "Bursts of HBM have one ID, so their answers come in order and never interleaved. The IDs of AXI4 wait in a FIFO.",
            "A beat of AXI4 has the worst response of its beats of HBM, and DECERR if its address is beyond HBM.",
        ],
    )
    .axi3(p)
    .param("ORDER_DEPTH", 32, "Bursts of HBM under way.")
    .param("BEAT_DEPTH", 32, "Flits that wait for AXI4.")
    .axi3_clocks()
    .group("AXI4 read channels.")
    .axi4_address("s_axi_ar")
    .output("s_axi_rvalid", 1, "")
    .input("s_axi_rready", 1, "")
    .output("s_axi_rdata", "FLIT_WIDTH", "Data.")
    .output("s_axi_rid", "ID_WIDTH", "ID of its burst.")
    .output("s_axi_rresp", 2, "Response.")
    .output("s_axi_rlast", 1, "Last beat of its burst.")
    .group("AXI3 read channels.")
    .axi3_address("m_axi_ar")
    .input("m_axi_rvalid", 1, "")
    .output("m_axi_rready", 1, "")
    .input("m_axi_rdata", "HBM_WIDTH", "Data.")
    .input("m_axi_rresp", 2, "Response.")
    .input("m_axi_rlast", 1, "Last beat of its burst.")
    .instances(&["meshkv_axi3_split", "meshkv_axi3_fifo", "meshkv_fifo", "meshkv_async_fifo"])
    .keep_hierarchy()
    .build()
}

pub(in crate::emit::rtl) fn write(p: &Axi3Params) -> ModuleSpec {
    ModuleBuilder::new(Block::Board, "meshkv_axi3_write",
        &[
            "Writes of a pseudo-channel of HBM: AXI4 in one clock to AXI3 in another, with beats of another width.",
            "",
            "Data is taken after its address. A burst of AXI4 is answered once, with the worst response of its bursts of HBM.",
            "If its address is beyond HBM, that is DECERR, and no byte of it is enabled.",
        ],
    )
    .axi3(p)
    .param("FLIT_BYTES_NUM", p.flit / 8, "Bytes of a beat of AXI4.")
    .param("HBM_BYTES_NUM", p.hbm / 8, "Bytes of a beat of HBM.")
    .param("ORDER_DEPTH", 32, "Bursts of HBM under way.")
    .param("BEAT_DEPTH", 32, "Flits that wait for HBM.")
    .axi3_clocks()
    .group("AXI4 write channels.")
    .axi4_address("s_axi_aw")
    .input("s_axi_wvalid", 1, "")
    .output("s_axi_wready", 1, "")
    .input("s_axi_wdata", "FLIT_WIDTH", "Data.")
    .input("s_axi_wstrb", "FLIT_BYTES_NUM", "Bytes enabled for writing.")
    .input("s_axi_wlast", 1, "Last beat of its burst.")
    .output("s_axi_bvalid", 1, "")
    .input("s_axi_bready", 1, "")
    .output("s_axi_bid", "ID_WIDTH", "ID of the burst.")
    .output("s_axi_bresp", 2, "Response.")
    .group("AXI3 write channels.")
    .axi3_address("m_axi_aw")
    .output("m_axi_wvalid", 1, "")
    .input("m_axi_wready", 1, "")
    .output("m_axi_wdata", "HBM_WIDTH", "Data.")
    .output("m_axi_wstrb", "HBM_BYTES_NUM", "Bytes enabled for writing.")
    .output("m_axi_wlast", 1, "Last beat of its burst.")
    .input("m_axi_bvalid", 1, "")
    .output("m_axi_bready", 1, "")
    .input("m_axi_bresp", 2, "Response.")
    .instances(&["meshkv_axi3_split", "meshkv_axi3_fifo", "meshkv_fifo", "meshkv_async_fifo"])
    .keep_hierarchy()
    .build()
}

pub(in crate::emit::rtl) fn io(read: &ModuleSpec, write: &ModuleSpec) -> ModuleSpec {
    ModuleBuilder::new(
        Block::Board,
        "meshkv_axi3_io",
        &["Reads and writes of a pseudo-channel of HBM: the converter of the port for queries and outputs."],
    )
    .params_of(&[read, write], &["ORDER_DEPTH", "BEAT_DEPTH"])
    .axi3_clocks()
    .ports_of(read, &["s_axi_", "m_axi_"], "")
    .ports_of(write, &["s_axi_", "m_axi_"], "")
    .instances(&["meshkv_axi3_read", "meshkv_axi3_write"])
    .keep_hierarchy()
    .build()
}
