//! Cycles per second of a network, with and without the scoreboard.
//!
//! Other programs may use the machine, so work on one thread is also timed by its core time.

use anyhow::{ensure, Result};
use meshkv::cosim::dut::network::{Injection, Network};
use meshkv::cosim::traffic::generator::{Generator, Traffic};
use meshkv::cosim::traffic::packet::{FlitBits, Header, Packet};
use meshkv::cosim::workloads::network::Phases;
use meshkv::design::Design;
use meshkv::eval::{self, Setup};
use rustix::time::{clock_gettime, ClockId};
use std::time::{Duration, Instant};

/// Cycles of flits that are queued at a time when only the network is timed.
const BATCH: u64 = 1000;

/// Cycles per second.
#[derive(Clone, Copy, Default)]
pub struct Pace {
    /// By wall time.
    pub wall: f64,
    /// By this thread's core time.
    pub core: f64,
}

impl Pace {
    /// The better of each.
    pub fn or(self, other: Pace) -> Pace {
        Pace { wall: self.wall.max(other.wall), core: self.core.max(other.core) }
    }
}

/// Core time of this thread so far.
fn core_time() -> Duration {
    // /proc changes only with the scheduler's ticks, which are as long as a batch.
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec as u32)
}

/// Pace of a measured run: traffic, network and scoreboard.
pub fn checked(network: &mut dyn Network, design: &Design, traffic: &Traffic, cycles: u64) -> Result<Pace> {
    network.reset()?;
    let phases = Phases { warmup: 0, measure: cycles, drain_limit: cycles, latency_limit: None };
    let mut setup = Setup { design, phases, saturated_at: None, stop: &mut |_| false, packets: None };
    let started = core_time();
    let row = eval::measure(network, &mut setup, traffic, f64::MAX)?;
    let core = row.cycles as f64 / (core_time() - started).as_secs_f64();
    ensure!(row.violations == 0, "the fabric broke {} promises", row.violations);
    Ok(Pace { wall: row.cycles_per_second, core })
}

/// Pace of the network alone, with single flits: queueing and taking them is not timed.
pub fn bare(network: &mut dyn Network, design: &Design, traffic: &Traffic, cycles: u64) -> Result<Pace> {
    network.reset()?;
    let mut generator = Generator::new(design, traffic)?;
    let bits = FlitBits::new(design);
    let (mut key, mut core, mut wall) = (0, Duration::ZERO, Duration::ZERO);
    for start in (0..cycles).step_by(BATCH as usize) {
        let mut packets = Vec::new();
        generator.generate(start..start + BATCH, false, &mut |packet| packets.push(packet));
        for packet in &packets {
            inject(network, design, &bits, packet, key)?;
            key += 1;
        }
        let (started, on_core) = (Instant::now(), core_time());
        network.step(BATCH)?;
        core += core_time() - on_core;
        wall += started.elapsed();
        network.take_entries(&mut |_| {});
        network.take_ejections(&mut |_| {});
    }
    let pace = |time: Duration| cycles as f64 / time.as_secs_f64();
    Ok(Pace { wall: pace(wall), core: pace(core) })
}

fn inject(
    network: &mut dyn Network,
    design: &Design,
    bits: &FlitBits,
    packet: &Packet,
    key: u64,
) -> Result<()> {
    let (mut dest, mut head, mut data) = (Vec::new(), Vec::new(), Vec::new());
    let several = packet.dests.len() > 1;
    let header = Header { class: packet.class, source: packet.source, tag: key, index: 0, flits: 1, several };
    bits.write_dest(&packet.dests, &mut dest);
    bits.write_head(&header, &mut head);
    bits.write_data(key, &mut data);
    network.inject(&Injection {
        tile: packet.source,
        class: packet.class,
        vc_mask: design.router.vcs_of_class(packet.class).fold(0, |mask, vc| mask | 1 << vc),
        ready_cycle: packet.cycle,
        last: true,
        dest: &dest,
        head: &head,
        data: &data,
    })
}
