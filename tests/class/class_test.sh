#!/bin/sh
# class_test.sh GRADER STAND_IN ROOT PART: grading a class, with the grader of the stand-in lessons,
# which need no CUDA. PART is one of the functions below that has a comment with "part" in it.
# Exit status 0, 1 with a line for everything that was not as expected, 77 when this machine lacks
# what it takes.
set -u
grader=$1 stand_in=$2 root=$3 part=$4
work=$(mktemp -d "${TMPDIR:-/tmp}/class.XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 2' HUP INT TERM
failures=0
export STAND_IN_CACHE="$work/cache"
outer=${TMPDIR:-/tmp}
export TMPDIR="$work/tmp"
mkdir "$TMPDIR"

# expect WHAT COMMAND...: it succeeds.
expect()
{
    what=$1
    shift
    "$@" >"$work/trouble" 2>&1 && return
    echo "$part: expected: $what"
    sed 's/^/  | /' "$work/trouble"
    [ ! -f "$work/out" ] || sed 's/^/  out | /' "$work/out"
    [ ! -f "$work/err" ] || sed 's/^/  err | /' "$work/err"
    failures=$((failures + 1))
}

# class STATUS FLAG...: grades $work/in.
class()
{
    wanted=$1
    status=0
    shift
    "$grader" --class="$work/in" --device=emulator --random-orders=0 "$@" >"$work/out" \
        2>"$work/err" </dev/null || status=$?
    expect "exit status $wanted, not $status" [ "$status" -eq "$wanted" ]
}

said() { expect "it says: $1" grep -qF -e "$1" "$work/out" "$work/err"; }
graded() { expect "$1 graded" grep -q "^\[.*\] $1: " "$work/out"; }
points() { expect "$1 has $2" grep -q "^\[.*\] $1: $2 of " "$work/out"; }

# right FOLDER, wrong FOLDER: a submission of both lessons; of `wrong` the first is the stub's.
right() { mkdir -p "$1" && cp -R "$stand_in"/solutions/* "$1"; }
wrong() { right "$1" && sed 's/sum += /sum -= /' "$stand_in/solutions/01_sum/sum.c" >"$1/01_sum/sum.c"; }
# endless STUDENT: its grading takes seconds, so that somebody may come in between. On a machine that
# stops in between it may be over all the same: the part then begins again.
endless()
{
    right "$1"
    sed '0,/{/s//{ for (volatile int forever = 1; forever;) continue;/' \
        "$stand_in/solutions/01_sum/sum.c" >"$1/01_sum/sum.c"
}

# record KEY WORDS: a value in the record r, in python's words.
record()
{
    python3 - "$work/in.graded/class.json" "$1" "$2" <<'END'
import json, sys
records = json.load(open(sys.argv[1]))["submissions"]
r = [r for r in records if r["submission"]["key"] == sys.argv[2]][0]
print(eval(sys.argv[3]))
END
}

git_here()
{
    HOME="$work" GIT_CONFIG_NOSYSTEM=1 git -c user.name=a -c user.email=a@b -c init.defaultBranch=main \
        -c safe.directory='*' "$@"
}

# part: a class in parts, as several machines grade it, and one call that reports
parts()
{
    for name in ada barbara grace; do right "$work/in/$name"; done
    class 0 --part=0/2
    graded ada
    graded grace
    said '2 submissions, 2 graded now'
    class 0 --part=1/2
    graded barbara
    class 0 --part=1/2
    said '1 submission, 0 graded now, 1 unchanged'
    class 0 "--report=json:$work/all.json"
    said '3 submissions, 0 graded now, 3 unchanged'
    class 0 --part=7/8 # no submission is in it
    said '0 submissions'
    class 2 --part=2/2
    said '--part is K/N'
    class 2 --part=0/2 "--report=json:$work/all.json"
    said 'leave out --report'
}

# part: folders, archives and repositories; the roster's names and who is absent
names()
{
    command -v git >/dev/null || exit 77
    right "$work/in/ada"
    right "$work/grace/overlap-main/lessons"
    cp -R "$stand_in/lessons" "$work/grace/overlap-main/tests" # what is not the student's
    (cd "$work/grace" && python3 -c 'import shutil; shutil.make_archive("../in/grace", "zip", ".")')
    wrong "$work/barbara"
    tar -C "$work/barbara" -czf "$work/in/barbara.tar.gz" .
    right "$work/in/repository"
    git_here -C "$work/in/repository" init -q
    git_here -C "$work/in/repository" add .
    git_here -C "$work/in/repository" commit -qm handed_in
    # What was not committed does not count.
    wrong "$work/uncommitted" && cp -R "$work/uncommitted/01_sum" "$work/in/repository"
    # A repository's own programs are not run.
    git_here -C "$work/in/repository" config filter.x.smudge "touch $work/was_run"
    echo '*.c filter=x' >"$work/in/repository/.git/info/attributes"
    git_here clone -q --bare "$work/in/repository" "$work/in/bare.git"
    git_here clone -q --bare "$work/in/repository" "$work/elsewhere"
    echo "file://$work/elsewhere" >"$work/in/link.url"
    right "$work/in/ren$(printf '\351')e" # from an archive of Windows: no UTF-8
    right "$work/in/李雷"
    long=$(printf '芳%.0s' $(seq 60)) # a key is not as long
    right "$work/in/$long"
    mkdir "$work/in/empty"
    echo notes >"$work/in/README"
    mkdir "$work/in/.hidden" "$work/in/ada.graded" # names that are not a student's
    echo >"$work/in/.DS_Store"
    printf 'Student,ID,Email\r\n"Lovelace, Ada",17,ada@x\r\nGrace Hopper,18,grace@x\r\nAbsent One,19,\r\n' \
        >"$work/roster.csv"
    class 0 --roster="$work/roster.csv" --report="canvas:$work/canvas.csv" --report="pages:$work/pages/"
    points 'Lovelace, Ada' 5
    points 李雷 5
    points "$long" 5
    expect 'a page under the own name' [ -s "$work/pages/李雷.html" ]
    expect 'no half of a letter' [ -s "$work/pages/$(printf '芳%.0s' $(seq 33)).html" ]
    points 'Grace Hopper' 5
    points barbara 4
    points repository 5
    points bare 5
    points link 5
    points empty 0
    points 'ren.xe9e' 5
    said 'left out, no submission: README'
    said "ends in .graded is not a student's: .hidden, ada.graded"
    said '8 not in the roster, graded all the same: barbara, bare, empty, '
    said '10 submissions, 10 graded now, 0 unchanged, 0 not judged'
    said '1 of the roster handed in nothing: Absent One'
    expect 'nothing of a repository was run' [ ! -e "$work/was_run" ]
    expect 'numbers of the roster' grep -q '^"Lovelace, Ada","17"' "$work/canvas.csv"
    expect 'an absent one without points' grep -q '^"Absent One","19","","","",,' "$work/canvas.csv"
}

# part: files under another spelling of their names are taken; what else was handed in is told
spellings()
{
    mkdir -p "$work/in/browser" "$work/in/desktop/01_sum" "$work/in/both" "$work/in/two" "$work/in/near" \
        "$work/in/large"
    sum=$stand_in/solutions/01_sum/sum.c twice=$stand_in/solutions/02_twice/twice.h
    wrong "$work/wrong"
    cp "$sum" "$work/in/browser/sum (1).c"
    cp "$twice" "$work/in/browser/TWICE.H"
    cp "$sum" "$work/in/desktop/01_sum/Sum - Copy (2).c"
    cp "$twice" "$work/in/desktop/twice.h.txt"
    cp "$sum" "$twice" "$work/in/both"
    cp "$work/wrong/01_sum/sum.c" "$work/in/both/sum (1).c"
    cp "$work/wrong/01_sum/sum.c" "$work/in/two/sum (1).c"
    cp "$sum" "$work/in/two/sum (2).c"
    cp "$twice" "$work/in/two"
    for name in sums.c sum2.c sum.cc my-sum.c 'sum (x).c' sum-.c notes.pdf; do
        cp "$sum" "$work/in/near/$name"
    done
    mkdir -p "$work/in/again/new" "$work/in/again/old/01_sum" "$work/in/again/older"
    cp "$work/wrong/01_sum/sum.c" "$work/in/again/new"
    cp "$sum" "$work/in/again/old/01_sum"
    cp "$work/wrong/01_sum/sum.c" "$work/in/again/older"
    cp "$twice" "$work/in/again"
    cp "$twice" "$work/in/large"
    head -c 2000000 /dev/zero | tr '\0' ' ' >"$work/in/large/sum.c"
    class 0
    points browser 5
    points desktop 5
    points both 5
    points two 5
    points again 5
    points near 0
    said 'again: sum.c is there more than once: that in old/01_sum was taken, not that in older'
    said 'Look at how these were handed in:'
    said 'browser: sum (1).c was taken for sum.c; TWICE.H was taken for twice.h'
    said 'desktop: Sum - Copy (2).c was taken for sum.c; twice.h.txt was taken for twice.h'
    said 'two: sum (2).c was taken for sum.c'
    said 'near: no file of a lesson is in it: sum.c and the like; there is my-sum.c, notes.pdf, sum (x).c, '
    said 'large: sum.c has more than 1024 KiB'
    expect 'its student is told' \
        [ "$(record large '"it is longer than 1 MiB" in str(r["lessons"][0]["checks"][0])')" = True ]
    expect 'nothing of what is as it should be' sh -c "! grep -q '^  both' '$work/out'"
}

# Puts a repository into $work/in/$1 that is made of Ada's by `$2` in its .git: nothing of hers is to be
# handed in as another's.
borrowed()
{
    mkdir -p "$work/in/$1/.git/objects/info" "$work/in/$1/.git/refs"
    cp "$work/in/ada/.git/HEAD" "$work/in/$1/.git"
    (cd "$work/in/$1/.git" && eval "$2")
}

# part: repositories that name another one, whose files would be handed in
borrows()
{
    command -v git >/dev/null || exit 77
    right "$work/in/ada"
    git_here -C "$work/in/ada" init -q
    git_here -C "$work/in/ada" add .
    git_here -C "$work/in/ada" commit -qm handed_in
    ln -s ../../absent "$work/in/ada/.git/hooks/pre-push" # git does not read it
    git_here -C "$work/in/ada" branch alternates
    head=$(git_here -C "$work/in/ada" rev-parse HEAD)
    hers=../../ada/.git
    borrowed alternates "echo $head >HEAD; echo ../$hers/objects >objects/info/alternates"
    borrowed common "echo $hers >commondir"
    borrowed links "rm -r refs objects; mkdir objects; ln -s $hers/refs; ln -s $work/in/ada/.git/objects/?? objects"
    borrowed second 'rm -r refs; echo "gitdir: ../ada/.git" >../.git.git'
    borrowed inner "echo 'gitdir: ../$hers' >.git"
    borrowed waits 'rm HEAD; mkfifo HEAD'
    before=$(date +%s)
    class 0
    expect 'a pipe is not waited for' [ $(($(date +%s) - before)) -lt 50 ]
    points ada 5
    for name in alternates common links second inner waits; do
        points "$name" 0
        expect "$name: why is in the record" \
            [ "$(record "$name" '"leads to files that are not its own" in r["note"]')" = True ]
    done
}

# part: exports of Canvas, Moodle and Gradescope
exports()
{
    mkdir "$work/in"
    cp "$stand_in/solutions/01_sum/sum.c" "$work/in/lovelaceada_4711_90210_sum-1.c"
    cp "$stand_in/solutions/02_twice/twice.h" "$work/in/lovelaceada_4711_90211_twice.h"
    right "$work/zip"
    (cd "$work/zip" && python3 -c 'import shutil; shutil.make_archive("../z", "zip", ".")')
    mv "$work/z.zip" "$work/in/hoppergrace_LATE_4712_90212_handed in.zip"
    # A student names another's repository.
    echo "$work/repository" >"$work/in/evemallory_4713_90213_mine.url"
    right "$work/repository"
    git_here -C "$work/repository" init -q
    git_here -C "$work/repository" add .
    git_here -C "$work/repository" commit -qm handed_in
    class 0
    points lovelaceada 5
    points hoppergrace 5
    points evemallory 0
    expect 'three students' [ "$(grep -c 'points' "$work/out")" -eq 3 ]
    expect 'the number' [ "$(record hoppergrace 'r["submission"]["id"]')" = 4712 ]

    rm -rf "$work/in"
    right "$work/in/Ada Lovelace_99_assignsubmission_file_"
    mkdir "$work/in/Grace Hopper_100_assignsubmission_file_"
    cp "$work/in/../in.graded/work/lovelaceada/lessons/01_sum/sum.c" \
        "$work/in/Grace Hopper_100_assignsubmission_file_"
    class 0 --report="moodle:$work/moodle.csv"
    points 'Ada Lovelace' 5
    points 'Grace Hopper' 4
    expect "Moodle's number" grep -q '^"Participant 99","Ada Lovelace","","",5,5,' "$work/moodle.csv"

    rm -rf "$work/in"
    right "$work/in/submission_5"
    wrong "$work/in/submission_6"
    printf -- '---\nsubmission_5:\n  :submitters:\n  - :name: Ada Lovelace\n    :sid: "17"\n    :email: ada@x\nsubmission_6:\n  :submitters:\n  - :name: Grace Hopper\n' \
        >"$work/in/submission_metadata.yml"
    class 0
    points 'Grace Hopper' 4
    expect 'Ada has hers from before' [ "$(record Ada_Lovelace 'r["score"]')" = 5 ]
    expect "Gradescope's number" [ "$(record Ada_Lovelace 'r["submission"]["id"]')" = 17 ]
}

# part: what has not changed is not graded again; what changed, and why, is said
again()
{
    right "$work/in/ada"
    wrong "$work/in/grace"
    class 0 --seed=5
    points grace 4
    class 0 --seed=5
    said '2 submissions, 0 graded now, 2 unchanged'
    right "$work/in/grace"
    class 0 --seed=5
    graded grace
    said '2 submissions, 1 graded now, 1 unchanged'
    said 'grace: 5 of 5 points, before 4 of 5; Sum.IsRight: failed, now passed'
    said '(what was handed in changed)'
    class 0 --seed=6
    said '2 graded now, 0 unchanged'
    echo 'Sum.IsRight points=4' >"$work/marks.txt"
    class 0 --seed=6 --marks="$work/marks.txt"
    said '0 graded now, 2 unchanged'
    said 'ada: 8 of 8 points, before 5 of 5 (the points changed)'
    class 0 --seed=6 --marks="$work/marks.txt" --again
    said '2 graded now'
    echo 'Sum.IsRight point=4' >"$work/marks.txt"
    class 2 --marks="$work/marks.txt"
    said 'marks.txt:1: "point=4" is none of points=N'
}

# part: killed half-way, and called again: nothing is lost and nothing is graded twice
killed()
{
    for student in a b c d e f g h; do right "$work/in/$student"; done
    "$grader" --class="$work/in" --device=emulator --random-orders=0 --jobs=2 \
        >"$work/first" 2>&1 </dev/null &
    caller=$!
    while [ "$(find "$work/in.graded/results" -name '*.json' 2>/dev/null | wc -l)" -lt 3 ]; do
        sleep 0.05
    done
    kill -9 "$caller"
    wait "$caller" 2>/dev/null
    # What ran below it ends by itself.
    while pgrep -f "$work/in.graded/results" >/dev/null; do sleep 0.1; done
    before=$(find "$work/in.graded/results" -name '*.json' | wc -l)
    find "$work/in.graded/results" -name '*.json' -exec cksum {} + | sort >"$work/kept"
    class 0 --jobs=2 --report="json:$work/all.json"
    said "8 submissions, $((8 - before)) graded now, $before unchanged"
    find "$work/in.graded/results" -name '*.json' -exec cksum {} + | sort >"$work/now"
    expect 'what was graded is as it was' [ -z "$(comm -23 "$work/kept" "$work/now")" ]
    expect 'all are there once' python3 -c '
import json, sys
keys = [r["submission"]["key"] for r in json.load(open(sys.argv[1]))["submissions"]]
assert keys == list("abcdefgh"), keys' "$work/all.json"
    expect 'nothing is left over' [ -z "$(find "$work/in.graded" -name '*.fresh' -o -name '*.new')" ]
}

# begin_class FILE FLAG...: grades $work/in on the side, from the beginning; its words into FILE.
begin_class()
{
    words=$1
    shift
    rm -rf "$work/in.graded"
    "$grader" --class="$work/in" --device=emulator --random-orders=0 "$@" >"$words" 2>"$work/err" \
        </dev/null &
    caller=$!
}
goes_on() { kill -0 "$caller" 2>/dev/null; }
attempts='1 2 3 4 5 6 7 8'

# part: killed while submissions hang: nobody goes on below it, and the next call grades them
orphans()
{
    for student in a b; do endless "$work/in/$student"; done
    none_came_to_an_end() { ! grep -lE 'test suites? ran' "$work"/in.graded/logs/*; }
    for _ in $attempts; do
        begin_class "$work/first" --jobs=2
        # Two runners are at it, each with its lesson from the cache.
        while goes_on && [ "$(pgrep -f "/runner $work/cache/" | wc -l)" -lt 2 ]; do sleep 0.05; done
        kill -9 "$caller"
        wait "$caller" 2>/dev/null
        while pgrep -f "$work/" >"$work/alive"; do sleep 0.05; done
        none_came_to_an_end >/dev/null 2>&1 && break
    done
    expect 'they were ended: none came to its end' none_came_to_an_end
    # A grader that was killed itself cannot remove its temporary folder: the next call does.
    mkdir "$TMPDIR/overlap-grade.killed"
    for student in a b; do right "$work/in/$student"; done
    class 0 --jobs=2
    said '2 submissions, 2 graded now'
    points a 5
    expect 'none is left' [ -z "$(ls "$TMPDIR")" ]
}

# part: the disk fills up half-way: it says so, and goes on when there is room
full()
{
    [ "$(id -u)" -eq 0 ] && unshare -m true 2>/dev/null || exit 77
    rm -rf "$work"
    TMPDIR=$outer exec unshare -m "$0" "$grader" "$stand_in" "$root" full_disk
}

# (not a part: it has its own mounts)
full_disk()
{
    mkdir "$work/disk"
    mount -t tmpfs -o size=400m none "$work/disk" || exit 77
    for student in a b c d e; do right "$work/in/$student"; done
    endless "$work/in/f"
    for _ in $attempts; do
        rm -rf "$work/disk/state" "$work/disk/filler"
        begin_class "$work/out" --state="$work/disk/state" --jobs=1
        while goes_on && ! grep -q '^\[' "$work/out"; do sleep 0.05; done
        kill -STOP "$caller"
        dd if=/dev/zero of="$work/disk/filler" bs=1M 2>/dev/null
        kill -CONT "$caller"
        status=0
        wait "$caller" || status=$?
        [ "$status" -ne 0 ] && break
    done
    expect "exit status 2, not $status" [ "$status" -eq 2 ]
    said "the disk of $work/disk/state is full"
    said 'Nothing is lost: call this again when there is room.'
    before=$(find "$work/disk/state/results" -name '*.json' | wc -l)
    expect 'some are graded, and some not' [ "$before" -ge 1 -a "$before" -lt 6 ]
    class 2 --state="$work/disk/state" --report="canvas:$work/canvas.csv"
    expect 'no report of half a class' [ ! -e "$work/canvas.csv" ]
    rm "$work/disk/filler"
    right "$work/in/f"
    class 0 --state="$work/disk/state" --report="canvas:$work/canvas.csv"
    said "6 submissions, $((6 - before)) graded now, $before unchanged"
    expect 'a line for each' [ "$(grep -c '^"[a-f]"' "$work/canvas.csv")" -eq 6 ]
    umount "$work/disk"
}

# part: interrupted in order: what is graded is kept, and the reports stay what they were
interrupted()
{
    for student in a b c; do right "$work/in/$student"; done
    endless "$work/in/d"
    for _ in $attempts; do
        echo before >"$work/canvas.csv"
        begin_class "$work/out" --jobs=1 --report="canvas:$work/canvas.csv"
        while goes_on && ! grep -q '^\[' "$work/out"; do sleep 0.05; done
        # A second call at the same time is refused.
        second=0
        "$grader" --class="$work/in" >"$work/second" 2>&1 </dev/null || second=$?
        kill -TERM "$caller"
        status=0
        wait "$caller" || status=$?
        [ "$status" -ne 0 ] && break
    done
    expect 'a second call is refused' grep -q 'another call is grading this class' "$work/second"
    expect "its exit status 2, not $second" [ "$second" -eq 2 ]
    expect "exit status 143, not $status" [ "$status" -eq 143 ]
    said 'Call this again to go on'
    expect 'the report is what it was' [ "$(cat "$work/canvas.csv")" = before ]
    right "$work/in/d"
    class 0 --report="canvas:$work/canvas.csv"
    expect 'a line for each' [ "$(wc -l <"$work/canvas.csv")" -eq 6 ]
}

# part: archives and folders that reach out, lie or swell cost only themselves
hostile()
{
    mkdir "$work/in"
    right "$work/in/ada"
    right "$work/in/eve
[  PASSED  ] forged"
    echo secret >"$work/secret"
    python3 - "$work" "$stand_in" <<'END'
import io, os, sys, tarfile, zipfile
work, stand_in = sys.argv[1:]
good = open(stand_in + "/solutions/01_sum/sum.c").read()
with tarfile.open(work + "/in/reaches.tar", "w") as tar:
    def add(name, data=b"x", **more):
        info = tarfile.TarInfo(name)
        info.size = len(data)
        for key, value in more.items(): setattr(info, key, value)
        tar.addfile(info, io.BytesIO(data))
    add("../../outside")
    add("/tmp/outside." + os.path.basename(work))
    add("01_sum/sum.c", good.encode())
    add("02_twice", b"", type=tarfile.SYMTYPE, linkname=work)
    add("02_twice/planted", b"x")
    add("link.h", b"", type=tarfile.SYMTYPE, linkname=work + "/secret")
with zipfile.ZipFile(work + "/in/swells.zip", "w", zipfile.ZIP_DEFLATED) as out:
    for i in range(40): out.writestr("%d.c" % i, b"\0" * (4 << 20))
open(work + "/in/lies.zip", "wb").write(b"PK\3\4" + os.urandom(2000))
open(work + "/in/empty.tar.gz", "wb").close()
END
    mkdir -p "$work/in/links/01_sum" "$work/in/pipe/01_sum"
    ln -s "$work/secret" "$work/in/links/01_sum/sum.c"
    ln -s / "$work/in/links/02_twice"
    mkfifo "$work/in/pipe/01_sum/sum.c"
    class 0
    points ada 5
    points reaches 4
    points swells 0
    points lies 0
    points links 0
    points pipe 0
    said 'reaches: ../../outside and 3 more of the archive left out: a link, or a path that leads out of it'
    said 'links: no file of a lesson is in it: sum.c and the like; sum.c is a link, which is not followed'
    expect 'no line of a name' sh -c "! grep -q '^.  PASSED' '$work/out'"
    points 'eve .  PASSED  . forged' 5
    expect 'nothing outside' [ -z "$(find "$work" -name outside)" ]
    expect 'nothing in /tmp' [ ! -e "/tmp/outside.${work##*/}" ]
    expect 'nothing through a link' [ ! -e "$work/planted" ]
    expect 'no secret' sh -c "! grep -rq secret '$work/in.graded/work'"
    expect 'why is in the record' sh -c \
        "grep -q 'more than 64 MiB' '$work/in.graded/results/swells.json'"
}

# part: every report of a class is what its format asks for
reports()
{
    for python in python3 /usr/bin/python3 none; do
        ! "$python" -c 'import jsonschema' 2>/dev/null || break
    done
    if [ "$python" = none ]; then
        echo 'skipped: Python has no jsonschema (apt-get install python3-jsonschema)' >&2
        exit 77
    fi
    right "$work/in/ada"
    wrong "$work/in/grace"
    right "$work/in/bad" && echo 'int broken(' >"$work/in/bad/01_sum/sum.c"
    mkdir "$work/in/none"
    class 0 --seed=1 --report="html:$work/page.html" --report="pages:$work/pages/" \
        --report="json:$work/class.json" --report="gradescope:$work/gradescope/" \
        --report="github-classroom:$work/github/" --report="autolab:$work/autolab/" \
        --report="junit:$work/junit.xml" --report="canvas:$work/canvas.csv" \
        --report="moodle:$work/moodle.csv"
    expect 'valid reports' "$python" "$root/tests/class/check_reports.py" "$root" "$work"
    class 2 --report="gradescope:$work/one.json"
    said "a class needs a folder: --report=gradescope:$work/one.json/"
    class 2 --report=html:/dev/full
    said 'cannot be written'
    class 2 --report=htlm:x
    said 'did you mean --report=html:FILE?'
}

# part: what was not judged is told in one line for its cause, and counts as the marks say
not_judged()
{
    right "$work/in/crash"
    sed '0,/{/s//{ __builtin_trap();/' "$stand_in/solutions/01_sum/sum.c" >"$work/in/crash/01_sum/sum.c"
    mkdir -p "$work/in/missing/02_twice"
    cp "$stand_in/solutions/02_twice/twice.h" "$work/in/missing/02_twice"
    class 0 --report="moodle:$work/moodle.csv" --report="pages:$work/pages/" \
        --report="html:$work/page.html"
    points crash 1
    feedback() { expect "feedback: $1" grep -qF -e "$1" "$work/moodle.csv"; }
    feedback '  Not judged, because IsRight failed: NothingLeaks, CallsSucceed, IsFast (0 of 3 points)'
    feedback '01_sum: 0 of 4: nothing was handed in'
    expect 'nothing else of what was not judged' sh -c "! grep -q 'Not judged: ' '$work/moodle.csv'"
    expect 'once on its page' \
        [ "$(grep -c 'Not judged, because IsRight failed' "$work/pages/crash.html")" -eq 1 ]
    expect 'no check of what is missing on its page' \
        sh -c "! grep -q 'is missing' '$work/pages/missing.html'"
    expect 'one failure among the most frequent' \
        [ "$(grep -c '<tr><td>Sum[.]IsRight</td>' "$work/page.html")" -eq 1 ]
    expect 'none of what was not judged' sh -c "! grep -q '<tr><td>Sum[.]IsFast' '$work/page.html'"
    echo '* not_judged=1' >"$work/marks.txt"
    class 0 --marks="$work/marks.txt"
    expect 'a crash in all that was judged is worth nothing' [ "$(record crash 'r["score"]')" = 1 ]
    expect 'nor is what was not handed in' [ "$(record missing 'r["score"]')" = 1 ]
}

# part: files that are no sources, and a changed contract, are told of in a sentence
no_sources()
{
    right "$work/in/program" && cp /bin/true "$work/in/program/01_sum/sum.c"
    right "$work/in/document" && printf '%%PDF-1.7\n\001\002' >"$work/in/document/01_sum/sum.c"
    right "$work/in/contract"
    sed 's/int sum_array/long sum_array/' "$stand_in/lessons/01_sum/lesson.h" \
        >"$work/in/contract/01_sum/lesson.h"
    right "$work/in/blanks"
    sed 's/$/\r/' "$stand_in/lessons/01_sum/lesson.h" >"$work/in/blanks/01_sum/lesson.h"
    class 0 --report="moodle:$work/moodle.csv"
    points program 1
    points document 1
    points contract 5
    expect 'what a program is' grep -qF 'it is what a compiler made (ELF), not its source' "$work/moodle.csv"
    expect 'what a document is' grep -qF 'it is a PDF document' "$work/moodle.csv"
    changed="lessons/01_sum/lesson.h differs from the lesson's own, which is what it was compiled with"
    said "  contract: $changed"
    expect 'its student is told' grep -qF "  $changed" "$work/moodle.csv"
    expect 'nothing of ends of lines' sh -c "! grep -q '^  blanks' '$work/out'"
    status=0
    "$grader" --submission="$work/in/contract" --device=emulator >"$work/out" 2>"$work/err" || status=$?
    expect "exit status 0, not $status" [ "$status" -eq 0 ]
    said "lesson.h differs from the lesson's own"
    expect 'once' [ "$(grep -c "differs from the lesson's own" "$work/err")" -eq 1 ]
}

# part: the command in a report draws the same inputs
reproduced()
{
    wrong "$work/in/grace"
    class 0
    command=$(record grace 'r["command"]' | sed "s,^\./grade,$grader,")
    expect 'the seed is in it' grep -q -e "--seed=$(record grace 'r["seed"]')" <<END
$command
END
    first=$(record grace 'r["lessons"][0]["checks"][0]["failures"][0]["what"]')
    sh -c "$command '--report=json:$work/second.json'" >/dev/null 2>&1
    second=$(python3 -c 'import json, sys
r = json.load(open(sys.argv[1]))["submissions"][0]
print(r["lessons"][0]["checks"][0]["failures"][0]["what"])' "$work/second.json")
    expect "the same words: $first, $second" [ "$first" = "$second" ]
}

# part: code that two share and others have not is listed, and changes no points
similar()
{
    for student in a b c d e f; do right "$work/in/$student"; done
    python3 - "$work/in" <<'END'
import sys
odd = """
#include "device.h"
#include "lesson.h"
static int %(fold)s(const int *%(v)s, size_t from, size_t to)
{
    int low = 0, high = 0;
    if (to - from == 1) return %(v)s[from];
    if (to == from) return 0;
    low = %(fold)s(%(v)s, from, from + (to - from) / 2); %(note)s
    high = %(fold)s(%(v)s, from + (to - from) / 2, to);
    while (low > 0 && high < 0) { low--; high++; }
    do { low++; high--; } while (low < 0 && high > 0);
    return low + high;
}
int sum_array(const int *values, size_t count, int *result)
{
    uint64_t stream = device_open();
    int error = device_work(stream, 100 * count);
    error = error ? error : device_store(stream, result, %(fold)s(values, 0, count));
    error = error ? error : device_wait(stream);
    device_close(stream);
    return error;
}
"""
for student, words in (("b", {"fold": "fold", "v": "values", "note": ""}),
                       ("e", {"fold": "my_very_own", "v": "numbers", "note": "/* mine */"})):
    open("%s/%s/01_sum/sum.c" % (sys.argv[1], student), "w").write(odd % words)
END
    class 0 --report="json:$work/all.json"
    expect 'b and e, and nobody else' python3 -c '
import json, sys
pairs = json.load(open(sys.argv[1]))["similar"]
assert [(p["lesson"], p["one"], p["other"]) for p in pairs] == [("01_sum", "b", "e")], pairs' \
        "$work/all.json"
    points b 5
    points e 5
}

# part: on a GPU what is timed waits until it has it alone
gpu()
{
    [ -r /proc/locks ] || exit 77
    right "$work/in/ada"
    right "$work/in/grace"
    mkdir -p "$STAND_IN_CACHE"
    exec 9>"$STAND_IN_CACHE/.gpu.lock"
    # Held as by another run that is not timed: shared.
    flock -s 9
    inode=$(stat -c %i "$STAND_IN_CACHE/.gpu.lock")
    STAND_IN_GPU=1 "$grader" --class="$work/in" --device=gpu --jobs=2 >"$work/out" 2>"$work/err" \
        </dev/null 9>&- &
    caller=$!
    while kill -0 "$caller" 2>/dev/null && ! grep -q -e "-> FLOCK.*WRITE.*:$inode " /proc/locks; do
        sleep 0.02
    done
    expect 'it waits' kill -0 "$caller"
    expect 'what is not timed has run' sh -c "cat '$work'/in.graded/logs/* | grep -q 'OK.*Sum.IsRight'"
    flock -u 9
    status=0
    wait "$caller" || status=$?
    expect "exit status 0, not $status" [ "$status" -eq 0 ]
    said '2 graded now'
}

"$part"
[ "$failures" -eq 0 ]
