#!/bin/sh
# measure.sh NVCC EMULATOR LIBRARIES PROBE FOLDER PROGRAM.cu: what `./learn measure` does: compiles a
# lesson's measuring program and runs it on the GPU, or, where there is none, on the software device,
# whose clock is a model: its ratios mean something, its milliseconds do not. Called in the clone.
set -eu
nvcc=$1 emulator=$2 libraries=$3 probe=$4 folder=$5 program=$6
mkdir -p "$folder"
binary=$(mktemp "$folder/measure.XXXXXX")
trap 'rm -f "$binary"' EXIT
trap 'exit 2' HUP INT TERM
echo "compiling $(basename "$(dirname "$program")")/${program##*/} ..." >&2
"$nvcc" -cudart shared -O2 -gencode=arch=compute_75,code=compute_75 -I. -o "$binary" "$program" \
    kernels/multiply_divide.cu
if "$probe" >/dev/null 2>&1; then
    LD_LIBRARY_PATH=$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} "$binary"
else
    echo 'There is no GPU: this is the software device, with fewer and smaller arrays.' >&2
    OVERLAP_MEASURE=small LD_LIBRARY_PATH=$emulator "$binary"
fi
