import { CreateKey, CreatedKey, KeyList, KeyRecord } from '@lodge/contract';
import type { Accounts, KeyRow } from '@lodge/engine';
import { Type } from 'typebox';
import type { App } from '../../app-types.ts';
import { actorNote } from '../../identity/change-note.ts';
import { timeOf } from '../../pipeline/query.ts';
import { toWire } from '../../reply/to-wire.ts';
import { tags } from './replies.ts';

interface Needs {
  readonly accounts: Pick<Accounts, 'keys' | 'currentKey' | 'createKey' | 'revokeKey'>;
}

/** A key with this scope manages keys. Every person signed in does. */
const managing = { keyScope: 'keys:write' } as const;

/**
 * `GET` and `POST /v1/account/keys`, `DELETE` of one by its id. A key that makes a key ends it with its own end. Each key may
 * see and revoke itself: `GET` and `DELETE /v1/account/keys/current`.
 */
export function keyRoutes(app: App, needs: Needs): void {
  currentKeyRoutes(app, needs);
  const { accounts } = needs;
  app.route({
    method: 'GET',
    url: '/v1/account/keys',
    schema: {
      operationId: 'listApiKeys',
      tags,
      summary: 'List the API keys of the account',
      response: { 200: { ...KeyList, 'x-response-description': 'All of them, newest first, revoked ones too.' } },
    },
    config: managing,
    handler: async ({ principal }) => ({ data: (await accounts.keys(principal.accountId)).map(keyRecord) }),
  });

  app.route({
    method: 'POST',
    url: '/v1/account/keys',
    schema: {
      operationId: 'createApiKey',
      tags,
      summary: 'Make an API key',
      description:
        'With scopes that the role of its person has. A key makes keys with at most its own scopes, which expire with it at the latest and are revoked with it.',
      body: CreateKey,
      response: { 201: { ...CreatedKey, 'x-response-description': 'The key, which is shown this once.' } },
    },
    config: { ...managing, secretReply: true, errors: ['quota_exceeded'] },
    handler: async (request, reply) => {
      const { name, scopes, expires_at: expiry } = request.body;
      const input = { name, scopes, expiresAt: typeof expiry === 'string' ? timeOf(expiry) : expiry };
      const { record, key } = await accounts.createKey(request.principal, input, actorNote(request));
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
      description: 'With the keys that it made.',
      params: Type.Object({ id: Type.String() }),
      response: { 200: { ...KeyRecord, 'x-response-description': 'The key, revoked.' } },
    },
    config: { ...managing, errors: ['key_not_found'] },
    handler: async (request) =>
      keyRecord(await accounts.revokeKey(request.principal.accountId, request.params.id, actorNote(request).by)),
  });
}

function currentKeyRoutes(app: App, { accounts }: Needs): void {
  const url = '/v1/account/keys/current';
  app.route({
    method: 'GET',
    url,
    schema: {
      operationId: 'getCurrentApiKey',
      tags,
      summary: 'Read the API key of this request',
      response: { 200: { ...KeyRecord, 'x-response-description': 'The key that asks.' } },
    },
    config: { errors: ['key_not_found'] },
    handler: async ({ principal }) => keyRecord(await accounts.currentKey(principal)),
  });

  app.route({
    method: 'DELETE',
    url,
    schema: {
      operationId: 'revokeCurrentApiKey',
      tags,
      summary: 'Revoke the API key of this request',
      description: 'With the keys that it made. Signs a program out.',
      response: { 200: { ...KeyRecord, 'x-response-description': 'The key, revoked.' } },
    },
    config: { errors: ['key_not_found'] },
    handler: async (request) => {
      const { id, accountId } = await accounts.currentKey(request.principal);
      return keyRecord(await accounts.revokeKey(accountId, id, actorNote(request).by));
    },
  });
}

const keyRecord = (row: KeyRow): KeyRecord => toWire(KeyRecord, row);
