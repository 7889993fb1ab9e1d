/**
 * kill -9 of the control plane between any two steps of placing skills: over a real database, and a real daemon with real files
 * where the guest's would be. The guarantees: the guest has one of the two whole sets at each moment, and after the next start
 * the wanted one with nothing beside it.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer, request as httpRequest } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { dialTo } from '@lodge/guest';
import { createAgentSkills, createSkills } from '@lodge/engine';
import type { GuestSkills, ReadSkill } from '@lodge/ports';
import { createOpenclawRuntime } from '@lodge/runtimes';
import { skillContents, skillsOfAgents } from '@lodge/store/skills';
import { FakeHost } from '@lodge/vm/fake';
import { Daemon, until as seen } from '../../apps/guestd/src/testing.ts';
import { never, running, startPlane, until, World } from '../../packages/testkit/src/plane/plane.ts';
import type { Plane } from '../../packages/testkit/src/plane/plane.ts';

let world: World;
const guest = new Daemon();
const note = { by: { actor: { kind: 'operator', id: null }, address: null, requestId: null } } as const;

before(async () => {
  world = await World.open();
  await guest.prepare();
  await startGuest();
});
after(async () => {
  await world?.close();
  await guest.remove();
});

/** Its commands see the folder of the guest's files in the place of this machine's, so root's script works on these. */
async function startGuest(): Promise<void> {
  const lib = join(guest.root, 'var/lib');
  mkdirSync(lib, { recursive: true });
  const main = new URL('../../apps/guestd/src/main.ts', import.meta.url).pathname;
  const daemon = [
    process.execPath,
    main,
    '--port',
    '0',
    '--root',
    guest.root,
    '--peer',
    '127.0.0.1',
    '--agent-uid',
    '1000',
  ];
  const within = ['--mount', 'sh', '-c', 'mount --bind "$1" /var/lib; shift; exec "$@"', 'sh', lib];
  guest.child = spawn('unshare', [...within, ...daemon], { stdio: 'inherit' });
  guest.port = Number((await seen(() => /listening on port (\d+)/.exec(guest.log())))[1]);
}

/** A moment of a place: the request to the guest that it is about, counted from 0, or the look after it. */
interface Moment {
  readonly at: number | 'look';
  readonly when: 'before' | 'within' | 'after';
}

/** The way of one control plane to the guest. Once that is killed nothing of it reaches the guest. */
class Way implements GuestSkills {
  readonly #server: Server;
  readonly #real = createOpenclawRuntime().skills;
  /** Kills its control plane. */
  kill = (): void => undefined;
  isDead = false;
  moment: Moment | null = null;
  requests = 0;

  constructor() {
    this.#server = createServer((request, response) => {
      this.#pass(request, response).catch(() => response.destroy());
    }).listen(0, '127.0.0.1');
  }

  async place(...[, facts, wanted, read, signal]: Parameters<GuestSkills['place']>): Promise<void> {
    this.requests = 0;
    const { port } = this.#server.address() as AddressInfo;
    const address = { address: '127.0.0.1', dial: dialTo('127.0.0.1'), port, credential: () => Promise.resolve(null) };
    await this.#real.place(address, facts, wanted, read, signal);
  }

  async look(_guest: unknown, _facts: unknown, { skills }: Parameters<GuestSkills['look']>[2]) {
    if (this.moment?.at === 'look') await this.#die();
    const there = new Set(skillsInGuest().keys());
    return skills.map(({ name }) => ({
      name,
      member: null,
      state: there.has(name) ? ('loaded' as const) : ('not_loaded' as const),
      missing: { programs: [], variables: [] },
    }));
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #die(): Promise<never> {
    this.isDead = true;
    this.kill();
    this.close();
    return new Promise<never>(() => undefined);
  }

  async #pass(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.isDead) return void response.destroy();
    const count = this.requests;
    this.requests += 1;
    const when = this.moment?.at === count ? this.moment.when : null;
    if (when === 'before') await this.#die();
    const { method, url, headers } = incoming;
    const outgoing = httpRequest({ host: '127.0.0.1', port: guest.port, method, path: url, headers, agent: false });
    incoming.pipe(outgoing);
    if (when === 'within') {
      outgoing.on('error', () => undefined);
      await sleep(Math.random() * 60);
      outgoing.destroy();
      await this.#die();
    }
    const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
    const body = await answer.toArray();
    if (when === 'after') await this.#die();
    response.writeHead(answer.statusCode!, answer.headers).end(Buffer.concat(body as Buffer[]));
  }
}

const folder = (): string => join(guest.root, 'var/lib/lodge/skills');

/** The set as it is in one moment: the text of each skill. Fails where any of it is half. */
function skillsInGuest(): Map<string, string> {
  for (;;) {
    const set = join(folder(), 'set');
    const { ino } = statSync(set, { throwIfNoEntry: false }) ?? { ino: 0 };
    if (ino === 0) return new Map();
    try {
      const found = new Map<string, string>();
      const lodge = join(set, 'lodge');
      for (const name of statSync(lodge, { throwIfNoEntry: false }) ? readdirSync(lodge).toSorted() : []) {
        const text = readFileSync(join(lodge, name, 'SKILL.md'), 'utf8');
        assert.equal(readFileSync(join(lodge, name, 'scripts/run'), 'utf8'), `run ${text}`);
        found.set(name, text);
      }
      if (statSync(set).ino === ino) return found;
    } catch (error) {
      // Another set took its place meanwhile.
      if (statSync(set).ino === ino) throw error;
    }
  }
}

const skillOf = (name: string, text: string): ReadSkill => ({
  name,
  description: 'x',
  requires: { programs: [], variables: [] },
  digest: Buffer.from(text).toString('hex').padEnd(64, '0'),
  source: { kind: 'upload' },
  findings: [],
  files: [
    { path: 'SKILL.md', bytes: text.length, sha256: 'x', executable: false, content: Buffer.from(text) },
    { path: 'scripts/run', bytes: text.length + 4, sha256: 'x', executable: true, content: Buffer.from(`run ${text}`) },
  ],
});

interface Life {
  readonly plane: Plane;
  readonly way: Way;
  readonly add: (name: string, text: string) => Promise<unknown>;
  readonly put: (id: string, name: string, enabled?: boolean) => Promise<unknown>;
  readonly remove: (id: string, name: string) => Promise<unknown>;
}

async function start(host: FakeHost): Promise<Life> {
  const way = new Way();
  const plane = await startPlane(world, host, { skills: way });
  way.kill = () => plane.kill();
  const { database } = world.store;
  const uses = createAgentSkills({ agents: plane.agents, database });
  let text = '';
  const library = createSkills({
    database,
    makeId: randomUUID,
    reader: {
      read: (_account, origin) => Promise.resolve(skillOf((origin as { url: string }).url, text)),
      close: () => Promise.resolve(),
    },
  });
  return {
    plane,
    way,
    add(name, content) {
      text = content;
      const origin = { kind: 'git', url: name, ref: null, path: '' } as const;
      return library.add(world.accountId, { origin, acceptFindings: true }, note, never);
    },
    put: (id, name, enabled = true) =>
      uses.put(world.accountId, id, { name, skill: name, version: null, enabled, members: null }, note),
    remove: (id, name) => uses.remove(world.accountId, id, name, note),
  };
}

/** Changes of what an agent has, in turn: each leads from one set to the next. */
const changes: readonly ((life: Life, id: string, text: string) => Promise<unknown>)[] = [
  async (life, id, text) => {
    await life.add('notes', text);
    await life.put(id, 'notes');
  },
  async (life, id, text) => {
    await life.add('tables', text);
    await life.put(id, 'tables');
  },
  (life, _id, text) => life.add('notes', text),
  (life, id) => life.remove(id, 'tables'),
  (life, id) => life.put(id, 'notes', false),
];

const wantedOf = (id: string): Promise<Map<string, string>> =>
  world.store.database.repeatable(async (db) => {
    const found = new Map<string, string>();
    for (const { name, enabled, versionId } of await skillsOfAgents(db, [id])) {
      if (enabled) found.set(name, (await skillContents(db, versionId))[0]!.content.toString());
    }
    return found;
  });

const momentsOf = (requests: number): readonly Moment[] =>
  Array.from({ length: requests }, (_, at) => at).flatMap((at) =>
    (['before', 'within', 'after'] as const).map((when) => ({ at, when })),
  );
/** The requests are a look at what is there, two files, the set, and the disk. */
const ofBrought: readonly Moment[] = [...momentsOf(5), { at: 'look', when: 'before' }];
const ofOthers = momentsOf(3);
const cycles = 7;

test('a kill at any moment of a place leaves one of the two sets, and the next life the wanted one alone', async (t) => {
  const host = new FakeHost();
  let life = await start(host);
  t.after(() => life.way.close());
  const { id } = await running(world, life.plane);
  const inEffect = async (): Promise<boolean> => life.plane.agents.inEffect((await world.store.agents.find(id))!);
  const counts = { brought: 0, others: 0 };
  let kills = 0;
  for (let round = 0; round < cycles * changes.length; round += 1) {
    const kind = round % changes.length;
    const moments = kind < 3 ? ofBrought : ofOthers;
    const moment = moments[counts[kind < 3 ? 'brought' : 'others']++ % moments.length]!;
    const old = skillsInGuest();
    life.way.moment = moment;
    await changes[kind]!(life, id, `text of ${round}`);
    const wanted = await wantedOf(id);
    await until('its moment has come', () => life.way.isDead, 60_000);
    kills += 1;
    const there = skillsInGuest();
    assert.ok(
      [old, wanted].some((set) => isDeepStrictEqual(set, there)),
      `${JSON.stringify(moment)}: ${JSON.stringify([...there])}`,
    );
    life = await start(host);
    await until('the next life has placed them', async () => {
      // Its first pass puts the rules of the network, and the next one is due in ten seconds.
      await life.plane.agents.update(world.accountId, id, { description: `${performance.now()}` });
      await sleep(200);
      return inEffect();
    });
    assert.deepEqual(skillsInGuest(), wanted, JSON.stringify(moment));
    assert.deepEqual(readdirSync(folder()), ['set'], 'nothing is left beside the set');
  }
  t.diagnostic(`${kills} kills`);
  assert.ok(kills >= 30);
  await life.plane.end();
});
