import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, beforeEach, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import OpenAI from 'openai';
import { openChat } from '../../../../../../packages/testkit/src/plane/http/open-chat.ts';
import {
  answerEvents,
  answerJson,
  chunk,
  done,
  errorOf,
  event,
  gatewayToken,
  usage,
  whole,
} from '../../../../../../packages/testkit/src/leaf/stub-gateway.ts';

const world = await openChat();
const { gateway, post, id } = world;
after(world.close);
beforeEach(() => {
  gateway.requests = [];
  world.calls.length = 0;
});

/** The turn's lease on its agent ends with the flush of the guest's disk. */
const released = async (): Promise<void> => {
  while (!world.calls.includes('flush')) await sleep(5);
};

const chatBody = { messages: [{ role: 'user', content: 'Hello' }] };

/** Comments come on a slow machine, where a gateway is silent for longer than a test expects. */
const withoutComments = (text: string): string => text.replaceAll(': working\n\n', '');

/** Parts of a body as they come. */
async function* parts(response: Response): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  for await (const bytes of response.body!) yield decoder.decode(bytes);
}

describe('a turn that does not stream', () => {
  test('reaches the gateway with its token and its model, and comes back with the agent as model', async () => {
    gateway.answer = answerJson(200, { ...whole, choices: [{ index: 0, message: { content: 'Hi' } }], usage });
    const response = await post({ ...chatBody, model: 'whatever', temperature: 0.5, some_new_field: { deep: [1] } });
    assert.equal(response.status, 200);
    assert.equal(response.headers.get('x-gateway'), null, 'no header of the gateway passes');
    assert.deepEqual(await response.json(), {
      ...whole,
      model: id,
      choices: [{ index: 0, message: { content: 'Hi' } }],
      usage,
    });
    const [seen] = gateway.requests;
    assert.equal(seen!.headers.authorization, `Bearer ${gatewayToken}`);
    assert.equal(seen!.headers['x-api-key'], undefined);
    assert.deepEqual(seen!.body, { ...chatBody, model: 'openclaw', temperature: 0.5, some_new_field: { deep: [1] } });
  });

  test('names its conversation by user or by X-Conversation-Id; user wins', async () => {
    gateway.answer = answerJson(200, whole);
    await post(chatBody, { headers: { 'x-conversation-id': 'from-header' } });
    await post({ ...chatBody, user: 'from-body' }, { headers: { 'x-conversation-id': 'from-header' } });
    await post({ ...chatBody, user: null });
    assert.deepEqual(
      world.turns.slice(-3).map(({ conversation }) => conversation),
      ['from-header', 'from-body', null],
    );
    assert.deepEqual(
      gateway.requests.map(({ body }) => body.user),
      [undefined, undefined, undefined],
    );
    const wrong = await errorOf(await post(chatBody, { headers: { 'x-conversation-id': 'x'.repeat(257) } }));
    assert.equal(wrong.status, 400);
    assert.match(wrong.message, /x-conversation-id/);
  });

  test('is cancelled in the guest when the client goes away', async () => {
    gateway.answer = () => undefined;
    const client = new AbortController();
    const pending = post(chatBody, { signal: client.signal });
    while (gateway.requests.length === 0) await sleep(5);
    client.abort();
    await assert.rejects(pending);
    await gateway.requests[0]!.closed;
    await released();
  });

  test('is bounded in time', async () => {
    gateway.answer = () => undefined;
    const response = await post(chatBody);
    assert.equal(response.headers.get('x-should-retry'), 'false');
    const { status, code } = await errorOf(response);
    assert.deepEqual([status, code], [503, 'agent_unavailable']);
    await gateway.requests[0]!.closed;
  });
});

describe('a turn that streams', () => {
  test('passes each event as it comes, with the agent as model, the usage, and no header of the gateway', async () => {
    const second = Promise.withResolvers<void>();
    gateway.answer = async (res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream', 'x-gateway': 'inside' });
      res.write(event(chunk('one')));
      await second.promise;
      res.write(event({ ...chunk('two'), choices: [], usage }));
      res.end(done);
    };
    const response = await post({ ...chatBody, stream: true });
    assert.equal(response.headers.get('content-type'), 'text/event-stream; charset=utf-8');
    assert.equal(response.headers.get('x-gateway'), null);
    assert.match(response.headers.get('x-request-id')!, /^req_/);
    const stream = parts(response);
    let first = await stream.next();
    while (withoutComments(first.value) === '') first = await stream.next();
    assert.equal(
      withoutComments(first.value),
      event({ ...chunk('one'), model: id }),
      'before the gateway wrote the second',
    );
    second.resolve();
    let rest = '';
    for await (const part of stream) rest += part;
    assert.equal(withoutComments(rest), event({ ...chunk('two'), choices: [], usage, model: id }) + done);
  });

  test('an event that comes in pieces, even within a character, arrives whole; comments pass, events that are no chunk do not', async () => {
    const bytes = Buffer.from(`: hello\r\n\r\nevent: progress\ndata: not json\n\n${event(chunk('grüße 👋'))}${done}`);
    gateway.answer = async (res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const byte of bytes) {
        res.write(Buffer.from([byte]));
        if (byte > 127 || byte === 10) await sleep(1);
      }
      res.end();
    };
    const text = withoutComments(await (await post({ ...chatBody, stream: true })).text());
    assert.equal(text, `: hello\n\n${event({ ...chunk('grüße 👋'), model: id })}${done}`);
  });

  test('a comment comes while the agent is silent, never within an event', async () => {
    gateway.answer = async (res) => {
      await sleep(250);
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      const text = event(chunk('slow'));
      res.write(text.slice(0, 20));
      await sleep(250);
      res.write(text.slice(20));
      res.end(done);
    };
    const response = await post({ ...chatBody, stream: true });
    const text = await response.text();
    const [comments, events] = [/^(?:: working\n\n)+/.exec(text)![0], text.replace(/^(?:: working\n\n)+/, '')];
    assert.ok(comments.length / ': working\n\n'.length >= 3, `${JSON.stringify(text)}: before the head and after it`);
    assert.equal(events, event({ ...chunk('slow'), model: id }) + done);
  });

  test('a gateway that dies in the midst is an error event and the end', async () => {
    const dying = Promise.withResolvers<() => void>();
    gateway.answer = (res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.write(event(chunk('half')));
      dying.resolve(() => res.destroy());
    };
    const response = await post({ ...chatBody, stream: true });
    const die = await dying.promise;
    let text = '';
    for await (const part of response.body!.pipeThrough(new TextDecoderStream())) {
      text += part;
      if (text.includes('half')) die();
    }
    const [first, last, nothing] = text.replaceAll(': working\n\n', '').split('\n\n');
    assert.match(first!, /half/);
    assert.equal(nothing, '');
    const { error } = JSON.parse(last!.replace('data: ', ''));
    assert.deepEqual([error.type, error.code], ['server_error', 'agent_unavailable']);
  });

  test('a stream that ends without its end mark is an error event too', async () => {
    gateway.answer = answerEvents(event(chunk('half')));
    assert.match(await (await post({ ...chatBody, stream: true })).text(), /"code":"agent_unavailable"/);
  });

  test('an unmodified OpenAI client throws on an error event, with our code', async () => {
    const secret = 'Inline API key for provider "x" is disabled after a provider auth/billing failure';
    gateway.answer = answerEvents(event(chunk('half')), event({ error: { message: secret, type: 'api_error' } }), done);
    const client = new OpenAI({ baseURL: world.baseUrl, apiKey: world.apiKey, maxRetries: 0 });
    const stream = await client.chat.completions.create({
      model: id,
      stream: true,
      ...chatBody,
    } as any);
    await assert.rejects(
      async () => {
        for await (const _ of stream as any);
      },
      (error: any) => error.code === 'invalid_request' && /llm_keys/.test(error.message),
    );
  });

  test("a provider's refusal that is told by its status alone says what it means", async () => {
    const hermes = await world.running({ runtime_kind: 'runtime_b', model: 'gpt-5' });
    const path = `/agents/${hermes}/chat/completions`;
    const outcomes = [
      ['HTTP 401: wrong key sk-1', 'invalid_request', /llm_keys/],
      ['HTTP 429: slow down', 'rate_limit_exceeded', /too many/],
      ['HTTP 400: no such field', 'invalid_request', /^no such field$/],
      ['HTTP 500: oops at 10.0.0.1', 'internal_error', /could not finish/],
    ] as const;
    for (const [message, code, words] of outcomes) {
      gateway.answer = answerEvents(event({ ...chunk('half'), error: { message, type: 'agent_error' } }), done);
      const [said] = /data: \{"error".*/.exec(await (await post({ ...chatBody, stream: true }, { path })).text())!;
      const { error } = JSON.parse(said.slice('data: '.length)) as { error: { code: string; message: string } };
      assert.equal(error.code, code);
      assert.match(error.message, words);
    }
  });

  test('is cancelled in the guest when the client goes away', async () => {
    gateway.answer = (res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.write(event(chunk('one')));
    };
    const client = new AbortController();
    const response = await post({ ...chatBody, stream: true }, { signal: client.signal });
    await parts(response).next();
    client.abort();
    await gateway.requests[0]!.closed;
  });

  test('a client that does not read holds the gateway back, in bounded memory', async () => {
    let written = 0;
    gateway.answer = async (res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      const text = event(chunk('x'.repeat(64 * 1024)));
      const gone = once(res, 'close');
      for (let i = 0; i < 2000 && !res.destroyed; i += 1) {
        written += text.length;
        if (!res.write(text)) await Promise.race([once(res, 'drain'), gone]);
      }
    };
    const client = new AbortController();
    await post({ ...chatBody, stream: true }, { signal: client.signal });
    await sleep(700);
    const before = written;
    await sleep(300);
    assert.equal(written, before, 'the gateway came to a stop');
    assert.ok(written < 32 * 1024 * 1024, `${written} bytes`);
    client.abort();
    await gateway.requests[0]!.closed;
  });

  test('is let end when the service closes, within a bound', async () => {
    const draining = await openChat({ api: (usual) => ({ ...usual, drainMs: 120_000 }) });
    const go = Promise.withResolvers<void>();
    draining.gateway.answer = async (res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.write(event(chunk('one')));
      await go.promise;
      res.end(done);
    };
    const response = await draining.post({ ...chatBody, stream: true });
    const began = Date.now();
    const closed = draining.app.close();
    setTimeout(go.resolve, 300);
    assert.match(await response.text(), /\[DONE\]/);
    await closed;
    assert.ok(Date.now() - began < 60_000, 'no longer than the turn needs');
    await draining.close();
  });
});

describe('what goes wrong', () => {
  const failures = [
    [401, 'authentication_error', '401 Incorrect API key provided: sk-secret.', 400, 'invalid_request', /llm_keys/],
    [429, 'rate_limit_error', '429 Rate limit reached; Retry-After: 7 seconds', 429, 'rate_limit_exceeded', /provider/],
    [402, 'insufficient_quota', 'no credit', 400, 'invalid_request', /credit/],
    [400, 'invalid_request_error', 'Invalid stop: \u0007too many', 400, 'invalid_request', /^Invalid stop: too many$/],
    [502, 'api_error', 'upstream provider error', 500, 'internal_error', /provider failed/],
    [500, 'api_error', 'internal error at /opt/openclaw/x.mjs', 500, 'internal_error', /could not finish/],
    [503, 'api_error', 'gateway draining', 503, 'agent_unavailable', /shortly/],
    [401, 'unauthorized', 'Unauthorized', 500, 'internal_error', /could not finish/],
  ] as const;

  for (const [status, type, message, wantedStatus, wantedCode, wantedMessage] of failures) {
    test(`the gateway's ${status} ${type} is ${wantedStatus} ${wantedCode}, streaming or not`, async () => {
      gateway.answer = answerJson(status, { error: { message, type } });
      for (const stream of [false, true]) {
        const response = await post({ ...chatBody, stream });
        if (wantedStatus === 429) assert.equal(response.headers.get('retry-after'), '7');
        if (wantedStatus === 503) assert.ok(Number(response.headers.get('retry-after')) > 0);
        const error = await errorOf(response);
        assert.deepEqual([error.status, error.code], [wantedStatus, wantedCode]);
        assert.match(error.message, wantedMessage);
        assert.doesNotMatch(error.message, /sk-secret|openclaw/);
      }
    });
  }

  test('a gateway that refuses connections is a 503, and a 409 once the agent is known not to run', async () => {
    const { endpoint } = world;
    world.endpoint = { ...endpoint, baseUrl: 'http://127.0.0.1:1/v1' };
    const response = await post(chatBody);
    world.endpoint = endpoint;
    assert.ok(Number(response.headers.get('retry-after')) > 0);
    const error = await errorOf(response);
    assert.deepEqual([error.status, error.code], [503, 'agent_unavailable']);
    assert.doesNotMatch(error.message, /127\.0\.0\.1|ECONN/);
    const dying = await world.running();
    gateway.answer = async (res) => {
      await world.setAgent(dying, { status: 'stopped' });
      res.destroy();
    };
    const after = await errorOf(await post(chatBody, { path: `/agents/${dying}/chat/completions` }));
    assert.deepEqual([after.status, after.code], [409, 'agent_not_running']);
  });

  test('a stopped agent is woken only when the request says so, on both routes', async () => {
    gateway.answer = answerJson(200, whole);
    const asleep = await world.running();
    const stop = () => world.call('POST', `/v1/agents/${asleep}/stop`);
    assert.equal((await stop()).status, 200);
    const ask = (path: string) => post({ ...chatBody, model: asleep }, { path });
    for (const path of [`/agents/${asleep}/chat/completions`, '/chat/completions']) {
      for (const query of ['', '?wake=false']) {
        const { status, code, message } = await errorOf(await ask(path + query));
        assert.deepEqual([status, code], [409, 'agent_not_running']);
        assert.equal(message, 'Agent is not running. Start it first.');
      }
      assert.equal((await ask(`${path}?wake=true`)).status, 200);
      await stop();
    }
    const wrong = await errorOf(await ask('/chat/completions?wake=1'));
    assert.deepEqual([wrong.status, wrong.code], [400, 'invalid_request']);
    assert.match(wrong.message, /^wake must be one of true, false/);
  });

  test('a model that is no agent is a 404', async () => {
    for (const model of ['gpt-5', 'a'.repeat(12)]) {
      const error = await errorOf(await post({ ...chatBody, model }, { path: '/chat/completions' }));
      assert.deepEqual([error.status, error.code], [404, 'agent_not_found']);
    }
  });

  test('an answer that is no JSON is an error of ours, not a crash', async () => {
    gateway.answer = (res) => res.end('<html>') as never;
    const error = await errorOf(await post(chatBody));
    assert.deepEqual([error.status, error.code], [503, 'agent_unavailable']);
  });
});

describe('a turn when the service closes', () => {
  test('ends with an error event when the service closes and it takes too long', async () => {
    gateway.answer = (res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.write(event(chunk('one')));
    };
    const stream = parts(await post({ ...chatBody, stream: true }));
    await stream.next();
    const began = Date.now();
    const closed = world.app.close();
    let rest = '';
    for await (const part of stream) rest += part;
    assert.match(rest, /"code":"agent_unavailable"/);
    await closed;
    assert.ok(Date.now() - began < 60_000, 'no connection keeps the server open');
  });
});
