#!/bin/sh
# Runs a command in a virtual machine whose kernel has control groups of version 2 with the memory and
# pids controllers, for machines that have not: what grader/base/cgroup.c does there is tried for real.
#
#   vm.sh COMMAND [ARGUMENT...]
#
# The machine sees this one's files as they are, and keeps what it writes in its own memory. Needs qemu
# (qemu-system-x86), busybox-static, cpio, and Debian's kernel, which is downloaded. ACCELERATE=kvm: with
# the processor's own virtualisation, where /dev/kvm works; without it everything is ten times slower.
# Exit status: the command's; 77 where something is missing, 99 where the machine did not come up.
set -eu
[ $# -gt 0 ] || { sed -n 's/^# \{0,1\}//; 2,12p' "$0"; exit 2; }
cache=${XDG_CACHE_HOME:-$HOME/.cache}/overlap-vm
for tool in qemu-system-x86_64 busybox cpio apt-get dpkg-deb gzip; do
    command -v $tool >/dev/null || { echo "vm.sh: $tool is missing"; exit 77; }
done
mkdir -p "$cache"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 2' HUP INT TERM

# ---- the kernel, and its way to our files --------------------------------------------------------

if [ ! -d "$cache/kernel/boot" ]; then
    name=$(apt-cache depends linux-image-amd64 | sed -n 's/.*Depends: \(linux-image-[^ ]*\).*/\1/p')
    (cd "$work" && apt-get download "$name" >/dev/null 2>&1 && dpkg-deb -x ./*.deb "$work/kernel") ||
        { echo "vm.sh: Debian's kernel cannot be had"; exit 77; }
    mv "$work/kernel" "$cache/kernel"
fi
modules=$(echo "$cache"/kernel/lib/modules/*)
mkdir -p "$work/first/bin" "$work/first/modules"
cp "$(command -v busybox)" "$work/first/bin/busybox"
# In the order in which they need each other.
order='virtio virtio_ring virtio_pci_legacy_dev virtio_pci_modern_dev virtio_pci fscache netfs 9pnet
    9pnet_virtio 9p overlay'
for module in $order; do
    find "$modules" -name "$module.ko" -exec cp {} "$work/first/modules" \;
done

# ---- what runs first in it -----------------------------------------------------------------------

cat >"$work/first/init" <<EOF
#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin
mkdir -p /proc /sys /low /high /whole
mount -t proc proc /proc
for again in 1 2; do for module in $(echo "$order" | tr "\n" " "); do insmod /modules/\$module.ko 2>/dev/null; done; done
mount -t 9p -o trans=virtio,version=9p2000.L,ro,msize=1048576,cache=loose files /low || echo "no files"
mount -t tmpfs -o size=90% tmpfs /high
mkdir /high/upper /high/work
mount -t overlay -o lowerdir=/low,upperdir=/high/upper,workdir=/high/work overlay /whole
for folder in proc sys dev tmp run; do mkdir -p /whole/\$folder; done
mount -t proc proc /whole/proc
mount -t sysfs sysfs /whole/sys
mount -t devtmpfs dev /whole/dev
mkdir -p /whole/dev/pts /whole/dev/shm
mount -t devpts devpts /whole/dev/pts
mount -t tmpfs tmpfs /whole/dev/shm
mount -t tmpfs -o mode=1777 tmpfs /whole/tmp
mount -t cgroup2 cgroup2 /whole/sys/fs/cgroup
echo '+memory +pids +cpu' >/whole/sys/fs/cgroup/cgroup.subtree_control
cp /command /whole/tmp/command
ip link set lo up 2>/dev/null
chroot /whole /usr/bin/setsid -w /bin/sh /tmp/command </dev/null
echo "vm.sh status \$?"
poweroff -f
EOF
{
    printf "cd '%s'\nexport HOME=/root LC_ALL=C.UTF-8 PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\n" "$PWD"
    for word; do printf "'%s' " "$(printf %s "$word" | sed "s/'/'\\\\''/g")"; done
    echo
} >"$work/first/command"
chmod +x "$work/first/init"
(cd "$work/first" && find . | cpio -o -H newc 2>/dev/null | gzip -1) >"$work/initrd"

# ---- the machine ---------------------------------------------------------------------------------

timeout "${SECONDS_AT_MOST:-900}" qemu-system-x86_64 -machine q35,accel="${ACCELERATE:-tcg}" -cpu max -smp 2 \
    -m "${MEMORY:-4G}" \
    -nographic -no-reboot -kernel "$(echo "$cache"/kernel/boot/vmlinuz-*)" -initrd "$work/initrd" \
    -append 'console=ttyS0 quiet panic=-1' \
    -virtfs local,path=/,mount_tag=files,security_model=none,readonly=on,multidevs=remap \
    </dev/null 2>&1 | tr -d '\r' | tee "$work/printed" | grep -v '^vm.sh status'
status=$(sed -n 's/^vm.sh status //p' "$work/printed" | tail -1)
exit "${status:-99}"
