#!/bin/sh
# gpu.sh FOLDER [PROCESSES [SECONDS]]: runs all cases of the differential test on this machine's GPU
# and leaves in FOLDER
#   results.txt     a hash per case, in the form of a golden file, and what did not run
#   values.N.xz|gz  the outputs themselves, for --compare
#   log.txt         the times, and what a second run gave otherwise
# Needs gcc, the CUDA Toolkit's headers and NVIDIA's driver; nothing else of the project is built.
# DIFFERENTIAL in the environment: a driver that is built already.
set -eu
folder=$1
processes=${2:-12}
seconds=${3:-150}
root=$(cd "$(dirname "$0")/../.." && pwd)
toolkit=${CUDA_HOME:-/usr/local/cuda}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 2' HUP INT TERM
mkdir -p "$folder"
log=$folder/log.txt
: >"$log"

if [ -n "${DIFFERENTIAL:-}" ]; then
    cp "$DIFFERENTIAL" "$work/differential"
else
    gcc -std=c17 -D_GNU_SOURCE -O2 -ffp-contract=off -I"$root" -I"$toolkit/include" \
        "$root"/tests/differential/*.c -o "$work/differential" \
        -L"$toolkit/lib64/stubs" -lcuda -lm 2>>"$log"
fi

# Every module is compiled, and nothing outside the temporary folder is written.
export CUDA_CACHE_DISABLE=1

# run_shards NAME OPTIONS...: all shards at once; their answers are NAME.SHARD.*.
run_shards()
{
    name=$1
    shift
    shard=0
    while [ "$shard" -lt "$processes" ]; do
        timeout -k 5 $((seconds + 30)) "$work/differential" --shard "$shard/$processes" \
            --limit 40 --deadline "$seconds" --results "$work/$name.$shard.results" \
            --values "$work/$name.$shard.values" "$@" \
            >"$work/$name.$shard.log" 2>&1 </dev/null &
        shard=$((shard + 1))
    done
    wait
}

# One line per group of cases, then what was not run.
collect()
{
    cat "$work/$1".*.results | LC_ALL=C sort | awk '
        /^#/ { notes = notes $0 "\n"; next }
        { if (!($1 in line)) group[++count] = $1; line[$1] = line[$1] " " $2 }
        END { for (k = 1; k <= count; k++) print group[k] line[group[k]]; printf "%s", notes }' >"$2"
}

began=$(date +%s)
run_shards first
collect first "$folder/results.txt"
echo "first run: $(($(date +%s) - began)) s, $(grep -o '=' "$folder/results.txt" | wc -l) cases" >>"$log"

# Values: at most four files, each of a quarter of the shards.
if command -v xz >/dev/null; then pack='xz -T0 -1' suffix=xz; else pack='gzip -6' suffix=gz; fi
quarter=0
while [ "$quarter" -lt 4 ]; do
    shard=$quarter
    while [ "$shard" -lt "$processes" ]; do
        [ ! -f "$work/first.$shard.values" ] || cat "$work/first.$shard.values"
        shard=$((shard + 4))
    done | $pack >"$folder/values.$quarter.$suffix"
    quarter=$((quarter + 1))
done
ls -l "$folder" >>"$log"

# What is not the same twice is no golden data.
began=$(date +%s)
run_shards second --golden "$folder/results.txt"
echo "second run: $(($(date +%s) - began)) s" >>"$log"
grep -h -e ': not what a GPU gave' -e ' kernels run' -e 'not run' -e 'inexact' "$work"/second.*.log |
    head -n 4000 >>"$log" || :
echo "first run's own words:" >>"$log"
cat "$work"/first.*.log | head -c 2000000 >>"$log"
