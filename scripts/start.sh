#!/usr/bin/env bash
# npm start: sets the machine up where something is missing, then becomes the control plane.
source "$(dirname "$0")/lib.sh"
bash scripts/setup.sh
"$lodge_node" scripts/build-web.ts
node_as_root 'run virtual machines and their networks' apps/server/src/main.ts "$@"
