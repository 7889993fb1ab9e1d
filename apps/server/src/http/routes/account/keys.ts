import { CreateKey, CreatedKey, KeyList, KeyRecord } from '@lodge/contract';
import type { Accounts, ApiKeyRecord } from '@lodge/ports';
import { Type } from 'typebox';
import type { App } from '../../app-types.ts';
import { timeOf } from '../../pipeline/query.ts';
import { callerOf, signedIn, tags, timeOrNull } from './replies.ts';

type Needs = { readonly accounts: Pick<Accounts, 'keys' | 'createKey' | 'revokeKey'> };

/**
 * `GET` and `POST /v1/account/keys`, `DELETE` of one by its id. A key cannot make or end keys: it would outlive its own end.
 */
export function keyRoutes(app: App, { accounts }: Needs): void {
  app.route({
    method: 'GET',
    url: '/v1/account/keys',
    schema: {
      operationId: 'listApiKeys',
      tags,
      summary: 'List the API keys of the account',
      response: { 200: { ...KeyList, 'x-response-description': 'All of them, newest first, revoked ones too.' } },
    },
    config: signedIn,
    handler: async ({ me }) => ({ data: (await accounts.keys(me!)).map(keyRecord) }),
  });

  app.route({
    method: 'POST',
    url: '/v1/account/keys',
    schema: {
      operationId: 'createApiKey',
      tags,
      summary: 'Make an API key',
      description: 'With scopes that the role of its person has.',
      body: CreateKey,
      response: { 201: { ...CreatedKey, 'x-response-description': 'The key, which is shown this once.' } },
    },
    config: { ...signedIn, errors: ['quota_exceeded'] },
    handler: async (request, reply) => {
      const { name, scopes, expires_at: expiry = null } = request.body;
      const input = { name, scopes, expiresAt: expiry === null ? null : timeOf(expiry) };
      const { record, key } = await accounts.createKey(request.me!, input, callerOf(request));
      return reply.code(201).send({ ...keyRecord(record), key });
    },
  });

  app.route({
    method: 'DELETE',
    url: '/v1/account/keys/:id',
    schema: {
      operationId: 'revokeApiKey',
      tags,
      summary: 'Revoke an API key',
      params: Type.Object({ id: Type.String() }),
      response: { 200: { ...KeyRecord, 'x-response-description': 'The key, revoked.' } },
    },
    config: { ...signedIn, errors: ['key_not_found'] },
    handler: async (request) => keyRecord(await accounts.revokeKey(request.me!, request.params.id, callerOf(request))),
  });
}

function keyRecord(record: ApiKeyRecord): KeyRecord {
  return {
    id: record.id,
    name: record.name,
    last4: record.last4,
    scopes: [...record.scopes],
    created_at: record.createdAt.toISOString(),
    expires_at: timeOrNull(record.expiresAt),
    revoked_at: timeOrNull(record.revokedAt),
    last_used_at: timeOrNull(record.lastUsedAt),
  };
}
