//! A fault as the command line names it: `KIND@PLACE:N`.

use crate::cosim::dut::clocks::Clocks;
use crate::cosim::dut::ports::LinkFlip;
use crate::cosim::memory::{Fault, FaultKind};
use crate::design::{Design, Port};
use std::fmt;
use std::str::FromStr;

/// Cycles without an answer after which a home, and the front of a device, give a request up.
pub const TIMEOUT: u64 = 65_536;

/// All kinds, for help and for messages.
pub const KINDS: &str = "\
slverr@PORT:N, decerr@PORT:N      request N of a port is answered by an error
mute@PORT:N, refuse@PORT:N        request N and all behind it are not answered, or not accepted
late@PORT:N+CYCLES                request N is answered so many cycles late
double@PORT:N                     request N is answered twice
early-last@PORT:N, no-last@PORT:N request N is read with its last beat but one marked as the last, or none
stall@PORT:CYCLE+CYCLES           a port stands still from a cycle on, for so many
reset@soft:CYCLE                  the run is cut off by SOFT_RESET, or by ap_rst_n or ap_rst_n_2 in its place
clock@pe:MHZ, jitter@pe:PERCENT   PaD's clock has another frequency, or edges that come early and late
cut@list:N                        the list of descriptors ends before descriptor N
flip@PORT:N.BIT                   a bit of the first beat of request N, read, is inverted
flip@link:X,Y.SIDE:N.BIT          a bit of flit N on the link into tile X,Y from north, south, east or west
PORT is hbm0, hbm1, ... (or the number alone), queries, outputs, tokens0, ...; N and CYCLE count from 0";

/// Cycles of a late answer for which no home gives up, and from which on each does.
const IN_TIME: u64 = TIMEOUT / 2;
const TOO_LATE: u64 = 2 * TIMEOUT;

/// A place in memory at which a fault is injected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryPlace {
    /// Reads of a port of external memory.
    Hbm(u32),
    /// Reads of queries, new tokens and lists.
    Queries,
    /// Writes of outputs.
    Outputs,
    /// Writes of new tokens at a port of external memory.
    Tokens(u32),
}

/// A reset of a device from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reset {
    /// The register.
    Soft,
    /// `ap_rst_n`: all of the device, and its memory.
    Device,
    /// `ap_rst_n_2`: PaD alone.
    Compute,
}

/// What is injected.
#[derive(Debug, Clone, PartialEq)]
pub enum What {
    /// A fault of a memory port. Its port is that of the place; its cycles count from the start of the run.
    Memory(MemoryPlace, Fault),
    /// A reset in a cycle after the start.
    Reset(Reset, u64),
    /// PaD's clock in MHz.
    PeClock(f64),
    /// Jitter of PaD's clock in percent.
    Jitter(u8),
    /// The first descriptor that the list lacks.
    CutList(u32),
    /// A bit of a flit on the link into a tile, by column and row.
    Flip((u32, u32), Port, u64, u32),
}

/// A fault that a run injects.
#[derive(Debug, Clone, PartialEq)]
pub struct Injected {
    text: String,
    /// What is injected.
    pub what: What,
}

impl fmt::Display for Injected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for Injected {
    type Err = String;

    fn from_str(text: &str) -> Result<Injected, String> {
        let explain = |why: String| format!("{why}; kinds of faults, for example slverr@hbm0:3:\n{KINDS}");
        what(text).map(|what| Injected { text: text.to_owned(), what }).map_err(explain)
    }
}

/// Reads a fault.
fn what(text: &str) -> Result<What, String> {
    let (kind, rest) = text.split_once('@').ok_or("a fault is KIND@PLACE:N")?;
    let (place, at) = rest.split_once(':').ok_or_else(|| format!("`{rest}` is not PLACE:N"))?;
    match kind {
        "reset" => {
            let reset = match place {
                "soft" => Reset::Soft,
                "ap_rst_n" => Reset::Device,
                "ap_rst_n_2" => Reset::Compute,
                other => return Err(format!("`{other}` is none of soft, ap_rst_n and ap_rst_n_2")),
            };
            Ok(What::Reset(reset, number(at)?))
        }
        "clock" | "jitter" if place != "pe" => Err(format!("`{place}` is not pe, the clock that is apart")),
        "clock" => {
            let mhz: f64 = at.parse().map_err(|_| format!("`{at}` is no frequency in MHz"))?;
            let legal = (1.0..=2000.0).contains(&mhz);
            legal.then_some(What::PeClock(mhz)).ok_or_else(|| format!("{at} MHz is not between 1 and 2000"))
        }
        "jitter" => {
            let most = Clocks::MOST_JITTER;
            let percent = number(at)?.try_into().ok().filter(|percent| *percent <= most);
            percent.map(What::Jitter).ok_or_else(|| format!("{at} percent of jitter are more than {most}"))
        }
        "cut" if place != "list" => Err(format!("`{place}` is not list, which alone can be cut")),
        "cut" => {
            let first = number(at)?.try_into();
            first.map(What::CutList).map_err(|_| format!("no list has {at} descriptors"))
        }
        "flip" if place == "link" => of_link(at),
        "flip" => {
            let (first, bit) = number_and_bit(at)?;
            of_memory("flip", place, &first.to_string(), bit)
        }
        _ => of_memory(kind, place, at, 0),
    }
}

/// Reads `X,Y.SIDE:N.BIT`.
fn of_link(text: &str) -> Result<What, String> {
    let wrong = || format!("`{text}` is not X,Y.SIDE:N.BIT");
    let (place, at) = text.split_once(':').ok_or_else(wrong)?;
    let (tile, side) = place.split_once('.').ok_or_else(wrong)?;
    let (x, y) = tile.split_once(',').ok_or_else(wrong)?;
    let tile = x.parse().ok().zip(y.parse().ok()).ok_or_else(wrong)?;
    let side = Port::ALL.into_iter().find(|port| port.name() == side && *port != Port::Local);
    let (number, bit) = number_and_bit(at)?;
    Ok(What::Flip(tile, side.ok_or_else(wrong)?, number, bit))
}

/// Reads `N.BIT`.
fn number_and_bit(text: &str) -> Result<(u64, u32), String> {
    let (first, bit) = text.split_once('.').ok_or_else(|| format!("`{text}` is not N.BIT"))?;
    Ok((number(first)?, bit.parse().map_err(|_| format!("`{bit}` is no bit"))?))
}

/// Reads a fault of memory; `bit` is that of a flip.
fn of_memory(kind: &str, place: &str, at: &str, bit: u32) -> Result<What, String> {
    let place = memory_place(place)?;
    let reads = matches!(place, MemoryPlace::Hbm(_) | MemoryPlace::Queries);
    let (first, cycles) = match at.split_once('+') {
        Some((first, cycles)) => (number(first)?, Some(number(cycles)?)),
        None => (number(at)?, None),
    };
    let of_port = |kind| Fault::of_port(place.port(), kind);
    let one = |kind| of_port(kind).only(first);
    let fault = match (kind, cycles) {
        ("stall" | "late", None) => return Err(format!("{kind} needs cycles: {kind}@PORT:{at}+CYCLES")),
        ("stall", Some(cycles)) => {
            let to = first.checked_add(soon(cycles)?).ok_or("the stall ends beyond all cycles")?;
            of_port(FaultKind::Still { from: first, to })
        }
        ("late", Some(cycles)) => one(FaultKind::Late(soon_or_too_late(cycles)?)),
        (_, Some(_)) => return Err(format!("only late and stall have cycles, not {kind}")),
        ("slverr", None) => one(FaultKind::SlaveError),
        ("decerr", None) => one(FaultKind::DecodeError),
        ("double", None) => one(FaultKind::Twice),
        ("mute", None) => of_port(FaultKind::Mute).after(first),
        ("refuse", None) => of_port(FaultKind::Deaf).after(first),
        ("early-last" | "no-last" | "flip", None) if !reads => {
            return Err(format!("{kind} is of reads: choose hbm0 or queries"))
        }
        ("early-last", None) => one(FaultKind::EarlyLast),
        ("no-last", None) => one(FaultKind::NoLast),
        ("flip", None) => one(FaultKind::Flip(bit)),
        _ => return Err(format!("there is no fault `{kind}`")),
    };
    Ok(What::Memory(place, fault))
}

/// Cycles for which every part of the design waits.
fn soon(cycles: u64) -> Result<u64, String> {
    let fits = cycles <= IN_TIME;
    fits.then_some(cycles).ok_or_else(|| {
        format!(
            "memory is given up after {TIMEOUT} cycles: stall for {IN_TIME} at most, or use refuse or mute"
        )
    })
}

/// Cycles for which every part of the design waits, or none does: between, it depends on what else is under way.
fn soon_or_too_late(cycles: u64) -> Result<u32, String> {
    let clear = cycles <= IN_TIME || cycles >= TOO_LATE;
    let fits = u32::try_from(cycles).ok().filter(|_| clear);
    fits.ok_or_else(|| {
        format!("memory is given up after {TIMEOUT} cycles: be late by {IN_TIME} at most, or by {TOO_LATE} at least")
    })
}

fn number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("`{text}` is no number"))
}

fn memory_place(text: &str) -> Result<MemoryPlace, String> {
    let port = |digits: &str| digits.parse().ok();
    let found = match text {
        "queries" => Some(MemoryPlace::Queries),
        "outputs" => Some(MemoryPlace::Outputs),
        _ => match text.strip_prefix("tokens") {
            Some(digits) => port(digits).map(MemoryPlace::Tokens),
            None => port(text.strip_prefix("hbm").unwrap_or(text)).map(MemoryPlace::Hbm),
        },
    };
    found.ok_or_else(|| format!("there is no port `{text}`"))
}

impl MemoryPlace {
    /// Number of the slave among its kind.
    fn port(self) -> usize {
        match self {
            MemoryPlace::Hbm(port) | MemoryPlace::Tokens(port) => port as usize,
            MemoryPlace::Queries | MemoryPlace::Outputs => 0,
        }
    }
}

impl What {
    /// True if an answer is too late for anything that waits for it.
    pub(super) fn is_too_late(&self) -> bool {
        matches!(self, What::Memory(_, Fault { kind: FaultKind::Late(cycles), .. }) if u64::from(*cycles) >= TOO_LATE)
    }
}

impl Injected {
    /// Checks that a run of a design, on a device or not, on the model or not, has the place.
    ///
    /// # Errors
    /// Names the fault, the rule and the way out.
    pub fn fits(&self, design: &Design, device: bool, model: bool) -> Result<(), String> {
        self.fits_engine(model)?;
        let flit = design.flit.data_width;
        let (ports, text) = (design.memory.ports, &self.text);
        let of_device =
            "is of a device\n  help: add --device to meshkv run, or choose a fault of hbm0, clock or jitter";
        match &self.what {
            What::Memory(MemoryPlace::Hbm(port) | MemoryPlace::Tokens(port), _) if *port >= ports => {
                Err(format!("--fault {text}: this design has memory ports 0 to {}", ports - 1))
            }
            What::Memory(MemoryPlace::Tokens(_), _) if design.append.is_none() => {
                Err(format!("--fault {text}: this design writes no new tokens\n  help: set kv.append = true"))
            }
            What::Memory(_, Fault { kind: FaultKind::Flip(bit), .. }) | What::Flip(.., bit)
                if *bit >= flit =>
            {
                Err(format!("--fault {text}: a flit has bits 0 to {}", flit - 1))
            }
            What::Flip((x, y), side, ..) => {
                let node = design.mesh.node(*x, *y);
                let there = node.and_then(|node| design.mesh.neighbour(node, *side)).is_some();
                there.then_some(()).ok_or_else(|| {
                    let (cols, rows) = (design.mesh.cols(), design.mesh.rows());
                    format!("--fault {text}: this mesh of {cols} x {rows} tiles has no such link")
                })
            }
            What::Memory(MemoryPlace::Hbm(_), _) | What::PeClock(_) | What::Jitter(_) => Ok(()),
            _ if device => Ok(()),
            _ => Err(format!("--fault {text} {of_device}")),
        }
    }

    /// Refuses what the model does not stand or does not see.
    fn fits_engine(&self, model: bool) -> Result<(), String> {
        let why = match &self.what {
            What::Memory(_, fault) => match fault.kind {
                FaultKind::Twice | FaultKind::EarlyLast | FaultKind::NoLast => {
                    "has no memory that breaks rules"
                }
                FaultKind::Flip(_) => "has no numbers",
                _ => return Ok(()),
            },
            What::Flip(..) => "has no numbers on its links",
            _ => return Ok(()),
        };
        let text = &self.text;
        let refused =
            format!("--fault {text}: the model {why}\n  help: run the Verilog alone, with --engine rtl");
        if model {
            Err(refused)
        } else {
            Ok(())
        }
    }

    /// True if it is a flip on a link.
    pub fn is_flip(&self) -> bool {
        matches!(self.what, What::Flip(..))
    }

    /// The flip on a link, if it is one, of a design that has it.
    pub fn flip(&self, design: &Design) -> Option<LinkFlip> {
        let What::Flip((x, y), side, number, bit) = self.what else { return None };
        let tile = y * design.mesh.cols() + x;
        Some(LinkFlip { tile, side, number, bit })
    }

    /// The fault of external memory's reads, if it is one.
    pub fn of_external(&self) -> Option<&Fault> {
        match &self.what {
            What::Memory(MemoryPlace::Hbm(_), fault) => Some(fault),
            _ => None,
        }
    }

    /// The clocks with this fault.
    #[must_use]
    pub fn clocks(&self, clocks: Clocks) -> Clocks {
        match self.what {
            What::PeClock(pe_mhz) => Clocks { pe_mhz, ..clocks },
            What::Jitter(jitter) => Clocks { jitter, ..clocks },
            _ => clocks,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<What, String> {
        text.parse::<Injected>().map(|injected| injected.what)
    }

    #[test]
    fn every_kind_that_the_list_names_is_read() {
        let of = |port, kind| Fault::of_port(port, kind);
        for (text, place, fault) in [
            ("slverr@2:7", MemoryPlace::Hbm(2), of(2, FaultKind::SlaveError).only(7)),
            ("decerr@hbm1:0", MemoryPlace::Hbm(1), of(1, FaultKind::DecodeError).only(0)),
            ("mute@queries:3", MemoryPlace::Queries, of(0, FaultKind::Mute).after(3)),
            ("refuse@outputs:1", MemoryPlace::Outputs, of(0, FaultKind::Deaf).after(1)),
            ("late@tokens3:4+50", MemoryPlace::Tokens(3), of(3, FaultKind::Late(50)).only(4)),
            ("double@0:9", MemoryPlace::Hbm(0), of(0, FaultKind::Twice).only(9)),
            ("early-last@0:9", MemoryPlace::Hbm(0), of(0, FaultKind::EarlyLast).only(9)),
            ("no-last@queries:9", MemoryPlace::Queries, of(0, FaultKind::NoLast).only(9)),
            ("stall@0:10+90", MemoryPlace::Hbm(0), of(0, FaultKind::Still { from: 10, to: 100 })),
        ] {
            assert_eq!(read(text), Ok(What::Memory(place, fault)), "{text}");
        }
        assert_eq!(read("reset@soft:5"), Ok(What::Reset(Reset::Soft, 5)));
        assert_eq!(read("reset@ap_rst_n:5"), Ok(What::Reset(Reset::Device, 5)));
        assert_eq!(read("reset@ap_rst_n_2:5"), Ok(What::Reset(Reset::Compute, 5)));
        assert_eq!(read("clock@pe:283.5"), Ok(What::PeClock(283.5)));
        assert_eq!(read("jitter@pe:9"), Ok(What::Jitter(9)));
        assert_eq!(read("flip@link:1,2.north:3.40"), Ok(What::Flip((1, 2), Port::North, 3, 40)));
        let flip = of(1, FaultKind::Flip(9)).only(6);
        assert_eq!(read("flip@1:6.9"), Ok(What::Memory(MemoryPlace::Hbm(1), flip)));
        assert_eq!(read("cut@list:1"), Ok(What::CutList(1)));
        for kind in
            KINDS.split(['@', '\n', ' ', ',']).filter(|word| word.ends_with("err") || word.ends_with("-last"))
        {
            assert!(read(&format!("{kind}@0:1")).is_ok(), "{kind}");
        }
    }

    #[test]
    fn what_is_no_fault_is_explained_with_all_kinds() {
        for (text, why) in [
            ("help", "KIND@PLACE:N"),
            ("slverr@hbm0", "PLACE:N"),
            ("slverr@hbm0:x", "`x` is no number"),
            ("slverr@left:1", "there is no port `left`"),
            ("burn@0:1", "there is no fault `burn`"),
            ("late@0:1", "needs cycles"),
            ("mute@0:1+7", "only late and stall"),
            ("late@0:1+65536", "be late by 32768 at most, or by 131072 at least"),
            ("stall@0:1+65536", "use refuse or mute"),
            ("no-last@outputs:1", "of reads"),
            ("reset@hard:1", "none of soft"),
            ("clock@noc:1", "not pe"),
            ("clock@pe:0", "between 1 and 2000"),
            ("jitter@pe:25", "more than 24"),
            ("cut@queue:1", "not list"),
            ("flip@0:1", "N.BIT"),
            ("flip@link:0,0.up:1.2", "X,Y.SIDE:N.BIT"),
            ("flip@outputs:1.2", "of reads"),
        ] {
            let said = read(text).unwrap_err();
            assert!(said.contains(why) && said.contains("slverr@hbm0:3"), "{text}: {said}");
            assert!(said.contains(KINDS), "{text}");
        }
    }
}
