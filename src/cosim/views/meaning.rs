//! Meanings of values: names for the values of a signal, for both viewers.

use crate::design::{Design, Port};

/// Names of the values of a state register.
#[derive(Debug, PartialEq, Eq)]
pub struct States {
    /// Module of the register.
    pub module: &'static str,
    /// The register.
    pub register: &'static str,
    /// Name of each value from 0 on.
    pub names: &'static [&'static str],
}

/// State registers whose values have names, in the modules that declare them.
pub const STATES: &[States] = &[
    States {
        module: "meshkv_run_control",
        register: "state_q",
        names: &[
            "IDLE",
            "ARGUMENTS",
            "QUERIES",
            "DESCRIPTORS",
            "OUTPUTS",
            "OVER",
            "RESET",
            "QUIET",
            "RELEASE",
        ],
    },
    States {
        module: "meshkv_control_registers",
        register: "state_q",
        names: &["IDLE", "WRITE", "CHECK", "ANSWER", "LOOK", "GIVE"],
    },
    States {
        module: "meshkv_descriptor_queue",
        register: "state_q",
        names: &["IDLE", "PLACE", "SIZES", "PRODUCT", "SPAN", "STREAMS_OF", "OPEN", "TAKE", "PUT", "REFUSE"],
    },
    States {
        module: "meshkv_column_controller",
        register: "state_q",
        names: &["IDLE", "SPREAD", "RUN", "DRAIN", "CLOSE", "SAMPLE", "BARRIER"],
    },
    States {
        module: "meshkv_swap_unit",
        register: "state_q",
        names: &["RESET", "WAIT", "ROW", "HOME", "DECIDE", "FIRST", "SECOND", "GO"],
    },
    States { module: "meshkv_pad", register: "read_state_q", names: &["NONE", "SETTLE", "READ", "WAIT"] },
    States { module: "meshkv_weight_loader", register: "state_q", names: &["IDLE", "WAIT", "LOAD", "REST"] },
    States {
        module: "meshkv_reduce_root",
        register: "phase_q",
        names: &["CLEAR", "WAIT", "LOOK", "COMPARE", "PREPARE"],
    },
];

/// The meaning of a signal's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    /// A number.
    Number,
    /// One bit for each virtual channel, at most one of them set: the class of the flit.
    Class,
    /// One bit for each output of a router.
    Outputs,
    /// States of a module.
    State(&'static States),
}

impl Meaning {
    /// Name of its table of values, for files; `None` for a number.
    pub fn table(self) -> Option<String> {
        match self {
            Meaning::Number => None,
            Meaning::Class => Some("class".to_owned()),
            Meaning::Outputs => Some("outputs".to_owned()),
            Meaning::State(states) => Some(states.module.trim_start_matches("meshkv_").to_owned()),
        }
    }

    /// Each value with its name.
    pub fn values(self, design: &Design) -> Vec<(u64, String)> {
        match self {
            Meaning::Number => Vec::new(),
            Meaning::Class => {
                let name = |vc: u32| {
                    let class = design.router.class_of_vc(vc);
                    match design.router.vcs_of_class(class).len() {
                        1 => class.name().to_owned(),
                        _ => format!("{} vc{vc}", class.name()),
                    }
                };
                let vcs = (0..design.router.vcs()).map(|vc| (1 << vc, name(vc)));
                [(0, "-".to_owned())].into_iter().chain(vcs).collect()
            }
            Meaning::Outputs => {
                let name = |set: u64| {
                    let granted = Port::ALL.into_iter().filter(|port| set >> port.index() & 1 == 1);
                    granted.map(Port::name).collect::<Vec<_>>().join("+")
                };
                let sets = (1..1 << Port::ALL.len()).map(|set| (set, name(set)));
                [(0, "-".to_owned())].into_iter().chain(sets).collect()
            }
            Meaning::State(states) => (0..).zip(states.names.iter().map(|&name| name.to_owned())).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::emit::emit;

    fn small() -> Design {
        let mut config = Config::default();
        (config.mesh.cols, config.mesh.rows) = (3, 2);
        (config.noc.vn0_vcs, config.noc.vn1_vcs) = (2, 2);
        Design::from_config("small", &config).unwrap()
    }

    #[test]
    fn states_are_those_of_the_verilog() {
        let files = emit(&small()).unwrap();
        for States { module, register, names } in STATES {
            let end = format!("/{module}.v");
            let file = files.iter().find(|file| file.path.ends_with(&end)).expect(module);
            assert!(file.text.contains(register), "{module} has no {register}");
            for (value, name) in names.iter().enumerate() {
                let declared = file.text.split(',').chain(file.text.split("localparam")).any(|part| {
                    let (left, right) = part.split_once('=').unwrap_or_default();
                    let is_name = left.split_whitespace().last() == Some(name);
                    let number = right.split('\'').nth(1).and_then(|n| n.strip_prefix('d'));
                    let digits = number.map(|n| n.split(|c: char| !c.is_ascii_digit()).next().unwrap_or(""));
                    is_name && digits == Some(&value.to_string())
                });
                assert!(declared, "{module}: {name} is not {value}");
            }
        }
    }

    #[test]
    fn a_class_is_named_with_its_channel_where_it_has_several() {
        let values = Meaning::Class.values(&small());
        let names: Vec<_> = values.iter().map(|(value, name)| (*value, name.as_str())).collect();
        assert_eq!(names, [(0, "-"), (1, "PART vc0"), (2, "PART vc1"), (4, "KV_FETCH"), (8, "KV_DATA")]);
        assert!(Meaning::Outputs.values(&small()).contains(&(0b10100, "east+local".to_owned())));
    }
}
