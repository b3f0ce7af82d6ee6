#!/bin/sh
# completion_test.sh ROOT: the completions of ./grade know lessons and flags, in the shells that are
# here. Exit status 0, 1 with what was not completed, 77 when there is no such shell.
set -u
root=$1
failures=0
asked=0

# complete_as SHELL LINE WORD: what SHELL makes of LINE has WORD in it, a line of its own.
complete_as()
{
    command -v "$1" >/dev/null || return 0
    asked=1
    "ask_$1" "$2" >"$said" 2>&1
    grep -qx -e "$3" "$said" && return
    echo "$1: $2: expected $3, it says:"
    sed 's/^/  | /' "$said"
    failures=$((failures + 1))
}

ask_bash()
{
    bash -c '. completions/grade.bash
        COMP_WORDBREAKS=$" ="; read -ra COMP_WORDS <<<"${1//=/ = }"
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _overlap_grade 2>/dev/null
        printf "%s\n" "${COMPREPLY[@]}"' bash "$1"
}

ask_fish()
{
    # shellcheck disable=SC2016 # for fish to expand
    fish -c 'source completions/grade.fish; complete -C $argv[1]' "$1" |
        sed -e 's/[[:cntrl:]].*//' -e 's/.*--device=//'
}

# zsh completes only at a terminal: here the function is called as zsh would, and what it offers is
# printed in place of shown.
ask_zsh()
{
    zsh -fc 'words=(${=1}); PREFIX=$words[-1]
        compset() { PREFIX=${PREFIX#${~2}}; }
        _files() { :; }
        compadd() {
            while [[ ${1-} == -[SX] ]]; do shift 2; done
            [[ ${1-} != -- ]] || shift
            for word; do [[ $word == $PREFIX* ]] && print -r -- $word; done
        }
        . completions/_grade' zsh "$1"
}

cd "$root" || exit 2
said=$(mktemp)
trap 'rm -f "$said"' EXIT
trap 'exit 2' HUP INT TERM
for shell in bash fish zsh; do
    complete_as "$shell" './grade strea' streams
    complete_as "$shell" './grade --random-or' '--random-orders=.*'
    complete_as "$shell" './grade --device=emu' emulator
done
[ "$asked" -eq 1 ] || exit 77
[ "$failures" -eq 0 ]
