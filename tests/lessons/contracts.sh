#!/bin/sh
# docs/contracts.md against the lessons' headers, the grader's checks and the mistakes:
#
#   contracts.sh GRADER ROOT [NN_name]
#
# In each section, "## NN_name": every sentence of lessons/NN_name/lesson.h's comments is in a row, and
# no row has one that the header does not have; each check exists; each mistake exists, and its header
# says that it fails in one of the row's checks. Every lesson has a section. `./grade --check-lessons`
# calls this as well, for each lesson. Exit status 0, or 1 after a line for each complaint.
set -u
grader=$1 root=$2 only=${3-}
work=$(mktemp -d "${TMPDIR:-/tmp}/contracts.XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 2' HUP INT TERM
page=$root/docs/contracts.md
failures=0

complain() {
    printf '%s: %s\n' "$lesson" "$1"
    failures=$((failures + 1))
}

# The words of all comments of a header, in one line.
comments() {
    sed -e 's/^ *\*\( \|$\)//' -e 's/^ *- //' "$1" | tr '\n' ' ' | sed 's|\*/|\n|g' |
        sed -n 's|.*/\*||p' | tr '\n' ' ' | tr -s ' '
}

# The rows of the lesson's section: SENTENCE|CHECKS|MISTAKES, without the table's head.
rows() {
    awk -v lesson="$lesson" '/^## / { here = $2 == lesson } here && /^\| /' "$page" |
        sed -e 1d -e 's/^| *//' -e 's/ *|$//' -e 's/ *| */|/g'
}

"$grader" --gtest_list_tests | awk '/^[^ ]/ { suite = $1 } /^ / { print suite $1 }' >"$work/checks"
for folder in "$root"/lessons/${only:-[0-9][0-9]_*}; do
    lesson=${folder##*/}
    rows >"$work/rows"
    if [ ! -s "$work/rows" ]; then
        complain 'docs/contracts.md has no section for it'
        continue
    fi
    comments "$folder/lesson.h" >"$work/text"
    cut -d '|' -f 1 "$work/rows" | awk '{ print length($0) "|" $0 }' | sort -t '|' -rn |
        cut -d '|' -f 2- >"$work/sentences"
    awk -v file="$work/text" '
        BEGIN { getline text < file }
        {
            if (index(text, $0) == 0) print "the header does not have: " $0
            while ((at = index(text, $0)) > 0)
                text = substr(text, 1, at - 1) " # " substr(text, at + length($0))
        }
        END {
            count = split(text, rest, "#")
            for (i = 1; i <= count; i++)
                if (rest[i] ~ /[A-Za-z]/) {
                    gsub(/^ +| +$/, "", rest[i])
                    print "the page does not have: " rest[i]
                }
        }' "$work/sentences" >"$work/said"
    while IFS= read -r line; do complain "$line"; done <"$work/said"

    while IFS='|' read -r sentence checks mistakes; do
        known=''
        [ -n "$checks" ] || complain "neither a check nor - keeps: $sentence"
        for check in $(echo "$checks" | tr -d ','); do
            [ "$check" = - ] && continue
            grep -q "\.$check\$" "$work/checks" || complain "there is no check $check"
            known="$known $check"
        done
        for mistake in $(echo "$mistakes" | tr -d ','); do
            [ "$mistake" = - ] && continue
            file=$(find "$root/tests/mistakes/$lesson" -name "$mistake.*")
            if [ -z "$file" ]; then
                complain "there is no mistake $mistake ($sentence)"
                continue
            fi
            fails=$(sed -n 's/^ \* fails: [A-Za-z]*\.//p' "$file")
            for check in $known; do
                case " $(echo "$fails" | tr '\n' ' ') " in *" $check "*) continue 2 ;; esac
            done
            complain "$mistake does not say that it fails in $known, but in $fails"
        done
    done <"$work/rows"
done
[ "$failures" -eq 0 ]
