/**
 * The second review's findings about the effects of hostile guests, hostile accounts and strangers on everybody else, by
 * number.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { runInGuest } from './attack.ts';
import type { Attack } from './attack.ts';
import { startStrangers } from './strangers.ts';
import type { StrangersKind } from './strangers.ts';
import type { World } from './world.ts';

type Run = Attack['run'];

/** On a busy host an attack may come to nothing at first. */
const longer = [1, 4, 16] as const;

/** `needs`: a part of the outcome, without which the attack came to nothing and proves nothing. */
const finding = (number: number, on: Attack['on'], name: string, run: Run, needs = ''): Attack => ({
  name: `finding ${number}: ${name}`,
  on,
  finding: number,
  async run(world, ms) {
    let outcome = '';
    for (const times of longer) {
      outcome = await run(world, times * ms);
      if (outcome.includes(needs)) return outcome;
    }
    throw new Error(`it came to nothing: ${outcome}`);
  },
});

const byGuest =
  (name: string): Run =>
  (world, ms) =>
    runInGuest(world, world.ids.one, name, ms);

/** So many at once, from one address. */
const byStrangers =
  (kind: StrangersKind, count: number): Run =>
  async ({ service }, ms) => {
    const started = await startStrangers(kind, service.baseUrl, count, '127.66.6.6');
    await sleep(ms);
    return `${await started.end()} answers`;
  };

const answered = '"200":';

export const findingAttacks: readonly Attack[] = [
  finding(2, 'time', 'a script that is left at its first byte', byStrangers('resets', 8)),
  finding(2, 'memory', 'a script that nobody takes', byStrangers('stalled', 60)),
  finding(3, 'network', 'dead and half-open connections', byStrangers('dead', 10_000)),
  finding(4, 'time', 'answers of a connection', byGuest('answers of a connection'), answered),
  finding(4, 'time', 'answers of a server of MCP', byGuest('answers of a server of MCP'), answered),
  finding(5, 'disk', 'replies under keys without end', keyedReplies, answered),
  finding(5, 'disk', 'refused calls that are recorded', recordedRefusals, '"403":'),
  finding(6, 'time', 'lists of tools', byGuest('lists of tools'), answered),
  finding(6, 'memory', 'lists of tools that nobody reads', byGuest('lists of tools that nobody reads')),
  finding(7, 'disk', 'schedules made', byGuest('schedules made'), answered),
  finding(10, 'time', 'mail that is hard to read', mail),
];

/** Much over what any bound lets an account keep in the time of an attack. */
const said = 60_000;

/** Large replies of commands, each under an Idempotency-Key of its own. */
async function keyedReplies({ service, hostile, ids }: World, ms: number): Promise<string> {
  const signal = AbortSignal.timeout(ms);
  const body = JSON.stringify({ command: `head -c ${said} /dev/zero | tr '\\0' '"'`, timeout_seconds: 30 });
  const summary: Record<string, number> = {};
  const one = async (): Promise<void> => {
    while (!signal.aborted) {
      const headers = {
        'x-api-key': hostile.key,
        'content-type': 'application/json',
        'idempotency-key': randomUUID(),
      };
      const reply = await fetch(`${service.baseUrl}/agents/${ids.two}/exec`, { method: 'POST', headers, body, signal })
        .then(async (response) => {
          await response.text();
          return response.status;
        })
        .catch(() => 'cut');
      summary[reply] = (summary[reply] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: 8 }, one));
  return JSON.stringify(summary);
}

/** Requests of an account that records contents. */
async function recordedRefusals(world: World, ms: number): Promise<string> {
  await record(world, true);
  try {
    return await runInGuest(world, world.ids.one, 'refused calls that are recorded', ms);
  } finally {
    await record(world, false);
  }
}

const record = ({ database, ids }: World, on: boolean): Promise<unknown> =>
  database.query('update accounts set record_llm_calls = $1 where id = (select account_id from agents where id = $2)', [
    on,
    ids.one,
  ]);

/** An honest mail to another agent has its answer meanwhile. */
async function mail({ outside }: World, ms: number): Promise<string> {
  const { written, quietMs, answeredMs } = await outside.flood(ms);
  const summary = `${written} mails; honest ones answered after ${answeredMs.join(', ')} ms, before ${quietMs} ms`;
  if (answeredMs.includes(null)) throw new Error(summary);
  return summary;
}

export interface Kept {
  readonly replies: number;
  readonly contents: number;
  readonly refused: number;
  readonly events: number;
}

/** The database's data of the hostile account: bytes, and rows that cost it nothing to make. */
export async function keptOf({ database, ids }: World): Promise<Kept> {
  const { rows } = await database.query<Kept>(
    `with a as (select account_id as id from agents where id = $1)
     select
       coalesce((select sum(octet_length(body)) from idempotency_keys k, a where k.account_id = a.id), 0)::float8 as replies,
       (select count(*) from llm_call_contents where agent_id = $1)::int as contents,
       (select count(*) from llm_calls where agent_id = $1 and outcome = 'refused')::int as refused,
       (select count(*) from events e, a where e.account_id = a.id and e.type like 'schedule.%')::int as events`,
    [ids.one],
  );
  return rows[0]!;
}
