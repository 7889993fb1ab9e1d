import type { Connection } from '@lodge/contract';
import type { Fingerprints } from '@lodge/engine';
import { connectionClientSecretContext, connectionHeaderContext } from '@lodge/ports';
import type { ConnectionOAuth, ConnectionRow } from '@lodge/ports';

/** The only place where a row becomes the public record of a connection. */
export const connectionRecord = (row: ConnectionRow, fingerprints: Fingerprints): Connection => ({
  object: 'connection',
  agent_id: row.agentId,
  name: row.name,
  kind: row.kind,
  url: row.url,
  headers: headersOf(row, fingerprints),
  allow: row.allow.map(({ methods, paths }) => ({ methods: [...methods], paths: [...paths] })),
  tools: row.tools && [...row.tools],
  auth: row.oauth && authOf(row, row.oauth, fingerprints),
  oauth: oauthOf(row),
  enabled: row.enabled,
  status_reason: row.statusReason,
  guest_path: row.kind === 'http' ? `/connections/${row.name}` : null,
  created_at: row.createdAt.toISOString(),
  updated_at: row.updatedAt.toISOString(),
});

function headersOf({ accountId, agentId, name: connection, headers }: ConnectionRow, fingerprints: Fingerprints) {
  return Object.fromEntries(
    headers.map(({ name, sealed, last4, createdAt }) => {
      const context = connectionHeaderContext(agentId, connection, name);
      const fingerprint = fingerprints.ofSealed(accountId, 'connection', sealed, context);
      return [name, { set: true as const, last4, fingerprint, created_at: createdAt.toISOString() }];
    }),
  );
}

function authOf(
  { accountId, agentId, name }: ConnectionRow,
  { clientId, clientSecret: secret, scope }: ConnectionOAuth,
  fingerprints: Fingerprints,
): NonNullable<Connection['auth']> {
  const context = connectionClientSecretContext(agentId, name);
  return {
    kind: 'oauth',
    client_id: clientId,
    client_secret: secret && {
      set: true,
      last4: secret.last4,
      fingerprint: fingerprints.ofSealed(accountId, 'connection', secret.sealed, context),
    },
    scope,
  };
}

function oauthOf({ oauth, asksOAuth }: ConnectionRow): Connection['oauth'] {
  if (oauth === null) {
    const reason = 'The server asks for OAuth: put the connection with auth, and consent.';
    return asksOAuth ? { status: 'needed', reason, scope: null, expires_at: null } : null;
  }
  const { status, reason, grant } = oauth;
  return { status, reason, scope: grant?.scope ?? null, expires_at: grant?.expiresAt?.toISOString() ?? null };
}
