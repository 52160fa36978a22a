//! Converters from the AXI4 ports of the top to a pseudo-channel of HBM, for the system without a shell.

use crate::design::Design;
use crate::emit::rtl::spec::template::{templates, Template};
use crate::emit::rtl::spec::values::Values;

/// Templates of its modules.
pub(super) const TEMPLATES: &[Template] = templates!(Board,
    "board":
        "meshkv_axi3_fifo", "meshkv_axi3_io", "meshkv_axi3_read", "meshkv_axi3_split",
        "meshkv_axi3_write";
);

/// The converters, which no other module instantiates; none if a flit is narrower than HBM.
pub(super) fn roots(design: &Design) -> &'static [&'static str] {
    match design.hbm_ratio() {
        Some(_) => &["meshkv_axi3_io"],
        None => &[],
    }
}

/// Sets the values of the converters.
pub(super) fn set(values: &mut Values, design: &Design) {
    let Some(ratio) = design.hbm_ratio() else { return };
    let width = design.flit.data_width / ratio;
    values.numbers(&[
        ("hbm_width", width),
        ("hbm_bytes", width / 8),
        ("hbm_ratio", ratio),
        ("hbm_addr_width", design.hbm_address_bits()),
    ]);
}
