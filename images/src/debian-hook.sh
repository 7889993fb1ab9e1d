#!/bin/sh
# Run by mmdebstrap when the tree $1 is complete and its package lists are still there: fetches the kernel that
# $LODGE_KERNEL_PACKAGE depends on, by the same sources, into $LODGE_DRAFT, with the list of what is installed. Compiles
# $LODGE_RANDOM_SOURCE for the guest, by a small compiler that does not stay.
set -e
cd "$LODGE_DRAFT"
export APT_CONFIG="$MMDEBSTRAP_APT_CONFIG"
kernel=$(apt-cache depends --important "$LODGE_KERNEL_PACKAGE" | sed -n 's/^ *Depends: \(linux-image-[^ ]*\)$/\1/p' | head -n 1)
[ -n "$kernel" ] || { echo "$LODGE_KERNEL_PACKAGE depends on no linux-image package" >&2; exit 1; }
apt-get --quiet --option APT::Sandbox::User=root download "$kernel"
mv "$kernel"_*.deb kernel.deb
apt-get --quiet --option APT::Sandbox::User=root download tcc
mkdir -p "$1/opt/lodge" "$1/tmp/tcc"
dpkg-deb --extract tcc_*.deb "$1/tmp/tcc"
rm tcc_*.deb
cp "$LODGE_RANDOM_SOURCE" "$1/tmp/tcc/random.c"
chroot "$1" sh -c '/tmp/tcc/usr/bin/tcc -B/tmp/tcc/usr/lib/*/tcc -shared -nostdlib -o /opt/lodge/kernel-random.so /tmp/tcc/random.c'
rm -r "$1/tmp/tcc"
chroot "$1" dpkg-query --show --showformat '${Package} ${Version}\n' > packages.txt
