//! Entry point: parses the arguments, runs the command, sets the exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    meshkv::cli::run()
}
