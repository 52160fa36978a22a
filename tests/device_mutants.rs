//! Mutants of the front's Verilog: what would go wrong on a board is found here.

mod device;

use device::{apart, job, joined_of, small, tensors, MOST_WITH_TIMEOUT};
use meshkv::cosim::attention::Job;
use meshkv::cosim::device::{DeviceError, Faults, Notice, Platform};
use meshkv::cosim::memory::{Fault, FaultKind};
use meshkv::design::{Design, Mapping};
use meshkv::emit::{emit, SourceFile};

/// The emitted files with one text of a module replaced, which stands there once.
fn mutant(design: &Design, module: &str, from: &str, to: &str) -> Vec<SourceFile> {
    let mut files = emit(design).unwrap();
    let file = files.iter_mut().find(|f| f.path == format!("rtl/{module}.v")).expect("a module");
    assert_eq!(file.text.matches(from).count(), 1, "{module} has not one `{from}`");
    file.text = file.text.replace(from, to);
    files
}

/// What is found in some runs on a platform at its worst; nothing if all is well.
fn found(files: &[SourceFile], jobs: &[Job], faults: Faults) -> String {
    let design = jobs[0].design;
    let mut bench = match joined_of(files, design, &Platform::of(design).unruly(1), &apart(1)) {
        Ok(bench) => bench,
        Err(why) => return why.to_string(),
    };
    let mut failed = faults == Faults::default();
    bench.driver.device.set_faults(faults);
    for job in jobs {
        let done = bench.run(job, Notice::Interrupt, MOST_WITH_TIMEOUT, &mut |_| false);
        let (count, first) = bench.driver.device.violations();
        if count > 0 {
            return first.join("\n");
        }
        match done {
            Ok(done) if !done.bit_exact() => return format!("outputs differ; {:?}", done.violations),
            Ok(_) => {}
            // The first may fail, where memory does.
            Err(DeviceError::Failed(_)) if !failed => {
                failed = true;
                bench.driver.device.set_faults(Faults::default());
                if let Err(why) = bench.driver.settle(MOST_WITH_TIMEOUT) {
                    return why.to_string();
                }
            }
            Err(why) => return why.to_string(),
        }
    }
    String::new()
}

/// A mutant: module, text, its replacement, a part of what is found.
type Mutant = (&'static str, &'static str, &'static str, &'static str);

#[test]
fn runs_that_are_over_too_early_are_found() {
    let design = small();
    let tensors = tensors(&design, 40, 5);
    let jobs = [job(&design, &tensors, Mapping::RowAligned), job(&design, &tensors, Mapping::HeadTile)];
    assert_eq!(found(&emit(&design).unwrap(), &jobs, Faults::default()), "");
    let mutants: [Mutant; 2] = [
        // Done before all has been written.
        ("meshkv_run", "wire settled = ~|due_q & core_idle", "wire settled = core_idle", ""),
        ("meshkv_output_writer", "if (own_b_q) answer_q", "if (ended) answer_q", ""),
    ];
    for (module, from, to, words) in mutants {
        let what = found(&mutant(&design, module, from, to), &jobs, Faults::default());
        assert!(!what.is_empty() && what.contains(words), "{module}: `{to}`: {what:?}");
    }
}

#[test]
fn answers_of_before_that_are_taken_for_new_ones_are_found() {
    let design = small();
    let tensors = [5, 6].map(|seed| tensors(&design, 61, seed));
    let jobs: Vec<Job> =
        [0, 1, 0, 1].map(|i| job(&design, &tensors[i], Mapping::HeadTile)).into_iter().collect();
    let late = |port: usize| Fault::of_port(port, FaultKind::Late(140_000)).after(1);
    let faults = Faults { hbm: (0..design.memory.ports as usize).map(late).collect(), ..Faults::default() };
    assert_eq!(found(&emit(&design).unwrap(), &jobs, faults.clone()), "");
    let dropped = "assign s_rvalid = m_rvalid && m_rid[ID_WIDTH+:EPOCH_BITS] == epoch;";
    let files = mutant(&design, "meshkv_read_guard", dropped, "assign s_rvalid = m_rvalid;");
    assert_ne!(found(&files, &jobs, faults), "", "the epoch is ignored, unseen");
}
