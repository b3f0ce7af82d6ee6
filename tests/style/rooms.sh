#!/bin/sh
# rooms.sh TABLE ROOT BUILD: do the rooms of the project in ROOT call downwards only? Judged by the
# symbols of the objects in the folder BUILD, not by what files include. TABLE has a line per rule:
#   room FOLDER       a room; it may use those on later lines. Objects outside of rooms are not asked
#   apart A B         nothing under A uses anything under B, nor the other way round
#   front FILE        its functions stand in front of others' of the same name: nobody means them
#   doors FOLDER FILE...  who is outside of FOLDER uses the functions of these FILEs of it only
#   public PREFIX     names that begin so and with a capital are NVIDIA's API: whoever implements it is
#                     meant by nobody outside of the top-level folder that does
#   known A B         the room A uses the room B against the order, until that is mended
# A `known` line that is not needed any more is an error as well. With OVERLAP_ROOMS=show the uses
# of each room by each other are listed.
# Exit status 0, 1 with the uses that go upwards and the circles that cross rooms, 77 without nm.
set -eu
table=$1
root=$2
build=$3
command -v nm >/dev/null || {
    echo 'skipped: no nm here' >&2
    exit 77
}

# "OBJECT SYMBOL LETTER" of every object; an object's name is its source's.
symbols()
{
    find . -path '*/CMakeFiles/*.dir/*.c.o' ! -path '*/__/*' ! -path './tests/*' -type f \
        -exec nm -A -P {} + 2>/dev/null |
        sed -e 's|^\./||' -e 's|CMakeFiles/[^/]*\.dir/||' -e 's|\.o: | |'
}

cd "$build"
symbols | LC_ALL=C sort -u | awk -v table="$table" -v root="$root" -v show="${OVERLAP_ROOMS-}" '
function room_of(file,    at) {
    for (at = file; sub("/[^/]*$", "", at);) if (at in rank) return at
    return ""
}
function exists(file,    line, there) {
    there = (getline line < (root "/" file)) >= 0
    close(root "/" file)
    return there
}
function under(file, folder) { return index(file "/", folder "/") == 1 }
function is_apart(from, to,    i) {
    for (i = 1; i <= aparts; i++)
        if ((under(from, left[i]) && under(to, right[i])) ||
            (under(from, right[i]) && under(to, left[i]))) return 1
    return 0
}
function is_public(symbol,    start) {
    for (start in prefix) if (symbol ~ "^" start "[A-Z]") return 1
    return 0
}
function is_shut(from, to,    i, part, count, k) {
    for (i = 1; i <= shuts; i++) {
        if (!under(to, shut[i]) || under(from, shut[i])) continue
        count = split(doors[i], part, " ")
        for (k = 1; k <= count; k++) if (to == shut[i] "/" part[k]) break
        if (k > count) return 1
    }
    return 0
}
function top(file) { sub("/.*", "", file); return file }
# Tarjan: the circles of files that use each other.
function visit(file,    i, count, next_file, member, rooms, list, seen) {
    low[file] = number[file] = ++numbers
    stack[++depth] = file
    on_stack[file] = 1
    count = split(uses[file], next_file, " ")
    for (i = 1; i <= count; i++) {
        if (!(next_file[i] in number)) {
            visit(next_file[i])
            if (low[next_file[i]] < low[file]) low[file] = low[next_file[i]]
        } else if (on_stack[next_file[i]] && number[next_file[i]] < low[file])
            low[file] = number[next_file[i]]
    }
    if (low[file] != number[file]) return
    do {
        member = stack[depth--]
        on_stack[member] = 0
        list = list " " member
        if (!(room[member] in seen)) rooms++
        seen[room[member]] = 1
    } while (member != file)
    if (rooms < 2) return
    circles++
    in_circles += split(list, next_file, " ")
    circle[circles] = list
}
BEGIN {
    while ((getline line < table) > 0) {
        count = split(line, word, " ")
        if (count == 0 || word[1] ~ /^#/) continue
        if (word[1] == "room") rank[word[2]] = ++rooms
        else if (word[1] == "apart") { left[++aparts] = word[2]; right[aparts] = word[3] }
        else if (word[1] == "doors") {
            shut[++shuts] = word[2]
            for (i = 3; i <= count; i++) doors[shuts] = doors[shuts] " " word[i]
        }
        else if (word[1] == "public") prefix[word[2]] = 1
        else if (word[1] == "front") front[word[2]] = 1
        else if (word[1] == "known") known[word[2] " " word[3]] = 1
        else { print table ": what is \"" line "\"?"; bad = 1 }
    }
    if (rooms == 0) { print table ": no rooms"; bad = 1 }
}
{
    if (!($1 in room)) room[$1] = exists($1) ? room_of($1) : ""
    if (room[$1] == "") next
    files[$1] = 1
    if ($3 == "U") wanted[$1 " " $2] = 1
    else if ($3 ~ /^[A-Zu]$/ && !($1 in front)) where[$2] = where[$2] " " $1
}
END {
    for (use in wanted) {
        split(use, part, " ")
        count = split(where[part[2]], place, " ")
        if (count == 0) continue
        to = place[1]
        for (i = 2; i <= count; i++) # of several, that of the nearer room
            if (room[place[i]] == room[part[1]]) to = place[i]
        if (top(part[1]) != top(to) && is_public(part[2])) continue
        calls++
        pair = part[1] " " to
        if (!(pair in pairs)) uses[part[1]] = uses[part[1]] " " to
        pairs[pair] = pairs[pair] " " part[2]
        between[room[part[1]] " > " room[to]]++
        if (is_shut(part[1], to)) refused++
        else if (rank[room[to]] >= rank[room[part[1]]] && !is_apart(part[1], to)) continue
        else upward++
        wrong[pair] = wrong[pair] " " part[2]
    }
    for (pair in wrong) {
        split(pair, part, " ")
        met[room[part[1]] " " room[part[2]]] = 1
        if (room[part[1]] " " room[part[2]] in known) continue
        print part[1] " must not use " part[2] ":" wrong[pair] | "sort"
        bad = 1
    }
    for (pair in known) {
        if (pair in met) continue
        print "known " pair ": not so any more, take the line away" | "sort"
        bad = 1
    }
    close("sort")
    for (file in files) if (!(file in number)) visit(file)
    for (i = 1; i <= circles; i++) {
        excused = 0
        for (pair in known) {
            split(pair, part, " ")
            if (index(circle[i], " " part[1] "/") && index(circle[i], " " part[2] "/")) excused = 1
        }
        if (excused) continue
        print "a circle of files crosses rooms:" circle[i]
        bad = 1
    }
    if (show != "") {
        for (pair in between) print between[pair], pair | "sort -k2,2 -k1,1nr"
        close("sort -k2,2 -k1,1nr")
    }
    for (file in files) count_of_files++
    printf "%d files, %d uses across files, %d of them upwards, %d past doors; circles across rooms: %d, of %d files\n",
        count_of_files, calls, upward, refused, circles, in_circles
    if (count_of_files == 0) { print "no objects: is the project built?"; bad = 1 }
    exit bad
}'
