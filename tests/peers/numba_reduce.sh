#!/bin/sh
# Times lesson 07's solution beside Numba's `cuda.reduce`, by turns in one process, on one array that
# is on the device:
#
#   numba_reduce.sh [--rounds=N] [int32:LOG2 | int64:LOG2]...
#
# A sample is one call between two events in the default stream, behind which nothing else is queued:
# what the host does in the call counts, for both. Either leaves its sum on the device, which is
# looked at after each sample. Prints a table of medians. Without words: 2^27 of 8 bytes, 2^28 of 4,
# and 2^20 of both, 25 rounds.
#
# Needs nvcc (on PATH or in /usr/local/cuda) and a Python with numba-cuda: PYTHON, or python3.
# ./emulate tests/peers/numba_reduce.sh --rounds=2 int64:12 tries it without a GPU.
# Exit status 0; 1: an answer is wrong, or a call fails; 2: nvcc, numba-cuda or a GPU is missing.
set -u
here=$(dirname "$(readlink -f "$0")")
root=$(readlink -f "$here/../..")
rounds=25 subjects=
for word; do
    case $word in
    --rounds=[1-9]*) rounds=${word#*=} ;;
    int32:[0-9]* | int64:[0-9]*) subjects="$subjects $word" ;;
    *)
        echo "numba_reduce: $word is neither --rounds=N nor int32:LOG2 nor int64:LOG2"
        exit 2
        ;;
    esac
done
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
[ -x "$nvcc" ] || {
    echo "numba_reduce: nvcc is neither on PATH nor in /usr/local/cuda"
    exit 2
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 2' HUP INT TERM
# As cmake/overlap.cmake has a submission compiled: PTX, and the code of the GPU that is there.
set -- -gencode=arch=compute_75,code=compute_75
chip=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | sed -n '1s/\.//p')
[ -z "$chip" ] || set -- "$@" "-gencode=arch=compute_$chip,code=sm_$chip"
"$nvcc" -O2 -std=c++17 "$@" -shared -Xcompiler -fPIC -I "$root" -I "$root/lessons/07_reductions" \
    -o "$work/solution.so" "$here/numba_reduce.cu" || exit 2
# Where numba-cuda looks for the toolkit's libraries; ./emulate, whose nvcc is its own, says it.
: "${CUDA_HOME:=${CUDA_ROOT:-$(dirname "$(dirname "$(readlink -f "$nvcc")")")}}"
export CUDA_HOME
# shellcheck disable=SC2086 # a list of words
"${PYTHON:-python3}" "$here/numba_reduce.py" "$work/solution.so" "$rounds" \
    ${subjects:-int64:27 int32:28 int64:20 int32:20}
