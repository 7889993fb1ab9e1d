#!/usr/bin/env bash
# lodge.sh COMMAND...: Lodge's other commands (apps/server/src/cli/main.ts).
source "$(dirname "$0")/lib.sh"
case "${1:-}" in
  demo) bash scripts/setup.sh ;;
  # The others must answer on a machine that lacks things: doctor is there to say so.
  *) bash scripts/setup.sh packages ;;
esac
case "${1:-}" in
  backup | restore) node_as_root "read and write what only it may" apps/server/src/cli/main.ts "$@" ;;
  upgrade) node_as_root "end Lodge and start it again" apps/server/src/cli/main.ts "$@" ;;
  # The unit alone is anybody's to see.
  install | uninstall) [ "${2:-}" = --print ] || node_as_root "install a service" apps/server/src/cli/main.ts "$@" ;;&
  owner-link | reset-password | rotate-master-key) node_as_root "read what only it may read" apps/server/src/cli/main.ts "$@" ;;
  # Doctor looks as whoever may: without root and without sudo that asks nothing it says what it could not see.
  doctor) [ "$(id -u)" = 0 ] || sudo -n true 2>/dev/null || exec "$lodge_node" apps/server/src/cli/main.ts "$@" ;;&
  runtimes) node_as_root "read and make guest images" apps/server/src/cli/main.ts "$@" ;;
  demo | doctor | down) node_as_root "look after virtual machines and their networks" apps/server/src/cli/main.ts "$@" ;;
  *) exec "$lodge_node" apps/server/src/cli/main.ts "$@" ;;
esac
