#!/bin/sh
# translations.sh ROOT: each text for students is there in Chinese, and says as much.
#   Every lesson's README.md and answers.md, the README.md in ROOT and docs/glossary.md have a
#   NAME.zh-CN.md beside them, and the first line of each links to the other. Any other NAME.zh-CN.md
#   is held to the same. The two have the same headings, paragraphs, items and rows in the same order,
#   the same blocks of code (comments aside), and name the same things `like_this` in each section.
# Exit status 0, 1 with what differs.
set -eu
export LC_ALL=C
cd "$1"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 2' HUP INT TERM

# What a translation leaves as it is: the form of the text on stdin, a line for each part.
form()
{
    awk '
        function end_section(    count, parts, i, j, name) {
            count = split(section, parts, "`")
            for (i = 2; i <= count; i += 2) {
                name = parts[i]
                for (j = i; j > 2 && parts[j - 2] > name; j -= 2) parts[j] = parts[j - 2]
                parts[j] = name
            }
            for (i = 2; i <= count; i += 2)
                if (i == 2 || parts[i] != parts[i - 2]) print "names " parts[i]
            section = ""
        }
        NR == 1 { next }
        /^```/ {
            code = !code
            inside = ""
            print
            next
        }
        code {
            sub(/(^|[ ]+)(# |\/\/).*/, "")
            sub(/(^|[ ]+)\/\*.*\*\//, "")
            print "  " $0
            next
        }
        /^#+ / {
            end_section()
            print "heading of level " index($0, " ") - 1
        }
        /^\|/ { print "row of " gsub(/\|/, "|") - 1 }
        /^(- |[0-9]+\. )/ {
            print "item"
            inside = "item"
        }
        /^$/ || /^#+ / || /^\|/ { inside = "" }
        !/^$/ && !/^#+ / && !/^\|/ && inside == "" {
            print "paragraph"
            inside = "paragraph"
        }
        { section = section " " $0 }
        END { end_section() }'
}

# Paragraphs and items of the text on stdin that have no word of Chinese in them.
untranslated()
{
    awk '
        function flush() {
            if (said ~ /[A-Za-z]/ && said !~ /[\200-\377]/) print said
            said = ""
        }
        /^```/ {
            flush()
            code = !code
            next
        }
        code { next }
        /^$/ || /^#/ || /^\|/ || /^(- |[0-9]+\. )/ { flush() }
        !/^#/ && !/^\|/ { said = said (said == "" ? "" : " ") $0 }
        END { flush() }'
}

links() { head -n 1 "$1" | grep -qF "](${2##*/})"; }

compare()
{
    english=$1 chinese=$2
    if [ ! -f "$english" ] || [ ! -f "$chinese" ]; then
        [ -f "$english" ] || echo "$chinese: $english is missing"
        [ -f "$chinese" ] || echo "$english: $chinese is missing"
        return
    fi
    links "$english" "$chinese" || echo "$english: its first line does not link to ${chinese##*/}"
    links "$chinese" "$english" || echo "$chinese: its first line does not link to ${english##*/}"
    form <"$english" >"$work/english"
    form <"$chinese" >"$work/chinese"
    diff -U 3 "$work/english" "$work/chinese" >"$work/differences" || {
        echo "$chinese: not what ${english##*/} has (-: only in English, +: only in Chinese)"
        tail -n +3 "$work/differences"
    }
    untranslated <"$chinese" | while IFS= read -r passage; do
        echo "$chinese: not in Chinese: $passage"
    done
}

{
    ls README.md docs/glossary.md lessons/*/README.md solutions/*/answers.md
    find . -name .git -prune -o -name .toolkit -prune -o -name 'build*' -prune -o \
        -name '*.zh-CN.md' -print | sed 's|^\./||; s|\.zh-CN\.md$|.md|'
} | sort -u | while IFS= read -r text; do
    compare "$text" "${text%.md}.zh-CN.md"
done >"$work/findings"
[ -s "$work/findings" ] || exit 0
cat "$work/findings"
exit 1
