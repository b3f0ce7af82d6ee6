#!/bin/sh
# What the project claims about its own judgement, measured:
#
#   proof.sh GRADER ROOT [JOBS]
#
# Every mistake has to fail in the checks and with the findings that its header names, and every
# variant has to pass under `latest`, `earliest` and $ORDERS (20) random orders, or as many as it names:
# check_lesson.sh, all of it. Prints one table by lesson and one by kind of finding. Exit status 0: all caught, nobody
# accused.
set -u
grader=$1 root=$2 jobs=${3:-2}
work=$(mktemp -d "${TMPDIR:-/tmp}/proof.XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 2' HUP INT TERM
ORDERS=${ORDERS:-20}
export ORDERS
. "$root/tests/lessons/hand_in.sh"

cd "$root/tests/mistakes" || exit 2
for lesson in [0-9][0-9]_*; do
    printf '%s mistakes\n%s variants\n' "$lesson" "$lesson"
done | sort -r >"$work/list" # the last lesson takes longest
# shellcheck disable=SC2016 # expanded by the inner shell
xargs -P "$jobs" -L 1 sh -c '"$0/tests/lessons/check_lesson.sh" "$1" "$0" "$3" "$4" >"$2/$3.$4"' \
    "$root" "$grader" "$work" <"$work/list"

grep -hv '^caught:\|^passes:\|^    |' "$work"/*.mistakes "$work"/*.variants
for lesson in [0-9][0-9]_*; do
    runs=0
    for variant in ../variants/"$lesson"/*; do
        runs=$((runs + $(orders "$variant") + 2))
    done
    printf '%s %s %s %s %s %s\n' "$lesson" \
        "$(find "$lesson" -name '*.c*' | wc -l)" "$(grep -c '^caught:' "$work/$lesson.mistakes")" \
        "$(find "../variants/$lesson" -name '*.c*' | wc -l)" \
        "$(grep -c '^passes:' "$work/$lesson.variants")" "$runs"
done | awk '
    function line(name) {
        printf "%-22s %8d %8d   %8d %8d %8d\n", name, tried, caught, variants, runs, accused
    }
    BEGIN {
        printf "%-22s %8s %8s   %8s %8s %8s\n", "", "mistakes", "caught", "variants", "in orders", \
            "accused"
    }
    {
        tried = $2; caught = $3; variants = $4; accused = $4 - $5; runs = $6
        line($1)
        t += tried; c += caught; v += variants; a += accused; r += runs
    }
    END {
        tried = t; caught = c; variants = v; accused = a; runs = r
        line("all")
        exit t != c || a != 0
    }'
status=$?
echo
sed -n 's/^caught: .*(\(.*\))$/\1/p' "$work"/*.mistakes | tr ',' '\n' | sort | uniq -c | sort -rn |
    sed 's/^ *\([0-9]*\) nothing$/\1 no finding/' |
    awk '{ n = $1; $1 = ""; printf "%-24s %5d mistakes\n", substr($0, 2), n }'
exit $status
