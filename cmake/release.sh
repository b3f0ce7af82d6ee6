#!/bin/sh
# release.sh: build-release/overlap-VERSION-linux-MACHINE.tar.gz, with everything compiled, for any
# machine whose C library is as new as this one's (release.cmake), and the software device alone as
# a Debian package (device.cmake).
set -eu
root=$(dirname "$(dirname "$(readlink -f "$0")")")
. "$root/cmake/setup.sh"
needs="$needs
command msgfmt gettext compiles the sentences in other languages
command objdump binutils lists the libraries that go with it"
setup_build release "$root/build-release" release deb
ls "$root"/build-release/overlap-*.tar.gz "$root"/build-release/overlap-*.deb
