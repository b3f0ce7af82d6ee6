# shellcheck shell=sh
# What ./grade can answer before anything is installed or built: --help, --version, and a word or a
# flag that means nothing. Sourced with `root` set. What is known is read from the source tree: flags
# from the text of --help and the grader's table, lessons from their folders and judges.

help_text=${root:?set by the script that sources this file}/grader/session/help.txt
flag_table=$root/grader/session/options.c

# A grader that is there says it better: it knows what was meant.
leave_to_grader()
{
    [ ! -x "$root/build/grader/grader" ] || exec "$root/build/grader/grader" "$@"
}

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
        *) printf '%s\n' "$line" ;;
        esac
    done <"$help_text"
}

# is_lesson WORD: as grader/build/submission.c's is_called has it.
is_lesson()
{
    word=$1
    while case $word in ?*/) true ;; *) false ;; esac do word=${word%/}; done
    for folder in "$root"/lessons/[0-9]*_*/; do
        folder=${folder%/}
        folder=${folder##*/}
        number=${folder%%_*}
        case $word in
        "$folder" | lessons/"$folder" | ./"$folder" | */lessons/"$folder") return 0 ;;
        "${folder#*_}" | "$number" | "${number#0}") return 0 ;;
        esac
    done
    case $word in
    '' | *[!A-Za-z0-9_]*) return 1 ;;
    esac
    grep -q -e "\.suite = \"$word\"" "$root"/grader/lessons/[0-9]*/judge.c 2>/dev/null
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
    printf 'grade: %s\n' "$1" >&2
    exit 2
}

# answer_first ARGUMENT...: returns when there is something to build for.
answer_first()
{
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
            show_help
            exit 0
            ;;
        --version)
            leave_to_grader "$@"
            sed -n 's/^project(overlap VERSION \([0-9.]*\).*/grader (Overlap) \1/p' \
                "$root/CMakeLists.txt"
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
                show_help
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
            ;;
        esac
    done
}
