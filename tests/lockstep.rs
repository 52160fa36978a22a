mod fabric;

use fabric::{clean, design, fabric, mixed, multicast, unicast};
use meshkv::cosim::modelled::Modelled;
use meshkv::cosim::pattern::PatternKind;
use meshkv::cosim::traffic::VirtualNetworks;

#[test]
fn same_figures() {
    for mc in [true, false] {
        let design = design(4, 3, |c| c.mare.multicast = mc);
        let mut dut = fabric(&design);
        let mut model = Modelled::new(&design);
        model.watchdog(1000);
        for traffic in [
            unicast(PatternKind::Uniform, VirtualNetworks::Vn0, 0.05, 1),
            unicast(PatternKind::Uniform, VirtualNetworks::Both, 0.4, 1),
            unicast(PatternKind::Uniform, VirtualNetworks::Both, 0.4, 4),
            multicast(3, 0.2, 3),
            mixed(3, 1.0, 4),
        ] {
            let a = clean(&mut dut, &design, &traffic);
            let b = clean(&mut model, &design, &traffic);
            assert!(a == b, "{traffic:?}\n{a:?}\n{b:?}");
        }
    }
}
