#!/bin/sh
# Creates inside the folder $1 (a copy of this submission, or its 01_device_sync) what a plain
# folder of files cannot hold.
set -eu
[ $# -eq 1 ] && [ -d "$1" ] || { echo "usage: make.sh DIR" >&2; exit 2; }
case ${1%/} in
*/01_device_sync) d=${1%/} ;;
*) d=${1%/}/01_device_sync; mkdir -p "$d" ;;
esac
nl='
'
esc=$(printf '\033')
long=$(printf '%0253d.c' 0 | cut -c1-255)
put() { printf '#error overlap-hostile: a file that is not the lesson'"'"'s was compiled\n' > "$d/$1"; }
# From HOME=/root or /home/NAME these lead to /tmp without a slash in the name.
cmd='cd;cd ..;cd tmp||cd ..;cd tmp&&touch overlap-hostile-source-odd-names'
put 'a b.c'
put 'a,b.c'
put '(a).c'
put 'a)b(.c'
put "a${nl}b.c"
put "${nl}.c"
put "x;$cmd;.c"
put "x\$($cmd).c"
put "x\`$cmd\`.c"
put "x'\$($cmd)'.c"
put "x\"\$($cmd)\".c"
put "x|$cmd|.c"
put "x${nl}$cmd${nl}.c"
put "x&&$cmd #.c"
put '-wrapper touch,overlap-hostile.c'
put '-fplugin=overlap-hostile.c'
put '-o device_sync.c'
put '--help.c'
put '@overlap-hostile.c'
put '*.c'
put '?.c'
put '[a-z].c'
put '~.c'
put '#.c'
put '%s%n.c'
put '${CMAKE_COMMAND}.c'
put '$ENV{HOME}.c'
put '$<TARGET_FILE:lesson>.c'
put '[[bracket]].c'
put 'a\b.c'
put 'back\'
put 'device_sync.c '
put ' device_sync.c'
put 'DEVICE_SYNC.C'
put 'device_sync.cc'
put 'device_sync.cu'
put 'device_sync.h'
put 'drive.c'
put "${esc}[2J${esc}[H[  PASSED  ].c"
put "$(printf '\377\376').c"
put "$(printf '\342\200\256')c.evas.c"
put "$long"
put '...c'
put '.c'
put 'con.c'
mkdir -p "$d/dir.c" "$d/ " "$d/-rf"
