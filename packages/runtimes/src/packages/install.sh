# Root's installer in an agent's machine. The host runs one step at a time, and `clean` after each that did not end well:
#   check | apt PACKAGE... | pip PACKAGE... | npm PACKAGE... | clean | done DIGEST
# A step without packages removes what an earlier one has brought. pip and npm install a whole set into a new folder, which takes
# the old one's place, so a failure leaves the old set as it was. $state keeps the `digest` of what is here, and in `apt` those
# of Debian's packages that were not here before. $tmp goes with the end of an install.
set -u
umask 022
state=${LODGE_STATE:-/var/lib/lodge/packages}
opt=${LODGE_OPT:-/opt/lodge}
bin=${LODGE_BIN:-/usr/local/bin}
# Not below $state, which apt's own user may not read.
tmp=${LODGE_TMP:-/var/cache/lodge-packages}
floor_mib=${LODGE_FLOOR_MIB:-512}
export DEBIAN_FRONTEND=noninteractive HOME=/root TMPDIR=$tmp

# The agent goes before its installer: for a processor, for the disk, and when memory is short.
yield_to_agent() {
  renice -n 19 -p $$ >/dev/null 2>&1
  ionice -c 3 -p $$ 2>/dev/null
  { echo 900 >/proc/$$/oom_score_adj; } 2>/dev/null
}

free_mib() { df -Pm "$state" | awk 'NR == 2 { print $4 }'; }

# Ends the whole group, this script too, before the disk is full: the agent must be able to write. It does not yield.
watch_disk='while sleep 0.5; do
  free=$(df -Pm "$1" | awk "NR == 2 { print \$4 }")
  if [ "$free" -lt "$2" ]; then
    : >"$1/full"
    kill -KILL 0
  fi
done'

begin() {
  mkdir -p "$tmp" "$opt"
  rm -f "$state/full"
  if [ "$(free_mib)" -lt "$floor_mib" ]; then
    : >"$state/full"
    echo "less than $floor_mib MiB of the disk are free"
    exit 75
  fi
  nice -n -20 sh -c "$watch_disk" watch "$state" "$floor_mib" </dev/null >/dev/null 2>&1 &
}

# Links for the programs in $1, which belong to the set in $2; links of that set whose program is gone are removed.
link_programs() {
  for link in "$bin"/*; do
    case $(readlink "$link") in "$2"/*) [ -e "$link" ] || rm -f "$link" ;; esac
  done
  for program in "$1"/*; do
    link=$bin/${program##*/}
    # A program of the image stays what it is.
    if [ -x "$program" ] && [ ! -e "$link" ]; then ln -sfn "$program" "$link"; fi
  done
}

# Puts a new set in the place of the old one.
swap() {
  rm -rf "$1.old"
  if [ -e "$1" ]; then mv "$1" "$1.old"; fi
  mv "$1.new" "$1"
  rm -rf "$1.old"
}

apt() {
  apt-get -qq -y -o Dir::State::lists="$tmp/lists" -o Dir::Cache="$tmp/cache" -o APT::Cmd::Pattern-Only=true \
    -o Dpkg::Options::=--force-confdef -o Dpkg::Options::=--force-confold -o Dpkg::Use-Pty=0 \
    -o DPkg::Lock::Timeout=60 -o Acquire::Retries=2 -o Acquire::http::Timeout=30 -o Acquire::Languages=none \
    -o APT::AutoRemove::SuggestsImportant=false ${sources:-} ${proxied:-} "$@"
}

names_installed() { dpkg-query -W -f '${db:Status-Status} ${Package}\n' | sed -n 's/^installed //p' | sort -u; }

apt_step() {
  wanted=' '
  for package; do wanted="$wanted${package%%=*} "; done
  gone= kept=
  for name in $(cat "$state/apt" 2>/dev/null); do
    case $wanted in *" $name "*) kept="$kept $name" ;; *) gone="$gone $name" ;; esac
  done
  [ -n "$gone$*" ] || return 0
  begin
  mkdir -p "$tmp/lists/partial" "$tmp/cache/archives/partial"
  if [ -n "${LODGE_APT:-}" ]; then
    . /etc/os-release
    printf '%s\n' "$LODGE_APT" | sed "s/{release}/$VERSION_CODENAME/g" >"$tmp/sources.list"
    sources="-o Dir::Etc::sourcelist=$tmp/sources.list -o Dir::Etc::sourceparts=-"
  fi
  if [ -n "${LODGE_PROXY:-}" ]; then
    proxied="-o Acquire::http::Proxy=$LODGE_PROXY -o Acquire::https::Proxy=$LODGE_PROXY -o Acquire::http::Pipeline-Depth=0"
  fi
  if [ -n "$gone" ]; then
    apt-mark auto $gone >/dev/null 2>&1
    # dpkg leaves those that other packages need.
    dpkg --purge --force-remove-reinstreq $gone || true
    apt autoremove --purge || return
    printf '%s\n' $kept >"$state/apt"
  fi
  [ $# -gt 0 ] || return 0
  dpkg --configure -a || return
  apt -o APT::Update::Error-Mode=any update || return
  names_installed >"$tmp/before"
  for name in $wanted; do grep -qxF "$name" "$tmp/before" || echo "$name"; done >"$tmp/new"
  { printf '%s\n' $kept; cat "$tmp/new"; } | sed '/^$/d' | sort -u >"$tmp/apt" && mv "$tmp/apt" "$state/apt"
  apt install --no-install-recommends --allow-downgrades -- "$@"
}

pip_step() {
  set_of=$opt/pip
  packages=$(python3 -c 'import site; print(site.getsitepackages()[0])')
  if [ $# -eq 0 ]; then
    [ -e "$set_of" ] || return 0
    rm -rf "$set_of" "$packages/lodge.pth"
    link_programs "$set_of/bin" "$set_of"
    return 0
  fi
  begin
  rm -rf "$set_of.new"
  cd "$tmp" || return
  python3 -m pip install --quiet --no-input --no-cache-dir --progress-bar off --no-warn-script-location \
    --break-system-packages --disable-pip-version-check --timeout 30 --retries 2 --target "$set_of.new" \
    ${LODGE_PROXY:+--proxy "$LODGE_PROXY"} ${LODGE_PIP:+--index-url "$LODGE_PIP"} \
    ${LODGE_PIP_PLAIN:+--trusted-host "$LODGE_PIP_PLAIN"} -- "$@" || return
  swap "$set_of"
  mkdir -p "$packages"
  echo "import site; site.addsitedir('$set_of')" >"$packages/lodge.pth"
  link_programs "$set_of/bin" "$set_of"
}

npm_step() {
  set_of=$opt/npm
  if [ $# -eq 0 ]; then
    [ -e "$set_of" ] || return 0
    rm -rf "$set_of"
    link_programs "$set_of/bin" "$set_of"
    return 0
  fi
  begin
  rm -rf "$set_of.new"
  mkdir -p "$set_of.new"
  cd "$tmp" || return
  npm install --global --prefix "$set_of.new" --cache "$tmp/npm" --no-audit --no-fund --no-update-notifier \
    --loglevel=error --fetch-retries=1 --fetch-timeout=60000 ${LODGE_NPM:+--registry "$LODGE_NPM"} \
    ${LODGE_PROXY:+--proxy "$LODGE_PROXY" --https-proxy "$LODGE_PROXY"} -- "$@" || return
  swap "$set_of"
  link_programs "$set_of/bin" "$set_of"
}

# Packages of Debian's that an interrupted install has left half there would stop the next one.
clean() {
  if [ -e "$tmp/before" ]; then
    half=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' | grep -Ev '^(installed|config-files|not-installed) ' |
      cut -d' ' -f2 | sort -u | comm -23 - "$tmp/before")
    if [ -n "$half" ]; then dpkg --purge --force-all $half; fi
  fi
  for set_of in "$opt/pip" "$opt/npm"; do
    if [ ! -e "$set_of" ] && [ -e "$set_of.old" ]; then mv "$set_of.old" "$set_of"; fi
    rm -rf "$set_of.old" "$set_of.new"
  done
  rm -rf "$tmp"
  if [ -e "$state/full" ]; then
    rm -f "$state/full"
    echo full
  fi
}

step=$1
shift
[ "$step" = check ] || { yield_to_agent; mkdir -p "$state"; }
case $step in
check) cat "$state/digest" 2>/dev/null || echo none ;;
apt | pip | npm) rm -f "$state/digest" && "${step}_step" "$@" ;;
clean) clean ;;
done)
  rm -rf "$tmp"
  echo "$1" >"$state/digest"
  ;;
esac
