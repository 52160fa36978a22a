//! The parts of a design that a build verilates, and the length of the run that it is compiled for.

/// The verilated part of a design: the network alone, the network with its transports, or more. It
/// is verilated as a whole, or as pieces of which one is run many times. Both ways behave the same
/// in every cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BuildForm {
    /// The whole network: checks its wiring and can write waves.
    WholeMesh,
    /// One router, which the harness runs once for each tile and connects itself. It builds in
    /// seconds for any size of mesh and runs on two cores.
    OneRouter,
    /// One router with the transport of its tile, run once for each tile; for
    /// [`crate::cosim::dut::pins::Pins`].
    TransportPieces,
    /// The transport of one tile by itself, whose links to the router are ports: for tests that play the network and
    /// judge a requester or a home from its ports; for [`crate::cosim::dut::pins::Pins`].
    TransportAlone,
    /// The whole fabric, with all of its wiring; for [`crate::cosim::dut::pins::Pins`].
    WholeFabric,
    /// The fabric as one router with its tile, run once for each tile, and the periphery. It builds
    /// in seconds to a minute where `WholeFabric` takes many; for
    /// [`crate::cosim::dut::pins::Pins`].
    FabricPieces,
    /// The same without the routers, whose links to the tiles are ports: for tests that play the
    /// network.
    NetworkEndpoints,
    /// Fabric and PaD, as such pieces, on one clock; for [`crate::cosim::dut::pins::Pins`].
    CorePieces,
    /// The same with a second clock for PaD.
    CorePiecesTwoClocks,
    /// Fabric and PaD verilated as a whole, with both clocks: for small designs; it can write
    /// waves.
    WholeCore,
    /// The whole device in its shell, with both clocks: for small designs; it can write waves; for
    /// [`crate::cosim::workloads::device`].
    WholeDevice,
    /// The front of the device in its shell, to run with a core of any form.
    FrontAlone,
}

impl BuildForm {
    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            BuildForm::WholeMesh => "mesh",
            BuildForm::OneRouter => "tile",
            BuildForm::TransportPieces => "node",
            BuildForm::TransportAlone => "transport",
            BuildForm::WholeFabric => "full",
            BuildForm::FabricPieces => "pieces",
            BuildForm::NetworkEndpoints => "endpoints",
            BuildForm::CorePieces => "core",
            BuildForm::CorePiecesTwoClocks => "clocks",
            BuildForm::WholeCore => "whole",
            BuildForm::WholeDevice => "device",
            BuildForm::FrontAlone => "front",
        }
    }

    /// Number of clocks that can be driven separately.
    pub(in crate::cosim) fn clocks(self) -> u32 {
        if matches!(
            self,
            BuildForm::CorePiecesTwoClocks
                | BuildForm::WholeCore
                | BuildForm::WholeDevice
                | BuildForm::FrontAlone
        ) {
            2
        } else {
            1
        }
    }
}

/// Length of the run, which decides how far to optimise the library.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunLength {
    /// Some thousand cycles: compiles in half the time of `Quick` and runs at two thirds of its
    /// speed.
    Brief,
    /// Some hundred thousand cycles.
    Quick,
    /// Sweeps and benchmarks: the fastest code.
    Long,
    /// Waves in FST, also when a failure is run again.
    Trace {
        /// Levels of hierarchy in the wave file, counted from the top; `None` for all.
        depth: Option<u32>,
        /// Compiled as [`RunLength::Brief`].
        brief: bool,
    },
}

/// Tile-cycles, or flits that tiles take, from which the better optimised build pays for its longer
/// compilation.
pub const LONG_RUN: u64 = 400_000;

impl RunLength {
    /// The length for `work`, where `long` is a long run. Work below a tenth of `long` is finished
    /// before better code would be compiled.
    pub fn of(work: u64, long: u64) -> RunLength {
        match work {
            work if work >= long => RunLength::Long,
            work if work >= long / 10 => RunLength::Quick,
            _ => RunLength::Brief,
        }
    }

    /// The same with waves.
    pub fn traced(self, depth: Option<u32>) -> RunLength {
        RunLength::Trace { depth, brief: self == RunLength::Brief }
    }
}
