#!/bin/bash
# measure.sh GRADER [COUNT [JOBS [one]]]: makes a class of COUNT submissions (300) of mixed quality, each
# with every lesson ("one": with one), grades it on the software device with JOBS (2) side by side,
# prints the time and the processor time that it took, and holds every verdict against what the mistake
# or the variant says of itself (check_verdicts.py). The promise is 30 minutes for 300 on two cores
# of a machine that does nothing else: 12 seconds of a processor for each. By hand: not one of the
# tests. Exit status 0, or 1 where somebody was judged wrongly, or not, or it took longer.
set -eu
root=$(dirname "$(dirname "$(dirname "$(readlink -f "$0")")")")
grader=$(readlink -f "$1") count=${2:-300} jobs=${3:-2} lessons=${4:-all}
work=$(mktemp -d "${TMPDIR:-/tmp}/measure.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 2' HUP INT TERM
"$root/tests/class/make_class.sh" "$root" "$work/class" "$count" "$lessons"

# What it takes is asked of the children that were waited for, and the clock on the wall.
TIMEFORMAT='%R %U %S'
{
    time "$grader" --class="$work/class" --device=emulator "--jobs=$jobs" --report="html:$work/class.html" \
        --report="json:$work/class.json" >"$work/said" 2>&1 || touch "$work/failed"
} 2>"$work/times"
tail -n 1 "$work/said"
if [ -e "$work/failed" ]; then
    tail -n 20 "$work/said"
    exit 1
fi
grep -q '</html>' "$work/class.html"
awk -v count="$count" -v jobs="$jobs" -v lessons="$lessons" '{
    most = 30 * 60 * count * 2 / 300 / jobs
    printf "%d submissions (%s), %d at a time: %.0f s; at most %.0f\n", count,
        lessons == "one" ? "a lesson each" : "every lesson", jobs, $1, most
    printf "processor time: %.1f s for programs, %.1f s for the system: %.2f s each\n", $2, $3,
        ($2 + $3) / count
    exit $1 > most }' "$work/times" || touch "$work/failed"
python3 "$root/tests/class/check_verdicts.py" "$work/class" "$work/class.json" || touch "$work/failed"
[ ! -e "$work/failed" ]
