# Completion of ./grade for bash: source this file, as in ~/.bashrc:
#   . /path/to/overlap/completions/grade.bash
# Flags come from the text of --help, lessons from their folders, both of the clone that is called.

_overlap_grade()
{
    local root word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
    root=$(dirname "$(readlink -f "${COMP_WORDS[0]}")" 2>/dev/null) || return
    [ -f "$root/grader/session/help.txt" ] || return
    # "--flag=value" comes in three words.
    if [ "$word" = = ]; then
        word=
    elif [ "$before" = = ]; then
        before=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    [ "${COMP_WORDS[COMP_CWORD]}" != = ] || before=${COMP_WORDS[COMP_CWORD - 1]}
    case $before in
    --device) mapfile -t COMPREPLY < <(compgen -W 'auto gpu emulator' -- "$word") ;;
    --submission | --class | --state) mapfile -t COMPREPLY < <(compgen -d -- "$word") ;;
    --roster | --marks) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
    --report)
        mapfile -t COMPREPLY < <(compgen -S : -W 'html pages json junit canvas moodle gradescope
            github-classroom autolab' -- "$word")
        compopt -o nospace
        ;;
    *)
        if [[ $word == -* ]]; then
            mapfile -t COMPREPLY < <(compgen -W "$(
                sed -n 's/^  \(--[a-z_-]*=\{0,1\}\).*/\1/p' "$root/grader/session/help.txt"
            )" -- "$word")
            [[ ${COMPREPLY[0]-} != *= ]] || compopt -o nospace
        else
            mapfile -t COMPREPLY < <(compgen -W "$(
                for lesson in "$root"/lessons/[0-9]*_*/; do
                    lesson=${lesson%/}
                    lesson=${lesson##*/}
                    echo "${lesson#*_}" "$lesson"
                done
            )" -- "$word")
            compopt -o default
        fi
        ;;
    esac
}
complete -F _overlap_grade grade ./grade
