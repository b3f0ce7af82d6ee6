#!/bin/sh
# Grades what the repository itself knows about one lesson, on the software device:
#
#   check_lesson.sh GRADER ROOT NN_name basis|mistakes|variants [CASE]
#   check_lesson.sh GRADER ROOT all apart
#   FIRST_FAILURES=FILE check_lesson.sh GRADER ROOT NN_name mistakes
#
# basis     the solution passes every check; the stub as it came fails in one and skips the others;
#           begun, it fails every check, without a crash, and the first thing it is told is that it
#           is not written yet
# mistakes  every file in tests/mistakes/NN_name fails in the checks that its header names, with the
#           findings that it names, and what its student is told first is what
#           tests/mistakes/first_failures.golden has (or is added to FILE, to make that page)
# variants  every file in tests/variants/NN_name passes every check, where the order of operations
#           matters under `latest`, `earliest` and $ORDERS (20) random orders, or as many as its
#           header names
# apart     a mistake in one lesson leaves the others as they are
#
# A mistake or a variant is one file, handed in in place of the lesson's first file (or of the one
# that a header line "replaces: NAME" names) next to the solution's other files. A mistake's header
# says, a line each:
#
#   fails: Suite.Check         one or more: the checks that have to catch it
#   finds: KIND at "TEXT"      one or more: the kinds of finding (trace/findings.def, or "leak")
#                              that the grader has to report, and the line: the one with TEXT in it
#   finds: nothing, REASON     instead: no finding at all may be reported, because REASON
#   finds: as it comes, REASON instead: it is not the same each time, because REASON
#
#   told: as it comes, REASON  what is told first is not the same each time, and not compared
#
# A variant's may say "orders: N": so many random orders at most.
#
# Exit status 77 where the lesson cannot be judged on this machine (lesson 13 without OpenCL).
#
# CASE (a name without suffix): only that one. The inputs are the same each time.
set -u
grader=$1 root=$2 lesson=$3 part=$4 only=${5-}
. "$root/tests/lessons/hand_in.sh"
if [ "$lesson" = 13_opencl ] && ! has_opencl "$grader"; then
    echo "skipped: OpenCL or PoCL is not here; ./grade 13 installs it"
    exit 77
fi
work=$(mktemp -d "${TMPDIR:-/tmp}/lesson.XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 2' HUP INT TERM
failures=0

complain() {
    printf '%s: %s\n' "$lesson" "$1"
    failures=$((failures + 1))
}

# Grades the folder $1 with the flags that follow; leaves what is printed in $work/report, the XML
# report in $work/report.xml and the exit status in $status.
grade() {
    status=0
    folder=$1
    shift
    "$grader" --device=emulator --gtest_color=no --seed=1 "--gtest_output=xml:$work/report.xml" \
        --submission "$folder" "$@" >"$work/report" 2>&1 </dev/null || status=$?
}

report() {
    sed 's/^/    | /' "$work/report"
}

passes() { # DIR WHAT FLAG...
    what=$2
    folder=$1
    shift 2
    grade "$folder" "$lesson" "$@"
    if [ "$status" -ne 0 ] || [ -n "$(ended "$work/report" FAILED)" ] ||
        [ -z "$(ended "$work/report" OK)" ]; then
        complain "$what does not pass (exit status $status)"
        report
    else
        printf 'passes:  %s (%s checks)\n' "$what" "$(ended "$work/report" OK | wc -l)"
    fi
}

# A fresh $work/in with the submission $1 in it.
make_in() {
    rm -rf "$work/in"
    if ! hand_in "$root" "$lesson" "$1" "$work/in" >"$work/trouble"; then
        complain "$(cat "$work/trouble")"
        return 1
    fi
}

basis() {
    passes "$root/solutions/$lesson" "the solution"
    stub=$root/grader/lessons/$lesson/stub
    if ! diff -r -x 'README*' -x lesson.h -x '*.20*-*' -x measure.cu -x watch.cu -x 'animation.*' "$root/lessons/$lesson" "$stub"; then
        complain "lessons/$lesson is not the stub that grader/lessons/$lesson/stub keeps"
    fi
    untouched
    rm -rf "$work/in"
    cp -R "$stub" "$work/in"
    for file in "$work/in"/*; do
        echo '/* begun */' >>"$file"
    done
    grade "$work/in" "$lesson"
    if [ "$status" -ne 1 ] || [ -n "$(ended "$work/report" OK)" ]; then
        complain "the stub, begun, ends with status $status, and passes: $(ended "$work/report" OK |
            tr '\n' ' ')"
        report
    elif ! first_message 'not written yet'; then
        complain "the first message of the stub, begun, is not that it is not written yet"
        report
    else
        printf 'fails:   the stub, begun, in all its %s checks\n' \
            "$(ended "$work/report" FAILED | wc -l)"
    fi
}

first_message() { # TEXT
    sed -n '/: Failure$/{n;p;q;}' "$work/report" | grep -q "$1"
}

# The stub as it came: one check fails, the others are skipped, and nothing is run for it.
untouched() {
    cp -R "$stub" "$work/untouched"
    grade "$work/untouched" "$lesson"
    others=$(grep -c '^It is not written yet\.$' "$work/report")
    checks=$(sed -n 's/^\[==========\] Running \([0-9]*\) tests.*/\1/p' "$work/report")
    if [ "$status" -ne 1 ] || [ "$(ended "$work/report" FAILED | wc -l)" -ne 1 ] ||
        [ "$others" -ne $((checks - 1)) ] || ! first_message 'not written yet'; then
        complain "the untouched stub does not fail in one check and skip the others"
        report
    else
        printf 'fails:   the stub, untouched, in one of %s checks\n' "$checks"
    fi
}

# The findings that the grader reported on lines of the submission: "LINE KIND", one a line.
findings() {
    sed -n 's/^ *<failure message="[^&]*:\([0-9]*\)&#x0A;.* type="\([^"]\{1,\}\)">.*/\1 \2/p' \
        "$work/report.xml" | sort -u -n
}

# The numbers of the lines behind the header of file $1 that have $2 in them.
lines_with() {
    grep -nF -- "$2" "$1" | cut -d : -f 1 |
        awk -v behind="$(grep -nm 1 '\*/' "$1" | cut -d : -f 1)" '$1 > behind'
}

# The findings that the header of $1 names are those that were reported; else says what is not.
finds_it() {
    wanted=$(header "$1" finds)
    case $wanted in
    '') echo "does not say what the device finds (finds:)" && return 1 ;;
    'as it comes,'*[a-z]*) return 0 ;;
    nothing,*[a-z]*)
        [ -z "$(findings)" ] && return 0
        echo "was to have no finding, and has: $(findings | tr '\n' ';')"
        return 1
        ;;
    esac
    while IFS= read -r want; do
        kind=${want%% at \"*}
        text=${want#*" at \""}
        text=${text%\"}
        lines=$(lines_with "$1" "$text")
        case $lines in
        '' | *[!0-9]*)
            echo "has not one line, but these, with \"$text\": $(echo "$lines" | tr '\n' ' ')"
            return 1
            ;;
        esac
        if ! findings | grep -qx "$lines $kind"; then
            echo "has no finding \"$kind\" in line $lines, but: $(findings | tr '\n' ';')"
            return 1
        fi
    done <<END
$wanted
END
}

# What is told first is what the page has.
told_first() {
    told=$lesson/$(basename "${1%.*}")
    {
        printf '## %s\n' "$told"
        awk -v folder="$work/in/$lesson" -v source="$1" \
            -f "$root/tests/lessons/first_failure.awk" "$work/report"
    } >"$work/first"
    if [ -n "${FIRST_FAILURES-}" ]; then
        { cat "$work/first" && echo; } >>"$FIRST_FAILURES"
        return 0
    fi
    awk -v head="## $told" '/^## / { here = $0 == head } here && NF' \
        "$root/tests/mistakes/first_failures.golden" >"$work/kept"
    cmp -s "$work/kept" "$work/first" && return 0
    case $(header "$1" told) in
    'as it comes,'*[a-z]*) [ ! -s "$work/kept" ] || return 0 ;;
    esac
    echo "tells something else first than tests/mistakes/first_failures.golden has:"
    diff "$work/kept" "$work/first"
    return 1
}

mistake() {
    wanted=$(header "$1" fails)
    if [ -z "$wanted" ]; then
        complain "$1 does not say which check it fails"
        return
    fi
    make_in "$1" || return
    grade "$work/in" "$lesson"
    failed=$(ended "$work/report" FAILED)
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
    if ! finds_it "$1" >"$work/trouble" || ! told_first "$1" >"$work/trouble"; then
        complain "$1 $(cat "$work/trouble")"
        report
        return
    fi
    printf 'caught:  %s: %s (%s)\n' "$(basename "$1")" "$(printf '%s' "$failed" | tr '\n' ' ')" \
        "$(header "$1" finds | sed 's/,.*//; s/ at .*//' | sort -u | tr '\n' ',' | sed 's/,$//')"
}

variant() {
    make_in "$1" || return
    passes "$work/in" "$(basename "$1")" "--random-orders=$(orders "$1")"
}

# Every second lesson has a mistake that leaves as much behind as one can, the others are right; and
# the other way round.
apart() {
    for wrong in \
        '01_device_sync/freed_while_in_use.c 03_events/events_never_destroyed.c
         05_mandelbrot_sync/pinned_memory_leaked.c 07_reductions/short_array_overrun.cuh' \
        '02_streams/no_final_wait.c 04_context_create/never_taken_down.c
         06_threaded_contexts/children_not_waited_for.c 08_life/one_device_lattice_for_all.cu'; do
        rm -rf "$work/in"
        cp -R "$root/solutions" "$work/in"
        : >"$work/suites"
        for file in $wrong; do
            rm -rf "$work/in/${file%/*}"
            hand_in "$root" "${file%/*}" "$root/tests/mistakes/$file" "$work/in"
            header "$root/tests/mistakes/$file" fails | cut -d . -f 1 >>"$work/suites"
        done
        grade "$work/in"
        ended "$work/report" FAILED | cut -d . -f 1 | sort -u >"$work/failed"
        if sort -u "$work/suites" | cmp -s - "$work/failed" && [ "$status" -eq 1 ]; then
            printf 'apart:   %s\n' "$(tr '\n' ' ' <"$work/failed")"
        else
            complain "mistakes in $(sort -u "$work/suites" | tr '\n' ' ')make these fail: $(
                tr '\n' ' ' <"$work/failed")"
            report
        fi
    done
}

# Calls $2 for each submission in the folder $1.
each() {
    found=0
    each_submission "$1" >"$work/submissions"
    while IFS= read -r file; do
        case $only in
        '' | "$(basename "${file%.*}")") found=1 && "$2" "$file" ;;
        esac
    done <"$work/submissions"
    [ "$found" -eq 1 ] || complain "there is nothing in $1"
}

case $part in
basis) basis ;;
mistakes) each "$root/tests/mistakes/$lesson" mistake ;;
variants) each "$root/tests/variants/$lesson" variant ;;
apart) apart ;;
*) complain "no part of that name: $part" ;;
esac
[ "$failures" -eq 0 ]
