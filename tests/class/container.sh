#!/bin/sh
# container.sh ROOT ARCHIVE FOLDER: makes the image of examples/container from a release's archive, with
# buildah, and grades a class in it without a network: a solution, a stub and a file that does not
# compile. As root, with a network for the image; not one of the tests, because it fetches half a
# gigabyte. The base is a bare Debian of debootstrap's, so that no registry of images is asked.
# Exit status 0, or 1 with what was not as expected.
set -eu
root=$1 archive=$2 work=$3
mkdir -p "$work/context" "$work/class/handed_in"
images() { buildah --root "$work/images" --runroot "$work/run" --storage-driver vfs "$@"; }
trap 'images rm -a >/dev/null 2>&1 || true' EXIT

[ -x "$work/bare/bin/sh" ] || debootstrap --variant=minbase bookworm "$work/bare" >"$work/bare.log" 2>&1 ||
    { tail -n 5 "$work/bare.log" && exit 1; }
base=$(images from scratch)
images copy -q "$base" "$work/bare" / >/dev/null
images commit -q "$base" overlap-base >/dev/null
images rm "$base" >/dev/null

# How this machine reaches the network is the image's way as well, while it is made.
certificates=/etc/ssl/certs/ca-certificates.crt
printf '[global]\ncert = /certificates-here.crt\n' >"$work/pip.conf"
cp "$root/examples/container/Containerfile" "$archive" "$work/context/"
images bud --isolation=chroot --pull-never --build-arg BASE=localhost/overlap-base \
    -v "$work/pip.conf:/etc/pip.conf:ro" -v "$certificates:/certificates-here.crt:ro" \
    -t overlap "$work/context" >"$work/image.log" 2>&1 || { tail -n 30 "$work/image.log" && exit 1; }

for student in ada grace linus; do mkdir -p "$work/class/handed_in/$student"; done
cp "$root/solutions/01_device_sync/device_sync.c" "$work/class/handed_in/ada/"
cp "$root/lessons/01_device_sync/device_sync.c" "$work/class/handed_in/grace/"
echo 'int broken(' >"$work/class/handed_in/linus/device_sync.c"
rm -rf "$work/class/handed_in.graded"
graded=$(images from --pull-never localhost/overlap)
# No network: not even the loopback device is up.
status=0
# shellcheck disable=SC2016 # for the inner shell
unshare -n buildah --root "$work/images" --runroot "$work/run" --storage-driver vfs run \
    --isolation=chroot -v "$work/class:/class" "$graded" -- /opt/overlap/grade 01 \
    --class=/class/handed_in --report=html:/class/class.html --report=canvas:/class/grades.csv \
    >"$work/said" 2>&1 || status=$?
cat "$work/said" "$work/class/grades.csv"
[ "$status" -eq 0 ] && grep -q '^ada.*,13' "$work/class/grades.csv" &&
    grep -q '^grace.*,0' "$work/class/grades.csv" && grep -q '^linus.*,0' "$work/class/grades.csv" &&
    grep -q '</html>' "$work/class/class.html"
