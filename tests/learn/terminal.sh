# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154 # sourced: what it takes and what it gives
# A terminal for the tests of ./learn: tmux, of 80 x 24, with a clone of its own. Sourced with
# `learn` (the program) and `root` (the sources) set; sets `clone`, and `work`, a folder that goes
# away at the end.
command -v tmux >/dev/null || {
    echo 'skipped: no tmux here, which is the terminal that these tests type into' >&2
    exit 77
}
work=$(mktemp -d "${TMPDIR:-/tmp}/learn.XXXXXX") || exit 2
chmod 755 "$work"
# Killed ones leave things there.
mkdir "$work/tmp"
export TMPDIR="$work/tmp"
clone=$work/clone
failures=0

mux() { tmux -S "$work/socket" -f /dev/null "$@"; }

clean_up()
{
    mux kill-server 2>/dev/null
    # What ran there is being ended, and writes until then.
    for _ in $(seq 200); do
        pgrep -f -- "--root=$clone" >/dev/null || break
        sleep 0.05
    done
    rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 2' HUP INT TERM

# new_clone: lessons/ as it came, of which everything may be edited; the rest is the real one.
new_clone()
{
    rm -rf "$clone"
    mkdir -p "$clone/lessons"
    for lesson in "$root"/lessons/*/; do
        name=$(basename "$lesson")
        mkdir "$clone/lessons/$name"
        cp "$lesson"/lesson.h "$lesson"/README*.md "$root/grader/lessons/$name/stub"/* \
            "$clone/lessons/$name/"
    done
    for folder in solutions grader kernels trace threads po; do
        [ ! -e "$root/$folder" ] || ln -s "$root/$folder" "$clone/$folder"
    done
}

# count_lessons: in a new clone; sets `lessons`, how many there are, and `checks`, how many lesson 01
# has: "0/13" in the list.
count_lessons()
{
    lessons=$(find "$root/lessons" -mindepth 1 -maxdepth 1 -name '[0-9]*_*' | wc -l)
    checks=$("$learn" --root="$clone" list | sed -n 's/.*01_device_sync .*0\/\([0-9]*\).*/\1/p')
}

# open_terminal COLUMNS ROWS [NAME]: a shell in it.
open_terminal()
{
    mux new-session -d -s "${3-student}" -x "$1" -y "$2" \
        "env PS1='ready> ' LC_ALL=${locale-C.UTF-8} TERM=${terminal-screen-256color} sh"
    sees "ready>" "${3-student}"
}

# type_keys KEYS [NAME]: tmux's names for keys are understood.
type_keys() { mux send-keys -t "${2-student}" "$1"; }
start() { mux send-keys -t "${1-student}" "'$learn' '--root=$clone'" Enter; }
screen() { mux capture-pane -p -t "${1-student}"; }

complain()
{
    echo "$1"
    screen "${2-student}" 2>/dev/null | sed 's/^/    | /'
    failures=$((failures + 1))
}

# A state is waited for, however busy the machine is. What has not come by then never comes, and
# what is behind it would not either: the test ends.
patience=600 # seconds

# within_reason WHAT COMMAND...: waits until it succeeds.
within_reason()
{
    what=$1
    shift
    give_up=$(($(date +%s) + patience))
    until "$@"; do
        if [ "$(date +%s)" -gt "$give_up" ]; then
            complain "$what" "${shown-student}"
            exit 1
        fi
        sleep 0.1
    done
}

shows() { screen "$shown" 2>/dev/null | grep -qF -e "$1"; }

# sees TEXT [NAME]: it comes up on the screen.
sees()
{
    shown=${2-student}
    within_reason "this never came up on the screen: $1" shows "$1"
}

sees_not()
{
    ! screen "${2-student}" | grep -qF -e "$1" || complain "this is still on the screen: $1"
}

# expect WHAT COMMAND...: it succeeds.
expect()
{
    what=$1
    shift
    "$@" >/dev/null 2>&1 || complain "expected: $what"
}

own=$clone/lessons/01_device_sync/device_sync.c
solution=$root/solutions/01_device_sync/device_sync.c
# Whoever writes this has forgotten the wait.
no_wait() { sed '/waited = cudaStreamSynchronize/s/=.*/= cudaSuccess;/' "$solution"; }
