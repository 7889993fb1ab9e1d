/**
 * One round of a real runtime through a whole Lodge: what its owner does with an agent in its first hour, each thing once. The
 * service, the machine and the runtime are the real ones; the model's provider and the messaging platform are stubs.
 * The template may be the early one, so a round is possible some minutes before the suite is.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, beforeEach, describe } from 'node:test';
import OpenAI from 'openai';
import { allRuntimes } from '../src/index.ts';
import { holdings } from '../../../tests/failure/holdings.ts';
import { Kept } from './kept.ts';
import type { Correspondent } from './platforms.ts';
import { Results } from './results.ts';
import type { Subject } from './subjects.ts';
import { templateOf } from './templates.ts';
import { until } from './until.ts';
import { isInstalled, openWorld, templateTimeoutMs, Tested, type World } from './world.ts';

const answerTimeoutMs = 5 * 60_000;

export function playRound(subject: Subject): void {
  const results = new Results();
  const kept = new Kept(subject, 'owner');
  let world: World;
  let agent: Tested;
  let person: Correspondent;

  before(
    async () => {
      world = await openWorld(subject, await templateNeeded(subject));
      await world.service.awaitTemplate(templateTimeoutMs, subject.name);
    },
    { timeout: 2 * templateTimeoutMs },
  );

  after(async () => {
    console.log(results.table(subject));
    await world?.close();
  });

  beforeEach(() => world.llm.reset());

  describe(`a round of ${subject.name}`, { timeout: 60 * 60_000 }, () => {
    results.case('it is created, and runs', async () => {
      agent = await Tested.create(world, subject, `Round of ${subject.name}`);
    });

    results.case('it runs a command in its machine for an unmodified OpenAI client, by its key and model', async () => {
      const { llm, keys, service } = world;
      const client = new OpenAI({ baseURL: service.baseUrl, apiKey: service.apiKey });
      const models = [];
      for await (const model of client.models.list()) models.push(model.id);
      assert.deepEqual(models, [agent.id]);
      await kept.tell(agent);
      const seen = llm.requests.map(({ key, model }) => ({ key, model }));
      const expected = { key: keys[0], model: 'test-model' };
      assert.deepEqual(seen, [expected, expected], 'one call for the tool call, one with its result');
    });

    results.case('a file goes into its workspace, and comes back', async () => {
      const { baseUrl, apiKey } = world.service;
      const url = `${baseUrl}/agents/${agent.id}/files/given/grüße.bin`;
      const headers = { 'x-api-key': apiKey };
      const content = randomBytes(100_000);
      const put = await fetch(url, { method: 'PUT', headers, body: content });
      assert.equal(put.status, 201, await put.text());
      const got = await fetch(url, { headers });
      assert.ok(Buffer.from(await got.arrayBuffer()).equals(content));
    });

    results.case('paused, it is woken by a chat, and remembers', async () => {
      assert.equal(await agent.act('pause'), 'paused');
      await kept.remembers(agent);
      assert.equal((await agent.record()).status, 'running');
    });

    results.case('stopped, it leaves no process behind; started, it remembers', async () => {
      assert.equal(await agent.act('stop'), 'stopped');
      await assert.rejects(agent.pid(), /no emulator/);
      assert.equal(await agent.act('start'), 'running');
      await kept.remembers(agent);
    });

    results.case('a message on Telegram is answered', async () => {
      person = world.platforms.correspondent('telegram');
      await person.connect(agent);
      await exchange('Hello from Telegram', 'Hello to you.');
    });

    results.case('a message on Telegram wakes it from a pause, and is answered', async () => {
      assert.equal(await agent.act('pause'), 'paused');
      await exchange('Are you awake?', 'Now I am.');
      assert.equal((await agent.record()).status, 'running');
    });

    results.case('deleted, it leaves nothing behind', async () => {
      const { service } = world;
      const { dataDir, instance } = service;
      const path = `/agents/${agent.id}`;
      assert.deepEqual((await holdings(dataDir, instance)).emulators, [agent.id], 'the search finds what is there');
      const { body } = await service.call('DELETE', path);
      assert.deepEqual(body, { object: 'agent.deleted', id: agent.id, deleted: true });
      assert.equal((await service.call('GET', path)).status, 404);
      const nothing = { emulators: [], namespaces: 0, links: 0, folders: [] };
      assert.deepEqual(await holdings(dataDir, instance), nothing);
    });
  });

  async function exchange(text: string, answer: string): Promise<void> {
    world.llm.script([{ text: answer }]);
    await person.write(text);
    await until(`an answer to ${text}`, answerTimeoutMs, () =>
      person.answers().some((said) => said.includes(answer)),
    ).catch((error: Error) => assert.fail(`${error.message}\n${world.service.output.slice(-4_000)}`));
    assert.match(agent.lastSeen, new RegExp(RegExp.escape(text)));
  }
}

/** The Lodge takes the warm template where there is one, and else makes do with the early one. */
async function templateNeeded({ kind }: Subject): Promise<Readonly<Record<string, string>>> {
  // An installed version has no template before its trial.
  if (isInstalled || (await templateOf(allRuntimes().get(kind)!)) === 'full') return {};
  return { CONFORMANCE_EARLY: 'alone' };
}
