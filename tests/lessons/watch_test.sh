#!/bin/sh
# watch_test.sh ROOT BUILD NVCC: lesson 08's watch.cu, with the solution, on the software device: a
# glider is where it has to be, also when it has gone around the edges, a picture has all frames, and
# a stub's error and a full disk are told.
set -eu
root=$1 build=$2 nvcc=$3
work=$(mktemp -d "${TMPDIR:-/tmp}/watch.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 2' HUP INT TERM
cd "$root"

# The program is not of our build: if that is with AddressSanitizer, its library comes late.
watch() { # PROGRAM ARGUMENT...
    ASAN_OPTIONS="${ASAN_OPTIONS-}:verify_asan_link_order=0:detect_leaks=0" \
        LD_LIBRARY_PATH=$build/emulator/lib "$@"
}

compile() { # LIFE.cu PROGRAM
    "$nvcc" -cudart shared -I lessons/08_life -o "$2" lessons/08_life/watch.cu \
        lessons/08_life/animation.c "$1" -lpng -lz
}

# Lines and columns of what is not empty.
where() {
    LC_ALL=C sed 's/\xe2\x96[\x80-\xbf]/#/g' | awk '
        { for (i = 1; i <= 72; i++) if (substr($0, i, 1) == "#") print NR, i }'
}

compile solutions/08_life/life.cu "$work/watch"
watch "$work/watch" 0 glider | where >"$work/first"
watch "$work/watch" 8 glider | where >"$work/later"
printf '1 2\n1 3\n2 1\n2 2\n2 3\n' | cmp - "$work/first"
awk '{ print $1 + 1, $2 + 2 }' "$work/first" | cmp - "$work/later"
# 44 rows: after 43 steps of four generations it lies across the lower edge.
watch "$work/watch" 172 glider | where >"$work/around"
[ "$(cut -d ' ' -f 1 "$work/around" | sort -u | tr '\n' ' ')" = '1 22 ' ]

# A still picture, then a control chunk for each frame and the data of all frames but the first.
chunks() {
    LC_ALL=C grep -ao "$1" "$work/life.png" | wc -l
}
watch "$work/watch" 20 glider "$work/life.png" >"$work/said"
cmp "$work/said" - <<END
$(watch "$work/watch" 20 glider)
END
[ "$(chunks IDAT) $(chunks fcTL) $(chunks fdAT)" = '1 21 20' ]
[ "$(tail -c 12 "$work/life.png" | od -An -tx1 | tr -d ' \n')" = 0000000049454e44ae426082 ]
if watch "$work/watch" 20 glider /dev/full >"$work/said" 2>&1; then
    echo 'a full disk is no error'
    exit 1
fi
grep -q '/dev/full: it cannot be written' "$work/said"

compile grader/lessons/08_life/stub/life.cu "$work/stub"
if watch "$work/stub" 1 glider >"$work/said" 2>&1; then
    echo 'the stub is no error'
    exit 1
fi
grep -q 'not yet implemented' "$work/said"
