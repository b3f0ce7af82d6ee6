#!/bin/sh
# search_path.sh FILE...: none of these programs and libraries takes a library from the current folder,
# which may be one that somebody handed in. Exit status 1 with those that were taken.
set -eu
unset LD_LIBRARY_PATH
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 2' HUP INT TERM
cd "$scratch"

for file; do
    needed=$(ldd "$file" | awk '$2 == "=>" && $3 ~ "^/" { print $3 }')
    [ -n "$needed" ] || { echo "$file needs no library?" && exit 1; }
    for library in $needed; do
        cp "$library" .
    done
    if ldd "$file" | awk '$1 !~ "^linux-vdso" && $1 !~ "^/" && $3 !~ "^/"' | grep .; then
        echo "$file took these from the current folder"
        exit 1
    fi
    rm -f ./*
done
