# shellcheck shell=sh
# A bare Debian in a folder, for the examples that install themselves. Sourced with `root` set to the
# project and `bare` to the folder; says why and exits with 77 where this machine cannot make one.

: "${root:?set by the script that sources this file}" "${bare:?and this}"

# make_bare [DEBOOTSTRAP'S OPTIONS]: the folder has a minimal Debian, with this machine's way to the
# network, and the project's repository, /overlap.git.
make_bare()
{
    [ "$(id -u)" -eq 0 ] || { echo 'skipped: making a bare Debian takes root' && exit 77; }
    command -v debootstrap >/dev/null || { echo 'skipped: there is no debootstrap' && exit 77; }
    [ -x "$bare/bin/sh" ] ||
        debootstrap --variant=minbase "$@" bookworm "$bare" >"$bare.log" 2>&1 || {
        tail -n 5 "$bare.log"
        echo 'skipped: debootstrap made no Debian; is there a network?'
        exit 77
    }
    for file in /etc/resolv.conf /etc/hosts /etc/pip.conf /etc/apt/apt.conf.d /etc/apt/sources.list \
        /etc/apt/sources.list.d; do
        if [ -e "$file" ]; then
            mkdir -p "$bare${file%/*}"
            cp -RL "$file" "$bare${file%/*}/"
        fi
    done
    rm -rf "$bare/overlap.git"
    git clone -q --bare "$root" "$bare/overlap.git"
    mount -t proc proc "$bare/proc"
    mount --rbind /dev "$bare/dev"
    trap 'umount -l "$bare/dev" "$bare/proc"' EXIT
}

# in_bare COMMAND...: there, as root, with nothing else in the environment; NAME=VALUE may come first.
in_bare()
{
    chroot "$bare" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root "$@"
}
