"""The library in C (host/meshkv_c.h) through ctypes."""

import ctypes
import threading
from collections import namedtuple

import numpy as np

from . import arrays


class Failed(Exception):
    """The card refuses or fails."""


class Refused(ValueError):
    """Bad input. Nothing was written."""


class Void(ArithmeticError):
    """A logit was beyond the range, so some outputs are void. `outputs` has them all."""

    def __init__(self, message, outputs):
        super().__init__(message)
        self.outputs = outputs


class _Shape(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_uint32)
        for name in ("layers", "query_heads", "kv_heads", "head_dim", "max_streams", "max_tokens", "device_appends", "window", "element_bytes", "scaled", "packed", "pages", "page_tokens", "sinks")
    ]


class _Layer(ctypes.Structure):
    _fields_ = [("window", ctypes.c_uint32), ("sinks", ctypes.c_uint32)]


class _Attention(ctypes.Structure):
    _fields_ = [("sm_scale", ctypes.c_float), ("window", ctypes.c_uint32), ("sinks", ctypes.c_void_p)]


# The window of a call that has that of its layer.
_LAYER_WINDOW = 0xFFFFFFFF

Layer = namedtuple("Layer", ["window", "sinks"])
Layer.__doc__ = "Tokens that attention looks back in a layer, 0 for all, and whether its heads have sinks."

Shape = namedtuple("Shape", [name for name, _ in _Shape._fields_])
Shape.__doc__ = "What a caller must know of the design."

_DONE, _FAILED, _REFUSED, _VOID = range(4)

# Axes of queries and outputs.
_HEADS = "[stream][head][dim]"


class Device:
    """A card with a meshkv design.

    `library` is the path of libmeshkv.so, which is built for one design, `xclbin` that of its bitstream. A run that takes
    longer than `limit` seconds is cut off. `layers` of the model: a step ends with the last of them.

    Arrays are objects with the array interface or DLPack, of the host's memory: of numpy, tensors of PyTorch. FP16 without
    gaps is read where it lies; all else is converted, and a number beyond FP16 is refused. Results are FP16, those of
    `partials` FP32, in new arrays, or in those of `out`, which are returned.

    Several threads may call a device. Its calls run one after the other, and other threads of Python go on meanwhile.
    """

    def __init__(self, library, xclbin, card=0, limit=10.0, interrupt=False, layers=0):
        self._handle = ctypes.c_void_p()
        # Held during each call: the handle must outlive it. Not by ctypes.PyDLL, which would hold up all of Python.
        self._calls = threading.Lock()
        self._library = ctypes.CDLL(str(library))
        self._library.meshkv_message.restype = ctypes.c_char_p
        self._library.meshkv_shape_of_design.restype = _Shape
        self._library.meshkv_layer_of_design.restype = _Layer
        self._library.meshkv_layer_of_design.argtypes = [ctypes.c_uint32]
        self._library.meshkv_cycles.restype = ctypes.c_uint64
        self._library.meshkv_cycles.argtypes = [ctypes.c_void_p]
        self._library.meshkv_close.argtypes = [ctypes.c_void_p]
        self._library.meshkv_close.restype = None
        self._declare()
        self.shape = Shape(*(getattr(self._library.meshkv_shape_of_design(), name) for name in Shape._fields))
        path = str(xclbin).encode()
        self._check(self._library.meshkv_open(path, card, int(limit * 1000), int(interrupt), layers, ctypes.byref(self._handle)))

    def _call(self, name, *arguments, result=None):
        """Calls a function of the library on this device, and returns `result`, or raises what the status says."""
        with self._calls:
            status = getattr(self._library, "meshkv_" + name)(self._handle, *arguments)
            # The library keeps a message for each thread: that of this call.
            return self._check(status, result)

    def _declare(self):
        handle, number, count, data = ctypes.c_void_p, ctypes.c_uint32, ctypes.c_size_t, ctypes.c_void_p
        batch = [handle, number, data, count]
        for name, arguments in {
            "open": [ctypes.c_char_p, number, number, ctypes.c_int, number, data],
            "begin": [handle, number],
            "share": [handle, number, number],
            "copy": [handle, number, number],
            "fork": [handle, number, number, number],
            "free_pages": [handle, data],
            "tables": [*batch, data, data, count, data],
            "end": [handle, number],
            "length": [handle, number, number, data],
            "factors": [handle, number, data, data],
            "sm_scale": [handle, ctypes.c_float],
            "narrow": [handle, ctypes.c_int, ctypes.c_int],
            "append": [handle, number, number, number, data, data],
            "sinks": [handle, number, data],
            "attend": [*batch, data, data, data],
            "append_and_attend": [*batch, data, data, data, data, data],
            "partials": [*batch, data, data, data, data, data],
        }.items():
            getattr(self._library, "meshkv_" + name).argtypes = arguments

    def close(self):
        """Closes the card after the call that another thread may be in. Streams are gone, and further calls are refused."""
        with self._calls:
            handle, self._handle = self._handle, ctypes.c_void_p()
            self._library.meshkv_close(handle)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def begin(self, stream, prefix=None, copy=None):
        """Begins a stream: empty, with the tokens of `prefix` without a copy of them, or with a copy of those of `copy`."""
        if prefix is not None and copy is not None:
            raise Refused("a stream shares a prefix or has a copy, not both")
        if prefix is not None:
            self._call("share", stream, prefix)
        elif copy is not None:
            self._call("copy", stream, copy)
        else:
            self._call("begin", stream)

    def fork(self, stream, origin, tokens):
        """Begins a stream with the first tokens of another, whose pages it shares until either grows."""
        self._call("fork", stream, origin, tokens)

    @property
    def free_pages(self):
        """Pages that no stream holds."""
        pages = ctypes.c_uint32()
        self._call("free_pages", ctypes.byref(pages))
        return pages.value

    def tables(self, layer, streams):
        """Page tables of streams as FlashInfer has them: indptr [stream + 1], indices, last_page_len [stream]."""
        batch = np.ascontiguousarray(streams, np.uint32)
        indptr, last = np.zeros(len(batch) + 1, np.uint32), np.zeros(len(batch), np.uint32)
        indices = np.zeros(max(1, len(batch) * -(-self.shape.max_tokens // self.shape.page_tokens)), np.uint32)
        places = [array.ctypes.data for array in (indptr, indices)]
        self._call("tables", layer, batch.ctypes.data, len(batch), *places, len(indices), last.ctypes.data)
        return indptr, indices[: indptr[-1]], last

    def end(self, stream):
        """Ends a stream, whose number may begin again."""
        self._call("end", stream)

    def length(self, stream, layer):
        """Tokens of a stream in a layer."""
        tokens = ctypes.c_uint32()
        self._call("length", stream, layer, ctypes.byref(tokens))
        return tokens.value

    def factors(self, layer, keys, values):
        """Factors of the keys and of the values of a layer, one a KV head: a number of the cache times its factor is what was
        appended. Only while the layer has no token."""
        k, v = (np.ascontiguousarray(np.broadcast_to(one, self.shape.kv_heads), np.float32) for one in (keys, values))
        self._call("factors", layer, k.ctypes.data, v.ctypes.data)

    def sm_scale(self, scale):
        """The scale of q.k before the softmax, of all layers; 1 / sqrt(d_h) before the first call."""
        self._call("sm_scale", scale)

    def layer(self, layer):
        """What a layer of the model attends to: its window and whether its heads have sinks."""
        made = self._library.meshkv_layer_of_design(layer)
        return Layer(made.window, bool(made.sinks))

    def sinks(self, layer, logits):
        """Attention sinks of a layer, a logit a query head, from now on; -inf: none. Partial results are without them."""
        given = self._logits(logits)
        self._call("sinks", layer, given.ctypes.data)

    def narrow(self, keys, values):
        """Numbers of nine bits instead of 18 meet the keys, and the values, of all layers: two heads pass where one does."""
        self._call("narrow", int(keys), int(values))

    def append(self, layer, stream, keys, values):
        """Appends the tokens of a prompt: keys and values [KV head][token][dim]."""
        axes = "[KV head][token][dim]"
        k = self._given("keys", keys, (self.shape.kv_heads, None, self.shape.head_dim), axes)
        v = self._given("values", values, k.shape, axes)
        self._call("append", layer, stream, k.shape[1], k.ctypes.data, v.ctypes.data)

    def attend(self, layer, streams, queries, sm_scale=None, window=None, sinks=None, out=None):
        """Attention of each stream to its tokens: queries [stream][head][dim] to outputs of that shape.

        `sm_scale`, `window` (tokens that it looks back, 0 for all) and `sinks` (a logit a query head) are those of this call;
        without them those of the device and the layer. Outputs go into `out` if it is given, FP16 of that shape without gaps.
        """
        batch, q = self._batch(streams, queries)
        outputs = self._taken("out", out, q.shape, _HEADS, np.float16)
        how, _keep = self._how(sm_scale, window, sinks)
        arguments = [layer, batch.ctypes.data, len(batch), q.ctypes.data, outputs.ctypes.data, how]
        return self._call("attend", *arguments, result=outputs if out is None else out)

    def append_and_attend(self, layer, streams, queries, keys, values, sm_scale=None, window=None, sinks=None, out=None):
        """The same after a new token of each stream: keys and values [stream][KV head][dim]."""
        batch, q = self._batch(streams, queries)
        outputs = self._taken("out", out, q.shape, _HEADS, np.float16)
        shape, axes = (len(batch), self.shape.kv_heads, self.shape.head_dim), "[stream][KV head][dim]"
        k, v = self._given("keys", keys, shape, axes), self._given("values", values, shape, axes)
        how, _keep = self._how(sm_scale, window, sinks)
        data = [array.ctypes.data for array in (q, k, v, outputs)]
        return self._call("append_and_attend", layer, batch.ctypes.data, len(batch), *data, how, result=outputs if out is None else out)

    def partials(self, layer, streams, queries, sm_scale=None, window=None, out=None):
        """Partial results l [stream][head], m of that shape, and o [stream][head][dim] before normalisation, for `merge`.

        `out`: three arrays for them, FP32.
        """
        batch, q = self._batch(streams, queries)
        if out is not None and len(out) != 3:
            raise Refused(f"out has {len(out)} arrays, and partial results are three: l, m and o")
        given = (None, None, None) if out is None else out
        shapes = [(q.shape[:2], "[stream][head]"), (q.shape[:2], "[stream][head]"), (q.shape, _HEADS)]
        l, m, o = (self._taken(f"out[{at}]", one, *shape, np.float32) for at, (one, shape) in enumerate(zip(given, shapes)))
        how, _keep = self._how(sm_scale, window, None)
        arguments = [layer, batch.ctypes.data, len(batch), *(array.ctypes.data for array in (q, l, m, o)), how]
        return self._call("partials", *arguments, result=(l, m, o) if out is None else out)

    @property
    def cycles(self):
        """Cycles of the device in the last call."""
        with self._calls:
            return self._library.meshkv_cycles(self._handle)

    def _logits(self, sinks):
        return np.ascontiguousarray(np.broadcast_to(sinks, self.shape.query_heads), np.float32)

    def _how(self, sm_scale, window, sinks):
        """How a call attends, as the library takes it, and the array that must outlive the call."""
        if sm_scale is None and window is None and sinks is None:
            return None, None
        logits = None if sinks is None else self._logits(sinks)
        of_layer = _LAYER_WINDOW if window is None else window
        made = _Attention(sm_scale or 0.0, of_layer, None if logits is None else logits.ctypes.data)
        return ctypes.byref(made), (made, logits)

    def _batch(self, streams, queries):
        batch = np.ascontiguousarray(streams, np.uint32)
        shape = (len(batch), self.shape.query_heads, self.shape.head_dim)
        return batch, self._given("queries", queries, shape, _HEADS)

    @staticmethod
    def _given(name, array, shape, axes):
        try:
            return arrays.given(array, name, shape, axes)
        except ValueError as why:
            raise Refused(str(why)) from why

    @staticmethod
    def _taken(name, array, shape, axes, dtype):
        try:
            return arrays.taken(array, name, shape, axes, dtype)
        except ValueError as why:
            raise Refused(str(why)) from why

    def _check(self, status, result=None):
        if status == _DONE:
            return result
        message = self._library.meshkv_message().decode()
        if status == _REFUSED:
            raise Refused(message)
        if status == _VOID:
            raise Void(message, result)
        raise Failed(message)
