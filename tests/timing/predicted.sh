#!/bin/sh
# What the virtual clock predicts, beside what a GPU measured: `ninja -C build predicted` writes
# docs/predicted.md by it.
#
#   predicted.sh BUILD rows [gpu]           the rows of rows.cu, on the software device or on the GPU;
#                                           OVERLAP_GPU says whose times the former takes
#   predicted.sh BUILD table MEASURED ROWS  MEASURED is tests/timing/h100.txt or another, ROWS what
#                                           `rows` printed
#   predicted.sh BUILD page [H100 H200]     the page, of two such ROWS (without them they are made,
#                                           which takes minutes)
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
        -o "$work/rows" "$here/rows.cu" "$here/questions.cu" "$root/kernels/multiply_divide.cu" -lcuda \
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

# table MEASURED ROWS
table()
{
    awk -F '\t' -v measured="$1" '
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
    }' "$2" "$1"
}

if [ "$what" = table ]; then
    table "$3" "$4"
    exit
fi
for gpu in h100 h200; do
    if [ -n "${3-}" ]; then
        cp "$3" "$work/$gpu"
        shift
    else
        (OVERLAP_GPU=$gpu && export OVERLAP_GPU && rows) >"$work/$gpu"
    fi
done
cat <<'END'
# Predicted and measured

The software device's virtual clock is a model of a GPU: `emulator/timeline/model.def` has its
parameters, one row each, with what it is and its value on each GPU that `--gpu` names. Here is what it
says of an H100 (80 GB HBM3) and of an H200, beside what one of each measured (driver 580, CUDA 13.0);
`ninja -C build predicted` writes this page. The arrays have 1024 x 1024 floats, the kernel is
`kernels/multiply_divide.cu`, the times are between two events; where measurements differ, both ends are
given, and what lies between them is not off. Rows of one copy, one kernel or one context are where the
table's rates and latencies come from, as far as they were measured; none of the others set any.

## H100

END
table "$here/h100.txt" "$work/h100"
printf '\n## H200\n\n'
table "$here/h200.txt" "$work/h200"
cat <<'END'

## Which rows are off, and why

- A copy of 4 KiB takes a microsecond longer than the model says: alone it also waits for the link's
  answer, which in a row of copies nobody sees.
- Short work is the host's: 128 launches into 128 streams took 0.9 ms one day and 1.07 another, and
  small arrays or a sum of 4 MiB are as long as their calls take. The model has one price for a launch.
- 8 streams, depth-first, with timed events: whether a kernel still finds what was copied in depends
  on how the eight streams are shifted against each other. The model drives it out with the next copy,
  and one GPU has kernels of 8.4 ms on average, between 7.5 and 9.4.
- Breadth-first over 8 queues is slower than the model says, by up to a tenth: the copy engine serves
  two queues to their end before it turns to the next, so that the last queues' kernels begin late. The
  model serves copies in the order of submission.
- 8 arrays at a time, and one kernel behind its copy: how much of a copied array a kernel finds again
  depends on what else is in the cache. On an H200 the kernel took 6.5 ms where the array was there
  before, 7.5 in a row of new arrays, and 8.3 behind 400 MB that were just written.
- 32 queues with timed events: the two orders took 40.7 and 42.4 ms on the H100, 41 to 46 and 37 on the
  H200; the model says what the latter does.
- CUB's 2^28 32-bit integers took 3.8 TB/s between two events here and 4.3 in a run of their own, cold.
- 34 ms for untimed events over 8 queues stand alone: the same without events took 29 to 34 on that
  H100, and 28 on the H200.

## What the model knows

- One copy engine for each direction; both at once share the link. Pageable memory goes through a
  staging buffer: in, the host's memcpy and then the link; out, both at once.
- Kernels share the multiprocessors' issue slots, the places for blocks, and the bandwidth of device
  memory; a kernel takes as long as the longest of its chain of dependent instructions and accesses,
  its instructions through the schedulers, and its bytes through the memory.
- The second-level cache, and how data came into it. The kernel takes 5.8 ms on an H200 where one has
  used its array before, 6.5 where the array was copied in over what was there, and 9.4 where it is in
  memory; what is copied in and was not there (7.5 ms) has a share of a few MiB, out of which the next
  copies drive it. So one array after another is fast, and 200 beside each other are slow.
- Hardware queues, with their false dependencies: a timed event stands in the queue of what its stream
  did last, and takes its stamp when that has ended. Behind a kernel it holds up the other kernels of
  its queue; behind a copy it waits for all copies that the queue was given before.
- What calls and waits cost the host, contexts (one at a time in a process), and from where kernels of
  different contexts take turns.

It does not know of clock rates that change with the load, of other programs on the GPU, or of the
first-level cache but for the other half of a sector.
END
