#!/bin/sh
# discover_test.sh GRADER: who reads GoogleTest's protocol. CMake's gtest_discover_tests in a project
# that is C only finds every check, runs each, and knows one that is skipped; a list of the checks
# takes less than 50 ms and starts no device. Exit status 0, or 1 with what was not as expected.
set -eu
grader=$1
work=$(mktemp -d "${TMPDIR:-/tmp}/discover.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 2' HUP INT TERM
failures=0

expect()
{
    what=$1
    shift
    "$@" >/dev/null 2>&1 && return
    echo "expected: $what"
    sed 's/^/  | /' "$work/said"
    failures=$((failures + 1))
}

mkdir "$work/project"
cat >"$work/project/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.25)
project(discover LANGUAGES C)
enable_testing()
include(GoogleTest)
add_executable(checks checks.c)
gtest_discover_tests(checks EXTRA_ARGS --solutions --device=emulator)
gtest_discover_tests(checks TEST_PREFIX stub. EXTRA_ARGS --device=emulator TEST_FILTER Twice.*)
END
cat >"$work/project/checks.c" <<END
#include <unistd.h>
int main(int count, char **arguments)
{
    (void)count;
    return execv("$grader", arguments);
}
END
env -u CMAKE_C_COMPILER_LAUNCHER cmake -G Ninja -S "$work/project" -B "$work/build" >"$work/said" 2>&1
cmake --build "$work/build" >"$work/said" 2>&1
status=0
ctest --test-dir "$work/build" >"$work/said" 2>&1 || status=$?
found() { grep -c "^ *[0-9]*/[0-9]* Test .* $1" "$work/said"; }
expect 'every check' [ "$(found '')" -eq "$(($("$grader" --gtest_list_tests | grep -c '^  ') + 1))" ]
expect 'a right one passes' grep -q ' Sum.IsRight \.* *Passed' "$work/said"
expect 'one that cannot be judged is skipped' grep -q ' Sum.NeedsAGpu \.*\**Skipped' "$work/said"
expect 'one that is disabled' grep -q ' Sum.Later \.*\**Not Run (Disabled)' "$work/said"
expect 'a wrong one fails' grep -q ' stub.Twice.IsRight \.*\**Failed' "$work/said"
expect 'ctest fails' [ "$status" -ne 0 ]

# Bazel: one shard of two says that it knows of shards, its report lies where it was asked for, and
# the file that tells of a program that died early is there until it ends, and when it was killed.
status=0
TESTBRIDGE_TEST_ONLY='Twice.*:Sum.IsRight' GTEST_TOTAL_SHARDS=2 GTEST_SHARD_INDEX=0 \
    GTEST_SHARD_STATUS_FILE="$work/knows" XML_OUTPUT_FILE="$work/out/test.xml" \
    TEST_PREMATURE_EXIT_FILE="$work/early" "$grader" --solutions --device=emulator >"$work/said" \
    2>&1 || status=$?
expect 'it passes' [ "$status" -eq 0 ]
expect 'one of the two' [ "$(grep -c '^\[ RUN ' "$work/said")" -eq 1 ]
expect 'it knows of shards' [ -e "$work/knows" ]
expect 'the report' grep -q 'testcase name="IsRight".* status="run"' "$work/out/test.xml"
expect 'it ended in order' [ ! -e "$work/early" ]
TEST_PREMATURE_EXIT_FILE="$work/early" "$grader" --solutions --device=emulator --gtest_repeat=-1 \
    >"$work/going" 2>&1 &
caller=$!
while ! grep -q '^\[ RUN ' "$work/going" 2>/dev/null && kill -0 "$caller"; do sleep 0.02; done
kill -9 "$caller"
wait "$caller" 2>/dev/null || true
expect 'it was killed' [ -e "$work/early" ]
status=0
TESTBRIDGE_TEST_RUNNER_FAIL_FAST=1 "$grader" --device=emulator >"$work/said" 2>&1 || status=$?
expect 'one fails' [ "$status" -eq 1 ]
expect 'the rest is skipped' [ "$(grep -c '^\[  FAILED  \].*ms)' "$work/said")" -eq 1 ]

# fastest COMMAND...: the nanoseconds of the fastest of many: a busy machine is no fault of the
# list's. A slow one has a shell that does nothing to be compared with. Where not even the fastest has
# a processor to itself the processor's time is looked at.
fastest()
{
    fastest=1000000000000
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        begun=$(date +%s%N)
        STAND_IN_GPU=1 "$@" >"$work/said"
        took=$(($(date +%s%N) - begun))
        [ "$took" -ge "$fastest" ] || fastest=$took
    done
}
fastest sh -c :
nothing=$fastest
times >"$work/times"
fastest "$grader" --gtest_list_tests
times >>"$work/times"
used=$(tr ms '  ' <"$work/times" | awk '{ sum = 60 * ($1 + $3) + $2 + $4 }
    NR == 2 { before = sum }
    END { print int((sum - before) * 1000 / 20) }')
echo "a list in $((fastest / 1000)) us, nothing in $((nothing / 1000)) us, $used ms of a processor each"
expect 'a list in less than 50 ms, or 20 shells' \
    [ "$fastest" -lt 50000000 -o "$fastest" -lt $((nothing * 20)) -o "$used" -lt 50 ]
[ "$failures" -eq 0 ]
