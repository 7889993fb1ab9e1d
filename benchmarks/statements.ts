/**
 * The SQL statements and transactions that one request costs, as the log of the database server has them. Each request gets windows
 * of time in which nothing else is asked of Lodge. A statement's count is the mean of these windows less the mean of windows without
 * a request, rounded, so the loops' own statements do not count. Machines, gateway and Telegram are stubs; the rest is the product.
 *
 *   node_modules/.bin/node benchmarks/statements.ts [--rounds 15] [--list]
 *
 * `--list` prints each request's statements.
 */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startTelegramStub } from '@lodge/testkit/telegram';
import { WebhookReceiver } from '@lodge/testkit/webhook-receiver';
import { openWorld } from '../tests/e2e/api/world.ts';
import { Client } from '../tests/e2e/contract/states.ts';

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '15' }, list: { type: 'boolean' } } });
/** Everything that a request leads to is over by then. */
const windowMs = 2_000;
/** Before the first statement of a transaction. */
const begin = 'begin; ';
const nothing = 'nothing, of the loops in each window';

interface Kind {
  readonly name: string;
  /** Comes before the window. */
  before?(): Promise<unknown>;
  act(): Promise<unknown>;
  /** Asserts, when the window is over, that what was asked for is done. */
  check?(): Promise<unknown>;
}

const telegram = await startTelegramStub();
const receiver = await WebhookReceiver.start();
const world = await openWorld({
  withGuest: true,
  relays: 'processes',
  settings: { LODGE_TELEGRAM_API: telegram.apiRoot },
});
const client = new Client(world);
const log = await open(join(dirname(decodeURIComponent(new URL(world.connectionString).hostname)), 'postgres.log'));
for (const setting of ["log_statement = 'all'", "log_line_prefix = '@@%a@%p@'", 'log_parameter_max_length = 0'])
  await world.sql.query(`alter system set ${setting}`);
await world.sql.query('select pg_reload_conf()');
try {
  const kinds = await prepare();
  const counts = new Map(kinds.map(({ name }) => [name, [] as Map<string, number>[]]));
  for (let round = -1; round < Number(values.rounds); round += 1) {
    // In turns at random: a loop whose time has come would meet the same kind each time.
    for (const kind of kinds.toSorted(() => Math.random() - 0.5)) {
      await sleep(randomInt(1_000));
      const counted = await countOf(kind);
      // The first round fills what is kept in memory.
      if (round >= 0) counts.get(kind.name)!.push(counted);
    }
  }
  report(counts);
} finally {
  await world.close();
  await receiver.close();
  await telegram.close();
  await log.close();
}

async function ask(method: string, path: string, body?: object) {
  const answer = await client.call(method, path, body);
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.text}`);
  return answer.body;
}

async function prepare(): Promise<readonly Kind[]> {
  const agentId = await client.agent('running');
  const path = `/agents/${agentId}`;
  const bot = telegram.bot();
  const access = { mode: 'open', per_sender_hourly: 1_000 };
  await ask('PUT', `${path}/channels/telegram`, { botToken: bot.token, access });
  while ((await ask('GET', `${path}/channels/telegram`)).status !== 'connected') await sleep(100);
  const hook = await ask('POST', `${path}/hooks`, { name: 'H' });
  const schedule = await ask('POST', `${path}/schedules`, { name: 'S', prompt: 'x', cron: '0 0 1 1 *' });
  const webhook = await ask('POST', '/webhooks', { url: receiver.url, events: ['agent.updated'], enabled: false });
  const listen = async (enabled: boolean): Promise<void> => {
    await ask('PATCH', `/webhooks/${webhook.id}`, { enabled });
    await sleep(windowMs);
  };
  const newest = async (under: string) => (await ask('GET', `${path}/${under}`)).data[0];
  let made = '';
  let heard = 0;
  return [
    { name: nothing, act: async () => undefined },
    {
      name: 'create of an agent, until it runs',
      act: async () => (made = (await ask('POST', '/agents', { name: 'A' })).id),
      check: async () => {
        await ask('DELETE', `/agents/${made}`);
        await sleep(windowMs);
      },
    },
    { name: 'GET of an agent', act: () => ask('GET', path) },
    { name: 'list of agents', act: () => ask('GET', '/agents') },
    {
      name: 'chat turn',
      act: () => ask('POST', `${path}/chat/completions`, { messages: [{ role: 'user', content: 'Hello' }] }),
    },
    {
      name: 'message of a hook, until it is answered',
      act: () => ask('POST', `/hooks/${hook.token}`, { n: 1 }),
      check: async () => assert.equal((await newest(`hooks/${hook.id}/messages`)).state, 'answered'),
    },
    {
      name: 'message on a channel, until its answer is sent',
      act: async () => {
        heard = bot.sent.length;
        bot.userWrites({ text: 'Hello' });
      },
      check: async () => assert.equal(bot.sent.length, heard + 1),
    },
    {
      name: 'run of a schedule, until it is over',
      act: () => ask('POST', `${path}/schedules/${schedule.id}/run`),
      check: async () => assert.equal((await newest(`schedules/${schedule.id}/runs`)).status, 'ok'),
    },
    {
      name: 'change of an agent, until a webhook is told',
      before: () => listen(true),
      act: async () => {
        heard = receiver.received.length;
        await ask('PATCH', path, { description: `${Math.random()}` });
      },
      check: async () => {
        assert.equal(receiver.received.length, heard + 1);
        await listen(false);
      },
    },
  ];
}

async function countOf(kind: Kind): Promise<Map<string, number>> {
  await kind.before?.();
  const { size: from } = await log.stat();
  await kind.act();
  await sleep(windowMs);
  const { size: to } = await log.stat();
  const { buffer } = await log.read({ buffer: Buffer.alloc(to - from), position: from });
  await kind.check?.();
  const counts = new Map<string, number>();
  const begun = new Set<string>();
  for (const entry of buffer.toString().split(/^@@/m)) {
    const [, session, text] = /^lodge@(\d+)@LOG: {2}(?:statement|execute [^:]*): ([^]*)$/.exec(entry) ?? [];
    if (session === undefined || text === undefined || /^(commit|rollback)/.test(text)) continue;
    if (/^(begin|start transaction)/.test(text)) begun.add(session);
    else {
      const counted = begun.delete(session) ? `${begin}${text}` : text;
      counts.set(counted, (counts.get(counted) ?? 0) + 1);
    }
  }
  return counts;
}

/** Gives a statement's mean number in a window. */
function meanOf(windows: readonly ReadonlyMap<string, number>[], text: string): number {
  return windows.reduce((sum, each) => sum + (each.get(text) ?? 0), 0) / windows.length;
}

function report(counts: ReadonlyMap<string, readonly ReadonlyMap<string, number>[]>): void {
  const idle = counts.get(nothing)!;
  console.log(`| request | statements | transactions |\n| --- | --- | --- |`);
  for (const [name, windows] of counts) {
    let [statements, transactions] = [0, 0];
    const list: string[] = [];
    for (const text of new Set(windows.flatMap((each) => [...each.keys()]))) {
      const times = Math.round(meanOf(windows, text) - (name === nothing ? 0 : meanOf(idle, text)));
      if (times <= 0) continue;
      statements += times;
      if (text.startsWith(begin)) transactions += times;
      list.push(`    ${times} × ${text.replaceAll(/\s+/g, ' ').trim().slice(0, 160)}`);
    }
    console.log(`| ${name} | ${statements} | ${transactions} |`);
    if (values.list) console.log(list.join('\n'));
  }
}
