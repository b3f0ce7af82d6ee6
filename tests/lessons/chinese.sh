#!/bin/sh
# chinese.sh GRADER ROOT: what a student is told in Chinese has no English sentence in it: untouched
# stubs, two mistakes of each lesson, a crash, a compile error, a refusal, a flag that there is not.
# GoogleTest's own words, quoted code and what a compiler says stay as they are.
# Exit status 0, 1 with what is not in Chinese, 77 where the catalogue is not built.
set -u
grader=$1 root=$2
. "$root/tests/lessons/hand_in.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 2' HUP INT TERM
status=0

# english WHAT: three or more plain English words in a row in $work/said.
english()
{
    # shellcheck disable=SC2016 # quotes, not commands
    grep -vE -e '^(\[|Note: |  \||$)|^ *[0-9]+ FAILED TEST' "$work/said" |
        sed -e 's/[“`][^”`]*[”`]//g' -e 's/"[^"]*"//g' |
        grep -E "(^|[^A-Za-z_./'-])[A-Za-z]?[a-z]+( [a-z]+){2,}([^A-Za-z_(=]|$)" >"$work/found" || return 0
    echo "$1: not in Chinese:"
    sed 's/^/    /' "$work/found"
    status=1
}

graded() # WHAT ARGUMENT...
{
    what=$1
    shift
    LC_ALL=C.UTF-8 OVERLAP_LANG=zh "$grader" --device=emulator --random-orders=0 "$@" >"$work/said" 2>&1
    english "$what"
}

[ -f "$(dirname "$grader")/../locale/zh_CN/LC_MESSAGES/overlap.mo" ] || {
    echo 'skipped: the catalogue is not built here' >&2
    exit 77
}
for stub in "$root"/grader/lessons/[0-9]*/stub; do
    lesson=$(basename "${stub%/stub}")
    graded "the stub of $lesson" --submission="$stub" "$lesson"
done
for mistakes in \
    '01_device_sync/kernel_error_swallowed 02_streams/no_final_wait 03_events/events_never_destroyed
     04_context_create/never_taken_down 05_mandelbrot_sync/synchronous_copies
     06_threaded_contexts/threads_not_joined 07_reductions/init_forgotten
     08_life/grid_not_cooperative 09_honest_timing/two_hundred_times_faster' \
    '01_device_sync/freed_while_in_use 02_streams/one_stream_for_all 03_events/start_in_default_stream
     04_context_create/left_current_when_work_fails 05_mandelbrot_sync/pinned_memory_leaked
     06_threaded_contexts/children_not_waited_for 07_reductions/tail_dropped
     08_life/no_first_barrier 09_honest_timing/index_of_a_block'; do
    rm -rf "$work/in"
    for mistake in $mistakes; do
        for file in "$root/tests/mistakes/$mistake".*; do
            hand_in "$root" "${mistake%/*}" "$file" "$work/in" || status=1
        done
    done
    graded 'mistakes' --submission="$work/in"
done
own=01_device_sync/device_sync.c
rm -rf "$work/in"
mkdir -p "$work/in/01_device_sync"
sed 's/^    const size_t bytes.*/&\n    __builtin_trap();/' "$root/solutions/$own" >"$work/in/$own"
graded 'a crash' --submission="$work/in"
sed 's/^    const size_t bytes.*/&\n    for (volatile int i = 0; i < 1;) continue;/' \
    "$root/solutions/$own" >"$work/in/$own"
graded 'a run that does not end' --submission="$work/in" --gtest_filter='*.EveryElementIsRight:*.TheSumIsRight'
printf '#line 7\n' >"$work/in/$own"
graded 'a refusal' --submission="$work/in"
rm "$work/in/$own"
graded 'nothing handed in' --submission="$work/in" 01
graded 'a lesson that there is not' twise
graded 'a folder that is no submission' --submission="$work"
graded 'a lesson that was not handed in' --submission="$work/in/01_device_sync" streams
graded 'no such device' --devise=emulator
graded 'flags that exclude each other' --solutions --submission="$work/in"
graded 'flags of a class' --state="$work/state"
graded 'a picture of every lesson' --timeline="$work/picture.svg"
graded 'nothing contained' --sandbox=off --submission="$root/grader/lessons/01_device_sync/stub" 01
for flag in --device=emulater --sandbox=no --seed=many --random-orders=51 --jobs=0 --slurm-tasks=0 \
    --part=3 --gpu=h1000 --timeline=picture.bmp --submission --gtest_output=pdf --gtest_repeat=x \
    --gtest_filter --gtest_random_seed=-1 --report=pdf:x --report=html; do
    graded "$flag" "$flag"
done
exit $status
