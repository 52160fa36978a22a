"""Attention on a meshkv device: arrays of numpy and tensors in and out.

    import meshkv
    with meshkv.Device("build/libmeshkv.so", "build/meshkv.xclbin") as device:
        device.begin(0)
        device.append(layer, 0, keys, values)                  # a prompt: [KV head][token][dim]
        out = device.append_and_attend(layer, [0], q, k, v)    # [stream][head][dim]
"""

from .device import Device, Failed, Refused, Shape, Void
from .half import half
from .reference import attention, merge
from .safetensors import load

__all__ = ["Device", "Failed", "Refused", "Shape", "Void", "attention", "half", "load", "merge"]
