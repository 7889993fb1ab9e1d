import { Connection } from '@lodge/contract';
import type { Fingerprints } from '@lodge/engine';
import { connectionClientSecretContext, connectionHeaderContext, connectionSecretContext } from '@lodge/ports';
import type { ConnectionOAuth, ConnectionRow } from '@lodge/ports';
import { toWire } from '../../reply/to-wire.ts';

export const connectionRecord = (row: ConnectionRow, fingerprints: Fingerprints): Connection =>
  toWire(Connection, {
    ...row,
    headers: headersOf(row, fingerprints),
    secrets: secretsOf(row, fingerprints),
    auth: row.oauth && authOf(row, row.oauth, fingerprints),
    oauth: oauthOf(row),
    guestPath: row.kind === 'http' ? `/connections/${row.name}` : null,
  });

function headersOf({ accountId, agentId, name: connection, headers }: ConnectionRow, fingerprints: Fingerprints) {
  return Object.fromEntries(
    headers.map(({ name, sealed, last4, createdAt }) => {
      const context = connectionHeaderContext(agentId, connection, name);
      const fingerprint = fingerprints.ofSealed(accountId, 'connection', sealed, context);
      return [name, { set: true as const, last4, fingerprint, created_at: isoTime(createdAt) }];
    }),
  );
}

function secretsOf({ accountId, agentId, name: connection, secrets }: ConnectionRow, fingerprints: Fingerprints) {
  return Object.fromEntries(
    secrets.map(({ name, sealed, last4, headers, placeholder, createdAt }) => {
      const context = connectionSecretContext(agentId, connection, name);
      const fingerprint = fingerprints.ofSealed(accountId, 'connection', sealed, context);
      return [
        name,
        { set: true as const, last4, fingerprint, in: [...headers], placeholder, created_at: isoTime(createdAt) },
      ];
    }),
  );
}

function authOf(
  { accountId, agentId, name }: ConnectionRow,
  { clientId, clientSecret: secret, scope, endpoints }: ConnectionOAuth,
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
    authorization_url: endpoints?.authorizationUrl ?? null,
    token_url: endpoints?.tokenUrl ?? null,
    client_auth: endpoints?.clientAuth ?? null,
  };
}

function oauthOf({ oauth, asksOauth }: ConnectionRow): Connection['oauth'] {
  if (oauth === null) {
    const reason = 'The server asks for OAuth: put the connection with auth, and consent.';
    return asksOauth ? { status: 'needed', reason, scope: null, expires_at: null } : null;
  }
  const { status, reason, grant } = oauth;
  const expires = grant?.expiresAt ?? null;
  return { status, reason, scope: grant?.scope ?? null, expires_at: expires && isoTime(expires) };
}

const isoTime = (time: string): string => new Date(time).toISOString();
