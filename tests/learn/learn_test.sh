#!/bin/sh
# learn_test.sh LEARN ROOT PART: a student's day with ./learn, typed into a real terminal.
#
# edit     the first screen; a mistake, a compile error and a fix are seen when they are saved,
#          however the editor writes; hints; another save while a lesson is graded
# files    reset and restore keep everything; the solution when asked twice; the size changes
# course   each stub is replaced by its solution, in order, and each end of a lesson is shown
# ending   Ctrl-C, q and a kill leave the terminal, or no process, behind; two at once; a damaged
#          progress file; a clone that cannot be written to
# pipe     without a terminal, without colour, without UTF-8, in Chinese
set -u
learn=$1 root=$2 part=$3
. "$root/tests/learn/terminal.sh"
new_clone
count_lessons

templates=$clone/lessons/07_reductions/reductions.cuh

# A grading that takes seconds, because nvcc compiles it, is under way.
slow()
{
    cp "$root/solutions/07_reductions/reductions.cuh" "$templates"
    sees '07_reductions: compile'
}

# One that lasts until somebody comes in between: the file takes itself in twice, and so on.
endless()
{
    {
        echo '#if __INCLUDE_LEVEL__ < 60'
        echo '#include "reductions.cuh"'
        echo '#include "reductions.cuh"'
        echo '#endif'
    } >"$templates"
    sees '07_reductions: compile' "$@"
}

edit()
{
    open_terminal 80 24
    start
    sees "0 of $lessons lessons passed"
    sees 'Next: 01_device_sync'
    sees 'q quit'
    no_wait >"$own"
    sees '01_device_sync  '
    sees 'checks pass'
    sees 'device_sync.c:'
    sees '^'
    sees 'Why:'
    sees 'verdict on 01_device_sync after'
    type_keys h
    sees 'Where to look:'
    sees_not 'The idea:'
    type_keys h
    sees 'The idea:'
    type_keys h
    sees 'Nearly written:'
    # An editor that writes by rename, and an error that the compiler finds.
    sed 's/^    const size_t bytes.*/    const size_t bytes = length * sizeof *input/' "$solution" \
        >"$own.swp"
    mv "$own.swp" "$own"
    sees 'It does not compile'
    sees "expected ',' or ';'"
    sees "0 of $checks checks pass"
    cp "$solution" "$own"
    sees "$checks of $checks checks pass"
    sees 'What you have shown'
    # A save in the middle of a grading starts it over: the verdict is on the last.
    slow
    echo '#error not finished' >>"$templates"
    sees 'It does not compile'
    sees 'not finished'
    type_keys l
    sees "1 of $lessons lessons passed"
    type_keys q
    sees 'ready>'
}

files()
{
    open_terminal 80 24
    mux send-keys -t student "export OVERLAP_WATCH=poll PAGER=cat" Enter
    start
    sees 'Next: 01_device_sync'
    no_wait >"$own"
    sees 'Why:'
    type_keys r
    sees 'once more'
    type_keys r
    sees 'It is not written yet'
    expect 'the stub is there again' cmp "$own" "$root/grader/lessons/01_device_sync/stub/device_sync.c"
    expect 'the file is kept' sh -c "cat '$own'.20* | grep -q cudaMemcpyAsync"
    type_keys u
    sees 'Why:'
    expect 'the file is back' sh -c "grep -q cudaMemcpyAsync '$own'"
    type_keys s
    sees 'have not passed'
    type_keys s
    sees 'ours: solutions/01_device_sync'
    mux resize-window -t student -x 120 -y 40
    type_keys l
    sees 'wait where you must, and nowhere else'
    sees '07_reductions'
    mux resize-window -t student -x 60 -y 12
    type_keys 2
    sees '02_streams'
    type_keys '?'
    sees 'Keys, and'
    mux resize-window -t student -x 80 -y 24
    sees 'q   quit'
    type_keys q
    sees 'ready>'
}

course()
{
    open_terminal 80 24
    start
    number=0
    for folder in "$root"/solutions/[0-9]*/; do
        name=$(basename "$folder")
        number=$((number + 1))
        type_keys l
        sees "Next: $name"
        for file in "$root/grader/lessons/$name/stub"/*; do
            cp "$folder/$(basename "$file")" "$clone/lessons/$name/"
        done
        sees 'Passed. What you have shown:'
        sees "$name  "
        type_keys l
        sees "$number of $lessons lessons passed"
    done
    sees 'You have passed every lesson'
    type_keys q
    sees 'ready>'
    # All of it is remembered, and none of it of another content.
    "$learn" --root="$clone" list >"$work/list"
    expect 'all are passed' grep -q "$lessons of $lessons lessons passed" "$work/list"
    echo >>"$clone/lessons/03_events/events.c"
    "$learn" --root="$clone" list >"$work/list"
    expect 'a changed file is open again' grep -q "$((lessons - 1)) of $lessons lessons passed" "$work/list"
    cp "$root/grader/lessons/04_context_create/stub/context_create.c" \
        "$clone/lessons/04_context_create/"
    "$learn" --root="$clone" list >"$work/list"
    expect 'a stub is not begun' grep -q '04_context_create .*not begun' "$work/list"
}

# Processes whose command line names this clone.
left_over() { pgrep -f -- "--root=$clone" | grep -vx "$$"; }

nothing_left() { ! left_over >/dev/null; }
is_gone() { within_reason 'processes are still there' nothing_left; }

ending()
{
    open_terminal 80 24
    mux send-keys -t student "stty -g >'$work/before'" Enter
    start
    sees 'Next: 01_device_sync'
    endless
    type_keys C-c
    sees 'ready>'
    is_gone
    mux send-keys -t student "stty -g >'$work/after'; echo as it' 'was" Enter
    sees 'as it was'
    expect 'the terminal is as it was' cmp "$work/before" "$work/after"
    # Killed in the middle: nothing goes on, and the next call is as any other.
    open_terminal 80 24 doomed
    start doomed
    endless doomed
    kill -KILL "$(pgrep -o -f -- "--root=$clone")"
    is_gone
    cp "$root/grader/lessons/07_reductions/stub/reductions.cuh" "$templates"
    no_wait >"$own"
    echo 'not a line of ours' >"$clone/.overlap-progress"
    head -c 300 /dev/urandom >>"$clone/.overlap-progress"
    open_terminal 80 24 second
    start
    start second
    sees 'begun'
    sees 'begun' second
    cp "$solution" "$own"
    sees "$checks of $checks checks pass"
    sees "$checks of $checks checks pass" second
    type_keys q
    type_keys q second
    sees 'ready>'
    expect 'the progress is whole' grep -q "^01_device_sync passed $checks 0 $checks " "$clone/.overlap-progress"
    read_only
}

# As somebody who may not write here: nothing is remembered, the rest works.
read_only()
{
    rm -f "$clone/.overlap-progress"
    if [ "$(id -u)" -eq 0 ]; then
        command -v setpriv >/dev/null || return
        set -- setpriv --reuid=65534 --regid=65534 --clear-groups
        "$@" test -x "$learn" -a -r "$own" || return
    else
        set --
        chmod -R a-w "$clone"
    fi
    mkdir "$work/temporary"
    chmod 777 "$work/temporary"
    TMPDIR=$work/temporary "$@" "$learn" --root="$clone" list >"$work/list" 2>&1
    expect 'a list' grep -q '01_device_sync' "$work/list"
    TMPDIR=$work/temporary "$@" "$learn" --root="$clone" check 1 >"$work/list" 2>&1
    expect 'a verdict' grep -q "$checks of $checks checks pass" "$work/list"
    TMPDIR=$work/temporary "$@" "$learn" --root="$clone" reset 1 >"$work/list" 2>&1
    expect 'a reset that cannot be done is said' grep -q 'stays as it is' "$work/list"
    expect 'and not done' cmp "$own" "$solution"
    [ "$(id -u)" -eq 0 ] || chmod -R u+w "$clone"
}

pipe()
{
    "$learn" --root="$clone" </dev/null >"$work/list"
    expect 'the course' grep -q "0 of $lessons lessons passed" "$work/list"
    expect 'no line is wider than 80' sh -c "! LC_ALL=C.UTF-8 grep -qE '^.{81}' '$work/list'"
    expect 'nothing for a terminal' sh -c "! grep -q $(printf '\033') '$work/list'"
    LC_ALL=C "$learn" --root="$clone" list >"$work/list"
    expect 'plain characters' sh -c "! LC_ALL=C grep -q '[^ -~]' '$work/list'"
    no_wait >"$own"
    LC_ALL=C "$learn" --root="$clone" check 1 >"$work/list"
    expect 'exit status 1' [ $? -eq 1 ]
    expect 'a verdict' grep -q "of $checks checks pass" "$work/list"
    # The machine's trouble is no verdict, and nothing remembers it.
    cp "$clone/.overlap-progress" "$work/progress"
    echo '/* saved again */' >>"$own"
    (
        # shellcheck disable=SC3045 # dash has it too
        ulimit -n 20
        LC_ALL=C exec "$learn" --root="$clone" check 1
    ) >"$work/list"
    expect 'exit status 2' [ $? -eq 2 ]
    expect 'the reason' grep -q 'It could not be judged, because a limit of this shell' "$work/list"
    expect 'nothing remembered' cmp "$work/progress" "$clone/.overlap-progress"
    for step in 1 2 3 3; do
        LC_ALL=C "$learn" --root="$clone" hint 1 >"$work/list"
        expect "hint $step" sh -c "! grep -q ' of 3' '$work/list' || grep -q '^$step of 3' '$work/list'"
    done
    expect 'the last hint' grep -q 'Nearly written' "$work/list"
    "$learn" --root="$clone" answers 1 >"$work/list"
    expect 'not yet' [ $? -eq 1 ]
    "$learn" --root="$clone" answers 1 >"$work/list"
    expect 'answers' grep -q '^# ' "$work/list"
    cp "$solution" "$own"
    "$learn" --root="$clone" check 1 >"$work/list"
    expect 'a whole legend' grep -q '^x: so many at once at most; .* moment' "$work/list"
    no_wait >"$own"
    "$learn" --root="$clone" timeline 1 >/dev/null
    "$learn" --root="$clone" text 1 >"$work/list"
    expect 'the text' cmp "$work/list" "$clone/lessons/01_device_sync/README.md"
    "$learn" --root="$clone" dance 2>"$work/list"
    expect 'status 2' [ $? -eq 2 ]
    "$learn" --root="$clone" list nowhere 2>"$work/list"
    expect 'status 2' [ $? -eq 2 ]
    if [ -f "$(dirname "$learn")/../locale/zh_CN/LC_MESSAGES/overlap.mo" ]; then
        OVERLAP_LANG=zh "$learn" --root="$clone" list >"$work/list"
        expect 'Chinese' sh -c "! grep -q 'lessons passed' '$work/list'"
        expect 'a title in Chinese' grep -q '下一步：01_device_sync，该等的地方等，别处不等' "$work/list"
    fi
    # A terminal that can do nothing gets what a pipe gets.
    terminal=dumb
    locale=C
    open_terminal 80 24
    start
    sees "0 of $lessons lessons passed"
    sees 'ready>'
}

# Every terminal that can place its cursor gets the screen, the others get what a pipe gets; and each
# is left as it was. VS Code's says that it is an xterm, and in two more variables who it is.
terminals()
{
    for terminal in xterm-256color vt100 linux screen ansi; do
        command -v infocmp >/dev/null && ! infocmp "$terminal" >/dev/null 2>&1 && continue
        open_terminal 80 24 "$terminal"
        mux send-keys -t "$terminal" "export TERM_PROGRAM=vscode COLORTERM=truecolor" Enter
        mux send-keys -t "$terminal" "stty -g >'$work/before'" Enter
        start "$terminal"
        sees 'Next: 01_device_sync' "$terminal"
        sees 'q quit' "$terminal"
        type_keys 2 "$terminal"
        sees 'It is not written yet' "$terminal"
        type_keys l "$terminal"
        sees "0 of $lessons lessons passed" "$terminal"
        type_keys q "$terminal"
        sees 'ready>' "$terminal"
        mux send-keys -t "$terminal" "stty -g >'$work/after'; echo as it' 'was" Enter
        sees 'as it was' "$terminal"
        expect "$terminal is as it was" cmp "$work/before" "$work/after"
    done
    for terminal in dumb unset ''; do
        name=without-$terminal
        open_terminal 80 24 "$name"
        [ "$terminal" != unset ] || mux send-keys -t "$name" 'unset TERM' Enter
        start "$name"
        sees "0 of $lessons lessons passed" "$name"
        sees './learn text' "$name"
        mux send-keys -t "$name" "echo still' 'here" Enter
        sees 'still here' "$name"
        sees_not 'q quit' "$name"
    done
}

# Colours are used where there are some and nobody objects.
colours()
{
    terminal=xterm-256color
    no_wait >"$own"
    open_terminal 80 24
    start
    sees 'fails first'
    expect 'colours' coloured
    type_keys q
    sees 'ready>'
    open_terminal 80 24 plain
    mux send-keys -t plain 'export NO_COLOR=1' Enter
    start plain
    sees 'fails first' plain
    sees 'q quit' plain
    if coloured plain; then complain 'colours in spite of NO_COLOR' plain; fi
}

coloured() { mux capture-pane -e -p -t "${1-student}" | grep -q "$(printf '\033')\[[0-9;]*3[0-7]"; }

case $part in
edit | files | course | ending | pipe | terminals | colours) "$part" ;;
*) complain "no part of that name: $part" ;;
esac
[ "$failures" -eq 0 ]
