#!/bin/sh
# python_test.sh EMULATE SOURCE: what is wrong in a Python program is named with the program's lines.
# EMULATE is ./emulate's program, SOURCE the folder with lines.py, which needs no package. Exit
# status 0, 1 after a line for everything that was not so, or 77 where there is no CPython with ctypes.
set -u
emulate=$1
source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 2' HUP INT TERM
failures=0
python=$(python3 -c 'import sys, ctypes; print(sys.implementation.name, sys.executable)' 2>/dev/null)
case $python in
'cpython /'*) python=${python#* } ;;
*)
    echo 'skipped: there is no CPython with ctypes here'
    exit 77
    ;;
esac
unset OVERLAP_ORDER OVERLAP_FAIL OVERLAP_QUIET PYTHONHOME
# The name of the program is none in ASCII, and its package's folder is called as packages' are.
mkdir "$work/site-packages"
cp "$source/site-packages/helper.py" "$work/site-packages/"
cp "$source/lines.py" "$work/grün.py"
PYTHONPATH=$work/site-packages
PYTHONUTF8=1
export PYTHONPATH PYTHONUTF8
cd "$work" || exit 1

# run CASE: leaves the file said, on one line.
run()
{
    status=0
    "$emulate" --error-exitcode=9 "$python" grün.py "$1" >said.lines 2>&1 </dev/null || status=$?
    tr '\n' ' ' <said.lines | tr -s ' ' >said
    [ "$status" -eq 9 ] || wrong "$1: exits with 9, not $status"
}

wrong()
{
    failures=$((failures + 1))
    echo "not so: $1"
    sed 's/^/    /' said.lines
}

# says TEXT: each @NAME in it is the place of the line of lines.py that is marked so.
says()
{
    text=$1
    while case $text in *@*) true ;; *) false ;; esac do
        name=${text#*@}
        name=${name%%[!a-z]*}
        line=$(grep -n "here: $name\$" "$source/lines.py" | cut -d: -f1)
        text=${text%%@*}grün.py:$line${text#*@"$name"}
    done
    grep -qF -- "$text" said || wrong "says: $text"
}

run beyond
says '@launch: out of bounds'
says 'allocated by the call at @allocation;'
run thread
says '@helped: '
run race
says '@other: race: '
says 'asked for by the call at @one,'
run freed
says '@late: '
says 'allocated by the call at @made, freed by the call at @end '
# In a kernel, the line of the string that it was compiled from.
run quoted
says '/nowhere/string.cu:3: out of bounds'
says 'of kernel store Line: to[64] = 1; Started by the call at @launch.'
run uncertain
says 'of kernel store Started by the call at @launch.'
[ "$failures" -eq 0 ]
