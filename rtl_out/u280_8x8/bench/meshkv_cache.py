"""Layout of keys and values in memory, as the fabric reads them: the Python form of host/meshkv_cache.hpp."""


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

    def slice(self, keys, values):
        """Elements of a slice from rows of ROW_ELEMENTS elements. Values are transposed in blocks of as many tokens as a flit
        has elements; the rest of a segment is zeros."""
        h = self.h
        lanes, dims = h.FLIT_BYTES // 2, h.ROW_ELEMENTS
        half = h.HALF_FLITS * lanes
        words = [0.0] * (2 * half)
        for token, (key, value) in enumerate(zip(keys, values)):
            words[token * dims:(token + 1) * dims] = key
            for dim in range(dims):
                words[half + (token // lanes * dims + dim) * lanes + token % lanes] = value[dim]
        return words
