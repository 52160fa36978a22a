//! Measures one run as one [`Row`], with the zero-load latency that it is compared with.

use crate::cosim::dut::network::Network;
use crate::cosim::traffic::generator::{Generator, Traffic, TrafficError};
use crate::cosim::traffic::packet::Packet;
use crate::cosim::workloads::network::measure::{run, run_listing, RunError, Stop};
use crate::cosim::workloads::network::{PacketTimes, Phases};
use crate::design::Design;
use crate::eval::rows::row::{saturated_at, Row};
use std::time::Instant;
use thiserror::Error;

/// Deliveries for each node and cycle at which packets hardly ever meet.
pub const HARDLY_ANY: f64 = 0.01;
/// Deliveries, and packets, of which the zero-load latency is the mean.
const ZERO_LOAD_DELIVERIES: f64 = 4000.0;
const ZERO_LOAD_PACKETS: f64 = 400.0;
/// Longest window for it: a 2x2 mesh with long packets would take longer.
const ZERO_LOAD_CYCLES: u64 = 40_000;

/// A run that gives no row.
#[derive(Debug, Error)]
pub enum MeasureError {
    /// The traffic does not fit the design.
    #[error(transparent)]
    Traffic(#[from] TrafficError),
    /// The run did not end.
    #[error(transparent)]
    Run(#[from] RunError),
}

/// Common inputs of the rows of one command.
pub struct Setup<'a> {
    /// The fabric.
    pub design: &'a Design,
    /// Lengths of the phases; a trace takes its own length.
    pub phases: Phases,
    /// Mean latency in cycles at which a load counts as saturated; `None`: three times that without load.
    pub saturated_at: Option<f64>,
    /// Called with the cycle after every batch; true ends the run.
    pub stop: Stop<'a>,
    /// Takes each packet of the sample that arrives, once for each destination; `None` if nobody lists them.
    pub packets: Option<&'a mut Vec<PacketTimes>>,
}

/// Runs synthetic traffic through a network that has just been reset.
///
/// # Errors
/// If the traffic does not fit the design, or the run does not end.
pub fn measure(
    network: &mut dyn Network,
    setup: &mut Setup<'_>,
    traffic: &Traffic,
    zero_load: f64,
) -> Result<Row, MeasureError> {
    let generator = Generator::new(setup.design, traffic)?;
    let row = timed(network, setup, &setup.phases.clone(), generator, Some(zero_load))?;
    Ok(Row {
        traffic: traffic.shape.name().to_owned(),
        load: Some(traffic.load),
        packet: Some(traffic.packet),
        seed: Some(traffic.seed),
        ..row
    })
}

/// Replays a trace through a network that has just been reset. All of it is the sample.
///
/// # Errors
/// If the run does not end.
pub fn replay(
    network: &mut dyn Network,
    setup: &mut Setup<'_>,
    packets: Vec<Packet>,
) -> Result<Row, MeasureError> {
    let measure = packets.last().map_or(0, |p| p.cycle + 1);
    let phases = Phases { warmup: 0, measure, drain_limit: u64::MAX, latency_limit: None };
    let generator = Generator::from_trace(setup.design, packets);
    let row = timed(network, setup, &phases, generator, None)?;
    Ok(Row { traffic: "trace".to_owned(), ..row })
}

/// Mean latency in cycles of the same traffic at a load at which packets hardly ever meet.
///
/// # Errors
/// If the traffic does not fit the design, or the run does not end.
pub fn zero_load_latency(
    network: &mut dyn Network,
    design: &Design,
    traffic: &Traffic,
    stop: Stop<'_>,
) -> Result<f64, MeasureError> {
    let fanout = f64::from(traffic.shape.fanout());
    let load = (HARDLY_ANY / fanout).min(traffic.load);
    let packets_per_cycle = load / f64::from(traffic.packet) * design.mesh.tiles() as f64;
    let packets = (ZERO_LOAD_DELIVERIES / fanout).max(ZERO_LOAD_PACKETS);
    let measure = ((packets / packets_per_cycle) as u64).clamp(1000, ZERO_LOAD_CYCLES);
    let phases = Phases { warmup: 200, measure, drain_limit: 100_000, latency_limit: None };
    let generator = Generator::new(design, &Traffic { load, ..traffic.clone() })?;
    network.reset().map_err(RunError::from)?;
    let found = run(network, design, generator, &phases, stop)?;
    Ok(found.latency.mean())
}

fn timed(
    network: &mut dyn Network,
    setup: &mut Setup<'_>,
    phases: &Phases,
    generator: Generator,
    zero_load: Option<f64>,
) -> Result<Row, MeasureError> {
    let start = Instant::now();
    let mut list = |packet| {
        if let Some(packets) = &mut setup.packets {
            packets.push(packet);
        }
    };
    let found = run_listing(network, setup.design, generator, phases, (setup.stop, &mut list))?;
    let seconds = start.elapsed().as_secs_f64().max(1e-9);
    let saturated_at = setup.saturated_at.or(zero_load.map(saturated_at));
    let mut row = Row::new(setup.design.mesh, zero_load, saturated_at, &found);
    row.cycles_per_second = found.cycles as f64 / seconds;
    Ok(row)
}
