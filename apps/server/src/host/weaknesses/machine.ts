/** What of the machine itself stands between an agent and everything else. */
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { note, ok, warn } from '../finding.ts';
import { fileOf, hasSeveralPeople } from './check.ts';
import type { Check } from './check.ts';

/** Connections that the firewall lets one guest have (packages/vm/src/qemu/network/namespace-rules.ts). */
const connectionsOfGuest = 4_096;
/** For the API, the broker and everything else of the host. */
const connectionsOfHost = 16_384;

const kvm: Check = {
  name: 'KVM',
  async look({ root }, name) {
    const isThere = await access(join(root, '/dev/kvm')).then(
      () => true,
      () => false,
    );
    if (isThere) return ok(name, '/dev/kvm is there');
    const detail =
      'there is no /dev/kvm: agents run under emulation, which QEMU itself does not count as a wall against hostile guests';
    return warn(name, detail, 'use a machine with KVM for agents that you do not trust');
  },
};

const groups = '/sys/fs/cgroup';

/** A check of whether the kernel offers a controller; `what` is how agents are then not bound. */
const controller = (kind: 'memory' | 'cpu', what: string): Check => ({
  name: `${kind} controller`,
  async look(facts, name) {
    const unified = await fileOf(facts, `${groups}/cgroup.controllers`);
    const isThere =
      unified === null
        ? (await fileOf(facts, `${groups}/${kind}/cgroup.procs`)) !== null
        : unified.split(/\s+/).includes(kind);
    if (isThere) return ok(name, 'the kernel bounds each agent');
    return warn(name, `the kernel has none: ${what}`, `mount the ${kind} controller at ${groups}`);
  },
});

const cgroupVersion: Check = {
  name: 'control groups',
  async look(facts, name) {
    if ((await fileOf(facts, `${groups}/cgroup.controllers`)) !== null) return ok(name, 'version 2');
    const detail = 'version 1, which has no bounds of its own on reads and writes of the disk';
    return warn(name, detail, 'boot with systemd.unified_cgroup_hierarchy=1');
  },
};

const qemu: Check = {
  name: 'QEMU',
  look(facts, name) {
    const { emulator, people } = facts;
    if (emulator === null) return note(name, 'not installed', 'npm start installs it');
    if (emulator.mapsReadOnly) return ok(name, emulator.version);
    const detail = `${emulator.version} is older than 8.2: whoever breaks out of one virtual machine can write into the memory of the others`;
    const advice = 'install QEMU 8.2 or newer: Debian 13 has it, Debian 12 in bookworm-backports';
    if (hasSeveralPeople(facts)) return warn(name, `${detail}, and several people share this host`, advice);
    return note(name, people === null ? `${detail}; how many people share this host was not seen` : detail, advice);
  },
};

const swap: Check = {
  name: 'swap',
  async look(facts, name) {
    const [, ...lines] = ((await fileOf(facts, '/proc/swaps')) ?? '').trim().split('\n');
    const devices = lines.map((line) => line.split(/\s+/)[0]!);
    const onDisk = devices.filter((device) => !/^\/dev\/zram\d+$/.test(device));
    if (onDisk.length === 0) return ok(name, devices.length === 0 ? 'none' : 'in compressed memory alone');
    const detail = `${onDisk.join(', ')}: memory of agents and keys of the service can end up on the disk, and agents slow one another down`;
    return warn(name, detail, 'swapoff -a and remove it from /etc/fstab, or encrypt it');
  },
};

const clock: Check = {
  name: 'clock',
  look({ clockIsSet }, name) {
    if (clockIsSet === true) return ok(name, 'kept by a time service');
    if (clockIsSet === null) return note(name, 'could not be seen: no timedatectl answers here');
    const detail = 'no time service keeps it: codes of second factors, spend limits and certificates go by it';
    return warn(name, detail, 'install and start chrony or systemd-timesyncd');
  },
};

const connectionTable: Check = {
  name: 'connection table',
  async look(facts, name) {
    const text = await fileOf(facts, '/proc/sys/net/netfilter/nf_conntrack_max');
    if (text === null) return note(name, 'not loaded yet: the first agent loads it');
    const [max, agents] = [Number(text), facts.config.maxRunning];
    const needed = agents * connectionsOfGuest + connectionsOfHost;
    if (max >= needed) return ok(name, `${max} connections`);
    const detail = `${max} connections: ${agents} busy agents, which one account may run, can fill it, and then nobody connects`;
    return warn(name, detail, `sysctl -w net.netfilter.nf_conntrack_max=${needed}, and write it into /etc/sysctl.d`);
  },
};

export const machineChecks: readonly Check[] = [
  kvm,
  controller('memory', 'an agent can take more memory than its size'),
  controller('cpu', 'an agent can take more processors than its size'),
  cgroupVersion,
  qemu,
  swap,
  clock,
  connectionTable,
];
