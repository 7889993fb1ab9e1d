/** An unmarked reply with a secret would be kept in the clear for a day, and sent to every key of the account. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FastifyContextConfig, RouteOptions } from 'fastify';
import { Type } from 'typebox';
import { openApiJson } from '../../openapi/document.ts';
import { checkSecretReply } from './secret-replies.ts';

const route = (reply: object, config: FastifyContextConfig = {}, method = 'POST') =>
  ({ method, url: '/v1/x', schema: { response: { 201: reply } }, config }) as unknown as RouteOptions;
const text = Type.String();

test('a POST that answers with a secret does not register without secretReply, however deep the secret lies', () => {
  const bad = [
    Type.Object({ secret: text }),
    Type.Object({ webhook: Type.Object({ signing_secret: Type.Union([text, Type.Null()]) }) }),
    Type.Object({ data: Type.Array(Type.Object({ token: text })) }),
    Type.Union([Type.Null(), Type.Object({ recovery_codes: Type.Array(text) })]),
    Type.Object({ pairing_code: text }),
    Type.Object({ authorization_url: text }),
  ];
  for (const reply of bad) {
    assert.throws(() => checkSecretReply(route(reply)), /needs secretReply/);
    for (const config of [{ secretReply: true }, { sessionOnly: true }, { public: true }] as const)
      checkSecretReply(route(reply, config));
    checkSecretReply(route(reply, {}, 'GET'));
  }
  const plain = [
    { total_tokens: Type.Integer() },
    { secret_last4: text },
    { exit_code: text },
    { secret: Type.Object({ last4: text }) },
  ];
  for (const fields of plain) checkSecretReply(route(Type.Object<Record<string, object>>(fields)));
});

test('every route of the service passes: each is checked as it registers', async () => {
  assert.match(await openApiJson(), /"operationId": "rotateWebhookSecret"/);
});
