#!/bin/sh
# translations_test.sh ROOT: translations.sh sees what is done to one of two texts only.
set -eu
rule=$(dirname "$(realpath "$0")")/translations.sh
root=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 2' HUP INT TERM
lesson=lessons/02_streams
answers=solutions/02_streams

fresh()
{
    rm -rf "$work/tree"
    mkdir -p "$work/tree/docs" "$work/tree/$lesson" "$work/tree/$answers"
    cp "$root"/README*.md "$work/tree"
    cp "$root"/docs/glossary*.md "$work/tree/docs"
    cp "$root/$lesson"/README*.md "$work/tree/$lesson"
    cp "$root/$answers"/answers*.md "$work/tree/$answers"
}

# change NAME FILE SCRIPT: the rule fails for FILE with sed's SCRIPT done to it, and says so with NAME.
change()
{
    fresh
    sed "$3" "$root/$2" >"$work/tree/$2"
    ! cmp -s "$root/$2" "$work/tree/$2" || {
        echo "'$3' changes nothing in $2"
        exit 1
    }
    if "$rule" "$work/tree" >"$work/said" || ! grep -qF -- "$1" "$work/said"; then
        echo "'$3' in $2 is not seen; it said:"
        cat "$work/said"
        exit 1
    fi
}

fresh
"$rule" "$work/tree"
# shellcheck disable=SC2016 # The backquotes are Markdown's.
{
    change '-heading of level 2' $lesson/README.md '$a\\n## One more section\n\nWith a sentence.'
    change '+heading of level 2' $lesson/README.zh-CN.md '$a\\n## 多出的一节'
    change '+paragraph' $lesson/README.md '/^## The task/,/^The programs/{/^The programs/s/^/Joined. /;/^$/d}'
    change '-item' $lesson/README.md '/^## What is checked/,$s/^- the time/- one more;\n&/'
    change '-row of 4' $lesson/README.md '/^| hardware queues/s/$/\n| 1 | 2 | 3 | 4 |/'
    change '-row of 5' $lesson/README.md '/^| hardware queues/s/$/ 64 |/'
    change '-  queue 0' $lesson/README.md 's/^queue 0:  K0  K8/&  K9/'
    change '-names cudaFree' $lesson/README.md 's/^`\.\/grade streams` says/`cudaFree` waits. &/'
    change '+names cudaFree' $lesson/README.zh-CN.md 's/^`\.\/grade streams`/`cudaFree` &/'
    change 'does not link' $lesson/README.md '1d'
    change 'does not link' README.zh-CN.md '1s/README/OTHER/'
    change 'not in Chinese: Different streams promise' $lesson/README.zh-CN.md \
        's/^程序的文字里.*/Different streams promise nothing.\n/;/^怎样才能照样给核函数计时/d'
}
fresh
sed 's/# the project.*/# said in another way/' "$root/README.md" >"$work/tree/README.md"
"$rule" "$work/tree"
for name in README $lesson/README $answers/answers docs/glossary; do
    fresh
    rm "$work/tree/$name.zh-CN.md"
    if "$rule" "$work/tree" >"$work/said" || ! grep -qF "$name.zh-CN.md is missing" "$work/said"; then
        echo "that $name.zh-CN.md is missing is not seen"
        exit 1
    fi
done
