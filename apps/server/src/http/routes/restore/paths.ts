import { Refusal } from '@lodge/domain';
import type { SnapshotFiles } from '@lodge/engine';
import type { AgentRow } from '@lodge/store/agents';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { copyPaths } from '../../guest/copy-paths.ts';
import { guestOfAgent } from '../../guest/live-guest.ts';
import type { GuestAccess } from '../../needs.ts';
import { namedPath } from '../files/parts/file.ts';
import { fileErrors, transferMs } from '../files/shared.ts';

export interface PathNeeds extends GuestAccess {
  readonly snapshotFiles: SnapshotFiles;
}

/** Refusals of a restore that copies paths. */
export const copyErrors = [...fileErrors, 'request_too_large', 'disk_full'] as const;

interface Wanted {
  readonly agentId: string;
  readonly snapshot: string;
  readonly paths: readonly string[];
}

/** Copies paths of a snapshot into its running agent, and returns the agent. */
export async function restorePaths(
  needs: PathNeeds,
  { agentId, snapshot, paths }: Wanted,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<AgentRow> {
  const { agents, snapshotFiles, guestAt } = needs;
  const { accountId } = request.principal;
  const named = [...new Set(paths.map(relativePath))];
  const agent = await agents.get(accountId, agentId);
  const live = await guestOfAgent(needs, { id: agentId, wake: false, timeoutMs: transferMs }, request, reply);
  const { guest, release } = await snapshotFiles.openOf(agent, snapshot, live.signal);
  try {
    await copyPaths({ from: guestAt(guest), to: live.guest }, named, live.signal);
  } finally {
    release();
  }
  return agents.get(accountId, agentId);
}

function relativePath(path: string): string {
  const named = path.startsWith('/') ? '' : namedPath(path);
  if (named === '')
    throw new Refusal('invalid_request', 'paths must name files and folders, relative to the workspace.');
  return named;
}
