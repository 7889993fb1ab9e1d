#!/usr/bin/env bash
# npm run test:hosts [-- NAME...]: set-up, start and a round of an agent on other distributions (tests/hosts).
source "$(dirname "$0")/lib.sh"
bash scripts/setup.sh
node_as_root 'make machines of other distributions' tests/hosts/main.ts "$@"
