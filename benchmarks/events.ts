/**
 * The delay from a change to its followers: 1,000 followers of events by SSE and 50 webhooks, beside 100 changes a second
 * over 20 accounts. The server and its database are separate processes. Writer, followers and receivers share this process,
 * so the delays include its own delay, which is printed. CPU is the server's, of all its threads, for each event written.
 *
 *   node_modules/.bin/node benchmarks/events.ts [--seconds 20]
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, readdirSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { cpus, loadavg } from 'node:os';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { WebhookReceiver } from '@lodge/testkit/webhook-receiver';
import { openWorld } from '../tests/e2e/api/world.ts';
import { appendAgentEvent } from '@lodge/store/events';

const { values } = parseArgs({ options: { seconds: { type: 'string', default: '20' } } });
const seconds = Number(values.seconds);
const [accountCount, followers, webhooks, perSecond] = [20, 1_000, 50, 100];

const world = await openWorld({ loops: false });
const child = spawn(process.execPath, [fileURLToPath(new URL('../tests/e2e/api/server-process.ts', import.meta.url))], {
  env: {
    ...process.env,
    API_SERVER: JSON.stringify({ connectionString: world.connectionString }),
  },
  stdio: ['ignore', 'pipe', 'inherit'],
});
process.on('exit', () => child.kill('SIGKILL'));
const [line] = await once(createInterface(child.stdout), 'line');
const url = String(line);

const accounts: { readonly accountId: string; readonly agentId: string; readonly key: string }[] = [];
for (let n = 0; n < accountCount; n += 1) {
  const accountId = await world.newAccount();
  const agentId = `b${String(n).padStart(11, '0')}`;
  await world.sql.query(
    `insert into agents (id, account_id, name, runtime_kind, model, size, idle_timeout_seconds, stop_after_seconds, keep_awake,
       auto_resume, auto_start, wake_on_message, metadata, created_at, updated_at, status)
       values ($1, $2, 'x', 'runtime_a', 'anthropic/claude-sonnet-5', 'small', 0, 0, 'auto', true, false, true, '{}', now(), now(),
       'stopped')`,
    [agentId, accountId],
  );
  accounts.push({ accountId, agentId, key: await world.keyOf(accountId) });
}

const start = performance.timeOrigin;
const now = (): number => Math.round(performance.timeOrigin + performance.now() - start);
const heard: Record<'sse' | 'webhook', number[]> = { sse: [], webhook: [] };
const wide = new Agent({ keepAlive: false });
let isMeasuring = false;

await Promise.all(
  Array.from({ length: followers }, async (_, n) => {
    const { key } = accounts[n % accountCount]!;
    const request = get(`${url}/v1/events?follow=true`, { agent: wide, headers: { 'x-api-key': key } });
    request.on('error', () => undefined);
    const [response] = await once(request, 'response');
    if (response.statusCode !== 200) throw new Error(`a follower got ${response.statusCode}`);
    response.on('error', () => undefined);
    response.on('data', (piece: Buffer) => {
      for (const [, at] of String(piece).matchAll(/"duration_ms":(\d+)/g)) {
        if (isMeasuring) heard.sse.push(now() - Number(at));
      }
    });
  }),
);
const receivers: WebhookReceiver[] = [];
for (let n = 0; n < webhooks; n += 1) {
  const receiver = await WebhookReceiver.start();
  receiver.answer = ({ event }, _req, res) => {
    if (isMeasuring) heard.webhook.push(now() - Number(event.data['duration_ms']));
    res.writeHead(204).end();
  };
  const { key } = accounts[n % accountCount]!;
  const body = JSON.stringify({ url: receiver.url, events: ['agent.resumed'] });
  const headers = { 'x-api-key': key, 'content-type': 'application/json' };
  const made = await fetch(`${url}/v1/webhooks`, { method: 'POST', headers, body });
  if (made.status !== 201) throw new Error(`a webhook got ${made.status}: ${await made.text()}`);
  receivers.push(receiver);
}

const load = loadavg()[0]!.toFixed(1);
await writing(3);
await sleep(2_000);
isMeasuring = true;
const delay = monitorEventLoopDelay({ resolution: 5 });
delay.enable();
const cpu = cpuMs(child.pid!);
const written = await writing(seconds);
await sleep(2_000);
const cost = ((cpuMs(child.pid!) - cpu) * 1000) / written.total;
report();
for (const receiver of receivers) await receiver.close();
child.kill('SIGKILL');
await world.close();
process.exit();

/** Writes evenly for `forSeconds` and returns each account's number of events. */
async function writing(forSeconds: number): Promise<{ readonly total: number; readonly of: readonly number[] }> {
  const of = accounts.map(() => 0);
  const from = performance.now();
  const under: Promise<void>[] = [];
  for (let n = 0; n < forSeconds * perSecond; n += 1) {
    const wait = from + (n * 1000) / perSecond - performance.now();
    if (wait > 0) await sleep(wait);
    const { agentId } = accounts[n % accountCount]!;
    of[n % accountCount]! += 1;
    under.push(
      world.store.database.transaction((trx) =>
        appendAgentEvent(trx, agentId, { type: 'agent.resumed', data: { cause: 'message', duration_ms: now() } }),
      ),
    );
  }
  await Promise.all(under);
  return { total: of.reduce((sum, each) => sum + each, 0), of };
}

function report(): void {
  const expected = {
    sse: (written.total * followers) / accountCount,
    webhook: written.of.reduce((sum, count, n) => sum + count * receiversOf(n), 0),
  };
  console.log(`# events, ${new Date().toISOString().slice(0, 10)}\n`);
  console.log(`${cpus().length} cores (${cpus()[0]!.model}), Node ${process.version}, load ${load} at the start.\n`);
  console.log(`${written.total} events in ${seconds} s; ${cost.toFixed(0)} µs of the server's CPU for each.\n`);
  console.log('| told by | heard | of | median ms | p99 ms | most ms |\n| --- | --- | --- | --- | --- | --- |');
  for (const kind of ['sse', 'webhook'] as const) {
    const sorted = heard[kind].toSorted((a, b) => a - b);
    const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!;
    console.log(`| ${kind} | ${sorted.length} | ${expected[kind]} | ${at(0.5)} | ${at(0.99)} | ${sorted.at(-1)} |`);
  }
  const ms = (nanoseconds: number): string => (nanoseconds / 1e6).toFixed(1);
  console.log(
    `\nThis process was late by ${ms(delay.percentile(50))} ms at the median, ${ms(delay.percentile(99))} at p99.`,
  );
}

function receiversOf(account: number): number {
  return Array.from({ length: webhooks }).filter((_, n) => n % accountCount === account).length;
}

/** Returns the CPU time of a process in ms. The first field of schedstat is in nanoseconds. */
function cpuMs(pid: number): number {
  const ofThread = (thread: string): number =>
    Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]);
  return readdirSync(`/proc/${pid}/task`).reduce((sum, thread) => sum + ofThread(thread), 0) / 1e6;
}
