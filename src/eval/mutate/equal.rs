//! Mutants that are no fault: Yosys proves that the module with the mutant is equal to the module without.
//!
//! Registers with the same name are taken as equal at the beginning of a cycle, and all outputs and the next values of
//! registers must be equal then, whatever the registers hold. So it is with the modules within: their outputs are taken
//! as equal, and their inputs must be.

use super::change::guard::plain;
use super::change::mutant::Mutant;
use crate::emit::SourceFile;
use crate::synth::prove::{Header, Port};
use crate::tools::child::{self, Ended};
use crate::tools::Program;
use anyhow::Context;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::time::{Duration, Instant};

/// Asks Yosys about a mutant, for at most so long: none if it is equal, or else why it is not known to be.
///
/// # Errors
/// If Yosys does not start or a file cannot be written.
pub fn unequal(
    yosys: &Program,
    files: &[SourceFile],
    mutant: &Mutant,
    limit: Duration,
    stop: &dyn Fn() -> bool,
) -> anyhow::Result<Option<String>> {
    let folder = tempfile::tempdir().context("no temporary folder for Yosys")?;
    for (name, changed) in [("gold", false), ("gate", true)] {
        let dir = folder.path().join(name);
        fs::create_dir(&dir)?;
        for (module, file) in needed(files, mutant) {
            let text = match module == mutant.module {
                true if changed => plain(&file.text, &mutant.edit()),
                true => file.text.clone(),
                false => boundary(module, &file.text)?,
            };
            fs::write(dir.join(format!("{module}.v")), text)?;
        }
    }
    fs::write(folder.path().join("equal.ys"), script(&mutant.module))?;
    let mut command = yosys.command();
    command.current_dir(folder.path()).args(["-q", "-s", "equal.ys"]);
    let begun = Instant::now();
    let over = || stop() || begun.elapsed() > limit;
    Ok(match child::run(command, &over).context("Yosys does not run")? {
        Ended::Stopped => Some(format!("no answer within {} s", limit.as_secs())),
        Ended::Itself(output) if output.status.success() => None,
        Ended::Itself(output) => {
            let text = String::from_utf8_lossy(&output.stderr).into_owned();
            Some(text.lines().find(|line| line.contains("ERROR")).unwrap_or("it failed").to_owned())
        }
    })
}

/// Files of the mutant's module and of those that it instantiates itself, by module.
fn needed<'f>(files: &'f [SourceFile], mutant: &Mutant) -> BTreeMap<&'f str, &'f SourceFile> {
    let name = |file: &'f SourceFile| {
        file.path.strip_prefix("rtl/")?.rsplit('/').next()?.strip_suffix(".v").map(|name| (name, file))
    };
    let mut modules: BTreeMap<&str, &SourceFile> = files.iter().filter_map(name).collect();
    let own = modules.get(mutant.module.as_str()).map_or("", |file| file.text.as_str());
    let words: BTreeSet<&str> = own.split(|c: char| c != '_' && !c.is_ascii_alphanumeric()).collect();
    modules.retain(|module, _| words.contains(module));
    modules
}

/// A module of the same ports whose outputs are registers, and which keeps all inputs in registers: in this comparison it
/// stands for any module between these ports. Its registers have no clock, since what drives one may be constant, and a
/// register that is never clocked would be removed with what it compares.
///
/// # Errors
/// If the text has no header of this module.
fn boundary(module: &str, text: &str) -> anyhow::Result<String> {
    let ports = Header::read(module, text)?.ports;
    let (head, _) = text.split_once("\n);").context("its header does not end")?;
    let first = ports.iter().find(|port| !port.output).context("it has no input")?.name;
    let mut within = format!("{head}\n);\n");
    for Port { output, range, name } in &ports {
        let width = range.trim_matches(['[', ']']).rsplit_once(':');
        let width = width.map_or("1".to_owned(), |(high, low)| format!("({high}) - ({low}) + 1"));
        let kept = format!("kept_{name}");
        // An output that kept its value would be no register.
        let next = if *output { format!("{kept} ^ ^{first}") } else { (*name).to_owned() };
        within += &format!(
            "    wire {range} {kept};\n    (* keep *) \\$ff #(.WIDTH({width})) u_{kept} (.D({next}), .Q({kept}));\n"
        );
        if *output {
            within += &format!("    assign {name} = {kept};\n");
        }
    }
    Ok(within + "endmodule\n")
}

/// The commands for one module, with those that it instantiates.
fn script(module: &str) -> String {
    let side = |name: &str| {
        format!(
            "read_verilog -icells -DSYNTHESIS {name}/*.v\nhierarchy -check -top {module}\nproc\nflatten\nmemory -nomap\n\
             opt_clean\nmemory_map\nopt -full\nrename -top {name}\ndelete {name} %n\ndesign -stash {name}\n"
        )
    };
    format!(
        "{}{}design -copy-from gold -as gold gold\ndesign -copy-from gate -as gate gate\n\
         equiv_make gold gate equal\nhierarchy -top equal\nequiv_simple -undef\nequiv_induct -undef -seq 3\n\
         equiv_status -assert\n",
        side("gold"),
        side("gate")
    )
}
