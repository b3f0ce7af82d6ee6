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
# The grader compiles submissions, and the build the kernels that lessons share: both for both GPUs,
# and as PTX, the former for 8.0, the latter for every GPU since Turing.
compiles() { # WHAT CODE FILE ROW
    grep -F "arch=compute_${2#*_},code=$4" "$3" | grep -qF "sm_90" && return
    echo "$1 are not compiled for $2"
    exit 1
}
for code in compute_80 sm_80 sm_90; do
    compiles submissions "$code" "$work/build/grader/toolchain" "$code"
done
for code in compute_75 sm_80 sm_90; do
    compiles kernels "$code" "$work/build/build.ninja" "[$code]"
done
