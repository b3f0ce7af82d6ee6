#!/bin/sh
# texts_test.sh ROOT: what ./learn shows is there: an answer to every question, and a translation of
# every word of its own into every language that has a catalogue.
set -u
root=$1
failures=0

complain()
{
    echo "$1"
    failures=$((failures + 1))
}

for text in "$root"/lessons/[0-9]*/README.md; do
    lesson=$(basename "$(dirname "$text")")
    questions=$(sed -n '/^## .*questions$/,$p' "$text" | grep -c '^[0-9]*\. ')
    answers=$(grep -c '^## [0-9]*\. ' "$root/solutions/$lesson/answers.md")
    if [ "$questions" -eq 0 ] || [ "$questions" != "$answers" ]; then
        complain "$lesson asks $questions questions and answers ${answers:-none}"
    fi
done

if command -v xgettext >/dev/null && command -v msgcmp >/dev/null; then
    words=$(mktemp)
    trap 'rm -f "$words"' EXIT
    trap 'exit 2' HUP INT TERM
    find "$root/grader/learn" -name '*.c' | LC_ALL=C sort |
        xgettext --files-from=- --language=C --from-code=UTF-8 --keyword --keyword=_ \
            --keyword=N_ --output="$words"
    for catalogue in "$root"/po/*.po; do
        missing=$(LC_ALL=C msgcmp "$catalogue" "$words" 2>&1) ||
            complain "$(printf '%s\n' "$missing" | grep -v 'is not used')"
    done
fi
[ "$failures" -eq 0 ]
