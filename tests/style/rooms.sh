#!/bin/sh
# rooms.sh OBJECTS ROOM...: which room's code needs which, judged by the symbols of the objects that
# are listed in the file OBJECTS, separated by semicolons. Rooms are the folders below a target's, the
# highest first: an object may need what lower ones define, never what higher ones do.
# Exit status 0, 1 with the offending symbols, 77 without nm.
set -eu
objects=$1
shift
command -v nm >/dev/null || { echo 'skipped: no nm here' >&2; exit 77; }

found=$(tr ';' '\n' <"$objects" | xargs -d '\n' nm -A -P | awk -v rooms="$*" '
    BEGIN {
        count = split(rooms, names, " ")
        for (i = 1; i <= count; i++) rank[names[i]] = i
    }
    {
        file = $0
        sub(/: .*/, "", file)
        sub(/^.*\.dir\/(\.\/)?/, "", file)
        sub(/\.o$/, "", file)
        room = file
        sub(/\/.*/, "", room)
        if (!(room in rank)) { print file ": in none of the rooms " rooms; next }
        seen[room] = 1
        symbol = $0
        sub(/^.*: /, "", symbol)
        type = symbol
        sub(/ .*/, "", symbol)
        sub(/^[^ ]* /, "", type)
        if (type ~ /^U/) needs[file " " symbol] = room
        else if (type ~ /^[A-Z]/) { where[symbol] = room; defines[symbol] = file }
    }
    END {
        for (need in needs) {
            split(need, part, " ")
            if (!(part[2] in where) || rank[where[part[2]]] >= rank[needs[need]]) continue
            print part[1] " needs " part[2] " of " defines[part[2]] ", a room above it"
        }
        for (room in rank) if (!(room in seen)) print "no object in the room " room
    }' | sort -u)
[ -z "$found" ] && exit 0
printf '%s\n' "$found"
exit 1
