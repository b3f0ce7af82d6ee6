# shellcheck shell=sh
# What the programs at the root can answer before anything is installed or built: --help, --version,
# and a word or a flag that means nothing. Sourced with `root` set. What is known is read from the
# source tree: flags from the text of --help and the grader's table, lessons from their folders and
# judges, commands from the table of ./learn.

flag_table=${root:?set by the script that sources this file}/grader/session/options.c
actions_table=$root/grader/learn/actions.c

# leave_to PROGRAM ARGUMENT...: a program that is there says it better, for it knows what was meant.
leave_to()
{
    [ ! -x "$root/build/$1" ] || { program=$root/build/$1 && shift && exec "$program" "$@"; }
}

leave_to_grader() { leave_to grader/grader "$@"; }

# "NAME WHAT IT DOES", a line a command of ./learn.
list_commands()
{
    sed -n '/ guide_actions\[\] = {/,/{0},/p' "$actions_table" | tr -s '\n ' ' ' |
        sed 's/},/&\n/g' | sed -n 's/^.*{"\([a-z]*\)",.*N_("\(.*\)")},$/\1 \2/p'
}

# show_help FILE
show_help()
{
    while IFS= read -r line; do
        case $line in
        @LESSONS@)
            for lesson in "$root"/lessons/[0-9]*_*/; do
                lesson=${lesson%/}
                printf '  %s\n' "${lesson##*/}"
            done
            ;;
        @COMMANDS@)
            list_commands | while read -r command does; do
                printf '  %-10s %s\n' "$command" "$does"
            done
            ;;
        *) printf '%s\n' "$line" ;;
        esac
    done <"$1"
}

# show_version NAME
show_version()
{
    sed -n "s/^project(overlap VERSION \([0-9.]*\).*/$1 (Overlap) \1/p" "$root/CMakeLists.txt"
}

# answer_help NAME PROGRAM FILE ARGUMENT...: --help and --version, where they come first. FILE is the
# text of --help.
answer_help()
{
    case ${4-} in
    --help | -h)
        leave_to "$2" "$4"
        show_help "$3"
        exit 0
        ;;
    --version)
        leave_to "$2" "$4"
        show_version "$1"
        exit 0
        ;;
    esac
}

# is_lesson WORD: as grader/build/submission.c's is_called has it. Sets `lesson`, its folder's name.
is_lesson()
{
    word=$1
    while case $word in ?*/) true ;; *) false ;; esac do word=${word%/}; done
    for lesson in "$root"/lessons/[0-9]*_*/; do
        lesson=${lesson%/}
        lesson=${lesson##*/}
        number=${lesson%%_*}
        case $word in
        "$lesson" | lessons/"$lesson" | ./"$lesson" | */lessons/"$lesson") return 0 ;;
        "${lesson#*_}" | "$number" | "${number#0}") return 0 ;;
        esac
    done
    case $word in
    '' | *[!A-Za-z0-9_]*) return 1 ;;
    esac
    for lesson in "$root"/grader/lessons/[0-9]*/judge.c; do
        grep -q -s -e "\.suite = \"$word\"" "$lesson" || continue
        lesson=${lesson%/judge.c}
        lesson=${lesson##*/}
        return 0
    done
    return 1
}

# takes_value FLAG: does the help have "--flag=", or only "--flag" (1), or neither (2)?
takes_value()
{
    grep -q -e "^  $1=" "$help_text" && return 0
    grep -q -x -e "  $1" "$help_text" && return 1
    return 2
}

refuse()
{
    printf '%s: %s\n' "${0##*/}" "$1" >&2
    exit 2
}

# answer_first ARGUMENT...: of ./grade; returns when there is something to build for. Sets `lessons`,
# the folders' names of those that are named.
answer_first()
{
    lessons=
    help_text=$root/grader/session/help.txt
    [ -f "$help_text" ] && [ -f "$flag_table" ] || return 0
    skip=
    for argument; do
        if [ -n "$skip" ]; then
            skip=
            continue
        fi
        flag=${argument%%=*}
        case $argument in
        --help | -h | '-?')
            leave_to_grader "$@"
            show_help "$help_text"
            exit 0
            ;;
        --version)
            leave_to_grader "$@"
            show_version grader
            exit 0
            ;;
        --gtest_flagfile=*) ;;
        --gtest_*)
            name=${flag#--gtest_}
            case $name in
            *[!a-z_]* | '') known= ;;
            *) known=$(grep -c -e "{\"$name\", FLAG_" "$flag_table") || known= ;;
            esac
            if [ -z "$known" ]; then
                leave_to_grader "$@"
                show_help "$help_text"
                refuse "there is no flag $flag; this is the help, and nothing was run"
            fi
            ;;
        -?*)
            value=0
            case $flag in
            --*[!a-z-]*) value=2 ;;
            --*) takes_value "$flag" || value=$? ;;
            *) value=2 ;;
            esac
            if [ "$value" -eq 2 ]; then
                leave_to_grader "$@"
                refuse "there is no flag $flag; --help lists them."
            fi
            [ "$value" -ne 0 ] || [ "$flag" != "$argument" ] || skip=yes
            ;;
        *)
            if ! is_lesson "$argument"; then
                leave_to_grader "$@"
                refuse "there is no lesson \"$argument\"; --help lists them."
            fi
            lessons="$lessons $lesson"
            ;;
        esac
    done
}
