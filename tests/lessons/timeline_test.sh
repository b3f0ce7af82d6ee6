#!/bin/sh
# timeline_test.sh GRADER ROOT: the pictures of timelines that ./grade shows: of the submission and of
# the reference solution, in the terminal's charset and width, into files, and small by itself where a
# check on time fails.
set -u
grader=$1 root=$2
. "$root/tests/lessons/hand_in.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 2' HUP INT TERM
status=0

wrong()
{
    echo "not so: $*"
    status=1
}
# graded CHARSET ARGUMENT...: its output, without the verdicts' own lines, is in $work/said.
graded()
{
    locale=$1
    shift
    LC_ALL=$locale OVERLAP_LANG=en "$grader" --device=emulator --seed=7 "$@" >"$work/said" 2>"$work/trouble"
}
shows() { LC_ALL=C.UTF-8 grep -q -e "$1" "$work/said" || wrong "$2"; }
hides() { ! grep -q -e "$1" "$work/said" || wrong "$2"; }

hand_in "$root" 02_streams "$root/tests/mistakes/02_streams/one_stream_for_all.c" "$work/in"
fast=--gtest_filter='*AsFast*'

graded C "$fast" --submission="$work/in" 02_streams --report=html:"$work/page.html" \
    --report=json:"$work/report.json"
grep -q '^<pre class="timeline">yours: ' "$work/page.html" || wrong 'and the page for it'
grep -q '"timeline": *"yours: ' "$work/report.json" || wrong 'and the record'
shows '^yours: ' 'a failure shows its timeline'
shows "^the reference solution's: " "and the reference's"
shows '^  kernels |[ 1-9+]*|' 'in plain characters'
hides '^  stream ' 'small'
graded C "$fast" --solutions 02_streams
hides '^yours: ' 'a pass shows none'

graded C "$fast" --submission="$work/in" 02_streams --timeline
[ "$(grep -c '^yours: ' "$work/said")" = 1 ] || wrong 'the large one alone'
shows '^  stream [0-9]* *|[> #<]*|' 'a row a stream'
! LC_ALL=C grep -q '[^ -~]' "$work/said" || wrong 'ASCII alone'
graded C.UTF-8 "$fast" --submission="$work/in" 02_streams --timeline
shows '^  stream [0-9]* *|↓█*[█↑]|' 'in UTF-8'
grep -e '^  ' "$work/said" | grep '|$\|| ' | while IFS= read -r line; do
    [ "$(printf %s "$line" | LC_ALL=C.UTF-8 wc -m)" -le 80 ] || echo wide
done | grep -q wide && wrong 'it fits the width'
if command -v script >/dev/null; then
    script -q -e -c "stty cols 50; LC_ALL=C $grader --device=emulator $fast --timeline --solutions 02_streams" \
        /dev/null >"$work/said" 2>&1
    shows '^  stream [0-9]* *|[^|]\{10,25\}|' "the terminal's width"
fi

graded C "$fast" --solutions 02_streams --timeline="$work/picture.json"
grep -q '"ph":"X"' "$work/picture.json" || wrong 'a JSON file'
graded C "$fast" --solutions 02_streams --timeline="$work/picture.svg"
grep -q '</svg>' "$work/picture.svg" || wrong 'an SVG file'
graded C "$fast" --solutions 02_streams --timeline="$work/no/picture.svg"
[ $? -eq 2 ] || wrong 'a file that cannot be written'
graded C --solutions 02_streams --timeline=picture.bmp
[ $? -eq 2 ] || wrong 'another kind of file'
graded C --solutions 02_streams 03_events --timeline="$work/picture.svg"
[ $? -eq 2 ] || wrong 'two lessons in one file'
grep -q 'say which' "$work/trouble" || wrong 'and why'
exit $status
