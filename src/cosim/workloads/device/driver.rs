//! The driver of a host: its accesses, register by register.

use super::error::DeviceError;
use super::host::Device;
use crate::cosim::workloads::shared::page_writer::entries_of;
use crate::design::device::registers::{self, Register, ERRORS};
use crate::design::{named_twice, Descriptor};
use crate::design::{Design, Pages, Sharing};
use std::collections::BTreeMap;

/// Cycles between two reads of CTRL.
const POLL: u64 = 64;
/// Bits of CTRL.
pub(super) const AP_START: u32 = 1;
pub(super) const AP_DONE: u32 = 2;
const AP_IDLE: u32 = 4;

/// Way to detect the end of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notice {
    /// CTRL is read until it reports the end.
    Polling,
    /// The line rises; ISR has the reason.
    Interrupt,
}

/// Result of a run, from the registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcome {
    /// Value of ERROR.
    pub error: u32,
    /// The first cause, and its place.
    pub first: Option<(&'static str, u32)>,
    /// Cycles of the run, counted by the device.
    pub cycles: u64,
}

impl Outcome {
    /// The result by the values of `ERROR` and `ERROR_INFO`.
    pub(super) fn of(error: u32, info: u32, cycles: u64) -> Outcome {
        let fields = registers::named("ERROR_INFO").fields;
        let cause = ERRORS.get(fields[0].of(info) as usize).filter(|_| error != 0);
        Outcome { error, first: cause.map(|cause| (cause.name, fields[1].of(info))), cycles }
    }

    /// Errors that ended or refused something; a run with others alone has written all its outputs.
    pub fn failures(&self) -> u32 {
        self.error & !registers::voids()
    }

    /// Some outputs are void.
    pub fn is_void(&self) -> bool {
        self.error & registers::voids() != 0
    }

    /// The errors in words.
    pub fn errors(&self) -> String {
        let set = ERRORS.iter().filter(|cause| self.error >> cause.bit & 1 == 1);
        let names: Vec<_> = set.map(|cause| cause.name).collect();
        let first = self
            .first
            .map(|(name, place)| format!("; first {name} of {}: {place}", registers::error(name).place));
        names.join(", ") + &first.unwrap_or_default()
    }
}

/// A driver with its device.
pub struct Driver {
    /// The device.
    pub device: Device,
    /// Streams that are closed from now on return partial results.
    pub partials: bool,
    design: Design,
    /// What the table of pages has.
    pages: BTreeMap<u32, u32>,
}

impl Driver {
    /// Takes a device whose registers identify this design.
    ///
    /// # Errors
    /// If it is another design, or does not answer.
    pub fn new(device: Device, design: &Design) -> Result<Driver, DeviceError> {
        let mut driver = Driver { device, partials: false, design: design.clone(), pages: BTreeMap::new() };
        for (register, wanted) in design.identity() {
            let read = driver.read(register)?;
            if read != wanted {
                return Err(DeviceError::Identity { register, read, wanted });
            }
        }
        Ok(driver)
    }

    /// Reads a register by its name.
    ///
    /// # Errors
    /// If it is not answered.
    pub fn read(&mut self, name: &str) -> Result<u32, DeviceError> {
        self.device.read(registers::named(name).offset)
    }

    /// Writes a register by its name.
    ///
    /// # Errors
    /// If it is not answered.
    pub fn write(&mut self, name: &str, value: u32) -> Result<(), DeviceError> {
        self.device.write(registers::named(name).offset, value)
    }

    /// Writes an argument: 0 is the buffer of queries, 1 that of outputs, then the memory ports follow.
    ///
    /// # Errors
    /// If it is not answered.
    pub fn argument(&mut self, number: u32, value: u64) -> Result<(), DeviceError> {
        let offset = Design::argument_offset(number);
        self.device.write(offset, value as u32)?;
        self.device.write(offset + 4, (value >> 32) as u32)
    }

    /// Writes all arguments.
    ///
    /// # Errors
    /// If it is not answered.
    pub fn arguments(&mut self, queries: u64, outputs: u64, bases: &[u64]) -> Result<(), DeviceError> {
        for (number, value) in (0..).zip([queries, outputs].iter().chain(bases)) {
            self.argument(number, *value)?;
        }
        Ok(())
    }

    /// Writes a descriptor and pushes it.
    ///
    /// # Errors
    /// If it is not answered.
    pub fn push(&mut self, d: &Descriptor) -> Result<(), DeviceError> {
        for (name, value) in words(d, self.partials) {
            self.write(name, value)?;
        }
        Ok(())
    }

    /// Pushes the descriptors of a run, which must not name a slice twice: the device does not
    /// check that.
    ///
    /// # Errors
    /// If they do, or a register access is not answered.
    pub fn push_all(&mut self, descriptors: &[Descriptor]) -> Result<(), DeviceError> {
        if let Some((prefix, segment)) = named_twice(descriptors) {
            return Err(DeviceError::NamedTwice { prefix, segment });
        }
        descriptors.iter().try_for_each(|d| self.push(d))
    }

    /// Writes what the table of pages lacks of a run on `design`, which may place its caches otherwise than the one before.
    ///
    /// # Errors
    /// If two descriptors name a page, or a register access is not answered.
    pub fn write_pages(&mut self, design: &Design, descriptors: &[Descriptor]) -> Result<(), DeviceError> {
        if let Some((prefix, segment)) = design.named_twice(descriptors) {
            return Err(DeviceError::NamedTwice { prefix, segment });
        }
        let shift = design.pages.as_ref().map_or(0, Pages::page_width);
        for (entry, page) in entries_of(design, descriptors) {
            if self.pages.insert(entry, page) != Some(page) {
                self.write("PAGE", entry << shift | page)?;
            }
        }
        Ok(())
    }

    /// Descriptors of a run as a list in memory, 32 bytes each: the words of the registers, little-endian. `partials`: the
    /// streams that they close return partial results.
    ///
    /// # Errors
    /// If two of them name a slice: the device does not check that.
    pub fn list(descriptors: &[Descriptor], partials: bool) -> Result<Vec<u8>, DeviceError> {
        if let Some((prefix, segment)) = named_twice(descriptors) {
            return Err(DeviceError::NamedTwice { prefix, segment });
        }
        let words = descriptors.iter().flat_map(|d| {
            let mut words: Vec<u32> = words(d, partials).iter().map(|(_, value)| *value).collect();
            words.resize(registers::LIST_WORDS as usize, 0);
            words
        });
        Ok(words.flat_map(u32::to_le_bytes).collect())
    }

    /// Switches interrupts on or off and acknowledges old ones.
    ///
    /// # Errors
    /// If it is not answered.
    pub fn enable(&mut self, notice: Notice) -> Result<(), DeviceError> {
        let on = notice == Notice::Interrupt;
        self.write("IER", 0)?;
        self.acknowledge()?;
        self.write("IER", if on { 0b101 } else { 0 })?;
        self.write("GIE", u32::from(on))
    }

    /// Starts a run.
    ///
    /// # Errors
    /// If it is not answered.
    pub fn start(&mut self) -> Result<(), DeviceError> {
        self.write("CTRL", AP_START)
    }

    /// Waits until a run is over, at most `most` cycles. `stop` is called from time to time.
    ///
    /// # Errors
    /// If it does not end, or `stop` returns true.
    pub fn wait(
        &mut self,
        notice: Notice,
        most: u64,
        stop: &mut dyn FnMut(&Device) -> bool,
    ) -> Result<Outcome, DeviceError> {
        let begun = self.device.cycle();
        loop {
            for _ in 0..POLL {
                if notice == Notice::Interrupt && self.device.interrupt() {
                    break;
                }
                self.device.tick()?;
            }
            let over = match notice {
                Notice::Interrupt => self.device.interrupt() && self.acknowledge()?,
                Notice::Polling => self.done()?,
            };
            if over {
                return self.outcome();
            }
            let waited = self.device.cycle() - begun;
            if waited > most {
                return Err(self.hung(waited, String::new())?);
            }
            if stop(&self.device) {
                return Err(DeviceError::Stopped);
            }
        }
    }

    /// True if a run is over; reading clears it.
    fn done(&mut self) -> Result<bool, DeviceError> {
        Ok(self.read("CTRL")? & AP_DONE != 0)
    }

    /// Acknowledges the interrupt. True if its reason was the end of a run.
    fn acknowledge(&mut self) -> Result<bool, DeviceError> {
        let stands = self.read("ISR")?;
        self.write("ISR", stands)?;
        // Of a run that ends with an error, the error comes first.
        self.done()
    }

    /// Reads the result of the last run from the registers.
    ///
    /// # Errors
    /// If it is not answered.
    pub fn outcome(&mut self) -> Result<Outcome, DeviceError> {
        let error = self.read("ERROR")?;
        let info = self.read("ERROR_INFO")?;
        let low = self.read("CYCLES_LOW")?;
        let high = self.read("CYCLES_HIGH")?;
        Ok(Outcome::of(error, info, u64::from(high) << 32 | u64::from(low)))
    }

    /// Clears all errors, so that the next is the first.
    ///
    /// # Errors
    /// If it is not answered.
    pub fn clear(&mut self) -> Result<(), DeviceError> {
        self.write("ERROR", u32::MAX)
    }

    /// Waits until neither a run nor a reset is under way.
    ///
    /// # Errors
    /// If it takes longer than `most` cycles.
    pub fn settle(&mut self, most: u64) -> Result<(), DeviceError> {
        let begun = self.device.cycle();
        while self.read("CTRL")? & AP_IDLE == 0 {
            let waited = self.device.cycle() - begun;
            if waited > most {
                return Err(self.hung(waited, String::new())?);
            }
        }
        Ok(())
    }

    /// The error of a wait that does not end.
    pub(super) fn hung(&mut self, waited: u64, why: String) -> Result<DeviceError, DeviceError> {
        let (status, error) = (self.read("STATUS")?, self.read("ERROR")?);
        Ok(DeviceError::Hung { at: self.device.cycle(), waited, status, error, why })
    }

    /// Reads a counter of a tile, by its number in a group of [`registers::COUNTER_GROUPS`].
    ///
    /// # Errors
    /// If it is not answered, or the counter is not available in time.
    pub fn counter(&mut self, tile: u32, group: u32, index: u32) -> Result<u32, DeviceError> {
        let select = registers::named("COUNTER_SELECT");
        let value = [index, group, tile].iter().zip(select.fields).fold(0, |all, (v, f)| all | v << f.lsb);
        self.device.write(select.offset, value)?;
        let begun = self.device.cycle();
        while self.read("COUNTER_VALID")? & 1 == 0 {
            let (at, waited) = (self.device.cycle(), self.device.cycle() - begun);
            if waited > 1000 {
                return Err(DeviceError::Silent { at, offset: select.offset, waited });
            }
        }
        self.read("COUNTER_DATA")
    }

    /// The design of the device.
    pub fn design(&self) -> &Design {
        &self.design
    }
}

/// The registers of a descriptor and their values, the one that pushes it last.
pub(super) fn words(d: &Descriptor, partials: bool) -> Vec<(&'static str, u32)> {
    let mapping = d.mapping.number();
    let pack = |name: &'static str, values: &[u32]| {
        let Register { fields, .. } = registers::named(name);
        (name, fields.iter().zip(values).fold(0, |all, (field, value)| all | value << field.lsb))
    };
    vec![
        pack("DESC_CACHE", &[d.layer, d.prefix]),
        ("DESC_FIRST", d.first),
        ("DESC_STRIDE", d.stride),
        ("DESC_COUNT", d.count),
        pack("DESC_ROWS", &[d.first_row, d.last_row]),
        pack("DESC_STREAMS", &[d.stream, d.streams]),
        pack(
            "DESC_PUSH",
            &[
                mapping,
                u32::from(d.sharing == Sharing::Segment),
                u32::from(d.close),
                u32::from(d.step),
                u32::from(d.close && partials),
                u32::from(d.append),
            ],
        ),
    ]
}
