/** Rows of snapshots in the table of tests/e2e/bad-input.test.ts. */
import { get, invalid, noAgent, noScope } from './bad-request.ts';
import type { BadRequest } from './bad-request.ts';

const base = '/v1/agents/{id}/snapshots';
const noSnapshot = { status: 404, type: 'not_found_error', code: 'snapshot_not_found' } as const;

const post = (title: string, json: object, names: BadRequest['names']): BadRequest => ({
  title: `make a snapshot with ${title}`,
  path: base,
  json,
  ...invalid,
  ...(names !== undefined && { names }),
});
const restore = (
  title: string,
  json: object,
  expected: Pick<BadRequest, 'status' | 'type' | 'code' | 'names'>,
): BadRequest => ({
  title: `restore with ${title}`,
  path: '/v1/agents/{id}/restore',
  json,
  ...expected,
});
const plan = (title: string, snapshots: unknown, names: string): BadRequest => ({
  title: `plan snapshots ${title}`,
  method: 'PATCH',
  path: '/v1/agents/{id}',
  json: { snapshots },
  ...invalid,
  names,
});

export const snapshotRequests: readonly BadRequest[] = [
  post('a blank name', { name: '  ' }, 'name'),
  post('a long name', { name: 'x'.repeat(101) }, 'name'),
  post('a name that is a number', { name: 7 }, 'name'),
  post('a long note', { note: 'x'.repeat(2001) }, 'note'),
  post('memory that is a text', { memory: 'yes' }, 'memory'),
  post('an unknown field', { memry: true }, 'memry'),
  post('an expiry that has passed', { expires_at: '2020-01-01T00:00:00Z' }, 'expires_at'),
  post('an expiry that is none', { expires_at: 'tomorrow' }, 'expires_at'),
  { ...post('a key that may only read', {}, 'agents:write'), ...noScope, key: 'read' },
  { title: 'make a snapshot of no agent', path: '/v1/agents/aaaaaaaaaaaa/snapshots', json: {}, ...noAgent },
  restore('no snapshot', {}, { ...invalid, names: 'snapshot' }),
  restore('a blank snapshot', { snapshot: '' }, { ...invalid, names: 'snapshot' }),
  restore('a snapshot that is a number', { snapshot: 7 }, { ...invalid, names: 'snapshot' }),
  restore('memory that is a text', { snapshot: 'x', memory: 'yes' }, { ...invalid, names: 'memory' }),
  restore('a present that is a text', { snapshot: 'x', save_present: 'no' }, { ...invalid, names: 'save_present' }),
  restore('no paths', { snapshot: 'x', paths: [] }, { ...invalid, names: 'paths' }),
  restore('101 paths', { snapshot: 'x', paths: Array.from({ length: 101 }, String) }, { ...invalid, names: 'paths' }),
  restore('a path that leads up', { snapshot: 'x', paths: ['a/../b'] }, { ...invalid, names: 'path' }),
  restore('a path of the whole machine', { snapshot: 'x', paths: ['/etc'] }, { ...invalid, names: 'paths' }),
  restore('paths and memory', { snapshot: 'x', paths: ['a'], memory: true }, { ...invalid, names: 'memory' }),
  restore('an unknown field', { snapshot: 'x', at: 'now' }, { ...invalid, names: 'at' }),
  restore('a snapshot that there is not', { snapshot: 'aaaaaaaaaaaa' }, noSnapshot),
  restore('what is no id', { snapshot: '../x' }, noSnapshot),
  { ...restore('a key that may only read', { snapshot: 'x' }, noScope), names: 'agents:write', key: 'read' },
  { title: 'restore no agent', path: '/v1/agents/aaaaaaaaaaaa/restore', json: { snapshot: 'x' }, ...noAgent },
  get('snapshots of no agent', '/v1/agents/aaaaaaaaaaaa/snapshots', noAgent),
  get('snapshots of an unknown kind', '/v1/snapshots?kind=mine', { ...invalid, names: 'kind' }),
  get('a page of snapshots by no cursor', '/v1/snapshots?cursor=x', { ...invalid, names: 'cursor' }),
  get('a snapshot that there is not', '/v1/snapshots/aaaaaaaaaaaa', noSnapshot),
  get('files of no snapshot', '/v1/snapshots/aaaaaaaaaaaa/files?list=1', noSnapshot),
  get('a file of no snapshot', '/v1/snapshots/aaaaaaaaaaaa/files/a', noSnapshot),
  get('a file of a snapshot by a path that leads up', '/v1/snapshots/aaaaaaaaaaaa/files/a%2F..%2Fb', {
    ...invalid,
    names: 'path',
  }),
  get('a page of a file of a snapshot', '/v1/snapshots/aaaaaaaaaaaa/files/a?limit=3', { ...invalid, names: 'limit' }),
  get('files of a snapshot by no cursor', '/v1/snapshots/aaaaaaaaaaaa/files?list=1&cursor=x', {
    ...invalid,
    names: 'cursor',
  }),
  get('the differences of no snapshot', '/v1/snapshots/aaaaaaaaaaaa/diff?to=now', noSnapshot),
  get('the differences to what is no id', '/v1/snapshots/aaaaaaaaaaaa/diff?to=%00', noSnapshot),
  get('a snapshot by what is no id', '/v1/snapshots/%00', noSnapshot),
  {
    title: 'change no snapshot',
    method: 'PATCH',
    path: '/v1/snapshots/aaaaaaaaaaaa',
    json: { name: 'x' },
    ...noSnapshot,
  },
  { title: 'delete no snapshot', method: 'DELETE', path: '/v1/snapshots/aaaaaaaaaaaa', ...noSnapshot },
  plan('every 0 turns', { every_turns: 0 }, 'snapshots.every_turns'),
  plan('every 101 turns', { every_turns: 101 }, 'snapshots.every_turns'),
  plan('every minute', { every: '1m' }, 'snapshots.every'),
  plan('every now and then', { every: 'often' }, 'snapshots.every'),
  plan('and keep none', { keep: 0 }, 'snapshots.keep'),
  plan('of an unknown kind', { at: 'night' }, 'at'),
];
