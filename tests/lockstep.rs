//! Model and Verilog in lockstep: every link in every cycle, on small meshes of all shapes of network.

mod fabric;

use fabric::{clean, design, library_of, mixed, multicast, unicast};
use meshkv::cosim::dut::Dut;
use meshkv::cosim::lockstep::Lockstep;
use meshkv::cosim::pattern::PatternKind;
use meshkv::cosim::traffic::VirtualNetworks;
use meshkv::cosim::verilate::Form;
use meshkv::design::Design;
use meshkv::emit::emit;

fn lockstep(design: &Design) -> Lockstep {
    let library = library_of(Form::Tile, design, &emit(design).unwrap());
    let mut both = Lockstep::new(Dut::open(&library, design, 1).unwrap(), design).unwrap();
    both.watchdog(1000);
    both
}

#[test]
fn same_figures() {
    for mc in [true, false] {
        let design = design(4, 3, |c| c.mare.multicast = mc);
        let mut both = lockstep(&design);
        for traffic in [
            unicast(PatternKind::Uniform, VirtualNetworks::Vn0, 0.05, 1),
            unicast(PatternKind::Uniform, VirtualNetworks::Both, 0.4, 1),
            unicast(PatternKind::Uniform, VirtualNetworks::Both, 0.4, 4),
            multicast(3, 0.2, 3),
            mixed(3, 1.0, 4),
        ] {
            clean(&mut both, &design, &traffic);
        }
        println!("{} router-cycles", both.router_cycles());
    }
}
