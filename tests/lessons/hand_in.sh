# shellcheck shell=sh
# What the scripts that grade wrong and right submissions share: reading the header of one, and
# making a submission of it. Sourced; it sets nothing.

# header FILE KEY: what stands behind "KEY:" in the first comment of the file, a line each.
header()
{
    sed -n -e "s/^[ /*]*$2: *\(.*[^ ]\) *\$/\1/p" -e '/\*\//q' "$1"
}

# hand_in ROOT LESSON FILE FOLDER: makes FOLDER/LESSON, the solution with FILE in place of its first
# file of that kind, or of the one that FILE's header names ("replaces: NAME"). Says what is wrong
# and returns 1 when there is no such file.
hand_in()
{
    mkdir -p "$4"
    cp -R "$1/solutions/$2" "$4/$2"
    replaced=$(header "$3" replaces)
    if [ -z "$replaced" ]; then
        for of_lesson in "$4/$2"/*."${3##*.}"; do
            replaced=$(basename "$of_lesson")
            break
        done
    fi
    if [ ! -f "$4/$2/$replaced" ]; then
        echo "$3 replaces no file of the lesson"
        return 1
    fi
    cp "$3" "$4/$2/$replaced"
}

# orders FILE: the random orders in which a variant is run, $ORDERS (20) or fewer.
orders()
{
    named=$(header "$1" orders)
    if [ -n "$named" ] && [ "$named" -lt "${ORDERS:-20}" ]; then
        echo "$named"
    else
        echo "${ORDERS:-20}"
    fi
}

# ended REPORT WORD: the checks of a grader's output that ended so ("OK", "FAILED"), one a line.
ended()
{
    sed -n "s/^\[ *$2 *\] \([A-Za-z0-9]*\.[A-Za-z0-9]*\).* ([0-9]* ms)\$/\1/p" "$1"
}

# has_opencl GRADER: it can grade lesson 13 here.
has_opencl()
{
    ! "$1" --device=emulator --solutions --gtest_filter=OpenCL.NoDeviceIsNoError 13_opencl 2>&1 \
        </dev/null | grep -q '\./grade 13 installs it'
}

# each_submission FOLDER: the submissions in it, a path a line.
each_submission()
{
    for of_folder in "$1"/*.c "$1"/*.cu "$1"/*.cuh; do
        [ ! -f "$of_folder" ] || printf '%s\n' "$of_folder"
    done
}
