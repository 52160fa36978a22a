"""Constants of a generated fabric, read from its C headers.

`Headers("sw").CTRL` is the value of `MESHKV_CTRL`, and `Headers("sw").ARG_HBM(2)` that of a macro with an argument.
"""

import re
from pathlib import Path

FILES = ("meshkv_registers.h", "meshkv_shape.h")
DEFINITION = re.compile(r"^#define MESHKV_(\w+)(?:\((\w+)\))?[ \t]+(.+?)[ \t]*(?:/\*.*)?$", re.MULTILINE)
# Numbers of C, whose suffix Python has not.
NUMBER = re.compile(r"\b(0x[0-9a-fA-F]+|[0-9]+)u(?:ll)?\b")


class Headers:
    """Macros of both headers as attributes, without the prefix `MESHKV_`."""

    def __init__(self, folder):
        for name in FILES:
            text = (Path(folder) / name).read_text()
            for macro, argument, value in DEFINITION.findall(text):
                setattr(self, macro, _value(argument, NUMBER.sub(r"\1", value)))

    def field(self, name, value):
        """A value at the place of its field, `field("DESC_ROWS_LAST", 7)`."""
        mask, shift = getattr(self, f"{name}_MASK"), getattr(self, f"{name}_SHIFT")
        if value << shift & ~mask:
            raise ValueError(f"{value} does not fit {name}")
        return value << shift

    def causes(self, error):
        """Names of the causes that are set in the register ERROR."""
        bits = [name for name in vars(self) if name.startswith("ERROR_") and not name.endswith(("_SHIFT", "_MASK"))]
        return [name for name in bits if name != "ERROR_INFO" and getattr(self, name) & error]


def _value(argument, text):
    """An expression of integers in C, which Python reads in the same way; a function if it has an argument."""
    return eval(f"lambda {argument}: {text}" if argument else text, {"__builtins__": {}})
