#!/bin/sh
# gradescope.sh ROOT FOLDER [DEBOOTSTRAP'S OPTIONS]: runs examples/gradescope for real, in a bare Debian
# made in FOLDER: setup.sh, then run_autograder on the solution, on the stub and on a file that does not
# compile. As root, with a network; not one of the tests, because it fetches half a gigabyte.
# Exit status 0, 1 with what was not as expected, 77 with the reason where it cannot be run.
set -eu
root=$1 bare=$2
shift 2

. "$root/tests/class/bare.sh"
make_bare "$@"
mkdir -p "$bare/autograder/source" "$bare/autograder/submission" "$bare/autograder/results"
cp "$root"/examples/gradescope/* "$bare/autograder/source/"
cp "$root/examples/gradescope/run_autograder" "$bare/autograder/"

in_bare OVERLAP=/overlap.git /autograder/source/setup.sh
answer() { python3 -c 'import json, sys; r = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' \
    "$bare/autograder/results/results.json" "$1"; }

failures=0
hand_in() # WHAT FILE SCORE: the score that it has to get, in python's words
{
    rm -rf "$bare/autograder/submission" "$bare/autograder/results"
    mkdir "$bare/autograder/submission" "$bare/autograder/results"
    cp "$2" "$bare/autograder/submission/device_sync.c"
    in_bare /autograder/run_autograder >"$bare.said" 2>&1 || true
    if [ "$(answer "$3")" = True ]; then
        echo "$1: $(answer 'r["score"]') points"
    else
        echo "$1: not as expected:"
        cat "$bare.said" "$bare/autograder/results/results.json"
        failures=1
    fi
}

hand_in solution "$root/solutions/01_device_sync/device_sync.c" 'r["score"] == 10'
hand_in stub "$root/lessons/01_device_sync/device_sync.c" 'r["score"] == 0'
echo 'int broken(' >"$bare.c"
hand_in 'what does not compile' "$bare.c" 'r["score"] == 0 and len(r["tests"]) > 5'
exit "$failures"
