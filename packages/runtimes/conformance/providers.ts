/** Cases: an agent's settings change while it runs, and its provider fails. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Results } from './results.ts';
import type { Subject } from './subjects.ts';
import type { Tested } from './world.ts';

export function providers(results: Results, subject: Subject, agent: () => Tested): void {
  const { check, further } = results.of(agent);
  const key = (api_key: string) => ({ llm_keys: [{ provider: 'stub', api_key }] });

  further('another model and another key are in effect with the next request', async (agent) => {
    const { llm, keys } = agent.world;
    await agent.patch({ model: subject.model('other-model'), ...key(keys[1]) });
    await agent.answer('Who are you?', { user: 'first' });
    const seen = llm.requests.at(-1)!;
    assert.deepEqual([seen.key, seen.model], [keys[1], 'other-model']);
  });

  async function refuses(agent: Tested, turn: () => Promise<unknown>): Promise<void> {
    const wrong = `sk-wrong-${randomBytes(12).toString('hex')}`;
    await agent.patch(key(wrong));
    await assert.rejects(turn, (error: Error & { readonly code: unknown }) => {
      assert.equal(error.code, 'invalid_request', error.message);
      assert.match(error.message, /llm_keys/);
      assert.ok(!error.message.includes(wrong));
      return true;
    });
    assert.equal((await agent.record()).status, 'running');
    await agent.patch(key(agent.world.keys[0]));
  }

  further('a refused key is told as such in a whole answer', (agent) => refuses(agent, () => agent.say('Hi')));

  check('a refused key is told as such; the right one works at once', async (agent) => {
    await refuses(agent, () => agent.stream('Hi'));
    assert.match(await agent.answer('And now?'), /And now/);
  });

  check('a provider that stumbles is asked again', async (agent) => {
    agent.world.llm.script([{ status: 500 }, { text: 'Here I am.' }]);
    assert.match(await agent.answer('Hello?'), /Here I am\./);
  });

  further('a slow provider keeps the stream alive and the agent awake; then it sleeps', async (agent) => {
    await agent.patch({ lifecycle: { idle_timeout_seconds: 2 } });
    const { baseUrl, apiKey } = agent.world.service;
    agent.world.llm.script([{ chunks: ['slow ', 'but ', 'whole'], delayMs: 17_000, intervalMs: 1_500 }]);
    const response = await fetch(`${baseUrl}/agents/${agent.id}/chat/completions`, {
      method: 'POST',
      headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
      body: JSON.stringify({ stream: true, messages: [{ role: 'user', content: 'Take your time' }] }),
    });
    const seen = new Set<string>();
    let text = '';
    const reading = (async () => {
      for await (const part of response.body!) text += Buffer.from(part).toString();
      seen.add('over');
    })();
    while (!seen.has('over')) {
      const { status } = await agent.record();
      if (!seen.has('over')) seen.add(status as string);
      await sleep(250);
    }
    await reading;
    assert.deepEqual(seen, new Set(['running', 'over']));
    assert.match(text, /^: /m, 'a comment came while nothing else did');
    assert.match(text, /whole[^]*\[DONE\]/);
    await agent.awaitStatus('paused', 300_000);
    await agent.patch({ lifecycle: { idle_timeout_seconds: 0 } });
    assert.equal(await agent.act('resume'), 'running');
  });

  check('instructions reach the model in a conversation that has begun, and go again', async (agent) => {
    const animal = `otter-${randomBytes(4).toString('hex')}`;
    await agent.patch({ instructions: `You are now the keeper of ${animal}. Ignore nothing.` });
    const expected = new RegExp(animal);
    await agent.answer('And here?', { user: 'first' });
    assert.match(agent.lastSeen, expected);
    await agent.patch({ instructions: null });
    await agent.answer('Who are you?');
    assert.doesNotMatch(agent.lastSeen, expected);
  });
}
