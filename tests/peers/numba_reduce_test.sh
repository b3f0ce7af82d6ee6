#!/bin/sh
# Promises of numba_reduce.sh: a table with a row for each word, where the device is the software one;
# one line and exit status 2 where Numba or a GPU is missing.
#
#   numba_reduce_test.sh VENV NVCC [EMULATE]   without EMULATE: what needs no Numba
# Exit status 0, 1, or 77: the packages of tests/python are not installed in VENV.
set -u
script=$(dirname "$(readlink -f "$0")")/numba_reduce.sh
PATH=$(dirname "$2"):$PATH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 2' HUP INT TERM
XDG_CACHE_HOME=$work
export PATH XDG_CACHE_HOME
unset CUDA_HOME CUDA_ROOT CUDA_PATH PYTHON

# says STATUS PATTERN COMMAND...: in one line
says()
{
    status=$1 pattern=$2
    shift 2
    said=$("$@" 2>&1)
    got=$?
    [ "$got" -eq "$status" ] && [ "$(printf '%s\n' "$said" | grep -c "$pattern")" -eq 1 ] &&
        [ "$(printf '%s\n' "$said" | wc -l)" -eq 1 ] && return
    printf '%s\n' "status $got, wanted $status and $pattern:" "$said"
    exit 1
}

if [ $# -eq 2 ]; then
    # -S: no package is found.
    printf '#!/bin/sh\nexec python3 -S "$@"\n' >"$work/python"
    chmod +x "$work/python"
    says 2 '^numba_reduce: .* has no numba-cuda .*: No module named' env PYTHON="$work/python" "$script"
    says 2 '^numba_reduce: int8:4 is neither' "$script" int8:4
    exit 0
fi
[ -f "$1/installed" ] || {
    echo 'skipped: the packages are not installed'
    exit 77
}
PYTHON=$1/bin/python
export PYTHON
says 2 '^numba_reduce: no GPU that Numba can use: .' env CUDA_VISIBLE_DEVICES= "$script"
OVERLAP_QUIET=all "$3" "$script" --rounds=3 int64:12 int32:13 >"$work/out" || exit 1
number='[0-9][0-9.]*'
for row in 'int64 2^12' 'int32 2^13'; do
    grep -qx "| $row | $number | $number | $number | $number | $number | $number to $number |" "$work/out" ||
        {
            cat "$work/out"
            exit 1
        }
done
