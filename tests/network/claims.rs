//! Claims at one router: whoever claims gets the credit, and a head that could leave is not kept by those that cannot.

use crate::support::icarus::{change, Bench};
use meshkv::config::Config;
use meshkv::design::Design;
use meshkv::emit::{emit_block, SourceFile};
use meshkv::tools;
use std::fs;
use std::process::Command;

fn design(stages: u32, vn1_vcs: u32) -> Design {
    let mut config = Config::default();
    (config.noc.router_stages, config.noc.vn1_vcs) = (stages, vn1_vcs);
    Design::from_config("claims", &config).expect("legal")
}

/// The requests of one input, in which another input's claims are watched: `kept` falls when they are not respected.
fn watched(stages: u32, vcs: u32) -> String {
    // Kinds of requests for each output: KV_FETCH and KV_DATA are the last two.
    let (kinds, fetch) = if stages == 3 { (3, 1) } else { (4, 2) };
    let given = |name: &str, width: u32| format!("    input wire [{}:0] {name},\n", width - 1);
    let inputs = [("pending", 5 * vcs), ("occupied", vcs), ("last", vcs), ("freed", vcs), ("rx_valid", vcs)];
    let inputs = inputs.into_iter().chain([("avail", 5 * vcs), ("free", 10), ("pick", 10), ("closed", 3)]);
    let inputs = inputs.chain([("closed_outputs", 5), ("won", 5 * kinds), ("express", 5)]);
    let names: Vec<_> = inputs.collect();
    let ports: String = names.iter().map(|(name, width)| given(name, *width)).collect();
    let wired: String = names.iter().map(|(name, _)| format!("        .{name}({name}),\n")).collect();
    let lost = if stages == 3 { "        .lost_single(1'b0), .lost_copy(1'b0),\n" } else { "" };
    format!(
        "module watched (
    input wire clk, input wire rst, input wire rx_last, input wire holds, input wire tick,
{ports}    output wire kept
);
    wire [{wide}:0] wants;
    wire [4:0] express_ok;
    wire express_first;
    wire [{top}:0] express_vc;
    meshkv_vc_request #(.VN0_VCS(2), .VCS({vcs})) dut (
        .clk(clk), .rst(rst), .rx_last(rx_last), .holds(holds), .tick(tick),
{wired}{lost}        .wants(wants), .express_ok(express_ok), .express_first(express_first), .express_vc(express_vc)
    );
    reg [2:0] closed_q;
    reg [4:0] outputs_q;
    always @(posedge clk) begin
        closed_q  <= rst ? 3'd0 : closed & {{3{{~holds}}}};
        outputs_q <= closed_outputs;
    end
    wire [4:0] fetch, data;
    genvar o;
    generate
        for (o = 0; o < 5; o = o + 1) begin : gen_output
            assign fetch[o] = wants[o*{kinds}+{fetch}];
            assign data[o]  = wants[o*{kinds}+{fetch}+1];
        end
    endgenerate
    // At most one flit arrives in a cycle. One inside a packet has a channel beyond, which nobody claims.
    wire one = ~|(rx_valid & (rx_valid - 1'b1));
    assign kept = ~one
        | ~(|(outputs_q & ({{5{{closed_q[1]}}}} & (fetch | (express_ok & {{5{{rx_valid[2]}}}}))))
          | |(outputs_q & ({{5{{closed_q[2]}}}} & (data | (express_ok & {{5{{|rx_valid[{top}:3]}}}}))))
          | |(outputs_q & ({{5{{closed_q[0] & express_first & ~|express_vc[1:0]}}}} & express_ok)));
endmodule
",
        wide = 5 * kinds - 1,
        top = vcs - 1,
    )
}

/// Whether claims of others are respected whatever comes, by induction over cycles.
fn proved(files: &[SourceFile], stages: u32, vcs: u32) -> bool {
    let dir = tempfile::tempdir().unwrap();
    let request =
        files.iter().find(|file| file.path.ends_with("meshkv_vc_request.v")).expect("it is emitted");
    fs::write(dir.path().join("request.v"), &request.text).unwrap();
    fs::write(dir.path().join("watched.v"), watched(stages, vcs)).unwrap();
    let script = "read_verilog request.v watched.v; hierarchy -top watched; proc; flatten; opt; \
                  sat -verify -tempinduct -seq 1 -set-at 1 rst 1 -prove kept 1 -maxsteps 4 watched";
    let yosys = tools::find(&tools::YOSYS).expect("this test needs Yosys; run `meshkv doctor`").path;
    let said = Command::new(yosys).args(["-p", script]).current_dir(dir.path()).output().unwrap();
    let log = String::from_utf8_lossy(&[said.stdout, said.stderr].concat()).into_owned();
    // The log decides, not the exit code alone: a syntax error is neither verdict.
    match (
        said.status.success(),
        log.contains("Induction step proven: SUCCESS!"),
        log.contains("proof finished"),
    ) {
        (true, true, _) => true,
        (false, false, _) if log.contains("model found") || log.contains("proof did fail") => false,
        _ => panic!("no verdict:\n{log}"),
    }
}

#[test]
fn no_input_takes_a_credit_that_another_claims() {
    for (stages, vn1_vcs) in [(2, 2), (2, 3), (3, 2), (3, 4)] {
        let files = emit_block(&design(stages, vn1_vcs), "meshkv_vc_request").expect("it is emitted");
        assert!(proved(&files, stages, 2 + vn1_vcs), "{stages} stages, {vn1_vcs} channels");

        // The express path alone does not look at claims, and heads alone do not.
        let all = "avail[o*VCS+VN0_VCS+:VCS-VN0_VCS]";
        for (from, to) in [
            ("& {unclaimed, resumes", format!("& {{{all}, resumes")),
            ("& unclaimed;", format!("& {all};")),
            ("& ~taken_q[0]", "".to_owned()),
        ] {
            let mut slipped = files.clone();
            change(&mut slipped, "meshkv_vc_request", from, &to);
            assert!(!proved(&slipped, stages, 2 + vn1_vcs), "{stages} stages, {vn1_vcs} channels: {from}");
        }
    }
}

const CYCLES: u32 = 8000;

/// Flits that the tile and its rival got, and the cycle of the tile's first.
fn sent(bench: &Bench, start: u32, [period, phase]: [u32; 2], rival: u32) -> [u32; 3] {
    let arguments =
        [("start", start), ("period", period), ("phase", phase), ("rival", rival), ("cycles", CYCLES)];
    let said = bench.run("", &arguments);
    let numbers: Vec<u32> = said.split_whitespace().map(|word| word.parse().expect("a number")).collect();
    numbers.try_into().unwrap_or_else(|numbers| panic!("{numbers:?}"))
}

#[test]
fn a_head_that_could_leave_does_so_beside_heads_that_never_can() {
    for stages in [2, 3] {
        for vn1_vcs in [2, 3, 4] {
            let files =
                emit_block(&design(stages, vn1_vcs), "meshkv_switch_allocator").expect("it is emitted");
            let bench = Bench::of(&files, "network/claims_tb", &[("VCS", 2 + vn1_vcs)]);
            for start in 0..4 {
                let [mine, ..] = sent(&bench, start, [1, 0], 0);
                assert!(mine > CYCLES / 16, "{stages} stages, {vn1_vcs} channels, {start}: {mine} flits");
                for period in [2, 3, 4] {
                    for phase in 0..period {
                        let [mine, others, first] = sent(&bench, start, [period, phase], 1);
                        let case =
                            format!("{stages} stages, {vn1_vcs} channels, {start}, {phase} of {period}");
                        let least = (mine + others) / 10;
                        assert!(mine >= least, "{case}: {mine} flits, the rival {others}");
                        assert!(first < 2048, "{case}: the first after {first} cycles");
                    }
                }
            }
        }
    }
}
