//! Parameter values of the converters.

use crate::design::Design;

/// Parameter values of the converters.
pub(in crate::emit::rtl) struct Axi3Params {
    pub(in crate::emit::rtl) id: u32,
    pub(in crate::emit::rtl) flit: u32,
    pub(in crate::emit::rtl) hbm: u32,
    pub(in crate::emit::rtl) ratio: u32,
    pub(in crate::emit::rtl) addr: u32,
}

impl Axi3Params {
    /// Values for a design; none where it has [no converters](Design::hbm_ratio).
    pub(in crate::emit::rtl) fn of(design: &Design) -> Option<Axi3Params> {
        let ratio = design.hbm_ratio()?;
        let flit = design.flit.data_width;
        Some(Axi3Params {
            id: design.axi_id_width(),
            flit,
            hbm: flit / ratio,
            ratio,
            addr: design.hbm_address_bits(),
        })
    }
}
