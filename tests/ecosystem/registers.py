"""Compiles registers in SystemRDL and prints each of their fields.

A line a field: path of the register below the map, address, field, lowest bit, width, software access, effect of a
write, effect of a read, value after a reset.
"""

import sys

from systemrdl import RDLCompiler
from systemrdl.node import FieldNode


def main():
    compiler = RDLCompiler()
    compiler.compile_file(sys.argv[1])
    top = compiler.elaborate().top
    for field in top.descendants(unroll=True):
        if isinstance(field, FieldNode):
            register = field.parent
            word = [getattr(field.get_property(p), "name", "-") for p in ("sw", "onwrite", "onread")]
            reset = field.get_property("reset")
            print(register.get_rel_path(top), register.absolute_address, field.inst_name, field.lsb, field.width, *word,
                  "-" if reset is None else reset)


main()
