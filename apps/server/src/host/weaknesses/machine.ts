/** The machine's own barriers between an agent and everything else. */
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isZram, missingControllers, swapAreas } from '@lodge/vm';
import { exists } from '../files.ts';
import { missingBounds } from '../../machine-host/control-group.ts';
import { note, ok, warn } from '../finding.ts';
import { fileOf, hasSeveralPeople } from './check.ts';
import type { Check } from './check.ts';

const kvm: Check = {
  name: 'KVM',
  async look({ config, root, accelerator }, name) {
    if (accelerator === 'kvm') return ok(name, 'agents run on it');
    if (accelerator === null) return note(name, 'not tried yet: the first start does');
    const isThere = await exists(join(root, '/dev/kvm'));
    const why =
      config.accelerator === 'tcg'
        ? 'LODGE_ACCELERATOR is tcg'
        : `there is ${isThere ? 'a /dev/kvm on which no guest boots' : 'no /dev/kvm'}`;
    const detail = `${why}: agents run under emulation, which QEMU itself does not count as a wall against hostile guests`;
    return warn(name, detail, 'use a machine with KVM for agents that you do not trust');
  },
};

/** The kernel's own judgement: `Vulnerable`, or `SMT vulnerable` beside a mitigation. */
const processor: Check = {
  name: 'processor',
  async look({ root, accelerator }, name) {
    if (accelerator === 'tcg') return ok(name, 'emulated');
    const folder = join(root, '/sys/devices/system/cpu/vulnerabilities');
    const flaws = (await readdir(folder).catch(() => [])).toSorted((a, b) => a.localeCompare(b));
    const states = await Promise.all(flaws.map((flaw) => readFile(join(folder, flaw), 'utf8').catch(() => '')));
    const open = flaws.filter((_, index) => /\bvulnerable\b/i.test(states[index]!));
    if (open.length === 0) return ok(name, 'the kernel names no open flaw');
    const detail = `the kernel does not fully mitigate ${open.join(', ')}: an agent may read memory of the host and of other agents`;
    return warn(name, detail, 'update kernel and microcode, and switch SMT off where the kernel names it');
  },
};

const groups = '/sys/fs/cgroup';

/** Checks whether the kernel offers a controller; `what` says which bound is missing without it. */
const controller = (kind: 'memory' | 'cpu', what: string): Check => ({
  name: `${kind} controller`,
  async look({ root }, name) {
    const missing = await missingControllers(join(root, groups));
    if (missing.every((lack) => lack.controller !== kind)) return ok(name, 'the kernel bounds each agent');
    return warn(name, `the kernel has none: ${what}`, `mount the ${kind} controller at ${groups}`);
  },
});

/** The weakness of its memory is reported with that of agents. */
const controlPlane: Check = {
  name: 'pids controller',
  async look({ root }, name) {
    const missing = await missingBounds(join(root, groups));
    if (!missing.includes('number of processes')) return ok(name, 'the kernel bounds what the control plane starts');
    const detail = 'the kernel has none: a control plane that was taken over can start processes without end';
    return warn(name, detail, `mount the pids controller at ${groups}`);
  },
};

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
  async look({ root }, name) {
    const areas = await swapAreas(root);
    const onDisk = areas.filter((area) => !isZram(area)).map(({ path }) => path);
    if (areas.length === 0) return ok(name, 'none; with zram the memory of paused agents could be compressed');
    if (onDisk.length === 0) return ok(name, 'in compressed memory alone');
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

export const machineChecks: readonly Check[] = [
  kvm,
  processor,
  controller('memory', 'an agent can take more memory than its size'),
  controller('cpu', 'an agent can take more processors than its size'),
  controlPlane,
  cgroupVersion,
  qemu,
  swap,
  clock,
];
