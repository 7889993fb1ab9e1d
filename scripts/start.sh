#!/usr/bin/env bash
# npm start: sets the machine up where something is missing, then becomes the control plane.
source "$(dirname "$0")/lib.sh"
# An upgrade that was cut off is undone first; what is checked out is another release then.
if [ -e .upgrade/journal.json ]; then
  bash scripts/lodge.sh upgrade --unfinished
  [ -e .upgrade/journal.json ] || exec bash scripts/start.sh "$@"
fi
bash scripts/setup.sh
"$lodge_node" scripts/build-web.ts
node_as_root 'run virtual machines and their networks' apps/server/src/main.ts "$@"
