#!/usr/bin/env bash
# npm start: installs missing parts on the machine, then becomes the control plane.
source "$(dirname "$0")/lib.sh"
# An interrupted upgrade is undone first, and then another release is checked out.
if [ -e .upgrade/journal.json ]; then
  bash scripts/lodge.sh upgrade --unfinished
  [ -e .upgrade/journal.json ] || exec bash scripts/start.sh "$@"
fi
bash scripts/setup.sh
"$lodge_node" scripts/build-web.ts
node_as_root 'run virtual machines and their networks' apps/server/src/main.ts "$@"
