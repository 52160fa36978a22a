//! Rules of the fabric that the deadlock check assumes.

use crate::design::{Class, Design, Mesh, NodeId, Port, Turns, TURNS};
use std::ops::Range;

/// Behaviour of the fabric, as far as waits follow from it.
#[derive(Debug, Clone)]
pub struct Rules {
    /// Turns that a router supports.
    pub turns: Turns,
    /// The output that a flit from `source` takes at `at` towards `destination`: `(mesh, source, at,
    /// destination)`.
    pub route: fn(Mesh, NodeId, NodeId, NodeId) -> Port,
    /// Virtual channels of each class, by its place in [`Class::ALL`].
    pub vcs: [Range<u32>; 3],
    /// True if a requester reserves room for all that it fetches. Otherwise arriving flits may find none.
    pub requester_reserves: bool,
    /// True if a reduce root accepts a PART without sending one first.
    pub root_consumes: bool,
    /// True if a home has room for every fetch of an absent slice. Otherwise such a fetch blocks others.
    pub parking_has_room: bool,
}

impl Rules {
    /// The fabric as it is emitted.
    pub fn of(design: &Design) -> Rules {
        Rules {
            turns: TURNS,
            route: |mesh, _, at, destination| mesh.xy_port(at, destination),
            vcs: Class::ALL.map(|class| design.router.vcs_of_class(class)),
            requester_reserves: true,
            root_consumes: true,
            parking_has_room: true,
        }
    }

    pub(super) fn vcs(&self, class: Class) -> Range<u32> {
        self.vcs[class as usize].clone()
    }

    /// The names of the classes that travel on a virtual channel.
    pub(super) fn on_vc(&self, vc: u32) -> String {
        let classes = Class::ALL.into_iter().filter(|&class| self.vcs(class).contains(&vc));
        classes.map(Class::name).collect::<Vec<_>>().join(" and ")
    }
}
