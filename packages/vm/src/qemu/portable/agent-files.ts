/**
 * Files of agents' VMs, for a backup beside a running driver. It changes nothing and asks nobody:
 *
 *   at rest   disk, snapshot and record as they lie; checked before and after, and read again when something has moved
 *   running   the guest writes out its cache, the VM stands still (`freeze.ts`), the top of the disk is copied, and the layers
 *             beneath, which nobody writes, get one more name; its memory is not taken
 *
 * The top has the name `disk.qcow2` wherever the files go, whatever its folder calls it.
 *
 * The record that goes with them says `disk` or `suspended`, and names no slot and no process: elsewhere there are none.
 */
import { execFile } from 'node:child_process';
import { link, mkdir, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { VmError } from '@lodge/ports';
import { entries } from '../host/files.ts';
import { isAlive } from '../host/process.ts';
import type { ProcessMark } from '../host/process.ts';
import { HostPace } from '../../pace.ts';
import { guestOf } from '../lifecycle/vm-guest.ts';
import { journalName } from '../saved/backing.ts';
import { chainOf, diskName, nextOf, topOf } from '../saved/layers.ts';
import { wholeName, wholeSumsName } from '../saved/machine/whole.ts';
import { isAgentId, RunDirectory } from '../saved/run-directory.ts';
import type { VmRecord } from '../saved/run-directory.ts';
import { maxFreezeMs, whileFrozen } from './freeze.ts';

const run = promisify(execFile);
const syncTimeoutMs = 10_000;
/** Time for a running stop, start or upgrade to end. */
const settleTimeoutMs = 120_000;
const settleEveryMs = 500;
/** A VM that is started or stopped each time while it is read is not at rest. */
const maxTakes = 5;
const aside = '.aside';

export interface AgentFiles {
  readonly agentId: string;
  readonly templateId: string;
  /** Relative to the folder of VMs, with where it lies now. */
  readonly files: readonly { readonly name: string; readonly path: string }[];
  /** The record as JSON, and its name, which is relative to the folder of VMs. */
  readonly record: { readonly name: string; readonly text: string };
  /** Null if no VM stood still. */
  readonly frozenMs: number | null;
  /** Why the guest did not write out its cache. Data that it knows to be on the disk is there all the same. */
  readonly unsynced: string | null;
}

/** Names in the folder of VMs that hold a VM: those of agents, and backups of upgrades. */
export async function agentFolders(dataDir: string): Promise<string[]> {
  return (await entries(join(dataDir, 'vms'))).filter((name) => isAgentId(agentIdOf(name))).toSorted();
}

/**
 * Passes the files of one folder to `take`, which must have read them when it resolves. It may be called again when they
 * changed meanwhile; the last call counts. Returns null when there is no disk. `staging` is a folder on the data folder's
 * file system. Rejects with `timeout` when the VM does not come to rest.
 */
export async function withAgentFiles<T>(
  { dataDir, staging }: { readonly dataDir: string; readonly staging: string },
  name: string,
  take: (files: AgentFiles) => Promise<T>,
): Promise<T | null> {
  const directory = new RunDirectory(join(dataDir, 'vms'), agentIdOf(name), name);
  let deadline = performance.now() + settleTimeoutMs;
  let takes = 0;
  const takeAndCount = async (files: AgentFiles): Promise<T> => {
    takes += 1;
    // Reading may have taken hours.
    return take(files).finally(() => (deadline = performance.now() + settleTimeoutMs));
  };
  for (;;) {
    const record = await directory.read();
    const disk = await stat(directory.disk).catch(() => null);
    if (!record || !disk) {
      if (!(await directory.exists()) || (record && record.phase === 'removing')) return null;
    } else {
      const taken = await attempt({ directory, record, staging }, takeAndCount);
      if (taken !== again) return taken;
    }
    if (takes === maxTakes || performance.now() > deadline) {
      if (!disk) return null;
      throw new VmError('timeout', `the machine of ${directory.agentId} was changed all the time`);
    }
    await sleep(settleEveryMs);
  }
}

const again = Symbol('again');

interface Attempt {
  readonly directory: RunDirectory;
  readonly record: VmRecord;
  readonly staging: string;
}

async function attempt<T>(work: Attempt, take: (files: AgentFiles) => Promise<T>): Promise<T | typeof again> {
  const { directory, record, staging } = work;
  const { process } = record;
  if (process === null || !isAlive(process)) return atRest(work, take);
  // The VM is being suspended, or was started from a snapshot that still exists: one of the two is about to go.
  if (await directory.snapshot.exists()) return again;
  const copies = join(staging, basename(directory.path));
  try {
    const { unsynced, frozenMs, names } = await copyDisk(directory, record, process, copies);
    const files = names.map((file) => ({ name: `${basename(directory.path)}/${file}`, path: join(copies, file) }));
    return await take({ ...about(directory, record, 'disk'), files, frozenMs, unsynced });
  } catch (error) {
    if (error instanceof VmError && error.code === 'gone') return again;
    throw error;
  } finally {
    await rm(copies, { recursive: true, force: true });
  }
}

async function copyDisk(directory: RunDirectory, record: VmRecord, process: ProcessMark, copies: string) {
  await rm(copies, { recursive: true, force: true });
  await mkdir(copies, { recursive: true, mode: 0o700 });
  const unsynced = await syncGuest(record);
  const began = performance.now();
  const names = await whileFrozen(process, async () => {
    const chain = await chainOf(directory.disk);
    // The emulator alone knows which file it writes, and does not answer now.
    if (!chain || (await nextOf(directory.disk)) !== null) throw new VmError('gone', 'the disk gets another top');
    const [top, ...layers] = chain.layers;
    // The copy shares the blocks if the file system can: then it takes no time, however large the disk is.
    const args = ['--reflink=auto', '--sparse=always', '--', top!, join(copies, diskName)];
    await run('cp', args, { timeout: maxFreezeMs });
    for (const layer of layers) await link(layer, join(copies, basename(layer)));
    return [diskName, ...layers.map((layer) => basename(layer))];
  });
  return { unsynced, frozenMs: Math.round(performance.now() - began), names };
}

/** A paused guest does not answer, and has nothing to write out: pausing did that. */
async function syncGuest(record: VmRecord): Promise<string | null> {
  if (record.address === null || record.phase !== 'running') return null;
  try {
    await guestOf(record, { pace: new HostPace() }).sync(false, { timeoutMs: syncTimeoutMs });
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

async function atRest<T>(
  { directory, record }: Attempt,
  take: (files: AgentFiles) => Promise<T>,
): Promise<T | typeof again> {
  const before = await stateOf(directory);
  if (before === null) return again;
  const name = basename(directory.path);
  const snapshot = await entries(join(directory.path, 'snapshot'));
  // The disk's time of writing before it was put over another path, which a kill leaves behind (`backing.ts`).
  const beside = new Set<string>([journalName, ...(snapshot.length > 0 ? [wholeName, wholeSumsName] : [])]);
  const others = (await entries(directory.path)).filter((file) => beside.has(file));
  const chain = await chainOf(directory.disk);
  if (chain === null) return again;
  const layers = chain.layers.slice(1).map((layer) => basename(layer));
  const lying = [...layers, ...others, ...snapshot.map((file) => `snapshot/${file}`)];
  const files = [
    { name: `${name}/${diskName}`, path: await topOf(directory.disk) },
    ...lying.map((file) => ({ name: `${name}/${file}`, path: join(directory.path, file) })),
  ];
  const phase = snapshot.length > 0 ? 'suspended' : 'disk';
  const unread = Symbol('unread');
  const taken = await take({ ...about(directory, record, phase), files, frozenMs: null, unsynced: null }).catch(
    (error: unknown): typeof unread => {
      // The VM was started or deleted during the read.
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return unread;
      throw error;
    },
  );
  return taken === unread || (await stateOf(directory)) !== before ? again : taken;
}

function about(directory: RunDirectory, record: VmRecord, phase: 'disk' | 'suspended') {
  const kept: VmRecord = { ...record, phase, slot: null, address: null, process: null };
  return {
    agentId: directory.agentId,
    templateId: record.templateId,
    record: { name: `${basename(directory.path)}/vm.json`, text: `${JSON.stringify(kept)}\n` },
  };
}

/** Changes with any start, stop or write. */
async function stateOf(directory: RunDirectory): Promise<string | null> {
  const disk = await stat(directory.disk, { bigint: true }).catch(() => null);
  const record = await directory.read();
  if (!disk || !record || (record.process !== null && isAlive(record.process))) return null;
  return JSON.stringify([String(disk.size), String(disk.mtimeNs), record, await directory.snapshot.exists()]);
}

const agentIdOf = (name: string): string => (name.endsWith(aside) ? name.slice(0, -aside.length) : name);
