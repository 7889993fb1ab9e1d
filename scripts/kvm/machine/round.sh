# shellcheck shell=bash
# Sourced by job.sh, in the folder of the checkout: a benchmark with swap in compressed memory, or a whole Lodge as a service of
# this machine, and a round with real runtimes through it. The second life of the machine finds what the first one left.
kept=/var/job/round
export ROUND_URL=http://127.0.0.1:8080/v1 ROUND_DATA_DIR=/var/lib/lodge ROUND_ACCELERATOR=kvm ROUND_FILE=$kept/agents
# shellcheck disable=SC2016 # ROUND_KILL is a command of its own
export ROUND_KILL='kill -9 "$(systemctl show -p MainPID --value lodge)"'

# A newcomer's Debian has Node and npm, and this one has not. Set-up runs npm, and only checks for Node.
prepare() {
  mkdir -p "$kept"
  ln -sf /opt/lodge/node_modules/.bin/node /usr/local/bin/node
  printf '#!/bin/sh\necho "this machine has no npm" >&2\nexit 1\n' > /usr/local/bin/npm
  chmod +x /usr/local/bin/npm
  # Before services, also after a reboot.
  echo 'checkout /opt/lodge overlay lowerdir=/job/lodge,upperdir=/var/job/upper,workdir=/var/job/work,x-systemd.requires-mounts-for=/job 0 0' >> /etc/fstab
  umask 077
  cat > /etc/lodge.env << 'END'
LODGE_PROVIDERS=[{"id":"stub","name":"Stub","base_url":"http://127.0.0.1:4010/v1"}]
LODGE_DEFAULT_MODEL=stub/any
LODGE_ACCELERATOR=kvm
END
  umask 022
}

# Hermes' template alone, by a Lodge that offers nothing else. The service makes that of OpenClaw beside the round.
make_first_template() {
  local output=/var/job/first-lodge pid
  set -a
  # shellcheck disable=SC1091 # it was written above
  . <(sed "s/=\(.*\)/='\1'/" /etc/lodge.env)
  set +a
  : > "$output"
  CONFORMANCE_RUNTIMES=hermes node_modules/.bin/node packages/runtimes/conformance/lodge.ts >> "$output" 2>&1 < /dev/null &
  pid=$!
  tail -n +1 -f --pid=$pid "$output" | sed -u 's/lodge_live_[0-9A-Za-z]*/(a key)/' &
  until grep -q 'Template  *hermes ready' "$output"; do
    kill -0 $pid || return 1
    sleep 2
  done
  kill -TERM $pid
  wait $pid
  grep -o 'lodge_live_[0-9A-Za-z]*' "$output" | head -1 > $kept/key
}

say_what_lodge_says() {
  journalctl -u lodge -f -o cat --since now | sed -u 's/lodge_live_[0-9A-Za-z]*/(a key)/;s/^/      lodge: /' &
}

play() {
  ROUND_KEY=$(cat $kept/key) node_modules/.bin/node scripts/kvm/round/round.ts "$@" < /dev/null
}

if [ -e /job/benchmark ]; then
  step "setting up"
  prepare
  bash scripts/setup.sh || end 1
  modprobe zram && echo zstd > /sys/block/zram0/comp_algorithm && echo 8G > /sys/block/zram0/disksize || end 1
  mkswap -q /dev/zram0 && swapon /dev/zram0 || end 1
  step "$(tr '\n' ' ' < /job/benchmark)"
  mapfile -t words < /job/benchmark
  node_modules/.bin/node "${words[@]}" < /dev/null
  end $?
fi
if [ ! -e $kept/agents ]; then
  step "setting up"
  prepare
  bash scripts/setup.sh || end 1
  step "the template of Hermes"
  make_first_template || end 1
  step "Lodge as a service"
  bash scripts/lodge.sh install || end 1
  say_what_lodge_says
  systemctl start lodge || end 1
  step "a round beside the template of OpenClaw, $(cat /job/round) lives"
  play first "$(cat /job/round)" || end 1
  step "the machine is turned off, and on again"
  echo "@again"
  exit 0
fi
step "the machine was turned off and on"
say_what_lodge_says
play again || end 1
journalctl -u lodge -o cat --grep '"agent running"' -n 1 || { echo "the journal has no line of the control plane" && end 1; }
step "OpenClaw's template"
journalctl -u lodge -o cat | grep -a '"template' | tail -3
end 0
