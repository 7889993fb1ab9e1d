/** Requests to hosts under their own names that wait for a yes: on a real database, by the real door. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { execute } from '@lodge/testkit/postgres';
import { until } from '../../../testkit/src/plane/plane.ts';
import { hostName, openTestCalls } from './testing/calls.ts';
import type { TestCalls } from './testing/calls.ts';

let calls: TestCalls;

before(async () => {
  calls = await openTestCalls({ waitMs: 1_500 });
});
after(() => calls?.close());
beforeEach(async () => {
  await execute(calls.world.database.connectionString, 'delete from confirmations');
  calls.calls.length = 0;
  await calls.rule({
    rules: [
      { on: 'connection:code', match: 'POST /repos/*', policy: 'ask' },
      { on: 'connection:code', match: 'POST /admin*', policy: 'deny' },
      { on: 'connection:code', match: '* /@acme/*', policy: 'deny' },
    ],
  });
});

const secret = 'secret-mark-8Hz4';
const yes = { decision: 'allow', reason: null, answer: null, remember: 'none' } as const;
const decide = (id: string) => calls.plane.confirmations.decide(calls.accountId, id, yes);
const status = async (id: string) => (await calls.plane.confirmations.get(calls.accountId, id)).status;

test('a request of a program waits, is sealed with its placeholder, and is sent once with the secret after a yes', async () => {
  const sending = calls.sendToHost('/repos/a?x=1', { headers: { 'x-own': 'mine' }, body: 'a body' });
  const { id, shown } = await calls.asked();
  assert.equal(shown.action, `Send POST https://${hostName}/repos/a by the connection code.`);
  for (const words of ['?x=1', 'x-own: mine', 'a body']) assert.ok(shown.quoted!.includes(words), words);
  assert.ok(!shown.quoted!.includes('lodge-secret'), 'the authorization is for nobody’s chat');
  assert.equal(calls.calls.length, 0);
  await decide(id);
  assert.deepEqual(await sending, { status: 200, text: '{"refunded":true}' });
  const [made, ...more] = calls.calls;
  assert.deepEqual(more, []);
  assert.deepEqual([made!.method, made!.url, made!.body], ['POST', '/repos/a?x=1', 'a body']);
  assert.equal(made!.headers.authorization, `Bearer ${secret}`);
});

test('a late yes is done once by the host, with the secret of then, and the agent is told without it', async () => {
  const { status: refused, text } = await calls.inTurn('mine', () => calls.sendToHost('/repos/a', { body: 'late' }));
  assert.deepEqual([refused, /"confirmation_pending"/.test(text)], [403, true]);
  const { id } = await calls.asked();
  await decide(id);
  await until('the agent is told', () => calls.told(id).length === 1);
  assert.equal(await status(id), 'done');
  assert.deepEqual(
    calls.calls.map(({ body, headers }) => [body, headers.authorization]),
    [['late', `Bearer ${secret}`]],
  );
  assert.match(calls.told(id)[0]!, /"status":"done"/);
  assert.ok(!JSON.stringify([calls.gateway.turns, await calls.list()]).includes(secret));
});

test('what cannot be stored, is misplaced or denied asks nobody, and says why', async () => {
  const base64 = Buffer.from(calls.placeholder).toString('base64');
  for (const [path, init, code, words] of [
    ['/repos/a', { body: 'x'.repeat(200_000) }, 413, /at most 128 KiB, as it is stored\. Nothing was sent/],
    ['/repos/a', { body: `key=${calls.placeholder}` }, 400, /placeholder_misplaced/],
    ['/repos/a', { body: base64 }, 400, /placeholder_misplaced/],
    ['/repos/a', { headers: { 'x-other': calls.placeholder } }, 400, /placeholder_misplaced/],
    [`/repos/${calls.placeholder}`, {}, 400, /placeholder_misplaced/],
    ['/admin', {}, 403, /confirmation_denied/],
    ['/@acme%2fsite', {}, 403, /confirmation_denied/],
    ['/@Acme%2Fsite', {}, 403, /confirmation_denied/],
  ] as const) {
    const answer = await calls.sendToHost(path, init);
    assert.deepEqual([answer.status, words.test(answer.text)], [code, true], `${path} ${answer.text}`);
  }
  assert.deepEqual([calls.calls, await calls.list()], [[], []]);
});

test('a yes is for the host as it was shown: one that is gone, or of another kind by then, gets nothing', async () => {
  await calls.sendToHost('/repos/a');
  const { id } = await calls.asked();
  const put = (given: object) =>
    calls.connections().put(calls.accountId, calls.agentId, {
      name: 'code',
      kind: 'host',
      url: undefined,
      allow: [{ methods: ['GET', 'POST'], paths: ['/*'] }],
      tools: undefined,
      enabled: true,
      auth: undefined,
      headers: undefined,
      ...given,
    });
  await put({ kind: 'http', url: `https://${hostName}`, headers: { authorization: 'Bearer of-another-kind' } });
  await decide(id);
  await until('it is closed', async () => (await status(id)) === 'failed');
  assert.deepEqual(calls.calls, []);
});
