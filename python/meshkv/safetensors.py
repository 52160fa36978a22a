"""A reader of safetensors files, which are a header in JSON and the tensors' bytes."""

import json
import struct

import numpy as np

_TYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "i1", "U8": "u1", "BOOL": "?"}


def load(path, names):
    """Reads tensors by name as a list of arrays. Raises ValueError with the names there are if one is missing."""
    with open(path, "rb") as file:
        head = file.read(8)
        if len(head) < 8:
            raise ValueError(f"{path} is no safetensors file: it ends in its header")
        (size,) = struct.unpack("<Q", head)
        try:
            header = json.loads(file.read(size))
        except ValueError as why:
            raise ValueError(f"{path} is no safetensors file: its header is no JSON") from why
        header.pop("__metadata__", None)
        arrays = []
        for name in names:
            if name not in header:
                raise ValueError(f"{path} has no tensor {name}, but " + ", ".join(sorted(header)))
            of = header[name]
            if of["dtype"] not in _TYPES and of["dtype"] != "BF16":
                raise ValueError(f"{path}: tensor {name} is of {of['dtype']}")
            begin, end = of["data_offsets"]
            file.seek(8 + size + begin)
            data = file.read(end - begin)
            if of["dtype"] == "BF16":
                # The upper half of a float.
                array = (np.frombuffer(data, "<u2").astype("<u4") << 16).view("<f4")
            else:
                array = np.frombuffer(data, _TYPES[of["dtype"]])
            arrays.append(array.reshape(of["shape"]))
        return arrays
