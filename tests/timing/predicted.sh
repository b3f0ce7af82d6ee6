#!/bin/sh
# What the virtual clock predicts, beside what a GPU measured: `ninja -C build predicted` writes
# docs/predicted.md by it.
#
#   predicted.sh BUILD rows [gpu]           the rows of rows.cu, on the software device or on the GPU;
#                                           OVERLAP_GPU says whose times the former takes
#   predicted.sh BUILD table MEASURED [ROWS]  the page: MEASURED is tests/timing/h100.txt or another, ROWS
#                                           what `rows` printed (without it, it is run: minutes)
#
# rows.cu is compiled with the nvcc on PATH, or in /usr/local/cuda. Exit status 0; 1 when it cannot be
# compiled or run.
set -eu
here=$(dirname "$(readlink -f "$0")")
root=$(readlink -f "$here/../..")
build=$(readlink -f "$1")
what=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

rows()
{
    nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
    "$nvcc" -cudart shared -O2 -std=c++17 -gencode=arch=compute_75,code=compute_75 -I "$root" \
        -o "$work/rows" "$here/rows.cu" "$root/kernels/multiply_divide.cu" -lcuda \
        -L "$(dirname "$nvcc")/../lib64/stubs" >&2
    libraries=$(dirname "$nvcc")/../lib64
    if [ "${1-}" != gpu ]; then
        libraries=$build/emulator/lib
        # What it finds is of no interest here, and the clock is exact: each row once.
        export OVERLAP_QUIET=all OVERLAP_RACES=off OVERLAP_MEASURE=1
    fi
    export LD_LIBRARY_PATH="$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
    "$work/rows" device
    for queues in 1 8 32; do CUDA_DEVICE_MAX_CONNECTIONS=$queues "$work/rows" lanes; done
}

if [ "$what" = rows ]; then
    rows "${3-}"
    exit
fi
measured=$3
if [ -n "${4-}" ]; then cp "$4" "$work/predicted"; else rows >"$work/predicted"; fi
cat <<'END'
# Predicted and measured

The software device's virtual clock is a model of a GPU: `emulator/timeline/model.def` has its
parameters, one row each, with what it is and its value on each GPU that `--gpu` names. Here is what it
says of an H100, beside what one measured (80 GB HBM3, driver 580, CUDA 13.0); `ninja -C build predicted`
writes this page. The arrays have 1024 x 1024 floats, the kernel is `kernels/multiply_divide.cu`, the
times are between two events; where measurements differ, both ends are given, and what lies between
them is not off.

END
awk -F '\t' -v measured="$measured" '
    function short(value) { return value >= 100 ? sprintf("%.0f", value) : sprintf("%.3g", value) }
    FILENAME != measured { predicted[$1] = $2; unit[$1] = $3; next }
    /^#/ || split($0, field, / [|] /) < 3 { next }
    {
        $1 = field[1]; $2 = field[2]; $3 = field[3]
        if (!($1 in predicted)) { missing = missing "\n- " $1; next }
        ends = split($2, end, " ")
        low = end[1] + 0; high = end[ends] + 0; p = predicted[$1]
        off = p < low ? p / low - 1 : p > high ? p / high - 1 : 0
        size = off < 0 ? -off : off
        rows++; close5 += size <= 0.05; close10 += size <= 0.10
        if (size > worst) { worst = size; which = $1 }
        line[rows] = sprintf("| %s | %s %s | %s | %s | %s |", $1, short(p), unit[$1], \
            ends > 1 ? end[1] " to " end[2] : $2, size < 0.0005 ? "" : sprintf("%+.1f %%", 100 * off), $3)
    }
    END {
        printf "%d of %d rows are within 5 %%, %d within 10 %%; furthest off is \"%s\", by %.0f %%.\n\n", \
            close5, rows, close10, which, 100 * worst
        print "| row | predicted | measured | off | where it was measured |"
        print "|---|---|---|---|---|"
        for (i = 1; i <= rows; i++) print line[i]
        if (missing != "") print "\nNot predicted:" missing
    }' "$work/predicted" "$measured"
cat <<'END'

## What the model knows

- One copy engine for each direction; both at once share the link. Pageable memory goes through a
  staging buffer, on the host's time.
- Kernels share the multiprocessors' issue slots, the places for blocks, and the bandwidth of device
  memory; a kernel takes as long as the longest of its chain of dependent instructions and accesses,
  its instructions through the schedulers, and its bytes through the memory.
- The second-level cache. One kernel alone takes 7.6 ms behind its copy, and 9.5 beside many: not
  because it shares anything, but because what was copied in has left the cache by then. The same
  kernel over 8 arrays at a time (32 MiB) is fast, over 32 (128 MiB) slow.
- Hardware queues, with their false dependencies: a timed event takes its stamp when the work before it
  has ended, and until then it holds up its queue.
- What calls cost the host, contexts (one at a time in a process), and from where kernels of different
  contexts take turns.

It does not know of clock rates that change with the load, of other programs on the GPU, or of the
first-level cache but for the other half of a sector.
END
