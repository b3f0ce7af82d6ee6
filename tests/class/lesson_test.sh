#!/bin/sh
# lesson_test.sh ROOT BUILD: docs/writing-a-lesson.md, followed to the letter: in a copy of the sources
# every file that it shows is made, the grader is built with it, and the lesson is put to all the
# proofs of a lesson. The software device is BUILD's. Exit status 0, or 1 with what went wrong.
set -eu
root=$1 build=$2
work=$(mktemp -d "${TMPDIR:-/tmp}/lesson.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 2' HUP INT TERM
copy=$work/overlap

# Without the device, which takes long to build, and without what only tests the project.
mkdir "$copy"
(cd "$root" && tar -cf - --exclude='./build*' --exclude=./.git --exclude=./.cache --exclude=./.toolkit \
    --exclude=./emulator --exclude=./recorder --exclude=./shared .) | tar -xf - -C "$copy"
rm "$copy/tests/CMakeLists.txt"

python3 - "$copy" <<'END'
import os, re, sys
root = sys.argv[1]
page = open(root + "/docs/writing-a-lesson.md").read()
made = 0
for head, text in re.findall(r"^(`[^\n]+`[^\n]*):\n\n```\w+\n(.*?)^```$", page, re.M | re.S):
    for name in re.findall(r"`([^`]+)`", head):
        path = os.path.join(root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        open(path, "a" if " more:" in head else "w").write(text)
        made += 1
print(made, "files")
assert made >= 18, made
END

"$copy/tests/style/translations.sh" "$copy"

value() { sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"; }
nvcc=$(value CMAKE_CUDA_COMPILER)
if ! cmake -G Ninja -S "$copy" -B "$work/build" -D CMAKE_BUILD_TYPE=RelWithDebInfo \
    -D CMAKE_CUDA_COMPILER="$nvcc" -D OVERLAP_WERROR=ON >"$work/log" 2>&1 ||
    ! ninja -C "$work/build" grader part_15_fill_drive >"$work/log" 2>&1; then
    tail -n 30 "$work/log"
    exit 1
fi
mkdir -p "$work/build/emulator/lib"
cp -a "$build/emulator/lib/." "$work/build/emulator/lib/"
grader=$work/build/grader/grader
"$copy/tests/mistakes/first_failures.sh" "$grader" 15_fill
for part in basis mistakes variants; do
    "$copy/tests/lessons/check_lesson.sh" "$grader" "$copy" 15_fill "$part"
done
"$grader" --check-lessons 15

# And it says what is wrong with a lesson that is not fit: each in a copy that is put right again.
mkdir "$work/right"
parts="lessons/15_fill solutions/15_fill grader/lessons/15_fill tests/mistakes/15_fill docs/contracts.md"
# shellcheck disable=SC2086 # a list of words
(cd "$copy" && tar -cf "$work/right.tar" $parts)
failures=0
# says FAULT...: --check-lessons fails, and names each of them.
says()
{
    status=0
    "$grader" --check-lessons 15 >"$work/said" 2>&1 || status=$?
    for fault; do
        [ "$status" -eq 1 ] && grep -qF -e "$fault" "$work/said" && continue
        echo "expected: $fault; exit status $status, it said:"
        sed 's/^/  | /' "$work/said"
        failures=1
    done
    tar -xmf "$work/right.tar" -C "$copy"
}
rebuild() { ninja -C "$work/build" grader part_15_fill_drive >"$work/log" 2>&1 || { tail -n 30 "$work/log" && exit 1; }; }
stub=$copy/grader/lessons/15_fill/stub/fill.c
solution=$copy/solutions/15_fill/fill.c
header=$copy/lessons/15_fill/lesson.h
hints=$copy/grader/lessons/15_fill/hints.def
page=$copy/docs/contracts.md

sed -i 's/count, cudaMemcpyDeviceToHost/count - 1, cudaMemcpyDeviceToHost/' "$solution"
sed -i 's/(void)value;/int unused;/' "$stub"
rm "$copy/lessons/15_fill/README.md" "$copy/tests/mistakes/15_fill/never_freed.c"
says 'README.md is missing' 'the solution fails Fill.EveryByteIsThere' \
    'does not compile without warnings' 'has 2 submissions, and should have three' \
    'no mistake names NothingLeaks' 'the contract: there is no mistake never_freed'

# The solution is right by luck, in most orders; the stub ends with a crash.
sed -i -e 's/waited = cudaStreamSynchronize(stream)/waited = cudaSuccess/' \
    -e 's/cudaFree(bytes)/cudaFreeAsync(bytes, stream)/' "$solution"
sed -i 's/(void)output;/*(volatile unsigned char *)(output - output) = 0;/' "$stub"
says 'the solution fails Fill.EveryByteIsThere' 'the stub crashes'

# The stub passes; the header declares what nobody has; a sentence that no check keeps.
cp "$solution" "$stub"
sed -i -e 's/^#endif/cudaError_t fill_more(void);\n#endif/' \
    -e 's/The device memory is$/Zeros are kept. The device memory is/' "$header"
says 'Fill.EveryByteIsThere: the stub passes it' \
    'lesson.h declares fill_more, and the solution does not have it' \
    'the contract: the page does not have: Zeros are kept.'

# A stub that does not compile; rows of the contract that name what is not there.
echo 'int broken(' >>"$stub"
sed -i -e 's/| EveryByteIsThere | last_byte/| EveryBitIsThere | last_byte/' \
    -e 's/| NothingLeaks | never_freed/| NothingLeaks | no_wait/' \
    -e 's/| You write fill_bytes in fill.c. | - /| You write fill_bytes in fill.c. | /' "$page"
says 'the stub does not compile' 'the contract: there is no check EveryBitIsThere' \
    'the contract: no_wait does not say that it fails in' \
    'the contract: neither a check nor - keeps: You write fill_bytes in fill.c.'

# Hints: one for no check, none for a check, one of two steps; a stub that is told nothing helpful.
sed -i -e 's/^HINT("NothingLeaks"/HINT("NothingIsLost"/' \
    -e 's/^     "Look at the sizes of the fill and of the copy."/     ""/' "$hints"
sed -i 's/cudaErrorNotYetImplemented/cudaErrorUnknown/' "$stub"
sed -i 's/^    verdict_hint(verdict, "README.md/    if (output->code == 31) verdict_hint(verdict, "README.md/' \
    "$copy/grader/lessons/15_fill/judge.c"
sed -i '/^## 15_fill/,$d' "$page"
rebuild
says 'hints.def has hints for NothingIsLost, which is no check' 'hints.def has no hints for NothingLeaks' \
    'the hints for EveryByteIsThere are fewer than 3' \
    'the first thing that the stub is told has no hint' \
    'the contract: docs/contracts.md has no section for it'
rebuild
"$grader" --check-lessons 15
exit "$failures"
