//! A sweep on a cluster: its rows are those of a local one, whatever happens to its tasks.

use crate::support::sandbox::{said, Running, Sandbox};
use crate::support::slurm::Slurm;
use rustix::process::Signal;
use std::fs;

/// A thousand short points.
const SHORT: &str = r#"base = "small.toml"
[workload]
kind = "traffic"
pattern = ["uniform", "neighbour", "bit-complement", "hotspot"]
load = [0.05, 0.1, 0.15, 0.2, 0.25]
seed = { from = 1, to = 50, step = 1 }
cycles = 1000
warmup = 100
[slurm]
partition = "p"
"#;

/// A few points of some seconds.
const LONG: &str = r#"base = "small.toml"
[workload]
kind = "traffic"
load = [0.1, 0.2]
seed = { from = 1, to = 6, step = 1 }
cycles = 600000
"#;

/// Asserts that two folders have the same rows, byte for byte.
fn alike(sandbox: &Sandbox, one: &str, other: &str) {
    for name in ["rows.jsonl", "rows.csv", "rows.parquet"] {
        let [a, b] = [one, other].map(|dir| fs::read(sandbox.path(dir).join(name)).expect(name));
        assert!(a == b, "{name} of {one} and {other} differ");
    }
}

#[test]
fn rows_of_a_cluster_are_those_of_one_machine_whatever_happens_to_its_tasks() {
    let slurm = Slurm::start();
    let sandbox = Sandbox::new();
    sandbox.file("short.toml", SHORT);
    sandbox.file("long.toml", LONG);
    let on_slurm = |line: &str| {
        let mut command = sandbox.meshkv(line);
        command.env("SLURM_CONF", slurm.conf());
        command
    };
    let whole = |line: &str| {
        let done = said(&mut on_slurm(line));
        assert_eq!(done.code, Some(0), "{line}: {}", done.err);
        done
    };

    // A thousand points, in no more tasks than the cluster allows.
    whole("sweep short.toml -o local");
    let done = whole("sweep short.toml -o cluster --slurm --chunk-seconds 1 --json");
    assert!(done.out.contains("\"run\": 1000"), "{}", done.out);
    alike(&sandbox, "local", "cluster");
    assert!(!sandbox.path("cluster/slurm").exists(), "files of the array are left");

    // A task that is killed, and one whose node is lost.
    whole("sweep long.toml -o long");
    let mut running = Running::start(&mut on_slurm("sweep long.toml -o hurt --slurm --chunk-seconds 1 -v"));
    running.hear("submitted array");
    slurm.until("a task runs", |slurm| !slurm.running().is_empty());
    slurm.ask("scancel", &["--signal=KILL", &slurm.running()[0]]);
    slurm.until("another runs", |slurm| !slurm.running().is_empty());
    slurm.lose_the_node();
    let end = running.end();
    assert_eq!(end.code, Some(0), "{}", end.err);
    alike(&sandbox, "long", "hurt");

    // Left alone, it goes on; the same command gathers its rows and submits nothing.
    let line = "sweep long.toml -o left --slurm --chunk-seconds 1000 -v";
    let mut running = Running::start(&mut on_slurm(line));
    running.hear("submitted array");
    slurm.until("a task runs", |slurm| !slurm.running().is_empty());
    running.signal(Signal::INT);
    let left = running.end();
    assert_eq!(left.code, Some(130), "{}", left.err);
    assert!(left.err.contains("goes on: the same command gathers its rows"), "{}", left.err);
    let end = whole(line);
    assert!(!end.err.contains("submitted"), "{}", end.err);
    alike(&sandbox, "long", "left");

    // What the cluster does not have is refused in its words.
    let refused = said(&mut on_slurm("sweep long.toml -o none --slurm --partition nowhere"));
    assert_eq!(refused.code, Some(2), "{}", refused.err);
    assert!(
        refused.err.contains("Slurm refuses the array") && refused.err.contains("--partition"),
        "{}",
        refused.err
    );
}

#[test]
fn without_slurm_the_error_says_what_is_missing() {
    let sandbox = Sandbox::new();
    sandbox.file("short.toml", SHORT);
    let mut command = sandbox.meshkv("sweep short.toml -o out --slurm");
    command.env("PATH", sandbox.path("tmp"));
    let said = said(&mut command);
    assert_eq!((said.code, said.out.as_str()), (Some(2), ""), "{}", said.err);
    assert!(said.err.contains("scontrol is not found: --slurm needs the commands of Slurm"), "{}", said.err);
    sandbox.file("wrong.toml", &SHORT.replace("partition", "partitoin"));
    let said = sandbox.run("sweep wrong.toml -o out --slurm");
    assert!(said.err.contains("wrong.toml:10:1") && said.err.contains("partition"), "{}", said.err);
}

/// Commands of a site that greets its users: the tasks of array 4100 begin a second after it was submitted.
fn greeting_site(sandbox: &Sandbox) -> String {
    fs::create_dir(sandbox.path("bin")).unwrap();
    sandbox.script("bin/scontrol", "echo Welcome; echo 'MaxArraySize = 1001'");
    sandbox.script(
        "bin/sbatch",
        "for word; do case $word in --array=0-*) last=${word#--array=0-};; *.sh) script=$word;; esac; done\n\
         printf '%s\\n' \"$@\" -- >> words\n\
         [ -z \"$REFUSES\" ] || { echo Welcome >&2; echo \"sbatch: error: $REFUSES\" >&2; exit 1; }\n\
         (sleep 1; task=0; while [ $task -le $last ]; do\n\
         SLURM_ARRAY_TASK_ID=$task sh \"$script\"; task=$((task + 1)); done; touch ended) >/dev/null 2>&1 &\n\
         printf 'Welcome to node 3\\n\\nchecking 12 quotas... fine\\n4100\\n'",
    );
    sandbox.script(
        "bin/squeue",
        "echo Welcome to node 3\n\
         [ \"$3\" = 4100 ] || { echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1; }\n\
         [ -e ended ] || echo RUNNING",
    );
    format!("{}:{}", sandbox.path("bin").display(), std::env::var("PATH").unwrap())
}

#[test]
fn a_site_that_greets_its_users_gets_one_array_and_a_limit_is_named_with_its_option() {
    let sandbox = Sandbox::new();
    let path = greeting_site(&sandbox);
    sandbox.file(
        "few.toml",
        "base = \"small.toml\"\n[workload]\nkind = \"traffic\"\nload = [0.05, 0.1]\ncycles = 500\n",
    );
    let whole = said(sandbox.meshkv("sweep few.toml -o 100%j --slurm -v").env("PATH", &path));
    assert_eq!(whole.code, Some(0), "{}", whole.err);
    assert_eq!(whole.err.matches("submitted array 4100 for 2 points").count(), 1, "{}", whole.err);
    let words = fs::read_to_string(sandbox.path("words")).unwrap();
    assert_eq!(words.lines().filter(|word| *word == "--").count(), 1, "{words}");
    assert!(words.contains("/100%%j/slurm/0/log-%a.txt"), "{words}");

    let mut refused = sandbox.meshkv("sweep few.toml -o other --slurm");
    let refused = said(refused.env("PATH", &path).env("REFUSES", "QOSMaxSubmitJobPerUserLimit"));
    assert_eq!(refused.code, Some(2), "{}", refused.err);
    let err = refused.err;
    assert!(err.contains("QOSMaxSubmitJobPerUserLimit") && err.contains("--chunk-seconds"), "{err}");
    assert!(!err.contains("--account") && !err.contains("Welcome"), "{err}");
}
