#!/bin/sh
# grading.sh GRADER [TIMES]: grades the reference solutions on the software device in turn with
# everything that names mistakes on and off, and prints both times and their ratio. One round before
# fills the cache of compiled lessons.
set -eu
grader=$1
times=${2:-3}
list=$(mktemp)
trap 'rm -f "$list"' EXIT

# grade ON_OR_OFF: milliseconds of one run that passes.
grade()
{
    began=$(date +%s%N)
    OVERLAP_RACES=$1 "$grader" --solutions --device=emulator >/dev/null ||
        { echo "grading.sh: the solutions do not pass with OVERLAP_RACES=$1" >&2; exit 1; }
    echo $((($(date +%s%N) - began) / 1000000))
}

grade on >/dev/null
round=0
while [ "$round" -lt "$times" ]; do
    on=$(grade on)
    off=$(grade off)
    echo "$on $off" >>"$list"
    round=$((round + 1))
done
awk '{ on += $1; off += $2; printf "on %.2f s, off %.2f s\n", $1 / 1000, $2 / 1000 }
    END { printf "all seven solutions: %.2f times the time with it off (at most 2)\n", on / off }' "$list"
