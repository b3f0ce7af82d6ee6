#!/bin/sh
# Creates inside the folder $1 (a copy of this submission, or its 01_device_sync) what a plain
# folder of files cannot hold.
set -eu
[ $# -eq 1 ] && [ -d "$1" ] || { echo "usage: make.sh DIR" >&2; exit 2; }
case ${1%/} in
*/01_device_sync) d=${1%/} ;;
*) d=${1%/}/01_device_sync; mkdir -p "$d" ;;
esac
junk() { printf '#error overlap-hostile: an editor'"'"'s file was compiled\n' > "$d/$1"; }
ln -s 'student@host.example.1234:1700000000' "$d/.#device_sync.c"
junk '#device_sync.c#'
junk 'device_sync.c~'
junk '.device_sync.c.un~'
junk 'device_sync.c.orig'
junk 'device_sync.c.rej'
junk '.device_sync.c.kate-swp'
junk 'device_sync (copy).c'
junk '4913'
junk '.DS_Store'
junk '._device_sync.c'
junk 'Thumbs.db'
printf 'b0VIM 9.0\000\000' > "$d/.device_sync.c.swp"
mkdir -p "$d/.git/refs" "$d/.vscode"
printf 'ref: refs/heads/main\n' > "$d/.git/HEAD"
