//! A Slurm of one node: its controller, its daemon, and munge, from Debian's packages, as root.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Port of the controller; the daemon has the next.
const PORT: u16 = 26817;

/// Runs while it lives.
pub struct Slurm {
    dir: TempDir,
    node: String,
}

fn run(program: &str, words: &[&str]) -> Output {
    let made = Command::new(program).args(words).output();
    made.unwrap_or_else(|e| panic!("{program}: {e}; `make verify` installs it with scripts/tools.sh cluster"))
}

fn must(program: &str, words: &[&str]) -> String {
    let done = run(program, words);
    assert!(done.status.success(), "{program} {words:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8_lossy(&done.stdout).into_owned()
}

impl Slurm {
    /// Starts it, and waits until the node is idle.
    pub fn start() -> Slurm {
        munge();
        let slurm =
            Slurm { dir: tempfile::tempdir().unwrap(), node: must("hostname", &[]).trim().to_owned() };
        for folder in ["state", "spool", "log"] {
            fs::create_dir(slurm.dir.path().join(folder)).unwrap();
        }
        let (dir, node) = (slurm.dir.path().display(), &slurm.node);
        let text = format!(
            "ClusterName=test\nSlurmctldHost={node}(127.0.0.1)\nSlurmctldPort={PORT}\nSlurmdPort={}\n\
             AuthType=auth/munge\nCryptoType=crypto/munge\nSlurmUser=root\nSlurmdUser=root\n\
             StateSaveLocation={dir}/state\nSlurmdSpoolDir={dir}/spool\n\
             SlurmctldPidFile={dir}/ctld.pid\nSlurmdPidFile={dir}/d.pid\n\
             SlurmctldLogFile={dir}/log/ctld\nSlurmdLogFile={dir}/log/d\n\
             ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nMpiDefault=none\n\
             SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\nReturnToService=2\nMaxArraySize=6\n\
             KillWait=1\nNodeName={node} NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN\n\
             PartitionName=p Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n",
            PORT + 1
        );
        fs::write(slurm.conf(), text).unwrap();
        let conf = slurm.conf().display().to_string();
        must("slurmctld", &["-f", &conf]);
        must("slurmd", &["-f", &conf, "-N", node]);
        slurm.until("the node is idle", |slurm| slurm.ask("sinfo", &["-h", "-o", "%T"]).trim() == "idle");
        slurm
    }

    /// The file that names this cluster to Slurm's commands, in `SLURM_CONF`.
    pub fn conf(&self) -> PathBuf {
        self.dir.path().join("slurm.conf")
    }

    /// What one of Slurm's commands prints.
    pub fn ask(&self, program: &str, words: &[&str]) -> String {
        let done = Command::new(program).args(words).env("SLURM_CONF", self.conf()).output().expect(program);
        String::from_utf8_lossy(&done.stdout).into_owned()
    }

    /// Waits until something holds.
    pub fn until(&self, what: &str, holds: impl Fn(&Slurm) -> bool) {
        let begun = Instant::now();
        while !holds(self) {
            assert!(begun.elapsed() < Duration::from_secs(60), "{what} does not come\n{}", self.logs());
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// Tasks that run.
    pub fn running(&self) -> Vec<String> {
        let tasks = self.ask("squeue", &["-h", "-r", "-t", "RUNNING", "-o", "%i"]);
        tasks.lines().map(|line| line.trim().to_owned()).collect()
    }

    /// Takes the node away from its tasks, and gives it back.
    pub fn lose_the_node(&self) {
        let node = format!("nodename={}", self.node);
        self.ask("scontrol", &["update", &node, "state=down", "reason=test"]);
        self.until("the node is down", |slurm| slurm.running().is_empty());
        self.ask("scontrol", &["update", &node, "state=resume"]);
    }

    fn logs(&self) -> String {
        let log = |name: &str| fs::read_to_string(self.dir.path().join("log").join(name)).unwrap_or_default();
        format!("{}\n{}", log("ctld"), log("d"))
    }
}

impl Drop for Slurm {
    fn drop(&mut self) {
        for name in ["d.pid", "ctld.pid"] {
            if let Ok(number) = fs::read_to_string(self.dir.path().join(name)) {
                run("kill", &["-9", number.trim()]);
            }
        }
    }
}

/// Starts munge unless it answers.
fn munge() {
    let answers = || run("sh", &["-c", "munge -n | unmunge"]).status.success();
    if answers() {
        return;
    }
    for folder in ["/run/munge", "/var/log/munge", "/var/lib/munge"] {
        fs::create_dir_all(Path::new(folder)).unwrap();
        must("chown", &["-R", "munge:munge", folder]);
    }
    must("runuser", &["-u", "munge", "--", "munged"]);
    assert!(answers(), "munge does not answer");
}
