import { CreateKey, CreatedKey, KeyList, KeyRecord } from '@lodge/contract';
import { AccountRefusal } from '@lodge/engine/ports';
import type { ApiKeyRecord } from '@lodge/engine/ports';
import { Type } from 'typebox';
import type { App } from '../../context.ts';
import type { AreaContext } from '../area.ts';
import { callerOf, signedIn, timeOrNull } from '../replies.ts';

const hide = true;

export function keyRoutes(app: App, { accounts }: AreaContext): void {
  app.route({
    method: 'GET',
    url: '/account/api/keys',
    schema: { hide, response: { 200: KeyList } },
    config: signedIn,
    handler: async ({ me }) => ({ data: (await accounts.keys(me)).map(keyRecord) }),
  });

  app.route({
    method: 'POST',
    url: '/account/api/keys',
    schema: { hide, body: CreateKey, response: { 201: CreatedKey } },
    config: signedIn,
    handler: async (request, reply) => {
      const { name, scopes, expires_at: expiry = null } = request.body;
      const input = { name, scopes, expiresAt: expiry === null ? null : timeOf(expiry) };
      const { record, key } = await accounts.createKey(request.me, input, callerOf(request));
      return reply.code(201).send({ ...keyRecord(record), key });
    },
  });

  app.route({
    method: 'DELETE',
    url: '/account/api/keys/:id',
    schema: { hide, params: Type.Object({ id: Type.String() }), response: { 200: KeyRecord } },
    config: signedIn,
    handler: async (request) => keyRecord(await accounts.revokeKey(request.me, request.params.id, callerOf(request))),
  });
}

const rfc3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)$/;

function timeOf(text: string): Date {
  const time = new Date(text);
  if (rfc3339.test(text) && !Number.isNaN(time.getTime())) return time;
  throw new AccountRefusal('invalid_request', 'expires_at must be a time such as 2030-01-31T12:00:00Z.');
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
