//! Entry point: parse, run, exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    meshkv::cli::run()
}
