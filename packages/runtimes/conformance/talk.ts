/** Cases: an agent is spoken to, remembers, works in its machine, and stops when nobody listens any more. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import OpenAI from 'openai';
import type { Results } from './results.ts';
import type { Subject } from './subjects.ts';
import { type Tested } from './world.ts';
import { until } from './until.ts';

const goneWithinMs = 300_000;

export function talk(results: Results, subject: Subject, agent: () => Tested): void {
  const { check, further } = results.of(agent);
  const word = `word-${randomBytes(6).toString('hex')}`;

  further('an unmodified OpenAI client gets an answer, by the agent’s key and model', async (agent) => {
    const { llm, keys, service } = agent.world;
    const client = new OpenAI({ baseURL: service.baseUrl, apiKey: service.apiKey, maxRetries: 0 });
    const models = [];
    for await (const model of client.models.list()) models.push(model.id);
    assert.deepEqual(models, [agent.id]);
    llm.script([{ text: 'Hello from the model.' }]);
    const messages = [{ role: 'user' as const, content: 'Hi there' }];
    const reply = await client.chat.completions.create({ model: agent.id, messages });
    assert.match(reply.choices[0]!.message.content!, /Hello from the model\./);
    assert.equal(reply.model, agent.id);
    const seen = llm.requests.at(-1)!;
    assert.deepEqual([seen.key, seen.model], [keys[0], 'test-model']);
    assert.match(agent.lastSeen, /Hi there/);
  });

  further('an answer streams', async (agent) => {
    agent.world.llm.script([{ text: 'one two three' }]);
    assert.deepEqual(await agent.stream('Count'), { text: 'one two three', finish: 'stop', steps: [] });
  });

  check('a shell command runs in the workspace, streamed too', async (agent) => {
    const { llm } = agent.world;
    const marker = `marker-${randomBytes(8).toString('hex')}`;
    llm.script([
      { toolCalls: [subject.shell(`echo ${marker} > from-the-agent.txt; id -u`)] },
      { text: 'It is written.' },
    ]);
    const before = llm.requests.length;
    const { text, finish, steps } = await agent.stream('Write the file');
    assert.match(text, /It is written\./);
    assert.equal(finish, 'stop');
    const { name: tool } = subject.shell('');
    assert.deepEqual(
      steps.map(({ title, ...step }) => ({ ...step, hasTitle: title !== undefined })),
      (['started', 'completed'] as const).map((status) => ({ id: 'step_1', tool, status, hasTitle: true })),
    );
    assert.equal(llm.requests.length - before, 2, 'one call for the tool call, one with its result');
    assert.match(agent.lastSeen, /1000/, 'it runs as the unprivileged user');
    assert.equal(await agent.file('/workspace/from-the-agent.txt'), `${marker}\n`);
  });

  check(
    'the file tool writes into the workspace, and usage is what the provider billed for the turn',
    async (agent) => {
      const { llm } = agent.world;
      const content = `grüße ${randomBytes(4).toString('hex')}`;
      const usage = { input: 100, output: 20, cacheRead: 40 };
      llm.script([
        { toolCalls: [subject.write('/workspace/notes/one.md', content)], usage },
        { text: 'Done.', usage: { input: 7, output: 3 } },
      ]);
      const before = llm.ledger.length;
      const reply = await agent.say('Note it');
      assert.match(reply.choices[0]!.message.content!, /Done\./);
      assert.equal((await agent.file('/workspace/notes/one.md')).trimEnd(), content);
      const billed = llm.ledger.slice(before).map((entry) => entry.usage);
      const sum = (of: (one: (typeof billed)[number]) => number): number =>
        billed.reduce((all, one) => all + of(one), 0);
      assert.deepEqual(
        [reply.usage?.prompt_tokens, reply.usage?.completion_tokens],
        [sum(({ input, cacheRead = 0 }) => input + cacheRead), sum(({ output }) => output)],
      );
    },
  );

  check('a conversation is remembered by its user, and only there', async (agent) => {
    agent.world.llm.script([{ text: 'Noted.' }, { text: 'I know.' }, { text: 'What word?' }]);
    await agent.answer(`The word is ${word}.`, { user: 'first' });
    await agent.answer('What was it?', { user: 'first' });
    assert.match(agent.lastSeen, new RegExp(`${word}[^]*Noted[^]*What was it`));
    await agent.answer('What was it?', { user: 'second' });
    assert.doesNotMatch(agent.lastSeen, new RegExp(word));
  });

  check('history that the client sends is what the model sees, and without a user nothing else', async (agent) => {
    agent.world.llm.script([{ text: 'Four.' }]);
    const messages = [
      { role: 'user', content: 'I say one.' },
      { role: 'assistant', content: 'I say two.' },
      { role: 'user', content: 'I say three.' },
    ] as const;
    const reply = await agent.client.chat.completions.create({ model: 'any', messages: [...messages] });
    assert.match(reply.choices[0]!.message.content!, /Four\./);
    assert.match(agent.lastSeen, /I say one\.[^]*I say two\.[^]*I say three\./);
    assert.doesNotMatch(agent.lastSeen, new RegExp(word), 'a call without a user stands alone');
  });

  check('the Responses API answers, and goes on from an answer', async (agent) => {
    const { llm } = agent.world;
    llm.script([{ text: 'First.' }, { text: 'Second.' }]);
    const first = await agent.client.responses.create({ model: 'any', input: 'The colour is teal.' });
    assert.match(first.output_text, /First\./);
    const next = { model: 'any', input: 'And now?', previous_response_id: first.id, stream: true } as const;
    let text = '';
    for await (const event of await agent.client.responses.create(next)) {
      if (event.type === 'response.output_text.delta') text += event.delta;
    }
    assert.equal(text, 'Second.');
    assert.match(agent.lastSeen, /The colour is teal\.[^]*And now/);
  });

  /** The client goes away while the model answers. */
  async function leave(agent: Tested, turn: (signal: AbortSignal) => Promise<unknown>): Promise<void> {
    const { llm } = agent.world;
    llm.script([{ chunks: ['one ', 'two'], hang: 'after-first-chunk' }]);
    const client = new AbortController();
    const left = turn(client.signal);
    await until('the model is asked', 300_000, () => llm.requests.length > 0);
    client.abort();
    // An aborted whole answer ends with an error, an aborted stream just ends.
    await left.catch(() => undefined);
    await until('its call is closed', goneWithinMs, () => llm.requests[0]!.clientClosedAt !== null);
  }

  check('closing a stream ends its model call', (agent) => leave(agent, (signal) => agent.stream('Talk', { signal })));

  further('closing the connection of a whole answer ends its model call', (agent) =>
    leave(agent, (signal) => agent.say('Talk', { signal })),
  );

  check('closing the connection of a whole answer ends the turn’s command', async (agent) => {
    const { llm } = agent.world;
    llm.script([{ toolCalls: [subject.shell('sleep 4321')] }, { text: 'never' }]);
    const client = new AbortController();
    const turn = agent.say('Wait', { signal: client.signal });
    const sleeps = async (): Promise<boolean> => (await agent.shell("pgrep -x -f 'sleep 4321' || true")) !== '';
    await until('the command runs', 300_000, sleeps);
    client.abort();
    await assert.rejects(turn);
    await until('the command is gone', goneWithinMs, async () => !(await sleeps()));
    assert.equal(llm.requests.length, 1);
  });
}
