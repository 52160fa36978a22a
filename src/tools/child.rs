//! Runs one external program to its end, or ends it early with all its children.
//!
//! It handles no signals: the caller decides when to stop. Who ends the process at once ends what runs by `kill_all`.

use crate::tools::WorkError;
use rustix::process::{kill_process, kill_process_group, Pid, Signal};
use std::collections::BTreeSet;
use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Interval between calls of `stop` while a program runs.
const ASK_EVERY: Duration = Duration::from_millis(50);

/// Time for a program to remove its temporary files before it is killed.
const GRACE: Duration = Duration::from_secs(2);

/// Process groups of the programs that run.
static RUNNING: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

/// A program's process group, listed for as long as the program runs.
struct Group(Pid);

impl Group {
    fn listed(leader: &Child) -> Group {
        let group = Pid::from_child(leader);
        RUNNING.lock().unwrap_or_else(PoisonError::into_inner).insert(group.as_raw_pid());
        Group(group)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        RUNNING.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.0.as_raw_pid());
    }
}

/// Kills the programs that run, with their children, unasked: for a process that ends at once.
pub(crate) fn kill_all() {
    let running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
    for group in running.iter().filter_map(|&group| Pid::from_raw(group)) {
        let _ = kill_process_group(group, Signal::KILL);
    }
}

/// End of a program.
#[derive(Debug)]
pub enum Ended {
    /// By itself, with this output.
    Itself(Output),
    /// Stopped by the caller.
    Stopped,
}

/// Puts the temporary files of a program into its working folder, which the folder's owner removes: Icarus
/// leaves them behind when it is stopped.
pub fn keep_temporaries(command: &mut Command) {
    for name in ["TMPDIR", "TMP", "TEMP"] {
        command.env(name, ".");
    }
}

/// Runs a program and collects its output. Once `stop` returns true, the program and its children are
/// stopped.
///
/// # Errors
/// When the program cannot be started.
pub fn run(mut command: Command, stop: &dyn Fn() -> bool) -> io::Result<Ended> {
    if stop() {
        return Ok(Ended::Stopped);
    }
    // The program gets its own process group: `verilator` is a script and the compiler a driver, and stopping
    // only those would leave their children running.
    command.process_group(0).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    let group = Group::listed(&child);
    let stdout = read(child.stdout.take());
    let stderr = read(child.stderr.take());
    let Some(stdout) = wait(&stdout, stop).transpose()? else {
        end(group.0, || child.wait(), &[&stdout, &stderr]);
        return Ok(Ended::Stopped);
    };
    let Some(stderr) = wait(&stderr, stop).transpose()? else {
        end(group.0, || child.wait(), &[&stderr]);
        return Ok(Ended::Stopped);
    };
    Ok(Ended::Itself(Output { status: child.wait()?, stdout, stderr }))
}

type Text = io::Result<Vec<u8>>;

/// Reads a pipe to its end in its own thread: two pipes can fill at the same time.
fn read(pipe: Option<impl Read + Send + 'static>) -> Receiver<Text> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = pipe.map_or(Ok(0), |mut pipe| pipe.read_to_end(&mut bytes));
        // The receiver is gone once the program has been stopped.
        let _ = sender.send(read.map(|_| bytes));
    });
    receiver
}

/// The content of a pipe; `None` if `stop` came first.
fn wait(pipe: &Receiver<Text>, stop: &dyn Fn() -> bool) -> Option<Text> {
    loop {
        match pipe.recv_timeout(ASK_EVERY) {
            Ok(text) => return Some(text),
            Err(RecvTimeoutError::Timeout) if stop() => return None,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Some(Err(io::ErrorKind::BrokenPipe.into())),
        }
    }
}

/// Ends a program that was started elsewhere, in the group of this process: first by request.
pub(crate) fn terminate(child: &mut Child) {
    let _ = kill_process(Pid::from_child(child), Signal::TERM);
    let deadline = Instant::now() + GRACE;
    while Instant::now() < deadline {
        // One that cannot be waited for is gone.
        if !matches!(child.try_wait(), Ok(None)) {
            return;
        }
        thread::sleep(ASK_EVERY);
    }
    let _ = child.kill();
    let _ = child.wait();
}

/// Stops a group, first by request: then a compiler removes its temporary files.
fn end(group: Pid, reap: impl FnOnce() -> io::Result<ExitStatus>, pipes: &[&Receiver<Text>]) {
    let _ = kill_process_group(group, Signal::TERM);
    let deadline = Instant::now() + GRACE;
    // The pipes close when the last process of the group has ended.
    for pipe in pipes {
        let _ = pipe.recv_timeout(deadline.saturating_duration_since(Instant::now()));
    }
    // This precedes waiting for the leader: until then its ID belongs to this group.
    let _ = kill_process_group(group, Signal::KILL);
    let _ = reap();
}

/// Runs a program that must succeed, to its end or until `stop`. Its output is returned only if it failed.
///
/// # Errors
/// When it does not run, fails, or was stopped.
pub(crate) fn succeed(mut command: Command, stop: &dyn Fn() -> bool) -> Result<(), WorkError> {
    let program = command.get_program().to_string_lossy().into_owned();
    keep_temporaries(&mut command);
    let ended = run(command, stop).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => WorkError::Missing { program: program.clone() },
        _ => WorkError::Io { what: format!("cannot run {program}"), source },
    })?;
    match ended {
        Ended::Stopped => Err(WorkError::Stopped),
        Ended::Itself(output) if output.status.success() => Ok(()),
        Ended::Itself(output) => {
            let text = [output.stdout, output.stderr].concat();
            let log = first_errors(&String::from_utf8_lossy(&text));
            Err(WorkError::Failed { program, status: output.status, log })
        }
    }
}

/// The lines of a log that name the problem: the first error and the text after it, at most a
/// screen.
pub(crate) fn first_errors(log: &str) -> String {
    const LINES: usize = 30;
    let lines: Vec<&str> = log.lines().collect();
    if lines.is_empty() {
        return "it printed nothing".to_owned();
    }
    let start = lines.iter().position(|l| l.contains("rror")).unwrap_or(0);
    lines[start..].iter().take(LINES).copied().collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn output_and_status_come_back_and_both_pipes_may_fill() {
        let script = "head -c 300000 /dev/zero; head -c 300000 /dev/zero >&2; exit 3";
        let Ended::Itself(output) = run(shell(script), &|| false).unwrap() else { panic!("not stopped") };
        assert_eq!((output.stdout.len(), output.stderr.len()), (300_000, 300_000));
        assert_eq!(output.status.code(), Some(3));
    }

    #[test]
    fn a_stopped_program_takes_its_children_along_even_stubborn_ones() {
        for script in
            ["sleep 60 & sleep 60", "(trap '' TERM; sleep 60; sleep 60) & wait", "exec >&-; sleep 60"]
        {
            let start = Instant::now();
            let asked = Cell::new(0);
            let stop = || asked.replace(asked.get() + 1) > 1;
            assert!(matches!(run(shell(script), &stop).unwrap(), Ended::Stopped), "{script}");
            assert!(start.elapsed() < Duration::from_secs(10), "{script}");
        }
    }

    #[test]
    fn a_program_that_does_not_heed_the_request_is_ended_all_the_same() {
        for script in ["exec sleep 60", "trap '' TERM; while :; do sleep 0.1; done"] {
            let start = Instant::now();
            let mut child = shell(script).spawn().unwrap();
            thread::sleep(Duration::from_millis(100));
            terminate(&mut child);
            assert!(!child.wait().unwrap().success(), "{script}");
            assert!(start.elapsed() < Duration::from_secs(10), "{script}");
        }
    }

    #[test]
    fn a_program_that_is_not_there_is_an_error() {
        let error = run(Command::new("/nowhere/tool"), &|| false).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
