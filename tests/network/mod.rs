//! Tests of the network: routers, links, mesh.

mod deadlock;
mod fairness;
mod lockstep;
mod mutants;
mod one_router_form;
mod timing;
mod traffic;
