/**
 * Files of agents' VMs, for a backup beside a running driver. It changes nothing and asks nobody:
 *
 *   at rest   the disk of the saved machine, whose files get one more name meanwhile; its memory goes with the saved machines
 *   ended     disk and record as they lie; checked before and after, and read again when something has moved
 *   running   the guest writes out its cache, the VM stands still (`freeze.ts`), the top of the disk is copied, and the layers
 *             beneath, which nobody writes, get one more name; its memory is not taken
 *
 * The top has the name `disk.qcow2` wherever the files go, whatever its folder calls it.
 *
 * The record that goes with them says `disk`, and names no slot and no process: elsewhere there are none.
 */
import { execFile } from 'node:child_process';
import { link, mkdir, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { wasThere } from '@lodge/domain';
import { restedAgent, restOf, VmError } from '@lodge/ports';
import { entries } from '../host/files.ts';
import { isAlive } from '../host/process.ts';
import type { ProcessMark } from '../host/process.ts';
import { HostPace } from '../../pace.ts';
import { guestOf } from '../lifecycle/vm-guest.ts';
import { journalName } from '../saved/backing.ts';
import { chainOf, diskName, nextOf, topOf } from '../saved/layers.ts';
import { readManifest } from '../saved/machine/manifest.ts';
import { isAgentId, RunDirectory } from '../saved/run-directory.ts';
import type { VmRecord } from '../saved/run-directory.ts';
import { maxFreezeMs, whileFrozen } from './freeze.ts';
import { savedIds } from './saved-files.ts';

const run = promisify(execFile);
const syncTimeoutMs = 10_000;
/** Time for a running stop, start or upgrade to end. */
const settleTimeoutMs = 120_000;
const settleEveryMs = 500;
/** A VM that is started or stopped each time while it is read is not at rest. */
const maxTakes = 5;

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

/** Agents that have a VM, or one at rest. */
export async function agentsHere(dataDir: string): Promise<string[]> {
  const there = (await entries(join(dataDir, 'vms'))).filter(isAgentId);
  const atRest = (await savedIds(dataDir)).flatMap((id) => restedAgent(id) ?? []);
  return [...new Set([...there, ...atRest])].toSorted();
}

/**
 * Passes the files of one agent to `take`, which must have read them when it resolves. It may be called again when they
 * changed meanwhile; the last call counts. Returns null when there is no disk. `staging` is a folder on the data folder's
 * file system. Rejects with `timeout` when the VM does not come to rest.
 */
export async function withAgentFiles<T>(
  { dataDir, staging }: { readonly dataDir: string; readonly staging: string },
  agentId: string,
  take: (files: AgentFiles) => Promise<T>,
): Promise<T | null> {
  const directory = new RunDirectory(join(dataDir, 'vms'), agentId);
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
      const files = record === null ? await filesAtRest(dataDir, staging, agentId) : null;
      try {
        if (files !== null) return await take(files);
      } finally {
        await rm(join(staging, agentId), { recursive: true, force: true });
      }
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
  const copies = join(staging, basename(directory.path));
  try {
    const { unsynced, frozenMs, names } = await copyDisk(directory, record, process, copies);
    const files = names.map((file) => ({ name: `${basename(directory.path)}/${file}`, path: join(copies, file) }));
    return await take({ ...about(directory, record), files, frozenMs, unsynced });
  } catch (error) {
    if (error instanceof VmError && error.code === 'gone') return again;
    throw error;
  } finally {
    await rm(copies, { recursive: true, force: true });
  }
}

/** Null when the agent has no machine at rest, or that is about to become a VM. */
async function filesAtRest(dataDir: string, staging: string, agentId: string): Promise<AgentFiles | null> {
  const folder = join(dataDir, 'saved', restOf(agentId));
  const copies = join(staging, agentId);
  const manifest = await readManifest(folder).catch(() => null);
  if (manifest === null) return null;
  await rm(copies, { recursive: true, force: true });
  await mkdir(copies, { recursive: true, mode: 0o700 });
  const names = manifest.layers.map(({ name }) => name);
  const linked = await Promise.all(names.map((name) => wasThere(link(join(folder, name), join(copies, name)))));
  if (!linked.every(Boolean)) return null;
  const { executionId, templateId, machine } = manifest;
  const record: VmRecord = {
    version: 1,
    agentId,
    executionId,
    phase: 'disk',
    from: 'boot',
    base: 'none',
    machine,
    facts: null,
    templateId,
    slot: null,
    address: null,
    process: null,
  };
  const [top, ...layers] = names;
  const files = [
    { name: `${agentId}/${diskName}`, path: join(copies, top!) },
    ...layers.map((name) => ({ name: `${agentId}/${name}`, path: join(copies, name) })),
  ];
  const text = `${JSON.stringify(record)}\n`;
  return { agentId, templateId, files, record: { name: `${agentId}/vm.json`, text }, frozenMs: null, unsynced: null };
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
  // The disk's time of writing before it was put over another path, which a kill leaves behind (`backing.ts`).
  const others = (await entries(directory.path)).filter((file) => file === journalName);
  const chain = await chainOf(directory.disk);
  if (chain === null) return again;
  const layers = chain.layers.slice(1).map((layer) => basename(layer));
  const lying = [...layers, ...others];
  const files = [
    { name: `${name}/${diskName}`, path: await topOf(directory.disk) },
    ...lying.map((file) => ({ name: `${name}/${file}`, path: join(directory.path, file) })),
  ];
  const unread = Symbol('unread');
  const taken = await take({ ...about(directory, record), files, frozenMs: null, unsynced: null }).catch(
    (error: unknown): typeof unread => {
      // The VM was started or deleted during the read.
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return unread;
      throw error;
    },
  );
  return taken === unread || (await stateOf(directory)) !== before ? again : taken;
}

function about(directory: RunDirectory, record: VmRecord) {
  const kept: VmRecord = { ...record, phase: 'disk', slot: null, address: null, process: null };
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
  return JSON.stringify([String(disk.size), String(disk.mtimeNs), record]);
}
