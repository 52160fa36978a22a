//! Bundles of ports between the parts of the front.

use crate::emit::rtl::module::{Dir, ModuleBuilder, ModuleSpec};

/// Documentation of the `owes` flag of a port.
pub(in crate::emit::rtl) const STALE: &str =
    "Memory owes answers of an earlier use of the epoch: no address is taken.";

/// Words of a descriptor but the last, as the queue takes them.
const PUT: [&str; 6] = ["put_cache", "put_first", "put_stride", "put_count", "put_rows", "put_streams"];

impl ModuleBuilder {
    /// Broadcast of the base addresses.
    pub(in crate::emit::rtl) fn bases(self, dir: Dir) -> Self {
        self.group("Arguments, broadcast at the start of a run.")
            .port(dir, "base_valid".into(), 1, "")
            .port(dir, "base_high".into(), 1, "The high word.")
            .port(dir, "base_argument".into(), "ARG_BITS", "Number of the argument.")
            .port(dir, "base_data".into(), 32, "A word of it.")
    }

    pub(in crate::emit::rtl) fn own_number(self) -> Self {
        self.input("number", "ARG_BITS", "Number of this port's base argument, tied to a constant.")
    }

    /// Registers of a descriptor before it is pushed.
    pub(in crate::emit::rtl) fn set(self, dir: Dir) -> Self {
        let back = if dir == Dir::Input { Dir::Output } else { Dir::Input };
        let mut b = self.group("Registers of the descriptor, as written.");
        for name in ["set_cache", "set_first", "set_stride", "set_count", "set_rows", "set_streams"] {
            b = b.port(dir, name.into(), 32, "");
        }
        b.port(dir, "set_flags".into(), 32, "Value written to DESC_PUSH, held until checked.")
            .port(dir, "push".into(), 1, "One pulse: the descriptor is pushed.")
            .port(back, "checked".into(), 1, "One pulse: it is queued or refused.")
            .port(back, "refuse_valid".into(), 1, "One pulse: it is refused.")
            .port(back, "refuse_cause".into(), 5, "Bit of ERROR.")
            .port(back, "refuse_where".into(), 16, "")
    }

    /// Descriptors as the queue takes them: those of the registers, or of the list.
    pub(in crate::emit::rtl) fn put(self, dir: Dir) -> Self {
        let back = if dir == Dir::Input { Dir::Output } else { Dir::Input };
        let mut b = self.group("The descriptor that is checked.");
        for name in PUT {
            b = b.port(dir, name.into(), 32, "");
        }
        b.port(dir, "put_flags".into(), 32, "Word of DESC_PUSH, held until checked.")
            .port(dir, "put".into(), 1, "One pulse: the descriptor is pushed.")
            .port(back, "put_checked".into(), 1, "One pulse: it is queued or refused.")
            .port(back, "put_refuse".into(), 1, "One pulse: it is refused.")
            .port(back, "put_cause".into(), 5, "Bit of ERROR.")
            .port(back, "put_where".into(), 16, "")
    }

    /// Failures of a run.
    pub(in crate::emit::rtl) fn failing(self, dir: Dir) -> Self {
        self.group("The cause that ends a run, or prevents its start.")
            .port(dir, "fail_valid".into(), 1, "One pulse.")
            .port(dir, "fail_cause".into(), 5, "Bit of ERROR.")
            .port(dir, "fail_where".into(), 16, "")
    }

    /// Outputs that saturated logits make void; the run goes on.
    pub(in crate::emit::rtl) fn voided(self, dir: Dir) -> Self {
        self.group("An output is void: a logit of its head was beyond the range.")
            .port(dir, "saturated_valid".into(), 1, "One pulse a head, before its output is written.")
            .port(dir, "saturated_where".into(), 16, "Number of the output: stream * QUERY_HEADS + head.")
    }

    /// Reads of the arguments' words.
    pub(in crate::emit::rtl) fn words(self, dir: Dir) -> Self {
        let back = if dir == Dir::Input { Dir::Output } else { Dir::Input };
        self.group("Words of the arguments, read in sequence.")
            .port(dir, "scan_active".into(), 1, "The memory of arguments is in use; accesses wait.")
            .port(dir, "scan_word".into(), "ARG_WORD_BITS", "Word address.")
            .port(back, "scan_data".into(), 32, "The word there.")
            .port(back, "args_changed".into(), 1, "One pulse: a word was given another value.")
            .port(back, "args_word".into(), "ARG_WORD_BITS", "Its address.")
    }

    /// Status of a run.
    pub(in crate::emit::rtl) fn shown(self, dir: Dir) -> Self {
        self.group("Status of the run.")
            .port(dir, "run_busy".into(), 1, "A run or a reset is under way.")
            .port(dir, "over".into(), 1, "One pulse: a run is over.")
            .port(dir, "run_state".into(), 4, "State, as in STATUS.")
            .port(dir, "run_due".into(), 16, "Streams with outputs not written yet.")
            .port(dir, "owed".into(), 1, "Memory still owes answers.")
            .port(dir, "epoch".into(), "EPOCH_BITS", "Number of the last reset.")
            .port(dir, "cycles".into(), 64, "Cycles of the run.")
            .port(dir, "runs".into(), 32, "Completed runs.")
    }

    /// Inputs of a run from the registers.
    pub(in crate::emit::rtl) fn wishes(self, dir: Dir) -> Self {
        self.group("Requests of the host.")
            .port(dir, "start".into(), 1, "A run is requested, until it is over.")
            .port(dir, "soft_reset".into(), 1, "One pulse: everything is aborted and reset.")
            .port(dir, "query_streams".into(), 32, "Streams whose queries are loaded.")
            .port(dir, "list_count".into(), 32, "Descriptors that a run takes from the list.")
            .port(dir, "token_streams".into(), 32, "Caches whose new tokens are loaded.")
            .port(dir, "watchdog".into(), 32, "Cycles without progress that abort a run.")
    }

    pub(in crate::emit::rtl) fn selected(self, dir: Dir) -> Self {
        let back = if dir == Dir::Input { Dir::Output } else { Dir::Input };
        self.group("The selected counter.")
            .port(dir, "select_index".into(), 5, "")
            .port(dir, "select_group".into(), 2, "")
            .port(dir, "select_tile".into(), 9, "")
            .port(dir, "select_changed".into(), 1, "One pulse: the selection changes.")
            .port(back, "count_valid".into(), 1, "Its total is valid.")
            .port(back, "count_data".into(), 32, "The total.")
    }

    /// AXI4-Lite, as a Vitis kernel has it.
    pub(in crate::emit::rtl) fn axi_lite(self) -> Self {
        let port = |name: &str| format!("s_axi_control_{name}");
        self.group("AXI4-Lite: registers.")
            .input(port("awvalid"), 1, "")
            .output(port("awready"), 1, "")
            .input(port("awaddr"), "ADDRESS_BITS", "Bytes.")
            .input(port("wvalid"), 1, "")
            .output(port("wready"), 1, "")
            .input(port("wdata"), 32, "")
            .input(port("wstrb"), 4, "Bytes enabled for writing.")
            .output(port("bvalid"), 1, "")
            .input(port("bready"), 1, "")
            .output(port("bresp"), 2, "Always OKAY.")
            .input(port("arvalid"), 1, "")
            .output(port("arready"), 1, "")
            .input(port("araddr"), "ADDRESS_BITS", "Bytes.")
            .output(port("rvalid"), 1, "")
            .input(port("rready"), 1, "")
            .output(port("rdata"), 32, "")
            .output(port("rresp"), 2, "Always OKAY.")
    }

    /// Read channels of an AXI4 master.
    pub(in crate::emit::rtl) fn axi_read(self, prefix: &str, id: &str) -> Self {
        let port = |name: &str| format!("{prefix}{name}");
        self.output(port("arvalid"), 1, "")
            .input(port("arready"), 1, "")
            .output(port("araddr"), 64, "Bytes.")
            .output(port("arid"), id, "Epoch, and the core's ID of the burst.")
            .output(port("arlen"), 8, "Beats less one.")
            .output(port("arsize"), 3, "Bytes of a beat, as a power of two.")
            .output(port("arburst"), 2, "INCR.")
            .input(port("rvalid"), 1, "")
            .output(port("rready"), 1, "Always.")
            .input(port("rdata"), "FLIT_WIDTH", "")
            .input(port("rid"), id, "")
            .input(port("rresp"), 2, "")
            .input(port("rlast"), 1, "")
    }

    /// Reads within the front, at the requester: addresses are relative, beats are always taken.
    pub(in crate::emit::rtl) fn asked(self, prefix: &str) -> Self {
        self.reads(prefix, [Dir::Input, Dir::Output])
    }

    /// Reads within the front, at the responder.
    pub(in crate::emit::rtl) fn asking(self, prefix: &str) -> Self {
        self.reads(prefix, [Dir::Output, Dir::Input])
    }

    fn reads(self, prefix: &str, [there, back]: [Dir; 2]) -> Self {
        let port = |name: &str| format!("{prefix}{name}");
        self.port(there, port("arvalid"), 1, "")
            .port(back, port("arready"), 1, "")
            .port(there, port("arid"), "ID_WIDTH", "")
            .port(there, port("araddr"), "ADDR_WIDTH", "Bytes.")
            .port(there, port("arlen"), 8, "Beats less one.")
            .port(back, port("rvalid"), 1, "A beat; it is always taken.")
            .port(back, port("rid"), "ID_WIDTH", "")
            .port(back, port("rdata"), "FLIT_WIDTH", "")
            .port(back, port("rresp"), 2, "")
            .port(back, port("rlast"), 1, "")
    }

    /// Write channels of an AXI4 master.
    pub(in crate::emit::rtl) fn axi_write(self, prefix: &str, id: &str, doc: &'static str) -> Self {
        let port = |name: &str| format!("{prefix}{name}");
        self.output(port("awvalid"), 1, "")
            .input(port("awready"), 1, "")
            .output(port("awaddr"), 64, "Bytes.")
            .output(port("awid"), id, doc)
            .output(port("awlen"), 8, "Beats less one.")
            .output(port("awsize"), 3, "Bytes of a beat, as a power of two.")
            .output(port("awburst"), 2, "INCR.")
            .output(port("wvalid"), 1, "")
            .input(port("wready"), 1, "")
            .output(port("wdata"), "FLIT_WIDTH", "")
            .output(port("wstrb"), "FLIT_BYTES_NUM", "")
            .output(port("wlast"), 1, "")
            .input(port("bvalid"), 1, "")
            .output(port("bready"), 1, "Always.")
            .input(port("bid"), id, "")
            .input(port("bresp"), 2, "")
    }

    /// Counters and errors of the core.
    pub(in crate::emit::rtl) fn ports_of_core(mut self, core: &ModuleSpec, names: &[&str]) -> Self {
        self = self.group("Counters and errors of the core.");
        for name in names {
            let port = core.ports.iter().find(|p| p.name == *name).expect("a core shows it");
            self = self.port(Dir::Input, port.name.clone(), port.width.expr.as_str(), port.doc);
        }
        self
    }
}
