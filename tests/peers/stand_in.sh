#!/bin/sh
# In compute-sanitizer's place, for the test of compute_sanitizer.sh: runs the program, without the
# descriptors that it was started with, and has memcheck name a leak in every run, and another kind of
# mistake in those of never_freed.
log='' tool=''
while [ "$1" != sh ]; do
    case $1 in
    --tool) tool=$2 ;;
    --log-file) log=$2 ;;
    esac
    shift
done
"$@" 3<&- 4<&- 5<&- 6<&- 7<&-
{
    echo "========= COMPUTE-SANITIZER"
    [ "$tool" != memcheck ] || echo "========= Leaked $$ bytes at 0x$$"
    case $tool,$log in memcheck,*never_freed*) echo "========= Invalid __global__ read of size 4" ;; esac
    echo "=========     by thread (0,0,0) in block (0,0,0)"
    echo "========= ERROR SUMMARY: 2 errors"
} >"$log"
# The descriptors were there, so that the drive came to its end: control.h's stage.
[ "$(od -A n -t d4 -N 4 control | tr -d ' ')" = 4 ] || echo "========= It was not driven: $PWD" >>"$log"
