#!/bin/sh
# device_test.sh deb|wheel|arm ROOT BUILD NVCC: the software device as a package, unpacked at another
# place, runs what nvcc built in an empty folder and names what is wrong in it.
#
# arm: the wheel for 64-bit Arm, by tests/arm/run.sh: by its cross compiler, with the Python of the Arm
# Debian in OVERLAP_ARM_ROOT, where the kernel runs Arm programs by qemu.
#
# Where this may mount, the sources and the build are hidden meanwhile. Exit status 0, 1 after what
# was not as expected, or 77 where a tool is missing, or PyPI is not to be asked (OVERLAP_PYTHON).
set -eu
kind=$1
root=$2
build=$3
nvcc=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 2' HUP INT TERM
place="$work/un packed"
mkdir "$place" "$work/nothing" "$work/empty"
umask 077 # packages are for everybody all the same

skip()
{
    echo "skipped: $*"
    exit 77
}

# quietly COMMAND...
quietly()
{
    "$@" >"$work/log" 2>&1 && return
    echo "failed: $*"
    tail -n 20 "$work/log"
    exit 1
}

make_deb()
{
    command -v dpkg-deb >/dev/null || skip 'there is no dpkg-deb to unpack the package with'
    quietly cpack --config "$build/CPackConfig.cmake" -B "$work/made"
    quietly dpkg-deb -x "$work"/made/overlap-emulate_*.deb "$place"
    program=$place/usr/bin/overlap-emulate
    closed=$(find "$place" -mindepth 1 ! -type l ! -perm -o=r)
    [ -z "$closed" ] || { echo "only root reads $closed" && exit 1; }
}

make_wheel()
{
    [ -n "${OVERLAP_PYTHON-}" ] || skip 'OVERLAP_PYTHON=1 builds the wheel, with packages from PyPI'
    python3 -c 'import ensurepip' 2>/dev/null || skip 'there is no python3 with venv here'
    quietly python3 -m venv "$place/venv"
    sed -n '/^requires = /,/^]/s/^  "\(.*\)",$/\1/p' "$root/pyproject.toml" >"$work/requires"
    "$place/venv/bin/pip" download -q --no-deps -d "$work/found" -r "$work/requires" packaging \
        pathspec >"$work/log" 2>&1 || skip "PyPI cannot be reached: $(tail -n 1 "$work/log")"
    quietly "$place/venv/bin/pip" wheel --no-deps --no-index -f "$work/found" -w "$work/made" "$root"
    quietly "$place/venv/bin/pip" install --no-index "$work"/made/overlap_emulate-*.whl
    program=$place/venv/bin/overlap-emulate
}

make_arm()
{
    # What pip goes by.
    export _PYTHON_HOST_PLATFORM=linux-aarch64 CMAKE_TOOLCHAIN_FILE="$root/cmake/arm.cmake"
    make_wheel
    unset _PYTHON_HOST_PLATFORM CMAKE_TOOLCHAIN_FILE
    case $(echo "$work"/made/*) in
    *-py3-none-linux_aarch64.whl) ;;
    *) echo "not an Arm wheel: $(echo "$work"/made/*)" && exit 1 ;;
    esac
    package=$(dirname "$(find "$place/venv" -path '*/overlap_emulate/__init__.py')")
    find "$package" -type f -exec aarch64-linux-gnu-readelf -h {} + 2>/dev/null |
        sed -n 's/^ *Machine: *//p' | sort | uniq -c >"$work/machines"
    if grep -qv AArch64 "$work/machines" || [ ! -s "$work/machines" ]; then
        echo 'programs and libraries in the wheel are for:'
        cat "$work/machines"
        exit 1
    fi
    cat >"$work/nvcc" <<END
#!/bin/sh
exec "$nvcc" -ccbin aarch64-linux-gnu-g++ --target-directory aarch64-linux \
    -Xcompiler "--sysroot=$OVERLAP_ARM_ROOT" -Xlinker "--sysroot=$OVERLAP_ARM_ROOT" "\$@"
END
    cat >"$work/program" <<END
#!/bin/sh
PYTHONHOME="$OVERLAP_ARM_ROOT/usr" PYTHONPATH="${package%/*}" \
    exec "$OVERLAP_ARM_ROOT/usr/bin/python3" -m overlap_emulate "\$@"
END
    chmod +x "$work/nvcc" "$work/program"
    nvcc=$work/nvcc program=$work/program
}

"make_$kind"
cat >"$work/empty/wrong.cu" <<'END'
#include <cstdio>
__global__ void fill(int *to)
{
    to[threadIdx.x] = (int)threadIdx.x;
}
int main()
{
    int *to, last = 0;
    cudaMalloc(&to, 64 * sizeof *to);
    fill<<<1, 64>>>(to);
    cudaMemcpy(&last, to + 63, sizeof last, cudaMemcpyDeviceToHost);
    printf("%d\n", last);
    fill<<<1, 65>>>(to);
    return cudaDeviceSynchronize() == cudaSuccess;
}
END
(cd "$work/empty" && quietly "$nvcc" -g -lineinfo -o wrong wrong.cu)

cat >"$work/try" <<'END'
if [ "$hide" = yes ]; then
    for folder in cmake emulator trace threads; do
        mount --bind "$work/nothing" "$root/$folder"
    done
    mount --bind "$work/nothing" "$build"
fi
cd "$work/empty"
status=0
"$program" --error-exitcode=9 ./wrong >out 2>said </dev/null || status=$?
[ "$status" -eq 9 ] && [ "$(cat out)" = 63 ] && grep -q '^wrong.cu:4: out of bounds' said && exit 0
echo "exit status $status; it printed:"
cat out said
exit 1
END
hide=no
! unshare -m true 2>/dev/null || hide=yes
export work root build program hide
if [ "$hide" = yes ]; then
    unshare -m sh "$work/try"
else
    sh "$work/try"
fi
