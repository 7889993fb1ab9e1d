/**
 * The part of an export that reads a snapshot. Its machine is opened as for one of its files: without a network, its processes
 * frozen. Its folders are read into a file on the host, and the machine is let go, so that no slow client keeps it. The agent
 * itself goes on, in whatever status it is.
 */
import { Refusal, sizes } from '@lodge/domain';
import type { ActorNote, ScratchFile } from '@lodge/ports';
import type { AgentRow } from '@lodge/store/agents';
import { appendEvent, writeNote } from '@lodge/store/events';
import type { SnapshotRow } from '@lodge/store/snapshots';
import { targetOf } from '../restore.ts';
import type { PortableDeps } from './deps.ts';
import { writeFolders } from './write-folders.ts';
import type { GuestFolders } from './write-folders.ts';

export interface Place {
  readonly accountId: string;
  readonly agentId: string;
}

export interface SnapshotReading {
  readonly snapshot: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly note?: ActorNote;
}

/** Longest reading of the folders of one machine. */
const readMs = 20 * 60_000;
const retrySeconds = 10;
const mib = 2 ** 20;

/**
 * Returns the agent with the settings of today, and the runtime and the disk of then. Refuses with `agent_not_found`,
 * `snapshot_not_found`, `snapshot_not_ready`, `snapshot_damaged`, `insufficient_capacity` or `agent_unavailable`.
 */
export async function readSnapshot(
  deps: PortableDeps,
  { accountId, agentId }: Place,
  scratch: ScratchFile,
  { snapshot, timeoutMs, signal, note }: SnapshotReading,
): Promise<AgentRow> {
  const agent = await deps.agents.get(accountId, agentId);
  const begunAt = performance.now();
  const found = await deps.database.transaction(async (trx) => {
    const target = await targetOf(trx, agent, snapshot);
    const event = { type: 'agent.export_requested', data: { snapshot_id: target.id } } as const;
    await writeNote(trx, { accountId, agentId }, event, note);
    return target;
  });
  if (!deps.exports.add(found.id, { scratch, signal, end: () => undefined })) {
    throw new Refusal('snapshot_not_ready', 'The snapshot is being exported already. Try again shortly.', {
      retryAfterSeconds: retrySeconds,
    });
  }
  try {
    const { guest, release } = await deps.opened.use(found, timeoutMs, signal);
    const { data } = deps.runtimes.get(agent.runtimeKind)!;
    const diskGib = Math.max(agent.machine?.diskGib ?? 0, sizes[found.size].diskGib);
    await readFolders(deps, { row: found, guest, data, diskGib, scratch }, signal).finally(release);
  } finally {
    deps.exports.remove(found.id);
  }
  const data = { snapshot_id: found.id, duration_ms: Math.round(performance.now() - begunAt) };
  await deps.database.transaction((trx) =>
    appendEvent(trx, { type: 'agent.exported', data, accountId, agentId, by: null }),
  );
  return asOf(agent, found);
}

/** An import makes a disk of the agent's size, and takes no export of a newer runtime: both are those of the files. */
function asOf(agent: AgentRow, { size, runtimeVersion }: SnapshotRow): AgentRow {
  const isLarger = sizes[size].diskGib > sizes[agent.size].diskGib;
  return { ...agent, runtimeVersion, ...(isLarger && { size }) };
}

interface Reading extends GuestFolders {
  readonly row: SnapshotRow;
  readonly scratch: ScratchFile;
}

async function readFolders(
  { disk, parts, log }: PortableDeps,
  { row, scratch, ...folders }: Reading,
  signal: AbortSignal,
): Promise<void> {
  const giveRoomBack = await disk.holdRoom(Math.ceil(Number(row.diskBytes) / mib));
  if (giveRoomBack === null) {
    throw new Refusal('insufficient_capacity', 'The snapshot was not exported: The host has no room for it.');
  }
  try {
    const bound = AbortSignal.any([signal, AbortSignal.timeout(readMs)]);
    await writeFolders(parts, folders, scratch, bound);
  } catch (error) {
    signal.throwIfAborted();
    log.warn({ err: error, snapshot_id: row.id }, 'folders of a snapshot not read for an export');
    throw new Refusal('agent_unavailable', 'The snapshot was not exported: its files could not be read.', {
      cause: error,
      retryAfterSeconds: retrySeconds,
    });
  } finally {
    giveRoomBack();
  }
}
