//! The parts of a design that a build verilates, and the run that it is compiled for.

/// What is verilated: the network by itself, with the transport of its tiles, or all of the fabric; at
/// once, or in pieces of which one is run many times. Both ways show the same in the same cycles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BuildForm {
    /// All of the network: checks its wiring, and can write waves.
    WholeMesh,
    /// One router, which the harness runs once for each of the mesh and joins itself: builds in
    /// seconds whatever the size of the mesh, and runs on two cores.
    OneRouter,
    /// One router with the transport of its tile, run once for each of the mesh; for [`crate::cosim::dut::pins::Pins`].
    TransportPieces,
    /// All of the fabric, which checks the wiring of everything; for [`crate::cosim::dut::pins::Pins`].
    WholeFabric,
    /// The fabric as one router with its tile, run once for each of the mesh, and what stands around the
    /// tiles: builds in seconds to a minute where `WholeFabric` takes many; for [`crate::cosim::dut::pins::Pins`].
    FabricPieces,
    /// The same without the routers, whose links to the tiles are ports: for tests that play the network.
    EndpointPieces,
    /// Fabric and what computes, joined of such pieces, on one clock; for [`crate::cosim::dut::pins::Pins`].
    CorePieces,
    /// The same with a clock of its own for what computes.
    CorePiecesTwoClocks,
    /// Fabric and what computes verilated at once, with both clocks: small designs, whose waves it can write.
    WholeCore,
    /// The whole device in its shell, with both clocks: small designs, whose waves it can write; for [`crate::cosim::workloads::device`].
    WholeDevice,
    /// What faces host and platform, in its shell: to stand before a core of any form.
    FrontAlone,
}

impl BuildForm {
    /// As on the command line.
    pub fn name(self) -> &'static str {
        match self {
            BuildForm::WholeMesh => "mesh",
            BuildForm::OneRouter => "tile",
            BuildForm::TransportPieces => "node",
            BuildForm::WholeFabric => "full",
            BuildForm::FabricPieces => "pieces",
            BuildForm::EndpointPieces => "around",
            BuildForm::CorePieces => "core",
            BuildForm::CorePiecesTwoClocks => "clocks",
            BuildForm::WholeCore => "whole",
            BuildForm::WholeDevice => "device",
            BuildForm::FrontAlone => "front",
        }
    }

    /// Clocks that can be driven apart.
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

/// How long the library will run, which decides what is worth compiling for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunLength {
    /// Some thousand cycles: compiles in half the time of `Quick`, and runs at two thirds of its speed.
    Brief,
    /// Some hundred thousand.
    Quick,
    /// Sweeps and benchmarks: runs fastest.
    Long,
    /// Waves in FST, also of the rerun of a failure.
    Trace {
        /// Levels of hierarchy in the wave file, counted from the top; `None` for all.
        depth: Option<u32>,
        /// Compiled as [`RunLength::Brief`].
        brief: bool,
    },
}

/// Cycles of a tile, or flits that tiles take, from which the better optimised build is worth its longer compilation.
pub const LONG_RUN: u64 = 400_000;

impl RunLength {
    /// For a run of so much work, where so much is long. Less than a tenth of it is done before anything better is compiled.
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
