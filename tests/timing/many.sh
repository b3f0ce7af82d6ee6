#!/bin/sh
# Grades the same submissions again and again and counts wrong verdicts on time:
#
#   many.sh BUILD [--count=N] [--device=emulator|gpu] [--busy] [--seconds=N] [LESSON...]
#
# Of each lesson's checks on time: N gradings (10) of its solution, each of which has to pass, and N of
# each submission in slow.txt (its lesson, its name, and the device that its time shows on, where that is
# one of them), which has to fail. A check that says "too noisy" is counted by itself:
# it is no verdict. On the software device all gradings of a submission with one seed have to say the
# same to the last figure, so there --seed is fixed, and a digest of all that was said is printed.
# --busy: another process keeps the GPU at work meanwhile. --seconds: nothing more is begun after so
# many. Exit status 0: no wrong verdict, and on the software device one digest for each submission.
set -u
here=$(dirname "$(readlink -f "$0")")
root=$(readlink -f "$here/../..")
. "$root/tests/lessons/hand_in.sh"

build=$(readlink -f "${1:?the build folder}")
shift
count=10 device=emulator busy='' seconds=100000 lessons=''
for word; do
    case $word in
    --count=*) count=${word#*=} ;;
    --device=*) device=${word#*=} ;;
    --busy) busy=yes ;;
    --seconds=*) seconds=${word#*=} ;;
    *) lessons="$lessons $word" ;;
    esac
done
grader=$build/grader/grader
work=$(mktemp -d)
load=
trap 'rm -rf "$work"; [ -z "$load" ] || kill "$load"' EXIT
trap 'exit 2' HUP INT TERM
end=$(($(date +%s) + seconds))
if [ -z "$lessons" ]; then
    for lesson in "$root"/solutions/[0-9][0-9]_*; do lessons="$lessons ${lesson##*/}"; done
fi
checks=$(awk '$2 == "times" { printf "%s%s", sep, $1; sep = ":" }' "$root/tests/mistakes/checks.txt")
seed=
[ "$device" != emulator ] || seed=--seed=11

if [ -n "$busy" ]; then
    nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
    "$nvcc" -O2 -o "$work/load" "$here/load.cu" || exit 2
    "$work/load" &
    load=$!
fi

# What a grading said of time: names and figures, without how long it took.
said_of()
{
    sed -n -e 's/ ([0-9]* ms)$//' -e '/^\[ *\(OK\|FAILED\|SKIPPED\) *\] [A-Z]/p' -e '/^  .*[0-9]/p' "$1"
}

# grade_often WHAT FOLDER LESSON EXPECTED: EXPECTED is OK or FAILED.
grade_often()
{
    done=0 wrong=0 noisy=0
    : >"$work/digests"
    while [ $done -lt "$count" ] && [ "$(date +%s)" -lt "$end" ]; do
        "$grader" --device="$device" $seed --gtest_color=no --gtest_filter="$checks" \
            --submission "$2" "$3" >"$work/report" 2>/dev/null </dev/null
        done=$((done + 1))
        said_of "$work/report" >"$work/said"
        sha256sum <"$work/said" | cut -c 1-16 >>"$work/digests"
        if [ "$4" = OK ]; then
            ! grep -q '^\[  FAILED' "$work/said" || wrong=$((wrong + 1))
        else # one check that fails is enough
            grep -q '^\[  FAILED' "$work/said" || wrong=$((wrong + 1))
        fi
        ! grep -q '^too noisy to say' "$work/report" || noisy=$((noisy + 1))
    done
    different=$(sort -u "$work/digests" | wc -l)
    [ -s "$work/said" ] || done=0 # it has no check on time
    [ $done -gt 0 ] || return 0
    printf '%-18s %-40s %5d %7s %6d %6d' "$3" "$1" $done "$4" $wrong $noisy
    [ "$device" != emulator ] || printf '  %s (%d)' "$(head -n 1 "$work/digests")" "$different"
    printf '\n'
    echo "$done $wrong $noisy $different" >>"$work/sums"
}

printf '%-18s %-40s %5s %7s %6s %6s\n' lesson submission times wanted wrong noisy
for lesson in $lessons; do
    rm -rf "$work/in"
    mkdir -p "$work/in"
    cp -R "$root/solutions/$lesson" "$work/in/$lesson"
    grade_often solution "$work/in" "$lesson" OK
    while read -r of name only; do
        [ "$of" = "$lesson" ] || continue
        [ -z "$only" ] || [ "$only" = "$device" ] || continue
        rm -rf "$work/in"
        for file in "$root/tests/mistakes/$lesson/$name".c*; do
            hand_in "$root" "$lesson" "$file" "$work/in" || exit 2
        done
        grade_often "$name" "$work/in" "$lesson" FAILED
    done <"$here/slow.txt"
done
awk -v device="$device" '
    { done += $1; wrong += $2; noisy += $3; more += $4 > 1 }
    END {
        printf "%d gradings: %d wrong, %d too noisy to say", done, wrong, noisy
        if (device == "emulator") printf ", %d submissions with more than one digest", more
        print ""
        exit wrong > 0 || (device == "emulator" && more > 0)
    }' "$work/sums"
