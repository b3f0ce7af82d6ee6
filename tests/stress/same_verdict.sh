#!/bin/sh
# Says which submissions are not judged the same each time, on the software device with one seed:
#
#   same_verdict.sh [-n RUNS] [-s] [-b LOOPS] [-p PARTS] GRADER ROOT [LESSON[/CASE]]... [-- FLAG...]
#
# -n RUNS    gradings of each submission: 10, unless it is said here
# -s         each with a seed of its own, 1 and so on: which mistake needs luck with its inputs?
# -b LOOPS   endless loops beside, so that the grader has to wait for a processor: none
# -p PARTS   "mistakes", "variants" or, unless it is said here, both
# LESSON     07_reductions: its submissions; LESSON/CASE (without suffix): that one. None: all.
# FLAG       for the grader, as --seed=2 or --gtest_filter=*.CallsInTwoStreamsDoNotMeet
#
# Compared is which check ended how, with which kind of finding on which line (a verdict), and then
# what was said, but for numbers (its words; not with -s). A verdict that differs is a
# defect of the check, or of the device, whatever the submission does: exit status 1, as where a
# mistake passes a check that its header says it fails, or a variant fails one. Of words that differ,
# the places are listed. Each grading takes from half a second to many: this is run by hand, and in
# ctest over a few (tests/stress/CMakeLists.txt).
set -u
runs=10 seeds='' loops=0 parts='mistakes variants'
while getopts n:sb:p: option; do
    case $option in
    n) runs=$OPTARG ;;
    s) seeds=yes ;;
    b) loops=$OPTARG ;;
    p) parts=$OPTARG ;;
    *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))
grader=${1:?the grader} root=${2:?the root of the repository}
shift 2
asked=
while [ $# -gt 0 ] && [ "$1" != -- ]; do
    asked="$asked $1"
    shift
done
[ $# -eq 0 ] || shift
. "$root/tests/lessons/hand_in.sh"
work=$(mktemp -d "${TMPDIR:-/tmp}/same.XXXXXX") || exit 2
loops_started=
trap 'kill $loops_started 2>/dev/null; rm -rf "$work"' EXIT
trap 'exit 2' HUP INT TERM
while [ "$loops" -gt 0 ]; do
    sh -c 'while :; do :; done' &
    loops_started="$loops_started $!"
    loops=$((loops - 1))
done

# What was said in the report $1, a line for each element, but for numbers that are not lines.
words() {
    sed -n -e '/^ *<\(testcase\|failure\|skipped\|error\)/ {
            s/&#x0A;/ | /g
            s/ time="[^"]*"//; s/ timestamp="[^"]*"//; s/<!\[CDATA\[.*//
            s/0x[0-9a-f]\{1,\}/#/g
            s/line \([0-9]\)/line @\1/g; s/\(\.c[a-z]*:\)\([0-9]\)/\1@\2/g
            s/\([^@0-9]\)[0-9][0-9.]*/\1#/g; s/@//g
            p
        }' "$1"
}

# How each check ended, and with what.
verdict() {
    sed -e 's/^ *<testcase name="\([^"]*\)".* result="\([^"]*\)".*/\1 \2/' \
        -e 's/^ *<failure message="[^|]*:\([0-9]*\) | .* type="\([^"]\{1,\}\)".*/  line \1: \2/' \
        -e 's/^ *<\(failure\|skipped\|error\) .*/  \1/' "$1"
}

# Of the files $work/$1.*: how many differ from the most frequent one. They are told.
differ() {
    cksum "$work/$1".* | sed "s|$work/||" | sort >"$work/sums"
    cut -d ' ' -f 1 "$work/sums" | uniq -c | sort -rn >"$work/kinds"
    [ "$(wc -l <"$work/kinds")" -gt 1 ] || return 1
    often=$(awk 'NR == 1 { print $2 }' "$work/kinds")
    awk -v often="$often" 'NR == FNR { number[$2] = $1; next }
        !seen[$1]++ { print number[$1], $1 == often, $3 }' "$work/kinds" "$work/sums" >"$work/each"
    usual=$(awk '$2 == 1 { print $3 }' "$work/each")
    printf '%s: %s of %s runs\n' "$2" "$((runs - $(awk '$2 == 1 { print $1 }' "$work/each")))" "$runs"
    awk '$2 == 0' "$work/each" | while read -r count _ file; do
        printf '  %s of them:\n' "$count"
        diff "$work/$usual" "$work/$file" | grep '^[<>]' | cut -c 1-400 | sed 's/^/    /'
    done
}

# Which checks ended otherwise than the folder of $1 says, in the run that $work/report is of.
wrong() {
    case $1 in
    */mistakes/*)
        for check in $(header "$1" fails); do
            ended "$work/report" FAILED | grep -qx "$check" || echo "passes $check"
        done ;;
    *) ended "$work/report" FAILED | sed 's/^/fails /' ;;
    esac
}

count=0 unlike=0 reworded=0 amiss=0
compare() { # LESSON FILE FLAG...
    lesson=$1 file=$2
    shift 2
    rm -rf "$work/in" "$work"/words.* "$work"/verdict.* "$work/wrong"
    hand_in "$root" "$lesson" "$file" "$work/in" || exit 2
    run=0
    while [ "$run" -lt "$runs" ]; do
        run=$((run + 1))
        [ -n "$seeds" ] && seed=$run || seed=1
        "$grader" --device=emulator --gtest_color=no "--seed=$seed" "--gtest_output=xml:$work/report.xml" \
            --submission "$work/in" "$lesson" "$@" >"$work/report" 2>&1 </dev/null
        words "$work/report.xml" >"$work/words.$run"
        verdict "$work/words.$run" >"$work/verdict.$run"
        wrong "$file" >>"$work/wrong"
    done
    if [ -s "$work/wrong" ]; then
        amiss=$((amiss + 1))
        echo "not as it says: $file"
        sort "$work/wrong" | uniq -c
    fi
    count=$((count + 1))
    if differ verdict "judged otherwise: $file"; then
        unlike=$((unlike + 1))
    elif [ -z "$seeds" ] && differ words "said otherwise: $file"; then
        reworded=$((reworded + 1))
    fi
}

for part in $parts; do
    for folder in "$root/tests/$part"/[0-9][0-9]_*; do
        lesson=${folder##*/}
        each_submission "$folder" >"$work/submissions"
        while IFS= read -r file <&3; do
            case " $asked " in
            '  ' | *" $lesson "* | *" $lesson/$(basename "${file%.*}") "*)
                compare "$lesson" "$file" "$@" ;;
            esac
        done 3<"$work/submissions"
    done
done
printf '%s submissions, %s runs of each: %s not as they say, %s not judged the same, %s reworded\n' \
    "$count" "$runs" "$amiss" "$unlike" "$reworded"
[ "$count" -gt 0 ] && [ "$unlike" -eq 0 ] && [ "$amiss" -eq 0 ]
