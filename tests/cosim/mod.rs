//! Tests of the builds of co-simulation and of its scoreboard.

mod build;
mod hangs;
mod scoreboard;
