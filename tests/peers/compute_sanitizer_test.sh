#!/bin/sh
# Promises of compute_sanitizer.sh: every run comes to its end with the inputs that the grader drew,
# what the solution triggers too is not counted, and what is left names the mistake.
#
#   compute_sanitizer_test.sh BUILD
set -u
here=$(dirname "$(readlink -f "$0")")
wanted='01_device_sync/never_freed memcheck=named initcheck=nothing racecheck=nothing synccheck=nothing
  memcheck: Invalid __global__ read of size N

named by                  mistakes  memcheck  initcheck  racecheck  synccheck       any   untried
01_device_sync                   2         1          0          0          0         1         0
all                              2         1          0          0          0         1         0'
# As it is built, and as a machine with a GPU runs it, whose runtime is somewhere else.
for where in --jobs=2 "--libraries=$1/emulator/lib"; do
    said=$(COMPUTE_SANITIZER=$here/stand_in.sh "$here/compute_sanitizer.sh" "$1" --device=emulator \
        --jobs=2 "$where" 01_device_sync/never_freed 01_device_sync/sum_in_float) &&
        [ "$said" = "$wanted" ] && continue
    printf '%s\n' "$where" "$said"
    exit 1
done
