#!/bin/sh
# check_lesson.sh itself: it has to object to a header that is wrong, and to a variant that is no
# right submission.
#
#   check_itself.sh GRADER ROOT
set -u
grader=$1 root=$2
work=$(mktemp -d "${TMPDIR:-/tmp}/itself.XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 2' HUP INT TERM
lesson=01_device_sync
mistakes=$work/tests/mistakes/$lesson
failures=0

mkdir -p "$mistakes" "$work/tests/variants/$lesson" "$work/solutions"
cp -R "$root/tests/lessons" "$work/tests/lessons"
cp -R "$root/solutions/$lesson" "$work/solutions/$lesson"

# objects PART WORDS: check_lesson.sh fails, and says so with these words.
objects() {
    if "$work/tests/lessons/check_lesson.sh" "$grader" "$work" "$lesson" "$1" >"$work/said" 2>&1 ||
        ! grep -q -- "$2" "$work/said"; then
        echo "check_lesson.sh does not say \"$2\", but:"
        cat "$work/said"
        failures=$((failures + 1))
    fi
}

# The mistake $1 with its header changed by the sed command $2 is objected to with the words $3.
refuses() {
    rm -f "$mistakes"/*
    sed "$2" "$root/tests/mistakes/$lesson/$1.c" >"$mistakes/$1.c"
    if cmp -s "$mistakes/$1.c" "$root/tests/mistakes/$lesson/$1.c"; then
        echo "$1.c: $2 changes nothing"
        failures=$((failures + 1))
    fi
    objects mistakes "$3"
}

refuses sum_before_wait '/fails:/s/TheHostReads[A-Za-z]*/NothingLeaks/' 'passes DeviceSync.NothingLeaks'
refuses sum_before_wait '/finds:/s/race/leak/' 'has no finding "leak" in line'
refuses sum_before_wait '/finds:/s/ at ".*/ at "cudaMalloc("/' 'has no finding "race" in line'
refuses sum_before_wait '/finds:/s/ at ".*/ at "error"/' 'has not one line'
refuses sum_before_wait '/finds:/s/finds:.*/finds: nothing, it is said/' 'was to have no finding'
refuses sum_before_wait '/finds:/d' 'does not say what the device finds'
refuses sum_in_float '/finds:/s/finds:.*/finds: race at "float total"/' 'has no finding "race"'

cp "$root/tests/mistakes/$lesson/sum_before_wait.c" "$work/tests/variants/$lesson/"
ORDERS=0 objects variants 'does not pass'
cp "$root/solutions/$lesson/device_sync.c" "$mistakes/right.c"
rm -f "$mistakes/sum_in_float.c"
sed -i '1s/.*/\/* fails: DeviceSync.NothingLeaks\n * finds: nothing, it is right/' "$mistakes/right.c"
objects mistakes 'passes DeviceSync.NothingLeaks'
[ "$failures" -eq 0 ]
