//! The fabric as packed ports and a clock, implemented by compiled Verilog and by the model.

use super::clocks::Clocks;
use super::error::DutError;
use crate::design::{NodeId, Port};
use crate::model::cycle::common::Reached;
use crate::model::cycle::network::Upset;
use std::path::Path;

/// A bit of a flit on a link between two tiles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkFlip {
    /// Index of the tile that receives it.
    pub tile: u32,
    /// Side from which it comes.
    pub side: Port,
    /// Flits on this link before it, since the first reset.
    pub number: u64,
    /// Bit of its payload.
    pub bit: u32,
}

/// A fabric as packed ports and a clock. Ports get numbers as they are looked up.
pub trait DutPorts: std::fmt::Debug + Send {
    /// The number of the port with this name, if there is one.
    fn find(&mut self, name: &str) -> Option<usize>;

    /// The words of a port, little-endian, of `bits` in total.
    fn words(&self, port: usize, bits: u32) -> &[u32];

    /// The words of an input, to set them.
    fn words_mut(&mut self, port: usize, bits: u32) -> &mut [u32];

    /// Runs a period; then outputs have the values of that period.
    ///
    /// # Errors
    /// [`DutError::Stopped`] if a check fires.
    fn tick(&mut self, rst: bool) -> Result<(), DutError>;

    /// Sets the clocks from the next period on.
    ///
    /// # Errors
    /// If it does not have two clocks.
    fn set_clocks(&mut self, clocks: &Clocks) -> Result<(), DutError> {
        match clocks.in_step() {
            true => Ok(()),
            false => Err(DutError::Mismatch("its clocks run in step".to_owned())),
        }
    }

    /// Starts a wave file.
    ///
    /// # Errors
    /// [`DutError::Wave`] if it has no waves.
    fn wave_start(&mut self, path: &Path) -> Result<(), DutError> {
        Err(DutError::Wave(format!("the model writes no waves: {}", path.display())))
    }

    /// Closes the wave file, if one is open.
    fn wave_stop(&mut self) {}

    /// Changes the state of a router; a comparison must find it.
    ///
    /// # Errors
    /// If it is not a model with routers.
    fn upset(&mut self, _tile: NodeId, _upset: Upset) -> Result<(), DutError> {
        Err(DutError::Mismatch("only a router of the model can be upset".to_owned()))
    }

    /// Inverts a bit of a flit on a link.
    ///
    /// # Errors
    /// If it has no such link of its own: it is no Verilog in pieces, or the link is not there.
    fn flip(&mut self, _flip: &LinkFlip) -> Result<(), DutError> {
        Err(DutError::Mismatch("only links between verilated pieces can be flipped".to_owned()))
    }

    /// True once the flit of [`DutPorts::flip`] has come.
    fn flipped(&self) -> bool {
        false
    }

    /// Rare states that it has reached; `None` if it does not count them: it is Verilog alone.
    fn reached(&self) -> Option<Reached> {
        None
    }

    /// Bits of a payload that it carries and that can be compared; the others are zero.
    fn payload_bits(&self) -> u32;
}
