/**
 * Forks: one save of an agent, then agents that begin from it, side by side. A kill between any two steps leaves this:
 *   - before the save has ended: the operation `snapshot`, which the next pass over the parent ends;
 *   - after it: a snapshot that expires within the hour, and no fork;
 *   - from the commit of the forks on: all of them, each of which starts by itself.
 */
import { Refusal, forkNames, forkSnapshotDays } from '@lodge/domain';
import type { ActorNote } from '@lodge/ports';
import { agentNames, holdCreates, insertAgent, readCommitted, selectAgent } from '@lodge/store/agents';
import type { AgentRow } from '@lodge/store/agents';
import { databaseTime } from '@lodge/store/database';
import type { Transaction } from '@lodge/store/database';
import { writeNote } from '@lodge/store/events';
import { lockLibrary } from '@lodge/store/skills';
import { writeSnapshot } from '@lodge/store/snapshots';
import type { SnapshotRow } from '@lodge/store/snapshots';
import { admitNew, hostRoom } from '../../agents/admission.ts';
import type { Room } from '../../agents/admission.ts';
import { withRoom } from '../../agents/capacity.ts';
import type { ForkInput, ForkParts } from '../../agents/agents.ts';
import type { AgentsDeps } from '../../agents/deps.ts';
import { lockOwnAgent } from '../../agents/lock.ts';
import { getAgent } from '../../agents/reading.ts';
import { dropRow } from '../ends.ts';
import { copyBelongings } from './copies.ts';
import { checkForkChange, forkRow } from './row.ts';
import type { CheckedChange } from './row.ts';
import { holdSnapshot } from './from-snapshot.ts';
import { noSnapshot, usableSnapshot } from '../usable.ts';

/** From so many forks on they share the memory of one file. */
const sharedFrom = 3;
const dayMs = 86_400_000;

/** Makes forks, which are in `provisioning` then. All of them are admitted, or none; nothing stays of a fork that is refused. */
export async function fork(
  deps: AgentsDeps,
  accountId: string,
  parentId: string,
  input: ForkInput,
  { ids, save, note }: ForkParts,
): Promise<readonly AgentRow[]> {
  const parent = await getAgent(deps, accountId, parentId);
  const named = input.snapshot === undefined ? null : await ownSnapshot(deps, parent, input.snapshot);
  if (named === null && parent.status === 'error') {
    const message = 'The agent is in error, so its memory cannot be saved: name a snapshot of it.';
    throw new Refusal('agent_not_running', message, { agentId: parentId });
  }
  const checked = await checkForkChange(deps, parent, input, { id: ids[0]!, snapshot: named ?? parent });
  const { count } = input;
  const size = input.change.size ?? parent.size;
  const admitted = <T>(work: (trx: Transaction, room: Room) => Promise<T>): Promise<T> => {
    const admission = async () => {
      const room = await hostRoom(deps);
      return deps.database.transaction((trx) => work(trx, room));
    };
    return withRoom(deps, admission);
  };
  const admit = async (trx: Transaction, room: Room): Promise<void> =>
    admitNew(await readCommitted(trx, accountId), room, { size, count }, deps);
  // A request that is refused already needs no save, which disturbs the parent.
  await admitted(admit);
  const snapshot = named ?? (await save());
  try {
    if (count >= sharedFrom && snapshot.memory && snapshot.host === deps.holder) await share(deps, snapshot);
    return await admitted(async (trx, room) => {
      await holdCreates(trx);
      await admit(trx, room);
      return insertForks(trx, deps, {
        accountId,
        parentId,
        snapshotId: snapshot.id,
        isNew: named === null,
        ids,
        input,
        checked,
        note,
      });
    });
  } catch (error) {
    if (named === null && error instanceof Refusal) {
      await deps.database.transaction((trx) => dropRow(trx, snapshot, 'request', note && { by: note.by }));
    }
    throw error;
  }
}

/** A snapshot of another agent is none of this one. */
async function ownSnapshot({ database }: AgentsDeps, { accountId, id }: AgentRow, snapshotId: string) {
  const row = await database.repeatable((db) => usableSnapshot(db, accountId, snapshotId));
  if (row.agentId !== id) throw noSnapshot();
  return row;
}

/** The forks start without it too, each with a copy of the memory of its own. */
async function share({ driver, log }: AgentsDeps, { id, agentId }: SnapshotRow): Promise<void> {
  await driver.shareSaved(id, AbortSignal.timeout(60_000)).catch((error: unknown) => {
    log.warn({ err: error, agent_id: agentId, snapshot_id: id }, 'the memory of forks is not shared');
  });
}

interface Forks {
  readonly accountId: string;
  readonly parentId: string;
  readonly snapshotId: string;
  /** Whether the snapshot was made for these forks. */
  readonly isNew: boolean;
  readonly ids: readonly string[];
  readonly input: ForkInput;
  readonly checked: CheckedChange;
  readonly note: ActorNote | undefined;
}

async function insertForks(
  trx: Transaction,
  deps: AgentsDeps,
  { accountId, parentId, snapshotId, isNew, ids, input, checked, note }: Forks,
): Promise<readonly AgentRow[]> {
  await lockLibrary(trx, accountId);
  await lockOwnAgent(trx, { accountId, agentId: parentId });
  const parent = (await selectAgent(trx, parentId))!;
  const snapshot = await holdSnapshot(trx, { accountId, id: snapshotId });
  const taken = await agentNames(trx, accountId);
  const names = forkNames(parent.name, { name: input.name, count: ids.length, taken });
  for (const [index, id] of ids.entries()) {
    const one = { id, name: names[index]!, nth: index + 1 };
    await insertAgent(trx, forkRow(deps, parent, snapshot, input, checked, one));
  }
  await copyBelongings(trx, deps.secrets, parent, ids, input.include);
  if (isNew) {
    const expiresAt = new Date((await databaseTime(trx)).getTime() + forkSnapshotDays * dayMs);
    await writeSnapshot(trx, snapshotId, { expiresAt });
  }
  const by = note && { by: note.by };
  for (const [index, id] of ids.entries()) {
    await writeNote(trx, { accountId, agentId: id }, { type: 'agent.created', data: { name: names[index]! } }, by);
  }
  const forked = { type: 'agent.forked', data: { snapshot_id: snapshotId, forks: ids } } as const;
  await writeNote(trx, { accountId, agentId: parentId }, forked, note);
  const rows = await Promise.all(ids.map((id) => selectAgent(trx, id)));
  return rows.map((row) => row!);
}
