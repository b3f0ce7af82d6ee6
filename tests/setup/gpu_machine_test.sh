#!/bin/sh
# gpu_machine_test.sh ROOT NVCC: the project can be configured where there are GPUs, whose own machine
# code is then compiled beside the PTX: with an nvidia-smi that names two.
# Exit status 0, or 1 with what CMake said.
set -eu
root=$1 nvcc=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 2' HUP INT TERM
mkdir "$work/bin"
printf '#!/bin/sh\necho 9.0\necho 8.0\necho 9.0\n' >"$work/bin/nvidia-smi"
chmod +x "$work/bin/nvidia-smi"
PATH=$work/bin:$PATH cmake -S "$root" -B "$work/build" -G Ninja -D CMAKE_CUDA_COMPILER="$nvcc" \
    >"$work/log" 2>&1 || {
    grep -A 8 'CMake Error' "$work/log" | head -n 20
    exit 1
}
[ -f "$work/build/grader/toolchain" ] || {
    echo 'where is what the grader compiles with?'
    exit 1
}
# The grader compiles submissions, and the build the kernels that lessons share, for all three.
for code in compute_75 sm_80 sm_90; do
    virtual=compute_${code#*_}
    grep -qF "arch=$virtual,code=$code" "$work/build/grader/toolchain" &&
        grep -F "arch=$virtual,code=[$code]" "$work/build/build.ninja" | grep -qF "code=[sm_90]" &&
        continue
    echo "submissions or kernels are not compiled for $code"
    exit 1
done
