//! A folder to run `meshkv` in, with a small configuration, a cache of its own and tools that misbehave.
//!
//! It runs commands and lists the files left behind; the assertions belong to the tests.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A time far longer than anything here takes; a test that waits so long fails.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// The smallest design that has all parts.
pub const LEAST: &str = "[mesh]\ncols = 2\nrows = 2\n[noc]\nflit_width = 64\nvc_depth = 2\nvn0_vcs = 1\n\
    [mare]\nbloom_bits = 16\nbloom_refresh = 4\ntag_entries = 1\nrequest_entries = 2\n[pad]\nfifo_depth = 6\n\
    [kv]\nsegment_tokens = 4\nuram_per_tile = 2\nbanks = 2\n[pe]\nhead_dim = 32\narray_rows = 1\n\
    [model]\nlayers = 2\nheads = 2\nkv_heads = 2\nmax_tokens = 64\nmax_streams = 1\n";

/// A design that no test simulates.
pub const OTHER: &str = "[mesh]\ncols = 2\nrows = 2\n[noc]\nflit_width = 64\nvc_depth = 3\n";

/// The folder; removed with everything in it at the end.
pub struct Sandbox {
    dir: tempfile::TempDir,
    /// The folder of built fabrics.
    pub cache: PathBuf,
}

/// The output of a command, and its exit code.
#[derive(Debug)]
pub struct Said {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Sandbox {
    /// A folder with an empty cache, for builds that must fail.
    pub fn new() -> Sandbox {
        let dir = tempfile::tempdir().expect("a temporary folder");
        fs::create_dir(dir.path().join("tmp")).expect("the folder is writable");
        fs::write(dir.path().join("small.toml"), "[mesh]\ncols = 2\nrows = 2\n[noc]\nflit_width = 64\n")
            .expect("the folder is writable");
        Sandbox { cache: dir.path().join("cache"), dir }
    }

    /// A folder with a cache that is kept under target/, for runs that simulate.
    pub fn with_fabric() -> Sandbox {
        Sandbox { cache: Path::new(env!("CARGO_TARGET_TMPDIR")).join("scene"), ..Sandbox::new() }
    }

    /// A folder with a copy of that cache after `line` was run, for tests that damage or inspect it.
    pub fn with_own_fabric(line: &str) -> Sandbox {
        let kept = Sandbox::with_fabric();
        let said = kept.run(line);
        assert_eq!(said.code, Some(0), "{}", said.err);
        let sandbox = Sandbox::new();
        for entry in fs::read_dir(&kept.cache).expect("a cache").map(|e| e.expect("an entry").path()) {
            // Locks, and what another test is building just now, have an extension.
            if entry.is_dir() && entry.extension().is_none() {
                let to = sandbox.cache.join(entry.file_name().expect("it has a name"));
                fs::create_dir_all(&to).expect("the folder is writable");
                // That of a host's library has folders, and no fabric.
                let files = fs::read_dir(entry).expect("an entry").map(|f| f.expect("a file").path());
                for file in files.filter(|file| file.is_file()) {
                    let name = file.file_name().expect("it has a name");
                    fs::copy(&file, to.join(name)).expect("the folder is writable");
                }
            }
        }
        sandbox
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, text).expect("the folder is writable");
        path
    }

    /// A substitute tool, as a shell script.
    pub fn script(&self, name: &str, text: &str) -> PathBuf {
        let path = self.file(name, &format!("#!/bin/sh\n{text}\n"));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it is ours");
        path
    }

    /// A tool that answers queries as `real` does, and otherwise runs `text`.
    pub fn impostor(&self, name: &str, real: &Path, text: &str) -> PathBuf {
        let ask = format!("case \"$1\" in --version|--getenv) exec {} \"$@\";; esac", real.display());
        self.script(name, &format!("{ask}\n{text}"))
    }

    /// `meshkv` with blank-separated arguments.
    pub fn meshkv(&self, line: &str) -> Command {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("meshkv"));
        command.args(line.split_whitespace()).current_dir(self.dir.path());
        command.env("MESHKV_CACHE", &self.cache).env("TMPDIR", self.path("tmp"));
        command
    }

    pub fn run(&self, line: &str) -> Said {
        said(&mut self.meshkv(line))
    }

    /// Everything below the folder but the locks of the cache, sorted.
    pub fn list(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut open = vec![self.dir.path().to_owned()];
        while let Some(folder) = open.pop() {
            for path in fs::read_dir(folder).expect("a folder").map(|e| e.expect("an entry").path()) {
                let below = path.strip_prefix(self.dir.path()).expect("below the folder");
                let lock = path.extension().is_some_and(|e| e == "lock");
                if !lock {
                    found.push(below.display().to_string());
                }
                if path.is_dir() {
                    open.push(path);
                }
            }
        }
        found.sort();
        found
    }
}

/// Runs a command to its end.
pub fn said(command: &mut Command) -> Said {
    let output = command.stdin(Stdio::null()).output().expect("the binary runs");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    Said { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

/// A running command.
pub struct Running {
    child: Child,
    err: BufReader<std::process::ChildStderr>,
    heard: String,
}

impl Running {
    pub fn start(command: &mut Command) -> Running {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the binary runs");
        let err = BufReader::new(child.stderr.take().expect("piped"));
        Running { child, err, heard: String::new() }
    }

    /// Reads standard error until a line begins with `start`.
    pub fn hear(&mut self, start: &str) {
        loop {
            let mut line = String::new();
            let read = self.err.read_line(&mut line).expect("UTF-8");
            self.heard.push_str(&line);
            assert!(read > 0, "it ended without {start:?}: {}", self.heard);
            if line.starts_with(start) {
                return;
            }
        }
    }

    pub fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, signal).expect("it is still there");
    }

    pub fn end(mut self) -> Said {
        self.err.read_to_string(&mut self.heard).expect("UTF-8");
        let mut out = String::new();
        self.child.stdout.take().expect("piped").read_to_string(&mut out).expect("UTF-8");
        let status = self.child.wait().expect("it ends");
        Said { code: status.code(), out, err: self.heard }
    }
}

/// Waits until `what` holds.
pub fn until(what: &str, holds: impl Fn() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < PATIENCE, "never: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}
