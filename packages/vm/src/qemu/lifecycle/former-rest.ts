/**
 * Makes what releases before saved machines left of agents at rest saved machines, once at start:
 *
 *   <vms>/<agent>/snapshot    of a stop, beside the disk
 *   <vms>/<agent>.aside       the same, of an agent whose upgrade was under way, with the guest's data
 *
 * Nothing is copied: the files get one more name. A kill leaves the former folder, and the next start makes it anew.
 */
import { link, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { restOf } from '@lodge/ports';
import type { Log } from '@lodge/ports';
import { exists, syncFile } from '../host/files.ts';
import { isAlive } from '../host/process.ts';
import { formerSnapshotName, readFormerSnapshot } from '../saved/former-snapshot.ts';
import { freezeLayer, namedChain } from '../saved/layers.ts';
import type { SavedStore } from '../saved/machine/saved-store.ts';
import { isAgentId, RunDirectory } from '../saved/run-directory.ts';
import type { VmRecord } from '../saved/run-directory.ts';

const asideSuffix = '.aside';

export interface FormerPlaces {
  readonly vmsRoot: string;
  readonly store: SavedStore;
  /** Ends the VM of that folder, and leaves nothing of it. */
  readonly takeAway: (directory: RunDirectory) => Promise<unknown>;
  readonly log: Log;
}

export async function takeFormerRests({ vmsRoot, store, takeAway, log }: FormerPlaces): Promise<void> {
  for (const name of await readdir(vmsRoot)) {
    const isAside = name.endsWith(asideSuffix);
    const agentId = isAside ? name.slice(0, -asideSuffix.length) : name;
    if (!isAgentId(agentId)) continue;
    const directory = new RunDirectory(vmsRoot, agentId, name);
    if (!isAside && !(await exists(join(directory.path, formerSnapshotName)))) continue;
    const record = await directory.read();
    const isRest = record !== null && (isAside || isAtRest(record));
    const isTaken = isRest && ((await store.rest(agentId)) !== null || (await take(store, directory, record)));
    if (isTaken) log.info({ agent_id: agentId }, 'a stop of an earlier release is a saved machine now');
    // Its disk stays, and is what is left of it.
    else log.warn({ agent_id: agentId }, 'a snapshot of an earlier release does not belong to its disk any more');
    if (isTaken && !isAside) await takeAway(directory);
    else if (isAside) await directory.remove();
    else await leaveDisk(directory, record);
  }
}

/** Whether its VM was written to rest: one that still runs has gone on, or will. */
function isAtRest({ phase, from, process }: VmRecord): boolean {
  if (phase === 'running') return process === null || !isAlive(process);
  return phase === 'suspended' || (phase === 'creating' && from === 'snapshot');
}

async function take(store: SavedStore, directory: RunDirectory, record: VmRecord): Promise<boolean> {
  const snapshot = await readFormerSnapshot(directory.path, directory.disk);
  if (snapshot === null) return false;
  const { agentId, executionId } = record;
  const { templateId, machine, facts, about, pages, devicesPath, pagesPath, dataPath } = snapshot;
  const id = restOf(agentId);
  const draft = await store.draft(id, null);
  const { layers } = await namedChain(directory.disk);
  await freezeLayer(layers[0]!);
  await link(devicesPath, draft.devicesPath);
  await link(pagesPath, draft.pagesPath);
  if (dataPath !== null) await link(dataPath, draft.dataPath);
  const memory = { pages, about, folder: directory.path };
  await store.commit(draft, { id, agentId, executionId, templateId, machine, facts, layers, memory, isFormer: true });
  return true;
}

async function leaveDisk(directory: RunDirectory, record: VmRecord | null): Promise<void> {
  await rm(join(directory.path, formerSnapshotName), { recursive: true, force: true });
  if (record?.phase === 'suspended') await directory.write({ ...record, phase: 'disk' });
  await syncFile(directory.path);
}
