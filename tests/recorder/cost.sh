#!/bin/sh
# What the recorder costs: the timed run of lesson 02's solution on a GPU, graded with it and without
# it by turns.
#
#   cost.sh BUILD [TIMES]       a pair of gradings so often (8)
#
# Prints each time by the host's clock, two of each grading, then both medians and their ratio. Exit
# status 0; 2: there is no GPU, or no recorder.
set -u
build=$(readlink -f "${1:?the build folder}")
times=${2:-8}
[ -f "$build/recorder/librecorder.so" ] || {
    echo "this build has no recorder: CUPTI was not found"
    exit 2
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 2' HUP INT TERM

# The grader finds its build by its own place: this one lacks the recorder.
mkdir -p "$work/without/grader"
for part in "$build"/*; do
    case ${part##*/} in grader | recorder) ;; *) ln -s "$part" "$work/without/" ;; esac
done
for part in "$build"/grader/*; do
    case ${part##*/} in # it follows no links to what it reads
    parts | CMakeFiles | lessons) ln -s "$part" "$work/without/grader/" ;;
    *) cp "$part" "$work/without/grader/" ;;
    esac
done

# "30.1 ms against the reference's 29.8 ms (the host's clock)", in milliseconds
grade()
{
    "$1/grader/grader" --device=gpu --solutions --gtest_filter=Streams.AsFastAsTheReference 02_streams |
        sed -n "s/^ *\([0-9.]*\) \([mu]*s\) against the reference's \([0-9.]*\) \([mu]*s\) .*/\1 \2\n\3 \4/p" |
        awk '{ print $2 == "us" ? $1 / 1000 : $2 == "s" ? $1 * 1000 : $1 }'
}
i=0
while [ "$i" -lt "$times" ]; do
    for which in with without; do
        folder=$build
        [ $which = with ] || folder=$work/without
        grade "$folder" >>"$work/times.$which"
    done
    i=$((i + 1))
done
for which in with without; do
    sort -n "$work/times.$which" >"$work/sorted"
    [ -s "$work/sorted" ] || exit 2
    median=$(awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }' "$work/sorted")
    echo "$which the recorder: median $median ms of $(tr '\n' ' ' <"$work/sorted")"
    echo "$median" >>"$work/medians"
done
awk 'NR == 1 { with = $1 } NR == 2 { printf "%.3f times as long with it\n", with / $1 }' "$work/medians"
