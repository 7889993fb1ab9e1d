#!/usr/bin/env bash
# lodge.sh COMMAND...: Lodge's other commands (apps/server/src/cli/main.ts).
source "$(dirname "$0")/lib.sh"
case "${1:-}" in
  demo) bash scripts/setup.sh ;;
  # The others must also answer on an incomplete machine, because doctor reports its gaps.
  *) bash scripts/setup.sh packages ;;
esac
case "${1:-}" in
  backup | restore) node_as_root "read and write what only it may" apps/server/src/cli/main.ts "$@" ;;
  upgrade) node_as_root "end Lodge and start it again" apps/server/src/cli/main.ts "$@" ;;
  # Anybody may see the unit.
  install | uninstall) [ "${2:-}" = --print ] || node_as_root "install a service" apps/server/src/cli/main.ts "$@" ;;&
  owner-link | reset-password | rotate-master-key) node_as_root "read what only it may read" apps/server/src/cli/main.ts "$@" ;;
  # Doctor runs as root if it can. Without root, and without a sudo that asks nothing, it names the checks that it had to leave out.
  doctor) [ "$(id -u)" = 0 ] || sudo -n true 2>/dev/null || exec "$lodge_node" apps/server/src/cli/main.ts "$@" ;;&
  runtimes) node_as_root "read and make guest images" apps/server/src/cli/main.ts "$@" ;;
  demo | doctor | down) node_as_root "look after virtual machines and their networks" apps/server/src/cli/main.ts "$@" ;;
  *) exec "$lodge_node" apps/server/src/cli/main.ts "$@" ;;
esac
