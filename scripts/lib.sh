# shellcheck shell=bash
# Shared by the other scripts, which source it. Leaves the shell in the repository's folder.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# `su` without a dash leaves root without the folders that hold ip, nft and mke2fs.
export PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin"

# Lodge's own Node, from package-lock.json. The host's only runs npm.
lodge_node=node_modules/.bin/node
# A command to run it by as root, which a script may set; never the environment's.
through=

say() { printf '%s\n' "$*" >&2; }
die() {
  say "$@"
  exit 1
}

# Names of the environment variables that must survive sudo: settings, proxies, certificate authorities, npm's registry.
# Names, not NAME=value pairs: a command line is readable by everyone, and DATABASE_URL may hold a password.
kept_variables() {
  compgen -e | grep -E '^(LODGE_.*|TESTS_.*|DATABASE_URL|AWS_(ACCESS_KEY_ID|SECRET_ACCESS_KEY|SESSION_TOKEN)|CI|TERM|NODE_COMPILE_CACHE|NODE_EXTRA_CA_CERTS|SSL_CERT_(FILE|DIR)|CURL_CA_BUNDLE|(https?|ftp|all|no)_proxy|(HTTPS?|FTP|ALL|NO)_PROXY|npm_config_(userconfig|registry|cafile|ca|strict_ssl|(https?_|no)?proxy))$' | paste -sd, -
}

# need_root WHY: sets the array as_root to what must stand before a command to run it as root. Says why before sudo asks.
need_root() {
  as_root=()
  [ "$(id -u)" = 0 ] && return
  command -v sudo >/dev/null || die "Lodge needs root to $1, and there is no sudo here: run the same command as root."
  say "Lodge needs root to $1: asking sudo."
  # sudo replaces PATH, on which npm is, wherever it was installed.
  as_root=(sudo "--preserve-env=$(kept_variables)" -- env "PATH=$PATH")
}

# node_as_root WHY FILE ARGUMENT...: becomes Lodge's Node on that file, as root. The cache halves the time it takes to load;
# it lies where only root writes, for root runs what is in it.
node_as_root() {
  local why=$1
  shift
  export NODE_COMPILE_CACHE="${LODGE_CACHE_DIR:-/var/cache/lodge}/node"
  need_root "$why"
  exec "${as_root[@]}" ${through:+"$through"} "$lodge_node" "$@"
}

# part NAME COMMAND...: runs the command, says how it ended and how long it took, and remembers a failure for finish_parts.
failed_parts=()
part() {
  local name=$1 started=$EPOCHREALTIME result=ok seconds
  shift
  "$@" || { result=FAILED && failed_parts+=("$name"); }
  seconds=$(awk -v from="$started" -v to="$EPOCHREALTIME" 'BEGIN { printf "%.1f", to - from }')
  say "── $name: $result in $seconds s"
}

finish_parts() {
  [ ${#failed_parts[@]} = 0 ] || die "failed: ${failed_parts[*]}"
}
