import type { Connection } from '@lodge/contract';
import type { ConnectionRow } from '@lodge/ports';

/** The public record of a connection: the only place where a row becomes one. */
export const connectionRecord = (row: ConnectionRow): Connection => ({
  object: 'connection',
  agent_id: row.agentId,
  name: row.name,
  kind: row.kind,
  url: row.url,
  headers: Object.fromEntries(
    row.headers.map(({ name, last4, createdAt }) => [
      name,
      { set: true as const, last4, created_at: createdAt.toISOString() },
    ]),
  ),
  allow: row.allow.map(({ methods, paths }) => ({ methods: [...methods], paths: [...paths] })),
  tools: row.tools && [...row.tools],
  enabled: row.enabled,
  guest_path: row.kind === 'http' ? `/connections/${row.name}` : null,
  created_at: row.createdAt.toISOString(),
  updated_at: row.updatedAt.toISOString(),
});
