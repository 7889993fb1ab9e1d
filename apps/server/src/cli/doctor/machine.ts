/** The machine itself: system, memory, disk, control groups, user ids, and the programs that Lodge calls. */
import { execFile } from 'node:child_process';
import { access, constants, readFile, stat, statfs } from 'node:fs/promises';
import { availableParallelism, release } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { defaultSize, memoryShortage, sizes } from '@lodge/domain';
import { hostTools } from '@lodge/images';
import { hasGuestsHere } from '@lodge/ports';
import { hostMemory, memoryOfSwapped, swapAreas } from '@lodge/vm';
import type { Config } from '../../config/config.ts';
import { nearest } from '../../host/files.ts';
import { version } from '../../version.ts';
import { fail, found, note, ok } from '../../host/finding.ts';
import type { Finding, Section } from '../../host/finding.ts';
import { findUser } from '../../machine-host/control-user.ts';

const run = promisify(execFile);
const gib = 2 ** 30;
/** Image, template and a few agents' disks (docs/guides/operating.md). */
const cacheNeedsBytes = 6 * gib;
const dataNeedsBytes = 4 * gib;
/** User ids that a Lodge's VMs may have: one for each /30 of a /16. */
const vmUids = 2 ** 14;

export async function machineSection(config: Config): Promise<Section> {
  return {
    title: 'Machine',
    findings: await Promise.all([
      found('system', system),
      found('Lodge', () => ok('Lodge', `${version} on Node ${process.versions.node}`)),
      found('memory', () => memory(config)),
      found('paused agents', () => pausedAgents(config)),
      found('data folder', () => disk('data folder', config.dataDir, dataNeedsBytes)),
      found('cache folder', () => disk('cache folder', config.cacheDir, cacheNeedsBytes)),
      found('templates', () => templates(config)),
      found('user ids', () => userIds(config.vmUidBase)),
      found('users', () => users(config)),
      found('stopped agents', stoppedAgents),
    ]),
  };
}

async function system(): Promise<Finding> {
  const text = await readFile('/etc/os-release', 'utf8').catch(() => '');
  const name = /^PRETTY_NAME="?(.*?)"?$/m.exec(text)?.[1] ?? 'unknown distribution';
  const detail = `${name}, Linux ${release()}, ${process.arch}, ${availableParallelism()} processors`;
  if (!hasGuestsHere)
    return fail('system', detail, 'use a machine with x86_64 or aarch64: there are no guests for others');
  return ok('system', detail);
}

async function memory({ memoryReservedMib: reservedMib, memoryOvercommit: overcommit }: Config): Promise<Finding> {
  const host = { ...(await hostMemory()), reservedMib, overcommit };
  const detail = `${gibText(host.totalMib)} in all, ${gibText(host.availableMib)} free`;
  if (memoryShortage(host, [], defaultSize) !== null) {
    return fail(
      'memory',
      `${detail}: too little for one ${defaultSize} agent`,
      'free some, add some, or lower LODGE_MEMORY_RESERVED_MIB',
    );
  }
  const promisable = Math.floor(((host.totalMib - reservedMib) * overcommit) / sizes[defaultSize].memoryMib);
  return ok('memory', `${detail}; up to ${promisable} ${defaultSize} agents may be promised memory`);
}

/** Paused agents hold most of a host's memory, and little of it once their pages are compressed (ADR 83). */
export async function pausedAgents(
  { pageOutAfterMinutes: minutes, zramMib }: Pick<Config, 'pageOutAfterMinutes' | 'zramMib'>,
  root = '/',
): Promise<Finding> {
  const name = 'paused agents';
  const areas = await swapAreas(root);
  if (areas.length === 0) {
    const detail = 'keep all their memory: this host has no swap';
    if (zramMib > 0)
      return note(name, detail, `npm start sets up ${gibText(zramMib)} of zram; its log says why if not`);
    return note(
      name,
      detail,
      'set LODGE_ZRAM_MIB to half of the memory, and they take less (docs/guides/operating.md)',
    );
  }
  const [total, used] = [areas.map(({ totalKib }) => totalKib), areas.map(({ usedKib }) => usedKib)].map(
    (kib) => kib.reduce((sum, each) => sum + each, 0) / 1024,
  ) as [number, number];
  const places = areas.map(({ path }) => path).join(', ');
  const taken = used === 0 ? '' : `, for which memory of ${gibText(used * (await memoryOfSwapped(root)))} is taken`;
  const swap = `${places}, ${gibText(total)}, ${gibText(used)} used${taken}`;
  if (minutes === 0) return ok(name, `keep their memory until it runs short; swap: ${swap}`);
  return ok(name, `go to swap after ${minutes} ${minutes === 1 ? 'minute' : 'minutes'}: ${swap}`);
}

function gibText(mib: number): string {
  return `${(mib / 1024).toFixed(1)} GiB`;
}

async function disk(name: string, path: string, needsBytes: number): Promise<Finding> {
  const { bavail, bsize, files, ffree } = await nearest(path, (there) => statfs(there));
  const free = bavail * bsize;
  const detail = `${path}, ${(free / gib).toFixed(1)} GiB free`;
  if (files > 0 && ffree < 10_000)
    return fail(name, `${path} has only ${ffree} inodes left`, 'remove files there or use another folder');
  if (free < needsBytes) {
    return fail(
      name,
      detail,
      `make at least ${needsBytes / gib} GiB free there, or set another folder (docs/reference/configuration.md)`,
    );
  }
  return ok(name, detail);
}

/** Agents need templates only in the data folder: links into the cache, or copies if that is on another disk. */
export async function templates({ dataDir, cacheDir }: Pick<Config, 'dataDir' | 'cacheDir'>): Promise<Finding> {
  const [data, cache] = await Promise.all([dataDir, cacheDir].map((path) => nearest(path, stat)));
  if (data!.dev === cache!.dev) return ok('templates', 'data folder and cache share them');
  return note(
    'templates',
    'data folder and cache are on two file systems: the data folder has a copy of each template in use',
    'plan 3 GiB there for each, or put both folders on one file system',
  );
}

/**
 * A start from a snapshot writes pages into the emulator's memory (ADR 0016). Level 3 forbids that even root, until a
 * reboot.
 */
async function stoppedAgents(): Promise<Finding> {
  const level = await readFile('/proc/sys/kernel/yama/ptrace_scope', 'utf8').catch(() => '0');
  if (level.trim() !== '3') return ok('stopped agents', 'come back with their memory');
  return fail(
    'stopped agents',
    'kernel.yama.ptrace_scope is 3: they come back from their disk alone, slowly',
    'set kernel.yama.ptrace_scope=1 in /etc/sysctl.d and reboot',
  );
}

/** In a container, a process can switch only to mapped ids. */
async function userIds(base: number): Promise<Finding> {
  const lines = (await readFile('/proc/self/uid_map', 'utf8')).trim().split('\n');
  const mapped = lines.some((line) => {
    const [first, , count] = line.trim().split(/\s+/).map(Number);
    return first! <= base && base + vmUids <= first! + count!;
  });
  if (mapped) return ok('user ids', `VMs run as ${base} to ${base + vmUids - 1}`);
  return fail(
    'user ids',
    `${base} to ${base + vmUids - 1} do not exist here, a container maps other ids`,
    'set LODGE_VM_UID_BASE to the first of 16384 ids that do',
  );
}

/** The database, the control plane and the relays have one user each. */
async function users({ systemUser, controlUser, relayUser }: Config): Promise<Finding> {
  const names = [systemUser, controlUser, relayUser];
  const there = await Promise.all(names.map((name) => findUser(name)));
  const missing = names.filter((_, index) => there[index] === null);
  if (missing.length === 0)
    return ok('users', `${systemUser} for the database, ${controlUser} for the control plane, ${relayUser} for relays`);
  const make = 'useradd --system --user-group --no-create-home --shell /usr/sbin/nologin';
  const advice = `npm start makes them, or: ${missing.map((name) => `${make} ${name}`).join(' && ')}`;
  return fail('users', `missing: ${missing.join(', ')}`, advice);
}

/** Programs whose version matters, and the package of each. */
const versioned: readonly (readonly [command: string, flag: string, debianPackage: string])[] = [
  process.arch === 'arm64'
    ? ['qemu-system-aarch64', '--version', 'qemu-system-arm']
    : ['qemu-system-x86_64', '--version', 'qemu-system-x86'],
  ['nft', '--version', 'nftables'],
  ['ip', '-V', 'iproute2'],
  ['mmdebstrap', '--version', 'mmdebstrap'],
];
const others: Readonly<Record<string, string>> = {
  ...hostTools,
  nsenter: 'util-linux',
  prlimit: 'util-linux',
  npm: 'npm',
};

export async function programsSection(): Promise<Section> {
  const findings = versioned.map(([command, flag, debianPackage]) =>
    found(command, async () => {
      if (!(await onPath(command))) return fail(command, 'not installed', `apt-get install ${debianPackage}`);
      const { stdout, stderr } = await run(command, [flag], { timeout: 10_000 });
      return ok(command, (stdout || stderr).split('\n')[0]!.trim());
    }),
  );
  return { title: 'Programs', findings: [...(await Promise.all(findings)), await found('others', otherPrograms)] };
}

async function otherPrograms(): Promise<Finding> {
  const missing = [];
  for (const command of Object.keys(others)) if (!(await onPath(command))) missing.push(command);
  if (missing.length === 0) return ok('others', Object.keys(others).join(', '));
  const packages = new Set(missing.map((command) => others[command]));
  return fail('others', `not installed: ${missing.join(', ')}`, `apt-get install ${[...packages].join(' ')}`);
}

async function onPath(command: string): Promise<boolean> {
  for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
    const there = await access(join(folder, command), constants.X_OK).then(
      () => true,
      () => false,
    );
    if (there) return true;
  }
  return false;
}
