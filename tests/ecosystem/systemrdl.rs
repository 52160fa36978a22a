//! The public compiler reads the registers in SystemRDL, and they are those of the C header.

use crate::support::ecosystem::Output;
use meshkv::design::device::registers::REGISTERS;
use std::collections::BTreeMap;

/// A register of either description.
#[derive(Debug, Default, PartialEq, Eq)]
struct Register {
    address: u32,
    /// Access in the words of the header; empty for an argument.
    access: String,
    /// Lowest bit and mask of each field.
    fields: BTreeMap<String, (u32, u32)>,
}

type Map = BTreeMap<String, Register>;

fn number(text: &str) -> u32 {
    let text = text.trim_end_matches('u');
    match text.strip_prefix("0x") {
        Some(hex) => u32::from_str_radix(hex, 16).unwrap(),
        None => text.parse().unwrap(),
    }
}

/// The header's registers: after a comment that ends with the access, an address, then shifts and masks of fields.
fn of_header(text: &str, ports: u32) -> Map {
    let mut map = Map::new();
    let mut argument = |name: String, address: u32| {
        for (word, at) in [("LOW", 0), ("HIGH", 4)] {
            map.insert(format!("{name}.{word}"), Register { address: address + at, ..Register::default() });
        }
    };
    let value = |line: &str| line.split_whitespace().last().map(str::to_owned);
    for line in text.lines().filter(|line| line.starts_with("#define MESHKV_ARG_")) {
        let name = &line.split_whitespace().nth(1).unwrap()["MESHKV_".len()..];
        match name.split_once("(port)") {
            Some((name, _)) => {
                let words: Vec<_> = line.split(['(', ')', ' ']).filter(|w| w.ends_with('u')).collect();
                (0..ports)
                    .for_each(|p| argument(format!("{name}[{p}]"), number(words[0]) + p * number(words[1])));
            }
            None => argument(name.to_owned(), number(&value(line).unwrap())),
        }
    }
    let (mut access, mut open) = (String::new(), None::<String>);
    for line in text.lines().take_while(|line| !line.starts_with("/* Values of the registers")) {
        if let Some(comment) = line.strip_suffix("). */") {
            access = comment.rsplit_once('(').unwrap().1.to_owned();
            open = None;
        } else if let (Some(rest), false) = (line.strip_prefix("#define MESHKV_"), access.is_empty()) {
            let (name, value) = (rest.split_whitespace().next().unwrap(), number(&value(line).unwrap()));
            let Some(register) = open.as_ref() else {
                open = Some(name.to_owned());
                let register = Register { address: value, access: access.clone(), ..Register::default() };
                map.insert(name.to_owned(), register);
                continue;
            };
            let field = name.strip_prefix(&format!("{register}_")).expect("a field is of the last register");
            let fields = &mut map.get_mut(register).unwrap().fields;
            match field.strip_suffix("_SHIFT") {
                Some(field) => fields.entry(field.to_owned()).or_default().0 = value,
                None => fields.get_mut(field.strip_suffix("_MASK").unwrap()).unwrap().1 = value,
            }
        }
    }
    map
}

/// Registers as the compiler prints them. A register without fields in the header has `VALUE`, and `ERROR` its causes.
fn of_compiler(text: &str) -> (Map, BTreeMap<String, String>) {
    let (mut map, mut resets) = (Map::new(), BTreeMap::new());
    for line in text.lines() {
        let [path, address, field, lsb, width, access, write, _, reset]: [&str; 9] =
            line.split(' ').collect::<Vec<_>>().try_into().unwrap();
        let access = match (access, write) {
            _ if path.starts_with("ARG_") => "",
            ("rw", "woclr") => "read, 1 clears",
            ("rw", "wot") => "read, 1 toggles",
            ("rw", "woset") | ("rw", "-") => "read, write",
            ("r", "-") => "read",
            ("w", "-") => "write",
            other => panic!("{path}.{field}: {other:?}"),
        };
        let entry = map.entry(path.to_owned()).or_insert_with(|| Register {
            address: number(address),
            access: access.to_owned(),
            ..Register::default()
        });
        // Only CTRL has fields whose access is not the register's.
        assert!(entry.access == access || path == "CTRL", "{line}");
        resets.insert(format!("{path}.{field}"), reset.to_owned());
        if field != "VALUE" && path != "ERROR" {
            let (lsb, width) = (number(lsb), number(width));
            entry.fields.insert(field.to_owned(), (lsb, (u32::MAX >> (32 - width)) << lsb));
        }
    }
    (map, resets)
}

#[test]
fn registers_compile_and_are_those_of_the_header() {
    for name in ["tiny", "u280_8x8"] {
        let output = Output::new(name);
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/ecosystem/registers.py");
        let said = output.run("python3", &[script, "out/sw/meshkv_registers.rdl"]);
        let (compiled, resets) = of_compiler(&said);
        let header = output.read("out/sw/meshkv_registers.h");
        let expected = of_header(&header, output.design.memory.ports);
        assert_eq!(expected.values().filter(|r| !r.access.is_empty()).count(), REGISTERS.len());
        assert_eq!(compiled, expected, "{name}");

        // Causes of ERROR are its bits, and constants have the values of the header.
        for line in header.lines().filter(|line| line.contains("(1u << ")) {
            let name = line.split_whitespace().nth(1).unwrap().strip_prefix("MESHKV_ERROR_").unwrap();
            let bit = number(line.rsplit_once(' ').unwrap().1.trim_end_matches(')'));
            let cause = said.lines().find(|l| l.starts_with("ERROR ") && l.contains(&format!(" {name} ")));
            assert_eq!(cause.and_then(|l| l.split(' ').nth(3)).map(number), Some(bit), "{name}");
        }
        assert_eq!(resets["MAGIC.VALUE"], 0x4d4b_5631.to_string());
        assert_eq!(resets["WATCHDOG.VALUE"], (1 << 20).to_string());
        assert_eq!(resets["MESH.COLS"], output.design.mesh.cols().to_string());
        assert_eq!(resets["STATUS.RUN"], "-");
    }
}
