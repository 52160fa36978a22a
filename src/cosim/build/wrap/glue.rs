//! Generates the C++ that connects verilated pieces: tiles to each other, to the periphery, and to
//! the fabric's packed ports.
//!
//! The code is derived from the ports of the emitted modules. The meaning of a port is not used,
//! except for the names of the bundles along a column.

use crate::cosim::build::wrap::port_names::{bundle, is_own, SIDES};
use crate::design::Port;
use crate::emit::{Dir, ModuleSpec, PortSpec};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Bundles of the first row that connect to the periphery instead of a southern neighbour: the
/// tile's, and the periphery's with a part for each column.
const COLUMN: [(&str, &str); 2] = [("rx_s_bus_", "bus_"), ("tx_s_occupancy_", "column_occupancy_")];

/// The pieces, and the fabric whose ports they have together.
pub(in crate::cosim) struct PieceGlue<'a> {
    /// The piece at every place of the mesh.
    pub(in crate::cosim) tile: &'a ModuleSpec,
    /// The periphery, if there is one.
    pub(in crate::cosim) periphery: Option<&'a ModuleSpec>,
    /// The whole fabric.
    pub(in crate::cosim) fabric: &'a ModuleSpec,
}

impl PieceGlue<'_> {
    /// Text of `glue.h`.
    pub(in crate::cosim) fn header(&self) -> String {
        let (tile, silent) = (self.tile, "Vdut& tile");
        let mut text = format!(
            "// How tiles ({}) are joined to a fabric ({}).\n#include \"Vdut.h\"\n",
            tile.name, self.fabric.name
        );
        if self.periphery.is_some() {
            text += "#include \"Vperiphery.h\"\n";
        }
        text += "#include \"model.h\"\n#include \"wiring.h\"\n\nnamespace meshkv {\n\n";
        text += &self.wires();
        text += &function(&format!("silence({silent})"), &silence("tile", tile));
        text += &place(tile);
        for side in SIDES {
            text += &take(tile, side);
        }
        for side in [Port::North, Port::South] {
            text += &register(tile, side);
        }
        text += &links(tile);
        text += &flips(tile);
        text += &self.drive();
        text += &self.sample();
        text += &self.column();
        text += &self.periphery_pins();
        text + "}  // namespace meshkv\n"
    }

    /// Ports between tiles and periphery that are not ports of the fabric.
    fn inner(&self) -> impl Iterator<Item = &PortSpec> {
        let shown = |port: &PortSpec| is_own(port) || self.fabric.ports.iter().any(|p| p.name == port.name);
        self.periphery.into_iter().flat_map(|p| &p.ports).filter(move |port| !shown(port))
    }

    /// Packed ports as words, with a look-up of the fabric's by name.
    fn wires(&self) -> String {
        let of_fabric = self.fabric.ports.iter().filter(|p| !is_own(p));
        let found: String = of_fabric
            .clone()
            .map(|PortSpec { name, .. }| format!("        if (name == \"{name}\") return {name};\n"))
            .collect();
        let mut fields = String::new();
        for PortSpec { name, width, .. } in of_fabric.chain(self.inner()) {
            let _ = writeln!(fields, "    uint32_t {name}[words_for({})] = {{}};", width.bits);
        }
        format!(
            "struct Wires {{\n{fields}\n    uint32_t* find(const std::string& name) {{\n{found}        return nullptr;\n    }}\n}};\n\n"
        )
    }

    /// Copies packed ports to local inputs. A value that is the same for all tiles goes to each.
    fn drive(&self) -> String {
        let pairs = self.local(Dir::Input).map(|(p, port, places)| {
            let (here, part) = match places {
                Places::First => (String::new(), "0"),
                _ => (places.condition(p, port), "t"),
            };
            (p, format!("{here}get<{}>(wires.{}, {part}, tile.{});", p.width.bits, port.name, p.name))
        });
        let body = guarded(pairs.collect(), self.tile, "tile.");
        function("drive(Vdut& tile, std::size_t t, const Wires& wires)", &body)
    }

    /// Copies local outputs to packed ports. A value that is the same in all tiles is taken from
    /// the first.
    fn sample(&self) -> String {
        let pairs = self.local(Dir::Output).map(|(p, port, places)| {
            let here = places.condition(p, port);
            (p, format!("{here}put<{}>(wires.{}, t, tile.{});", p.width.bits, port.name, p.name))
        });
        let body = guarded(pairs.collect(), self.tile, "tile.");
        function("sample(const Vdut& tile, std::size_t t, Wires& wires)", &body)
    }

    /// Ports of the tile that are part of a packed port of fabric or periphery, and the tiles that
    /// have bits of their own there.
    fn local(&self, dir: Dir) -> impl Iterator<Item = (&PortSpec, &PortSpec, Places)> {
        let ports = self.tile.ports.iter().filter(move |p| p.dir == dir && !is_own(p));
        ports.filter_map(|p| {
            let outside = match bundle(&p.name, Port::Local.letter()) {
                Some((end, field)) => format!("{end}_{field}"),
                None => p.name.clone(),
            };
            let port = self.fabric.ports.iter().chain(self.inner()).find(|port| port.name == outside)?;
            Some((p, port, Places::of(port)))
        })
    }

    /// Connects the first row to the periphery, column by column.
    fn column(&self) -> String {
        let body = |dir: Dir, verb: &str| {
            let pairs = self.tile.ports.iter().filter(|p| p.dir == dir).filter_map(|p| {
                let (here, there) = COLUMN.iter().find(|(here, _)| p.name.starts_with(here))?;
                let outside = format!("{there}{}", &p.name[here.len()..]);
                self.inner().find(|port| port.name == outside)?;
                Some((p, format!("{verb}<{}>(wires.{outside}, x, tile.{});", p.width.bits, p.name)))
            });
            guarded(pairs.collect(), self.tile, "tile.")
        };
        function("drive_column(Vdut& tile, std::size_t x, const Wires& wires)", &body(Dir::Input, "get"))
            + &function(
                "sample_column(const Vdut& tile, std::size_t x, Wires& wires)",
                &body(Dir::Output, "put"),
            )
    }

    /// Connects the periphery, whose ports are packed already.
    fn periphery_pins(&self) -> String {
        let Some(periphery) = self.periphery else {
            return "using Periphery = Nothing;\n\n".to_owned()
                + &function("silence(Periphery&)", "")
                + &function("drive(Periphery&, const Wires&)", "")
                + &function("sample(const Periphery&, Wires&)", "");
        };
        let body = |dir: Dir, verb: &str| {
            let ports = periphery.ports.iter().filter(|p| p.dir == dir && !is_own(p));
            let copy = |p: &PortSpec| {
                let (bits, name) = (p.width.bits, &p.name);
                format!("{verb}<{bits}>(wires.{name}, 0, periphery.{name});")
            };
            guarded(ports.map(|p| (p, copy(p))).collect(), periphery, "periphery.")
        };
        "using Periphery = Vperiphery;\n\n".to_owned()
            + &function("silence(Periphery& periphery)", &silence("periphery", periphery))
            + &function("drive(Periphery& periphery, const Wires& wires)", &body(Dir::Input, "get"))
            + &function("sample(const Periphery& periphery, Wires& wires)", &body(Dir::Output, "put"))
    }
}

/// Tiles that have a part of a port of the fabric.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Places {
    /// Every tile.
    All,
    /// Tiles of row 0.
    FirstRow,
    /// All tiles have the same value; the first is read.
    First,
}

impl Places {
    fn of(port: &PortSpec) -> Places {
        let packed = |what: &str| port.width.expr.split('*').any(|factor| factor == what);
        match (packed("TILES"), packed("COLS")) {
            (true, _) => Places::All,
            (false, true) => Places::FirstRow,
            (false, false) => Places::First,
        }
    }

    /// Condition on a tile's number for copying a part of `port`.
    fn condition(self, part: &PortSpec, port: &PortSpec) -> String {
        match self {
            Places::All => String::new(),
            Places::FirstRow => format!("if (t < {}) ", port.width.bits / part.width.bits),
            Places::First => "if (t == 0) ".to_owned(),
        }
    }
}

fn function(head: &str, body: &str) -> String {
    format!("inline void {head} {{\n{body}}}\n\n")
}

/// Sets the coordinates of a tile, if it has ports for them.
fn place(tile: &ModuleSpec) -> String {
    let asks = |name: &str| tile.ports.iter().any(|p| p.name == name);
    let body: String =
        ["x", "y"].iter().filter(|c| asks(c)).map(|c| format!("    tile.{c} = {c};\n")).collect();
    function("place(Vdut& tile, unsigned x, unsigned y)", &format!("    (void)x, (void)y;\n{body}"))
}

/// Sets every input to zero, as at the edge of the mesh. Not every wrapper has a second clock.
fn silence(object: &str, module: &ModuleSpec) -> String {
    let second = |p: &PortSpec| is_own(p) && p.name.starts_with("pe_");
    let inputs = module.ports.iter().filter(|p| p.dir == Dir::Input && !second(p));
    inputs.map(|p| format!("    clear({object}.{});\n", p.name)).collect()
}

/// Inputs of one side, each with the neighbour's output that drives it: `tx` drives `rx`, and the
/// reverse.
fn facing(tile: &ModuleSpec, side: Port) -> impl Iterator<Item = (&PortSpec, String)> {
    let (here, there) = (side.letter(), side.opposite().letter());
    tile.ports.iter().filter(|p| p.dir == Dir::Input).filter_map(move |p| {
        let (end, field) = bundle(&p.name, here)?;
        let other = if end == "rx" { "tx" } else { "rx" };
        Some((p, format!("{other}_{there}_{field}")))
    })
}

/// Copies the inputs of one side, from the neighbour or from the register in front of it.
fn take(tile: &ModuleSpec, side: Port) -> String {
    let pairs = facing(tile, side).map(|(p, name)| (p, format!("tile.{} = from.{name};", p.name)));
    let body = guarded(pairs.collect(), tile, "tile.");
    let head = format!("take_{}(Vdut& tile, const From& from)", side.letter());
    format!("template <class From>\n{}", function(&head, &body))
}

/// A register for all signals from one side, for a neighbour in another SLR. Its output is its
/// input of one period ago.
fn register(tile: &ModuleSpec, side: Port) -> String {
    let fields: String = facing(tile, side)
        .map(|(_, name)| format!("    std::remove_reference_t<decltype(Vdut::{name})> {name}{{}};\n"))
        .collect();
    let output = |name: &String| tile.ports.iter().find(|p| p.name == *name);
    let pairs =
        facing(tile, side).filter_map(|(_, name)| Some((output(&name)?, format!("{name} = from.{name};"))));
    let body = guarded(pairs.collect(), tile, "from.").replace("\n    ", "\n        ");
    let letter = side.letter();
    format!("struct From_{letter} {{\n{fields}\n    void take(const Vdut& from) {{\n        (void)from;\n    {body}}}\n}};\n\n")
}

/// Looks for a flit from a side, and inverts a bit of its payload. Sides are numbered in the order of [`SIDES`].
fn flips(tile: &ModuleSpec) -> String {
    let has = |name: &str| tile.ports.iter().any(|p| p.name == name && p.dir == Dir::Input);
    let (mut valids, mut inverts) = (String::new(), String::new());
    for (number, side) in SIDES.iter().enumerate() {
        let letter = side.letter();
        let [valid, data] = ["valid", "data"].map(|field| format!("rx_{letter}_{field}"));
        if has(&valid) && has(&data) {
            valids += &format!("    if (side == {number}) return any(tile.{valid});\n");
            inverts += &format!("    if (side == {number}) invert(tile.{data}, bit);\n");
        }
    }
    format!("inline bool valid_from(const Vdut& tile, unsigned side) {{\n    (void)tile, (void)side;\n{valids}    return false;\n}}\n\n")
        + &function(
            "invert_from(Vdut& tile, unsigned side, unsigned bit)",
            &format!("    (void)tile, (void)side, (void)bit;\n{inverts}"),
        )
}

/// Records the outputs of a tile on its links, in the layout of `meshkv_links` in `sim/shim.h`.
fn links(tile: &ModuleSpec) -> String {
    let mut body = "    std::memset(words, 0, kLinkWords * sizeof(uint32_t));\n".to_owned();
    for port in Port::ALL {
        let letter = port.letter();
        let named = |name: String| tile.ports.iter().find(move |p| p.name == name);
        let word = |name: String, shift: u32| {
            named(name).map(|p| format!("words[0] |= static_cast<uint32_t>(tile.{}) << {shift};\n", p.name))
        };
        let bits = |name: String, at: &str| {
            named(name).map(|p| format!("put<{}>(words + {at}, 0, tile.{});\n", p.width.bits, p.name))
        };
        let lines = |indent: &str, lines: &[Option<String>]| {
            lines.iter().flatten().map(|line| format!("{indent}{line}")).collect::<String>()
        };
        let credit = word(format!("rx_{letter}_credit"), 16);
        let valid = word(format!("tx_{letter}_valid"), 0);
        // While a valid is low, the wires carry what was last sent.
        let flit = [
            word(format!("tx_{letter}_ahead"), 8),
            bits(format!("tx_{letter}_head"), "1"),
            bits(format!("tx_{letter}_dest"), "1 + words_for(MESHKV_HEAD_WIDTH)"),
        ];
        body += &lines("    ", &[credit, valid.clone()]);
        if valid.is_some() {
            let _ =
                write!(body, "    if (any(tile.tx_{letter}_valid)) {{\n{}    }}\n", lines("        ", &flit));
        }
        body += "    words += kLinkWords / MESHKV_PORTS;\n";
    }
    function("show_links_of(const Vdut& tile, uint32_t* words)", &body)
}

/// Statements; those whose bundle must be valid come last. Signals of an invalid bundle are never
/// read, so they are not copied.
fn guarded(pairs: Vec<(&PortSpec, String)>, module: &ModuleSpec, object: &str) -> String {
    let valid_of = |p: &PortSpec| {
        let (of, field) = p.name.rsplit_once('_')?;
        // The parity of a link comes a cycle after its flit, and errors stand.
        let late = field == "parity" && SIDES.iter().any(|side| bundle(&p.name, side.letter()).is_some());
        if late || field == "flawed" {
            return None;
        }
        let valid = module.ports.iter().find(|v| v.name == format!("{of}_valid") && v.dir == p.dir)?;
        (field != "valid").then(|| valid.name.clone())
    };
    let mut always = String::new();
    let mut when_valid: BTreeMap<String, String> = BTreeMap::new();
    for (port, statement) in pairs {
        match valid_of(port) {
            None => always += &format!("    {statement}\n"),
            Some(valid) => *when_valid.entry(valid).or_default() += &format!("        {statement}\n"),
        }
    }
    for (valid, statements) in when_valid {
        always += &format!("    if (any({object}{valid})) {{\n{statements}    }}\n");
    }
    always
}

#[cfg(test)]
mod tests {
    use crate::config::{Config, PlacementKind};
    use crate::cosim::build::wrap::glue::*;
    use crate::cosim::build::wrap::wrapper::node;
    use crate::design::Design;
    use crate::emit::{modules, FABRIC, PERIPHERY, ROUTER, TILE};

    #[test]
    fn every_port_of_the_pieces_is_joined() {
        for (placement, swap_epoch) in
            [(PlacementKind::Takv, 1), (PlacementKind::Takv, 0), (PlacementKind::Hub, 0)]
        {
            let mut config = Config::default();
            (config.takv.placement, config.takv.swap_epoch) = (placement, Some(swap_epoch));
            (config.model.max_tokens, config.noc.parity) = (256, placement == PlacementKind::Hub);
            let design = Design::from_config("test", &config).expect("a legal configuration");
            let all = modules(&design);
            let spec = |name: &str| all.iter().find(|m| m.name == name).expect("every design has these");
            let (tile, periphery) = (node(spec(ROUTER), &[spec(TILE)], false), spec(PERIPHERY));
            let pieces = PieceGlue { tile: &tile, periphery: Some(periphery), fabric: spec(FABRIC) };
            // Code that only reads a port does not connect it.
            let text = pieces.header().replace(&links(&tile), "").replace(&flips(&tile), "");
            let named = |name: &str| {
                let longer = |rest: &str| rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
                text.match_indices(name).filter(|(at, _)| !longer(&text[at + name.len()..])).count()
            };
            for port in tile.ports.iter().filter(|p| !is_own(p)) {
                // An input is silenced and driven; an output is sampled, or drives the neighbour.
                let places = named(&format!("tile.{}", port.name)) + named(&format!("from.{}", port.name));
                assert!(places > usize::from(port.dir == Dir::Input), "tile.{} is not joined", port.name);
            }
            for port in periphery.ports.iter().filter(|p| !is_own(p)) {
                let places = named(&format!("periphery.{}", port.name));
                assert!(
                    places > usize::from(port.dir == Dir::Input),
                    "periphery.{} is not joined",
                    port.name
                );
                // Two ends: the other belongs to a tile or to the caller.
                let ends = named(&format!("wires.{}", port.name));
                let shown = pieces.fabric.ports.iter().any(|p| p.name == port.name);
                assert_eq!(ends, if shown { 1 } else { 2 }, "{} leads nowhere", port.name);
            }
            for port in spec(FABRIC).ports.iter().filter(|p| !is_own(p)) {
                assert_eq!(named(&format!("wires.{}", port.name)), 1, "{} is nobody's", port.name);
            }
        }
    }
}
