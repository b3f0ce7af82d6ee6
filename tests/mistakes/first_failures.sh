#!/bin/sh
# Writes first_failures.golden anew: what the student who made each of these mistakes is told first.
#
#   first_failures.sh GRADER [LESSON...]
#
# Of other lessons than those that are named the page keeps what it has. The tests lesson_*_mistakes
# compare it with what is told. Read what has changed as that student would: does it name the slip, its
# statement, and what to do about it?
set -eu
grader=${1:?the grader}
shift
here=$(dirname "$(readlink -f "$0")")
root=$(readlink -f "$here/../..")
page=$here/first_failures.golden
work=$(mktemp -d "${TMPDIR:-/tmp}/first.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 2' HUP INT TERM

for lesson in "$here"/[0-9][0-9]_*; do
    name=${lesson##*/}
    case " $* " in
    '  ' | *" $name "*)
        FIRST_FAILURES=$work/$name "$root/tests/lessons/check_lesson.sh" "$grader" "$root" "$name" \
            mistakes >"$work/said" || cat "$work/said"
        ;;
    *) awk -v head="## $name/" '/^## / { here = index($0, head) == 1 } here' "$page" >"$work/$name" ;;
    esac
done
{
    echo '# What the student who made each mistake is told first'
    echo
    echo 'The check, the statement that it points to, and what it says. Numbers that inputs decide are #.'
    echo 'Made by tests/mistakes/first_failures.sh.'
    echo
    cat "$work"/[0-9][0-9]_*
} >"$work/page"
cp "$work/page" "$page"
