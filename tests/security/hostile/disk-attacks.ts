/** What a hostile account has the database keep: on the host's disk beside everybody's agents, and in no guest's own. */
import { randomUUID } from 'node:crypto';
import type { World } from './world.ts';

/** Much over what any bound lets an account keep in the time of an attack. */
const said = 60_000;

/** As `Attack`. */
export const diskAttacks = [
  { name: 'replies under keys without end', on: 'disk', run: keyedReplies },
  { name: 'refused calls that are recorded', on: 'disk', run: recordedRefusals },
  { name: 'schedules made and deleted', on: 'disk', run: schedules },
] as const;

/** Large replies of commands, each under an Idempotency-Key of its own. */
async function keyedReplies({ service, hostile, ids }: World, ms: number): Promise<string> {
  const signal = AbortSignal.timeout(ms);
  const body = JSON.stringify({ command: `head -c ${said} /dev/zero | tr '\\0' '"'`, timeout_seconds: 30 });
  const told: Record<string, number> = {};
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
      told[reply] = (told[reply] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: 8 }, one));
  return JSON.stringify(told);
}

/** Calls of a quarter of a MiB that are refused, of an account that records what is said. */
async function recordedRefusals(world: World, ms: number): Promise<string> {
  const { one } = world.ids;
  await record(world, true);
  try {
    const body = `{ "model": "standin/unpriced", "messages": [{ "role": "user", "content": "x".repeat(250_000) }] }`;
    return await inGuest(world, one, ms, '/openai/v1/chat/completions', body);
  } finally {
    await record(world, false);
  }
}

const record = ({ database, ids }: World, on: boolean): Promise<unknown> =>
  database.query('update accounts set record_llm_calls = $1 where id = (select account_id from agents where id = $2)', [
    on,
    ids.one,
  ]);

/** Each makes an event of the account. */
function schedules(world: World, ms: number): Promise<string> {
  const args = `{ name: "n", prompt: "p", in_minutes: 10 }`;
  const body = `{ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "schedule_create", arguments: ${args} } }`;
  return inGuest(world, world.ids.one, ms, '/mcp', body);
}

/** Posts the value of an expression to the broker, four at a time, and says what was answered. */
async function inGuest(world: World, id: string, ms: number, path: string, body: string): Promise<string> {
  const script = `
    const until = Date.now() + ${ms}, told = {};
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    const body = JSON.stringify(${body});
    await Promise.all(Array.from({ length: 4 }, async () => {
      while (Date.now() < until) {
        const what = await fetch('http://10.0.2.2:4000${path}', { method: 'POST', headers, body })
          .then(async (reply) => (await reply.text(), reply.status), () => 'cut');
        told[what] = (told[what] ?? 0) + 1;
      }
    }));
    console.log(JSON.stringify(told));
  `;
  const guest = await world.guest(id);
  const argv = ['node', '--input-type=module', '-e', script];
  const { exitCode, stdout, stderr } = await guest.exec({ argv, user: 'root', timeoutMs: ms + 60_000 });
  return exitCode === 0 ? stdout.trim() : `exit ${exitCode}: ${stderr.slice(-200)}`;
}

export interface Kept {
  readonly replies: number;
  readonly contents: number;
  readonly refused: number;
  readonly events: number;
}

/** What the database keeps of the hostile account: bytes, and rows that cost it nothing to make. */
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
