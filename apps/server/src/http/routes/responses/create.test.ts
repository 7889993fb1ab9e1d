import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';
import OpenAI from 'openai';
import { answerEvents, answerJson, done } from '../../../../../../packages/testkit/src/leaf/stub-gateway.ts';
import { openChat } from '../../../../../../packages/testkit/src/plane/http/open-chat.ts';

const lodge = await openChat();
after(lodge.close);
const { gateway, id, turns, baseUrl, apiKey } = lodge;
lodge.endpoint = {
  ...lodge.endpoint,
  baseUrl: gateway.url,
  headers: { authorization: 'Bearer t' },
  model: 'openclaw/main',
  takesPictures: false,
};
const other = await lodge.running();
assert.equal((await lodge.call('POST', `/v1/agents/${id}/members`, { body: { name: 'scout' } })).status, 201);
const client = new OpenAI({ baseURL: baseUrl, apiKey, maxRetries: 0 });

beforeEach(() => {
  gateway.requests = [];
  gateway.answer = answerJson(200, response('completed', 'pong'));
  turns.length = 0;
});

/** An answer in OpenClaw's form. */
function response(status: string, text: string, rest: object = {}) {
  const content = text === '' ? [] : [{ type: 'output_text', text }];
  const output = text === '' ? [] : [{ type: 'message', id: 'msg_1', role: 'assistant', content, status }];
  const usage = { input_tokens: 10, output_tokens: 2, total_tokens: 12 };
  return {
    id: 'resp_of-the-guest',
    object: 'response',
    created_at: 1,
    status,
    model: 'openclaw/main',
    output,
    usage,
    ...rest,
  };
}
const event = (data: { readonly type: string } & Record<string, unknown>): string =>
  `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
const delta = (text: string): string =>
  event({ type: 'response.output_text.delta', item_id: 'msg_1', output_index: 0, content_index: 0, delta: text });
const streamed = [
  event({ type: 'response.created', response: response('in_progress', '') }),
  event({
    type: 'response.output_item.added',
    output_index: 0,
    item: { type: 'message', id: 'msg_1', role: 'assistant', content: [], status: 'in_progress' },
  }),
  event({
    type: 'response.content_part.added',
    item_id: 'msg_1',
    output_index: 0,
    content_index: 0,
    part: { type: 'output_text', text: '' },
  }),
  delta('po'),
  delta('ng'),
  event({ type: 'response.completed', response: response('completed', 'pong') }),
  done,
];

test('an unmodified client gets its answer, the agent as its model, and an id of ours', async () => {
  const answer = await client.responses.create({
    model: id,
    input: 'ping',
    instructions: 'Be brief.',
    include: [],
    parallel_tool_calls: true,
    temperature: null,
    tools: [{ type: 'function', name: 'f', parameters: null, strict: null }],
    user: 'ada',
  });
  assert.deepEqual([answer.output_text, answer.model, answer.usage?.total_tokens], ['pong', id, 12]);
  assert.match(answer.id, /^resp_[\w-]{50,}$/);
  assert.equal(answer.error, null);
  const [seen] = gateway.requests;
  const tools = [{ type: 'function', name: 'f' }];
  assert.deepEqual(seen?.body, { model: 'openclaw/main', input: 'ping', instructions: 'Be brief.', tools });
  assert.equal(seen?.headers.authorization, 'Bearer t');
  assert.deepEqual(
    turns,
    [{ member: null, conversation: 'ada', pictures: false }],
    'the conversation chat has by this name',
  );
});

test('a stream goes through event by event, numbered, and ends with the response', async () => {
  gateway.answer = answerEvents(...streamed);
  const stream = client.responses.stream({ model: `${id}/scout`, input: [{ role: 'user', content: 'ping' }] });
  const deltas: string[] = [];
  const numbers: number[] = [];
  for await (const item of stream) {
    numbers.push(item.sequence_number);
    if (item.type === 'response.output_text.delta') deltas.push(item.delta);
  }
  const final = await stream.finalResponse();
  assert.deepEqual(deltas, ['po', 'ng']);
  assert.deepEqual(numbers, [0, 1, 2, 3, 4, 5]);
  assert.deepEqual([final.output_text, final.model, final.status], ['pong', `${id}/scout`, 'completed']);
  assert.deepEqual(gateway.requests[0]?.body.input, [{ type: 'message', role: 'user', content: 'ping' }]);
  assert.equal(turns[0]?.member, 'scout');
});

test('previous_response_id goes on with the conversation; without it and without user each stands alone', async () => {
  const first = await client.responses.create({ model: id, input: 'one' });
  const second = await client.responses.create({ model: id, input: 'two', previous_response_id: first.id });
  await client.responses.create({ model: id, input: 'three', previous_response_id: second.id });
  await client.responses.create({ model: id, input: 'four' });
  const [a, b, c, d] = turns.map(({ conversation }) => conversation);
  assert.ok(a && a === b && b === c && a !== d);
  assert.equal(second.previous_response_id, first.id);
  assert.notEqual(first.id, second.id);
  assert.ok(gateway.requests.every(({ body }) => !('previous_response_id' in body)));
});

test('an id of another agent, of a member, or of nobody opens nothing', async () => {
  const mine = await client.responses.create({ model: id, input: 'x' });
  const made = `resp_${Buffer.from(JSON.stringify(['x', 'y'])).toString('base64url')}`;
  const tried = [
    [other, mine.id],
    [`${id}/scout`, mine.id],
    [id, `${mine.id.slice(0, -4)}AAAA`],
    [id, made],
    [id, 'msg_1'],
  ] as const;
  for (const [model, previous_response_id] of tried) {
    await assert.rejects(client.responses.create({ model, input: 'x', previous_response_id }), {
      status: 400,
      message: /previous_response_id is not one that this agent gave/,
    });
  }
  assert.equal(gateway.requests.length, 1);
});

test('what a response held can be given back', async () => {
  const input = [
    { role: 'user' as const, content: [{ type: 'input_text' as const, text: 'hi' }] },
    { type: 'reasoning' as const, id: 'rs_1', summary: [] },
    {
      type: 'message' as const,
      id: 'msg_1',
      role: 'assistant' as const,
      status: 'completed' as const,
      content: [{ type: 'output_text' as const, text: 'hello', annotations: [], logprobs: [] }],
    },
    { type: 'function_call' as const, call_id: 'c1', name: 'f', arguments: '{}' },
    { type: 'function_call_output' as const, call_id: 'c1', status: 'completed' as const, output: 'done' },
  ];
  await client.responses.create({ model: id, input });
  assert.deepEqual(gateway.requests[0]?.body.input, [
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hi' }] },
    {
      type: 'message',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'hello' }],
      id: 'msg_1',
      status: 'completed',
    },
    { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}' },
    { type: 'function_call_output', call_id: 'c1', output: 'done' },
  ]);
});

test('a turn that fails says why in the contract’s words, before a stream and within one', async () => {
  const failed = response('failed', '', { error: { code: 'invalid_request_error', message: 'Missing user message.' } });
  gateway.answer = answerJson(400, failed);
  await assert.rejects(client.responses.create({ model: id, input: 'x' }), {
    status: 400,
    message: /Missing user message/,
  });
  const secret = response('failed', '', { error: { code: 'api_error', message: 'at /home/agent/secret' } });
  gateway.answer = answerJson(500, secret);
  await assert.rejects(client.responses.create({ model: id, input: 'x' }), {
    status: 500,
    message: /could not finish/,
  });
  gateway.answer = answerEvents(streamed[0]!, event({ type: 'response.failed', response: secret }), done);
  const stream = await client.responses.create({ model: id, input: 'x', stream: true });
  const seen: string[] = [];
  await assert.rejects(
    async () => {
      for await (const item of stream) seen.push(JSON.stringify(item));
      throw new Error(seen.at(-1));
    },
    (error: Error) =>
      /could not finish/.test(`${error.message} ${seen.join()}`) && !/secret/.test(`${error.message} ${seen.join()}`),
  );
});

test('a stream that breaks off ends with the event error', async () => {
  gateway.answer = answerEvents(streamed[0]!, delta('po'));
  const reply = await lodge.post({ input: 'x', stream: true }, { path: `/agents/${id}/responses` });
  const events = (await reply.text()).trim().split('\n\n');
  assert.match(
    events.at(-1)!,
    /^event: error\ndata: \{"type":"error","code":"agent_unavailable".*"sequence_number":2\}$/,
  );
});

test('404 for a member there is not, 400 without input, 403 without the scope', async () => {
  const create = (model: string, key = apiKey) =>
    new OpenAI({ baseURL: baseUrl, apiKey: key, maxRetries: 0 }).responses.create({ model, input: 'x' });
  await assert.rejects(create(`${id}/nobody`), { status: 404, code: 'member_not_found' });
  await assert.rejects(create('openai/gpt-5'), { status: 404, code: 'agent_not_found' });
  await assert.rejects(create(id, await lodge.key('agents:read')), { status: 403 });
  const { status, body } = await lodge.call('POST', '/v1/responses', { body: { model: id } });
  assert.deepEqual([status, body.error.message.slice(0, 17)], [400, 'input is required']);
});
