/** Skills of an agent that comes back alone, from one real database into another: links, versions with their bytes, and names. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import type { ReadSkill } from '@lodge/ports';
import { skillContents, skillsOfAgents } from '@lodge/store/skills';
import { FakeHost } from '@lodge/vm/fake';
import { never, running, startPlane, World } from '../../../testkit/src/plane/plane.ts';
import type { Plane } from '../../../testkit/src/plane/plane.ts';
import { createSkills } from '../skills/skills.ts';
import { createAgentSkills } from './agent-skills.ts';
import { carrySkills } from './carry.ts';

interface Side {
  readonly world: World;
  readonly plane: Plane;
  readonly add: (name: string, text: string) => Promise<unknown>;
  readonly library: ReturnType<typeof createSkills>;
}

let backedUp: Side;
let here: Side;
before(async () => {
  [backedUp, here] = [await side(), await side()];
});
after(async () => {
  for (const one of [backedUp, here]) {
    await one?.plane.end();
    await one?.world.close();
  }
});

const note = { by: { actor: { kind: 'operator', id: null }, address: null, requestId: null } } as const;

async function side(): Promise<Side> {
  const world = await World.open();
  let text = '';
  const library = createSkills({
    database: world.store.database,
    makeId: randomUUID,
    reader: {
      read: (_account, origin) => Promise.resolve(skillOf((origin as { url: string }).url, text)),
      close: () => Promise.resolve(),
    },
  });
  const add = (name: string, content: string) => {
    text = content;
    const origin = { kind: 'git', url: name, ref: null, path: '' } as const;
    return library.add(world.accountId, { origin, acceptFindings: true }, note, never);
  };
  return { world, library, add, plane: await startPlane(world, new FakeHost()) };
}

const skillOf = (name: string, text: string): ReadSkill => ({
  name,
  description: 'x',
  requires: { programs: ['gh'], variables: [] },
  digest: `digest-of-${text}`,
  source: { kind: 'upload' },
  findings: [],
  files: ['SKILL.md', 'run'].map((path) => ({
    path,
    bytes: 100_000,
    sha256: 'x',
    executable: path === 'run',
    content: Buffer.alloc(100_000, `${path} of ${text}`),
  })),
});

test('skills come along with the versions that the library lacks, once; what it has is linked; a strange one of a name stays', async () => {
  const old = await running(backedUp.world, backedUp.plane);
  const uses = createAgentSkills({ agents: backedUp.plane.agents, database: backedUp.world.store.database });
  const give = (name: string, more: object) =>
    uses.put(backedUp.world.accountId, old.id, {
      name,
      skill: name,
      version: null,
      enabled: true,
      members: null,
      ...more,
    });
  for (const name of ['pinned', 'followed', 'there', 'strange']) await backedUp.add(name, `${name} one`);
  await backedUp.add('pinned', 'pinned two');
  await backedUp.add('followed', 'followed two');
  await give('pinned', { version: 1, members: [null] });
  await give('followed', { enabled: false });
  await give('there', { version: 1 });
  await give('strange', {});

  await here.add('there', 'there zero');
  await here.add('there', 'there one');
  await here.add('strange', 'of somebody else');
  const { accountId, store } = here.world;
  const before = await here.library.get(accountId, 'strange');
  for (const time of ['first', 'second']) {
    const { id } = await running(here.world, here.plane);
    const leftOut = await carrySkills(backedUp.world.store.database, store.database, {
      from: old.id,
      to: id,
      accountId,
    });
    assert.deepEqual(leftOut, ['strange'], time);
    const rows = await store.database.repeatable((db) => skillsOfAgents(db, [id]));
    assert.deepEqual(
      rows.map(({ name, version, resolvedVersion, enabled, members, digest }) => ({
        name,
        version,
        resolvedVersion,
        enabled,
        members,
        digest,
      })),
      [
        {
          name: 'followed',
          version: null,
          resolvedVersion: 2,
          enabled: false,
          members: null,
          digest: 'digest-of-followed two',
        },
        {
          name: 'pinned',
          version: 1,
          resolvedVersion: 1,
          enabled: true,
          members: [null],
          digest: 'digest-of-pinned one',
        },
        { name: 'there', version: 2, resolvedVersion: 2, enabled: true, members: null, digest: 'digest-of-there one' },
      ],
      time,
    );
    const files = await store.database.repeatable((db) => skillContents(db, rows[1]!.versionId));
    assert.deepEqual(
      files.map(({ path, executable, content }) => [
        path,
        executable,
        content.equals(Buffer.alloc(100_000, `${path} of pinned one`)),
      ]),
      [
        ['SKILL.md', false, true],
        ['run', true, true],
      ],
    );
    const there = (await store.agents.find(id))!;
    const put = createAgentSkills({ agents: here.plane.agents, database: store.database });
    // The digest is that of a put: one that changes nothing leaves it.
    await put.put(accountId, id, { name: 'there', skill: 'there', version: 2, enabled: true, members: null });
    assert.equal((await store.agents.find(id))!.skillsWanted, there.skillsWanted);
  }
  assert.deepEqual({ ...(await here.library.get(accountId, 'strange')) }, { ...before });
  assert.equal((await here.library.list(accountId)).length, 4);
  assert.equal((await here.library.get(accountId, 'pinned')).agents, 2);
});

test('an agent without skills takes nothing, and keeps the digest of none', async () => {
  const [old, now] = [await running(backedUp.world, backedUp.plane), await running(here.world, here.plane)];
  const agent = { from: old.id, to: now.id, accountId: here.world.accountId };
  assert.deepEqual(await carrySkills(backedUp.world.store.database, here.world.store.database, agent), []);
  assert.equal((await here.world.store.agents.find(now.id))!.skillsWanted, 'none');
});
