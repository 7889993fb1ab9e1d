import type { CreateSnapshot, ForkAgent, RestoreAgent, UpdateSnapshot } from '@lodge/sdk';
import { change, lodge } from '../../../api.ts';

export const snapshotsKey = (agentId: string) => ['agent', agentId, 'snapshots'] as const;

export const snapshotsPage = (agentId: string) => (cursor: string | undefined) =>
  lodge.snapshots.agent(agentId, { limit: 50, ...(cursor !== undefined && { cursor }) });

export const snapshotChanges = {
  create: (agentId: string, body: CreateSnapshot) => change(() => lodge.snapshots.create(agentId, body)),
  update: (snapshot: string, body: UpdateSnapshot) => change(() => lodge.snapshots.update(snapshot, body)),
  remove: (snapshot: string) => change(() => lodge.snapshots.delete(snapshot)),
  restore: (agentId: string, body: RestoreAgent) => change(() => lodge.snapshots.restore(agentId, body)),
  /** The save is waited for, and the forks show their own beginning. */
  fork: (agentId: string, body: ForkAgent) => change(() => lodge.agents.fork(agentId, body, { wait: false })),
};
