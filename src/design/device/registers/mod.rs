//! Registers of the device, which a host accesses over AXI4-Lite, in one description.
//!
//! The Verilog, its documentation page, the C header and the driver of co-simulation all read these tables.
//! `docs/device.md` describes each register's part in a run.

mod register;
mod table;

pub use register::{Access, BitField, Consequence, ErrorCause, Register};
pub use table::{COUNTER_GROUPS, ERRORS, PAGE, REGISTERS};

use crate::design::design::Design;

/// Bits of a byte address of the control port.
pub const ADDRESS_BITS: u32 = 12;
/// Byte address of the first argument.
pub const ARGUMENTS: u32 = 0x010;
/// Arguments before those of the memory ports: queries and outputs.
pub const ARGUMENTS_BEFORE_PORTS: u32 = 2;
/// Bytes from an argument to the next: low word, high word, a reserved word.
pub const ARGUMENT_STRIDE: u32 = 12;
/// Value of the register `MAGIC`: "MKV1" in ASCII, the last letter lowest.
pub const MAGIC: u32 = 0x4d4b_5631;
/// Version of this register map.
pub const MAP_VERSION: u32 = 7;
/// Descriptors that the front can queue; a run consumes them all.
pub const DESC_QUEUE: u32 = 32;
/// Bits of an AXI ID above those of the core: they distinguish one reset from the next.
pub const EPOCH_BITS: u32 = 2;
/// Words of 32 bits of a descriptor in a list in memory: the registers `DESC_CACHE` to `DESC_PUSH`, and one in reserve.
pub const LIST_WORDS: u32 = 8;
/// Bits of the number of a slot of the list, in `DOORBELL`.
pub const SLOT_BITS: u32 = 10;
/// Bytes of a slot: room for one descriptor more than the queue takes, in beats of any width, within 4 KiB.
pub const LIST_SLOT_BYTES: u32 = 2048;
/// Bytes of the record of a run: its cycles in 64 bits, `ERROR_INFO`, three words of 0, `ERROR`, the number of the run.
pub const RECORD_BYTES: u32 = 32;
/// Alignment of the arguments `queries`, `outputs` and `list` in bytes.
pub const BUFFER_ALIGN: u32 = 4096;
/// Default number of cycles without progress after which a run is aborted.
pub const WATCHDOG: u32 = 1 << 20;

/// The register of this name.
///
/// # Panics
/// If there is none: a bug of this crate.
pub fn named(name: &str) -> &'static Register {
    let all = || REGISTERS.iter().chain([&PAGE]);
    all().find(|r| r.name == name).unwrap_or_else(|| panic!("no register {name}"))
}

/// The cause of this name.
///
/// # Panics
/// If there is none: a bug of this crate.
pub fn error(name: &str) -> &'static ErrorCause {
    ERRORS.iter().find(|e| e.name == name).unwrap_or_else(|| panic!("no error {name}"))
}

/// Bits of `ERROR` of a run that has written all its outputs, some of which are void.
pub fn voids() -> u32 {
    let voids = ERRORS.iter().filter(|cause| cause.consequence == Consequence::Voids);
    voids.fold(0, |all, cause| all | 1 << cause.bit)
}

impl Register {
    /// Value after a reset of a register that stores what is written.
    pub fn reset(&self) -> u32 {
        match self.name {
            "WATCHDOG" => WATCHDOG,
            _ => 0,
        }
    }
}

impl Design {
    /// All registers of the design but the arguments, by their addresses.
    pub fn registers(&self) -> impl Iterator<Item = &'static Register> + Clone {
        REGISTERS.iter().chain(self.pages.is_some().then_some(&PAGE))
    }

    /// Arguments in their order, by name: two buffers, then a base address for each memory port, then the list of
    /// descriptors.
    pub fn arguments(&self) -> Vec<String> {
        let ports = (0..self.memory.ports).map(|p| format!("hbm{p:02}"));
        let buffers = ["queries", "outputs"].map(str::to_owned);
        buffers.into_iter().chain(ports).chain(["list".to_owned()]).collect()
    }

    /// Number of the argument that has the address of the list of descriptors.
    pub fn list_argument(&self) -> u32 {
        ARGUMENTS_BEFORE_PORTS + self.memory.ports
    }

    /// Byte address of the low word of an argument; the high word is 4 above it.
    pub fn argument_offset(argument: u32) -> u32 {
        ARGUMENTS + argument * ARGUMENT_STRIDE
    }

    /// Alignment of the base address of a memory port: that of slices, at most [`BUFFER_ALIGN`].
    pub fn base_align(&self) -> u32 {
        1 << self.memory.slice_bytes.trailing_zeros().min(BUFFER_ALIGN.trailing_zeros())
    }

    /// Bits of an AXI ID on every master port.
    pub fn axi_id_width(&self) -> u32 {
        self.memory.id_width + EPOCH_BITS
    }

    /// Value of a register after a reset; none if it shows a state of the hardware.
    pub fn reset_value(&self, register: &Register) -> Option<u32> {
        match register.access {
            Access::ReadOnly => {
                self.identity().into_iter().find(|(name, _)| *name == register.name).map(|(_, value)| value)
            }
            _ => Some(register.reset()),
        }
    }

    /// Values of the registers that identify the design.
    pub fn identity(&self) -> Vec<(&'static str, u32)> {
        let (model, mesh) = (&self.model, self.mesh);
        let hash = u32::from_str_radix(&self.config.sha256()[..8], 16).expect("digits");
        vec![
            ("MAGIC", MAGIC),
            ("MAP_VERSION", MAP_VERSION),
            ("DESIGN", hash),
            ("MESH", mesh.cols() | mesh.rows() << 8 | self.memory.ports << 16),
            ("MODEL", model.layers | model.max_streams << 16),
            ("HEADS", model.heads | model.kv_heads << 16),
            ("KV", self.placement.segment_tokens | self.pe.head_dim << 16),
            ("SEGMENTS", self.placement.segments),
            ("SIZES", (self.flit.data_width / 8) | DESC_QUEUE << 16),
            ("LAYOUT", self.layout()),
        ]
    }
}

#[cfg(test)]
mod tests {
    use crate::config::Config;
    use crate::design::device::registers::*;

    #[test]
    fn registers_stand_in_order_and_their_fields_do_not_overlap() {
        assert!(REGISTERS.windows(2).all(|pair| pair[0].offset < pair[1].offset));
        assert!(REGISTERS.last().unwrap().offset < PAGE.offset);
        for register in REGISTERS.iter().chain([&PAGE]) {
            assert!(register.offset % 4 == 0 && register.offset < 1 << ADDRESS_BITS, "{}", register.name);
            let mut used = 0_u32;
            for field in register.fields {
                let mask = (u32::MAX >> (32 - field.width)) << field.lsb;
                assert_eq!(used & mask, 0, "{}.{}", register.name, field.name);
                used |= mask;
            }
        }
    }

    #[test]
    fn errors_stand_at_their_bits() {
        assert!(ERRORS.iter().enumerate().all(|(bit, cause)| cause.bit == bit as u32));
    }

    #[test]
    fn arguments_of_the_largest_mesh_end_before_the_registers() {
        let mut config = Config::default();
        (config.mesh.cols, config.mesh.rows) = (16, 16);
        let design = Design::from_config("largest", &config).unwrap();
        let arguments = design.arguments();
        assert_eq!((arguments[2].as_str(), arguments[33].as_str()), ("hbm00", "hbm31"));
        assert_eq!(arguments[design.list_argument() as usize], "list");
        assert!(Design::argument_offset(arguments.len() as u32) <= named("MAGIC").offset);
        // An HBM port takes 6 bits; the interconnect before it handles wider IDs.
        assert_eq!(design.axi_id_width(), 8);
        let reference = Design::from_config("reference", &Config::default()).unwrap();
        assert_eq!(reference.axi_id_width(), 6);
    }

    #[test]
    fn every_fact_of_the_identity_fits_its_field() {
        let design = Design::from_config("reference", &Config::default()).unwrap();
        for (name, value) in design.identity() {
            let register = named(name);
            assert_eq!(register.access, Access::ReadOnly);
            let all = register.fields.iter().fold(0, |all, f| all | f.of(value) << f.lsb);
            assert!(register.fields.is_empty() || all == value, "{name}");
        }
        assert_eq!(named("MESH").fields[2].of(design.identity()[3].1), 32);
    }
}
