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
trap 'exit 2' HUP INT TERM

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
says of an H100 (80 GB HBM3) and of an H200, beside what two of the former and one of the latter measured
(driver 580, CUDA 13.0); `ninja -C build predicted` writes this page. The arrays have 1024 x 1024 floats,
the kernel is `kernels/multiply_divide.cu`, the times are between two events; where measurements differ,
both ends are given, and what lies between them is not off. Rows of one copy, one kernel or one context,
and an H100's answers to `tests/timing/questions.cu`, are where the table's rates and latencies come from;
of the rows of many arrays the H200's 2 and 8 streams set the cache's share for arrays that follow each
other, and those of 32 small arrays the host's prices within what a series of calls measured.

## H100

END
table "$here/h100.txt" "$work/h100"
printf '\n## H200\n\n'
table "$here/h200.txt" "$work/h200"
cat <<'END'

## Which rows are off, and why

- Pageable arrays, breadth-first, on the H100: the 209 to 225 ms leave 8.5 GB/s for 200 copies out of
  4 MiB, where one of 256 MiB goes out at 11.4; on the H200 both have 14 to 15. The model has one rate.
- 128 launches into 128 streams: a launch took 4.4 us in one process with 8 queues on the H100, and 3.0
  to 3.5 in those with 1 and 32, which is the host's; the model says 4.
- 32 small arrays, breadth-first over 8 queues, on the H200: in the model the first queue's kernels wait
  for the last queue's copies, as those of large arrays do. With 32 queues it says less than with 8, and
  the H100, depth-first, took less with 8 than with 1: here the host's share varies by as much.

Where measurements of the same thing contradict each other, both ends stand in the table:

- 32 queues with timed events, 100 arrays breadth-first: 40.7 ms on one H100, 45.1 to 47.2 on the other,
  41 to 46 on the H200. There a queue's events are stamped when the copy engine comes to it a second
  time, and in some runs it does so early; the model lets them wait to the last, as most runs do.
- Depth-first with timed events over 8 queues the H200 took 239 ms and the H100s 243.5 to 250, from run
  to run: in the order 0, 1, ..., 7 in which queues are copied in, the last one's kernels begin 13 ms late.
- CUB's 2^28 32-bit integers: 3065 GB/s in a run of their own, 2512 where 1 GiB had been freed just
  before, which is cleared meanwhile. The row's program does the latter, and so does the model.
- Contexts: 0.10 s on one H100, 0.15 on the other.

## What the model knows

- One copy engine for each direction; both at once share the link, a little more of it to the device.
  A lone copy also waits for the link's answer, which in a row of copies nobody sees. Pageable memory
  goes through a staging buffer: in, the host's memcpy and then the link; out, both at once.
- A copy engine serves a hardware queue to its end before it turns to the next: 200 copies over 8 queues
  come in the order 0, 8, 16, ..., 192, 1, 9, ... What hands kernels over does the same, and at a queue
  whose first kernel waits for its copy it waits, too (for 2 ms at most), even if kernels of other queues
  are ready. Breadth-first over 8 queues the first queue is left when two of its kernels have been
  submitted, and the others of it begin last: a tenth more than over one queue. While kernels of other
  queues wait for their copies, a copy takes up to 12 % longer.
- Kernels share the multiprocessors' issue slots, the places for blocks, and the bandwidth of device
  memory; a kernel takes as long as the longest of its chain of dependent instructions and accesses,
  its instructions through the schedulers, and its bytes through the memory. Freed memory, by all that
  shows, is cleared in the background, at 490 GB/s of that bandwidth.
- The second-level cache, and how data came into it. The kernel takes 5.9 ms where one has used its array
  before, 6.6 where the array was copied in over what was there, and 9.5 where it is in memory. Of 32 MiB
  used before nine tenths are found again, of 36 a third. What is copied in and was not there drives out
  nothing that is used, and is itself driven out by what comes next: 8.3 ms where all of the cache is in
  use, 7.65 where what was used has been copied out since, as in a row of arrays. So one array after
  another is fast, and 200 beside each other are slow.
- The first-level cache, what of each multiprocessor's memory is not shared memory: lines of 128 bytes
  in sectors of 32, each warp with the same part of them, of which a quarter counts. Whether a load finds its sectors there is
  judged for the first 2,048 instructions of each warp of a launch's first block, in the first launch of a
  kernel with this grid; the rest is taken to be like them (`emulator/exec/machine/probe.h`). What is
  found goes neither to the second-level cache nor to memory, and takes 41 cycles to wait for; all
  accesses of a multiprocessor, those to shared memory by their bank conflicts, pass one after the other.
- Barriers of a block: 2.1 cycles a warp, which is published, and 42 until what stands before them is
  done, fitted to Life in shared memory ([book.md](book.md)).
- Hardware queues, with their false dependencies: a timed event stands in the queue of what its stream
  did last, and takes its stamp when that has ended. Behind a kernel it holds up the other kernels of
  its queue; behind a copy it waits for all copies that the queue was given before, and, unless it
  stands directly behind its own, until there is nothing to copy.
- What calls and waits cost the host, by what they submit and whether it goes into another queue than
  the latest, contexts (one at a time in a process), and from where kernels of different contexts take
  turns.

It does not know of clock rates that change with the load, of other programs on the GPU, or of what the
last compiler makes of the code: loads that it puts together are waited for one by one.
tests/timing/questions.cu is the program that asked an H100 for all this but the first-level cache and the
barriers; its stamps show the order, the cache and the calls one by one.
END
