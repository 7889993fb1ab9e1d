#!/bin/sh
# Builds QEMU's emulator of x86 from Debian's source. Runs as root in a Debian tree that has what it takes (scripts/kvm/emulator.ts).
set -e
cd /root
dpkg-source -x qemu_*.dsc source
cd source

# VMRUN delivers the interrupt that KVM injects, and leaves its vector behind as an exception that is due. A processor that is
# then asked to leave its loop delivers it once more, in whatever the guest is at: in its firmware, or at the first instruction
# of an entry, that is a triple fault. (helper_vmrun of QEMU 7.2, 10.0 and of its main branch in 2026.)
file=target/i386/tcg/system/svm_helper.c
sed -i 's/^\( *\)do_interrupt_x86_hardirq(env, vector, 1);$/&\n\1cs->exception_index = -1;/' "$file"
grep -q '^ *cs->exception_index = -1;$' "$file"

mkdir build
cd build
../configure --target-list=x86_64-softmmu --without-default-features --enable-system --enable-tcg --enable-pixman \
  --disable-docs --disable-tools --disable-install-blobs
ninja qemu-system-x86_64
