#!/bin/sh
# Grades what the repository itself knows about one lesson, on the software device:
#
#   check_lesson.sh GRADER ROOT NN_name basis|mistakes|variants [CASE]
#
# basis     the solution passes every check; the stub fails every check, without a crash, and the
#           first thing it is told is that it is not written yet
# mistakes  every file in tests/mistakes/NN_name fails in the checks that its header names
# variants  every file in tests/variants/NN_name passes every check
#
# A mistake or a variant is one file, handed in in place of the lesson's first file (or of the one
# that a header line "replaces: NAME" names) next to the solution's other files. A mistake's header
# has one or more lines "fails: Suite.Check". CASE (a name without suffix): only that one.
set -u
grader=$1 root=$2 lesson=$3 part=$4 only=${5-}
work=$(mktemp -d "${TMPDIR:-/tmp}/lesson.XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 2' HUP INT TERM
failures=0

complain() {
    printf '%s: %s\n' "$lesson" "$1"
    failures=$((failures + 1))
}

# Grades the folder $1; leaves the report in $work/report and the exit status in $status.
grade() {
    status=0
    "$grader" --device=emulator --gtest_color=no --submission "$1" "$lesson" \
        >"$work/report" 2>&1 </dev/null || status=$?
}

# The checks that ended as $1 says ("OK", "FAILED"), one a line.
ended() {
    sed -n "s/^\[ *$1 *\] \([A-Za-z0-9]*\.[A-Za-z0-9]*\).* ([0-9]* ms)\$/\1/p" "$work/report"
}

report() {
    sed 's/^/    | /' "$work/report"
}

passes() { # DIR WHAT
    grade "$1"
    if [ "$status" -ne 0 ] || [ -n "$(ended FAILED)" ] || [ -z "$(ended OK)" ]; then
        complain "$2 does not pass (exit status $status)"
        report
    else
        printf 'passes:  %s (%s checks)\n' "$2" "$(ended OK | wc -l)"
    fi
}

# Makes $work/in/NN_name: the solution with $1 in place of one of its files.
hand_in() {
    rm -rf "$work/in"
    mkdir -p "$work/in"
    cp -R "$root/solutions/$lesson" "$work/in/$lesson"
    name=$(header "$1" replaces)
    if [ -z "$name" ]; then
        for file_of_lesson in "$root/solutions/$lesson"/*."${1##*.}"; do
            name=$(basename "$file_of_lesson")
            break
        done
    fi
    if [ ! -f "$work/in/$lesson/$name" ]; then
        complain "$1 replaces no file of the lesson"
        return 1
    fi
    cp "$1" "$work/in/$lesson/$name"
}

# The words after "$2:" in the first comment of file $1.
header() {
    sed -n -e "s/^[ /*]*$2: *\(.*[^ ]\) *\$/\1/p" -e '/\*\//q' "$1"
}

basis() {
    passes "$root/solutions/$lesson" "the solution"
    grade "$root/lessons/$lesson"
    if [ "$status" -ne 1 ] || [ -n "$(ended OK)" ]; then
        complain "the stub ends with status $status, and passes: $(ended OK | tr '\n' ' ')"
        report
    elif ! sed -n '/: Failure$/{n;p;q;}' "$work/report" | grep -q 'not written yet'; then
        complain "the stub's first message does not say that it is not written yet"
        report
    else
        printf 'fails:   the stub, in all its %s checks\n' "$(ended FAILED | wc -l)"
    fi
}

mistake() {
    wanted=$(header "$1" fails)
    if [ -z "$wanted" ]; then
        complain "$1 does not say which check it fails"
        return
    fi
    hand_in "$1" || return
    grade "$work/in"
    failed=$(ended FAILED)
    if grep -q 'does not compile' "$work/report"; then
        complain "$1 does not compile"
        report
        return
    fi
    for check in $wanted; do
        if ! printf '%s\n' "$failed" | grep -qx "$check"; then
            complain "$1 passes $check; it fails: $(printf '%s' "$failed" | tr '\n' ' ')"
            report
            return
        fi
    done
    printf 'caught:  %s: %s\n' "$(basename "$1")" "$(printf '%s' "$failed" | tr '\n' ' ')"
}

variant() {
    hand_in "$1" || return
    passes "$work/in" "$(basename "$1")"
}

# Calls $2 for each file of the folder $1.
each() {
    found=0
    for file in "$1"/*.c "$1"/*.cu "$1"/*.cuh; do
        [ -f "$file" ] || continue
        case $only in
            '' | "$(basename "${file%.*}")") found=1 && "$2" "$file" ;;
        esac
    done
    [ "$found" -eq 1 ] || complain "there is nothing in $1"
}

case $part in
    basis) basis ;;
    mistakes) each "$root/tests/mistakes/$lesson" mistake ;;
    variants) each "$root/tests/variants/$lesson" variant ;;
    *) complain "no part of that name: $part" ;;
esac
[ "$failures" -eq 0 ]
