/** Servers that die while calls are decided and made: each allowed call reaches the service once or ends as unknown. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { execute } from '@lodge/testkit/postgres';
import { until } from '../../../testkit/src/plane/plane.ts';
import { openTestCalls } from './testing/calls.ts';
import type { TestCalls } from './testing/calls.ts';

let calls: TestCalls;

before(async () => {
  calls = await openTestCalls({ sendMs: 1_500 });
  await calls.rule({ rules: [{ on: 'connection:stripe', match: 'POST /refunds*', policy: 'ask' }] });
});
after(() => calls?.close());

const yes = { decision: 'allow', reason: null, answer: null, remember: 'none' } as const;
const sql = (text: string) => execute(calls.world.database.connectionString, text);
const bodyOf = (round: number): string => `{"round":${round}}`;
const reached = (round: number): number => calls.calls.filter(({ body }) => body === bodyOf(round)).length;

/** Numbers from 0 to 1, the same ones in each run. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** The confirmation of the round's call. */
async function asked(round: number): Promise<string> {
  let id: string | undefined;
  await until(`round ${round} is asked about`, async () => {
    id = (await calls.list()).find(({ shown }) => shown.quoted!.includes(bodyOf(round)))?.id;
    return id !== undefined;
  });
  return id!;
}

interface Round {
  readonly id: string;
  /** It was killed when the service had the call and had not answered. */
  readonly inItsMidst: boolean;
}

/** The server dies at a moment after somebody has begun to decide, or while the service has the call. */
async function killed(round: number, random: () => number): Promise<Round> {
  const isLate = random() < 0.4;
  const decision = random() < 0.75 ? 'allow' : 'deny';
  const inItsMidst = decision === 'allow' && round % 4 === 0;
  const leaving = new AbortController();
  calls.state.holds = (body) => inItsMidst && body === bodyOf(round);
  const sending = calls.send('/refunds', { body: bodyOf(round), signal: leaving.signal }).catch(() => undefined);
  const id = await asked(round);
  if (isLate) await sending;
  // The promise of a killed server never settles.
  void calls.plane.confirmations.decide(calls.accountId, id, { ...yes, decision });
  if (inItsMidst) await until(`the service has the call of round ${round}`, () => reached(round) > 0);
  else await sleep(random() * 80);
  await calls.restart();
  leaving.abort();
  return { id, inItsMidst };
}

test('at 40 moments of a kill an allowed call reaches the service once or is unknown, and no other reaches it', async () => {
  const random = seeded(31);
  const rounds: Round[] = [];
  for (let round = 0; round < 40; round += 1) rounds.push(await killed(round, random));
  calls.state.holds = () => false;
  await until('nothing is under way', async () => {
    const rows = await calls.list();
    return rows.every(({ status }) => status !== 'allowed' && status !== 'sending');
  });
  const seen = new Map<string, number>();
  for (const [round, { id, inItsMidst }] of rounds.entries()) {
    const { status, decision, callSealed } = await calls.plane.confirmations.get(calls.accountId, id);
    const key = `${decision} ${status} ${reached(round)}`;
    seen.set(key, (seen.get(key) ?? 0) + 1);
    const right = inItsMidst
      ? ['allow unknown 1']
      : decision === 'allow'
        ? ['allow done 1', 'allow unknown 0', 'allow unknown 1']
        : decision === 'deny'
          ? ['deny denied 0']
          : ['null pending 0', 'null expired 0'];
    assert.ok(right.includes(key), `round ${round}: ${key}`);
    assert.equal(callSealed === null, decision !== null);
  }
  assert.ok(seen.has('allow unknown 1') && seen.has('allow done 1') && seen.has('deny denied 0'), [...seen].join('; '));
});

test('a call whose work is given up has an end: it failed, or nothing is known of it', async () => {
  for (const [n, [status, end]] of [['allowed', 'failed'] as const, ['sending', 'unknown'] as const].entries()) {
    const round = 100 + n;
    await calls.send('/refunds', { body: bodyOf(round) });
    const id = await asked(round);
    // As servers leave it that died with each of its attempts.
    await sql(
      `update confirmations set status = '${status}', decision = 'allow', decided_at = clock_timestamp(),
         sends_until = case '${status}' when 'sending' then clock_timestamp() + interval '1 hour' end
       where id = '${id}'`,
    );
    await sql(
      `insert into work (kind, id, account_id, agent_id, lane, due_at, attempts)
       select 'confirmation', id, account_id, agent_id, agent_id, clock_timestamp(), 9 from confirmations where id = '${id}'`,
    );
    await until(`a call that was ${status} has its end`, async () => {
      const row = await calls.plane.confirmations.get(calls.accountId, id);
      return row.status === end && row.callSealed === null && row.endedAt !== null;
    });
    assert.equal(reached(round), 0);
    const events = await sql(
      `select data->>'status' as status from events
       where type = 'confirmation.done' and data->>'confirmation_id' = '${id}'`,
    );
    assert.deepEqual(events, [{ status: end }]);
  }
});
