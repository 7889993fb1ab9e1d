/** Commands that wait for a yes, decisions within a turn, and turns that tell of calls that wait, on a real database. */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { after, before, beforeEach, test } from 'node:test';
import type { ConfirmationPolicy, Confirmations } from '@lodge/domain';
import { execute } from '@lodge/testkit/postgres';
import { never, until } from '../../../testkit/src/plane/plane.ts';
import { message } from '../turns/run-turn.ts';
import { confirmCommand } from './commands.ts';
import { openTestCalls } from './testing/calls.ts';
import type { TestCalls } from './testing/calls.ts';

let calls: TestCalls;
const rules = (...given: (readonly [match: string, policy: ConfirmationPolicy])[]): Confirmations => ({
  rules: given.map(([match, policy]) => ({ on: 'command', match, policy })),
  default: 'allow',
  deliver: [],
  deciders: [],
  expires: '24h',
});
const given = rules(['rm *', 'deny'], ['git push*', 'ask']);

before(async () => {
  // Long enough to decide on a busy machine, as some tests do while the call waits.
  calls = await openTestCalls({ waitMs: 1_500 });
});
after(() => calls?.close());
beforeEach(async () => {
  calls.gateway.turns.length = 0;
  calls.calls.length = 0;
  await execute(calls.world.database.connectionString, 'delete from confirmations');
  await calls.rule({ rules: [...given.rules, { on: 'connection:stripe', match: '*', policy: 'ask' }] });
});

const confirm = (text: string, signal = never) => {
  const { agentId, accountId } = calls;
  const command = {
    tool: 'exec',
    text,
    detail: JSON.stringify({ command: text }),
    digest: hash('sha256', text, 'hex'),
  };
  return confirmCommand(calls.plane.engine.asking, { agentId, accountId, confirmations: given }, command, signal);
};
const verdictOf = async (text: string) => (await confirm(text)).verdict;

const asked = async (): Promise<string> => (await calls.asked()).id;

const yes = { decision: 'allow', reason: null, answer: null, remember: 'none' } as const;
const decide = (id: string, input: Parameters<TestCalls['plane']['confirmations']['decide']>[2] = yes) =>
  calls.plane.confirmations.decide(calls.accountId, id, input);
const statusOf = async (id: string) => (await calls.plane.confirmations.get(calls.accountId, id)).status;

test('commands without a rule, and those that one denies, ask nobody', async () => {
  assert.deepEqual(await confirm('ls'), { verdict: 'allowed', message: '' });
  const denied = await confirm('ls && rm -rf x');
  assert.equal(denied.verdict, 'denied');
  assert.match(denied.message, /rule of the owner denies/);
  assert.deepEqual(await calls.list(), []);
});

test('a command waits, is shown, and may be run after a yes; a no is told with its reason', async () => {
  const first = verdictOf('git push origin');
  const id = await asked();
  const [row] = await calls.list('pending');
  assert.deepEqual(
    [row!.subject, row!.shown.action, row!.shown.quoted],
    ['command', 'Use the tool "exec" in its machine.', 'git push origin'],
  );
  await decide(id);
  assert.equal(await first, 'allowed');
  assert.equal(await statusOf(id), 'done');
  const second = confirm('git push origin');
  await decide(await asked(), { ...yes, decision: 'deny', reason: 'Not on Fridays.' });
  const { verdict, message: said } = await second;
  assert.equal(verdict, 'denied');
  assert.match(said, /Not on Fridays/);
});

test('a late yes is one pass for this very command in its conversation, and the agent is told', async () => {
  assert.equal(await calls.inTurn('mine', () => verdictOf('git push')), 'undecided');
  const id = await asked();
  await decide(id);
  await until('the agent is told', () => calls.told(id).length === 1);
  assert.match(calls.told(id)[0]!, /you may do exactly the same once more/);
  assert.equal(calls.gateway.turns.at(-1)!.endpoint.headers['x-toy-session'], 'mine');
  assert.equal(await statusOf(id), 'done');
  assert.equal(await calls.inTurn('other', () => verdictOf('git push')), 'undecided', 'another conversation');
  assert.equal(await calls.inTurn('mine', () => verdictOf('git push --force')), 'undecided', 'another command');
  const twice = await calls.inTurn('mine', () => Promise.all([verdictOf('git push'), verdictOf('git push')]));
  assert.deepEqual(twice.toSorted(), ['allowed', 'undecided']);
  assert.deepEqual(calls.calls, [], 'the host runs nothing');
});

test('a pass ends with its time, and a command of no conversation has it where the agent is told', async () => {
  const { connectionString } = calls.world.database;
  assert.equal(await verdictOf('git push'), 'undecided');
  const id = await asked();
  await decide(id);
  await until('the agent is told', () => calls.told(id).length === 1);
  assert.equal(calls.gateway.turns.at(-1)!.endpoint.headers['x-toy-session'], `confirmation:${id}`);
  assert.equal(await calls.inTurn(`confirmation:${id}`, () => verdictOf('git push')), 'allowed');
  await execute(connectionString, `update confirmations set sends_until = clock_timestamp() where id = '${id}'`);
  assert.equal(await calls.inTurn(`confirmation:${id}`, () => verdictOf('git push')), 'undecided');
});

test('a server that dies between a yes and its command leaves a pass, once', async () => {
  const gone = new AbortController();
  const asking = confirm('git push', gone.signal);
  const id = await asked();
  gone.abort();
  await asking;
  await decide(id);
  await calls.restart();
  await until('the agent is told', () => calls.told(id).length === 1);
  assert.deepEqual([await verdictOf('git push'), await verdictOf('git push')], ['allowed', 'undecided']);
});

test('a turn tells of a call that waits, at once, and of those that nobody has decided about', async () => {
  const { promise: goOn, resolve } = Promise.withResolvers<void>();
  const { steps } = calls.gateway;
  calls.gateway.steps = [{ after: goOn }, { text: 'ok' }];
  const answer = await calls.plane.engine.runTurn({
    agentId: calls.agentId,
    accountId: calls.accountId,
    member: null,
    conversation: 'mine',
    origin: 'api',
    said: message('go'),
    wake: true,
    wakeTimeoutMs: 10_000,
    timeoutMs: 20_000,
    signal: never,
  });
  calls.gateway.steps = steps;
  const waits: string[] = [];
  let text = '';
  const reading = (async () => {
    for await (const event of answer.events()) {
      if (event.wait) waits.push(event.wait.target);
      text += event.text;
    }
  })();
  const first = verdictOf('git push 1');
  const id = await asked();
  await until('it is told', () => waits.length === 1);
  await decide(id);
  assert.equal(await first, 'allowed');
  assert.equal(await verdictOf('git push 2'), 'undecided');
  resolve();
  await reading;
  assert.deepEqual([waits, text], [['git push 1', 'git push 2'], 'ok']);
  assert.deepEqual(
    answer.undecided().map(({ target }) => target),
    ['git push 2'],
  );
});

const decider = () => ({
  accountId: calls.accountId,
  agentId: calls.agentId,
  note: { by: { actor: { kind: 'account', id: calls.accountId }, address: '::1', requestId: 'r' } } as never,
  signal: never,
});

test('decisions that come with a message are done at once, and nobody else tells the agent', async () => {
  assert.equal((await calls.send('/refunds')).status, 403);
  assert.equal((await calls.send('/refunds/2')).status, 403);
  assert.equal(await verdictOf('git push'), 'undecided');
  const rows = await calls.list('pending');
  const [push, second, first] = rows.map(({ id }) => id) as [string, string, string];
  const { texts, ended } = await calls.plane.engine.decideInTurn(decider(), [
    { id: first, isAllowed: true, words: null },
    { id: second, isAllowed: false, words: 'Too much.' },
    { id: push, isAllowed: true, words: null },
  ]);
  assert.match(texts[0]!, /"status":"done"[\s\S]*Status 200[\s\S]*refunded/);
  assert.match(texts[1]!, /"status":"denied".*"reason":"Too much\."/);
  assert.match(texts[2]!, /exactly the same once more/);
  assert.deepEqual(
    calls.calls.map(({ url }) => url),
    ['/v1/refunds'],
  );
  assert.equal(await verdictOf('git push'), 'allowed');
  await ended(true);
  await new Promise((resolve) => setTimeout(resolve, 500));
  assert.deepEqual([[first, second, push].flatMap((id) => calls.told(id)), calls.calls.length], [[], 1]);
});

test('what a message decided is told by the queue where its turn came to nothing, and with the answer', async () => {
  const allow = async (path: string) => {
    assert.equal((await calls.send(path)).status, 403);
    const { id } = await calls.asked();
    return { id, ...(await calls.plane.engine.decideInTurn(decider(), [{ id, isAllowed: true, words: null }])) };
  };
  const failing = await allow('/refunds');
  assert.deepEqual(calls.told(failing.id), []);
  await failing.ended(false);
  await until('the agent is told', () => calls.told(failing.id).length === 1);
  assert.match(calls.told(failing.id)[0]!, /"status":"done"[\s\S]*Status 200[\s\S]*refunded/);
  // A server that dies before the turn is over says nothing about it.
  await calls.restart({ tellMs: 200 });
  const killed = await allow('/refunds/2');
  await calls.restart();
  await until('the agent is told', () => calls.told(killed.id).length === 1);
  assert.match(calls.told(killed.id)[0]!, /"status":"done"[\s\S]*refunded/);
  assert.deepEqual([calls.calls.length, calls.told(failing.id).length], [2, 1]);
});

test('a decision with a message wakes a call that waits, which goes on by itself', async () => {
  const waiting = verdictOf('git push');
  const id = await asked();
  const decision = { id, isAllowed: true, words: null };
  const {
    texts: [text],
  } = await calls.plane.engine.decideInTurn(decider(), [decision]);
  assert.match(text!, /"status":"allowed"/);
  assert.equal(await waiting, 'allowed');
  assert.equal(await statusOf(id), 'done');
});

test('a decision about what is closed, or of another agent, decides nothing', async () => {
  assert.equal(await verdictOf('git push'), 'undecided');
  const id = await asked();
  const open = { id, isAllowed: true, words: null };
  const { decideInTurn } = calls.plane.engine;
  const none = { code: 'confirmation_not_found' };
  await assert.rejects(decideInTurn(decider(), [open, { ...open, id: 'q3x8n2v7k1ab' }]), none);
  await assert.rejects(decideInTurn({ ...decider(), agentId: 'q3x8n2v7k1ab' }, [open]), none);
  await assert.rejects(decideInTurn({ ...decider(), accountId: 'acc_other' }, [open]), none);
  assert.equal(await statusOf(id), 'pending');
  await decideInTurn(decider(), [open]);
  await assert.rejects(decideInTurn(decider(), [open]), { code: 'confirmation_closed' });
});
