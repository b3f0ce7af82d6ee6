#!/bin/sh
# emulate_test.sh EMULATE SUBJECTS SOURCE CC: ./emulate's program from the outside, on good programs
# and on bad input of every kind. EMULATE is the program, SUBJECTS the folder with what CMake built
# for it, SOURCE this folder. Exit status 0, or 1 after a line for everything that was not so.
set -u
emulate=$1
subjects=$2
source=$3
cc=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 2' HUP INT TERM
failures=0
cd "$work" || exit 1
TMPDIR=$work/tmp
export TMPDIR
mkdir tmp
unset OVERLAP_ORDER OVERLAP_FAIL OVERLAP_MEMORY OVERLAP_TRACE OVERLAP_QUIET

# run ARGUMENTS...: leaves $status, and the files out and said.
run()
{
    status=0
    "$emulate" "$@" >out 2>said </dev/null || status=$?
}

# begin: one that waits for a signal goes on beside, as $pid.
begin()
{
    : >out # what an earlier one said is not this one's word
    "$emulate" "$subject" wait >out 2>said &
    pid=$!
    until grep -q ready out; do sleep 0.05; done
}

wrong()
{
    failures=$((failures + 1))
    printf 'not so: %s (exit status %s)\n' "$1" "$status"
    sed 's/^/    out: /' out
    sed 's/^/    err: /' said
}

# exits STATUS WHAT, then says... or stays_silent.
exits() { [ "$status" -eq "$1" ] || wrong "$2: exits with $1"; }
says() { tr '\n' ' ' <said | tr -s ' ' | grep -qF -- "$1" || wrong "stderr says: $1"; }
says_not() { ! tr '\n' ' ' <said | tr -s ' ' | grep -qF -- "$1" || wrong "stderr does not say: $1"; }
prints() { grep -qF -- "$1" out || wrong "stdout says: $1"; }
stays_silent() { [ ! -s said ] || wrong "$1: nothing on stderr"; }

# at NAME: FILE:LINE of the line of subject.cu that is marked so
at() { printf 'subject.cu:%s' "$(grep -n "here: $1\$" "$source/subject.cu" | cut -d: -f1)"; }

subject=$subjects/subject

# ---- what is passed through

for number in 0 1 77 255; do
    run "$subject" exit $number
    exits $number "exit $number"
    stays_silent "exit $number"
done
for number in 9 10 15; do
    run "$subject" signal $number
    exits $((128 + number)) "signal $number"
done
# AddressSanitizer, where the subject has it, would take the signal and exit.
ASAN_OPTIONS=${ASAN_OPTIONS-}:handle_segv=0 run "$subject" raises
exits 139 'SIGSEGV that was raised'
run "$subject" a 'b c' --help '*'
[ "$(cat out)" = '[a][b c][--help][*]' ] || wrong 'arguments arrive as they are'
printf 'in\nput' | "$emulate" "$subject" echo >out 2>said
status=$?
exits 0 echo
[ "$(cat out)" = "$(printf 'in\nput')" ] || wrong 'stdin and stdout are the own ones'
[ "$(cat said)" = 'on stderr' ] || wrong 'stderr is the own one'
run "$subject" run_well
exits 0 run_well
stays_silent run_well

# A signal sent to ./emulate is the program's: it takes SIGUSR1, SIGTERM ends it.
begin
kill -USR1 $pid
status=0
wait $pid || status=$?
exits 6 'SIGUSR1 is handed on'
prints 'signal 1'
begin
kill -TERM $pid
status=0
wait $pid || status=$?
exits 143 'SIGTERM is handed on, and ends ./emulate as well'
# As a time limit does it. Nobody may be there to fetch what is left.
mkdir killed
TMPDIR=$PWD/killed
begin
program=$(cat /proc/$pid/task/$pid/children)
kill -KILL $pid
wait $pid || true
for _ in $(seq 200); do
    grep -q '^State:.[^ZX]' "/proc/${program% }/status" 2>/dev/null || break
    sleep 0.05
done
! grep -q '^State:.[^ZX]' "/proc/${program% }/status" 2>/dev/null ||
    wrong 'SIGKILL ends the program as well'
[ -n "$(ls killed)" ] || wrong 'who is killed leaves a temporary folder'
# The next call removes it, and not the one of a program that runs.
begin
[ "$(find killed -mindepth 1 -maxdepth 1 | wc -l)" -eq 1 ] ||
    wrong 'what was left by one that was killed is removed'
"$emulate" "$subject" exit 0
[ -n "$(ls killed)" ] || wrong 'the folder of a program that runs stays'
kill -TERM $pid
wait $pid || true
[ -z "$(ls killed)" ] || wrong 'who is ended in order leaves nothing'
rm -rf killed
TMPDIR=$work/tmp

# One that waits in vain says so, before somebody loses patience.
"$emulate" "$subject" waits_in_vain >out 2>said &
pid=$!
for _ in $(seq 600); do
    ! grep -q 'only waited' said || break
    sleep 0.1
done
kill -TERM $pid
wait $pid || true
says 'kernel wait_in_vain has only waited for 10 s: thread (0, 0, 0) of block (0, 0, 0), for one, looks at'
says "$(at look) for something that nobody has done yet"
says 'meanwhile your program is in cudaDeviceSynchronize, which waits for it'

# ---- what is found

run "$subject" out_of_bounds
exits 3 out_of_bounds
prints 'the program saw cudaErrorIllegalAddress'
says "$(at store): out of bounds: a store of 4 bytes"
says "Started by the call at"
says "$(at launch)"
says '1 finding: out of bounds (1)'
says_not 'leak'
[ "$(grep -c 'out of bounds:' said)" -eq 1 ] || wrong 'the same finding is told once'

run "$subject" leaks
exits 0 leaks
says "$(at allocation): leak: 4 times device memory (256 bytes) that was allocated here"
says "$(at stream): leak: A stream that was created here was never destroyed."
says '2 findings: leak (2)'

run "$subject" leaks_of_other_calls
exits 0 leaks_of_other_calls
says "$(at array): leak: Device memory"
says 'It is released by cudaFreeArray.'
says "$(at registered): leak: Pinned memory (4096 bytes)"
says 'It is released by cudaHostUnregister.'
says '2 findings: leak (2)'

run "$subject" leaks_of_objects
exits 0 leaks_of_objects
says "$(at texture): leak: A texture object that was created here was never destroyed."
says 'It is destroyed by cudaDestroyTextureObject (cuTexObjectDestroy).'
says "$(at surface): leak: A surface object that was created here was never destroyed."
says "$(at captured): leak: A graph that was created here was never destroyed."
says "$(at executable): leak: An executable graph that was created here was never destroyed."
says "$(at made): leak: A graph that was created here was never destroyed."
says '5 findings: leak (5)'

run --error-exitcode=42 "$subject" leaks
exits 42 '--error-exitcode'
run --error-exitcode=42 "$subject" out_of_bounds
exits 3 '--error-exitcode leaves a failure as it is'
run --error-exitcode=42 "$subject" run_well
exits 0 '--error-exitcode where nothing is found'

run "$subject" ignores
exits 0 ignores
says "$(at refused): error ignored: cudaMalloc failed here with error 2"
run "$subject" looks
exits 0 looks
says_not 'error ignored'

run "$subject" calls_back
exits 0 calls_back
says "$(at 'host function'): race: the host reads"
run "$subjects/subject_plain" calls_back
says 'race: the host reads'
says_not 'called at' # in the device

run "$subject" prints_much
exits 0 prints_much
says "$(at printing): output lost: kernel print_numbers calls printf 6000 times; the buffer for that, of 524288 bytes (cudaLimitPrintfFifoSize), keeps the newest 5242, and the oldest 758 are lost"
says '1 finding: output lost (1)'
{ seq 0 5241; seq 758 5999; } | cmp -s - out || wrong 'of two kernels, the newest lines of each'

run "$subject" unsupported
exits 0 unsupported
says "$(at unsupported): not supported: cudaImportExternalMemory is not supported"
[ "$(grep -c 'not supported:' said)" -eq 1 ] || wrong 'what is not supported is told once'

run "$subject" child
exits 0 'a child of the program'
says "$(at allocation): leak: Device memory (32 bytes)"

for order in latest earliest random:2; do
    run --order=$order "$subject" threads
    exits 0 "threads, $order"
    says "$(at thread): leak: A thread that was started here was never joined."
    says "$(at 'standard thread'): leak: A thread that was started here was never joined."
    says '2 findings: leak (2)'
done
for mode in start_too_early start_standard_too_early; do
    run "$subject" $mode
    exits 4 "$mode: a thread begins as late as it may"
    run --order=earliest "$subject" $mode
    exits 0 "$mode: a thread begins, and ends, as early as it may"
done

# Other programs that run on the way keep their threads as they like.
cat >keeps.c <<'END'
#include <pthread.h>
static void *work(void *p) { return p; }
int main(void) { pthread_t t; return pthread_create(&t, NULL, work, NULL); }
END
"$cc" -pthread -o keeps keeps.c
printf '#!/bin/sh\n./keeps && "%s" run_well\n' "$subject" >script
chmod +x script
run ./script
exits 0 'a program without CUDA keeps a thread'
stays_silent 'a program without CUDA keeps a thread'

run "$subject" touch
exits 139 'the host touches device memory'
says "$(at touch): wrong side: host code read from address"

run "$subjects/subject_plain" leaks
exits 0 'without debug information'
says 'leak: 4 times device memory (256 bytes)'
says 'leak: A stream'
says ' in '
says_not '_Z'
says 'build it with nvcc -g -lineinfo'

for order in latest earliest; do
    run --order=$order "$subject" files
    exits 0 "files beside a kernel, $order"
    stays_silent "files beside a kernel, $order"
    run --order=$order "$subject" files_into_use
    exits 0 "files into what a kernel uses, $order"
    says 'race: the host writes 262144 bytes that kernel fill'
    says 'race: the host reads 262144 bytes that kernel fill'
done

cat >borrow.c <<'END'
int cudaMalloc(void **, unsigned long);
int borrow(void)
{
    void *memory;
    return cudaMalloc(&memory, 256);
}
END
"$cc" -shared -fPIC -o libborrow.so borrow.c
run "$subject" borrows
exits 0 'a library without debug information'
says 'borrow+'
says ' in ./libborrow.so, called at '
says "$(at library): leak: Device memory (256 bytes)"

run "$subjects/subject_lines" run_well
exits 0 'machine code with lines has PTX inside'
run "$subjects/subject_lines" out_of_bounds
says "$(at store): out of bounds"
run "$subjects/subject_machine" run_well
exits 1 'machine code only'
says 'no PTX'
says '-gencode arch=compute_75,code=compute_75'
cp "$subjects/subject_machine" libnccl.so.2
run ./libnccl.so.2 run_well
exits 1 'machine code of a library that nobody builds himself'
says 'emulate --stand-ins puts one in its'
! grep -qF -e -gencode said || wrong 'no advice on building NCCL'

run --order=nonsense "$subject" exit 0
exits 125 '--order=nonsense'
says 'has to be latest, earliest, or random:'
for order in latest earliest random:7; do
    run "--order=$order" "$subject" run_well
    exits 0 "--order=$order"
    stays_silent "--order=$order"
done

run --fail=2 "$subject" run_well
exits 1 'the launch is made to fail'
says 'cudaLaunchKernel is made to fail with error 701'
run --fail=cudaMemcpy:1 "$subject" run_well
exits 1 'the copy is made to fail'
says 'cudaMemcpy is made to fail with error 719'
run --fail=4 "$subject" run_well
exits 0 'there are but three calls that can fail'
says 'no call was made to fail: OVERLAP_FAIL asks for number 4 of those that can, and there were 3'
run --fail=cudaFree:1 "$subject" run_well
exits 0 'a free does not fail'
says 'with a function that can fail'
run --fail=often "$subject" run_well
exits 125 '--fail=often'
says 'has to be a number, or a function'
[ -z "$(ls -A tmp)" ] || wrong 'nothing is left in TMPDIR'

# ---- pictures

run --timeline=picture.json "$subject" run_well
exits 0 '--timeline=FILE.json'
stays_silent '--timeline'
grep -q '"ph":"X"' picture.json || wrong 'the timeline has an operation'
run --timeline=picture.svg "$subject" run_well
exits 0 '--timeline=FILE.svg'
grep -q '</svg>' picture.svg || wrong 'the timeline is an SVG'
run --timeline=no/such/folder.svg "$subject" run_well
exits 0 'a picture that cannot be written'
says 'no/such/folder.svg cannot be written'
run --timeline=picture.bmp "$subject" run_well
exits 125 '--timeline=picture.bmp'
says 'a file whose name ends in .json or .svg'

# ---- bad input

run
exits 125 'no program'
says 'no program is named'
run --no-such-option "$subject"
exits 125 'an unknown option'
says '--no-such-option is no option of ./emulate'
run --error-exitcode=0 "$subject"
exits 125 '--error-exitcode=0'
run --error-exitcode=256 "$subject"
exits 125 '--error-exitcode=256'
run ./missing
exits 127 'a missing program'
says 'there is no program ./missing'
run missing
exits 127 'a missing program on PATH'
says 'there is no program missing on PATH'
cp "$subject" here
run here
exits 127 'a program that is not on PATH'
says 'the one in this folder is ./here'
run -- ./here exit 4
exits 4 'behind --'
PATH=$work:$PATH
run here exit 5
exits 5 'a program on PATH'
run "$work"
exits 126 'a folder'
says 'is a folder'
: >empty
run ./empty
exits 126 'an empty file'
says 'is empty'
echo 'some text' >text
run ./text
exits 126 'a text'
says 'neither an ELF file nor a script'
echo 'int main() {}' >vector.cu
for name in vector.cu ./vector.cu; do
    run $name
    exits 126 "source code, $name"
    says 'is source code. Compile it'
    says 'nvcc -g -lineinfo -o'
done
chmod -x here
run ./here
exits 126 'a program without permission'
says 'cannot be executed'
printf '\177ELF' >broken
run ./broken
exits 126 'the beginning of an ELF file'
head -c 3000 "$subject" >./cut
chmod +x cut
run ./cut
exits 126 'a program that is cut off'
says 'is cut off'
cp "$subject" other
chmod +x other
printf '\363\000' | dd of=other bs=1 seek=18 conv=notrunc 2>dd.log
run ./other
exits 126 'another machine'
says 'is for RISC-V, and this machine is not'
run "$subjects/subject_static" run_well
exits 0 'the static runtime'
stays_silent 'the static runtime'

echo 'int cudaMalloc(void) { return 0; }' >runtime.c
echo 'int cudaMalloc(void); int main(void) { return cudaMalloc(); }' >main.c
"$cc" -shared -fPIC -Wl,-soname,libcudart.so.11.0 -o libcudart.so.11.0 runtime.c
"$cc" -o cuda11 main.c libcudart.so.11.0
run ./cuda11
exits 126 'a program of CUDA 11'
says 'needs libcudart.so.11, of CUDA 11'
cat >main12.c <<'END'
int cudaRuntimeGetVersion(int *version);
int main(void)
{
    int version = 0;
    return cudaRuntimeGetVersion(&version) != 0 || version / 1000 != 12;
}
END
"$cc" -o cuda12 main12.c "$(dirname "$emulate")/lib/libcudart.so.12" -Wl,--allow-shlib-undefined
run ./cuda12
exits 0 'a program of CUDA 12'
stays_silent 'a program of CUDA 12'
run ./libcudart.so.11.0
exits 126 'a library'
says 'is a shared library'
"$cc" -c -o main.o main.c
run ./main.o
exits 126 'an object file'
says 'is an object file: link it first'
echo 'int main(void) { return 9; }' >plain.c
if "$cc" -static -o plain_static plain.c 2>static.log; then
    run ./plain_static
    exits 126 'a static program'
    says 'is linked statically'
fi
"$cc" -o plain plain.c
run ./plain
exits 9 'a program without CUDA'
says 'made no CUDA call'

# A script runs, and what it calls is looked at.
printf '#!/bin/sh\n"%s" leaks\nexit 12\n' "$subject" >script
chmod +x script
run ./script
exits 12 'a script'
says_not 'leak'
printf '#!/bin/sh\n"%s" leaks\n' "$subject" >script
run ./script
exits 0 'a script that succeeds'
says '2 findings: leak (2)'

# Where the program itself says where its libraries are, the software device is found all the same.
run "$subjects/subject_rpath" run_well
exits 0 'a program with DT_RPATH'
stays_silent 'a program with DT_RPATH'

TMPDIR=/nowhere
run "$subject" exit 0
exits 125 'no room for the trace'
says 'no folder can be made in /nowhere'
TMPDIR=$work/tmp

# ---- what it says of itself

run --help
exits 0 --help
prints 'Exit status'
run --info
exits 0 --info
stays_silent --info
prints 'compute capability'
prints 'functions of the runtime API'
prints 'clusters of blocks           yes'
prints 'tensor cores'
run --support
exits 0 --support
for line in 'runtime  yes cudaMalloc' 'runtime  no  cudaImportExternalMemory' 'driver   yes cuInit' \
    'ptx      yes add'; do
    prints "$line"
done
[ "$(grep -c 'cudaMalloc$' out)" -eq 1 ] || wrong 'every name is there once'
total=$(grep -c '^runtime ' out)
grep -q "^# .* of $total functions of the runtime API" out || wrong 'the total is that of the table'

# ---- a device, a program and a folder for temporary files with names that lists of folders cannot hold

# shellcheck disable=SC2016 # a name, of nothing to expand
odd=$work/'a;b:c $d"e'
mkdir -p "$odd/tmp"
cp -R "$emulate" "$(dirname "$emulate")/lib" "$odd"
cp "$subject" "$odd/sub;ject"
plain=$emulate
emulate=$odd/emulate
for TMPDIR in "$work/tmp" "$odd/tmp"; do
    run "$odd/sub;ject" exit 3
    exits 3 'in a folder with an odd name'
    stays_silent 'in a folder with an odd name'
    run "$odd/sub;ject" out_of_bounds
    says 'out of bounds'
done
TMPDIR=$work/tmp
emulate=$plain

[ "$failures" -eq 0 ]
