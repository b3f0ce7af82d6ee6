#!/bin/sh
# What same_verdict.sh says of verdicts that are the same each time, and of such that are not, with
# a grader of a few lines:
#
#   same_verdict_test.sh ROOT
set -u
root=$1
work=$(mktemp -d "${TMPDIR:-/tmp}/same_test.XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 2' HUP INT TERM
mkdir -p "$work/tests/lessons" "$work/tests/mistakes/01_sum" "$work/tests/variants/01_sum" \
    "$work/solutions/01_sum"
cp "$root/tests/lessons/hand_in.sh" "$work/tests/lessons"
echo right >"$work/solutions/01_sum/sum.c"

# Of a submission it knows the words "fails", "passes", "by turns" (passes every second time),
# "elsewhere" (a finding on another line every second time), "counts" and "babbles" (the same
# failure with other numbers, or words, each time), "by seed" (passes with seed 2).
cat >"$work/grader" <<'END'
#!/bin/sh
for argument; do
    case $argument in
    --seed=*) seed=${argument#*=} ;;
    --gtest_output=xml:*) report=${argument#*:} ;;
    --submission) ;;
    /*) folder=$argument ;;
    esac
done
here=${0%/*} line=3 said=words ended=FAILED
number=$(($(cat "$here/number" 2>/dev/null || echo 0) + 1))
echo "$number" >"$here/number"
word=$(cat "$folder/01_sum/sum.c")
case $word in
*'by turns') [ $((number % 2)) -eq 0 ] || ended=OK ;;
*elsewhere) line=$((3 + number % 2)) ;;
*counts) said="$number words" ;;
*babbles) said=$([ $((number % 2)) -eq 0 ] && echo many || echo few) ;;
*'by seed') [ "$seed" -ne 2 ] || ended=OK ;;
*passes) ended=OK ;;
esac
echo "[ $ended ] Sum.IsRight ($number ms)"
{
    echo "    <testcase name=\"IsRight\" file=\"sum.c\" line=\"1\" result=\"completed\" time=\"$number\">"
    [ "$ended" = OK ] || echo "      <failure message=\"sum.c:$line&#x0A;$said&#x0A;\" type=\"race\"><![CDATA["
} >"$report"
END
chmod +x "$work/grader"

failures=0
# holds STATUS TEXT FOLDER WORD OPTION...: of a submission with that word the script ends with that
# status and that last line.
holds() {
    wanted=$1 text=$2 folder=$3 word=$4
    shift 4
    rm -f "$work/number" "$work"/tests/mistakes/01_sum/* "$work"/tests/variants/01_sum/*
    printf '/* fails: Sum.IsRight\n */\n%s\n' "$word" >"$work/tests/$folder/01_sum/it.c"
    "$root/tests/stress/same_verdict.sh" -n 4 "$@" "$work/grader" "$work" 01_sum/it \
        >"$work/said" 2>&1
    status=$?
    if [ "$status" -ne "$wanted" ] || [ "$(tail -n 1 "$work/said")" != "1 submissions, 4 runs of each: $text" ]; then
        echo "$folder, $word: status $status, and not $wanted with \"$text\":"
        cat "$work/said"
        failures=$((failures + 1))
    fi
}

holds 0 '0 not as they say, 0 not judged the same, 0 reworded' mistakes fails
holds 0 '0 not as they say, 0 not judged the same, 0 reworded' mistakes counts
holds 0 '0 not as they say, 0 not judged the same, 1 reworded' mistakes babbles
holds 0 '0 not as they say, 0 not judged the same, 0 reworded' mistakes babbles -s
holds 1 '0 not as they say, 1 not judged the same, 0 reworded' mistakes elsewhere
holds 1 '1 not as they say, 1 not judged the same, 0 reworded' mistakes 'by turns'
holds 1 '1 not as they say, 0 not judged the same, 0 reworded' mistakes passes
holds 0 '0 not as they say, 0 not judged the same, 0 reworded' mistakes 'by seed'
holds 1 '1 not as they say, 1 not judged the same, 0 reworded' mistakes 'by seed' -s
holds 0 '0 not as they say, 0 not judged the same, 0 reworded' variants passes
holds 1 '1 not as they say, 0 not judged the same, 0 reworded' variants fails
holds 1 '1 not as they say, 1 not judged the same, 0 reworded' variants 'by turns' -b 1
[ "$failures" -eq 0 ]
