//! Tests of the network: routers, links, mesh.

mod deadlock;
mod lockstep;
mod mutants;
mod one_router_form;
mod timing;
mod traffic;
