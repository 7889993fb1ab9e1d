/** An agent asks its owner by its tool, on a real database. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { execute } from '@lodge/testkit/postgres';
import { MemoryFiles, noGuestFiles } from '../../../testkit/src/plane/channels.ts';
import { never, silent, until } from '../../../testkit/src/plane/plane.ts';
import { openTestCalls } from '../confirmations/testing/calls.ts';
import type { TestCalls } from '../confirmations/testing/calls.ts';
import { createAgentTools } from './agent-tools.ts';
import type { AgentTools } from './agent-tools.ts';

let calls: TestCalls;
let tools: AgentTools;

before(async () => {
  calls = await openTestCalls();
});
after(() => calls?.close());
beforeEach(async () => {
  calls.gateway.turns.length = 0;
  await execute(calls.world.database.connectionString, 'delete from confirmations');
  const { engine, agents } = calls.plane;
  tools = createAgentTools({
    ...calls.world.store,
    agents,
    runTurn: engine.runTurn,
    askedTurns: (id) => engine.askedTurns(id),
    files: new MemoryFiles(),
    guestFiles: noGuestFiles,
    guard: engine.asking,
    dashboardUrl: 'https://lodge.example',
    log: silent,
  });
});

const rules = { rules: [], default: 'allow', deliver: [], deciders: [], expires: '24h' } as const;
const yes = (answer: string) => ({ decision: 'allow', reason: null, answer, remember: 'none' }) as const;
const no = { decision: 'deny', reason: 'Ask Ann.', answer: null, remember: 'none' } as const;

async function ask(args: object, policy: 'allow' | 'ask' | 'deny' = 'ask'): Promise<string> {
  const { agentId, accountId } = calls;
  const confirmations = { ...rules, rules: [{ on: 'tool:ask_owner', match: '*', policy }] };
  const guest = { agentId, accountId, confirmations };
  const answer = await tools.call(guest, 'ask_owner', { question: 'Which day?', ...args }, never);
  return (answer!.content as unknown as [{ readonly text: string }])[0].text;
}

const asked = async (): Promise<string> => (await calls.asked()).id;

const decide = (id: string, input: ReturnType<typeof yes> | typeof no) =>
  calls.plane.confirmations.decide(calls.accountId, id, input);
const statusOf = async (id: string) => (await calls.plane.confirmations.get(calls.accountId, id)).status;

test('an answer while it waits is the answer of the tool, and comes in no turn', async () => {
  const answer = ask({ options: ['Monday', 'Fri\u202eday'], wait_seconds: 20 });
  const id = await asked();
  const [{ kind, shown }] = (await calls.list('pending')) as [Awaited<ReturnType<TestCalls['list']>>[number]];
  assert.deepEqual(
    [kind, shown.action, shown.quoted, shown.options],
    ['question', 'The agent asks its owner.', 'Which day?', ['Monday', 'Fri\\u202eday']],
  );
  await decide(id, yes('Monday'));
  assert.deepEqual(JSON.parse(await answer), { answer: 'Monday', message: 'The owner answered.' });
  assert.equal(await statusOf(id), 'done');
  const denied = ask({ wait_seconds: 20 });
  await decide(await asked(), no);
  assert.deepEqual(JSON.parse(await denied), { answer: null, message: 'The owner does not answer this question.' });
  // A later question is answered in a turn, and the two before it are not.
  await ask({ wait_seconds: 0 });
  const late = await asked();
  await decide(late, yes('Friday'));
  await until('the agent is told', () => calls.told(late).length === 1);
  assert.equal(calls.gateway.turns.length, 1);
});

test('a later answer, or none, is told in a turn of the conversation, with the question', async () => {
  for (const [input, words] of [
    [yes('on Friday'), /"meaning":"The owner has answered your question\.","answer":"on Friday"/],
    [no, /"meaning":"The owner does not answer this question\. Do not ask it again\.","reason":"Ask Ann\."/],
  ] as const) {
    const given = JSON.parse(await calls.inTurn('here', () => ask({ wait_seconds: 0 }))) as { answer: string | null };
    assert.equal(given.answer, null);
    const id = await asked();
    await decide(id, input);
    await until('the agent is told', () => calls.told(id).length === 1);
    assert.match(calls.told(id)[0]!, /"action":"Your question: Which day\?"/);
    assert.match(calls.told(id)[0]!, words);
  }
});

test('the owner is asked to take over the browser, at an address that needs a sign-in', async () => {
  assert.match(await ask({ take_over: true }), /take_over: you have no browser/);
  const { connectionString } = calls.world.database;
  await execute(connectionString, `update agents set browser = true where id = '${calls.agentId}'`);
  const answer = ask({ take_over: true, wait_seconds: 20 });
  const id = await asked();
  const [{ shown }] = (await calls.list('pending')) as [Awaited<ReturnType<TestCalls['list']>>[number]];
  const address = `https://lodge.example/agents/${calls.agentId}/browser`;
  assert.deepEqual(
    [shown.action, shown.quoted, shown.options],
    [`The agent asks its owner to take over its browser: ${address}`, 'Which day?', ['Done', 'Not possible']],
  );
  await decide(id, yes('Done'));
  assert.equal(JSON.parse(await answer).answer, 'Done');
  await execute(connectionString, `update agents set browser = false where id = '${calls.agentId}'`);
});

test('a question that is out of bounds, denied by a rule or beyond the quota is refused, and nobody is asked', async () => {
  for (const [args, words] of [
    [{ question: ' ' }, /^question must not be blank/],
    [{ question: 'x'.repeat(2_001) }, /^question must have at most 2000/],
    [{ options: 'Monday' }, /^options must be a list of texts/],
    [{ options: ['a', 'b', 'c', 'd', 'e', 'f'] }, /^options must have at most 5/],
    [{ options: ['a', 7] }, /^options\[1\] must be a text/],
    [{ options: ['x'.repeat(65)] }, /^options\[0\] must have at most 64/],
    [{ options: ['a', 'a'] }, /^options must not have a text twice/],
    [{ take_over: 'yes' }, /^take_over must be true or false/],
    [{ wait_seconds: 241 }, /^wait_seconds must be a whole number from 0 to 240/],
  ] as const) {
    assert.match(await ask(args), words);
  }
  assert.match(await ask({ wait_seconds: 0 }, 'deny'), /A rule of the owner denies/);
  assert.deepEqual(await calls.list(), []);
  await ask({ wait_seconds: 0 });
  await execute(
    calls.world.database.connectionString,
    `insert into confirmations (id, account_id, agent_id, kind, subject, target, digest, shown_sealed, expires_at)
     select 'x' || n, account_id, agent_id, kind, subject, target, digest, shown_sealed, expires_at
     from confirmations, generate_series(1, 49) n`,
  );
  assert.match(await ask({ wait_seconds: 20 }), /^50 confirmations of this agent wait already/);
});
