//! The way of a flit that a view follows, hop by hop.

use crate::design::{Mesh, NodeId, Port};

/// The place that a view is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Focus {
    /// None: the way leads from one corner to the opposite one, and turns once.
    #[default]
    Corners,
    /// A tile: the way ends there.
    Tile(NodeId),
}

/// A router on the way, with the ports where the flit enters and leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Hop {
    pub(super) router: NodeId,
    pub(super) from: Port,
    pub(super) to: Port,
}

/// The hops from the corner farthest from the focus to the focus, along the row and then the column.
pub(super) fn way(mesh: Mesh, focus: Focus) -> Vec<Hop> {
    let end = match focus {
        Focus::Corners => mesh.nodes().last(),
        Focus::Tile(tile) => Some(tile),
    };
    let farthest =
        |end: &NodeId| mesh.nodes().max_by_key(|&tile| (mesh.hops(tile, *end), mesh.tiles() - tile.index()));
    let Some((end, mut router)) = end.and_then(|end| Some((end, farthest(&end)?))) else { return Vec::new() };
    let (mut hops, mut from) = (Vec::new(), Port::Local);
    loop {
        let to = mesh.xy_port(router, end);
        hops.push(Hop { router, from, to });
        let Some(next) = mesh.neighbour(router, to) else { return hops };
        (router, from) = (next, to.opposite());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_leads_along_the_row_and_then_the_column() {
        let mesh = Mesh::new(3, 2);
        let hops: Vec<_> =
            way(mesh, Focus::Corners).iter().map(|hop| (hop.router.index(), hop.from, hop.to)).collect();
        assert_eq!(
            hops,
            [
                (0, Port::Local, Port::East),
                (1, Port::West, Port::East),
                (2, Port::West, Port::North),
                (5, Port::South, Port::Local)
            ]
        );
        let to_corner = way(mesh, Focus::Tile(mesh.node(0, 0).unwrap()));
        assert_eq!(to_corner.first().map(|hop| hop.router), mesh.node(2, 1));
        assert_eq!(
            to_corner.last().map(|hop| (hop.router, hop.to)),
            Some((mesh.node(0, 0).unwrap(), Port::Local))
        );
    }
}
