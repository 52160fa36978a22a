"""Layout of keys and values in memory, as the fabric reads them: the Python form of host/meshkv_cache.hpp."""


class Cache:
    """Addresses of slices and their contents. `h` has the constants of the fabric."""

    def __init__(self, h):
        self.h = h

    def home(self, layer, segment):
        """Home tile of a segment before any swap, y * COLS + x."""
        h = self.h
        if h.PLACEMENT == h.PLACEMENT_TAKV:
            x = (layer + h.COLUMN_STRIDE * (segment // h.ROWS)) % h.COLS
            return (h.ROW_STRIDE * layer + segment) % h.ROWS * h.COLS + x
        if h.PLACEMENT == h.PLACEMENT_ROUND_ROBIN:
            return (layer * h.MAX_SEGMENTS + segment) % (h.COLS * h.ROWS)
        return 0

    def block(self, layer, segment):
        """Index of a segment among those of its home."""
        h = self.h
        if h.PLACEMENT == h.PLACEMENT_TAKV:
            return layer // h.COLS * -(-h.MAX_SEGMENTS // h.ROWS) + segment // h.ROWS
        if h.PLACEMENT == h.PLACEMENT_ROUND_ROBIN:
            return (layer * h.MAX_SEGMENTS + segment) // (h.COLS * h.ROWS)
        return layer * h.MAX_SEGMENTS + segment

    def offset(self, stream, layer, segment, kv_head):
        """First byte of a slice, counted from the first home."""
        h = self.h
        region = self.home(layer, segment) * h.MAX_STREAMS + stream
        block = region * h.BLOCKS_OF_HOME + self.block(layer, segment)
        return (block * h.KV_HEADS + kv_head) * h.SLICE_BYTES

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
