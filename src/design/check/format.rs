//! Rules on the format of a cache's elements and what goes with it.

use crate::config::{Advice, Config, Finding, KvFormat, KvScales};

/// The bytes of an element follow from its format.
pub(super) fn a_format_has_its_bytes(config: &Config) -> Option<Finding> {
    let (format, bytes) = (config.kv.format, config.kv.bytes_per_element?);
    (bytes != format.bytes()).then(|| {
        let others = KvFormat::ALL.into_iter().filter(|other| other.bytes() == bytes);
        Finding::value(
            "kv.bytes_per_element",
            bytes,
            format!("contradicts kv.format = \"{}\", whose elements have {}", format.name(), format.bytes()),
            "the format says how many bytes an element has",
        )
        .advising(
            [Advice::leave_out("kv.bytes_per_element")]
                .into_iter()
                .chain(others.map(|other| Advice::set("kv.format", other.name()))),
        )
        .with(&["kv.format"])
    })
}

/// Integers alone are no numbers of a model.
pub(super) fn integers_have_scales(config: &Config) -> Option<Finding> {
    let (format, scales) = (config.kv.format, config.kv.scales_of_format());
    (format == KvFormat::Int8 && scales == KvScales::None).then(|| {
        Finding::value(
            "kv.scales",
            format!("\"{}\"", scales.name()),
            format!("leaves kv.format = \"{}\" without scales", format.name()),
            "integers from -127 to 127 are numbers of a model by a factor only",
        )
        .advising([
            Advice::set("kv.scales", KvScales::Head.name()),
            Advice::set("kv.format", KvFormat::Fp8E4m3.name()),
        ])
        .with(&["kv.format"])
    })
}

/// Scales of tokens are for formats with a range so small that they need them.
pub(super) fn token_scales_have_a_format(config: &Config) -> Option<Finding> {
    let (format, scales) = (config.kv.format, config.kv.scales_of_format());
    let fits = matches!(format, KvFormat::Fp8E4m3 | KvFormat::Int8);
    (scales == KvScales::Token && !fits).then(|| {
        let head = if format.bytes() == 1 { KvScales::Head } else { KvScales::None };
        Finding::value(
            "kv.scales",
            "\"token\"",
            format!("needs kv.format = \"int8\" or \"fp8_e4m3\", and it is \"{}\"", format.name()),
            "the other formats have a range of 2^30 and more, so a scale a head suffices",
        )
        .advising([
            Advice::set("kv.format", KvFormat::Int8.name()),
            Advice::set("kv.format", KvFormat::Fp8E4m3.name()),
            Advice::set("kv.scales", head.name()),
        ])
        .with(&["kv.format"])
    })
}

/// A new token is quantised by the factors of its KV head.
pub(super) fn new_tokens_have_factors(config: &Config) -> Option<Finding> {
    let (format, scales) = (config.kv.format, config.kv.scales_of_format());
    (config.kv.append && format.bytes() == 1 && scales == KvScales::None).then(|| {
        Finding::value(
            "kv.append",
            true,
            format!("needs kv.scales = \"head\" with kv.format = \"{}\"", format.name()),
            "a new token is FP16, and becomes eight bits by a factor that a host gives",
        )
        .advising([Advice::set("kv.scales", "head"), Advice::set("kv.append", false)])
        .with(&["kv.format", "kv.scales"])
    })
}

/// A new token's K is written as whole flits.
pub(super) fn a_new_token_fills_flits(config: &Config) -> Option<Finding> {
    let (row, flit) = (config.pe.head_dim * config.kv.format.bytes() * 8, config.noc.flit_width);
    (config.kv.append && row < flit).then(|| {
        Finding::value(
            "kv.append",
            true,
            format!("needs flits that hold one token of a KV head at most, {row} bits, and noc.flit_width = {flit}"),
            "a new token's K is written as whole flits",
        )
        .advising([Advice::set("noc.flit_width", row), Advice::set("kv.append", false)])
        .with(&["noc.flit_width", "pe.head_dim"])
    })
}
