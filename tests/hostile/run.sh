#!/bin/sh
# Hostile submissions: each is graded, and what has to be reported is; afterwards nothing is left.
#
#   run.sh GRADER [NAME ...]
#
# A folder here is a submission and its about.txt:
#   the first line   what it tries
#   class:           forge, harm, leak, output, resource, source or stall
#   expect:          what a reader of the project's texts expects; "documented: ...": it succeeds,
#                    and docs/containment.md says so
#   compiler:        of how many seconds it is ended by its limit, in place of the usual 300
#   status:          the grader's exit status: 1, or 0 where a right submission misbehaved in vain
#   says:            what the grader has to print (may be repeated)
#   filter:          the checks that are enough to see it
#   observe:         succeeds if the attack did
# @MARKS@ in a submission becomes a folder that it must not be able to write to, @TOKEN@ a word that
# nobody else uses, @SOLUTIONS@ the folder of the reference solutions, a line with @HONEST@ the task
# of lesson 01 done right (honest.c), and one with @HONEST_OPENCL@ the solution of lesson 13. make.sh
# makes in a copy what a repository cannot hold (links, pipes, long files).
set -u
here=$(dirname "$(readlink -f "$0")")
root=$(readlink -f "$here/../..")
. "$root/tests/lessons/hand_in.sh"

# What the grader printed: no control bytes but line feeds and tabs, no overriding of direction.
is_plain()
{
    ! LC_ALL=C grep -qP '[\x00-\x08\x0b-\x1f\x7f]|\xe2\x80[\xaa-\xae]|\xe2\x81[\xa6-\xa9]' "$1"
}

# Processes whose environment names our folder for temporary files, or that run from it.
processes_left()
{
    grep -slz "^TMPDIR=$1" /proc/[0-9]*/environ
}

# What outlives a process, and what a process above the grader was given: this one is.
state()
{
    for table in shm sem msg; do
        [ -r /proc/sysvipc/$table ] && awk -v t=$table 'NR > 1 { print t, $1, $2 }' /proc/sysvipc/$table
    done
    ls /dev/mqueue 2>/dev/null
    # Not the blocked signals: a shell blocks all of them itself while it forks.
    grep -E '^(Cpus_allowed_list|Seccomp|NoNewPrivs|SigIgn|Umask):' "/proc/$$/status"
    # nice, policy and priority: fields behind the name, which is in parentheses
    sed 's/.*) //' "/proc/$$/stat" | awk '{ print "nice", $17, "policy", $39, "priority", $38 }'
    cat "/proc/$$/oom_score_adj" "/proc/$$/autogroup" "/proc/$$/coredump_filter" 2>/dev/null |
        sed 's/^.autogroup-[0-9]*//'
    cat "/proc/$$/limits"
}

field() { sed -n "s/^$2: *//p" "$1/about.txt"; }

# try NAME FOLDER: prints what is wrong.
try()
{
    name=$1 folder=$2
    token=overlap-hostile-$$-$name
    mkdir "$folder/marks" "$folder/tmp" "$folder/submission"
    chmod 1777 "$folder/marks"
    cp -R "$here/$name/." "$folder/submission"
    find "$folder/submission" -type f -exec env LC_ALL=C sed -i \
        -e "s#@MARKS@#$folder/marks#g" -e "s#@TOKEN@#$token#g" \
        -e "s#@SOLUTIONS@#$here/../../solutions#g" -e "/@HONEST@/{r $here/honest.c" -e 'd}' \
        -e "/@HONEST_OPENCL@/{r $here/../../solutions/13_opencl/opencl.c" -e 'd}' {} +
    if [ -x "$folder/submission/make.sh" ]; then
        (cd "$folder/submission" && ./make.sh .) >/dev/null 2>&1
    fi
    lessons=$(cd "$folder/submission" && ls -d [0-9]*)
    filter=$(field "$folder/submission" filter)
    # shellcheck disable=SC2086 # a list of words
    OVERLAP_COMPILER_SECONDS=$(field "$folder/submission" compiler) TMPDIR=$folder/tmp timeout -k 5 1500 "$grader" --device=emulator --random-orders=0 \
        --gtest_filter="${filter:-*}" --submission="$folder/submission" $lessons \
        >"$folder/said" 2>&1 </dev/null
    status=$?
    case " $(field "$folder/submission" status) " in
    *" $status "*) ;;
    *) echo "$name: exit status $status" && head -n 30 "$folder/said" ;;
    esac
    field "$folder/submission" says | while read -r words; do
        tr '\n' ' ' <"$folder/said" | grep -qF -- "$words" ||
            { echo "$name: does not say: $words" && head -n 30 "$folder/said"; }
    done
    is_plain "$folder/said" || echo "$name: control characters reach the terminal"
    grep -v '^  | ' "$folder/said" | grep -q 'OVERLAP-HOSTILE forged' && echo "$name: a forged line"
    observe=$(field "$folder/submission" observe)
    if [ -n "$observe" ] && sh -c "$observe" >/dev/null 2>&1; then
        echo "$name: the attack succeeded: $observe"
    fi
    left=$(processes_left "$folder/tmp")
    [ -z "$left" ] || echo "$name: a process is left: $left"
    left=$(ls -A "$folder/tmp")
    [ -z "$left" ] || echo "$name: files are left: $left"
    left=$(find /tmp /dev/shm -maxdepth 1 -name "*$token*")
    [ -z "$left" ] || echo "$name: files are left: $left"
}

if [ "${1-}" = --one ]; then
    grader=$2
    mkdir "$3/$4"
    try "$4" "$3/$4" >"$3/$4.wrong"
    chmod -R u+rwX "$3/$4" 2>/dev/null
    rm -rf "${3:?}/$4"
    exit 0
fi

grader=$1
shift
if [ $# -eq 0 ]; then
    for folder in "$here"/*-*/; do
        case $folder in *-13-*) has_opencl "$grader" || continue ;; esac
        set -- "$@" "$(basename "$folder")"
    done
fi
[ -w /dev/shm ] || { echo 'there is no /dev/shm' && exit 77; }
# Not below /tmp, of which a contained program has its own.
work=$(mktemp -d "$(dirname "$grader")/hostile.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 2' HUP INT TERM
state >"$work/before"
# The slow ones, which wait for a limit, go first.
printf '%s\n' "$@" | awk '{ print (/^(stall|source|forge-early)/ ? 0 : 1) " " $0 }' | sort -s -k1,1n |
    cut -d' ' -f2 | xargs -P 4 -n 1 "$0" --one "$grader" "$work"
state >"$work/after"
diff "$work/before" "$work/after" >"$work/state.wrong" || echo 'a segment or a setting is left'
wrong=$(cat "$work"/*.wrong)
[ -z "$wrong" ] || printf '%s\n' "$wrong"
# The next student's mark is what it is alone.
"$grader" --device=emulator --solutions device_sync >/dev/null 2>&1 || wrong="$wrong after them"
echo "$# hostile submissions"
[ -z "$wrong" ]
