import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { startStubDns } from '@lodge/testkit/dns';
import { makeWebhookSecret, createWebhookSender } from './sender.ts';

type Answer = (req: IncomingMessage, res: ServerResponse, body: string) => void;

const closing: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function receiver(answer: Answer): Promise<string> {
  const server = createServer((req, res) => {
    let body = '';
    req.on('data', (chunk) => (body += chunk));
    req.on('end', () => answer(req, res, body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
}

const secret = makeWebhookSecret();
const body = '{"type":"agent.paused","data":{"name":"ä"}}';
const never = new AbortController().signal;

interface More {
  readonly secrets?: string[];
  readonly privateAddresses?: boolean;
  readonly signal?: AbortSignal;
  readonly nameServers?: string[];
}

async function send(url: string, { secrets = [secret], signal = never, ...more }: More = {}) {
  const options = { privateAddresses: true, egressProxy: null, userAgent: 'Lodge/1', timeoutMs: 500, ...more };
  const sender = createWebhookSender(options);
  closing.push(() => sender.close());
  return sender.send({ url, messageId: 'msg_1', at: new Date(), body, secrets, signal });
}

test('the official library verifies what is sent, with either secret of a rotation and with no other', async () => {
  const old = makeWebhookSecret();
  const seen: [string, Record<string, string>][] = [];
  const url = await receiver((req, res, text) => {
    seen.push([text, req.headers as Record<string, string>]);
    res.writeHead(204).end();
  });
  assert.deepEqual(await send(url, { secrets: [secret, old] }), { outcome: 'taken', status: 204 });
  const [text, headers] = seen[0]!;
  for (const good of [secret, old]) assert.deepEqual(new Webhook(good).verify(text, headers), JSON.parse(body));
  assert.throws(() => new Webhook(makeWebhookSecret()).verify(text, headers));
  assert.throws(() => new Webhook(secret).verify(`${text} `, headers));
  assert.equal(headers['webhook-id'], 'msg_1');
});

test('answers are told apart, and none of their text is passed on', async () => {
  const answers: [number, Record<string, string>, object][] = [
    [200, {}, { outcome: 'taken', status: 200 }],
    [410, {}, { outcome: 'gone', status: 410 }],
    [500, {}, { outcome: 'failed', status: 500, retryAfterMs: null }],
    [503, { 'retry-after': '7' }, { outcome: 'failed', status: 503, retryAfterMs: 7000 }],
    [429, { 'retry-after': 'soon' }, { outcome: 'failed', status: 429, retryAfterMs: null }],
  ];
  for (const [status, headers, expected] of answers) {
    const answer = await send(await receiver((_req, res) => void res.writeHead(status, headers).end('a secret text')));
    assert.partialDeepStrictEqual(answer, expected);
    assert.doesNotMatch(JSON.stringify(answer), /secret/);
  }
});

test('a redirect is not followed', async () => {
  let asked = 0;
  const other = await receiver((_req, res) => {
    asked += 1;
    res.end();
  });
  for (const status of [301, 302, 307, 308]) {
    const answer = await send(await receiver((_req, res) => void res.writeHead(status, { location: other }).end()));
    assert.partialDeepStrictEqual(answer, { outcome: 'failed', status });
  }
  assert.equal(asked, 0);
});

test('a receiver that is silent, answers without end, or breaks off costs its time alone', async () => {
  const silent = await send(await receiver(() => undefined));
  const reason = 'The receiver did not answer: it was not reached, or broke off.';
  assert.partialDeepStrictEqual(silent, { outcome: 'failed', reason });
  const endless = await receiver((_req, res) => {
    res.writeHead(200);
    const more = (): void => void (res.writable && res.write('x'.repeat(16_384), () => setImmediate(more)));
    more();
  });
  const began = Date.now();
  assert.equal((await send(endless)).outcome, 'taken');
  assert.ok(Date.now() - began < 2000);
  const broken = await send(await receiver((req) => void req.socket.destroy()));
  const closed = await send('http://127.0.0.1:1/');
  for (const each of [broken, closed])
    assert.partialDeepStrictEqual(each, { outcome: 'failed', reason }, 'reasons that differ would find open ports');
  const cut = new AbortController();
  const url = await receiver(() => cut.abort());
  assert.partialDeepStrictEqual(await send(url, { signal: cut.signal }), { reason: 'The attempt was broken off.' });
});

test('addresses that are not public are refused, by number and by name, unless the operator allows them', async () => {
  const url = await receiver((_req, res) => void res.end());
  const { port } = new URL(url);
  const reason = 'The address of the receiver is not a public one.';
  for (const host of ['127.0.0.1', '[::1]', '0x7f.1', '2130706433', '[::ffff:127.0.0.1]', '169.254.169.254']) {
    const answer = await send(`http://${host}:${port}/`, { privateAddresses: false });
    assert.deepEqual([answer.outcome, 'reason' in answer && answer.reason], ['failed', reason], host);
  }
  assert.equal((await send(url)).outcome, 'taken');
});

test('a name that leads to an address that is not public is refused at connect, also when it led elsewhere before', async () => {
  const url = await receiver((_req, res) => void res.end());
  const dns = await startStubDns({
    'inside.test': () => ['127.0.0.1'],
    'mixed.test': () => ['::1', '10.0.0.1', '127.0.0.1'],
    'rebound.test': (asked) => (asked === 0 ? ['203.0.114.1'] : ['127.0.0.1']),
    'silent.test': () => null,
  });
  closing.push(() => dns.close());
  const to = async (name: string) => {
    const answer = await send(url.replace('127.0.0.1', name), { privateAddresses: false, nameServers: [dns.server] });
    return 'reason' in answer ? answer.reason : answer.outcome;
  };
  const refused = 'The address of the receiver is not a public one.';
  assert.equal(await to('inside.test'), refused);
  assert.equal(await to('mixed.test'), refused);
  assert.notEqual(await to('rebound.test'), 'taken');
  assert.equal(await to('rebound.test'), refused);
  assert.equal(await to('nothing.test'), 'The name of the receiver leads to no address.');
  assert.equal(await to('silent.test'), 'The receiver did not answer in time.');
});
