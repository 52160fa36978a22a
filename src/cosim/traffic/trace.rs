//! Recorded traffic: packets from a CSV or a JSON Lines file.
//!
//! Both forms have the same columns: cycle, source, destinations, class, flits and, optionally, a
//! tag. Tiles are indices `y * cols + x`. Lines are sorted by cycle. Every line is checked before
//! the first cycle is simulated. This module does not know the network.
//!
//! ```text
//! cycle,source,destinations,class,flits,tag
//! 0,0,7,PART,4,
//! 12,3,1;5;9,KV_DATA,16,77
//! ```
//! ```text
//! {"cycle": 0, "source": 0, "destinations": [7], "class": "PART", "flits": 4}
//! {"cycle": 12, "source": 3, "destinations": [1, 5, 9], "class": "KV_DATA", "flits": 16, "tag": 77}
//! ```

use super::line_error::{located, LineError, Problem};
use super::packet::Packet;
use super::synthetic::MAX_PACKET;
use crate::cosim::tile_set::TileSet;
use crate::design::{Class, Mesh};
use serde::Deserialize;
use std::ops::Range;
use thiserror::Error;

/// Columns of the CSV form; the last is optional.
const COLUMNS: [&str; 6] = ["cycle", "source", "destinations", "class", "flits", "tag"];
const CYCLE: usize = 0;
const SOURCE: usize = 1;
const DESTINATIONS: usize = 2;
const CLASS: usize = 3;
const FLITS: usize = 4;
const TAG: usize = 5;

/// Last cycle of a trace: hours of the model, days of Verilog. A larger one is a slip, not a wish.
const LAST: u64 = 1_000_000_000;

/// One line with numbers read but not checked, and the bytes of each column.
struct Record {
    cycle: u64,
    source: u64,
    destinations: Vec<u64>,
    class: String,
    flits: u64,
    tag: Option<u64>,
    at: [Range<usize>; 6],
}

/// Parses the packets of a trace. `file` names it in errors. The first character determines the
/// form.
///
/// # Errors
/// If a line is malformed, out of range, or out of order, which names the first; or if there is no
/// packet.
pub fn parse(file: &str, text: &str, mesh: Mesh) -> Result<Vec<Packet>, Box<LineError>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let json = text.trim_start().starts_with('{');
    if let Some(problem) = array(text) {
        return Err(Box::new(located(file, problem.0, problem.1, problem.2)));
    }
    let mut packets: Vec<Packet> = Vec::new();
    let mut header_allowed = !json;
    for (number, line) in text.lines().enumerate() {
        let content = line.trim();
        if content.is_empty() || content.starts_with('#') {
            continue;
        }
        // Only the first line can be the header of a CSV file.
        if std::mem::take(&mut header_allowed) && is_header(content) {
            continue;
        }
        let read = if json { read_json(line) } else { read_csv(line) };
        let after = packets.last().map_or(0, |p| p.cycle);
        match read.and_then(|record| judge(&record, after, mesh)) {
            Ok(packet) => packets.push(packet),
            Err(problem) => return Err(Box::new(located(file, number + 1, line, problem))),
        }
    }
    if packets.is_empty() {
        let help = "write a line for each packet, for example 0,0,1,PART,1".to_owned();
        let problem = Problem(0..0, "there is no packet in this trace".to_owned(), help);
        return Err(Box::new(located(file, text.lines().count().max(1), "", problem)));
    }
    Ok(packets)
}

/// A rate at which a trace cannot be replayed.
#[derive(Debug, Clone, PartialEq, Error)]
#[error("at {rate} times its rate the last packet of the trace comes in cycle {cycle:.0}, and {LAST} is the last that a \
    simulation reaches\n  help: replay it at {least} times its rate or more")]
pub struct RateError {
    rate: f64,
    cycle: f64,
    least: f64,
}

/// The packets of a trace at so many times its rate: cycles are divided by it, and the order stays.
///
/// # Errors
/// If the last cycle is beyond what a trace may have.
pub fn at_rate(packets: Vec<Packet>, rate: f64) -> Result<Vec<Packet>, RateError> {
    let scaled = |cycle: u64| (cycle as f64 / rate).floor();
    let last = packets.last().map_or(0, |packet| packet.cycle);
    if scaled(last) > LAST as f64 {
        // Rounded up to three digits, so that it holds.
        let least = last as f64 / LAST as f64;
        let digits = 10_f64.powf(2.0 - least.log10().floor());
        return Err(RateError { rate, cycle: scaled(last), least: (least * digits).ceil() / digits });
    }
    Ok(packets.into_iter().map(|packet| Packet { cycle: scaled(packet.cycle) as u64, ..packet }).collect())
}

/// Line of the bracket that makes a file one JSON array, and the problem.
fn array(text: &str) -> Option<(usize, &str, Problem)> {
    let (number, line) = text.lines().enumerate().find(|(_, line)| !line.trim().is_empty())?;
    let at = line.len() - line.trim_start().len();
    let bracket = at..at + 1;
    line[at..].starts_with('[').then(|| {
        let rule = "the file is one JSON array, and a trace of JSON Lines has an object a line".to_owned();
        let help = "leave out the brackets and the commas between objects, for example with jq -c '.[]'";
        (number + 1, line, Problem(bracket, rule, help.to_owned()))
    })
}

fn is_header(line: &str) -> bool {
    let names: Vec<_> = line.split(',').map(str::trim).collect();
    names == COLUMNS || names == COLUMNS[..TAG]
}

fn read_csv(line: &str) -> Result<Record, Problem> {
    // A quoted field may hold a comma, so columns cannot be counted before.
    if let Some(at) = line.find('"') {
        let end = line[at + 1..].find('"').map_or(line.len(), |length| at + length + 2);
        let rule = format!("{} is quoted, and a column of a trace never needs it", &line[at..end]);
        let help =
            format!("write {} without quotation marks; destinations are parted by ';'", COLUMNS.join(","));
        return Err(Problem(at..end, rule, help));
    }
    let mut fields = Vec::new();
    let mut start = 0;
    for part in line.split(',') {
        let lead = part.len() - part.trim_start().len();
        fields.push(start + lead..start + lead + part.trim().len());
        start += part.len() + 1;
    }
    if fields.len() < TAG || fields.len() > COLUMNS.len() {
        let rule = format!("the line has {} columns, not 5 or 6", fields.len());
        let help = format!("write {}; several destinations are parted by ';'", COLUMNS.join(","));
        return Err(Problem(0..line.len(), rule, help));
    }
    // An omitted tag is empty, at the end of the line.
    fields.resize(COLUMNS.len(), line.len()..line.len());
    let number = |column: usize| csv_number(line, fields[column].clone(), COLUMNS[column]);
    let mut destinations = Vec::new();
    let mut start = fields[DESTINATIONS].start;
    for part in line[fields[DESTINATIONS].clone()].split(';') {
        let lead = part.len() - part.trim_start().len();
        let at = start + lead..start + lead + part.trim().len();
        destinations.push(csv_number(line, at, "destination")?);
        start += part.len() + 1;
    }
    Ok(Record {
        cycle: number(CYCLE)?,
        source: number(SOURCE)?,
        destinations,
        class: line[fields[CLASS].clone()].to_owned(),
        flits: number(FLITS)?,
        tag: if fields[TAG].is_empty() { None } else { Some(number(TAG)?) },
        at: fields.try_into().unwrap_or_else(|_| std::array::from_fn(|_| 0..0)),
    })
}

fn csv_number(line: &str, at: Range<usize>, column: &str) -> Result<u64, Problem> {
    line[at.clone()].parse().map_err(|_| {
        let rule = format!("{column} is '{}', which is not a whole number", &line[at.clone()]);
        Problem(at, rule, format!("write {}; decimal digits only", COLUMNS.join(",")))
    })
}

fn read_json(line: &str) -> Result<Record, Problem> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct JsonRecord {
        cycle: u64,
        source: u64,
        destinations: Vec<u64>,
        class: String,
        flits: u64,
        tag: Option<u64>,
    }
    let record: JsonRecord = serde_json::from_str(line).map_err(|e| {
        // serde_json counts bytes from 1; at a truncated line it points one past the end.
        let mut start = e.column().saturating_sub(1).min(line.len());
        while !line.is_char_boundary(start) {
            start -= 1;
        }
        let end = line[start..].chars().next().map_or(start, |c| start + c.len_utf8());
        let text = e.to_string();
        let rule = match e.is_eof() {
            true => "the object does not end in its line".to_owned(),
            false => text.split(" at line ").next().unwrap_or(&text).to_owned(),
        };
        let help = r#"write {"cycle": 0, "source": 0, "destinations": [7], "class": "PART", "flits": 4}"#;
        Problem(start..end, rule, help.to_owned())
    })?;
    Ok(Record {
        cycle: record.cycle,
        source: record.source,
        destinations: record.destinations,
        class: record.class,
        flits: record.flits,
        tag: record.tag,
        at: std::array::from_fn(|column| json_value(line, COLUMNS[column])),
    })
}

/// Bytes of the value of a key in a line that is known to be a flat JSON object.
fn json_value(line: &str, key: &str) -> Range<usize> {
    let Some(at) = line.find(&format!("\"{key}\"")) else { return 0..line.len() };
    let colon = at + line[at..].find(':').unwrap_or(0) + 1;
    let start = colon + line[colon..].len() - line[colon..].trim_start().len();
    let stop: &[char] = if line[start..].starts_with('[') { &[']'] } else { &[',', '}'] };
    let length = line[start..].find(stop).unwrap_or(line.len() - start);
    start..start + length + usize::from(stop == [']'])
}

/// Converts a record to a packet, or returns the rule it breaks.
fn judge(record: &Record, after: u64, mesh: Mesh) -> Result<Packet, Problem> {
    let problem =
        |column: usize, rule: String, help: &str| Problem(record.at[column].clone(), rule, help.to_owned());
    let size = format!("{}x{} mesh", mesh.cols(), mesh.rows());
    let tiles_help = format!("tiles count from 0 to {}, row by row from the south-west", mesh.tiles() - 1);
    if record.cycle < after {
        let rule = format!("cycle {} comes after cycle {after}: the trace is not sorted", record.cycle);
        return Err(problem(CYCLE, rule, "sort the lines by cycle, for example sort -s -n -t, -k1,1"));
    }
    if record.cycle > LAST {
        let rule = format!("cycle {} is beyond {LAST}, which no simulation reaches", record.cycle);
        return Err(problem(CYCLE, rule, "begin the trace at cycle 0, and leave out pauses without packets"));
    }
    let tile = |index: u64| usize::try_from(index).ok().and_then(|i| mesh.node_at(i));
    let source = tile(record.source).ok_or_else(|| {
        problem(SOURCE, format!("source {} is not a tile of this {size}", record.source), &tiles_help)
    })?;
    let class = Class::ALL.into_iter().find(|c| c.name() == record.class).ok_or_else(|| {
        problem(CLASS, format!("class '{}' does not exist", record.class), "write PART, KV_FETCH or KV_DATA")
    })?;
    let mut dests = TileSet::default();
    for &index in &record.destinations {
        let dest = tile(index).ok_or_else(|| {
            problem(DESTINATIONS, format!("destination {index} is not a tile of this {size}"), &tiles_help)
        })?;
        if dest == source {
            let rule = format!("destination {index} is the source itself");
            return Err(problem(
                DESTINATIONS,
                rule,
                "leave it out: a router does not turn a flit back to its own tile",
            ));
        }
        if !dests.insert(dest.index()) {
            return Err(problem(DESTINATIONS, format!("destination {index} is named twice"), "name it once"));
        }
    }
    match (class, dests.len()) {
        (_, 0) => {
            return Err(problem(DESTINATIONS, "there is no destination".to_owned(), "name at least one tile"))
        }
        (Class::KvData, _) | (_, 1) => {}
        (class, n) => {
            let rule = format!("{} goes to one tile, and {n} are named", class.name());
            return Err(problem(DESTINATIONS, rule, "write one line for each, or use KV_DATA"));
        }
    }
    let longest = if class == Class::KvFetch { 1 } else { MAX_PACKET };
    if record.flits == 0 || record.flits > u64::from(longest) {
        let rule =
            format!("{} has {} flits, which is not between 1 and {longest}", class.name(), record.flits);
        return Err(problem(FLITS, rule, "split it over several lines; a KV_FETCH is always one flit"));
    }
    let flits = record.flits as u32;
    Ok(Packet { source, dests, class, flits, cycle: record.cycle, measured: false, tag: record.tag })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::design::Design;

    fn mesh() -> Mesh {
        Design::from_config("test", &Config::default()).expect("legal").mesh
    }

    fn error(text: &str) -> LineError {
        *parse("t.csv", text, mesh()).expect_err("the trace is malformed")
    }

    const CSV: &str = "cycle,source,destinations,class,flits,tag\n\
        # a comment\n\
        0,0,7,PART,4\n\
        \n\
        12, 3, 1;5 ; 9, KV_DATA, 16, 77\n";
    const JSON: &str = r#"{"cycle": 0, "source": 0, "destinations": [7], "class": "PART", "flits": 4}
        {"cycle": 12, "source": 3, "destinations": [1, 5, 9], "class": "KV_DATA", "flits": 16, "tag": 77}"#;

    #[test]
    fn both_forms_say_the_same() {
        let packets = parse("t.csv", CSV, mesh()).expect("legal CSV");
        assert_eq!(packets.len(), 2);
        assert_eq!(packets[1].dests.iter().collect::<Vec<_>>(), [1, 5, 9]);
        assert_eq!((packets[1].cycle, packets[1].flits, packets[1].tag), (12, 16, Some(77)));
        assert_eq!(packets, parse("t.jsonl", JSON, mesh()).expect("legal JSON Lines"));
    }

    #[test]
    fn malformed_number_is_rejected_at_its_column_with_caret_and_help() {
        let text = error("0,0,7,PART,4\n3,0,7;x1,KV_DATA,4").to_string();
        let want = "t.csv:2:7: destination is 'x1', which is not a whole number\n  \
            3,0,7;x1,KV_DATA,4\n        ^^\n  \
            help: write cycle,source,destinations,class,flits,tag; decimal digits only";
        assert_eq!(text, want);
    }

    #[test]
    fn every_rule_is_rejected_where_it_is_broken() {
        for (text, line, column, rule) in [
            ("0,0,7,PART", 1, 1, "the line has 4 columns, not 5 or 6"),
            ("0,0,7,PART,4,1,2", 1, 1, "the line has 7 columns, not 5 or 6"),
            (
                "9223372036854775807,0,7,PART,1",
                1,
                1,
                "cycle 9223372036854775807 is beyond 1000000000, which no simulation reaches",
            ),
            ("9,0,7,PART,1\n8,0,7,PART,1", 2, 1, "cycle 8 comes after cycle 9: the trace is not sorted"),
            ("-1,0,7,PART,1", 1, 1, "cycle is '-1', which is not a whole number"),
            ("0,64,7,PART,1", 1, 3, "source 64 is not a tile of this 8x8 mesh"),
            ("0,0,70,PART,1", 1, 5, "destination 70 is not a tile of this 8x8 mesh"),
            ("0,7,7,PART,1", 1, 5, "destination 7 is the source itself"),
            ("0,0,7;7,KV_DATA,1", 1, 5, "destination 7 is named twice"),
            ("0,0,6;7,PART,1", 1, 5, "PART goes to one tile, and 2 are named"),
            ("0,0,7,part,1", 1, 7, "class 'part' does not exist"),
            ("0,0,7,PART,0", 1, 12, "PART has 0 flits, which is not between 1 and 4096"),
            ("0,0,7,KV_FETCH,2", 1, 16, "KV_FETCH has 2 flits, which is not between 1 and 1"),
            ("0,0,7,PART,1,z", 1, 14, "tag is 'z', which is not a whole number"),
            (
                r#"{"cycle": 0, "source": 0, "destinations": [], "class": "PART", "flits": 4}"#,
                1,
                43,
                "there is no destination",
            ),
            (r#"{"cycle": 0, "source": 0, "destinations": [1]}"#, 1, 46, "missing field `class`"),
            (r#"{"cycle": "0"}"#, 1, 13, "invalid type: string \"0\", expected u64"),
            (r#"{"cycle": 0,"#, 1, 12, "the object does not end in its line"),
            (
                "\n [\n{\"cycle\": 0}]",
                2,
                2,
                "the file is one JSON array, and a trace of JSON Lines has an object a line",
            ),
            ("0,0,\"1,5\",KV_DATA,4", 1, 5, "\"1,5\" is quoted, and a column of a trace never needs it"),
            ("\"cycle\",\"source\"\n", 1, 1, "\"cycle\" is quoted, and a column of a trace never needs it"),
        ] {
            let e = error(text);
            assert_eq!((e.line, e.column, e.rule.as_str()), (line, column, rule), "{text}");
            assert!(!e.help.is_empty());
        }
    }

    #[test]
    fn a_trace_without_a_packet_is_rejected() {
        for (text, line) in [("", 1), ("# nothing\n\n", 2), ("cycle,source,destinations,class,flits\n", 1)] {
            let error = error(text);
            assert_eq!(
                (error.line, error.rule.as_str()),
                (line, "there is no packet in this trace"),
                "{text:?}"
            );
        }
    }

    #[test]
    fn another_rate_divides_the_cycles_and_keeps_the_order() {
        let packets =
            parse("t", "0,0,7,PART,1\n3,1,7,PART,1\n4,2,7,PART,1\n1000,3,7,PART,1", mesh()).unwrap();
        let cycles =
            |rate| at_rate(packets.clone(), rate).map(|all| all.iter().map(|p| p.cycle).collect::<Vec<_>>());
        assert_eq!(cycles(1.0), Ok(vec![0, 3, 4, 1000]));
        assert_eq!(cycles(2.0), Ok(vec![0, 1, 2, 500]));
        assert_eq!(cycles(0.5), Ok(vec![0, 6, 8, 2000]));
        assert_eq!(cycles(1e6), Ok(vec![0; 4]));
        let sources: Vec<_> =
            at_rate(packets.clone(), 1e6).unwrap().iter().map(|p| p.source.index()).collect();
        assert_eq!(sources, [0, 1, 2, 3]);
        let text = cycles(3e-7).unwrap_err().to_string();
        assert!(text.contains("cycle 3333333333,") && text.contains("at 0.000001 times"), "{text}");
        assert!(cycles(1e-6).is_ok());
    }

    #[test]
    fn no_text_makes_the_reader_panic() {
        for text in ["é,0,7,PART,4", "0,0,é;,PART,4", "{\"é\": 0}", "{", "{\"cycle\"", ",,,,"] {
            assert!(parse("t", text, mesh()).is_err(), "{text}");
        }
    }
}
