//! The signals of a block under the names its shell uses.

use crate::kernels::printing::error::PrintError;
use rust_hdl::core::ast::VerilogLiteral;
use rust_hdl::core::atom::{Atom, AtomKind};
use rust_hdl::core::block::Block;
use rust_hdl::core::probe::Probe;
use rust_hdl::core::type_descriptor::TypeKind;

/// Direction of a signal, seen from the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dir {
    /// Given by the shell.
    Input,
    /// Assigned by the body.
    Output,
    /// A parameter of the shell.
    Constant,
}

/// One signal of a kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signal {
    /// Name in the Verilog: the field's own, a constant's in capitals.
    pub name: String,
    /// Its direction.
    pub dir: Dir,
    /// True if it is one bit for all parameters of the shell.
    pub scalar: bool,
}

/// The signals of `block`, in the order of its fields.
///
/// # Errors
/// When the block is not flat, or holds anything but inputs, outputs and constants of bits.
pub fn signals(block: &impl Block) -> Result<Vec<Signal>, PrintError> {
    Ok(Symbols::of(block)?.0.into_iter().map(|(_, signal)| signal).collect())
}

/// Signals by the field name that rust-hdl knows them by.
pub(in crate::kernels) struct Symbols(Vec<(String, Signal)>);

impl Symbols {
    pub(in crate::kernels) fn of(block: &impl Block) -> Result<Symbols, PrintError> {
        let mut collector = Collector { depth: 0, symbols: Vec::new(), error: None };
        block.accept("kernel", &mut collector);
        match collector.error {
            Some(error) => Err(error),
            None => Ok(Symbols(collector.symbols)),
        }
    }

    /// Resolves a name of the syntax tree: `count_q` when read, `count_d$next` when written.
    pub(in crate::kernels) fn get(&self, raw: &str) -> Result<&Signal, PrintError> {
        let field = raw.strip_suffix("$next").unwrap_or(raw);
        let found = self.0.iter().find(|(name, _)| name == field);
        found.map(|(_, signal)| signal).ok_or_else(|| PrintError::UnknownName { name: raw.to_owned() })
    }

    pub(in crate::kernels) fn outputs(&self) -> impl Iterator<Item = &Signal> {
        self.0.iter().map(|(_, signal)| signal).filter(|s| s.dir == Dir::Output)
    }
}

struct Collector {
    depth: u32,
    symbols: Vec<(String, Signal)>,
    // The probe's methods return nothing, so the first error waits here.
    error: Option<PrintError>,
}

impl Collector {
    fn fail(&mut self, error: PrintError) {
        self.error.get_or_insert(error);
    }
}

impl Probe for Collector {
    fn visit_start_scope(&mut self, name: &str, _: &dyn Block) {
        self.depth += 1;
        if self.depth > 1 {
            self.fail(PrintError::Nested { name: name.to_owned() });
        }
    }

    fn visit_start_namespace(&mut self, name: &str, _: &dyn Block) {
        self.fail(PrintError::Nested { name: name.to_owned() });
    }

    fn visit_atom(&mut self, name: &str, atom: &dyn Atom) {
        // rust-hdl names the elements of an array `name$0`, but reads them as `name[0]`.
        if name.contains('$') {
            return self.fail(PrintError::Nested { name: name.to_owned() });
        }
        match signal(name, atom) {
            Ok(signal) => self.symbols.push((name.to_owned(), signal)),
            Err(error) => self.fail(error),
        }
    }

    fn visit_end_scope(&mut self, _: &str, _: &dyn Block) {
        self.depth -= 1;
    }
}

fn signal(name: &str, atom: &dyn Atom) -> Result<Signal, PrintError> {
    let unsupported =
        |what: &str| PrintError::UnsupportedSignal { name: name.to_owned(), what: what.to_owned() };
    let dir = match atom.kind() {
        AtomKind::InputParameter => Dir::Input,
        AtomKind::OutputParameter => Dir::Output,
        AtomKind::Constant => Dir::Constant,
        AtomKind::LocalSignal => return Err(unsupported("a local signal")),
        _ => return Err(unsupported("bidirectional")),
    };
    let descriptor = atom.descriptor();
    // A clock describes itself as one bit, too; only its name gives it away.
    let scalar = match (&descriptor.kind, descriptor.name.as_str()) {
        (TypeKind::Bits(_), "Bit") => true,
        (TypeKind::Bits(_), vector) if vector.starts_with("Bits") => false,
        (_, other) => return Err(unsupported(&format!("of type {other}"))),
    };
    let name = if dir == Dir::Constant { name.to_uppercase() } else { name.to_owned() };
    Ok(Signal { name, dir, scalar })
}

/// True if a literal is a `bool` of the source; numbers are 32 or more bits wide there.
pub(in crate::kernels) fn is_scalar_literal(literal: &VerilogLiteral) -> bool {
    literal.to_string().starts_with("1'")
}
