#!/bin/sh
# github_actions.sh ROOT BUILD WHEEL: runs the steps of examples/github-actions' workflow for real, as they
# are written, on a project of our own: once as it is right, once with a mistake in it. What a release
# would have is BUILD's Debian package and WHEEL, at a file: address; actions/checkout is a copy and
# actions/setup-python a venv. The machine is this one under a layer that is thrown away, so that what
# the steps install is gone with it. As root, with a network; not one of the tests, because it installs
# packages. Exit status 0, 1 with what was not as expected, 77 with the reason where it cannot be run.
set -eu
root=$(readlink -f "$1") build=$(readlink -f "$2") wheel=$(readlink -f "$3")
python3 -c 'import yaml' 2>/dev/null || { echo 'skipped: python3 has no yaml' && exit 77; }
[ "$(id -u)" -eq 0 ] || { echo 'skipped: it is for root' && exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 2' HUP INT TERM
mkdir "$work/release" "$work/project" "$work/said"
cpack --config "$build/CPackConfig.cmake" -B "$work/made" >"$work/log" 2>&1 || { cat "$work/log" && exit 1; }
cp "$work"/made/*.deb "$wheel" "$work/release"

# The steps of each job, one file each, with the environment of all of them in front.
python3 - "$root/examples/github-actions/.github/workflows/cuda.yml" "$work" <<'PYTHON'
import shlex, sys, yaml
flow, work = yaml.safe_load(open(sys.argv[1])), sys.argv[2]
env = {**flow["env"], "OVERLAP": "file://%s/release" % work, "CI": "true"}
for job, what in flow["jobs"].items():
    with open("%s/%s.sh" % (work, job), "w") as script:
        for name, value in env.items():
            script.write("export %s=%s\n" % (name, shlex.quote(str(value))))
        for step in what["steps"]:
            uses = step.get("uses", "").split("@")[0]
            if uses == "actions/checkout":
                script.write("cp -R %s/project/. .\n" % work)
            elif uses == "actions/setup-python":
                script.write("python3 -m venv %s/venv && PATH=%s/venv/bin:$PATH\n" % (work, work))
            elif "run" in step:
                script.write("echo %s\n%s\n" % (shlex.quote("+ " + step["run"].strip()), step["run"]))
            else:
                sys.exit("a step that nobody knows: %s" % step)
PYTHON

cd "$work/project"
cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.20)
project(doubled LANGUAGES CXX CUDA)
enable_testing()
add_executable(doubled doubled.cu)
add_test(NAME doubled COMMAND doubled)
END
cat >doubled.cu <<'END'
#include <vector>
__global__ void twice(int *a, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) a[i] *= 2;
}
int main()
{
    std::vector<int> a(1000, 21);
    int *there = nullptr;
    cudaMalloc(&there, a.size() * sizeof(int));
    cudaMemcpy(there, a.data(), a.size() * sizeof(int), cudaMemcpyHostToDevice);
    twice<<<4, 256>>>(there, 1000);
    cudaMemcpy(a.data(), there, a.size() * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(there);
    return a[999] != 42;
}
END
printf 'numpy\ncuda-bindings==13.*\n' >requirements.txt
cat >test_copy.py <<'END'
import numpy as np
from cuda.bindings import runtime


def test_there_and_back():
    a, b = np.arange(100, dtype=np.float32), np.zeros(100, dtype=np.float32)
    kind = runtime.cudaMemcpyKind
    error, there = runtime.cudaMalloc(a.nbytes)
    assert error == 0
    assert runtime.cudaMemcpy(there, a.ctypes.data, a.nbytes, kind.cudaMemcpyHostToDevice)[0] == 0
    assert runtime.cudaMemcpy(b.ctypes.data, there, a.nbytes, kind.cudaMemcpyDeviceToHost)[0] == 0
    assert runtime.cudaFree(there)[0] == 0
    assert np.array_equal(a, b)
END

# under_layer SCRIPT: in an empty folder, as the runner that the job gets.
under_layer()
{
    # shellcheck disable=SC2016 # for the shell that it starts
    unshare -m sh -eu -c '
        mount -t tmpfs none "$1/layer"
        mkdir "$1/layer/upper" "$1/layer/work" "$1/layer/all"
        mount -t overlay none -o "lowerdir=/,upperdir=$1/layer/upper,workdir=$1/layer/work" "$1/layer/all"
        for folder in dev proc sys "${1#/}"; do mount --bind "/$folder" "$1/layer/all/$folder"; done
        mkdir -p "$1/layer/all/runner"
        exec chroot "$1/layer/all" bash -ec "cd /runner && . $2"' sh "$work" "$work/$1.sh"
}
mkdir "$work/layer"
failures=0
# job NAME STATUS TEXT: it ends so, and says the text.
job()
{
    status=0
    rm -rf "$work/venv"
    under_layer "$1" >"$work/said/$1" 2>&1 </dev/null || status=$?
    if [ "$status" -eq "$2" ] && grep -qF -- "$3" "$work/said/$1"; then
        echo "$1: ended with $status, as expected: $(grep -F -- "$3" "$work/said/$1" | head -n 1)"
        return
    fi
    echo "$1: not as expected; it ended with $status"
    tail -n 40 "$work/said/$1"
    failures=1
}
job without-a-gpu 0 '100% tests passed'
job python 0 '1 passed'
# Mistakes that no test of theirs sees.
sed -i '/cudaFree/d' doubled.cu
sed -i 's/^    assert error == 0$/&\n    runtime.cudaMemcpy(b.ctypes.data, there, a.nbytes, kind.cudaMemcpyDeviceToHost)/' test_copy.py
job without-a-gpu 1 'doubled.cu:11: leak'
job python 1 'test_copy.py:10: never written'
exit "$failures"
