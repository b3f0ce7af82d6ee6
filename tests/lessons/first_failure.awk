# The first failure in a grader's output (stdin), as the student sees it, a line for each part: the
# check, the statement that it points to, what happened, why it matters, what to look at.
#
#   awk -v folder=FOLDER -v source=FILE -f first_failure.awk
#
# FOLDER: the lesson as it was handed in, which is left out of paths; FILE: the student's file, for the
# statement. Numbers that inputs decide, and lines of files that are not the student's, are #.

function numbers_masked(text,    before) {
    gsub(/line [0-9]/, "line@&", text)
    gsub(/line@line /, "line@", text)
    sub(/^[0-9]+ /, "# ", text)
    gsub(/0x[0-9a-f]+/, "#", text)
    gsub(/-?[0-9]+\.[0-9]+(e[-+]?[0-9]+)?/, "#", text)
    do {
        before = text
        text = gensub_number(text)
    } while (text != before)
    gsub(/line@/, "line ", text)
    return text
}

# The first number that stands by itself; "(700)" is the number of an error.
function gensub_number(text) {
    if (!match(text, /[ (\[-][0-9]+([] .,:;%]|$)/)) return text
    number = substr(text, RSTART + 1, RLENGTH - 1)
    rest = number
    sub(/^[0-9]+/, "", rest)
    return substr(text, 1, RSTART) "#" rest substr(text, RSTART + RLENGTH)
}

# "FILE:LINE" of others: without the folders above the repository's, and without the line.
function places_masked(text,    done, place) {
    while (match(text, /[A-Za-z0-9_.\/-]+\.(cuh|cu|c|h):[0-9]+/)) {
        place = substr(text, RSTART, RLENGTH)
        done = done substr(text, 1, RSTART - 1)
        text = substr(text, RSTART + RLENGTH)
        if (index(place, own ":") == 0) {
            sub(/:[0-9]+$/, ":#", place)
            sub(/^.*\/kernels\//, "kernels/", place)
            sub(/^.*\/grader\//, "grader/", place)
        }
        done = done place
    }
    return done text
}

function without_folder(text,    at) {
    while ((at = index(text, folder "/")) > 0)
        text = substr(text, 1, at - 1) substr(text, at + length(folder) + 1)
    return text
}

function end_part() {
    if (part != "") print places_masked(numbers_masked(without_folder(part)))
    part = ""
}

BEGIN {
    while ((getline line < source) > 0) {
        sub(/^ +/, "", line)
        statements[++count] = line
    }
}

/^\[ RUN      \]/ { check = $4 }

!begun && /: Failure$/ {
    begun = 1
    own = $0
    number = $0
    sub(/:[0-9]*: Failure$/, "", own)
    sub(/: Failure$/, "", number)
    sub(/^.*:/, "", number)
    sub(/^.*\//, "", own)
    print check
    print own ": " (number + 0 in statements ? statements[number + 0] : number)
    next
}

begun && (/: Failure$/ || /^\[/ || /^$/) { exit }
begun && /^(Why|Hint|Seen): / { end_part() }

begun {
    sub(/^ +/, "")
    part = part (part == "" ? "" : " ") $0
}

END { end_part() }
