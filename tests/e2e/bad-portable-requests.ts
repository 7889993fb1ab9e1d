/** Rows of exports and imports in the table of tests/e2e/bad-input.test.ts. Hostile files are in portable-hostile.test.ts. */
import { invalid, noAgent, noScope } from './bad-request.ts';
import type { BadRequest } from './bad-request.ts';

const post = (title: string, json: object, names: string): BadRequest => ({
  title: `export with ${title}`,
  path: '/v1/agents/{id}/export',
  json,
  ...invalid,
  names,
});

export const portableRequests: readonly BadRequest[] = [
  post('a short passphrase', { passphrase: 'plum' }, 'passphrase'),
  post('a long passphrase', { passphrase: 'x'.repeat(1025) }, 'passphrase'),
  post('a passphrase that no header can have', { passphrase: 'pflaumenmöhre' }, 'passphrase'),
  post('a passphrase that is a number', { passphrase: 12_345_678 }, 'passphrase'),
  post('a blank snapshot', { snapshot: '' }, 'snapshot'),
  post('a snapshot that is a number', { snapshot: 7 }, 'snapshot'),
  post('an unknown field', { memory: true }, 'memory'),
  { ...post('a key that may only read', {}, 'agents:write'), ...noScope, key: 'read' },
  { title: 'export no agent', path: '/v1/agents/aaaaaaaaaaaa/export', json: {}, ...noAgent },
  { title: 'import what is no export', path: '/v1/agents/import', json: {}, ...invalid, names: 'no export' },
  { title: 'import with a blank name', path: '/v1/agents/import?name=', json: {}, ...invalid, names: 'name' },
  { title: 'import with an unknown query', path: '/v1/agents/import?nmae=x', json: {}, ...invalid, names: 'nmae' },
];
