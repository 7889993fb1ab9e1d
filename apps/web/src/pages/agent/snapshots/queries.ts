import type { CreateSnapshot, ForkAgent, RestoreAgent, UpdateSnapshot } from '@lodge/sdk';
import { change, lodge, read } from '../../../api.ts';

export const snapshotsKey = (agentId: string) => ['agent', agentId, 'snapshots'] as const;

export const snapshotsPage = (agentId: string) => (cursor: string | undefined) =>
  lodge.snapshots.agent(agentId, { limit: 50, ...(cursor !== undefined && { cursor }) });

/** A snapshot without a saved list is opened for it, as for a file. */
const openMs = 150_000;

export const snapshotFilesKey = (agentId: string, snapshot: string, path: string) =>
  ['agent', agentId, 'snapshot-files', snapshot, path] as const;

export const snapshotFilesPage = (snapshot: string, path: string) => (cursor: string | undefined) =>
  lodge.snapshots.files(snapshot, { path, limit: 200, ...(cursor !== undefined && { cursor }) }, { timeoutMs: openMs });

/** Returns the address at which the browser downloads a file by itself, as it comes. */
export const snapshotDownload = (snapshot: string, path: string): string =>
  `/v1/snapshots/${encodeURIComponent(snapshot)}/files/${path.split('/').map(encodeURIComponent).join('/')}`;

export const snapshotDiff = (snapshot: string, to: string) =>
  read(lodge.snapshots.diff(snapshot, { to }, { timeoutMs: openMs }));

export const snapshotChanges = {
  create: (agentId: string, body: CreateSnapshot) => change(() => lodge.snapshots.create(agentId, body)),
  update: (snapshot: string, body: UpdateSnapshot) => change(() => lodge.snapshots.update(snapshot, body)),
  remove: (snapshot: string) => change(() => lodge.snapshots.delete(snapshot)),
  restore: (agentId: string, body: RestoreAgent) => change(() => lodge.snapshots.restore(agentId, body)),
  /** The save is waited for, and the forks show their own beginning. */
  fork: (agentId: string, body: ForkAgent) => change(() => lodge.agents.fork(agentId, body, { wait: false })),
};
