//! Tests of descriptions for other tools, each with the public tool from PyPI that reads it.

mod bench;
mod buffers;
mod decoder;
mod files;
mod fusesoc;
mod ipxact;
mod python;
mod systemrdl;
mod testbench;
