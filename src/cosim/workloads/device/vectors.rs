//! A run as files for `bench/tb.v`: memory, register accesses, and the outputs that must follow.

use super::bench::{caches, queries};
use super::driver::{words, AP_DONE, AP_START};
use crate::cosim::memory::Image;
use crate::cosim::workloads::attention::Job;
use crate::design::device::registers;
use crate::design::{Descriptor, Design};
use crate::emit::BENCH_OUTPUTS;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Where the bench has queries and new tokens.
const QUERIES: u64 = 1 << 48;
/// Bytes of a page of its memory.
const PAGE: u64 = 4096;

/// Access of the bench to a register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Op {
    Write,
    /// Reads it; the bits of the mask must have the value.
    Read,
    /// Reads it until they have.
    Wait,
}

/// The files of a run.
#[derive(Debug)]
pub struct Vectors {
    flit_bytes: usize,
    pages: BTreeMap<u64, Vec<u8>>,
    program: Vec<(Op, u32, u32, u32)>,
    outputs: Vec<u16>,
}

impl Vectors {
    /// A job, its descriptors, and the output of each (stream, head), FP16.
    pub fn of(job: &Job, descriptors: &[Descriptor], outputs: &BTreeMap<(u32, u32), Vec<u16>>) -> Vectors {
        let design = job.design;
        let mut vectors = Vectors {
            flit_bytes: design.flit.data_width as usize / 8,
            pages: BTreeMap::new(),
            program: Vec::new(),
            outputs: outputs.values().flatten().copied().collect(),
        };
        let Image::Slices(slices) = job.given() else { unreachable!("a job has slices") };
        for (number, bytes) in slices {
            vectors.put(design.memory.address_of(number), &bytes);
        }
        vectors.put(QUERIES, &queries(job));
        let blank = vec![0; design.output_bytes(job.streams, job.partials) as usize];
        vectors.put(BENCH_OUTPUTS, &blank);
        vectors.accesses(job, descriptors);
        vectors
    }

    /// Register accesses of a host: it knows the design, sets arguments, pushes descriptors, starts, and waits.
    fn accesses(&mut self, job: &Job, descriptors: &[Descriptor]) {
        for (name, value) in job.design.identity() {
            self.access(Op::Read, name, u32::MAX, value);
        }
        // Every port of external memory begins at address 0 of its own addresses.
        let bases = vec![0; job.design.memory.ports as usize];
        for (number, value) in (0..).zip([QUERIES, BENCH_OUTPUTS].iter().chain(&bases)) {
            let offset = Design::argument_offset(number);
            self.program.push((Op::Write, offset, u32::MAX, *value as u32));
            self.program.push((Op::Write, offset + 4, u32::MAX, (*value >> 32) as u32));
        }
        for (name, value) in descriptors.iter().flat_map(|d| words(d, job.partials)) {
            self.access(Op::Write, name, u32::MAX, value);
        }
        self.access(Op::Write, "QUERY_STREAMS", u32::MAX, job.streams);
        if job.design.append.is_some() {
            self.access(Op::Write, "TOKEN_STREAMS", u32::MAX, caches(job));
        }
        self.access(Op::Write, "CTRL", u32::MAX, AP_START);
        self.access(Op::Wait, "CTRL", AP_DONE, AP_DONE);
        self.access(Op::Read, "ERROR", u32::MAX, 0);
    }

    fn access(&mut self, op: Op, name: &str, mask: u32, value: u32) {
        self.program.push((op, registers::named(name).offset, mask, value));
    }

    fn put(&mut self, address: u64, bytes: &[u8]) {
        let mut at = address;
        let mut left = bytes;
        while !left.is_empty() {
            let begin = (at % PAGE) as usize;
            let (now, rest) = left.split_at(left.len().min(PAGE as usize - begin));
            let page = self.pages.entry(at - at % PAGE).or_insert_with(|| vec![0; PAGE as usize]);
            page[begin..begin + now.len()].copy_from_slice(now);
            (at, left) = (at + now.len() as u64, rest);
        }
    }

    /// Pages of memory.
    pub fn pages(&self) -> usize {
        self.pages.len()
    }

    /// Names and texts of the files, in hexadecimal.
    pub fn files(&self) -> [(&'static str, String); 4] {
        let (mut pages, mut memory, mut program, mut expected) = Default::default();
        let lines: [&mut String; 4] = [&mut pages, &mut memory, &mut program, &mut expected];
        let [pages_text, memory_text, program_text, expected_text] = lines;
        let said = "a string takes text";
        for (address, bytes) in &self.pages {
            writeln!(pages_text, "{address:016x}").expect(said);
            for word in bytes.chunks(self.flit_bytes) {
                word.iter().rev().for_each(|byte| write!(memory_text, "{byte:02x}").expect(said));
                memory_text.push('\n');
            }
        }
        for (op, address, mask, value) in &self.program {
            let op = match op {
                Op::Write => 1,
                Op::Read => 2,
                Op::Wait => 3,
            };
            writeln!(program_text, "{op:02x} {address:08x} {mask:08x} {value:08x}").expect(said);
        }
        self.outputs.iter().for_each(|half| writeln!(expected_text, "{half:04x}").expect(said));
        [("pages.hex", pages), ("memory.hex", memory), ("program.hex", program), ("expected.hex", expected)]
    }
}
