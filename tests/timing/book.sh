#!/bin/sh
# Figures of the book's table (docs/book.md) that no row of rows.cu has:
#
#   book.sh BUILD [gpu]       on the software device, whose times OVERLAP_GPU chooses, or on the GPU
#
# Compiled with the nvcc on PATH, or in /usr/local/cuda. Exit status 0; 1 when it cannot be compiled or run.
set -eu
here=$(dirname "$(readlink -f "$0")")
root=$(readlink -f "$here/../..")
build=$(readlink -f "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 2' HUP INT TERM
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)

for lesson in 08_life/life 09_honest_timing/timing 12_matmul/matmul; do
    "$nvcc" -O2 -std=c++17 -gencode=arch=compute_75,code=compute_75 -I "$root/lessons/${lesson%/*}" \
        -c -o "$work/${lesson%/*}.o" "$root/solutions/$lesson.cu"
done
"$nvcc" -cudart shared -O2 -std=c++17 -gencode=arch=compute_75,code=compute_75 -o "$work/book" \
    "$here/book.cu" "$work"/*.o
if [ "${2-}" != gpu ]; then
    LD_LIBRARY_PATH="$build/emulator/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
    # What it finds is of no interest here.
    export LD_LIBRARY_PATH OVERLAP_QUIET=all OVERLAP_RACES=off OVERLAP_NATIVE=on
fi
"$work/book"
