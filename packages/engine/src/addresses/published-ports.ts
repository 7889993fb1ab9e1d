/** Ports of agents' guests that are served under addresses of their own. */
import { Refusal } from '@lodge/domain';
import type { ActorNote } from '@lodge/ports';
import { deletePort, findPort, lockAgent, portsOf, upsertPort } from '@lodge/store/agents';
import type { AgentPortRow, OwnedPort } from '@lodge/store/agents';
import type { Database, Transaction } from '@lodge/store/database';
import { writeNote } from '@lodge/store/events';

const maxPorts = 20;

export interface PortPlace {
  readonly accountId: string;
  readonly agentId: string;
  readonly port: number;
}

export type PublishedPorts = ReturnType<typeof createPublishedPorts>;

export const createPublishedPorts = (database: Database) => ({
  /** By number. */
  list: (accountId: string, agentId: string): Promise<readonly AgentPortRow[]> =>
    database.repeatable((db) => portsOf(db, accountId, agentId)),
  /** Returns the port of any account. */
  find: async (agentId: string, port: number): Promise<OwnedPort | null> =>
    (await database.repeatable((db) => findPort(db, agentId, port))) ?? null,
  /** Publishes a port, or changes whether it is public. Refuses with `agent_not_found` or `quota_exceeded`. */
  publish: (
    place: PortPlace,
    isPublic: boolean,
    note?: ActorNote,
  ): Promise<{ readonly row: AgentPortRow; readonly isNew: boolean }> =>
    database.transaction(async (trx) => {
      const { accountId, agentId, port } = place;
      if (!(await lockOwn(trx, place))) throw new Refusal('agent_not_found', 'No agent has this id.');
      const present = await portsOf(trx, accountId, agentId);
      const before = present.find((row) => row.port === port);
      if (before === undefined && present.length >= maxPorts) {
        throw new Refusal('quota_exceeded', `An agent may have ${maxPorts} published ports.`);
      }
      if (before?.public === isPublic) return { row: before, isNew: false };
      const row = await upsertPort(trx, { agentId, port, public: isPublic });
      await writeNote(trx, place, { type: 'agent.port_published', data: { port, public: isPublic } }, note);
      return { row, isNew: before === undefined };
    }),
  /** Takes a port back, and ends its links and visits. Refuses with `port_not_found`. */
  unpublish: (place: PortPlace, note?: ActorNote): Promise<void> =>
    database.transaction(async (trx) => {
      const { agentId, port } = place;
      if (!(await lockOwn(trx, place)) || !(await deletePort(trx, agentId, port))) throw notPublished(port);
      await writeNote(trx, place, { type: 'agent.port_unpublished', data: { port } }, note);
    }),
});

/** The lock serialises changes, so ports are counted correctly. */
const lockOwn = async (trx: Transaction, { accountId, agentId }: PortPlace): Promise<boolean> =>
  (await lockAgent(trx, agentId))?.accountId === accountId;

export const notPublished = (port: number): Refusal =>
  new Refusal('port_not_found', `Port ${port} of this agent is not published.`);
