#!/bin/sh
# grading.sh GRADER races|containment [TIMES]: grades the reference solutions on the software device
# with something on and off, in turn, and prints both times and their ratio: what names mistakes
# (races), or what keeps a submission from harming the machine (containment). One round before fills
# the cache of compiled lessons.
set -eu
grader=$1
what=$2
times=${3:-3}
list=$(mktemp)
trap 'rm -f "$list"' EXIT

# grade ON_OR_OFF: milliseconds of one run that passes.
grade()
{
    races=on
    sandbox=auto
    case $what.$1 in
    races.off) races=off ;;
    containment.off) sandbox=off ;;
    esac
    began=$(date +%s%N)
    OVERLAP_RACES=$races "$grader" --solutions --device=emulator --sandbox=$sandbox \
        >/dev/null 2>&1 ||
        { echo "grading.sh: the solutions do not pass with $what $1" >&2; exit 1; }
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
most=2
[ "$what" = races ] || most=1.1
# The fastest of each: what else the machine does only adds.
awk -v what="$what" -v most=$most '
    { if (NR == 1 || $1 < on) on = $1; if (NR == 1 || $2 < off) off = $2
      printf "%s on %.2f s, off %.2f s\n", what, $1 / 1000, $2 / 1000 }
    END { printf "all seven solutions: %.2f times the time with it off (at most %s)\n", on / off, most }
' "$list"
