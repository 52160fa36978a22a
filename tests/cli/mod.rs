//! The subcommands of the program.

mod bad_input;
mod commands;
mod cosim;
mod decode;
mod estimate;
mod fetch;
mod first_hour;
mod fuzz;
mod generate;
mod interrupt;
mod options;
mod options_line;
mod outputs;
mod paper;
mod places;
mod plan;
mod progress;
mod run;
mod run_device;
mod run_steps;
mod shown_commands;
mod sim;
mod slurm;
mod sweep;
mod sweep_list;
mod tools;
