//! The fabric under Verilator, stepped from Rust.
//!
//! Cycle c is the clock period that ends with the c-th rising edge after reset, counted from 0. A
//! flit ready in cycle c is on the wires in period c if nothing is before it. An ejected flit's
//! cycle is the period in which it is on the wires to the tile. Tiles behave like registered logic:
//! a credit seen in c is spent from c + 1 on. The slot of a flit seen in c is returned in c + 1.
//! Only this file and `verilated_ports` call the library. It knows no traffic and judges nothing.

use crate::cosim::build::ffi::{self, Geometry, Library, RawEntry, RawFlit, RawTotals};
use crate::cosim::dut::error::DutError;
use crate::cosim::dut::network::{Ejection, Entry, Injection, Network, StepStatus, COUNTERS};
use crate::cosim::dut::verilated::wave_file;
use crate::design::{Class, Design, Mesh, NodeId, Port};
use std::collections::HashMap;
use std::ffi::CStr;
use std::path::Path;
use std::ptr::NonNull;
use std::slice;

/// Words before head and data in an ejection record: cycle (2), tile, VC.
const EJECTION_HEADER: usize = 4;

/// Flits since reset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Totals {
    /// Still in a source queue.
    pub queued: u64,
    /// Entered the fabric.
    pub entered: u64,
    /// Deliveries: a multicast flit counts once for each destination.
    pub left: u64,
}

/// A running fabric.
#[derive(Debug)]
pub struct VerilatedMesh {
    handle: NonNull<ffi::Handle>,
    library: Library,
    mesh: Mesh,
    geometry: Geometry,
    dest_words: usize,
    head_words: usize,
    /// Words of a payload, and as flits carry it.
    data_words: usize,
    carried_words: usize,
    /// Bit of the parity of a payload, if flits carry it.
    parity: Option<u32>,
    /// Probabilities of tiles that stall, by index.
    stalls: HashMap<usize, f64>,
}

// SAFETY: a handle is bound to no thread; its only thread-local state is set and cleared within
// one call. It is not Sync: two calls at once are excluded by `&mut`, and `VerilatedMesh` hands out no alias.
unsafe impl Send for VerilatedMesh {}

impl VerilatedMesh {
    /// Makes an instance and resets it. `seed` sets what registers hold before the reset.
    ///
    /// # Errors
    /// [`DutError::Mismatch`] if `library` was built from another design.
    pub fn open(library: &Library, design: &Design, seed: u64) -> Result<VerilatedMesh, DutError> {
        let geometry = *library.geometry();
        let wanted = Geometry {
            tiles: design.mesh.tiles() as u32,
            vcs: design.router.vcs(),
            vc_depth: design.router.vc_depth,
            dest_width: design.flit.dest_width,
            head_width: design.flit.head_width,
            flit_width: design.flit.carried_width(),
            ..geometry
        };
        if geometry != wanted {
            return Err(DutError::Mismatch(format!("built for {geometry:?}, opened for {wanted:?}")));
        }
        // SAFETY: no arguments to get wrong; null is handled.
        let handle = unsafe { (library.symbols().create)(seed) };
        let words = |bits: u32| bits.div_ceil(32) as usize;
        let mut dut = VerilatedMesh {
            handle: NonNull::new(handle).ok_or(DutError::Memory)?,
            library: library.clone(),
            mesh: design.mesh,
            geometry,
            dest_words: words(geometry.dest_width),
            head_words: words(geometry.head_width),
            data_words: words(design.flit.data_width),
            carried_words: words(geometry.flit_width),
            parity: design.flit.parity.then_some(design.flit.data_width),
            stalls: HashMap::new(),
        };
        dut.reset()?;
        Ok(dut)
    }

    /// Empties queues and records and restarts at cycle 0. Stalls, watchdog and the choice of
    /// records stay; a wave file is closed.
    ///
    /// # Errors
    /// [`DutError::Stopped`] if the model has stopped, now or before.
    pub fn reset(&mut self) -> Result<(), DutError> {
        // SAFETY: the handle is live.
        let status = unsafe { (self.library.symbols().reset)(self.handle.as_ptr()) };
        self.judge(status).map(|_| ())
    }

    /// Queues one flit. Each tile offers at most one flit a cycle, its three queues in turn. The
    /// first flit of a packet takes the VC of its mask with most credits, and the others follow it.
    ///
    /// # Errors
    /// [`DutError::Memory`] if the queue cannot grow.
    ///
    /// # Panics
    /// If the words do not fit the design's widths or `vc_mask` names no VC of it.
    pub fn inject(&mut self, flit: &Injection) -> Result<(), DutError> {
        assert!(flit.tile.index() < self.mesh.tiles(), "a tile of another mesh");
        assert!(flit.vc_mask != 0 && flit.vc_mask >> self.geometry.vcs == 0, "vc_mask {:#b}", flit.vc_mask);
        assert_eq!(flit.dest.len(), self.dest_words, "words of dest");
        assert_eq!(flit.head.len(), self.head_words, "words of head");
        assert_eq!(flit.data.len(), self.data_words, "words of data");
        let carried;
        let data = match self.parity {
            None => flit.data,
            Some(at) => {
                let mut words = flit.data.to_vec();
                words.resize(self.carried_words, 0);
                let ones: u32 = flit.data.iter().map(|word| word.count_ones()).sum();
                words[at as usize / 32] |= (ones % 2) << (at % 32);
                carried = words;
                &carried
            }
        };
        let raw = RawFlit {
            tile: flit.tile.index() as u32,
            queue: flit.class as u32,
            vc_mask: flit.vc_mask,
            last: u32::from(flit.last),
            ready_cycle: flit.ready_cycle,
            dest: flit.dest.as_ptr(),
            head: flit.head.as_ptr(),
            data: data.as_ptr(),
        };
        // SAFETY: the handle is live; tile, queue and lengths are those the shim reads (checked
        // above); it copies the words and keeps no pointer.
        let queued = unsafe { (self.library.symbols().inject)(self.handle.as_ptr(), &raw) };
        if queued {
            Ok(())
        } else {
            Err(DutError::Memory)
        }
    }

    /// Runs `cycles` periods, fewer if the watchdog or an error ends them. Earlier records are
    /// dropped.
    ///
    /// # Errors
    /// [`DutError::Stopped`] or [`DutError::Protocol`], with the cycle in the message.
    pub fn step(&mut self, cycles: u64) -> Result<StepStatus, DutError> {
        // SAFETY: the handle is live; `&mut self` ends every borrow of records.
        let status = unsafe { (self.library.symbols().step)(self.handle.as_ptr(), cycles) };
        self.judge(status)
    }

    /// Periods since reset, which is also the next one to run.
    pub fn cycle(&self) -> u64 {
        // SAFETY: the handle is live.
        unsafe { (self.library.symbols().cycle)(self.handle.as_ptr()) }
    }

    /// Flits that have left since the last call, in order of cycle, then tile.
    pub fn drain_ejections(&mut self) -> impl ExactSizeIterator<Item = Ejection<'_>> {
        let mut count = 0;
        // SAFETY: the handle is live; the result points at `count` records of this many words,
        // which stay until the next step or reset, and so longer than the borrow of `self`.
        let start = unsafe { (self.library.symbols().take_ejections)(self.handle.as_ptr(), &mut count) };
        let words = EJECTION_HEADER + self.head_words + self.carried_words;
        let all: &[u32] = match count {
            // An empty buffer may have no address.
            0 => &[],
            // SAFETY: as above.
            _ => unsafe { slice::from_raw_parts(start, count * words) },
        };
        let (mesh, head_words, data_words) = (self.mesh, self.head_words, self.data_words);
        all.chunks_exact(words).map(move |record| {
            let (head, data) = record[EJECTION_HEADER..].split_at(head_words);
            Ejection {
                cycle: u64::from(record[0]) | u64::from(record[1]) << 32,
                tile: node(mesh, record[2]),
                vc: record[3],
                head,
                data: &data[..data_words],
            }
        })
    }

    /// Flits that have entered since the last call, if [`VerilatedMesh::record`] has switched them on.
    pub fn drain_entries(&mut self) -> impl ExactSizeIterator<Item = Entry> + '_ {
        let mut count = 0;
        // SAFETY: the handle is live; `count` entries stay until the next step or reset.
        let start = unsafe { (self.library.symbols().take_entries)(self.handle.as_ptr(), &mut count) };
        // SAFETY: as above; an empty buffer may have no address.
        let all: &[RawEntry] = if count == 0 { &[] } else { unsafe { slice::from_raw_parts(start, count) } };
        let mesh = self.mesh;
        all.iter().map(move |raw| Entry {
            cycle: raw.cycle,
            tile: node(mesh, raw.tile),
            class: Class::ALL[raw.queue as usize],
            sequence: raw.sequence,
            vc: raw.vc,
        })
    }

    /// Chooses the records: ejections (on at first) and entries (off at first). With both off flits
    /// are only counted: the bare loop against which a scoreboard's cost is measured.
    pub fn record(&mut self, ejections: bool, entries: bool) {
        // SAFETY: the handle is live.
        unsafe { (self.library.symbols().record)(self.handle.as_ptr(), ejections, entries) }
    }

    /// Makes a tile stall: in each cycle it frees no slot with `probability`, else one. 1 blocks it
    /// for good. Without a call a tile frees every slot at once.
    pub fn stall(&mut self, tile: NodeId, probability: f64, seed: u64) {
        assert!(tile.index() < self.mesh.tiles(), "a tile of another mesh");
        self.stalls.insert(tile.index(), probability.clamp(0.0, 1.0));
        let of_2_32 = (probability.clamp(0.0, 1.0) * 4_294_967_296.0) as u64;
        // SAFETY: the handle is live and the tile exists.
        unsafe { (self.library.symbols().stall)(self.handle.as_ptr(), tile.index() as u32, of_2_32, seed) }
    }

    /// Ends a step as [`StepStatus::Stuck`] if flits are inside and for `cycles` none has entered
    /// or left and no credit has moved. 0 switches it off.
    pub fn watchdog(&mut self, cycles: u64) {
        // SAFETY: the handle is live.
        unsafe { (self.library.symbols().watchdog)(self.handle.as_ptr(), cycles) }
    }

    /// Flits queued, entered and left.
    pub fn totals(&self) -> Totals {
        let mut raw = RawTotals::default();
        // SAFETY: the handle is live; one struct of the mirrored layout is written.
        unsafe { (self.library.symbols().totals_now)(self.handle.as_ptr(), &mut raw) };
        Totals { queued: raw.queued, entered: raw.entered, left: raw.left }
    }

    /// Link counters of every tile from the last free-running scan: counter i is at most 25 cycles
    /// old. A difference over a multiple of 25 cycles is exact for that window.
    pub fn counters(&self) -> Vec<[u32; COUNTERS]> {
        let tiles = self.mesh.tiles();
        // SAFETY: the handle is live; the result points at 32 counters of every tile, which do not
        // change while `self` is borrowed.
        let all = unsafe {
            let start = (self.library.symbols().counters)(self.handle.as_ptr());
            slice::from_raw_parts(start, COUNTERS * tiles)
        };
        (0..tiles).map(|tile| std::array::from_fn(|i| all[i * tiles + tile])).collect()
    }

    /// Input VCs that hold a flit now: tile, port, VC.
    pub fn busy_vcs(&self) -> Vec<(NodeId, Port, u32)> {
        let (tiles, vcs) = (self.mesh.tiles(), self.geometry.vcs as usize);
        let bits = tiles * Port::ALL.len() * vcs;
        // SAFETY: the handle is live; the port has one bit for each of these, in whole words.
        let words = unsafe {
            let start = (self.library.symbols().vc_busy)(self.handle.as_ptr());
            slice::from_raw_parts(start, bits.div_ceil(32))
        };
        let mut busy = Vec::new();
        for bit in (0..bits).filter(|bit| words[bit / 32] >> (bit % 32) & 1 == 1) {
            let (port, vc) = (bit / vcs, bit % vcs);
            let tile = node(self.mesh, (port / Port::ALL.len()) as u32);
            busy.push((tile, Port::ALL[port % Port::ALL.len()], vc as u32));
        }
        busy
    }

    /// Words of a record of [`VerilatedMesh::links`].
    pub(in crate::cosim) fn link_words(&self) -> usize {
        1 + self.head_words + self.dest_words
    }

    /// Outputs of every router in the next period: a record for each tile and port, in the layout
    /// of `meshkv_links` in `sim/shim.h`. False if the library cannot show them: only
    /// [`crate::cosim::build::BuildForm::OneRouter`] can.
    pub(in crate::cosim) fn links(&self, words: &mut [u32]) -> bool {
        assert_eq!(
            words.len(),
            self.mesh.tiles() * Port::ALL.len() * self.link_words(),
            "words of all links"
        );
        // SAFETY: the handle is live; as many words are written as were just counted.
        unsafe { (self.library.symbols().links)(self.handle.as_ptr(), words.as_mut_ptr()) }
    }

    /// Free slots of the router's local input buffer, as the tile counts them.
    pub fn credit(&self, tile: NodeId, vc: u32) -> u32 {
        assert!(tile.index() < self.mesh.tiles() && vc < self.geometry.vcs, "no such VC");
        // SAFETY: the handle is live; tile and VC exist.
        unsafe { (self.library.symbols().credit)(self.handle.as_ptr(), tile.index() as u32, vc) }
    }

    /// True if all credits are back where they were after reset, at both ends of every local link.
    pub fn credits_home(&self) -> bool {
        // SAFETY: the handle is live.
        unsafe { (self.library.symbols().credits_home)(self.handle.as_ptr()) }
    }

    /// True if nothing is queued, all credits are home, and for eight cycles nothing was inside or
    /// moved. A flit spends less time between two buffers.
    pub fn drained(&self) -> bool {
        // SAFETY: the handle is live.
        unsafe { (self.library.symbols().drained)(self.handle.as_ptr()) }
    }

    /// Starts an FST file, in which cycle c begins at 10 * c ns. Needs a library built with
    /// [`crate::cosim::build::RunLength::Trace`].
    ///
    /// # Errors
    /// [`DutError::Wave`] if the file cannot be written or the library has no waves.
    pub fn wave_start(&mut self, path: &Path) -> Result<(), DutError> {
        wave_file::start(path, |name| {
            // SAFETY: the handle is live; the name ends in a zero and is read before the call returns.
            let status = unsafe { (self.library.symbols().wave_start)(self.handle.as_ptr(), name.as_ptr()) };
            if status == ffi::OK {
                Ok(())
            } else {
                Err(DutError::Wave(self.message()))
            }
        })
    }

    /// Closes the wave file, if one is open. Dropping the instance does so too.
    pub fn wave_stop(&mut self) {
        // SAFETY: the handle is live. The file is closed in any case; there is no status to judge.
        unsafe { (self.library.symbols().wave_stop)(self.handle.as_ptr()) };
    }

    fn judge(&self, status: i32) -> Result<StepStatus, DutError> {
        match status {
            ffi::OK => Ok(StepStatus::Done),
            ffi::STUCK => Ok(StepStatus::Stuck),
            ffi::PROTOCOL => Err(DutError::Protocol(self.message())),
            _ => Err(DutError::Stopped(self.message())),
        }
    }

    fn message(&self) -> String {
        // SAFETY: the handle is live; the text ends in a zero and is copied before the next call.
        let text = unsafe { CStr::from_ptr((self.library.symbols().message)(self.handle.as_ptr())) };
        text.to_string_lossy().into_owned()
    }
}

/// The verilated fabric. It returns entries if [`VerilatedMesh::record`] has switched them on,
/// which a run needs.
impl Network for VerilatedMesh {
    fn reset(&mut self) -> anyhow::Result<()> {
        Ok(VerilatedMesh::reset(self)?)
    }

    fn cycle(&self) -> u64 {
        VerilatedMesh::cycle(self)
    }

    fn inject(&mut self, flit: &Injection<'_>) -> anyhow::Result<()> {
        Ok(VerilatedMesh::inject(self, flit)?)
    }

    fn stalls(&self) -> Vec<f64> {
        self.stalls.values().copied().collect()
    }

    fn step(&mut self, cycles: u64) -> anyhow::Result<StepStatus> {
        Ok(VerilatedMesh::step(self, cycles)?)
    }

    fn take_entries(&mut self, receive: &mut dyn FnMut(Entry)) {
        self.drain_entries().for_each(receive);
    }

    fn take_ejections(&mut self, receive: &mut dyn FnMut(Ejection<'_>)) {
        self.drain_ejections().for_each(receive);
    }

    fn counters(&self) -> Vec<[u32; COUNTERS]> {
        VerilatedMesh::counters(self)
    }

    fn busy_vcs(&self) -> Vec<(NodeId, Port, u32)> {
        VerilatedMesh::busy_vcs(self)
    }

    fn credits_home(&self) -> bool {
        VerilatedMesh::credits_home(self)
    }
}

impl Drop for VerilatedMesh {
    fn drop(&mut self) {
        // SAFETY: the handle is live and not used again; the library is dropped after it.
        unsafe { (self.library.symbols().destroy)(self.handle.as_ptr()) }
    }
}

/// The shim counts the same tiles as the mesh, which `VerilatedMesh::open` has checked.
fn node(mesh: Mesh, index: u32) -> NodeId {
    mesh.node_at(index as usize).expect("the shim names tiles of this mesh")
}
