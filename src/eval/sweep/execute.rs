//! Runs one point of a sweep: its fabric, its workload, its measurement.

use crate::config::{DecodeWork, Engine, TrafficWork};
use crate::cosim::build::{BuildForm, Library, RunLength, LONG_RUN};
use crate::cosim::dut::network::Network;
use crate::cosim::dut::verilated::verilated_ports;
use crate::cosim::dut::watched::{modelled, power_up, verilated};
use crate::cosim::traffic::generator::Traffic;
use crate::cosim::workloads::decode::{flits_of_step, Bench, DecodeError};
use crate::cosim::workloads::network::measure::RunError;
use crate::design::Design;
use crate::eval::grid::{Point, Work};
use crate::eval::{self, DecodeRow, MeasureError, Setup};
use crate::tools::interrupt::Interrupt;
use serde_json::{json, Value};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Builds the library of a design, or takes it from the cache.
pub type Build<'a> = dyn Fn(&Design, BuildForm, RunLength) -> anyhow::Result<Library> + Sync + 'a;

/// Outcome of a point.
pub enum Outcome {
    /// The row of its run.
    Row(Value),
    /// Its run failed, for this reason.
    Failed(String),
    /// No point can be run, or the sweep was interrupted.
    Fatal(anyhow::Error),
}

/// Latency without load, once it is known. The first thread that needs it measures it; others wait.
type ZeroLoad = Arc<Mutex<Option<f64>>>;

/// Runs points, from several threads.
pub struct Execute<'a> {
    interrupt: &'a Interrupt,
    build: &'a Build<'a>,
    /// By fabric and traffic: points that differ in their load alone share it.
    zero_loads: Mutex<HashMap<String, ZeroLoad>>,
}

impl<'a> Execute<'a> {
    /// Runs until `interrupt`, on fabrics from `build`.
    pub fn new(interrupt: &'a Interrupt, build: &'a Build<'a>) -> Execute<'a> {
        Execute { interrupt, build, zero_loads: Mutex::default() }
    }

    /// Runs a point.
    pub fn run(&self, point: &Point) -> Outcome {
        let design = &point.design;
        let found = match (&point.work, point.work.engine()) {
            (Work::Traffic(work), Engine::Model) => self.traffic(&mut modelled(design), design, work),
            (Work::Traffic(work), Engine::Rtl) => self.verilated_traffic(design, work),
            (Work::Decode(work), _) => self.decode(design, work),
        };
        match found {
            Ok(row) => Outcome::Row(row),
            Err(error) if came_to_no_end(&error) => Outcome::Failed(format!("{error:#}")),
            Err(error) => Outcome::Fatal(error),
        }
    }

    fn verilated_traffic(&self, design: &Design, work: &TrafficWork) -> anyhow::Result<Value> {
        let library = (self.build)(design, BuildForm::OneRouter, RunLength::Long)?;
        let mut dut = verilated(&library, design, work.seed)?;
        dut.record(true, true);
        self.traffic(&mut dut, design, work)
    }

    fn traffic(
        &self,
        network: &mut dyn Network,
        design: &Design,
        work: &TrafficWork,
    ) -> anyhow::Result<Value> {
        let (traffic, phases) = Point::traffic(work);
        let zero_load = self.zero_load(network, design, &traffic)?;
        network.reset()?;
        let stop = &mut |_| self.interrupt.requested();
        let mut setup = Setup { design, phases, saturated_at: None, stop, packets: None };
        Ok(json!(eval::measure(network, &mut setup, &traffic, zero_load)?))
    }

    /// Latency of the traffic without load.
    fn zero_load(
        &self,
        network: &mut dyn Network,
        design: &Design,
        traffic: &Traffic,
    ) -> anyhow::Result<f64> {
        // A load below that of this measurement is measured at its own load.
        let load = traffic.load.min(eval::HARDLY_ANY);
        let key = json!([design.configuration(), Traffic { load, ..traffic.clone() }]).to_string();
        let slot =
            self.zero_loads.lock().unwrap_or_else(PoisonError::into_inner).entry(key).or_default().clone();
        let mut known = slot.lock().unwrap_or_else(PoisonError::into_inner);
        match *known {
            Some(latency) => Ok(latency),
            None => {
                let stop = &mut |_| self.interrupt.requested();
                Ok(*known.insert(eval::zero_load_latency(network, design, traffic, stop)?))
            }
        }
    }

    fn decode(&self, design: &Design, work: &DecodeWork) -> anyhow::Result<Value> {
        let (load, step, plan) = Point::decode(work, design)?;
        let bench = match work.engine {
            Engine::Model => Bench::on_model(design),
            Engine::Rtl => {
                let due = flits_of_step(design, &plan.descriptors) * u64::from(plan.steps);
                let length = RunLength::of(due, LONG_RUN);
                let library = (self.build)(design, BuildForm::FabricPieces, length)?;
                Bench::on(verilated_ports::verilated(&library, power_up(plan.seed))?, design)?
            }
        };
        let done = bench.run(&plan, &mut |_| self.interrupt.requested())?;
        Ok(json!(DecodeRow::new(design, &step, &plan, &done, load.batch)))
    }
}

/// True if the run of a point failed, not the environment.
fn came_to_no_end(error: &anyhow::Error) -> bool {
    if let Some(failed) = error.downcast_ref::<DecodeError>() {
        return *failed != DecodeError::Stopped;
    }
    match error.downcast_ref() {
        Some(MeasureError::Run(failed)) => !matches!(failed, RunError::Stopped { .. }),
        Some(MeasureError::Traffic(_)) | None => false,
    }
}
