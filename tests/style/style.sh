#!/bin/sh
# style.sh RULE ROOT: one rule about the form of the files under git in ROOT.
#   lines      no file is longer than 1,000 lines (a catalogue of sentences in po/ may be)
#   functions  no function outside of tests/ is longer than 60 lines, from its name to its brace
#   blanks     no tabs, no blanks at the end of a line
#   format     C and CUDA are as clang-format 14 with our .clang-format leaves them
#   private    a room's private header (parts.h, private.h, internal.h) is included inside it only
#   shell      shellcheck has nothing to say
#   temporary  what makes a temporary file removes it, however it ends, and asks TMPDIR where
# Exit status 0, 1 with the offending lines, 77 where the tool (or git) is missing.
set -eu
rule=$1
cd "$2"

skip()
{
    echo "skipped: $*" >&2
    exit 77
}

# Not looked at: PTX, which is as nvcc wrote it, and what tests compare output with.
# A hostile submission is kept as it was written.
our_git() { git -c "safe.directory=$PWD" "$@" -- ':!*.ptx' ':!*.golden' ':!tests/hostile/*/*'; }

# The files under git that are here: a file being deleted is still listed.
files()
{
    our_git ls-files | while IFS= read -r file; do
        [ ! -f "$file" ] || printf '%s\n' "$file"
    done
}

lines()
{
    files | grep -v '\.po$' | while IFS= read -r file; do
        count=$(grep -Ic '' "$file" || true)
        if [ "${count:-0}" -gt 1000 ]; then
            echo "$file: $count lines; a file does one thing, and 1,000 lines are enough for it"
        fi
    done
}

# Functions as clang-format leaves them: the name and both braces of the body in the first column.
functions()
{
    files | grep -E '\.(c|h|cu|cuh)$' | grep -v '^tests/' | xargs -d '\n' awk '
        FNR == 1 { first = body = 0 }
        /^[A-Za-z_]/ { first = FNR }
        /^\{/ { body = first }
        /^\}/ && body {
            if (FNR - body + 1 > 60)
                print FILENAME ":" body ": " FNR - body + 1 " lines; a function has at most 60"
            body = 0
        }'
}

blanks() { our_git grep -nIE -e "$(printf '\t')" -e '[[:blank:]]+$' || true; }

format()
{
    clang-format --version 2>/dev/null | grep -q 'version 14\.' || skip 'no clang-format 14 here'
    files | grep -E '\.(c|h|cu|cuh)$' | xargs -d '\n' clang-format --dry-run 2>&1
}

private()
{
    our_git grep -nE '^#include "[^"]*/(parts|private|internal)\.h"' | grep -v '^tests/' |
        awk -F '[:"]' '{
            file = $1
            header = $4
            sub("/[^/]*$", "", file)
            sub("/[^/]*$", "", header)
            if (file != header) print
        }'
}

shell()
{
    command -v shellcheck >/dev/null || skip 'no shellcheck here'
    files | while IFS= read -r file; do
        if head -n 1 "$file" | grep -qaE '^#!/bin/sh|^# shellcheck shell=sh'; then
            shellcheck -x "$file" || true
        fi
    done
}

# A script that a signal ends does what its EXIT says only where a trap exits. What a test names in
# /tmp itself is not seen by ./selftest, which looks at TMPDIR.
temporary()
{
    our_git grep -lE '\bmktemp\b' | grep -vE '\.(c|h|md|py)$' | while IFS= read -r file; do
        if [ "$file" = tests/style/style.sh ] || [ ! -f "$file" ]; then continue; fi
        grep -qE '\btrap .* EXIT\b' "$file" || echo "$file: mktemp, and no trap that removes it at EXIT"
        grep -qE "\btrap 'exit [0-9]+' HUP INT TERM\b" "$file" ||
            echo "$file: mktemp, and no trap 'exit N' HUP INT TERM"
    done
    files | grep -E '\.(c|h|cu|cuh)$' | xargs -d '\n' grep -nE '"/tmp/[^"]*(XXXXXX|%)' |
        sed 's|$|   <- not below TMPDIR: tests/temporary.h, trace/scratch.h|'
}

our_git ls-files >/dev/null 2>&1 || skip 'this folder is no git clone'
case $rule in
lines) findings=$(lines) ;;
functions) findings=$(functions) ;;
blanks) findings=$(blanks) ;;
format) findings=$(format) ;;
private) findings=$(private) ;;
shell) findings=$(shell) ;;
temporary) findings=$(temporary) ;;
*) findings="no such rule: $rule" ;;
esac
[ -z "$findings" ] && exit 0
printf '%s\n' "$findings"
exit 1
