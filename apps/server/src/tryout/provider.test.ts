import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openTryOut } from './provider.ts';
import type { TryOut } from './provider.ts';

let tryOut: TryOut;
let url = '';
before(async () => {
  tryOut = await openTryOut();
  url = `${tryOut.provider.endpoints['openai-completions']!.baseUrl}/chat/completions`;
});
after(() => tryOut.close());

const post = (body: unknown): Promise<Response> =>
  fetch(url, { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body) });
const tools = [{ type: 'function', function: { name: 'terminal', parameters: {} } }];

interface Completion {
  readonly choices: readonly [
    {
      readonly message: {
        readonly content: string;
        readonly tool_calls?: readonly { function: { arguments: string } }[];
      };
      readonly finish_reason: string;
    },
  ];
}

async function complete(messages: readonly object[]): Promise<Completion['choices'][0]> {
  const reply = await post({ model: 'echo', messages, tools });
  assert.equal(reply.status, 200);
  return ((await reply.json()) as Completion).choices[0];
}

test('what is said is repeated, without what a runtime puts around it', async () => {
  const wrapped = '[Fri 2026-11-27 00:10 UTC] Good morning\n\nRuntime: agent=main | host=x';
  const context = '<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>secret plan<<<END_OPENCLAW_INTERNAL_CONTEXT>>>';
  const { message } = await complete([
    { role: 'user', content: wrapped },
    { role: 'user', content: [{ type: 'text', text: context }] },
  ]);
  assert.match(message.content, /\*\*Good morning\*\*/);
  assert.doesNotMatch(message.content, /secret plan/);
});

test('a command is asked for, and what it printed is told', async () => {
  const asked = await complete([{ role: 'user', content: 'run: uname -a' }]);
  assert.equal(asked.finish_reason, 'tool_calls');
  assert.deepEqual(JSON.parse(asked.message.tool_calls![0]!.function.arguments), { command: 'uname -a' });
  const told = await complete([
    { role: 'user', content: 'run: uname -a' },
    { role: 'tool', content: 'Linux\n' },
  ]);
  assert.match(told.message.content, /printed:\s+```\nLinux\n```/);
});

test('an answer streams, and ends with what it used', async () => {
  const text = await (await post({ messages: [{ role: 'user', content: 'hello' }], stream: true })).text();
  const chunks = text.split('\n\n').filter((line) => line !== '');
  assert.equal(chunks.at(-1), 'data: [DONE]');
  assert.ok(chunks.length > 10, 'in pieces');
  assert.match(chunks.at(-2)!, /"total_tokens":\d+/);
});

test('what a machine could send beside that is refused, and quickly', async () => {
  assert.equal((await post('no JSON')).status, 400);
  assert.equal((await post({ messages: 1 })).status, 400);
  assert.equal((await fetch(url)).status, 404);
  const large = await post({ messages: [{ role: 'user', content: 'x'.repeat(2 ** 20) }] }).catch(() => null);
  assert.ok(large === null || large.status === 413);
  const many = '<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>'.repeat(20_000);
  const { message } = await complete([{ role: 'user', content: many }]);
  assert.match(message.content, /stand in for a model/);
});
