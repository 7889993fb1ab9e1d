import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startStubLlm } from '@lodge/testkit/llm';
import type { StubLlm } from '@lodge/testkit/llm';
import { stubAnswer } from './stub-llm-answers.ts';

let llm: StubLlm;
before(async () => {
  llm = await startStubLlm();
  llm.rule(stubAnswer);
});
after(() => llm.close());

const tools = [{ type: 'function', function: { name: 'exec', parameters: {} } }];
const command = { role: 'user', content: '[Fri 10:00 UTC] run: date -u' };

// eslint-disable-next-line typescript/no-explicit-any -- looked into as a client without types would
async function post(path: string, body: object): Promise<any> {
  const response = await fetch(`${llm.anthropicBaseUrl}${path}`, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json', 'anthropic-version': '2023-06-01' },
  });
  return response.json();
}

const complete = async (messages: object[], offered: object[] = tools) =>
  (await post('/v1/chat/completions', { model: 'm', messages, ...(offered.length > 0 ? { tools: offered } : {}) }))
    .choices[0].message;

test('what is no command is repeated', async () => {
  const reply = await complete([{ role: 'user', content: 'Good morning' }]);
  assert.match(reply.content, /Good morning$/);
  assert.equal(reply.tool_calls, undefined);
});

test('a command is asked for with the exec tool, and its output told', async () => {
  const asked = await complete([command]);
  assert.deepEqual(JSON.parse(asked.tool_calls[0].function.arguments), { command: 'date -u' });
  const result = { role: 'tool', tool_call_id: asked.tool_calls[0].id, content: 'Fri Jan  1\n' };
  const context = { role: 'user', content: [{ type: 'text', text: '<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>> none' }] };
  assert.equal((await complete([command, asked, result, context])).content, 'The command printed: Fri Jan  1');
});

test("Hermes' name for the tool serves too", async () => {
  const terminal = [{ type: 'function', function: { name: 'terminal', parameters: {} } }];
  assert.equal((await complete([command], terminal)).tool_calls[0].function.name, 'terminal');
});

test('a command without the tool for it is answered in words, so that nobody waits for it', async () => {
  const reply = await complete([command], []);
  assert.equal(reply.tool_calls, undefined);
  assert.match(reply.content, /no tool named exec/);
});

test("Anthropic's form of a tool result is understood too", async () => {
  const result = [{ type: 'tool_result', tool_use_id: 't1', content: [{ type: 'text', text: 'Fri' }] }];
  const reply = await post('/v1/messages', {
    model: 'm',
    max_tokens: 100,
    messages: [
      command,
      { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'exec', input: {} }] },
      { role: 'user', content: result },
    ],
  });
  assert.equal(reply.content?.[0]?.text, 'The command printed: Fri', JSON.stringify(reply));
});
