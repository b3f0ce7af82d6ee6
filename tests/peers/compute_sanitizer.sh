#!/bin/sh
# Runs every mistake under NVIDIA's Compute Sanitizer, and says what it names:
#
#   compute_sanitizer.sh BUILD [--jobs=N] [--seconds=N] [--out=FOLDER] [--device=gpu|emulator]
#                        [--prepare | --libraries=FOLDER] [LESSON[/MISTAKE]...]
#
# Each mistake is built by the grader, and one of its runs is made again, outside the grader (whose
# limits and recorder are in the checker's way), with the inputs that the grader drew for the
# solution: the run that the check reads which the mistake fails, or, where that one is timed, the
# one that most checks read. It is made under memcheck (with leaks, without errors that the API
# returned), initcheck, racecheck and synccheck. What the solution triggers in the same run does not
# count, and neither does how the program ended. --seconds: nothing more is begun after so many
# (420); memcheck comes first for all, the runs with many contexts last, and what was not tried is
# counted. With --out, what was built and tried there before is not built or tried again.
#
# --prepare only builds, into --out, also where there is no GPU; a copy of BUILD's grader/, of the
# tests and of that folder, at the same paths, is then all that a machine with a GPU needs, with no
# compiler. --libraries: where the CUDA runtime is on that machine; no blank or comma in it.
#
# COMPUTE_SANITIZER says which program; otherwise the one on PATH or in the toolkit (PyPI's wheel has
# the program without the launcher that it needs). --device=emulator
# tries the script where there is no GPU. Prints a line for each mistake that is named, and a table.
# Needs what the grader needs at grading time, and `unshare`. Exit status 0: all were tried.
set -u
here=$(dirname "$(readlink -f "$0")")
root=$(readlink -f "$here/../..")
. "$root/tests/lessons/hand_in.sh"

# ---- one submission built: OUT/LESSON/NAME.so ----------------------------------------------------

# compute_sanitizer.sh take BUILD DEVICE OUT FILTER LESSON NAME FILE; FILE "-": the solution.
if [ "${1-}" = take ]; then
    build=$2 device=$3 out=$4 filter=$5 lesson=$6 name=$7 file=$8
    at=$out/$lesson/$name
    [ ! -f "$at.so" ] || exit 0
    mkdir -p "$at.in"
    if [ "$file" = - ]; then
        cp -R "$root/solutions/$lesson" "$at.in/$lesson"
        keep=keep
    else
        hand_in "$root" "$lesson" "$file" "$at.in" || exit 0
        keep=
    fi
    # shellcheck disable=SC2016 # the script's
    printf '#!/bin/sh\nexec "%s/take_run" "$1" "%s" %s\n' "$out" "$at" "$keep" >"$at.taker"
    chmod +x "$at.taker"
    # In the runner's place, in a mount namespace of its own, so that the build folder stays as it is.
    # shellcheck disable=SC2016 # the inner shell's
    timeout 600 unshare -r -m sh -c 'mount --bind "$1" "$2" && shift 2 && exec "$@"' - \
        "$at.taker" "$build/grader/runner" "$build/grader/grader" --sandbox=off \
        --device="$device" --gtest_filter="$filter" --submission "$at.in" "$lesson" \
        >"$at.report" 2>&1 </dev/null
    [ ! -f "$at.path" ] || cp -L "$(cat "$at.path")" "$at.so"
    rm -rf "$at.in" "$at.taker"
    exit 0
fi

# ---- one run: OUT/LESSON/NAME.TOOL.RUN.log ---------------------------------------------------------

# compute_sanitizer.sh one BUILD SANITIZER OUT END LESSON NAME TOOL RUN LIBRARY
if [ "${1-}" = one ]; then
    build=$2 sanitizer=$3 out=$4 end=$5 lesson=$6 name=$7 tool=$8 run=$9
    shift 9
    library=$1 kept=$out/$lesson/solution.run.$run at=$out/$lesson/$name.$tool.$run
    [ "$(date +%s)" -lt "$end" ] || exit 0
    [ ! -f "$at.status" ] || exit 0
    set --
    [ "$tool" != memcheck ] ||
        set -- --leak-check full --report-api-errors no --track-stream-ordered-races all
    mkdir -p "$at.tmp"
    cp "$kept/control" "$kept/output" "$at.tmp"
    # The recorder would be in the checker's way; what was drawn for the software device runs on a GPU
    # with the runtime that is there.
    tr '\0' '\n' <"$kept/settings" | sed -e '/^CUDA_INJECTION64_PATH=/d' \
        ${LIBRARIES:+-e "s,^LIBRARIES=.*,LIBRARIES=$LIBRARIES," -e 's/^DEVICE=.*/DEVICE=gpu/'} |
        tr '\n' '\0' >"$at.tmp/settings"
    cd "$at.tmp" || exit 1
    # Its launcher closes what it inherits: the descriptors of control.h are opened behind it.
    # shellcheck disable=SC2016 # the inner shell's
    HOME=$at.tmp TMPDIR=$at.tmp LD_LIBRARY_PATH=${LIBRARIES:-$(cat "$kept/library_path")} \
        timeout -k 5 60 "$sanitizer" --tool "$tool" "$@" --log-file "$at.log" \
        --port $((50000 + ${SLOT:-0} * 20)) --require-cuda-init no --check-exit-code no \
        --preload-library "$out/reset_at_exit.so" sh -c \
        'exec 3<>control 4<"$1/input" 5<>output 6<settings; exec "$2" "$3"' - "$kept" \
        "$build/grader/runner" "$library" >"$at.printed" 2>&1 </dev/null
    echo $? >"$at.tmp/status"
    mv "$at.tmp/status" "$at.status"
    cd / && rm -rf "$at.tmp"
    exit 0
fi

# Starting CUDA under a checker is mostly waiting.
device=gpu jobs=$(($(nproc) * 2)) out='' seconds=420 lessons='' only='' prepare='' libraries=''
build=$(readlink -f "${1:?the build folder}")
shift
for word; do
    case $word in
    --device=*) device=${word#*=} ;;
    --jobs=*) jobs=${word#*=} ;;
    --out=*) out=${word#*=} ;;
    --seconds=*) seconds=${word#*=} ;;
    --prepare) prepare=yes ;;
    --libraries=*) libraries=${word#*=} ;;
    */*) only="$only $word " lessons="$lessons ${word%%/*}" ;;
    *) lessons="$lessons $word" ;;
    esac
done
# shellcheck disable=SC2086 # a list of words
lessons=$(printf '%s\n' $lessons | sort -u)
sanitizer=${COMPUTE_SANITIZER:-$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)}
if [ -z "$prepare" ] && [ ! -x "$sanitizer" ]; then
    echo "compute-sanitizer is not on PATH; NVIDIA's toolkit has it"
    exit 2
fi
[ -n "$out" ] || { out=$(mktemp -d) && trap 'rm -rf "$out"' EXIT; }
trap 'exit 2' HUP INT TERM
mkdir -p "$out"
out=$(readlink -f "$out")
end=$(($(date +%s) + seconds))
[ -f "$out/reset_at_exit.so" ] ||
    cc -shared -fPIC -o "$out/reset_at_exit.so" "$here/reset_at_exit.c" || exit 2
[ -f "$out/take_run" ] ||
    cc -D_GNU_SOURCE -I "$root" -o "$out/take_run" "$here/take_run.c" || exit 2
if [ -z "$lessons" ]; then
    for lesson in "$root"/tests/mistakes/[0-9][0-9]_*; do lessons="$lessons ${lesson##*/}"; done
fi

# ---- all are built -------------------------------------------------------------------------------

times=$(awk '$2 == "times" { printf "%s%s", sep, $1; sep = ":" }' "$root/tests/mistakes/checks.txt")
for lesson in $lessons; do
    mkdir -p "$out/$lesson"
    [ ! -f "$out/submissions" ] || ! grep -q " $lesson solution " "$out/submissions" || continue
    printf '*-%s %s solution -\n' "$times" "$lesson"
    # Of a mistake only the library is wanted: one check builds it that no device skips.
    first=$("$build/grader/grader" --gtest_list_tests "$lesson" |
        awk 'NR == FNR { if ($2 == "values") values[$1]; next }
            /^[^ ]/ { suite = $1 }
            /^ / && suite $1 in values { print suite $1; exit }' \
            "$root/tests/mistakes/checks.txt" -)
    each_submission "$root/tests/mistakes/$lesson" | while IFS= read -r file; do
        name=${file##*/}
        name=${name%.*}
        case ${only:- $lesson/$name } in *" $lesson/$name "*) ;; *) continue ;; esac
        printf '%s %s %s %s\n' "$first" "$lesson" "$name" "$file"
    done
done >"$out/submissions.new"
cat "$out/submissions.new" >>"$out/submissions"
rm "$out/submissions.new"
xargs -P "$jobs" -L 1 "$0" take "$build" "$device" "$out" <"$out/submissions"

# ---- all are run ---------------------------------------------------------------------------------

# The name of a run, from the settings that the runner was handed.
run_of()
{
    tr '\0' '\n' <"$1/settings" 2>/dev/null | sed -n 's/^RUN=//p' | tr ' ' _
}
for lesson in $lessons; do
    for kept in "$out/$lesson"/solution.run.[0-9]*; do
        [ -d "$kept" ] || continue
        run=$(run_of "$kept") # none: the grader ended it before it had all
        if [ -z "$run" ] || [ -d "$out/$lesson/solution.run.$run" ]; then
            rm -rf "$kept"
        else
            mv "$kept" "$out/$lesson/solution.run.$run"
        fi
    done
done
[ -z "$prepare" ] || exit 0

# run_read LESSON FILE: the run that the check reads which the mistake fails. The judges' tables have a
# row for each check: {"Name", "run", ...
run_read()
{
    cat "$root/grader/lessons/$1"/*.c | tr '\n' ' ' |
        grep -o '{"[A-Za-z0-9]*", *"[a-z ]*",' | tr -d '{",' | sed 's/ \+/ /g' >"$out/reads"
    check=$(sed -n 's/^.* fails: *[A-Za-z]*\.\([A-Za-z0-9]*\).*/\1/p' "$2" 2>/dev/null | head -n 1)
    {
        sed -n "s/^$check //p" "$out/reads"
        cut -d ' ' -f 2- "$out/reads" | sort | uniq -c | sort -k 1,1nr | sed 's/^ *[0-9]* //'
    } | tr ' ' _ | sed 's/_$//' | while IFS= read -r run; do
        [ -d "$out/$1/solution.run.$run" ] && echo "$run" && break
    done
}
while read -r _ lesson name file; do
    if [ "$name" = solution ] || [ ! -f "$out/$lesson/$name.so" ]; then continue; fi
    case " $lessons " in *[[:space:]]"$lesson"[[:space:]]*) ;; *) continue ;; esac
    run=$(run_read "$lesson" "$file")
    [ -n "$run" ] || continue
    order=5
    # Dozens of contexts take a driver seconds.
    case $lesson/$run in 06_*/threads | 06_*/processes) order=9 ;; esac
    for tool in memcheck initcheck racecheck synccheck; do
        echo 0 "$lesson" solution $tool "$run" "$out/$lesson/solution.so"
        echo $order "$lesson" "$name" $tool "$run" "$out/$lesson/$name.so"
        [ $order -ge 9 ] || order=$((order + 1))
    done
done <"$out/submissions" | sort -u | sort -s -n -k 1,1 | cut -d ' ' -f 2- >"$out/list"
LIBRARIES=$libraries xargs -P "$jobs" --process-slot-var=SLOT -L 1 "$0" one "$build" "$sanitizer" "$out" "$end" \
    <"$out/list"

# ---- what it said --------------------------------------------------------------------------------

# The kinds of what a tool named in a submission's runs, without numbers.
kinds()
{
    cat "$out/$1/$2.$3".*.log 2>/dev/null | grep '^========= [A-Z]' |
        grep -v -e 'SUMMARY' -e 'COMPUTE-SANITIZER' -e 'Target application' -e 'Program hit' \
            -e 'Error: process' -e 'Error: No attachable' -e 'Internal' -e 'timeout' |
        sed -e 's/^========= //' -e 's/0x[0-9a-f]*/N/g' -e 's/[0-9][0-9,.]*/N/g' | sort -u
}
while read -r _ lesson name _; do
    [ "$name" != solution ] || continue
    case " $lessons " in *[[:space:]]"$lesson"[[:space:]]*) ;; *) continue ;; esac
    rm -f "$out/$lesson/$name.named"
    line="$lesson/$name"
    for tool in memcheck initcheck racecheck synccheck; do
        wanted=$(grep -c "^$lesson $name $tool " "$out/list")
        done=$(find "$out/$lesson" -name "$name.$tool.*.status" | wc -l)
        kinds "$lesson" solution "$tool" >"$out/usual"
        kinds "$lesson" "$name" "$tool" >"$out/kinds"
        if [ -n "$(comm -13 "$out/usual" "$out/kinds")" ]; then
            line="$line $tool=named"
            comm -13 "$out/usual" "$out/kinds" | sed "s/^/  $tool: /" >>"$out/$lesson/$name.named"
        elif [ "$wanted" -eq 0 ] || [ "$done" -lt "$wanted" ]; then
            line="$line $tool=untried"
        else
            line="$line $tool=nothing"
        fi
    done
    echo "$line"
    [ ! -f "$out/$lesson/$name.named" ] || cat "$out/$lesson/$name.named"
done <"$out/submissions" >"$out/lines"
grep -B 1 '^  ' "$out/lines" | grep -v '^--$'

grep -v '^  ' "$out/lines" | awk '
    {
        split($1, path, "/"); l = path[1]
        if (!(l in all)) order[++lessons] = l
        all[l]++; total++; any = 0; untried = 0
        for (i = 2; i <= NF; i++) {
            split($i, said, "=")
            if (said[2] == "named") { count[l, said[1]]++; sum[said[1]]++; any = 1 }
            if (said[2] == "untried") untried = 1
        }
        if (any) { count[l, "any"]++; sum["any"]++ }
        if (untried && !any) { count[l, "untried"]++; sum["untried"]++ }
    }
    END {
        form = "%-24s %9s %9s %10s %10s %10s %9s %9s\n"
        printf "\n" form, "named by", "mistakes", "memcheck", "initcheck", "racecheck", "synccheck", \
            "any", "untried"
        for (i = 1; i <= lessons; i++) {
            l = order[i]
            printf form, l, all[l], count[l, "memcheck"] + 0, count[l, "initcheck"] + 0, \
                count[l, "racecheck"] + 0, count[l, "synccheck"] + 0, count[l, "any"] + 0, \
                count[l, "untried"] + 0
        }
        printf form, "all", total, sum["memcheck"] + 0, sum["initcheck"] + 0, \
            sum["racecheck"] + 0, sum["synccheck"] + 0, sum["any"] + 0, sum["untried"] + 0
        exit sum["untried"] > 0
    }'
