#!/bin/sh
# smi_test.sh EMULATE: what scripts ask nvidia-smi before they build or run something, under
# ./emulate. Exit status 0, or 1 after a line for everything that was not so.
set -u
emulate=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 2' HUP INT TERM
failures=0
cd "$work" || exit 1
unset CUDA_VISIBLE_DEVICES OVERLAP_QUIET

# smi STATUS OPTIONS...: it ends so, and says nothing on stderr
smi()
{
    wanted=$1 status=0
    shift
    options="$*"
    "$emulate" nvidia-smi "$@" >out 2>err </dev/null || status=$?
    [ "$status" -eq "$wanted" ] || wrong "it ends with $wanted, not $status"
    [ ! -s err ] || wrong 'nothing on stderr'
}
wrong()
{
    failures=$((failures + 1))
    printf 'not so: nvidia-smi %s: %s\n' "$options" "$1"
    sed 's/^/    out: /' out
    sed 's/^/    err: /' err
}
prints() { [ "$(cat out)" = "$1" ] || wrong "it prints $1"; }
has() { grep -q -- "$1" out || wrong "it prints $1"; }

OVERLAP_DEVICES=a100:2G,t4
export OVERLAP_DEVICES
smi 0 -L
prints 'GPU 0: Overlap software device (a100) (UUID: GPU-4f766572-6c61-7000-6465-766963652030)
GPU 1: Overlap software device (t4) (UUID: GPU-4f766572-6c61-7000-6465-766963652031)'
smi 0 --query-gpu=compute_cap --format=csv,noheader
prints '8.0
7.5'
smi 0 --query-gpu=index,name,memory.total,utilization.gpu --format=csv -i 0
prints 'index, name, memory.total [MiB], utilization.gpu
0, Overlap software device (a100), 2048 MiB, [N/A]'
smi 0 --query-gpu memory.free,clocks.max.sm --format csv,noheader,nounits --id=00000000:02:00.0
prints '4096, 1590'
smi 0
has 'CUDA Version: 13\.'
has '|   1  Overlap software device (t4) '
[ "$(awk '/^[|+]/ { print length }' out | sort -u | wc -l)" -eq 1 ] || wrong 'its lines are of one length'
smi 0 -q -i 1
has '^compute_cap  *: 7\.5$'
smi 6 -i 2
has 'No devices were found: there is none of the name 2'
smi 2 --query-gpu=name,nonsense --format=csv
has 'Field "nonsense" is not a valid field'
smi 2 --query-gpu=name
has 'needs --format=csv'
smi 2 --query-gpu=name --format=xml
smi 2 --gpu-reset
has 'has no option "--gpu-reset"'
smi 0 --help
OVERLAP_DEVICES=0
smi 6
prints 'No devices were found'
# Any program that asks NVML has reached the device: nobody is told that it did not.
cp "$(dirname "$emulate")/lib/front/nvidia-smi" asks
options='-L by another name'
"$emulate" ./asks -L >out 2>err </dev/null
[ ! -s err ] || wrong 'nothing on stderr'
[ "$failures" -eq 0 ]
