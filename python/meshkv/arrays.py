"""Arrays of callers as the library takes them: by the array interface or DLPack, without a copy where none is needed."""

import numpy as np

from .half import half

# Types of DLPack's devices whose memory this process reads: the CPU's, and what a GPU's driver has pinned there.
_CPU = (1, 3)


def _view(array, name):
    """The memory of an object as an array, or None if it shows none. Raises ValueError for memory of another device."""
    if hasattr(array, "__array_interface__"):
        return np.asarray(array)
    if not hasattr(array, "__dlpack__"):
        return None
    way = "copy them to the host first, a tensor of PyTorch with `.cpu()`"
    try:
        kind = int(array.__dlpack_device__()[0])
    except (ValueError, RuntimeError, TypeError) as why:
        raise ValueError(f"{name} are in no memory that is known: {why}; {way}") from why
    if kind not in _CPU:
        raise ValueError(f"{name} are in the memory of another device (type {kind} of DLPack): {way}")
    try:
        return np.from_dlpack(array)
    except (BufferError, RuntimeError, TypeError, AttributeError):
        # A type that numpy does not have, or a tensor with a gradient.
        return None


def given(array, name, shape, axes):
    """Numbers that a call reads, as FP16 without gaps: the caller's own memory where it is that already.

    `shape` is the one that the call takes, with None for any size, `axes` their names. Raises ValueError with what is wrong.
    """
    found = _view(array, name)
    made = half(array if found is None else found, name)
    if len(made.shape) == len(shape):
        shape = tuple(found if size is None else size for found, size in zip(made.shape, shape))
    if made.shape != shape:
        shape = str(shape).replace("None", "any")
        raise ValueError(f"{name} have the shape {made.shape}, not {shape}, which is {axes}")
    return made


def taken(array, name, shape, axes, dtype=np.float16):
    """An array that a call writes: the caller's memory itself, or a new one if `array` is None.

    Raises ValueError where results cannot be written there without a copy.
    """
    kind = np.dtype(dtype)
    if array is None:
        return np.empty(shape, kind)
    way = f"give numpy.empty({shape}, numpy.{kind.name}), or a tensor of that shape and type"
    found = _writable(array, name)
    if found is None:
        raise ValueError(f"{name} cannot be written: {type(array).__name__} is read-only or has no memory of its own; {way}")
    if found.dtype != kind:
        raise ValueError(f"{name} has the type {found.dtype}, and results are {kind.name}; {way}")
    if found.shape != shape:
        raise ValueError(f"{name} has the shape {found.shape}, not {shape}, which is {axes}; {way}")
    if not (found.flags.c_contiguous and found.flags.aligned):
        raise ValueError(f"{name} has gaps, and results lie without; {way}")
    return found


def _writable(array, name):
    """The memory of an object as an array that may be written; None if there is none."""
    found = _view(array, name)
    if found is None or found.flags.writeable:
        return found
    if isinstance(array, np.ndarray):
        return None
    # numpy before 2.1 takes all of DLPack for read-only. An array of the same place that may be written shows that it is not.
    try:
        other = np.asarray(array)
    except (TypeError, RuntimeError, ValueError):
        return None
    return other if other.flags.writeable and other.ctypes.data == found.ctypes.data else None
