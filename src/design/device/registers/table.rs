//! Tables of all registers, error causes and counter groups.

use crate::design::device::registers::register::{Access, BitField, Consequence, ErrorCause, Register};

const fn field(name: &'static str, lsb: u32, width: u32, doc: &'static str) -> BitField {
    BitField { name, lsb, width, doc, access: None }
}

const fn register(
    offset: u32,
    name: &'static str,
    access: Access,
    doc: &'static str,
    fields: &'static [BitField],
) -> Register {
    Register { name, offset, access, doc, fields }
}

/// A cause for which a request is refused.
const fn refusal(bit: u32, name: &'static str, doc: &'static str, place: &'static str) -> ErrorCause {
    ErrorCause { name, bit, consequence: Consequence::Refuses, doc, place }
}

/// A cause that ends a run or keeps it from beginning.
const fn end(bit: u32, name: &'static str, doc: &'static str, place: &'static str) -> ErrorCause {
    ErrorCause { name, bit, consequence: Consequence::Ends, doc, place }
}

/// A cause that makes outputs of a run void.
const fn void(bit: u32, name: &'static str, doc: &'static str, place: &'static str) -> ErrorCause {
    ErrorCause { name, bit, consequence: Consequence::Voids, doc, place }
}

/// All causes by their bits.
pub const ERRORS: [ErrorCause; 32] = [
    refusal(
        0,
        "ACCESS",
        "A register that is not there, or may not be written, was accessed; nothing changed",
        "byte address",
    ),
    refusal(1, "START_BUSY", "CTRL.AP_START was written during a run, or DOORBELL while one waited; it did nothing", "0"),
    refusal(2, "SELECT", "COUNTER_SELECT names a counter that is not there", "0"),
    refusal(3, "DESC_LAYER", "Descriptor refused: no such layer", "layer"),
    refusal(4, "DESC_PREFIX", "Descriptor refused: no such stream or prefix", "prefix"),
    refusal(
        5,
        "DESC_SEGMENTS",
        "Descriptor refused: no segments, a stride of 0, or segments beyond the longest context",
        "first segment",
    ),
    refusal(
        6,
        "DESC_ROWS",
        "Descriptor refused: a token beyond the segment, or the last before the first of the only one",
        "first token",
    ),
    refusal(7, "DESC_STREAMS", "Descriptor refused: no streams, or streams that are not there", "first stream"),
    refusal(8, "DESC_MAPPING", "Descriptor refused: no such mapping", "mapping"),
    refusal(9, "DESC_MIXED", "Descriptor refused: another layer than the first of its run", "layer"),
    refusal(
        10,
        "DESC_CLOSED",
        "Descriptor refused: a stream that an earlier one of its run has closed",
        "first stream",
    ),
    refusal(11, "DESC_FULL", "Descriptor refused: the queue is full, or is being emptied by a reset", "0"),
    end(12, "START_EMPTY", "Run refused: there is no descriptor", "0"),
    end(
        13,
        "START_OPEN",
        "Run refused: a stream that attends is not closed by the run's descriptors",
        "how many",
    ),
    end(14, "START_QUERIES", "Run refused: more streams' queries than there are streams", "QUERY_STREAMS"),
    end(15, "ARGUMENT", "Run refused: an argument is misaligned", "number of the argument"),
    end(16, "MEMORY", "A read of external memory was answered by an error", "tile"),
    end(17, "MEMORY_TIMEOUT", "External memory did not answer", "tile"),
    end(18, "QUERY_READ", "A read of queries or new tokens was answered by an error", "0: queries, 1: new tokens"),
    end(19, "OUTPUT_WRITE", "A write of outputs was answered by an error", "0"),
    end(20, "IO_TIMEOUT", "The memory of queries and outputs did not answer", "0: read, 1: write, 2: list, 3: new tokens"),
    end(21, "WATCHDOG", "Nothing moved for WATCHDOG cycles", "state of the run"),
    end(
        22,
        "RESET",
        "The run was cut off by a soft reset, or memory still owes answers to cut-off runs",
        "0: cut off, 1: owed, 2: what computes was reset alone",
    ),
    end(
        23,
        "START_UNLOADED",
        "Run refused: a stream attends whose queries were not loaded since the core's last reset",
        "highest stream that attends",
    ),
    void(
        24,
        "SATURATED",
        "A logit was beyond 2^31 before its scale and saturated; the run goes on, the output of its head is void",
        "stream * QUERY_HEADS + head",
    ),
    end(
        25,
        "START_LIST",
        "Run refused: a descriptor of its list was refused, for the cause DESC_ that is set with this",
        "number of the descriptor in the list, from 0",
    ),
    end(26, "LIST_READ", "A read of the list was answered by an error", "0"),
    refusal(
        27,
        "DESC_APPEND",
        "Descriptor refused: it appends to a cache that several streams attend to (copy it first) or that has a new token already, or the design has no kv.append",
        "first stream",
    ),
    end(
        28,
        "START_TOKENS",
        "Run refused: a cache appends whose new token is not loaded, or tokens of more caches than there are",
        "TOKEN_STREAMS",
    ),
    end(29, "TOKEN_WRITE", "A write of a new token was answered by an error", "memory port"),
    end(30, "TOKEN_TIMEOUT", "External memory did not take or answer a write of a new token", "memory port"),
    end(
        31,
        "PARITY",
        "A word had a wrong parity (noc.parity)",
        "tile, and from bit 8 on where it came from: 1: the north, 2: the south, 3: the east, 4: the west, 5: the tile to its router, 6: the router to the tile, 7: the FIFO to the array",
    ),
];

/// Groups of counters, by their number in `COUNTER_SELECT.GROUP`.
pub const COUNTER_GROUPS: [(&str, &str); 4] = [
    ("LINK", "what the links of the tile's router carried"),
    ("EVENT", "what the tile's fetching and filling did"),
    ("PAD", "what the tile computed"),
    ("ERRORS", "bit 0: an error of memory, bit 1: it did not answer, bits 4 to 2: place of a wrong parity; index 0 only"),
];

/// All registers but the arguments, by their addresses.
pub const REGISTERS: [Register; 37] = {
    use Access::{ReadClears, ReadOnly, ReadWrite, WriteClears, WriteOnly, WriteSets, WriteToggles};
    [
        register(0x000, "CTRL", ReadWrite, "Control, as ap_ctrl_hs has it.", &[
            field("AP_START", 0, 1, "Write 1 to begin a run; reads 1 until it is done").with(WriteSets),
            field("AP_DONE", 1, 1, "A run is over; cleared by reading").with(ReadClears),
            field("AP_IDLE", 2, 1, "No run and no reset is under way").with(ReadOnly),
            field("AP_READY", 3, 1, "The next run may be started; cleared by reading").with(ReadClears),
            field("AUTO_RESTART", 7, 1, "Begin again when done; an error clears it"),
        ]),
        register(0x004, "GIE", ReadWrite, "Global interrupt enable.", &[field("ENABLE", 0, 1, "The interrupt line may rise")]),
        register(0x008, "IER", ReadWrite, "Which interrupts are enabled.", INTERRUPTS),
        register(0x00c, "ISR", WriteToggles, "Which interrupts stand. The line is high while one does and GIE is set.", INTERRUPTS),
        register(0x800, "MAGIC", ReadOnly, "0x4d4b5631, \"MKV1\": this is a meshkv.", &[]),
        register(0x804, "MAP_VERSION", ReadOnly, "Version of this register map.", &[]),
        register(0x808, "DESIGN", ReadOnly, "First 32 bits of the SHA-256 of the configuration: whether a host and a bitstream belong together.", &[]),
        register(0x80c, "MESH", ReadOnly, "The mesh.", &[
            field("COLS", 0, 8, "Columns"), field("ROWS", 8, 8, "Rows"), field("PORTS", 16, 16, "Ports to external memory"),
        ]),
        register(0x810, "MODEL", ReadOnly, "The model.", &[
            field("LAYERS", 0, 16, "Layers"), field("STREAMS", 16, 16, "Streams that can be decoded at once"),
        ]),
        register(0x814, "HEADS", ReadOnly, "Its heads.", &[
            field("QUERY", 0, 16, "Query heads"), field("KV", 16, 16, "KV heads"),
        ]),
        register(0x818, "KV", ReadOnly, "Its cache.", &[
            field("TOKENS", 0, 16, "Tokens of a segment"), field("HEAD_DIM", 16, 16, "Elements of a head in memory"),
        ]),
        register(0x81c, "SEGMENTS", ReadOnly, "Segments of a layer at the longest context.", &[]),
        register(0x820, "SIZES", ReadOnly, "Sizes of the hardware.", &[
            field("FLIT_BYTES", 0, 16, "Bytes of a beat on every memory port"), field("DESC_QUEUE", 16, 16, "Descriptors that can wait"),
        ]),
        register(0x824, "LAYOUT", ReadOnly, "First 32 bits of the SHA-256 of all that the bytes of a host depend on: shape, window, places of slices and tokens, layout of buffers.", &[]),
        register(0x840, "DESC_CACHE", ReadWrite, "Whose cache the descriptor reads.", &[
            field("LAYER", 0, 16, "Layer"), field("PREFIX", 16, 16, "Stream or common prefix"),
        ]),
        register(0x844, "DESC_FIRST", ReadWrite, "First segment.", &[]),
        register(0x848, "DESC_STRIDE", ReadWrite, "Segments from one to the next, at least 1.", &[]),
        register(0x84c, "DESC_COUNT", ReadWrite, "Number of segments, at least 1.", &[]),
        register(0x850, "DESC_ROWS", ReadWrite, "Tokens that count.", &[
            field("FIRST", 0, 16, "First token of the first segment"), field("LAST", 16, 16, "Last token of the last segment"),
        ]),
        register(0x854, "DESC_STREAMS", ReadWrite, "Who attends.", &[
            field("FIRST", 0, 16, "First stream"), field("COUNT", 16, 16, "How many, at least 1"),
        ]),
        register(0x858, "DESC_PUSH", WriteOnly, "Checks the descriptor in the registers before it and puts it into the queue; these keep their values. Once a read after it is answered, so is the check.", &[
            field("MAPPING", 0, 2, "0: a tile a head, 1: the row of the home, 2: streams striped over the rows"),
            field("SHARE", 8, 1, "All heads get all slices"),
            field("CLOSE", 9, 1, "The streams' last of this layer: their outputs are due"),
            field("STEP", 10, 1, "The last of the decode step"),
            field("PARTIALS", 11, 1, "With CLOSE: the streams return l, m and o in FP32 instead of outputs"),
            field("APPEND", 12, 1, "The last token is new: the run has its K and V, and writes them into the cache"),
        ]),
        register(0x85c, "DESC_FREE", ReadOnly, "Descriptors that the queue has room for.", &[]),
        register(0x860, "QUERY_STREAMS", ReadWrite, "Streams whose queries a run loads first: 0 to this less one. The core keeps queries until its next reset.", &[]),
        register(0x864, "LIST_COUNT", ReadWrite, "Descriptors that a run takes from the list at the argument list, after those that were pushed; 0: none.", &[]),
        register(0x868, "TOKEN_STREAMS", ReadWrite, "Caches whose new tokens a run loads from behind the queries: 0 to this less one; 0: none.", &[]),
        register(0x86c, "DOORBELL", WriteOnly, "Begins a run with all that it needs, and asks for its record: as writes of QUERY_STREAMS, LIST_COUNT, TOKEN_STREAMS and CTRL.AP_START, whose values stay. Written during a run it waits for its end; one may wait. A run that fails, or whose outputs are void, drops it.", &[
            field("COUNT", 0, 6, "Descriptors that the run takes from its slot of the list, as LIST_COUNT"),
            field("SLOT", 6, 10, "The slot: it begins at its number times MESHKV_LIST_SLOT_BYTES"),
            field("STREAMS", 16, 9, "Streams whose queries the run loads, as QUERY_STREAMS"),
            field("TOKENS", 31, 1, "The run loads new tokens of as many caches, as TOKEN_STREAMS"),
        ]),
        register(0x880, "STATUS", ReadOnly, "What goes on.", &[
            field("RUN", 0, 4, "State of the run: 0 idle, 1 arguments, 2 queries, 3 descriptors, 4 outputs, 5 over, 6 reset, 7 memory's last answers, 8 release, 9 list, 10 record"),
            field("CORE_IDLE", 4, 1, "Controllers have worked off all descriptors"),
            field("CORE_RESET", 5, 1, "The core is held in reset"),
            field("OWED", 6, 1, "Some memory has not answered everything yet"),
            field("WRITING", 7, 1, "A burst of outputs is being written"),
            field("EPOCH", 8, 2, "Number of the last reset, as AXI IDs carry it above the core's bits"),
            field("OUTPUTS", 16, 16, "Streams whose outputs are due and not all written"),
        ]),
        register(0x884, "ERROR", WriteClears, "What went wrong, a bit a cause, until it is cleared.", &[]),
        register(0x888, "ERROR_INFO", ReadOnly, "The first error since ERROR was 0.", &[
            field("CAUSE", 0, 8, "Its bit in ERROR"), field("WHERE", 16, 16, "Where, as the cause says"),
        ]),
        register(0x88c, "WATCHDOG", ReadWrite, "Cycles without progress after which a run is given up; 1048576 after a reset.", &[]),
        register(0x890, "SOFT_RESET", WriteOnly, "Write 1: cut off the run, empty the queue, reset the core.", &[field("GO", 0, 1, "Begin")]),
        register(0x8a0, "CYCLES_LOW", ReadOnly, "Cycles of the last run, or of this one so far, low word. Reading it keeps the high word of the same cycle for CYCLES_HIGH.", &[]),
        register(0x8a4, "CYCLES_HIGH", ReadOnly, "Their high word when CYCLES_LOW was read.", &[]),
        register(0x8c0, "COUNTER_SELECT", ReadWrite, "The counter that COUNTER_DATA shows.", &[
            field("INDEX", 0, 5, "Its number in the group"), field("GROUP", 8, 2, "Its group"), field("TILE", 16, 9, "Tile y * COLS + x"),
        ]),
        register(0x8c4, "COUNTER_VALID", ReadOnly, "1 when COUNTER_DATA shows what was selected: within 64 cycles, unless the core is in reset.", &[]),
        register(0x8c8, "COUNTER_DATA", ReadOnly, "Total of the counter since the core's last reset, modulo 2^32.", &[]),
        register(0x8cc, "RUNS", ReadOnly, "Runs that are over, modulo 2^32.", &[]),
    ]
};

/// The register by which a host writes the table of pages, where a design has one: behind all others.
pub const PAGE: Register = register(
    0x8d0,
    "PAGE",
    Access::WriteOnly,
    "Writes an entry of the table of pages: from bit 0 on the page, then the segment, then the cache; MESHKV_PAGE_SEGMENT_SHIFT and MESHKV_PAGE_CACHE_SHIFT say where. A page beyond the last is an error of ACCESS, and nothing changes. Runs under way may see either page.",
    &[],
);

/// Interrupts. The first two are those of Vitis HLS.
const INTERRUPTS: &[BitField] = &[
    field("DONE", 0, 1, "A run is over"),
    field("READY", 1, 1, "The next run may be started"),
    field("ERROR", 2, 1, "A bit of ERROR was set"),
];
