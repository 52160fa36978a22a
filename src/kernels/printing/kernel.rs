//! [`Kernel`]: the printed text of a block, ready to be inserted into a shell.

use crate::kernels::printing::error::PrintError;
use crate::kernels::printing::print::body;
use crate::kernels::printing::symbols::{signals, Dir};
use rust_hdl::core::block::Block;

/// A printed kernel, ready for a shell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kernel {
    /// Snake-case name; templates see the body as `kernel_<name>`.
    pub name: &'static str,
    /// Its decision, in one line.
    pub doc: &'static str,
    /// Statements for the inside of an `always @(*) begin ... end` of a module, indented by eight
    /// spaces, without a newline at the end.
    pub body: String,
    /// Signals the shell provides.
    pub inputs: Vec<String>,
    /// Signals the body assigns on every path; the shell declares them `reg`.
    pub outputs: Vec<String>,
    /// Numbers the shell provides as `parameter` or `localparam`.
    pub constants: Vec<String>,
}

impl Kernel {
    /// Prints `block`, whose widths may be any: they leave no trace in the text.
    pub(in crate::kernels) fn print(
        name: &'static str,
        doc: &'static str,
        block: &impl Block,
    ) -> Result<Kernel, PrintError> {
        let signals = signals(block)?;
        let named = |dir| signals.iter().filter(|s| s.dir == dir).map(|s| s.name.clone()).collect();
        Ok(Kernel {
            name,
            doc,
            body: body(block)?,
            inputs: named(Dir::Input),
            outputs: named(Dir::Output),
            constants: named(Dir::Constant),
        })
    }
}
