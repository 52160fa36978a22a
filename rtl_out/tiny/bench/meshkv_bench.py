"""A cocotb bench of meshkv_top: AXI4-Lite drives the registers, AXI4 memories serve all ports, and Python checks attention.

It is an example to start from. The constants come from the generated headers, so it fits every generated fabric.
"""

import logging
import math
import random
import struct
from pathlib import Path

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge, with_timeout
from cocotbext.axi import (AxiBus, AxiLiteBus, AxiLiteMaster, AxiReadBus, AxiSlave, AxiSlaveRead, SparseMemoryRegion)

from meshkv_cache import Cache, Row
from meshkv_headers import Headers

HERE = Path(__file__).resolve().parent
# FuseSoC copies the bench and puts the headers below it.
H = Headers(next(folder for folder in (HERE / "sw", HERE.parent / "sw") if folder.is_dir()))

# Periods of the network's clock and of PaD's in ns, unrelated.
NETWORK_NS, PAD_NS = 4.0, 3.7
# Buffers of the host and the base of the cache: anywhere, aligned.
QUERIES, OUTPUTS, CACHE = 0x1_0000_0000, 0x1_4000_0000, 0x2_0000_0000
LAYER = 1 % H.LAYERS
# A first token that is not the first of its segment, and a last segment that is not full.
FIRST, TOKENS = 1, 2 * H.SEGMENT_TOKENS + 3


class Device:
    """meshkv_top with its clocks, memories and registers."""

    def __init__(self, dut, seed=None):
        self.dut = dut
        self.memory = SparseMemoryRegion(2**64)
        cocotb.start_soon(Clock(dut.ap_clk, NETWORK_NS, unit="ns").start())
        cocotb.start_soon(Clock(dut.ap_clk_2, PAD_NS, unit="ns").start())
        network = {"clock": dut.ap_clk, "reset": dut.ap_rst_n, "reset_active_level": False}
        self.registers = AxiLiteMaster(AxiLiteBus.from_prefix(dut, "s_axi_control"), **network)
        io = AxiSlave(AxiBus.from_prefix(dut, "m_axi_io"), target=self.memory, **network)
        # Memory ports write where a run can append to the cache.
        slave, bus = (AxiSlave, AxiBus) if H.APPEND else (AxiSlaveRead, AxiReadBus)
        ports = [slave(bus.from_prefix(dut, f"m_axi_hbm{port:02}"), target=self.memory, **network)
                 for port in range(H.PORTS)]
        readers = [port.read_if if H.APPEND else port for port in ports]
        writers = [io.write_if, *(port.write_if for port in ports if H.APPEND)]
        for model in (self.registers.write_if, self.registers.read_if, io.read_if, *readers, *writers):
            model.log.setLevel(logging.WARNING)
        if seed is not None:
            # Every channel that the memories drive pauses at random.
            channels = [c for port in (*readers, io.read_if) for c in (port.ar_channel, port.r_channel)]
            channels += [c for port in writers for c in (port.aw_channel, port.w_channel, port.b_channel)]
            for number, channel in enumerate(channels):
                channel.set_pause_generator(_pauses(random.Random(seed * 1000 + number)))

    async def reset(self):
        """Resets both clocks and waits until the core is out of its reset."""
        self.dut.ap_rst_n.value = self.dut.ap_rst_n_2.value = 0
        await ClockCycles(self.dut.ap_clk, 16)
        self.dut.ap_rst_n.value = self.dut.ap_rst_n_2.value = 1
        await RisingEdge(self.dut.ap_clk)
        while not await self.read(H.CTRL) & H.CTRL_AP_IDLE_MASK:
            pass

    async def read(self, offset):
        return await self.registers.read_dword(offset)

    async def write(self, offset, value):
        await self.registers.write_dword(offset, value)

    async def argument(self, offset, value):
        """Writes an argument of 64 bits, modulo 2^64."""
        await self.write(offset, value & 0xFFFF_FFFF)
        await self.write(offset + 4, value >> 32 & 0xFFFF_FFFF)

    async def push(self, stream, tokens, mapping, append=0):
        """Pushes a descriptor: a stream attends to tokens FIRST to `tokens` - 1 of its cache, the last of which may be new."""
        segments = -(-tokens // H.SEGMENT_TOKENS)
        f = H.field
        await self.write(H.DESC_CACHE, f("DESC_CACHE_LAYER", LAYER) | f("DESC_CACHE_PREFIX", stream))
        await self.write(H.DESC_FIRST, 0)
        await self.write(H.DESC_STRIDE, 1)
        await self.write(H.DESC_COUNT, segments)
        last = (tokens - 1) % H.SEGMENT_TOKENS
        await self.write(H.DESC_ROWS, f("DESC_ROWS_FIRST", FIRST) | f("DESC_ROWS_LAST", last))
        await self.write(H.DESC_STREAMS, f("DESC_STREAMS_FIRST", stream) | f("DESC_STREAMS_COUNT", 1))
        step = int(stream == H.MAX_STREAMS - 1)
        flags = f("DESC_PUSH_STEP", step) | f("DESC_PUSH_APPEND", append)
        await self.write(H.DESC_PUSH, f("DESC_PUSH_MAPPING", mapping) | H.DESC_PUSH_CLOSE_MASK | flags)

    async def run(self, streams, tokens=0):
        """Starts a run that loads the queries of some streams and the new tokens of some caches first, waits for its
        interrupt, and returns its cycles."""
        await self.write(H.QUERY_STREAMS, streams)
        await self.write(H.TOKEN_STREAMS, tokens)
        await self.write(H.IER, H.IER_DONE_MASK)
        await self.write(H.GIE, H.GIE_ENABLE_MASK)
        await self.write(H.CTRL, H.CTRL_AP_START_MASK)
        await with_timeout(RisingEdge(self.dut.interrupt), 2, "ms")
        error = await self.read(H.ERROR)
        assert error == 0, H.causes(error)
        assert await self.read(H.CTRL) & H.CTRL_AP_DONE_MASK
        # A bit of ISR toggles when it is written as 1.
        await self.write(H.ISR, H.ISR_DONE_MASK)
        assert int(self.dut.interrupt.value) == 0
        low = await self.read(H.CYCLES_LOW)
        return low | await self.read(H.CYCLES_HIGH) << 32


def _pauses(rng):
    """True in a cycle in which a channel pauses."""
    while True:
        yield rng.random() < 0.3


def halves(numbers):
    """Numbers as FP16, little-endian."""
    return struct.pack(f"<{len(numbers)}e", *numbers)


def row(rng, spread):
    """A row of numbers that FP16 has; those behind the model's head are 0."""
    numbers = [rng.gauss(0, spread) for _ in range(H.HEAD_DIM)] + [0.0] * (H.ROW_ELEMENTS - H.HEAD_DIM)
    return list(struct.unpack(f"<{H.ROW_ELEMENTS}e", halves(numbers)))


def attention(query, keys, values):
    """Attention of one head in double precision."""
    logits = [sum(q * k for q, k in zip(query, key)) / math.sqrt(H.HEAD_DIM) for key in keys]
    weights = [math.exp(logit - max(logits)) for logit in logits]
    return [sum(w * value[dim] for w, value in zip(weights, values)) / sum(weights) for dim in range(H.ROW_ELEMENTS)]


async def store(device, keys, values):
    """Writes the cache of every stream and the bases of all ports. All ports read one flat buffer, which suits homes that
    swap as well as those that do not."""
    cache = Cache(H)
    for (stream, kv_head), rows in keys.items():
        for segment, at in enumerate(range(0, TOKENS, H.SEGMENT_TOKENS)):
            tokens = slice(at, at + H.SEGMENT_TOKENS)
            words = cache.slice(rows[tokens], values[stream, kv_head][tokens])
            await device.memory.write(CACHE + cache.offset(stream, LAYER, segment, kv_head), words)
    for port in range(H.PORTS):
        await device.argument(H.ARG_HBM(port), CACHE)


@cocotb.test()
async def registers_identify_the_design_and_refuse_what_is_not_there(dut):
    device = Device(dut)
    await device.reset()
    for name in ("MAGIC", "MAP_VERSION", "DESIGN", "MESH", "MODEL", "HEADS", "KV", "SEGMENTS", "SIZES", "LAYOUT"):
        assert await device.read(getattr(H, name)) == getattr(H, f"{name}_VALUE"), name
    await device.write(H.WATCHDOG, 0x1234_5678)
    assert await device.read(H.WATCHDOG) == 0x1234_5678
    await device.write(H.MAGIC, 0)
    assert await device.read(H.ERROR) == H.ERROR_ACCESS
    info = await device.read(H.ERROR_INFO)
    assert info == H.field("ERROR_INFO_CAUSE", 0) | H.field("ERROR_INFO_WHERE", H.MAGIC)
    await device.write(H.ERROR, H.ERROR_ACCESS)
    assert await device.read(H.ERROR) == 0


async def attend(device, mapping, append):
    """Attention of all streams, whose last token may be new; returns keys and values."""
    rng = random.Random(mapping)
    streams = range(H.MAX_STREAMS)
    queries = {(s, head): row(rng, 1) for s in streams for head in range(H.QUERY_HEADS)}
    rows = [(s, head) for s in streams for head in range(H.KV_HEADS)]
    cache = Cache(H)
    keys, values = ({at: [cache.row(row(rng, 1)) for _ in range(TOKENS)] for at in rows} for _ in range(2))

    await store(device, keys, values)
    await device.memory.write(QUERIES, b"".join(halves(query) for query in queries.values()))
    if H.SCALED:
        word = cache.scales(1 / math.sqrt(H.HEAD_DIM), 1.0)
        await device.memory.write(QUERIES + H.SCALES_AT, word * H.QUERY_HEADS)
    if append:
        # The last token is not in the cache but behind the queries.
        blank = [Row([7.0] * H.ROW_ELEMENTS)]
        await store(device, *({at: rows[:-1] + blank for at, rows in of.items()} for of in (keys, values)))
        if H.QUANTISES:
            await device.memory.write(QUERIES + H.FACTORS_AT, struct.pack("<ff", 1.0, 1.0) * H.KV_HEADS)
        new = b"".join(halves(keys[at][-1].given) + halves(values[at][-1].given) for at in rows)
        await device.memory.write(QUERIES + H.TOKENS_AT, new)
    await device.argument(H.ARG_QUERIES, QUERIES)
    await device.argument(H.ARG_OUTPUTS, OUTPUTS)
    for stream in streams:
        await device.push(stream, TOKENS, mapping, append)
    cycles = await device.run(H.MAX_STREAMS, H.MAX_STREAMS * append)

    worst = 0.0
    for number, ((stream, head), query) in enumerate(queries.items()):
        of = stream, head * H.KV_HEADS // H.QUERY_HEADS
        expected = attention(query, keys[of][FIRST:], values[of][FIRST:])
        raw = await device.memory.read(OUTPUTS + number * H.ROW_ELEMENTS * 2, H.ROW_ELEMENTS * 2)
        found = struct.unpack(f"<{H.ROW_ELEMENTS}e", raw)
        worst = max(worst, *(abs(a - b) for a, b in zip(found, expected)))
    device.dut._log.info("%d cycles, largest error %.6f", cycles, worst)
    # Outputs below 4 are rounded to FP16, and weights have 16 bits.
    assert worst < 2e-3, worst
    return keys, values


@cocotb.test()
@cocotb.parametrize(mapping=[0, 1, 2], seed=[None, 1])
async def outputs_are_the_attention_of_the_inputs(dut, mapping, seed):
    device = Device(dut, seed)
    await device.reset()
    await attend(device, mapping, 0)


@cocotb.test(skip=not H.APPEND)
@cocotb.parametrize(seed=[None, 1])
async def new_tokens_are_attended_to_and_are_in_the_cache(dut, seed):
    device = Device(dut, seed)
    await device.reset()
    keys, values = await attend(device, 1, 1)
    cache = Cache(H)
    for (stream, kv_head), rows in keys.items():
        for segment, at in enumerate(range(0, TOKENS, H.SEGMENT_TOKENS)):
            tokens = slice(at, at + H.SEGMENT_TOKENS)
            wanted = cache.slice(rows[tokens], values[stream, kv_head][tokens])
            place = CACHE + cache.offset(stream, LAYER, segment, kv_head)
            assert await device.memory.read(place, len(wanted)) == wanted, (stream, kv_head, segment)
