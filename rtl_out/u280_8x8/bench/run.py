#!/usr/bin/env python3
"""Builds the fabric with Verilator and runs the cocotb bench on it.

    python3 bench/run.py [build folder]

Needs cocotb, cocotbext-axi, and a Verilator that cocotb supports. FuseSoC's target sim does the same.
"""

import sys
from pathlib import Path

from cocotb_tools.check_results import get_results
from cocotb_tools.runner import get_runner

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent


def sources():
    """Paths of the file list, in its order."""
    (file_list,) = ROOT.glob("*.f")
    lines = file_list.read_text().splitlines()
    return [ROOT / line for line in lines if line and not line.startswith("//")]


def main():
    build = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build" / "cocotb").resolve()
    runner = get_runner("verilator")
    runner.build(
        sources=sources(),
        hdl_toplevel="meshkv_top",
        build_dir=build,
        timescale=("1ns", "1ps"),
        # The file list is linted elsewhere. Registers begin with any value, as in hardware.
        build_args=["-Wno-fatal", "--x-initial", "unique"],
    )
    results = runner.test(
        test_module="meshkv_bench",
        hdl_toplevel="meshkv_top",
        build_dir=build,
        test_dir=HERE,
        results_xml=str(build / "results.xml"),
        plusargs=["+verilator+rand+reset+2"],
    )
    tests, failed = get_results(results)
    if failed or not tests:
        sys.exit(f"{failed} of {tests} tests failed")


if __name__ == "__main__":
    main()
