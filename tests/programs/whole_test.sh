#!/bin/sh
# whole_test.sh EMULATE SOURCES EXECUTABLE: each of its programs (whole.cuh) in each order. What has
# to come of it stands in the first comment of SOURCES/NAME.cu:
#   Right: ...    nothing is found, and it ends with 0
#   Wrong: ...    the answer is not looked at
#   Found: A, B   kinds of findings that have to be there; others are not asked for
#   Advice: KIND  that has to be given, or none; without this line it is not looked at
#   Exit: N       how it ends
#   Orders: ...   only these
# Exit status 0, or 1 after a line for everything that was not so.
set -u
emulate=$1
sources=$2
executable=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 2' HUP INT TERM
# A sanitizer's handler would be the program's own, and what a fault finds is not told then.
ASAN_OPTIONS=${ASAN_OPTIONS-}:handle_segv=0
export ASAN_OPTIONS
cd "$work" || exit 1
failures=0

# said NAME WHAT: the text behind WHAT in the first comment
said() { sed -n "/^\/\//!q; s/^\/\/ $2: //p" "$sources/$1.cu"; }

wrong()
{
    failures=$((failures + 1))
    printf 'not so: %s, %s: %s\n' "$1" "$2" "$3"
    sed 's/^/    out: /' out
    sed 's/^/    err: /' err
}

# try NAME ORDER
try()
{
    status=0
    "$emulate" --order="$2" "$executable" "$1" >out 2>err </dev/null || status=$?
    summary=$(grep -a '^overlap: .* finding' err)
    found=$(said "$1" Found)
    ends=$(said "$1" Exit)
    [ -z "$(said "$1" Right)" ] || ends=${ends:-0}
    [ "$status" -eq "${ends:-$status}" ] || wrong "$1" "$2" "it ends with $ends, not $status"
    advice=$(said "$1" Advice)
    case $advice in
    '') ;;
    none) ! grep -q ': advice: ' err || wrong "$1" "$2" 'no advice is given' ;;
    *)
        tr -s ' \n' '  ' <err | grep -q ": advice: $advice:" ||
            wrong "$1" "$2" "advice is given: $advice"
        ;;
    esac
    [ -n "$found" ] || [ -z "$summary" ] || wrong "$1" "$2" 'nothing is found'
    while [ -n "$found" ]; do
        kind=${found%%, *}
        case $summary in
        *": $kind ("* | *", $kind ("*) ;;
        *) wrong "$1" "$2" "$kind is found" ;;
        esac
        case $found in
        *', '*) found=${found#*, } ;;
        *) found= ;;
        esac
    done
}

names=$("$executable") || exit 1
[ -n "$names" ] || { echo "$executable names no programs" && exit 1; }
for name in $names; do
    orders=$(said "$name" Orders)
    for order in ${orders:-latest earliest random:11}; do try "$name" "$order"; done
done
[ "$failures" -eq 0 ]
