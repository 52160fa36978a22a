"""A reader of safetensors files, which are a header in JSON and the tensors' bytes."""

import difflib
import json
import os
import struct

import numpy as np

_TYPES = {
    "F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "i1",
    "U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "u1", "BOOL": "?", "BF16": "<u2",
}  # fmt: skip

# Bytes of a header at most, as the format has it.
_MOST_HEADER = 100_000_000

# First bytes of other files; each with what it is, and the way out.
_OTHERS = [
    (b"version https://git-lfs", "is a pointer of Git LFS: fetch the file itself with `git lfs pull`"),
    (b"PK\x03\x04", "is a ZIP archive, as PyTorch's files are: save the tensors with `safetensors`"),
    (b"\x80\x02", "is a pickle, as old PyTorch's files are: save the tensors with `safetensors`"),
    (b"GGUF", "is a GGUF file, which has weights: save queries, keys and values with `safetensors`"),
    (b"\x93NUMPY", "is an array of numpy: read it with `numpy.load`"),
    (b"<", "is a page of the web or XML: was the download refused?"),
    (b"{", "is JSON, as the index of a model in several files is: name the file with the tensors"),
]


def load(path, names):
    """Reads tensors by name as a list of arrays; BF16 becomes float32. Only the header and these tensors are read.

    Raises ValueError, which names the file and the rule, if the file is unsound or lacks one of them.
    """

    def rule(text):
        return ValueError(f"{path} {text}")

    with open(path, "rb") as file:
        whole = file.seek(0, os.SEEK_END)
        file.seek(0)
        header, first = _header(file, whole, rule)
        arrays = []
        for name in names:
            if name not in header:
                raise rule(f"has no tensor {name}" + _instead(name, header))
            dtype, shape, begin, end = _entry(name, header[name], whole - first, rule)
            file.seek(first + begin)
            data = file.read(end - begin)
            array = np.frombuffer(data, _TYPES[dtype])
            if dtype == "BF16":
                # The upper half of a float.
                array = (array.astype("<u4") << 16).view("<f4")
            arrays.append(array.reshape(shape))
        return arrays


def _header(file, whole, rule):
    """The entries of a file of so many bytes, and the byte at which its tensors begin."""
    head = file.read(512)
    try:
        if whole < 8:
            raise rule(f"is no safetensors file: it has {whole} bytes, and ends in its header")
        (size,) = struct.unpack("<Q", head[:8])
        if size > _MOST_HEADER or 8 + size > whole:
            raise rule(f"is no whole safetensors file: its header has {size} bytes, the file {whole}, and a header {_MOST_HEADER} at most")
        file.seek(8)
        try:
            header = json.loads(file.read(size).decode("utf-8"))
        except (ValueError, RecursionError) as why:
            raise rule("is no safetensors file: its header is no JSON in UTF-8") from why
        if not isinstance(header, dict):
            raise rule(f"is no safetensors file: its header is a {type(header).__name__}, not an object of tensors by name")
    except ValueError:
        for begin, what in _OTHERS:
            if head.lstrip().startswith(begin):
                raise rule(f"is no safetensors file, but {what[3:]}") from None
        raise
    header.pop("__metadata__", None)
    return header, 8 + size


def _entry(name, entry, there, rule):
    """Type, shape, first byte and end of a tensor, of which each is sound. The file has `there` bytes of tensors."""

    def is_size(number):
        return isinstance(number, int) and not isinstance(number, bool) and number >= 0

    def are_sizes(numbers):
        return isinstance(numbers, list) and all(map(is_size, numbers))

    if not isinstance(entry, dict) or not {"dtype", "shape", "data_offsets"} <= entry.keys():
        raise rule(f"is damaged: the header's entry of tensor {name} needs dtype, shape and data_offsets, and is {str(entry)[:60]}")
    dtype, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
    if dtype not in list(_TYPES):
        raise rule(f"has tensor {name} of type {str(dtype)[:20]}: one of {', '.join(_TYPES)} can be read, so convert it")
    if not are_sizes(shape):
        raise rule(f"is damaged: tensor {name} has the shape {str(shape)[:60]}, which is no list of sizes")
    if not are_sizes(offsets) or len(offsets) != 2 or offsets[0] > offsets[1]:
        raise rule(f"is damaged: tensor {name} has the data_offsets {str(offsets)[:60]}, which are no first byte and end")
    begin, end = offsets
    needed = np.dtype(_TYPES[dtype]).itemsize
    for number in shape:
        needed *= number
    if end - begin != needed:
        raise rule(f"is damaged: tensor {name} of shape {shape} and type {dtype} takes {needed} bytes, and its data_offsets give {end - begin}")
    if end > there:
        raise rule(f"is cut off: tensor {name} ends at byte {end} of the tensors, and there are {there}; is the download complete?")
    return dtype, shape, begin, end


def _instead(name, header):
    """What a file has instead of a tensor: the most similar names, a few however many there are."""
    if not header:
        return ", and no other"
    names = list(header)
    # Names that end alike first: comparing a name with a hundred thousand takes seconds.
    alike = [one for one in names if one.rpartition(".")[2] == name.rpartition(".")[2]] or names
    near = difflib.get_close_matches(name, alike[:2000], n=3, cutoff=0.0)
    near = ", ".join(one if len(one) <= 60 else one[:60] + "..." for one in near)
    weight = next((one for one in names if one.endswith(".weight")), None)
    text = f", but {len(names)} others; the nearest: {near}"
    if weight and not any(one.endswith(".q") for one in names):
        text += ". It seems to have the weights of a model, and attention takes the queries, keys and values that a model computes with them"
    return text
