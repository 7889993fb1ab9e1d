import type { Connection } from '@lodge/contract';
import type { ConnectionOAuth, ConnectionRow } from '@lodge/ports';

/** The only place where a row becomes the public record of a connection. */
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
  auth: row.oauth && authOf(row.oauth),
  oauth: oauthOf(row),
  enabled: row.enabled,
  status_reason: row.statusReason,
  guest_path: row.kind === 'http' ? `/connections/${row.name}` : null,
  created_at: row.createdAt.toISOString(),
  updated_at: row.updatedAt.toISOString(),
});

const authOf = ({ clientId, clientSecret, scope }: ConnectionOAuth): NonNullable<Connection['auth']> => ({
  kind: 'oauth',
  client_id: clientId,
  client_secret: clientSecret && { set: true, last4: clientSecret.last4 },
  scope,
});

function oauthOf({ oauth, asksOAuth }: ConnectionRow): Connection['oauth'] {
  if (oauth === null) {
    const reason = 'The server asks for OAuth: put the connection with auth, and consent.';
    return asksOAuth ? { status: 'needed', reason, scope: null, expires_at: null } : null;
  }
  const { status, reason, grant } = oauth;
  return { status, reason, scope: grant?.scope ?? null, expires_at: grant?.expiresAt?.toISOString() ?? null };
}
