import { errorCodes } from '@lodge/domain';
import type { ErrorCode } from '@lodge/domain';
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, test } from 'node:test';
import { Compile } from 'typebox/compile';
import { oauthErrorOf } from '../routes/oauth/form.ts';
import { openApiJson } from './document.ts';
import { openApp } from '../../../../../packages/testkit/src/plane/http/open-app.ts';

const { call, close } = await openApp();
after(close);

const document = JSON.parse(await openApiJson());
/** Paths that need neither key nor session. */
const publicPaths =
  /health|openapi|v1\/hooks|v1\/oauth|account\/(options|sign-in|links|setup|register|password-reset|invitations\/accept)$/;
const operations: [string, any][] = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item as object).map(([method, operation]): [string, any] => [`${method} ${path}`, operation]),
);

const resolve = (node: any): any =>
  node.$ref
    ? node.$ref
        .slice(2)
        .split('/')
        .reduce((parent: any, key: string) => parent[key], document)
    : node;

test('docs/reference/openapi.json is what the routes say', async () => {
  const committed = await readFile(new URL('../../../../../docs/reference/openapi.json', import.meta.url), 'utf8');
  assert.equal(committed, await openApiJson(), 'out of date: node_modules/.bin/node scripts/docs.ts writes it');
});

test('the service serves the same document, to anyone', async () => {
  const { status, body } = await call('GET', '/v1/openapi.json', { key: null });
  assert.equal(status, 200);
  assert.deepEqual(body, document);
  assert.equal(body.openapi, '3.1.0');
});

test('every reference leads somewhere', () => {
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path]) => path!);
  assert.ok(references.length > 20);
  for (const path of references) {
    const found = path.split('/').reduce((node: any, key) => node?.[key], document);
    assert.ok(found, path);
  }
});

test('every operation says who may call it, what it answers and how it fails, each with an example that is right', () => {
  const ids = new Set(operations.map(([, { operationId }]) => operationId));
  assert.equal(ids.size, operations.length);
  const isError = Compile(document.components.schemas.Error);
  for (const [name, { summary, tags, security, responses }] of operations) {
    assert.ok(summary && tags.length === 1, name);
    const isPublic = publicPaths.test(name);
    const kinds = security.flatMap((one: object) => Object.keys(one));
    const takesKeys = /account\/(spend|keys)/.test(name);
    const isOfPerson = !isPublic && tags[0] === 'Account area' && !takesKeys;
    const all = ['apiKey', 'bearer', ...(tags[0] === 'MCP' ? [] : ['session'])];
    assert.deepEqual(kinds, isPublic ? [] : isOfPerson ? ['session'] : all, name);
    // A sign-in may be refused because of a wrong password, and a request to a hook because of a wrong signature.
    if (!isPublic || !['Account area', 'Hooks'].includes(tags[0])) assert.equal('401' in responses, !isPublic, name);
    for (const [status, reply] of Object.entries<any>(responses)) {
      const { content } = resolve(reply);
      // The reply is empty, or another protocol, or bytes alone.
      if (content && Object.keys(content).join() === 'application/octet-stream') continue;
      if (['101', '304'].includes(status) || (name === 'post /v1/mcp' && status === '202')) continue;
      assert.ok(content['application/json'].schema, `${name} ${status}`);
      for (const [example, { value }] of Object.entries<any>(content['application/json'].examples ?? {})) {
        const code = (example.startsWith('oauth.') ? example.slice(6) : value.error.code) as ErrorCode;
        if (example.startsWith('oauth.')) assert.equal(value.error, oauthErrorOf(code));
        else assert.equal(isError.Check(value), true, `${name} ${status}`);
        assert.equal(errorCodes[code].status, Number(status));
      }
    }
  }
});

test('the examples of a create are ones that the service takes', async () => {
  const { examples } = document.paths['/v1/agents'].post.requestBody.content['application/json'];
  const bodies = Object.values<{ readonly value: unknown }>(examples).map(({ value }) => value);
  assert.equal(bodies.length, 2);
  for (const body of bodies) assert.equal((await call('POST', '/v1/agents?wait=false', { body })).status, 202);
});
