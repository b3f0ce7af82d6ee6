#!/bin/sh
# Every solution passes where the installation, the submission, TMPDIR and the cache lie below a
# folder whose name a shell, a compiler or a loader would take apart, and nothing in it is run.
#
#   paths.sh ROOT BUILD
set -eu
root=$1 build=$2
work=$(mktemp -d "${TMPDIR:-/tmp}/paths.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 2' HUP INT TERM
# shellcheck disable=SC2016 # it is a name
odd=$work/'a b,(c)[d]'"'"'e"f&touch ran1;touch ran2 $(touch ran3)`touch ran4`:%s'

mkdir -p "$odd/tree/build" "$odd/tmp" "$odd/handed in"
(cd "$root" && tar cf - lessons solutions kernels grader trace threads) | tar xf - -C "$odd/tree"
(cd "$build" && tar cf - --exclude=grader/cache --exclude='*.o' grader emulator/lib) |
    tar xf - -C "$odd/tree/build"
# The tree is the folder above the build's, wherever that is.
sed -i 's/^source=.*/source=../' "$odd/tree/build/grader/toolchain"
cp -R "$root/solutions/." "$odd/handed in"

cd "$odd"
status=0
TMPDIR=$odd/tmp tree/build/grader/grader --device=emulator --random-orders=0 --seed=1 \
    --gtest_color=no --submission="$odd/handed in" >"$work/said" 2>&1 || status=$?
passed=$(grep -c '^\[       OK \]' "$work/said") || passed=0
ran=$(find "$work" -name 'ran[0-9]*')
if [ "$status" -ne 0 ] || [ "$passed" -lt 90 ] || [ -n "$ran" ]; then
    echo "exit status $status, $passed checks passed, run: ${ran:-nothing}"
    grep -v '^\[ RUN' "$work/said" | head -n 60
    exit 1
fi
[ -d "$odd/tree/build/grader/cache" ] || { echo 'the cache is elsewhere' && exit 1; }
