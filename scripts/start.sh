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
# Nobody waits for the documents: the control plane has them as soon as they are built, and until then the API's reference.
(nice "$lodge_node" scripts/build-docs.ts >&2 || say 'The documents could not be built: /docs is as it was.') &
node_as_root 'run virtual machines and their networks' apps/server/src/main.ts "$@"
