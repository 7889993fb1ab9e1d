#!/usr/bin/env bash
# npm run test:kvm [-- FILE...]: tests of machines on KVM, in an emulated machine that has it (docs/contributing/tests.md).
source "$(dirname "$0")/lib.sh"
bash scripts/setup.sh
node_as_root 'make and run the machine with KVM' scripts/test-kvm.ts "$@"
