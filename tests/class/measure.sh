#!/bin/bash
# measure.sh GRADER [COUNT [JOBS [one]]]: makes a class of COUNT submissions (300) of mixed quality, each
# with every lesson ("one": with one), grades it on the software device with JOBS (2) side by side, and
# prints the time and the processor time that it took. The promise is 30 minutes for 300 on two cores
# of a machine that does nothing else: 12 seconds of a processor for each. By hand: not one of the
# tests. Exit status 0, or 1 where somebody could not be judged or it took longer.
set -eu
root=$(dirname "$(dirname "$(dirname "$(readlink -f "$0")")")")
grader=$(readlink -f "$1") count=${2:-300} jobs=${3:-2}
work=$(mktemp -d "${TMPDIR:-/tmp}/measure.XXXXXX")
trap 'rm -rf "$work"' EXIT
"$root/tests/class/make_class.sh" "$root" "$work/class" "$count" "${4:-all}"

TIMEFORMAT='%R s, of a processor %U s for programs and %S s for the system'
before=$SECONDS
time "$grader" --class="$work/class" --device=emulator "--jobs=$jobs" --report="html:$work/class.html" \
    --report="json:$work/class.json" >"$work/said" || { tail -n 5 "$work/said" && exit 1; }
seconds=$((SECONDS - before))
tail -n 1 "$work/said"
grep -q '</html>' "$work/class.html"
most=$((30 * 60 * count * 2 / 300 / jobs))
echo "$count submissions, $jobs at a time: $seconds s; at most $most"
[ "$seconds" -le "$most" ]
