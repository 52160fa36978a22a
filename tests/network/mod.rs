//! Tests of the network: routers, links, mesh.

mod claims;
mod deadlock;
mod fairness;
mod lockstep;
mod mutants;
mod one_router_form;
mod rhythm;
mod timing;
mod traffic;
