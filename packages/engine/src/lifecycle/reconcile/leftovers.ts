/**
 * Removes the host's resources of agents that are not in the store: VMs, namespaces and disks of a delete or a create that a
 * crash cut short. It must not touch anything of an agent that is in the store, whatever its state. The order ensures that:
 * the host is listed first, the store is asked after it, and an agent's row is committed before its first file is made.
 */
import type { Log } from '@lodge/ports';
import { existingAgents } from '@lodge/store/agents';
import type { Database } from '@lodge/store/database';
import type { OpenedSnapshots } from '../../saved/files/opened.ts';
import type { DriverInUse, Endings } from '../endings.ts';

interface LeftoverDeps {
  readonly database: Database;
  readonly driver: DriverInUse;
  readonly endings: Endings;
  readonly log: Log;
  /** Machines of this process that are no agent's. */
  readonly opened: Pick<OpenedSnapshots, 'has'>;
}

export function createLeftoverCollector({ database, driver, endings, log, opened }: LeftoverDeps): () => Promise<void> {
  return async () => {
    const held = (await driver.list()).map(({ agentId }) => agentId);
    const existing = await database.repeatable((db) => existingAgents(db, held));
    for (const agentId of held) {
      if (existing.has(agentId) || opened.has(agentId)) continue;
      log.warn({ agent_id: agentId }, 'removing what is left of an agent that is gone');
      // One that cannot be removed must not keep the others.
      await endings.remove(agentId, { keepDisk: false }).catch((error: unknown) => {
        log.error({ err: error, agent_id: agentId }, 'what is left of an agent was not removed; it will be repeated');
      });
    }
  };
}
