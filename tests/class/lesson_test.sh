#!/bin/sh
# lesson_test.sh ROOT BUILD: docs/writing-a-lesson.md, followed to the letter: in a copy of the sources
# every file that it shows is made, the grader is built with it, and the lesson is put to all the
# proofs of a lesson. The software device is BUILD's. Exit status 0, or 1 with what went wrong.
set -eu
root=$1 build=$2
work=$(mktemp -d "${TMPDIR:-/tmp}/lesson.XXXXXX")
trap 'rm -rf "$work"' EXIT
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
        open(path, "a" if "one line more" in head else "w").write(text)
        made += 1
print(made, "files")
assert made >= 17, made
END

"$copy/tests/style/translations.sh" "$copy"

value() { sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"; }
nvcc=$(value CMAKE_CUDA_COMPILER)
if ! cmake -G Ninja -S "$copy" -B "$work/build" -D CMAKE_BUILD_TYPE=RelWithDebInfo \
    -D CMAKE_CUDA_COMPILER="$nvcc" -D OVERLAP_WERROR=ON >"$work/log" 2>&1 ||
    ! ninja -C "$work/build" grader >"$work/log" 2>&1; then
    tail -n 30 "$work/log"
    exit 1
fi
mkdir -p "$work/build/emulator/lib"
cp -a "$build/emulator/lib/." "$work/build/emulator/lib/"
grader=$work/build/grader/grader
"$copy/tests/mistakes/first_failures.sh" "$grader" 08_fill
for part in basis mistakes variants; do
    "$copy/tests/lessons/check_lesson.sh" "$grader" "$copy" 08_fill "$part"
done
"$grader" --check-lessons 08
# And it says what is wrong with a lesson that is not fit.
sed -i 's/count, cudaMemcpyDeviceToHost/count - 1, cudaMemcpyDeviceToHost/' "$copy/solutions/08_fill/fill.c"
sed -i 's/(void)value;/int unused;/' "$copy/grader/lessons/08_fill/stub/fill.c"
rm "$copy/lessons/08_fill/README.md" "$copy/tests/mistakes/08_fill/never_freed.c"
status=0
"$grader" --check-lessons 08 >"$work/said" || status=$?
for fault in 'README.md is missing' 'the solution fails Fill.EveryByteIsThere' \
    'does not compile without warnings' 'has 2 submissions, and should have three' \
    'no mistake names NothingLeaks'; do
    grep -qF -e "$fault" "$work/said" || { echo "expected: $fault"; cat "$work/said"; exit 1; }
done
[ "$status" -eq 1 ]
