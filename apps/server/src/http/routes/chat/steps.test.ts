/** Tests what a chat that streams tells of the agent's tools: only to clients that ask, and as chunks that OpenAI's clients know. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import OpenAI from 'openai';
import { openChat } from '../../../../../../packages/testkit/src/plane/http/open-chat.ts';
import {
  answerEvents,
  chunk,
  done,
  errorOf,
  event,
  usage,
} from '../../../../../../packages/testkit/src/leaf/stub-gateway.ts';

const world = await openChat();
const { gateway, id: agentId } = world;
after(world.close);
const messages = [{ role: 'user' as const, content: 'Hello' }];
const withSteps = { messages, stream: true, stream_options: { include_steps: true } };
const named = (name: string, data: object): string => `event: ${name}\n${event(data)}`;
const tool = (data: object): string => named('openclaw.tool', { toolCallId: 'call_1', name: 'exec', ...data });

/** One turn of a runtime that reports its tools. */
const turn = [
  event(chunk('one')),
  tool({ phase: 'start', status: 'running', meta: 'list\u0007 files' }),
  tool({ phase: 'end', status: 'failed', meta: 'list files', result: 'secret' }),
  named('other', { toolCallId: 'call_2', name: 'exec', phase: 'start' }),
  event(chunk('two')),
  event({ ...chunk(''), choices: [], usage }),
  done,
] as const;
const silent = (text: string): string => text.replaceAll(': working\n\n', '');
const ask = async (body: object, path?: string) =>
  silent(await (await world.post(body, path === undefined ? {} : { path })).text());

test('a client that does not ask gets the stream without steps, byte for byte', async () => {
  gateway.answer = answerEvents(...turn);
  const model = agentId;
  const expected = [chunk('one'), chunk('two'), { ...chunk(''), choices: [], usage }];
  const bytes = expected.map((data) => event({ ...data, model })).join('') + done;
  const options = { include_usage: true };
  for (const stream_options of [undefined, options, { include_steps: false }, { ...options, include_steps: null }]) {
    assert.equal(await ask({ messages, stream: true, stream_options }), bytes);
  }
  assert.deepEqual(
    gateway.requests.map(({ body }) => body.stream_options),
    [undefined, options, undefined, options],
    'the runtime sees the options of OpenAI alone',
  );
});

test('steps come in their place, as chunks without choices, on both routes', async () => {
  gateway.answer = answerEvents(...turn);
  const { id, object, created } = chunk('');
  const of = (model: string) => [
    event({ ...chunk('one'), model }),
    ...(['started', 'failed'] as const).map((status) => {
      const step = { id: 'step_1', tool: 'exec', status, title: 'list files' };
      return event({ id, object, created, model, choices: [], step });
    }),
    event({ ...chunk('two'), model }),
    event({ ...chunk(''), choices: [], usage, model }),
    done,
  ];
  assert.equal(await ask(withSteps), of(agentId).join(''));
  assert.equal(await ask({ ...withSteps, model: agentId }, '/chat/completions'), of(agentId).join(''));
});

test('each runtime is read in its own words', async () => {
  const hermes = await world.running({ runtime_kind: 'runtime_b', model: 'gpt-5' });
  const report = { tool: 'terminal', label: 'ls', toolCallId: 'call_1' };
  gateway.answer = answerEvents(
    tool({ phase: 'start' }),
    named('hermes.tool.progress', { ...report, status: 'running' }),
    done,
  );
  const text = await ask(withSteps, `/agents/${hermes}/chat/completions`);
  assert.match(
    text,
    /^data: \{"id":"chatcmpl",.*"step":\{"id":"step_1","tool":"terminal","status":"started","title":"ls"\}\}/,
  );
});

test('an unmodified OpenAI client reads a stream with steps', async () => {
  const saying = (delta: object, finish_reason: string | null) =>
    event({ ...chunk(''), choices: [{ index: 0, delta, finish_reason }] });
  const [one, start, end, , two, last, mark] = turn;
  const role = saying({ role: 'assistant' }, null);
  gateway.answer = answerEvents(role, one, start, end, two, saying({}, 'stop'), last, mark);
  const client = new OpenAI({ baseURL: world.baseUrl, apiKey: world.apiKey, maxRetries: 0 });
  const stream_options = { include_usage: true, include_steps: true };
  const completion = await client.chat.completions
    .stream({ model: agentId, messages, stream_options })
    .finalChatCompletion();
  assert.equal(completion.choices[0]?.message.content, 'onetwo');
});

test('the options of a stream are checked', async () => {
  for (const stream_options of [{ include_steps: 'yes' }, 'steps']) {
    const error = await errorOf(await world.post({ messages, stream: true, stream_options }));
    assert.deepEqual([error.status, error.code], [400, 'invalid_request']);
    assert.match(error.message, /stream_options/);
  }
});
