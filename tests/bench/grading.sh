#!/bin/sh
# grading.sh GRADER races|containment [TIMES]: grades the reference solutions on the software device
# with something on and off, in turn, and prints the processor time of both and their ratio: what
# names mistakes (races), or what keeps a submission from harming the machine (containment). The
# clock on the wall would measure what else the machine does. One round before fills the cache of
# compiled lessons.
set -eu
grader=$1
what=$2
times=${3:-3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 2' HUP INT TERM

# Hundredths of a second, of user and system, that all that was waited for has used.
used()
{
    times >"$work/times"
    awk -F '[ms ]+' 'NR == 2 { printf "%d", ($1 * 60 + $2 + $3 * 60 + $4) * 100 }' "$work/times" \
        >"$work/used"
    read -r now <"$work/used" || true
}

# grade ON_OR_OFF: of one run that passes, into `spent`.
grade()
{
    races=on
    sandbox=auto
    case $what.$1 in
    races.off) races=off ;;
    containment.off) sandbox=off ;;
    esac
    used
    before=$now
    OVERLAP_RACES=$races "$grader" --solutions --device=emulator --sandbox=$sandbox \
        >/dev/null 2>&1 ||
        { echo "grading.sh: the solutions do not pass with $what $1" >&2; exit 1; }
    used
    spent=$((now - before))
}

grade on
round=0
while [ "$round" -lt "$times" ]; do
    grade on
    on=$spent
    grade off
    echo "$on $spent" >>"$work/list"
    round=$((round + 1))
done
most=2
[ "$what" = races ] || most=1.1
# The middle one of the ratios: a neighbour who empties the caches disturbs single rounds.
awk -v what="$what" '
    { printf "%s on %.2f s, off %.2f s of processor time\n", what, $1 / 100, $2 / 100 }' "$work/list"
awk '{ print $1 / $2 }' "$work/list" | sort -n | awk -v most=$most '
    { ratio[NR] = $1 }
    END { middle = (ratio[int((NR + 1) / 2)] + ratio[int(NR / 2) + 1]) / 2
          printf "all solutions: %.2f times the time with it off (at most %s)\n", middle, most }
'
