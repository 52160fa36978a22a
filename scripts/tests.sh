#!/bin/sh
# Runs a tier of the tests.
#
#   scripts/tests.sh fast      all tests but those that tests/verify.txt names
#   scripts/tests.sh verify    those that it names, file by file; a second call goes on where the first was stopped
#
# What has passed is remembered below target/verify/ for as long as the test program is the same.
set -eu
cd "$(dirname "$0")/.."

CARGO=${CARGO:-cargo}
CARGO_FLAGS=${CARGO_FLAGS---locked}
LIST=tests/verify.txt

# The names in the list, one a line, without comments.
listed() { sed 's/#.*//; s/[[:space:]]//g; /^$/d' "$LIST"; }

fast() {
    set --
    for name in $(listed); do set -- "$@" --skip "$name"; done
    # With --exact a name leaves out that test, and none whose name begins with it.
    # shellcheck disable=SC2086 # Flags are words.
    exec $CARGO test $CARGO_FLAGS -- --exact "$@"
}

verify() {
    # shellcheck disable=SC2086 # Flags are words.
    program=$($CARGO test $CARGO_FLAGS --test all --no-run 2>&1 | tee /dev/stderr |
        sed -n 's/.*Executable.*(\(.*\)).*/\1/p' | tail -n 1)
    [ -x "$program" ] || { echo "error: cargo named no test program" >&2; exit 2; }
    done_dir=target/verify/$(sha256sum "$program" | cut -c1-16)
    mkdir -p "$done_dir"
    # Those of the command line come last: they take longest.
    files=$(listed | sed 's/::[^:]*$//' | sort -ru)
    count=$(echo "$files" | wc -l)
    at=0
    failed=
    for file in $files; do
        at=$((at + 1))
        if [ -e "$done_dir/$file" ]; then
            echo "verify $at of $count: $file has passed before"
            continue
        fi
        echo "verify $at of $count: $file"
        begun=$(date +%s)
        # shellcheck disable=SC2046 # Names are words.
        if "$program" --exact $(listed | grep "^$file::[^:]*\$"); then
            touch "$done_dir/$file"
        else
            failed="$failed $file"
        fi
        echo "verify $at of $count: $file took $(($(date +%s) - begun)) s"
    done
    [ -z "$failed" ] || { echo "error: tests failed in:$failed" >&2; exit 1; }
    echo "verify: all of $LIST passed"
}

case "${1:-}" in
fast) fast ;;
verify) verify ;;
*) echo "usage: scripts/tests.sh fast|verify" >&2; exit 2 ;;
esac
