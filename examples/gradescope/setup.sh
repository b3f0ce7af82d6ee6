#!/bin/bash
# Gradescope runs this once, as root, when it builds the autograder's image: everything that takes a
# network happens here. OVERLAP is the folder or the repository to take Overlap from.
set -eu
OVERLAP=${OVERLAP:-https://github.com/OWNER/overlap.git}
export DEBIAN_FRONTEND=noninteractive

apt-get update
apt-get install -y --no-install-recommends ca-certificates git
rm -rf /autograder/overlap
git clone -q "$OVERLAP" /autograder/overlap
cd /autograder/overlap
# Sets up, builds, and grades the reference solutions, which proves that this image can grade.
./grade --solutions --device=emulator --gtest_brief=1
