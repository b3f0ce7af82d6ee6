#!/bin/sh
# release_test.sh ROOT BUILD NVCC: what `cmake --install` leaves runs at another place, without the
# sources and the build that it came from.
#
# Where this may mount, both are hidden meanwhile. Exit status 0, or 1 after what was not as expected.
set -eu
root=$1
build=$2
toolkit=$(dirname "$(dirname "$3")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 2' HUP INT TERM
place="$work/un packed"

cmake --install "$build" --strip --prefix "$work/made" >"$work/log" 2>&1 || {
    tail -n 5 "$work/log"
    exit 1
}
mv "$work/made" "$place"
mkdir "$work/nothing"
cat >"$work/count.c" <<'END'
#include <cuda_runtime.h>
int main(void)
{
    int count = 0;
    return cudaGetDeviceCount(&count) != cudaSuccess || count != 1;
}
END
cc -I "$toolkit/include" -o "$work/count" "$work/count.c" -L "$toolkit/lib64" -l:libcudart.so.13

cat >"$work/try" <<'END'
failed=0
expect()
{
    expected=$1
    shift
    status=0
    "$@" >"$work/said" 2>&1 </dev/null || status=$?
    [ "$status" -ne "$expected" ] || return 0
    echo "expected exit status $expected, it was $status: $*"
    tail -n 20 "$work/said"
    failed=1
}
if [ "$hide" = yes ]; then
    for folder in grader kernels lessons solutions trace; do
        mount --bind "$work/nothing" "$root/$folder"
    done
    mount --bind "$work/nothing" "$build"
fi
cd "$place"
expect 0 ./grade 01 --solutions
expect 1 ./grade 01
grep -q 'FAILED.*DeviceSync' "$work/said" || { echo 'no check of the stub failed' && failed=1; }
expect 0 ./learn list
expect 0 ./emulate "$work/count"
[ ! -s "$work/said" ] || { cat "$work/said" && failed=1; }
[ ! -e build/CMakeCache.txt ] || { echo 'it was built' && failed=1; }
if grep -rl -F -e "$build" build/grader/toolchain build/emulator build/libraries; then
    echo 'the folder of the build is named there'
    failed=1
fi
exit "$failed"
END
hide=no
! unshare -m true 2>/dev/null || hide=yes
export work root build place hide OVERLAP_TOOLKIT="$toolkit" OVERLAP_LANG=en
if [ "$hide" = yes ]; then
    unshare -m sh "$work/try"
else
    sh "$work/try"
fi
