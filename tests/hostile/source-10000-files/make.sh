#!/bin/sh
# Creates inside the folder $1 (a copy of this submission, or its 01_device_sync) what a plain
# folder of files cannot hold.
set -eu
[ $# -eq 1 ] && [ -d "$1" ] || { echo "usage: make.sh DIR" >&2; exit 2; }
case ${1%/} in
*/01_device_sync) d=${1%/} ;;
*) d=${1%/}/01_device_sync; mkdir -p "$d" ;;
esac
i=0
while [ $i -lt 9000 ]; do
    : > "$d/overlap-hostile-$i.h"
    i=$((i + 1))
done
while [ $i -lt 9900 ]; do
    echo '#error overlap-hostile: a file that is not the lesson was compiled' > "$d/overlap-hostile-$i.c"
    i=$((i + 1))
done
p=$d
while [ $i -lt 10000 ]; do
    p=$p/deep
    mkdir -p "$p"
    i=$((i + 1))
done
