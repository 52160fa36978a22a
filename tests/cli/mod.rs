//! The subcommands of the program.

mod bad_input;
mod commands;
mod cosim;
mod decode;
mod estimate;
mod fetch;
mod first_hour;
mod interrupt;
mod outputs;
mod paper;
mod progress;
mod run;
mod run_device;
mod sim;
mod slurm;
mod sweep;
mod tools;
