#!/bin/sh
# check.sh EMULATE PROGRAM NAME: runs a program of generate.py on the software device, in four ways,
# and compares what it says with NAME's lines of programs.golden. Nothing may be found in it.
emulate=$1 program=$2 name=$3
golden=$(dirname "$0")/programs.golden
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 2' HUP INT TERM
sed -n "s/^$name //p" "$golden" >"$work/golden"
status=0
for way in 'OVERLAP_RACES=on OVERLAP_WORKERS=1' 'OVERLAP_RACES=on OVERLAP_WORKERS=2' \
    'OVERLAP_RACES=off OVERLAP_WORKERS=1' 'OVERLAP_RACES=off OVERLAP_WORKERS=2'; do
    # shellcheck disable=SC2086 # a word for each variable
    env $way "$emulate" "$program" >"$work/said" 2>"$work/found" || status=1
    diff "$work/golden" "$work/said" || { status=1 && echo "(< the GPU, > $way)"; }
    [ ! -s "$work/found" ] || { status=1 && echo "found with $way:" && cat "$work/found"; }
done
exit $status
