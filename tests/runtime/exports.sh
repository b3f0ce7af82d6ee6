#!/bin/sh
# exports.sh OURS THEIRS: every name that the toolkit's library THEIRS exports, with its version, is
# exported by OURS as well. Exit status 1 with the names that are missing, 77 without nm.
set -eu
command -v nm >/dev/null || exit 77

names()
{
    nm -D --defined-only "$1" | awk '$2 ~ /[TWi]/ { print $3 }' | sort
}

names "$2" | grep -q . || { echo "no names in $2" >&2; exit 1; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 2' HUP INT TERM
names "$1" >"$scratch/ours"
names "$2" >"$scratch/theirs"
missing=$(comm -13 "$scratch/ours" "$scratch/theirs")
[ -z "$missing" ] && exit 0
echo "$1 does not export:"
echo "$missing"
exit 1
