#!/usr/bin/env bash
# npm test [-- STAGE, PART or FOLDER...]: set-up, then tests (scripts/test.ts). Without arguments: `quick`, which needs neither
# root nor a virtual machine, and then `rounds`, a life of each runtime in a real machine. Virtual machines need root; images
# and templates that the cache lacks are made beside the quick tests.
source "$(dirname "$0")/lib.sh"
[ $# -gt 0 ] || set -- quick rounds
part set-up bash scripts/setup.sh tests
part pages "$lodge_node" scripts/build-web.ts
finish_parts
through=scripts/testing/opened.sh
if [ "$*" = quick ]; then
  exec "$through" "$lodge_node" scripts/test.ts quick
fi
node_as_root 'run virtual machines in tests' scripts/test.ts "$@"
