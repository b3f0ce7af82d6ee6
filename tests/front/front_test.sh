#!/bin/sh
# front_test.sh PART EMULATE SUBJECTS NVCC NVRTC NVJITLINK: what emulator/front does for programs that
# ask NVIDIA's compilers for machine code, and for those that have a runtime inside. SUBJECTS is the
# folder of what CMake built; NVRTC and NVJITLINK are NVIDIA's libraries, or empty.
# Exit status 0, 1 after a line for everything that was not so, 77 without the library or compiler.
set -u
part=$1 emulate=$2 subjects=$3 nvcc=$4 nvrtc=$5 nvjitlink=$6
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 2' HUP INT TERM
failures=0
cd "$work" || exit 1
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME
unset CUDA_ROOT PYCUDA_CACHE_DIR NUMBA_CACHE_DIR CUPY_CACHE_DIR OVERLAP_ORDER OVERLAP_FAIL OVERLAP_QUIET

run()
{
    status=0
    "$emulate" "$@" >out 2>said </dev/null || status=$?
}
wrong()
{
    failures=$((failures + 1))
    printf 'not so: %s (exit status %s)\n' "$1" "$status"
    sed 's/^/    out: /' out
    sed 's/^/    err: /' said
}
# gives STATUS LINES: it exits so, prints just these lines, and nothing is found.
gives()
{
    [ "$status" -eq "$1" ] || wrong "exits with $1"
    [ "$(cat out)" = "$2" ] || wrong "prints: $2"
    [ ! -s said ] || wrong 'nothing on stderr'
}
prints() { [ "$(cat out)" = "$1" ] || wrong "prints: $1"; }
says() { tr '\n' ' ' <said | tr -s ' ' | grep -qF -- "$1" || wrong "stderr says: $1"; }
need()
{
    [ -e "$1" ] && return
    echo "skipped: there is no $2 here"
    exit 77
}

compiled='size: 0, image: 0
sm_90: PTX with lines, 0: 7
compute_90: 0, 0 bytes
no program: 4'
linked='create: 0, no architecture: 2
add: 0, 0
complete: 0, size: 0
two texts: PTX, 0: 42
destroy: 0
complete: 0, size: 0
two texts: PTX of limited registers, 0: 42
destroy: 0
complete: 0, size: 0
one more, which lacks a function: PTX, 0: 42
destroy: 0'

# shellcheck disable=SC2016 # variables of the program that is run
case $part in
nvrtc)
    need "$nvrtc" NVRTC
    run "$subjects/front_compiler" nvrtc "$nvrtc" # by its path
    gives 0 "$compiled"
    LD_LIBRARY_PATH=$(dirname "$nvrtc") run "$subjects/front_compiler" nvrtc libnvrtc.so.13
    gives 0 "$compiled"
    run "$subjects/front_compiler" beyond "$nvrtc"
    says 'k.cu:3: out of bounds'
    says 'Line: p[99] = 7; // sieben, gr????er Started by' # ptxas takes ASCII alone
    ;;
nvjitlink)
    need "$nvjitlink" nvJitLink
    run "$subjects/front_compiler" link "$nvjitlink"
    gives 0 "$linked"
    LD_LIBRARY_PATH=$(dirname "$nvjitlink") run "$subjects/front_compiler" link libnvJitLink.so.13
    gives 0 "$linked"
    run "$subjects/front_compiler" refuse "$nvjitlink"
    gives 0 'a mistake: refused
a function is missing: refused'
    need "$nvrtc" NVRTC
    run "$subjects/front_compiler" optimise "$nvjitlink" "$nvrtc"
    gives 0 'add: 0, 0
complete: 0, size: 0
LTO-IR and a text: PTX, 0: 28
destroy: 0'
    ;;
nvcc)
    need "$nvcc" nvcc
    PATH=$(dirname "$nvcc"):$PATH
    echo '__global__ void k(int *p) { *p = 7; } // sieben, größer' >kernel.cu
    # is_ptx FILE TARGET
    is_ptx()
    {
        grep -q "^\.target $2" "$1" || wrong "$1 is PTX for $2"
        grep -q '\.loc' "$1" || wrong "$1 has the lines of the source"
        grep -q '^//kernel.cu:1 __global__' "$1" || wrong "$1 has their text"
        rm -f "$1"
    }
    run nvcc --cubin -arch sm_90 -I. kernel.cu
    is_ptx kernel.cubin sm_90
    run nvcc -arch=sm_75 -cubin -o other.bin kernel.cu
    is_ptx other.bin sm_75
    mkdir folder
    run nvcc -cubin -odir folder -gencode arch=compute_80,code=sm_80 kernel.cu
    is_ptx folder/kernel.cubin sm_80
    run nvcc -cubin -arch=compute_80 -code=sm_80 kernel.cu
    is_ptx kernel.cubin sm_80
    run nvcc --ptx kernel.cu -lineinfo
    cp kernel.ptx kept.ptx
    run nvcc --cubin -arch=sm_90 kept.ptx
    cmp -s kept.ptx kept.cubin || wrong 'of PTX, the same'
    # has_ptx TARGET OPTIONS...: so asked, nvcc makes machine code, and PTX beside it.
    has_ptx()
    {
        target=$1
        shift
        run nvcc --fatbin --compress-mode=none "$@" kernel.cu
        LC_ALL=C grep -aq "^\.target $target" kernel.fatbin || wrong "$* gives PTX for $target"
        LC_ALL=C grep -aq 'ELF' kernel.fatbin || wrong "$* gives machine code"
        rm -f kernel.fatbin
    }
    has_ptx sm_90 -gencode=arch=compute_90,code=sm_90
    has_ptx sm_80 -arch=compute_80 -code=sm_80
    has_ptx sm_80 --gpu-code sm_80,sm_86 --gpu-architecture compute_80
    OVERLAP_DEVICES=h100,a100
    export OVERLAP_DEVICES
    has_ptx sm_80 -arch=native
    has_ptx sm_80 --gpu-architecture native
    run nvcc --cubin -arch=native kernel.cu
    is_ptx kernel.cubin sm_80
    unset OVERLAP_DEVICES
    run nvcc -arch=native -dlto --dryrun kernel.cu
    [ "$status" -eq 0 ] || wrong 'what is left to the linker is left alone'
    # FlashInfer asks for it by a variable; who chose one keeps it.
    run sh -c '"$FLASHINFER_NVCC" --cubin -arch=sm_90 kernel.cu'
    is_ptx kernel.cubin sm_90
    FLASHINFER_NVCC=mine run sh -c 'echo "$FLASHINFER_NVCC"'
    grep -qx mine out || wrong 'the one that was chosen stays'
    echo 'nonsense' >kernel.cu
    run nvcc --cubin kernel.cu
    [ "$status" -ne 0 ] || wrong 'a mistake is told'
    says 'kernel.cu(1): error'
    ;;
ptxas)
    need "$nvcc" nvcc
    need "$(dirname "$nvcc")/ptxas" ptxas
    PATH=$(dirname "$nvcc"):$PATH
    echo '__global__ void k(int *p) { *p = 7; }' >kernel.cu
    "$nvcc" -ptx -arch=sm_90 kernel.cu
    run ptxas --version
    grep -q 'release 1[3-9]' out || wrong 'what is asked of it goes to the one behind'
    run ptxas -v -lineinfo --gpu-name=sm_90 kernel.ptx -o kernel.o
    [ "$status" -eq 0 ] || wrong 'it takes the PTX'
    says "Compiling entry function '_Z1kPi' for 'sm_90'"
    # Ended, as the driver wants PTX: who expects machine code gives it the bytes as they are.
    (cat kernel.ptx && printf '\0') >ended.ptx
    cmp -s ended.ptx kernel.o || wrong 'and gives it'
    run ptxas -arch=sm_90 kernel.ptx
    cmp -s ended.ptx elf.o || wrong 'in the file that ptxas writes by itself'
    # XLA starts the one of its own package, or a toolkit's, by its path.
    cp kernel.ptx kernel.text
    mkdir -p package/bin
    ln -s "$(dirname "$nvcc")/ptxas" package/bin/ptxas
    run "$subjects/front_machine" spawn "$work/package/bin/ptxas" kernel.text -o spawned.o -arch=sm_90a -v
    [ "$status" -eq 0 ] || wrong 'it takes PTX of any name'
    says "Compiling entry function '_Z1kPi' for 'sm_90a'"
    cmp -s ended.ptx spawned.o || wrong 'and gives it to who started NVIDIA'"'"'s by its path'
    printf '#!/bin/sh\necho its own "$@"\n' >package/own
    chmod +x package/own
    ln -sf ../own package/bin/ptxas
    run "$subjects/front_machine" spawn "$work/package/bin/ptxas" --version
    prints 'its own --version'
    run "$subjects/front_machine" spawn "$emulate" "$subjects/front_machine" spawn "$work/package/bin/ptxas" --version
    prints 'its own --version'
    run ptxas -arch=sm_90 -c kernel.ptx -o kernel.link.o
    [ "$(head -c 4 kernel.link.o | tail -c 3)" = ELF ] || wrong 'what a linker takes is machine code'
    echo 'mistake' >>kernel.ptx
    run ptxas -arch=sm_90 kernel.ptx -o bad.o
    [ "$status" -eq 255 ] || wrong 'a mistake is one'
    [ ! -e bad.o ] || wrong 'and gives nothing'
    # Triton asks for it by variables; who chose one keeps it.
    run sh -c '"$TRITON_PTXAS_PATH" --version; "$TRITON_PTXAS_BLACKWELL_PATH" --version'
    [ "$(grep -c 'release 1[3-9]' out)" -eq 2 ] || wrong 'by the variables of Triton, too'
    printf '#!/bin/sh\necho mine "$@"\n' >mine
    chmod +x mine
    TRITON_PTXAS_PATH=$work/mine run sh -c '"$TRITON_PTXAS_PATH" --version; "$TRITON_PTXAS_BLACKWELL_PATH" --version'
    grep -qx 'mine --version' out || wrong 'the one that was chosen is behind'
    [ "$(grep -c 'release 1[3-9]' out)" -eq 1 ] || wrong 'of its name only'
    TRITON_PTXAS_PATH=$work/mine run "$emulate" sh -c '"$TRITON_PTXAS_PATH" --version'
    grep -qx 'mine --version' out || wrong 'also in the program of a program'
    # nvcc calls its own.
    run nvcc -arch=sm_90 -cubin -o kernel.cubin kernel.cu
    run nvcc -gencode=arch=compute_90,code=sm_90 -fatbin -o kernel.fatbin kernel.cu
    [ "$status" -eq 0 ] || wrong 'nvcc does as it does'
    ;;
static)
    run "$subjects/front_static"
    gives 0 PASSED
    run "$subjects/front_static" version
    gives 0 '13000 13000'
    run "$subjects/front_static" plugin "$subjects/front_plugin.so"
    gives 0 PASSED
    run "$subjects/front_static" leak
    [ "$status" -eq 0 ] || wrong 'a leak is no failure of the program'
    says "$(grep -n 'here: leak' "$(dirname "$0")/static.cu" | sed 's/\([0-9]*\):.*/static.cu:\1: leak/')"
    ;;
stripped)
    versions=$(dirname "$0")/../../emulator/front/runtimes.def
    version=$("$nvcc" --version | sed -n 's/.*release \([0-9]*\.[0-9]*\),.*/\1/p')
    if ! grep -q "^RUNTIME([0-9]*, \"$version\." "$versions"; then
        echo "skipped: runtimes.def has no runtime of CUDA $version"
        exit 77
    fi
    for file in front_static front_plugin.so; do
        cp "$subjects/$file" . && "${STRIP:-strip}" "$file"
    done
    run ./front_static
    gives 0 PASSED
    run ./front_static version
    gives 0 '13000 13000'
    run "$subjects/front_static" plugin ./front_plugin.so
    gives 0 PASSED
    run ./front_static leak
    says 'front_static: leak: Device memory'
    # Another version, in effect: a part is other code that has a piece in it.
    at=$(nm "$subjects/front_static" | sed -n 's/^\([0-9a-f]*\) t cudaMalloc$/0x\1/p')
    dd if=/dev/zero of=front_static bs=1 seek=$((at)) count=24576 conv=notrunc status=none
    run ./front_static
    [ "$status" -eq 126 ] || wrong 'a version that nobody knows is refused'
    says 'no runtime of a version that the software device knows without them'
    ;;
bindings)
    run "$subjects/front_bindings" "$subjects/cuda/bindings/_internal/runtime.test.so"
    gives 0 '_cudaGetDeviceCount: 0, 1
_cudaOfNobody: 999, -1
cudaGetDeviceCount: 999, -1
_cudaDeviceSynchronize: -1, 0
_cudaMemcpy: plain
errors: 0'
    mkdir -p cuda/bindings/_internal # as it is for streams of each thread
    cp "$subjects/cuda/bindings/_internal/runtime.test.so" cuda/bindings/_internal/runtime_ptds.so
    run "$subjects/front_bindings" "$work/cuda/bindings/_internal/runtime_ptds.so"
    grep -qx '_cudaMemcpy: per thread' out || wrong 'a stream for each thread'
    grep -q '^_cudaGetDeviceCount: 0' out || wrong 'and what has no stream'
    run "$subjects/front_bindings" "$subjects/cuda/bindings/other/runtime.test.so"
    grep -q '^_cudaGetDeviceCount: 999' out || wrong 'a module of another folder keeps its own'
    ;;
variables)
    run "$subjects/front_variables" "$subjects/libfront_variables_of.so"
    gives 0 1
    run "$subjects/front_variables_linked"
    gives 0 1
    ;;
behind)
    # The version that the library would find, not the one that a library in front of it finds.
    run "$subjects/front_opens" "$subjects/libfront_needs.so"
    [ "$(cat out)" = 99 ] || wrong 'the version that it would find'
    ;;
tables)
    askers=$subjects/usr/lib
    run "$subjects/front_tables" "$askers/libcublas.so" "$askers/libcutensor.so" "$askers/libnvrtc.so" \
        "$askers/warp.so" "$askers/libcudnn.so" "$askers/other.so" "$askers/loads/libcurand.so" \
        "$askers/loads/warp.so"
    [ "$(tr '\n' ' ' <out)" = '801 801 801 801 801 801 801 801 801 801 801 801 209 209 209 209 ' ] ||
        wrong 'each is refused'
    ask=$(grep -n 'here: ask' "$(dirname "$0")/tables.c" | cut -d: -f1)
    says "tables.c:$ask: not supported: libcublas.so does not run"
    says './emulate --stand-ins puts a library in its place'
    says "tables.c:$ask: not supported: libcutensor.so does not run"
    says 'in Python NumPy or SciPy'
    says "tables.c:$ask: not supported: libcudnn.so does not run"
    says 'JAX, as a rule, wants no more of it than a handle'
    says "tables.c:$ask: not supported: warp.so of Warp's package does not run"
    says 'or a Warp of another version'
    says "tables.c:$ask: not supported: cuGetExportTable, which other.so calls"
    says "tables.c:$ask: not supported: libcurand.so does not run"
    says 'it carries machine code only (cuModuleLoadData returns error 209). ./emulate --stand-ins'
    says 'support machine code, which Warp makes where'
    says '7 findings' # and none of the compiler, which does without
    ;;
nodes)
    run "$subjects/front_machine" nodes
    prints '/dev/nvidia0: 0 0, characters 195:0, does not open
/dev/nvidiactl: 0 0, characters 195:255, does not open
/dev/nvidia7: -1 -1, does not open
/dev/null: 0 0, characters 1:3, opens'
    OVERLAP_DEVICES=0 run "$subjects/front_machine" nodes
    grep -q '^/dev/nvidia0: -1 -1' out || wrong 'no device, no file of it'
    ;;
environment)
    run sh -c 'for c in "$PYCUDA_CACHE_DIR" "$NUMBA_CACHE_DIR" "$CUPY_CACHE_DIR"; do ls -d "$c"; done; command -v nvcc'
    [ "$(head -n 3 out)" = "$XDG_CACHE_HOME/overlap/pycuda
$XDG_CACHE_HOME/overlap/numba
$XDG_CACHE_HOME/overlap/cupy" ] || wrong 'caches of their own'
    grep -q '/emulator/lib/front/nvcc$' out || wrong 'the nvcc in front is first'
    run sh -c 'ls -d "$TRITON_CACHE_DIR" "$TORCHINDUCTOR_CACHE_DIR" "$TORCH_EXTENSIONS_DIR"; echo "$PYTORCH_NO_CUDA_MEMORY_CACHING"'
    [ "$(cat out)" = "$XDG_CACHE_HOME/overlap/extensions
$XDG_CACHE_HOME/overlap/inductor
$XDG_CACHE_HOME/overlap/triton
1" ] || wrong 'those of PyTorch too, whose tensors are allocations'
    # The CuTe DSL keeps the PTX in what it compiles, where it keeps lines.
    run sh -c 'echo "$CUTE_DSL_LINEINFO,$CUTE_DSL_CACHE_DIR"'
    prints "1,$XDG_CACHE_HOME/overlap/cute"
    PYTORCH_NO_CUDA_MEMORY_CACHING=0 run sh -c 'echo "$PYTORCH_NO_CUDA_MEMORY_CACHING"'
    [ "$(cat out)" = 0 ] || wrong 'what the user says holds'
    PYCUDA_CACHE_DIR=$work/mine run sh -c 'echo "$PYCUDA_CACHE_DIR"'
    [ "$(cat out)" = "$work/mine/overlap" ] || wrong 'below the folder that the user chose'
    run sh -c 'echo "$JAX_COMPILATION_CACHE_DIR,$XLA_PYTHON_CLIENT_ALLOCATOR,$XLA_FLAGS"'
    grep -q '^,cuda_async,--xla_gpu_autotune_level=0 --xla_gpu_[a-z_]*=[a-z]*$' out || wrong 'JAX keeps nothing, and each array is an allocation'
    JAX_COMPILATION_CACHE_DIR=$work/mine XLA_FLAGS=--xla_mine run sh -c 'ls -d "$JAX_COMPILATION_CACHE_DIR"; echo "$XLA_FLAGS"'
    grep -qx "$work/mine/overlap" out || wrong 'what it was to keep is apart'
    grep -q '^--xla_gpu.* --xla_mine$' out || wrong 'and the flags of the user come last'
    # Where nothing can be made: in the folder of this run, which goes with it.
    : >file
    XDG_CACHE_HOME=$work/file run sh -c 'echo "$NUMBA_CACHE_DIR"; touch "$NUMBA_CACHE_DIR/kept"'
    [ "$status" -eq 0 ] || wrong 'a cache is always there'
    [ ! -e "$(cat out)" ] || wrong 'and goes with the run'
    mkdir -p toolkit/bin
    printf '#!/bin/sh\n' >toolkit/bin/nvcc
    chmod +x toolkit/bin/nvcc
    PATH=$work/toolkit/bin:$PATH run sh -c 'echo "$CUDA_ROOT"'
    [ "$(cat out)" = "$(readlink -f toolkit)" ] || wrong 'the toolkit is that of nvcc'
    ;;
esac

[ "$failures" -eq 0 ]
