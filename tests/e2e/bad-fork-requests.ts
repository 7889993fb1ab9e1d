/** Rows of forks, and of agents from snapshots, in the table of tests/e2e/bad-input.test.ts. */
import { invalid, noAgent, noScope } from './bad-request.ts';
import type { BadRequest } from './bad-request.ts';

const path = '/v1/agents/{id}/fork';
const noSnapshot = { status: 404, type: 'not_found_error', code: 'snapshot_not_found' } as const;

const fork = (title: string, json: object, names: string): BadRequest => ({
  title: `fork ${title}`,
  path,
  json,
  ...invalid,
  names,
});

export const forkRequests: readonly BadRequest[] = [
  fork('none', { count: 0 }, 'count'),
  fork('21 times', { count: 21 }, 'count'),
  fork('a number of times that is a text', { count: 'x' }, 'count'),
  fork('with a blank name', { name: ' ' }, 'name'),
  fork('with a long name', { name: 'x'.repeat(101) }, 'name'),
  fork('with an unknown field', { cuont: 2 }, 'cuont'),
  fork('with channels', { include: ['channels'] }, 'include'),
  fork('with keys of its own', { llm_keys: [{ provider: 'openai', api_key: 'x' }] }, 'llm_keys'),
  fork('with what is no size', { size: 'huge' }, 'size'),
  fork('with two sizes', { size: 'medium', machine_size: 'large' }, 'size'),
  fork('with a smaller machine', { size: 'small' }, 'size'),
  fork('with a model of nobody', { model: 'nobody/x' }, 'model'),
  fork('with a peer that there is not', { peers: ['aaaaaaaaaaaa'] }, 'peers'),
  fork('with a limit that is none', { spend_limit: { daily_usd: '-1', action: 'block' } }, 'spend_limit'),
  { title: 'fork from no snapshot', path, json: { snapshot: 'aaaaaaaaaaaa' }, ...noSnapshot },
  { title: 'fork from what is no id', path, json: { snapshot: '../x' }, ...noSnapshot },
  { title: 'fork no agent', path: '/v1/agents/aaaaaaaaaaaa/fork', json: {}, ...noAgent },
  { ...fork('by a key that may only read', {}, 'agents:write'), ...noScope, key: 'read' },
  {
    title: 'make an agent from no snapshot',
    path: '/v1/agents',
    json: { name: 'x', from: { snapshot: 'aaaaaaaaaaaa' } },
    ...noSnapshot,
  },
  {
    title: 'make an agent from nothing',
    path: '/v1/agents',
    json: { name: 'x', from: {} },
    ...invalid,
    names: 'snapshot',
  },
  {
    title: 'make an agent from a snapshot with what is not of it',
    path: '/v1/agents',
    json: { name: 'x', from: { snapshot: 'aaaaaaaaaaaa', include: ['channels'] } },
    ...invalid,
    names: 'include',
  },
];
