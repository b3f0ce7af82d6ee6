#!/bin/sh
# setup_test.sh ROOT: what ./grade does before there is a grader, on made-up machines.
#
# Each case runs a copy of the two scripts in a folder of its own, with a PATH that has the usual
# small tools and, in place of compilers, apt and CMake, fakes that note how they were called.
# Exit status 0, or 1 after a line for everything that was not as expected.
set -eu
root=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 2' HUP INT TERM
failures=0

# fake NAME: a command on the made-up machine; its body comes on standard input.
fake()
{
    {
        echo '#!/bin/sh'
        # shellcheck disable=SC2016 # for the fake to expand
        echo 'echo "${0##*/} $*" >>"$MACHINE/calls"'
        cat
    } >"$machine/bin/$1"
    chmod +x "$machine/bin/$1"
}

fake_nvcc() { echo "echo 'Cuda compilation tools, release $1, V$1.1'" | fake nvcc; }

# new_machine: everything is there, the user is root, the toolkit is nvcc on PATH.
new_machine()
{
    machine=$work/$1
    mkdir -p "$machine/bin" "$machine/libraries" "$machine/clone/cmake"
    cp "$root/grade" "$root/learn" "$root/emulate" "$root/selftest" "$root/CMakePresets.json" "$machine/clone/"
    cp "$root/cmake/setup.sh" "$root/cmake/words.sh" "$root/cmake/toolkit.txt" \
        "$root/cmake/toolkit-tests.txt" "$root/cmake/wheel.cmake" "$machine/clone/cmake/"
    cp "$root/CMakeLists.txt" "$machine/clone/"
    mkdir -p "$machine/clone/grader/session" "$machine/clone/grader/lessons/02_streams" \
        "$machine/clone/lessons/02_streams"
    cp "$root/grader/session/help.txt" "$root/grader/session/options.c" \
        "$machine/clone/grader/session/"
    mkdir -p "$machine/clone/grader/learn" "$machine/clone/emulator/cli"
    cp "$root/grader/learn/help.txt" "$root/grader/learn/actions.c" "$machine/clone/grader/learn/"
    cp "$root/emulator/cli/help.txt" "$machine/clone/emulator/cli/"
    cp "$root/grader/lessons/02_streams/judge.c" "$machine/clone/grader/lessons/02_streams/"
    : >"$machine/calls"
    for tool in sh cat chmod cksum cmp cp cut dirname env find flock grep head ln ls mkdir mktemp mv readlink rm rmdir sed \
        sha256sum sleep tail touch tr uname xargs; do
        ln -s "$(command -v "$tool")" "$machine/bin/$tool"
    done
    for library in check libzstd liblz4 libdw libseccomp libpng ncursesw jansson libarchive; do
        : >"$machine/libraries/$library"
    done
    fake gcc </dev/null
    fake g++ </dev/null
    fake_nvcc 13.0
    echo 'echo 0' | fake id
    fake pkg-config <<'END'
shift
for library; do [ -e "$MACHINE/libraries/$library" ] || exit 1; done
END
    fake cmake <<'END'
[ "$1" = --version ] && echo 'cmake version 3.25.1' && exit
mkdir -p "$2/build"
: >"$2/build/build.ninja"
END
    fake ninja <<'END'
[ -z "${BROKEN-}" ] || { echo 'FAILED: grader.o'; echo 'error: expected a semicolon'; exit 1; }
for i in 1 2 3 4 5; do echo "[$i/30] Building C object $i"; done
mkdir -p "$2/grader"
{ echo '#!/bin/sh'; echo 'echo "graded: $*"'; echo 'exit 1'; } >"$2/grader/grader"
chmod +x "$2/grader/grader"
END
    fake apt-get <<'END'
[ "$1" = install ] || exit 0
for word; do
    case $word in
    ninja-build) mv "$MACHINE/ninja" "$MACHINE/bin/ninja" ;;
    liblz4-dev) : >"$MACHINE/libraries/liblz4" ;;
    esac
done
END
}

# grade [NAME=VALUE...]: call ./grade on the machine; $status and the files out and said are left.
grade()
{
    status=0
    env -i PATH="$machine/bin" MACHINE="$machine" "$@" "$machine/clone/grade" streams --gtest_brief=1 \
        >"$machine/out" 2>"$machine/said" </dev/null || status=$?
}

# expect WHAT COMMAND...: it succeeds.
expect()
{
    what=$1
    shift
    "$@" >/dev/null 2>&1 && return
    echo "${machine##*/}: expected: $what"
    echo "  exit status $status, it said:"
    sed 's/^/  | /' "$machine/said"
    failures=$((failures + 1))
}

expect_status() { expect "exit status $1" [ "$status" -eq "$1" ]; }
expect_said() { expect "it says: $1" grep -qF -e "$1" "$machine/said"; }
expect_call() { expect "a call: $1" grep -qxF -e "$1" "$machine/calls"; }
expect_no_call() { expect "no call of $1" sh -c "! grep -q '^$1' '$machine/calls'"; }

new_machine all_there
grade
expect_status 1
expect 'the grader gets the arguments' grep -qx 'graded: streams --gtest_brief=1' "$machine/out"
expect_call "cmake -S $machine/clone --fresh --preset default -D CMAKE_CUDA_COMPILER=$machine/bin/nvcc -D OVERLAP_WERROR=OFF"
expect_no_call apt-get
linked='part_02_streams_drive part_multiply_divide part_broken'
expect 'only that lesson is built' grep -q "^ninja .* grader $linked\( gpu_parts\)*\$" "$machine/calls"
expect_said 'building: 1/30'
expect_said 'building: 3/30'
expect 'a line a tenth' [ "$(grep -c building: "$machine/said")" -eq 2 ]
: >"$machine/calls"
grade
expect_status 1
expect_no_call cmake
expect_no_call nvcc
expect 'a second call only builds' [ "$(grep -cv building: "$machine/said")" -eq 0 ]
mv "$machine/clone" "$machine/elsewhere"
ln -s elsewhere "$machine/clone"
grade
expect_status 1
expect_call "cmake -S $machine/elsewhere --fresh --preset default -D CMAKE_CUDA_COMPILER=$machine/bin/nvcc -D OVERLAP_WERROR=OFF"
: >"$machine/clone/.cache/developer-build" # as ./selftest leaves it: warnings are errors from then on
grade
expect_call "cmake -S $machine/elsewhere --fresh --preset default -D CMAKE_CUDA_COMPILER=$machine/bin/nvcc -D OVERLAP_WERROR=ON"
grade OVERLAP_TOOLKIT=/nowhere
expect_status 2
expect_said '/nowhere has no bin/nvcc of release 13'

# Which lessons are built: those that are named, in any of their names; all where one names none.
: >"$machine/calls"
env -i PATH="$machine/bin" MACHINE="$machine" "$machine/clone/grade" --seed 1 2 lessons/02_streams/ \
    >"$machine/out" 2>"$machine/said" </dev/null || :
expect 'both are built' grep -q "^ninja .* grader $linked $linked\( gpu_parts\)*\$" "$machine/calls"
: >"$machine/calls"
env -i PATH="$machine/bin" MACHINE="$machine" "$machine/clone/grade" --seed 2 \
    >"$machine/out" 2>"$machine/said" </dev/null || :
expect 'all are built' grep -q '^ninja .* grader parts\( gpu_parts\)*$' "$machine/calls"
: >"$machine/calls"
env -i PATH="$machine/bin" MACHINE="$machine" "$machine/clone/grade" 2 --class="$machine/handed_in" \
    >"$machine/out" 2>"$machine/said" </dev/null || :
expect 'all are built for a class' grep -q '^ninja .* grader parts\( gpu_parts\)*$' "$machine/calls"
# What ./emulate needs is built behind ./learn; who begins with ./emulate is told what takes so long.
call()
{
    : >"$machine/calls"
    env -i PATH="$machine/bin" MACHINE="$machine" "$machine/clone/$1" list >"$machine/out" \
        2>"$machine/said" </dev/null || :
}
call learn
expect 'learn builds both' grep -q '^ninja .* learn emulate parts\( gpu_parts\)*$' "$machine/calls"
call emulate
expect_said 'building what ./emulate needs, once: about two minutes'
expect 'it is built' grep -q '^ninja .* emulate$' "$machine/calls"
mkdir -p "$machine/clone/build/emulator"
cp /bin/true "$machine/clone/build/emulator/emulate"
call emulate
expect 'nothing is said of what is there' sh -c "! grep -q 'once' '$machine/said'"
# What a lesson links is read in its judge: in all that have a drive.
for judge in "$root"/grader/lessons/[0-9]*/judge.c; do
    if grep -q '\.parts = ' "$judge"; then
        lesson=$(basename "$(dirname "$judge")")
        # shellcheck disable=SC2016 # for that shell to expand
        expect "parts of $lesson" env root="$root" sh -c '. "$root/cmake/setup.sh" && grading_parts "$1" | grep -q " part_"' \
            sh "$lesson"
    fi
done

# --help, --version and what means nothing install and build nothing.
new_machine nothing_built
ask_program()
{
    status=0
    program=$machine/clone/$1
    shift
    env -i PATH="$machine/bin" MACHINE="$machine" "$program" "$@" >"$machine/out" 2>"$machine/said" \
        </dev/null || status=$?
}
ask() { ask_program grade "$@"; }
ask --help
expect_status 0
expect 'the help' grep -q 'List the names of all tests instead of running them' "$machine/out"
expect 'the lessons' grep -qx '  02_streams' "$machine/out"
ask --version
expect_status 0
expect 'the version' grep -q '^grader (Overlap) [0-9]' "$machine/out"
for mistake in stream lessons/02_stream --submision=x --gtest_fliter=x -x; do
    ask "$mistake"
    expect_status 2
    expect_said "there is no"
done
ask_program learn --help
expect_status 0
expect 'the help of learn' grep -q '^  list       the course on one screen' "$machine/out"
expect 'a command in two lines' grep -q '^  measure    lessons 02 and 03' "$machine/out"
ask_program learn lists
expect_status 2
expect_said 'learn: there is no command "lists"'
ask_program emulate --help
expect_status 0
expect 'the help of emulate' grep -q -e '--order=latest' "$machine/out"
ask_program emulate --version
expect_status 0
expect 'the version' grep -q '^emulate (Overlap) [0-9]' "$machine/out"
expect 'nothing was called' [ ! -s "$machine/calls" ]
expect 'nothing was made' [ ! -e "$machine/clone/.cache" ]
for words in Streams 2 lessons/02_streams/ "$machine/clone/lessons/02_streams" --check-lessons \
    --gtest_break_on_failure; do
    : >"$machine/calls"
    ask "$words"
    expect_status 1
    expect 'the grader gets them' grep -qx "graded: $words" "$machine/out"
    rm -rf "$machine/clone/build"
done
ask --submission no_lesson 02
expect 'a value is no lesson' grep -qx 'graded: --submission no_lesson 02' "$machine/out"
ask --help
expect 'the help of the grader that is there' grep -qx 'graded: --help' "$machine/out"

new_machine packages_missing
mv "$machine/bin/ninja" "$machine/ninja"
rm "$machine/libraries/liblz4"
grade
expect_status 1
expect_said 'ninja-build: runs the build'
expect_call 'apt-get install -y --no-install-recommends -o DPkg::Lock::Timeout=600 ninja-build liblz4-dev'

new_machine apt_fails
rm "$machine/libraries/libdw"
grade
expect_status 2
expect_said 'apt-get install libdw-dev'

new_machine apt_busy
rm "$machine/libraries/libdw"
fake apt-get <<'END'
case $1 in
update)
    [ -e "$MACHINE/asked" ] && exit
    : >"$MACHINE/asked"
    echo 'E: Could not get lock /var/lib/apt/lists/lock. It is held by process 1 (apt-get)' >&2
    exit 100
    ;;
*) : >"$MACHINE/libraries/libdw" ;;
esac
END
grade
expect_status 1
expect_said 'another apt is at work; waiting for it'

new_machine no_apt
rm "$machine/bin/apt-get" "$machine/libraries/check" "$machine/bin/g++"
grade
expect_status 2
expect_said 'has no apt-get'
expect_said 'g++: is the host compiler'
expect_said 'check: runs each check'
expect_no_call cmake

new_machine no_root
echo 'echo 1000' | fake id
rm "$machine/libraries/liblz4"
grade
expect_status 2
expect_said 'As root: apt-get install liblz4-dev'
expect_no_call apt-get
# shellcheck disable=SC2016 # for the fake to expand
printf '%s\n' 'shift' 'exec "$@"' | fake sudo
grade
expect_status 1
expect_call 'sudo -n apt-get update'

new_machine build_fails
grade BROKEN=yes
expect_status 2
expect_said 'error: expected a semicolon'
expect_said 'the build in build/ failed'
grade
expect_status 1

new_machine configure_fails
fake cmake <<'END'
echo 'CMake Error: no such compiler'
exit 1
END
grade
expect_status 2
expect_said 'CMake Error: no such compiler'
grade
expect_status 2

# Lesson 13: PoCL's package brings no loader, and headers of OpenCL do not either.
new_machine opencl
mkdir -p "$machine/clone/grader/lessons/13_opencl" "$machine/clone/lessons/13_opencl"
cp "$root/grader/lessons/13_opencl/judge.c" "$machine/clone/grader/lessons/13_opencl/"
cat >"$machine/bin/gcc" <<'END'
#!/bin/sh
[ "$1" != -E ]
END
missing=opencl-c-headers
cat /usr/lib/*/libOpenCL.so.1 /usr/lib*/libOpenCL.so.1 /usr/local/cuda/lib64/libOpenCL.so.1 \
    /usr/local/lib/libOpenCL.so.1 2>/dev/null | grep -q . || missing="$missing ocl-icd-libopencl1"
[ -e /etc/OpenCL/vendors/pocl.icd ] || missing="$missing pocl-opencl-icd"
: >"$machine/calls"
ask --gtest_list_tests opencl
expect_no_call apt-get
ask opencl
expect_status 1
expect_call "apt-get install -y --no-install-recommends -o DPkg::Lock::Timeout=600 $missing"
expect_said 'lesson 13 will be skipped'

# The wheels: CMake fetches several at a time and lays them out as NVIDIA's wheels do. It is there once
# apt has installed it.
new_machine wheels
fake_nvcc 12.4
cp "$machine/bin/nvcc" "$machine/nvcc-of-the-wheel"
sed -i 's/12\.4/13.0/' "$machine/nvcc-of-the-wheel"
fake cmake <<'END'
case $1 in
--version) echo 'cmake version 3.25.1' ;;
-P)
    [ -z "${OFFLINE-}" ] || { echo 'no route to host'; exit 1; }
    there=$3/nvidia/cu13
    mkdir -p "$there/bin" "$there/lib"
    case $4 in
    */nvidia_cuda_nvcc-*) cp "$MACHINE/nvcc-of-the-wheel" "$there/bin/nvcc" ;;
    */nvidia_cuda_runtime-*) : >"$there/lib/libcudart.so.13" ;;
    */nvidia_cuda_nvrtc-*) : >"$there/lib/libnvrtc-builtins.so.13.0" ;;
    esac
    ;;
*)
    mkdir -p "$2/build"
    : >"$2/build/build.ninja"
    ;;
esac
END
mv "$machine/bin/cmake" "$machine/cmake"
mv "$machine/bin/ninja" "$machine/ninja"
fake apt-get <<'END'
[ "$1" = install ] || exit 0
mv "$MACHINE/ninja" "$MACHINE/bin/ninja"
mv "$MACHINE/cmake" "$MACHINE/bin/cmake"
END
toolkit=$machine/clone/.toolkit
grade OVERLAP_TOOLKIT=wheels OFFLINE=yes
expect_status 2
expect_said 'no route to host'
expect_said 'Is there a network?'
expect_call 'apt-get install -y --no-install-recommends -o DPkg::Lock::Timeout=600 cmake ninja-build'
grade OVERLAP_TOOLKIT=wheels
expect_status 1
expect 'one round of apt' [ "$(grep -c '^apt-get install' "$machine/calls")" -eq 1 ]
expect_call "cmake -S $machine/clone --fresh --preset default -D CMAKE_CUDA_COMPILER=$toolkit/cuda/bin/nvcc -D OVERLAP_WERROR=OFF"
expect 'libcudart.so' [ "$(readlink "$toolkit/cuda/lib/libcudart.so")" = libcudart.so.13 ]
wheels_fetched() { grep '^cmake -P .*/wheel\.cmake ' "$machine/calls"; }
expect 'a call for each of them' [ "$(wheels_fetched | grep -c "$(uname -m)")" -ge 7 ]
expect 'no nvrtc' sh -c "! grep -q nvrtc '$machine/calls'"
: >"$machine/calls"
grade OVERLAP_TOOLKIT=wheels OFFLINE=yes
expect_status 1
expect_no_call cmake

# ./selftest adds what only tests need, once.
fake ctest </dev/null
fake nproc </dev/null
selftest()
{
    status=0
    env -i PATH="$machine/bin" MACHINE="$machine" "$@" "$machine/clone/selftest" >"$machine/out" \
        2>"$machine/said" </dev/null || status=$?
}
selftest OVERLAP_TOOLKIT=wheels
expect_status 0
expect 'nvrtc alone is fetched' [ "$(wheels_fetched | sed 's, [^ ]*$,,; s,.*/,,; s,-.*,,')" = nvidia_cuda_nvrtc ]
expect 'libnvrtc-builtins.so' [ -e "$toolkit/cuda/lib64/libnvrtc-builtins.so" ]
: >"$machine/calls"
selftest OVERLAP_TOOLKIT=wheels OFFLINE=yes
expect_status 0
# What a test leaves behind is named, and removed.
fake ctest <<'END'
: >"$TMPDIR/of_a_test"
END
mkdir "$machine/temporary"
selftest OVERLAP_TOOLKIT=wheels OFFLINE=yes TMPDIR="$machine/temporary"
expect_status 1
expect_said 'left behind in TMPDIR'
expect_said './of_a_test'
expect 'nothing stays' [ -z "$(ls -A "$machine/temporary")" ]
fake ctest </dev/null
# In CI what a test would be skipped without is installed; where it cannot be, the tests go on.
if ! /usr/bin/python3 -c 'import jsonschema' 2>/dev/null; then
    expect_no_call apt-get
    selftest OVERLAP_TOOLKIT=wheels OFFLINE=yes CI=true
    expect_status 0
    expect_call 'apt-get install -y --no-install-recommends -o DPkg::Lock::Timeout=600 python3-jsonschema'
    expect_said 'the test that needs it will be skipped'
fi
fake python3 </dev/null
: >"$machine/calls"
selftest OVERLAP_TOOLKIT=wheels OFFLINE=yes CI=true
expect_status 0
# What lesson 13 needs may not be here.
expect 'no package for a test that is there' sh -c "! grep -q 'apt-get.*jsonschema' '$machine/calls'"
grade OVERLAP_TOOLKIT=wheels OFFLINE=yes
expect_status 1
expect_no_call cmake
rm "$toolkit/toolkit.txt"
: >"$machine/calls"
grade OVERLAP_TOOLKIT=wheels
expect_status 1
expect 'all are fetched again' [ "$(wheels_fetched | grep -c .)" -ge 7 ]
if [ ! -e /usr/local/cuda/bin/nvcc ]; then
    : >"$machine/calls"
    grade
    expect_status 1
    expect_said "$machine/bin/nvcc is not of release 13"
    expect_call "cmake -S $machine/clone --fresh --preset default -D CMAKE_CUDA_COMPILER=$toolkit/cuda/bin/nvcc -D OVERLAP_WERROR=ON"
fi

# A release: what is compiled is there, and what the student's files take is found. No CMake.
new_machine release
mkdir -p "$machine/clone/build/grader" "$machine/toolkit/bin" "$machine/toolkit/lib64" \
    "$machine/toolkit/include"
printf '%s\n' gencode= source=.. compiled_source=/there >"$machine/clone/build/release"
printf '%s\n' '#!/bin/sh' 'echo "graded: $*"' 'exit 1' >"$machine/clone/build/grader/grader"
chmod +x "$machine/clone/build/grader/grader"
rm "$machine/bin/cmake" "$machine/bin/ninja" "$machine/bin/pkg-config" "$machine/libraries"/*
mv "$machine/bin/nvcc" "$machine/toolkit/bin/nvcc"
: >"$machine/toolkit/lib64/libcudart.so.13"
: >"$machine/toolkit/include/cuda_runtime.h"
fake gcc <<'END'
[ "$1" != -dumpfullversion ] || echo 12.2.0
[ "$1" != -E ] || [ -e "$MACHINE/png.h" ]
END
fake apt-get <<'END'
[ "$1" != install ] || : >"$MACHINE/png.h"
END
toolchain=$machine/clone/build/grader/toolchain
grade OVERLAP_TOOLKIT="$machine/toolkit"
expect_status 1
expect 'the grader gets the arguments' grep -qx 'graded: streams --gtest_brief=1' "$machine/out"
expect_call 'apt-get install -y --no-install-recommends -o DPkg::Lock::Timeout=600 libpng-dev'
for line in source=.. "cc=$machine/bin/gcc" cc_version=12.2.0 "nvcc=$machine/toolkit/bin/nvcc" \
    nvcc_version=13.0.1 "cuda=$machine/toolkit" "cuda_include=$machine/toolkit/include" \
    "cuda_libraries=$machine/toolkit/lib64"; do
    expect "the toolchain: $line" grep -qxF -e "$line" "$toolchain"
done
: >"$machine/calls"
chmod -w "$machine/clone" "$machine/clone/.cache"
grade OVERLAP_TOOLKIT="$machine/toolkit"
expect_status 1
expect 'a second call does nothing' [ ! -s "$machine/calls" ]
chmod +w "$machine/clone" "$machine/clone/.cache"
mv "$machine/clone" "$machine/elsewhere"
ln -s elsewhere "$machine/clone"
grade OVERLAP_TOOLKIT="$machine/toolkit"
expect_status 1
expect_call "nvcc --version"
rm "$machine/toolkit/include/cuda_runtime.h" "$machine/elsewhere/build/release.settled"
grade OVERLAP_TOOLKIT="$machine/toolkit"
expect_status 2
expect_said 'has no cuda_runtime.h'

# The name of the folder: CMake and nvcc never see one that they would take apart, and nothing in it
# is run.
new_machine "a b,(c)'d&e"
grade XDG_CACHE_HOME="$work/links"
expect_status 1
expect 'it goes by its own name' [ ! -e "$work/links" ]
# shellcheck disable=SC2016 # they are names
for odd in 'a;touch ran' 'a$(touch ran)' 'a`touch ran`' 'a"b' 'a[b]' 'a\b' 'a*?'; do
    new_machine "$odd"
    fake cmake <<'END'
[ "$1" = --version ] && echo 'cmake version 3.25.1' && exit
case $PWD$2 in *[][\;\"\$\`\\*?]*) exit 1 ;; esac
mkdir -p "$2/build"
: >"$2/build/build.ninja"
echo "$2" >"$MACHINE/seen"
END
    grade XDG_CACHE_HOME="$work/links"
    expect_status 1
    read -r link <"$machine/seen"
    expect 'the link is in the cache' [ "${link#"$work/links/"}" != "$link" ]
    expect 'it leads to the clone' [ "$link" -ef "$machine/clone" ]
    : >"$machine/calls"
    grade XDG_CACHE_HOME="$work/links"
    expect_status 1
    expect_no_call cmake
    grade XDG_CACHE_HOME="$machine" TMPDIR="$work"
    expect_status 1
    expect 'a folder with an odd name has no link' [ ! -e "$machine/overlap-0" ]
done
expect 'nothing in a name is run' [ ! -e "$work/ran" ] && expect 'nor here' [ ! -e ran ]

# Two calls at once: the second waits until the first has built.
new_machine two_at_once
fake ninja <<'END'
mkdir "$MACHINE/building" || exit 1
sleep 0.5
rmdir "$MACHINE/building"
mkdir -p "$2/grader"
{ echo '#!/bin/sh'; echo 'exit 1'; } >"$2/grader/grader"
chmod +x "$2/grader/grader"
END
env -i PATH="$machine/bin" MACHINE="$machine" "$machine/clone/grade" >/dev/null 2>&1 </dev/null &
grade
expect_status 1
first=0
wait $! || first=$?
expect 'the first call ends well too' [ "$first" -eq 1 ]

[ "$failures" -eq 0 ]
