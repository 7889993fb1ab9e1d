import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import type { RuntimeFacts, WantedSkill } from '@lodge/ports';
import { createOpenclawRuntime } from './runtime.ts';
import { ok, startStubGuest, type StubGuest } from './testing/stub-guest.ts';

const { skills } = createOpenclawRuntime();
const facts: RuntimeFacts = { token: 'abcdef0123456789'.repeat(4), suspensionId: 's-1' };
const never = new AbortController().signal;
let guest: StubGuest;

beforeEach(async () => {
  guest = await startStubGuest();
});
afterEach(() => guest.close());

const skill = (name: string, members: WantedSkill['members'] = null): WantedSkill => ({
  name,
  digest: name.padEnd(64, '0'),
  requires: { programs: [], variables: [] },
  members,
});
const look = async (wanted: readonly WantedSkill[], members: readonly string[] = []) =>
  (await skills.look(guest, facts, { digest: 'd', skills: wanted, members }, never)).map(
    ({ name, member, state }) => `${member ?? 'agent'} ${name} ${state}`,
  );
const set = '/var/lib/lodge/skills/set';

test('a skill is loaded where OpenClaw offers the one of the set, and shadowed where it has another of its name', async () => {
  guest.gateway.rpc['skills.status'] = [
    ok({
      skills: [
        { name: 'here', filePath: `${set}/lodge/here/SKILL.md`, modelVisible: true },
        { name: 'unfit', filePath: `${set}/lodge/unfit/SKILL.md`, modelVisible: false },
        { name: 'own', filePath: '/workspace/skills/own/SKILL.md', modelVisible: true },
        'no skill',
      ],
    }),
  ];
  const wanted = ['here', 'unfit', 'own', 'absent'].map((name) => skill(name));
  assert.deepEqual(await look(wanted), [
    'agent here loaded',
    'agent unfit not_loaded',
    'agent own shadowed',
    'agent absent not_loaded',
  ]);
});

test('each member that has a skill is asked once, and one that is not there yet has none', async () => {
  guest.gateway.rpc['skills.status'] = [
    ok({ skills: [{ name: 'all', filePath: `${set}/lodge/all/SKILL.md`, modelVisible: true }] }),
    { status: 400, body: { ok: false, error: { code: 'INVALID_REQUEST', message: 'unknown agent id "scout"' } } },
  ];
  assert.deepEqual(await look([skill('all'), skill('for-scout', ['scout'])], ['scout']), [
    'agent all loaded',
    'scout all not_loaded',
    'scout for-scout not_loaded',
  ]);
  assert.deepEqual(await look([skill('for-scout', ['scout'])], ['writer']), []);
});

test('an answer that is not one is no list of skills', async () => {
  guest.gateway.rpc['skills.status'] = [{ status: 500, body: { ok: false } }];
  await assert.rejects(look([skill('here')]), /OpenClaw refused skills\.status/);
  guest.gateway.rpc['skills.status'] = [ok({ skills: { here: true } })];
  assert.deepEqual(await look([skill('here')]), ['agent here not_loaded']);
});
