#!/bin/sh
# calls.sh TABLE HEADER...: every function that works in a stream, by CUPTI's structures of
# parameters in HEADER, has a row in TABLE (recorder/calls.def), and so has every one that makes or
# ends memory. Those that only ask about a stream or a capture, or set something of it, need none.
# Exit status 0, or 1 with a line for each that is missing.
set -eu
table=$1
shift
missing=$(sed -n 's/^[A-Z]*(\([A-Za-z0-9_]*\),.*/\1/p' "$table" | awk '
    FNR == NR { known[$1] = 1; next }
    /^typedef struct .*_params_st \{/ { works = 0 }
    / (cudaStream_t|CUstream) [A-Za-z]*;/ { works = 1 }
    /^\} [A-Za-z0-9_]*_params;/ {
        name = $2
        sub(/_params;$/, "", name)
        sub(/(_ptsz|_ptds)$/, "", name)
        sub(/_v[0-9]+$/, "", name)
        sub(/(_ptsz|_ptds)$/, "", name)
        memory = name ~ /^(cudaMalloc|cudaHostAlloc$|cudaFree|cuMem(Host)?Alloc|cuMemFree)/ ||
                 name ~ /^cu(Array|Array3D|MipmappedArray)(Create|Destroy)$/
        asks = name ~ /^cu(da)?Stream(Get|Set|Copy|Is|Begin|End|Update)/
        gone = name == "cuLaunchGridAsync"
        if ((works || memory) && !asks && !gone && !(name in known) && !told[name]++)
            print name " has no row in the recorder'"'"'s table"
    }' - "$@")
[ -z "$missing" ] || { echo "$missing" && exit 1; }
