#!/bin/sh
# Runs the recorder on a real GPU: a program whose record is known is run under it, the record is
# shown, and what must be in it is counted. For a machine with a GPU; CTest does not run it.
#
#   tests/recorder/gpu.sh BUILD [NVCC]        BUILD: the build folder, with recorder and trace_dump
set -eu

if [ $# -lt 1 ]; then
    echo "usage: tests/recorder/gpu.sh BUILD [NVCC]" >&2
    exit 2
fi
build=$1
nvcc=${2:-nvcc}
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 2' HUP INT TERM

"$nvcc" -cudart shared -gencode arch=compute_75,code=compute_75 -lineinfo -g -shared \
    -Xcompiler -fPIC -o "$work/lesson.so" "$here/sample.cu"
echo 'int sample(void); int main(void) { return sample(); }' |
    cc -x c - -x none "$work/lesson.so" -Wl,-rpath,"$work" -Wl,--allow-shlib-undefined -o "$work/sample"
libraries=$(dirname "$(dirname "$(readlink -f "$(command -v "$nvcc")")")")/lib64
"$build/grader/trace_dump" --create "$work/trace"
OVERLAP_TRACE=$work/trace CUDA_INJECTION64_PATH=$build/recorder/librecorder.so \
    LD_LIBRARY_PATH=$libraries "$work/sample"
"$build/grader/trace_dump" "$work/trace" | tee "$work/dump"

failed=0
# expect COUNT PATTERN: so many lines match
expect() {
    found=$(grep -c -E "$2" "$work/dump" || true)
    if [ "$found" != "$1" ]; then
        echo "gpu.sh: $found lines match \"$2\", but $1 should" >&2
        failed=1
    fi
}
expect 1 '^setting +recorder .*"on"'
expect 4 '^operation kernel .*turn.*stream=.*count=64 '
expect 4 '^operation copy pinned->device async .*bytes=4194304 '
expect 4 '^operation copy device->pinned async .*bytes=4194304 '
expect 1 '^operation copy pageable->device .*bytes=4096 '
expect 1 '^operation memset .*bytes=4096 '
expect 4 '^create +stream [^i]*caller='
expect 4 '^destroy +stream '
expect 4 '^create +pinned memory .*bytes=4194304 '
expect 4 '^destroy +pinned memory '
expect 4 '^create +device memory .*bytes=4194304 '
expect 3 '^destroy +device memory [^i]*caller='
expect 1 '^create +event '
expect 1 '^destroy +event '
expect 1 '^call +cudaEventRecord .*stream=.*object='
expect 4 '^call +cudaLaunchKernel .*stream=.*caller='
expect 1 '^call +cudaMalloc code=2 '
exit $failed
