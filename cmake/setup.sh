# shellcheck shell=sh
# What ./grade, ./emulate and ./selftest share: find or install what the build needs, configure, build.
# In a release (cmake/release.cmake) everything of ours is built: it finds or installs what the
# student's own files are compiled with.
#
# Sourced with `root` set to the repository's folder. The entry point is setup_build. Everything it
# says goes to standard error; when it cannot go on it says what to do and exits with 2, or with what
# `setup_trouble` says. It never changes anything outside the repository, except Debian packages,
# which it names first, and a link to it where it lies in a folder with an odd name.
#
# One lock serialises set-up and build, so that two calls at once leave one whole build. What an
# interrupted call left half done is known by a missing stamp, and is done again.

say() { printf 'overlap: %s\n' "$*" >&2; }

fail()
{
    say "$*"
    exit "${setup_trouble:-2}"
}

# CMake takes lists and patterns in a path apart, and nvcc hands what it is given to a shell. Blanks,
# commas, parentheses, single quotes and '&' are no trouble.
is_plain()
{
    case $1 in
    *[][\;\"\$\`\\*?]*) return 1 ;;
    esac
}

# is_private FOLDER: a folder of this user's, made if it is not there.
is_private()
{
    (umask 077 && mkdir -p "$1" 2>/dev/null)
    # shellcheck disable=SC3067 # each sh of today has -O
    [ -d "$1" ] && [ ! -L "$1" ] && [ -w "$1" ] && [ -O "$1" ]
}

# A clone in a folder of any other name is built by way of a link that has a plain one, the same at
# each call. A release is built already, and may lie anywhere.
go_by_a_plain_name()
{
    if is_plain "$root" || [ -f "$root/build/release" ]; then return; fi
    for base in "${XDG_CACHE_HOME:-${HOME:-/nowhere}/.cache}" "${TMPDIR:-/tmp}" /tmp; do
        base=$base/overlap-$(id -u)
        if ! is_plain "$base" || ! is_private "$base"; then continue; fi
        link=$base/clone-$(printf %s "$root" | sha256sum | cut -c 1-32)
        [ -L "$link" ] || ln -s "$root" "$link" 2>/dev/null
        [ "$(readlink "$link")" = "$root" ] || continue
        root=$link
        return
    done
    fail "the name of the folder $root has one of ; [ ] \" \$ \` \\ * ? in it, with which CMake
or nvcc builds nothing, and there is nowhere to make a link to it that has a plain name. Set TMPDIR
to a folder of your own, or move the clone. A release may lie anywhere."
}

: "${root:?set by the script that sources this file}"
go_by_a_plain_name
cache=$root/.cache
toolkit=$root/.toolkit

# What the build needs: how to see that it is there, the Debian package that has it, what for.
# Seen by command or by pkg-config, not by package, so that any system that has it all will do.
needs='
command gcc        gcc          compiles the C code, yours and ours
command g++        g++          is the host compiler that nvcc calls
command cmake      cmake        configures the build
command ninja      ninja-build  runs the build
command pkg-config pkg-config   finds the libraries below
library check      check        runs each check of the grader, and the tests
library libzstd    libzstd-dev  unpacks the PTX inside a binary
library liblz4     liblz4-dev   unpacks the PTX inside a binary
library libdw      libdw-dev    turns an address into a line of your source
library libseccomp libseccomp-dev keeps submissions from harming the machine
library libpng     libpng-dev   writes the picture of the Mandelbrot lesson
library ncursesw   libncurses-dev  draws the screen of ./learn
library jansson    libjansson-dev writes and reads the reports
library libarchive libarchive-dev unpacks what a class handed in
'
release_needs='
command gcc        gcc          compiles your C code
command g++        g++          is the host compiler that nvcc calls
header  png.h      libpng-dev   writes the picture of the Mandelbrot lesson
'
# What lesson 13 runs on where there is no GPU.
opencl_needs='
header  CL/cl.h    opencl-c-headers  declares the functions of OpenCL, for lesson 13
loader  libOpenCL.so.1 ocl-icd-libopencl1 finds what runs OpenCL, for lesson 13
icd     pocl       pocl-opencl-icd   runs OpenCL on this processor, for lesson 13
'
wheels_needs='
command cmake      cmake        fetches the CUDA Toolkit from PyPI
'

is_there()
{
    case $1 in
    command) command -v "$2" >/dev/null 2>&1 ;;
    library) pkg-config --exists "$2" 2>/dev/null ;;
    header) echo "#include <$2>" | gcc -E - >/dev/null 2>&1 ;;
    icd) [ -e "/etc/OpenCL/vendors/$2.icd" ] ;;
    # Where the grader looks for it (grader/run/devices.c).
    loader)
        for place in /usr/lib/* /usr/lib /usr/lib64 /lib/* /usr/local/cuda/lib64 /usr/local/lib; do
            [ ! -e "$place/$2" ] || return 0
        done
        return 1
        ;;
    # Debian's modules are Debian's Python's, which need not be the first on PATH.
    module) python3 -c "import $2" 2>/dev/null || /usr/bin/python3 -c "import $2" 2>/dev/null ;;
    esac
}

# have_all NEEDS: one pkg-config for all libraries, because every call of ./grade comes by here.
have_all()
{
    libraries=
    while read -r kind name _; do
        case $kind in
        '') ;;
        library) libraries="$libraries $name" ;;
        *) is_there "$kind" "$name" || return 1 ;;
        esac
    done <<END
$1
END
    # shellcheck disable=SC2086 # a list of words
    [ -z "$libraries" ] || pkg-config --exists $libraries 2>/dev/null
}

# meanwhile WHAT COMMAND...: a line every 20 seconds until the command is over.
meanwhile()
{
    what=$1
    shift
    (
        seconds=0
        while sleep 20 >/dev/null 2>&1 9>&- && kill -0 $$ 2>/dev/null; do
            seconds=$((seconds + 20))
            say "$what, for $seconds seconds now"
        done
    ) &
    clock=$!
    status=0
    "$@" || status=$?
    kill "$clock"
    wait "$clock" 2>/dev/null || :
    return "$status"
}

# apt waits for dpkg's lock if it is told to, but not for that of the lists: a machine that has just
# started updates them itself.
update_lists()
{
    tries=60
    until $as_root apt-get update; do
        tries=$((tries - 1))
        [ "$tries" -gt 0 ] || return 1
        tail -n 3 "$cache/apt.log" | grep -q 'lists/lock' || return 1
        say 'another apt is at work; waiting for it' 2>&4
        sleep 5
    done
}

install_packages()
{
    # shellcheck disable=SC2086 # no word, or a command
    {
        update_lists
        $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
            -o DPkg::Lock::Timeout=600 "$@"
    } 4>&2 >"$cache/apt.log" 2>&1 </dev/null
}

# provide NEEDS: install the Debian packages of those that are missing.
provide()
{
    have_all "$1" && return
    packages=
    reasons=
    while read -r kind name package why; do
        case " $packages " in *" $package "*) continue ;; esac
        if [ -n "$kind" ] && ! is_there "$kind" "$name"; then
            packages="$packages $package"
            reasons="$reasons
  $package: $why"
        fi
    done <<END
$1
END
    if ! command -v apt-get >/dev/null 2>&1; then
        fail "these are missing (Debian's names), and this system has no apt-get to install them:$reasons
Install them with your system's package manager and call this again."
    fi
    as_root=
    if [ "$(id -u)" -ne 0 ]; then
        as_root=sudo
        [ -t 0 ] || as_root='sudo -n'
        if ! command -v sudo >/dev/null 2>&1; then
            fail "these Debian packages are missing, and installing them takes root:$reasons
As root: apt-get install$packages"
        fi
    fi
    say "installing Debian packages:$reasons"
    # shellcheck disable=SC2086 # a list of words
    meanwhile 'installing Debian packages' install_packages $packages && have_all "$1" && return
    tail -n 5 "$cache/apt.log" >&2
    fail "that did not work; the whole log is .cache/apt.log. Is there a network? Is another apt
running? After an interrupted installation: dpkg --configure -a. Or by hand, as root:
  apt-get install$packages"
}

# is_toolkit NVCC: it runs, and it is of the release whose libraries the software device replaces.
is_toolkit()
{
    [ -x "$1" ] && "$1" --version 2>/dev/null | grep -q 'release 13\.'
}

# The wheels that are wanted: ./selftest's are more.
wheel_lists()
{
    echo toolkit.txt
    [ -z "${developer-}" ] || echo toolkit-tests.txt
}

have_wheels()
{
    for list in $(wheel_lists); do
        cmp -s "$root/cmake/$list" "$toolkit/$list" || return 1
    done
}

# fetch_wheels FILE...: fetches what the lists name for this processor, several at a time, and unpacks
# it.
fetch_wheels()
{
    {
        sed -n "s/^$(uname -m) //p" "$@" |
            xargs -r -P 4 -n 2 cmake -P "$root/cmake/wheel.cmake" "$toolkit" &&
            chmod -R a+rX "$toolkit"
    } >"$cache/wheels.log" 2>&1 </dev/null
}

# The wheels lay the toolkit out as one folder, nvidia/cu13, but leave out what a linker and CMake look
# for: lib64, and the names without a version.
install_wheels()
{
    # Another toolkit than last time, or what an interrupted call left.
    if ! cmp -s "$root/cmake/toolkit.txt" "$toolkit/toolkit.txt" || ! is_toolkit "$nvcc"; then
        rm -rf "$toolkit"
    fi
    mkdir -p "$toolkit"
    set --
    for list in $(wheel_lists); do
        cmp -s "$root/cmake/$list" "$toolkit/$list" || set -- "$@" "$root/cmake/$list"
    done
    say "installing the CUDA Toolkit 13.0 from PyPI into .toolkit/ (120 MB to fetch)"
    if ! meanwhile 'fetching the CUDA Toolkit' fetch_wheels "$@"; then
        tail -n 5 "$cache/wheels.log" >&2
        fail "that did not work; the whole log is .cache/wheels.log. Is there a network? Is there
600 MB of space? Otherwise install NVIDIA's CUDA Toolkit 13.0 and put its nvcc on PATH."
    fi
    ln -sfn nvidia/cu13 "$toolkit/cuda"
    ln -sfn lib "$toolkit/cuda/lib64"
    for library in "$toolkit"/cuda/lib/lib*.so.*; do
        ln -sf "${library##*/}" "${library%%.so.*}.so"
    done
    is_toolkit "$toolkit/cuda/bin/nvcc" || fail "the nvcc in .toolkit/ does not run: see
.cache/wheels.log. NVIDIA makes these wheels for Linux on x86-64 and 64-bit Arm; is this one of them?"
    cp "$@" "$toolkit/"
}

# seek_toolkit: sets `nvcc`, the wheels' if there is no other. OVERLAP_TOOLKIT overrules the search:
# `wheels`, or a toolkit's folder.
seek_toolkit()
{
    case ${OVERLAP_TOOLKIT:-auto} in
    auto)
        for nvcc in "$(command -v nvcc 2>/dev/null)" /usr/local/cuda/bin/nvcc; do
            is_toolkit "$nvcc" && return
            if [ -n "$nvcc" ] && [ -x "$nvcc" ]; then
                say "$nvcc is not of release 13, so it is passed over"
            fi
        done
        nvcc=$toolkit/cuda/bin/nvcc
        ;;
    wheels) nvcc=$toolkit/cuda/bin/nvcc ;;
    *)
        nvcc=$OVERLAP_TOOLKIT/bin/nvcc
        is_toolkit "$nvcc" || fail "OVERLAP_TOOLKIT=$OVERLAP_TOOLKIT has no bin/nvcc of release 13.
It can be the folder of a CUDA Toolkit, or 'wheels' for NVIDIA's from PyPI, or unset."
        ;;
    esac
}

# is_wheels NVCC
is_wheels() { case $1 in "$toolkit"/*) true ;; *) false ;; esac; }

# install_all NEEDS: what is missing of them and of the toolkit, in one round; sets `nvcc`.
install_all()
{
    seek_toolkit
    if is_wheels "$nvcc" && ! { have_wheels && is_toolkit "$nvcc"; }; then
        provide "$1$wheels_needs"
        install_wheels
    else
        provide "$1"
    fi
}

# is_settled FILE: nothing changed that the answer depended on last time; else sets `question`, what
# it depends on. Sets `nvcc`.
is_settled()
{
    question="${OVERLAP_TOOLKIT:-auto} $(command -v nvcc 2>/dev/null || echo none) $root \
$(cat "$root/CMakePresets.json" "$root/build/release" 2>/dev/null | cksum) ${werror-released}"
    [ -f "$1" ] || return 1
    { read -r asked && read -r nvcc; } <"$1" || return 1
    [ "$asked" = "$question" ] && [ -x "$nvcc" ] || return 1
    ! is_wheels "$nvcc" || have_wheels
}

# configure PRESET BUILD: CMake runs itself again where a CMakeLists.txt changed: that is the build's
# business.
configure()
{
    stamp=$2/.overlap-configured
    # A build that ./selftest has made once stays a developer's: warnings are errors in it.
    werror=OFF
    [ -z "${developer-}" ] || : >"$cache/developer-${2##*/}"
    if [ -f "$cache/developer-${2##*/}" ]; then
        developer=yes
        werror=ON
    fi
    if is_settled "$stamp" && [ -f "$2/build.ninja" ]; then
        provide "$needs"
        return
    fi
    rm -f "$stamp"
    install_all "$needs"
    say "configuring ${2##*/}/ with $nvcc"
    log=$cache/configure-$1.log
    # Not from the clone's folder, as CMake would take that by its own name.
    if ! (cd / && cmake -S "$root" --fresh --preset "$1" -D CMAKE_CUDA_COMPILER="$nvcc" \
        -D OVERLAP_WERROR="$werror") \
        >"$log" 2>&1 </dev/null; then
        grep -A 12 'CMake Error' "$log" | head -n 30 >&2
        fail "the build could not be configured; the whole log is .cache/${log##*/}.
CMake has to be 3.25 or newer (this is $(cmake --version | head -n 1)). If the CUDA Toolkit is at
fault, OVERLAP_TOOLKIT=wheels fetches NVIDIA's own into .toolkit/."
    fi
    printf '%s\n%s\n' "$question" "$nvcc" >"$stamp"
}

# The first of the folders that has the file.
folder_of()
{
    wanted=$1
    shift
    for folder; do
        [ ! -e "$folder/$wanted" ] || { echo "$folder" && return; }
    done
    fail "the CUDA Toolkit of $nvcc has no $wanted"
}

# In place of CMake, in a release: grader/build/toolchain.h says what the file is.
write_toolchain()
{
    cuda=$(readlink -f "$nvcc")
    cuda=${cuda%/bin/nvcc}
    include=$(folder_of cuda_runtime.h "$cuda/include" "$cuda"/targets/*/include)
    libraries=$(folder_of libcudart.so.13 "$cuda/lib64" "$cuda"/targets/*/lib)
    {
        cat "$root/build/release"
        echo "cc=$(command -v gcc)"
        echo "cc_version=$(gcc -dumpfullversion)"
        echo "nvcc=$nvcc"
        echo "nvcc_version=$("$nvcc" --version | sed -n 's/.*, V//p')"
        echo "cuda=$cuda"
        echo "cuda_include=$include"
        echo "cuda_libraries=$libraries"
    } >"$root/build/grader/toolchain"
}

# show_progress LOG: copy the build's output to LOG; on a terminal one line that is written over,
# elsewhere a line each tenth.
show_progress()
{
    told=
    while IFS= read -r line; do
        printf '%s\n' "$line" >&3
        case $line in
        '[0/'*) ;;
        '['[0-9]*/[0-9]*'] '*)
            if [ -t 2 ]; then
                printf '\r\033[K%.79s' "$line" >&2
                told=yes
                continue
            fi
            counts=${line%%']'*}
            counts=${counts#'['}
            tenth=$((${counts%/*} * 10 / ${counts#*/}))
            [ "$tenth" = "$told" ] || say "building: $counts"
            told=$tenth
            ;;
        esac
    done 3>"$1"
    if [ -n "$told" ] && [ -t 2 ]; then
        printf '\r\033[K' >&2
    fi
}

# build BUILD TARGET...
build()
{
    folder=$1
    log=$cache/build-${folder##*/}.log
    rm -f "$log.status"
    {
        status=0
        ninja -C "$@" 2>&1 </dev/null || status=$?
        echo "$status" >"$log.status"
    } | show_progress "$log"
    read -r status <"$log.status" || status=1
    if [ "$status" -ne 0 ]; then
        if grep -q '^FAILED' "$log"; then
            sed -n '/^FAILED/,$p' "$log" | head -n 40 >&2
        else
            tail -n 20 "$log" >&2
        fi
        fail "the build in ${folder##*/}/ failed; the whole log is .cache/${log##*/}. If you did not
change the project's own code, delete ${folder##*/}/ and call this again."
    fi
}

# grading_parts [LESSON...]: what grading takes besides the program: what is linked with the student's
# files, for these lessons alone or for all; on a machine with a GPU also what only a GPU runs.
grading_parts()
{
    targets=
    for lesson; do
        parts=$(sed -n 's/^ *[.]parts = .*{"\(.*\)", NULL}.*/\1/p' \
            "$root/grader/lessons/$lesson/judge.c" 2>/dev/null | sed 's/", "/ part_/g')
        [ -n "$parts" ] || { targets= && break; }
        targets="$targets part_$parts"
    done
    echo "${targets:-parts}"
    [ ! -e /dev/nvidiactl ] && [ ! -e /dev/dxg ] || echo gpu_parts
}

# begun_opencl FOLDER: is there, in it or below, a lesson 13 that somebody has begun?
begun_opencl()
{
    find "$1" -name opencl.c -type f 2>/dev/null | {
        while IFS= read -r file; do
            cmp -s "$file" "$root/grader/lessons/13_opencl/stub/opencl.c" || return 0
        done
        return 1
    }
}

# wants_opencl ARGUMENT...: does this call of ./grade judge lesson 13? Where no lesson is named only
# if it has been begun, so that nobody waits for what nothing runs; a list of the tests runs nothing.
wants_opencl()
{
    case " $* " in *' --gtest_list_tests '*) return 1 ;; esac
    folder=$root/lessons
    flag=
    for argument; do
        # "--flag VALUE" is "--flag=VALUE".
        [ -z "$flag" ] || argument=$flag=$argument
        flag=
        case $argument in
        --submission=* | --class=*) folder=${argument#*=} ;;
        --solutions) folder=$root/solutions ;;
        --submission | --class | --device | --seed | --sandbox | --random-orders | --gpu | --state | \
            --roster | --marks | --jobs | --slurm-tasks | --part | --report) flag=$argument ;;
        -*) ;;
        13 | 13_* | */13_* | opencl | OpenCL) return 0 ;;
        *) folder= ;;
        esac
    done
    [ -n "$folder" ] && begun_opencl "$folder"
}

# setup_opencl ARGUMENT...: of ./grade. Without it lesson 13 is skipped, and the others are not.
setup_opencl()
{
    if ! wants_opencl "$@" || have_all "$opencl_needs"; then return; fi
    mkdir -p "$cache" 2>/dev/null
    (provide "$opencl_needs") || say 'lesson 13 will be skipped'
}

# setup_build PRESET BUILD TARGET...: on return the targets are up to date.
setup_build()
{
    preset=$1
    shift
    released=$root/build/release
    # Who only uses a release may be somebody who cannot write to it.
    [ ! -f "$released" ] || ! is_settled "$released.settled" || return 0
    if ! mkdir -p "$cache" 2>/dev/null || ! : >>"$cache/lock"; then
        fail "cannot write to $cache. Is the clone somebody else's, or on a read-only disk?"
    fi
    exec 9>>"$cache/lock"
    # One that finds nothing to do is over in a moment, and nobody need hear of it: what ./emulate
    # says stands between the lines of the program.
    if ! flock -w 3 9; then
        say 'another call is building; waiting for it'
        flock 9
    fi
    if [ ! -f "$released" ]; then
        configure "$preset" "$1"
        build "$@"
    elif ! is_settled "$released.settled"; then
        install_all "$release_needs"
        write_toolchain
        printf '%s\n%s\n' "$question" "$nvcc" >"$released.settled"
    fi
    exec 9>&-
}
