#!/bin/sh
# Tries every mistake on a GPU alone, to learn which of them a GPU lets pass:
#
#   gpu.sh BUILD [--variants] [--device=gpu|emulator] [--jobs=N] [--no-times] [--out=FOLDER]
#          [--seconds=N] [LESSON...]
#   gpu.sh BUILD --list    only compares checks.txt with the checks that there are
#
# Each mistake is graded with --device=gpu: what the GPU did is judged, and nothing is looked at
# again on the software device, which is where the order of operations is judged. That is done N at a
# time (4: a driver makes contexts one after the other, and runs have a limit) without the checks of
# time, which mean nothing on a busy GPU; then what no check has caught is graded once more, one at a
# time, by the checks of time alone, unless --no-times. --seconds: nothing more is
# begun after so many; what was not tried is counted as such, and as "untimed" what passed and was not
# graded by the checks of time. --out keeps the graders' reports.
# --variants: the right submissions of tests/variants/ are tried instead. Each of them has to pass, but
# for the checks that a line "slow on a GPU: Suite.Check" of its header names.
# --device=emulator tries the script where there is no GPU: order is judged there, and the grader's
# cache is filled, so that BUILD can be carried to a machine with a GPU and no compiler.
#
# Prints a line for each mistake: lesson/name, what caught it (values, record, times; or passed,
# untimed, unjudged, untried), the grader's exit status, the checks that failed; and at the end a table.
# "unjudged": no check failed, and some were skipped because the GPU's record lacks operations.
# checks.txt says what each check judges by. The solutions are graded along with the mistakes, as
# "solution": they have to pass.
#
# Needs what the grader needs at grading time: BUILD (its grader/ and recorder/), cc and nvcc for what
# is not in its cache. Exit status 0: every mistake was tried, every solution passed.
set -u
here=$(dirname "$(readlink -f "$0")")
root=$(readlink -f "$here/../..")
. "$root/tests/lessons/hand_in.sh"

# gpu.sh one GRADER DEVICE OUT FILTER END LESSON NAME FILE: grades it, into OUT/LESSON/NAME.*, unless
# the clock is past END, in seconds. FILE "-": the solution.
if [ "${1-}" = one ]; then
    grader=$2 device=$3 out=$4 filter=$5 end=$6 lesson=$7 name=$8 file=$9
    [ "$(date +%s)" -lt "$end" ] || exit 0
    at=$out/$lesson/$name
    mkdir -p "$at.in"
    if [ "$file" = - ]; then
        cp -R "$root/solutions/$lesson" "$at.in/$lesson"
    else
        hand_in "$root" "$lesson" "$file" "$at.in" || exit 0
    fi
    timeout 400 "$grader" --device="$device" --gtest_color=no --gtest_filter="$filter" \
        --submission "$at.in" "$lesson" >"$at.report" 2>&1 </dev/null
    echo $? >"$at.status"
    rm -rf "$at.in"
    exit 0
fi

from=$here device=gpu jobs=4 timed=yes out='' seconds=100000 lessons='' list=
build=${1:?the build folder}
shift
for word; do
    case $word in
    --variants) from=$root/tests/variants ;;
    --device=*) device=${word#*=} ;;
    --jobs=*) jobs=${word#*=} ;;
    --no-times) timed= ;;
    --out=*) out=${word#*=} ;;
    --seconds=*) seconds=${word#*=} ;;
    --list) list=yes ;;
    *) lessons="$lessons $word" ;;
    esac
done
grader=$build/grader/grader
[ -n "$out" ] || { out=$(mktemp -d) && trap 'rm -rf "$out"' EXIT; }
trap 'exit 2' HUP INT TERM
mkdir -p "$out"
end=$(($(date +%s) + seconds))

# checks.txt speaks of the checks that there are.
"$grader" --gtest_list_tests | awk '/^[^ ]/ { suite = $1 } /^ / { print suite $1 }' | sort \
    >"$out/checks"
sed -n 's/^\([A-Za-z0-9]*\.[A-Za-z0-9]*\) .*/\1/p' "$here/checks.txt" | sort >"$out/known"
if ! diff "$out/known" "$out/checks" >"$out/difference"; then
    echo "checks.txt and the grader do not have the same checks (< has it alone, > lacks it):"
    cat "$out/difference"
    exit 2
fi
[ -z "$list" ] || exit 0
times=$(awk '$1 != "#" && $2 == "times" { printf "%s%s", sep, $1; sep = ":" }' "$here/checks.txt")

if [ -z "$lessons" ]; then
    for lesson in "$from"/[0-9][0-9]_*; do lessons="$lessons ${lesson##*/}"; done
fi
for lesson in $lessons; do
    mkdir -p "$out/$lesson"
    printf '%s solution -\n' "$lesson"
    each_submission "$from/$lesson" | while IFS= read -r file; do
        name=${file##*/}
        printf '%s %s %s\n' "$lesson" "${name%.*}" "$file"
    done
done >"$out/by_lesson"
# One of each lesson, then the next of each: what a lesson takes most of (contexts, in 06) is not
# asked for by all at once.
awk '{ print ++n[$1], $0 }' "$out/by_lesson" | sort -s -n -k 1,1 | cut -d ' ' -f 2- >"$out/list"

xargs -P "$jobs" -L 1 "$0" one "$grader" "$device" "$out" "*-$times" "$end" <"$out/list"

# What was not caught yet, by its times.
: >"$out/untimed"
while read -r lesson name file; do
    [ -n "$timed" ] || break
    at=$out/$lesson/$name
    [ "$(cat "$at.status" 2>/dev/null)" = 0 ] || continue
    suite=$(ended "$at.report" OK | sed 's/\..*//;q')
    case ":$times" in *":$suite."*) ;; *) continue ;; esac # it has no check of time
    if [ "$(date +%s)" -ge "$end" ]; then
        echo "$lesson $name" >>"$out/untimed"
        continue
    fi
    mv "$at.report" "$at.report.values"
    rm "$at.status"
    "$0" one "$grader" "$device" "$out" "$times" $((end + 60)) "$lesson" "$name" "$file"
done <"$out/list"

# is_slow FILE FAILED...: its header names every check that failed.
is_slow()
{
    slow=$(header "$1" 'slow on a GPU')
    shift
    for of_failed; do
        echo "$slow" | grep -qxF "$of_failed" || return 1
    done
}

# lacks_record REPORT...: a check was skipped for what the GPU's record lacks.
lacks_record()
{
    grep -qs "^The GPU's record of what it did lacks\|^The GPU gives no record of what it did" "$@"
}

# The lines, and the table of them.
sort -o "$out/list" "$out/list"
while read -r lesson name file; do
    at=$out/$lesson/$name
    status=$(cat "$at.status" 2>/dev/null) || status=-
    failed=$(ended "$at.report" FAILED 2>/dev/null | tr '\n' ' ')
    # shellcheck disable=SC2086 # a word for each check
    [ "$status" != 1 ] || [ -z "$failed" ] || ! is_slow "$file" $failed || status=slow
    case $status in
    0 | slow)
        by=passed
        ! grep -qxF "$lesson $name" "$out/untimed" || by=untimed
        ! lacks_record "$at.report" "$at.report.values" || by=unjudged
        ;;
    1) by=$(echo "$failed" | tr ' ' '\n' | awk -v table="$here/checks.txt" '
            BEGIN { while ((getline line <table) > 0) { split(line, w, " "); by[w[1]] = w[2] } }
            NF { seen[by[$1]] = 1 }
            END { print seen["values"] ? "values" : seen["record"] ? "record" : \
                        seen["device"] ? "device" : "times" }') ;;
    *) by=untried ;;
    esac
    printf '%s/%s %s %s %s\n' "$lesson" "$name" "$by" "$status" "$failed"
done <"$out/list" | tee "$out/lines"

awk -v device="$device" -v what="${from##*/}" '
    { split($1, path, "/") }
    $2 != "passed" && $2 != "untimed" && (path[2] == "solution" || what == "variants") {
        bad = bad " " $1 " (" $2 ")"
    }
    path[2] == "solution" { next }
    {
        if (!(path[1] in tried)) order[++lessons] = path[1]
        tried[path[1]]++; count[path[1], $2]++; total++; all[$2]++
    }
    END {
        form = "%-24s %8s %18s %14s %10s %7s %8s %9s %8s\n"
        printf "\n" form, device == "gpu" ? "on the GPU alone" : "on the software device", \
            what, "values and errors", "the record", "its times", "passed", "untimed", "unjudged", \
            "untried"
        for (i = 1; i <= lessons; i++) {
            l = order[i]
            printf form, l, tried[l], count[l, "values"] + 0, \
                count[l, "record"] + count[l, "device"] + 0, count[l, "times"] + 0, \
                count[l, "passed"] + 0, count[l, "untimed"] + 0, count[l, "unjudged"] + 0, \
                count[l, "untried"] + 0
        }
        printf form, "all", total, all["values"] + 0, all["record"] + all["device"] + 0, \
            all["times"] + 0, all["passed"] + 0, all["untimed"] + 0, all["unjudged"] + 0, \
            all["untried"] + 0
        if (what == "mistakes")
            printf "\nA test that looks at values and errors alone lets %d of %d pass; one that has\n" \
                "the recorder and times everything lets %d pass.\n", \
                total - all["values"] - all["untried"], total - all["untried"], all["passed"] + 0
        if (bad != "") print "These are right and did not pass:" bad
        exit bad != "" || all["untried"] + all["untimed"] + all["unjudged"] > 0
    }' "$out/lines"
