#!/bin/sh
# slurm_test.sh GRADER STAND_IN: a class on a cluster: a real munged, slurmctld and two slurmd on
# loopback, with the grader of the stand-in lessons. The second node dies in the middle of a task.
# Exit status 0, 1 with a line for everything that was not as expected, 77 where Slurm or root, whom
# slurmd wants to be, is missing.
set -u
grader=$1 stand_in=$2
for program in munged slurmctld slurmd sbatch scontrol squeue; do
    command -v $program >/dev/null || {
        echo "skipped: no $program here (Debian: slurmctld slurmd slurm-client munge)" >&2
        exit 77
    }
done
[ "$(id -u)" -eq 0 ] || {
    echo 'skipped: slurmd runs as root only' >&2
    exit 77
}
work=$(mktemp -d "${TMPDIR:-/tmp}/slurm.XXXXXX") || exit 2
failures=0
export STAND_IN_CACHE="$work/cache" SLURM_CONF="$work/slurm.conf"
# What runs on a node that dies leaves things there.
export TMPDIR="$work/tmp"
mkdir "$TMPDIR"

# end NAME...: of the daemons whose pid files these are, and what they started.
end()
{
    for name; do
        [ ! -s "$work/$name.pid" ] || kill -9 "$(cat "$work/$name.pid")" 2>/dev/null
        rm -f "$work/$name.pid"
    done
}
# A node is gone with all that ran on it: its daemon, the steps, and what they started.
kill_node()
{
    end "$1"
    for process in /proc/[0-9]*; do
        { tr '\0' '\n' <"$process/environ"; } 2>/dev/null |
            awk -v conf="SLURM_CONF=$SLURM_CONF" -v node="$1" '
                $0 == conf { ours = 1 }
                $0 == "NODE=" node || $0 == "SLURMD_NODENAME=" node { there = 1 }
                END { exit !(ours && there) }' && kill -9 "${process#/proc/}" 2>/dev/null
    done
}
finish()
{
    scancel --state=RUNNING,PENDING >/dev/null 2>&1
    kill_node node1
    kill_node node2
    end ctld munge
    rm -rf "$work"
}
trap finish EXIT
trap 'exit 2' HUP INT TERM

expect()
{
    what=$1
    shift
    "$@" >"$work/trouble" 2>&1 && return
    echo "expected: $what"
    for file in trouble out err in.graded/slurm/*.txt; do
        case $file in /*) ;; *) file=$work/$file ;; esac
        [ ! -s "$file" ] || sed "s|^|  ${file##*/} \\| |" "$file"
    done
    failures=$((failures + 1))
}

# in_time COMMAND...: it succeeds at last, however busy the machine is.
in_time()
{
    left=3000
    until "$@" >/dev/null 2>&1; do
        left=$((left - 1))
        [ "$left" -gt 0 ] || return 1
        sleep 0.2
    done
}

start_node() { NODE=$1 slurmd -N "$1"; }

# Three ports that nobody has, and that the system gives to nobody who asks for any.
port=$(python3 - <<'END'
import random, socket
least = int(open("/proc/sys/net/ipv4/ip_local_port_range").read().split()[0])
while True:
    port = random.randrange(5000, max(least - 3, 5001))
    try:
        for taken in [socket.socket() for i in range(3)]:
            taken.bind(("0.0.0.0", port))
            port += 1
    except OSError:
        continue
    print(port - 3)
    break
END
)
cat >"$SLURM_CONF" <<END
ClusterName=overlap
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort=$port
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$work/munge.socket
StateSaveLocation=$work/ctld
SlurmdSpoolDir=$work/spool.%n
SlurmctldPidFile=$work/ctld.pid
SlurmdPidFile=$work/%n.pid
SlurmctldLogFile=$work/ctld.log
SlurmdLogFile=$work/%n.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SlurmdTimeout=20
ReturnToService=2
MailProg=/bin/true
NodeName=node1 NodeHostname=localhost NodeAddr=127.0.0.1 Port=$((port + 1)) CPUs=2
NodeName=node2 NodeHostname=localhost NodeAddr=127.0.0.1 Port=$((port + 2)) CPUs=2
PartitionName=all Nodes=node1,node2 Default=YES State=UP
END
chmod 755 "$work"
mkdir "$work/ctld"
head -c 64 /dev/urandom >"$work/munge.key"
chmod 600 "$work/munge.key"
if ! {
    munged --force --key-file="$work/munge.key" --socket="$work/munge.socket" \
        --pid-file="$work/munge.pid" --log-file="$work/munge.log" --seed-file="$work/munge.seed" &&
        slurmctld -i && start_node node1 && start_node node2
}; then
    echo 'Slurm does not start here'
    tail -n 3 "$work"/*.log
    exit 1
fi
nodes_are() { [ "$(sinfo --noheader --format=%D --states="$1")" = "$2" ]; }
expect 'two idle nodes' in_time nodes_are idle 2

submit()
{
    status=0
    (cd "$work" && "$grader" --class=in --device=emulator --random-orders=0 \
        --report "json:it's a report.json" --slurm "$@" >out 2>err </dev/null) || status=$?
}

# Twelve students. Their programs take their time, so that a task lasts long enough to be
# met by its node's end.
for i in 01 02 03 04 05 06 07 08 09 10 11 12; do
    mkdir -p "$work/in/student$i"
    cp -R "$stand_in"/solutions/* "$work/in/student$i"
    printf '%s\n' '#include <time.h>' '__attribute__((constructor)) static void rest(void)' \
        '{ nanosleep(&(struct timespec){0, 600000000}, NULL); }' >>"$work/in/student$i/01_sum/sum.c"
done
sed -i 's/sum += /sum -= /' "$work/in/student05/01_sum/sum.c"
submit --slurm-tasks=4
expect 'submitted' [ "$status" -eq 0 ]
expect 'says in how many parts' grep -q 'grades in 4 parts; job [0-9]* makes the reports' "$work/out"
array=$(sed -n 's/^Job \([0-9]*\) .*/\1/p' "$work/out")

on_node2() { squeue --noheader --states=RUNNING --nodelist=node2 --job="$array" | grep -q .; }
expect 'a task on the second node' in_time on_node2
kill_node node2
is_down() { ! sinfo --noheader --nodes=node2 --format=%T | grep -qE '^(idle|mixed|allocated|completing)$'; }
expect 'the controller sees that the node died' in_time is_down
start_node node2

reported() { [ -f "$work/it's a report.json" ] && ! squeue --noheader | grep -q .; }
expect 'the reports' in_time reported
expect 'all twelve judged once, one with less' python3 - "$work/it's a report.json" <<'END'
import json, sys
records = json.load(open(sys.argv[1]))["submissions"]
scores = {r["submission"]["key"]: r["score"] for r in records}
assert len(records) == 12, scores
best = max(scores.values())
assert [key for key, score in scores.items() if score != best] == ["student05"], scores
assert all(r["complete"] for r in records), records
END
expect 'the second job found them graded' \
    grep -qE '^12 submissions, [0-3] graded now, ' "$work"/in.graded/slurm/*.txt
begun_again() { scontrol show job "$array" | grep -q 'Restarts=[1-9]'; }
expect 'a task was begun again' begun_again

# Where there is no cluster: the scripts, and how to submit them.
mkdir "$work/bin"
for tool in sh cat; do ln -s "$(command -v $tool)" "$work/bin/$tool"; done
PATH=$work/bin submit
expect 'exit status 2 without sbatch' [ "$status" -eq 2 ]
expect 'says what to do' grep -q 'no sbatch on PATH. Where there is: sbatch .*parts.sh' "$work/err"
[ "$failures" -eq 0 ]
