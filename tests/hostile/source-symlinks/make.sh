#!/bin/sh
# Creates inside the folder $1 (a copy of this submission, or its 01_device_sync) what a plain
# folder of files cannot hold.
set -eu
[ $# -eq 1 ] && [ -d "$1" ] || { echo "usage: make.sh DIR" >&2; exit 2; }
case ${1%/} in
*/01_device_sync) d=${1%/} ;;
*) d=${1%/}/01_device_sync; mkdir -p "$d" ;;
esac
top=${d%/01_device_sync}
ln -s /etc/passwd "$d/device_sync.c"
ln -s . "$d/loop"
ln -s /etc/alternatives "$d/outside"
ln -s /proc/self/environ "$d/environ.h"
case ${1%/} in */01_device_sync) exit 0 ;; esac # nothing outside of $1
ln -s /usr/share/doc/bash "$top/02_streams"
mkdir "$top/03_events" "$top/04_context_create"
ln -s nowhere/overlap-hostile "$top/03_events/events.c"
ln -s /proc/self/fd/0 "$top/04_context_create/context_create.c"
ln -s 06_threaded_contexts "$top/06_threaded_contexts"
