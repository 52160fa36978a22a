//! The values of all blocks, and the bodies of the kernels.

use crate::design::Design;
use crate::emit::rtl::pad::row::Rows;
use crate::emit::rtl::spec::values::Values;
use crate::emit::rtl::{board, device, mare, network, pad, reduce, takv};
use crate::kernels;
use anyhow::Result;

/// All values of a design; `rows` are those of PaD.
///
/// # Errors
/// If a kernel does not print: an error of this crate.
pub(in crate::emit::rtl) fn values(design: &Design, rows: &Rows) -> Result<Values> {
    let mut values = Values::default();
    network::values::set(&mut values, design);
    mare::values::set(&mut values, design);
    takv::values::set(&mut values, design);
    reduce::values::set(&mut values, design);
    pad::values::set(&mut values, design);
    rows.set(&mut values);
    board::set(&mut values, design);
    device::values::set(&mut values, design);
    for kernel in kernels::all()? {
        values.set(format!("kernel_{}", kernel.name), kernel.body.trim_end());
    }
    Ok(values)
}
