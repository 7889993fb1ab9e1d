/** Rows of skills in the table of tests/e2e/bad-input.test.ts. */
import { skillText, tarGzOf, zipOf } from '../../packages/skills/src/testing/archives.ts';
import { get, invalid, noAgent, noScope, tooLarge, wrongMedia } from './bad-request.ts';
import type { BadRequest } from './bad-request.ts';

const path = '/v1/skills';
const noSkill = { status: 404, type: 'not_found_error', code: 'skill_not_found' } as const;
const failed = { status: 422, type: 'invalid_request_error', code: 'skill_source_failed' } as const;
const zip = { 'content-type': 'application/zip' };
const gzip = { 'content-type': 'application/gzip' };

const add = (title: string, json: object, names: BadRequest['names']): BadRequest => ({
  title: `add a skill from ${title}`,
  path,
  json,
  ...invalid,
  ...(names !== undefined && { names }),
});
const sent = (title: string, body: Uint8Array, names: string, headers: Record<string, string> = zip): BadRequest => ({
  title: `send a skill that is ${title}`,
  path,
  body,
  headers,
  ...invalid,
  names,
});
const main = { path: 'SKILL.md', content: skillText() };

const given = '/v1/agents/{id}/skills';
const put = (
  title: string,
  json: unknown,
  answer: Pick<BadRequest, 'status' | 'type' | 'code' | 'names'>,
): BadRequest => ({
  title: `give an agent ${title}`,
  method: 'PUT',
  path: `${given}/none`,
  json,
  ...answer,
});

/** Skills of agents. */
const ofAgents: readonly BadRequest[] = [
  put('a skill that is not there', {}, noSkill),
  put('a skill by an id that is none', { skill: 'none' }, noSkill),
  put('a skill by a name with a space', { skill: 'a b' }, { ...invalid, names: 'skill' }),
  put('a skill by no name', { skill: '' }, { ...invalid, names: 'skill' }),
  put('version 0', { version: 0 }, { ...invalid, names: 'version' }),
  put('a version and a half', { version: 1.5 }, { ...invalid, names: 'version' }),
  put('a version by a word', { version: 'newest' }, { ...invalid, names: 'version' }),
  put('a skill that is perhaps enabled', { enabled: 'yes' }, { ...invalid, names: 'enabled' }),
  put('a skill for a word', { members: 'all' }, { ...invalid, names: 'members' }),
  put('a skill for no member’s name', { members: ['No Name'] }, { ...invalid, names: 'members' }),
  put('a skill for a member twice', { members: ['scout', 'scout'] }, { ...invalid, names: 'members' }),
  put(
    'a skill for too many',
    { members: Array.from({ length: 18 }, (_, i) => `m${i}x`) },
    { ...invalid, names: 'members' },
  ),
  put('a skill with a field of its own', { path: '/etc' }, { ...invalid, names: 'path' }),
  { ...put('a skill by a key that reads', {}, noScope), key: 'read' },
  { ...put('a skill by a path', {}, noSkill), path: `${given}/a%2f..%2fb` },
  { ...put('a skill of an endless name', {}, noSkill), path: `${given}/${'a'.repeat(10_000)}` },
  { ...put('that is not there a skill', {}, noAgent), path: '/v1/agents/aaaaaaaaaaaa/skills/none' },
  get('a skill that an agent does not have', `${given}/none`, noSkill),
  get('a skill of an agent by SQL', `${given}/' or 1=1 --`, noSkill),
  get('skills of an agent that is not there', '/v1/agents/aaaaaaaaaaaa/skills', noAgent),
  { title: 'take a skill that an agent does not have', method: 'DELETE', path: `${given}/none`, ...noSkill },
  { title: 'take a skill with a key that reads', method: 'DELETE', path: `${given}/none`, key: 'read', ...noScope },
];

export const skillRequests: readonly BadRequest[] = [
  ...ofAgents,
  add('nowhere', {}, ['git', 'hub']),
  add('two places', { git: { url: 'https://a.example/x' }, hub: { name: 'clawhub', slug: 'x' } }, ['git', 'hub']),
  add('an unknown hub', { hub: { name: 'npm', slug: 'x' } }, 'hub.name'),
  add('a hub without a slug', { hub: { name: 'clawhub' } }, 'hub.slug'),
  add('a slug that leads out', { hub: { name: 'clawhub', slug: '../x' } }, 'hub.slug'),
  add('a repository by ssh', { git: { url: 'ssh://git@github.com/a/b' } }, 'git.url'),
  add('a repository by http', { git: { url: 'http://github.com/a/b' } }, 'git.url must begin with https://'),
  add('a repository with a password', { git: { url: 'https://a:b@github.com/a/b' } }, 'git.url must have no user'),
  add('a path that leads out', { git: { url: 'https://a.example/x', path: '../x' } }, 'git.path'),
  add('a reference with a space', { git: { url: 'https://a.example/x', ref: 'a b' } }, 'git.ref'),
  add('a depth of its own', { git: { url: 'https://a.example/x', depth: 5 } }, 'git.depth'),
  {
    title: 'add a skill from this machine',
    path,
    json: { git: { url: 'https://127.0.0.1/x' } },
    ...failed,
    names: 'not public',
  },
  {
    title: 'add a skill from the cloud’s metadata',
    path,
    json: { git: { url: 'https://169.254.169.254/x' } },
    ...failed,
  },
  sent('text', Buffer.from('x'), 'body'),
  sent('text instead of a tar', Buffer.from('x'), 'body', gzip),
  sent('without a SKILL.md', zipOf([{ path: 'a' }]), 'SKILL.md'),
  sent('named otherwise', zipOf([{ path: 'other/SKILL.md', content: skillText() }]), 'name'),
  sent('with a path that leads out', tarGzOf([main, { path: '../a' }]), '../a', gzip),
  sent('with a link', tarGzOf([main, { path: 'a', type: '2' }]), 'a', gzip),
  {
    title: 'send a skill that is too large',
    path,
    body: Buffer.alloc(9 * 2 ** 20 + 1),
    headers: zip,
    ...tooLarge,
    names: '9 MiB',
  },
  {
    title: 'send a skill in another form',
    path,
    body: 'x',
    headers: { 'content-type': 'application/x-7z-compressed' },
    ...wrongMedia,
  },
  {
    title: 'add a skill with a key that reads',
    path,
    key: 'read',
    json: { hub: { name: 'clawhub', slug: 'x' } },
    ...noScope,
  },
  get('a skill that is not there', `${path}/none`, noSkill),
  get('versions of a skill that is not there', `${path}/none/versions`, noSkill),
  get('too many versions', `${path}/none/versions?limit=21`, { ...invalid, names: 'limit' }),
  get('a file of a skill that is not there', `${path}/none/files/SKILL.md`, noSkill),
  get('a file that leads out of a skill', `${path}/none/files/a%2f..%2f..%2fx`, { ...invalid, names: 'path' }),
  get('a version that is none', `${path}/none/files/SKILL.md?version=0`, { ...invalid, names: 'version' }),
  { title: 'delete a skill that is not there', method: 'DELETE', path: `${path}/none`, ...noSkill },
];
