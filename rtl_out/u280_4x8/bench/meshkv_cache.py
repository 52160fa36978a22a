"""Layout of keys and values in memory, as the fabric reads them: the Python form of host/meshkv_cache.hpp and
host/meshkv_numbers.hpp."""

import math
import struct


class Row(list):
    """A row of K or V as the cache has it: its values. `numbers` of the format times `scale` are these, `given` is what they
    were before."""

    def __init__(self, numbers, scale=1.0, given=None):
        super().__init__(number * scale for number in numbers)
        self.numbers, self.scale, self.given = numbers, scale, numbers if given is None else given


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

    def row(self, given):
        """The row that becomes of these numbers: by a scale of its own, where tokens have some."""
        if not self.h.TOKEN_SCALES:
            return Row([self.nearest(number) for number in given])
        scale, inverse = self.token_scale(given)
        return Row([self.nearest(number * inverse) for number in given], scale, given)

    def token_scale(self, given):
        """The scale of a row, which makes its largest number the largest of the format or a little less, and its inverse."""
        (largest,) = struct.unpack("<H", struct.pack("<e", max(map(abs, given))))
        normal = largest >> 10 > 0
        of = normal << 10 | largest & 0x3FF
        integers = self.h.FORMAT == self.h.FORMAT_INT8
        total = of + (of >> 7) + 1 if integers else of + (of >> 3) + (of >> 6) + (of >> 9) + 1
        carries = total >> 11
        exponent = (largest >> 10 if normal else 1) + carries - (7 if integers else 9)
        bits = 0x0400 if exponent < 1 else min(exponent << 10 | (total + carries >> carries) & 0x3FF, 0x3FFF)
        significand = 0x400 | bits & 0x3FF
        inverse = (2**26 + significand // 2) // significand * 2.0 ** (-1 - (bits >> 10))
        return struct.unpack("<e", struct.pack("<H", bits))[0], inverse

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
        """Bytes of a slice from rows of ROW_ELEMENTS elements. Scales of tokens come first, where they have some. Values are
        transposed in blocks of as many tokens as a flit has elements; the rest of a segment is zeros."""
        h = self.h
        lanes, dims = h.FLIT_BYTES // h.ELEMENT_BYTES, h.ROW_ELEMENTS
        half = h.HALF_FLITS * lanes
        words = [0.0] * (2 * half)
        for token, (key, value) in enumerate(zip(keys, values)):
            words[token * dims:(token + 1) * dims] = key.numbers
            for dim in range(dims):
                words[half + (token // lanes * dims + dim) * lanes + token % lanes] = value.numbers[dim]
        scales = b"".join(struct.pack("<ee", key.scale, value.scale) for key, value in zip(keys, values))
        before = h.KEY_BASE * h.FLIT_BYTES
        return scales[:before].ljust(before, b"\0") + self.packed(words)
