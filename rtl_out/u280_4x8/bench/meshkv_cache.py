"""Layout of keys and values in memory, as the fabric reads them: the Python form of host/meshkv_cache.hpp and
host/meshkv_numbers.hpp."""

import math
import struct


class Cache:
    """Addresses of slices and their contents. `h` has the constants of the fabric."""

    def __init__(self, h):
        self.h = h

    def region(self, stream, layer, segment, kv_head):
        """Region of memory of a slice's home before any swap, numbered along the rows of tiles."""
        h = self.h
        x, y = h.HUB_X, h.HUB_Y
        if h.PLACEMENT == h.PLACEMENT_TAKV:
            x = (layer + h.COLUMN_STRIDE * (segment // h.ROWS)) % h.COLS
            y = (h.ROW_STRIDE * layer + segment) % h.ROWS
        elif h.PLACEMENT == h.PLACEMENT_ROUND_ROBIN:
            number = layer * h.MAX_SEGMENTS + segment
            x, y = number % h.COLS, number // h.COLS % h.ROWS
        elif h.PLACEMENT == h.PLACEMENT_SLICE:
            # The column that computes the KV head. KV heads of a column and caches begin in rows of their own.
            x, place = divmod(kv_head, h.BLOCK_SLICES)
            y = (h.ROW_STRIDE * layer + segment + place * h.ROWS // h.BLOCK_SLICES + stream) % h.ROWS
        return y * h.ROW_REGIONS + x

    def block(self, layer, segment):
        """Index of a segment among those of its home, or of its homes in each column."""
        h = self.h
        if h.PLACEMENT == h.PLACEMENT_TAKV:
            return layer // h.COLS * -(-h.MAX_SEGMENTS // h.ROWS) + segment // h.ROWS
        if h.PLACEMENT == h.PLACEMENT_ROUND_ROBIN:
            return (layer * h.MAX_SEGMENTS + segment) // (h.COLS * h.ROWS)
        if h.PLACEMENT == h.PLACEMENT_SLICE:
            return layer * -(-h.MAX_SEGMENTS // h.ROWS) + segment // h.ROWS
        return layer * h.MAX_SEGMENTS + segment

    def offset(self, stream, layer, segment, kv_head):
        """Address of a slice as the fabric has it: the region of its home, and a byte of it."""
        h = self.h
        first = (stream * h.BLOCKS_OF_HOME + self.block(layer, segment)) * h.BLOCK_SLICES
        local = first + kv_head % h.BLOCK_SLICES
        return self.region(stream, layer, segment, kv_head) << h.REGION_WIDTH | local * h.SLICE_BYTES

    def nearest(self, number):
        """The number of the cache's format that is nearest, ties to even; what is beyond the largest becomes the largest."""
        h = self.h
        if number == 0 or h.ELEMENT_BYTES == 2:
            return number
        fraction, smallest, most = {
            h.FORMAT_FP8_E4M3: (3, -9, 448.0),
            h.FORMAT_FP8_E5M2: (2, -16, 57344.0),
            h.FORMAT_INT8: (10, 0, 127.0),
        }[h.FORMAT]
        place = 2.0 ** max(math.frexp(number)[1] - 1 - fraction, smallest)
        return max(-most, min(most, round(number / place) * place))

    def packed(self, numbers):
        """Bytes of numbers of the format."""
        h = self.h
        if h.FORMAT == h.FORMAT_INT8:
            return bytes(int(number) & 0xFF for number in numbers)
        halves = struct.pack(f"<{len(numbers)}e", *numbers)
        if h.ELEMENT_BYTES == 2:
            return halves
        if h.FORMAT == h.FORMAT_FP8_E5M2:
            return halves[1::2]
        # A subnormal number of E4M3 is below 2^-6. Others have a bias of 7 instead of 15.
        bits = (upper << 8 | lower for lower, upper in zip(halves[::2], halves[1::2]))
        sizes = (int(abs(number) * 512) if abs(number) < 2**-6 else (bit >> 7 & 0xFF) - 64 for number, bit in zip(numbers, bits))
        return bytes(size | (0x80 if math.copysign(1, number) < 0 else 0) for number, size in zip(numbers, sizes))

    def scales(self, logit, output):
        """The word with a head's scales: that of q.k before the softmax, and that of the output."""
        significand, exponent = math.frexp(logit / math.log(2))
        significand = round(significand * 2**26)
        if significand == 2**26:
            significand, exponent = significand // 2, exponent + 1
        return struct.pack("<If", significand | (exponent + 1 & 63) << 26, output)

    def slice(self, keys, values):
        """Elements of a slice from rows of ROW_ELEMENTS elements. Values are transposed in blocks of as many tokens as a flit
        has elements; the rest of a segment is zeros."""
        h = self.h
        lanes, dims = h.FLIT_BYTES // h.ELEMENT_BYTES, h.ROW_ELEMENTS
        half = h.HALF_FLITS * lanes
        words = [0.0] * (2 * half)
        for token, (key, value) in enumerate(zip(keys, values)):
            words[token * dims:(token + 1) * dims] = key
            for dim in range(dims):
                words[half + (token // lanes * dims + dim) * lanes + token % lanes] = value[dim]
        return words
