import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import type { WantedSkill } from '@lodge/ports';
import { createHermesRuntime } from './runtime.ts';
import { startStubGuest, type StubGuest } from './testing/stub-guest.ts';

const { skills } = createHermesRuntime();
const facts = { token: 'abcdef0123456789'.repeat(4), pictures: true };
const never = new AbortController().signal;
let guest: StubGuest;

beforeEach(async () => {
  guest = await startStubGuest();
});
afterEach(() => guest.close());

const wanted: readonly WantedSkill[] = ['here', 'own', 'absent'].map((name) => ({
  name,
  digest: name.padEnd(64, '0'),
  requires: { programs: [], variables: [] },
  members: null,
}));
const look = async () =>
  (await skills.look(guest, facts, { digest: 'd', skills: wanted, members: [] }, never)).map(
    ({ name, state }) => `${name} ${state}`,
  );

test('a skill is loaded where Hermes lists the one of the set, and shadowed where it lists one of the workspace', async () => {
  guest.skills = [{ name: 'here', category: 'lodge' }, { name: 'own', category: null }, 'no skill'];
  assert.deepEqual(await look(), ['here loaded', 'own shadowed', 'absent not_loaded']);
});

test('an answer that is no list fails', async () => {
  guest.skills = { here: true };
  await assert.rejects(look(), /Hermes did not say which skills it has/);
});
