#!/bin/sh
# make_class.sh ROOT FOLDER COUNT [one]: a class of mixed quality in FOLDER: COUNT submissions, each a
# copy of the solutions in which one lesson is a mistake (of 300: 170) or a variant from tests/; "one":
# only that lesson is handed in. Lessons take turns, so that any part of the class is as mixed as the
# whole. FOLDER.made says how each has to be judged, a line each: the student, the lesson, the file, and
# the checks that fail (a mistake's header names them; none: every check passes).
set -eu
root=$1 folder=$2 count=$3 lessons=${4:-all}
. "$root/tests/lessons/hand_in.sh"
list=$(mktemp)
trap 'rm -f "$list"' EXIT
trap 'exit 2' HUP INT TERM

mkdir -p "$folder"
: >"$folder.made"
# "RANK LESSON FILE": the n-th of each lesson, of each kind, stand together.
for lesson in "$root"/solutions/[0-9]*; do
    lesson=${lesson##*/}
    for kind in mistakes variants; do
        each_submission "$root/tests/$kind/$lesson" |
            awk -v lesson="$lesson" -v kind="$kind" '{ print NR, kind, lesson, $0 }'
    done
done | sort -n >"$list"

number=0
while [ "$number" -lt "$count" ]; do
    # More than there are: from the beginning again.
    while read -r _ kind lesson file; do
        [ "$number" -lt "$count" ] || break
        number=$((number + 1))
        student=$(printf 'student%03d' "$number")
        mkdir "$folder/$student"
        [ "$lessons" = one ] || cp -R "$root/solutions/." "$folder/$student"
        rm -rf "${folder:?}/$student/$lesson"
        hand_in "$root" "$lesson" "$file" "$folder/$student"
        fails=
        [ "$kind" = variants ] || fails=$(header "$file" fails | tr '\n' ' ')
        echo "$student $lesson $kind/${file##*/} $fails" >>"$folder.made"
    done <"$list"
done
