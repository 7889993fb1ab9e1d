/** Forks, as their owners ask for them: the agent is saved first, as a snapshot of its own kind. */
import { hash } from 'node:crypto';
import { Refusal, makeAgentId } from '@lodge/domain';
import type { ActorNote } from '@lodge/ports';
import type { AgentRow } from '@lodge/store/agents';
import { databaseTime } from '@lodge/store/database';
import { findSnapshot } from '@lodge/store/snapshots';
import type { SnapshotRow } from '@lodge/store/snapshots';
import type { Agents, ForkInput } from '../../agents/agents.ts';
import { beginSave } from '../begin.ts';
import { dropRow } from '../ends.ts';
import { createSnapshots } from '../snapshots.ts';
import type { SnapshotsDeps } from '../snapshots.ts';

/** Longest wait for the save: the turn in hand ends within 30 s, and memory of 16 GiB is written in minutes. */
const saveWaitMs = 10 * 60_000;
/** A snapshot whose forks were never made, because the server was killed, goes after this time. */
const unusedMs = 60 * 60_000;

export interface ForksDeps extends SnapshotsDeps {
  readonly agents: SnapshotsDeps['agents'] & Pick<Agents, 'fork'>;
}

export interface ForkPlace {
  readonly accountId: string;
  readonly agentId: string;
  /** The id of the first fork. Those of the others and of the snapshot follow from it, so that a second attempt finds them. */
  readonly firstId: string;
}

export interface ForkOptions {
  readonly note?: ActorNote | undefined;
  /** Ends the wait for the save, which goes on. */
  readonly signal: AbortSignal;
}

export type Forks = ReturnType<typeof createForks>;

export function createForks(deps: ForksDeps) {
  const { database, agents, bounds } = deps;
  const snapshots = createSnapshots(deps);
  const save = async (
    { accountId, agentId, firstId }: ForkPlace,
    { note, signal }: ForkOptions,
  ): Promise<SnapshotRow> => {
    const snapshotId = idAfter(firstId, 'snapshot');
    const by = note && { by: note.by };
    const find = () => database.repeatable((db) => findSnapshot(db, accountId, snapshotId));
    const drop = (row: SnapshotRow) => database.transaction((trx) => dropRow(trx, row, 'request', by));
    const begin = async (): Promise<SnapshotRow> => {
      const expiresAt = new Date((await database.repeatable(databaseTime)).getTime() + unusedMs);
      const wanted = { kind: 'fork', memory: true, expiresAt } as const;
      // The key of an idempotent request is used up by the forks, not by their save.
      return (await beginSave(database, { accountId, agentId, snapshotId }, wanted, {
        cause: 'request',
        bounds,
        note: by,
      }))!;
    };
    // An attempt before this one has begun it.
    const there = await find();
    if (there?.status === 'failed') await drop(there);
    const row = there === undefined || there.status === 'failed' ? await begin() : there;
    try {
      const saved = await snapshots.awaitSaved(row, saveWaitMs, signal);
      if (saved.status !== 'saving') return saved;
    } catch (error) {
      const failed = await find();
      if (failed?.status === 'failed') await drop(failed);
      throw error;
    }
    throw new Refusal('snapshot_not_ready', 'The agent is still being saved. Try again.', {
      agentId,
      retryAfterSeconds: 5,
    });
  };
  return {
    /**
     * Makes forks of the agent, in whose rows they are in `provisioning`. Refuses as a create and a save do, or with
     * `snapshot_not_found`, `snapshot_not_ready`, `snapshot_damaged`, `agent_busy`, `agent_not_running`, `invalid_request`.
     */
    make: (place: ForkPlace, input: ForkInput, options: ForkOptions): Promise<readonly AgentRow[]> =>
      agents.fork(place.accountId, place.agentId, input, {
        ids: forkIds(place.firstId, input.count),
        save: () => save(place, options),
        note: options.note,
      }),
    /** Finds those of an earlier attempt. One that was deleted since is left out. */
    async made({ accountId, firstId }: ForkPlace, count: number): Promise<readonly AgentRow[]> {
      const found = forkIds(firstId, count).map((id) =>
        agents.get(accountId, id).catch((error: unknown) => {
          if (error instanceof Refusal && error.code === 'agent_not_found') return null;
          throw error;
        }),
      );
      return (await Promise.all(found)).filter((row) => row !== null);
    },
  };
}

const forkIds = (firstId: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => (index === 0 ? firstId : idAfter(firstId, `fork ${index}`)));

/** An id that follows from another one, and that nobody else draws. */
function idAfter(firstId: string, what: string): string {
  const bytes = hash('sha256', `${firstId} ${what}`, 'buffer');
  let at = 0;
  return makeAgentId((below) => bytes.readUInt16BE(2 * at++) % below);
}
