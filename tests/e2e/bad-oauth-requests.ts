/** Rows of tests/e2e/bad-input.test.ts about API keys by API keys, and about sign-in for programs. */
import { get, invalid, noScope, unauthenticated } from './bad-request.ts';
import type { BadRequest } from './bad-request.ts';

const device = (title: string, json: unknown, names: string): BadRequest => ({
  title: `a machine that asks with ${title}`,
  path: '/v1/oauth/device_authorization',
  key: null,
  json,
  ...invalid,
  names,
});
const noKey = { status: 404, type: 'not_found_error', code: 'key_not_found' } as const;
const current = '/v1/account/keys/current';
const nobody = '00000000-0000-4000-8000-000000000000';

export const oauthRequests: readonly BadRequest[] = [
  device('no name', {}, 'client_name'),
  device('an invisible name', { client_name: '\u200b\u2060' }, 'client_name'),
  device('a name of 101 characters', { client_name: 'x'.repeat(101) }, 'client_name'),
  device('a number as scope', { client_name: 'x', scope: 7 }, 'scope'),
  { ...device('an unknown scope', { client_name: 'x', scope: 'root' }, 'scope'), code: 'invalid_scope' },
  get('the keys without the scope', '/v1/account/keys', { key: 'write', ...noScope, names: 'keys:write' }),
  {
    title: 'a key by a key without the scope',
    path: '/v1/account/keys',
    key: 'write',
    json: { name: 'k', scopes: ['agents:read'] },
    ...noScope,
    names: 'keys:write',
  },
  {
    title: 'a key without scopes',
    path: '/v1/account/keys',
    json: { name: 'k', scopes: [] },
    ...invalid,
    names: 'scopes',
  },
  { title: 'the end of a key that is none', method: 'DELETE', path: `/v1/account/keys/${nobody}`, ...noKey },
  { title: 'the end of a key that is no id', method: 'DELETE', path: '/v1/account/keys/none', ...noKey },
  get('the own key without one', current, { key: null, ...unauthenticated, code: 'missing_api_key' }),
  {
    title: 'the end of an expired key by itself',
    method: 'DELETE',
    path: current,
    key: 'expired',
    ...unauthenticated,
    code: 'expired_api_key',
  },
  {
    title: 'a machine by a key, which is no person',
    path: '/v1/account/device',
    json: { user_code: 'BCDF-GHJK' },
    ...noScope,
  },
];
