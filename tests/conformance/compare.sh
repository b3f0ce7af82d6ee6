#!/bin/sh
# compare.sh PROGRAM EXPECTED: runs the program; what it prints must be what the file says.
set -eu
output=$(mktemp)
trap 'rm -f "$output"' EXIT
trap 'exit 2' HUP INT TERM
"$1" >"$output" 2>/dev/null
diff "$2" "$output"
