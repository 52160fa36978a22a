//! Places at a tile where the parity of a word is checked, as `error_parity` and ERROR_INFO number them.

use crate::design::network::mesh::{NodeId, Port};

/// Bit of ERROR_INFO from which the place at the tile is counted; the tile stands below.
const PLACE_SHIFT: u32 = 8;

/// A place at a tile where a word with a wrong parity has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Flaw {
    /// From a neighbour, or from the tile itself: it was wrong when the router received it.
    Router(Port),
    /// From the router to the tile.
    Tile,
    /// From the tile's FIFO to its array.
    Array,
}

impl Flaw {
    /// All places, by their codes from 1 on; 0 says that nothing was wrong.
    pub const ALL: [Flaw; 7] = [
        Flaw::Router(Port::North),
        Flaw::Router(Port::South),
        Flaw::Router(Port::East),
        Flaw::Router(Port::West),
        Flaw::Router(Port::Local),
        Flaw::Tile,
        Flaw::Array,
    ];

    /// The place with a code, if there is one.
    pub fn of(code: u32) -> Option<Flaw> {
        Flaw::ALL.get((code as usize).checked_sub(1)?).copied()
    }

    /// Its code.
    fn code(self) -> u32 {
        1 + Flaw::ALL.iter().position(|&flaw| flaw == self).expect("all are listed") as u32
    }

    /// ERROR_INFO of a flaw at a tile.
    pub fn info(self, tile: NodeId) -> u32 {
        tile.index() as u32 | self.code() << PLACE_SHIFT
    }

    /// ERROR_INFO of a flaw in words.
    pub fn told(info: u32) -> String {
        let tile = info & ((1 << PLACE_SHIFT) - 1);
        match Flaw::of(info >> PLACE_SHIFT) {
            Some(flaw) => format!("tile {tile}, {flaw}"),
            None => format!("tile {tile}"),
        }
    }

    fn words(self) -> &'static str {
        match self {
            Flaw::Router(Port::North) => "from the north",
            Flaw::Router(Port::South) => "from the south",
            Flaw::Router(Port::East) => "from the east",
            Flaw::Router(Port::West) => "from the west",
            Flaw::Router(Port::Local) => "from the tile to its router",
            Flaw::Tile => "from the router to the tile",
            Flaw::Array => "to the array",
        }
    }

    /// All codes with their places, as a comment of the Verilog.
    pub fn listed() -> String {
        let places = Flaw::ALL.iter().map(|flaw| format!("{}: {}", flaw.code(), flaw.words()));
        format!("0: none, {}", places.collect::<Vec<_>>().join(", "))
    }
}

impl std::fmt::Display for Flaw {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.words())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_told_in_words() {
        let tile = crate::design::Mesh::new(3, 3).node(1, 1).unwrap();
        let info = Flaw::Router(Port::West).info(tile);
        assert_eq!((info, Flaw::told(info).as_str()), (0x404, "tile 4, from the west"));
    }

    #[test]
    fn a_code_names_one_place() {
        assert_eq!(Flaw::of(0), None);
        assert_eq!(Flaw::of(8), None);
        for (at, &flaw) in Flaw::ALL.iter().enumerate() {
            assert_eq!(Flaw::of(at as u32 + 1), Some(flaw));
            let port = match flaw {
                Flaw::Router(port) => port.index(),
                Flaw::Tile => 5,
                Flaw::Array => 6,
            };
            assert_eq!(at, port, "{flaw}: the Verilog numbers ports in this order");
        }
    }
}
