#!/bin/sh
# run.sh [CTEST'S OPTIONS]: builds everything for 64-bit Arm in build-arm/ with Debian's cross compiler
# and NVIDIA's nvcc, and runs under qemu the device's and the grader's unit tests, what an H200 answered
# (tests/differential), and CUDA programs by ./emulate; and makes the device's wheel for Arm, by which
# an Arm Python runs one. An Arm Debian, for its libraries, and the Arm half of the toolkit are fetched
# into build-arm/ once (550 MB).
#
# By hand, as root (debootstrap), with packages of Debian's: debootstrap gcc-aarch64-linux-gnu
# g++-aarch64-linux-gnu qemu-user-static python3-venv. Exit status: ctest's, or 1 where it was not
# built or the wheel was not right.
#
# Left out: grader_process_test, because qemu knows no seccomp; trace_test and threads_test, because it
# takes MADV_WIPEONFORK and does nothing; and where the kernel is older than Linux 6.7, all that starts
# Arm programs. What grades, and programs of the lessons, need a real Arm machine: ./selftest.
set -eu
root=$(dirname "$(dirname "$(dirname "$(readlink -f "$0")")")")
build=$root/build-arm
toolkit=$build/toolkit
OVERLAP_ARM_ROOT=$build/debian
export OVERLAP_ARM_ROOT
native=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
native=$(dirname "$(dirname "$(readlink -f "$native")")")

packages=libc6-dev,libstdc++-12-dev,check,libzstd-dev,liblz4-dev,libdw-dev,libelf-dev,libseccomp-dev,\
libpng-dev,libncurses-dev,libjansson-dev,libarchive-dev,python3-minimal
if [ "$(cat "$build/debian.done" 2>/dev/null)" != "$packages" ]; then
    mkdir -p "$build"
    rm -rf "$build/debian"
    debootstrap --arch=arm64 --foreign --variant=minbase --include="$packages" bookworm \
        "$build/debian" >"$build/debian.log" || exit 1
    # Unpacked, nothing of it is run or set up.
    for package in "$build"/debian/var/cache/apt/archives/*.deb; do
        dpkg -x "$package" "$build/debian"
    done
    echo "$packages" >"$build/debian.done"
fi

# The native compilers and headers, beside them the libraries of the Arm wheels.
if [ ! -e "$build/toolkit.done" ]; then
    rm -rf "$toolkit" "$build/wheels"
    arm=$toolkit/targets/aarch64-linux
    mkdir -p "$toolkit/bin" "$arm"
    cat "$root/cmake/toolkit.txt" "$root/cmake/toolkit-tests.txt" |
        sed -n 's/^aarch64 \(.*nvidia_cuda_\(runtime\|cupti\|nvrtc\)-\)/\1/p' |
        xargs -n 2 cmake -P "$root/cmake/wheel.cmake" "$build/wheels"
    for program in "$native"/bin/*; do
        ln -s "$program" "$toolkit/bin/"
    done
    # It looks for the rest from where it really is.
    rm "$toolkit/bin/nvcc" "$toolkit/bin/nvcc.profile"
    cp -L "$native/bin/nvcc" "$native/bin/nvcc.profile" "$toolkit/bin/"
    ln -s "$native/nvvm" "$toolkit/nvvm"
    ln -s "$native/targets/x86_64-linux" "$toolkit/targets/x86_64-linux"
    ln -s "$native/targets/x86_64-linux/include" "$arm/include"
    cp -R "$build/wheels/nvidia/cu13/lib" "$arm/lib"
    for library in "$arm"/lib/lib*.so.*; do
        ln -s "${library##*/}" "${library%%.so.*}.so"
    done
    # NVIDIA's stub of the driver is in no wheel.
    mkdir "$arm/lib/stubs"
    aarch64-linux-gnu-gcc --sysroot="$build/debian" -shared -Wl,-soname,libcuda.so.1 -xc /dev/null \
        -o "$arm/lib/stubs/libcuda.so"
    ln -s targets/aarch64-linux/include "$toolkit/include"
    ln -s targets/aarch64-linux/lib "$toolkit/lib64"
    : >"$build/toolkit.done"
fi

[ -f "$build/build.ninja" ] ||
    (cd "$root" && cmake --preset arm -D CMAKE_CUDA_COMPILER="$toolkit/bin/nvcc" \
        -D CUDAToolkit_ROOT="$toolkit") >"$build/configure.log" 2>&1 ||
    { tail -n 20 "$build/configure.log" && exit 1; }
ninja -C "$build"
pattern='(base|fatbin|races|memory)_test|(exec|ptx|memory|races|fatbin)_.*_test'
pattern="$pattern|timeline_(order|clock|happens)_test|trace_(fold|lines|sentence)_test"
pattern="$pattern|grader_(base|parts|evidence)_test"
pattern="$pattern|differential[.]kernels[.].*"
echo 'left out: grader_process_test (qemu knows no seccomp)'
echo 'left out: trace_test, threads_test (qemu takes MADV_WIPEONFORK and does nothing)'
status=0
ctest --test-dir "$build" -R "^($pattern)\$" --output-on-failure "$@" || status=$?

# by_qemu COMMAND...: where Arm programs can be started, in a user namespace whose own binfmt_misc says
# how. The words: an ELF file of 64 bits, a program or library, for AArch64. The library path: NVRTC's
# wheel for Arm does not look for the other half of it where it lies.
start='\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00'
mask='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'
mkdir -p "$build/nvrtc"
ln -sf "$toolkit"/lib64/libnvrtc-builtins.so.* "$build/nvrtc/"
by_qemu()
{
    # shellcheck disable=SC2016 # the inner shell's
    QEMU_LD_PREFIX=$OVERLAP_ARM_ROOT LD_LIBRARY_PATH=$build/nvrtc unshare --map-root-user --mount sh -c '
        mount -t binfmt_misc none /proc/sys/fs/binfmt_misc &&
        printf "%s\n" "$0" >/proc/sys/fs/binfmt_misc/register && exec "$@"' \
        ":arm:M::$start:$mask:$(command -v qemu-aarch64-static):F" "$@"
}
if ! by_qemu true 2>/dev/null; then
    echo 'left out: what starts Arm programs (needs Linux 6.7, and user namespaces), and the wheel'
    exit "$status"
fi
pattern='front_(nvcc|nvrtc|static|bindings|tables|environment)|runtime_(test|exports|absent_test)'
pattern="$pattern|gpu[.].*|conformance[.].*|programs_[a-mo-z].*[.]latest"
by_qemu ctest --test-dir "$build" -R "^($pattern)\$" --output-on-failure "$@" || status=$?
OVERLAP_PYTHON=1 by_qemu "$root/tests/setup/device_test.sh" arm "$root" "$build/emulator" \
    "$toolkit/bin/nvcc" || [ $? -eq 77 ] || status=1
exit "$status"
