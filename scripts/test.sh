#!/usr/bin/env bash
# npm test [-- PART or FOLDER...]: set-up, then the tests (scripts/test.ts). Those with virtual machines need root, and make
# image and template first where the cache has none: about 10 minutes without KVM.
source "$(dirname "$0")/lib.sh"
part set-up bash scripts/setup.sh tests
part pages "$lodge_node" scripts/build-web.ts
finish_parts
node_as_root 'run virtual machines in tests' scripts/test.ts "$@"
