//! Tiles, coordinates and the links between them.

use std::cmp::Ordering;

/// A mesh of `cols` x `rows` tiles; it alone makes a [`NodeId`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mesh {
    cols: u32,
    rows: u32,
}

/// A tile that exists in its mesh: index `y * cols + x`, x from the west, y from the south.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(u32);

impl NodeId {
    /// Index `y * cols + x`, the position of the tile in every packed port of the mesh.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Factors by number of columns: index times factor is the tile's row, above the sixteenth bit. Exact for 256
/// tiles of 16 columns: an index times the error of the fraction stays below one part in `cols`.
const RECIPROCALS: [u32; 32] = {
    let mut table = [0; 32];
    let mut cols = 1;
    while cols < 32 {
        table[cols] = (1 << 16) / cols as u32 + 1;
        cols += 1;
    }
    table
};

/// A port of a router, in the order of the router's packed ports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Port {
    /// Towards y + 1.
    North,
    /// Towards y - 1.
    South,
    /// Towards x + 1.
    East,
    /// Towards x - 1.
    West,
    /// The tile itself.
    Local,
}

impl Port {
    /// All five ports, in index order.
    pub const ALL: [Port; 5] = [Port::North, Port::South, Port::East, Port::West, Port::Local];

    /// Index in the router's packed ports.
    pub fn index(self) -> usize {
        self as usize
    }

    /// The port of the neighbour that this port faces.
    pub fn opposite(self) -> Port {
        match self {
            Port::North => Port::South,
            Port::South => Port::North,
            Port::East => Port::West,
            Port::West => Port::East,
            Port::Local => Port::Local,
        }
    }

    /// One lower-case letter: n, s, e, w, l.
    pub fn letter(self) -> char {
        ['n', 's', 'e', 'w', 'l'][self.index()]
    }

    /// Lower-case name, as in the Verilog.
    pub fn name(self) -> &'static str {
        ["north", "south", "east", "west", "local"][self.index()]
    }
}

impl Mesh {
    /// A mesh of `cols` x `rows` tiles; the configuration has checked 2..=16 each.
    pub(crate) fn new(cols: u32, rows: u32) -> Mesh {
        Mesh { cols, rows }
    }

    /// Tiles from west to east.
    pub fn cols(self) -> u32 {
        self.cols
    }

    /// Tiles from south to north.
    pub fn rows(self) -> u32 {
        self.rows
    }

    /// Number of tiles.
    pub fn tiles(self) -> usize {
        (self.cols * self.rows) as usize
    }

    /// All tiles in index order.
    pub fn nodes(self) -> impl Iterator<Item = NodeId> {
        (0..self.cols * self.rows).map(NodeId)
    }

    /// The tile at (x, y), if the mesh has it.
    pub fn node(self, x: u32, y: u32) -> Option<NodeId> {
        (x < self.cols && y < self.rows).then(|| NodeId(y * self.cols + x))
    }

    /// The tile with this index, if the mesh has it.
    pub fn node_at(self, index: usize) -> Option<NodeId> {
        (index < self.tiles()).then_some(NodeId(index as u32))
    }

    /// (x, y) of a tile.
    pub fn coords(self, node: NodeId) -> (u32, u32) {
        // A division for every flit would be slow.
        let y = (node.0 * RECIPROCALS[self.cols as usize & 31]) >> 16;
        (node.0 - y * self.cols, y)
    }

    /// The tile that `port` of `node` faces; none at the mesh edge and for the local port.
    pub fn neighbour(self, node: NodeId, port: Port) -> Option<NodeId> {
        let (x, y) = self.coords(node);
        match port {
            Port::North => self.node(x, y + 1),
            Port::South => y.checked_sub(1).and_then(|y| self.node(x, y)),
            Port::East => self.node(x + 1, y),
            Port::West => x.checked_sub(1).and_then(|x| self.node(x, y)),
            Port::Local => None,
        }
    }

    /// The output that a flit at `at` takes to `destination`: along the row first, then along the
    /// column, then into the tile. Each branch of an XYM tree follows it too.
    pub fn xy_port(self, at: NodeId, destination: NodeId) -> Port {
        let ((x, y), (to_x, to_y)) = (self.coords(at), self.coords(destination));
        match (to_x.cmp(&x), to_y.cmp(&y)) {
            (Ordering::Greater, _) => Port::East,
            (Ordering::Less, _) => Port::West,
            (Ordering::Equal, Ordering::Greater) => Port::North,
            (Ordering::Equal, Ordering::Less) => Port::South,
            (Ordering::Equal, Ordering::Equal) => Port::Local,
        }
    }

    /// Router-to-router hops between two tiles.
    pub fn hops(self, a: NodeId, b: NodeId) -> u32 {
        let ((ax, ay), (bx, by)) = (self.coords(a), self.coords(b));
        ax.abs_diff(bx) + ay.abs_diff(by)
    }

    /// Router-to-router links of the XYM tree from `root` to `destinations`: one trunk along
    /// the root's row, one branch each way along every column that holds a destination.
    pub fn xym_tree_links(self, root: NodeId, destinations: &[NodeId]) -> u32 {
        if let [only] = destinations {
            return self.hops(root, *only);
        }
        let (rx, ry) = self.coords(root);
        let (mut east, mut west) = (0, 0);
        let mut up = vec![0; self.cols as usize];
        let mut down = vec![0; self.cols as usize];
        for &d in destinations {
            let (x, y) = self.coords(d);
            east = east.max(x.saturating_sub(rx));
            west = west.max(rx.saturating_sub(x));
            up[x as usize] = up[x as usize].max(y.saturating_sub(ry));
            down[x as usize] = down[x as usize].max(ry.saturating_sub(y));
        }
        east + west + up.iter().sum::<u32>() + down.iter().sum::<u32>()
    }
}

#[cfg(test)]
mod tests {
    use crate::design::network::mesh::*;

    #[test]
    fn neighbours_face_each_other() {
        let mesh = Mesh::new(3, 4);
        for node in mesh.nodes() {
            for port in Port::ALL {
                if let Some(next) = mesh.neighbour(node, port) {
                    assert_eq!(mesh.neighbour(next, port.opposite()), Some(node));
                    assert_eq!(mesh.hops(node, next), 1);
                }
            }
        }
    }

    #[test]
    fn tree_of_one_destination_is_its_xy_path() {
        let mesh = Mesh::new(5, 3);
        for a in mesh.nodes() {
            for b in mesh.nodes() {
                assert_eq!(mesh.xym_tree_links(a, &[b]), mesh.hops(a, b));
                let next = |&at: &NodeId| mesh.neighbour(at, mesh.xy_port(at, b));
                let path: Vec<_> = std::iter::successors(Some(a), next).collect();
                assert_eq!((path.last(), path.len() as u32 - 1), (Some(&b), mesh.hops(a, b)));
            }
        }
    }

    #[test]
    fn coordinates_are_those_of_a_division_in_every_mesh() {
        for (cols, rows) in (2..=16).flat_map(|cols| (2..=16).map(move |rows| (cols, rows))) {
            let mesh = Mesh::new(cols, rows);
            for node in mesh.nodes() {
                assert_eq!(mesh.coords(node), (node.0 % cols, node.0 / cols), "{cols} x {rows}");
            }
        }
    }

    /// A multicast waits for the same resources as the routes to its destinations.
    #[test]
    fn tree_links_are_those_of_the_routes() {
        let mesh = Mesh::new(4, 3);
        for root in mesh.nodes() {
            for set in 1..1_u32 << mesh.tiles() {
                let members: Vec<_> = mesh.nodes().filter(|d| set >> d.index() & 1 == 1).collect();
                let mut links = std::collections::BTreeSet::new();
                for &d in &members {
                    let step = |&at: &NodeId| mesh.neighbour(at, mesh.xy_port(at, d));
                    let path: Vec<_> = std::iter::successors(Some(root), step).collect();
                    links.extend(path.windows(2).map(|pair| (pair[0], pair[1])));
                }
                assert_eq!(mesh.xym_tree_links(root, &members), links.len() as u32);
            }
        }
    }

    #[test]
    fn tree_of_all_tiles_reaches_each_over_one_link() {
        let mesh = Mesh::new(8, 8);
        let all: Vec<_> = mesh.nodes().collect();
        for root in mesh.nodes() {
            assert_eq!(mesh.xym_tree_links(root, &all), 63);
        }
    }
}
