//! Places and variables as users have them: outputs that are links or pipes, file systems without locks, compilers of
//! several words, a `VERILATOR_ROOT` of another Verilator.

use crate::support::sandbox::{said, Said, Sandbox, LEAST};
use meshkv::tools;
use std::fs;
use std::os::unix::fs::{symlink, FileTypeExt, PermissionsExt};
use std::process::Command;

fn succeeds(command: &mut Command) -> Said {
    let said = said(command);
    assert_eq!(said.code, Some(0), "{command:?}: {}", said.err);
    said
}

#[test]
fn an_output_that_is_a_link_or_a_pipe_stays_one() {
    let sandbox = Sandbox::new();
    let line = |to: &str| format!("check small.toml --placement --svg {to}");
    symlink("kept.svg", sandbox.path("link.svg")).unwrap();
    let kept = sandbox.file("kept.svg", "old");
    fs::set_permissions(&kept, fs::Permissions::from_mode(0o604)).unwrap();
    succeeds(&mut sandbox.meshkv(&line("link.svg")));
    assert!(sandbox.path("link.svg").is_symlink());
    assert_eq!(fs::metadata(&kept).unwrap().permissions().mode() & 0o777, 0o604);
    let picture = fs::read_to_string(&kept).unwrap();
    assert!(picture.starts_with("<svg") || picture.starts_with("<?xml"), "{picture}");

    let pipe = sandbox.path("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| fs::read_to_string(&pipe).unwrap());
        succeeds(&mut sandbox.meshkv(&line("pipe")));
        assert!(fs::symlink_metadata(&pipe).unwrap().file_type().is_fifo());
        assert!(reader.join().unwrap() == picture);
    });
    // Standard output has the picture whole, also if it is a file.
    assert!(succeeds(&mut sandbox.meshkv(&line("/dev/stdout"))).out.contains(&picture));
    let out = sandbox.path("out.txt");
    let into = sandbox.meshkv(&line("/dev/stdout")).stdout(fs::File::create(&out).unwrap()).status().unwrap();
    assert!(into.success() && fs::read_to_string(&out).unwrap().contains(&picture));
}

/// A library that takes locks away from a program.
fn without_locks(sandbox: &Sandbox, errno: &str) -> std::path::PathBuf {
    let text =
        format!("#include <errno.h>\nextern \"C\" int flock(int, int) {{ errno = {errno}; return -1; }}\n");
    let (source, library) = (sandbox.file("flock.cpp", &text), sandbox.path("flock.so"));
    let cxx = tools::find(&tools::CXX).expect("a compiler");
    let built = cxx.command().args(["-shared", "-fPIC", "-o"]).arg(&library).arg(source).status().unwrap();
    assert!(built.success());
    library
}

#[test]
fn work_goes_on_with_a_word_where_there_are_no_locks() {
    let sandbox = Sandbox::with_own_fabric("cosim small.toml --cycles 500");
    sandbox.file("least.toml", LEAST);
    sandbox.file(
        "s.toml",
        "base = \"small.toml\"\n[workload]\nkind = \"traffic\"\nload = [0.1]\ncycles = 300\n",
    );
    // An entry that has to be built again asks for its lock.
    for entry in fs::read_dir(&sandbox.cache).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.file_name().unwrap().to_str().unwrap().starts_with("dut-") {
            fs::remove_dir_all(entry).unwrap();
        }
    }
    for errno in ["ENOSYS", "ENOLCK"] {
        let library = without_locks(&sandbox, errno);
        let run = |line: &str| succeeds(sandbox.meshkv(line).env("LD_PRELOAD", &library));
        let generated = run(&format!("generate least.toml -o {errno}"));
        assert!(generated.err.contains("has no locks"), "{}", generated.err);
        let swept = run(&format!("sweep s.toml -o sweep-{errno}"));
        assert!(swept.err.contains("has no locks"), "{}", swept.err);
    }
    let library = without_locks(&sandbox, "ENOLCK");
    let built = succeeds(sandbox.meshkv("cosim small.toml --cycles 300").env("LD_PRELOAD", &library));
    assert_eq!(built.err.matches("has no locks").count(), 1, "{}", built.err);
    // Any other error is told as it is, and is not taken for another run.
    let library = without_locks(&sandbox, "EIO");
    let failed = said(sandbox.meshkv("generate least.toml -o new").env("LD_PRELOAD", &library));
    assert!(failed.code == Some(2) && !failed.err.contains("another meshkv"), "{}", failed.err);
    assert!(failed.err.contains("Input/output error"), "{}", failed.err);
}

#[test]
fn a_compiler_may_have_arguments_and_a_wrapper() {
    let sandbox = Sandbox::new();
    sandbox.file("least.toml", LEAST);
    sandbox.script("wrapper", "echo x >> used; exec \"$@\"");
    let gcc = tools::find(&tools::CXX).expect("a compiler").path;
    let words = format!("{} {} -DWORDS", sandbox.path("wrapper").display(), gcc.display());
    let doctor = succeeds(sandbox.meshkv("doctor").env("CXX", &words));
    assert!(doctor.out.contains(&words), "{}", doctor.out);
    fs::remove_file(sandbox.path("used")).unwrap();
    let own = sandbox.cache.clone();
    let built = succeeds(sandbox.meshkv("cosim least.toml --cycles 300 -v").env("CXX", &words));
    assert!(built.err.contains("fabric loaded"), "{}", built.err);
    // The units of the shim that the program carries are of another command.
    let objects = |start: &str| {
        let entries = fs::read_dir(&own).unwrap().map(|entry| entry.unwrap().path());
        entries
            .filter(|path| path.is_dir() && path.file_name().unwrap().to_str().unwrap().starts_with(start))
            .count()
    };
    assert_eq!((objects("runtime-"), objects("dut-")), (1, 1));
}

#[test]
fn a_variable_that_leads_verilator_astray_is_named() {
    let sandbox = Sandbox::new();
    // As the script that starts Verilator does.
    let led = sandbox.script("led", "[ -z \"$VERILATOR_ROOT\" ] || exit 127\necho Verilator 5.030");
    for line in ["cosim small.toml --cycles 300", "lint small.toml", "doctor"] {
        let mut command = sandbox.meshkv(line);
        let said = said(command.env("MESHKV_VERILATOR", &led).env("VERILATOR_ROOT", "/opt/old/verilator"));
        assert_eq!(said.code, Some(2), "{line}: {}", said.err);
        let names = ["VERILATOR_ROOT is set to /opt/old/verilator", "unset VERILATOR_ROOT"];
        assert!(names.iter().all(|words| said.err.contains(words)), "{line}: {}", said.err);
        assert!(!said.err.contains("reinstall"), "{line}: {}", said.err);
    }
    // One that runs, and whose library is elsewhere.
    let fake =
        sandbox.script("fake", "case $1 in --version) echo Verilator 5.030;; *) echo $VERILATOR_ROOT;; esac");
    let mut command = sandbox.meshkv("cosim small.toml --cycles 300");
    let said = said(command.env("MESHKV_VERILATOR", fake).env("VERILATOR_ROOT", "/opt/old/verilator"));
    assert!(said.code == Some(2) && said.err.contains("unset VERILATOR_ROOT"), "{}", said.err);
}

/// Runs a shell where it may mount, with `meshkv` in `$MESHKV`; `None` on a machine that does not let it.
fn with_mounts(sandbox: &Sandbox, script: &str) -> Option<Said> {
    let unshare = |script: &str| {
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--mount", "sh", "-ec", script]);
        command
    };
    let may = unshare("mount -t tmpfs none /mnt").output().is_ok_and(|done| done.status.success());
    if !may {
        eprintln!("this machine lets nobody mount: unit tests alone cover mounted folders");
        return None;
    }
    let meshkv = sandbox.meshkv("");
    let mut command = unshare(script);
    command.env("MESHKV", meshkv.get_program()).current_dir(meshkv.get_current_dir().expect("set"));
    Some(said(&mut command))
}

#[test]
fn a_mounted_folder_and_a_mounted_file_are_written_and_a_mounted_cache_says_why_it_is_refused() {
    let sandbox = Sandbox::new();
    sandbox.file("least.toml", LEAST);
    sandbox.file("picture.svg", "old");
    for folder in ["volume", "bound", "host", "cache"] {
        fs::create_dir(sandbox.path(folder)).unwrap();
    }
    // A volume, a folder and a file of the host, as containers mount them.
    let written = "mount -t tmpfs none volume; mkdir volume/lost+found; mount --bind host bound\n\
                   mount --bind picture.svg picture.svg\n\
                   for dir in volume bound; do\n\
                   $MESHKV generate least.toml -o $dir -q > first; rm $dir/rtl/common/meshkv_fifo.v\n\
                   $MESHKV generate least.toml -o $dir -q > second; cmp first second\n\
                   test -s $dir/rtl/common/meshkv_fifo.v; test ! -e $dir/.meshkv-tmp; done\n\
                   $MESHKV check least.toml --placement --svg picture.svg -q";
    if let Some(said) = with_mounts(&sandbox, written) {
        assert_eq!(said.code, Some(0), "{}", said.err);
        assert!(sandbox.path("host/meshkv-manifest.json").exists());
        assert!(fs::read_to_string(sandbox.path("picture.svg")).unwrap().contains("<svg"));
    }
    let refused = "mount -t tmpfs -o noexec none cache\n\
                   MESHKV_CACHE=$PWD/cache exec $MESHKV cosim least.toml --cycles 300";
    if let Some(said) = with_mounts(&sandbox, refused) {
        assert_eq!(said.code, Some(2), "{}", said.err);
        assert!(["noexec", "set MESHKV_CACHE"].iter().all(|word| said.err.contains(word)), "{}", said.err);
    }
}
