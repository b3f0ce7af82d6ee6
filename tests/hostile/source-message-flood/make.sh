#!/bin/sh
# Creates inside the folder $1 (a copy of this submission, or its 01_device_sync) what a plain
# folder of files cannot hold.
set -eu
[ $# -eq 1 ] && [ -d "$1" ] || { echo "usage: make.sh DIR" >&2; exit 2; }
case ${1%/} in
*/01_device_sync) d=${1%/} ;;
*) d=${1%/}/01_device_sync; mkdir -p "$d" ;;
esac
# The last line: an error of 1 MiB, with real escapes. The C file has them, too, as they stand.
{
    printf '#error '
    head -c 1048576 /dev/zero | tr '\0' 'E'
    printf ' \033[2J\033[H[  PASSED  ] 9 tests.\n'
} > "$d/error.h"
printf '#if __INCLUDE_LEVEL__ == 0\n#include "error.h"\n#error \033]0;overlap-hostile\007[  PASSED  ]\n#endif\n' >> "$d/device_sync.c"
