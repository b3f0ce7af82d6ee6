# Sourced by the compilers' stand-ins on PATH: finds the one that each stands in front of.
# shellcheck shell=sh

here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd -P)

# find_behind NAME: NVIDIA's, by its path.
find_behind()
{
    old_ifs=$IFS
    IFS=:
    for folder in $PATH "${CUDA_HOME:-/nowhere}/bin" "${CUDA_PATH:-/nowhere}/bin" /usr/local/cuda/bin; do
        IFS=$old_ifs
        [ -x "${folder:-.}/$1" ] || continue
        [ "$(cd "${folder:-.}" && pwd -P)" != "$here" ] || continue
        echo "${folder:-.}/$1"
        return
    done
    echo "overlap: there is no $1 on PATH, nor in CUDA_HOME, CUDA_PATH or /usr/local/cuda" >&2
    return 1
}
