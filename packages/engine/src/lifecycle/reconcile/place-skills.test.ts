/**
 * Skills of agents, on a real database and the fake host: the wanted ones come into the machine before the next turn, after
 * every change and every life of the machine, whatever was killed or failed on the way.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import type {
  GuestAddress,
  GuestSkills,
  ReadSkill,
  SkillFile,
  SkillSight,
  WantedSkill,
  WantedSkills,
} from '@lodge/ports';
import { createOpenclawRuntime } from '@lodge/runtimes';
import type { AgentRow } from '@lodge/store/agents';
import { FakeHost } from '@lodge/vm/fake';
import { createAgentSkills } from '../../agent-skills/agent-skills.ts';
import { createSkills } from '../../skills/skills.ts';
import { never, running, startPlane, until, World } from '../../../../testkit/src/plane/plane.ts';
import type { Plane, PlaneOptions } from '../../../../testkit/src/plane/plane.ts';

let world: World;
before(async () => {
  world = await World.open();
});
after(() => world.close());

const note = { by: { actor: { kind: 'operator', id: null }, address: null, requestId: 'req_test' } } as const;
const find = async (id: string): Promise<AgentRow> => (await world.store.agents.find(id))!;

/** The skills of fake guests. They are on the disk of the guest, so they stay as its files do. */
class Guests implements GuestSkills {
  readonly host: FakeHost;
  readonly read: string[] = [];
  places = 0;
  /** Called within each place: before anything is there, and after it is. */
  onPlace: (moment: 'before' | 'after') => Promise<void> | void = () => undefined;
  sight: (skill: WantedSkill) => Partial<SkillSight> = () => ({});
  looks = 0;
  /** Called within each look. */
  onLook: () => Promise<void> | void = () => undefined;

  constructor(host: FakeHost) {
    this.host = host;
  }

  private at({ address }: GuestAddress) {
    const vm = this.host.guestAt(address);
    if (!vm) throw new Error('no guest answers');
    return vm.guest;
  }

  async place(
    guest: GuestAddress,
    _facts: unknown,
    wanted: WantedSkills,
    read: (skill: WantedSkill) => Promise<readonly SkillFile[]>,
  ): Promise<void> {
    this.places += 1;
    await this.onPlace('before');
    const there: Record<string, string> = {};
    for (const skill of wanted.skills) {
      const files = await read(skill);
      this.read.push(skill.name);
      there[skill.name] = files.map(({ content }) => Buffer.from(content).toString()).join();
    }
    const { memory, files } = this.at(guest);
    for (const store of [memory, files]) store.set('skills', JSON.stringify(there));
    await this.onPlace('after');
  }

  async look(_guest: GuestAddress, _facts: unknown, { skills, members }: WantedSkills): Promise<SkillSight[]> {
    this.looks += 1;
    await this.onLook();
    return skills.flatMap((skill) =>
      [null, ...members]
        .filter((member) => skill.members === null || skill.members.includes(member))
        .map((member) => ({
          name: skill.name,
          member,
          state: 'loaded' as const,
          missing: { programs: [], variables: [] },
          ...this.sight(skill),
        })),
    );
  }
}

const readSkill = (name: string, content: string): ReadSkill => ({
  name,
  description: 'x',
  requires: { programs: ['gh'], variables: [] },
  digest: `digest-of-${content}`,
  source: { kind: 'upload' },
  findings: [],
  files: [
    {
      path: 'SKILL.md',
      bytes: content.length,
      sha256: 'x',
      executable: false,
      content: Buffer.from(content),
    },
  ],
});

async function start(host = new FakeHost(), options: PlaneOptions = {}) {
  const guests = new Guests(host);
  const plane = await startPlane(world, host, { skills: guests, ...options });
  return { host, guests, plane, ...usesOf(plane) };
}

function usesOf(plane: Plane) {
  const { database } = world.store;
  const uses = createAgentSkills({ agents: plane.agents, database, looks: { everyMs: 300, waitMs: 200 } });
  let content = '';
  const library = createSkills({
    database,
    makeId: randomUUID,
    reader: {
      read: (_account, origin) => Promise.resolve(readSkill((origin as { url: string }).url, content)),
      close: () => Promise.resolve(),
    },
  });
  return {
    library,
    add: (name: string, text: string) => {
      content = text;
      const origin = { kind: 'git', url: name, ref: null, path: '' } as const;
      return library.add(world.accountId, { origin, acceptFindings: true }, note, never);
    },
    put: async (id: string, name: string, more: object = {}) => {
      const input = { name, skill: name, version: null, enabled: true, members: null, ...more };
      return uses.put(world.accountId, id, input, note);
    },
    remove: (id: string, name: string) => uses.remove(world.accountId, id, name, note),
    skill: (id: string, name: string) => uses.find(world.accountId, id, name),
    look: (id: string, name: string) => uses.look(world.accountId, id, name),
    list: (id: string) => uses.list(world.accountId, id),
  };
}

/** The skills in the machine of a turn that begins now, with their contents. */
async function turnSees(plane: Plane, host: FakeHost, id: string): Promise<Record<string, string>> {
  const options = { wake: true, message: true, timeoutMs: 60_000, signal: never };
  const live = await plane.agents.use(world.accountId, id, options);
  const seen = host.guestAt(live.row.vmAddress!)!.guest.memory.get('skills') ?? '{}';
  live.release();
  return JSON.parse(seen) as Record<string, string>;
}

const unique = (() => {
  let count = 0;
  return () => `skill-${(count += 1)}`;
})();

test('the turn after a put, a new version and a removal sees them; an agent without skills costs no call', async () => {
  const { host, guests, plane, add, put, remove, skill, library } = await start();
  const name = unique();
  const plain = await running(world, plane);
  const { id } = await running(world, plane);
  await add(name, 'one');
  await put(id, name);
  assert.equal(plane.agents.inEffect(await find(id)), false);
  assert.deepEqual(await turnSees(plane, host, id), { [name]: 'one' });
  const there = await skill(id, name);
  assert.deepEqual([there.state, there.resolvedVersion, there.missing.programs], ['loaded', 1, []]);
  assert.equal((await library.get(world.accountId, name)).agents, 1);
  assert.ok(plane.agents.inEffect(await plane.agents.awaitInEffect(world.accountId, id, 20_000, never)));
  await add(name, 'two');
  assert.equal((await skill(id, name)).state, 'pending');
  assert.deepEqual(await turnSees(plane, host, id), { [name]: 'two' });
  await put(id, name, { version: 1 });
  assert.deepEqual(await turnSees(plane, host, id), { [name]: 'one' });
  const places = guests.places;
  await add(name, 'three');
  assert.deepEqual(await turnSees(plane, host, id), { [name]: 'one' });
  assert.equal(guests.places, places, 'a version that was named stays');
  await assert.rejects(library.remove(world.accountId, name, note), { code: 'skill_in_use' });
  await put(id, name, { enabled: false });
  assert.deepEqual(await turnSees(plane, host, id), {});
  assert.equal((await skill(id, name)).state, 'not_loaded');
  await put(id, name);
  assert.deepEqual(await turnSees(plane, host, id), { [name]: 'three' });
  await remove(id, name);
  assert.deepEqual(await turnSees(plane, host, id), {});
  assert.equal((await library.list(world.accountId)).find((one) => one.name === name)!.agents, 0);
  await library.remove(world.accountId, name, note);
  assert.deepEqual([plain.skillsApplied, (await find(plain.id)).skillsApplied], ['none', 'none']);
  await plane.end();
});

test('an agent that sleeps gets them with its wake; they are in every life of its machine', async () => {
  const { host, guests, plane, add, put } = await start();
  const name = unique();
  await add(name, 'one');
  const { id } = await running(world, plane);
  for (const verb of ['pause', 'stop'] as const) {
    await plane.agents.act(world.accountId, id, verb);
    await plane.agents.awaitVerb(world.accountId, id, verb, 20_000, never);
    const places = guests.places;
    await add(name, `for ${verb}`);
    await put(id, name);
    assert.equal(guests.places, places, 'nothing is woken');
    assert.deepEqual(await turnSees(plane, host, id), { [name]: `for ${verb}` });
  }
  // Its memory comes back with them, so nothing is to be done.
  await plane.agents.act(world.accountId, id, 'stop');
  await plane.agents.awaitVerb(world.accountId, id, 'stop', 20_000, never);
  const places = guests.places;
  assert.deepEqual(await turnSees(plane, host, id), { [name]: 'for stop' });
  assert.equal(guests.places, places);
  await plane.agents.act(world.accountId, id, 'restart');
  assert.equal((await plane.agents.awaitVerb(world.accountId, id, 'restart', 20_000, never)).status, 'running');
  assert.deepEqual(await turnSees(plane, host, id), { [name]: 'for stop' });
  assert.equal(guests.places, places + 1, 'a disk is asked what it has');
  await plane.end();
});

test('members of a skill are members of the agent; one that goes is taken out; the worst of what they see is the state', async () => {
  const { host, guests, plane, add, put, skill } = await start();
  const name = unique();
  await add(name, 'one');
  const { id } = await running(world, plane);
  const member = (of: string) => ({ name: of, model: null, instructions: null, createdAt: new Date() });
  const change = (names: readonly string[]) =>
    plane.agents.changeMembers(world.accountId, id, () => names.map((of) => member(of)));
  await assert.rejects(put(id, name, { members: ['scout'] }), { code: 'invalid_request' });
  await change(['scout', 'cook']);
  guests.sight = () => ({ state: 'shadowed', missing: { programs: ['gh', 'rm -rf'], variables: ['HOME'] } });
  await put(id, name, { members: [null, 'scout', 'cook'] });
  assert.deepEqual(await turnSees(plane, host, id), { [name]: 'one' });
  const { state, missing } = await skill(id, name);
  assert.deepEqual([state, missing], ['shadowed', { programs: ['gh'], variables: [] }]);
  const before = (await find(id)).skillsWanted;
  await change(['cook']);
  assert.deepEqual((await skill(id, name)).members, [null, 'cook']);
  assert.notEqual((await find(id)).skillsWanted, before);
  await plane.end();
});

test('a put that changes nothing leaves the state; variables that come have the runtime asked again', async () => {
  const { guests, plane, add, put, skill } = await start();
  const name = unique();
  await add(name, 'one');
  const { id } = await running(world, plane);
  guests.sight = () => ({ state: 'not_loaded' });
  await put(id, name);
  await until('it is seen', async () => (await skill(id, name)).state === 'not_loaded');
  const places = guests.places;
  await put(id, name, { version: 1 });
  await add(name, 'one');
  assert.equal((await skill(id, name)).state, 'not_loaded');
  assert.equal(guests.places, places);
  guests.sight = () => ({ state: 'loaded' });
  await plane.agents.update(world.accountId, id, { env: { GITHUB_TOKEN: 'x' } });
  await until('it is asked again', async () => (await skill(id, name)).state === 'loaded');
  await plane.end();
});

test('a read asks the runtime how it sees them now, seldom, for a moment, and an agent that runs alone', async () => {
  const { guests, plane, add, put, skill, look, list } = await start();
  const name = unique();
  await add(name, 'one');
  const { id } = await running(world, plane);
  await put(id, name);
  await until('it is placed', async () => (await skill(id, name)).state === 'loaded');
  const [places, before] = [guests.places, guests.looks];
  // An agent has put a skill of the name into its workspace.
  guests.sight = () => ({ state: 'shadowed', missing: { programs: ['gh'], variables: [] } });
  const all = await Promise.all(Array.from({ length: 30 }, () => list(id)));
  assert.deepEqual(
    all.map(([one]) => [one!.state, one!.missing.programs]),
    all.map(() => ['shadowed', ['gh']]),
  );
  assert.equal(guests.looks - before, 1, 'reads share a look');
  guests.sight = () => ({});
  assert.equal((await look(id, name)).state, 'shadowed', 'it is asked seldom');
  assert.equal(guests.looks - before, 1);
  await setTimeout(350);
  assert.equal((await look(id, name)).state, 'loaded');

  const answered = Promise.withResolvers<void>();
  guests.onLook = () => answered.promise;
  guests.sight = () => ({ state: 'shadowed' });
  await setTimeout(350);
  const began = performance.now();
  assert.equal((await look(id, name)).state, 'loaded', 'a runtime that takes long is not waited for');
  assert.ok(performance.now() - began < 2_000);
  answered.resolve();
  await until('the answer counts when it has come', async () => (await skill(id, name)).state === 'shadowed');
  guests.onLook = () => Promise.reject(new Error('told not to'));
  await setTimeout(350);
  assert.equal((await look(id, name)).state, 'shadowed');

  await plane.agents.act(world.accountId, id, 'pause');
  await plane.agents.awaitVerb(world.accountId, id, 'pause', 20_000, never);
  const looks = guests.looks;
  await setTimeout(350);
  assert.equal((await look(id, name)).state, 'shadowed');
  assert.deepEqual([guests.looks, guests.places, (await find(id)).status], [looks, places, 'paused']);
  await plane.end();
});

test('a skill that is put and not enabled, or for no member, waits for nothing', async () => {
  const { plane, add, put, skill } = await start();
  const name = unique();
  await add(name, 'one');
  const { id } = await running(world, plane);
  for (const none of [{ enabled: false }, { members: [] }]) {
    await put(id, name, none);
    assert.equal((await skill(id, name)).state, 'not_loaded');
  }
  await plane.end();
});

test('a machine that does not take them runs on and is tried again; a turn does not wait for that', async () => {
  const { host, guests, plane, add, put, skill } = await start();
  const name = unique();
  await add(name, 'one');
  const { id } = await running(world, plane);
  guests.onPlace = () => Promise.reject(new Error('told not to'));
  await put(id, name);
  await until('the failure is told', async () => (await find(id)).skillsError !== null);
  assert.deepEqual(await turnSees(plane, host, id), {});
  const { state, error } = await skill(id, name);
  assert.deepEqual([state, error, (await find(id)).status], ['pending', 'The machine did not take them.', 'running']);
  guests.onPlace = () => undefined;
  await until('it is tried again', async () => (await skill(id, name)).state === 'loaded');
  assert.equal((await find(id)).skillsError, null);
  await plane.end();
});

test('a process that is killed on the way leaves work that the next one does', async () => {
  for (const moment of ['before', 'after'] as const) {
    const host = new FakeHost();
    const first = await start(host);
    const name = unique();
    await first.add(name, 'one');
    const { id } = await running(world, first.plane);
    first.guests.onPlace = (now) => (now === moment ? new Promise(() => undefined) : undefined);
    await first.put(id, name);
    await until('a place goes on', () => first.guests.places === 1);
    first.plane.kill();
    const next = await start(host);
    assert.deepEqual(await turnSees(next.plane, host, id), { [name]: 'one' });
    assert.equal((await next.skill(id, name)).state, 'loaded');
    await next.plane.end();
  }
});

test('an agent whose image is from before skills is given none until it is upgraded', async () => {
  const host = new FakeHost();
  const { plane, add, put } = await start(host, { release: 'openclaw-2026.9.5-config-5-warm-up-3' });
  const name = unique();
  await add(name, 'one');
  const { id } = await running(world, plane);
  await assert.rejects(put(id, name), { code: 'agent_outdated' });
  plane.kill();
  const next = await start(host, { release: createOpenclawRuntime().templateVariant });
  await assert.rejects(next.put(id, name), { code: 'agent_outdated' });
  await until('it can be upgraded', async () => next.plane.agents.canUpgrade(await find(id)));
  await next.plane.agents.act(world.accountId, id, 'upgrade');
  await next.plane.agents.awaitVerb(world.accountId, id, 'upgrade', 20_000, never);
  await next.put(id, name);
  assert.deepEqual(await turnSees(next.plane, host, id), { [name]: 'one' });
  await next.plane.end();
});

test('an agent has at most 50 skills, and those of another account are not there', async () => {
  const { plane, add, put } = await start();
  const { id } = await running(world, plane);
  const names = Array.from({ length: 51 }, unique);
  for (const name of names) await add(name, 'x');
  for (const name of names.slice(0, 50)) await put(id, name, { enabled: false });
  await assert.rejects(put(id, names[50]!), { code: 'quota_exceeded' });
  await put(id, names[0]!, { version: 1 });
  await assert.rejects(put(id, names[0]!, { version: 2 }), { code: 'skill_not_found' });
  await assert.rejects(put(id, names[0]!, { skill: names[1] }), { code: 'invalid_request' });
  await assert.rejects(put(id, 'nothing'), { code: 'skill_not_found' });
  await plane.end();
});
