/**
 * Servers that die while calls are decided, made and told: each allowed call reaches the service once or ends as unknown, no
 * other reaches it, and the agent is told each end. Every kind of moment is hit by each way to decide, and some at random.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { execute } from '@lodge/testkit/postgres';
import { never, until } from '../../../testkit/src/plane/plane.ts';
import type { DecidedInTurn } from './in-turn.ts';
import { openTestCalls } from './testing/calls.ts';
import type { TestCalls } from './testing/calls.ts';
import { openPeople } from './testing/people.ts';
import type { People } from './testing/people.ts';

let calls: TestCalls;
let people: People;

/** So often is a piece begun again, as every kill may hit it. */
const waitsMs = Array.from({ length: 100 }, () => 20);

before(async () => {
  calls = await openTestCalls({ sendMs: 1_500, tellMs: 300, waitsMs });
  people = await openPeople(calls);
  await calls.rule({
    rules: [{ on: 'connection:stripe', match: 'POST /refunds*', policy: 'ask' }],
    deciders: ['u1', 'w1'],
    deliver: [
      { channel: 'telegram', conversation: 'c1' },
      { channel: 'whatsapp', conversation: 'c1' },
    ],
  });
});
after(() => calls?.close());

const sql = <Row extends object>(text: string) => execute<Row>(calls.world.database.connectionString, text);
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
    id = (await calls.list('pending')).find(({ shown }) => shown.quoted!.includes(bodyOf(round)))?.id;
    return id !== undefined;
  });
  return id!;
}

type Way = 'api' | 'press' | 'code' | 'message';
/** The server dies before anybody decides; after a decision; before and while the service has the call; then as named. */
type Moment = 'asked' | 'decided' | 'begun' | 'held' | 'answered' | 'ended' | 'told' | 'random';

interface Plan {
  readonly way: Way;
  readonly decision: 'allow' | 'deny';
  /** Whether no turn waits any more when somebody decides. */
  readonly isLate: boolean;
  readonly moment: Moment;
}

interface Round extends Plan {
  readonly id: string;
  /** The state that the kill left: status, calls that had reached the service, whether the agent was told. */
  readonly left: string;
}

const wants: Readonly<Record<Exclude<Moment, 'random'>, readonly [allowed: string, denied: string]>> = {
  asked: ['pending 0 untold', 'pending 0 untold'],
  decided: ['allowed 0 untold', 'denied 0 untold'],
  begun: ['sending 0 untold', ''],
  held: ['sending 1 untold', ''],
  answered: ['sending 1 untold', ''],
  ended: ['done 1 untold', 'denied 0 untold'],
  told: ['done 1 told', 'denied 0 told'],
};

const inTime: readonly (readonly [Plan['decision'], readonly Moment[]])[] = [
  ['allow', ['asked', 'decided', 'held', 'answered', 'told']],
  ['deny', ['decided', 'told']],
];
const late: typeof inTime = [
  ['allow', ['asked', 'decided', 'begun', 'held', 'answered', 'ended', 'told']],
  ['deny', ['decided', 'ended', 'told']],
];
/** A message begins what it has decided at once. */
const byMessage: typeof inTime = [
  ['allow', ['begun', 'held', 'answered', 'ended', 'told']],
  ['deny', ['ended', 'told']],
];
const rounds = 100;

function plans(random: () => number): readonly Plan[] {
  const of = (way: Way, isLate: boolean, each: typeof inTime): readonly Plan[] =>
    each.flatMap(([decision, moments]) => moments.map((moment) => ({ way, decision, isLate, moment })));
  const ways = ['api', 'press', 'code'] as const;
  const all = [
    ...ways.flatMap((way) => [...of(way, false, inTime), ...of(way, true, late)]),
    ...of('message', true, byMessage),
  ];
  for (let n = 0; all.length < rounds; n += 1) {
    const way = (['api', 'press', 'code', 'message'] as const)[n % 4]!;
    const decision = random() < 0.75 ? 'allow' : 'deny';
    all.push({ way, decision, isLate: way === 'message' || random() < 0.4, moment: 'random' });
  }
  return all;
}

/** A call that outlives its server in its turn is made when its wait is over. */
function boundsOf({ isLate, moment }: Plan) {
  if (isLate) return { waitMs: 1 };
  return { waitMs: moment === 'decided' || moment === 'random' ? 2_500 : 60_000 };
}

/** Begins to decide. The promise of a killed server never settles. */
async function decide(id: string, { way, decision }: Plan): Promise<DecidedInTurn | undefined> {
  const { accountId, agentId, plane } = calls;
  switch (way) {
    case 'api':
      await plane.confirmations.decide(accountId, id, { decision, reason: null, answer: null, remember: 'none' });
      return undefined;
    case 'press':
      assert.match((await people.press(`${id}-${decision}`)).say, /^(?:Allowed|Denied)/);
      return undefined;
    case 'code':
      await people.says(`${decision === 'allow' ? 'yes' : 'no'} ${await people.codeOf(id)}`, 'w1');
      return undefined;
    case 'message': {
      const note = { by: { actor: { kind: 'account', id: accountId }, address: '::1', requestId: 'r' } } as never;
      const given = { id, isAllowed: decision === 'allow', words: null };
      return plane.engine.decideInTurn({ accountId, agentId, note, signal: never }, [given]);
    }
  }
}

const stateOf = async (id: string, round: number): Promise<string> => {
  const [row] = await sql<{ status: string; told: boolean }>(
    `select status, told from confirmations where id = '${id}'`,
  );
  return `${row!.status} ${reached(round)} ${row!.told ? 'told' : 'untold'}`;
};

/** The server dies when it comes to this moment of the round. Resolves once it has. */
function killAt(moment: Moment, round: number, id: string): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { state, gateway } = calls;
  const die = (): void => {
    calls.kill();
    resolve();
  };
  const isOurs = (body: string | null): boolean => body === bodyOf(round);
  if (moment === 'begun') {
    state.makes = async (call) => {
      if (call.kind !== 'http' || !isOurs(Buffer.from(call.body!, 'base64').toString())) return;
      die();
      await new Promise(() => undefined);
    };
  }
  if (moment === 'held') {
    state.holds = (body) => {
      if (isOurs(body)) die();
      return isOurs(body);
    };
  }
  if (moment === 'answered') state.answers = (body) => void (isOurs(body) && die());
  if (moment === 'ended') {
    gateway.steps = ({ body }) => {
      const text = (body['messages'] as { content: string }[])[0]!.content;
      if (text.includes(`"confirmation":"${id}"`)) die();
      return [{ text: 'pong' }];
    };
  }
  return promise;
}

function unhook(): void {
  const { state, gateway } = calls;
  state.makes = async () => undefined;
  state.holds = () => false;
  state.answers = () => undefined;
  gateway.steps = [{ text: 'pong' }];
}

async function killed(round: number, plan: Plan, random: () => number): Promise<Round> {
  const { moment, isLate, way } = plan;
  const leaving = new AbortController();
  const sending = calls.send('/refunds', { body: bodyOf(round), signal: leaving.signal }).catch(() => undefined);
  const id = await asked(round);
  if (isLate) await sending;
  if (way === 'press') await people.sent('telegram');
  if (way === 'code') await people.sent('whatsapp');
  const dies = killAt(moment, round, id);
  let deciding: Promise<DecidedInTurn | undefined> | undefined;
  if (moment !== 'asked') {
    deciding = decide(id, plan);
    deciding.catch(() => undefined);
  }
  if (moment === 'told') {
    await (await deciding)?.ended(true);
    await until('the agent is told', async () => (await stateOf(id, round)).endsWith(' told'));
  } else if (moment === 'ended' && way === 'message') await deciding;
  else if (moment === 'random') await sleep(random() * 60);
  else if (moment !== 'asked' && moment !== 'decided') await dies;
  calls.kill();
  // Statements that it had sent come to their end.
  await Promise.all(calls.world.ending);
  if (way === 'press' || way === 'code') await deciding;
  unhook();
  leaving.abort();
  // Nobody reads the questions of before.
  await sql('delete from channel_answers');
  return { ...plan, id, left: await stateOf(id, round) };
}

test('at 100 moments of a kill an allowed call reaches the service once or is unknown, no other does, and each end is told', async () => {
  const random = seeded(31);
  const all: Round[] = [];
  const planned = plans(random);
  for (const [round, plan] of planned.entries()) {
    await calls.restart(boundsOf(plan));
    all.push(await killed(round, plan, random));
  }
  await calls.restart();
  await until('nothing is under way, and every end is told', async () => {
    const [row] = await sql<{ n: number }>(
      `select count(*)::int as n from confirmations where decision is not null and (not told or call_sealed is not null)`,
    );
    return row!.n === 0;
  });
  const hit = new Map<string, number>();
  for (const [round, { id, left, ...plan }] of all.entries()) {
    const { way, moment, isLate } = plan;
    const { status, decision } = await calls.plane.confirmations.get(calls.accountId, id);
    const [end, about] = [
      `${decision} ${status} ${reached(round)}`,
      `round ${round}, ${JSON.stringify(plan)}: ${left}`,
    ];
    assert.ok(mayEnd(moment, decision).includes(end), `${about}, and then ${end}`);
    if (moment === 'random') continue;
    // A turn of its own tells the end, unless the call's own turn or the message's did.
    const isKnown = moment === 'asked' || (moment === 'told' && (!isLate || way === 'message'));
    assert.equal(calls.told(id).length > 0, !isKnown, `${about}: told ${calls.told(id).length} times`);
    const [allowed, denied] = wants[moment];
    const key = `${way} ${isLate} ${plan.decision} ${moment}`;
    hit.set(key, (hit.get(key) ?? 0) + (left === (plan.decision === 'allow' ? allowed : denied) ? 1 : 0));
  }
  const missed = [...hit].filter(([, times]) => times === 0).map(([key]) => key);
  assert.deepEqual([missed, all.length, hit.size], [[], rounds, 58]);
});

function mayEnd(moment: Moment, decision: string | null): readonly string[] {
  if (decision === null) return ['null pending 0'];
  if (decision === 'deny') return ['deny denied 0'];
  if (moment === 'held' || moment === 'answered') return ['allow unknown 1'];
  return moment === 'begun' ? ['allow unknown 0'] : ['allow done 1', 'allow unknown 0', 'allow unknown 1'];
}

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
       select 'confirmation', id, account_id, agent_id, agent_id, clock_timestamp(), 900 from confirmations where id = '${id}'`,
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
