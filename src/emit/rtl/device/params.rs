//! Parameter values of the front, and the values of its templates for registers and wires.

use crate::design::registers::{
    error, named, Access, Register, ADDRESS_BITS, BUFFER_ALIGN, DESC_QUEUE, EPOCH_BITS, ERRORS, REGISTERS,
};
use crate::design::{index_bits, pad_events, Design, TILE_EVENTS};
use crate::emit::rtl::module::{Dir, ModuleBuilder, ModuleSpec, PortSpec};
use std::collections::BTreeMap;

/// Registers that store the written value unchanged.
const KEPT: [&str; 11] = [
    "DESC_CACHE",
    "DESC_FIRST",
    "DESC_STRIDE",
    "DESC_COUNT",
    "DESC_ROWS",
    "DESC_STREAMS",
    "QUERY_STREAMS",
    "LIST_COUNT",
    "TOKEN_STREAMS",
    "WATCHDOG",
    "COUNTER_SELECT",
];

/// Totals of a router's links.
const LINK_COUNTERS: u32 = 25;

/// Bits of an offset in the buffers of queries and outputs.
const IO_ADDR_WIDTH: u32 = 32;

/// Beats for which a reader of queries or new tokens has places, and those of its longest burst.
const READER_PLACES: u32 = 32;
const READER_BURST: u32 = 16;

/// Parameter values of the front.
pub(in crate::emit::rtl) struct DeviceParams {
    pub(in crate::emit::rtl) queue: u32,
    streams: u32,
    heads: u32,
    layers: u32,
    segments: u32,
    arguments: u32,
    base_log: u32,
    pub(in crate::emit::rtl) host_id: u32,
    flit_bytes: u32,
    flit_log: u32,
    sums_at: u32,
    states_at: u32,
    tokens_at: u32,
    query_bursts: u32,
    pad_counters: u32,
    row_boundaries: String,
    pub(in crate::emit::rtl) part_lsb: u32,
    pub(in crate::emit::rtl) part_width: u32,
    identity: Vec<(&'static str, u32)>,
    ports: Vec<String>,
}

impl DeviceParams {
    pub(in crate::emit::rtl) fn of(design: &Design) -> DeviceParams {
        let model = &design.config.model;
        let arguments = design.arguments();
        DeviceParams {
            queue: DESC_QUEUE,
            streams: model.max_streams,
            heads: model.heads,
            layers: model.layers,
            segments: design.placement.segments,
            arguments: arguments.len() as u32,
            base_log: design.base_align().trailing_zeros(),
            host_id: design.axi_id_width(),
            flit_bytes: design.flit.data_width / 8,
            flit_log: (design.flit.data_width / 8).ilog2(),
            sums_at: design.partial_sums_at(),
            states_at: design.partial_states_at(),
            tokens_at: design.tokens_at(),
            query_bursts: query_bursts(design),
            pad_counters: pad_events(design).len() as u32,
            row_boundaries: row_boundaries(design),
            part_lsb: design.memory.part_width(),
            part_width: design.memory.addr_width - design.memory.part_width(),
            identity: design.identity(),
            ports: arguments[2..design.list_argument() as usize].to_vec(),
        }
    }

    /// Names of the ports to external memory.
    pub(in crate::emit::rtl) fn ports(&self) -> &[String] {
        &self.ports
    }

    /// Bits of an AXI ID of the core.
    pub(in crate::emit::rtl) fn core_id(&self) -> u32 {
        self.host_id - EPOCH_BITS
    }

    fn argument_words(&self) -> u32 {
        4 + 3 * self.arguments
    }

    /// Values of the registers for the templates of the front.
    pub(in crate::emit::rtl) fn values(&self) -> BTreeMap<String, tera::Value> {
        let word = |r: &Register| format!("10'h{:03x}", r.offset / 4);
        let row = |pairs: &[(&str, String)]| {
            tera::Value::from_iter(pairs.iter().map(|(k, v)| ((*k).to_owned(), tera::Value::from(v.clone()))))
        };
        let lower = |r: &Register| r.name.to_lowercase();
        let writable: Vec<_> = REGISTERS
            .iter()
            .filter(|r| r.access.writes())
            .map(|r| row(&[("name", lower(r)), ("word", word(r))]))
            .collect();
        let reads: Vec<_> = REGISTERS
            .iter()
            .map(|r| row(&[("name", r.name.to_owned()), ("word", word(r)), ("value", self.read(r))]))
            .collect();
        // COUNTER_SELECT is written only if the selected counter exists.
        let kept = |name: &str| {
            let reset = named(name).reset();
            let row: [(&str, tera::Value); 3] = [
                ("name", name.to_lowercase().into()),
                ("reset", reset.into()),
                ("masked", (name != "COUNTER_SELECT").into()),
            ];
            tera::Value::from_iter(row.map(|(k, v)| (k.to_owned(), v)))
        };
        let mut values: BTreeMap<String, tera::Value> = BTreeMap::from([
            ("kept".to_owned(), KEPT.map(kept).to_vec().into()),
            ("addresses".to_owned(), writable.into()),
            ("reads".to_owned(), reads.into()),
            ("num_errors".to_owned(), ERRORS.len().into()),
            ("ctrl_word".to_owned(), word(named("CTRL")).into()),
            ("cycles_low_word".to_owned(), word(named("CYCLES_LOW")).into()),
        ]);
        for cause in &ERRORS {
            let name = format!("error_{}", cause.name.to_lowercase());
            values.insert(name, format!("5'd{}", error(cause.name).bit).into());
        }
        values
    }

    /// Verilog expression for the read value of a register.
    fn read(&self, register: &Register) -> String {
        if let Some((_, value)) = self.identity.iter().find(|(name, _)| *name == register.name) {
            return format!("32'h{value:08x}");
        }
        let lower = register.name.to_lowercase();
        match register.name {
            _ if register.access == Access::WriteOnly => "32'd0".to_owned(),
            name if KEPT.contains(&name) => format!("{lower}_q"),
            "CYCLES_LOW" => "cycles[31:0]".to_owned(),
            "CYCLES_HIGH" => "high_q".to_owned(),
            _ if register.fields.is_empty() => lower,
            _ => fields(register),
        }
    }
}

/// Bursts of an epoch at most that memory owes to the readers of list and queries, which take turns, and of new tokens.
///
/// A reader asks while it has places for its longest burst. Those of queries are the shortest: a head's.
fn query_bursts(design: &Design) -> u32 {
    let head_flits = 16 * design.config.pe.head_dim / design.flit.data_width;
    let burst = if head_flits == 0 { READER_BURST } else { head_flits.min(READER_BURST) };
    let of_tokens = if design.append.is_some() { READER_PLACES / READER_BURST } else { 0 };
    (READER_PLACES - READER_BURST) / burst + 1 + of_tokens
}

/// Verilog literal with two bits for each of sixteen rows.
fn row_boundaries(design: &Design) -> String {
    let of_row = |row| if row < design.mesh.rows() { design.boundaries(row) } else { 0 };
    let bits: Vec<_> = (0..16).rev().map(|row| format!("{:02b}", of_row(row))).collect();
    format!("32'b{}", bits.join("_"))
}

/// The fields of a register as a concatenation of wires named after them, zeros between.
fn fields(register: &Register) -> String {
    let mut parts = Vec::new();
    let mut top = 32;
    for field in register.fields.iter().rev() {
        let end = field.lsb + field.width;
        if end < top {
            parts.push(format!("{}'d0", top - end));
        }
        parts.push(format!("{}_{}", register.name, field.name).to_lowercase());
        top = field.lsb;
    }
    if top > 0 {
        parts.push(format!("{top}'d0"));
    }
    format!("{{{}}}", parts.join(", "))
}

/// Declarations of the wires between parts that are not ports of the whole, each once.
pub(in crate::emit::rtl) fn wires_between(
    parts: &[&ModuleSpec],
    whole: &ModuleSpec,
    but: &[&str],
) -> Vec<String> {
    let mut seen: Vec<&str> = Vec::new();
    let mut wires = Vec::new();
    let inner = |p: &&PortSpec| {
        p.dir == Dir::Output
            && !whole.ports.iter().any(|w| w.name == p.name)
            && !but.contains(&p.name.as_str())
    };
    for port in parts.iter().flat_map(|part| &part.ports).filter(inner) {
        if !seen.contains(&port.name.as_str()) {
            seen.push(&port.name);
            wires.push(wire(&port.name, &port.width.expr));
        }
    }
    wires
}

/// A declaration.
pub(in crate::emit::rtl) fn wire(name: &str, width: &str) -> String {
    match width.parse::<u32>() {
        Ok(1) => format!("wire {name};"),
        Ok(n) => format!("wire [{}:0] {name};", n - 1),
        Err(_) => format!("wire [{width}-1:0] {name};"),
    }
}

/// The documentation of each parameter, once.
impl ModuleBuilder {
    /// Adds the front's parameters of these `names` that the module lacks.
    ///
    /// # Panics
    /// If there is no such parameter: a slip in this crate.
    pub(in crate::emit::rtl) fn front(mut self, w: &DeviceParams, names: &[&str]) -> Self {
        for name in names {
            if !self.has_param(name) {
                self = self.front_param(w, name);
            }
        }
        self
    }

    fn front_param(self, w: &DeviceParams, name: &str) -> Self {
        let words = index_bits(w.argument_words());
        match name {
            "FLIT_WIDTH" => self.param("FLIT_WIDTH", 8 * w.flit_bytes, "Width of a flit's payload in bits."),
            "FLIT_LOG" => self.param("FLIT_LOG", w.flit_log, "The same as a power of two: an AXI size."),
            "FLIT_BYTES_NUM" => self.param("FLIT_BYTES_NUM", w.flit_bytes, "Bytes of a flit."),
            "SUMS_AT" => self.param(
                "SUMS_AT",
                w.sums_at,
                "Byte in the buffer of outputs where o of partial results begins.",
            ),
            "STATES_AT" => self.param(
                "STATES_AT",
                w.states_at,
                "Byte in the buffer of outputs where l and m of partial results begin.",
            ),
            "TOKENS_AT" => {
                self.param("TOKENS_AT", w.tokens_at, "Byte in the buffer of queries where new tokens begin.")
            }
            "QUERY_BURSTS" => self.param(
                "QUERY_BURSTS",
                w.query_bursts,
                "Bursts of queries, list and new tokens of an epoch at most that memory owes.",
            ),
            "STREAMS_NUM" => self.param("STREAMS_NUM", w.streams, "Streams that can be decoded at once."),
            "QUERY_HEADS" => self.param("QUERY_HEADS", w.heads, "Query heads of the model."),
            "NUM_LAYERS" => self.param("NUM_LAYERS", w.layers, "Layers of the model."),
            "NUM_SEGMENTS" => {
                self.param("NUM_SEGMENTS", w.segments, "Segments of a layer at the longest context.")
            }
            "NUM_ARGUMENTS" => self.param(
                "NUM_ARGUMENTS",
                w.arguments,
                "Arguments: queries, outputs, one base address a memory port, and the list.",
            ),
            "ARG_BITS" => {
                self.param("ARG_BITS", index_bits(w.arguments), "Width of an argument's number in bits.")
            }
            "ARG_WORD_BITS" => {
                self.param("ARG_WORD_BITS", words, "Width of an argument's word address in bits.")
            }
            "BASE_LOG" => self.param("BASE_LOG", w.base_log, "Low bits of a port's base address that are 0."),
            "BUFFER_LOG" => self.param(
                "BUFFER_LOG",
                BUFFER_ALIGN.trailing_zeros(),
                "Low bits of the addresses of queries, outputs and list that are 0.",
            ),
            "ROW_BOUNDARIES" => {
                let doc =
                    "Two bits a row: number of SLR boundaries, with registers, between it and the front.";
                self.bits_param("ROW_BOUNDARIES", "[31:0]", w.row_boundaries.clone(), doc)
            }
            "EPOCH_BITS" => self.param("EPOCH_BITS", EPOCH_BITS, "Bits of an AXI ID that number resets."),
            "HOST_ID_WIDTH" => self.param("HOST_ID_WIDTH", w.host_id, "EPOCH_BITS + AXI_ID_WIDTH."),
            "IO_ADDR_WIDTH" => {
                self.param("IO_ADDR_WIDTH", IO_ADDR_WIDTH, "Width of an offset in the buffer of queries.")
            }
            "ADDRESS_BITS" => {
                self.param("ADDRESS_BITS", ADDRESS_BITS, "Width of a register's byte address in bits.")
            }
            "DESC_QUEUE" => self.param("DESC_QUEUE", w.queue, "Descriptors that wait in the front."),
            "LINK_COUNTERS" => self.param("LINK_COUNTERS", LINK_COUNTERS, "Totals of a tile's links."),
            "EVENT_COUNTERS" => self.param(
                "EVENT_COUNTERS",
                TILE_EVENTS.len() as u32,
                "Totals of a tile's fetches and fills.",
            ),
            "PAD_COUNTERS" => self.param("PAD_COUNTERS", w.pad_counters, "Totals of PaD."),
            _ => panic!("no parameter {name}"),
        }
    }
}
