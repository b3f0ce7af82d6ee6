#!/bin/sh
# github_classroom.sh ROOT FOLDER [DEBOOTSTRAP'S OPTIONS]: runs the steps of examples/github-classroom's
# workflow for real, as they are written, in a bare Debian made in FOLDER: on the solution, on a stub
# that somebody has touched and on a file that does not compile. actions/checkout is a clone, and
# actions/cache keeps what is there; the reporter's step is the only one that is not run: its input is
# decoded here. As root, with a network; not one of the tests, because it fetches half a gigabyte.
# Exit status 0, 1 with what was not as expected, 77 with the reason where it cannot be run.
set -eu
root=$1 bare=$2
shift 2
python3 -c 'import yaml' 2>/dev/null || { echo 'skipped: python3 has no yaml' && exit 77; }
. "$root/tests/class/bare.sh"
make_bare "$@"
place=$bare/runner
mkdir -p "$place"

# The workflow's steps as a program for the runner: "checkout PATH REPOSITORY", "cache", "run FILE ID",
# "report STEP OUTPUT", and the environment of all steps as export lines.
python3 - "$root/examples/github-classroom/.github/workflows/classroom.yml" "$place" <<'PYTHON'
import re, shlex, sys, yaml
flow, place = yaml.safe_load(open(sys.argv[1])), sys.argv[2]
env = flow.get("env", {})
with open(place + "/environment", "w") as out:
    for name, value in env.items():
        out.write("export %s=%s\n" % (name, shlex.quote(str(value))))
def expand(text):
    return re.sub(r"\$\{\{ env\.(\w+) \}\}", lambda found: str(env[found[1]]), str(text))
(job,) = flow["jobs"].values()
with open(place + "/steps", "w") as out:
    for number, step in enumerate(job["steps"]):
        given = step.get("with", {})
        uses = step.get("uses", "").split("@")[0]
        if uses == "actions/checkout":
            out.write("checkout %s %s\n" % (given["path"], expand(given.get("repository", "student"))))
        elif uses == "actions/cache":
            out.write("cache -\n")
        elif "run" in step:
            with open("%s/step%d.sh" % (place, number), "w") as script:
                script.write(expand(step["run"]))
            out.write("run step%d.sh %s\n" % (number, step.get("id", "-")))
        elif uses.startswith("classroom-resources/"):
            (value,) = step["env"].values()
            where, output = re.fullmatch(r"\$\{\{ steps\.(\w+)\.outputs\.(\w+) \}\}", value).groups()
            assert list(step["env"])[0] == given["runners"].upper() + "_RESULTS", step
            assert step["if"] == "always()", step
            out.write("report %s %s\n" % (where, output))
        else:
            sys.exit("a step that nobody knows: %s" % step)
PYTHON

# The job, for the student's repository $place/student. Its exit status is that of the last step run,
# and `answer` is what the reporter gets.
run_job()
{
    job=0
    rm -rf "$place/submission" "$place/outputs"
    mkdir -p "$place/outputs"
    while read -r kind what of <&3; do
        case $kind in
        checkout)
            if [ "$of" = student ]; then
                cp -R "$place/student" "$place/$what"
            elif [ ! -e "$place/$what" ]; then
                git clone -q "$bare/overlap.git" "$place/$what"
            fi
            ;;
        run)
            [ "$job" -eq 0 ] || continue
            in_bare GITHUB_OUTPUT="/runner/outputs/$of" CI=true GITHUB_ACTIONS=true bash -e -c \
                ". /runner/environment; cd /runner; . /runner/$what" >"$bare.said" 2>&1 || job=$?
            ;;
        report) answer=$(sed -n "s/^$of=//p" "$place/outputs/$what") ;;
        esac
    done 3<"$place/steps"
}

failures=0
hand_in() # WHAT FILE WORDS: of the reporter's input `r` and the job's status, in python's words
{
    rm -rf "$place/student"
    mkdir -p "$place/student/lessons/01_device_sync"
    cp "$2" "$place/student/lessons/01_device_sync/device_sync.c"
    answer=
    run_job
    if printf '%s' "$answer" | python3 -c '
import base64, json, sys
r, job = json.loads(base64.b64decode(sys.stdin.read())), int(sys.argv[1])
score = sum(t["score"] for t in r["tests"])
print("%s: %s, %g of %g points, %d tests" % (sys.argv[3], r["status"], score, r["max_score"], len(r["tests"])))
sys.exit(not eval(sys.argv[2]))' "$job" "$3" "$1"; then
        return
    fi
    echo "$1: not as expected; the job ended with $job"
    tail -n 30 "$bare.said"
    failures=1
}

hand_in solution "$root/solutions/01_device_sync/device_sync.c" \
    'job == 0 and r["status"] == "pass" and score == r["max_score"] > 0'
{ cat "$root/lessons/01_device_sync/device_sync.c" && echo '/* mine */'; } >"$bare.c"
hand_in stub "$bare.c" 'job == 0 and r["status"] == "fail" and score == 0'
echo 'int broken(' >"$bare.c"
hand_in 'what does not compile' "$bare.c" 'job == 0 and r["status"] != "pass" and score == 0'
exit "$failures"
