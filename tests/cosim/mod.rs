//! Builds of co-simulation, and its scoreboard.

mod build;
mod scoreboard;
