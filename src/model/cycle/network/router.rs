//! State of a router except its inputs: `meshkv_router`, and the routes of `meshkv_route_row` and
//! `meshkv_route_column`.

use super::links::{Place, Way};
use super::params::NetworkParams;
use super::switch_allocator::{SwitchAllocator, E, L, N, S, W};
use crate::design::{Mesh, NodeId, Port, TURNS};
use crate::model::cycle::network::flits::flit_store::{FlitStore, Target};
use crate::model::cycle::network::state::claims::Claims;
use crate::model::cycle::network::state::output_port::OutputPorts;

/// Outputs that each input may take.
const OUTPUTS: [u8; 5] = [
    TURNS.mask(Port::North),
    TURNS.mask(Port::South),
    TURNS.mask(Port::East),
    TURNS.mask(Port::West),
    TURNS.mask(Port::Local),
];

/// State and position of one router. It fills two cache lines; sending touches one of them.
#[derive(Debug, Clone)]
#[repr(C, align(64))]
pub(super) struct Router {
    pub(super) outputs: OutputPorts,
    x: u8,
    y: u8,
    /// By port, the way, and the input at the far end. The neighbour's output back to this router has the
    /// same number.
    pub(super) ways: [Way; 5],
    pub(super) beyond: [Place; 5],
    pub(super) allocator: SwitchAllocator,
    pub(super) claims: Claims,
}

impl Router {
    pub(super) fn new(mesh: Mesh, node: NodeId, params: &NetworkParams) -> Router {
        let (x, y) = mesh.coords(node);
        let tiles = [mesh.rows() - 1 - y, y, mesh.cols() - 1 - x, x].map(|tiles| tiles as u8);
        // Bit y of the crossings: the links between rows y and y + 1.
        let crossings = u32::from(params.crossings) << 1 >> y;
        let column = |crosses: u32| if crosses & 1 == 1 { Way::Far } else { Way::Column };
        let neighbour = |port| mesh.neighbour(node, port).unwrap_or(node).index() as u8;
        Router {
            x: x as u8,
            y: y as u8,
            ways: [column(crossings >> 1), column(crossings), Way::Row, Way::Row, Way::Tile],
            beyond: Port::ALL.map(|port| Place::beyond(neighbour(port), port)),
            outputs: OutputPorts::new(params),
            allocator: SwitchAllocator::new(tiles),
            claims: Claims::default(),
        }
    }

    /// Returns the outputs of a flit from the row or the tile.
    #[inline(always)]
    pub(super) fn route(&self, p: u8, flit: u32, target: &Target, flits: &FlitStore) -> u8 {
        let cols = u32::from(target.cols);
        let (east, west) = (cols >> self.x >> 1 != 0, cols & ((1 << self.x) - 1) != 0);
        let row = u8::from(east) << E | u8::from(west) << W;
        (row | self.column(flits.rows(flit, target, self.x))) & OUTPUTS[usize::from(p)]
    }

    /// Returns the outputs of a flit from the column.
    #[inline(always)]
    pub(super) fn route_column(&self, p: u8, flit: u32, target: &Target, flits: &FlitStore) -> u8 {
        self.column(flits.rows(flit, target, self.x)) & OUTPUTS[usize::from(p)]
    }

    /// Returns the outputs along the column and to the tile, for a set of rows.
    #[inline(always)]
    fn column(&self, rows: u16) -> u8 {
        let rows = u32::from(rows);
        let (north, south) = (rows >> self.y >> 1 != 0, rows & ((1 << self.y) - 1) != 0);
        let here = (rows >> self.y & 1) as u8;
        u8::from(north) << N | u8::from(south) << S | here << L
    }
}
