#!/bin/sh
# Builds QEMU's emulator of x86 from Debian's source. Runs as root in a Debian tree that has what it takes (scripts/kvm/emulator.ts).
set -e
cd /root
dpkg-source -x qemu_*.dsc source
cd source

# Two defects of QEMU 7.2, of 10.0 and of its main branch in 2026, each of which ends a guest within KVM in a triple fault.

# Whenever a processor loads its floating point state, it clears a flag of the first processor, which may be changing the other
# flags of that word just then, as VMRUN does: nested paging, or interrupts off, were lost. It need not write what is clear.
file=target/i386/tcg/system/fpu_helper.c
sed -i 's/^    env->hflags2 &= ~HF2_IGNNE_MASK;$/    if (env->hflags2 \& HF2_IGNNE_MASK) {\n    &\n    }/' "$file"
grep -q 'if (env->hflags2 & HF2_IGNNE_MASK) {' "$file"

# VMRUN delivers the interrupt that KVM injects, and leaves its vector behind as an exception that is due. A processor that is
# then asked to leave its loop delivers it once more, whatever the guest is at.
file=target/i386/tcg/system/svm_helper.c
sed -i 's/^\( *\)do_interrupt_x86_hardirq(env, vector, 1);$/&\n\1cs->exception_index = -1;/' "$file"
grep -q '^ *cs->exception_index = -1;$' "$file"

mkdir build
cd build
../configure --target-list=x86_64-softmmu --without-default-features --enable-system --enable-tcg --enable-pixman \
  --disable-docs --disable-tools --disable-install-blobs
ninja qemu-system-x86_64
