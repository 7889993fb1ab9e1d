#!/bin/bash
# Runs in the machine with KVM: puts the checkout and the guest images in their places, and runs the test files of /job/files, the
# benchmark of /job/benchmark, or the round of /job/round.
# Lines that begin with @ are for the host that started the machine; @end has the status of the whole, and after @again the
# machine is to be started once more with what it has written.
step() { echo "@step $*"; }
end() {
  echo "@end $1"
  exit "$1"
}

step "looking for KVM"
modprobe kvm_amd 2>&1
[ -c /dev/kvm ] || { echo "this machine has no /dev/kvm" && end 1; }
echo "kernel $(uname -r), $(nproc) processors, nested paging $(cat /sys/module/kvm_amd/parameters/npt)"

step "checkout and images"
mkdir -p /opt/lodge /var/job/upper /var/job/work /var/cache/lodge
mountpoint -q /opt/lodge || mount -t overlay -o lowerdir=/job/lodge,upperdir=/var/job/upper,workdir=/var/job/work checkout /opt/lodge || end 1
[ -e /var/cache/lodge/images ] || cp -a /job/cache/. /var/cache/lodge/ || end 1

cd /opt/lodge || end 1
# shellcheck source=scripts/kvm/machine/round.sh
[ -e /job/files ] || . /job/round.sh
status=0
[ ! -e /job/long ] || export TESTS_LONG=1
export TESTS_ACCELERATOR=kvm
while read -r file; do
  step "$file"
  node_modules/.bin/node --test --test-reporter=spec "$file" < /dev/null || status=1
done < /job/files
end $status
