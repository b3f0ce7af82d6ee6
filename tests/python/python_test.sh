#!/bin/sh
# python_test.sh install VENV NVCC              installs requirements.txt into VENV, or if its name ends
#                                               in _torch, _jax, _apps or _rapids, requirements_torch.txt
#                                               and so on
# python_test.sh run VENV NVCC EMULATE PROGRAM  runs PROGRAM by EMULATE in two orders: it prints PASSED
#                                               in both, and nothing is found in it; a name that
#                                               ends in _standins: with the stand-ins
# python_test.sh own VENV NVCC EMULATE PART     numba-cuda's own tests of PART, see numba_own.py
# Exit status 0, 1, or 77 where the packages are not installed and are not to be (OVERLAP_PYTHON), or
# there is no network.
set -eu
here=$(dirname "$(readlink -f "$0")")
venv=$2
case $venv in
*_torch) requirements=$here/requirements_torch.txt ;;
*_jax) requirements=$here/requirements_jax.txt ;;
*_apps) requirements=$here/requirements_apps.txt ;;
*_rapids) requirements=$here/requirements_rapids.txt ;;
*) requirements=$here/requirements.txt ;;
esac
CUDA_ROOT=$(dirname "$(dirname "$(readlink -f "$3")")")
PATH=$(dirname "$3"):$PATH
export CUDA_ROOT PATH
skip()
{
    echo "skipped: $*"
    exit 77
}

if [ "$1" = install ]; then
    cmp -s "$requirements" "$venv/installed" && exit 0
    [ -n "${OVERLAP_PYTHON-}" ] || skip 'OVERLAP_PYTHON=1 installs the packages from PyPI'
    python3 -c 'import ensurepip' 2>/dev/null || skip 'there is no python3 with venv here'
    python3 -m venv --clear "$venv"
    "$venv/bin/pip" download -q --no-deps -d "$venv/reached" "$(grep '^numpy' "$requirements")" ||
        skip 'PyPI cannot be reached'
    "$venv/bin/pip" install -q -r "$requirements"
    cp "$requirements" "$venv/installed"
    exit 0
fi

cmp -s "$requirements" "$venv/installed" || skip 'the packages are not installed'
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 2' HUP INT TERM
unset PYCUDA_CACHE_DIR NUMBA_CACHE_DIR CUPY_CACHE_DIR TRITON_CACHE_DIR TRITON_PTXAS_PATH
unset TORCHINDUCTOR_CACHE_DIR TORCH_EXTENSIONS_DIR KEOPS_CACHE_FOLDER JAX_COMPILATION_CACHE_DIR
unset FLASHINFER_NVCC CUTE_DSL_CACHE_DIR CUTE_DSL_LINEINFO XLA_FLAGS WARP_CACHE_PATH OVERLAP_FAIL OVERLAP_QUIET
XDG_CACHE_HOME=$work
# OpenMM and the CuTe DSL keep what they have compiled with the temporary files.
TMPDIR=$work/temporary
mkdir "$TMPDIR"
export XDG_CACHE_HOME TMPDIR
if [ "$1" = own ]; then
    "$venv/bin/python" "$here/numba_own.py" "$5" "$4"
    exit
fi
standins=
case $5 in
*_standins.py) standins=--stand-ins ;;
esac
for order in latest earliest; do
    "$4" $standins --order=$order --error-exitcode=99 "$venv/bin/python" "$5" >"$work/out"
    grep -qx PASSED "$work/out" || {
        cat "$work/out"
        exit 1
    }
done
